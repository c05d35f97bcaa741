// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Collectives in which ranks wait, and who has not come. A rank waits where it has
 * launched the kernel of a collective, the kernel has not ended, and no later one of the
 * communicator has on that rank: what the recording has lost is no wait. Nor is one that has ended on another
 * rank, for which all have to come: while a kernel hangs CUPTI keeps back what ended before it on that GPU.
 * Of several, that is named first which a rank has not entered. A process may have several ranks, one for
 * each of its GPUs: so a seat is a communicator of a process.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "collective_ops.h"

/* Shorter waits are not reported, because the other ranks are about to enter. */
#define WAIT_NS 1000000000ULL
/* Most ranks that are named one by one. */
#define NAMED 4

/**
 * struct waits - @now: the last sign of life of any process
 * @first: by process, its first seat; after those of all processes, the number of seats
 * @passed: by seat, of the communicator at hand: when the last collective was launched whose kernel has ended
 * @reached: by seat, of the function at hand: its last part, UINT32_MAX: none
 */
struct waits {
	const struct grt_ops *ops;
	struct grt_notes *notes;
	uint64_t now;
	uint32_t *first;
	uint64_t *passed;
	uint32_t *reached;
};

static const struct grt_nccl_log *waits_log(const struct waits *w, uint32_t process)
{
	return &grt_step_log_process(w->ops->log, process)->nccl;
}

static uint32_t waits_seat(const struct waits *w, uint32_t process, const struct grt_nccl_comm *comm)
{
	return w->first[process] + (uint32_t)(comm - waits_log(w, process)->comm);
}

static uint32_t waits_seat_of(const struct waits *w, const struct grt_op_part *part)
{
	return waits_seat(w, part->process, part->comm);
}

static bool waits_is_waiting(const struct waits *w, const struct grt_op_part *part)
{
	const struct grt_nccl_op *op = grt_ops_op(w->ops, part);

	return !part->alone && part->work == UINT32_MAX && op->key &&
	       op->time > w->passed[waits_seat_of(w, part)] && w->now - op->time >= WAIT_NS;
}

/* Return: whether a rank of the recording has entered neither this collective nor a later one. */
static bool waits_lacks_one(const struct waits *w, uint32_t at)
{
	for (uint32_t p = 0; p < w->ops->processes; p++) {
		const struct grt_nccl_log *l = waits_log(w, p);

		for (uint32_t i = 0; i < l->comms; i++) {
			uint32_t reached = w->reached[w->first[p] + i];

			if (l->comm[i].hash == w->ops->part[at].hash &&
			    (reached == UINT32_MAX || reached < at))
				return true;
		}
	}
	return false;
}

/** struct waits_first - the first collective in which a rank waits, and since when */
struct waits_first {
	uint32_t at;
	uint64_t time;
};

/*
 * Looks at the collectives of one function, from @from to @to; @lacks: the first one that a rank has not
 * entered.
 */
static void waits_find(const struct waits *w, uint32_t from, uint32_t to, struct waits_first *any,
		       struct waits_first *lacks)
{
	memset(w->reached, 0xff, w->first[w->ops->processes] * sizeof(*w->reached));
	for (uint32_t i = from; i < to; i++)
		w->reached[waits_seat_of(w, &w->ops->part[i])] = i;
	for (uint32_t at = from, n; at < to; at += n) {
		n = grt_ops_one(w->ops, at);
		for (uint32_t i = at; i < at + n; i++) {
			const struct waits_first one = {at, grt_ops_op(w->ops, &w->ops->part[i])->time};

			if (!waits_is_waiting(w, &w->ops->part[i]))
				continue;
			if (one.time < any->time)
				*any = one;
			if (one.time < lacks->time && waits_lacks_one(w, at))
				*lacks = one;
		}
	}
}

/* "0-2, 5" */
static void waits_ranks(const struct waits *w, uint32_t at, uint32_t n, char *list, size_t room)
{
	const struct grt_op_part *part = &w->ops->part[at];
	size_t length = 0;

	*list = '\0';
	for (uint32_t i = 0, k; i < n && length + 24 < room; i = k) {
		for (k = i + 1; k < n && part[k].comm->rank == part[k - 1].comm->rank + 1; k++)
			;
		length += (size_t)snprintf(list + length, room - length, "%s%u", length ? ", " : "",
					   part[i].comm->rank);
		if (k > i + 1)
			length += (size_t)snprintf(list + length, room - length, "%s%u",
						   k > i + 2 ? "-" : ", ", part[k - 1].comm->rank);
	}
}

/* Return: whether a rank has entered this collective or a later one of its function. */
static bool waits_has_entered(const struct waits *w, uint32_t at, uint32_t seat)
{
	const struct grt_op_part *one = &w->ops->part[at];

	for (uint32_t i = at; i < w->ops->parts; i++) {
		const struct grt_op_part *part = &w->ops->part[i];

		if (part->hash != one->hash || part->function != one->function || part->alone)
			break;
		if (waits_seat_of(w, part) == seat)
			return true;
	}
	return false;
}

/* Of a process with one rank the last collective of any communicator, else that of the rank's communicator.
 */
static const struct grt_nccl_op *waits_last_op(const struct grt_nccl_log *l, const struct grt_nccl_comm *own)
{
	const struct grt_nccl_op *last = NULL;
	unsigned int ranks = 0;

	for (uint32_t i = 0; i < l->comms; i++)
		ranks += l->comm[i].hash == own->hash;
	for (uint32_t i = 0; i < l->ops; i++)
		if ((ranks == 1 || l->op[i].comm == own->number) && (!last || l->op[i].time > last->time))
			last = &l->op[i];
	return last;
}

/* Describes the last collective of a rank; @own: its communicator, in which others wait. */
static void waits_last(const struct waits *w, uint32_t process, const struct grt_nccl_comm *own, char *text,
		       size_t room)
{
	const struct grt_nccl_comm *comm;
	const struct grt_image *image = grt_step_log_process(w->ops->log, process)->image;
	const struct grt_nccl_log *l = waits_log(w, process);
	const struct grt_nccl_op *last = waits_last_op(l, own);
	char ago[GRT_UNITS_MAX], of[32] = "";

	*text = '\0';
	comm = last ? grt_nccl_log_comm(l, last->comm) : NULL;
	if (comm && comm->hash != own->hash)
		snprintf(of, sizeof(of), " of %016" PRIx64, comm->hash);
	grt_units_ns(ago, w->now - (last ? last->time : w->now));
	if (image->process.what == 3)
		snprintf(text, room, "; its process has ended");
	else if (w->now > l->alive + 3 * WAIT_NS)
		snprintf(text, room, "; its process has not been seen since");
	else if (last)
		snprintf(text, room, "; its last was %.20s #%" PRIu64 "%s, %s before",
			 grt_image_string(image, last->function) ?: "", last->sequence, of, ago);
}

/** struct waits_text - what the sentences about a collective have in common */
struct waits_text {
	char what[120];
	char ranks[64];
	char since[GRT_UNITS_MAX];
};

static void waits_text(const struct waits *w, uint32_t at, uint32_t n, struct waits_text *t)
{
	const struct grt_op_part *part = &w->ops->part[at];
	const char *name = grt_ops_string(w->ops, part, part->comm->name);
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (grt_ops_op(w->ops, &part[i])->time < first)
			first = grt_ops_op(w->ops, &part[i])->time;
	snprintf(t->what, sizeof(t->what), "%.20s #%" PRIu64 " of communicator %016" PRIx64 "%s%.24s%s",
		 grt_ops_string(w->ops, part, grt_ops_op(w->ops, part)->function), part->sequence, part->hash,
		 *name ? " (" : "", name, *name ? ")" : "");
	waits_ranks(w, at, n, t->ranks, sizeof(t->ranks));
	grt_units_ns(t->since, w->now - first);
}

/* Return: the number of missing ranks that the recording knows */
static unsigned int waits_name_missing(const struct waits *w, uint32_t at, uint32_t n,
				       const struct waits_text *t)
{
	unsigned int missing = 0;
	char last[128];

	for (uint32_t p = 0; p < w->ops->processes; p++) {
		const struct grt_step_process *process = grt_step_log_process(w->ops->log, p);

		for (uint32_t i = 0; process->image && i < process->nccl.comms; i++) {
			const struct grt_nccl_comm *c = &process->nccl.comm[i];

			if (c->hash != w->ops->part[at].hash ||
			    waits_has_entered(w, at, waits_seat(w, p, c)) || ++missing > NAMED)
				continue;
			waits_last(w, p, c, last, sizeof(last));
			grt_note(w->notes, "rank %u (PID %u) has not entered %s: rank%s %s wait%s since %s%s",
				 c->rank, process->image->pid, t->what, n > 1 ? "s" : "", t->ranks,
				 n > 1 ? "" : "s", t->since, last);
		}
	}
	if (missing > NAMED)
		grt_note(w->notes, "%u {more rank has|more ranks have} not entered it", missing - NAMED);
	return missing;
}

static void waits_note(const struct waits *w, uint32_t at)
{
	uint32_t n = grt_ops_one(w->ops, at), ranks = w->ops->part[at].comm->ranks;
	struct waits_text t;

	waits_text(w, at, n, &t);
	if (waits_name_missing(w, at, n, &t))
		return;
	if (n < ranks)
		grt_note(w->notes,
			 "rank%s %s of %u wait%s in %s since %s; the others are not in this recording",
			 n > 1 ? "s" : "", t.ranks, ranks, n > 1 ? "" : "s", t.what, t.since);
	else
		grt_note(w->notes, "%s: all its %u ranks have entered it, and it has not ended since %s",
			 t.what, ranks, t.since);
}

/* Return: whether no rank leaves such a collective before all ranks have entered. */
static bool waits_needs_all(const struct waits *w, const struct grt_op_part *part)
{
	static const char *const all[] = {"AllReduce", "AllGather", "ReduceScatter"};
	const char *name = grt_ops_string(w->ops, part, grt_ops_op(w->ops, part)->function);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i]))
			return true;
	return false;
}

static void waits_see_passed(const struct waits *w, uint32_t from, uint32_t to)
{
	memset(w->passed, 0, w->first[w->ops->processes] * sizeof(*w->passed));
	for (uint32_t at = from, n; at < to; at += n) {
		const struct grt_op_part *part = &w->ops->part[at];
		bool ended = false;

		n = grt_ops_one(w->ops, at);
		for (uint32_t i = 0; i < n; i++)
			ended = ended || part[i].work != UINT32_MAX;
		ended = ended && waits_needs_all(w, part);
		for (uint32_t i = 0; i < n; i++) {
			uint64_t time = grt_ops_op(w->ops, &part[i])->time,
				 *passed = &w->passed[waits_seat_of(w, &part[i])];

			if ((ended || part[i].work != UINT32_MAX) && time > *passed)
				*passed = time;
		}
	}
}

/* Looks for waits of one communicator. */
static void waits_of(const struct waits *w, uint32_t from, uint32_t to)
{
	struct waits_first any = {0, UINT64_MAX}, lacks = any;
	uint32_t end;

	waits_see_passed(w, from, to);
	for (; from < to; from = end) {
		for (end = from; end < to && w->ops->part[end].function == w->ops->part[from].function; end++)
			;
		waits_find(w, from, end, &any, &lacks);
	}
	if (any.time < UINT64_MAX)
		waits_note(w, lacks.time < UINT64_MAX ? lacks.at : any.at);
}

/* Numbers the seats. Return: 0 or -ENOMEM */
static int waits_take_seats(struct waits *w)
{
	uint32_t processes = w->ops->processes, seats;

	w->first = calloc((size_t)processes + 1, sizeof(*w->first));
	if (!w->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < processes; i++)
		w->first[i + 1] = w->first[i] + waits_log(w, i)->comms;
	seats = w->first[processes];
	w->passed = calloc((size_t)seats + 1, sizeof(*w->passed));
	w->reached = calloc((size_t)seats + 1, sizeof(*w->reached));
	return w->passed && w->reached ? 0 : -ENOMEM;
}

int grt_ops_waits(const struct grt_ops *ops, struct grt_notes *notes)
{
	struct waits w = {.ops = ops, .notes = notes};
	int ret = waits_take_seats(&w);
	uint32_t to;

	for (uint32_t i = 0; i < ops->processes; i++)
		if (waits_log(&w, i)->alive > w.now)
			w.now = waits_log(&w, i)->alive;
	for (uint32_t from = 0; !ret && from < ops->parts && notes->n < GRT_NOTES_MAX; from = to) {
		for (to = from; to < ops->parts && ops->part[to].hash == ops->part[from].hash; to++)
			;
		waits_of(&w, from, to);
	}
	free(w.first);
	free(w.passed);
	free(w.reached);
	return ret;
}
