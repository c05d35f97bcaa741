// SPDX-License-Identifier: GPL-2.0
/*
 * The last seconds of a live `grtrace top`, kept in memory as `record --last` does. A key writes them as a
 * recording of the same packets from which the figures were computed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "cmds/record/blackbox.h"
#include "cmds/record/machine.h"
#include "trace/env.h"
#include "top_last.h"

#define ENV_ROOM 128

/**
 * struct top_last - the last seconds
 * @live: the run whose packets are kept, and which keeps the jobs that are in no packet
 * @ns, @bytes: limits of time and memory
 * @handed: by source, the first of its files in the recording for the jobs that it keeps
 */
struct top_last {
	struct box box;
	struct live *live;
	struct machine machine;
	char *command;
	uint64_t ns;
	uint64_t bytes;
	int handed[SOURCES];
};

/* Adds a file for each stream's jobs that the source keeps. Return: 0 or -errno */
static int top_last_add_handed(struct top_last *l, struct recording *r, struct grt_err *err)
{
	struct live_files f;
	int ret = 0;

	for (unsigned int i = 0; ret >= 0 && live_files(l->live, i, &f); i++) {
		l->handed[i] = (int)r->count;
		for (unsigned int k = 0; ret >= 0 && k < f.handed; k++)
			ret = recording_name_file(r, f.source, f.places + k, err);
	}
	return ret < 0 ? ret : 0;
}

/* Adds a file for each stream. Return: 0 or -errno */
static int top_last_add_files(void *arg, struct recording *r, struct grt_err *err)
{
	struct top_last *l = arg;
	struct live_files f;
	int ret = 0;

	for (unsigned int i = 0; ret >= 0 && live_files(l->live, i, &f); i++)
		for (unsigned int k = 0; ret >= 0 && k < f.places; k++) {
			ret = (f.places > f.streams ? recording_name_file : recording_add_file)(r, f.source,
												k, err);
			if (ret >= 0)
				r->files[ret].source = i;
		}
	return ret < 0 ? ret : top_last_add_handed(l, r, err);
}

/** struct top_handing - jobs of a source on their way into a recording, from @file on */
struct top_handing {
	struct top_last *l;
	int file;
	struct grt_err *err;
};

static int top_last_take(void *arg, unsigned int cpu, const char *data, size_t len)
{
	const struct top_handing *h = arg;

	return box_add(&h->l->box, (unsigned int)h->file + cpu, data, len, h->err);
}

/* Writes the jobs that are in no packet. Return: 0 or -errno */
static int top_last_rest(void *arg, uint64_t from, uint64_t to, struct grt_err *err)
{
	struct top_last *l = arg;
	struct top_handing h = {.l = l, .err = err};
	struct live_files f;
	int ret = 0;

	err->what[0] = '\0';
	for (unsigned int i = 0; !ret && live_files(l->live, i, &f); i++) {
		h.file = l->handed[i];
		ret = live_hand(l->live, i, from, to, top_last_take, &h);
		if (ret && !err->what[0])
			grt_err_set(err, ret, strerror(-ret), NULL, "cannot write the jobs of the source %s",
				    f.source);
	}
	return ret;
}

/** struct top_window - the window of a source, as an entry of the metadata */
struct top_window {
	char key[32];
	char text[GRT_WINDOW_TEXT];
};

/* Writes the windows of all sources. Return: the number of entries */
static int top_last_windows(const struct top_last *l, uint64_t from, uint64_t to,
			    struct top_window room[SOURCES], struct grt_env *env)
{
	struct live_files f;
	int n = 0;

	for (unsigned int i = 0; live_files(l->live, i, &f); i++) {
		const struct grt_window w = {.from = from, .to = to, .counted = l->box.before[i]};

		if (f.uncut)
			continue;
		snprintf(room[i].key, sizeof(room[i].key), "%s_window", f.source);
		grt_window_text(&w, room[i].text);
		env[n++] = (struct grt_env){room[i].key, room[i].text};
	}
	return n;
}

static int top_last_metadata(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err)
{
	struct top_window windows[SOURCES];
	struct top_last *l = arg;
	struct grt_env env[ENV_ROOM + 1];
	int n = machine_describe(&l->machine, to == UINT64_MAX ? "recording" : "complete", l->command, env);

	n += top_last_windows(l, from, to, windows, env + n);
	n += live_describe(l->live, env + n, ENV_ROOM - n);
	env[n] = (struct grt_env){NULL, NULL};
	return grt_metadata_write(dir, env, l->machine.realtime_offset, err);
}

int top_last_new(struct top_last **out, uint64_t ns, uint64_t bytes)
{
	const struct box_bounds bounds = {.bytes = bytes, .ns = ns, .plain = true};
	struct top_last *l = calloc(1, sizeof(*l));
	const struct box_ops ops = {top_last_add_files, top_last_metadata, top_last_rest, l};

	*out = l;
	if (!l)
		return -ENOMEM;
	box_init(&l->box, &bounds, &ops);
	l->ns = ns;
	l->bytes = bytes;
	l->command = machine_command();
	machine_begin(&l->machine);
	return l->command ? 0 : -ENOMEM;
}

void top_last_of(struct top_last *l, struct live *live)
{
	uint64_t from;

	l->live = live;
	if (live)
		l->box.bounds.bytes = l->bytes - live_held(live, &from);
}

int top_last_keep(void *arg, unsigned int place, unsigned int source, const char *data, size_t len)
{
	struct top_last *l = arg;
	struct grt_err err;

	return box_take(&l->box, place, source, data, len, &err);
}

/* The time span of the packets. Return: false: there are no packets yet */
static bool top_last_span(const struct top_last *l, uint64_t *from, uint64_t *to)
{
	uint64_t held;

	live_held(l->live, &held);
	live_span(l->live, from, to);
	if (*to - *from > l->ns)
		*from = *to - l->ns;
	*from = *from > l->box.from ? *from : l->box.from;
	*from = *from > held ? *from : held;
	return *from < *to;
}

void top_last_held(const struct top_last *l, uint64_t *ns, uint64_t *bytes)
{
	uint64_t from, to;

	*ns = top_last_span(l, &from, &to) ? to - from : 0;
	*bytes = l->box.bytes + live_held(l->live, &from);
}

/* Existing recordings are not replaced: chooses the first free path of PATH, PATH.2, PATH.3. */
static void top_last_path(const char *path, char *out, size_t room)
{
	snprintf(out, room, "%s", path);
	for (unsigned int i = 2; !access(out, F_OK) && i < 1000; i++)
		snprintf(out, room, "%s.%u", path, i);
}

int top_last_save(struct top_last *l, const char *path, char text[TOP_LAST_TEXT], struct grt_err *err)
{
	char place[sizeof(l->box.path)], span[GRT_UNITS_MAX], bytes[GRT_UNITS_MAX];
	struct box_saved saved = {0};
	uint64_t to;
	int ret;

	if (!top_last_span(l, &saved.from, &to))
		return grt_err_set(err, -ENODATA, "the sources have recorded nothing so far", NULL,
				   "cannot write %s", path);
	top_last_path(path, place, sizeof(place));
	machine_end(&l->machine);
	ret = box_save(&l->box, place, to, &saved, err);
	if (ret)
		return ret;
	grt_units_ns(span, to - saved.from);
	grt_units_amount(bytes, sizeof(bytes), (int64_t)saved.bytes * 1000, "B");
	grt_say_text(text, TOP_LAST_TEXT, "wrote %.1000s: %s, %llu {event|events}, %s", place, span,
		     (unsigned long long)saved.events, bytes);
	return 0;
}

void top_last_free(struct top_last *l)
{
	if (!l)
		return;
	box_free(&l->box);
	free(l->command);
	free(l);
}
