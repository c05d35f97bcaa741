/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `--probes` of the source nvidia: which of the functions in nvidia_probes.def exist here, how programs are
 * attached to them, and what their calls mean.
 */
#ifndef GRTRACE_NVIDIA_PROBES_H
#define GRTRACE_NVIDIA_PROBES_H

#include "sources/bpf/bpf.h"

/** nvidia_probes - for struct grt_bpf_kind */
extern const struct grt_bpf_probes nvidia_probes;

/**
 * nvidia_probes_here - whether this kernel allows probes of functions, and which functions of the table it
 * has
 * @found: gets their number
 * Return: 0, or -errno with what, why and fix
 */
int nvidia_probes_here(unsigned int *found, struct grt_err *err);

#endif /* GRTRACE_NVIDIA_PROBES_H */
