/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that a command writes: whole or not at all, and for its owner only.
 */
#ifndef GRTRACE_OUTFILE_H
#define GRTRACE_OUTFILE_H

#include <grtrace/grtrace.h>

/**
 * struct outfile - see outfile_open()
 * @fd: where to write
 * @path: its name; NULL: standard output
 * @temp: its name until outfile_keep(), "": it has its own (a device or a FIFO)
 */
struct outfile {
	int fd;
	const char *path;
	char temp[4096];
};

/**
 * outfile_open - opens a file beside its place, mode 0600
 *
 * A signal that ends the command removes it: @o stays where it is until
 * outfile_keep() or outfile_drop().
 * @path: NULL or "-": standard output; what is there and no regular file is
 *	written to as it is
 * Return: 0 or a negative errno
 */
int outfile_open(struct outfile *o, const char *path, struct grt_err *err);

/**
 * outfile_now - opens a file in its place, empty, mode 0600: for what others
 * read while it grows
 * Return: 0 or a negative errno
 */
int outfile_now(struct outfile *o, const char *path, struct grt_err *err);

/** outfile_directory - makes a directory, mode 0700, where there is none. Return: 0 or a negative errno */
int outfile_directory(const char *path, struct grt_err *err);

/**
 * outfile_keep - puts it into its place and closes it
 * Return: 0 or a negative errno; it is gone then
 */
int outfile_keep(struct outfile *o, struct grt_err *err);

/** outfile_drop - closes it; what is not in its place is removed. After outfile_keep() nothing is done */
void outfile_drop(struct outfile *o);

/** outfile_drop_all - removes files that are not in their place yet; for handlers of signals
 */
void outfile_drop_all(void);

/**
 * outfile_usage - says so where @output is the file @input, or lies in the recording @input
 *
 * An output takes the place of what was there, and a recording with a file of
 * another kind in it is none. Either may be NULL.
 * Return: EXIT_USAGE, or EXIT_DONE where it does no harm
 */
int outfile_usage(const char *output, const char *input);

/**
 * outfile_ending_usage - says so where the ending of @output is none of @known
 * @known: words with spaces between, like ".svg .html"; a name without ending is right, and so is what exists
 *	and is no regular file
 * @are: what they are, for the message
 * Return: EXIT_USAGE, or EXIT_DONE
 */
int outfile_ending_usage(const char *output, const char *known, const char *are);

/** outfile_failed - fills in the error of a write. Return: @code */
int outfile_failed(const struct outfile *o, int code, struct grt_err *err);

#endif /* GRTRACE_OUTFILE_H */
