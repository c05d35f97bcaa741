/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Scanners for lines of text: numbers, stamps, tokens and key=value pairs,
 * without copies and without allocation. No function reads at or after @end
 * (so a line needs no terminator), except as documented, and numbers saturate instead of wrapping.
 *
 * Functions that take @p move it after the text that they have read, and leave it
 * unchanged if they return false.
 */
#ifndef GRT_BASE_SCAN_H
#define GRT_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "clock.h"

/** struct grt_span - a part of a line; not terminated */
struct grt_span {
	const char *at;
	size_t len;
};

static inline bool grt_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline bool grt_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/** grt_hex_digit - the value of a hex digit, 16 for another character */
static inline unsigned int grt_hex_digit(char c)
{
	unsigned int low = (unsigned char)c | 0x20;

	if (grt_is_digit(c))
		return (unsigned int)(c - '0');
	return low - 'a' < 6 ? low - 'a' + 10 : 16;
}

/**
 * grt_scan_digits - up to eight decimal digits at once
 * @p: eight bytes that may be read
 * @v: gets their value
 * Return: number of digits
 */
static inline unsigned int grt_scan_digits(const char *p, uint64_t *v)
{
	uint64_t x, other;
	unsigned int n;

	memcpy(&x, p, 8);
	/* digits become 0..9; in @other, the first byte above 9 has its high bit set */
	x ^= 0x3030303030303030;
	other = (x | (x + 0x7676767676767676)) & 0x8080808080808080;
	n = other ? (unsigned int)__builtin_ctzll(other) / 8 : 8;
	if (!n)
		return 0;
	/*
	 * bytes that are not digits leave at the top, and zeros come in before the digits; then pairs are
	 * added up
	 */
	x <<= 8 * (8 - n);
	x = (x * 2561 >> 8) & 0x00ff00ff00ff00ff;
	x = (x * 6553601 >> 16) & 0x0000ffff0000ffff;
	*v = x * 42949672960001 >> 32;
	return n;
}

/**
 * grt_scan_hex_digits - up to eight hexadecimal digits at once
 * @p: eight bytes that may be read
 * @v: gets their value
 * Return: how many there are
 */
static inline unsigned int grt_scan_hex_digits(const char *p, uint64_t *v)
{
	uint64_t x, y, letter, other;
	unsigned int n;

	memcpy(&x, p, 8);
	/* letters of either case become 1..6 and have a high bit in @letter; digits have none in @other
	 */
	y = (x | 0x2020202020202020) ^ 0x6060606060606060;
	letter = (y + 0x7f7f7f7f7f7f7f7f) & ~(y + 0x7979797979797979) & ~y & 0x8080808080808080;
	y = x ^ 0x3030303030303030;
	other = (y | (y + 0x7676767676767676)) & ~letter & 0x8080808080808080;
	n = other ? (unsigned int)__builtin_ctzll(other) / 8 : 8;
	if (!n)
		return 0;
	/* bytes that are not digits leave at the top, and the last digit is lowest; then pairs are joined */
	x = (x & 0x0f0f0f0f0f0f0f0f) + 9 * (letter >> 7);
	x = __builtin_bswap64(x << 8 * (8 - n));
	x = (x | x >> 4) & 0x00ff00ff00ff00ff;
	x = (x | x >> 8) & 0x0000ffff0000ffff;
	*v = (x | x >> 16) & 0xffffffff;
	return n;
}

/* Adds the digits from @q on to the earlier digits, whose value is *@v. Return: the place after them */
static inline const char *grt_scan_more(const char *q, const char *end, unsigned int had, uint64_t *v)
{
	/* this many digits always fit into 64 bits */
	const char *safe = end - q > 19 - (int)had ? q + 19 - had : end;
	uint64_t n = *v;
	bool over = false;

	for (; q < safe && grt_is_digit(*q); q++)
		n = n * 10 + (unsigned int)(*q - '0');
	for (; q < end && grt_is_digit(*q); q++) {
		unsigned int digit = (unsigned int)(*q - '0');

		over = over || n > UINT64_MAX / 10 || (n == UINT64_MAX / 10 && digit > UINT64_MAX % 10);
		n = n * 10 + digit;
	}
	*v = over ? UINT64_MAX : n;
	return q;
}

/** grt_scan_u64 - a decimal number; more than 64 bits give UINT64_MAX */
static inline bool grt_scan_u64(const char **p, const char *end, uint64_t *v)
{
	const char *q = *p, *few = end - q > 4 ? q + 4 : end;
	uint64_t n = 0;

	/* most numbers are small */
	for (; q < few && grt_is_digit(*q); q++)
		n = n * 10 + (unsigned int)(*q - '0');
	if (q == *p)
		return false;
	*v = n;
	if (q == few && q < end)
		q = grt_scan_more(q, end, 4, v);
	*p = q;
	return true;
}

/** grt_scan_hex - a hexadecimal number with or without 0x; more than 64 bits give UINT64_MAX */
static inline bool grt_scan_hex(const char **p, const char *end, uint64_t *v)
{
	const char *q = *p;
	uint64_t n = 0;
	bool over = false;

	if (end - q > 2 && q[0] == '0' && (q[1] | 0x20) == 'x' && grt_hex_digit(q[2]) < 16)
		q += 2;
	if (q >= end || grt_hex_digit(*q) > 15)
		return false;
	for (; q < end && grt_hex_digit(*q) < 16; q++) {
		over = over || n >> 60;
		n = n << 4 | grt_hex_digit(*q);
	}
	*v = over ? UINT64_MAX : n;
	*p = q;
	return true;
}

/** grt_scan_number - a decimal number, or hexadecimal if it begins with 0x */
static inline bool grt_scan_number(const char **p, const char *end, uint64_t *v)
{
	const char *q = *p;

	if (end - q > 2 && q[0] == '0' && (q[1] | 0x20) == 'x')
		return grt_scan_hex(p, end, v);
	return grt_scan_u64(p, end, v);
}

/** grt_scan_s64 - a decimal number with an optional sign; saturates at both ends */
static inline bool grt_scan_s64(const char **p, const char *end, int64_t *v)
{
	const char *q = *p;
	bool minus = q < end && *q == '-';
	uint64_t n;

	if (q < end && (*q == '-' || *q == '+'))
		q++;
	if (!grt_scan_u64(&q, end, &n))
		return false;
	if (n > (uint64_t)INT64_MAX)
		*v = minus ? INT64_MIN : INT64_MAX;
	else
		*v = minus ? -(int64_t)n : (int64_t)n;
	*p = q;
	return true;
}

/** grt_scan_stamp - seconds, a dot and 1 to 9 digits of a decimal fraction (further digits are skipped),
 * in ns */
static inline bool grt_scan_stamp(const char **p, const char *end, uint64_t *ns)
{
	static const uint32_t units[] = {1000000000, 100000000, 10000000, 1000000, 100000,
					 10000,	     1000,	100,	  10,	   1};
	const char *q = *p, *digits;
	uint64_t sec = 0, frac = 0;
	unsigned int n = end - q >= 8 ? grt_scan_digits(q, &sec) : 0;

	q = n == 8 || end - q < 8 ? grt_scan_more(q + n, end, n, &sec) : q + n;
	if (q == *p || end - q < 2 || *q != '.' || !grt_is_digit(q[1]))
		return false;
	digits = ++q;
	n = end - q >= 8 ? grt_scan_digits(q, &frac) : 0;
	q += n;
	if (n == 8 || end - digits < 8) {
		for (; q < end && q - digits < 9 && grt_is_digit(*q); q++)
			frac = frac * 10 + (unsigned int)(*q - '0');
		n = (unsigned int)(q - digits);
		while (q < end && grt_is_digit(*q))
			q++;
	}
	frac *= units[n];
	*ns = sec < UINT64_MAX / GRT_NS_PER_S ? sec * GRT_NS_PER_S + frac : UINT64_MAX;
	*p = q;
	return true;
}

/**
 * grt_scan_line_stamp - grt_scan_stamp() if ten bytes after @end can be read and the byte at @end is not a
 * digit: fast for up to seven digits of seconds and up to nine of a fraction
 */
static inline bool grt_scan_line_stamp(const char **p, const char *end, uint64_t *ns)
{
	static const uint32_t units[] = {1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100};
	const char *q = *p;
	uint64_t sec, frac;
	unsigned int n = grt_scan_digits(q, &sec);

	q += n + 1;
	if (!n || n == 8 || q[-1] != '.')
		return grt_scan_stamp(p, end, ns);
	n = grt_scan_digits(q, &frac);
	if (n == 8 && grt_is_digit(q[8]) && !grt_is_digit(q[9]))
		frac = frac * 10 + (unsigned int)(q[n++] - '0');
	else if (!n || n == 8)
		return grt_scan_stamp(p, end, ns);
	else
		frac *= units[n];
	*ns = sec * GRT_NS_PER_S + frac;
	*p = q + n;
	return true;
}

/** grt_scan_line_u64 - grt_scan_u64() under the conditions of grt_scan_line_stamp(): all digits at once */
static inline bool grt_scan_line_u64(const char **p, const char *end, uint64_t *v)
{
	unsigned int n = grt_scan_digits(*p, v);

	*p = n == 8 ? grt_scan_more(*p + 8, end, 8, v) : *p + n;
	return n > 0;
}

/** grt_zero_bytes - the high bit of the lowest byte that is zero, and perhaps of others above it */
static inline uint64_t grt_zero_bytes(uint64_t x)
{
	return (x - 0x0101010101010101) & ~x & 0x8080808080808080;
}

/**
 * grt_line_until - the place of one of two characters, or @end; under the conditions of grt_scan_line_stamp()
 */
static inline const char *grt_line_until(const char *p, const char *end, char a, char b)
{
	const uint64_t all_a = 0x0101010101010101 * (unsigned char)a,
		       all_b = 0x0101010101010101 * (unsigned char)b;
	uint64_t x, found;

	for (; p < end; p += 8) {
		memcpy(&x, p, 8);
		found = grt_zero_bytes(x ^ all_a) | grt_zero_bytes(x ^ all_b);
		if (found) {
			p += __builtin_ctzll(found) / 8;
			break;
		}
	}
	return p < end ? p : end;
}

/** grt_scan_char - this character */
static inline bool grt_scan_char(const char **p, const char *end, char c)
{
	if (*p >= end || **p != c)
		return false;
	++*p;
	return true;
}

/** grt_scan_text - this text of @len bytes */
static inline bool grt_scan_text(const char **p, const char *end, const char *text, size_t len)
{
	if ((size_t)(end - *p) < len || memcmp(*p, text, len) != 0)
		return false;
	*p += len;
	return true;
}

/** GRT_SCAN_WORD - the same for a text constant */
#define GRT_SCAN_WORD(p, end, word) grt_scan_text((p), (end), (word), sizeof(word) - 1)

/** grt_scan_blanks - skips blanks and tabs, if there are any */
static inline void grt_scan_blanks(const char **p, const char *end)
{
	while (*p < end && grt_is_blank(**p))
		++*p;
}

/** grt_skip_spaces - skips many blanks (but not tabs); eight bytes after @end must be
 * readable */
static inline const char *grt_skip_spaces(const char *p, const char *end)
{
	uint64_t x;

	for (; p < end; p += 8) {
		memcpy(&x, p, 8);
		x ^= 0x2020202020202020;
		if (x) {
			p += __builtin_ctzll(x) / 8;
			break;
		}
	}
	return p < end ? p : end;
}

/** grt_scan_token - skips blanks and reads up to the next blank; false at the end of the line */
static inline bool grt_scan_token(const char **p, const char *end, struct grt_span *token)
{
	const char *q = *p, *start;

	grt_scan_blanks(&q, end);
	start = q;
	while (q < end && !grt_is_blank(*q))
		q++;
	*token = (struct grt_span){start, (size_t)(q - start)};
	if (q == start)
		return false;
	*p = q;
	return true;
}

/** grt_span_is - whether a span equals this text */
static inline bool grt_span_is(struct grt_span s, const char *text)
{
	return strlen(text) == s.len && !memcmp(s.at, text, s.len);
}

/** grt_hash_text - hash of a text, for tables of names */
static inline uint32_t grt_hash_text(const char *text, size_t len)
{
	uint64_t h = len * 0x9e3779b97f4a7c15ULL, part = 0;
	const char *end = text + len;

	for (; end - text >= 8; text += 8) {
		memcpy(&part, text, 8);
		h = (h ^ part) * 0xbf58476d1ce4e5b9ULL;
		h ^= h >> 32;
	}
	/* the last eight bytes, which may overlap the previous ones */
	if (len >= 8)
		memcpy(&part, end - 8, 8);
	for (; len < 8 && text < end; text++)
		part = part << 8 | (unsigned char)*text;
	h = (h ^ part) * 0x94d049bb133111ebULL;
	return (uint32_t)(h >> 32);
}

/** grt_span_trim - the span without blanks at both ends */
static inline struct grt_span grt_span_trim(struct grt_span s)
{
	while (s.len && grt_is_blank(s.at[s.len - 1]))
		s.len--;
	for (; s.len && grt_is_blank(*s.at); s.len--)
		s.at++;
	return s;
}

/** grt_find_text - the place of a text of @len bytes, NULL: none */
static inline const char *grt_find_text(const char *p, const char *end, const char *text, size_t len)
{
	return p < end ? memmem(p, (size_t)(end - p), text, len) : NULL;
}

/**
 * grt_find_key - the begin of a key's value, NULL if there is no such key
 * @key: of @len bytes, with its separator: "seqno=", "hw job count:". It counts
 *	only at the start of the line or after a blank, comma or opening bracket, so
 *	that "seq=" is not found in "xseq="
 */
static inline const char *grt_find_key(const char *p, const char *end, const char *key, size_t len)
{
	const char *start = p, *at;

	while ((at = grt_find_text(p, end, key, len))) {
		if (at == start || at[-1] == ' ' || at[-1] == ',' || at[-1] == '(' || at[-1] == '[' ||
		    at[-1] == '{' || at[-1] == '\t')
			return at + len;
		p = at + 1;
	}
	return NULL;
}

/** GRT_FIND_KEY - the same for a text constant */
#define GRT_FIND_KEY(p, end, key) grt_find_key((p), (end), (key), sizeof(key) - 1)

/**
 * grt_key_span - the value of a key, up to the next blank or comma (a single word). Return: whether it exists
 */
static inline bool grt_key_span(const char *p, const char *end, const char *key, size_t len,
				struct grt_span *value)
{
	const char *at = grt_find_key(p, end, key, len), *q = at;

	if (!at)
		return false;
	while (q < end && *q != ' ' && *q != ',' && *q != '\t')
		q++;
	*value = (struct grt_span){at, (size_t)(q - at)};
	return true;
}

/** GRT_KEY_SPAN - the same for a text constant */
#define GRT_KEY_SPAN(p, end, key, value) grt_key_span((p), (end), (key), sizeof(key) - 1, (value))

/**
 * grt_key_number - a key whose value is a number, decimal or 0x. Return: whether it exists and is a number
 */
static inline bool grt_key_number(const char *p, const char *end, const char *key, size_t len, uint64_t *v)
{
	const char *at = grt_find_key(p, end, key, len);

	if (!at)
		return false;
	grt_scan_blanks(&at, end);
	return grt_scan_number(&at, end, v);
}

/** grt_u16 - saturates to 16 bits */
static inline uint16_t grt_u16(uint64_t v)
{
	return v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
}

/** grt_u32 - saturates to 32 bits */
static inline uint32_t grt_u32(uint64_t v)
{
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

#endif /* GRT_BASE_SCAN_H */
