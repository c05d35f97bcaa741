/* SPDX-License-Identifier: GPL-2.0 */
/* Offsets of the fields of the DRM scheduler's tracepoints, for programs that cannot read its structs. */
#ifndef GRTRACE_BPF_FORMAT_H
#define GRTRACE_BPF_FORMAT_H

#include <grtrace/grtrace.h>

#include "shared.h"

/**
 * grt_bpf_format_read - reads the format files of the tracepoints that this kernel has
 * @tracefs: the root of tracefs
 * Return: 0, or -ENOENT if a tracepoint lacks a necessary field, whose name is in *err
 */
int grt_bpf_format_read(int tracefs, struct grt_bpf_format *format, struct grt_err *err);

#endif /* GRTRACE_BPF_FORMAT_H */
