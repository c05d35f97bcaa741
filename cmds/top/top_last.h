/* SPDX-License-Identifier: GPL-2.0 */
/* Keeps the last seconds of a live `grtrace top`, and writes them as a recording. */
#ifndef GRTRACE_TOP_LAST_H
#define GRTRACE_TOP_LAST_H

#include "cmds/live.h"

struct top_last;

/* Size of the message about what was written, or about an error. */
#define TOP_LAST_TEXT 1100

/**
 * top_last_new - begins without packets
 * @ns, @bytes: limits of the time and memory; definitions that outlive their packets take up to a quarter of
 *	@bytes in addition
 * @out: for top_last_free(), also after an error
 * Return: 0 or -ENOMEM
 */
int top_last_new(struct top_last **out, uint64_t ns, uint64_t bytes);

/** top_last_of - sets the live run, which must outlive it */
void top_last_of(struct top_last *l, struct live *live);

/** top_last_keep - struct live_setup.keep */
int top_last_keep(void *arg, unsigned int place, unsigned int source, const char *data, size_t len);

/** top_last_held - the time that a recording would have now, and the bytes of memory for it */
void top_last_held(const struct top_last *l, uint64_t *ns, uint64_t *bytes);

/**
 * top_last_save - writes a recording into the directory @path, or @path.2 and so on if it exists
 * @text: gets the message for the user; untrusted
 * Return: 0, or -errno without a directory left behind
 */
int top_last_save(struct top_last *l, const char *path, char text[TOP_LAST_TEXT], struct grt_err *err);

/** top_last_free - frees it; NULL is allowed */
void top_last_free(struct top_last *l);

#endif /* GRTRACE_TOP_LAST_H */
