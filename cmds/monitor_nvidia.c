// SPDX-License-Identifier: GPL-2.0
/*
 * `grtrace monitor nvidia`: what its ioctls were about, and calls of probed
 * functions, in numbers.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "monitor.h"

static const struct grt_column columns[] = {
	{"ioctl", monitor_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "the ioctl: name in text, else number"},
	{"about", monitor_get, 1, GRT_CELL_NAMED, GRT_COLUMN_ALL,
	 "class or control that it was about: name in text, else number"},
	{"count", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how often"},
	{"refused", monitor_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "of these, failed, or refused by the driver in its answer"},
	{"ioctl_ns", monitor_get, 4, GRT_CELL_NS, GRT_COLUMN_ALL, "time in them, ns"},
	{.name = NULL},
};

static const struct grt_table table = {"nvidia_ioctls", "ioctls of NVIDIA's driver", columns, 0};

const char *monitor_nv_name(enum grt_nv_about kind, uint32_t about)
{
	return kind == GRT_NV_ABOUT_CLASS     ? grt_nv_class_name(about)
	       : kind == GRT_NV_ABOUT_CONTROL ? grt_nv_control_name(about)
					      : NULL;
}

int monitor_nv_call(struct monitor *m, const struct grt_event *e, const struct grt_call_end *end)
{
	const struct grt_ev_ioctl_exit *ev = (const struct grt_ev_ioctl_exit *)e;
	uint32_t device = grt_names_find(&m->names, GRT_NAME_DEVICE, e->device);
	const char *driver = grt_names_owner(&m->names, device), *name = grt_names_name(&m->names, device);
	struct grt_key key;
	int ret;

	if (!driver || strcmp(driver, "nvidia"))
		return 0;
	key = (struct grt_key){{grt_nv_is_uvm(name), ev->cmd, ev->about}};
	ret = grt_tally_add(&m->nv_calls, &key, end->known ? end->ns : 0, e->time);
	if (ret || (ev->ret >= 0 && (!ev->status || ev->status == UINT32_MAX)))
		return ret;
	return grt_tally_add(&m->nv_refused, &key, 0, e->time);
}

static uint64_t refused_of(const struct monitor *m, const struct grt_key *key)
{
	const struct grt_tally_row *row = grt_keyed_find(&m->nv_refused.rows, key);

	return row ? row->count : 0;
}

static int write_row(struct monitor *m, const struct grt_tally_row *row, const void *arg)
{
	uint32_t cmd = (uint32_t)row->key.w[1], about = (uint32_t)row->key.w[2];
	enum grt_nv_about kind = grt_nv_about(cmd);
	struct monitor_cells c = {.n = 0};
	char number[16], object[16];
	const char *name;

	name = grt_nv_ioctl_name(row->key.w[0] ? "nvidia-uvm" : "nvidia", cmd);
	snprintf(number, sizeof(number), "0x%x", cmd);
	monitor_number(&c, cmd);
	c.cell[0].text = name ? name : number;
	monitor_number(&c, about);
	name = monitor_nv_name(kind, about);
	snprintf(object, sizeof(object), "0x%x", about);
	c.cell[1].text = name ? name : object;
	c.cell[1].absent = kind == GRT_NV_ABOUT_NOTHING || about == UINT32_MAX;
	monitor_number(&c, row->count);
	monitor_number(&c, refused_of(m, &row->key));
	monitor_number(&c, row->sum);
	c.cell[c.n - 1].absent = !row->sum;
	(void)arg;
	return grt_writer_row(m->writer, &c);
}

int monitor_nvidia(struct monitor *m)
{
	return monitor_tally(m, &table, &m->nv_calls, "ioctls of NVIDIA's driver", write_row, NULL);
}

/* Functions */

static const struct grt_column function_columns[] = {
	{"function", monitor_get, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "of the kernel module"},
	{"calls", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "that returned"},
	{"failed", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of these, with a negative number"},
	{"ns", monitor_get, 3, GRT_CELL_NS, GRT_COLUMN_ALL, "time in them, ns"},
	{"per_s", monitor_get, 4, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "per second of the run"},
	{.name = NULL},
};

static const struct grt_table function_table = {"functions", "functions of NVIDIA's driver", function_columns,
						0};

static struct monitor_func *find_function(struct monitor *m, const struct grt_ev_func *e)
{
	struct monitor_func *f = m->function;

	while (f < m->function + m->functions && strncmp(f->name, e->function, sizeof(e->function)))
		f++;
	if (f == m->function + MONITOR_FUNCTIONS_MAX)
		return NULL;
	if (f == m->function + m->functions) {
		m->functions++;
		snprintf(f->name, sizeof(f->name), "%.*s", (int)sizeof(e->function), e->function);
	}
	return f;
}

int monitor_function(struct monitor *m, const struct grt_ev_func *e)
{
	struct monitor_func *f = find_function(m, e);
	uint32_t octaves = GRT_HIST_OCTAVES;

	if (!f) {
		m->functions_over++;
		return 0;
	}
	f->count++;
	f->failed += e->known & GRT_FUNC_RET && e->ret < 0;
	if (!(e->known & GRT_FUNC_TOOK))
		return 0;
	f->ns += e->took;
	grt_hist_add(&f->took, e->took, GRT_WEIGHT_ONE, false, &octaves);
	return 0;
}

void monitor_functions_free(struct monitor *m)
{
	while (m->functions)
		grt_hist_free(&m->function[--m->functions].took);
}

static int write_function(struct monitor *m, const struct monitor_func *f)
{
	struct monitor_cells c = {.n = 0};
	uint64_t milli;
	char rate[32];

	monitor_text(&c, f->name);
	monitor_number(&c, f->count);
	monitor_number(&c, f->failed);
	monitor_number(&c, f->ns);
	if (monitor_rate(m, f->count, &milli)) {
		monitor_decimal(rate, milli, 1);
		monitor_text(&c, rate);
	} else {
		monitor_absent(&c);
	}
	return grt_writer_row(m->writer, &c);
}

int monitor_functions(struct monitor *m)
{
	struct monitor_hist row[MONITOR_FUNCTIONS_MAX];
	int ret = 0;

	/* without --probes there is nothing to say of them */
	if (!m->functions)
		return 0;
	grt_writer_table(m->writer, &function_table, NULL);
	for (unsigned int i = 0; i < m->functions && !ret; i++) {
		ret = write_function(m, &m->function[i]);
		row[i] = (struct monitor_hist){0, m->function[i].name, &m->function[i].took};
	}
	grt_writer_table_end(m->writer);
	if (m->functions_over)
		grt_note(&m->notes, "%" PRIu64 " calls are in no row: more than %u functions",
			 m->functions_over, MONITOR_FUNCTIONS_MAX);
	return ret ? ret
		   : monitor_latencies(m, "function_time", "time in functions", MONITOR_OF_ALL, row,
				       m->functions);
}
