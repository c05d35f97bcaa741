// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Escaping of untrusted text: one loop over characters, one function per kind
 * of output that says how a single character is written.
 */
#include "escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A character of the text: a code point, or a byte that does not begin one. */
struct rune {
	const char *at;
	size_t len;
	uint32_t code;
	bool valid;
};

/* Number of bytes after the first one; 0: the byte cannot begin a character. */
static unsigned int utf8_tail(unsigned char c)
{
	if (c >= 0xc2 && c <= 0xdf)
		return 1;
	if ((c & 0xf0) == 0xe0)
		return 2;
	if (c >= 0xf0 && c <= 0xf4)
		return 3;
	return 0;
}

static bool utf8_overlong_or_surrogate(uint32_t code, unsigned int tail)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};

	return code < least[tail] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
}

static struct rune next_rune(const char *src, size_t len)
{
	unsigned char c = (unsigned char)src[0];
	struct rune r = {.at = src, .len = 1, .code = c, .valid = c < 0x80};
	unsigned int tail = utf8_tail(c);
	uint32_t code = c & (0x3f >> tail);

	if (r.valid || !tail || tail >= len)
		return r;
	for (unsigned int i = 1; i <= tail; i++) {
		if (((unsigned char)src[i] & 0xc0) != 0x80)
			return r;
		code = code << 6 | ((unsigned char)src[i] & 0x3f);
	}
	if (utf8_overlong_or_surrogate(code, tail))
		return r;
	return (struct rune){.at = src, .len = tail + 1, .code = code, .valid = true};
}

static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

/*
 * Marks and overrides of text direction, and line breaks, with which a name could rewrite the line around
 * it.
 */
static bool is_deceptive(uint32_t c)
{
	return c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* The writers of one character into @out (room for 24 bytes); they return the length. */
static size_t escape_copy(const struct rune *r, char *out)
{
	memcpy(out, r->at, r->len);
	return r->len;
}

static size_t hex_bytes(const struct rune *r, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < r->len; i++)
		n += (size_t)sprintf(out + n, "\\x%02x", (unsigned char)r->at[i]);
	return n;
}

static size_t term_rune(const struct rune *r, char *out)
{
	if (!r->valid || is_control(r->code) || is_deceptive(r->code))
		return hex_bytes(r, out);
	if (r->code == '\\')
		return (size_t)sprintf(out, "\\\\");
	return escape_copy(r, out);
}

static size_t json_rune(const struct rune *r, char *out)
{
	if (!r->valid)
		return (size_t)sprintf(out, "\\ufffd");
	if (r->code == '"' || r->code == '\\')
		return (size_t)sprintf(out, "\\%c", (int)r->code);
	if (is_control(r->code) || is_deceptive(r->code))
		return (size_t)sprintf(out, "\\u%04x", r->code);
	return escape_copy(r, out);
}

static size_t csv_rune(const struct rune *r, char *out)
{
	if (r->valid && r->code == '"')
		return (size_t)sprintf(out, "\"\"");
	if (r->valid && r->code == '\\')
		return escape_copy(r, out);
	return term_rune(r, out);
}

/* Octal is the only form that cannot merge with a digit after it. */
static size_t tsdl_rune(const struct rune *r, char *out)
{
	if (r->valid && (r->code == '"' || r->code == '\\'))
		return (size_t)sprintf(out, "\\%c", (int)r->code);
	if (r->len == 1 && (!r->valid || is_control(r->code)))
		return (size_t)sprintf(out, "\\%03o", (unsigned char)r->at[0]);
	return escape_copy(r, out);
}

static size_t utf8_rune(const struct rune *r, char *out)
{
	return r->valid ? escape_copy(r, out) : (size_t)sprintf(out, "\xef\xbf\xbd");
}

/* A frame that is escaped twice reads the same. */
static size_t frame_rune(const struct rune *r, char *out)
{
	if (r->valid && r->code == ';')
		return (size_t)sprintf(out, ":");
	if (r->valid && r->code == '\\')
		return escape_copy(r, out);
	return term_rune(r, out);
}

static size_t xml_rune(const struct rune *r, char *out)
{
	/* XML 1.0 does not allow these two, not even as references */
	if (r->code == 0xfffe || r->code == 0xffff)
		return hex_bytes(r, out);
	if (r->valid && strchr("&<>\"'", (int)r->code) && r->code < 0x80 && r->code)
		return (size_t)sprintf(out, "&#%u;", r->code);
	if (r->valid && r->code == '\\')
		return escape_copy(r, out);
	return term_rune(r, out);
}

static size_t (*const write_rune[])(const struct rune *r, char *out) = {
	[GRT_ESCAPE_TERM] = term_rune, [GRT_ESCAPE_JSON] = json_rune,	[GRT_ESCAPE_CSV] = csv_rune,
	[GRT_ESCAPE_TSDL] = tsdl_rune, [GRT_ESCAPE_FRAME] = frame_rune, [GRT_ESCAPE_XML] = xml_rune,
	[GRT_ESCAPE_UTF8] = utf8_rune,
};

/* Quotes a field that a reader would split or trim. */
static bool csv_quotes(const char *src, size_t len)
{
	return len && (memchr(src, ',', len) || memchr(src, '"', len) || memchr(src, ';', len) ||
		       src[0] == ' ' || src[len - 1] == ' ');
}

/*
 * Return: whether a spreadsheet would execute a field because it begins like a formula. With a ' before it,
 * it is text.
 */
static bool csv_is_formula(const char *src, size_t len)
{
	return len && memchr("=+-@", src[0], 4);
}

/* Return: whether a character needs no escaping, which is true for most text. */
static bool escape_is_plain(enum grt_escape kind, char c)
{
	if (c < ' ' || c >= 0x7f || c == '"' || c == '\\')
		return false;
	if (kind == GRT_ESCAPE_FRAME)
		return c != ';';
	return kind != GRT_ESCAPE_XML || !strchr("&<>'", c);
}

#define ONES 0x0101010101010101ULL

/*
 * The top bit of each of eight characters that is equal to @c, perhaps also of characters after it, and of
 * no others.
 */
static uint64_t eight_are(uint64_t eight, char c)
{
	uint64_t x = eight ^ ONES * (unsigned char)c;

	return (x - ONES) & ~x;
}

/*
 * Return: number of characters from the first one on that need no escaping, tested eight at a time. XML has
 * too many characters that do
 */
static inline size_t escape_plain_ahead(enum grt_escape kind, const char *src, size_t len)
{
	const char other = kind == GRT_ESCAPE_FRAME ? ';' : '"';
	uint64_t eight, special;
	size_t n = 0;

	if (kind == GRT_ESCAPE_XML)
		return 0;
	for (; n + sizeof(eight) <= len; n += sizeof(eight)) {
		memcpy(&eight, src + n, sizeof(eight));
		/* below a space; from 0x7f on */
		special = (eight - ONES * ' ') | (eight + ONES) | eight;
		special |= eight_are(eight, '"') | eight_are(eight, '\\') | eight_are(eight, other);
		if (special & ONES * 0x80)
			break;
	}
	return n;
}

/* Return: number of characters from the first one on that need no escaping */
static size_t escape_plain_run(enum grt_escape kind, const char *src, size_t len)
{
	size_t n = escape_plain_ahead(kind, src, len);

	while (n < len && escape_is_plain(kind, src[n]))
		n++;
	return n;
}

size_t grt_escape(enum grt_escape kind, char *dst, size_t room, const char *src, size_t len)
{
	bool quote;
	size_t used = 0;

	len = strnlen(src, len);
	quote = kind == GRT_ESCAPE_CSV && csv_quotes(src, len);
	if (room < 3)
		quote = false;
	if (quote) {
		dst[used++] = '"';
		room--;
	}
	if (kind == GRT_ESCAPE_CSV && csv_is_formula(src, len) && room - used > 1)
		dst[used++] = '\'';
	while (len && room) {
		struct rune r;
		char text[24];
		size_t n;

		n = escape_plain_ahead(kind, src, len < room - used ? len : room - used - 1);
		if (n) {
			memcpy(dst + used, src, n);
			used += n;
			src += n;
			len -= n;
			continue;
		}
		if (escape_is_plain(kind, *src)) {
			if (room - used <= 1)
				break;
			dst[used++] = *src++;
			len--;
			continue;
		}
		r = next_rune(src, len);
		n = write_rune[kind](&r, text);
		if (n >= room - used)
			break;
		memcpy(dst + used, text, n);
		used += n;
		src += r.len;
		len -= r.len;
	}
	if (quote) {
		dst[used++] = '"';
		room++;
	}
	if (room)
		dst[used] = '\0';
	return used;
}

void grt_escape_print(enum grt_escape kind, FILE *out, const char *src, size_t len)
{
	bool quote;

	len = strnlen(src, len);
	quote = kind == GRT_ESCAPE_CSV && csv_quotes(src, len);
	if (quote)
		putc('"', out);
	if (kind == GRT_ESCAPE_CSV && csv_is_formula(src, len))
		putc('\'', out);
	while (len) {
		size_t plain = escape_plain_run(kind, src, len);
		struct rune r;
		char text[24];

		fwrite(src, 1, plain, out);
		src += plain;
		len -= plain;
		if (!len)
			break;
		r = next_rune(src, len);
		fwrite(text, 1, write_rune[kind](&r, text), out);
		src += r.len;
		len -= r.len;
	}
	if (quote)
		putc('"', out);
}
