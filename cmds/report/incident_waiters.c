// SPDX-License-Identifier: GPL-2.0
/* The waits described in incident_waiters.h. */
#include "incident_waiters.h"

#include <inttypes.h>
#include <stdio.h>

#include "report_incident.h"

#define WAITS_MAX 65536U
/* Most levels of waiters, which could form a ring in an invalid recording, and most lines. */
#define LEVELS 8U
#define LINES 20U
/* In place of a waiting job's sequence number: a thread is waiting. */
#define OF_THREAD UINT64_MAX

/**
 * struct wait - a job or a thread that waits for a job
 *
 * Its key is the context and sequence number of the job, then those of the waiting job, or the thread and
 * OF_THREAD.
 */
struct wait {
	uint32_t pid;
	uint32_t tid;
	uint32_t ring;
};

/**
 * struct listing - what is printed
 * @lines: number of lines so far
 */
struct listing {
	const struct incident_waiters *w;
	const struct grt_keyed *open;
	const struct grt_names *names;
	unsigned int lines;
};

void incident_waiters_init(struct incident_waiters *w)
{
	w->gone = 0;
	grt_keyed_init(&w->waits, sizeof(struct wait), WAITS_MAX);
}

static int incident_waiters_add(struct incident_waiters *w, const struct grt_event *e,
				const struct grt_key *key)
{
	void *found;
	int ret = grt_keyed_get_or_replace(&w->waits, key, &w->gone, &found);

	if (!ret)
		*(struct wait *)found = (struct wait){e->pid, e->tid, e->ring};
	return ret;
}

int incident_waiters_event(struct incident_waiters *w, const struct grt_event *e)
{
	const struct grt_ev_wait_dep *dep = (const struct grt_ev_wait_dep *)e;
	struct grt_key key = {{e->ctx, e->seqno, e->tid, OF_THREAD}};
	void *wait;

	switch (e->type) {
	case GRT_EV_WAIT_DEP:
		key = (struct grt_key){{dep->dep_ctx, dep->dep_seqno, e->ctx, e->seqno}};
		return e->flags & GRT_FLAG_SIGNALLED ? 0 : incident_waiters_add(w, e, &key);
	case GRT_EV_SYNC_WAIT_ENTER:
		return incident_waiters_add(w, e, &key);
	case GRT_EV_SYNC_WAIT_EXIT:
		wait = grt_keyed_find(&w->waits, &key);
		if (wait)
			grt_keyed_remove(&w->waits, wait);
		break;
	}
	return 0;
}

static void incident_waiters_line(struct listing *l, const struct wait *wait, const struct grt_key *key,
				  unsigned int level)
{
	if (!l->lines++)
		puts("\nwhat waited for it then");
	printf("%*s", (int)(2 + 2 * level), "");
	if (key->w[3] == OF_THREAD) {
		printf("thread %" PRIu32, wait->tid);
		incident_put_name(l->names, GRT_NAME_THREAD, wait->tid, false);
	} else {
		printf("job %" PRIu64 ":%" PRIu64, key->w[2], key->w[3]);
		if (wait->ring != GRT_RING_NONE) {
			fputs(" on ring", stdout);
			incident_put_name(l->names, GRT_NAME_RING, wait->ring, false);
			incident_put_name(l->names, GRT_NAME_RING_GPU, wait->ring, false);
		}
	}
	printf(" of process %" PRIu32, wait->pid);
	incident_put_name(l->names, GRT_NAME_THREAD, wait->tid, true);
	putchar('\n');
}

static void incident_waiters_list(struct listing *l, uint64_t ctx, uint64_t seqno, unsigned int level)
{
	for (const struct wait *wait = grt_keyed_oldest(&l->w->waits); wait && l->lines <= LINES;
	     wait = grt_keyed_next(&l->w->waits, wait)) {
		const struct grt_key *key = grt_keyed_key(wait);
		const struct grt_key job = {{key->w[2], key->w[3]}};

		if (key->w[0] != ctx || key->w[1] != seqno)
			continue;
		if (key->w[3] != OF_THREAD && !grt_keyed_find(l->open, &job))
			continue;
		if (l->lines == LINES) {
			l->lines++;
			puts("  and more");
			return;
		}
		incident_waiters_line(l, wait, key, level);
		if (key->w[3] != OF_THREAD && level + 1 < LEVELS)
			incident_waiters_list(l, key->w[2], key->w[3], level + 1);
	}
}

void incident_waiters_print(const struct incident_waiters *w, const struct grt_keyed *open,
			    const struct grt_names *names, uint64_t ctx, uint64_t seqno)
{
	struct listing l = {w, open, names, 0};

	incident_waiters_list(&l, ctx, seqno, 0);
}

void incident_waiters_free(struct incident_waiters *w)
{
	grt_keyed_free(&w->waits);
}
