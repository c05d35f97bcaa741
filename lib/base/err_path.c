// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* See err_path.h. */
#include "err_path.h"

#include <grtrace/grtrace.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD "PATH"
#define WORD_LENGTH (sizeof(WORD) - 1)

/* So that a shell takes the path as one word, and a program does not take it for an option. */
static bool is_typed_as_it_is(const char *path)
{
	if (!*path || *path == '-')
		return false;
	for (const char *at = path; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("/._-+:@%=,", *at))
			return false;
	return true;
}

/* Finds the next @path; not a part of $PATH or of a longer word. */
static const char *err_path_word(const char *text, const char *at)
{
	while ((at = strstr(at, WORD))) {
		if ((at == text || at[-1] == ' ') && !isalnum((unsigned char)at[WORD_LENGTH]) &&
		    at[WORD_LENGTH] != '_')
			return at;
		at += WORD_LENGTH;
	}
	return NULL;
}

void grt_err_path(struct grt_err *err, const char *path)
{
	char text[sizeof(err->fix)];
	const char *from = err ? err->fix : "", *word;
	size_t used = 0, length = strlen(path);

	if (!err || !is_typed_as_it_is(path))
		return;
	for (; (word = err_path_word(err->fix, from)); from = word + WORD_LENGTH) {
		size_t before = (size_t)(word - from);

		if (used + before + length + strlen(word + WORD_LENGTH) >= sizeof(text))
			return;
		memcpy(text + used, from, before);
		memcpy(text + used + before, path, length);
		used += before + length;
	}
	snprintf(text + used, sizeof(text) - used, "%s", from);
	snprintf(err->fix, sizeof(err->fix), "%s", text);
}
