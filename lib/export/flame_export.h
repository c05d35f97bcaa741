/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Exports of GPU time by CPU stack: what `grtrace flame` makes, in a form of flamegraph/forms.def. */
#ifndef GRT_EXPORT_FLAME_EXPORT_H
#define GRT_EXPORT_FLAME_EXPORT_H

#include "export.h"
#include "flamegraph/flamegraph.h"

int grt_flame_export_begin(struct grt_export *x, enum grt_flamegraph_form form);
int grt_flame_export_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu);
void grt_flame_export_within(struct grt_export *x, uint64_t from, uint64_t to);
int grt_flame_export_end(struct grt_export *x, enum grt_flamegraph_form form);
void grt_flame_export_free(struct grt_export *x);

/** GRT_FLAME_EXPORT - the format of a row of exports.def */
#define GRT_FLAME_EXPORT(name, FORM)                                            \
	static int name##_begin(struct grt_export *x)                           \
	{                                                                       \
		return grt_flame_export_begin(x, GRT_FLAMEGRAPH_##FORM);        \
	}                                                                       \
	static int name##_end(struct grt_export *x, const struct grt_health *h) \
	{                                                                       \
		return grt_flame_export_end(x, GRT_FLAMEGRAPH_##FORM);          \
	}                                                                       \
	const struct grt_export_format grt_export_##name = {                    \
		.missing = "GPU time of a job, kernel or copy",                 \
		.fix = "grtrace record --stack=bpf -- PROG, or record -e cuda", \
		.whole = true,                                                  \
		.joins = true,                                                  \
		.begin = name##_begin,                                          \
		.event = grt_flame_export_event,                                \
		.beyond = grt_flame_export_event,                               \
		.late = grt_flame_export_event,                                 \
		.within = grt_flame_export_within,                              \
		.end = name##_end,                                              \
		.free = grt_flame_export_free,                                  \
	}

#endif /* GRT_EXPORT_FLAME_EXPORT_H */
