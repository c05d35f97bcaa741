/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Packets that are compressed one by one with zstd (RFC 8878). A skippable frame with the
 * header precedes each compressed packet, so that a reader can skip packets and begin anywhere:
 *
 *	magic 0x184d2a57 | size | struct grt_packed_head | frame of zstd with the complete packet | ...
 *
 * `zstdcat` prints the file as it would be without compression.
 */
#ifndef GRT_TRACE_PACKED_H
#define GRT_TRACE_PACKED_H

#include <sys/types.h>

#include <grtrace/grtrace.h>

#define GRT_PACKED_MAGIC 0x184d2a57U

/**
 * struct grt_packed_head - the frame before a compressed packet
 * @magic, @size: of a skippable frame; @size counts the bytes after these two
 * @packed: bytes of the following zstd frame
 * @packet: a copy of the packet's header
 */
struct grt_packed_head {
	__u32 magic;
	__u32 size;
	__u32 packed;
	__u32 reserved;
	struct grt_packet packet;
};

/** grt_packed_looks - whether a header is valid, except @packed */
bool grt_packed_looks(const struct grt_packed_head *h);

/** grt_packed_room - the largest size of a compressed packet of @len bytes */
size_t grt_packed_room(size_t len);

/**
 * struct grt_packing - memory of zstd that one packet after the other uses, all zero at first: to get it for
 * each packet takes longer than to compress the packet. A thread has its own.
 */
struct grt_packing {
	void *pack;
	void *unpack;
};

/** grt_packing_free - frees the memory */
void grt_packing_free(struct grt_packing *g);

/**
 * grt_pack_packet - compresses a complete packet into @out. Return: bytes written, -ENOSYS: built without
 * zstd, -ENOMEM
 */
ssize_t grt_pack_packet(struct grt_packing *g, const struct grt_packet *p, void *out, size_t room);

/**
 * grt_unpack_packet - decompresses the frame after a header
 * @out: @len bytes, which must be the size of the packet
 * Return: 0, -EBADMSG: it is damaged, -ENOSYS, -ENOMEM
 */
int grt_unpack_packet(struct grt_packing *g, const void *frame, size_t packed, void *out, size_t len);

#endif /* GRT_TRACE_PACKED_H */
