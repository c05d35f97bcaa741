// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The work of GPUs as Perfetto's render stages, from which it makes its views of GPUs, of GPUs by process,
 * and of compute kernels. A queue is a track of the GPU; the context says which process the work belongs to.
 * The values of an item are arguments of Perfetto's launch message, because there they keep their types; also
 * those of copies and fills, which have no grid.
 */
#include <errno.h>

#include "base/bus.h"
#include "perfetto_parts.h"

/* gpu_render_stage_event.proto */
enum {
	STAGE_EVENT_ID = 1,
	STAGE_DURATION = 2,
	STAGE_CONTEXT = 5,
	STAGE_GPU_ID = 11,
	STAGE_QUEUE_IID = 13,
	STAGE_STAGE_IID = 14,
	STAGE_WAIT_IDS = 18,
	STAGE_KERNEL_IID = 19,
	STAGE_NAME_IID = 20,
	STAGE_LAUNCH = 21,
};
enum { LAUNCH_GRID = 1, LAUNCH_BLOCK = 2, LAUNCH_ARGS = 3 };
enum { ARG_NAME_IID = 1, ARG_NAME = 2, ARG_INT = 3, ARG_UINT = 4, ARG_STRING = 6 };
enum { CONTEXT_PID = 2, CONTEXT_API = 3 };
enum { API_UNDEFINED = 0, API_CUDA = 4, API_HIP = 5 };
enum { SPECIFICATION_CATEGORY = 4 };
enum { CATEGORY_OTHER = 0, CATEGORY_COMPUTE = 2 };
enum { KERNEL_NAME = 2, KERNEL_DEMANGLED = 3, KERNEL_ARCH = 4, KERNEL_ARGS = 5 };

/* gpu_info.proto */
enum { INFO_GPUS = 1 };
enum {
	GPU_NAME = 1,
	GPU_VENDOR = 2,
	GPU_MODEL = 3,
	GPU_ARCHITECTURE = 4,
	GPU_UUID = 5,
	GPU_EXTRA = 6,
	GPU_BDF = 7
};
enum { EXTRA_KEY = 1, EXTRA_VALUE = 2 };

/* Maximum number of CUDA contexts that the file distinguishes; work of later contexts has no context. */
#define CONTEXTS_MAX 65536U
/* In the table of specifications the stages come first, by category; the queues begin at this number. */
#define QUEUES_FROM 64U
/* Each new name of a queue is a new specification. */
#define RENAMED_SHIFT 17

_Static_assert(GRT_CATEGORIES + 1 < QUEUES_FROM, "a stage for each category");
_Static_assert(GRT_TRACKS_MAX + QUEUES_FROM < 1U << RENAMED_SHIFT, "numbers of queues do not meet");

void perfetto_find_roles(struct perfetto *f)
{
	static const struct {
		const char *name;
		enum perfetto_role role;
	} roles[] = {
		{"grid_x", ROLE_GRID_X},
		{"grid_y", ROLE_GRID_Y},
		{"grid_z", ROLE_GRID_Z},
		{"block_x", ROLE_BLOCK_X},
		{"block_y", ROLE_BLOCK_Y},
		{"block_z", ROLE_BLOCK_Z},
		{"registers", ROLE_REGISTERS},
		{"shared_static", ROLE_SHARED_STATIC},
		{"shared_dynamic", ROLE_SHARED_DYNAMIC},
	};

	grt_keyed_init(&f->contexts, sizeof(uint32_t), CONTEXTS_MAX);
	for (uint32_t id = 0; id < GRT_TRACK_ARG_IDS_MAX; id++)
		for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
			if (!strcmp(grt_tracks_arg_name(f->tracks, id), roles[i].name))
				f->role[id] = (uint8_t)roles[i].role;
}

/* Such a value is a member of a message, and needs no name. */
static bool is_extent(unsigned int role)
{
	return role != ROLE_NONE && role <= ROLE_BLOCK_Z;
}

/* The names of values that Perfetto's view of compute kernels searches for. */
static const char *work_arg_name(const struct perfetto *f, uint32_t id)
{
	static const char *const names[] = {[ROLE_REGISTERS] = "registers_per_thread",
					    [ROLE_SHARED_STATIC] = "shared_mem_static",
					    [ROLE_SHARED_DYNAMIC] = "shared_mem_dynamic"};

	return f->role[id] >= ROLE_REGISTERS ? names[f->role[id]] : grt_tracks_arg_name(f->tracks, id);
}

/* -------------------------------------------------------------- interned */

static uint64_t queue_iid(const struct sequence *s)
{
	return QUEUES_FROM + s->queue + ((uint64_t)(s->renamed & 0x7fff) << RENAMED_SHIFT);
}

uint8_t *perfetto_put_queue(uint8_t *p, struct sequence *s, const struct grt_track *t)
{
	uint8_t *packet = p = grt_pb_open(p, TRACE_PACKET), *data;

	s->renamed += s->queue != 0;
	s->queue = t->queue;
	s->gpu = t->gpu;
	s->context = t->context;
	s->pid = t->pid;
	s->hip = t->hip;
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, t->id + 1);
	p = grt_pb_number(p, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	data = p = grt_pb_open(p, PACKET_INTERNED_DATA);
	p = perfetto_put_interned(p, INTERNED_SPECIFICATIONS, queue_iid(s), t->name, strlen(t->name));
	return grt_pb_close(packet, grt_pb_close(data, p));
}

static uint8_t *put_stage(uint8_t *p, unsigned int category)
{
	uint8_t *start = p = grt_pb_open(p, INTERNED_SPECIFICATIONS);
	const char *name = grt_tracks_category(category);

	p = grt_pb_number(p, INTERNED_IID, category + 1);
	p = grt_pb_bytes(p, INTERNED_NAME, name, strlen(name));
	p = grt_pb_number(p, SPECIFICATION_CATEGORY,
			  category == GRT_CATEGORY_KERNEL ? CATEGORY_COMPUTE : CATEGORY_OTHER);
	return grt_pb_close(start, p);
}

/*
 * Finds the context of a process and sets it as the user of the sequence's queue; 0: none. Return: 0 or
 * -ENOMEM
 */
static int work_context(struct perfetto *f, struct sequence *s, uint32_t pid)
{
	struct grt_key key = {{pid, s->context, s->pid != 0}};
	void *found;
	int ret;

	if (pid == s->user)
		return 0;
	ret = grt_keyed_get_or_count(&f->contexts, &key, NULL, &found);
	if (ret)
		return ret;
	s->user = pid;
	s->user_context = 0;
	if (!found)
		return 0;
	if (!*(uint32_t *)found)
		*(uint32_t *)found = f->contexts.used;
	s->user_context = *(uint32_t *)found;
	return 0;
}

static uint8_t *put_context(uint8_t *p, const struct sequence *s)
{
	uint8_t *start = p = grt_pb_open(p, INTERNED_CONTEXTS);

	p = grt_pb_number(p, INTERNED_IID, s->user_context);
	p = grt_pb_number(p, CONTEXT_PID, s->user);
	/* a queue of one process is a stream */
	p = grt_pb_number(p, CONTEXT_API, s->hip ? API_HIP : s->pid ? API_CUDA : API_UNDEFINED);
	return grt_pb_close(start, p);
}

static uint8_t *put_kernel_arg(uint8_t *p, const char *name, uint64_t number)
{
	uint8_t *start = p = grt_pb_open(p, KERNEL_ARGS);

	p = grt_pb_bytes(p, ARG_NAME, name, strlen(name));
	p = grt_pb_number(p, ARG_UINT, number);
	return grt_pb_close(start, p);
}

static uint8_t *put_kernel(const struct perfetto *f, uint8_t *p, const struct sequence *s,
			   const struct grt_track_item *i)
{
	uint32_t linked = i->linked ?: i->name;
	uint8_t *start = p = grt_pb_open(p, INTERNED_KERNELS);
	struct grt_tracks_gpu gpu;
	char arch[16];

	p = grt_pb_number(p, INTERNED_IID, linked);
	p = perfetto_put_text(p, KERNEL_NAME, grt_tracks_name(f->tracks, linked),
			      grt_tracks_name_length(f->tracks, linked));
	p = perfetto_put_text(p, KERNEL_DEMANGLED, grt_tracks_name(f->tracks, i->name),
			      grt_tracks_name_length(f->tracks, i->name));
	if (grt_tracks_gpu(f->tracks, s->gpu, &gpu) && gpu.cuda && gpu.cuda->major) {
		snprintf(arch, sizeof(arch), "sm_%u%u", gpu.cuda->major, gpu.cuda->minor);
		p = grt_pb_bytes(p, KERNEL_ARCH, arch, strlen(arch));
	}
	p = put_kernel_arg(p, "process_id", s->pid);
	return grt_pb_close(start, p);
}

/*
 * Interns the names, kernels and contexts of an item that are new on its sequence. Return: the position after
 * them, NULL: no memory
 */
static uint8_t *put_new(struct perfetto *f, uint8_t *p, struct sequence *s, const struct grt_track_item *i)
{
	bool is_kernel = i->category == GRT_CATEGORY_KERNEL && i->name;
	uint8_t *before = p, *start = p = grt_pb_open(p, PACKET_INTERNED_DATA);
	int named = i->name ? perfetto_sees(&s->names, i->name) : 1;
	int kernel = is_kernel ? perfetto_sees(&s->kernels, i->linked ?: i->name) : 1;
	int context = s->user_context ? perfetto_sees(&s->contexts, s->user_context) : 1;

	if (named < 0 || kernel < 0 || context < 0)
		return NULL;
	if (!perfetto_knows(&s->categories, i->category))
		p = put_stage(p, i->category);
	if (!named)
		p = perfetto_put_interned(p, INTERNED_EVENT_NAMES, i->name,
					  grt_tracks_name(f->tracks, i->name),
					  grt_tracks_name_length(f->tracks, i->name));
	if (!kernel)
		p = put_kernel(f, p, s, i);
	if (!context)
		p = put_context(p, s);
	for (unsigned int n = 0; n < i->args; n++)
		if (!perfetto_knows(s->args, i->arg[n].id) && !is_extent(f->role[i->arg[n].id]))
			p = perfetto_put_interned(p, INTERNED_ARG_NAMES, i->arg[n].id + 1U,
						  work_arg_name(f, i->arg[n].id), 64);
	return p == start ? before : grt_pb_close(start, p);
}

/* ------------------------------------------------------------- its values */

/* Writes a number's value up to the number itself. */
static uint8_t *put_arg_head(uint8_t *p, const struct grt_track_arg *a)
{
	p = grt_pb_number(p, ARG_NAME_IID, a->id + 1U);
	return grt_pb_key(p, a->kind == GRT_TRACK_S64 ? ARG_INT : ARG_UINT, GRT_PB_VARINT);
}

static uint8_t *put_arg(uint8_t *p, const struct grt_track_arg *a)
{
	uint8_t *start = p = grt_pb_open(p, LAUNCH_ARGS);

	if (a->kind != GRT_TRACK_TEXT)
		return grt_pb_close(start, grt_pb_varint(put_arg_head(p, a), a->number));
	p = grt_pb_number(p, ARG_NAME_IID, a->id + 1U);
	p = perfetto_put_text(p, ARG_STRING, a->text, a->length < 400 ? a->length : 400);
	return grt_pb_close(start, p);
}

static uint8_t *put_extent(uint8_t *p, unsigned int field, const uint64_t extent[3])
{
	uint8_t *start;

	if (!(extent[0] | extent[1] | extent[2]))
		return p;
	start = p = grt_pb_open(p, field);
	for (unsigned int i = 0; i < 3; i++)
		if (extent[i])
			p = grt_pb_number(p, i + 1, extent[i]);
	return grt_pb_close(start, p);
}

/* Writes the values from @from to @to, except the extents of grid and block, which are one message each. */
static uint8_t *put_args(const struct perfetto *f, uint8_t *p, const struct grt_track_item *i,
			 unsigned int from, unsigned int to)
{
	for (unsigned int n = from; n < to; n++)
		if (!is_extent(f->role[i->arg[n].id]))
			p = put_arg(p, &i->arg[n]);
	return p;
}

static uint8_t *put_extents(const struct perfetto *f, uint8_t *p, const struct grt_track_item *i)
{
	uint64_t extent[ROLE_BLOCK_Z + 1] = {0};

	for (unsigned int n = 0; n < i->args; n++)
		if (is_extent(f->role[i->arg[n].id]))
			extent[f->role[i->arg[n].id]] = i->arg[n].number;
	p = put_extent(p, LAUNCH_GRID, &extent[ROLE_GRID_X]);
	return put_extent(p, LAUNCH_BLOCK, &extent[ROLE_BLOCK_X]);
}

static uint8_t *put_launch(const struct perfetto *f, uint8_t *p, const struct grt_track_item *i)
{
	uint8_t *start;

	if (!i->args)
		return p;
	start = p = grt_pb_open(p, STAGE_LAUNCH);
	p = put_extents(f, put_args(f, p, i, 0, i->args), i);
	return grt_pb_close(start, p);
}

/* Writes the stage, the queue, the kernel and the context of an item. */
static uint8_t *put_kind(uint8_t *p, const struct sequence *s, const struct grt_track_item *i)
{
	p = grt_pb_number(p, STAGE_QUEUE_IID, queue_iid(s));
	p = grt_pb_number(p, STAGE_STAGE_IID, i->category + 1U);
	if (s->gpu)
		p = grt_pb_number(p, STAGE_GPU_ID, s->gpu - 1);
	if (s->user_context)
		p = grt_pb_number(p, STAGE_CONTEXT, s->user_context);
	if (i->name)
		p = grt_pb_number(p, STAGE_NAME_IID, i->name);
	if (i->category == GRT_CATEGORY_KERNEL && i->name)
		p = grt_pb_number(p, STAGE_KERNEL_IID, i->linked ?: i->name);
	return p;
}

static uint8_t *put_moment(uint8_t *p, const struct grt_track_item *i)
{
	p = grt_pb_number_wide(p, STAGE_EVENT_ID, i->number);
	return grt_pb_number(p, STAGE_DURATION, i->end - i->time);
}

static uint8_t *put_waits(uint8_t *p, const struct grt_track_item *i)
{
	for (uint32_t n = 0; n < i->waits; n++)
		p = grt_pb_number(p, STAGE_WAIT_IDS, i->wait[n]);
	return p;
}

/* ------------------------------------------------------------ work like before */

/*
 * A step of training launches the same kernels with the same values, so their bytes are encoded once and
 * copied.
 */
#define KNOWN_MAX 2048U
#define KNOWN_BYTES 624U
/* Copied at a time. */
#define KNOWN_PART 32U

/**
 * struct perfetto_work - encoded bytes of items of a set (see struct grt_track_item) on one track
 * @renamed: how often the track's queue had changed its name by then
 * @kind: bytes of put_kind(), from the first one on
 * @before, @behind: bytes of the values before and after the number that differs, one behind the other
 * @value: bytes of the value that differs, up to its number, at the end of @before
 */
struct perfetto_work {
	uint64_t set;
	uint32_t track;
	uint32_t renamed;
	uint16_t kind;
	uint16_t before;
	uint16_t behind;
	uint16_t value;
	uint8_t bytes[KNOWN_BYTES + KNOWN_PART];
};

static uint8_t *put_known(uint8_t *p, const uint8_t *bytes, size_t n)
{
	uint8_t *end = p + n;

	for (; p < end; p += KNOWN_PART, bytes += KNOWN_PART)
		memcpy(p, bytes, KNOWN_PART);
	return end;
}

static struct perfetto_work *known_place(const struct perfetto *f, const struct grt_track_item *i)
{
	/* sets are numbered; one may be on two lanes in turns */
	return &f->work[(i->set * 2 + i->track % 2) % KNOWN_MAX];
}

/* Return: NULL: the set is not encoded, or for another name or user of the queue */
static const struct perfetto_work *find_known(const struct perfetto *f, const struct sequence *s,
					      const struct grt_track_item *i)
{
	const struct perfetto_work *w = i->set && f->work ? known_place(f, i) : NULL;

	return w && w->set == i->set && w->track == i->track && w->renamed == s->renamed && s->user == i->pid
		       ? w
		       : NULL;
}

/* Whether the encoded bytes fit: a number does, a text may not. */
static bool is_short(const struct grt_track_item *i)
{
	for (unsigned int n = 0; n < i->args; n++)
		if (i->arg[n].kind == GRT_TRACK_TEXT)
			return false;
	return (6 + 2 * i->args) * GRT_PB_NUMBER_MAX <= KNOWN_BYTES;
}

/* Stores the encoded bytes of a set in place of older ones. Return: 0 or -ENOMEM */
static int keep_known(struct perfetto *f, const struct sequence *s, const struct grt_track_item *i)
{
	struct perfetto_work *w;
	uint8_t *p, *from, *value;

	if (!i->set || !is_short(i))
		return 0;
	if (!f->work && !(f->work = calloc(KNOWN_MAX, sizeof(*f->work))))
		return -ENOMEM;
	w = known_place(f, i);
	*w = (struct perfetto_work){.set = i->set, .track = i->track, .renamed = s->renamed};
	p = put_kind(w->bytes, s, i);
	w->kind = (uint16_t)(p - w->bytes);
	from = p;
	value = p = grt_pb_open(put_args(f, p, i, 0, i->varies), LAUNCH_ARGS);
	p = put_arg_head(p, &i->arg[i->varies]);
	w->value = (uint16_t)(p - value);
	w->before = (uint16_t)(p - from);
	from = p;
	p = put_extents(f, put_args(f, p, i, i->varies + 1, i->args), i);
	w->behind = (uint16_t)(p - from);
	return 0;
}

static uint8_t *put_known_work(const struct perfetto_work *w, uint8_t *p, struct sequence *s,
			       const struct grt_track_item *i)
{
	const uint8_t *before = w->bytes + w->kind;
	uint8_t *packet = p = grt_pb_open(p, TRACE_PACKET), *event, *launch, *value;

	event = p = grt_pb_open(perfetto_put_head(p, s, i->time), PACKET_RENDER_STAGE);
	p = put_waits(put_known(put_moment(p, i), w->bytes, w->kind), i);
	launch = p = grt_pb_open(p, STAGE_LAUNCH);
	p = put_known(p, before, w->before);
	value = p - w->value;
	p = grt_pb_close(value, grt_pb_varint(p, i->arg[i->varies].number));
	p = put_known(p, before + w->before, w->behind);
	return grt_pb_close(packet, grt_pb_close(event, grt_pb_close(launch, p)));
}

/* ------------------------------------------------------------------ work */

static uint8_t *put_new_work(struct perfetto *f, uint8_t *p, struct sequence *s,
			     const struct grt_track_item *i)
{
	uint8_t *packet = p = grt_pb_open(p, TRACE_PACKET), *event;

	if (work_context(f, s, i->pid))
		return NULL;
	p = put_new(f, perfetto_put_head(p, s, i->time), s, i);
	if (!p || keep_known(f, s, i))
		return NULL;
	event = p = grt_pb_open(p, PACKET_RENDER_STAGE);
	p = put_waits(put_kind(put_moment(p, i), s, i), i);
	p = put_launch(f, p, i);
	return grt_pb_close(packet, grt_pb_close(event, p));
}

uint8_t *perfetto_put_work(struct perfetto *f, uint8_t *p, struct sequence *s, const struct grt_track_item *i)
{
	const struct perfetto_work *w = find_known(f, s, i);

	return w ? put_known_work(w, p, s, i) : put_new_work(f, p, s, i);
}

/* ------------------------------------------------------------------ GPUs */

/* Parses "GPU-8f3a04c2-..." into 16 bytes. Return: false: the text is not a UUID */
static bool uuid_bytes(const char *text, size_t room, uint8_t out[16])
{
	const char *p = memchr(text, '-', strnlen(text, room));
	unsigned int digits = 0, value;
	char c;

	memset(out, 0, 16);
	for (p = p ? p + 1 : text; p < text + room && *p; p++) {
		if (*p == '-')
			continue;
		c = (char)(*p | 0x20);
		value = c >= '0' && c <= '9'   ? (unsigned int)(c - '0')
			: c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a' + 10)
					       : 16;
		if (value == 16 || digits == 32)
			return false;
		out[digits / 2] |= (uint8_t)(digits % 2 ? value : value << 4);
		digits++;
	}
	return digits == 32;
}

static uint8_t *put_extra(uint8_t *p, const char *key, uint64_t number)
{
	uint8_t *start;
	char text[24];

	if (!number)
		return p;
	start = p = grt_pb_open(p, GPU_EXTRA);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	p = grt_pb_bytes(p, EXTRA_KEY, key, strlen(key));
	p = grt_pb_bytes(p, EXTRA_VALUE, text, strlen(text));
	return grt_pb_close(start, p);
}

static uint8_t *put_cuda_gpu(uint8_t *p, const struct grt_tracks_gpu *g)
{
	uint8_t uuid[16];
	char text[32];

	p = grt_pb_bytes(p, GPU_VENDOR, "NVIDIA", 6);
	if (g->model)
		p = perfetto_put_text(p, GPU_MODEL, g->model, strlen(g->model));
	if (g->cuda->major) {
		snprintf(text, sizeof(text), "sm_%u%u", g->cuda->major, g->cuda->minor);
		p = grt_pb_bytes(p, GPU_ARCHITECTURE, text, strlen(text));
	}
	if (uuid_bytes(g->cuda->uuid, sizeof(g->cuda->uuid), uuid))
		p = grt_pb_bytes(p, GPU_UUID, uuid, sizeof(uuid));
	p = put_extra(p, "memory_bytes", g->cuda->memory);
	p = put_extra(p, "multiprocessors", g->cuda->sms);
	return put_extra(p, "sm_clock_khz", g->cuda->sm_clock);
}

static uint8_t *put_gpu(uint8_t *p, const struct grt_tracks_gpu *g)
{
	uint8_t *start = p = grt_pb_open(p, INFO_GPUS);
	char bus[GRT_BUS_MAX];

	p = perfetto_put_text(p, GPU_NAME, g->name, strlen(g->name));
	if (g->bus != UINT32_MAX) {
		grt_bus_text(bus, g->bus);
		p = grt_pb_bytes(p, GPU_BDF, bus, strlen(bus));
	}
	if (g->cuda)
		p = put_cuda_gpu(p, g);
	return grt_pb_close(start, p);
}

/* All GPUs are in one message, because Perfetto numbers the GPUs within a message. */
int perfetto_put_gpus(struct perfetto *f)
{
	uint32_t gpus = grt_tracks_gpus(f->tracks);
	struct grt_tracks_gpu gpu;
	uint8_t *room, *p, *packet, *info;
	int ret = 0;

	if (!gpus)
		return 0;
	room = malloc(64 + (size_t)gpus * 4 * TEXT_MAX);
	if (!room)
		return -ENOMEM;
	packet = p = grt_pb_open(room, TRACE_PACKET);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, OWN_SEQUENCE);
	p = grt_pb_number(p, PACKET_TIMESTAMP, f->first);
	p = grt_pb_number(p, PACKET_TIMESTAMP_CLOCK_ID, MONOTONIC);
	info = p = grt_pb_open(p, PACKET_GPU_INFO);
	for (uint32_t n = 1; n <= gpus; n++)
		if (grt_tracks_gpu(f->tracks, n, &gpu))
			p = put_gpu(p, &gpu);
	p = grt_pb_close(packet, grt_pb_close(info, p));
	for (const uint8_t *at = room; at < p && !ret;) {
		size_t n = (size_t)(p - at) < GRT_OUTBUF_ROOM / 2 ? (size_t)(p - at) : GRT_OUTBUF_ROOM / 2;
		uint8_t *to = perfetto_room(f, n);

		memcpy(to, at, n);
		ret = perfetto_take(f, to + n);
		at += n;
	}
	free(room);
	return ret;
}
