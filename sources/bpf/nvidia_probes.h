/* SPDX-License-Identifier: GPL-2.0 */
/* The interface between the program for probed functions of NVIDIA's driver and its loader. */
#ifndef GRTRACE_BPF_NVIDIA_PROBES_H
#define GRTRACE_BPF_NVIDIA_PROBES_H

#include <linux/types.h>

/** enum nv_kind - what a function does */
enum nv_kind {
	NV_KIND_IRQ,
	NV_KIND_BOTTOM_HALF,
	NV_KIND_TIMER,
	NV_KIND_VMA,
	NV_KIND_FAULT,
	NV_KIND_P2P,
	NV_KIND_POWER,
};

/** enum nv_shape - which arguments of a function are reported */
enum nv_shape {
	NV_SHAPE_NOTHING,
	NV_SHAPE_NV,	       /* the driver's struct of the GPU */
	NV_SHAPE_IRQ_NV,       /* number of the interrupt, struct of the GPU */
	NV_SHAPE_VMA,	       /* struct vm_area_struct */
	NV_SHAPE_VM_FAULT,     /* struct vm_fault */
	NV_SHAPE_FIRST,	       /* an address */
	NV_SHAPE_FIRST_LENGTH, /* an address, its length */
	NV_SHAPE_THIRD,	       /* the third argument is the address */
	NV_SHAPE_THIRD_LENGTH, /* the third is the address, the fourth the length */
	NV_SHAPE_DEVICE,       /* struct device */
	NV_SHAPE_STATE,	       /* a power state */
};

/* A probe's cookie. */
#define NV_COOKIE(row, kind, shape, returns) \
	((__u64)(row) | (__u64)(kind) << 16 | (__u64)(shape) << 24 | (__u64)(returns) << 32)
#define NV_COOKIE_ROW(cookie) ((__u32)(cookie)&0xffff)
#define NV_COOKIE_KIND(cookie) ((__u32)((cookie) >> 16) & 0xff)
#define NV_COOKIE_SHAPE(cookie) ((__u32)((cookie) >> 24) & 0xff)
#define NV_COOKIE_RETURNS(cookie) ((cookie) >> 32 & 1)

/*
 * nv_state_t, with which nv_linux_state_t begins (kernel-open/common/inc/nv.h,
 * 535 to 595): the PCI domain, then bus and slot in a byte each.
 */
#define NV_STATE_DOMAIN 20
#define NV_STATE_BUS 24
#define NV_STATE_SLOT 25

/* The room for a device's address, "0000:c6:00.0". */
#define NV_ADDRESS 16

/**
 * struct nv_hit - a call that has returned
 * @cookie: of the function
 * @first, @second: by its shape
 * @bus: PCI domain << 16 | bus << 8 | slot << 3, valid with the shapes of a GPU
 * @address: with the shape of a device
 */
struct nv_hit {
	__u64 cookie;
	__u64 first;
	__u64 second;
	__u32 bus;
	__u32 pad;
	char address[NV_ADDRESS];
};

#endif /* GRTRACE_BPF_NVIDIA_PROBES_H */
