/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The Kubernetes pod, the container and the SLURM job in the path of a control group, by the naming schemes
 * of Kubernetes (with either of its drivers), containerd, CRI-O, Docker, Podman, LXC and SLURM.
 */
#ifndef GRT_BASE_CGROUP_H
#define GRT_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/** enum grt_cgroup_part - parts of a path */
enum grt_cgroup_part { GRT_CGROUP_POD, GRT_CGROUP_CONTAINER, GRT_CGROUP_SLURM, GRT_CGROUP_PARTS };

/* Bytes for a part, with its NUL: an id of 64 digits. */
#define GRT_CGROUP_PART 65

/**
 * grt_cgroup_part - the id of a pod or a container, or the number of a job. Return: whether the path has it;
 * otherwise @out is ""
 */
bool grt_cgroup_part(const char *path, enum grt_cgroup_part part, char out[GRT_CGROUP_PART]);

/**
 * grt_cgroup_path - the path in a text of /proc/PID/cgroup: the path of version 2 or, if this is missing or
 * the root, the first path of version 1 that is not the root
 * @text: is changed
 * Return: the path, with its NUL; NULL: none
 */
char *grt_cgroup_path(char *text);

#endif /* GRT_BASE_CGROUP_H */
