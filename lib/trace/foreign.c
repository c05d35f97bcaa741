// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "foreign.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

static const struct foreign_row {
	const char *magic;
	size_t magic_len;
	const char *ending;
	const char *what;
	const char *fix;
} rows[] = {
#define GRT_FOREIGN(magic, ending, what, fix) {magic, sizeof(magic) - 1, ending, what, fix},
#include "foreign.def"
};

static bool foreign_is(const struct foreign_row *r, const char *path, const char *head, size_t len)
{
	size_t path_len = strlen(path), ending_len = strlen(r->ending);

	return len >= r->magic_len && !memcmp(head, r->magic, r->magic_len) && path_len >= ending_len &&
	       !strcmp(path + path_len - ending_len, r->ending);
}

int grt_foreign_refuse(const char *path, const char *head, size_t len, struct grt_err *err)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (len && foreign_is(&rows[i], path, head, len))
			return grt_err_set(err, -EINVAL, rows[i].what, rows[i].fix, "%s: not a trace", path);
	return 0;
}

/* Bytes of a first line that are examined. */
#define LINE_MAX_SEEN 1024U

static const struct foreign_text {
	const char *pattern;
	const char *what;
	const char *fix;
} texts[] = {
#define GRT_FOREIGN_TEXT(pattern, what, fix) {pattern, what, fix},
#include "foreign.def"
};

bool grt_foreign_text(const char *head, size_t len, const char **what, const char **fix)
{
	char line[LINE_MAX_SEEN + 1];
	size_t n = 0;

	while (len && (*head == '\n' || *head == '\r'))
		head++, len--;
	while (n < len && n < LINE_MAX_SEEN && head[n] && !strchr("\r\n", head[n]))
		n++;
	memcpy(line, head, n);
	line[n] = '\0';
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (fnmatch(texts[i].pattern, line, FNM_EXTMATCH | FNM_NOESCAPE))
			continue;
		*what = texts[i].what;
		*fix = texts[i].fix;
		return true;
	}
	return false;
}
