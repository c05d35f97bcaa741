/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources made of BPF programs. One is a file of this directory that names the
 * objects (sources/bpf/NAME.bpf.c) it is made of, and a row in sources.def.
 */
#ifndef GRTRACE_BPF_H
#define GRTRACE_BPF_H

#include "source.h"

/**
 * bpf_open - the open() of a source of BPF programs
 * @objects: names of its objects, ended by NULL. Of these, programs whose
 *	tracepoint this kernel does not have are left out
 * @name: of the source
 */
int bpf_open(void **state, const struct source_setup *setup, const char *name, const char *const *objects,
	     struct grt_err *err);

/** bpf_probe - whether they would work here: 0, or -errno with what is missing in *err */
int bpf_probe(const char *const *objects, struct grt_err *err);

/* The other operations; see struct source. */
int bpf_start(void *state, struct grt_err *err);
unsigned int bpf_streams(void *state, struct pollfd *fds);
int bpf_flush(void *state, struct grt_err *err);
ssize_t bpf_read(void *state, unsigned int i, void *buf, size_t len);
int bpf_stop(void *state, struct grt_err *err);
int bpf_describe(void *state, struct grt_env *env, int room);
int bpf_close(void *state, struct grt_err *err);

/* BPF_SOURCE(name, by_name, "object", ...): defines source_NAME */
#define BPF_SOURCE(name_, by_name_, ...)                                                        \
	static const char *const objects[] = {__VA_ARGS__, NULL};                               \
	static int open_it(void **state, const struct source_setup *setup, struct grt_err *err) \
	{                                                                                       \
		return bpf_open(state, setup, #name_, objects, err);                            \
	}                                                                                       \
	static int probe_it(struct grt_err *err)                                                \
	{                                                                                       \
		return bpf_probe(objects, err);                                                 \
	}                                                                                       \
	const struct source source_##name_ = {                                                  \
		.name = #name_,                                                                 \
		.by_name = by_name_,                                                            \
		.probe = probe_it,                                                              \
		.open = open_it,                                                                \
		.start = bpf_start,                                                             \
		.streams = bpf_streams,                                                         \
		.flush = bpf_flush,                                                             \
		.read = bpf_read,                                                               \
		.stop = bpf_stop,                                                               \
		.describe = bpf_describe,                                                       \
		.close = bpf_close,                                                             \
	}

#endif /* GRTRACE_BPF_H */
