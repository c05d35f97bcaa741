/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CUDA driver and CUPTI in the recorder's own process, for the hardware's counters. Both are loaded if
 * they exist; grtrace builds without them.
 */
#ifndef GRTRACE_PM_LIBRARY_H
#define GRTRACE_PM_LIBRARY_H

#include <grtrace/grtrace.h>

#include "pm_abi.h"

#define PM_DEVICES 32

/** struct pm_functions - CUPTI's functions, by their names in pm_abi.h */
struct pm_functions {
#define PM_FN(name, symbol, type) int (*name)(type *);
	PM_FUNCTIONS
#undef PM_FN
};

/**
 * struct pm_device - a GPU
 * @index: CUDA's number of it
 * @uuid: as nvidia-smi -L prints it
 * @number: number of its device file
 */
struct pm_device {
	uint32_t index;
	uint32_t number;
	char uuid[48];
};

/**
 * struct pm_library - the loaded libraries
 * @version: result of cuptiGetVersion()
 * @path: path of CUPTI
 * @device: the @devices GPUs that CUDA shows
 */
struct pm_library {
	void *cuda;
	void *cupti;
	struct pm_functions f;
	uint32_t version;
	char path[256];
	struct pm_device device[PM_DEVICES];
	unsigned int devices;
};

/**
 * pm_library_look - whether both libraries exist here, without loading them. Return: 0, or a negative errno
 * with what, why and fix
 */
int pm_library_look(struct grt_err *err);

/**
 * pm_library_load - loads both, and finds the GPUs. Return: as above; call pm_library_free() in any case
 */
int pm_library_load(struct pm_library *l, struct grt_err *err);

/** pm_library_free - frees what can be freed: the driver's threads stay */
void pm_library_free(struct pm_library *l);

/**
 * pm_library_error - sets @err to the meaning of CUPTI's @result for the counters of @what. Return: a
 * negative errno
 */
int pm_library_error(const char *what, int result, struct grt_err *err);

#endif /* GRTRACE_PM_LIBRARY_H */
