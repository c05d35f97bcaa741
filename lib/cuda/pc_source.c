// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* See pc_source.h. */
#include "pc_source.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers.h"

/* Number of lines shown around one with samples. */
#define AROUND 2U
#define SOURCES "*.@(c|cc|cpp|cu|cuh|cxx|h|hh|hpp|hxx|inc|inl|py)"

/** struct hot - a line with samples, of several kernels together; @most: of its reason's row */
struct hot {
	const char *path;
	uint32_t image;
	uint32_t line;
	uint64_t samples;
	uint64_t file_samples;
	const char *reason;
	uint64_t most;
};

/* ------------------------------------------------------------------ lines */

static int pc_source_by_place(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int pc_source_by_file(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->file_samples != y->file_samples)
		return x->file_samples > y->file_samples ? -1 : 1;
	return pc_source_by_place(a, b);
}

/* Merges rows of the same line. Return: number of rows left */
static uint32_t pc_source_merge_rows(struct hot *hot, uint32_t n)
{
	uint32_t used = 0;

	qsort(hot, n, sizeof(*hot), pc_source_by_place);
	for (uint32_t i = 0; i < n; i++) {
		struct hot *last = used ? &hot[used - 1] : NULL;

		if (!last || pc_source_by_place(last, &hot[i])) {
			hot[used++] = hot[i];
			continue;
		}
		last->samples += hot[i].samples;
		if (hot[i].most > last->most) {
			last->most = hot[i].most;
			last->reason = hot[i].reason;
		}
	}
	return used;
}

/* Return: the index after the lines of the file that begins at @first. */
static uint32_t pc_source_end(const struct hot *hot, uint32_t n, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < n && !strcmp(hot[first].path, hot[end].path))
		end++;
	return end;
}

static void pc_source_sum_files(struct hot *hot, uint32_t n)
{
	uint64_t sum;
	uint32_t end;

	for (uint32_t i = 0; i < n; i = end) {
		end = pc_source_end(hot, n, i);
		sum = 0;
		for (uint32_t j = i; j < end; j++)
			sum += hot[j].samples;
		for (uint32_t j = i; j < end; j++)
			hot[j].file_samples = sum;
	}
	qsort(hot, n, sizeof(*hot), pc_source_by_file);
}

static uint32_t pc_source_hot(const struct grt_pc_samples *p, struct hot *hot)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->lines.used; i++) {
		const struct grt_pc_line *l = p->line[i];

		if (l->file && l->line)
			hot[n++] = (struct hot){.path = l->file,
						.image = l->image,
						.line = l->line,
						.samples = l->samples,
						.reason = l->reason,
						.most = l->reason_samples};
	}
	n = pc_source_merge_rows(hot, n);
	pc_source_sum_files(hot, n);
	return n;
}

/* ------------------------------------------------------------------ files */

/* A FIFO must not block, and a device is not read. */
static FILE *pc_source_open(const char *path, uint64_t *written)
{
	struct stat st;
	FILE *f;
	int fd;

	if (path[0] != '/' || fnmatch(SOURCES, path, FNM_EXTMATCH))
		return NULL;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return NULL;
	f = fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > GRT_PC_SOURCE_BYTES ? NULL
										       : fdopen(fd, "r");
	if (!f) {
		close(fd);
		return NULL;
	}
	*written = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	return f;
}

static void pc_source_bar(char bar[GRT_PC_SOURCE_BAR + 1], uint64_t samples, uint64_t most)
{
	uint64_t n =
		most ? (uint64_t)(((unsigned __int128)samples * GRT_PC_SOURCE_BAR + most - 1) / most) : 0;

	memset(bar, '#', n);
	bar[n] = '\0';
}

/* @hot: of this line, NULL: it has no samples */
static int pc_source_add(struct grt_pc_sources *s, const char *path, uint32_t line, const char *text,
			 const struct hot *hot, uint64_t most)
{
	const char *base = strrchr(path, '/');
	struct grt_pc_source *row = calloc(1, sizeof(*row));

	if (!row || grt_grow(&s->row, &s->room, s->rows + 1, 64)) {
		free(row);
		return -ENOMEM;
	}
	s->row[s->rows++] = row;
	row->path = path;
	row->file = base ? base + 1 : path;
	row->line = line;
	snprintf(row->text, sizeof(row->text), "%s", text);
	row->text[strcspn(row->text, "\r\n")] = '\0';
	for (char *c = row->text; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	if (!hot)
		return 0;
	row->samples = hot->samples;
	row->reason = hot->reason;
	pc_source_bar(row->bar, hot->samples, most);
	return 0;
}

/* The lines of one file. */
static int pc_source_list(struct grt_pc_sources *s, FILE *f, const struct hot *hot, uint32_t n, uint64_t most)
{
	const char *path = hot->path;
	char *text = NULL;
	size_t room = 0;
	uint32_t at = 0, i = 0;
	int ret = 0;

	while (!ret && i < n && getline(&text, &room, f) >= 0) {
		at++;
		if (at + AROUND >= hot[i].line || (i && at <= hot[i - 1].line + AROUND))
			ret = pc_source_add(s, path, at, text, at == hot[i].line ? &hot[i] : NULL, most);
		i += at == hot[i].line;
	}
	for (uint32_t rest = 0; !ret && i == n && rest < AROUND && getline(&text, &room, f) >= 0; rest++)
		ret = pc_source_add(s, path, ++at, text, NULL, most);
	/* the file has fewer lines than the one that was compiled */
	if (i < n)
		s->changed = s->changed ?: path;
	for (; i < n; i++)
		s->samples += hot[i].samples;
	free(text);
	return ret;
}

static int pc_source_file(struct grt_pc_sources *s, const struct grt_pc_samples *p, const struct hot *hot,
			  uint32_t n, uint64_t most, uint64_t last)
{
	uint64_t written, ahead = p->from->image[hot->image]->ahead;
	FILE *f = pc_source_open(hot->path, &written);
	int ret;

	if (!f) {
		s->missing++;
		s->first = s->first ?: hot->path;
		s->samples += hot->file_samples;
		return 0;
	}
	if (last && ahead && written > last + ahead)
		s->changed = s->changed ?: hot->path;
	ret = pc_source_list(s, f, hot, n, most);
	fclose(f);
	return ret;
}

int grt_pc_sources_read(struct grt_pc_sources *s, const struct grt_pc_samples *p, uint64_t last)
{
	struct hot *hot = calloc(p->lines.used + 1UL, sizeof(*hot));
	uint32_t n, end;
	uint64_t most = 0;
	int ret = 0;

	memset(s, 0, sizeof(*s));
	if (!hot)
		return -ENOMEM;
	n = pc_source_hot(p, hot);
	for (uint32_t i = 0; i < n; i++)
		most = hot[i].samples > most ? hot[i].samples : most;
	for (uint32_t i = 0; i < n && !ret; i = end) {
		end = pc_source_end(hot, n, i);
		ret = pc_source_file(s, p, &hot[i], end - i, most, last);
	}
	free(hot);
	return ret;
}

void grt_pc_sources_free(struct grt_pc_sources *s)
{
	for (uint32_t i = 0; i < s->rows; i++)
		free(s->row[i]);
	free(s->row);
	memset(s, 0, sizeof(*s));
}
