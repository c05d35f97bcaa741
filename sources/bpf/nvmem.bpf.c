// SPDX-License-Identifier: GPL-2.0
/*
 * Calls on NVIDIA's devices that give a process memory or take it back, see
 * nv_calls.h: objects of the classes of memory, controls of the heap, duplicates,
 * frees, and what these hang on: clients, devices, address spaces.
 */
#define NV_STACKS 1
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
	case NV_ESC_RM_ALLOC_MEMORY:
	case NV_ESC_RM_VID_HEAP_CONTROL:
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
		return 0;
	case NV_CLASS_DEVICE:
		return 8;
	case NV_CLASS_MEMORY_LOCAL:
	case NV_CLASS_MEMORY_SYSTEM:
		return NV_MEM_BYTES + 8;
	}
	return NOT_WANTED;
}

static __always_inline __u32 params_of_control(__u32 cmd)
{
	return cmd == NV_CTRL_GPU_GET_ID_INFO || cmd == NV_CTRL_GPU_GET_ID_INFO_V2 ? 16 : NOT_WANTED;
}

static __always_inline __u32 params_of(const struct frame *f, const __u32 *head)
{
	switch (f->nr) {
	case NV_ESC_RM_ALLOC:
		return params_of_class(head[NV_ALLOC_CLASS / 4]);
	case NV_ESC_RM_CONTROL:
		return params_of_control(head[NV_CONTROL_CMD / 4]);
	case NV_ESC_RM_VID_HEAP_CONTROL:
		return f->size == NV_HEAP_SIZE ? NV_HEAP_BYTES + 8 : NOT_WANTED;
	}
	return 0;
}

static __always_inline int wants_stack(const struct frame *f)
{
	return f->nr == NV_ESC_RM_ALLOC || f->nr == NV_ESC_RM_ALLOC_MEMORY ||
	       f->nr == NV_ESC_RM_VID_HEAP_CONTROL || f->nr == NV_ESC_RM_DUP_OBJECT;
}

#include "nv_calls.h"

char LICENSE[] SEC("license") = "GPL";
