// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Windows as text in the metadata: "from=NS to=NS before_start=N after_end=N counted=N deleted=N". */
#include "window.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX "_window"

/* The names of the members; @to is omitted while it is unknown, and @deleted while it is 0. */
static const struct {
	const char *name;
	size_t offset;
	bool always;
} members[] = {
	{"from", offsetof(struct grt_window, from), true},
	{"to", offsetof(struct grt_window, to), true},
	{"before_start", offsetof(struct grt_window, before), true},
	{"after_end", offsetof(struct grt_window, after), true},
	{"counted", offsetof(struct grt_window, counted), true},
	{"deleted", offsetof(struct grt_window, deleted), false},
};
#define MEMBERS (sizeof(members) / sizeof(members[0]))

void grt_window_text(const struct grt_window *w, char text[GRT_WINDOW_TEXT])
{
	size_t used = 0;
	uint64_t value;

	for (size_t i = 0; i < MEMBERS; i++) {
		memcpy(&value, (const char *)w + members[i].offset, sizeof(value));
		if (value != UINT64_MAX && (value || members[i].always))
			used += (size_t)snprintf(text + used, GRT_WINDOW_TEXT - used, "%s%s=%" PRIu64,
						 used ? " " : "", members[i].name, value);
	}
}

static void window_take_word(struct grt_window *w, const char *word)
{
	size_t length = strcspn(word, "= ");
	uint64_t value;

	for (size_t i = 0; i < MEMBERS && word[length] == '='; i++)
		if (strlen(members[i].name) == length && !strncmp(word, members[i].name, length)) {
			value = strtoull(word + length + 1, NULL, 10);
			memcpy((char *)w + members[i].offset, &value, sizeof(value));
		}
}

bool grt_window_read(struct grt_window *w, const char *text)
{
	*w = (struct grt_window){.from = UINT64_MAX, .to = UINT64_MAX};
	for (; *text; text += strcspn(text, " "), text += *text == ' ')
		window_take_word(w, text);
	return w->from != UINT64_MAX && w->from <= w->to;
}

bool grt_window_of(struct grt_window *w, const struct grt_env_list *env, const char *source, size_t len)
{
	char key[64];
	const char *text;

	snprintf(key, sizeof(key), "%.*s" SUFFIX, (int)len, source);
	text = grt_env_get(env, key);
	return text && grt_window_read(w, text);
}

bool grt_window_common(struct grt_window *w, const struct grt_env_list *env, const char **shortest)
{
	const size_t suffix = strlen(SUFFIX);
	const char *first = NULL;
	struct grt_window one;
	bool differ = false;

	*w = (struct grt_window){.to = UINT64_MAX};
	for (unsigned int i = 0; i < env->used; i++) {
		const char *key = env->entry[i].key;
		size_t len = strlen(key);

		if (len <= suffix || strcmp(key + len - suffix, SUFFIX) ||
		    !grt_window_read(&one, env->entry[i].value))
			continue;
		differ |= first && one.to != w->to;
		if (!first || one.to < w->to)
			first = key;
		w->from = one.from > w->from ? one.from : w->from;
		w->to = one.to < w->to ? one.to : w->to;
		w->before += one.before;
		w->after += one.after;
		w->counted += one.counted;
		w->deleted += one.deleted;
	}
	*shortest = differ ? first : NULL;
	return first && w->from <= w->to;
}
