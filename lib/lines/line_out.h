/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Writes events as lines, for annotate and merge. Each line is complete by itself: names are looked up, and a
 * value that follows from two events (the duration of an ioctl, the wait of a job) is in the line of the
 * second one, if both were seen. Text of a trace can neither begin a line nor make a key.
 */
#ifndef GRT_LINES_LINE_OUT_H
#define GRT_LINES_LINE_OUT_H

#include <grtrace/grtrace.h>

/** enum grt_line_form - how a line looks */
enum grt_line_form {
	GRT_LINE_OUT_ANNOTATE, /* [sec.frac] EVENT key=value key=value */
	GRT_LINE_OUT_MERGED,   /* [sec.frac] CPU|GPU EVENT            key=value, key=value */
	GRT_LINE_OUT_PRETTY,   /* sec.frac  [CPU|GPU]  for people; computed values follow an arrow */
	GRT_LINE_OUT_JSON,     /* an object, see event_json.h */
	GRT_LINE_FORMS,
};

/* Most threads, jobs, rings and devices that are kept; a further one replaces the oldest. */
#define GRT_LINE_OUT_THREADS 16384U
#define GRT_LINE_OUT_JOBS 65536U
#define GRT_LINE_OUT_RINGS 4096U
#define GRT_LINE_OUT_DEVICES 256U

/**
 * struct grt_line_out_count - counts of written lines
 * @lines: lines
 * @events: by type
 * @calls: ioctls whose enter and exit were seen
 * @open_exits: exits whose enter was not seen
 * @submits: SUBMITs inside an ioctl that was seen
 * @jobs: COMPLETEs whose SUBMIT was seen
 */
struct grt_line_out_count {
	uint64_t lines;
	uint64_t events[GRT_EV_MAX];
	uint64_t calls;
	uint64_t open_exits;
	uint64_t submits;
	uint64_t jobs;
};

struct grt_line_out;

/**
 * grt_line_out_new - begins
 * @fd: file descriptor for the lines, negative: lines are only counted
 * Return: 0 or -ENOMEM
 */
int grt_line_out_new(struct grt_line_out **out, enum grt_line_form form, int fd);

/**
 * grt_line_out_event - writes an event; keeps NAME, and ignores STACK and FRAME
 * @cpu: the CPU that wrote the event, UINT32_MAX: unknown
 * @input: rings of the same number in different inputs are different rings
 * Return: 0, -ENOMEM, or the error of a write
 */
int grt_line_out_event(struct grt_line_out *l, const struct grt_event *e, uint32_t cpu, unsigned int input);

/** grt_line_out_text - writes the line @text, which has no newline. Return: 0 or the error of a write */
int grt_line_out_text(struct grt_line_out *l, const char *text);

/** grt_line_out_flush - writes the buffered lines. Return: 0 or the error of a write */
int grt_line_out_flush(struct grt_line_out *l);

/** grt_line_out_count - the counts so far; valid until the next call of any kind */
const struct grt_line_out_count *grt_line_out_count(struct grt_line_out *l);

/** grt_line_out_is_cpu - whether events of this type are events of the CPU (in the form merged: CPU, else
 * GPU) */
bool grt_line_out_is_cpu(uint16_t type);

/** grt_line_out_free - frees it; NULL is allowed */
void grt_line_out_free(struct grt_line_out *l);

#endif /* GRT_LINES_LINE_OUT_H */
