/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device files of events: the node and driver of a device number, and the device of an ioctl's end, which
 * only the event of its begin has.
 */
#ifndef GRTRACE_BPF_DEVICES_H
#define GRTRACE_BPF_DEVICES_H

#include <grtrace/grtrace.h>

#include "trace/packer.h"

#define BPF_DEVICES_KNOWN 64
#define BPF_CALLS_OPEN 4096

/**
 * struct grt_bpf_device - a device number that occurred
 * @name: empty: the file no longer exists
 * @names: grt_packer_names() of the packer when the device was named
 */
struct grt_bpf_device {
	uint32_t number;
	char name[32];
	char driver[16];
	uint64_t names;
};

/**
 * struct grt_bpf_devices - all bytes zero: empty
 * @known: the devices, @used of them; devices beyond the limit have no names
 * @open: the device of the ioctl that each thread is in, by a hash of the thread
 */
struct grt_bpf_devices {
	struct grt_bpf_device known[BPF_DEVICES_KNOWN];
	unsigned int used;
	struct {
		uint32_t tid;
		uint32_t device;
	} open[BPF_CALLS_OPEN];
};

/**
 * grt_bpf_devices_see - learns from an event, completes it, and names its device
 * Return: 0 or -ENOMEM
 */
int grt_bpf_devices_see(struct grt_bpf_devices *d, struct grt_packer *p, unsigned int cpu,
			struct grt_event *e);

#endif /* GRTRACE_BPF_DEVICES_H */
