// SPDX-License-Identifier: GPL-2.0
/* Ranks that do not call a collective, see trigger_collectives.h. */
#include "trigger_collectives.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fnv.h"

#define COMMUNICATORS_MAX 1024U
#define NAMES_MAX 256U
#define KINDS_MAX 256U
#define RANKS_MAX 4096U
/*
 * Number of collectives of a kind for which it is known when the first rank called them. For older ones,
 * only a bound is known.
 */
#define KEPT 64U
/*
 * A rank's call reaches the recorder some tenths of a second later, so a rank is reported as missing only
 * after this additional time.
 */
#define ON_THE_WAY_NS GRT_NS_PER_S

/** struct communicator - a communicator of a process */
struct communicator {
	uint64_t hash;
	uint32_t rank;
};

/** struct name - the number that a process has given to a function */
struct name {
	char text[20];
};

/**
 * struct kind - a function in a communicator
 * @first: when the first rank called each of the last collectives
 * @next: number of collectives that were called
 */
struct kind {
	uint64_t first[KEPT];
	uint64_t next;
	char function[20];
};

/**
 * struct rank - a rank in a kind
 * @next: number of its next collective
 * @told: the collective for which the rank was reported as missing
 */
struct rank {
	uint64_t hash;
	uint64_t function;
	uint64_t next;
	uint64_t told;
	uint32_t rank;
	uint32_t pid;
	uint32_t tid;
};

void collectives_init(struct collectives *c)
{
	grt_keyed_init(&c->communicators, sizeof(struct communicator), COMMUNICATORS_MAX);
	grt_keyed_init(&c->names, sizeof(struct name), NAMES_MAX);
	grt_keyed_init(&c->kinds, sizeof(struct kind), KINDS_MAX);
	grt_keyed_init(&c->ranks, sizeof(struct rank), RANKS_MAX);
}

void collectives_free(struct collectives *c)
{
	grt_keyed_free(&c->communicators);
	grt_keyed_free(&c->names);
	grt_keyed_free(&c->kinds);
	grt_keyed_free(&c->ranks);
}

void collectives_forget(struct collectives *c)
{
	void *at;

	while ((at = grt_keyed_oldest(&c->kinds)))
		grt_keyed_remove(&c->kinds, at);
	while ((at = grt_keyed_oldest(&c->ranks)))
		grt_keyed_remove(&c->ranks, at);
}

/* Whether a text may be the name of an NCCL function: only letters, the first one a capital. */
static int collectives_see_name(struct collectives *c, const struct grt_ev_string *s)
{
	const struct grt_key key = {{s->e.ctx, s->e.pid, s->number}};
	struct name *name;
	int ret;

	if (s->offset || s->part >= sizeof(name->text) || s->part > sizeof(s->text) || s->text[0] < 'A' ||
	    s->text[0] > 'Z')
		return 0;
	for (uint32_t i = 0; i < s->part; i++)
		if ((s->text[i] | 32) < 'a' || (s->text[i] | 32) > 'z')
			return 0;
	ret = grt_keyed_get_or_replace(&c->names, &key, NULL, (void **)&name);
	if (!ret)
		snprintf(name->text, sizeof(name->text), "%.*s", (int)s->part, s->text);
	return ret;
}

static int collectives_see_communicator(struct collectives *c, const struct grt_ev_communicator *e)
{
	const struct grt_key key = {{e->e.ctx, e->e.pid, e->number}};
	struct communicator *k;
	int ret = grt_keyed_get_or_replace(&c->communicators, &key, NULL, (void **)&k);

	if (!ret)
		*k = (struct communicator){.hash = e->hash, .rank = e->rank};
	return ret;
}

static void collectives_called(struct kind *k, uint64_t number, uint64_t time)
{
	/* calls that were not recorded come before the first one that was */
	if (number >= k->next) {
		for (uint64_t n = number >= KEPT && k->next < number - KEPT + 1 ? number - KEPT + 1 : k->next;
		     n < number; n++)
			k->first[n % KEPT] = time;
		k->first[number % KEPT] = time;
		k->next = number + 1;
	} else if (k->next - number <= KEPT && time < k->first[number % KEPT]) {
		k->first[number % KEPT] = time;
	}
}

/* Return: 1: the call was taken; 0: its communicator or name is not known yet; or -ENOMEM */
static int collectives_take_call(struct collectives *c, const struct grt_ev_collective *e)
{
	const struct grt_key own = {{e->e.ctx, e->e.pid, e->communicator}},
			     named = {{e->e.ctx, e->e.pid, e->function}};
	const struct communicator *communicator = grt_keyed_find(&c->communicators, &own);
	const struct name *name = grt_keyed_find(&c->names, &named);
	uint64_t function = name ? grt_fnv_text(name->text) : 0;
	struct rank *r;
	struct kind *k;
	int ret;

	if (!communicator || !name)
		return 0;
	ret = grt_keyed_get_or_replace(&c->kinds, &(struct grt_key){{communicator->hash, function}}, NULL,
				       (void **)&k);
	if (ret)
		return ret;
	snprintf(k->function, sizeof(k->function), "%s", name->text);
	collectives_called(k, e->sequence, e->begin ? e->begin : e->e.time);
	ret = grt_keyed_get_or_replace(&c->ranks,
				       &(struct grt_key){{communicator->hash, function, communicator->rank}},
				       NULL, (void **)&r);
	if (ret)
		return ret;
	r->hash = communicator->hash;
	r->function = function;
	r->rank = communicator->rank;
	r->pid = e->e.pid;
	r->tid = e->e.tid;
	r->next = e->sequence + 1 > r->next ? e->sequence + 1 : r->next;
	return 1;
}

/*
 * Processes calls that came before their communicator or their function's name, which are in other streams.
 */
static int collectives_take_early(struct collectives *c)
{
	uint32_t left = 0;
	int ret = 0;

	for (uint32_t i = 0; i < c->early_calls; i++) {
		ret = ret < 0 ? ret : collectives_take_call(c, &c->early[i]);
		if (!ret)
			c->early[left++] = c->early[i];
	}
	c->early_calls = left;
	return ret < 0 ? ret : 0;
}

static int collectives_see_call(struct collectives *c, const struct grt_ev_collective *e)
{
	int ret;

	if (e->e.flags & GRT_FLAG_CAPTURED || e->kind == 2)
		return 0;
	ret = collectives_take_call(c, e);
	if (ret)
		return ret < 0 ? ret : 0;
	/* it is unknown who has called the collectives that are dropped */
	if (c->early_calls == COLLECTIVES_EARLY) {
		collectives_forget(c);
		c->early_calls = 0;
	}
	c->early[c->early_calls++] = *e;
	return 0;
}

int collectives_see(struct collectives *c, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_STRING:
		return collectives_see_name(c, (const struct grt_ev_string *)e) ?: collectives_take_early(c);
	case GRT_EV_COMMUNICATOR:
		return collectives_see_communicator(c, (const struct grt_ev_communicator *)e)
			       ?: collectives_take_early(c);
	case GRT_EV_COLLECTIVE:
		return collectives_see_call(c, (const struct grt_ev_collective *)e);
	default:
		return 0;
	}
}

/* Return: when the first other rank called the collective that @r has not called; 0: none has. */
static uint64_t collectives_since(const struct kind *k, const struct rank *r)
{
	uint64_t oldest = k->next > KEPT ? k->next - KEPT : 0;

	if (r->next >= k->next)
		return 0;
	return k->first[(r->next > oldest ? r->next : oldest) % KEPT];
}

static bool collectives_is_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

bool collectives_missing(struct collectives *c, uint64_t limit, uint64_t now, bool sure,
			 struct collective_missing *found)
{
	for (struct rank *r = grt_keyed_oldest(&c->ranks), *next; r; r = next) {
		const struct grt_key key = {{r->hash, r->function}};
		const struct kind *k = grt_keyed_find(&c->kinds, &key);
		uint64_t since = k ? collectives_since(k, r) : 0;

		next = grt_keyed_next(&c->ranks, r);
		if (!since || since > now || now - since <= limit + ON_THE_WAY_NS || r->told == r->next + 1)
			continue;
		if (sure)
			r->told = r->next + 1;
		*found = (struct collective_missing){.pid = r->pid, .tid = r->tid, .since = since};
		snprintf(found->text, sizeof(found->text),
			 "rank %" PRIu32 "%s has not called %s #%" PRIu64 " of communicator %016" PRIx64,
			 r->rank, collectives_is_gone(r->pid) ? ", which is no more," : "", k->function,
			 r->next, r->hash);
		return true;
	}
	return false;
}
