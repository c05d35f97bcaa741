/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What the path of a control group says: the pod of Kubernetes, the container and the job of SLURM that it is
 * of, as Kubernetes (with either of its drivers), containerd, CRI-O, Docker, Podman, LXC and SLURM call
 * control groups.
 */
#ifndef GRT_BASE_CGROUP_H
#define GRT_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/** enum grt_cgroup_part - of a path */
enum grt_cgroup_part { GRT_CGROUP_POD, GRT_CGROUP_CONTAINER, GRT_CGROUP_SLURM, GRT_CGROUP_PARTS };

/* Room for one, with its NUL: an id of 64 digits. */
#define GRT_CGROUP_PART 65

/** grt_cgroup_part - a pod's and a container's id, a job's number. Return: whether the path has it, else @out
 * is "" */
bool grt_cgroup_part(const char *path, enum grt_cgroup_part part, char out[GRT_CGROUP_PART]);

/**
 * grt_cgroup_path - the path in a text of /proc/PID/cgroup: that of version 2 or, where it is none or the
 * root, the first of version 1 that is not
 * @text: is changed
 * Return: the path, with its NUL; NULL: there is none
 */
char *grt_cgroup_path(char *text);

#endif /* GRT_BASE_CGROUP_H */
