/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A page for a browser: one file that uses no other files. Its data is in blocks, deflated,
 * as base64: no byte of a trace is in the page unencoded. The scripts of web/ unpack and draw them; the page
 * allows these scripts by their checksum, no other, and no access to any network.
 */
#ifndef GRT_PAGE_PAGE_H
#define GRT_PAGE_PAGE_H

#include "base/outbuf.h"

struct grt_page_pack;

/**
 * struct grt_page - a page while it is written, set up by grt_page_begin()
 * @out: the output; the caller closes it
 * @pack: data of the open block
 * @error: the first error, as a negative number; later output is dropped
 */
struct grt_page {
	struct grt_outbuf *out;
	struct grt_page_pack *pack;
	int error;
};

/** grt_page_begin - writes the head of a page; @title: untrusted text */
void grt_page_begin(struct grt_page *p, struct grt_outbuf *out, const char *title);

/** grt_page_block - opens a block; scripts find it by its name */
void grt_page_block(struct grt_page *p, const char *name);

/** grt_page_put - adds bytes to the open block */
void grt_page_put(struct grt_page *p, const void *bytes, size_t len);

/** grt_page_text, grt_page_printf - add text; grt_page_printf() adds at most 1023 bytes */
void grt_page_text(struct grt_page *p, const char *text);
void grt_page_printf(struct grt_page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** grt_page_string - adds a text as a string of JSON */
void grt_page_string(struct grt_page *p, const char *text, size_t len);

/** grt_page_u32, grt_page_u16, grt_page_u8 - add an element of a column, lowest byte first */
void grt_page_u32(struct grt_page *p, uint32_t value);
void grt_page_u16(struct grt_page *p, uint16_t value);
void grt_page_u8(struct grt_page *p, uint8_t value);

/** grt_page_block_end - closes the block */
void grt_page_block_end(struct grt_page *p);

/** grt_page_end - writes the scripts. Return: 0, -ENOMEM, or -errno of a failed write */
int grt_page_end(struct grt_page *p);

/* The code and style of a page, each ended by NUL; made from web/page. */
extern const char grt_page_js[], grt_page_css[];

#endif /* GRT_PAGE_PAGE_H */
