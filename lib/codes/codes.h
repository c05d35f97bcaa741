/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What drivers' numbers mean: NVIDIA's Xids, a virtio GPU's commands and
 * answers, amdgpu's memories and interrupt clients.
 */
#ifndef GRT_CODES_CODES_H
#define GRT_CODES_CODES_H

#include <stddef.h>
#include <stdint.h>

#include <grtrace/event.h>

/**
 * struct grt_xid_info - a row of codes/xids.def
 * @first, @last: the numbers that it is about
 * @name: the driver's own
 * @meaning: in words
 * @todo: what to do first
 */
struct grt_xid_info {
	uint32_t first;
	uint32_t last;
	const char *name;
	const char *meaning;
	const char *todo;
};

/** grt_xid_info - what an Xid means, NULL where that is unknown */
const struct grt_xid_info *grt_xid_info(uint32_t code);

/**
 * grt_xid_set_text - gives an event its message
 * @part: what the driver says of the GPU beside its address ("GPU-I:05 GPU-CI:00"), of so many bytes; put in
 *	front of the message
 * @text: of so many bytes; where there is no room for all of it the event's ends in "..."
 */
void grt_xid_set_text(struct grt_ev_xid *ev, const char *part, size_t part_len, const char *text, size_t len);

/** grt_virtio_gpu_name - of a command or an answer, NULL where the number has none */
const char *grt_virtio_gpu_name(uint32_t number);

/** grt_amdgpu_memory_name - of a memory type ("VRAM"), NULL where the number has none */
const char *grt_amdgpu_memory_name(uint32_t type);

/** grt_amdgpu_client_name - of an interrupt's client (SOC15 numbers), NULL where the number has none */
const char *grt_amdgpu_client_name(uint32_t client);

#endif /* GRT_CODES_CODES_H */
