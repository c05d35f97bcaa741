// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The events of one GPU, see gpus.h. A NAME record comes before the first use of its name, and a context
 * belongs to the same GPU as long as it exists, so one pass is enough.
 */
#include "gpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bus.h"
#include "packet.h"

/* Most rings, device files and contexts that are distinguished; a new context replaces the oldest one. */
#define NAMES_MAX (1U << 20)
#define CONTEXTS_MAX 65536U

/* Devices of CUDA programs are kept beside the kinds of names: each process numbers its own. */
#define GPUS_CUDA (1ULL << 32)

/* DRM's device files. Smaller numbers of memory events are the index of the GPU's card. */
#define DRM_MAJOR 226U

/** struct verdict - whether a ring, device or context belongs to the GPU */
struct verdict {
	bool wanted;
};

/* Gets the address after "NODE=", up to a blank. */
static void bus_of_node(const struct grt_gpus *g, const char *node, char *bus, size_t room)
{
	size_t len = strlen(node);

	*bus = 0;
	for (const char *p = g->cards; p; p = strchr(p, ' ')) {
		p += *p == ' ';
		if (len && !strncmp(p, node, len) && p[len] == '=')
			snprintf(bus, room, "%.*s", (int)strcspn(p + len + 1, " "), p + len + 1);
	}
}

static bool gpus_is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/*
 * A number can mean a card or a file of NVIDIA's driver. If these are two different GPUs, it means neither.
 */
static int gpus_take_number(struct grt_gpus *g, const char *number)
{
	char bus[sizeof(g->bus)], node[sizeof(g->asked)];

	snprintf(g->asked, sizeof(g->asked), "card%.20s", number);
	snprintf(node, sizeof(node), "nvidia%.20s", number);
	bus_of_node(g, g->asked, g->bus, sizeof(g->bus));
	bus_of_node(g, node, bus, sizeof(bus));
	if (!*bus || !strcmp(bus, g->bus))
		return 0;
	if (g->bus[0])
		return -EINVAL;
	memcpy(g->asked, node, sizeof(node));
	memcpy(g->bus, bus, sizeof(bus));
	return 0;
}

/* The beginning of a UUID is enough if only one GPU has it. */
static int gpus_take_uuid(struct grt_gpus *g, const char *uuid)
{
	char bus[sizeof(g->bus)];
	size_t len = strlen(uuid);

	snprintf(g->asked, sizeof(g->asked), "%s", uuid);
	for (const char *p = g->cards; p; p = strchr(p, ' ')) {
		p += *p == ' ';
		if (strncasecmp(p, uuid, len) || !strchr(p, '='))
			continue;
		p = strchr(p, '=') + 1;
		snprintf(bus, sizeof(bus), "%.*s", (int)strcspn(p, " "), p);
		if (g->bus[0] && strcmp(g->bus, bus))
			return -EINVAL;
		memcpy(g->bus, bus, sizeof(bus));
	}
	return 0;
}

static void gpus_take_name(struct grt_gpus *g, const char *name)
{
	uint32_t bus = grt_bus_parse(name);

	if (!strncmp(name, "/dev/dri/", 9))
		name += 9;
	else if (!strncmp(name, "/dev/", 5))
		name += 5;
	if (bus == UINT32_MAX)
		snprintf(g->asked, sizeof(g->asked), "%s", name);
	else
		grt_bus_text(g->asked, bus);
	bus_of_node(g, g->asked, g->bus, sizeof(g->bus));
}

int grt_gpus_init(struct grt_gpus *g, const char *asked, const char *cards)
{
	*g = (struct grt_gpus){.found = false};
	grt_keyed_init(&g->names, sizeof(struct verdict), NAMES_MAX);
	grt_keyed_init(&g->contexts, sizeof(struct verdict), CONTEXTS_MAX);
	g->cards = strdup(cards ?: "");
	if (!g->cards)
		return -ENOMEM;
	if (gpus_is_number(asked))
		return gpus_take_number(g, asked);
	if (!strncasecmp(asked, "GPU-", 4))
		return gpus_take_uuid(g, asked);
	gpus_take_name(g, asked);
	return 0;
}

void grt_gpus_free(struct grt_gpus *g)
{
	free(g->cards);
	grt_keyed_free(&g->names);
	grt_keyed_free(&g->contexts);
}

static void gpus_see(struct grt_gpus *g, const char *bus)
{
	unsigned int i = 0;

	while (i < GRT_GPUS_SEEN && g->seen[i][0] && strcmp(g->seen[i], bus))
		i++;
	if (i < GRT_GPUS_SEEN)
		snprintf(g->seen[i], sizeof(g->seen[i]), "%s", bus);
}

/* Whether the GPU at @bus, with the device file @node, is the requested one; either may be empty. */
static bool gpus_is_requested(struct grt_gpus *g, const char *bus, const char *node)
{
	if (*bus)
		gpus_see(g, bus);
	if (strcmp(bus, g->asked) && strcmp(node, g->asked) && (!*bus || strcmp(bus, g->bus)))
		return false;
	/* its other device files and rings are recognised by @bus from now on */
	if (*bus)
		snprintf(g->bus, sizeof(g->bus), "%s", bus);
	g->found = true;
	return true;
}

/* A device file; the names of NVIDIA's contain the address of the GPU after a blank. */
static bool gpus_is_requested_node(struct grt_gpus *g, const char *name)
{
	char node[33], bus[33];
	const char *space = strchr(name, ' ');

	snprintf(node, sizeof(node), "%.*s", (int)strcspn(name, " "), name);
	if (space)
		snprintf(bus, sizeof(bus), "%.32s", space + 1);
	else
		bus_of_node(g, node, bus, sizeof(bus));
	return gpus_is_requested(g, bus, node);
}

static int gpus_learn(struct grt_gpus *g, const struct grt_ev_name *e)
{
	struct grt_key key = {{e->kind, e->id}};
	char name[sizeof(e->name) + 1], owner[sizeof(e->owner) + 1];
	void *verdict;
	int ret;

	if (e->kind != GRT_NAME_RING_GPU && e->kind != GRT_NAME_DEVICE)
		return 1;
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(e->name), e->name);
	snprintf(owner, sizeof(owner), "%.*s", (int)sizeof(e->owner), e->owner);
	ret = grt_keyed_get_or_count(&g->names, &key, NULL, &verdict);
	if (ret || !verdict)
		return ret ?: 1;
	((struct verdict *)verdict)->wanted = e->kind == GRT_NAME_DEVICE ? gpus_is_requested_node(g, name)
									 : gpus_is_requested(g, name, owner);
	return 1;
}

/* Whether it is the UUID of the requested GPU, or begins as typed. */
static bool gpus_is_requested_uuid(const struct grt_gpus *g, const char *uuid)
{
	return (!strncasecmp(g->asked, "GPU-", 4) || !strncasecmp(g->asked, "MIG-", 4)) &&
	       !strncasecmp(uuid, g->asked, strlen(g->asked));
}

/* A device that a CUDA program sees. Return: 1 or -ENOMEM */
static int gpus_learn_cuda(struct grt_gpus *g, const struct grt_ev_device *e)
{
	struct grt_key key = {{GPUS_CUDA, e->e.ctx, e->gpu}};
	char bus[GRT_BUS_MAX] = "", uuid[sizeof(e->uuid) + 1], board[sizeof(e->board) + 1],
	     text[sizeof(e->bus) + 1];
	uint32_t number;
	void *verdict;
	int ret;

	snprintf(text, sizeof(text), "%.*s", (int)sizeof(e->bus), e->bus);
	snprintf(uuid, sizeof(uuid), "%.*s", (int)sizeof(e->uuid), e->uuid);
	snprintf(board, sizeof(board), "%.*s", (int)sizeof(e->board), e->board);
	number = grt_bus_number(text);
	if (number != UINT32_MAX)
		grt_bus_text(bus, number);
	if (!*bus && !*uuid)
		return 1;
	ret = grt_keyed_get_or_count(&g->names, &key, NULL, &verdict);
	if (ret || !verdict)
		return ret ?: 1;
	((struct verdict *)verdict)->wanted = gpus_is_requested(
		g, bus,
		gpus_is_requested_uuid(g, uuid) || gpus_is_requested_uuid(g, board) ? g->asked : uuid);
	return 1;
}

/* The device of what a CUDA program's GPU did, or of its memory. Return: as gpus_judge() */
static int gpus_judge_cuda(struct grt_gpus *g, const struct grt_event *e)
{
	const struct verdict *v = NULL;
	uint32_t gpu;

	switch (e->type) {
	case GRT_EV_GPU_KERNEL:
		gpu = ((const struct grt_ev_gpu_kernel *)e)->gpu;
		break;
	case GRT_EV_GPU_COPY:
		gpu = ((const struct grt_ev_gpu_copy *)e)->gpu;
		break;
	case GRT_EV_ALLOC:
		gpu = ((const struct grt_ev_alloc *)e)->gpu;
		break;
	case GRT_EV_PC_SAMPLE:
		gpu = ((const struct grt_ev_pc_sample *)e)->gpu;
		break;
	case GRT_EV_PC_COUNT:
		gpu = ((const struct grt_ev_pc_count *)e)->gpu;
		break;
	default:
		return -ENOENT;
	}
	v = grt_keyed_find(&g->names, &(struct grt_key){{GPUS_CUDA, e->ctx, gpu}});
	g->unplaced |= !v;
	return v ? v->wanted : -ENOENT;
}

static const struct verdict *named(const struct grt_gpus *g, uint32_t kind, uint32_t id)
{
	return grt_keyed_find(&g->names, &(struct grt_key){{kind, id}});
}

/* Return: 0 or -ENOMEM */
static int note_context(struct grt_gpus *g, uint64_t ctx, const struct verdict *of)
{
	void *verdict;
	int ret = grt_keyed_get_or_replace(&g->contexts, &(struct grt_key){{ctx}}, NULL, &verdict);

	if (!ret)
		*(struct verdict *)verdict = *of;
	return ret;
}

/*
 * Memory belongs to no ring; its events have the card's number, in records of the module without a device
 * file's major number.
 */
static int of_memory(struct grt_gpus *g, const struct grt_event *e)
{
	char node[16], bus[33];

	snprintf(node, sizeof(node), "card%u", e->device & 0xfffff);
	bus_of_node(g, node, bus, sizeof(bus));
	return gpus_is_requested(g, bus, node);
}

/* Return: 1: the GPU's, 0: another GPU's, -ENOENT: unknown, -ENOMEM */
static int gpus_judge(struct grt_gpus *g, const struct grt_event *e)
{
	const struct verdict *v = e->ring == GRT_RING_NONE ? NULL : named(g, GRT_NAME_RING_GPU, e->ring);

	if (grt_has_trait(e, GRT_TRAIT_OF_IMAGE))
		return gpus_judge_cuda(g, e);

	if (v && grt_has_job(e) && note_context(g, e->ctx, v))
		return -ENOMEM;
	if (!v && grt_has_job(e))
		v = grt_keyed_find(&g->contexts, &(struct grt_key){{e->ctx}});
	if (!v && e->device)
		v = named(g, GRT_NAME_DEVICE, e->device);
	if (v)
		return v->wanted;
	if (grt_class_of[e->type] == GRT_CLASS_mem && (!(e->device >> 20) || e->device >> 20 == DRM_MAJOR))
		return of_memory(g, e);
	return -ENOENT;
}

/* Events of every GPU refer to these definitions. */
static bool defines(const struct grt_event *e)
{
	return grt_class_of[e->type] == GRT_CLASS_image || e->type == GRT_EV_LOG_TEXT ||
	       (grt_class_of[e->type] == GRT_CLASS_stack && grt_has_trait(e, GRT_TRAIT_DEFINING));
}

int grt_gpus_wants(struct grt_gpus *g, const struct grt_event *e, struct grt_health *h)
{
	int ret;

	if (e->type == GRT_EV_NAME)
		return gpus_learn(g, (const struct grt_ev_name *)e);
	if (e->type == GRT_EV_DEVICE)
		return gpus_learn_cuda(g, (const struct grt_ev_device *)e);
	if (e->type < GRT_EV_MAX && defines(e))
		return 1;
	ret = e->type < GRT_EV_MAX ? gpus_judge(g, e) : -ENOENT;
	h->of_others += !ret;
	h->of_no_gpu += ret == -ENOENT;
	return ret == -ENOENT ? 0 : ret;
}

/* Finds "cardN" in "cardN=ADDRESS" for the address @bus. Return: its length, 0: there is none */
static size_t card_of_bus(const char *cards, const char *bus, const char **card)
{
	size_t len, room = strlen(bus);

	for (const char *p = cards; *p; p += len + (p[len] == ' ')) {
		size_t name = strcspn(p, "= ");

		len = strcspn(p, " ");
		if (strncmp(p, "card", 4) || len != name + 1 + room || memcmp(p + name + 1, bus, room))
			continue;
		*card = p;
		return name;
	}
	return 0;
}

const struct grt_event *grt_gpus_complete(const char *cards, const struct grt_event *e,
					  struct grt_ev_name *room)
{
	char bus[sizeof(room->name) + 1];
	const char *card;
	size_t len;

	memcpy(room, e, sizeof(*room));
	snprintf(bus, sizeof(bus), "%.*s", (int)sizeof(room->name), room->name);
	if (room->kind != GRT_NAME_RING_GPU || room->owner[0] || !bus[0])
		return e;
	len = card_of_bus(cards, bus, &card);
	if (!len || len > sizeof(room->owner))
		return e;
	memcpy(room->owner, card, len);
	return &room->e;
}
