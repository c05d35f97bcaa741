/* SPDX-License-Identifier: GPL-2.0 */
/* What `record --last` reports about its black box: to the user, in metadata, and by its signal. */
#ifndef GRTRACE_RECORD_BOX_H
#define GRTRACE_RECORD_BOX_H

#include "blackbox.h"
#include "child.h"

/* The name of a recorder's process with a black box. */
#define RECORD_BOX_COMM "grtrace-box"

/** struct record_box_texts - values of metadata, which point into this struct */
struct record_box_texts {
	char job[160];
	char dropped[64];
	char pid[16];
};

/** record_box_describe - describes a snapshot. Return: number of entries written */
int record_box_describe(struct record_box_texts *t, const struct box *b, const struct incident *i,
			struct grt_env *env);

/** record_box_describe_box - describes the directory of all snapshots. Return: number of entries written */
int record_box_describe_box(struct record_box_texts *t, struct grt_env *env);

/** record_box_catch - from now on SIGUSR1 requests a snapshot */
void record_box_catch(void);

/** record_box_signalled - whether a snapshot was requested since the last call */
bool record_box_signalled(uint64_t now, struct incident *i);

/**
 * record_box_keep_dump - copies a device's dump into the directory of the snapshot. Return: 0, or -errno
 * after a message
 */
int record_box_keep_dump(const struct box *b);

/** record_box_died - whether the program was ended by a signal, if that is an incident */
bool record_box_died(const struct child *c, const struct triggers *t, struct incident *i);

/**
 * record_box_print - prints that a snapshot has begun; record_box_print_end - that it has ended, with
 * @events
 */
void record_box_print(const struct box *b);
void record_box_print_end(const struct box *b, uint64_t events);

/** record_box_print_all - prints what the box in @path has recorded */
void record_box_print_all(const struct box *b, const char *path);

#endif /* GRTRACE_RECORD_BOX_H */
