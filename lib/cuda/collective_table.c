// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Sums of collectives, and their columns. */
#include "collective_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/containers.h"
#include "collective_ops.h"
#include "table/cells.h"

/* ------------------------------------------------------- collective sums */

/*
 * Sums of collectives by communicator, function, direction and size: the time after the last
 * rank has arrived, and the bytes moved in this time.
 */

#define GRT_COLLECTIVE_SUMS_MAX 65536U

/**
 * struct grt_collective_sum - a row
 * @part: one of its collectives; @hash: hash of its communicator, as text
 * @count: number of collectives; @captured: those that were captured into a graph, where each replay counts;
 *	@open: those without an ended kernel; @timed: those with a time
 * @bytes: bytes of all; @size: bytes of the largest, @smallest: of the smallest
 * @timed_bytes, @time: bytes and time of collectives with a time, from the arrival of the last rank on;
 *	@carried: bytes on their links
 * @kernels: time of the kernels of all ranks; @wait: the part of it before the last rank arrived; @exposed:
 *	the part in which nothing else was computed
 * @ranks: the largest number of ranks in the recording; @lack: collectives in @time without some of
 *	their ranks
 * @shared: some times are shares of a kernel of several collectives, by bytes; @inferred: kernels were
 *	inferred
 * @unknown: bytes of some collectives are unknown
 */
struct grt_collective_sum {
	const struct grt_op_part *part;
	char hash[17];
	uint64_t count;
	uint64_t captured;
	uint64_t open;
	uint64_t timed;
	uint64_t bytes;
	uint64_t size;
	uint64_t smallest;
	uint64_t timed_bytes;
	double carried;
	double time;
	double kernels;
	double wait;
	double exposed;
	uint64_t wait_max;
	uint32_t ranks;
	uint64_t lack;
	bool shared;
	bool inferred;
	bool unknown;
};

/** struct grt_collective_sums - @row: sorted by time, the longest first; @over: collectives without a row */
struct grt_collective_sums {
	struct grt_ops ops;
	struct grt_keyed rows;
	struct grt_collective_sum **row;
	uint64_t over;
};

/*
 * A collective's time begins with the arrival of its last rank and ends with the end of its last kernel. One
 * walk over each device's work computes the exposed time.
 */

/**
 * struct exposure - of a device: for some moments, how long until then kernels communicated while nothing
 * computed
 */
struct exposure {
	uint32_t process;
	uint32_t gpu;
	uint64_t *moment;
	uint64_t *ns;
	uint32_t n;
};

static void exposure_free(struct exposure *x)
{
	free(x->moment);
	free(x->ns);
	*x = (struct exposure){.process = UINT32_MAX};
}

/* Lists all moments at which a kernel of a collective begins or ends. */
static uint32_t exposure_moments(const struct grt_step_process *p, uint32_t gpu, uint64_t *moment)
{
	uint32_t n = 0, kept = 0;

	for (uint32_t i = grt_step_log_first_work(p, gpu, 0); i < p->works && p->work[i].gpu == gpu;
	     i = grt_step_log_next(p, i)) {
		if (p->work[i].class != GRT_STEP_COMMUNICATES)
			continue;
		moment[n++] = p->work[i].start;
		moment[n++] = p->work[i].end;
	}
	if (n)
		qsort(moment, n, sizeof(*moment), grt_compare_u64);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || moment[kept - 1] != moment[i])
			moment[kept++] = moment[i];
	return kept;
}

static int exposure_find(struct exposure *x, const struct grt_ops *ops, uint32_t process, uint32_t gpu)
{
	const struct grt_step_process *p = grt_step_log_process(ops->log, process);
	struct grt_step_parts *parts;
	uint32_t first = grt_step_log_first_work(p, gpu, 0), last = first;
	size_t most;

	while (last < p->works && p->work[last].gpu == gpu)
		last = grt_step_log_next(p, last);
	most = 2 * (size_t)(last - first) + 1;
	exposure_free(x);
	x->moment = calloc(most, sizeof(*x->moment));
	x->ns = calloc(most, sizeof(*x->ns));
	parts = calloc(most, sizeof(*parts));
	if (x->moment && x->ns && parts) {
		x->process = process;
		x->gpu = gpu;
		x->n = exposure_moments(p, gpu, x->moment);
		grt_step_parts_between(p, gpu, x->moment, x->n, parts);
		for (uint32_t i = 1; i < x->n; i++)
			x->ns[i] = x->ns[i - 1] + parts[i - 1].ns[GRT_STEP_COMM];
	}
	free(parts);
	return x->process == UINT32_MAX ? -ENOMEM : 0;
}

static uint64_t exposure_until(const struct exposure *x, uint64_t moment)
{
	const uint64_t *at = bsearch(&moment, x->moment, x->n, sizeof(*x->moment), grt_compare_u64);

	return at ? x->ns[at - x->moment] : 0;
}

/* Parts of a device are processed together. */
static int sums_by_device(const void *a, const void *b, void *arg)
{
	const struct grt_ops *ops = arg;
	const struct grt_op_part *x = &ops->part[*(const uint32_t *)a], *y = &ops->part[*(const uint32_t *)b];
	const struct grt_step_work *v = grt_ops_work(ops, x), *w = grt_ops_work(ops, y);

	return grt_compare(x->process, y->process) ?: grt_compare((v ? v->gpu : 0), (w ? w->gpu : 0));
}

/* @ns: by part. Return: 0 or -ENOMEM */
static int sums_expose(const struct grt_ops *ops, uint64_t *ns)
{
	uint32_t *order = calloc((size_t)ops->parts + 1, sizeof(*order));
	struct exposure x = {.process = UINT32_MAX};
	int ret = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; order && i < ops->parts; i++)
		order[i] = i;
	if (order && ops->parts)
		qsort_r(order, ops->parts, sizeof(*order), sums_by_device, (void *)ops);
	for (uint32_t i = 0; i < ops->parts && !ret; i++) {
		const struct grt_op_part *part = &ops->part[order[i]];
		const struct grt_step_work *w = grt_ops_work(ops, part);

		if (!w)
			continue;
		if (x.process != part->process || x.gpu != w->gpu)
			ret = exposure_find(&x, ops, part->process, w->gpu);
		if (!ret)
			ns[order[i]] = exposure_until(&x, w->end) - exposure_until(&x, w->start);
	}
	exposure_free(&x);
	free(order);
	return ret;
}

/* ------------------------------------------------------------------- rows */

static uint64_t sums_bytes(const struct grt_ops *ops, const struct grt_op_part *part)
{
	const struct grt_nccl_op *op = grt_ops_op(ops, part);

	return grt_nccl_bytes(grt_ops_string(ops, part, op->function),
			      grt_ops_string(ops, part, op->datatype), op->count, part->comm->ranks);
}

/* Return: 0, with *out NULL: there is no room; or -ENOMEM */
static int sums_row(struct grt_collective_sums *c, const struct grt_op_part *part, uint64_t bytes,
		    struct grt_collective_sum **out)
{
	/* sizes up to a power of two are a row */
	struct grt_key key = {
		{part->hash, part->function, bytes > 1 ? 64 - (uint64_t)__builtin_clzll(bytes - 1) : bytes}};
	void *found;
	int ret = grt_keyed_get_or_count(&c->rows, &key, &c->over, &found);

	*out = found;
	if (!ret && found && !(*out)->part) {
		(*out)->part = part;
		(*out)->smallest = UINT64_MAX;
		snprintf((*out)->hash, sizeof((*out)->hash), "%016" PRIx64, part->hash);
	}
	return ret;
}

static bool sums_is_whole(const struct grt_op_part *part, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (part[i].work == UINT32_MAX)
			return false;
	return true;
}

static void sums_time(const struct grt_collective_sums *c, struct grt_collective_sum *row, uint32_t at,
		      uint32_t n, const uint64_t *exposed)
{
	const struct grt_op_part *part = &c->ops.part[at];
	uint64_t first = UINT64_MAX, begin = 0, end = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct grt_step_work *w = grt_ops_work(&c->ops, &part[i]);

		first = w->start < first ? w->start : first;
		begin = w->start > begin ? w->start : begin;
		end = w->end > end ? w->end : end;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct grt_step_work *w = grt_ops_work(&c->ops, &part[i]);

		row->kernels += part[i].share * (double)(w->end - w->start);
		row->wait += part[i].share * (double)(begin - w->start);
		row->exposed += part[i].share * (double)exposed[at + i];
		row->shared |= part[i].share < 1;
		row->inferred |= grt_ops_op(&c->ops, &part[i])->inferred;
	}
	row->wait_max = begin - first > row->wait_max ? begin - first : row->wait_max;
	row->time += part->share * (double)(end > begin ? end - begin : 0);
	row->timed++;
}

static int sums_add(struct grt_collective_sums *c, uint32_t at, uint32_t n, const uint64_t *exposed)
{
	const struct grt_op_part *part = &c->ops.part[at];
	uint64_t bytes = sums_bytes(&c->ops, part);
	const char *function = grt_ops_string(&c->ops, part, grt_ops_op(&c->ops, part)->function);
	uint32_t ranks = part->comm->ranks ?: 1;
	struct grt_collective_sum *row;
	int ret = sums_row(c, part, bytes, &row);

	if (ret || !row)
		return ret;
	row->count++;
	row->captured += grt_ops_op(&c->ops, part)->captured;
	row->bytes += bytes;
	row->unknown |= !bytes;
	row->size = bytes > row->size ? bytes : row->size;
	row->smallest = bytes < row->smallest ? bytes : row->smallest;
	row->ranks = n > row->ranks ? n : row->ranks;
	/* copy engines have no kernel */
	if (!sums_is_whole(part, n)) {
		row->open += grt_ops_op(&c->ops, part)->kind != 3;
		return 0;
	}
	row->lack += n < ranks;
	sums_time(c, row, at, n, exposed);
	row->timed_bytes += bytes;
	row->carried += (double)bytes * (double)grt_nccl_factor(function, ranks) / ranks;
	return 0;
}

static int sums_compare(const void *a, const void *b)
{
	const struct grt_collective_sum *x = *(struct grt_collective_sum *const *)a,
					*y = *(struct grt_collective_sum *const *)b;

	if (x->kernels < y->kernels || x->kernels > y->kernels)
		return x->kernels > y->kernels ? -1 : 1;
	return memcmp(grt_keyed_key(x), grt_keyed_key(y), sizeof(struct grt_key));
}

/*
 * Computes the sums; free them with collective_sums_free(). Return: 0 or
 * -ENOMEM
 */
static int collective_sums_find(struct grt_collective_sums *c, struct grt_steps *s)
{
	uint64_t *exposed = NULL;
	uint32_t n;
	int ret;

	*c = (struct grt_collective_sums){.over = 0};
	grt_keyed_init(&c->rows, sizeof(struct grt_collective_sum), GRT_COLLECTIVE_SUMS_MAX);
	ret = grt_ops_find(&c->ops, s);
	if (!ret)
		exposed = calloc((size_t)c->ops.parts + 1, sizeof(*exposed));
	ret = ret ?: exposed ? sums_expose(&c->ops, exposed) : -ENOMEM;
	for (uint32_t at = 0; at < c->ops.parts && !ret; at += n) {
		n = grt_ops_one(&c->ops, at);
		ret = sums_add(c, at, n, exposed);
	}
	free(exposed);
	return ret ?: grt_keyed_list(&c->rows, sums_compare, (void ***)&c->row);
}

/* Frees its memory. */
static void collective_sums_free(struct grt_collective_sums *c)
{
	grt_keyed_free(&c->rows);
	grt_ops_free(&c->ops);
	free(c->row);
}

/* ------------------------------------------------------ collective table */

#define ROW(row) ((const struct grt_collective_sum *)(row))

static const char *collective_text(const void *view, const void *row, uint32_t number)
{
	return grt_ops_string(view, ROW(row)->part, number);
}

static void collective_get_text(struct grt_cell *cell, const void *view, const void *row, int member)
{
	const struct grt_nccl_op *op = grt_ops_op(view, ROW(row)->part);

	cell->text = collective_text(view, row, *(const uint32_t *)((const char *)op + member));
	cell->absent = !*cell->text;
}

static void collective_get_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = collective_text(view, row, ROW(row)->part->comm->name);
	cell->absent = !*cell->text;
}

static void collective_get_ranks(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ROW(row)->part->comm->ranks;
}

static void collective_get_channels(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = grt_ops_op(view, ROW(row)->part)->channels;
	cell->absent = !cell->number;
}

static void collective_get_bytes(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, row, offset);
	cell->absent = ROW(row)->unknown;
}

/* Times of several collectives of one kernel are divided by their bytes. */
static void collective_set(struct grt_cell *cell, const struct grt_collective_sum *r, double number)
{
	cell->absent = !r->timed;
	cell->inferred = r->shared || r->inferred;
	cell->number = number > 0 ? (uint64_t)(number + 0.5) : 0;
}

static void collective_get_time(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	collective_set(cell, row, *(const double *)((const char *)row + offset));
}

static void collective_get_avg(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	collective_set(cell, row, ROW(row)->timed ? ROW(row)->time / (double)ROW(row)->timed : 0);
}

static void collective_get_wait(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	collective_set(cell, row,
		       offset ? (double)*(const uint64_t *)((const char *)row + offset) : ROW(row)->wait);
	cell->absent |= ROW(row)->ranks < 2;
}

/* Thousandths of bytes in a second. */
static void collective_get_rate(struct grt_cell *cell, const void *view, const void *row, int bus)
{
	const struct grt_collective_sum *r = row;
	double bytes = bus ? r->carried : (double)r->timed_bytes;

	collective_set(cell, r, r->time > 0 ? bytes * 1e12 / r->time : 0);
	cell->absent |= r->unknown || r->time <= 0;
	cell->text = "B/s";
}

static void collective_get_exposed(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	collective_set(cell, row, ROW(row)->kernels > 0 ? ROW(row)->exposed * 100000 / ROW(row)->kernels : 0);
	cell->absent |= ROW(row)->kernels <= 0;
}

#define C(member) offsetof(struct grt_collective_sum, member)
#define OP(member) offsetof(struct grt_nccl_op, member)

/* clang-format off */
static const struct grt_column collective_columns[] = {
	{"communicator", grt_cell_chars, C(hash), GRT_CELL_TEXT, GRT_COLUMN_ALL, "hash of the communicator, the same in all its processes"},
	{"name", collective_get_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "name that the program gave to the communicator"},
	{"ranks", collective_get_ranks, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of ranks of the communicator"},
	{"recorded", grt_cell_u32, C(ranks), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "ranks that the recording has"},
	{"collective", collective_get_text, OP(function), GRT_CELL_TEXT, GRT_COLUMN_ALL, "function of NCCL"},
	{"size", collective_get_bytes, C(size), GRT_CELL_BYTES, GRT_COLUMN_ALL, "size of the row's largest collective, as nccl-tests counts it: of all ranks together where each has a part; a row has the sizes above half a power of two up to that power, B"},
	{"smallest", collective_get_bytes, C(smallest), GRT_CELL_BYTES, GRT_COLUMN_MORE, "size of the row's smallest collective, B"},
	{"datatype", collective_get_text, OP(datatype), GRT_CELL_TEXT, GRT_COLUMN_MORE, "type of the elements of one of the collectives; NCCL counts bytes where it only moves data"},
	{"algorithm", collective_get_text, OP(algorithm), GRT_CELL_TEXT, GRT_COLUMN_ALL, "algorithm of one of the collectives, as NCCL names it"},
	{"protocol", collective_get_text, OP(protocol), GRT_CELL_TEXT, GRT_COLUMN_ALL, "protocol of one of the collectives"},
	{"channels", collective_get_channels, 0, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "channels of one of the collectives"},
	{"count", grt_cell_u64, C(count), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "collectives, each counted once for all its ranks; of replays of CUDA graphs, each rank's are counted separately"},
	{"open", grt_cell_u64, C(open), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "collectives without a completed kernel on each recorded rank, which no column of times includes"},
	{"bytes", collective_get_bytes, C(bytes), GRT_CELL_BYTES, GRT_COLUMN_ALL, "bytes of all collectives"},
	{"time", collective_get_time, C(time), GRT_CELL_NS, GRT_COLUMN_ALL, "time from the arrival of the last recorded rank to the end of the last kernel, sum, ns"},
	{"avg", collective_get_avg, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "mean of this time per collective, ns"},
	{"algbw", collective_get_rate, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "algorithm bandwidth: bytes divided by time, B/s"},
	{"busbw", collective_get_rate, 1, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "bus bandwidth: algbw times 2(n-1)/n for AllReduce, (n-1)/n where each rank has a part, else 1, B/s"},
	{"kernels", collective_get_time, C(kernels), GRT_CELL_NS, GRT_COLUMN_MORE, "time of the kernels of all recorded ranks, ns"},
	{"wait", collective_get_wait, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "part of the kernels' time that passed before the last rank arrived, ns"},
	{"wait_max", collective_get_wait, C(wait_max), GRT_CELL_NS, GRT_COLUMN_MORE, "longest time between the first and the last rank's arrival, ns"},
	{"exposed", collective_get_exposed, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the kernels' time in which the device ran no kernel that computes, percent"},
	{.name = NULL},
};
/* clang-format on */

const struct grt_table grt_collective_sum_table = {"collective_sums", "collectives", collective_columns,
						   GRT_MARK_INFERRED};

static void collective_note(const struct grt_collective_sums *c, struct grt_pass *pass)
{
	uint64_t captured = 0, open = 0, over = 0;
	bool shared = false, single = false;

	for (uint32_t i = 0; i < c->rows.used; i++) {
		captured += c->row[i]->captured;
		open += c->row[i]->open;
		shared |= c->row[i]->shared;
		single |= c->row[i]->lack > 0;
	}
	for (uint32_t i = 0; i < c->ops.processes; i++)
		over += grt_step_log_process(c->ops.log, i)->nccl.over;
	if (!c->rows.used)
		grt_note(
			pass->notes,
			"the trace has no collectives: use grtrace record -e cuda -- PROG, with NCCL 2.27 or later");
	if (captured)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {collective belongs|collectives belong} to CUDA graphs: NCCL does not number {it|these}, so each "
			"rank's are counted separately",
			captured);
	if (open)
		grt_note(pass->notes,
			 "%" PRIu64 " {collective has|collectives have} no kernel that has ended", open);
	if (single)
		grt_note(
			pass->notes,
			"some collectives have ranks that were not recorded: their time includes waits for these ranks");
	if (shared)
		grt_note(pass->notes,
			 "the time of a kernel that runs several collectives is divided by their bytes");
	if (c->over || over)
		grt_note(pass->notes,
			 "%" PRIu64 " {collective is|collectives are} not in the table (limit of its memory)",
			 c->over + over);
}

static int collective_write_rows(struct grt_collective_sums *c, const struct grt_part *part,
				 struct grt_pass *pass)
{
	uint64_t n = c->rows.used, shown = grt_pass_shown(pass, part, n);
	const struct grt_collective_sum **row = calloc((size_t)n + 1, sizeof(*row));
	int ret;

	if (!row)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		row[i] = c->row[i];
	grt_rows_sort(row, n, grt_pass_sort(pass, part, NULL), &c->ops, NULL);
	ret = grt_writer_list(pass->writer, part->table, &c->ops, row, shown);
	if (shown < n)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all", n - shown);
	free(row);
	return ret;
}

int grt_collective_table_write(struct grt_steps *s, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_collective_sums c;
	int ret = collective_sums_find(&c, s);

	if (!ret && grt_step_log_is_whole(c.ops.log))
		ret = grt_ops_waits(&c.ops, pass->notes);
	ret = ret ?: collective_write_rows(&c, part, pass);
	if (!ret)
		collective_note(&c, pass);
	collective_sums_free(&c);
	return ret;
}

int grt_collective_table_note_waits(struct grt_steps *s, struct grt_notes *notes)
{
	struct grt_ops ops;
	int ret = grt_ops_find(&ops, s);

	if (!ret && grt_step_log_is_whole(ops.log))
		ret = grt_ops_waits(&ops, notes);
	grt_ops_free(&ops);
	return ret;
}
