// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Folded stacks, as `grtrace flame` makes them. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/flame.h"
#include "export.h"

static int folded_begin(struct grt_export *x)
{
	struct grt_flame *f;
	int ret = grt_flame_new(&f);

	x->state = f;
	return ret;
}

static int folded_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_flame_event(x->state, e);
}

static int folded_end(struct grt_export *x, const struct grt_health *h)
{
	int fd = dup(x->fd), ret;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	(void)h;
	if (!out) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	ret = grt_flame_write(x->state, out);
	if (fclose(out) && !ret)
		ret = -errno;
	return ret;
}

static void folded_free(struct grt_export *x)
{
	grt_flame_free(x->state);
}

const struct grt_export_format grt_export_folded = {
	.begin = folded_begin,
	.event = folded_event,
	.end = folded_end,
	.free = folded_free,
};
