// SPDX-License-Identifier: GPL-2.0
/*
 * What debugfs said of KFD's queues before and after a program ran. How it is
 * laid out stands in drivers/gpu/drm/amd/amdkfd/kfd_debugfs.c and
 * kfd_process_queue_manager.c (Linux 6.1): lines that name a process and a queue,
 * then rows of hexadecimal words, each row behind its offset:
 *
 *	Process 4321 PASID 32769:
 *	  Compute queue on device 1a2b
 *	    00000000: c0310800 00000000 ...
 *
 * What a word means depends on the ASIC, which these files do not name. The words
 * that GFX9 to GFX11 have in the same places (struct v9_mqd of v9_structs.h and its
 * successors) are shown where a descriptor begins as theirs do; GFX8's begins the
 * same way, so these are marked as concluded. All else stays raw.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rocm.h"

/* Queues of a file, and words of one. */
#define QUEUES_MAX 512
#define WORDS_MAX 512
/* struct v9_mqd: its first word, and the places of words in it */
#define V9_HEADER 0xC0310800U
#define V9_PQ_BASE_LO 136
#define V9_PQ_BASE_HI 137
#define V9_PQ_CONTROL 145
#define V9_VMID 131

static const char *const files[] = {"mqds", "hqds", "rls"};

/**
 * struct dump - a queue in a file
 * @title: the lines above it
 * @words, @n: the first of its words, how many there are
 */
struct dump {
	char title[160];
	uint32_t word[WORDS_MAX];
	unsigned int n;
};

/** struct dumps - a file */
struct dumps {
	struct dump *of;
	unsigned int n;
};

/** struct row - of the table. @state: new, gone, changed, same */
struct row {
	const char *file;
	const char *title;
	const char *state;
	const struct dump *d;
	uint64_t changed;
	bool is_v9;
};

static void get_text(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)view;
	memcpy(&cell->text, (const char *)row + arg, sizeof(cell->text));
}

static void get_words(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	(void)view;
	cell->number = arg ? r->changed : r->d->n;
}

/* A word or two by their place, where the layout is known. */
static void get_word(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	static char text[4][32];
	static unsigned int next;
	const struct row *r = row;
	uint64_t v;

	(void)view;
	cell->absent = !r->is_v9;
	cell->inferred = true;
	if (cell->absent)
		return;
	v = r->d->word[arg];
	/* the ring's address is kept without its low eight bits */
	if (arg == V9_PQ_BASE_LO)
		v = ((uint64_t)r->d->word[V9_PQ_BASE_HI] << 32 | v) << 8;
	cell->text = text[next++ % 4];
	snprintf((char *)(uintptr_t)cell->text, sizeof(text[0]), "0x%" PRIx64, v);
}

static void get_vmid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	(void)view;
	cell->absent = !r->is_v9;
	cell->inferred = true;
	cell->number = r->is_v9 ? r->d->word[arg] & 0xf : 0;
}

static const struct grt_column columns[] = {
	{"file", get_text, offsetof(struct row, file), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "of /sys/kernel/debug/kfd"},
	{"queue", get_text, offsetof(struct row, title), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "as the file names it"},
	{"state", get_text, offsetof(struct row, state), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "after, against before"},
	{"words", get_words, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of 32 bits"},
	{"changed", get_words, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of these"},
	{"pq_base", get_word, V9_PQ_BASE_LO, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "address of the ring, GFX9 to 11"},
	{"pq_control", get_word, V9_PQ_CONTROL, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "its control word, GFX9 to 11"},
	{"vmid", get_vmid, V9_VMID, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "address space, GFX9 to 11"},
	{.name = NULL},
};
static const struct grt_table table = {"debugfs", "debugfs of KFD, before and after", columns,
				       GRT_MARK_INFERRED};

/* "00000000: c0310800 00000000"; a line of another form names what follows */
static bool take_words(struct dump *d, const char *line)
{
	char *end;

	strtoul(line, &end, 16);
	if (end == line || *end != ':')
		return false;
	for (line = end + 1;; line = end) {
		unsigned long v = strtoul(line, &end, 16);

		if (end == line)
			return true;
		if (d->n < WORDS_MAX)
			d->word[d->n] = (uint32_t)v;
		d->n++;
	}
}

static char *trimmed(char *line)
{
	size_t len = strcspn(line, "\r\n");

	line[len] = '\0';
	while (len && (line[len - 1] == ' ' || line[len - 1] == ':'))
		line[--len] = '\0';
	return line + strspn(line, " \t");
}

/* A line that is further in belongs to the one before it that is less so. */
static int take_title(struct dumps *all, char *line, char outer[80])
{
	bool inner = line[0] == ' ' || line[0] == '\t';
	char *text = trimmed(line);
	struct dump *more;

	if (!*text)
		return 0;
	if (!inner) {
		snprintf(outer, 80, "%s", text);
		return 0;
	}
	if (all->n == QUEUES_MAX)
		return 0;
	more = realloc(all->of, (all->n + 1) * sizeof(*more));
	if (!more)
		return -1;
	all->of = more;
	more[all->n] = (struct dump){.n = 0};
	snprintf(more[all->n++].title, sizeof(more->title), "%.79s%s%.70s", outer, *outer ? ", " : "", text);
	return 0;
}

static int read_dumps(struct dumps *all, const char *dir, const char *file, const char *when)
{
	char path[4200], line[1024], outer[80] = "";
	FILE *f;
	int ret = 0;

	snprintf(path, sizeof(path), "%.4000s/kfd_%s.%s", dir, file, when);
	f = fopen(path, "re");
	while (f && !ret && fgets(line, sizeof(line), f)) {
		if (all->n && take_words(&all->of[all->n - 1], line))
			continue;
		ret = take_title(all, line, outer);
	}
	if (f)
		fclose(f);
	return ret;
}

static const struct dump *find(const struct dumps *all, const char *title)
{
	for (unsigned int i = 0; i < all->n; i++)
		if (!strcmp(all->of[i].title, title))
			return &all->of[i];
	return NULL;
}

static uint64_t differences(const struct dump *a, const struct dump *b)
{
	unsigned int most = a->n > b->n ? a->n : b->n;
	uint64_t n = most > WORDS_MAX ? most - WORDS_MAX : 0;

	for (unsigned int i = 0; i < most && i < WORDS_MAX; i++)
		n += a->word[i] != b->word[i];
	return n;
}

static int write_row(struct grt_writer *w, const char *file, const struct dump *d, const struct dump *other,
		     const char *alone)
{
	struct row r = {.file = file, .title = d->title, .d = d};

	r.changed = other ? differences(d, other) : d->n;
	r.state = !other ? alone : r.changed ? "changed" : "same";
	r.is_v9 = !strcmp(file, "mqds") && d->n > V9_PQ_CONTROL && d->word[0] == V9_HEADER;
	return grt_writer_row(w, &r);
}

static int write_file(struct grt_writer *w, const char *dir, const char *file)
{
	struct dumps before = {.n = 0}, after = {.n = 0};
	int ret = read_dumps(&before, dir, file, "before");

	if (!ret)
		ret = read_dumps(&after, dir, file, "after");
	for (unsigned int i = 0; i < after.n && !ret; i++)
		ret = write_row(w, file, &after.of[i], find(&before, after.of[i].title), "new");
	for (unsigned int i = 0; i < before.n && !ret; i++)
		if (!find(&after, before.of[i].title))
			ret = write_row(w, file, &before.of[i], NULL, "gone");
	free(before.of);
	free(after.of);
	return ret;
}

int rocm_debugfs(const struct rocm_run *run, struct grt_writer *w)
{
	const char *dir = run->opt->debugfs ? run->opt->debugfs : run->opt->input;
	int ret = 0;

	if (!dir)
		return 0;
	grt_writer_table(w, &table, NULL);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !ret; i++)
		ret = write_file(w, dir, files[i]);
	grt_writer_table_end(w);
	return ret;
}
