/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's structs, with the members that our programs read. Offsets are found at load time from the
 * running kernel's BTF (CO-RE), so only names and types matter here. Before a program reads a member that
 * some kernels lack, it checks that the member exists.
 */
#ifndef GRTRACE_BPF_KERNEL_H
#define GRTRACE_BPF_KERNEL_H

#include <linux/types.h>

#include "machine.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct inode {
	unsigned int i_rdev;
};

struct file {
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct signal_struct {
	atomic_t live;
};

struct mm_struct {
	unsigned long exec_vm; /* pages of code */
	unsigned long start_stack;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct task_struct {
	void *stack;
	struct mm_struct *mm;
	unsigned int flags;
	unsigned int __state;
	unsigned in_iowait : 1;
	int pid;
	int tgid;
	__u64 start_time;
	__u64 self_exec_id;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct files_struct *files;
	struct signal_struct *signal;
	char comm[16];
	struct sched_entity se;
	struct thread_struct thread;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
};

/* The size of a kernel stack. */
union thread_union {
	unsigned long stack[1];
};

/* The struct up to 5.13, which had this name. */
struct task_struct___before_5_14 {
	long state;
};

struct module {
	char name[1]; /* only its place is used */
};

struct device_driver {
	const char *name;
	struct module *owner;
};

struct kobject {
	const char *name;
};

struct device {
	struct kobject kobj;
	struct device *parent;
	struct device_driver *driver;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
};

struct vm_fault {
	unsigned long address;
};

/* The running kernel's value is used: 0, or 3 from 7.0 on. */
enum dma_fence_flag_bits {
	DMA_FENCE_FLAG_SIGNALED_BIT,
	DMA_FENCE_FLAG_TIMESTAMP_BIT,
};

struct dma_fence {
	__u64 context;
	__u64 seqno;
	unsigned long flags;
	int error;
	__s64 timestamp; /* when it was signalled, CLOCK_MONOTONIC ns, valid with the flag */
};

struct spsc_queue {
	atomic_t job_count;
};

struct drm_sched_fence {
	struct dma_fence finished;
	struct dma_fence *parent;
	struct drm_gpu_scheduler *sched;
};

struct drm_gpu_scheduler {
	const char *name;
	atomic_t hw_rq_count;  /* to 6.6: jobs */
	atomic_t credit_count; /* from 6.8: credits, one per job with most drivers */
	struct device *dev;    /* from 6.1 */
};

struct drm_sched_entity {
	struct spsc_queue job_queue;
};

struct drm_sched_job {
	struct drm_gpu_scheduler *sched;
	struct drm_sched_fence *s_fence;
};

struct drm_minor {
	int index;
};

struct drm_device {
	struct device *dev;
	struct drm_minor *primary;
};

struct drm_file {
	struct pid *pid;
};

struct drm_gem_object {
	struct drm_device *dev;
};

struct ttm_buffer_object {
	struct drm_gem_object base;
};

/* Private to amdgpu: its first member, which all versions have. */
struct amdgpu_job {
	struct drm_sched_job base;
	__u32 num_ibs;
};

struct amdgpu_bo {
	struct ttm_buffer_object tbo;
};

struct amdgpu_vm;

struct amdgpu_vm_bo_base {
	struct amdgpu_vm *vm;
	struct amdgpu_bo *bo;
};

struct amdgpu_bo_va {
	struct amdgpu_vm_bo_base base;
};

struct amdgpu_bo_va_mapping {
	__u64 start;
	__u64 last;
	__u64 flags;
};

/* Private to i915. */
struct drm_i915_private {
	struct drm_device drm;
};

struct intel_engine_cs {
	char name[8];
	__u16 uabi_class;
	__u16 uabi_instance;
};

struct i915_request {
	struct dma_fence fence;
	struct drm_i915_private *i915;
	struct intel_engine_cs *engine;
};

struct virtio_device {
	int index;
	struct device dev;
};

struct virtqueue {
	const char *name;
	struct virtio_device *vdev;
	unsigned int index;
};

#pragma clang attribute pop

/* From uapi linux/virtio_gpu.h; the virtio specification fixes the layout. */
struct virtio_gpu_ctrl_hdr {
	__u32 type;
	__u32 flags;
	__u64 fence_id;
	__u32 ctx_id;
	__u32 ring_idx;
};
#define VIRTIO_GPU_FLAG_FENCE 1U
#define VIRTIO_GPU_RESP_ERR_UNSPEC 0x1200U

#endif /* GRTRACE_BPF_KERNEL_H */
