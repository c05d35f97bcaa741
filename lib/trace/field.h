/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Properties of event fields in addition to their kind. */
#ifndef GRT_TRACE_FIELD_H
#define GRT_TRACE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <grtrace/event.h>
#include <grtrace/event_table.h>

/**
 * grt_call_is_from_text - whether a call comes from a line of text, and not from a recording, so that all
 * fields except its existence may be unknown. In a recording, all bits set can be a value: an ioctl's
 * argument, -EPERM of mmap
 */
static inline bool grt_call_is_from_text(const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_IOCTL_ENTER:
		return ((const struct grt_ev_ioctl_enter *)e)->fd == GRT_FD_UNKNOWN;
	case GRT_EV_OPEN:
		return ((const struct grt_ev_open *)e)->fd == GRT_FD_UNKNOWN;
	case GRT_EV_CLOSE:
		return ((const struct grt_ev_close *)e)->fd == GRT_FD_UNKNOWN;
	case GRT_EV_POLL:
		return ((const struct grt_ev_poll *)e)->fd == GRT_FD_UNKNOWN;
	case GRT_EV_MMAP:
		/* it has no descriptor, but recordings have the device */
		return !e->device;
	default:
		return false;
	}
}

/**
 * struct grt_unknown - a row of unknown.def
 * @offset, @size: of the field; size 0 ends the rows
 * @untold: the value is unknown only if grt_call_is_from_text()
 * @known: bits of grt_ev_func.known; if one of them is set, every value is known
 */
struct grt_unknown {
	uint64_t value;
	uint16_t offset;
	uint8_t size;
	bool untold;
	uint8_t known;
};

/* The rows of each type; NULL: all values of its fields are known. */
extern const struct grt_unknown *const grt_unknown_values[GRT_EV_MAX];

/** grt_unknown_of - the row of the field at @offset in events of @type; NULL: all of its values are known */
static inline const struct grt_unknown *grt_unknown_of(unsigned int type, uint16_t offset)
{
	const struct grt_unknown *u = type < GRT_EV_MAX ? grt_unknown_values[type] : NULL;

	for (; u && u->size; u++)
		if (u->offset == offset)
			return u;
	return NULL;
}

/** grt_may_be_unknown - whether @value of the field of @u means unknown in some events */
static inline bool grt_may_be_unknown(const struct grt_unknown *u, uint64_t value)
{
	return u->known || ((value ^ u->value) << (64 - 8 * u->size)) == 0;
}

/** grt_is_unknown - whether @value means unknown in the field of @u in @e */
static inline bool grt_is_unknown(const struct grt_unknown *u, const struct grt_event *e, uint64_t value)
{
	if (!u || !grt_may_be_unknown(u, value))
		return false;
	if (u->known)
		return !(((const struct grt_ev_func *)e)->known & u->known);
	return !u->untold || grt_call_is_from_text(e);
}

/** grt_field_is_unknown - whether @value of @e means unknown, and must not be printed as a number */
static inline bool grt_field_is_unknown(const struct grt_field *f, const struct grt_event *e, int64_t value)
{
	if (f->offset < sizeof(*e))
		return f->offset == offsetof(struct grt_event, ring) && (uint32_t)value == GRT_RING_NONE;
	return grt_is_unknown(grt_unknown_of(e->type, f->offset), e, (uint64_t)value);
}

/**
 * struct grt_field_word - how to read a field: shift the word at @offset up by @up and down by @down
 * @offset, @size: for a text, its bytes
 */
struct grt_field_word {
	uint8_t kind;
	uint8_t up;
	uint8_t down;
	uint16_t offset;
	uint16_t size;
};

/**
 * grt_field_word - how to read this field. Fields are aligned to their sizes, and records consist of words
 */
static inline struct grt_field_word grt_field_word(const struct grt_field *f)
{
	struct grt_field_word w = {.kind = f->kind, .offset = f->offset, .size = f->size};

	if (f->kind == GRT_FIELD_STR)
		return w;
	w.offset = f->offset / 8 * 8;
	w.down = (uint8_t)(64 - 8 * f->size);
	w.up = (uint8_t)(w.down - 8 * (f->offset % 8));
	return w;
}

/** grt_field_read - the value of a field that is not a text, with its sign if it has one */
static inline uint64_t grt_field_read(const struct grt_field_word *w, const struct grt_event *e)
{
	uint64_t n;

	memcpy(&n, (const char *)e + w->offset, sizeof(n));
	n <<= w->up;
	return w->kind == GRT_FIELD_SIGNED ? (uint64_t)((int64_t)n >> w->down) : n >> w->down;
}

/** grt_field_value - grt_field_read() without a prepared grt_field_word */
static inline uint64_t grt_field_value(const struct grt_field *f, const struct grt_event *e)
{
	const struct grt_field_word w = grt_field_word(f);

	return grt_field_read(&w, e);
}

#endif /* GRT_TRACE_FIELD_H */
