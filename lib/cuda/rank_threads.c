// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The pieces of rank_threads.h. A thread's pieces come in the order of time. */
#include "rank_threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/containers.h"

/** struct rank_piece - of a thread's life */
struct rank_piece {
	uint64_t start;
	uint64_t end;
	uint8_t state;
};

/** struct rank_thread - a main thread */
struct rank_thread {
	struct rank_piece *piece;
	uint32_t used, room;
};

struct grt_rank_threads {
	struct grt_threads *threads;
	struct grt_keyed mains; /* by process */
	uint64_t pieces;
	uint64_t over;
};

static int rank_threads_piece(void *arg, const struct grt_thread *t, const struct grt_thread_piece *p)
{
	const struct grt_key key = {{t->pid}};
	struct grt_rank_threads *x = arg;
	struct rank_thread *main;
	void *found;
	int ret;

	if (p->sample || t->pid != t->tid || p->end <= p->start)
		return 0;
	ret = grt_keyed_get_or_count(&x->mains, &key, &x->over, &found);
	main = found;
	if (!main)
		return ret;
	if (x->pieces == GRT_RANK_PIECES_MAX) {
		x->over++;
		return 0;
	}
	if (grt_grow(&main->piece, &main->room, main->used + 1, 16))
		return -ENOMEM;
	main->piece[main->used++] = (struct rank_piece){p->start, p->end, p->state};
	x->pieces++;
	return 0;
}

int grt_rank_threads_new(struct grt_rank_threads **out)
{
	struct grt_rank_threads *t = calloc(1, sizeof(*t));
	const struct grt_threads_sink sink = {.piece = rank_threads_piece, .arg = t};

	*out = t;
	if (!t)
		return -ENOMEM;
	grt_keyed_init(&t->mains, sizeof(struct rank_thread), GRT_THREADS_MAX);
	if (!grt_threads_new(&t->threads, &sink))
		return 0;
	grt_rank_threads_free(t);
	*out = NULL;
	return -ENOMEM;
}

void grt_rank_threads_within(struct grt_rank_threads *t, uint64_t ns)
{
	grt_threads_from(t->threads, ns);
}

int grt_rank_threads_event(struct grt_rank_threads *t, const struct grt_event *e)
{
	return grt_threads_event(t->threads, e);
}

int grt_rank_threads_end(struct grt_rank_threads *t)
{
	return grt_threads_flush(t->threads);
}

/* The first piece that ends after a moment. */
static uint32_t rank_threads_first(const struct rank_thread *main, uint64_t from)
{
	return grt_bisect(main->used, i, main->piece[i].end <= from);
}

void grt_rank_threads_add(const struct grt_rank_threads *t, uint32_t pid, uint64_t from, uint64_t to,
			  struct grt_rank_spent *spent)
{
	const struct rank_thread *main = grt_keyed_find(&t->mains, &(struct grt_key){{pid}});
	uint64_t known = 0;

	if (!main || to <= from)
		return;
	for (uint32_t i = rank_threads_first(main, from); i < main->used && main->piece[i].start < to; i++) {
		const struct rank_piece *p = &main->piece[i];
		uint64_t ns = (p->end < to ? p->end : to) - (p->start > from ? p->start : from);

		spent->ns[p->state] += ns;
		known += ns;
	}
	if (!known)
		return;
	spent->ns[GRT_THREAD_UNKNOWN] += to - from - known;
	spent->all += to - from;
}

void grt_rank_spent_text(const struct grt_rank_spent *spent, char *text, size_t room)
{
	bool told[GRT_THREAD_STATES] = {false};
	size_t at = 0;

	*text = '\0';
	/* the largest first */
	for (unsigned int n = 0; n < GRT_THREAD_STATES; n++) {
		unsigned int most = GRT_THREAD_STATES;

		for (unsigned int s = 0; s < GRT_THREAD_STATES; s++)
			if (!told[s] && (most == GRT_THREAD_STATES || spent->ns[s] > spent->ns[most]))
				most = s;
		told[most] = true;
		if (!spent->all || 200 * (unsigned __int128)spent->ns[most] < spent->all || at + 24 > room)
			return;
		at += (size_t)snprintf(
			text + at, room - at, "%s%s %u %%", at ? ", " : "", grt_thread_state_name(most),
			(unsigned int)((200 * (unsigned __int128)spent->ns[most] + spent->all) /
				       (2 * (unsigned __int128)spent->all)));
	}
}

uint64_t grt_rank_threads_over(const struct grt_rank_threads *t)
{
	return t->over;
}

void grt_rank_threads_free(struct grt_rank_threads *t)
{
	if (!t)
		return;
	for (struct rank_thread *m = grt_keyed_oldest(&t->mains); m; m = grt_keyed_next(&t->mains, m))
		free(m->piece);
	grt_keyed_free(&t->mains);
	grt_threads_free(t->threads);
	free(t);
}
