/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An ioctl of NVIDIA's resource manager, without the wrapper in which it may come.
 */
#ifndef GRTRACE_BPF_NV_FRAME_H
#define GRTRACE_BPF_NV_FRAME_H

#include "files.h"
#include "../../lib/codes/nv_abi.h"
#include "../../lib/nvidia/call.h"

/* In place of the size of the parameters: the call is not recorded. */
#define NOT_WANTED 0xffffffffU

/** struct frame - number of the ioctl, and size and address of its struct */
struct frame {
	__u32 nr;
	__u32 size;
	__u64 at;
};

/** struct xfer - NV_ESC_IOCTL_XFER_CMD's */
struct xfer {
	__u32 nr;
	__u32 size;
	__u64 at;
};

static __always_inline struct frame frame_of(__u32 cmd, __u64 arg)
{
	struct frame f = {.nr = cmd & 0xff, .size = cmd >> 16 & 0x3fff, .at = arg};

	return f;
}

/* Removes the wrapper. Return: 0, or -1: it cannot be read */
static __always_inline int unwrap(struct frame *f)
{
	struct xfer x;

	if (f->nr != NV_ESC_XFER_CMD)
		return 0;
	if (f->size != NV_XFER_SIZE || bpf_probe_read_user(&x, sizeof(x), (void *)f->at))
		return -1;
	f->nr = x.nr;
	f->size = x.size;
	f->at = x.at;
	return 0;
}

#endif /* GRTRACE_BPF_NV_FRAME_H */
