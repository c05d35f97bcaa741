/* SPDX-License-Identifier: GPL-2.0 */
/* The last seconds of a live `grtrace top`: kept, and written as a recording. */
#ifndef GRTRACE_TOP_LAST_H
#define GRTRACE_TOP_LAST_H

#include "cmds/live.h"

struct top_last;

/* Bytes of the line that says what was written, or which error there was. */
#define TOP_LAST_TEXT 1100

/**
 * top_last_new - begins, with nothing
 * @ns, @bytes: what is kept at most; definitions that outlive their packets take a quarter of @bytes more
 * @out: for top_last_free(), also after an error
 * Return: 0 or -ENOMEM
 */
int top_last_new(struct top_last **out, uint64_t ns, uint64_t bytes);

/** top_last_of - it is of this view, which lives longer */
void top_last_of(struct top_last *l, struct live *live);

/** top_last_keep - struct live_setup.keep */
int top_last_keep(void *arg, unsigned int place, unsigned int source, const char *data, size_t len);

/** top_last_held - time that a recording would have now, and bytes of memory that it takes */
void top_last_held(const struct top_last *l, uint64_t *ns, uint64_t *bytes);

/**
 * top_last_save - writes it into the directory @path, or @path.2 and so on where that is taken
 * @text: gets what to tell the user; untrusted
 * Return: 0 or -errno with nothing left behind
 */
int top_last_save(struct top_last *l, const char *path, char text[TOP_LAST_TEXT], struct grt_err *err);

/** top_last_free - frees it; NULL is allowed */
void top_last_free(struct top_last *l);

#endif /* GRTRACE_TOP_LAST_H */
