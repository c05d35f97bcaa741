// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * NCCL's profiler plugin, which NCCL loads by NCCL_PROFILER_PLUGIN when it makes a
 * process's first communicator. Of the tables ncclProfiler_v6, _v5 and _v4 it takes
 * the newest that it knows. Layouts are NCCL's (2.30, src/include/plugin/profiler/
 * profiler_v4.h, profiler_v5.h, profiler_v6.h); 2.27 knows v4, 2.28 v5, 2.29 v6.
 *
 * NCCL calls for a collective, on the program's thread: its API call begins and ends;
 * later, where the group ends, its kernel's launch begins and ends, and behind that the
 * group of what the kernel does begins, with an event for each collective. Only there its
 * sequence number is known, so that is where a record is made. v4 has groups alone: the
 * launch is the thread's last one before.
 *
 * NCCL reads the mask of events that we want at each call, so that it calls us for
 * nothing while nothing is recorded.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "inject.h"
#include "nccl.h"

/* Most collectives that wait for the writer. */
#define OPS 8192U
/* Most communicators at the same time; further ones are not recorded. */
#define COMMS 1024U
/* Most copies of NCCL in a process. */
#define COPIES 4U
#define NAME_MAX_BYTES 64U
#define PEER_NONE UINT32_MAX

/* Kinds of events, as bits of the mask; other kinds are not requested. */
enum {
	GROUP = 1 << 0,
	COLLECTIVE = 1 << 1,
	SEND_RECEIVE = 1 << 2,
	COLLECTIVE_CALL = 1 << 9,
	SEND_RECEIVE_CALL = 1 << 10,
	KERNEL_LAUNCH = 1 << 11,
	BY_COPY = 1 << 12, /* a collective by copy engines, from v6 on */
};

enum { NCCL_SUCCESS = 0 };

/* The part of an event that collectives have, as NCCL's coll */
struct collective {
	uint64_t seq;
	const char *function;
	const void *from;
	void *to;
	size_t count;
	int root;
	const char *datatype;
	uint8_t channels;
	uint8_t warps;
	const char *algorithm;
	const char *protocol;
	void *group; /* from v5 on */
};

/* NCCL's p2p */
struct send_receive {
	const char *function;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
	uint8_t channels;
	void *group; /* from v5 on */
};

/* NCCL's ceColl, the members that are read */
struct by_copy {
	uint64_t seq;
	const char *function;
	const void *from;
	void *to;
	size_t count;
	int root;
	const char *datatype;
};

/* ncclProfilerEventDescr; v4 has one byte of @type */
struct descr {
	uint64_t type;
	void *parent;
	int rank;
	union {
		struct collective collective;
		struct send_receive send_receive;
		struct by_copy by_copy;
	};
};

_Static_assert(offsetof(struct descr, collective) == 24 && offsetof(struct collective, root) == 40 &&
		       offsetof(struct collective, datatype) == 48 &&
		       offsetof(struct collective, channels) == 56 &&
		       offsetof(struct collective, algorithm) == 64 && sizeof(struct collective) == 88,
	       "ncclProfilerEventDescr, coll");
_Static_assert(offsetof(struct send_receive, peer) == 32 && offsetof(struct send_receive, channels) == 36 &&
		       sizeof(struct send_receive) == 48,
	       "ncclProfilerEventDescr, p2p");

/* ncclProfiler; @init has its arguments in another order in v4 */
struct profiler {
	const char *name;
	void *init;
	int (*start)(void *context, void **handle, struct descr *d);
	int (*stop)(void *handle);
	int (*state)(void *handle, int state, void *args);
	int (*finalize)(void *context);
};

/**
 * struct op - a collective, or a send or receive
 * @turn: twice the number of earlier uses of its place, plus 1 while the place is filled
 */
struct op {
	_Atomic uint64_t turn;
	uint64_t begin;
	uint64_t time;
	uint64_t seq;
	uint64_t count;
	struct nccl_launch launch;
	uint32_t comm;
	uint32_t tid;
	uint32_t peer;
	uint16_t kind;
	uint8_t channels;
	bool inferred;
	char function[20];
	char datatype[20];
	char algorithm[20];
	char protocol[12];
};

enum { COMM_FREE, COMM_TAKEN, COMM_USED, COMM_LEFT };

/**
 * struct comm - a communicator
 * @copy: the copy of NCCL that has it
 * @number: from 1, never reused; @defined: the recording has its definition
 */
struct comm {
	_Atomic int state;
	unsigned int copy;
	int version;
	uint32_t number;
	bool defined;
	uint64_t hash;
	uint32_t rank;
	uint32_t ranks;
	uint32_t nodes;
	char name[NAME_MAX_BYTES];
};

static struct comm comms[COMMS];
static struct op *_Atomic ops;
static _Atomic uint64_t head;
static uint64_t tail;
static _Atomic uint64_t lost, numbers;
static _Atomic uint32_t comm_numbers, living;

/*
 * The mask in which NCCL reads the wanted events, and the number of communicators that may read it. The last
 * one takes the mask along, since NCCL may be unloaded after it, so masks are written with the lock.
 */
static pthread_mutex_t copies_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int *mask;
	uint32_t comms;
	int wanted;
} copies[COPIES];

/* ------------------------------------------------------------- on and off */

/* The caller holds the lock. */
static void nccl_set_mask(unsigned int copy, bool on)
{
	if (copies[copy].mask)
		__atomic_store_n(copies[copy].mask, on ? copies[copy].wanted : 0, __ATOMIC_RELAXED);
}

void nccl_switch(bool on)
{
	pthread_mutex_lock(&copies_lock);
	for (unsigned int i = 0; i < COPIES; i++)
		nccl_set_mask(i, on);
	pthread_mutex_unlock(&copies_lock);
}

void nccl_forked(void)
{
	pthread_mutex_init(&copies_lock, NULL);
	nccl_switch(false);
}

bool nccl_is_used(void)
{
	return atomic_load_explicit(&living, memory_order_relaxed);
}

uint64_t nccl_lost(void)
{
	return atomic_exchange(&lost, 0);
}

static bool nccl_make_room(void)
{
	struct op *none = NULL;
	void *at;

	if (atomic_load(&ops))
		return true;
	at = mmap(NULL, OPS * sizeof(struct op), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	if (!atomic_compare_exchange_strong(&ops, &none, at))
		munmap(at, OPS * sizeof(struct op));
	return true;
}

/* ---------------------------------------------------------- communicators */

static void nccl_copy_text(char *to, size_t room, const char *text)
{
	size_t n = text ? strnlen(text, room - 1) : 0;

	memcpy(to, text ?: "", n);
	to[n] = '\0';
}

/* The index of a copy of NCCL; COPIES: there are too many. The caller holds the lock. */
static unsigned int nccl_copy_of(const int *mask)
{
	unsigned int i, free = COPIES;

	for (i = 0; i < COPIES && copies[i].mask != mask; i++)
		if (!copies[i].mask && free == COPIES)
			free = i;
	return i < COPIES ? i : free;
}

/* A communicator of a copy of NCCL begins. Return: the index of the copy; COPIES: there are too many */
static unsigned int nccl_copy_join(int *mask, int wanted)
{
	unsigned int copy;

	pthread_mutex_lock(&copies_lock);
	copy = nccl_copy_of(mask);
	if (copy < COPIES) {
		copies[copy].mask = mask;
		copies[copy].wanted = wanted;
		copies[copy].comms++;
		nccl_set_mask(copy, atomic_load(&inject.on));
	}
	pthread_mutex_unlock(&copies_lock);
	return copy;
}

static void nccl_copy_leave(unsigned int copy)
{
	pthread_mutex_lock(&copies_lock);
	if (!--copies[copy].comms)
		copies[copy].mask = NULL;
	pthread_mutex_unlock(&copies_lock);
}

static struct comm *nccl_take_comm(void)
{
	int state;

	for (unsigned int i = 0; i < COMMS; i++) {
		state = COMM_FREE;
		if (atomic_compare_exchange_strong(&comms[i].state, &state, COMM_TAKEN))
			return &comms[i];
	}
	return NULL;
}

static int nccl_wanted(int version)
{
	return GROUP | COLLECTIVE | SEND_RECEIVE |
	       (version > 4 ? COLLECTIVE_CALL | SEND_RECEIVE_CALL | KERNEL_LAUNCH : 0) |
	       (version > 5 ? BY_COPY : 0);
}

static int nccl_init(void **context, int *mask, int version, const struct comm *told, const char *name)
{
	unsigned int copy;
	struct comm *c;

	if (!context || !mask)
		return NCCL_SUCCESS;
	*context = NULL;
	if (!inject_begin_ranges() || !nccl_make_room())
		return NCCL_SUCCESS;
	c = nccl_take_comm();
	if (!c)
		return NCCL_SUCCESS;
	copy = nccl_copy_join(mask, nccl_wanted(version));
	if (copy == COPIES) {
		atomic_store(&c->state, COMM_FREE);
		return NCCL_SUCCESS;
	}
	c->copy = copy;
	c->version = version;
	c->hash = told->hash;
	c->rank = told->rank;
	c->ranks = told->ranks;
	c->nodes = told->nodes;
	c->number = atomic_fetch_add(&comm_numbers, 1) + 1;
	c->defined = false;
	nccl_copy_text(c->name, sizeof(c->name), name);
	atomic_fetch_add(&living, 1);
	atomic_store(&c->state, COMM_USED);
	*context = c;
	return NCCL_SUCCESS;
}

static int nccl_finalize(void *context)
{
	struct comm *c = context;
	int state = COMM_USED;
	unsigned int copy;

	if (c < comms || c >= comms + COMMS)
		return NCCL_SUCCESS;
	copy = c->copy;
	/* the writer has not written the previous one yet */
	if (!atomic_compare_exchange_strong(&c->state, &state,
					    atomic_load(&inject.on) ? COMM_LEFT : COMM_FREE))
		return NCCL_SUCCESS;
	atomic_fetch_sub(&living, 1);
	nccl_copy_leave(copy);
	return NCCL_SUCCESS;
}

/* ------------------------------------------------------------------ events */

/* Handles are numbers that contain their kind. */
static void *nccl_handle(uint64_t number)
{
	return (void *)(uintptr_t)number;
}

static uint64_t nccl_number(void)
{
	return atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
}

/* NULL: there is no room */
static struct op *nccl_op_take(uint64_t *turn)
{
	uint64_t at = atomic_load_explicit(&head, memory_order_relaxed), lap;
	struct op *place;

	for (;;) {
		place = &atomic_load_explicit(&ops, memory_order_relaxed)[at % OPS];
		lap = 2 * (at / OPS);
		if (atomic_load_explicit(&place->turn, memory_order_acquire) < lap)
			return NULL;
		if (atomic_load_explicit(&place->turn, memory_order_relaxed) > lap) {
			at = atomic_load_explicit(&head, memory_order_relaxed);
			continue;
		}
		if (atomic_compare_exchange_weak(&head, &at, at + 1))
			break;
	}
	*turn = lap;
	return place;
}

static void nccl_put(const struct op *op)
{
	uint64_t turn;
	struct op *to = nccl_op_take(&turn);

	if (!to) {
		atomic_fetch_add(&lost, 1);
		return;
	}
	memcpy(&to->begin, &op->begin, sizeof(*op) - offsetof(struct op, begin));
	atomic_store_explicit(&to->turn, turn + 1, memory_order_release);
}

static uint64_t nccl_begin_of(const struct nccl_thread *t, const void *parent)
{
	uint64_t number = (uint64_t)(uintptr_t)parent;
	unsigned int at = number % NCCL_CALLS;

	return number && t->began[at].number == number ? t->began[at].begin : 0;
}

static void nccl_take_collective(struct op *op, const struct descr *d, struct nccl_thread *t)
{
	op->seq = d->collective.seq;
	op->count = d->collective.count;
	op->peer = (uint32_t)d->collective.root;
	op->channels = d->collective.channels;
	nccl_copy_text(op->function, sizeof(op->function), d->collective.function);
	nccl_copy_text(op->datatype, sizeof(op->datatype), d->collective.datatype);
	nccl_copy_text(op->algorithm, sizeof(op->algorithm), d->collective.algorithm);
	nccl_copy_text(op->protocol, sizeof(op->protocol), d->collective.protocol);
}

static void nccl_take_send_receive(struct op *op, const struct descr *d)
{
	op->count = d->send_receive.count;
	op->peer = (uint32_t)d->send_receive.peer;
	op->channels = d->send_receive.channels;
	nccl_copy_text(op->function, sizeof(op->function), d->send_receive.function);
	nccl_copy_text(op->datatype, sizeof(op->datatype), d->send_receive.datatype);
}

static void nccl_take_by_copy(struct op *op, const struct descr *d)
{
	op->seq = d->by_copy.seq;
	op->count = d->by_copy.count;
	op->peer = (uint32_t)d->by_copy.root;
	nccl_copy_text(op->function, sizeof(op->function), d->by_copy.function);
	nccl_copy_text(op->datatype, sizeof(op->datatype), d->by_copy.datatype);
	nccl_copy_text(op->algorithm, sizeof(op->algorithm), "CE");
}

/* The group of an event; in v4, its parent. */
static const void *nccl_group_of(int version, const struct descr *d, unsigned int type)
{
	if (version == 4)
		return d->parent;
	return type == COLLECTIVE ? d->collective.group : d->send_receive.group;
}

static void nccl_record(const struct comm *c, const struct descr *d, unsigned int type, struct nccl_thread *t)
{
	struct op op = {.comm = c->number, .tid = nccl_thread_id(), .peer = PEER_NONE};

	op.begin = c->version > 4 ? nccl_begin_of(t, d->parent) : 0;
	op.time = clock_monotonic();
	/* the clock was tuned in between */
	if (op.time < op.begin)
		op.time = op.begin;
	op.kind = type == SEND_RECEIVE ? 2 : type == BY_COPY ? 3 : 1;
	if (type == COLLECTIVE)
		nccl_take_collective(&op, d, t);
	else if (type == SEND_RECEIVE)
		nccl_take_send_receive(&op, d);
	else
		nccl_take_by_copy(&op, d);
	if (type != BY_COPY && t->group && nccl_group_of(c->version, d, type) == nccl_handle(t->group)) {
		op.launch = t->grouped;
		op.inferred = t->inferred;
	}
	nccl_put(&op);
}

/* The kernel of a group is the one that this thread launched last for this communicator. */
static void nccl_begin_group(const struct comm *c, struct nccl_thread *t, uint64_t number)
{
	uint64_t now = nccl_thread_position();

	t->group = number;
	t->inferred = c->version == 4;
	t->grouped = (struct nccl_launch){0};
	if (c->version == 4)
		nccl_thread_launch(now - t->seen > NCCL_REACH ? now - NCCL_REACH : t->seen, &t->grouped);
	else if (t->of == c->number)
		t->grouped = t->launched;
	t->of = 0;
	t->seen = now;
}

static void *nccl_begin(const struct comm *c, const struct descr *d, unsigned int type, struct nccl_thread *t)
{
	uint64_t number = nccl_number();

	switch (type) {
	case GROUP:
		nccl_begin_group(c, t, number);
		break;
	case COLLECTIVE_CALL:
	case SEND_RECEIVE_CALL:
		t->began[number % NCCL_CALLS].number = number;
		t->began[number % NCCL_CALLS].begin = clock_monotonic();
		break;
	case KERNEL_LAUNCH:
		t->launching = number;
		t->from = nccl_thread_position();
		t->of = c->number;
		break;
	case COLLECTIVE:
	case SEND_RECEIVE:
	case BY_COPY:
		nccl_record(c, d, type, t);
		break;
	}
	return nccl_handle(number);
}

static int nccl_start(void *context, void **handle, struct descr *d)
{
	const struct comm *c = context;
	struct nccl_thread *t;
	uint64_t type;

	if (!handle)
		return NCCL_SUCCESS;
	*handle = NULL;
	if (c < comms || c >= comms + COMMS || !d ||
	    atomic_load_explicit(&c->state, memory_order_relaxed) != COMM_USED)
		return NCCL_SUCCESS;
	type = c->version == 4 ? (uint8_t)d->type : d->type;
	if (!(type & (uint64_t)nccl_wanted(c->version)) || type & (type - 1))
		return NCCL_SUCCESS;
	t = nccl_thread_enter();
	if (!t)
		return NCCL_SUCCESS;
	*handle = nccl_begin(c, d, (unsigned int)type, t);
	nccl_thread_leave();
	return NCCL_SUCCESS;
}

/* Only the end of a launch matters: by then the launch is in the thread's ring. */
static int nccl_stop(void *handle)
{
	struct nccl_thread *t = handle ? nccl_thread_enter() : NULL;

	if (!t)
		return NCCL_SUCCESS;
	if (t->launching == (uint64_t)(uintptr_t)handle) {
		t->launched = (struct nccl_launch){0};
		if (!nccl_thread_launch(t->from, &t->launched))
			t->of = 0;
		t->launching = 0;
	}
	nccl_thread_leave();
	return NCCL_SUCCESS;
}

static int nccl_state(void *handle, int state, void *args)
{
	return NCCL_SUCCESS;
}

/* --------------------------------------------------------- NCCL's versions */

static int nccl_init_v4(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks,
			int rank, void *log)
{
	const struct comm told = {
		.hash = hash, .nodes = (uint32_t)nodes, .ranks = (uint32_t)ranks, .rank = (uint32_t)rank};

	return nccl_init(context, mask, 4, &told, name);
}

static int nccl_init_v5(void **context, uint64_t hash, int *mask, const char *name, int nodes, int ranks,
			int rank, void *log)
{
	const struct comm told = {
		.hash = hash, .nodes = (uint32_t)nodes, .ranks = (uint32_t)ranks, .rank = (uint32_t)rank};

	return nccl_init(context, mask, 5, &told, name);
}

static int nccl_init_v6(void **context, uint64_t hash, int *mask, const char *name, int nodes, int ranks,
			int rank, void *log)
{
	const struct comm told = {
		.hash = hash, .nodes = (uint32_t)nodes, .ranks = (uint32_t)ranks, .rank = (uint32_t)rank};

	return nccl_init(context, mask, 6, &told, name);
}

#define PROFILER(version)                                                                        \
	extern const struct profiler ncclProfiler_v##version;                                    \
	__attribute__((visibility("default"))) const struct profiler ncclProfiler_v##version = { \
		"grtrace", nccl_init_v##version, nccl_start, nccl_stop, nccl_state, nccl_finalize}

PROFILER(4);
PROFILER(5);
PROFILER(6);

/* ------------------------------------------------------------ the writer */

static void nccl_write_comm(struct packets *p, struct comm *c, uint64_t time)
{
	struct grt_ev_communicator r;

	event_init(&r.e, GRT_EV_COMMUNICATOR, sizeof(r), time);
	r.hash = c->hash;
	r.number = c->number;
	r.rank = c->rank;
	r.ranks = c->ranks;
	r.nodes = c->nodes;
	r.name = *c->name ? define_string(c->name) : 0;
	r.version = (uint32_t)c->version;
	packets_put(p, &r.e);
	c->defined = true;
}

static uint32_t nccl_string(const char *text)
{
	return *text ? define_string(text) : 0;
}

static void nccl_write_op(struct packets *p, const struct op *op)
{
	struct grt_ev_collective r;

	event_init(&r.e, GRT_EV_COLLECTIVE, sizeof(r), op->time);
	r.e.tid = op->tid;
	r.e.flags = (op->launch.captured ? GRT_FLAG_CAPTURED : 0) | (op->inferred ? GRT_FLAG_INFERRED : 0);
	r.begin = op->begin;
	r.sequence = op->seq;
	r.elements = op->count;
	r.correlation = op->launch.correlation;
	r.graph_node = op->launch.node;
	r.communicator = op->comm;
	r.function = nccl_string(op->function);
	r.datatype = nccl_string(op->datatype);
	r.algorithm = nccl_string(op->algorithm);
	r.protocol = nccl_string(op->protocol);
	r.peer = op->peer;
	r.channels = op->channels;
	r.kind = op->kind;
	packets_put(p, &r.e);
}

/*
 * Defines communicators before their collectives. A communicator that has ended is already defined and gives
 * up its place.
 */
static void nccl_write_comms(struct packets *(*to)(uint64_t time), uint64_t time)
{
	for (unsigned int i = 0; i < COMMS; i++) {
		int state = atomic_load(&comms[i].state);

		if (state != COMM_USED && state != COMM_LEFT)
			continue;
		if (!comms[i].defined)
			nccl_write_comm(to(time), &comms[i], time);
		if (state == COMM_LEFT)
			atomic_store(&comms[i].state, COMM_FREE);
	}
}

static struct op *nccl_next(uint64_t at, uint64_t last)
{
	struct op *op = &atomic_load(&ops)[at % OPS];

	return atomic_load_explicit(&op->turn, memory_order_acquire) == 2 * (at / OPS) + 1 && op->time <= last
		       ? op
		       : NULL;
}

void nccl_write(struct packets *(*to)(uint64_t time), uint64_t last)
{
	uint64_t until = atomic_load(&head);
	struct op *op;

	if (!atomic_load(&ops))
		return;
	op = nccl_next(tail, UINT64_MAX);
	/* all communicators of collectives before @until are known */
	nccl_write_comms(to, op ? op->time : clock_monotonic());
	while (tail < until && (op = nccl_next(tail, last))) {
		/* a collective of the previous recording, from a thread that was late */
		if (op->time >= inject.since)
			nccl_write_op(to(op->time), op);
		atomic_store_explicit(&op->turn, 2 * (tail / OPS) + 2, memory_order_release);
		tail++;
	}
}

void nccl_reset(void)
{
	int state;

	for (unsigned int i = 0; i < COMMS; i++) {
		state = COMM_LEFT;
		atomic_compare_exchange_strong(&comms[i].state, &state, COMM_FREE);
		comms[i].defined = false;
	}
	atomic_store(&lost, 0);
}
