// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The body of a line for people, see pretty.h. Numbers before the arrow are exact and are read back; those
 * after it are rounded.
 */
#include "pretty.h"

#include <string.h>

#include "trace/packet.h"
#include "base/outbuf.h"
#include "base/units.h"

/* U+2190, and U+00B5 for the u in us */
#define ARROW "   \xe2\x86\x90 "
#define MICRO "\xc2\xb5"

static char *pretty_put(char *p, const char *text)
{
	return grt_format_text(p, text, strlen(text));
}

static char *pretty_put_text(char *p, const struct grt_joins_text *t)
{
	return grt_format_text(p, t->text, t->len);
}

static char *pretty_put_time(char *p, uint64_t ns)
{
	char text[GRT_UNITS_MAX];

	grt_units_ns(text, ns);
	for (const char *c = text; *c; c++) {
		if (*c == 'u')
			p = pretty_put(p, MICRO);
		else
			*p++ = *c;
	}
	return p;
}

/* ---------------------------------------------------------------- fields */

static char *pretty_put_who(char *p, const struct grt_event *e, const struct grt_joined *j)
{
	if (j->thread && j->thread->comm.len)
		p = pretty_put_text(p, &j->thread->comm);
	else
		p = pretty_put(p, "<...>");
	*p++ = '(';
	p = grt_format_u64(p, e->pid);
	return pretty_put(p, ") ");
}

static char *put_tid(char *p, const struct grt_event *e)
{
	return e->tid == e->pid ? p : grt_format_u64(pretty_put(p, " tid="), e->tid);
}

const struct grt_text_row grt_pretty_fields[] = {
	GRT_TEXT_ROW(IOCTL_ENTER, cmd),
	GRT_TEXT_ROW(IOCTL_ENTER, arg),
	GRT_TEXT_ROW(IOCTL_EXIT, cmd),
	GRT_TEXT_ROW(IOCTL_EXIT, ret),
	GRT_TEXT_ROW(IOCTL_EXIT, about, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(IOCTL_EXIT, status, .hide = GRT_TEXT_HIDE_ZERO),
	{.field = NULL},
};

static char *put_ring(char *p, const struct grt_event *e, const struct grt_joined *j)
{
	if (e->ring == GRT_RING_NONE)
		return p;
	p = pretty_put(p, " ring=");
	return j->ring && j->ring->name.len ? pretty_put_text(p, &j->ring->name) : grt_format_u64(p, e->ring);
}

/* ----------------------------------------------------------------- notes */

/* Notes from a delta, written as BEFORE duration AFTER. */
static const struct {
	const char *before;
	const char *after;
} delta_notes[GRT_DELTAS] = {
	[GRT_DELTA_DURATION] = {"took ", ""},
	[GRT_DELTA_SINCE_IOCTL] = {"", " after its ioctl began"},
	[GRT_DELTA_SCHED] = {"scheduled after ", ""},
	[GRT_DELTA_QUEUE] = {"queued ", ""},
	[GRT_DELTA_EXEC] = {"ran ", ""},
	[GRT_DELTA_SINCE_SUBMIT] = {"", " after its submit"},
	[GRT_DELTA_COMPLETE] = {"signalled after ", ""},
	[GRT_DELTA_TOTAL] = {"", " in all"},
	[GRT_DELTA_WAIT] = {"waited ", ""},
};

static char *pretty_put_deltas(char *p, const struct grt_joined *j, const char **sep)
{
	for (unsigned int i = 0; j->has >> i; i++) {
		if (!(j->has >> i & 1))
			continue;
		p = pretty_put(pretty_put(p, *sep), delta_notes[i].before);
		p = pretty_put(pretty_put_time(p, j->ns[i]), delta_notes[i].after);
		*sep = ", ";
	}
	return p;
}

static char *note_call(char *p, const struct grt_event *e, const struct grt_joined *j, const char **sep)
{
	const struct grt_ioctl_driver *d = j->device ? j->device->ioctls : NULL;
	const char *name = grt_ioctl_name_of(d, ((const struct grt_ev_ioctl_enter *)e)->cmd);

	if (!name)
		return p;
	p = pretty_put(pretty_put(p, *sep), name);
	*sep = ", ";
	return p;
}

static char *pretty_note_submit(char *p, const struct grt_event *e, const struct grt_joined *j,
				const char **sep)
{
	if (!j->thread || !j->thread->comm.len)
		return p;
	p = pretty_put(pretty_put(p, *sep), "by ");
	p = pretty_put_text(p, &j->thread->comm);
	*p++ = '(';
	p = grt_format_u64(p, e->pid);
	*p++ = ')';
	*sep = ", ";
	return p;
}

static char *note_status(char *p, const struct grt_event *e, const struct grt_joined *j, const char **sep)
{
	/* COMPLETE and ERROR begin with their status */
	int32_t status = ((const struct grt_ev_complete *)e)->status;

	if (!status || status == GRT_STATUS_UNKNOWN)
		return p;
	p = grt_format_s64(pretty_put(pretty_put(p, *sep), "failed: "), status);
	*sep = ", ";
	return p;
}

static char *note_xid(char *p, const struct grt_event *e, const struct grt_joined *j, const char **sep)
{
	const struct grt_ev_xid *x = (const struct grt_ev_xid *)e;
	struct grt_joins_text text;

	grt_joins_escape(GRT_ESCAPE_TERM, &text, x->text, sizeof(x->text), false);
	p = grt_format_u64(pretty_put(pretty_put(p, *sep), "Xid "), x->code);
	*sep = ", ";
	return text.len ? pretty_put_text(pretty_put(p, ": "), &text) : p;
}

static char *(*const notes[GRT_EV_MAX])(char *p, const struct grt_event *e, const struct grt_joined *j,
					const char **sep) = {
	[GRT_EV_IOCTL_ENTER] = note_call,     [GRT_EV_IOCTL_EXIT] = note_call,
	[GRT_EV_SUBMIT] = pretty_note_submit, [GRT_EV_COMPLETE] = note_status,
	[GRT_EV_ERROR] = note_status,	      [GRT_EV_XID] = note_xid,
};

/*
 * The code above reads ERROR and COMPLETE with one struct, and the two ioctl events begin with their number.
 */
_Static_assert(offsetof(struct grt_ev_error, status) == offsetof(struct grt_ev_complete, status), "status");
_Static_assert(offsetof(struct grt_ev_ioctl_enter, cmd) == offsetof(struct grt_ev_ioctl_exit, cmd), "cmd");

char *grt_pretty_body(const struct grt_event_text *fields, char *p, const struct grt_event *e,
		      const struct grt_joined *j, const char *name, bool cpu)
{
	const char *sep = ARROW;

	if (cpu) {
		p = pretty_put(pretty_put_who(p, e, j), name);
		p = put_tid(grt_event_text_put(fields, p, e), e);
	} else {
		if (grt_has_job(e))
			p = pretty_put(grt_format_hex(pretty_put(p, "ctx="), e->ctx), " ");
		p = pretty_put(p, name);
		if (grt_has_job(e))
			p = grt_format_u64(pretty_put(p, " seq="), e->seqno);
		p = put_ring(p, e, j);
	}
	if (notes[e->type])
		p = notes[e->type](p, e, j, &sep);
	return pretty_put_deltas(p, j, &sep);
}
