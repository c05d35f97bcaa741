// SPDX-License-Identifier: GPL-2.0
/*
 * The destination of packets: a directory, a directory with segments, the memory of a black box, or a file
 * of plain packets.
 */
#include <string.h>

#include "cmds/cmd.h"
#include "record.h"
#include "record_choice.h"
#include "record_options.h"

/* Number of segments within the limit, and the largest default size of a segment. */
#define SEGMENTS 16U
#define SEGMENT_MAX (256ULL << 20)

/* Default limits of a black box: bytes, and seconds. */
#define LAST_SIZE (64ULL << 20)
#define LAST_AFTER 5
#define LAST_PAUSE 60

/* Adds a file for each stream. Return: 0 or -errno */
static int output_add_files(void *arg, struct recording *r, struct grt_err *err)
{
	struct run *run = arg;
	int ret = 0;

	for (unsigned int i = 0; ret >= 0 && i < run->n_inputs; i++)
		for (unsigned int k = 0; ret >= 0 && k < run->inputs[i].places; k++) {
			/* it is unknown which processes there will be */
			ret = (run->inputs[i].places > run->inputs[i].streams
				       ? recording_name_file
				       : recording_add_file)(r, run->inputs[i].source->name, k, err);
			if (ret >= 0)
				r->files[ret].source = i;
		}
	return ret < 0 ? ret : 0;
}

/*
 * The metadata is written first: whenever the recorder is killed, it leaves a recording, or a directory that
 * the next one uses. Return: 0 or -errno
 */
static int output_begin(struct run *run, const char *path, struct grt_err *err)
{
	unsigned int i;
	int ret;

	machine_begin(&run->machine);
	ret = record_write_metadata(run, "recording", err);
	if (!ret && run->box.on)
		run->box.number = recording_snapshots(&run->rec);
	else if (!ret)
		ret = output_add_files(run, &run->rec, err);
	if (ret >= 0 && run->rec.segments)
		ret = segments_begin(&run->rec, err);
	if (ret < 0)
		return ret;
	for (i = 0; i < run->n_inputs; i++) {
		const struct input *in = &run->inputs[i];

		ret = in->source->attach ? in->source->attach(in->state, run->rec.dir, path, err) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

/* A segment is a part of the limit, so that only a small part is deleted at a time. */
void record_set_bounds(struct run *run)
{
	uint64_t segment = record_opt.max_size / SEGMENTS < SEGMENT_MAX && record_opt.max_size
				   ? record_opt.max_size / SEGMENTS
				   : SEGMENT_MAX;

	if (!record_in_segments())
		return;
	segment = segment > RECORD_SEGMENT_MIN ? segment : RECORD_SEGMENT_MIN;
	run->segments.bounds = (struct segment_bounds){
		.bytes = record_opt.max_size,
		.ns = (uint64_t)(record_opt.max_time * NS_PER_S),
		.segment_bytes = record_opt.segment ?: segment,
		.segment_ns = (uint64_t)(record_opt.max_time * NS_PER_S / SEGMENTS),
		.pack = record_opt.compress,
	};
	run->segments.metadata = record_segment_metadata;
	run->segments.changed = record_segments_changed;
	run->segments.arg = run;
	run->rec.segments = &run->segments;
}

/* Without a source that shows it, an incident would be waited for in vain. Return: an exit status */
static int output_check_triggers(const struct triggers *t)
{
	bool shown;

	for (int trigger = 0; trigger < TRIGGERS; trigger++) {
		shown = !t->limit[trigger].on;
		for (size_t i = 0; i < SOURCES && !shown; i++)
			shown = record_choice(all_sources[i]) != CHOICE_NO &&
				trigger_is_of(trigger, all_sources[i]->name);
		if (!shown)
			return cmd_usage_error("--on %s: no source of -e %s shows it; these do: %s",
					       trigger_name(trigger), record_opt.sources ?: "auto",
					       trigger_sources(trigger));
	}
	return EXIT_DONE;
}

int record_set_box(struct run *run)
{
	const struct box_bounds bounds = {
		.bytes = record_opt.last_size ?: LAST_SIZE,
		.ns = (uint64_t)(record_opt.last * NS_PER_S) + RECORD_NAMING_NS / 4,
		.last = (uint64_t)(record_opt.last * NS_PER_S),
		.after = (uint64_t)((record_opt.after > 0 ? record_opt.after : LAST_AFTER) * NS_PER_S),
		.pause = (uint64_t)((record_opt.pause > 0 ? record_opt.pause : LAST_PAUSE) * NS_PER_S),
	};
	const struct box_ops ops = {output_add_files, record_snapshot_metadata, NULL, run};
	char word[64];

	if (!(record_opt.last > 0))
		return EXIT_DONE;
	triggers_init(&run->box.triggers);
	if (triggers_parse(&run->box.triggers, record_opt.on ?: TRIGGERS_DEFAULT, word))
		return cmd_usage_error("--on %s: not an incident; there are %s", word,
				       triggers_names + strlen(", "));
	box_init(&run->box, &bounds, &ops);
	run->rec.box = true;
	record_box_catch();
	return output_check_triggers(&run->box.triggers);
}

/* Without metadata, the directory would not be a recording that the next one may replace. */
int record_output_open(struct run *run, struct grt_err *err)
{
	const char *path = record_output_path();
	int ret;

	if (record_opt.raw)
		return recording_open_raw(&run->rec, record_opt.raw, err);
	ret = recording_open_dir(&run->rec, path, err);
	if (ret < 0)
		return ret;
	ret = output_begin(run, path, err);
	if (ret)
		recording_discard(&run->rec);
	return ret;
}
