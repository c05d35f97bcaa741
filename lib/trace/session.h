/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The inside of a session, for the readers that fill it. A reader opens
 * its input and adds files; the session makes a stream from each.
 */
#ifndef GRT_TRACE_SESSION_H
#define GRT_TRACE_SESSION_H

#include <sys/stat.h>

#include "env.h"
#include "filter.h"
#include "gpus.h"
#include "kway.h"
#include "linkage.h"
#include "walk.h"
#include "window.h"
#include "written.h"

/**
 * struct grt_session - see grtrace.h
 * @health: of the present run
 * @found: what opening met; each run starts from it
 * @first, @last: stamps, @first > @last: none
 * @parts, @files, @label, @skips: the files, their names for messages, and where
 *	packets lie in those of many CPUs (one each); @parts is NULL for what is no file
 * @env: of the recording
 * @gpus: of one GPU, whose events alone are handed out; NULL: all are
 * @filter: what else is not handed out; NULL: nothing
 * @head, @head_len: the first bytes of the input; of a pipe they have been read
 * @is_pipe: it can be read once, and what it spans is known then
 * @skipped: what the run passed over; NULL: the input is no text
 * @written: what traced programs have made, in the present run
 * @linkage: parts of linkage names, in the present run
 * @window: of the recording; @from is UINT64_MAX where it says none
 * @shortest: key of the source that ends it where others go on, see grt_window_common()
 * @is_live, @live: streams come from here and not from files
 * @mending: what is cut is cut back on disk, too, and told here; NULL: nothing is changed
 */
struct grt_session {
	char *path;
	struct grt_stream *stream;
	unsigned int streams;
	struct grt_kway kway;
	struct grt_health health;
	struct grt_health found;
	uint64_t first;
	uint64_t last;
	struct grt_parts **parts;
	char **label;
	struct grt_skips **skips;
	unsigned int files;
	struct grt_env_list env;
	struct grt_gpus *gpus;
	struct grt_filter *filter;
	char *head;
	size_t head_len;
	bool is_pipe;
	unsigned int (*skipped)(const void *owner, const struct grt_skipped **list);
	struct grt_written written;
	struct grt_linkage *linkage;
	struct grt_window window;
	const char *shortest;
	bool is_live;
	struct grt_live live;
	struct grt_mending *mending;
};

/**
 * struct grt_mending - what was done to the files of a recording that was interrupted
 * @files: cut back to their whole packets; @bytes: that were behind these
 * @why: a negative errno: one could not be changed, 0: all were; @busy: the recorder still writes
 */
struct grt_mending {
	unsigned int files;
	uint64_t bytes;
	int why;
	bool busy;
};

/** struct grt_source_losses - of a source of a recording; @fate: of its packets in the last run, by cause;
 * @window: what it saw, @from is UINT64_MAX where the recording does not say */
struct grt_source_losses {
	char name[32];
	uint64_t fate[GRT_FATES];
	struct grt_window window;
};

/** grt_session_sources - its sources, by their files; none of what is no recording. *@out is the caller's
 * to free. Return: how many, or -ENOMEM */
int grt_session_sources(const struct grt_session *s, struct grt_source_losses **out);

/** grt_session_filter - from now on it hands out only what @filter wants, which lives as long */
void grt_session_filter(struct grt_session *s, struct grt_filter *filter);

/**
 * struct grt_reader - a kind of input: a row in lib/readers.def, and a
 * file in which one of these is defined
 * @takes: whether it is this reader's input
 * @head: the first bytes of a regular file or a pipe
 * @open: adds the files of the input; @fd is the input's and is closed by the caller
 */
struct grt_reader {
	const char *name;
	bool (*takes)(const struct stat *st, const char *head, size_t len);
	int (*open)(struct grt_session *s, int fd, struct grt_err *err);
};

/**
 * grt_session_open_by - grt_session_open() with the readers that are given; the first one that takes the
 * input reads it
 */
int grt_session_open_by(struct grt_session **out, const char *path, const struct grt_reader *const *readers,
			size_t n, struct grt_err *err);

/** grt_session_mend_by - opens it as grt_session_open_by() does, cuts files that end within a packet back to
 * their whole packets, and closes it. Return: 0 with *@out, or a negative errno */
int grt_session_mend_by(struct grt_mending *out, const char *path, const struct grt_reader *const *readers,
			size_t n, struct grt_err *err);

/**
 * grt_session_add_parts - walks over files that are one, and adds a stream for each CPU in them
 * @parts: become the session's, also when this fails
 * @label: their name in messages; copied
 * @w: gets what was found; @w->cpu and @w->skips are not for the caller
 */
int grt_session_add_parts(struct grt_session *s, struct grt_parts *parts, const char *label,
			  struct grt_walk *w, struct grt_err *err);

/**
 * grt_session_add_file - the same with one file
 * @fd: becomes the session's, also when this fails
 */
int grt_session_add_file(struct grt_session *s, int fd, const char *label, struct grt_walk *w,
			 struct grt_err *err);

/**
 * grt_session_add_source - adds a stream whose records do not come from packets
 * @owner: becomes the stream's, which frees it by @source->fini, also when this fails
 */
int grt_session_add_source(struct grt_session *s, const struct grt_stream_source *source, void *owner,
			   const char *label, struct grt_err *err);

/** grt_head_is_text - whether an input that begins so is text, and not packets */
bool grt_head_is_text(const char *head, size_t len);

#endif /* GRT_TRACE_SESSION_H */
