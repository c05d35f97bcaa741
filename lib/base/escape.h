/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Text from a trace (comms, ring names, environment) is untrusted: it is escaped
 * with these functions before it is written to a terminal or a file.
 */
#ifndef GRT_BASE_ESCAPE_H
#define GRT_BASE_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/** enum grt_escape - the kind of the output */
enum grt_escape {
	GRT_ESCAPE_TERM,  /* control characters, text direction overrides, invalid UTF-8 as \xNN; \ as \\ */
	GRT_ESCAPE_JSON,  /* the inside of a JSON string; an invalid byte becomes U+FFFD */
	GRT_ESCAPE_CSV,	  /* a whole CSV field, quoted where it must be; control characters as TERM */
	GRT_ESCAPE_TSDL,  /* the inside of a string in a trace's metadata */
	GRT_ESCAPE_UTF8,  /* unchanged, but an invalid byte becomes U+FFFD */
	GRT_ESCAPE_FRAME, /* a frame of a folded stack: as TERM, but \ stays and ; becomes : */
	GRT_ESCAPE_XML,	  /* text or an attribute of XML and HTML; what XML cannot hold as TERM, \ stays */
};

/* The largest size of @len escaped bytes. */
#define GRT_ESCAPED_MAX(len) (6 * (size_t)(len) + 4)

/**
 * grt_escape - escapes a text into a buffer
 * @dst: gets the result, NUL terminated if @room > 0; cut between characters if it does not fit
 * @src: ends after @len bytes or at an earlier NUL
 * Return: bytes written, without the NUL
 */
size_t grt_escape(enum grt_escape kind, char *dst, size_t room, const char *src, size_t len);

/** grt_escape_print - prints an escaped text of any length to a file */
void grt_escape_print(enum grt_escape kind, FILE *out, const char *src, size_t len);

/** grt_text_width - columns of a text on a terminal: bytes that begin a character */
static inline unsigned int grt_text_width(const char *text, size_t length)
{
	unsigned int n = 0;

	for (size_t i = 0; i < length; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

#endif /* GRT_BASE_ESCAPE_H */
