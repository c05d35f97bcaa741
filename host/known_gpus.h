/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The GPUs of this system by the words that users type for them: names and
 * paths of device files, PCI addresses, UUIDs, numbers. One GPU may have
 * several device files: a card and a render node of DRM, and a file of NVIDIA's driver.
 */
#ifndef GRTRACE_KNOWN_GPUS_H
#define GRTRACE_KNOWN_GPUS_H

#include <stdbool.h>
#include <stdint.h>

#include <grtrace/grtrace.h>

/* Most GPUs that are distinguished. */
#define KNOWN_GPUS 64

/** enum known_gpu_file - the kinds of device files of a GPU */
enum known_gpu_file {
	KNOWN_GPU_CARD,
	KNOWN_GPU_RENDER,
	KNOWN_GPU_NVIDIA,
	KNOWN_GPU_FILES,
};

/**
 * struct known_gpu - a GPU
 * @bus: its address: "0000:c6:00.0", or another name of the device; empty: unknown
 * @uuid: as `nvidia-smi -L` prints it; empty: unknown
 * @file: its device files
 * @name: of the file: "card0"; empty: it has none of this kind
 * @number: of the file, major << 20 | minor; 0: unknown
 */
struct known_gpu {
	char bus[32];
	char uuid[48];
	struct {
		char name[32];
		uint32_t number;
	} file[KNOWN_GPU_FILES];
};

/** known_gpus - all GPUs of this system, those with a card first. Return: their number */
unsigned int known_gpus(struct known_gpu gpu[KNOWN_GPUS]);

/**
 * known_gpu_find - finds the GPU for which @typed stands. A number N is cardN or nvidiaN; if these are two
 * GPUs, it is an error
 * @gpu: for a device file that belongs to no known GPU, only this file is set
 * Return: 0, -ENODEV: there is none, or another negative errno; then @err says what and why
 */
int known_gpu_find(const char *typed, struct known_gpu *gpu, struct grt_err *err);

/** known_gpu_card - the card of the GPU at this address; empty: there is none */
void known_gpu_card(const char *bus, char *card, size_t room);

/** known_gpu_has - whether a device file belongs to the GPU; @gpu NULL: any file does */
bool known_gpu_has(const struct known_gpu *gpu, uint32_t number);

/** known_gpu_is_at - whether the GPU is at this address. @bus: as in base/bus.h */
bool known_gpu_is_at(const struct known_gpu *gpu, uint32_t bus);

/** known_gpu_text - all words for the GPU: "card0 renderD128 0000:03:00.0" */
const char *known_gpu_text(const struct known_gpu *gpu, char *text, size_t room);

/**
 * known_gpus_env - adds the GPUs to a text, "card0=ADDRESS renderD128=ADDRESS nvidia0=ADDRESS GPU-...=ADDRESS
 * ..."
 * @text: words that it already has are unchanged
 */
void known_gpus_env(char *text, size_t room);

#endif /* GRTRACE_KNOWN_GPUS_H */
