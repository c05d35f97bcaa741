// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Packets that are compressed one by one, see packed.h. */
#include "packed.h"

#include <errno.h>
#include <string.h>

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

bool grt_packed_looks(const struct grt_packed_head *h)
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
