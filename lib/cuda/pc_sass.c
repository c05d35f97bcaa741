// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* See pc_sass.h. */
#include "pc_sass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compare.h"

/* A longer line is not an instruction. */
#define LINE 4096
#define SECTION ".text."

/** struct wanted - a row; @function: its linkage name */
struct wanted {
	const char *function;
	struct grt_pc_instruction *row;
};

static int sass_order(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;
	int order;

	if (x->row->cubin != y->row->cubin)
		return x->row->cubin < y->row->cubin ? -1 : 1;
	order = strcmp(x->function, y->function);
	if (order)
		return order;
	return grt_compare(x->row->offset, y->row->offset);
}

/* ------------------------------------------------------------------- lines */

/* ".text.NAME:" begins a function. Return: its rows, @n of them */
static const struct wanted *sass_function(const struct wanted *all, uint32_t *n, const char *name,
					  size_t length)
{
	uint32_t first = 0, end;

	while (first < *n && (strncmp(all[first].function, name, length) || all[first].function[length]))
		first++;
	for (end = first; end < *n && !strcmp(all[end].function, all[first].function);)
		end++;
	*n = end - first;
	return all + first;
}

/* Return: the instruction without its final semicolon, with one blank between words. */
static char *sass_text(const char *at)
{
	char text[GRT_PC_SASS_TEXT + 1];
	size_t n = 0;

	for (; *at && *at != ';' && *at != '\n' && n < GRT_PC_SASS_TEXT; at++)
		if ((*at != ' ' && *at != '\t') || (n && text[n - 1] != ' '))
			text[n++] = *at == '\t' ? ' ' : *at;
	while (n && text[n - 1] == ' ')
		n--;
	return strndup(text, n);
}

/* Parses "/\*0040*\/  @!P0 BRA `(.L_x_0) ;"; a brace precedes instructions that are issued together. */
static int sass_instruction(const struct wanted *of, uint32_t n, const char *line)
{
	unsigned long long offset;
	char *end;

	line += strspn(line, " \t{");
	if (!n || strncmp(line, "/*", 2))
		return 0;
	offset = strtoull(line + 2, &end, 16);
	if (end == line + 2 || strncmp(end, "*/", 2))
		return 0;
	/* two processes may have the same code */
	for (uint32_t i = 0; i < n; i++) {
		if (of[i].row->offset != offset || of[i].row->sass)
			continue;
		of[i].row->sass = sass_text(end + 2);
		if (!of[i].row->sass)
			return -ENOMEM;
	}
	return 0;
}

static int sass_read_lines(FILE *f, const struct wanted *all, uint32_t n)
{
	const struct wanted *of = NULL;
	bool within = false, whole;
	char line[LINE];
	uint32_t in = 0;
	size_t length;
	int ret = 0;

	for (; !ret && fgets(line, sizeof(line), f); within = !whole) {
		length = strlen(line);
		whole = length && line[length - 1] == '\n';
		if (within || !whole)
			continue;
		if (strncmp(line, SECTION, strlen(SECTION))) {
			ret = sass_instruction(of, in, line);
			continue;
		}
		in = 0;
		if (length < strlen(SECTION) + 2 || line[length - 2] != ':')
			continue;
		in = n;
		of = sass_function(all, &in, line + strlen(SECTION), length - strlen(SECTION) - 2);
	}
	return ret;
}

/* ------------------------------------------------------------------ cubins */

/* The functions of a cubin's rows, each once. */
static uint32_t sass_functions(const struct wanted *w, uint32_t n, const char **functions)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!used || strcmp(functions[used - 1], w[i].function))
			functions[used++] = w[i].function;
	return used;
}

static uint64_t sass_count_missing(const struct wanted *w, uint32_t n)
{
	uint64_t missing = 0;

	for (uint32_t i = 0; i < n; i++)
		missing += !w[i].row->sass;
	return missing;
}

static int sass_read_cubin(const struct wanted *w, uint32_t n, const char **functions,
			   const struct grt_sass *sass, struct grt_pc_sass_result *result)
{
	int fd = sass->open(sass->arg, w->row->cubin, functions, sass_functions(w, n, functions)), ret;
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd == -ENOENT)
		result->no_program += n;
	else if (fd == -ENODATA)
		result->no_code += n;
	else if (fd < 0)
		result->failed += n;
	if (fd < 0)
		return 0;
	ret = f ? sass_read_lines(f, w, n) : -ENOMEM;
	if (f)
		fclose(f);
	else
		close(fd);
	sass->close(sass->arg);
	result->failed += sass_count_missing(w, n);
	return ret;
}

static uint32_t sass_end(const struct wanted *w, uint32_t n, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < n && w[end].row->cubin == w[first].row->cubin)
		end++;
	return end;
}

int grt_pc_sass_read(const struct grt_pc_samples *p, struct grt_pc_instruction *const *row, uint32_t n,
		     const struct grt_sass *sass, struct grt_pc_sass_result *result)
{
	struct wanted *w = calloc(n + 1, sizeof(*w));
	const char **functions = calloc(n + 1, sizeof(*functions));
	uint32_t used = 0, end;
	int ret = w && functions ? 0 : -ENOMEM;

	*result = (struct grt_pc_sass_result){0};
	if (!sass)
		result->no_program = n;
	for (uint32_t i = 0; i < n && sass && !ret; i++) {
		w[used].row = row[i];
		w[used].function = grt_image_string(p->from->image[row[i]->image], row[i]->function);
		used += w[used].function != NULL;
	}
	if (!ret)
		qsort(w, used, sizeof(*w), sass_order);
	for (uint32_t i = 0; i < used && !ret; i = end) {
		end = sass_end(w, used, i);
		ret = sass_read_cubin(w + i, end - i, functions, sass, result);
	}
	free(w);
	free(functions);
	return ret;
}
