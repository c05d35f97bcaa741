// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The channels of tsg_channels.h. */
#include "tsg_channels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/tsg.h>

#include "base/grow.h"
#include "tsg.h"

#define UNKNOWN UINT32_MAX

void grt_tsg_channels_init(struct grt_tsg_channels *c)
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

int grt_tsg_channels_event(struct grt_tsg_channels *c, const struct grt_event *e, const struct grt_tsg *g)
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

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->subcontext != y->subcontext)
		return x->subcontext < y->subcontext ? -1 : 1;
	if (x->veid != y->veid)
		return x->veid < y->veid ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return strcmp(x->handle, y->handle);
}

int64_t grt_tsg_channels_list(const struct grt_tsg_channels *c, struct grt_tsg_channel **out)
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

void grt_tsg_channels_free(struct grt_tsg_channels *c)
{
	grt_keyed_free(&c->live);
	free(c->past);
	grt_tsg_channels_init(c);
}
