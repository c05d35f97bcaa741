// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The frame of a page and its blocks. Without zlib, the blocks are only base64, and larger.
 */
#include "page.h"

#include <stdarg.h>
#include <stdbool.h>

#ifdef GRT_HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/escape.h"
#include "page_hashes.h"

#define ROOM 16384U

/**
 * struct grt_page_pack - a block on its way
 * @in: not yet deflated
 * @deflated: not yet base64; the @left bytes at its begin are of an unfinished group of three
 */
struct grt_page_pack {
	uint8_t in[ROOM];
	size_t used;
	uint8_t deflated[ROOM];
	size_t left;
#ifdef GRT_HAVE_ZLIB
	z_stream z;
#endif
};

/* ------------------------------------------------------------- base64 */

static char *page_format_group(char *p, const uint8_t *b)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];

	*p++ = digit[bits >> 18];
	*p++ = digit[bits >> 12 & 63];
	*p++ = digit[bits >> 6 & 63];
	*p++ = digit[bits & 63];
	return p;
}

/* The first @len bytes of @deflated are complete; a group that is incomplete waits for more. */
static void page_put_base64(struct grt_page *p, size_t len)
{
	struct grt_page_pack *k = p->pack;
	char *text = grt_outbuf_room(p->out, ROOM / 3 * 4 + 4);
	size_t i;

	for (i = 0; i + 3 <= len; i += 3)
		text = page_format_group(text, k->deflated + i);
	grt_outbuf_take(p->out, text);
	k->left = len - i;
	memmove(k->deflated, k->deflated + i, k->left);
}

static void page_end_base64(struct grt_page *p)
{
	struct grt_page_pack *k = p->pack;
	char *text = grt_outbuf_room(p->out, 4);

	if (!k->left)
		return;
	memset(k->deflated + k->left, 0, 3 - k->left);
	page_format_group(text, k->deflated);
	memset(text + 1 + k->left, '=', 3 - k->left);
	grt_outbuf_take(p->out, text + 4);
}

/* ------------------------------------------------------------ deflate */

#ifdef GRT_HAVE_ZLIB
#define FORM "deflate"

static int page_pack_begin(struct grt_page_pack *k)
{
	k->z = (z_stream){0};
	return deflateInit(&k->z, Z_DEFAULT_COMPRESSION) == Z_OK ? 0 : -ENOMEM;
}

static void page_pack_put(struct grt_page *p, bool last)
{
	struct grt_page_pack *k = p->pack;
	int ret;

	k->z.next_in = k->in;
	k->z.avail_in = (uInt)k->used;
	do {
		k->z.next_out = k->deflated + k->left;
		k->z.avail_out = (uInt)(ROOM - k->left);
		ret = deflate(&k->z, last ? Z_FINISH : Z_NO_FLUSH);
		page_put_base64(p, ROOM - k->z.avail_out);
	} while (k->z.avail_in || (last && ret == Z_OK) || !k->z.avail_out);
	k->used = 0;
}

static void page_pack_end(struct grt_page_pack *k)
{
	deflateEnd(&k->z);
}
#else
#define FORM "plain"

static int page_pack_begin(struct grt_page_pack *k)
{
	return 0;
}

static void page_pack_put(struct grt_page *p, bool last)
{
	struct grt_page_pack *k = p->pack;
	size_t n;

	for (size_t at = 0; at < k->used; at += n) {
		n = k->used - at < ROOM - k->left ? k->used - at : ROOM - k->left;
		memcpy(k->deflated + k->left, k->in + at, n);
		page_put_base64(p, k->left + n);
	}
	k->used = 0;
}

static void page_pack_end(struct grt_page_pack *k)
{
}
#endif

/* --------------------------------------------------------------- page */

static void page_raw(struct grt_page *p, const char *text)
{
	size_t n;

	for (size_t len = strlen(text); len; text += n, len -= n) {
		n = len < 4096 ? len : 4096;
		grt_outbuf_take(p->out, grt_format_text(grt_outbuf_room(p->out, n), text, n));
	}
}

static void page_escaped(struct grt_page *p, const char *text)
{
	char escaped[GRT_ESCAPED_MAX(1024)];

	grt_escape(GRT_ESCAPE_XML, escaped, sizeof(escaped), text, strnlen(text, 1024));
	page_raw(p, escaped);
}

void grt_page_begin(struct grt_page *p, struct grt_outbuf *out, const char *title)
{
	*p = (struct grt_page){.out = out};
	page_raw(p, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "script-src '" PAGE_JS_HASH "'; style-src '" PAGE_CSS_HASH "'; "
		    "base-uri 'none'; form-action 'none'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	page_escaped(p, title);
	page_raw(p, "</title>\n<style>");
	page_raw(p, grt_page_css);
	page_raw(p, "</style>\n</head>\n<body>\n<main id=\"page\"><p>"
		    "A script draws this page. Allow scripts to show it.</p></main>\n");
}

void grt_page_block(struct grt_page *p, const char *name)
{
	p->pack = calloc(1, sizeof(*p->pack));
	if (!p->pack || page_pack_begin(p->pack)) {
		free(p->pack);
		p->pack = NULL;
		p->error = p->error ? p->error : -ENOMEM;
		return;
	}
	page_raw(p, "<script type=\"text/plain\" data-form=\"" FORM "\" id=\"data-");
	page_raw(p, name);
	page_raw(p, "\">");
}

void grt_page_put(struct grt_page *p, const void *bytes, size_t len)
{
	struct grt_page_pack *k = p->pack;
	size_t n;

	for (const uint8_t *b = bytes; k && len; b += n, len -= n) {
		n = len < ROOM - k->used ? len : ROOM - k->used;
		memcpy(k->in + k->used, b, n);
		k->used += n;
		if (k->used == ROOM)
			page_pack_put(p, false);
	}
}

void grt_page_text(struct grt_page *p, const char *text)
{
	grt_page_put(p, text, strlen(text));
}

void grt_page_printf(struct grt_page *p, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	grt_page_text(p, text);
}

void grt_page_string(struct grt_page *p, const char *text, size_t len)
{
	char part[GRT_ESCAPED_MAX(1024)];
	size_t n;

	grt_page_text(p, "\"");
	for (; len; text += n, len -= n) {
		n = len < 1024 ? len : 1024;
		/* each part begins with a character */
		while (n < len && n > 1000 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		grt_page_put(p, part, grt_escape(GRT_ESCAPE_JSON, part, sizeof(part), text, n));
	}
	grt_page_text(p, "\"");
}

void grt_page_u32(struct grt_page *p, uint32_t value)
{
	const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
				 (uint8_t)(value >> 24)};

	grt_page_put(p, bytes, sizeof(bytes));
}

void grt_page_u16(struct grt_page *p, uint16_t value)
{
	const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8)};

	grt_page_put(p, bytes, sizeof(bytes));
}

void grt_page_u8(struct grt_page *p, uint8_t value)
{
	grt_page_put(p, &value, 1);
}

void grt_page_block_end(struct grt_page *p)
{
	if (!p->pack)
		return;
	page_pack_put(p, true);
	page_end_base64(p);
	page_pack_end(p->pack);
	free(p->pack);
	p->pack = NULL;
	page_raw(p, "</script>\n");
}

int grt_page_end(struct grt_page *p)
{
	page_raw(p, "<script>");
	page_raw(p, grt_page_js);
	page_raw(p, "</script>\n</body>\n</html>\n");
	return p->error ? p->error : p->out->error;
}
