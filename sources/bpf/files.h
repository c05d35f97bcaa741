/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls on device files, by the tracepoints of each system call.
 */
#ifndef GRTRACE_BPF_FILES_H
#define GRTRACE_BPF_FILES_H

#include "common.h"

#define IOCTL_TYPE(cmd) ((cmd) >> 8 & 0xff)

/** struct syscall_enter, syscall_exit - the records of syscalls:sys_*_ioctl (their format files, every
 * kernel) */
struct syscall_enter {
	__u64 common;
	__u64 nr;
	__u64 args[6];
};

struct syscall_exit {
	__u64 common;
	__u64 nr;
	__s64 ret;
};

/* Makes a pointer readable as a pointer of a type; the enum says: from kernel 6.2 on. */
enum special_kfunc_type {
	KF_bpf_rdonly_cast = 1,
};
extern void *bpf_rdonly_cast(void *obj, __u32 type) __ksym __weak;
#define HAS_RDONLY_CAST bpf_core_enum_value_exists(enum special_kfunc_type, KF_bpf_rdonly_cast)

/* The device number of a file's inode. Loads cost less than calls of functions that copy. */
static __always_inline __u32 rdev_of(struct file *file)
{
	struct inode *inode;

	if (HAS_RDONLY_CAST) {
		file = bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file));
		return file->f_inode->i_rdev;
	}
	inode = BPF_CORE_READ(file, f_inode);
	return BPF_CORE_READ(inode, i_rdev);
}

/*
 * Return: the open file of a descriptor; 0: there is none. @device gets its device number; 0: it is not a
 * device
 */
static __always_inline struct file *file_of(struct task_struct *task, __u32 fd, __u32 *device)
{
	struct files_struct *files = MINE(task, files);
	struct fdtable *table = MINE(files, fdt);
	struct file *file = 0;

	*device = 0;
	if (fd >= MINE(table, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), MINE(table, fd) + fd);
	*device = rdev_of(file);
	return file;
}

static __always_inline __u32 device_of(struct task_struct *task, __u32 fd)
{
	__u32 device;

	file_of(task, fd, &device);
	return device;
}

/* Whether a device has one of the major numbers in the settings. */
static __always_inline int has_major(__u32 device)
{
	__u32 major = device >> 20;

	if (!major)
		return 0;
#pragma unroll
	for (int i = 0; i < BPF_MAJORS; i++)
		if (config.majors[i] == major)
			return 1;
	return 0;
}

#endif /* GRTRACE_BPF_FILES_H */
