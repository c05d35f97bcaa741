/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources of calls on NVIDIA's control device: their BPF programs take the calls
 * (bpf/nv_calls.h), lib/nvidia makes events of them. These are the operations of a
 * struct grt_bpf_decoder that all of them have.
 */
#ifndef GRTRACE_NV_CALLS_H
#define GRTRACE_NV_CALLS_H

#include "nvidia/decode.h"
#include "sources/bpf/bpf.h"

/**
 * nv_calls_open - begins
 * @gpu: only events of this GPU; NULL: of all. It must stay valid until nv_calls_close()
 * @like: setup of the decoder; this function sets the driver and the GPUs
 * Return: 0, or -ENOMEM with *err; *own is for nv_calls_close() in any case
 */
int nv_calls_open(void **own, void *capture, const struct known_gpu *gpu, const struct grt_nv_setup *like,
		  struct grt_err *err);

/* The other operations, see struct grt_bpf_decoder. */
bool nv_calls_who(const void *record, size_t size, struct grt_event *who);
int nv_calls_take(void *own, const void *record, size_t size);
bool nv_calls_look(void *own);
int nv_calls_settle(void *own);
void nv_calls_describe(void *own, char *text, size_t room);
void nv_calls_close(void *own);

#endif /* GRTRACE_NV_CALLS_H */
