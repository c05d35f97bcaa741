/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A text in memory that is written as a file; the result is complete or NULL.
 * open_memstream() of glibc 2.36 does not set the file's error flag if it gets
 * no memory: text is then missing, and fclose() still returns 0.
 */
#ifndef GRT_BASE_MEMFILE_H
#define GRT_BASE_MEMFILE_H

#include <stdio.h>

/**
 * struct grt_memfile - the state
 * @text, @length, @room: the text so far, without its NUL
 */
struct grt_memfile {
	char *text;
	size_t length;
	size_t room;
};

/** grt_memfile_open - begins a text. Return: the file, NULL: no memory */
FILE *grt_memfile_open(struct grt_memfile *m);

/**
 * grt_memfile_close - closes the file
 * @f: the file of grt_memfile_open(); NULL is allowed
 * @length: gets the length of the text, without its NUL; may be NULL
 * Return: the text, which the caller frees; NULL: there was no memory for all of it
 */
char *grt_memfile_close(struct grt_memfile *m, FILE *f, size_t *length);

#endif /* GRT_BASE_MEMFILE_H */
