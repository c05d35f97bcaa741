// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Decodes the ioctls of NVIDIA's driver. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codes/codes.h"
#include "codes/nv_codes.h"
#include "drm/calls.h"
#include "table/rows.h"

/** struct nv_calls - ioctls by (device file's kind, cmd, about), and of these the refused */
struct nv_calls {
	struct grt_tally all;
	struct grt_tally refused;
};

static const struct grt_column columns[] = {
	{"ioctl", grt_row_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "the ioctl: name in text, else number"},
	{"about", grt_row_get, 1, GRT_CELL_NAMED, GRT_COLUMN_ALL,
	 "class or control to which it applied: name in text, else number"},
	{"count", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of calls"},
	{"refused", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "calls that failed, or that the driver refused in its answer"},
	{"ioctl_ns", grt_row_get, 4, GRT_CELL_NS, GRT_COLUMN_ALL, "total time in these ioctls, ns"},
	{.name = NULL},
};

static const struct grt_table table = {"nvidia_ioctls", "ioctls of NVIDIA's driver", columns, 0};

static int ioctls_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	struct nv_calls *n = state;
	const struct grt_ev_ioctl_exit *ev = (const struct grt_ev_ioctl_exit *)e;
	uint32_t device = grt_names_find(pass->names, GRT_NAME_DEVICE, e->device);
	const char *driver = grt_names_owner(pass->names, device),
		   *name = grt_names_name(pass->names, device);
	struct grt_key key;
	int ret;

	if (e->type != GRT_EV_IOCTL_EXIT || !driver || strcmp(driver, "nvidia"))
		return 0;
	key = (struct grt_key){{grt_nv_is_uvm(name), ev->cmd, ev->about}};
	ret = grt_tally_add(&n->all, &key, pass->call && pass->call->known ? pass->call->ns : 0, e->time);
	if (ret || (ev->ret >= 0 && (!ev->status || ev->status == UINT32_MAX)))
		return ret;
	return grt_tally_add(&n->refused, &key, 0, e->time);
}

static uint64_t refused_of(const struct nv_calls *n, const struct grt_key *key)
{
	const struct grt_tally_row *row = grt_keyed_find(&n->refused.rows, key);

	return row ? row->count : 0;
}

static int ioctls_write_row(struct grt_pass *pass, const struct grt_tally_row *row, const void *arg)
{
	uint32_t cmd = (uint32_t)row->key.w[1], about = (uint32_t)row->key.w[2];
	enum grt_nv_about kind = grt_nv_about(cmd);
	struct grt_row_cells c = {.n = 0};
	char number[16], object[16];
	const char *name;

	name = grt_nv_ioctl_name(row->key.w[0] ? "nvidia-uvm" : "nvidia", cmd);
	snprintf(number, sizeof(number), "0x%x", cmd);
	grt_row_number(&c, cmd);
	c.cell[0].text = name ? name : number;
	grt_row_number(&c, about);
	name = grt_nv_about_name(kind, about);
	snprintf(object, sizeof(object), "0x%x", about);
	c.cell[1].text = name ? name : object;
	c.cell[1].absent = kind == GRT_NV_ABOUT_NOTHING || about == UINT32_MAX;
	grt_row_number(&c, row->count);
	grt_row_number(&c, refused_of(arg, &row->key));
	grt_row_number(&c, row->sum);
	c.cell[c.n - 1].absent = !row->sum;
	return grt_writer_row(pass->writer, &c);
}

static int show_ioctls(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct nv_calls *n = state;

	return grt_tally_write(pass, &table, &n->all,
			       "{ioctl of NVIDIA's driver is|ioctls of NVIDIA's driver are}",
			       ioctls_write_row, n);
}

/* --------------------------------------------------------------- analysis */

static int new_ioctls(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct nv_calls *n = *state;

	grt_tally_init(&n->all, GRT_TALLY_ROWS);
	grt_tally_init(&n->refused, GRT_TALLY_ROWS);
	return 0;
}

static void free_ioctls(void *state)
{
	struct nv_calls *n = state;

	grt_tally_free(&n->all);
	grt_tally_free(&n->refused);
}

GRT_ANALYSIS_ANY(any_ioctls, nv_calls, all.rows.used)

static const struct grt_part ioctl_parts[] = {
	{"ioctls", "ioctls of NVIDIA's driver, and the objects to which they applied", GRT_PART_MONITOR,
	 .any = any_ioctls, .tables = GRT_TABLES(&table), .write = show_ioctls},
	{.name = NULL},
};

/* The analysis calls precedes it: how long an ioctl lasted is known from that. */
const struct grt_analysis grt_analysis_ioctls = {
	.name = "ioctls",
	.classes = GRT_IN_CLASS(call),
	.parts = ioctl_parts,
	.size = sizeof(struct nv_calls),
	.begin = new_ioctls,
	.event = ioctls_take_event,
	.free = free_ioctls,
};
