// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The decoder of decode.h. A kind of call is a row of a table: of ioctls, of
 * classes that are allocated, of controls. Lives are kept in a tree of handles:
 *
 *	file > client > device > group > share, channel
 *
 * where a group also goes with its address space, a channel with that and with
 * its share, and a channel without a group has a hidden one of its own, which is
 * called by the channel's handle. Memory is below a device, a client, or what else
 * it was made below; duplicates share it, and a process has it as long as one of
 * its handles is there. A handle that is used and unknown is older
 * than the capture: what belongs to it is known in part.
 *
 * Rules of the driver that this rests on: clients belong to the open file that
 * made them; a free takes descendants and dependants along; a duplicate shares
 * its object, which goes with the last of them (rs_server.c, rs_client.c,
 * kernel_channel_group_api.c).
 */
#include "decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/tsg.h>

#include "codes/nv_abi.h"
#include "base/containers.h"
#include "codes/nv_codes.h"
#include "tree.h"

#define UNKNOWN UINT32_MAX

/* Most GPUs whose address is remembered, by the driver's number of them. */
#define GPUS 64
/* Most pairs of GPU and engine whose runlist is remembered. */
#define RUNLISTS 512

/*
 * Most ends of files that wait for grt_nv_settle(); if there are more, the oldest is dropped, and its file
 * goes without a cause.
 */
#define HINTS_MAX 8192

/* TSG_DESTROY.cause */
enum cause {
	CAUSE_UNKNOWN,
	CAUSE_FREED,
	CAUSE_OWNER,
	CAUSE_CLOSED,
	CAUSE_EXIT,
};

/* enum grt_nv_node.kind */
enum kind {
	KIND_OTHER,
	KIND_FILE,
	KIND_CLIENT,
	KIND_DEVICE,
	KIND_GROUP,
	KIND_SHARE,
	KIND_CHANNEL,
	KIND_MEMORY,
};

/**
 * struct grt_nv_group - a channel group
 * @refs: handles of it, and channels in it
 * @instance: the driver's number of its GPU
 * @grp: the hardware's number of it
 * @partly: its birth was not seen
 * @alone: hidden, of one channel
 * @mig: its engine may be of a part of the GPU
 */
struct grt_nv_group {
	uint32_t refs;
	uint32_t client;
	uint32_t tsg;
	uint32_t instance;
	uint32_t engine;
	uint32_t runlist;
	uint32_t grp;
	uint32_t channels;
	uint32_t interleave;
	uint64_t timeslice;
	bool partly;
	bool alone;
	bool mig;
};

/**
 * struct grt_nv_channel - a channel
 * @subctx: handle of its context share, 0: none was named
 * @veid: the number of that subcontext
 * @context: the driver's number of the channel, 0: unknown
 * @group: NULL: unknown which
 */
struct grt_nv_channel {
	uint32_t refs;
	uint32_t client;
	uint32_t handle;
	uint32_t chid;
	uint32_t subctx;
	uint32_t veid;
	uint32_t context;
	struct grt_nv_group *group;
};

/**
 * struct grt_nv_memory - memory that the driver gave
 * @handle: those of it, by @sibling, of which there are @handles
 * @owner: process that has it
 */
struct grt_nv_memory {
	struct grt_nv_node *handle;
	uint32_t handles;
	uint32_t client;
	uint32_t object;
	uint32_t bus;
	uint32_t owner;
	uint32_t class;
	uint32_t attr;
	uint16_t place;
	uint64_t bytes;
};

/**
 * struct runlist - the runlist of an engine's channels
 * @mixed: several were seen
 */
struct runlist {
	uint32_t gpu;
	uint32_t engine;
	uint32_t runlist;
	bool mixed;
};

/**
 * struct grt_nv - a decoder
 * @gpu: PCI addresses by the driver's number of a GPU, 0: unknown
 * @hint: ends of files, of which there are @hints
 * @missed: files that are not open any more for an unknown reason
 */
struct grt_nv {
	struct grt_nv_setup setup;
	struct grt_nv_tree objects;
	struct grt_nv_tree files;
	struct grt_nv_count count;
	uint32_t gpu[GPUS];
	struct runlist runlist[RUNLISTS];
	unsigned int runlists;
	struct grt_nv_call *hint;
	unsigned int hints;
	unsigned int hint_room;
	unsigned int missed;
};

/**
 * struct end - why something goes
 * @at: where and when
 * @cause: of what goes along; the target itself was freed if that is CAUSE_OWNER
 * @target: NULL: none was named
 */
struct end {
	const struct grt_nv_call *at;
	enum cause cause;
	const struct grt_nv_node *target;
	const struct grt_nv_group *group;
};

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t decode_key_of(uint32_t client, uint32_t handle)
{
	return (uint64_t)client << 32 | handle;
}

static struct grt_nv_node *decode_find(const struct grt_nv *d, uint32_t client, uint32_t handle)
{
	return grt_nv_tree_find(&d->objects, decode_key_of(client, handle));
}

/* ------------------------------------------------------------------ events */

static uint32_t decode_bus_of(const struct grt_nv *d, uint32_t instance)
{
	if (instance < GPUS && d->gpu[instance])
		return d->gpu[instance];
	return d->setup.only_gpu;
}

static void decode_begin(const struct grt_nv *d, struct grt_event *e, enum grt_event_type type, size_t size,
			 const struct grt_nv_call *c, const struct grt_nv_group *g)
{
	struct grt_tsg_event *t = (struct grt_tsg_event *)e;

	e->time = c->time;
	e->type = (uint16_t)type;
	e->size = (uint16_t)size;
	e->flags = GRT_FLAG_BPF;
	e->pid = c->pid;
	e->tid = c->tid;
	e->ring = GRT_RING_NONE;
	t->client = g->client;
	t->tsg = g->tsg;
	t->bus = decode_bus_of(d, g->instance);
	t->grp = g->grp;
	t->runlist = g->runlist;
	t->nv_engine = g->engine;
	e->engine = (uint8_t)grt_nv_engine_of(g->engine);
}

/* BEGIN(ev, TYPE, ...): sets what all events have */
#define BEGIN(d, ev, TYPE, c, g) decode_begin(d, &(ev)->e, GRT_EV_##TYPE, sizeof(*(ev)), c, g)

static int decode_put(const struct grt_nv *d, struct grt_event *e, const struct grt_nv_call *c)
{
	return d->setup.emit(d->setup.arg, e, c->cpu);
}

static int put_init(const struct grt_nv *d, const struct grt_nv_call *c, const struct grt_nv_group *g,
		    uint32_t status)
{
	struct grt_ev_tsg_init ev = {
		.timeslice = g->timeslice,
		.interleave = g->interleave,
		.status = status,
	};

	BEGIN(d, &ev, TSG_INIT, c, g);
	if (g->alone)
		ev.e.flags |= GRT_FLAG_INFERRED;
	return decode_put(d, &ev.e, c);
}

static int put_channel(const struct grt_nv *d, const struct grt_nv_call *c, const struct grt_nv_channel *ch,
		       bool bound, bool inferred)
{
	struct grt_ev_tsg_channel ev = {
		.channel = ch->handle,
		.channel_client = ch->client,
		.chid = ch->chid,
		.channels = ch->group->channels,
		.bound = bound,
		.subctx = ch->subctx,
		.veid = ch->veid,
		.context = ch->context,
	};

	BEGIN(d, &ev, TSG_CHANNEL, c, ch->group);
	if (inferred)
		ev.e.flags |= GRT_FLAG_INFERRED;
	return decode_put(d, &ev.e, c);
}

static int put_destroy(const struct grt_nv *d, const struct end *why, const struct grt_nv_group *g)
{
	struct grt_ev_tsg_destroy ev = {.cause = why->group == g ? CAUSE_FREED : why->cause};

	BEGIN(d, &ev, TSG_DESTROY, why->at, g);
	if (ev.cause != CAUSE_FREED)
		ev.e.flags |= GRT_FLAG_INFERRED;
	return decode_put(d, &ev.e, why->at);
}

/* ------------------------------------------------------------------ groups, channels */

/* The values of a group whose creation was not recorded. */
static const struct grt_nv_group no_group = {
	.instance = UNKNOWN,
	.runlist = UNKNOWN,
	.grp = UNKNOWN,
	.channels = UNKNOWN,
	.interleave = UNKNOWN,
};

static struct grt_nv_group *group_new(void)
{
	struct grt_nv_group *g = malloc(sizeof(*g));

	if (g)
		*g = no_group;
	return g;
}

static int group_put(const struct grt_nv *d, struct grt_nv_group *g, const struct end *why)
{
	int ret = 0;

	if (--g->refs)
		return 0;
	if (why)
		ret = put_destroy(d, why, g);
	free(g);
	return ret;
}

static struct grt_nv_channel *channel_new(uint32_t client, uint32_t handle)
{
	struct grt_nv_channel *ch = malloc(sizeof(*ch));

	if (ch)
		*ch = (struct grt_nv_channel){.refs = 1,
					      .client = client,
					      .handle = handle,
					      .chid = UNKNOWN,
					      .subctx = UNKNOWN,
					      .veid = UNKNOWN};
	return ch;
}

static int decode_channel_put(const struct grt_nv *d, struct grt_nv_channel *ch, const struct end *why,
			      bool inferred)
{
	struct grt_nv_group *g = ch->group;
	int ret = 0, failed;

	if (--ch->refs)
		return 0;
	if (g && g->channels && g->channels != UNKNOWN)
		g->channels--;
	if (g && why)
		ret = put_channel(d, why->at, ch, false, inferred);
	free(ch);
	failed = g ? group_put(d, g, why) : 0;
	return ret ? ret : failed;
}

/* Sets the GPU and the kind of work from the handle; a group that is partly known may learn them. */
static void learn_runlist(struct grt_nv *d, const struct grt_nv_group *g, uint32_t runlist)
{
	uint32_t gpu = decode_bus_of(d, g->instance);
	struct runlist *r = d->runlist;

	if (!gpu || !g->engine || g->mig)
		return;
	while (r < d->runlist + d->runlists && (r->gpu != gpu || r->engine != g->engine))
		r++;
	if (r == d->runlist + RUNLISTS)
		return;
	if (r < d->runlist + d->runlists) {
		r->mixed |= r->runlist != runlist;
		return;
	}
	d->runlists++;
	*r = (struct runlist){.gpu = gpu, .engine = g->engine, .runlist = runlist};
}

static uint32_t known_runlist(const struct grt_nv *d, const struct grt_nv_group *g)
{
	uint32_t gpu = decode_bus_of(d, g->instance);

	for (const struct runlist *r = d->runlist; r < d->runlist + d->runlists && gpu && !g->mig; r++)
		if (r->gpu == gpu && r->engine == g->engine && !r->mixed)
			return r->runlist;
	return UNKNOWN;
}

/* ------------------------------------------------------------------ memory */

/* The process to which a handle belongs: the one that made its client. */
static uint32_t memory_process(const struct grt_nv_node *n)
{
	const struct grt_nv_node *client = grt_nv_tree_owner(n, KIND_CLIENT);

	return client ? client->number : 0;
}

/* If it is unknown who closed the last descriptor, the event is of the process that had the memory. */
static int put_memory(const struct grt_nv *d, const struct grt_nv_call *c, const struct grt_nv_memory *m,
		      enum grt_nv_memory_what what, uint32_t cause, uint32_t status)
{
	struct grt_ev_nv_memory ev = {
		.e = {.time = c->time,
		      .type = GRT_EV_NV_MEMORY,
		      .size = sizeof(ev),
		      .flags = GRT_FLAG_BPF,
		      .pid = c->pid ? c->pid : m->owner,
		      .tid = c->pid ? c->tid : m->owner,
		      .ring = GRT_RING_NONE},
		.bytes = m->bytes,
		.client = m->client,
		.object = m->object,
		.bus = m->bus,
		.owner = m->owner,
		.memory_class = m->class,
		.attr = m->attr,
		.what = (uint16_t)what,
		.place = m->place,
		.handles = m->handles,
		.cause = cause,
		.status = status,
	};

	if (what != GRT_NV_MEMORY_FREED && what != GRT_NV_MEMORY_PASSED) {
		ev.user = c->user;
		ev.kernel = c->kernel;
	}
	if (what == GRT_NV_MEMORY_PASSED || (what == GRT_NV_MEMORY_FREED && cause != CAUSE_FREED))
		ev.e.flags |= GRT_FLAG_INFERRED;
	return d->setup.memory ? decode_put(d, &ev.e, c) : 0;
}

static void memory_hold(struct grt_nv_memory *m, struct grt_nv_node *n)
{
	n->memory = m;
	n->sibling = m->handle;
	m->handle = n;
	m->handles++;
}

/*
 * Return: the process that has the memory from now on, if the owner's last handle was removed. Handles that
 * are removed with it do not count.
 */
static uint32_t memory_next_owner(const struct grt_nv_memory *m)
{
	uint32_t next_owner = 0, process;

	for (const struct grt_nv_node *n = m->handle; n && next_owner != m->owner; n = n->sibling) {
		process = n->is_doomed ? 0 : memory_process(n);
		next_owner = process && (!next_owner || process == m->owner) ? process : next_owner;
	}
	return next_owner ? next_owner : m->owner;
}

/* Removes a handle. @why NULL: without an event */
static int memory_release(const struct grt_nv *d, struct grt_nv_node *n, const struct end *why)
{
	struct grt_nv_memory *m = n->memory;
	struct grt_nv_node **at = &m->handle;
	uint32_t cause = why && why->target == n && why->cause == CAUSE_OWNER ? CAUSE_FREED
			 : why						      ? why->cause
									      : CAUSE_UNKNOWN;
	uint32_t next_owner;
	int ret = 0;

	while (*at != n)
		at = &(*at)->sibling;
	*at = n->sibling;
	n->memory = NULL;
	m->handles--;
	if (!m->handles) {
		ret = why ? put_memory(d, why->at, m, GRT_NV_MEMORY_FREED, cause, NV_OK) : 0;
		free(m);
		return ret;
	}
	next_owner = why ? memory_next_owner(m) : m->owner;
	if (next_owner != m->owner) {
		m->owner = next_owner;
		ret = put_memory(d, why->at, m, GRT_NV_MEMORY_PASSED, cause, NV_OK);
	}
	return ret;
}

/* ------------------------------------------------------------------ nodes */

/* Removes all nodes of a list of doomed nodes. @why NULL: without an event */
static int decode_drop(struct grt_nv *d, struct grt_nv_node *list, const struct end *why)
{
	struct grt_nv_node *next;
	int ret = 0, failed;

	for (struct grt_nv_node *n = list; n; n = next) {
		next = n->doomed;
		failed = 0;
		if (n->channel)
			failed = decode_channel_put(d, n->channel, why, why && n != why->target);
		else if (n->group)
			failed = group_put(d, n->group, why);
		else if (n->memory)
			failed = memory_release(d, n, why);
		ret = ret ? ret : failed;
		grt_nv_tree_remove(n->kind == KIND_FILE ? &d->files : &d->objects, n);
	}
	return ret;
}

static int free_node(struct grt_nv *d, struct grt_nv_node *n, struct end *why)
{
	why->target = n;
	why->group = why->cause == CAUSE_OWNER && n->kind == KIND_GROUP ? n->group : NULL;
	return decode_drop(d, grt_nv_tree_doom(n), why);
}

/* Return: 0 with *out NULL: there is no room */
static int decode_add_node(struct grt_nv *d, struct grt_nv_tree *t, uint64_t key, enum kind kind,
			   struct grt_nv_node **out)
{
	int ret = grt_nv_tree_add(t, key, out);

	if (ret == -ENOSPC) {
		d->count.over++;
		return 0;
	}
	if (!ret)
		(*out)->kind = kind;
	return ret;
}

static int file_of(struct grt_nv *d, const struct grt_nv_call *c, struct grt_nv_node **out)
{
	int ret = 0;

	*out = c->file ? grt_nv_tree_find(&d->files, c->file) : NULL;
	if (!*out && c->file) {
		ret = decode_add_node(d, &d->files, c->file, KIND_FILE, out);
		if (*out)
			(*out)->born = c->time;
	}
	if (*out)
		(*out)->number = c->pid;
	return ret;
}

static int new_client(struct grt_nv *d, const struct grt_nv_call *c, uint32_t handle,
		      struct grt_nv_node **out)
{
	struct grt_nv_node *old = decode_find(d, handle, handle), *file;
	struct end why = {.at = c, .cause = CAUSE_UNKNOWN};
	int ret = old ? free_node(d, old, &why) : 0;

	if (!ret)
		ret = file_of(d, c, &file);
	if (!ret)
		ret = decode_add_node(d, &d->objects, decode_key_of(handle, handle), KIND_CLIENT, out);
	if (ret || !*out)
		return ret;
	(*out)->number = c->pid;
	grt_nv_tree_own(file, *out);
	return 0;
}

/* The client of a successful call; a client of another file is a new one with the same handle. */
static int decode_client_of(struct grt_nv *d, const struct grt_nv_call *c, uint32_t handle,
			    struct grt_nv_node **out)
{
	struct grt_nv_node *n = decode_find(d, handle, handle);

	*out = n;
	if (n && n->kind == KIND_CLIENT) {
		const struct grt_nv_node *file = n->owners[0].owner;

		if (!c->file || !file || file->key == c->file)
			return 0;
	}
	d->count.partly++;
	return new_client(d, c, handle, out);
}

/*
 * Makes a node for a new object. A node that still has this handle was removed unseen. @parent: handle of the
 * parent; if it is unknown, it is older, and the client is the owner.
 */
static int new_object(struct grt_nv *d, const struct grt_nv_call *c, uint32_t client, uint32_t parent,
		      uint32_t handle, enum kind kind, struct grt_nv_node **out)
{
	struct end why = {.at = c, .cause = CAUSE_UNKNOWN};
	struct grt_nv_node *owner, *above, *old;
	int ret = decode_client_of(d, c, client, &owner);

	*out = NULL;
	old = decode_find(d, client, handle);
	if (!ret && old && old != owner)
		ret = free_node(d, old, &why);
	if (ret || !owner || old == owner)
		return ret;
	ret = decode_add_node(d, &d->objects, decode_key_of(client, handle), kind, out);
	if (ret || !*out)
		return ret;
	above = decode_find(d, client, parent);
	/* a handle that is its own parent has no parent */
	grt_nv_tree_own(above && above != *out ? above : owner, *out);
	return 0;
}

/* ------------------------------------------------------------------ calls */

/* The driver's answer, or -errno if it gave none. */
static uint32_t status_at(const struct grt_nv_call *c, unsigned int offset)
{
	return c->ret < 0 ? (uint32_t)c->ret : get32(c->head + offset);
}

/* Return: whether the objects are now as the call requested. */
static bool is_done(const struct grt_nv *d, const struct grt_nv_call *c, unsigned int offset)
{
	if (c->ret >= 0)
		return get32(c->head + offset) == NV_OK;
	return d->setup.refused && c->ret == -ENOTTY && c->flags & GRT_NV_FOREIGN &&
	       get32(c->head + offset) == NV_OK;
}

/**
 * struct alloc - an NVOS21 or NVOS64
 * @params: NULL: they are missing, or serialised
 */
struct alloc {
	const struct grt_nv_call *c;
	uint32_t client;
	uint32_t parent;
	uint32_t handle;
	uint32_t class;
	uint32_t status;
	bool done;
	const uint8_t *params;
	uint32_t params_size;
};

/* Return: a field of the parameters; @unknown if they do not have it. */
static uint32_t param(const struct alloc *a, unsigned int offset, uint32_t unknown)
{
	return a->params && a->params_size >= offset + 4 ? get32(a->params + offset) : unknown;
}

static int alloc_client(struct grt_nv *d, const struct alloc *a)
{
	struct grt_nv_node *n;

	return a->done && a->handle ? new_client(d, a->c, a->handle, &n) : 0;
}

static int alloc_device(struct grt_nv *d, const struct alloc *a)
{
	struct grt_nv_node *n;
	int ret;

	if (!a->done)
		return 0;
	ret = new_object(d, a->c, a->client, a->parent, a->handle, KIND_DEVICE, &n);
	if (!ret && n)
		n->number = param(a, NV_DEVICE_ID, UNKNOWN);
	return ret;
}

static int alloc_space(struct grt_nv *d, const struct alloc *a)
{
	struct grt_nv_node *n;

	return a->done ? new_object(d, a->c, a->client, a->parent, a->handle, KIND_OTHER, &n) : 0;
}

static int alloc_share(struct grt_nv *d, const struct alloc *a)
{
	struct grt_nv_node *n;
	int ret;

	if (!a->done)
		return 0;
	d->count.subcontexts++;
	ret = new_object(d, a->c, a->client, a->parent, a->handle, KIND_SHARE, &n);
	if (ret || !n)
		return ret;
	n->number = param(a, NV_SHARE_SUBCONTEXT, UNKNOWN);
	grt_nv_tree_own(decode_find(d, a->client, param(a, NV_SHARE_VASPACE, 0)), n);
	return 0;
}

/* From now on, the client's engines may belong to a part of a GPU. */
static int alloc_partition(struct grt_nv *d, const struct alloc *a)
{
	struct grt_nv_node *client = decode_find(d, a->client, a->client);

	if (a->done && client)
		client->flag = true;
	return 0;
}

/* Sets the properties of a new group below @above. */
static void describe_new(const struct grt_nv *d, struct grt_nv_group *g, uint32_t client, uint32_t tsg,
			 const struct grt_nv_node *above, uint32_t engine)
{
	const struct grt_nv_node *c = decode_find(d, client, client);

	if (above && above->kind != KIND_DEVICE)
		above = grt_nv_tree_owner(above, KIND_DEVICE);
	g->client = client;
	g->tsg = tsg;
	g->instance = above ? above->number : UNKNOWN;
	g->engine = engine;
	g->mig = c && c->flag;
	g->runlist = known_runlist(d, g);
	g->timeslice = NV_TIMESLICE_US;
	g->interleave = NV_INTERLEAVE_MEDIUM;
	g->channels = 0;
}

static int refuse_group(const struct grt_nv *d, const struct alloc *a)
{
	struct grt_nv_group g = no_group;

	describe_new(d, &g, a->client, a->handle, decode_find(d, a->client, a->parent),
		     param(a, NV_GROUP_ENGINE, 0));
	g.timeslice = 0;
	g.interleave = g.runlist = UNKNOWN;
	return put_init(d, a->c, &g, a->status);
}

static int alloc_group(struct grt_nv *d, const struct alloc *a)
{
	struct grt_nv_group *g;
	struct grt_nv_node *n;
	int ret;

	if (!a->done)
		return refuse_group(d, a);
	ret = new_object(d, a->c, a->client, a->parent, a->handle, KIND_GROUP, &n);
	if (ret || !n)
		return ret;
	g = group_new();
	if (!g)
		return -ENOMEM;
	n->group = g;
	g->refs = 1;
	grt_nv_tree_own(decode_find(d, a->client, param(a, NV_GROUP_VASPACE, 0)), n);
	describe_new(d, g, a->client, a->handle, n->owners[0].owner, param(a, NV_GROUP_ENGINE, 0));
	d->count.unknown += !g->engine;
	return put_init(d, a->c, g, a->status);
}

/* Return: the offset of a field of a channel's parameters in the driver's branch. */
static unsigned int channel_field(const struct grt_nv *d, unsigned int at, unsigned int from_610)
{
	return d->setup.branch >= NV_CHANNEL_BRANCH_610 ? from_610 : at;
}

/* The hidden group of a channel that is made directly below a device. */
static int group_alone(struct grt_nv *d, const struct alloc *a, const struct grt_nv_node *device,
		       struct grt_nv_group **out)
{
	unsigned int at = channel_field(d, NV_CHANNEL_ENGINE, NV_CHANNEL_ENGINE_610);
	struct grt_nv_group *g = group_new();

	*out = g;
	if (!g)
		return -ENOMEM;
	g->alone = true;
	describe_new(d, g, a->client, a->handle, device, param(a, at, 0));
	return put_init(d, a->c, g, a->status);
}

/* The group to which a channel's parent, or its share, belongs; NULL: unknown. */
static struct grt_nv_group *group_above(const struct grt_nv *d, const struct alloc *a)
{
	struct grt_nv_node *share = decode_find(d, a->client, param(a, NV_CHANNEL_SHARE, 0));
	struct grt_nv_node *n = decode_find(d, a->client, a->parent);

	if (n && !n->group && share)
		n = grt_nv_tree_owner(share, KIND_GROUP);
	return n && n->kind == KIND_GROUP ? n->group : NULL;
}

static int enter_group(struct grt_nv *d, const struct alloc *a, struct grt_nv_channel *ch,
		       struct grt_nv_group *g)
{
	ch->group = g;
	if (!g)
		return 0;
	g->refs++;
	if (g->channels != UNKNOWN)
		g->channels++;
	return put_channel(d, a->c, ch, true, false);
}

/* A share that is older than the capture has a handle, but its number is unknown. */
static void join_share(const struct grt_nv *d, const struct alloc *a, struct grt_nv_node *n)
{
	struct grt_nv_node *share;

	n->channel->subctx = param(a, NV_CHANNEL_SHARE, UNKNOWN);
	if (n->channel->subctx == UNKNOWN)
		return;
	share = decode_find(d, a->client, n->channel->subctx);
	if (share && share->kind == KIND_SHARE)
		n->channel->veid = share->number;
	grt_nv_tree_own(share, n);
}

static int alloc_channel(struct grt_nv *d, const struct alloc *a)
{
	struct grt_nv_channel *ch;
	struct grt_nv_group *g;
	struct grt_nv_node *n;
	int ret = a->done ? new_object(d, a->c, a->client, a->parent, a->handle, KIND_CHANNEL, &n) : 0;

	if (!a->done || ret || !n)
		return ret;
	ch = channel_new(a->client, a->handle);
	if (!ch)
		return -ENOMEM;
	n->channel = ch;
	ch->context = param(a, channel_field(d, NV_CHANNEL_ID, NV_CHANNEL_ID_610), 0);
	g = group_above(d, a);
	if (!g && n->owners[0].owner->kind == KIND_DEVICE)
		ret = group_alone(d, a, n->owners[0].owner, &g);
	join_share(d, a, n);
	grt_nv_tree_own(decode_find(d, a->client, param(a, NV_CHANNEL_VASPACE, 0)), n);
	if (!ret || g)
		ret = enter_group(d, a, ch, g) ?: ret;
	return ret;
}

/* The GPU of an object below @parent. */
static uint32_t memory_bus(const struct grt_nv *d, uint32_t client, uint32_t parent)
{
	const struct grt_nv_node *above = decode_find(d, client, parent);

	if (above && above->kind != KIND_DEVICE)
		above = grt_nv_tree_owner(above, KIND_DEVICE);
	return decode_bus_of(d, above ? above->number : UNKNOWN);
}

/* The driver refused the request: its properties are known, and there is no object. */
static int refuse_memory(const struct grt_nv *d, const struct grt_nv_call *c, struct grt_nv_memory *m,
			 uint32_t status)
{
	m->handles = 0;
	m->owner = c->pid;
	return put_memory(d, c, m, GRT_NV_MEMORY_REFUSED, CAUSE_UNKNOWN, status);
}

/**
 * new_memory - memory that a call has given
 * @like: client, object, class, attributes, place and bytes of it
 */
static int new_memory(struct grt_nv *d, const struct grt_nv_call *c, const struct grt_nv_memory *like,
		      uint32_t parent)
{
	struct grt_nv_memory *m;
	struct grt_nv_node *n;
	int ret = new_object(d, c, like->client, parent, like->object, KIND_MEMORY, &n);

	if (ret || !n)
		return ret;
	m = malloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = *like;
	m->bus = memory_bus(d, m->client, parent);
	memory_hold(m, n);
	m->owner = memory_process(n);
	return put_memory(d, c, m, GRT_NV_MEMORY_ALLOCATED, CAUSE_UNKNOWN, NV_OK);
}

static uint16_t memory_place(uint32_t attr)
{
	return NV_MEM_LOCATION(attr) == NV_MEM_VIDMEM ? GRT_NV_MEMORY_OF_GPU : GRT_NV_MEMORY_OF_HOST;
}

static int alloc_memory(struct grt_nv *d, const struct alloc *a)
{
	bool local = a->class == NV_CLASS_MEMORY_LOCAL;
	struct grt_nv_memory m = {
		.client = a->client,
		.object = a->handle,
		.class = a->class,
		.attr = param(a, NV_MEM_ATTR, 0),
	};

	if (param(a, NV_MEM_FLAGS, 0) & NV_MEM_VIRTUAL)
		return a->done ? alloc_space(d, a) : 0;
	if (a->params && a->params_size >= NV_MEM_BYTES + 8)
		m.bytes = get64(a->params + NV_MEM_BYTES);
	else
		d->count.unsized++;
	m.place = local ? memory_place(m.attr) : GRT_NV_MEMORY_OF_HOST;
	return a->done ? new_memory(d, a->c, &m, a->parent) : refuse_memory(d, a->c, &m, a->status);
}

static const struct {
	uint32_t class;
	int (*alloc)(struct grt_nv *d, const struct alloc *a);
} classes[] = {
	{NV_CLASS_MEMORY_LOCAL, alloc_memory}, {NV_CLASS_MEMORY_SYSTEM, alloc_memory},
	{NV_CLASS_ROOT, alloc_client},	       {NV_CLASS_ROOT_NON_PRIV, alloc_client},
	{NV_CLASS_ROOT_CLIENT, alloc_client},  {NV_CLASS_DEVICE, alloc_device},
	{NV_CLASS_VASPACE, alloc_space},       {NV_CLASS_CONTEXT_SHARE, alloc_share},
	{NV_CLASS_CHANNEL_GROUP, alloc_group}, {NV_CLASS_SMC_PARTITION, alloc_partition},
};

static int on_alloc(struct grt_nv *d, const struct grt_nv_call *c)
{
	bool is_long = c->size == NV_ALLOC_SIZE_64;
	unsigned int status = is_long ? NV_ALLOC_STATUS_64 : NV_ALLOC_STATUS;
	bool packed = is_long && get32(c->head + NV_ALLOC_FLAGS_64) & NV_ALLOC_PACKED;
	const struct alloc a = {
		.c = c,
		.client = get32(c->head + NV_ALLOC_CLIENT),
		.parent = get32(c->head + NV_ALLOC_PARENT),
		.handle = get32(c->head + NV_ALLOC_OBJECT),
		.class = get32(c->head + NV_ALLOC_CLASS),
		.status = status_at(c, status),
		.done = is_done(d, c, status),
		.params = packed ? NULL : c->params,
		.params_size = c->params_size,
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].class == a.class)
			return classes[i].alloc(d, &a);
	return NV_CLASS_IS_CHANNEL(a.class) ? alloc_channel(d, &a) : 0;
}

static int on_free(struct grt_nv *d, const struct grt_nv_call *c)
{
	struct end why = {.at = c, .cause = CAUSE_OWNER};
	struct grt_nv_node *n =
		decode_find(d, get32(c->head + NV_FREE_CLIENT), get32(c->head + NV_FREE_OBJECT));

	return n && is_done(d, c, NV_FREE_STATUS) ? free_node(d, n, &why) : 0;
}

/* Memory of the host, by an ioctl of its own on the file of a GPU; its client belongs to another file. */
static int on_memory(struct grt_nv *d, const struct grt_nv_call *c)
{
	struct grt_nv_call on_client = *c;
	struct grt_nv_memory m = {
		.client = get32(c->head + NV_MEMORY_CLIENT),
		.object = get32(c->head + NV_MEMORY_OBJECT),
		.class = get32(c->head + NV_MEMORY_CLASS),
		.bytes = get64(c->head + NV_MEMORY_LIMIT) + 1,
		.place = GRT_NV_MEMORY_OF_HOST,
	};

	if (m.class != NV_CLASS_MEMORY_SYSTEM && m.class != NV_CLASS_MEMORY_OS_DESCRIPTOR)
		return 0;
	on_client.file = 0;
	if (!is_done(d, c, NV_MEMORY_STATUS))
		return refuse_memory(d, c, &m, status_at(c, NV_MEMORY_STATUS));
	return new_memory(d, &on_client, &m, get32(c->head + NV_MEMORY_PARENT));
}

/* Return: where a control of the heap has its attributes, by its function; 0: it allocates nothing. */
static unsigned int heap_attr(uint32_t function)
{
	switch (function) {
	case NV_HEAP_ALLOC_SIZE:
	case NV_HEAP_ALLOC_SIZE_RANGE:
		return NV_HEAP_ATTR;
	case NV_HEAP_ALLOC_DEPTH:
		return NV_HEAP_ATTR_DEPTH;
	case NV_HEAP_ALLOC_TILED:
		return NV_HEAP_ATTR_TILED;
	}
	return 0;
}

static int heap_free(struct grt_nv *d, const struct grt_nv_call *c)
{
	struct end why = {.at = c, .cause = CAUSE_OWNER};
	struct grt_nv_node *n =
		decode_find(d, get32(c->head + NV_HEAP_CLIENT), get32(c->params + NV_HEAP_OBJECT));

	return n && n->memory && is_done(d, c, NV_HEAP_STATUS) ? free_node(d, n, &why) : 0;
}

static int on_heap(struct grt_nv *d, const struct grt_nv_call *c)
{
	uint32_t function = get32(c->head + NV_HEAP_FUNCTION);
	unsigned int attr = heap_attr(function);
	struct grt_nv_memory m = {.client = get32(c->head + NV_HEAP_CLIENT)};

	if (!attr && function != NV_HEAP_FREE)
		return 0;
	if (c->params_size < NV_HEAP_BYTES + 8) {
		d->count.unknown++;
		return 0;
	}
	if (function == NV_HEAP_FREE)
		return heap_free(d, c);
	if (get32(c->params + NV_HEAP_FLAGS) & NV_MEM_VIRTUAL)
		return 0;
	m.object = get32(c->params + NV_HEAP_OBJECT);
	m.attr = get32(c->params + attr);
	m.bytes = get64(c->params + NV_HEAP_BYTES);
	m.place = memory_place(m.attr);
	m.class = m.place == GRT_NV_MEMORY_OF_GPU ? NV_CLASS_MEMORY_LOCAL : NV_CLASS_MEMORY_SYSTEM;
	if (!is_done(d, c, NV_HEAP_STATUS))
		return refuse_memory(d, c, &m, status_at(c, NV_HEAP_STATUS));
	return new_memory(d, c, &m, get32(c->head + NV_HEAP_PARENT));
}

/* From now on, the process shares the memory. */
static int share_memory(struct grt_nv *d, const struct grt_nv_call *c, struct grt_nv_memory *m,
			struct grt_nv_node *n)
{
	memory_hold(m, n);
	return put_memory(d, c, m, GRT_NV_MEMORY_SHARED, CAUSE_UNKNOWN, NV_OK);
}

static int dup_memory(struct grt_nv *d, const struct grt_nv_call *c, struct grt_nv_node *from)
{
	const uint8_t *h = c->head;
	struct grt_nv_memory *m = from->memory;
	/*
	 * the node that had the new handle may be the last one that holds this memory, or be the one that is
	 * duplicated
	 */
	struct grt_nv_node keep = {.kind = KIND_OTHER}, *n;
	const struct end why = {.at = c, .cause = CAUSE_UNKNOWN};
	int ret, failed;

	memory_hold(m, &keep);
	ret = new_object(d, c, get32(h + NV_DUP_CLIENT), get32(h + NV_DUP_PARENT), get32(h + NV_DUP_OBJECT),
			 KIND_MEMORY, &n);
	if (!ret && n) {
		m->handles--; /* the count is that of real handles */
		ret = share_memory(d, c, m, n);
		m->handles++;
	}
	failed = memory_release(d, &keep, &why);
	return ret ? ret : failed;
}

static int on_dup(struct grt_nv *d, const struct grt_nv_call *c)
{
	const uint8_t *h = c->head;
	struct grt_nv_node *from = decode_find(d, get32(h + NV_DUP_CLIENT_SRC), get32(h + NV_DUP_OBJECT_SRC)),
			   *n;
	struct grt_nv_channel *ch = from ? from->channel : NULL;
	struct grt_nv_group *g = from ? from->group : NULL;
	const struct end why = {.at = c, .cause = CAUSE_UNKNOWN};
	enum kind kind = from ? from->kind : KIND_OTHER;
	uint32_t number = from ? from->number : 0;
	int ret = 0;

	if (!from || kind == KIND_CLIENT || !is_done(d, c, NV_DUP_STATUS))
		return 0;
	if (from->memory)
		return dup_memory(d, c, from);
	/* what had the new handle may be the last that held this */
	if (ch)
		ch->refs++;
	if (g)
		g->refs++;
	ret = new_object(d, c, get32(h + NV_DUP_CLIENT), get32(h + NV_DUP_PARENT), get32(h + NV_DUP_OBJECT),
			 kind, &n);
	if (!ret && n) {
		n->channel = ch;
		n->group = g;
		n->number = number;
		return 0;
	}
	if (ch)
		decode_channel_put(d, ch, &why, true);
	if (g)
		group_put(d, g, &why);
	return ret;
}

static int on_version(struct grt_nv *d, const struct grt_nv_call *c)
{
	char text[5] = "";
	int branch;

	memcpy(text, c->head + NV_VERSION_TEXT, 4);
	branch = text[3] == '.' ? atoi(text) : 0;
	if (branch >= 100)
		d->setup.branch = (uint32_t)branch;
	return 0;
}

/* ------------------------------------------------------------------ controls */

/**
 * struct control - an NVOS54
 * @object: NULL: unknown
 * @params: as many bytes as the control's row says
 */
struct control {
	const struct grt_nv_call *c;
	uint32_t client;
	uint32_t handle;
	uint32_t status;
	bool done;
	struct grt_nv_node *object;
	const uint8_t *params;
};

/* The object of a control; an unknown object is older than the capture, and partly known from now on. */
static int decode_find_object(struct grt_nv *d, struct control *k, enum kind kind)
{
	struct grt_nv_node *n = decode_find(d, k->client, k->handle);
	int ret;

	k->object = n && n->kind == kind ? n : NULL;
	if (k->object || !k->done)
		return 0;
	ret = new_object(d, k->c, k->client, k->client, k->handle, kind, &n);
	if (ret || !n)
		return ret;
	d->count.partly++;
	if (kind == KIND_GROUP) {
		n->group = group_new();
		if (!n->group)
			return -ENOMEM;
		*n->group = no_group;
		n->group->refs = 1;
		n->group->client = k->client;
		n->group->tsg = k->handle;
		n->group->partly = true;
	} else {
		n->channel = channel_new(k->client, k->handle);
		if (!n->channel)
			return -ENOMEM;
	}
	k->object = n;
	return 0;
}

/* Return: the group of a control; if it is unknown, @unknown with what the event has. */
static struct grt_nv_group *decode_group_of(const struct control *k, struct grt_nv_group *unknown,
					    bool of_channel)
{
	struct grt_nv_node *n = k->object;
	struct grt_nv_group *g = n && n->channel ? n->channel->group : n ? n->group : NULL;

	*unknown = no_group;
	unknown->client = k->client;
	unknown->tsg = of_channel ? 0 : k->handle;
	return g ? g : unknown;
}

static uint32_t decode_chid_of(const struct control *k)
{
	return k->object && k->object->channel ? k->object->channel->chid : UNKNOWN;
}

static int put_schedule(struct grt_nv *d, const struct control *k, bool of_channel)
{
	struct grt_nv_group unknown, *g = decode_group_of(k, &unknown, of_channel);
	struct grt_ev_tsg_schedule ev = {
		.timeslice = g->timeslice,
		.interleave = g->interleave,
		.status = k->status,
		.channels = g->channels,
		.channel = of_channel ? k->handle : 0,
		.channel_client = of_channel ? k->client : 0,
		.chid = of_channel ? decode_chid_of(k) : UNKNOWN,
		.on = k->params[0] != 0,
	};

	BEGIN(d, &ev, TSG_SCHEDULE, k->c, g);
	return decode_put(d, &ev.e, k->c);
}

static int group_schedule(struct grt_nv *d, struct control *k)
{
	return decode_find_object(d, k, KIND_GROUP) ?: put_schedule(d, k, false);
}

static int channel_schedule(struct grt_nv *d, struct control *k)
{
	return decode_find_object(d, k, KIND_CHANNEL) ?: put_schedule(d, k, true);
}

static int decode_put_set(struct grt_nv *d, const struct control *k, uint64_t timeslice, uint32_t interleave,
			  bool of_channel)
{
	struct grt_nv_group unknown, *g = decode_group_of(k, &unknown, of_channel);
	struct grt_ev_tsg_set ev = {.timeslice = timeslice, .interleave = interleave, .status = k->status};

	if (k->done && timeslice)
		g->timeslice = timeslice;
	if (k->done && interleave <= NV_INTERLEAVE_HIGH)
		g->interleave = interleave;
	BEGIN(d, &ev, TSG_SET, k->c, g);
	return decode_put(d, &ev.e, k->c);
}

static int group_timeslice(struct grt_nv *d, struct control *k)
{
	return decode_find_object(d, k, KIND_GROUP) ?: decode_put_set(d, k, get64(k->params), UNKNOWN, false);
}

static int group_interleave(struct grt_nv *d, struct control *k)
{
	return decode_find_object(d, k, KIND_GROUP) ?: decode_put_set(d, k, 0, get32(k->params), false);
}

static int channel_interleave(struct grt_nv *d, struct control *k)
{
	return decode_find_object(d, k, KIND_CHANNEL) ?: decode_put_set(d, k, 0, get32(k->params), true);
}

/* A control that only reads tells the decoder something, and makes no event. */
static struct grt_nv_group *learn_about(struct grt_nv *d, struct control *k)
{
	struct grt_nv_node *n = k->done ? decode_find(d, k->client, k->handle) : NULL;

	return !n ? NULL : n->channel ? n->channel->group : n->group;
}

static int learn_timeslice(struct grt_nv *d, struct control *k)
{
	struct grt_nv_group *g = learn_about(d, k);

	if (g)
		g->timeslice = get64(k->params);
	return 0;
}

static int learn_interleave(struct grt_nv *d, struct control *k)
{
	struct grt_nv_group *g = learn_about(d, k);

	if (g && get32(k->params) <= NV_INTERLEAVE_HIGH)
		g->interleave = get32(k->params);
	return 0;
}

static int learn_number(struct grt_nv *d, struct control *k)
{
	struct grt_nv_group *g = learn_about(d, k);

	if (g)
		g->grp = get32(k->params);
	return 0;
}

/* gpuId is domain << 16 | bus << 8 | device. */
static int learn_gpu(struct grt_nv *d, struct control *k)
{
	uint32_t id = get32(k->params + NV_ID_INFO_GPU), instance = get32(k->params + NV_ID_INFO_INSTANCE);

	if (k->done && instance < GPUS)
		d->gpu[instance] = (id & ~0xffU) | (id & 0x1f) << 3;
	return 0;
}

/* Sets properties of channel and group from the bits of the token. */
static void learn_token(struct grt_nv *d, const struct control *k, struct grt_nv_group *g, uint32_t token)
{
	if (!k->done || token & ~NV_TOKEN_BITS)
		return;
	if (k->object && k->object->channel)
		k->object->channel->chid = NV_TOKEN_CHANNEL(token);
	if (d->setup.no_runlist)
		return;
	g->runlist = NV_TOKEN_RUNLIST(token);
	learn_runlist(d, g, g->runlist);
}

static int channel_token(struct grt_nv *d, struct control *k)
{
	struct grt_nv_group unknown, *g;
	struct grt_ev_tsg_token ev = {.channel = k->handle, .channel_client = k->client, .status = k->status};
	int ret = decode_find_object(d, k, KIND_CHANNEL);

	if (ret)
		return ret;
	g = decode_group_of(k, &unknown, true);
	if (k->done)
		ev.token = get32(k->params);
	learn_token(d, k, g, ev.token);
	ev.chid = k->done && !(ev.token & ~NV_TOKEN_BITS) ? NV_TOKEN_CHANNEL(ev.token) : UNKNOWN;
	BEGIN(d, &ev, TSG_TOKEN, k->c, g);
	return decode_put(d, &ev.e, k->c);
}

/* @size: bytes of the parameters that are needed */
static const struct {
	uint32_t cmd;
	uint32_t size;
	int (*control)(struct grt_nv *d, struct control *k);
} controls[] = {
	{NV_CTRL_GROUP_SCHEDULE, 1, group_schedule},
	{NV_CTRL_CHANNEL_SCHEDULE, 1, channel_schedule},
	{NV_CTRL_GET_TOKEN, 4, channel_token},
	{NV_CTRL_GROUP_SET_TIMESLICE, 8, group_timeslice},
	{NV_CTRL_GROUP_GET_TIMESLICE, 8, learn_timeslice},
	{NV_CTRL_GROUP_SET_INTERLEAVE, 4, group_interleave},
	{NV_CTRL_GROUP_GET_INTERLEAVE, 4, learn_interleave},
	{NV_CTRL_CHANNEL_SET_INTERLEAVE, 4, channel_interleave},
	{NV_CTRL_CHANNEL_GET_INTERLEAVE, 4, learn_interleave},
	{NV_CTRL_GROUP_GET_INFO, 4, learn_number},
	{NV_CTRL_GPU_GET_ID_INFO, 12, learn_gpu},
	{NV_CTRL_GPU_GET_ID_INFO_V2, 12, learn_gpu},
};

static int on_control(struct grt_nv *d, const struct grt_nv_call *c)
{
	uint32_t cmd = get32(c->head + NV_CONTROL_CMD), size = get32(c->head + NV_CONTROL_PARAMS_SIZE);
	struct control k = {
		.c = c,
		.client = get32(c->head + NV_CONTROL_CLIENT),
		.handle = get32(c->head + NV_CONTROL_OBJECT),
		.status = status_at(c, NV_CONTROL_STATUS),
		.done = is_done(d, c, NV_CONTROL_STATUS),
		.params = c->params,
	};

	if (size > c->params_size)
		size = c->params_size;
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		if (controls[i].cmd != cmd)
			continue;
		if (size >= controls[i].size && !(get32(c->head + NV_CONTROL_FLAGS) & NV_CONTROL_PACKED))
			return controls[i].control(d, &k);
		d->count.unknown++;
	}
	return 0;
}

/* ------------------------------------------------------------------ ioctls and files */

static const struct ioctl_kind {
	uint32_t nr;
	uint32_t size;
	uint32_t needs;
	int (*take)(struct grt_nv *d, const struct grt_nv_call *c);
} ioctls[] = {
	{NV_ESC_RM_CONTROL, NV_CONTROL_SIZE, NV_CONTROL_SIZE, on_control},
	{NV_ESC_RM_ALLOC, NV_ALLOC_SIZE, NV_ALLOC_SIZE, on_alloc},
	{NV_ESC_RM_ALLOC, NV_ALLOC_SIZE_64, NV_ALLOC_SIZE_64, on_alloc},
	{NV_ESC_RM_FREE, NV_FREE_SIZE, NV_FREE_SIZE, on_free},
	{NV_ESC_RM_DUP_OBJECT, NV_DUP_SIZE, NV_DUP_SIZE, on_dup},
	{NV_ESC_RM_ALLOC_MEMORY, NV_MEMORY_SIZE, NV_MEMORY_STATUS + 4, on_memory},
	{NV_ESC_RM_VID_HEAP_CONTROL, NV_HEAP_SIZE, GRT_NV_HEAD, on_heap},
	{NV_ESC_CHECK_VERSION, NV_VERSION_SIZE, NV_VERSION_TEXT + 4, on_version},
};

static int take_ioctl(struct grt_nv *d, const struct grt_nv_call *c)
{
	d->count.calls++;
	for (size_t i = 0; i < sizeof(ioctls) / sizeof(ioctls[0]); i++)
		if (ioctls[i].nr == c->nr && ioctls[i].size == c->size && ioctls[i].needs <= c->head_size)
			return ioctls[i].take(d, c);
	d->count.unknown++;
	return 0;
}

static int add_hint(struct grt_nv *d, const struct grt_nv_call *c)
{
	if (d->hints == HINTS_MAX)
		memmove(d->hint, d->hint + 1, --d->hints * sizeof(*d->hint));
	if (grt_grow(&d->hint, &d->hint_room, d->hints + 1, 16))
		return -ENOMEM;
	d->hint[d->hints++] = *c;
	return 0;
}

/*
 * Return: the hint from which the end of a file follows; @cause: what the hint shows. A process that has
 * inherited the file may have closed it before the process that uses it.
 */
static const struct grt_nv_call *decode_reason_of(const struct grt_nv *d, const struct grt_nv_node *file,
						  enum cause *cause)
{
	const struct grt_nv_call *found = NULL;

	for (unsigned int i = 0; i < d->hints && (!found || found->pid != file->number); i++) {
		const struct grt_nv_call *h = &d->hint[i];

		if (h->pid == file->number ? h->kind != GRT_NV_CLOSED || h->file == file->key
					   : !found && h->kind == GRT_NV_CLOSED && h->file == file->key)
			found = h;
	}
	*cause = !found ? CAUSE_UNKNOWN : found->kind == GRT_NV_EXIT ? CAUSE_EXIT : CAUSE_CLOSED;
	return found;
}

static int end_file(struct grt_nv *d, struct grt_nv_node *file, const struct grt_nv_call *otherwise)
{
	struct end why = {.target = NULL};

	why.at = decode_reason_of(d, file, &why.cause);
	if (!why.at)
		why.at = otherwise;
	return free_node(d, file, &why);
}

/* The previous file with this descriptor is gone in any case. */
static int on_opened(struct grt_nv *d, const struct grt_nv_call *c)
{
	struct grt_nv_node *file = grt_nv_tree_find(&d->files, c->file);

	return file ? end_file(d, file, c) : 0;
}

int grt_nv_call(struct grt_nv *d, const struct grt_nv_call *c)
{
	if (c->head_size > GRT_NV_HEAD || c->params_size > GRT_NV_PARAMS)
		return -EPROTO;
	if (c->kind == GRT_NV_IOCTL)
		return take_ioctl(d, c);
	if (c->kind == GRT_NV_OPENED)
		return on_opened(d, c);
	return c->kind <= GRT_NV_EXIT ? add_hint(d, c) : -EPROTO;
}

bool grt_nv_unsettled(const struct grt_nv *d)
{
	return d->hints || d->missed;
}

/**
 * struct settling - files that are checked
 * @gone: files to be removed, linked by @doomed
 */
struct settling {
	struct grt_nv *d;
	uint64_t looked;
	bool (*is_open)(void *arg, uint64_t file, uint32_t *pid);
	void *arg;
	struct grt_nv_node *gone;
};

/* Return: whether a process still has the file, whose end will be the file's end. */
static bool is_open_still(const struct settling *s, struct grt_nv_node *file)
{
	uint32_t pid = file->number;
	bool open = s->is_open(s->arg, file->key, &pid);

	if (open)
		file->number = pid;
	return open;
}

/*
 * Return: whether the file is gone. A process that ends loses its files a moment before its end is reported,
 * so a file that no process has, for an unknown reason, waits for the next check.
 */
static bool is_gone(const struct settling *s, struct grt_nv_node *file)
{
	const struct grt_nv_call *why;
	bool missed = file->flag;
	enum cause cause;

	file->flag = false;
	if (file->born >= s->looked || (s->is_open && is_open_still(s, file)))
		return false;
	why = decode_reason_of(s->d, file, &cause);
	if (why && cause != CAUSE_UNKNOWN)
		return s->is_open || why->kind != GRT_NV_EXEC;
	file->flag = s->is_open && !missed;
	s->d->missed += file->flag;
	return s->is_open && missed;
}

static int look_at_file(void *arg, struct grt_nv_node *file)
{
	struct settling *s = arg;

	if (!is_gone(s, file))
		return 0;
	file->doomed = s->gone;
	s->gone = file;
	return 0;
}

/*
 * Drops hints, except those from after the check, which may explain files that the next check does not find.
 */
static void forget_hints(struct grt_nv *d, uint64_t looked)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < d->hints; i++)
		if (d->hint[i].time >= looked)
			d->hint[kept++] = d->hint[i];
	d->hints = kept;
}

int grt_nv_settle(struct grt_nv *d, uint64_t looked, bool (*is_open)(void *arg, uint64_t file, uint32_t *pid),
		  void *arg)
{
	struct settling s = {.d = d, .looked = looked, .is_open = is_open, .arg = arg};
	const struct grt_nv_call now = {.time = looked};
	struct grt_nv_node *file, *next;
	int ret = 0;

	d->missed = 0;
	grt_nv_tree_each(&d->files, look_at_file, &s);
	for (file = s.gone; file && !ret; file = next) {
		next = file->doomed;
		file->doomed = NULL;
		ret = end_file(d, file, &now);
	}
	forget_hints(d, looked);
	return ret;
}

struct grt_nv_count grt_nv_count(const struct grt_nv *d)
{
	return d->count;
}

int grt_nv_new(struct grt_nv **out, const struct grt_nv_setup *setup)
{
	struct grt_nv *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	d->setup = *setup;
	if (!grt_nv_tree_init(&d->objects) && !grt_nv_tree_init(&d->files))
		return 0;
	grt_nv_free(d);
	*out = NULL;
	return -ENOMEM;
}

/* Frees the data of a node with the last of its handles. */
static int decode_forget(void *arg, struct grt_nv_node *n)
{
	if (n->channel)
		decode_channel_put(arg, n->channel, NULL, false);
	else if (n->group)
		group_put(arg, n->group, NULL);
	else if (n->memory)
		memory_release(arg, n, NULL);
	return 0;
}

void grt_nv_free(struct grt_nv *d)
{
	if (!d)
		return;
	if (d->objects.bucket)
		grt_nv_tree_each(&d->objects, decode_forget, d);
	grt_nv_tree_fini(&d->objects);
	grt_nv_tree_fini(&d->files);
	free(d->hint);
	free(d);
}
