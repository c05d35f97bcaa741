// SPDX-License-Identifier: GPL-2.0
/* The metadata of a recording and of its parts: what it contains, from when to when, and what was deleted. */
#include <inttypes.h>
#include <string.h>

#include "record.h"
#include "record_options.h"

#define ENV_ROOM 128

/**
 * struct about - the subject of metadata
 * @dir: directory of the metadata
 * @part: a part of the recording, to which the counts of the sources do not apply
 * @from, @to: it is complete between these times
 * @gone: events that were deleted from it, by source; NULL: none
 * @before: events of a part's programs that are before it, by source; NULL: none
 * @incident: why it was written; NULL: it is not a snapshot
 */
struct about {
	int dir;
	const char *state;
	bool part;
	uint64_t from;
	uint64_t to;
	const struct segment_events *gone;
	const uint64_t *before;
	const struct input *inputs;
	const struct incident *incident;
};

/* Writes the time for which the recording has all events of each source. Return: number of entries written */
static int metadata_window(struct input *in, const struct about *about, struct grt_env *env)
{
	struct grt_window w = in->cut.window;

	if (in->source->uncut)
		return 0;
	w.to = in->ended ? in->ended : w.to;
	w.from = about->from > w.from ? about->from : w.from;
	w.to = about->to < w.to ? about->to : w.to;
	w.from = w.from < w.to ? w.from : w.to;
	w.deleted = about->gone ? about->gone[in - about->inputs].emitted : 0;
	w.counted += about->gone ? about->gone[in - about->inputs].counted : 0;
	if (about->part)
		w.before = w.after = 0;
	w.counted += about->before ? about->before[in - about->inputs] : 0;
	snprintf(in->key, sizeof(in->key), "%s_window", in->source->name);
	grt_window_text(&w, in->window);
	*env = (struct grt_env){in->key, in->window};
	return 1;
}

static int metadata_segments(struct segments *s, struct grt_env *env)
{
	env[0] = (struct grt_env){"segments", segments_text(s)};
	env[1] = (struct grt_env){"deleted_fates", segments_fates(s)};
	return 2;
}

/*
 * Writes which sources were recorded in windows, and for which share of the time. Return: number of entries
 * written
 */
static int metadata_duty(struct run *run, struct grt_env *env)
{
	size_t used = 0;

	for (unsigned int i = 0; record_opt.duty_text && i < run->n_inputs; i++)
		if (run->inputs[i].source->duty && used < sizeof(run->duty) / 2)
			used += (size_t)snprintf(run->duty + used, sizeof(run->duty) - used, "%s%s",
						 used ? ", " : "", run->inputs[i].source->name);
	if (!used)
		return 0;
	snprintf(run->duty + used, sizeof(run->duty) - used,
		 " in windows of %g ms, each one of %" PRIu64
		 " parts: numbers without ~ cover only these windows",
		 (double)record_opt.duty.window / 1e6, record_opt.duty.parts);
	env[0] = (struct grt_env){"duty", run->duty};
	return 1;
}

static int metadata_write(struct run *run, const struct about *about, struct grt_err *err)
{
	struct record_box_texts box;
	struct grt_env env[ENV_ROOM + 1];
	unsigned int i;
	int n = machine_describe(&run->machine, about->state, run->command, env), from;

	n += metadata_duty(run, env + n);
	if (about->incident)
		n += record_box_describe(&box, &run->box, about->incident, env + n);
	else if (run->box.on)
		n += record_box_describe_box(&box, env + n);
	if (run->rec.segments && !about->part)
		n += metadata_segments(&run->segments, env + n);
	for (i = 0; run->begun && i < run->n_inputs; i++)
		n += metadata_window(&run->inputs[i], about, env + n);
	for (i = 0; i < run->n_inputs; i++) {
		from = n;
		n += run->inputs[i].source->describe(run->inputs[i].state, env + n, ENV_ROOM - n);
		if (about->part)
			n = from + machine_leave_out_counts(env + from, n - from);
	}
	env[n] = (struct grt_env){NULL, NULL};
	return recording_write_metadata(&run->rec, about->dir, env, run->machine.realtime_offset, err);
}

int record_write_metadata(struct run *run, const char *state, struct grt_err *err)
{
	struct about about = {.dir = run->rec.dir, .state = state, .to = UINT64_MAX, .inputs = run->inputs};

	if (run->rec.dir < 0)
		return 0;
	if (run->rec.segments && run->segments.n) {
		about.from = segments_from(&run->segments);
		about.gone = run->segments.gone;
	}
	return metadata_write(run, &about, err);
}

/*
 * Writes the metadata of a part, which is still being recorded where @to is UINT64_MAX.
 * @before: events of each source that its programs count, and that are before it; @incident: of a snapshot
 */
static int metadata_write_part(struct run *run, int dir, uint64_t from, uint64_t to,
			       const uint64_t before[SOURCES], const struct incident *incident,
			       struct grt_err *err)
{
	const struct about about = {.dir = dir,
				    .state = to == UINT64_MAX ? "recording" : "complete",
				    .part = true,
				    .from = from,
				    .to = to,
				    .before = before,
				    .inputs = run->inputs,
				    .incident = incident};

	return metadata_write(run, &about, err);
}

int record_segment_metadata(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err)
{
	struct run *run = arg;
	uint64_t before[SOURCES];

	segments_count_before(&run->segments, before);
	return metadata_write_part(run, dir, from, to, before, NULL, err);
}

int record_snapshot_metadata(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err)
{
	struct run *run = arg;

	return metadata_write_part(run, dir, from, to, run->box.before, &run->box.incident, err);
}

int record_segments_changed(void *arg, struct grt_err *err)
{
	return record_write_metadata(arg, "recording", err);
}
