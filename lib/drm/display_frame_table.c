// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of frames: clients, and each frame with its cause. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memfile.h"
#include "base/say.h"
#include "base/units.h"
#include "display_frames.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/rows.h"

/* -------------------------------------------------------- frame sentence */

/* The frames of each client of a display in words: how many were late, and why the longest was. */

/* What a user should know first about the frames of a client, in sentences. */

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

/* How tables name a cause of a late frame; NULL: it is unknown. */
static const char *frame_cause_name(unsigned int cause)
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

/* A sentence for each of the first clients with late frames. Return: 0 or -ENOMEM. */
static int grt_frame_sentences(const struct grt_display_frames *d, struct grt_notes *notes)
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

/* --------------------------------------------------- display frame table */

#define F(member) offsetof(struct grt_frame, member)
#define C(member) offsetof(struct grt_frame_client, member)

/* States in which a thread waits neither for the GPU nor for the display. */
static const uint8_t waits[] = {GRT_THREAD_IO, GRT_THREAD_LOCK, GRT_THREAD_SLEEP, GRT_THREAD_CHILD,
				GRT_THREAD_OTHER};

static const struct grt_frame_client *frame_client_of(const void *view, const void *row)
{
	return grt_display_frames_client(view, ((const struct grt_frame *)row)->client);
}

static void frame_process(struct grt_cell *cell, const struct grt_display_frames *d,
			  const struct grt_frame_client *c)
{
	grt_cell_owner(cell, grt_display_frames_names(d), c->name);
}

static void frame_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	frame_process(cell, view, frame_client_of(view, row));
}

static void frame_get_pid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = frame_client_of(view, row)->pid;
}

static void frame_get_crtc(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = frame_client_of(view, row)->crtc;
}

static void frame_get_time(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_frame *f = row;

	cell->number = grt_frame_time(f);
	cell->absent = !f->begin;
}

static void frame_get_flip(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_nonzero(cell, view, row, arg);
	cell->inferred = ((const struct grt_frame *)row)->inferred;
}

/* Properties of the frame's job, if it is known. */
static void frame_get_job(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_nonzero(cell, view, row, arg);
	cell->inferred = ((const struct grt_frame *)row)->job_inferred;
}

static void frame_get_missed(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_frame *f = row;

	cell->number = f->missed;
	cell->absent = !f->counted;
}

static void frame_get_late(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_frame *f = row;

	cell->number = f->late;
	cell->absent = !f->begin;
}

static void frame_get_cause(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = frame_cause_name(((const struct grt_frame *)row)->cause);
}

/* A part is unknown if nothing is known about the thread. */
static void frame_get_part(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_frame *f = row;

	cell->number = f->part[arg];
	cell->absent = !f->begin;
}

static void frame_get_waited(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_frame *f = row;

	for (unsigned int i = 0; i < sizeof(waits); i++)
		cell->number += f->part[waits[i]];
	cell->absent = !f->begin;
}

static void frame_get_busy(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_frame *f = row;

	cell->number = f->busy;
	cell->absent = !f->begin || !f->submit;
}

/* clang-format off */

static const struct grt_column frame_columns[] = {
	{"process", frame_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the client's process"},
	{"pid", frame_get_pid, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id of the client"},
	{"crtc", frame_get_crtc, 0, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "index of the CRTC that showed the frame"},
	{"frame", grt_cell_u64, F(number), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the frame, from the client's first"},
	{"shown", grt_cell_u64, F(shown), GRT_CELL_TIME, GRT_COLUMN_ALL, "time of the frame's flip event"},
	{"time", frame_get_time, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time since the client's previous frame was shown, ns"},
	{"late", frame_get_late, 0, GRT_CELL_BOOL, GRT_COLUMN_ALL, "whether the time is 1.5 times the client's median, or more"},
	{"missed", frame_get_missed, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "vertical blanks in this time that showed nothing new"},
	{"cause", frame_get_cause, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "of a late frame, the part that exceeds its median most; of others, the longest part"},
	{"gpu_busy", frame_get_busy, 0, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "time that jobs of the process ran, ns; several rings add up"},
	{"running", frame_get_part, GRT_THREAD_RUNNING, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "part in which the thread ran on a CPU, ns"},
	{"runnable", frame_get_part, GRT_THREAD_RUNNABLE, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "part in which the thread was ready to run without a CPU, ns"},
	{"gpu", frame_get_part, GRT_THREAD_GPU, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "part in which the thread or the flip waited for the GPU, ns"},
	{"waited", frame_get_waited, 0, GRT_CELL_NS, GRT_COLUMN_BRIEF | GRT_COLUMN_LESS, "part in which the thread waited for something else than the GPU, ns"},
	{"io", frame_get_part, GRT_THREAD_IO, GRT_CELL_NS, GRT_COLUMN_MORE, "part in which the thread waited for input or output, ns"},
	{"lock", frame_get_part, GRT_THREAD_LOCK, GRT_CELL_NS, GRT_COLUMN_MORE, "part in which the thread waited for a lock, ns"},
	{"sleep", frame_get_part, GRT_THREAD_SLEEP, GRT_CELL_NS, GRT_COLUMN_MORE, "part in which the thread slept in a timed sleep, ns"},
	{"child", frame_get_part, GRT_THREAD_CHILD, GRT_CELL_NS, GRT_COLUMN_MORE, "part in which the thread waited for a child process, ns"},
	{"other", frame_get_part, GRT_THREAD_OTHER, GRT_CELL_NS, GRT_COLUMN_MORE, "part in which the thread waited for something else, ns"},
	{"compositor", frame_get_part, GRT_FRAME_COMPOSITOR, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "part in which the compositor had the frame's job and did not flip, or the thread waited for the compositor, ns"},
	{"display", frame_get_part, GRT_THREAD_DISPLAY, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "part in which the flip, or the thread before the flip, waited for the display, ns"},
	{"unknown", frame_get_part, GRT_THREAD_UNKNOWN, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "part in which the thread's state is unknown, ns"},
	{"wait", grt_cell_nonzero, F(wait), GRT_CELL_NS, GRT_COLUMN_MORE, "longest sleep of the thread in the frame, ns"},
	{"waker", grt_cell_chars, F(waker_comm), GRT_CELL_TEXT, GRT_COLUMN_MORE, "thread that ended this sleep"},
	{"waker_tid", grt_cell_id, F(waker), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "thread id of the waker"},
	{"present", grt_cell_nonzero, F(present), GRT_CELL_TIME, GRT_COLUMN_MORE, "time of the client's call that shows the frame (eglSwapBuffers and the like)"},
	{"submit", frame_get_job, F(submit), GRT_CELL_TIME, GRT_COLUMN_MORE, "submit time of the frame's job"},
	{"job_ctx", frame_get_job, F(job_ctx), GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "fence context of the frame's job"},
	{"job_seqno", frame_get_job, F(job_seqno), GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "sequence number of the frame's job"},
	{"job_end", frame_get_job, F(job_end), GRT_CELL_TIME, GRT_COLUMN_MORE, "completion time of the frame's job"},
	{"flip", frame_get_flip, F(flip), GRT_CELL_TIME, GRT_COLUMN_MORE, "time at which the page flip or atomic commit was requested"},
	{"flipper", grt_cell_id, F(flipper), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "process id of the program that requested the flip"},
	{"vseq", grt_cell_id, F(vseq), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "frame number of the CRTC"},
	{.name = NULL},
};

static const struct grt_table frame_table = {"frames", "frames", frame_columns, GRT_MARK_INFERRED};

/* clang-format on */

static void client_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	frame_process(cell, view, row);
}

/* Frames in 1000 s. */
static uint64_t client_fps(const struct grt_frame_client *c)
{
	return c->time ? (uint64_t)((unsigned __int128)c->timed * 1000000000000ULL / c->time) : 0;
}

static void client_get_fps(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	static __thread char text[32];

	cell->number = client_fps(row);
	cell->absent = !cell->number;
	grt_decimal(text, cell->number, 2);
	cell->text = text;
}

static void client_get_fps_milli(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = client_fps(row);
	cell->absent = !cell->number;
}

static void client_get_ns(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_u64(cell, view, row, arg);
	cell->absent = !((const struct grt_frame_client *)row)->max;
}

static void client_get_missed(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_u64(cell, view, row, arg);
	cell->absent = !((const struct grt_frame_client *)row)->counted;
}

/* The most frequent cause of late frames. */
static void client_get_cause(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_frame_client *c = row;
	unsigned int most = 0;

	for (unsigned int i = 0; i < GRT_FRAME_PARTS; i++)
		most = c->blamed[i] > c->blamed[most] ? i : most;
	cell->text = frame_cause_name(most);
	cell->absent = !c->late || !cell->text;
}

/* clang-format off */

static const struct grt_column client_columns[] = {
	{"process", client_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the client's process"},
	{"pid", grt_cell_u32, C(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id of the client"},
	{"crtc", grt_cell_u32, C(crtc), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "index of the CRTC"},
	{"compositor", grt_cell_id, C(compositor), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "process id of the compositor that flips for the client; none: the client flips itself"},
	{"frames", grt_cell_u64, C(frames), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "frames shown"},
	{"chained", grt_cell_u64, C(chained), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "frames whose flip is known, and whose job, where there is one, is known from submit to end"},
	{"fps", client_get_fps, 0, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "frames per second"},
	{"fps_milli", client_get_fps_milli, 0, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "frames per 1000 s"},
	{"p50", client_get_ns, C(p50), GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "median time of a frame, ns"},
	{"p95", client_get_ns, C(p95), GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "95th percentile of the time of a frame, ns"},
	{"p99", client_get_ns, C(p99), GRT_CELL_NS, GRT_COLUMN_ALL, "99th percentile of the time of a frame, ns"},
	{"max", client_get_ns, C(max), GRT_CELL_NS, GRT_COLUMN_ALL, "longest time of a frame, ns"},
	{"late", client_get_ns, C(late), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "frames that took 1.5 times the median, or more"},
	{"missed", client_get_missed, C(missed), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "vertical blanks that showed nothing new"},
	{"cause", client_get_cause, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "most frequent cause of late frames"},
	{.name = NULL},
};

static const struct grt_table client_table = {"frame_clients", "clients of displays", client_columns, 0};

/* clang-format on */

/* --------------------------------------------------------------- analysis */

/* The longest first. */
static int frame_by_time(const void *a, const void *b)
{
	const struct grt_frame *x = *(void *const *)a, *y = *(void *const *)b;
	uint64_t tx = grt_frame_time(x), ty = grt_frame_time(y);

	return grt_compare(ty, tx) ?: grt_compare(x->shown, y->shown);
}

static uint64_t display_frames_kept(const struct grt_display_frames *d)
{
	const struct grt_frame_client *c;
	uint64_t n = 0;

	for (uint32_t i = 0; (c = grt_display_frames_client(d, i)); i++)
		n += c->n;
	return n;
}

static int write_clients(const struct grt_display_frames *d, struct grt_pass *pass)
{
	const struct grt_frame_client *c;
	int ret = 0;

	grt_writer_table(pass->writer, &client_table, d);
	for (uint32_t i = 0; (c = grt_display_frames_client(d, i)) && !ret; i++)
		ret = grt_writer_row(pass->writer, c);
	grt_writer_table_end(pass->writer);
	return ret;
}

static void note_frames(const struct grt_display_frames *d, struct grt_pass *pass, uint64_t kept,
			uint64_t shown)
{
	const struct grt_display_frames_count n = grt_display_frames_count(d);

	if (!n.frames)
		grt_note(pass->notes,
			 "the trace has no frames: use grtrace record -e drm,vblank,ioctl,sched -- PROG");
	if (kept > shown)
		grt_note(pass->notes, "the longest of %" PRIu64 " {frame|frames}: --top 0 shows all", kept);
	if (n.job_inferred)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {frame: its|frames: their} job is inferred: the last one before the flip",
			 n.job_inferred);
	if (n.inferred)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {frame: its|frames: their} flip is inferred, because no identity joins {it|them}",
			 n.inferred);
	if (n.no_flip)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {frame: its|frames: their} flip is not in the trace: use record -e ioctl",
			 n.no_flip);
	if (n.lost)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {flip has|flips have} no event in the trace and {is not counted as a frame|are not counted as frames}: the time of the next frame is unknown",
			n.lost);
	if (n.early)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {event of a job|events of jobs} before the first sign of a display {was|were} not kept (limit of %u): the first frames may lack their jobs",
			n.early, GRT_FRAME_EARLY);
	if (n.over)
		grt_note(pass->notes, "%" PRIu64 " {frame is|frames are} not in the table (limit of %u)",
			 n.over, GRT_FRAMES_MAX);
}

static int write_frame_rows(const struct grt_display_frames *d, const struct grt_part *part,
			    struct grt_pass *pass, uint64_t n, uint64_t shown)
{
	const struct grt_frame **row = calloc((size_t)n + 1, sizeof(*row));
	const struct grt_column *sort = grt_pass_sort(pass, part, NULL);
	const struct grt_frame_client *c;
	uint64_t at = 0;
	int ret;

	if (!row)
		return -ENOMEM;
	for (uint32_t i = 0; (c = grt_display_frames_client(d, i)); i++)
		for (uint32_t k = 0; k < c->n; k++)
			row[at++] = &c->frame[k];
	qsort(row, n, sizeof(*row), frame_by_time);
	if (sort)
		grt_rows_sort(row, n, sort, d, NULL);
	ret = grt_writer_list(pass->writer, &frame_table, d, (void **)row, shown);
	free(row);
	return ret;
}

static int write_display_frames(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	uint64_t n = display_frames_kept(state), shown = grt_pass_shown(pass, part, n);
	int ret = pass->csv ? 0 : write_clients(state, pass);

	if (!ret)
		ret = write_frame_rows(state, part, pass, n, shown);
	if (!ret)
		note_frames(state, pass, n, shown);
	return ret;
}

static int write_frame_sentences(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	return grt_frame_sentences(state, pass->notes);
}

GRT_ANALYSIS_NEW(new_display_frames, struct grt_display_frames, grt_display_frames_new)

GRT_ANALYSIS_FINISH(finish_display_frames, grt_display_frames_finish)

GRT_ANALYSIS_EVENT(display_frame_table_take_event, grt_display_frames_event)
GRT_ANALYSIS_JOB(display_frame_table_take_job, grt_display_frames_job)
GRT_ANALYSIS_FREE(free_display_frames, grt_display_frames_free)

static const struct grt_part display_frame_parts[] = {
	{"frame", "frames of displays: when they were shown, and why some were late",
	 GRT_PART_BY | GRT_PART_NO_JOBS | GRT_PART_WORST | GRT_PART_TABLES, 0, &frame_table,
	 .tables = GRT_TABLES(&client_table), .write = write_display_frames},
	{"frame_sentences", "a sentence for each client of a display that had late frames",
	 GRT_PART_SUMMARY | GRT_PART_FIRST | GRT_PART_NO_JOBS, .write = write_frame_sentences},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_display_frames = {
	.name = "display_frames",
	.classes = GRT_IN_CLASS(job) | GRT_IN_CLASS(wait) | GRT_IN_CLASS(dep) | GRT_IN_CLASS(vblank) |
		   GRT_IN_CLASS(call) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(thread) | GRT_IN_CLASS(name),
	.besides = GRT_IN_CLASS(vblank) | GRT_IN_CLASS(call) | GRT_IN_CLASS(thread),
	.parts = display_frame_parts,
	.begin = new_display_frames,
	.event = display_frame_table_take_event,
	.job = display_frame_table_take_job,
	.finish = finish_display_frames,
	.free = free_display_frames,
};
