// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The two parsers of text_map.h. */
#include "text_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a map in memory. */
#define PART_MAX (1U << 20)

/* The rest of a line. */
struct rest {
	const char *at;
	const char *end;
};

static bool take_hex(struct rest *r, uint64_t *number)
{
	const char *begin;

	*number = 0;
	if (r->end - r->at > 2 && r->at[0] == '0' && (r->at[1] | 32) == 'x')
		r->at += 2;
	for (begin = r->at; r->at < r->end && r->at - begin < 17; r->at++) {
		char c = *r->at, low = (char)(c | 32);

		if (c >= '0' && c <= '9')
			*number = *number << 4 | (uint64_t)(c - '0');
		else if (low >= 'a' && low <= 'f')
			*number = *number << 4 | (uint64_t)(low - 'a' + 10);
		else
			break;
	}
	return r->at > begin && r->at - begin < 17;
}

static bool take_blank(struct rest *r)
{
	const char *begin = r->at;

	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
	return r->at > begin;
}

/* A line's function. Return: 0, -EINVAL: it is none, -ENODATA: it is passed over, or as grt_functions_add()
 */
static int perf_line(struct grt_functions *out, struct rest r)
{
	uint64_t start, size;

	if (!take_hex(&r, &start) || !take_blank(&r) || !take_hex(&r, &size) || !take_blank(&r) ||
	    r.at == r.end || start + size < start)
		return -EINVAL;
	return size ? grt_functions_add(out, &(struct grt_function){.start = start, .size = size}, r.at,
					(size_t)(r.end - r.at))
		    : -ENODATA;
}

/* The type of a symbol: T is code, t local code, W and w weak code. */
static bool kallsyms_binding(char type, enum grt_function_binding *binding)
{
	*binding = type == 'T' ? GRT_FUNCTION_GLOBAL : type == 't' ? GRT_FUNCTION_LOCAL : GRT_FUNCTION_WEAK;
	return *binding != GRT_FUNCTION_WEAK || type == 'W' || type == 'w';
}

static int kallsyms_line(struct grt_functions *out, struct rest r)
{
	struct grt_function f = {.size = UINT64_MAX, .unsized = true};
	enum grt_function_binding binding;
	const char *name;
	char type;

	if (!take_hex(&r, &f.start) || !take_blank(&r) || r.at == r.end)
		return -EINVAL;
	type = *r.at++;
	if (!take_blank(&r))
		return -EINVAL;
	for (name = r.at; r.at < r.end && *r.at != '\t' && *r.at != ' '; r.at++)
		;
	if (r.at == name)
		return -EINVAL;
	if (!f.start || !kallsyms_binding(type, &binding))
		return -ENODATA;
	f.rank = grt_function_rank(binding, name, (size_t)(r.at - name));
	return grt_functions_add(out, &f, name, (size_t)(r.at - name));
}

static int text_map_parse(struct grt_functions *out, const char *text, size_t length, uint64_t *errors,
			  int (*line)(struct grt_functions *out, struct rest r))
{
	const char *end = text + length, *next;
	int ret;

	for (; text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		next = newline ? newline + 1 : end;
		if (newline == text)
			continue;
		ret = line(out, (struct rest){text, newline ?: end});
		if (ret == -ENOMEM)
			return ret;
		*errors += ret == -EINVAL;
	}
	return 0;
}

int grt_perf_map_parse(struct grt_functions *out, const char *text, size_t length, uint64_t *errors)
{
	return text_map_parse(out, text, length, errors, perf_line);
}

/* Reads more bytes after the rest of the last part. Return: bytes, 0: the end, or a negative errno */
static ssize_t text_map_read_on(int fd, char *part, size_t used, uint64_t *size)
{
	size_t most = PART_MAX - used;
	ssize_t n = read(fd, part + used, most < *size ? most : (size_t)*size);

	*size -= n > 0 ? (uint64_t)n : 0;
	return n < 0 ? -errno : n;
}

int grt_perf_map_read(struct grt_functions *out, int fd, uint64_t size, uint64_t *errors)
{
	char *part = malloc(PART_MAX), *newline;
	size_t used = 0, whole;
	ssize_t n = 1;
	int ret = part ? 0 : -ENOMEM;

	while (!ret && n > 0) {
		n = text_map_read_on(fd, part, used, &size);
		used += n > 0 ? (size_t)n : 0;
		newline = n > 0 ? memrchr(part, '\n', used) : NULL;
		/* the end has no newline, or a line is longer than names are */
		whole = newline ? (size_t)(newline + 1 - part) : n > 0 && used < PART_MAX ? 0 : used;
		ret = n < 0 ? (int)n : text_map_parse(out, part, whole, errors, perf_line);
		memmove(part, part + whole, used - whole);
		used -= whole;
	}
	free(part);
	return ret;
}

int grt_kallsyms_parse(struct grt_functions *out, const char *text, size_t length, uint64_t *errors)
{
	return text_map_parse(out, text, length, errors, kallsyms_line);
}
