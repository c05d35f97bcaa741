// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A table as a file of Apache Parquet (https://github.com/apache/parquet-format: parquet.thrift,
 * Encodings.md). Each column may be NULL. Rows are collected in groups of bounded size. A column of a group
 * is one page, after a page with its dictionary if values repeat. Texts have a dictionary; integers have one,
 * or are encoded as differences to the value before. Pairs are entries in the footer of the file.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef GRT_HAVE_ZSTD
#include <zstd.h>
#endif

#include <grtrace/version.h>

#include "base/escape.h"
#include "base/containers.h"
#include "base/thread.h"
#include "table.h"

/* Maximum number of rows of a group, and of bytes of its different texts. */
#define GROUP_ROWS (128U << 10)
#define GROUP_TEXT (32U << 20)
/* A column of numbers has a dictionary if it has at most this many different values. */
#define DICTIONARY_MAX 4096U
#define DICTIONARY_SLOTS (4 * DICTIONARY_MAX)
/* Number of texts of a column whose addresses are remembered; a power of 2. */
#define LASTING 512U
/* Number of columns with lists of marked columns: inferred and estimated. */
#define MARKS 2U
#define ZSTD_LEVEL 1

/* Numbers of parquet.thrift. */
enum parquet_type { TYPE_BOOLEAN = 0, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum parquet_encoding { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum parquet_page { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
#define REPETITION_OPTIONAL 1
#define CONVERTED_UTF8 0
#define CONVERTED_UINT_64 14
#define LOGICAL_STRING 1
#define LOGICAL_INTEGER 10
#ifdef GRT_HAVE_ZSTD
#define CODEC 6
#else
#define CODEC 0
#endif

/** struct bytes - a growing buffer; @failed: memory was missing, so bytes are missing */
struct bytes {
	char *at;
	size_t used;
	size_t room;
	bool failed;
};

/* How a cell is converted to a value. */
enum parquet_put { PUT_TEXT, PUT_NAME, PUT_LIST, PUT_THOUSANDTHS, PUT_SIGNED_THOUSANDTHS, PUT_NUMBER };

/**
 * struct parquet_column - what a group of rows has in it so far; what each row needs comes first
 * @value: those that are not NULL; of a text its number in @texts
 * @values: how many. Where they are as many as rows so far, or none, @there does not say anything
 * @differ: they are not all equal; where they are, @value has none of them, and @one is what they are
 * @last: number of the last text, @last_text; valid where there are values
 * @before, @before_number: the last lasting text, and its number; NULL: none so far
 * @lasting: LASTING texts, each in the place that its address has, of which some were there before
 * @there: a bit for each row: it has one
 * @number: its number in the table
 * @most: PUT_NUMBER: a greater one is NULL
 * @is_unsigned: TYPE_INT64: of 64 bits without sign
 */
struct parquet_column {
	uint64_t *value;
	uint32_t values;
	bool differ;
	uint64_t one;
	uint32_t last;
	const char *last_text;
	const char *before;
	struct parquet_lasting *lasting;
	uint8_t *there;
	uint32_t before_number;
	uint32_t number;
	enum parquet_put put;
	uint64_t most;
	enum parquet_type type;
	bool is_unsigned;
	struct grt_texts texts;
	char name[96];
};

/**
 * struct parquet_lasting - the address of a lasting text (see struct grt_cell), and its number in the open
 * group
 */
struct parquet_lasting {
	const char *text;
	uint32_t number;
};

/**
 * struct parquet_marks - the list of marked columns: @bits: those of the last row; @number: of the list's
 * text
 */
struct parquet_marks {
	uint64_t bits;
	uint32_t number;
};

/* What the cells of a column have in common in each row. */
enum parquet_same_kind { SAME_ABSENT, SAME_NUMBER, SAME_TEXT, SAME_KINDS };

/**
 * struct parquet_same - a column whose cells are the same in all rows of the open group so far: a cell needs
 * one look, and nothing is written. The column gets its number of values when that ends
 * @key: number or address of the text; @flags: its flags as one number, see parquet_flags()
 * @at: bytes of a row's cells before this one
 */
struct parquet_same {
	uint64_t key;
	uint32_t flags;
	uint32_t at;
	uint32_t column;
};

/** struct parquet_sames - those of a kind, in no order */
struct parquet_sames {
	unsigned int n;
	struct parquet_same of[GRT_COLUMNS_MAX];
};

/**
 * struct parquet_dense - a column of which every row so far of the open group has a value, in its place in
 * @value: a number up to @most, or a lasting text. The column gets its number of values when that ends
 * @at: as above
 */
struct parquet_dense {
	uint64_t *value;
	uint64_t most;
	uint32_t at;
	uint32_t column;
};

/** struct parquet_denses - those of numbers, or those of texts, in no order */
struct parquet_denses {
	unsigned int n;
	struct parquet_dense of[GRT_COLUMNS_MAX];
};

/* The row after which dense columns are looked for, in each DENSE_EVERY rows. */
#define DENSE_FROM 16U
#define DENSE_EVERY 1024U

/**
 * struct parquet_pages - the state of writing groups of rows
 * @column: the @columns columns of the group; @rows: number of its rows; @total: rows of earlier groups
 * @at: number of bytes in the file so far
 * @page, @packed, @head: a page, its compressed form, its header
 * @group: the group's columns in the footer; @groups, @group_count: earlier groups
 * @slot, @distinct: a dictionary of numbers; @index: the values as numbers of the dictionary
 * @error: a negative errno: nothing more is written
 */
struct parquet_pages {
	FILE *out;
	const struct parquet_column *column;
	unsigned int columns;
	uint32_t rows;
	uint64_t total;
	uint64_t at;
	struct bytes page;
	struct bytes packed;
	struct bytes head;
	struct bytes group;
	struct bytes groups;
	uint32_t group_count;
	uint64_t group_plain;
	uint16_t *slot;
	uint64_t *distinct;
	uint32_t *index;
	int error;
#ifdef GRT_HAVE_ZSTD
	ZSTD_CCtx *zstd;
#endif
};

/**
 * struct parquet - the state of the writer
 * @same, @numbers, @names: columns of the table, in no order; @other: the other @others; before the first
 * row, all are there
 * @column: the columns of the table, then those of marked columns
 * @rows: number of rows in the open group
 * @list: text of a list
 * @pairs, @pair_count: pairs for the footer
 * @behind: columns of the group that @thread writes while it @runs; NULL: no group was written by a thread
 * @error: a negative errno: nothing more is written
 * @pages: last, far from what changes with each row: the thread changes it meanwhile
 */
struct parquet {
	struct grt_writer w;
	struct parquet_marks marked[MARKS];
	struct parquet_sames same[SAME_KINDS];
	struct parquet_denses numbers;
	struct parquet_denses names;
	unsigned int others;
	struct parquet_column *other[GRT_COLUMNS_MAX];
	unsigned int columns;
	uint32_t rows;
	int error;
	bool runs;
	pthread_t thread;
	struct parquet_column *behind;
	struct bytes list;
	struct bytes pairs;
	uint32_t pair_count;
	char table[64];
	struct parquet_column column[GRT_COLUMNS_MAX + MARKS];
	struct parquet_pages pages;
};

_Static_assert(offsetof(struct parquet, pages) >= offsetof(struct parquet, column[2]),
	       "what two threads change is in different cache lines");

static struct parquet *parquet_of(struct grt_writer *w)
{
	return (struct parquet *)w;
}

/* ------------------------------------------------------------------ bytes */

/* Reserves @n bytes. Return: NULL: no memory */
static char *bytes_room(struct bytes *b, size_t n)
{
	if (grt_grow(&b->at, &b->room, b->used + n, 4096)) {
		b->failed = true;
		return NULL;
	}
	return b->at + b->used;
}

static void bytes_put(struct bytes *b, const void *from, size_t n)
{
	char *to = bytes_room(b, n);

	if (!to || !n)
		return;
	memcpy(to, from, n);
	b->used += n;
}

static void bytes_put_byte(struct bytes *b, unsigned int byte)
{
	bytes_put(b, &(uint8_t){(uint8_t)byte}, 1);
}

/* Writes a number with the least significant byte first, as the format has all numbers. */
static void bytes_put_u32(struct bytes *b, uint32_t n)
{
	n = htole32(n);
	bytes_put(b, &n, sizeof(n));
}

static void bytes_put_u64(struct bytes *b, uint64_t n)
{
	n = htole64(n);
	bytes_put(b, &n, sizeof(n));
}

/* ULEB128 */
static void bytes_put_varint(struct bytes *b, uint64_t n)
{
	for (; n > 127; n >>= 7)
		bytes_put_byte(b, (n & 127) | 128);
	bytes_put_byte(b, (unsigned int)n);
}

static void bytes_put_zigzag(struct bytes *b, int64_t n)
{
	bytes_put_varint(b, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

/* --------------------------------------------- Thrift's compact protocol */

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_BYTE = 3,
	THRIFT_I32 = 5,
	THRIFT_I64,
	THRIFT_BINARY = 8,
	THRIFT_LIST,
	THRIFT_STRUCT = 12
};

/** struct thrift - a struct that is being written; @last: number of its last field */
struct thrift {
	struct bytes *to;
	unsigned int last;
};

/* Begins a field. Field numbers must rise by less than 16. */
static void thrift_field(struct thrift *t, unsigned int number, enum thrift_type type)
{
	bytes_put_byte(t->to, (number - t->last) << 4 | type);
	t->last = number;
}

static void thrift_i32(struct thrift *t, unsigned int number, int32_t value)
{
	thrift_field(t, number, THRIFT_I32);
	bytes_put_zigzag(t->to, value);
}

static void thrift_i64(struct thrift *t, unsigned int number, uint64_t value)
{
	thrift_field(t, number, THRIFT_I64);
	bytes_put_zigzag(t->to, (int64_t)value);
}

static void thrift_put_binary(struct bytes *to, const void *text, size_t len)
{
	bytes_put_varint(to, len);
	bytes_put(to, text, len);
}

static void thrift_binary(struct thrift *t, unsigned int number, const void *text, size_t len)
{
	thrift_field(t, number, THRIFT_BINARY);
	thrift_put_binary(t->to, text, len);
}

static void thrift_list(struct thrift *t, unsigned int number, enum thrift_type of, uint32_t n)
{
	thrift_field(t, number, THRIFT_LIST);
	bytes_put_byte(t->to, (n < 15 ? n : 15) << 4 | of);
	if (n >= 15)
		bytes_put_varint(t->to, n);
}

/* Begins a struct as a field; thrift_end() ends it. */
static struct thrift thrift_begin(struct thrift *t, unsigned int number)
{
	thrift_field(t, number, THRIFT_STRUCT);
	return (struct thrift){.to = t->to};
}

static void thrift_end(struct thrift *t)
{
	bytes_put_byte(t->to, 0);
}

static void thrift_empty(struct thrift *t, unsigned int number)
{
	struct thrift inner = thrift_begin(t, number);

	thrift_end(&inner);
}

/* -------------------------------------------------------------- encodings */

/* Begins a run of the RLE and bit-packing hybrid that is bit-packed, in groups of 8 values. */
static void encode_bit_run(struct bytes *b, uint32_t n)
{
	bytes_put_varint(b, (uint64_t)((n + 7) / 8) << 1 | 1);
}

/* Writes which rows have a value: their length, then levels of 1 bit. */
static void encode_levels(struct bytes *b, const struct parquet_column *c, uint32_t rows)
{
	size_t at = b->used;
	uint32_t len;

	bytes_put_u32(b, 0);
	if (c->values == rows || !c->values) {
		bytes_put_varint(b, (uint64_t)rows << 1);
		bytes_put_byte(b, c->values > 0);
	} else {
		encode_bit_run(b, rows);
		bytes_put(b, c->there, (rows + 7) / 8);
	}
	if (b->failed)
		return;
	len = htole32((uint32_t)(b->used - at - sizeof(len)));
	memcpy(b->at + at, &len, sizeof(len));
}

/*
 * Return: the width of numbers below @distinct: a divisor or a multiple of 8, because zstd finds patterns in
 * bytes
 */
static unsigned int index_bits(uint32_t distinct)
{
	return distinct <= 2	   ? 1
	       : distinct <= 4	   ? 2
	       : distinct <= 16	   ? 4
	       : distinct <= 256   ? 8
	       : distinct <= 65536 ? 16
				   : 32;
}

/* Writes numbers of whole bytes. Loops of a constant number become vectors. */
static void encode_wide(uint8_t *restrict to, const uint32_t *restrict index, uint32_t n, unsigned int bits)
{
	uint32_t whole = bits == 8 ? n / 16 * 16 : 0;

	for (uint32_t i = 0; i < whole; i += 16)
		for (unsigned int k = 0; k < 16; k++)
			to[i + k] = (uint8_t)index[i + k];
	for (uint32_t i = whole; bits == 8 && i < n; i++)
		to[i] = (uint8_t)index[i];
	for (uint32_t i = 0; bits == 16 && i < n; i++)
		memcpy(to + (size_t)i * 2, &(uint16_t){htole16((uint16_t)index[i])}, 2);
	for (uint32_t i = 0; bits == 32 && i < n; i++)
		memcpy(to + (size_t)i * 4, &(uint32_t){htole32(index[i])}, 4);
}

/* Writes numbers that are smaller than a byte, the lowest bits first. */
static void encode_narrow(uint8_t *to, const uint32_t *index, uint32_t n, unsigned int bits)
{
	unsigned int each = 8 / bits;

	for (uint32_t i = 0; i < n; to++) {
		unsigned int byte = 0;

		for (unsigned int k = 0; k < each && i < n; k++, i++)
			byte |= index[i] << k * bits;
		*to = (uint8_t)byte;
	}
}

static void encode_indices(struct bytes *b, const uint32_t *index, uint32_t n, uint32_t distinct)
{
	unsigned int bits = index_bits(distinct);
	size_t size = (size_t)((n + 7) / 8) * bits;
	uint8_t *to;

	bytes_put_byte(b, bits);
	encode_bit_run(b, n);
	to = (uint8_t *)bytes_room(b, size);
	if (!to)
		return;
	/* the bits after the last value */
	memset(to + size - bits, 0, bits);
	if (bits < 8)
		encode_narrow(to, index, n, bits);
	else
		encode_wide(to, index, n, bits);
	b->used += size;
}

/* Writes @n times the same value. */
static void encode_one_index(struct bytes *b, uint32_t index, uint32_t n)
{
	bytes_put_byte(b, 1);
	bytes_put_varint(b, (uint64_t)n << 1);
	bytes_put_byte(b, index);
}

#define DELTA_BLOCK 128U
#define DELTA_PART 32U

/* Bit-packs @DELTA_PART numbers, the lowest bits first. */
static void encode_delta_part(struct bytes *b, const uint64_t *delta, unsigned int bits)
{
	char *to = bytes_room(b, DELTA_PART / 8 * bits + 8), *start = to;
	unsigned int used = 0;
	uint64_t word = 0, whole;

	/* two at a time, where both have room in a word */
	for (unsigned int i = 0; to && bits && bits <= 32 && i < DELTA_PART; i += 2) {
		const uint64_t both = delta[i] | delta[i + 1] << bits;

		word |= both << used;
		used += 2 * bits;
		if (used < 64)
			continue;
		whole = htole64(word);
		memcpy(to, &whole, 8);
		to += 8;
		used -= 64;
		word = used ? both >> (2 * bits - used) : 0;
	}
	for (unsigned int i = 0; to && bits > 32 && i < DELTA_PART; i++) {
		word |= delta[i] << used;
		used += bits;
		if (used < 64)
			continue;
		whole = htole64(word);
		memcpy(to, &whole, 8);
		to += 8;
		used -= 64;
		word = used ? delta[i] >> (bits - used) : 0;
	}
	if (!to)
		return;
	word = htole64(word);
	memcpy(to, &word, 8);
	b->used += (size_t)(to - start) + used / 8;
}

/*
 * Computes the differences of @n values to the value before each, less the least one. Loops of a constant
 * number become vectors. Return: the least one
 */
static inline __attribute__((always_inline)) int64_t encode_differences(uint64_t *delta,
									const uint64_t *value, uint32_t n)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < n; i++)
		delta[i] = value[i] - value[(int64_t)i - 1];
#pragma GCC unroll 8
	for (uint32_t i = 0; i < n; i++)
		least = (int64_t)delta[i] < least ? (int64_t)delta[i] : least;
	for (uint32_t i = 0; i < n; i++)
		delta[i] -= (uint64_t)least;
	return least;
}

/* Writes a block of @n differences; the first one is the difference to the value before @value. */
static void encode_delta_block(struct bytes *b, const uint64_t *value, uint32_t n)
{
	uint64_t delta[DELTA_BLOCK] = {0}, all;
	int64_t least = n == DELTA_BLOCK ? encode_differences(delta, value, DELTA_BLOCK)
					 : encode_differences(delta, value, n);
	uint8_t bits[DELTA_BLOCK / DELTA_PART] = {0};

	for (uint32_t part = 0; part * DELTA_PART < n; part++) {
		all = 0;
#pragma GCC unroll 8
		for (uint32_t i = 0; i < DELTA_PART; i++)
			all |= delta[part * DELTA_PART + i];
		bits[part] = all ? (uint8_t)(64 - __builtin_clzll(all)) : 0;
	}
	bytes_put_zigzag(b, least);
	bytes_put(b, bits, sizeof(bits));
	for (uint32_t part = 0; part * DELTA_PART < n; part++)
		encode_delta_part(b, delta + (size_t)part * DELTA_PART, bits[part]);
}

static void encode_deltas(struct bytes *b, const uint64_t *value, uint32_t n)
{
	bytes_put_varint(b, DELTA_BLOCK);
	bytes_put_varint(b, DELTA_BLOCK / DELTA_PART);
	bytes_put_varint(b, n);
	bytes_put_zigzag(b, n ? (int64_t)value[0] : 0);
	for (uint32_t i = 1; i < n; i += DELTA_BLOCK)
		encode_delta_block(b, value + i, n - i < DELTA_BLOCK ? n - i : DELTA_BLOCK);
}

static void encode_booleans(struct bytes *b, const uint64_t *value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 8) {
		unsigned int byte = 0;

		for (uint32_t k = i; k < n && k < i + 8; k++)
			byte |= (unsigned int)(value[k] != 0) << (k - i);
		bytes_put_byte(b, byte);
	}
}

/* ------------------------------------------------------------ dictionaries */

/* Whether there are values, and all are equal. */
static bool column_is_one(const struct parquet_column *c)
{
	return c->values && !c->differ;
}

/* Stores the values of a column that are all equal. */
static void column_fill(const struct parquet_column *c)
{
	for (uint32_t i = 0; !c->differ && i < c->values; i++)
		c->value[i] = c->one;
}

/*
 * Whether all values are equal, with a known dictionary. A dictionary of texts also has a number for no text.
 */
static bool column_has_one(const struct parquet_column *c, uint32_t distinct)
{
	return c->type == TYPE_BYTE_ARRAY ? distinct <= 2 && column_is_one(c) : distinct == 1;
}

/*
 * Numbers the different values of a column. Return: their number; 0: too many, so that a dictionary would not
 * save space
 */
static uint32_t dictionary_of_numbers(struct parquet_pages *p, const struct parquet_column *c)
{
	uint32_t most = c->values / 4 < DICTIONARY_MAX ? c->values / 4 : DICTIONARY_MAX, used = 0, at;

	if (most && column_is_one(c)) {
		p->distinct[0] = c->one;
		return 1;
	}
	column_fill(c);
	memset(p->slot, 0, DICTIONARY_SLOTS * sizeof(*p->slot));
	for (uint32_t i = 0; i < c->values; i++) {
		if (i && c->value[i] == c->value[i - 1]) {
			p->index[i] = p->index[i - 1];
			continue;
		}
		at = (uint32_t)(c->value[i] * 0x9e3779b97f4a7c15ULL >> 32) % DICTIONARY_SLOTS;
		while (p->slot[at] && p->distinct[p->slot[at] - 1] != c->value[i])
			at = (at + 1) % DICTIONARY_SLOTS;
		if (!p->slot[at]) {
			if (used == most)
				return 0;
			p->distinct[used++] = c->value[i];
			p->slot[at] = (uint16_t)used;
		}
		p->index[i] = p->slot[at] - 1U;
	}
	return used;
}

static void dictionary_put_texts(struct bytes *b, const struct grt_texts *texts)
{
	size_t room, used;
	char *to;

	for (uint32_t i = 0; i < texts->used; i++) {
		room = GRT_ESCAPED_MAX(grt_texts_length(texts, i));
		to = bytes_room(b, sizeof(uint32_t) + room);
		if (!to)
			return;
		used = grt_escape(GRT_ESCAPE_UTF8, to + sizeof(uint32_t), room, grt_texts_get(texts, i),
				  grt_texts_length(texts, i));
		bytes_put_u32(b, (uint32_t)used);
		b->used += used;
	}
}

static void dictionary_put_numbers(struct bytes *b, const uint64_t *value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		bytes_put_u64(b, value[i]);
}

/* ------------------------------------------------------------------ pages */

static void parquet_check(struct parquet_pages *p, const struct bytes *b)
{
	if (b->failed && !p->error)
		p->error = -ENOMEM;
}

static void parquet_write(struct parquet_pages *p, const void *from, size_t n)
{
	if (p->error)
		return;
	errno = 0;
	if (fwrite(from, 1, n, p->out) != n)
		p->error = errno ? -errno : -EIO;
	p->at += n;
}

/* Compresses @p->page into @p->packed. */
static const struct bytes *page_pack(struct parquet_pages *p)
{
#ifdef GRT_HAVE_ZSTD
	size_t room = ZSTD_compressBound(p->page.used), used;
	char *to;

	p->packed.used = 0;
	to = bytes_room(&p->packed, room);
	used = to ? ZSTD_compressCCtx(p->zstd, to, room, p->page.at, p->page.used, ZSTD_LEVEL) : 0;
	if (ZSTD_isError(used))
		p->packed.failed = true;
	else
		p->packed.used = used;
	return &p->packed;
#else
	return &p->page;
#endif
}

/* Writes @p->page, which has @values values. Return: its uncompressed size, with the header */
static uint64_t page_write(struct parquet_pages *p, enum parquet_page type, uint32_t values,
			   enum parquet_encoding encoding)
{
	const struct bytes *packed = page_pack(p);
	struct thrift t = {.to = &p->head}, inner;

	p->head.used = 0;
	thrift_i32(&t, 1, type);
	thrift_i32(&t, 2, (int32_t)p->page.used);
	thrift_i32(&t, 3, (int32_t)packed->used);
	inner = thrift_begin(&t, type == PAGE_DATA ? 5 : 7);
	thrift_i32(&inner, 1, (int32_t)values);
	thrift_i32(&inner, 2, encoding);
	if (type == PAGE_DATA) {
		thrift_i32(&inner, 3, ENCODING_RLE);
		thrift_i32(&inner, 4, ENCODING_RLE);
	}
	thrift_end(&inner);
	thrift_end(&t);
	parquet_check(p, &p->page);
	parquet_check(p, packed);
	parquet_check(p, &p->head);
	parquet_write(p, p->head.at, p->head.used);
	parquet_write(p, packed->at, packed->used);
	return p->head.used + p->page.used;
}

static void column_copy_indices(struct parquet_pages *p, const struct parquet_column *c)
{
	const uint32_t whole = c->values / 4 * 4;

	for (uint32_t i = 0; i < whole; i += 4)
		for (unsigned int k = 0; k < 4; k++)
			p->index[i + k] = (uint32_t)c->value[i + k];
	for (uint32_t i = whole; i < c->values; i++)
		p->index[i] = (uint32_t)c->value[i];
}

/*
 * Writes the page of a column's dictionary, and sets @p->index. Return: the number of its values; 0: the
 * column has no dictionary
 */
static uint32_t column_write_dictionary(struct parquet_pages *p, const struct parquet_column *c,
					uint64_t *plain)
{
	uint32_t n = 0;

	if (c->values && c->type == TYPE_BYTE_ARRAY)
		n = c->texts.used;
	else if (c->type != TYPE_BOOLEAN)
		n = dictionary_of_numbers(p, c);
	if (!n)
		return 0;
	p->page.used = 0;
	if (c->type != TYPE_BYTE_ARRAY) {
		dictionary_put_numbers(&p->page, p->distinct, n);
	} else {
		dictionary_put_texts(&p->page, &c->texts);
		if (!column_has_one(c, n)) {
			column_fill(c);
			column_copy_indices(p, c);
		}
	}
	*plain += page_write(p, PAGE_DICTIONARY, n, ENCODING_PLAIN);
	return n;
}

static enum parquet_encoding column_write_values(struct parquet_pages *p, const struct parquet_column *c,
						 uint32_t distinct, uint64_t *plain)
{
	enum parquet_encoding encoding = distinct			      ? ENCODING_DICTIONARY
					 : c->values && c->type == TYPE_INT64 ? ENCODING_DELTA
									      : ENCODING_PLAIN;

	p->page.used = 0;
	encode_levels(&p->page, c, p->rows);
	if (encoding == ENCODING_DICTIONARY && column_has_one(c, distinct))
		encode_one_index(&p->page, c->type == TYPE_BYTE_ARRAY ? (uint32_t)c->one : 0, c->values);
	else if (encoding == ENCODING_DICTIONARY)
		encode_indices(&p->page, p->index, c->values, distinct);
	else if (encoding == ENCODING_DELTA)
		encode_deltas(&p->page, c->value, c->values);
	else if (c->type == TYPE_BOOLEAN) {
		column_fill(c);
		encode_booleans(&p->page, c->value, c->values);
	} else
		dictionary_put_numbers(&p->page, c->value, c->values);
	*plain += page_write(p, PAGE_DATA, p->rows, encoding);
	return encoding;
}

/* --------------------------------------------------------- groups of rows */

/* Writes the smallest and greatest of @n values, so that engines can skip groups that they need not read. */
static void column_put_range(struct thrift *t, const struct parquet_column *c, const uint64_t *of, uint32_t n)
{
	/* with the highest bit inverted, signed numbers are in the order of unsigned ones */
	const uint64_t turn = c->is_unsigned ? UINT64_C(1) << 63 : 0;
	int64_t least = INT64_MAX, most = INT64_MIN, value;
	uint64_t end;

#pragma GCC unroll 8
	for (uint32_t i = 0; i < n; i++) {
		value = (int64_t)(of[i] ^ turn);
		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	end = htole64((uint64_t)most ^ turn);
	thrift_binary(t, 5, &end, sizeof(end));
	end = htole64((uint64_t)least ^ turn);
	thrift_binary(t, 6, &end, sizeof(end));
}

/*
 * Writes the statistics of a column. @distinct: number of values in its dictionary; 0: it has no dictionary
 */
static void column_put_statistics(struct thrift *meta, const struct parquet_pages *p,
				  const struct parquet_column *c, uint32_t distinct)
{
	struct thrift t = thrift_begin(meta, 12);

	thrift_i64(&t, 3, p->rows - c->values);
	if (c->type == TYPE_INT64 && c->values)
		column_put_range(&t, c, distinct ? p->distinct : c->value, distinct ?: c->values);
	thrift_end(&t);
}

static void column_put_encodings(struct thrift *meta, enum parquet_encoding encoding)
{
	thrift_list(meta, 2, THRIFT_I32, encoding == ENCODING_DICTIONARY ? 3 : 2);
	bytes_put_zigzag(meta->to, ENCODING_RLE);
	bytes_put_zigzag(meta->to, encoding);
	if (encoding == ENCODING_DICTIONARY)
		bytes_put_zigzag(meta->to, ENCODING_PLAIN);
}

/* Writes the pages of a column, and their entry for the footer. */
static void column_write(struct parquet_pages *p, const struct parquet_column *c)
{
	uint64_t start = p->at, data, plain = 0;
	uint32_t distinct = column_write_dictionary(p, c, &plain);
	struct thrift t = {.to = &p->group}, meta;
	enum parquet_encoding encoding;

	data = p->at;
	encoding = column_write_values(p, c, distinct, &plain);
	thrift_i64(&t, 2, 0);
	meta = thrift_begin(&t, 3);
	thrift_i32(&meta, 1, c->type);
	column_put_encodings(&meta, encoding);
	thrift_list(&meta, 3, THRIFT_BINARY, 1);
	thrift_put_binary(meta.to, c->name, strlen(c->name));
	thrift_i32(&meta, 4, CODEC);
	thrift_i64(&meta, 5, p->rows);
	thrift_i64(&meta, 6, plain);
	thrift_i64(&meta, 7, p->at - start);
	thrift_i64(&meta, 9, data);
	if (distinct)
		thrift_i64(&meta, 11, start);
	column_put_statistics(&meta, p, c, distinct);
	thrift_end(&meta);
	thrift_end(&t);
	p->group_plain += plain;
}

static void column_empty(struct parquet_column *c)
{
	c->values = 0;
	c->differ = false;
	c->last = GRT_TEXT_NONE;
	c->before = NULL;
	memset(c->there, 0, GROUP_ROWS / 8);
	if (c->type != TYPE_BYTE_ARRAY)
		return;
	grt_texts_free(&c->texts);
	grt_texts_init(&c->texts, UINT32_MAX);
	memset(c->lasting, 0, LASTING * sizeof(*c->lasting));
}

static void group_write(struct parquet_pages *p)
{
	struct thrift t = {.to = &p->groups};

	p->group.used = 0;
	p->group_plain = 0;
	for (unsigned int i = 0; i < p->columns; i++)
		column_write(p, &p->column[i]);
	thrift_list(&t, 1, THRIFT_STRUCT, p->columns);
	bytes_put(t.to, p->group.at, p->group.used);
	thrift_i64(&t, 2, p->group_plain);
	thrift_i64(&t, 3, p->rows);
	thrift_end(&t);
	parquet_check(p, &p->group);
	parquet_check(p, &p->groups);
	p->group_count++;
	p->total += p->rows;
}

/* ------------------------------------------------------- groups, beside rows */

static void *group_run(void *arg)
{
	group_write(arg);
	return NULL;
}

/* Waits until the thread has written its group. */
static void group_wait(struct parquet *p)
{
	if (p->runs)
		pthread_join(p->thread, NULL);
	p->runs = false;
	p->error = p->error ?: p->pages.error;
}

/* Allocates the columns of a second group. Columns that fail are tried again for the next group. */
static bool group_has_room(struct parquet *p)
{
	bool has = true;

	p->behind = p->behind ?: calloc(p->columns, sizeof(*p->behind));
	for (unsigned int i = 0; p->behind && i < p->columns && has; i++) {
		struct parquet_column *c = &p->behind[i];

		c->value = c->value ?: malloc(GROUP_ROWS * sizeof(*c->value));
		c->there = c->there ?: malloc(GROUP_ROWS / 8);
		has = c->value && c->there;
	}
	return p->behind && has;
}

/* Exchanges the full columns with those that the thread has written. */
static void group_swap(struct parquet *p)
{
	for (unsigned int i = 0; i < p->columns; i++) {
		struct parquet_column *c = &p->column[i], written = p->behind[i];

		p->behind[i] = *c;
		c->value = written.value;
		c->there = written.there;
		c->texts = written.texts;
		column_empty(c);
	}
	p->pages.column = p->behind;
}

/* Starts the thread that writes the full group. Return: false: no memory, or no thread */
static bool group_begin_beside(struct parquet *p)
{
	if (!group_has_room(p))
		return false;
	group_swap(p);
	p->runs = grt_thread_start(&p->thread, group_run, &p->pages);
	if (!p->runs)
		group_write(&p->pages);
	return true;
}

/* The cells of a column were the same in @rows rows of the open group; its place has another one now. */
static __attribute__((noinline)) void same_end(struct parquet *p, struct parquet_sames *all,
					       struct parquet_same *s, uint32_t rows)
{
	struct parquet_column *c = &p->column[s->column];

	/* the first row has one, or none */
	c->values = c->values ? rows : 0;
	p->other[p->others++] = c;
	*s = all->of[--all->n];
}

/* The first @rows rows have a value of this column; its place has another one now. */
static __attribute__((noinline)) void dense_end(struct parquet *p, struct parquet_denses *all,
						struct parquet_dense *d, uint32_t rows)
{
	struct parquet_column *c = &p->column[d->column];

	c->values = rows;
	p->other[p->others++] = c;
	*d = all->of[--all->n];
}

/* Gives all columns their numbers of values. */
static void group_count_values(struct parquet *p, uint32_t rows)
{
	for (unsigned int kind = 0; kind < SAME_KINDS; kind++)
		while (p->same[kind].n)
			same_end(p, &p->same[kind], p->same[kind].of, rows);
	while (p->numbers.n)
		dense_end(p, &p->numbers, p->numbers.of, rows);
	while (p->names.n)
		dense_end(p, &p->names, p->names.of, rows);
}

/* Ends the open group. @more: further rows follow */
static void group_end(struct parquet *p, bool more)
{
	group_wait(p);
	if (!p->rows || p->error)
		return;
	group_count_values(p, p->rows);
	p->pages.rows = p->rows;
	p->rows = 0;
	if (more && p->w.beside && group_begin_beside(p))
		return;
	p->pages.column = p->column;
	group_write(&p->pages);
	p->error = p->pages.error;
	for (unsigned int i = 0; i < p->columns; i++)
		column_empty(&p->column[i]);
}

/* ----------------------------------------------------------------- values */

/* Stores a value that differs from the earlier ones, which are all equal, or the first one. */
static __attribute__((noinline)) void parquet_put_different(struct parquet_column *c, uint32_t at,
							    uint64_t value)
{
	if (!at) {
		c->one = value;
		return;
	}
	c->values = at;
	column_fill(c);
	c->values = at + 1;
	c->value[at] = value;
	c->differ = true;
}

/* In most columns all values of a group are equal, and need no memory. */
static inline void parquet_put(struct parquet_column *c, uint32_t row, uint64_t value)
{
	uint32_t at = c->values;

	if (__builtin_expect(at != row, 0))
		c->there[row / 8] |= (uint8_t)(1U << row % 8);
	c->values = at + 1;
	if (c->differ)
		c->value[at] = value;
	else if (value != c->one)
		parquet_put_different(c, at, value);
}

/* Writes the first NULL of a group: all earlier rows of it have a value. */
static __attribute__((noinline)) void parquet_put_first_null(struct parquet_column *c, uint32_t row)
{
	memset(c->there, 0xff, row / 8);
	c->there[row / 8] = (uint8_t)((1U << row % 8) - 1);
}

static inline void parquet_put_null(struct parquet_column *c, uint32_t row)
{
	if (c->values && c->values == row)
		parquet_put_first_null(c, row);
}

static __attribute__((noinline)) void parquet_find_text(struct parquet *p, struct parquet_column *c,
							const char *text, size_t len)
{
	c->last = GRT_TEXT_NONE;
	if (len && grt_texts_add(&c->texts, text, len, &c->last))
		p->error = -ENOMEM;
	c->last_text = grt_texts_get(&c->texts, c->last);
}

static inline void parquet_put_text(struct parquet *p, struct parquet_column *c, const char *text)
{
	/* a text that equals the one before needs no search */
	if (!c->values || strcmp(c->last_text, text) != 0)
		parquet_find_text(p, c, text, strlen(text));
	parquet_put(c, p->rows, c->last);
}

/* Finds the number of a lasting text by its address. In most columns, it is that of the row before. */
static inline uint32_t parquet_lasting(struct parquet *p, struct parquet_column *c, const char *text)
{
	uint64_t hash = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15ULL;
	struct parquet_lasting *l;

	if (c->before == text)
		return c->before_number;
	l = &c->lasting[hash >> 32 & (LASTING - 1)];
	if (l->text != text) {
		parquet_find_text(p, c, text, strlen(text));
		*l = (struct parquet_lasting){text, c->last};
	}
	c->before = text;
	c->before_number = l->number;
	return l->number;
}

/* [1,2,3] */
static void parquet_put_list(struct parquet *p, struct parquet_column *c, const struct grt_cell *cell)
{
	char *to = bytes_room(&p->list, cell->number * 21 + 3), *at = to;

	if (!to) {
		p->error = -ENOMEM;
		return;
	}
	*at++ = '[';
	for (uint64_t i = 0; i < cell->number; i++)
		at += sprintf(at, "%s%" PRIu64, i ? "," : "", cell->list[i]);
	strcpy(at, "]");
	parquet_put_text(p, c, to);
}

static uint64_t parquet_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static __attribute__((noinline)) void parquet_put_other(struct parquet *p, struct parquet_column *c,
							const struct grt_cell *cell)
{
	switch (c->put) {
	case PUT_TEXT:
		if (cell->text)
			parquet_put_text(p, c, cell->text);
		else
			parquet_put_null(c, p->rows);
		break;
	case PUT_NAME:
		parquet_put_text(p, c, grt_cell_text(p->w.column[c - p->column]->kind, cell));
		break;
	case PUT_LIST:
		parquet_put_list(p, c, cell);
		break;
	case PUT_THOUSANDTHS:
		parquet_put(c, p->rows, parquet_double((double)cell->number / 1000));
		break;
	case PUT_SIGNED_THOUSANDTHS:
	case PUT_NUMBER:
		break;
	}
}

/* Most cells are numbers, or texts that last. @row: @p->rows, which the compiler need not read again */
static inline void parquet_put_cell(struct parquet *p, struct parquet_column *c, uint32_t row,
				    const struct grt_cell *cell)
{
	if (c->put == PUT_NUMBER) {
		if (cell->number <= c->most)
			parquet_put(c, row, cell->number);
		else
			parquet_put_null(c, row);
	} else if (c->put == PUT_TEXT && cell->lasting && cell->text) {
		parquet_put(c, row, parquet_lasting(p, c, cell->text));
	} else if (c->put == PUT_SIGNED_THOUSANDTHS) {
		parquet_put(c, row, parquet_double((double)(int64_t)cell->number / 1000));
	} else {
		parquet_put_other(p, c, cell);
	}
}

/* Writes the names of marked columns, separated by spaces. */
static void parquet_name_marks(struct parquet *p, struct parquet_column *c, uint64_t bits)
{
	char names[GRT_COLUMNS_MAX * sizeof(c->name)];
	size_t used = 0;

	for (unsigned int i = 0; i < p->w.columns; i++)
		if (bits >> i & 1)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? " " : "",
						 p->column[i].name);
	parquet_find_text(p, c, names, used);
}

/* Most rows have the same marks as the row before. */
static inline void parquet_put_marks(struct parquet *p, struct parquet_column *c, struct parquet_marks *m,
				     uint64_t bits)
{
	if (!bits) {
		parquet_put_null(c, p->rows);
		return;
	}
	if (!c->values || m->bits != bits) {
		parquet_name_marks(p, c, bits);
		*m = (struct parquet_marks){bits, c->last};
	}
	parquet_put(c, p->rows, m->number);
}

static size_t parquet_text_bytes(const struct parquet *p)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < p->columns; i++)
		bytes += p->column[i].texts.arena_used;
	return bytes;
}

_Static_assert(GRT_COLUMNS_MAX <= 64, "a bit for each column");

_Static_assert(offsetof(struct grt_cell, inferred) == offsetof(struct grt_cell, absent) + 1 &&
		       offsetof(struct grt_cell, estimated) == offsetof(struct grt_cell, absent) + 2,
	       "three flags in a row");

/* The flags of a cell as one number: absent, inferred, estimated, lasting. */
static inline uint32_t parquet_flags(const struct grt_cell *cell)
{
	uint32_t flags;

	memcpy(&flags, &cell->absent, sizeof(flags));
	return flags;
}

/* Whether a cell is absent or marked: one comparison in place of three. */
static inline bool parquet_is_special(uint32_t flags)
{
	static const uint8_t special[4] = {1, 1, 1, 0};
	uint32_t mask;

	memcpy(&mask, special, sizeof(mask));
	return flags & mask;
}

/* Whether later cells that are the same as this one, of the first row, say the same. */
static bool parquet_may_be_same(const struct parquet_column *c, const struct grt_cell *cell)
{
	if (cell->absent)
		return true;
	return c->values && !parquet_is_special(parquet_flags(cell)) && c->put != PUT_LIST &&
	       (c->put != PUT_TEXT || cell->lasting);
}

/* After the first row of a group. */
static void same_begin(struct parquet *p, const struct grt_cell *cells)
{
	struct parquet_sames *s;

	p->others = 0;
	for (unsigned int i = 0; i < p->w.columns; i++) {
		struct parquet_column *c = &p->column[i];
		const bool is_text = c->put == PUT_TEXT;

		if (!parquet_may_be_same(c, &cells[i])) {
			p->other[p->others++] = c;
			continue;
		}
		s = &p->same[cells[i].absent ? SAME_ABSENT : is_text ? SAME_TEXT : SAME_NUMBER];
		s->of[s->n++] = (struct parquet_same){
			.key = is_text ? (uintptr_t)cells[i].text : cells[i].number,
			.flags = parquet_flags(&cells[i]),
			.at = (uint32_t)(i * sizeof(cells[i])),
			.column = i,
		};
	}
}

/* Return: 0: the cell is as in the earlier rows */
static inline __attribute__((always_inline)) uint64_t
same_differs(enum parquet_same_kind kind, const struct parquet_same *s, const struct grt_cell *cells)
{
	const struct grt_cell *cell = (const void *)((const char *)cells + s->at);
	const uint64_t key = kind == SAME_TEXT ? (uintptr_t)cell->text : cell->number,
		       flags = parquet_flags(cell) ^ s->flags;

	return kind == SAME_ABSENT ? flags : flags | (key ^ s->key);
}

/* Finds the columns of a kind that are not the same any more. */
static __attribute__((noinline)) void same_find_ended(struct parquet *p, enum parquet_same_kind kind,
						      const struct grt_cell *cells)
{
	struct parquet_sames *all = &p->same[kind];

	for (unsigned int i = all->n; i-- > 0;)
		if (same_differs(kind, &all->of[i], cells))
			same_end(p, all, &all->of[i], p->rows);
}

/* In most rows no column ends to be the same: that is one question for all of a kind. */
static inline __attribute__((always_inline)) void same_look(struct parquet *p, enum parquet_same_kind kind,
							    const struct grt_cell *cells)
{
	const struct parquet_same *s = p->same[kind].of, *end = s + p->same[kind].n;
	uint64_t differs = 0;

	for (; end - s >= 4; s += 4)
		differs |= same_differs(kind, s, cells) | same_differs(kind, s + 1, cells) |
			   same_differs(kind, s + 2, cells) | same_differs(kind, s + 3, cells);
	for (; s < end; s++)
		differs |= same_differs(kind, s, cells);
	if (__builtin_expect(differs != 0, 0))
		same_find_ended(p, kind, cells);
}

/* Finds the columns that are dense after @rows rows. */
static __attribute__((noinline)) void dense_begin(struct parquet *p, uint32_t rows)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < p->others; i++) {
		struct parquet_column *c = p->other[i];
		struct parquet_denses *d = c->put == PUT_TEXT ? &p->names : &p->numbers;

		if (c->differ && c->values == rows && (c->put == PUT_NUMBER || c->put == PUT_TEXT))
			d->of[d->n++] = (struct parquet_dense){
				c->value, c->most, c->number * (uint32_t)sizeof(struct grt_cell), c->number};
		else
			p->other[left++] = c;
	}
	p->others = left;
}

/* Stores the values of a row in the dense columns. */
static inline void dense_row(struct parquet *p, const struct grt_cell *cells, uint32_t row)
{
	struct parquet_dense *d = p->numbers.of + p->numbers.n;
	const struct grt_cell *cell;

	while (d-- > p->numbers.of) {
		cell = (const void *)((const char *)cells + d->at);
		if (__builtin_expect(parquet_is_special(parquet_flags(cell)) || cell->number > d->most, 0))
			dense_end(p, &p->numbers, d, row);
		else
			d->value[row] = cell->number;
	}
	for (d = p->names.of + p->names.n; d-- > p->names.of;) {
		cell = (const void *)((const char *)cells + d->at);
		if (__builtin_expect(parquet_is_special(parquet_flags(cell)) || !cell->lasting || !cell->text,
				     0))
			dense_end(p, &p->names, d, row);
		else
			d->value[row] = parquet_lasting(p, &p->column[d->column], cell->text);
	}
}

static int parquet_row(struct grt_writer *w, const struct grt_cell *cells)
{
	struct parquet *p = parquet_of(w);
	struct parquet_column *c;
	const struct grt_cell *cell;
	const uint32_t row = p->rows;
	uint64_t inferred = 0, estimated = 0;
	uint32_t flags;

	if (p->error)
		return p->error;
	same_look(p, SAME_ABSENT, cells);
	same_look(p, SAME_NUMBER, cells);
	same_look(p, SAME_TEXT, cells);
	dense_row(p, cells, row);
	for (struct parquet_column **other = p->other, **end = other + p->others; other < end; other++) {
		c = *other;
		cell = &cells[c->number];
		flags = parquet_flags(cell);
		if (parquet_is_special(flags)) {
			if (cell->absent || (c->put == PUT_TEXT && !cell->text)) {
				parquet_put_null(c, row);
				continue;
			}
			inferred |= (uint64_t)cell->inferred << c->number;
			estimated |= (uint64_t)cell->estimated << c->number;
		}
		parquet_put_cell(p, c, row, cell);
	}
	if (!row)
		same_begin(p, cells);
	c = p->column + w->columns;
	if (w->table->marks & GRT_MARK_INFERRED)
		parquet_put_marks(p, c++, &p->marked[0], inferred);
	if (w->table->marks & GRT_MARK_ESTIMATED)
		parquet_put_marks(p, c, &p->marked[1], estimated);
	p->rows++;
	if (row % DENSE_EVERY == DENSE_FROM)
		dense_begin(p, p->rows);
	if (p->rows == GROUP_ROWS || (!(p->rows % 1024) && parquet_text_bytes(p) > GROUP_TEXT))
		group_end(p, true);
	return p->error;
}

/* ----------------------------------------------------------------- tables */

static enum parquet_type parquet_type(enum grt_cell_kind kind)
{
	if (grt_cell_is_text(kind) || kind == GRT_CELL_LIST)
		return TYPE_BYTE_ARRAY;
	if (kind == GRT_CELL_PERCENT || kind == GRT_CELL_AMOUNT)
		return TYPE_DOUBLE;
	return kind == GRT_CELL_BOOL ? TYPE_BOOLEAN : TYPE_INT64;
}

static enum parquet_put parquet_put_of(enum grt_cell_kind kind)
{
	if (grt_cell_is_text(kind))
		return kind == GRT_CELL_TEXT ? PUT_TEXT : PUT_NAME;
	switch (kind) {
	case GRT_CELL_LIST:
		return PUT_LIST;
	case GRT_CELL_PERCENT:
		return PUT_THOUSANDTHS;
	case GRT_CELL_AMOUNT:
		return PUT_SIGNED_THOUSANDTHS;
	default:
		return PUT_NUMBER;
	}
}

static void parquet_add_column(struct parquet *p, const char *name, enum grt_cell_kind kind)
{
	struct parquet_column *c = &p->column[p->columns++];

	p->pages.columns = p->columns;

	snprintf(c->name, sizeof(c->name), "%s", name);
	c->type = parquet_type(kind);
	c->is_unsigned = kind == GRT_CELL_NUMBER || kind == GRT_CELL_NAMED;
	c->put = parquet_put_of(kind);
	/* a time or size of 2^63 and more: nobody has measured it */
	c->most = c->is_unsigned || kind == GRT_CELL_SIGNED || kind == GRT_CELL_BOOL ? UINT64_MAX : INT64_MAX;
	c->value = malloc(GROUP_ROWS * sizeof(*c->value));
	c->there = malloc(GROUP_ROWS / 8);
	c->lasting = c->type == TYPE_BYTE_ARRAY ? malloc(LASTING * sizeof(*c->lasting)) : NULL;
	if (!c->value || !c->there || (c->type == TYPE_BYTE_ARRAY && !c->lasting))
		p->error = -ENOMEM;
	else
		column_empty(c);
}

/* The same table may come again; the file cannot hold another one. */
static void parquet_table(struct grt_writer *w)
{
	struct parquet *p = parquet_of(w);

	/* each cell is looked at once: parquet_row() sees what has no text */
	w->texts = 0;
	if (p->columns) {
		if (!p->error && strcmp(p->table, w->table->name))
			p->error = -EINVAL;
		return;
	}
	snprintf(p->table, sizeof(p->table), "%s", w->table->name);
	for (unsigned int i = 0; i < w->columns; i++) {
		parquet_add_column(p, w->key[i], w->column[i]->kind);
		p->column[i].number = i;
		p->other[p->others++] = &p->column[i];
	}
	if (w->table->marks & GRT_MARK_INFERRED)
		parquet_add_column(p, "inferred", GRT_CELL_TEXT);
	if (w->table->marks & GRT_MARK_ESTIMATED)
		parquet_add_column(p, "estimated", GRT_CELL_TEXT);
}

static void parquet_table_end(struct grt_writer *w)
{
}

/* ----------------------------------------------------------------- footer */

static void parquet_pair(struct parquet *p, const char *key, const char *value)
{
	size_t len = strlen(value);
	struct thrift t = {.to = &p->pairs};
	char *text = malloc(GRT_ESCAPED_MAX(len));

	if (!text) {
		p->error = -ENOMEM;
		return;
	}
	len = grt_escape(GRT_ESCAPE_UTF8, text, GRT_ESCAPED_MAX(len), value, len);
	thrift_binary(&t, 1, key, strlen(key));
	thrift_binary(&t, 2, text, len);
	thrift_end(&t);
	p->pair_count++;
	free(text);
}

/* Unknown values get no pair. */
static void parquet_fields(struct grt_writer *w, const char *name, const char *title,
			   const struct grt_field_value *f)
{
	char key[192], unit[96], number[GRT_CELL_DIGITS];

	for (; f->name; f++) {
		if (f->cell.absent)
			continue;
		grt_cell_unit_key(f->kind, f->name, unit, sizeof(unit));
		snprintf(key, sizeof(key), "%s%s%s", name ? name : "", name ? "." : "", unit);
		parquet_pair(parquet_of(w), key, grt_cell_plain(f->kind, &f->cell, number));
	}
}

static void parquet_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
}

static void schema_put_column(struct bytes *b, const struct parquet_column *c)
{
	struct thrift t = {.to = b}, logical, integer;

	thrift_i32(&t, 1, c->type);
	thrift_i32(&t, 3, REPETITION_OPTIONAL);
	thrift_binary(&t, 4, c->name, strlen(c->name));
	if (c->type == TYPE_BYTE_ARRAY) {
		thrift_i32(&t, 6, CONVERTED_UTF8);
		logical = thrift_begin(&t, 10);
		thrift_empty(&logical, LOGICAL_STRING);
		thrift_end(&logical);
	} else if (c->is_unsigned) {
		thrift_i32(&t, 6, CONVERTED_UINT_64);
		logical = thrift_begin(&t, 10);
		integer = thrift_begin(&logical, LOGICAL_INTEGER);
		thrift_field(&integer, 1, THRIFT_BYTE);
		bytes_put_byte(b, 64);
		/* in this encoding, the type of false is the one after true */
		thrift_field(&integer, 2, THRIFT_TRUE + 1);
		thrift_end(&integer);
		thrift_end(&logical);
	}
	thrift_end(&t);
}

static void schema_put(struct thrift *footer, const struct parquet *p)
{
	struct thrift root = {.to = footer->to};

	thrift_list(footer, 2, THRIFT_STRUCT, p->columns + 1);
	thrift_binary(&root, 4, p->table, strlen(p->table));
	thrift_i32(&root, 5, (int32_t)p->columns);
	thrift_end(&root);
	for (unsigned int i = 0; i < p->columns; i++)
		schema_put_column(footer->to, &p->column[i]);
}

/* Writes that the statistics are ordered by the type of the column. */
static void schema_put_orders(struct thrift *footer, unsigned int columns)
{
	thrift_list(footer, 7, THRIFT_STRUCT, columns);
	for (unsigned int i = 0; i < columns; i++) {
		struct thrift order = {.to = footer->to};

		thrift_empty(&order, 1);
		thrift_end(&order);
	}
}

static void parquet_end(struct grt_writer *w)
{
	static const char maker[] = "grtrace version " GRT_VERSION;
	struct parquet *p = parquet_of(w);
	struct parquet_pages *pages = &p->pages;
	struct bytes *b = &pages->page;
	struct thrift t = {.to = b};

	group_end(p, false);
	b->used = 0;
	thrift_i32(&t, 1, 2);
	schema_put(&t, p);
	thrift_i64(&t, 3, pages->total);
	thrift_list(&t, 4, THRIFT_STRUCT, pages->group_count);
	bytes_put(b, pages->groups.at, pages->groups.used);
	thrift_list(&t, 5, THRIFT_STRUCT, p->pair_count);
	bytes_put(b, p->pairs.at, p->pairs.used);
	thrift_binary(&t, 6, maker, sizeof(maker) - 1);
	schema_put_orders(&t, p->columns);
	thrift_end(&t);
	bytes_put_u32(b, (uint32_t)b->used);
	bytes_put(b, "PAR1", 4);
	parquet_check(pages, b);
	parquet_check(pages, &p->pairs);
	pages->error = pages->error ?: p->error;
	parquet_write(pages, b->at, b->used);
	p->error = pages->error;
}

static void parquet_begin(struct grt_writer *w)
{
	struct parquet *p = parquet_of(w);
	struct parquet_pages *pages = &p->pages;

	pages->out = w->options.out;
	pages->slot = malloc(DICTIONARY_SLOTS * sizeof(*pages->slot));
	pages->distinct = malloc(DICTIONARY_MAX * sizeof(*pages->distinct));
	pages->index = malloc(GROUP_ROWS * sizeof(*pages->index));
	parquet_write(pages, "PAR1", 4);
#ifdef GRT_HAVE_ZSTD
	pages->zstd = ZSTD_createCCtx();
	if (!pages->zstd)
		pages->error = -ENOMEM;
#endif
	if (!pages->slot || !pages->distinct || !pages->index)
		pages->error = -ENOMEM;
	p->error = pages->error;
}

static int parquet_failed(const struct grt_writer *w)
{
	const struct parquet *p = (const struct parquet *)w;

	return p->error ? p->error : ferror(w->options.out) ? -EIO : 0;
}

static void parquet_free_column(struct parquet_column *c)
{
	free(c->value);
	free(c->there);
	grt_texts_free(&c->texts);
}

static void parquet_free_pages(struct parquet_pages *p)
{
	struct bytes *const all[] = {&p->page, &p->packed, &p->head, &p->group, &p->groups};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]->at);
	free(p->slot);
	free(p->distinct);
	free(p->index);
#ifdef GRT_HAVE_ZSTD
	ZSTD_freeCCtx(p->zstd);
#endif
}

static void parquet_free(struct grt_writer *w)
{
	struct parquet *p = parquet_of(w);

	group_wait(p);
	for (unsigned int i = 0; i < p->columns; i++) {
		parquet_free_column(&p->column[i]);
		free(p->column[i].lasting);
		if (p->behind)
			parquet_free_column(&p->behind[i]);
	}
	free(p->behind);
	free(p->list.at);
	free(p->pairs.at);
	parquet_free_pages(&p->pages);
}

const struct grt_writer_ops writer_parquet = {
	.name = "parquet",
	.where = GRT_COLUMN_MACHINE,
	.size = sizeof(struct parquet),
	.begin = parquet_begin,
	.fields = parquet_fields,
	.table = parquet_table,
	.row = parquet_row,
	.table_end = parquet_table_end,
	.notes = parquet_notes,
	.end = parquet_end,
	.failed = parquet_failed,
	.free = parquet_free,
};
