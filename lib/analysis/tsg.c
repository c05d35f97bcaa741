// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The groups and runlists of tsg.h. */
#include "tsg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <grtrace/tsg.h>

#include "core/bus.h"
#include "core/grow.h"
#include "core/nv_codes.h"

#define UNKNOWN UINT32_MAX

void grt_tsgs_init(struct grt_tsgs *t)
{
	*t = (struct grt_tsgs){.past = NULL};
	grt_keyed_init(&t->live, sizeof(struct grt_tsg), GRT_TSGS_MAX);
	grt_tsg_channels_init(&t->channels);
}

/* ------------------------------------------------------------------ identity */

struct grt_key grt_tsg_key(const struct grt_tsg_event *t)
{
	struct grt_key key = {{0}};

	if (t->client) {
		key.w[0] = (uint64_t)t->client << 32 | t->tsg;
		/* an unknown group of a client: not that of another process */
		key.w[1] = t->tsg ? 0 : (uint64_t)1 << 32 | t->e.pid;
	} else {
		key.w[0] = (uint64_t)t->bus << 32 | t->grp;
		key.w[1] = (uint64_t)2 << 32 | t->runlist;
	}
	return key;
}

static void name_group(struct grt_tsg *g, const struct grt_tsg_event *t)
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
	name_group(g, t);
}

/* What is known stays known. */
static void learn(struct grt_tsg *g, const struct grt_tsg_event *t)
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

	g->schedules++;
	g->refused += ev->status != 0;
	g->timeslice = ev->timeslice ? ev->timeslice : g->timeslice;
	g->interleave = ev->interleave != UNKNOWN ? ev->interleave : g->interleave;
	if (ev->channels != UNKNOWN)
		count_channels(g, ev->channels);
}

static void see_token(struct grt_tsg *g, const struct grt_event *e)
{
	g->tokens++;
	g->refused += ((const struct grt_ev_tsg_token *)e)->status != 0;
}

static void see_channel(struct grt_tsg *g, const struct grt_event *e)
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
	[GRT_EV_TSG_INIT] = see_init,	[GRT_EV_TSG_SCHEDULE] = see_schedule,
	[GRT_EV_TSG_TOKEN] = see_token, [GRT_EV_TSG_CHANNEL] = see_channel,
	[GRT_EV_TSG_SET] = see_set,	[GRT_EV_TSG_DESTROY] = see_destroy,
};

/* It is over: its identity may come again. */
static int bury(struct grt_tsgs *t, struct grt_tsg *g)
{
	if (t->past_used == GRT_TSGS_MAX)
		t->over++;
	else if (grt_grow(&t->past, &t->past_room, t->past_used + 1, 64))
		return -ENOMEM;
	else
		t->past[t->past_used++] = *g;
	grt_keyed_remove(&t->live, g);
	return 0;
}

/* A group that the driver did not make: told by its TSG_INIT alone. */
bool grt_tsg_never_was(const struct grt_event *e)
{
	const struct grt_ev_tsg_init *ev = (const struct grt_ev_tsg_init *)e;

	/* what counts as done although nobody answered (-ENOTTY) has a timeslice */
	return e->type == GRT_EV_TSG_INIT && ev->status && !ev->timeslice;
}

int grt_tsgs_event(struct grt_tsgs *t, const struct grt_event *e)
{
	const struct grt_tsg_event *ev = (const struct grt_tsg_event *)e;
	struct grt_key key;
	struct grt_tsg *g;
	void *found;
	int ret;

	if (e->type >= GRT_EV_MAX || !see[e->type] || grt_tsg_never_was(e))
		return 0;
	key = grt_tsg_key(ev);
	g = grt_keyed_find(&t->live, &key);
	if (g && e->type == GRT_EV_TSG_INIT) {
		ret = bury(t, g);
		if (ret)
			return ret;
	}
	ret = grt_keyed_get_or_count(&t->live, &key, &t->over, &found);
	g = found;
	if (!g)
		return ret;
	if (!g->first && !g->last)
		begin_group(g, ev, t->met++);
	learn(g, ev);
	see[e->type](g, e);
	ret = grt_tsg_channels_event(&t->channels, e, g);
	return ret || !g->died ? ret : bury(t, g);
}

/* ------------------------------------------------------------------ lists */

static int by_first(const void *a, const void *b)
{
	const struct grt_tsg *x = a, *y = b;

	return x->first != y->first ? (x->first < y->first ? -1 : 1) : strcmp(x->name, y->name);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct grt_tsg *)a)->number, y = ((const struct grt_tsg *)b)->number;

	return (x > y) - (x < y);
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

/* Both are by the groups' numbers. */
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
	qsort(*out, n, sizeof(**out), by_number);
	join_channels(*out, n, *channel, (uint64_t)*channels);
	qsort(*out, n, sizeof(**out), by_first);
	return (int64_t)n;
}

static int by_runlist(const void *a, const void *b)
{
	const struct grt_tsg *x = *(const struct grt_tsg *const *)a, *y = *(const struct grt_tsg *const *)b;

	if (x->bus != y->bus)
		return x->bus < y->bus ? -1 : 1;
	if (x->runlist != y->runlist)
		return x->runlist < y->runlist ? -1 : 1;
	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : 0;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Most of @n groups that lived at the same time: births and deaths in their order. Return: or -ENOMEM */
static int64_t most_at_once(const struct grt_tsg *const *g, uint64_t n)
{
	uint64_t *birth = calloc(n, sizeof(*birth)), *death = calloc(n, sizeof(*death)), d = 0, most = 0;

	for (uint64_t i = 0; birth && death && i < n; i++) {
		birth[i] = g[i]->first;
		death[i] = g[i]->died ? g[i]->last : UINT64_MAX;
	}
	if (birth && death) {
		qsort(birth, n, sizeof(*birth), compare_u64);
		qsort(death, n, sizeof(*death), compare_u64);
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

static void add_process(struct grt_tsg_runlist *r, uint32_t pid)
{
	size_t used = strlen(r->pids);

	r->processes++;
	if (used + 16 < sizeof(r->pids))
		snprintf(r->pids + used, sizeof(r->pids) - used, "%s%" PRIu32, used ? " " : "", pid);
	else if (!strstr(r->pids, "..."))
		snprintf(r->pids + used, sizeof(r->pids) - used, " ...");
}

/* @g: of one runlist, by process */
static int sum_up(struct grt_tsg_runlist *r, const struct grt_tsg *const *g, uint64_t n)
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
			add_process(r, g[i]->pid);
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
		rows = sum_up(&(*out)[rows], g + i, end - i) ? -ENOMEM : rows + 1;
	}
	if (!g || !*out)
		rows = -ENOMEM;
	free(g);
	return rows;
}

void grt_tsgs_free(struct grt_tsgs *t)
{
	grt_keyed_free(&t->live);
	free(t->past);
	grt_tsg_channels_free(&t->channels);
	grt_tsgs_init(t);
}
