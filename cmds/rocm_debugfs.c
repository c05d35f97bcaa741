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
 * kfd/mqds has descriptors as they stand in memory, kfd/hqds registers by their
 * address. What a word means depends on the ASIC, which these files do not name. But
 * of all of them the words from CP_MQD_BASE_ADDR on have one order, and where these
 * begin is told by what is there:
 *
 *	descriptor of 128 words	51	GFX7: cik_structs.h
 *	descriptor of 512 words	128	GFX8 to 12: {vi,v9,v10,v11,v12}_structs.h
 *	register 0xc914			GFX7 to 9: gfx_{7_2,8_0}_d.h, gc_9_*_offset.h
 *	register 0xc824			GFX10, 11: gc_1*_offset.h, navi10_ip_offset.h
 *
 * (drivers/gpu/drm/amd/include of Linux 6.1, GFX12 of 6.12.) A descriptor of a
 * compute queue begins with one word on all of them (kfd_mqd_manager_*.c,
 * init_mqd()). What is of another ASIC, and all queues of SDMA, stay raw.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rocm.h"

/* Queues of a file, and words of one. */
#define QUEUES_MAX 512
#define WORDS_MAX 512
/* The first word of a descriptor; where words stand in the block from CP_MQD_BASE_ADDR on, in bytes */
#define MQD_HEADER 0xC0310800U
#define CP_HQD_VMID 12
#define CP_HQD_PQ_BASE 32
#define CP_HQD_PQ_BASE_HI 36
#define CP_HQD_PQ_CONTROL 68
/* CP_HQD_PQ_CONTROL__QUEUE_SIZE_MASK: the ring has two words to the power of one more */
#define QUEUE_SIZE 0x3fU
#define NOWHERE UINT32_MAX

/** struct block - where it begins. @words: of the descriptor, 0: of registers; @at: bytes, or an address */
static const struct block {
	const char *file;
	unsigned int words;
	uint32_t at;
} blocks[] = {
	{"mqds", 128, 51 * 4},
	{"mqds", 512, 128 * 4},
	{"hqds", 0, 0xc914},
	{"hqds", 0, 0xc824},
};

static const char *const files[] = {"mqds", "hqds", "rls"};

/**
 * struct dump - a queue in a file
 * @title: the lines above it
 * @word, @at: the first of its words, what stands before them; @n: how many there are
 */
struct dump {
	char title[160];
	uint32_t word[WORDS_MAX];
	uint32_t at[WORDS_MAX];
	unsigned int n;
};

/** struct dumps - a file */
struct dumps {
	struct dump *of;
	unsigned int n;
};

/** struct row - of the table. @state: new, gone, changed, same; @block: where it has the words that are known
 */
struct row {
	const char *file;
	const char *title;
	const char *state;
	const struct dump *d;
	uint64_t changed;
	uint32_t block;
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

/* The word at a place. Return: it is there */
static bool word_at(const struct dump *d, uint32_t at, uint32_t *v)
{
	for (unsigned int i = 0; i < d->n && i < WORDS_MAX; i++)
		if (d->at[i] == at) {
			*v = d->word[i];
			return true;
		}
	return false;
}

static uint32_t block_of(const char *file, const struct dump *d)
{
	uint32_t v;

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		const struct block *b = &blocks[i];

		if (strcmp(b->file, file) || strstr(d->title, "SDMA") ||
		    !word_at(d, b->at + CP_HQD_PQ_CONTROL, &v))
			continue;
		if (!b->words || (d->n == b->words && word_at(d, 0, &v) && v == MQD_HEADER))
			return b->at;
	}
	return NOWHERE;
}

static bool known(const struct row *r, uint32_t at, uint32_t *v)
{
	return r->block != NOWHERE && word_at(r->d, r->block + at, v);
}

static void put_hex(struct grt_cell *cell, uint64_t v)
{
	static char text[4][32];
	static unsigned int next;

	cell->text = text[next++ % 4];
	snprintf((char *)(uintptr_t)cell->text, sizeof(text[0]), "0x%" PRIx64, v);
}

static void get_base(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t low = 0, high = 0;

	(void)view, (void)arg;
	cell->absent = !known(row, CP_HQD_PQ_BASE, &low) || !known(row, CP_HQD_PQ_BASE_HI, &high);
	/* it is kept without its low eight bits */
	if (!cell->absent)
		put_hex(cell, ((uint64_t)high << 32 | low) << 8);
}

static void get_control(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t v = 0;

	(void)view, (void)arg;
	cell->absent = !known(row, CP_HQD_PQ_CONTROL, &v);
	if (!cell->absent)
		put_hex(cell, v);
}

static void get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t v = 0;

	(void)view, (void)arg;
	cell->absent = !known(row, CP_HQD_PQ_CONTROL, &v) || (v & QUEUE_SIZE) > 40;
	cell->number = cell->absent ? 0 : UINT64_C(8) << (v & QUEUE_SIZE);
}

static void get_vmid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t v = 0;

	(void)view, (void)arg;
	cell->absent = !known(row, CP_HQD_VMID, &v);
	cell->number = v & 0xf;
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
	{"pq_base", get_base, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "address of the ring, of GFX7 to 12"},
	{"ring_bytes", get_ring, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "its size, by its control word"},
	{"pq_control", get_control, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "its control word"},
	{"vmid", get_vmid, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "address space; in mqds 0 where the scheduler gives one"},
	{.name = NULL},
};
static const struct grt_table table = {"debugfs", "debugfs of KFD, before and after", columns, 0};

/* "00000000: c0310800 00000000"; a line of another form names what follows */
static bool take_words(struct dump *d, const char *line)
{
	uint32_t at;
	char *end;

	at = (uint32_t)strtoul(line, &end, 16);
	if (end == line || *end != ':')
		return false;
	for (line = end + 1;; line = end) {
		unsigned long v = strtoul(line, &end, 16);

		if (end == line)
			return true;
		if (d->n < WORDS_MAX) {
			d->word[d->n] = (uint32_t)v;
			d->at[d->n] = at;
		}
		at += 4;
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
	r.block = block_of(file, d);
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
