// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* What a user should know first about the frames of a client, in sentences. */
#include "frame_sentence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memfile.h"
#include "base/say.h"
#include "base/units.h"

/* Most clients with a sentence, and most causes in it: the most frequent ones. */
#define SENTENCES_MAX 4U
#define CAUSES_MAX 4U

static const char *const cause_names[GRT_FRAME_PARTS] = {
	[GRT_THREAD_RUNNING] = "CPU-bound",	    [GRT_THREAD_POLLING] = "CPU-bound",
	[GRT_THREAD_RUNNABLE] = "no CPU",	    [GRT_THREAD_GPU] = "GPU-bound",
	[GRT_THREAD_DISPLAY] = "display",	    [GRT_THREAD_IO] = "waited: io",
	[GRT_THREAD_LOCK] = "waited: lock",	    [GRT_THREAD_SLEEP] = "waited: sleep",
	[GRT_THREAD_CHILD] = "waited: child",	    [GRT_THREAD_OTHER] = "waited: other",
	[GRT_FRAME_COMPOSITOR] = "compositor late",
};

/* The text after "228 ms of it ". */
static const char *const phrases[GRT_FRAME_PARTS] = {
	[GRT_THREAD_RUNNING] = "running on a CPU",
	[GRT_THREAD_POLLING] = "polling",
	[GRT_THREAD_RUNNABLE] = "without a CPU",
	[GRT_THREAD_GPU] = "waiting for the GPU",
	[GRT_THREAD_DISPLAY] = "waiting for the display",
	[GRT_THREAD_IO] = "waiting for input or output",
	[GRT_THREAD_LOCK] = "waiting for another thread",
	[GRT_THREAD_SLEEP] = "in a timed sleep",
	[GRT_THREAD_CHILD] = "waiting for a child process",
	[GRT_THREAD_OTHER] = "asleep for another reason",
	[GRT_FRAME_COMPOSITOR] = "waiting for the compositor",
	[GRT_THREAD_UNKNOWN] = "in an unknown state",
};

const char *grt_frame_cause_name(unsigned int cause)
{
	return cause < GRT_FRAME_PARTS ? cause_names[cause] : NULL;
}

static uint64_t late_by(const struct grt_frame_client *c, const char *cause)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < GRT_FRAME_PARTS; i++)
		n += cause_names[i] == cause ? c->blamed[i] : 0;
	return n;
}

/* Of the causes that were not written yet, the cause of most late frames. @done: bits of parts */
static unsigned int next_cause(const struct grt_frame_client *c, uint64_t done)
{
	unsigned int most = GRT_FRAME_PARTS;

	for (unsigned int i = 0; i < GRT_FRAME_PARTS; i++)
		if (!(done >> i & 1) && late_by(c, cause_names[i]) &&
		    (most == GRT_FRAME_PARTS || late_by(c, cause_names[i]) > late_by(c, cause_names[most])))
			most = i;
	return most;
}

static uint64_t parts_of(const char *cause)
{
	uint64_t parts = 0;

	for (unsigned int i = 0; i < GRT_FRAME_PARTS; i++)
		parts |= (uint64_t)(cause_names[i] == cause) << i;
	return parts;
}

static void put_causes(FILE *out, const struct grt_frame_client *c)
{
	uint64_t done = 0, left = c->late;
	unsigned int cause;

	for (unsigned int shown = 0; shown < CAUSES_MAX && (cause = next_cause(c, done)) < GRT_FRAME_PARTS;
	     shown++) {
		const char *name = cause_names[cause];

		fprintf(out, "%s%s %" PRIu64, shown ? ", " : ": ", name ?: "unknown cause", late_by(c, name));
		left -= late_by(c, name);
		done |= parts_of(name);
	}
	if (left)
		fprintf(out, ", other causes %" PRIu64, left);
}

static const struct grt_frame *longest(const struct grt_frame_client *c)
{
	const struct grt_frame *most = NULL;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->frame[i].late && (!most || grt_frame_time(&c->frame[i]) > grt_frame_time(most)))
			most = &c->frame[i];
	return most;
}

static void put_longest(FILE *out, const struct grt_frame *f)
{
	char time[GRT_UNITS_MAX], shown[GRT_UNITS_MAX], part[GRT_UNITS_MAX];

	grt_units_ns(time, grt_frame_time(f));
	grt_units_time(shown, f->shown);
	grt_units_ns(part, f->part[f->cause]);
	fprintf(out, ". The longest, shown at %s, took %s", shown, time);
	if (f->part[f->cause])
		fprintf(out, ", %s of it %s", part, phrases[f->cause]);
}

static char *frame_sentence(const struct grt_frame_client *c, const char *process, const struct grt_frame *f)
{
	struct grt_memfile m;
	FILE *out = grt_memfile_open(&m);

	if (!out)
		return NULL;
	fprintf(out, process ? "%.20s (PID %u)" : "%sPID %u", process ?: "", c->pid);
	grt_say(out, ": %" PRIu64 " of %u {frame was|frames were} late", c->late, c->n);
	put_causes(out, c);
	put_longest(out, f);
	fputs(" (report --by frame).", out);
	return grt_memfile_close(&m, out, NULL);
}

int grt_frame_sentences(const struct grt_display_frames *d, struct grt_notes *notes)
{
	const struct grt_names *names = grt_display_frames_names(d);
	const struct grt_frame_client *c;
	const struct grt_frame *f;
	unsigned int shown = 0;
	char *text;

	for (uint32_t i = 0; shown < SENTENCES_MAX && (c = grt_display_frames_client(d, i)); i++) {
		f = longest(c);
		if (!f)
			continue;
		text = frame_sentence(c, grt_names_owner(names, c->name), f);
		if (!text)
			return -ENOMEM;
		grt_note(notes, "%s", text);
		free(text);
		shown++;
	}
	return 0;
}
