/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Meanings of drivers' numbers: NVIDIA's Xids, a virtio GPU's commands and
 * responses, amdgpu's memories and interrupt clients.
 */
#ifndef GRT_CODES_CODES_H
#define GRT_CODES_CODES_H

#include <stddef.h>
#include <stdint.h>

#include <grtrace/event.h>

/**
 * struct grt_xid_info - a row of codes/xids.def
 * @first, @last: the Xids of the row
 * @name: the driver's name
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

/** grt_xid_info - the meaning of an Xid, NULL if unknown */
const struct grt_xid_info *grt_xid_info(uint32_t code);

/**
 * grt_xid_set_text - sets the message of an event
 * @part: the part of the GPU in the driver's message ("GPU-I:05 GPU-CI:00"), @part_len bytes; put
 *	before the message
 * @text: @len bytes; if there is not enough room, the event's message ends in "..."
 */
void grt_xid_set_text(struct grt_ev_xid *ev, const char *part, size_t part_len, const char *text, size_t len);

/** grt_virtio_gpu_name - the name of a command or a response, NULL if the number has none */
const char *grt_virtio_gpu_name(uint32_t number);

/** grt_amdgpu_memory_name - the name of a memory type ("VRAM"), NULL if the number has none */
const char *grt_amdgpu_memory_name(uint32_t type);

/** grt_amdgpu_client_name - the name of an interrupt's client (SOC15 numbers), NULL if the number has none */
const char *grt_amdgpu_client_name(uint32_t client);

#endif /* GRT_CODES_CODES_H */
