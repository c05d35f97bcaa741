/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that a command writes: it appears only when it is complete, and only its owner can read it.
 */
#ifndef GRTRACE_OUTFILE_H
#define GRTRACE_OUTFILE_H

#include <signal.h>

#include <grtrace/grtrace.h>

/**
 * struct outfile - see outfile_open()
 * @fd: where to write
 * @path: its name; NULL: standard output
 * @temp: its name until outfile_keep(), "": it is written in place (a device or a FIFO)
 */
struct outfile {
	int fd;
	const char *path;
	char temp[4096];
};

/**
 * outfile_open - opens a temporary file in the directory of @path, mode 0600
 *
 * A signal that ends the command removes the file: @o must keep its address until
 * outfile_keep() or outfile_drop().
 * @path: NULL or "-": standard output; an existing path that is not a regular file is
 *	written in place
 * Return: 0 or a negative errno
 */
int outfile_open(struct outfile *o, const char *path, struct grt_err *err);

/**
 * outfile_now - creates an empty file at @path, mode 0600, for output that others
 * read while it grows
 * Return: 0 or a negative errno
 */
int outfile_now(struct outfile *o, const char *path, struct grt_err *err);

/** outfile_fix - what to type if a file or directory cannot be made or written because of this errno; NULL:
 * unknown */
const char *outfile_fix(int code);

/**
 * outfile_directory - creates a directory, mode 0700, unless it exists
 *
 * A signal that ends the command removes it, if it is empty, until outfile_directories_end().
 * Return: 0 or a negative errno
 */
int outfile_directory(const char *path, struct grt_err *err);

/** outfile_directories_end - removes the created directories that are empty, and leaves the others */
void outfile_directories_end(void);

/** outfile_hold - lets signals wait until outfile_release(): several files are kept together, or none */
void outfile_hold(sigset_t *before);
void outfile_release(const sigset_t *before);

/**
 * outfile_keep - renames the file to its path and closes it
 * Return: 0 or a negative errno; the file is then removed
 */
int outfile_keep(struct outfile *o, struct grt_err *err);

/** outfile_drop - closes and removes a temporary file; does nothing after outfile_keep() */
void outfile_drop(struct outfile *o);

/**
 * outfile_drop_all - removes all temporary files, and the created directories that are empty then; for signal
 * handlers of a process that ends: it stays the user for files who created the first directory
 */
void outfile_drop_all(void);

/**
 * outfile_usage - prints an error if @output is the file @input, or is inside the recording @input
 *
 * Such an output would replace its input, or add a foreign file to a recording, which makes the
 * recording invalid. Either path may be NULL.
 * Return: EXIT_USAGE, or EXIT_DONE
 */
int outfile_usage(const char *output, const char *input);

/**
 * outfile_ending_usage - prints an error if the ending of @output is not in @known
 * @known: words separated by spaces, like ".svg .html"; a name without ending is allowed, and so is an
 *	existing path that is not a regular file
 * @are: a name for these endings, for the message
 * Return: EXIT_USAGE, or EXIT_DONE
 */
int outfile_ending_usage(const char *output, const char *known, const char *are);

/** outfile_failed - fills in the error of a write. Return: @code */
int outfile_failed(const struct outfile *o, int code, struct grt_err *err);

#endif /* GRTRACE_OUTFILE_H */
