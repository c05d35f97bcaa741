/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Text from a trace (comms, ring names, environment) is untrusted: it passes
 * through here before it reaches a terminal or a file.
 */
#ifndef GRT_BASE_ESCAPE_H
#define GRT_BASE_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/** enum grt_escape - where the text goes */
enum grt_escape {
	GRT_ESCAPE_TERM,  /* control characters, text direction overrides, invalid UTF-8 as \xNN; \ as \\ */
	GRT_ESCAPE_JSON,  /* the inside of a JSON string; an invalid byte becomes U+FFFD */
	GRT_ESCAPE_CSV,	  /* a whole CSV field, quoted where it must be; control characters as TERM */
	GRT_ESCAPE_TSDL,  /* the inside of a string in a trace's metadata */
	GRT_ESCAPE_UTF8,  /* as it is, but valid: an invalid byte becomes U+FFFD */
	GRT_ESCAPE_FRAME, /* a frame of a folded stack: as TERM, but \ stays and ; becomes : */
	GRT_ESCAPE_XML,	  /* text or an attribute of XML and HTML; what XML cannot hold as TERM, \ stays */
};

/* What a byte of text can grow to, so that a buffer of this size always holds @len bytes. */
#define GRT_ESCAPED_MAX(len) (6 * (size_t)(len) + 4)

/**
 * grt_escape - escapes a text into a buffer
 * @dst: gets the result, NUL terminated when @room > 0; cut between characters when it does not fit
 * @src: ends at @len bytes or at a NUL before
 * Return: bytes written, without the NUL
 */
size_t grt_escape(enum grt_escape kind, char *dst, size_t room, const char *src, size_t len);

/** grt_escape_print - the same, to a file of any kind, of a text of any length */
void grt_escape_print(enum grt_escape kind, FILE *out, const char *src, size_t len);

#endif /* GRT_BASE_ESCAPE_H */
