/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The bytes of a file of packets, which may be spread over several consecutive files, such as the files of a
 * recording's segments. Each of these files may be compressed: then a position is a position in
 * the decompressed bytes.
 */
#ifndef GRT_TRACE_PARTS_H
#define GRT_TRACE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <grtrace/grtrace.h>

/*
 * Packets that are compressed one by one with zstd (RFC 8878). A skippable frame with the
 * header precedes each compressed packet, so that a reader can skip packets and begin anywhere:
 *
 *	magic 0x184d2a57 | size | struct grt_packed_head | frame of zstd with the complete packet | ...
 *
 * `zstdcat` prints the file as it would be without compression.
 */

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

/**
 * struct grt_packed_place - a packet of a compressed file: @at is its decompressed position, @file its
 * position in the file; with both sizes
 */
struct grt_packed_place {
	uint64_t at;
	uint64_t file;
	uint32_t bytes;
	uint32_t packed;
};

/**
 * struct grt_file_part - one of the files
 * @start, @size: its position in all bytes, and its size
 * @begin: in an uncompressed file, the position of its first byte
 * @place, @places: the packets of a compressed file, which has @tail bytes after the last complete packet
 */
struct grt_file_part {
	int fd;
	uint64_t start;
	uint64_t size;
	uint64_t begin;
	struct grt_packed_place *place;
	uint32_t places;
	uint64_t tail;
	bool is_packed;
};

/** struct grt_parts - all @n files, with @size bytes */
struct grt_parts {
	struct grt_file_part *part;
	unsigned int n;
	uint64_t size;
};

/**
 * struct grt_parts_cursor - the packet that one reader has decompressed: packet @place of @part, NULL: none;
 * in @buf, of @room
 * @packing: memory to decompress packets
 */
struct grt_parts_cursor {
	const struct grt_file_part *part;
	uint32_t place;
	char *buf;
	size_t room;
	struct grt_packing packing;
};

/** grt_parts_new - an empty list; NULL if there is no memory */
struct grt_parts *grt_parts_new(void);

/** grt_parts_add - adds a file and takes ownership of @fd, also if this fails. Return: 0 or -errno */
int grt_parts_add(struct grt_parts *p, int fd);

/**
 * grt_parts_read - like pread(2); may read fewer bytes than there are. Return: bytes, 0: the end, or -errno
 */
ssize_t grt_parts_read(const struct grt_parts *p, struct grt_parts_cursor *c, void *buf, size_t len,
		       uint64_t at);

/** grt_parts_cursor_free, grt_parts_free - free it; NULL is allowed */
void grt_parts_cursor_free(struct grt_parts_cursor *c);
void grt_parts_free(struct grt_parts *p);

#endif /* GRT_TRACE_PARTS_H */
