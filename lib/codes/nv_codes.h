/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Meanings of numbers of NVIDIA's driver: engines and status codes of its resource
 * manager (RM), its ioctls. The tables are in codes/nv_*.def.
 */
#ifndef GRT_CODES_NV_CODES_H
#define GRT_CODES_NV_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest name of an engine, with its NUL. */
#define GRT_NV_ENGINE_MAX 24

/** grt_nv_engine_of - the enum grt_engine of an NV2080_ENGINE_TYPE */
uint32_t grt_nv_engine_of(uint32_t nv_engine);

/** grt_nv_engine_name - the name of an NV2080_ENGINE_TYPE; "?" if it is 0, its number if it has no
 * name */
const char *grt_nv_engine_name(char text[GRT_NV_ENGINE_MAX], uint32_t nv_engine);

/** grt_nv_engine_number - the NV2080_ENGINE_TYPE of a name of @len bytes, 0 if there is none */
uint32_t grt_nv_engine_number(const char *name, size_t len);

/** grt_nv_status_name - the name of an NV_STATUS ("INVALID_STATE"), NULL if it has none */
const char *grt_nv_status_name(uint32_t status);

/** grt_nv_status_number - the NV_STATUS of a name of @len bytes, or -errno for one like "-ENOTTY". Return:
 * whether it is known */
bool grt_nv_status_number(const char *name, size_t len, uint32_t *status);

/** grt_nv_interleave_name - LOW, MEDIUM or HIGH; NULL for other numbers */
const char *grt_nv_interleave_name(uint32_t level);

/** grt_nv_is_uvm - whether a device file with this name belongs to the UVM driver; false for NULL */
bool grt_nv_is_uvm(const char *device);

/** grt_nv_ioctl_name - the name of an ioctl on a device file of NVIDIA ("nvidia-uvm"), NULL if it has none */
const char *grt_nv_ioctl_name(const char *device, uint32_t cmd);

/** grt_nv_class_name, grt_nv_control_name - the name of a class or control of RM, NULL if it has none */
const char *grt_nv_class_name(uint32_t class);
const char *grt_nv_control_name(uint32_t control);

/** enum grt_nv_about - the meaning of grt_ev_ioctl_exit.about */
enum grt_nv_about {
	GRT_NV_ABOUT_NOTHING,
	GRT_NV_ABOUT_CLASS,
	GRT_NV_ABOUT_CONTROL,
	GRT_NV_ABOUT_EITHER, /* class or control: the ioctl is a wrapper */
};

/** grt_nv_about - the meaning for this ioctl */
enum grt_nv_about grt_nv_about(uint32_t cmd);

/** grt_nv_about_name - the name of the class or control of an ioctl, NULL if it has none */
const char *grt_nv_about_name(enum grt_nv_about kind, uint32_t about);

#endif /* GRT_CODES_NV_CODES_H */
