// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The consumer of annotate.h: selects events, which line_out.c formats.
 */
#include "annotate.h"

#include <errno.h>

static int annotate_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_annotate *a = (struct grt_annotate *)c;

	if (a->stop && *a->stop)
		return -EINTR;
	if (e->type != GRT_EV_NAME) {
		if (!a->all && !grt_line_out_is_cpu(e->type))
			return 0;
		if (a->pid && e->pid != a->pid)
			return 0;
	}
	return grt_line_out_event(a->lines, e, cpu, 0);
}

int grt_annotate_init(struct grt_annotate *a, enum grt_line_form form, int fd)
{
	*a = (struct grt_annotate){.c = {.event = annotate_on_event}};
	return grt_line_out_new(&a->lines, form, fd);
}

void grt_annotate_fini(struct grt_annotate *a)
{
	grt_line_out_free(a->lines);
	a->lines = NULL;
}
