/* SPDX-License-Identifier: GPL-2.0 */
/* Offsets of the fields of the DRM scheduler's tracepoints, for programs that cannot read its structs. */
#ifndef GRTRACE_BPF_FORMAT_H
#define GRTRACE_BPF_FORMAT_H

#include <grtrace/grtrace.h>

#include "shared.h"

/**
 * grt_bpf_format_read - reads the format files of the tracepoints that are here
 * @tracefs: its root
 * Return: 0, -ENOENT where one that is here lacks a field that it must have, with its name in *err
 */
int grt_bpf_format_read(int tracefs, struct grt_bpf_format *format, struct grt_err *err);

#endif /* GRTRACE_BPF_FORMAT_H */
