// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Rows that another thread writes. They are collected in a batch of bounded size; a full batch belongs to the
 * thread. Whatever else the writer does waits for all rows first (grt_writer_settle()).
 */
#include "later.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/relay.h"
#include "table.h"

#define BATCH_ROWS 8192U

/** struct later_batch - @size: of each of @rows, of which @used are there */
struct later_batch {
	struct grt_writer *writer;
	char *row;
	size_t size;
	uint32_t used;
	int ret;
};

/**
 * struct grt_later - rows that wait
 * @collected: by the caller; @written: by the thread of @relay while it has them
 * @error: a negative errno of a row
 */
struct grt_later {
	struct later_batch collected;
	struct later_batch written;
	struct grt_relay relay;
	int error;
};

static void later_write(struct later_batch *b)
{
	for (uint32_t i = 0; i < b->used && !b->ret; i++)
		b->ret = grt_writer_put_row(b->writer, b->row + i * b->size);
	b->used = 0;
}

static void later_work(void *arg)
{
	later_write(&((struct grt_later *)arg)->written);
}

static struct grt_later *later_new(void)
{
	struct grt_later *l = calloc(1, sizeof(*l));

	if (l)
		grt_relay_init(&l->relay, later_work, l);
	return l;
}

static void later_wait(struct grt_later *l)
{
	grt_relay_wait(&l->relay);
	l->error = l->error ?: l->written.ret;
}

/* The full batch for the thread, and the one that it has written for the caller. */
static void later_hand_over(struct grt_later *l)
{
	struct later_batch full = l->collected;

	later_wait(l);
	if (l->error)
		return;
	l->collected = l->written;
	l->written = full;
	grt_relay_go(&l->relay);
}

static bool later_room(struct later_batch *b, struct grt_writer *w, size_t size)
{
	if (!b->row || b->size != size) {
		free(b->row);
		*b = (struct later_batch){.writer = w, .row = malloc(BATCH_ROWS * size), .size = size};
	}
	return b->row;
}

int grt_writer_row_later(struct grt_writer *w, const void *row, size_t size)
{
	struct grt_later *l = w->beside ? w->later ?: later_new() : NULL;
	struct later_batch *b = l ? &l->collected : NULL;

	w->later = l ?: w->later;
	/* without memory for many rows there may be some for one */
	if (!l || (b->used && b->size != size) || !later_room(b, w, size))
		return grt_writer_row(w, row);
	memcpy(b->row + b->used++ * size, row, size);
	if (b->used == BATCH_ROWS)
		later_hand_over(l);
	return l->error;
}

int grt_writer_settle(struct grt_writer *w)
{
	struct grt_later *l = w->later;

	if (!l)
		return 0;
	later_wait(l);
	if (!l->error && l->collected.used) {
		later_write(&l->collected);
		l->error = l->collected.ret;
	}
	l->collected.used = 0;
	return l->error;
}

void grt_later_free(struct grt_later *l)
{
	if (!l)
		return;
	grt_relay_fini(&l->relay);
	free(l->collected.row);
	free(l->written.row);
	free(l);
}
