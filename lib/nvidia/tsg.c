// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The groups and runlists of tsg.h. */
#include "tsg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/tsg.h>

#include "base/bus.h"
#include "base/compare.h"
#include "base/containers.h"
#include "codes/nv_codes.h"
#include "trace/names.h"

/* ---------------------------------------------------------- tsg channels */

#define UNKNOWN UINT32_MAX

/* Begins without channels */
static void grt_tsg_channels_init(struct grt_tsg_channels *c)
{
	*c = (struct grt_tsg_channels){.past = NULL};
	grt_keyed_init(&c->live, sizeof(struct grt_tsg_channel), GRT_TSG_CHANNELS_MAX);
}

/* The channel has ended, and another one may get its handles. */
static int tsg_channels_move_to_past(struct grt_tsg_channels *c, struct grt_tsg_channel *ch)
{
	if (c->past_used == GRT_TSG_CHANNELS_MAX)
		c->over++;
	else if (grt_grow(&c->past, &c->past_room, c->past_used + 1, 64))
		return -ENOMEM;
	else
		c->past[c->past_used++] = *ch;
	grt_keyed_remove(&c->live, ch);
	return 0;
}

/* @client: the one that has the channel, which may be another than its group's; 0: unknown */
static int find_or_make(struct grt_tsg_channels *c, const struct grt_tsg_event *t, uint32_t client,
			uint32_t handle, const struct grt_tsg *g, bool is_new, struct grt_tsg_channel **out)
{
	const struct grt_key key = {
		{(uint64_t)client << 32 | handle, client ? 0 : (uint64_t)1 << 32 | t->e.pid}};
	struct grt_tsg_channel *ch = grt_keyed_find(&c->live, &key);
	int ret = ch && is_new ? tsg_channels_move_to_past(c, ch) : 0;
	void *found = NULL;

	if (!ret)
		ret = grt_keyed_get_or_count(&c->live, &key, &c->over, &found);
	*out = ch = found;
	if (!ch || ch->handle[0])
		return ret;
	*ch = (struct grt_tsg_channel){
		.pid = t->e.pid,
		.tid = t->e.tid,
		.group = g->number,
		.subcontext = UNKNOWN,
		.veid = UNKNOWN,
		.chid = UNKNOWN,
		.first = t->e.time,
	};
	memcpy(ch->tsg, g->name, sizeof(ch->tsg));
	if (client && client != t->client)
		snprintf(ch->handle, sizeof(ch->handle), "%08" PRIx32 ":%08" PRIx32, client, handle);
	else
		snprintf(ch->handle, sizeof(ch->handle), "%08" PRIx32, handle);
	return 0;
}

static void learn_chid(struct grt_tsg_channel *ch, uint32_t chid)
{
	if (chid != UNKNOWN)
		ch->chid = chid;
}

static int tsg_channels_see_channel(struct grt_tsg_channels *c, const struct grt_ev_tsg_channel *ev,
				    const struct grt_tsg *g)
{
	struct grt_tsg_channel *ch;
	int ret = find_or_make(c, (const struct grt_tsg_event *)ev, ev->channel_client, ev->channel, g,
			       ev->bound, &ch);

	if (ret || !ch)
		return ret;
	ch->last = ev->e.time;
	ch->came |= ev->bound != 0;
	ch->went = !ev->bound;
	ch->subcontext = ev->subctx;
	ch->veid = ev->veid;
	if (!ev->subctx)
		strcpy(ch->subctx, "none");
	else if (ev->subctx != UNKNOWN)
		snprintf(ch->subctx, sizeof(ch->subctx), "%08" PRIx32, ev->subctx);
	learn_chid(ch, ev->chid);
	return ch->went ? tsg_channels_move_to_past(c, ch) : 0;
}

static int tsg_channels_see_token(struct grt_tsg_channels *c, const struct grt_ev_tsg_token *ev,
				  const struct grt_tsg *g)
{
	struct grt_tsg_channel *ch;
	int ret = find_or_make(c, (const struct grt_tsg_event *)ev, ev->channel_client, ev->channel, g, false,
			       &ch);

	if (ret || !ch)
		return ret;
	ch->last = ev->e.time;
	ch->tokens++;
	learn_chid(ch, ev->chid);
	return 0;
}

/*
 * grt_tsg_channels_event - processes an event; uses TSG_CHANNEL and TSG_TOKEN
 * @g: the event's group
 * Return: 0 or -ENOMEM
 */
static int grt_tsg_channels_event(struct grt_tsg_channels *c, const struct grt_event *e,
				  const struct grt_tsg *g)
{
	const struct grt_ev_tsg_channel *channel = (const struct grt_ev_tsg_channel *)e;
	const struct grt_ev_tsg_token *token = (const struct grt_ev_tsg_token *)e;

	if (e->type == GRT_EV_TSG_CHANNEL && channel->channel)
		return tsg_channels_see_channel(c, channel, g);
	/* a refused one belongs to no channel, or to one that is already known */
	if (e->type == GRT_EV_TSG_TOKEN && token->channel && (!token->status || token->chid != UNKNOWN))
		return tsg_channels_see_token(c, token, g);
	return 0;
}

static int by_group(const void *a, const void *b)
{
	const struct grt_tsg_channel *x = a, *y = b;

	return grt_compare(x->group, y->group)
	       ?: grt_compare(x->subcontext, y->subcontext)
	       ?: grt_compare(x->veid, y->veid)
	       ?: grt_compare(x->first, y->first)
	       ?: strcmp(x->handle, y->handle);
}

/*
 * grt_tsg_channels_list - lists the channels, sorted by group, subcontext and @first
 * @out: gets an array, which the caller frees
 * Return: their number, or -ENOMEM
 */
static int64_t grt_tsg_channels_list(const struct grt_tsg_channels *c, struct grt_tsg_channel **out)
{
	const struct grt_tsg_channel *ch;
	uint64_t n = 0;

	*out = calloc((size_t)c->past_used + c->live.used + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (; n < c->past_used; n++)
		(*out)[n] = c->past[n];
	for (ch = grt_keyed_oldest(&c->live); ch; ch = grt_keyed_next(&c->live, ch))
		(*out)[n++] = *ch;
	qsort(*out, n, sizeof(**out), by_group);
	return (int64_t)n;
}

/* Frees and empties it */
static void grt_tsg_channels_free(struct grt_tsg_channels *c)
{
	grt_keyed_free(&c->live);
	free(c->past);
	grt_tsg_channels_init(c);
}

/* ------------------------------------------------------------------- tsg */

#define UNKNOWN UINT32_MAX

/**
 * struct process - a process with groups, @live of which exist
 * @name: number of its name
 */
struct process {
	uint32_t live;
	uint32_t name;
};

void grt_tsgs_init(struct grt_tsgs *t)
{
	*t = (struct grt_tsgs){.past = NULL};
	grt_keyed_init(&t->live, sizeof(struct grt_tsg), GRT_TSGS_MAX);
	grt_keyed_init(&t->processes, sizeof(struct process), GRT_TSGS_MAX);
	grt_tsg_channels_init(&t->channels);
	grt_tsg_times_init(&t->times);
}

/* ------------------------------------------------------------------ identity */

struct grt_key grt_tsg_key(const struct grt_tsg_event *t)
{
	/* an unknown group of a client, which is not that of another process */
	return (struct grt_key){
		{(uint64_t)t->client << 32 | t->tsg, t->tsg ? 0 : (uint64_t)1 << 32 | t->e.pid}};
}

/* The key of the @place'th group of a process with this number. */
static struct grt_key key_of_number(uint32_t pid, uint32_t grp, uint32_t place)
{
	return (struct grt_key){{(uint64_t)pid << 32 | grp, (uint64_t)2 << 32 | place}};
}

static void tsg_name_group(struct grt_tsg *g, const struct grt_tsg_event *t)
{
	if (t->tsg)
		snprintf(g->name, sizeof(g->name), "%08" PRIx32 ":%08" PRIx32, t->client, t->tsg);
	else if (t->client)
		snprintf(g->name, sizeof(g->name), "%08" PRIx32 ":?", t->client);
	else if (t->grp != UNKNOWN)
		snprintf(g->name, sizeof(g->name), "%" PRIu32, t->grp);
	else
		snprintf(g->name, sizeof(g->name), "?");
}

static void begin_group(struct grt_tsg *g, const struct grt_tsg_event *t, uint64_t number)
{
	*g = (struct grt_tsg){
		.number = number,
		.pid = t->e.pid,
		.tid = t->e.tid,
		.first = t->e.time,
		.runlist = UNKNOWN,
		.grp = UNKNOWN,
		.channels = UNKNOWN,
		.channels_max = UNKNOWN,
		.subcontexts = UNKNOWN,
		.interleave = UNKNOWN,
	};
	tsg_name_group(g, t);
}

/* Sets members that are unknown so far. */
static void tsg_learn(struct grt_tsg *g, const struct grt_tsg_event *t)
{
	const char *engine;

	g->last = t->e.time;
	if (t->bus && t->bus != g->bus) {
		g->bus = t->bus;
		grt_bus_text(g->gpu, g->bus);
	}
	if (t->runlist != UNKNOWN)
		g->runlist = t->runlist;
	if (t->grp != UNKNOWN)
		g->grp = t->grp;
	if (!t->nv_engine || t->nv_engine == g->nv_engine)
		return;
	g->nv_engine = t->nv_engine;
	engine = grt_nv_engine_name(g->engine, g->nv_engine);
	if (engine != g->engine)
		snprintf(g->engine, sizeof(g->engine), "%s", engine);
}

/* ------------------------------------------------------------------ events */

static void count_channels(struct grt_tsg *g, uint32_t channels)
{
	g->channels = channels;
	if (channels != UNKNOWN && (g->channels_max == UNKNOWN || channels > g->channels_max))
		g->channels_max = channels;
}

static void see_init(struct grt_tsg *g, const struct grt_event *e)
{
	const struct grt_ev_tsg_init *ev = (const struct grt_ev_tsg_init *)e;

	g->born = true;
	g->refused += ev->status != 0;
	g->timeslice = ev->timeslice;
	g->interleave = ev->interleave;
	count_channels(g, 0);
}

static void see_schedule(struct grt_tsg *g, const struct grt_event *e)
{
	const struct grt_ev_tsg_schedule *ev = (const struct grt_ev_tsg_schedule *)e;

	g->schedules += ev->on != 0;
	g->refused += ev->status != 0;
	g->timeslice = ev->timeslice ? ev->timeslice : g->timeslice;
	g->interleave = ev->interleave != UNKNOWN ? ev->interleave : g->interleave;
	if (ev->channels != UNKNOWN)
		count_channels(g, ev->channels);
}

static void tsg_see_token(struct grt_tsg *g, const struct grt_event *e)
{
	g->tokens++;
	g->refused += ((const struct grt_ev_tsg_token *)e)->status != 0;
}

static void tsg_see_channel(struct grt_tsg *g, const struct grt_event *e)
{
	count_channels(g, ((const struct grt_ev_tsg_channel *)e)->channels);
}

static void see_set(struct grt_tsg *g, const struct grt_event *e)
{
	const struct grt_ev_tsg_set *ev = (const struct grt_ev_tsg_set *)e;

	g->sets++;
	g->refused += ev->status != 0;
	if (!ev->status && ev->timeslice)
		g->timeslice = ev->timeslice;
	if (!ev->status && ev->interleave != UNKNOWN)
		g->interleave = ev->interleave;
}

static void see_destroy(struct grt_tsg *g, const struct grt_event *e)
{
	g->died = true;
	g->cause = ((const struct grt_ev_tsg_destroy *)e)->cause;
}

static void (*const see[GRT_EV_MAX])(struct grt_tsg *g, const struct grt_event *e) = {
	[GRT_EV_TSG_INIT] = see_init,	    [GRT_EV_TSG_SCHEDULE] = see_schedule,
	[GRT_EV_TSG_TOKEN] = tsg_see_token, [GRT_EV_TSG_CHANNEL] = tsg_see_channel,
	[GRT_EV_TSG_SET] = see_set,	    [GRT_EV_TSG_DESTROY] = see_destroy,
};

/* Closes the gap among the groups of its process and number. */
static void leave_place(struct grt_tsgs *t, struct grt_tsg *g)
{
	const struct grt_key own = *grt_keyed_key(g);
	struct grt_tsg *last = g, *next = g;
	struct grt_key key;

	for (uint32_t place = (uint32_t)own.w[1] + 1; next; place++) {
		last = next;
		key = key_of_number((uint32_t)(own.w[0] >> 32), (uint32_t)own.w[0], place);
		next = own.w[1] >> 32 == 2 ? grt_keyed_find(&t->live, &key) : NULL;
	}
	if (last != g)
		*g = *last;
	grt_keyed_remove(&t->live, last);
}

static void leave_process(struct grt_tsgs *t, uint32_t pid)
{
	const struct grt_key key = {{pid}};
	struct process *p = grt_keyed_find(&t->processes, &key);

	if (p && !--p->live)
		grt_keyed_remove(&t->processes, p);
}

/* The group has ended, and another one may get its identity. */
static int tsg_move_to_past(struct grt_tsgs *t, struct grt_tsg *g)
{
	if (t->past_used == GRT_TSGS_MAX)
		t->over++;
	else if (grt_grow(&t->past, &t->past_room, t->past_used + 1, 64))
		return -ENOMEM;
	else
		t->past[t->past_used++] = *g;
	leave_process(t, g->pid);
	leave_place(t, g);
	return 0;
}

/* Return: whether the driver did not make the group, according to its TSG_INIT. */
bool grt_tsg_never_was(const struct grt_event *e)
{
	const struct grt_ev_tsg_init *ev = (const struct grt_ev_tsg_init *)e;

	/* a group that was made although nothing answered (-ENOTTY) has a timeslice */
	return e->type == GRT_EV_TSG_INIT && ev->status && !ev->timeslice;
}

/* Return: whether group and event agree in all members that are known of both. */
static bool tsg_fits(const struct grt_tsg *g, const struct grt_tsg_event *t)
{
	return (t->runlist == UNKNOWN || g->runlist == UNKNOWN || t->runlist == g->runlist) &&
	       (!t->bus || !g->bus || t->bus == g->bus);
}

/*
 * Return: whether an event belongs rather to this group: to the one that was made first, except that each
 * group is scheduled before one is scheduled again.
 */
static bool is_likelier(const struct grt_tsg *g, const struct grt_tsg *than, const struct grt_tsg_event *t)
{
	if (t->e.type == GRT_EV_TSG_SCHEDULE && !g->schedules != !than->schedules)
		return !g->schedules;
	return g->number < than->number;
}

/* If an event may belong to several groups, the members in which they differ are inferred. */
static void mark_inferred(struct grt_tsgs *t, const struct grt_tsg_event *ev, uint32_t places)
{
	for (uint32_t place = 0; place < places; place++) {
		const struct grt_key key = key_of_number(ev->e.pid, ev->grp, place);
		struct grt_tsg *g = grt_keyed_find(&t->live, &key);

		g->inferred |= tsg_fits(g, ev);
	}
}

/*
 * The group of an event without handles. @places: groups of this process and number; @next is the key of the
 * next one.
 */
static struct grt_tsg *find_by_number(struct grt_tsgs *t, const struct grt_tsg_event *ev,
				      struct grt_key *next)
{
	struct grt_tsg *best = NULL, *g;
	uint32_t places = 0, fit = 0;

	for (;; places++) {
		*next = key_of_number(ev->e.pid, ev->grp, places);
		g = grt_keyed_find(&t->live, next);
		if (!g)
			break;
		if (ev->e.type == GRT_EV_TSG_INIT || !tsg_fits(g, ev))
			continue;
		fit++;
		if (!best || is_likelier(g, best, ev))
			best = g;
	}
	if (fit > 1)
		mark_inferred(t, ev, places);
	return best;
}

/* Return: 0, with *out NULL: there is no room, which is counted; or -ENOMEM */
static int tsg_begin_at(struct grt_tsgs *t, const struct grt_tsg_event *ev, const struct grt_key *key,
			const struct grt_names *names, struct grt_tsg **out)
{
	const struct grt_key pid = {{ev->e.pid}};
	void *found = NULL, *process = NULL;
	struct process *p;
	int ret = 0;

	*out = NULL;
	if (key->w[1] >> 32 == 2 && (uint32_t)key->w[1] >= GRT_TSG_NAMESAKES_MAX)
		t->over++;
	else
		ret = grt_keyed_get_or_count(&t->live, key, &t->over, &found);
	if (!found)
		return ret;
	ret = grt_keyed_get_or_count(&t->processes, &pid, NULL, &process);
	if (ret)
		return ret;
	*out = found;
	begin_group(*out, ev, t->met++);
	p = process;
	if (!p)
		return 0;
	if (!p->live++)
		p->name = grt_names_find(names, GRT_NAME_THREAD, ev->e.tid);
	(*out)->process = p->name;
	return 0;
}

static int find_or_begin(struct grt_tsgs *t, const struct grt_tsg_event *ev, const struct grt_names *names,
			 struct grt_tsg **out)
{
	struct grt_key key = grt_tsg_key(ev);
	struct grt_tsg *g = ev->client ? grt_keyed_find(&t->live, &key) : find_by_number(t, ev, &key);

	if (g && ev->e.type == GRT_EV_TSG_INIT) {
		if (tsg_move_to_past(t, g))
			return -ENOMEM;
		g = NULL;
	}
	*out = g;
	return g ? 0 : tsg_begin_at(t, ev, &key, names, out);
}

int grt_tsgs_event(struct grt_tsgs *t, const struct grt_event *e, const struct grt_names *names)
{
	const struct grt_tsg_event *ev = (const struct grt_tsg_event *)e;
	struct grt_tsg *g;
	int ret;

	if (e->type == GRT_EV_GPU_SLICE)
		return grt_tsg_times_slice(&t->times, (const struct grt_ev_gpu_slice *)e, names);
	if (e->type >= GRT_EV_MAX || !see[e->type] || grt_tsg_never_was(e))
		return 0;
	ret = find_or_begin(t, ev, names, &g);
	if (ret || !g)
		return ret;
	tsg_learn(g, ev);
	ret = grt_tsg_times_event(&t->times, e, g);
	if (ret)
		return ret;
	see[e->type](g, e);
	ret = grt_tsg_channels_event(&t->channels, e, g);
	return ret || !g->died ? ret : tsg_move_to_past(t, g);
}

/* ------------------------------------------------------------------ lists */

static int by_first(const void *a, const void *b)
{
	const struct grt_tsg *x = a, *y = b;

	return x->first != y->first ? (x->first < y->first ? -1 : 1) : strcmp(x->name, y->name);
}

static int tsg_by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct grt_tsg *)a)->number, y = ((const struct grt_tsg *)b)->number;

	return grt_compare(x, y);
}

static void add_subcontext(struct grt_tsg *g, const struct grt_tsg_channel *ch)
{
	size_t used = strlen(g->veids);
	char veid[12] = "?";

	g->subcontexts++;
	if (ch->veid != UNKNOWN)
		snprintf(veid, sizeof(veid), "%" PRIu32, ch->veid);
	if (used + strlen(veid) + 6 < sizeof(g->veids))
		snprintf(g->veids + used, sizeof(g->veids) - used, "%s%s", used ? " " : "", veid);
	else if (!strstr(g->veids, "..."))
		snprintf(g->veids + used, sizeof(g->veids) - used, " ...");
}

/* @ch: the @n channels of a group, by subcontext; of one that is older than the trace they are not all */
static void count_subcontexts(struct grt_tsg *g, const struct grt_tsg_channel *ch, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (!g->born || ch[i].subcontext == UNKNOWN)
			return;
	g->subcontexts = 0;
	for (uint64_t i = 0; i < n; i++)
		if (ch[i].subcontext &&
		    (!i || ch[i].subcontext != ch[i - 1].subcontext || ch[i].veid != ch[i - 1].veid))
			add_subcontext(g, &ch[i]);
}

/* Both are sorted by the groups' numbers. */
static void join_channels(struct grt_tsg *g, uint64_t groups, const struct grt_tsg_channel *ch, uint64_t n)
{
	for (uint64_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && ch[end].group == ch[i].group;)
			end++;
		while (groups && g->number < ch[i].group)
			g++, groups--;
		if (groups && g->number == ch[i].group)
			count_subcontexts(g, ch + i, end - i);
	}
}

int64_t grt_tsgs_list(const struct grt_tsgs *t, struct grt_tsg **out, struct grt_tsg_channel **channel,
		      int64_t *channels)
{
	uint64_t n = 0;

	*out = calloc((size_t)t->past_used + t->live.used + 1, sizeof(**out));
	*channels = grt_tsg_channels_list(&t->channels, channel);
	if (!*out || *channels < 0)
		return -ENOMEM;
	for (; n < t->past_used; n++)
		(*out)[n] = t->past[n];
	for (const struct grt_tsg *g = grt_keyed_oldest(&t->live); g; g = grt_keyed_next(&t->live, g))
		(*out)[n++] = *g;
	qsort(*out, n, sizeof(**out), tsg_by_number);
	join_channels(*out, n, *channel, (uint64_t)*channels);
	qsort(*out, n, sizeof(**out), by_first);
	return (int64_t)n;
}

static int by_runlist(const void *a, const void *b)
{
	const struct grt_tsg *x = *(const struct grt_tsg *const *)a, *y = *(const struct grt_tsg *const *)b;

	return grt_compare(x->bus, y->bus)
	       ?: grt_compare(x->runlist, y->runlist)
	       ?: grt_compare(x->pid, y->pid);
}

/* The largest number of @n groups that existed at the same time. Return: this number, or -ENOMEM */
static int64_t most_at_once(const struct grt_tsg *const *g, uint64_t n)
{
	uint64_t *birth = calloc(n, sizeof(*birth)), *death = calloc(n, sizeof(*death)), d = 0, most = 0;

	for (uint64_t i = 0; birth && death && i < n; i++) {
		birth[i] = g[i]->first;
		death[i] = g[i]->died ? g[i]->last : UINT64_MAX;
	}
	if (birth && death) {
		qsort(birth, n, sizeof(*birth), grt_compare_u64);
		qsort(death, n, sizeof(*death), grt_compare_u64);
	}
	for (uint64_t b = 0; birth && death && b < n; b++) {
		while (death[d] < birth[b])
			d++;
		most = b + 1 - d > most ? b + 1 - d : most;
	}
	free(birth);
	free(death);
	return birth && death ? (int64_t)most : -ENOMEM;
}

static void tsg_add_process(struct grt_tsg_runlist *r, uint32_t pid)
{
	size_t used = strlen(r->pids);

	r->processes++;
	if (used + 16 < sizeof(r->pids))
		snprintf(r->pids + used, sizeof(r->pids) - used, "%s%" PRIu32, used ? " " : "", pid);
	else if (!strstr(r->pids, "..."))
		snprintf(r->pids + used, sizeof(r->pids) - used, " ...");
}

/* @g: groups of one runlist, sorted by process */
static int tsg_sum_up(struct grt_tsg_runlist *r, const struct grt_tsg *const *g, uint64_t n)
{
	int64_t most = most_at_once(g, n);

	if (most < 0)
		return -ENOMEM;
	*r = (struct grt_tsg_runlist){.bus = g[0]->bus, .runlist = g[0]->runlist, .groups = n};
	r->at_once = (uint64_t)most;
	memcpy(r->gpu, g[0]->gpu, sizeof(r->gpu));
	memcpy(r->engine, g[0]->engine, sizeof(r->engine));
	for (uint64_t i = 0; i < n; i++)
		if (!i || g[i]->pid != g[i - 1]->pid)
			tsg_add_process(r, g[i]->pid);
	return 0;
}

int64_t grt_tsgs_runlists(const struct grt_tsg *list, uint64_t n, struct grt_tsg_runlist **out)
{
	const struct grt_tsg **g = calloc(n + 1, sizeof(*g));
	uint64_t known = 0, end;
	int64_t rows = 0;

	*out = calloc(n + 1, sizeof(**out));
	for (uint64_t i = 0; g && i < n; i++)
		if (list[i].runlist != UNKNOWN)
			g[known++] = &list[i];
	if (g)
		qsort(g, known, sizeof(*g), by_runlist);
	for (uint64_t i = 0; *out && rows >= 0 && i < known; i = end) {
		for (end = i; end < known && g[end]->bus == g[i]->bus && g[end]->runlist == g[i]->runlist;)
			end++;
		rows = tsg_sum_up(&(*out)[rows], g + i, end - i) ? -ENOMEM : rows + 1;
	}
	if (!g || !*out)
		rows = -ENOMEM;
	free(g);
	return rows;
}

void grt_tsgs_free(struct grt_tsgs *t)
{
	grt_keyed_free(&t->live);
	grt_keyed_free(&t->processes);
	free(t->past);
	grt_tsg_channels_free(&t->channels);
	grt_tsg_times_free(&t->times);
	grt_tsgs_init(t);
}
