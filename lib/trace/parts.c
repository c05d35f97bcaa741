// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Several files of packets as one, see parts.h. */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers.h"

/* ---------------------------------------------------------------- packed */

#ifdef GRT_HAVE_ZSTD
#include <zstd.h>
#endif

#include "packet.h"

/* The faster of two levels: the next one takes twice the time and saves a tenth. */
#define LEVEL 1
/* Events are packed to a tenth. Beyond this, a small file would take minutes to read. */
#define GROWTH_MAX 256U
#define GROWTH_FREE 65536U

static bool packed_grows(const struct grt_packed_head *h)
{
	return h->packet.packet_size / 8 > GROWTH_FREE + (uint64_t)GROWTH_MAX * h->packed;
}

/* Whether a header is valid, except @packed */
static bool grt_packed_looks(const struct grt_packed_head *h)
{
	return h->magic == GRT_PACKED_MAGIC && h->size == sizeof(*h) - 8 && h->packed <= 2 * GRT_PACKET_MAX &&
	       !packed_grows(h) && grt_packet_look(&h->packet) == GRT_LOOK_PACKET;
}

#ifdef GRT_HAVE_ZSTD

size_t grt_packed_room(size_t len)
{
	return sizeof(struct grt_packed_head) + ZSTD_compressBound(len);
}

void grt_packing_free(struct grt_packing *g)
{
	ZSTD_freeCCtx(g->pack);
	ZSTD_freeDCtx(g->unpack);
	*g = (struct grt_packing){.pack = NULL};
}

ssize_t grt_pack_packet(struct grt_packing *g, const struct grt_packet *p, void *out, size_t room)
{
	struct grt_packed_head h = {.magic = GRT_PACKED_MAGIC, .size = sizeof(h) - 8, .packet = *p};
	size_t n;

	g->pack = g->pack ?: ZSTD_createCCtx();
	if (!g->pack)
		return -ENOMEM;
	n = ZSTD_compressCCtx(g->pack, (char *)out + sizeof(h), room - sizeof(h), p, p->packet_size / 8,
			      LEVEL);
	if (ZSTD_isError(n))
		return -ENOMEM;
	h.packed = (uint32_t)n;
	memcpy(out, &h, sizeof(h));
	return (ssize_t)(sizeof(h) + n);
}

int grt_unpack_packet(struct grt_packing *g, const void *frame, size_t packed, void *out, size_t len)
{
	size_t n;

	g->unpack = g->unpack ?: ZSTD_createDCtx();
	if (!g->unpack)
		return -ENOMEM;
	n = ZSTD_decompressDCtx(g->unpack, out, len, frame, packed);
	return ZSTD_isError(n) || n != len ? -EBADMSG : 0;
}

#else

size_t grt_packed_room(size_t len)
{
	return sizeof(struct grt_packed_head) + len;
}

void grt_packing_free(struct grt_packing *g)
{
}

ssize_t grt_pack_packet(struct grt_packing *g, const struct grt_packet *p, void *out, size_t room)
{
	return -ENOSYS;
}

int grt_unpack_packet(struct grt_packing *g, const void *frame, size_t packed, void *out, size_t len)
{
	return -ENOSYS;
}

#endif

/* ----------------------------------------------------------------- parts */

struct grt_parts *grt_parts_new(void)
{
	return calloc(1, sizeof(struct grt_parts));
}

static ssize_t parts_pread(int fd, void *buf, size_t len, uint64_t at)
{
	ssize_t n;

	do
		n = pread(fd, buf, len, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Finds the packets of a packed file; the bytes after the last complete one are not read. */
static int parts_find_packets(struct grt_file_part *part, uint64_t size)
{
	struct grt_packed_head h;
	uint32_t room = 0;
	uint64_t at = 0;
	ssize_t n;

	while ((n = parts_pread(part->fd, &h, sizeof(h), at)) == sizeof(h)) {
		if (!grt_packed_looks(&h) || h.packed > size - at - sizeof(h))
			break;
		if (grt_grow(&part->place, &room, part->places + 1, 64))
			return -ENOMEM;
		part->place[part->places++] = (struct grt_packed_place){
			.at = part->size,
			.file = at,
			.bytes = (uint32_t)(h.packet.packet_size / 8),
			.packed = h.packed,
		};
		part->size += h.packet.packet_size / 8;
		at += sizeof(h) + h.packed;
	}
	part->tail = size - at;
	return n < 0 ? (int)n : 0;
}

static int parts_open(struct grt_file_part *part)
{
	uint32_t magic = 0;
	struct stat st;
	ssize_t n;

	if (fstat(part->fd, &st))
		return -errno;
	n = parts_pread(part->fd, &magic, sizeof(magic), 0);
	if (n < 0)
		return (int)n;
	part->is_packed = magic == GRT_PACKED_MAGIC;
	if (part->is_packed)
		return parts_find_packets(part, (uint64_t)st.st_size);
	part->size = (uint64_t)st.st_size;
	return 0;
}

int grt_parts_add(struct grt_parts *p, int fd)
{
	struct grt_file_part part = {.fd = fd, .start = p->size};
	int ret = parts_open(&part);

	if (!ret && grt_grow_one(&p->part, p->n))
		ret = -ENOMEM;
	if (ret) {
		close(fd);
		free(part.place);
		return ret;
	}
	p->part[p->n++] = part;
	p->size += part.size;
	return 0;
}

/* The last one that begins at a position or before it; an empty one has no byte. */
static const struct grt_file_part *parts_at(const struct grt_parts *p, uint64_t at)
{
	unsigned int low = 0, high = p->n;

	while (high - low > 1) {
		unsigned int mid = (low + high) / 2;

		if (p->part[mid].start <= at)
			low = mid;
		else
			high = mid;
	}
	return &p->part[low];
}

static uint32_t parts_place_at(const struct grt_file_part *part, uint64_t at)
{
	uint32_t low = 0, high = part->places;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (part->place[mid].at <= at)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* Unpacks one packet into the cursor. Return: 0 or -errno */
static int parts_unpack(struct grt_parts_cursor *c, const struct grt_file_part *part, uint32_t number)
{
	const struct grt_packed_place *place = &part->place[number];
	size_t need = (size_t)place->bytes + place->packed;
	char *frame;
	ssize_t n;

	if (c->part == part && c->place == number)
		return 0;
	if (grt_grow(&c->buf, &c->room, need, (size_t)128 << 10))
		return -ENOMEM;
	c->part = NULL;
	frame = c->buf + place->bytes;
	n = parts_pread(part->fd, frame, place->packed, place->file + sizeof(struct grt_packed_head));
	if (n != (ssize_t)place->packed)
		return n < 0 ? (int)n : -EBADMSG;
	n = grt_unpack_packet(&c->packing, frame, place->packed, c->buf, place->bytes);
	if (n)
		return (int)n;
	c->part = part;
	c->place = number;
	return 0;
}

static ssize_t parts_read_packed(const struct grt_file_part *part, struct grt_parts_cursor *c, char *buf,
				 size_t len, uint64_t at)
{
	uint32_t number = parts_place_at(part, at);
	const struct grt_packed_place *place = &part->place[number];
	size_t from = (size_t)(at - place->at), left = place->bytes - from;
	int ret;

	if (len > left)
		len = left;
	/* a header alone can be read without decompressing */
	if (from + len <= sizeof(struct grt_packet))
		return parts_pread(part->fd, buf, len,
				   place->file + offsetof(struct grt_packed_head, packet) + from);
	ret = parts_unpack(c, part, number);
	if (ret)
		return ret;
	memcpy(buf, c->buf + from, len);
	return (ssize_t)len;
}

ssize_t grt_parts_read(const struct grt_parts *p, struct grt_parts_cursor *c, void *buf, size_t len,
		       uint64_t at)
{
	const struct grt_file_part *part;

	if (at >= p->size)
		return 0;
	part = parts_at(p, at);
	if (part->is_packed)
		return parts_read_packed(part, c, buf, len, at - part->start);
	if (len > part->start + part->size - at)
		len = (size_t)(part->start + part->size - at);
	return parts_pread(part->fd, buf, len, part->begin + at - part->start);
}

void grt_parts_cursor_free(struct grt_parts_cursor *c)
{
	free(c->buf);
	grt_packing_free(&c->packing);
	*c = (struct grt_parts_cursor){.part = NULL};
}

void grt_parts_free(struct grt_parts *p)
{
	for (unsigned int i = 0; p && i < p->n; i++) {
		close(p->part[i].fd);
		free(p->part[i].place);
	}
	if (p)
		free(p->part);
	free(p);
}
