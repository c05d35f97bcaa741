// SPDX-License-Identifier: GPL-2.0
/* What record prints about its recording: a line while it runs, the counts and the next command at its end.
 */
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "host/tempdir.h"
#include "cmds/cmd.h"
#include "record.h"
#include "record_options.h"

#define PATH_ROOM 4096

static void summary_counts(const struct run *run, char *text, size_t room)
{
	char counts[80] = "events not counted";

	if (recording_counted(&run->rec))
		grt_say_text(counts, sizeof(counts), "%llu {event|events}, %llu lost",
			     (unsigned long long)run->rec.events, (unsigned long long)run->rec.lost);
	snprintf(text, room, "%.1f MB, %s", (double)recording_bytes(&run->rec) / 1e6, counts);
	if (run->rec.segments && run->segments.deleted)
		snprintf(text + strlen(text), room - strlen(text), "; %.1f MB kept",
			 (double)segments_bytes(&run->segments) / 1e6);
}

void record_summary_progress(struct run *run, uint64_t now)
{
	char text[128];

	if (run->box.on || !isatty(STDERR_FILENO) || now - run->shown < NS_PER_S)
		return;
	run->shown = now;
	summary_counts(run, text, sizeof(text));
	fprintf(stderr, "\r%s, %llu s \033[K", text, (unsigned long long)((now - run->begun) / NS_PER_S));
}

/* Prints a path as a shell reads it. */
static void summary_put_path(const char *path)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=+@%-";
	bool quoted = path[strspn(path, plain)] || *path == '-';

	char part[PATH_ROOM];

	fputs(quoted ? "'" : "", stderr);
	while (*path) {
		size_t length = strcspn(path, "'");

		snprintf(part, sizeof(part), "%.*s", (int)length, path);
		cmd_put_text(stderr, part);
		path += length;
		if (*path && *path++)
			fputs("'\\''", stderr);
	}
	fputs(quoted ? "'" : "", stderr);
}

/* What to type next: report reads the default recording without its name. */
static void summary_next(const char *path)
{
	if (!strcmp(path, "-") || tempdir_has(path))
		return;
	fputs("  next: grtrace report", stderr);
	if (strcmp(path, RECORD_OUTPUT) != 0) {
		fputs(" -i ", stderr);
		summary_put_path(path);
	}
	fputc('\n', stderr);
}

void record_summary_print(const struct run *run)
{
	char text[128];

	if (run->box.on) {
		record_box_print_all(&run->box, run->rec.path);
		return;
	}

	summary_counts(run, text, sizeof(text));
	fprintf(stderr, "%sgrtrace record: %s in ", run->shown ? "\r\033[K" : "", text);
	cmd_put_text(stderr, strcmp(run->rec.path, "-") ? run->rec.path : "standard output");
	fputc('\n', stderr);
	if (run->rec.lost)
		fprintf(stderr, "  try: %s, so that nothing is lost\n",
			run->n_inputs == 1 && run->inputs->source->less ? run->inputs->source->less
									: "a larger --buffer");
	if (!run->rec.events && recording_counted(&run->rec))
		fputs("  try: grtrace doctor, which shows what was recorded and what can be recorded\n",
		      stderr);
	else
		summary_next(run->rec.path);
}
