/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The part of the interface between programs and NVIDIA's resource manager (RM) that concerns
 * scheduling and memory: numbers of ioctls, classes and controls, and offsets in
 * their structs. Used by the BPF program and by the decoder.
 *
 * Sources: the open kernel modules, tags 535.43.02 to 595.45.04 (nvos.h,
 * nv_escape.h, nv-ioctl-numbers.h, class/cla06c.h, ctrl/ctrla06c.h, ctrla06f.h,
 * ctrlc36f.h, alloc/alloc_channel.h): all values are equal in these versions; comments name
 * differences of 610. Offsets in bytes, x86-64.
 */
#ifndef GRT_CODES_NV_ABI_H
#define GRT_CODES_NV_ABI_H

/* An ioctl of type 'F' is identified by its number and the size of its struct. */
#define NV_IOCTL_TYPE 'F'

#define NV_ESC_RM_ALLOC_MEMORY 0x27
#define NV_ESC_RM_FREE 0x29
#define NV_ESC_RM_CONTROL 0x2a
#define NV_ESC_RM_ALLOC 0x2b
#define NV_ESC_RM_DUP_OBJECT 0x34
#define NV_ESC_RM_IDLE_CHANNELS 0x41
#define NV_ESC_RM_VID_HEAP_CONTROL 0x4a
#define NV_ESC_RM_MAP_MEMORY 0x4e
#define NV_ESC_RM_MAP_MEMORY_DMA 0x57
#define NV_ESC_ALLOC_OS_EVENT 0xce
#define NV_ESC_FREE_OS_EVENT 0xcf
#define NV_ESC_CHECK_VERSION 0xd2
#define NV_ESC_XFER_CMD 0xd3

/* NVOS00: free */
#define NV_FREE_SIZE 16
#define NV_FREE_CLIENT 0
#define NV_FREE_OBJECT 8
#define NV_FREE_STATUS 12

/* NVOS21 and the longer NVOS64: alloc */
#define NV_ALLOC_SIZE 32
#define NV_ALLOC_SIZE_64 48
#define NV_ALLOC_CLIENT 0
#define NV_ALLOC_PARENT 4
#define NV_ALLOC_OBJECT 8
#define NV_ALLOC_CLASS 12
#define NV_ALLOC_PARAMS 16
#define NV_ALLOC_STATUS 28
#define NV_ALLOC_STATUS_64 40
#define NV_ALLOC_FLAGS_64 36

/* NVOS54: control */
#define NV_CONTROL_SIZE 32
#define NV_CONTROL_CLIENT 0
#define NV_CONTROL_OBJECT 4
#define NV_CONTROL_CMD 8
#define NV_CONTROL_FLAGS 12
#define NV_CONTROL_PARAMS 16
#define NV_CONTROL_PARAMS_SIZE 24
#define NV_CONTROL_STATUS 28

/* In the flags of a control and of a long alloc: the parameters are packed by FINN. */
#define NV_CONTROL_PACKED 4
#define NV_ALLOC_PACKED 1

/* NVOS55: dup */
#define NV_DUP_SIZE 28
#define NV_DUP_CLIENT 0
#define NV_DUP_PARENT 4
#define NV_DUP_OBJECT 8
#define NV_DUP_CLIENT_SRC 12
#define NV_DUP_OBJECT_SRC 16
#define NV_DUP_STATUS 24

/* NVOS02, NVOS30, NVOS32, NVOS33, NVOS46 (longer from 580 on), and the events of the operating system */
#define NV_MEMORY_CLASS 12
#define NV_MEMORY_STATUS 40
#define NV_IDLE_STATUS 48
#define NV_HEAP_STATUS 20
#define NV_MAP_STATUS 40
#define NV_MAP_DMA_SIZE 56
#define NV_MAP_DMA_STATUS 48
#define NV_MAP_DMA_SIZE_580 64
#define NV_MAP_DMA_STATUS_580 56
#define NV_OS_EVENT_STATUS 12

/* {cmd, reply, text}: the version of the user-space library */
#define NV_VERSION_SIZE 72
#define NV_VERSION_TEXT 8

/* NVOS02 with a descriptor: memory of the host */
#define NV_MEMORY_SIZE 56
#define NV_MEMORY_CLIENT 0
#define NV_MEMORY_PARENT 4
#define NV_MEMORY_OBJECT 8
#define NV_MEMORY_LIMIT 32

/*
 * NVOS32: a control of the heap. Its function decides whether the union belongs to an allocation
 * (functions agree up to the type and differ in the order of later members) or to a free.
 */
#define NV_HEAP_SIZE 184
#define NV_HEAP_CLIENT 0
#define NV_HEAP_PARENT 4
#define NV_HEAP_FUNCTION 8
#define NV_HEAP_UNION 40
#define NV_HEAP_OBJECT (44 - NV_HEAP_UNION)
#define NV_HEAP_FLAGS (52 - NV_HEAP_UNION)
#define NV_HEAP_BYTES (88 - NV_HEAP_UNION)
#define NV_HEAP_ALLOC_SIZE 2
#define NV_HEAP_ALLOC_SIZE_RANGE 14
#define NV_HEAP_ALLOC_DEPTH 1
#define NV_HEAP_ALLOC_TILED 6
#define NV_HEAP_FREE 3
/* offset of the attributes of allocations */
#define NV_HEAP_ATTR (56 - NV_HEAP_UNION)
#define NV_HEAP_ATTR_DEPTH (68 - NV_HEAP_UNION)
#define NV_HEAP_ATTR_TILED (64 - NV_HEAP_UNION)
/* the size of a tiled allocation, and of an allocation by depth, has the same offset */

/* {number, size, pointer}: another ioctl, wrapped */
#define NV_XFER_SIZE 16

#define NV_OK 0

/* Classes */
#define NV_CLASS_ROOT 0x0000
#define NV_CLASS_ROOT_NON_PRIV 0x0001
#define NV_CLASS_MEMORY_SYSTEM 0x003e
#define NV_CLASS_MEMORY_LOCAL 0x0040
#define NV_CLASS_ROOT_CLIENT 0x0041
#define NV_CLASS_MEMORY_OS_DESCRIPTOR 0x0071
#define NV_CLASS_DEVICE 0x0080
#define NV_CLASS_CONTEXT_SHARE 0x9067
#define NV_CLASS_VASPACE 0x90f1
#define NV_CLASS_CHANNEL_GROUP 0xa06c
#define NV_CLASS_SMC_PARTITION 0xc637

/* GPFIFO channels, from Kepler on. */
#define NV_CLASS_IS_CHANNEL(class) (((class) & 0xff) == 0x6f && (class) >= 0xa06f && (class) <= 0xffff)

/* NV0080_ALLOC_PARAMETERS */
#define NV_DEVICE_ID 0

/* NV_MEMORY_ALLOCATION_PARAMS; the driver writes the result */
#define NV_MEM_FLAGS 8
#define NV_MEM_ATTR 24
#define NV_MEM_BYTES 64
#define NV_MEM_SIZE 128
/* In the flags: only addresses, without memory. */
#define NV_MEM_VIRTUAL 0x00080000U
/* NVOS32_ATTR_LOCATION: the location of memory */
#define NV_MEM_LOCATION(attr) ((attr) >> 25 & 3)
#define NV_MEM_VIDMEM 0

/* NV_CTXSHARE_ALLOCATION_PARAMETERS; the driver writes the number of the subcontext (VEID) that it chose */
#define NV_SHARE_VASPACE 0
#define NV_SHARE_SUBCONTEXT 8
#define NV_SHARE_SIZE 12

/* NV_CHANNEL_GROUP_ALLOCATION_PARAMETERS */
#define NV_GROUP_VASPACE 8
#define NV_GROUP_ENGINE 12

/* NV_CHANNEL_ALLOC_PARAMS; from 610 on there is another handle before the engine. The driver writes its
 * number of the channel, which it counts over all GPUs from 1 */
#define NV_CHANNEL_SHARE 24
#define NV_CHANNEL_VASPACE 28
#define NV_CHANNEL_ENGINE 128
#define NV_CHANNEL_ENGINE_610 136
#define NV_CHANNEL_ID 132
#define NV_CHANNEL_ID_610 140
#define NV_CHANNEL_BRANCH_610 610

/* Controls */
#define NV_CTRL_GPU_GET_ID_INFO 0x00000202
#define NV_CTRL_GPU_GET_ID_INFO_V2 0x00000205
#define NV_CTRL_GROUP_SCHEDULE 0xa06c0101
#define NV_CTRL_GROUP_SET_TIMESLICE 0xa06c0103
#define NV_CTRL_GROUP_GET_TIMESLICE 0xa06c0104
#define NV_CTRL_GROUP_GET_INFO 0xa06c0106
#define NV_CTRL_GROUP_SET_INTERLEAVE 0xa06c0107
#define NV_CTRL_GROUP_GET_INTERLEAVE 0xa06c0108
#define NV_CTRL_CHANNEL_SCHEDULE 0xa06f0103
#define NV_CTRL_CHANNEL_SET_INTERLEAVE 0xa06f0109
#define NV_CTRL_CHANNEL_GET_INTERLEAVE 0xa06f0110
#define NV_CTRL_GET_TOKEN 0xc36f0108

/* NV0000_CTRL_GPU_GET_ID_INFO(_V2)_PARAMS; the id is PCI domain << 16 | bus << 8 | device */
#define NV_ID_INFO_GPU 0
#define NV_ID_INFO_INSTANCE 8

/*
 * Work-submit tokens: channel in bits 0..11, runlist in 16..22; the consumer
 * Blackwells set bit 30. Any other bit: an unknown generation.
 */
#define NV_TOKEN_CHANNEL(token) ((token)&0xfff)
#define NV_TOKEN_RUNLIST(token) ((token) >> 16 & 0x7f)
#define NV_TOKEN_BITS 0x407f0fffU

/* Defaults of a new group, Volta to Blackwell (kernel_channel_group.c): timeslice in us, and MEDIUM. */
#define NV_TIMESLICE_US 1024
#define NV_INTERLEAVE_MEDIUM 1
#define NV_INTERLEAVE_HIGH 2

#endif /* GRT_CODES_NV_ABI_H */
