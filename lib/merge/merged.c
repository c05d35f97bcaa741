// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The sink of merged.h: counts, and hands on to line_out.c.
 */
#include "merged.h"

#include <errno.h>
#include <stdlib.h>

static int merged_on_event(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	struct grt_merged *m = arg;
	struct grt_merged_input *in = &m->input[input];

	if (m->stop && *m->stop)
		return -EINTR;
	if (e->type != GRT_EV_NAME) {
		in->events[e->type]++;
		if (!in->total++)
			in->first = e->time;
		in->last = e->time;
	}
	return grt_line_out_event(m->lines, e, cpu, input);
}

int grt_merged_init(struct grt_merged *m, enum grt_line_form form, int fd, unsigned int inputs)
{
	*m = (struct grt_merged){.sink = {.event = merged_on_event}, .inputs = inputs};
	m->sink.arg = m;
	m->input = calloc(inputs + 1, sizeof(*m->input));
	if (!m->input)
		return -ENOMEM;
	return grt_line_out_new(&m->lines, form, fd);
}

void grt_merged_fini(struct grt_merged *m)
{
	grt_line_out_free(m->lines);
	free(m->input);
	*m = (struct grt_merged){.inputs = 0};
}
