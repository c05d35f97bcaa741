// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The export of sums as metrics of Prometheus, see metrics.h: for the directory of a textfile collector. */
#include <errno.h>
#include <string.h>

#include "export.h"
#include "metrics.h"

static int prometheus_begin(struct grt_export *x)
{
	struct grt_metrics *m;
	const char *cards = grt_session_env(x->session, "gpus");
	int ret = grt_metrics_new(&m);

	x->state = m;
	return ret ?: cards ? grt_metrics_cards(m, cards) : 0;
}

static int prometheus_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	return grt_metrics_event(x->state, e);
}

static int prometheus_end(struct grt_export *x, const struct grt_health *h)
{
	const struct grt_metrics_source recording = {"recording", h->balance};
	FILE *out = grt_export_file(x);
	int ret = out ? grt_metrics_flush(x->state) : -errno;

	if (!out)
		return ret;
	ret = ret ?: grt_metrics_write(x->state, out);
	grt_metrics_losses(out, &recording, 1);
	ret = ret ?: ferror(out) ? -EIO : 0;
	return fclose(out) && !ret ? -errno : ret;
}

static void prometheus_free(struct grt_export *x)
{
	grt_metrics_free(x->state);
}

const struct grt_export_format grt_export_prometheus = {
	.begin = prometheus_begin,
	.event = prometheus_event,
	.end = prometheus_end,
	.free = prometheus_free,
};
