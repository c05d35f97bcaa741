// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers as text, both ways, against the C library: at every length and power
 * of ten and two, and at random. What writers put is read by readers again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "base/outbuf.h"

#define RANDOM 200000

/* A line as struct grt_lines hands it out: its end is a newline and bytes behind it may be read. */
struct line {
	char text[128];
	const char *end;
};

static void make_line(struct line *l, const char *text)
{
	/* what stands behind could be taken for more of it */
	memset(l->text, '7', sizeof(l->text));
	l->end = l->text + strlen(text);
	memcpy(l->text, text, strlen(text));
	l->text[strlen(text)] = '\n';
}

static void check_written(char *(*write)(char *p, uint64_t n), const char *format, uint64_t n)
{
	char ours[40 + GRT_PAD], theirs[40];
	size_t len = (size_t)(write(ours, n) - ours);

	snprintf(theirs, sizeof(theirs), format, n);
	assert_int_equal(len, strlen(theirs));
	assert_memory_equal(ours, theirs, len);
}

static char *write_signed(char *p, uint64_t n)
{
	return grt_format_s64(p, (int64_t)n);
}

static char *write_eight(char *p, uint64_t n)
{
	return grt_format_eight(p, (uint32_t)n);
}

static void check_read(bool (*scan)(const char **p, const char *end, uint64_t *v), const char *format,
		       uint64_t n)
{
	char text[64];
	struct line l;
	const char *p = l.text;
	uint64_t v = 0;

	snprintf(text, sizeof(text), format, n);
	make_line(&l, text);
	assert_true(scan(&p, l.end, &v));
	assert_ptr_equal(p, l.end);
	assert_int_equal(v, n);
}

static bool scan_hex_digits(const char **p, const char *end, uint64_t *v)
{
	*p += grt_scan_hex_digits(*p, v);
	return *p <= end;
}

static void check(uint64_t n)
{
	check_written(grt_format_u64, "%" PRIu64, n);
	check_written(grt_format_hex, "0x%" PRIx64, n);
	check_written(write_signed, "%" PRId64, n);
	check_written(write_eight, "%08" PRIu64, n % 100000000);
	check_read(grt_scan_line_u64, "%" PRIu64, n);
	check_read(scan_hex_digits, "%" PRIx64, n & UINT32_MAX);
	check_read(scan_hex_digits, "%" PRIX64, n & UINT32_MAX);
}

static void numbers(void **state)
{
	uint64_t n = 1;

	(void)state;
	for (int i = 0; i < 20; i++, n *= 10)
		for (int off = -2; off <= 2; off++)
			check(n + (uint64_t)off);
	for (int i = 0; i < 64; i++)
		for (int off = -1; off <= 1; off++)
			check((UINT64_C(1) << i) + (uint64_t)off);
	check(0);
	check(UINT64_MAX);
	srandom(11);
	for (int i = 0; i < RANDOM; i++)
		check(((uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^ (uint64_t)random()) >> i % 64);
}

/* All of the small ones. */
static void small(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 100000; n++) {
		check_written(grt_format_u64, "%" PRIu64, n);
		check_written(write_eight, "%08" PRIu64, n * 999 % 100000000);
	}
}

/* Every byte in every place of a word ends it, or not. */
static void every_byte(void **state)
{
	(void)state;
	for (unsigned int at = 0; at < 8; at++)
		for (unsigned int c = 0; c < 256; c++) {
			char text[] = "1f2E3d4C";
			uint64_t v;

			text[at] = (char)c;
			assert_int_equal(grt_scan_hex_digits(text, &v),
					 strspn(text, "0123456789abcdefABCDEF"));
			memset(text, '5', 8);
			text[at] = (char)c;
			assert_int_equal(grt_scan_digits(text, &v), strspn(text, "0123456789"));
		}
}

static void more_than_64_bits(void **state)
{
	const char *p;
	struct line l;
	uint64_t v;

	(void)state;
	make_line(&l, "18446744073709551616");
	p = l.text;
	assert_true(grt_scan_line_u64(&p, l.end, &v));
	assert_int_equal(v, UINT64_MAX);
	assert_ptr_equal(p, l.end);
	make_line(&l, "x");
	p = l.text;
	assert_false(grt_scan_line_u64(&p, l.end, &v));
	assert_ptr_equal(p, l.text);
}

/* Fractions of every length, right at the end of the line, and what is no stamp. */
static void stamps(void **state)
{
	static const char *const texts[] = {"5.1",
					    "5.12",
					    "5.123456",
					    "5.1234567",
					    "5.12345678",
					    "5.123456789",
					    "5.1234567891",
					    "1234567.5",
					    "12345678.5",
					    "123456789.123456789",
					    "5.",
					    ".5",
					    "5",
					    "5.x",
					    "",
					    "12345678901.1",
					    "99999999999.1",
					    "0.000000000",
					    "7.123456789:",
					    "7.123456: x"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint64_t general = 1, fast = 1;
		const char *p, *q;
		struct line l;
		bool is_stamp;

		make_line(&l, texts[i]);
		p = q = l.text;
		is_stamp = grt_scan_stamp(&p, l.end, &general);
		assert_int_equal(grt_scan_line_stamp(&q, l.end, &fast), is_stamp);
		assert_ptr_equal(p, q);
		assert_int_equal(general, fast);
	}
}

static void ends_of_words(void **state)
{
	static const char *const texts[] = {"",
					    " ",
					    ",",
					    "a b",
					    "abcdefg,",
					    "abcdefgh i",
					    "abcdefghijklmnopq, r",
					    "abcdefghijklmnopqrstuvwxyz"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct line l;

		make_line(&l, texts[i]);
		memset(l.text + strlen(texts[i]) + 1, ' ', 16);
		assert_ptr_equal(grt_line_until(l.text, l.end, ' ', ','), l.text + strcspn(texts[i], " ,"));
		assert_ptr_equal(grt_line_until(l.text, l.end, ' ', ' '), l.text + strcspn(texts[i], " "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),    cmocka_unit_test(small),
		cmocka_unit_test(every_byte), cmocka_unit_test(more_than_64_bits),
		cmocka_unit_test(stamps),     cmocka_unit_test(ends_of_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
