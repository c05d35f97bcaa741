/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF objects, which are in this program packed by gzip: they would be a third of it. One is unpacked
 * when it is opened, which takes about a millisecond.
 */
#ifndef GRTRACE_BPF_EMBEDDED_H
#define GRTRACE_BPF_EMBEDDED_H

struct bpf_object;

/**
 * grt_bpf_embedded_open - opens the object of sources/bpf/NAME.bpf.c
 * Return: the object, or NULL with errno; ENOENT: there is none of this name
 */
struct bpf_object *grt_bpf_embedded_open(const char *name);

#endif /* GRTRACE_BPF_EMBEDDED_H */
