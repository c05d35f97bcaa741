// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The counters of xid.h. */
#include "xid.h"

#include <string.h>

void grt_xids_init(struct grt_xids *x)
{
	x->over = 0;
	grt_keyed_init(&x->rows, sizeof(struct grt_xid_row), GRT_XIDS_MAX);
}

int grt_xids_event(struct grt_xids *x, const struct grt_event *e)
{
	const struct grt_ev_xid *ev = (const struct grt_ev_xid *)e;
	struct grt_key key = {{0}};
	struct grt_xid_row *row;
	void *found;
	int ret;

	if (e->type != GRT_EV_XID)
		return 0;
	key.w[0] = ev->code;
	key.w[1] = ev->bus;
	ret = grt_keyed_get_or_count(&x->rows, &key, &x->over, &found);
	row = found;
	if (!row)
		return ret;
	if (!row->count++)
		row->first = e->time;
	row->code = ev->code;
	row->bus = ev->bus;
	grt_bus_text(row->gpu, ev->bus);
	row->pid = e->pid;
	row->tid = e->tid;
	row->last = e->time;
	memcpy(row->text, ev->text, sizeof(ev->text));
	return 0;
}

static int xid_by_number(const void *a, const void *b)
{
	const struct grt_xid_row *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	return (x->bus > y->bus) - (x->bus < y->bus);
}

int grt_xids_list(const struct grt_xids *x, const struct grt_xid_row ***out)
{
	return grt_keyed_list(&x->rows, xid_by_number, (void ***)out);
}

void grt_xids_free(struct grt_xids *x)
{
	grt_keyed_free(&x->rows);
}
