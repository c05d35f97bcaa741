// SPDX-License-Identifier: GPL-2.0
/*
 * Calls on NVIDIA's control device that concern its scheduler, see nv_calls.h. Only the controls in a list
 * are recorded.
 */
#include "nv_frame.h"

/* Number of bytes of a call's struct that are needed; 0: the call is of no interest. */
static __always_inline __u32 head_of(const struct frame *f)
{
	switch (f->nr) {
	case NV_ESC_RM_FREE:
		return NV_FREE_SIZE;
	case NV_ESC_RM_CONTROL:
		return NV_CONTROL_SIZE;
	case NV_ESC_RM_ALLOC:
		return f->size == NV_ALLOC_SIZE_64 ? NV_ALLOC_SIZE_64 : NV_ALLOC_SIZE;
	case NV_ESC_RM_DUP_OBJECT:
		return NV_DUP_SIZE;
	case NV_ESC_CHECK_VERSION:
		return GRT_NV_HEAD;
	}
	return 0;
}

/* Number of bytes of an object's parameters. */
static __always_inline __u32 params_of_class(__u32 class)
{
	switch (class) {
	case NV_CLASS_ROOT:
	case NV_CLASS_ROOT_NON_PRIV:
	case NV_CLASS_ROOT_CLIENT:
	case NV_CLASS_VASPACE:
	case NV_CLASS_SMC_PARTITION:
		return 0;
	case NV_CLASS_DEVICE:
		return 8;
	case NV_CLASS_CONTEXT_SHARE:
		return NV_SHARE_SIZE;
	case NV_CLASS_CHANNEL_GROUP:
		return 20;
	}
	return NV_CLASS_IS_CHANNEL(class) ? GRT_NV_PARAMS : NOT_WANTED;
}

static __always_inline __u32 params_of_control(__u32 cmd)
{
	switch (cmd) {
	case NV_CTRL_GROUP_SCHEDULE:
	case NV_CTRL_CHANNEL_SCHEDULE:
		return 1;
	case NV_CTRL_GET_TOKEN:
	case NV_CTRL_GROUP_GET_INFO:
	case NV_CTRL_GROUP_SET_INTERLEAVE:
	case NV_CTRL_GROUP_GET_INTERLEAVE:
	case NV_CTRL_CHANNEL_SET_INTERLEAVE:
	case NV_CTRL_CHANNEL_GET_INTERLEAVE:
		return 4;
	case NV_CTRL_GROUP_SET_TIMESLICE:
	case NV_CTRL_GROUP_GET_TIMESLICE:
		return 8;
	case NV_CTRL_GPU_GET_ID_INFO:
	case NV_CTRL_GPU_GET_ID_INFO_V2:
		return 16;
	}
	return NOT_WANTED;
}

static __always_inline __u32 params_of(const struct frame *f, const __u32 *head)
{
	if (f->nr == NV_ESC_RM_ALLOC)
		return params_of_class(head[NV_ALLOC_CLASS / 4]);
	if (f->nr == NV_ESC_RM_CONTROL)
		return params_of_control(head[NV_CONTROL_CMD / 4]);
	return 0;
}

#include "nv_calls.h"

char LICENSE[] SEC("license") = "GPL";
