// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Tables by number, which grow with the numbers. Images are never freed, because work that an ended image
 * launched may still be looked up.
 */
#include "images.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/containers.h"

/* --------------------------------------------------------------- devices */

/* Identifies devices by the UUIDs of their records, otherwise by process and number. */

/**
 * struct place - a device of a process
 * @used: the process has had work there
 */
struct place {
	struct grt_device *device;
	bool used;
};

/* Sets up a set without devices */
static void grt_devices_init(struct grt_devices *d)
{
	memset(d, 0, sizeof(*d));
	grt_keyed_init(&d->by_place, sizeof(struct place), GRT_DEVICES_MAX);
	grt_keyed_init(&d->by_uuid, sizeof(struct grt_device *), GRT_DEVICES_MAX);
}

static struct grt_device *devices_add(struct grt_devices *d, uint32_t image, uint32_t gpu)
{
	struct grt_device *x = calloc(1, sizeof(*x));

	if (!x || grt_grow(&d->device, &d->room, d->devices + 1, 8)) {
		free(x);
		return NULL;
	}
	x->number = d->devices;
	x->image = image;
	x->gpu = gpu;
	d->device[d->devices++] = x;
	return x;
}

/* Return: whether the text has 32 hexadecimal digits; a text with other characters is not a UUID. */
static bool devices_uuid_key(struct grt_key *key, const char uuid[48])
{
	unsigned int n = 0;

	*key = (struct grt_key){{0}};
	for (unsigned int i = 4; i < 48 && uuid[i]; i++) {
		const char *digit = strchr("0123456789abcdef", uuid[i]);

		if (uuid[i] == '-')
			continue;
		if (!digit || n == 32)
			return false;
		key->w[n / 16] = key->w[n / 16] << 4 | (uint64_t)(digit - "0123456789abcdef");
		n++;
	}
	key->w[2] = (uint64_t)uuid[0];
	return n == 32;
}

/* Processes a DEVICE record of a process; @name: name of the device, NULL: none. Return:
 * 0, -ENOMEM, or -ERANGE: there are too many devices */
static int grt_devices_take(struct grt_devices *d, uint32_t image, const struct grt_ev_device *e,
			    const char *name)
{
	struct grt_key place = {{image, e->gpu}}, uuid;
	struct grt_device **at, *x;
	void *found;

	if (!devices_uuid_key(&uuid, e->uuid) || grt_keyed_find(&d->by_place, &place) ||
	    grt_keyed_full(&d->by_place))
		return -ERANGE;
	if (grt_keyed_get(&d->by_uuid, &uuid, &found))
		return -ENOMEM;
	at = found;
	x = *at ?: (*at = devices_add(d, image, e->gpu));
	if (!x || grt_keyed_get(&d->by_place, &place, &found))
		return -ENOMEM;
	((struct place *)found)->device = x;
	if (x->known)
		return 0;
	x->known = true;
	x->is = *e;
	x->name = name ? strdup(name) : NULL;
	return name && !x->name ? -ENOMEM : 0;
}

/* The first work of a process on a device. */
static const struct grt_device *devices_use(struct place *p, uint32_t image, uint32_t gpu)
{
	struct grt_device *x = p->device;

	if (p->used)
		return x;
	p->used = true;
	if (!x->users) {
		x->image = image;
		x->gpu = gpu;
	}
	x->users++;
	x->several |= x->gpu != gpu;
	return x;
}

static const struct grt_device *devices_find(struct grt_devices *d, uint32_t image, uint32_t gpu)
{
	struct grt_key key = {{image, gpu}};
	struct place *p = grt_keyed_find(&d->by_place, &key);
	void *found;

	if (p)
		return devices_use(p, image, gpu);
	if (grt_keyed_full(&d->by_place))
		return d->device[d->devices - 1];
	if (grt_keyed_get(&d->by_place, &key, &found))
		return NULL;
	p = found;
	p->device = devices_add(d, image, gpu);
	if (p->device)
		return devices_use(p, image, gpu);
	grt_keyed_remove(&d->by_place, found);
	return NULL;
}

const struct grt_device *grt_devices_of(struct grt_devices *d, uint32_t image, uint32_t gpu)
{
	if (d->recent && d->image == image && d->gpu == gpu)
		return d->recent;
	d->recent = devices_find(d, image, gpu);
	d->image = image;
	d->gpu = gpu;
	return d->recent;
}

/* How much of its UUID no other device of the trace has. */
static int devices_telling(const struct grt_devices *d, const struct grt_device *x)
{
	size_t length = GRT_DEVICE_LABEL_LENGTH;

	for (uint32_t i = 0; i < d->devices; i++)
		while (d->device[i] != x && d->device[i]->known && length < strlen(x->is.uuid) &&
		       !strncmp(d->device[i]->is.uuid, x->is.uuid, length))
			length++;
	return (int)length;
}

const char *grt_device_label(const struct grt_devices *d, const struct grt_device *x,
			     char label[GRT_DEVICE_LABEL])
{
	bool clear = !x->known || !x->several;

	for (uint32_t i = 0; clear && x->known && i < d->devices; i++)
		clear = d->device[i] == x || d->device[i]->gpu != x->gpu || !d->device[i]->users;
	if (clear)
		snprintf(label, GRT_DEVICE_LABEL, "GPU %u", x->gpu);
	else
		snprintf(label, GRT_DEVICE_LABEL, "%.*s", devices_telling(d, x), x->is.uuid);
	return label;
}

/* Frees all memory of @d and empties it */
static void grt_devices_free(struct grt_devices *d)
{
	for (uint32_t i = 0; i < d->devices; i++) {
		free(d->device[i]->name);
		free(d->device[i]);
	}
	free(d->device);
	grt_keyed_free(&d->by_place);
	grt_keyed_free(&d->by_uuid);
	memset(d, 0, sizeof(*d));
}

/* ---------------------------------------------------------------- images */

/* Numbers are assigned in order, so if records are lost, the next number is not far away. */
#define FAR 1048576U
/*
 * Bytes of all tables together that no definition accounts for: numbers of lost records, which may be many
 * if a recording began late. Beyond this, tables grow with the definitions.
 */
#define HOLES_MAX (64U << 20)
/*
 * Entries with which a table begins. A definition accounts for as many, so that its table has the first
 * ones.
 */
#define FIRST 8U
/*
 * Most launches whose stack waits for them. If there are more, the oldest ones and their stacks are dropped.
 */
#define STACKS_MAX 1048576U
/* Longer texts are cut. */
#define TEXT_MAX (1U << 20)

void grt_images_init(struct grt_images *m)
{
	*m = (struct grt_images){.key = grt_hash_key_new()};
	grt_keyed_init(&m->stack, sizeof(uint32_t), STACKS_MAX);
	grt_devices_init(&m->devices);
}

/* --------------------------------------------------------------- images */

static bool same_pid(const void *owner, uint32_t id, const void *key)
{
	return ((const struct grt_images *)owner)->image[id]->pid == *(const uint32_t *)key;
}

struct id {
	uint32_t pid;
	uint64_t id;
};

static bool same_id(const void *owner, uint32_t at, const void *key)
{
	const struct grt_image *i = ((const struct grt_images *)owner)->image[at];
	const struct id *k = key;

	return i->pid == k->pid && i->id == k->id;
}

static uint32_t find_pid(const struct grt_images *m, uint32_t pid)
{
	return grt_index_find(&m->by_pid, grt_hash(&m->key, pid, 1), same_pid, m, &pid);
}

static int images_give_id(struct grt_images *m, struct grt_image *i, uint64_t id)
{
	i->id = id;
	return id ? grt_index_add(&m->by_id, grt_hash(&m->key, i->pid, id), i->number) : 0;
}

static struct grt_image *new_image(struct grt_images *m, uint32_t pid, uint64_t id)
{
	uint32_t tag = grt_hash(&m->key, pid, 1), at = find_pid(m, pid);
	struct grt_image *i = calloc(1, sizeof(*i));

	m->recent = NULL;
	if (!i || grt_grow_one(&m->image, m->images)) {
		free(i);
		return NULL;
	}
	i->pid = pid;
	i->rank = UINT32_MAX;
	i->number = m->images;
	m->image[m->images++] = i;
	if (at != GRT_NOWHERE)
		grt_index_remove(&m->by_pid, tag, at);
	return grt_index_add(&m->by_pid, tag, i->number) || images_give_id(m, i, id) ? NULL : i;
}

/* The image of an event; NULL: nothing has reported it. */
static struct grt_image *images_find_image(const struct grt_images *m, const struct grt_event *e)
{
	struct id key = {e->pid, e->ctx};
	uint32_t at = find_pid(m, e->pid);

	if (at == GRT_NOWHERE || !e->ctx || m->image[at]->id == e->ctx)
		return at == GRT_NOWHERE ? NULL : m->image[at];
	at = grt_index_find(&m->by_id, grt_hash(&m->key, e->pid, e->ctx), same_id, m, &key);
	return at == GRT_NOWHERE ? NULL : m->image[at];
}

/* The image that was requested before, if the event has the same pid and id. */
static struct grt_image *images_recent(const struct grt_images *m, const struct grt_event *e)
{
	struct grt_image *i = m->recent;

	return i && i->pid == e->pid && i->id == e->ctx ? i : NULL;
}

/* The slow path is separate, so that the fast one needs no registers for it. */
static __attribute__((noinline)) struct grt_image *images_look_up(struct grt_images *m,
								  const struct grt_event *e)
{
	struct grt_image *i = images_find_image(m, e);
	uint32_t at;

	if (i) {
		m->recent = i;
		return i;
	}
	at = find_pid(m, e->pid);
	/* the recorder's records have reported it, before its own */
	if (at != GRT_NOWHERE && !m->image[at]->id && !m->image[at]->process.what)
		return images_give_id(m, m->image[at], e->ctx) ? NULL : m->image[at];
	return new_image(m, e->pid, e->ctx);
}

struct grt_image *grt_images_of(struct grt_images *m, const struct grt_event *e)
{
	return images_recent(m, e) ?: images_look_up(m, e);
}

/* ---------------------------------------------------------- definitions */

/* Number of bytes by which a table grows to have room for a number. */
static uint64_t images_growth(uint32_t number, uint32_t room, size_t size)
{
	uint64_t want = room ? room : FIRST;

	while (want < number)
		want *= 2;
	return (want - room) * size;
}

/* Numbers are counted from 1; @room: number of entries of @size for which there is room. */
static bool images_accept_number(struct grt_images *m, uint32_t number, uint32_t room, size_t size)
{
	uint64_t more = number > room ? images_growth(number, room, size) : 0;

	if (!number || number > (uint64_t)room + FAR ||
	    m->room + more > m->defined + FIRST * size + HOLES_MAX)
		return false;
	m->room += more;
	m->defined += FIRST * size;
	return true;
}

/* Makes room for a number in a table, if the number is plausible. Return: 0, -ERANGE or -ENOMEM */
#define make_room(m, table, room, number)                                \
	(images_accept_number((m), (number), *(room), sizeof(**(table))) \
		 ? grt_grow_zeroed((table), (room), (number), FIRST)     \
		 : -ERANGE)

static int images_take_string(struct grt_images *m, struct grt_image *i, const struct grt_ev_string *s)
{
	bool own = s->number < GRT_IMAGE_RECORDER;
	uint32_t number = own ? s->number : s->number - GRT_IMAGE_RECORDER;
	uint32_t *room = own ? &i->strings : &i->recorder_strings;
	char ***all = own ? &i->string : &i->recorder_string;
	int ret = make_room(m, all, room, number);
	char **at = ret ? NULL : &(*all)[number - 1], *more;
	size_t have = at && *at ? strlen(*at) : 0;

	if (ret)
		return ret;
	/* a part that is missing leaves the text as long as it is */
	if (s->part > sizeof(s->text) || have != s->offset || have + s->part > TEXT_MAX)
		return -ERANGE;
	more = realloc(*at, have + s->part + 1);
	if (!more)
		return -ENOMEM;
	memcpy(more + have, s->text, s->part);
	more[have + s->part] = '\0';
	*at = more;
	return 0;
}

/* The stack is reported together with its launch. */
static int keep_stack(struct grt_images *m, const struct grt_image *i, const struct grt_ev_node *n)
{
	struct grt_key key = {{i->number, n->e.seqno}};
	void *found;
	int ret;

	if (grt_keyed_full(&m->stack)) {
		grt_keyed_remove(&m->stack, grt_keyed_oldest(&m->stack));
		m->dropped++;
	}
	m->stacks_apart = true;
	ret = grt_keyed_get(&m->stack, &key, &found);
	if (!ret)
		*(uint32_t *)found = n->node;
	return ret;
}

uint32_t grt_images_stack(struct grt_images *m, uint32_t image, uint64_t correlation)
{
	struct grt_key key = {{image, correlation}};
	uint32_t *found = m->stack.used ? grt_keyed_find(&m->stack, &key) : NULL, node = found ? *found : 0;

	if (found)
		grt_keyed_remove(&m->stack, found);
	return node;
}

static int take_node(struct grt_images *m, struct grt_image *i, const struct grt_ev_node *n)
{
	int ret = n->caller >= n->node ? -ERANGE : make_room(m, &i->node, &i->nodes, n->node);

	if (ret)
		return ret;
	i->node[n->node - 1] = (struct grt_image_node){
		.ip = n->ip,
		.caller = n->caller,
		.function = n->function,
		.file = n->file,
		.line = n->line,
		.module = n->module & INT32_MAX,
		.guessed = n->e.flags & GRT_FLAG_INFERRED,
		.defined = true,
	};
	return n->e.seqno ? keep_stack(m, i, n) : 0;
}

static int take_mapping(struct grt_images *m, struct grt_image *i, const struct grt_ev_mapping *e)
{
	int ret = make_room(m, &i->mapping, &i->mappings, e->module);
	struct grt_image_mapping *at = ret ? NULL : &i->mapping[e->module - 1];

	if (ret)
		return ret;
	*at = (struct grt_image_mapping){.start = e->start, .end = e->end, .bias = e->bias, .path = e->path};
	memcpy(at->build_id, e->build_id, sizeof(e->build_id));
	return 0;
}

static int take_range(struct grt_images *m, struct grt_image *i, const struct grt_ev_range_node *n)
{
	int ret = n->outer >= n->node ? -ERANGE : make_room(m, &i->range, &i->ranges, n->node);

	if (ret)
		return ret;
	i->range[n->node - 1] = (struct grt_image_range){
		.outer = n->outer, .domain = n->domain, .name = n->name, .defined = true};
	return 0;
}

/* Each record accounts for a number of its own. */
static int images_take_code(struct grt_image *i, const struct grt_ev_code *e)
{
	if (grt_grow(&i->code, &i->code_room, i->codes + 1, 64))
		return -ENOMEM;
	i->code[i->codes++] = (struct grt_image_code){.ip = e->ip,
						      .module = e->module,
						      .function = e->function,
						      .file = e->file,
						      .line = e->line,
						      .index = e->index,
						      .frames = e->frames};
	i->codes_sorted = false;
	return 0;
}

static int images_code_order(const void *a, const void *b)
{
	const struct grt_image_code *x = a, *y = b;

	return grt_compare(x->ip, y->ip)
	       ?: grt_compare(x->module, y->module)
	       ?: grt_compare(x->index, y->index);
}

const struct grt_image_code *grt_image_code(struct grt_image *i, uint64_t ip, uint32_t module, uint32_t *n)
{
	const struct grt_image_code key = {.ip = ip, .module = module};
	const struct grt_image_code *at;

	if (i->codes && !i->codes_sorted)
		qsort(i->code, i->codes, sizeof(*i->code), images_code_order);
	i->codes_sorted = true;
	at = i->codes ? bsearch(&key, i->code, i->codes, sizeof(*i->code), images_code_order) : NULL;
	/* if one of several frames is lost, the rest would be another stack */
	for (*n = 0; at && *n < at->frames && at + *n < i->code + i->codes; ++*n)
		if (at[*n].ip != ip || at[*n].module != module || at[*n].index != *n)
			return NULL;
	return at && *n == at->frames && *n ? at : NULL;
}

static int images_take_device(struct grt_images *m, const struct grt_image *i, const struct grt_ev_device *e)
{
	return grt_devices_take(&m->devices, i->number, e, grt_image_string(i, e->name));
}

static int images_take_process(struct grt_images *m, struct grt_image *i, const struct grt_ev_process *p)
{
	/* an image about which nothing is known: its own record came before, or this is that record */
	if (p->what == 1 && !p->e.ctx && (i->process.what || i->strings || i->nodes))
		i = new_image(m, p->e.pid, 0);
	if (!i)
		return -ENOMEM;
	if (p->what == 1) {
		i->exe = p->text;
		i->began = p->age == UINT32_MAX ? 0 : (int64_t)(p->e.time - p->age * 1000000000ULL);
	}
	i->watch.first = i->watch.first && i->watch.first < p->e.time ? i->watch.first : p->e.time;
	i->watch.last = p->e.time > i->watch.last ? p->e.time : i->watch.last;
	if (p->what == 4 || p->what == 5)
		i->why = p->text;
	i->refused |= p->what == 4;
	i->process = *p;
	return 0;
}

static int images_take(struct grt_images *m, struct grt_image *i, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_PROCESS:
		return images_take_process(m, i, (const struct grt_ev_process *)e);
	case GRT_EV_STRING:
		return images_take_string(m, i, (const struct grt_ev_string *)e);
	case GRT_EV_NODE:
		return take_node(m, i, (const struct grt_ev_node *)e);
	case GRT_EV_MAPPING:
		return take_mapping(m, i, (const struct grt_ev_mapping *)e);
	case GRT_EV_RANK:
		i->rank = ((const struct grt_ev_rank *)e)->rank;
		i->job = ((const struct grt_ev_rank *)e)->job;
		break;
	case GRT_EV_RANGE_NODE:
		return take_range(m, i, (const struct grt_ev_range_node *)e);
	case GRT_EV_CODE:
		return images_take_code(i, (const struct grt_ev_code *)e);
	case GRT_EV_CAPTURE:
		return grt_watch_take(&i->watch, (const struct grt_ev_capture *)e)
			       ?: grt_windows_take(&m->windows, (const struct grt_ev_capture *)e);
	case GRT_EV_DEVICE:
		return images_take_device(m, i, (const struct grt_ev_device *)e);
	}
	return 0;
}

/* A CLOCK record adds to a known image, but does not make one. */
static void images_take_clock(struct grt_images *m, const struct grt_ev_clock *c)
{
	struct grt_image *i = images_find_image(m, &c->e);

	if (i)
		i->ahead = c->realtime - c->monotonic;
}

static bool images_defines(const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_PROCESS ... GRT_EV_MAPPING:
	case GRT_EV_RANK:
	case GRT_EV_RANGE_NODE:
	case GRT_EV_CODE:
	case GRT_EV_DEVICE:
	case GRT_EV_CAPTURE:
		return true;
	}
	return false;
}

int grt_images_event(struct grt_images *m, const struct grt_event *e)
{
	struct grt_image *i;
	int ret;

	if (e->type == GRT_EV_CLOCK)
		images_take_clock(m, (const struct grt_ev_clock *)e);
	if (!images_defines(e))
		return 0;
	i = grt_images_of(m, e);
	ret = i ? images_take(m, i, e) : -ENOMEM;
	if (ret != -ERANGE)
		return ret;
	m->dropped++;
	return 0;
}

const char *grt_image_string(const struct grt_image *i, uint32_t number)
{
	if (number > GRT_IMAGE_RECORDER && number - GRT_IMAGE_RECORDER <= i->recorder_strings)
		return i->recorder_string[number - GRT_IMAGE_RECORDER - 1];
	return number && number <= i->strings ? i->string[number - 1] : NULL;
}

const struct grt_image_node *grt_image_node(const struct grt_image *i, uint32_t number)
{
	return number && number <= i->nodes ? &i->node[number - 1] : NULL;
}

/* Why a stack ends where it does is in brackets. */
static enum grt_stack_reach reach_of_outermost(const struct grt_image *i, const struct grt_image_node *n)
{
	const char *why = n->ip ? NULL : grt_image_string(i, n->function);

	return why && why[0] == '[' && !n->file ? GRT_STACK_CUT : GRT_STACK_WHOLE;
}

static bool images_is_frame(const struct grt_image *i, const struct grt_image_node *n)
{
	return n->ip || n->caller || (n->function && reach_of_outermost(i, n) == GRT_STACK_WHOLE);
}

enum grt_stack_reach grt_image_reach(struct grt_image *i, uint32_t number)
{
	const struct grt_image_node *n = grt_image_node(i, number), *outer = n;

	if (!n || !n->defined)
		return GRT_STACK_NONE;
	if (n->reach)
		return n->reach;
	while (outer && outer->caller && !outer->reach)
		outer = grt_image_node(i, outer->caller);
	/* a frame whose callers are not here is the outermost one */
	if (!outer || !outer->defined)
		i->node[number - 1].reach = GRT_STACK_CUT;
	else if (!images_is_frame(i, n))
		i->node[number - 1].reach = GRT_STACK_NONE;
	else if (outer->reach > GRT_STACK_NONE)
		i->node[number - 1].reach = outer->reach;
	else
		i->node[number - 1].reach = reach_of_outermost(i, outer);
	return n->reach;
}

const struct grt_image_range *grt_image_range(const struct grt_image *i, uint32_t number)
{
	return number && number <= i->ranges && i->range[number - 1].defined ? &i->range[number - 1] : NULL;
}

const struct grt_image_mapping *grt_image_mapping(const struct grt_image *i, uint32_t number)
{
	return number && number <= i->mappings && i->mapping[number - 1].end ? &i->mapping[number - 1] : NULL;
}

void grt_images_free(struct grt_images *m)
{
	for (uint32_t n = 0; n < m->images; n++) {
		struct grt_image *i = m->image[n];

		for (uint32_t k = 0; k < i->strings; k++)
			free(i->string[k]);
		for (uint32_t k = 0; k < i->recorder_strings; k++)
			free(i->recorder_string[k]);
		free(i->string);
		free(i->recorder_string);
		free(i->node);
		free(i->mapping);
		free(i->range);
		grt_watch_free(&i->watch);
		free(i->code);
		free(i);
	}
	free(m->image);
	grt_index_free(&m->by_pid);
	grt_index_free(&m->by_id);
	grt_keyed_free(&m->stack);
	grt_devices_free(&m->devices);
	grt_windows_free(&m->windows);
	*m = (struct grt_images){.images = 0};
}
