/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Packets that are packed one by one by zstd (RFC 8878). In front of each packed packet stands a
 * skippable frame with its header, so that a reader finds its way and can begin anywhere:
 *
 *	magic 0x184d2a57 | size | struct grt_packed_head | frame of zstd with the whole packet | ...
 *
 * `zstdcat` of such a file is the file as it would be without packing.
 */
#ifndef GRT_TRACE_PACKED_H
#define GRT_TRACE_PACKED_H

#include <sys/types.h>

#include <grtrace/grtrace.h>

#define GRT_PACKED_MAGIC 0x184d2a57U

/**
 * struct grt_packed_head - in front of a packed packet
 * @magic, @size: of a skippable frame; @size is of what follows these two
 * @packed: bytes of the frame behind it
 * @packet: header of the packet as it is in the frame
 */
struct grt_packed_head {
	__u32 magic;
	__u32 size;
	__u32 packed;
	__u32 reserved;
	struct grt_packet packet;
};

/** grt_packed_looks - whether a header can be believed, but for @packed */
bool grt_packed_looks(const struct grt_packed_head *h);

/** grt_packed_room - bytes that a packet of @len bytes takes at most */
size_t grt_packed_room(size_t len);

/** grt_pack_packet - packs a whole packet into @out. Return: bytes there, -ENOSYS: built without zstd,
 * -ENOMEM */
ssize_t grt_pack_packet(const struct grt_packet *p, void *out, size_t room);

/**
 * grt_unpack_packet - the opposite, of the frame behind a header
 * @out: of @len bytes, which the packet must have
 * Return: 0, -EBADMSG: it is damaged, -ENOSYS
 */
int grt_unpack_packet(const void *frame, size_t packed, void *out, size_t len);

#endif /* GRT_TRACE_PACKED_H */
