// SPDX-License-Identifier: GPL-2.0
/*
 * What debugfs said of KFD's queues before and after a program ran. How it is
 * laid out is in drivers/gpu/drm/amd/amdkfd/kfd_debugfs.c and
 * kfd_process_queue_manager.c (Linux 6.1): lines that name a process and a queue,
 * then rows of hexadecimal words, each row behind its offset:
 *
 *	Process 4321 PASID 32769:
 *	  Compute queue on device 1a2b
 *	    00000000: c0310800 00000000 ...
 *
 * kfd/mqds has descriptors as they are in memory, kfd/hqds registers by their
 * address. What a word means depends on the ASIC, which these files do not name. But
 * of all of them the words from CP_MQD_BASE_ADDR on have one order, and where these
 * begin follows from their content:
 *
 *	descriptor of 128 words	51	GFX7: cik_structs.h
 *	descriptor of 512 words	128	GFX8 to 12: {vi,v9,v10,v11,v12}_structs.h
 *	several of these	128	GFX9.4.3: one for each XCC, with offsets from 0 again
 *	register 0xc914			GFX7 to 9: gfx_{7_2,8_0}_d.h, gc_9_*_offset.h
 *	register 0xc824			GFX10, 11: gc_1*_offset.h, navi10_ip_offset.h
 *
 * (drivers/gpu/drm/amd/include of Linux 6.1, GFX12 of 6.12.) A descriptor of a
 * compute queue begins with one word on all of them (kfd_mqd_manager_*.c,
 * init_mqd()). What is of another ASIC, and all queues of SDMA, stay raw.
 *
 * A process has several queues on a device, and the line above each is the same. A
 * queue of the later dump is the queue of the earlier one with the same addresses of ring
 * and descriptor (of SDMA the ring's, words 1 and 2 on all); where these are unknown, the
 * one with the same words, then the one at the same place, which is the order of creation.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "rocm.h"

/* Most queues of a file, and most words of all of them: 64 MiB. */
#define QUEUES_MAX 8192U
#define WORDS_MAX (8U << 20)
/* The first word of a descriptor; offsets of words in the block from CP_MQD_BASE_ADDR on, in bytes */
#define MQD_HEADER 0xC0310800U
#define CP_MQD_BASE 0
#define CP_MQD_BASE_HI 4
#define CP_HQD_VMID 12
#define CP_HQD_PQ_BASE 32
#define CP_HQD_PQ_BASE_HI 36
#define CP_HQD_PQ_CONTROL 68
/* CP_HQD_PQ_CONTROL__QUEUE_SIZE_MASK: the ring has 2^(value + 1) words */
#define QUEUE_SIZE 0x3fU
#define NOWHERE UINT32_MAX

/**
 * struct block - where the block begins
 * @words: number of words of the descriptor, 0: the block has registers
 * @at: offset in bytes, or an address
 */
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

/** struct word - a word, with the offset or address before it */
struct word {
	uint32_t at;
	uint32_t v;
};

/**
 * struct dump - a queue in a file
 * @title: the lines above it
 * @word: its @n words, from the file's word @first on
 * @hash: of the words
 * @id: addresses of ring and descriptor, if @has_id
 * @pair: the same queue in the other file
 */
struct dump {
	char title[160];
	const struct word *word;
	uint32_t first;
	uint32_t n;
	uint64_t hash;
	uint32_t id[4];
	bool has_id;
	const struct dump *pair;
};

/**
 * struct dumps - a file
 * @over: number of queues and rows without room
 */
struct dumps {
	struct dump *of;
	uint32_t n;
	uint32_t room;
	struct word *word;
	uint32_t words;
	uint32_t words_room;
	uint64_t over;
};

/**
 * struct row - a row of the table
 * @state: new, gone, changed, same
 * @block: where the known words are
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
	memcpy(&cell->text, (const char *)row + arg, sizeof(cell->text));
}

static void get_words(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	cell->number = arg ? r->changed : r->d->n;
}

/* Finds the word at an offset or address. Return: whether there is one */
static bool rocm_debugfs_word_at(const struct dump *d, uint32_t at, uint32_t *v)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->word[i].at == at) {
			*v = d->word[i].v;
			return true;
		}
	return false;
}

/* Return: whether it is one descriptor of this many words, or one for each XCC. */
static bool is_descriptor(const struct dump *d, unsigned int words)
{
	for (uint32_t i = 0; i < d->n; i += words)
		if (d->word[i].at || d->word[i].v != MQD_HEADER)
			return false;
	return d->n && d->n % words == 0;
}

static uint32_t block_of(const char *file, const struct dump *d)
{
	uint32_t v;

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		const struct block *b = &blocks[i];

		if (strcmp(b->file, file) || strstr(d->title, "SDMA") ||
		    !rocm_debugfs_word_at(d, b->at + CP_HQD_PQ_CONTROL, &v))
			continue;
		if (!b->words || is_descriptor(d, b->words))
			return b->at;
	}
	return NOWHERE;
}

static bool rocm_debugfs_known(const struct row *r, uint32_t at, uint32_t *v)
{
	return r->block != NOWHERE && rocm_debugfs_word_at(r->d, r->block + at, v);
}

static void rocm_debugfs_put_hex(struct grt_cell *cell, uint64_t v)
{
	static char text[4][32];
	static unsigned int next;

	cell->text = text[next++ % 4];
	snprintf((char *)(uintptr_t)cell->text, sizeof(text[0]), "0x%" PRIx64, v);
}

static void get_base(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t low = 0, high = 0;

	cell->absent = !rocm_debugfs_known(row, CP_HQD_PQ_BASE, &low) ||
		       !rocm_debugfs_known(row, CP_HQD_PQ_BASE_HI, &high);
	/* it is stored without its low eight bits */
	if (!cell->absent)
		rocm_debugfs_put_hex(cell, ((uint64_t)high << 32 | low) << 8);
}

static void get_control(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t v = 0;

	cell->absent = !rocm_debugfs_known(row, CP_HQD_PQ_CONTROL, &v);
	if (!cell->absent)
		rocm_debugfs_put_hex(cell, v);
}

static void rocm_debugfs_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t v = 0;

	cell->absent = !rocm_debugfs_known(row, CP_HQD_PQ_CONTROL, &v) || (v & QUEUE_SIZE) > 40;
	cell->number = cell->absent ? 0 : UINT64_C(8) << (v & QUEUE_SIZE);
}

static void get_vmid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t v = 0;

	cell->absent = !rocm_debugfs_known(row, CP_HQD_VMID, &v);
	cell->number = v & 0xf;
}

static const struct grt_column columns[] = {
	{"file", get_text, offsetof(struct row, file), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "of /sys/kernel/debug/kfd"},
	{"queue", get_text, offsetof(struct row, title), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "as the file names it"},
	{"state", get_text, offsetof(struct row, state), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "difference between before and after"},
	{"words", get_words, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of 32 bits"},
	{"changed", get_words, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of these"},
	{"pq_base", get_base, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "address of the ring (GFX7 to GFX12)"},
	{"ring_bytes", rocm_debugfs_get_ring, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "size of the ring, from its control word"},
	{"pq_control", get_control, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "its control word"},
	{"vmid", get_vmid, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "address space; in mqds 0 where the scheduler assigns one"},
	{.name = NULL},
};
const struct grt_table rocm_debugfs_table = {"debugfs", "debugfs of KFD, before and after", columns, 0};

static int rocm_debugfs_add_word(struct dumps *all, struct dump *d, uint32_t at, uint32_t v)
{
	if (all->words == WORDS_MAX) {
		all->over++;
		return 0;
	}
	if (grt_grow(&all->word, &all->words_room, all->words + 1, 4096))
		return -ENOMEM;
	all->word[all->words++] = (struct word){at, v};
	d->n++;
	return 0;
}

/* "00000000: c0310800 00000000". Return: 1: it is such a line, 0: of another form, -ENOMEM */
static int take_words(struct dumps *all, const char *line)
{
	struct dump *d = all->n ? &all->of[all->n - 1] : NULL;
	uint32_t at;
	char *end;
	int ret;

	at = (uint32_t)strtoul(line, &end, 16);
	if (!d || end == line || *end != ':')
		return 0;
	for (line = end + 1;; line = end, at += 4) {
		unsigned long v = strtoul(line, &end, 16);

		if (end == line)
			return 1;
		ret = rocm_debugfs_add_word(all, d, at, (uint32_t)v);
		if (ret)
			return ret;
	}
}

static char *rocm_debugfs_trimmed(char *line)
{
	size_t len = strcspn(line, "\r\n");

	line[len] = '\0';
	while (len && (line[len - 1] == ' ' || line[len - 1] == ':'))
		line[--len] = '\0';
	return line + strspn(line, " \t");
}

/* A line with more indentation belongs to the previous line with less. Return: 0 or -ENOMEM */
static int take_title(struct dumps *all, char *line, char outer[80])
{
	bool inner = line[0] == ' ' || line[0] == '\t';
	char *text = rocm_debugfs_trimmed(line);
	struct dump *d;

	if (!*text)
		return 0;
	if (!inner) {
		snprintf(outer, 80, "%s", text);
		return 0;
	}
	/* words of a queue without room must not be added to the previous queue */
	if (all->n == QUEUES_MAX) {
		all->over++;
		all->words = WORDS_MAX;
		return 0;
	}
	if (grt_grow(&all->of, &all->room, all->n + 1, 64))
		return -ENOMEM;
	d = &all->of[all->n++];
	*d = (struct dump){.first = all->words};
	snprintf(d->title, sizeof(d->title), "%.79s%s%.70s", outer, *outer ? ", " : "", text);
	return 0;
}

/*
 * Addresses of its ring and its descriptor, which do not change. The position of a hardware queue identifies
 * it.
 */
static bool take_id(struct dump *d, const char *file)
{
	static const uint32_t at[] = {CP_HQD_PQ_BASE, CP_HQD_PQ_BASE_HI, CP_MQD_BASE, CP_MQD_BASE_HI};
	uint32_t block = block_of(file, d);

	if (strcmp(file, "mqds") != 0)
		return false;
	if (strstr(d->title, "SDMA"))
		return rocm_debugfs_word_at(d, 4, &d->id[0]) && rocm_debugfs_word_at(d, 8, &d->id[1]) &&
		       (d->id[0] || d->id[1]);
	for (size_t i = 0; i < 4; i++)
		if (block == NOWHERE || !rocm_debugfs_word_at(d, block + at[i], &d->id[i]))
			return false;
	return d->id[0] || d->id[1];
}

static void rocm_debugfs_look_at(struct dump *d, const struct word *words, const char *file)
{
	d->word = words + d->first;
	d->hash = d->n;
	for (uint32_t i = 0; i < d->n; i++)
		d->hash = (d->hash ^ d->word[i].v) * 0x100000001b3;
	d->has_id = take_id(d, file);
}

static int read_dumps(struct dumps *all, const char *dir, const char *file, const char *when)
{
	char path[4200], line[1024], outer[80] = "";
	FILE *f;
	int ret = 0;

	snprintf(path, sizeof(path), "%.4000s/kfd_%s.%s", dir, file, when);
	f = fopen(path, "re");
	while (f && ret >= 0 && fgets(line, sizeof(line), f)) {
		ret = take_words(all, line);
		if (!ret)
			ret = take_title(all, line, outer);
	}
	if (f)
		fclose(f);
	for (uint32_t i = 0; i < all->n; i++)
		rocm_debugfs_look_at(&all->of[i], all->word, file);
	return ret < 0 ? ret : 0;
}

static uint64_t differences(const struct dump *a, const struct dump *b)
{
	uint32_t least = a->n < b->n ? a->n : b->n, most = a->n > b->n ? a->n : b->n;
	uint64_t n = most - least;

	for (uint32_t i = 0; i < least; i++)
		n += a->word[i].v != b->word[i].v;
	return n;
}

/* How likely two dumps are of the same queue. */
enum sure {
	BY_ADDRESS,
	BY_WORDS,
	BY_ORDER,
	SURES,
};

static bool is_pair(const struct dump *a, const struct dump *b, enum sure how)
{
	bool known = a->has_id && b->has_id;

	if ((how == BY_WORDS && a->hash != b->hash) || strcmp(a->title, b->title))
		return false;
	if (how == BY_WORDS)
		return !differences(a, b);
	return known ? !memcmp(a->id, b->id, sizeof(a->id)) : how == BY_ORDER;
}

/* There are few dumps with the same title, mostly in the same order. */
static void pair_up(struct dumps *before, struct dumps *after)
{
	for (enum sure how = BY_ADDRESS; how < SURES; how++)
		for (uint32_t i = 0; i < after->n; i++)
			for (uint32_t k = 0; !after->of[i].pair && k < before->n; k++) {
				if (before->of[k].pair || !is_pair(&after->of[i], &before->of[k], how))
					continue;
				after->of[i].pair = &before->of[k];
				before->of[k].pair = &after->of[i];
			}
}

static int rocm_debugfs_write_row(struct grt_writer *w, const char *file, const struct dump *d,
				  const char *alone)
{
	struct row r = {.file = file, .title = d->title, .d = d};

	r.changed = d->pair ? differences(d, d->pair) : d->n;
	r.state = !d->pair ? alone : r.changed ? "changed" : "same";
	r.block = block_of(file, d);
	return grt_writer_row(w, &r);
}

static void free_dumps(struct dumps *all)
{
	free(all->of);
	free(all->word);
}

static int rocm_debugfs_write_file(struct grt_writer *w, const char *dir, const char *file, uint64_t *over)
{
	struct dumps before = {.n = 0}, after = {.n = 0};
	int ret = read_dumps(&before, dir, file, "before");

	if (!ret)
		ret = read_dumps(&after, dir, file, "after");
	if (!ret)
		pair_up(&before, &after);
	for (uint32_t i = 0; i < after.n && !ret; i++)
		ret = rocm_debugfs_write_row(w, file, &after.of[i], "new");
	for (uint32_t i = 0; i < before.n && !ret; i++)
		if (!before.of[i].pair)
			ret = rocm_debugfs_write_row(w, file, &before.of[i], "gone");
	*over += before.over + after.over;
	free_dumps(&before);
	free_dumps(&after);
	return ret;
}

int rocm_debugfs(const struct rocm_run *run, struct grt_writer *w, uint64_t *over)
{
	const char *dir = run->opt->debugfs ? run->opt->debugfs : run->opt->input;
	int ret = 0;

	if (!dir)
		return 0;
	grt_writer_table(w, &rocm_debugfs_table, NULL);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !ret; i++)
		ret = rocm_debugfs_write_file(w, dir, files[i], over);
	grt_writer_table_end(w);
	return ret;
}
