/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The environment in a recording's metadata, which is the only part of the
 * metadata that our own reader needs.
 */
#ifndef GRT_TRACE_ENV_H
#define GRT_TRACE_ENV_H

#include <grtrace/grtrace.h>

/** struct grt_env_list - entries as text, numbers as they were written */
struct grt_env_list {
	struct {
		char *key;
		char *value;
	} * entry;
	unsigned int used;
};

/**
 * grt_env_parse - finds the env block in a metadata text
 * @text: NUL terminated at @len
 * @offset: gets the offset of an error, bytes
 * Return: 0, -EINVAL if the text is not TSDL, -ENOMEM
 */
int grt_env_parse(struct grt_env_list *env, const char *text, size_t len, size_t *offset);

/** grt_env_get - the value of a key, NULL if there is none */
const char *grt_env_get(const struct grt_env_list *env, const char *key);

/** grt_env_number - the number of the word "@name=NUMBER" among the words of a value, 0 if there is none */
uint64_t grt_env_number(const char *value, const char *name);

/** grt_env_free - frees the entries */
void grt_env_free(struct grt_env_list *env);

/*
 * The time in which a source recorded all events. A recording has one such window for all of its sources: it
 * begins when the last source has started, and ends at the same moment for all sources. The recorder cuts
 * packets to the window; the metadata has the window and the number of cut events.
 */

/**
 * struct grt_window - a window, and the counts of a source's events outside of it
 * @from, @to: CLOCK_MONOTONIC ns, both included; @to is UINT64_MAX while it is unknown
 * @before, @after: events that were dropped because they were earlier or later
 * @deleted: events in segments that were deleted because the recording is bounded
 * @counted: the part of these events that the traced programs count, too (see flow.h)
 */
struct grt_window {
	uint64_t from;
	uint64_t to;
	uint64_t before;
	uint64_t after;
	uint64_t deleted;
	uint64_t counted;
};

#define GRT_WINDOW_TEXT 200

/** grt_window_text - the window as in the metadata, under SOURCE_window */
void grt_window_text(const struct grt_window *w, char text[GRT_WINDOW_TEXT]);

/** grt_window_read - parses the text of grt_window_text(). Return: whether @text is a window */
bool grt_window_read(struct grt_window *w, const char *text);

/** grt_window_of - the window of a source of this recording. Return: whether the recording has it */
bool grt_window_of(struct grt_window *w, const struct grt_env_list *env, const char *source, size_t len);

/**
 * grt_window_common - the intersection of the windows of all sources, and the sums of their counts
 * @shortest: gets the source that ends before the others; NULL: none does
 * Return: whether the recording has windows
 */
bool grt_window_common(struct grt_window *w, const struct grt_env_list *env, const char **shortest);

#endif /* GRT_TRACE_ENV_H */
