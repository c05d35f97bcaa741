// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Sorts records, see text_order.h: a stable merge sort that uses what is in order already, with runs in a
 * temporary file.
 */
#include "text_order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/containers.h"
#include "base/tempfile.h"
#include "base/heap.h"
#include "base/scan.h"
#include "base/lines_in.h"

/* Held at least before anything goes out; fits a CPU's second cache. */
#define GOAL (256U << 10)
#define BUDGET (8U << 20)
/* For the records of a line that exceed the budget. */
#define SLACK (64U << 10)
/* Bytes of the buffers of all runs together, and the least of one. */
#define MERGE_BUFFERS (16U << 20)
#define MERGE_BUFFER_MIN 4096U
#define WRITE_BUFFER (256U << 10)

/* A record: its time, its place in @records, its CPU. */
struct grt_order_entry {
	uint64_t time;
	uint32_t at;
	uint32_t cpu;
};

/* The header of a record in a run. */
struct spilled {
	uint32_t cpu;
	uint32_t size;
};

/* A sorted run: its part of the file, and the part of it that is in memory, @room bytes. */
struct run {
	uint64_t pos;
	uint64_t end;
	char *buf;
	size_t room;
	size_t at;
	size_t fill;
	uint64_t time; /* of the record at @at */
};

struct grt_order_merge {
	int fd;
	uint64_t size;
	char *write_buf;
	size_t write_used;
	struct run *run;
	uint32_t runs;
	uint32_t runs_room;
	size_t buffer;	/* of each run; 0: not merging yet */
	uint32_t *heap; /* runs by their next record */
	uint32_t heap_used;
	bool taken; /* the record on top has gone out */
};

void grt_order_init(struct grt_order *o, uint64_t window, bool may_spill, size_t budget)
{
	memset(o, 0, sizeof(*o));
	o->window = window;
	o->may_spill = may_spill;
	o->budget = budget ? budget : BUDGET;
	o->goal = o->budget < GOAL ? o->budget : GOAL;
}

/* Taking in */

/* Code that parses lines may read some bytes after the last one. */
static char *text_order_take_memory(size_t room)
{
	char *memory = aligned_alloc(64, (room + 127) & ~(size_t)63);

	_Static_assert(GRT_LINE_AHEAD <= 64, "room for what is read ahead");
	if (memory)
		memset(memory + room, 0, 64);
	return memory;
}

static int grow_records(struct grt_order *o, size_t size)
{
	/* all memory at once: pages that are never used cost nothing, and growing would leave holes */
	size_t room = o->room ? o->room : o->budget + SLACK;
	char *more;

	while (room < o->used + size)
		room *= 2;
	more = text_order_take_memory(room);
	if (!more)
		return -ENOMEM;
	if (o->used)
		memcpy(more, o->records, o->used);
	free(o->records);
	o->records = more;
	o->room = room;
	return 0;
}

static int grow_entries(struct grt_order *o)
{
	/* for sorting; it holds nothing between two sorts */
	free(o->other);
	o->other = NULL;
	return grt_grow(&o->entry, &o->entries_room, o->entries + 1,
			(o->budget + SLACK) / sizeof(struct grt_event));
}

static int text_order_make_room(struct grt_order *o, size_t size)
{
	if (o->used + size > o->room && grow_records(o, size))
		return -ENOMEM;
	return o->entries == o->entries_room ? grow_entries(o) : 0;
}

int grt_order_put(struct grt_order *o, const struct grt_event *e, uint32_t cpu)
{
	if (text_order_make_room(o, e->size))
		return -ENOMEM;
	memcpy(o->records + o->used, e, e->size);
	o->entry[o->entries++] = (struct grt_order_entry){e->time, (uint32_t)(o->used / 8), cpu};
	o->used += e->size;
	if (e->time >= o->latest)
		o->latest = e->time;
	else
		o->reordered += e->type != GRT_EV_NAME;
	return 0;
}

/* Return: the bytes of a line that are kept. */
static size_t text_order_kept(size_t len)
{
	return len < GRT_ORDER_LINE_MAX ? len : GRT_ORDER_LINE_MAX;
}

static size_t line_size(size_t bytes)
{
	return (sizeof(struct grt_order_line) + bytes + 7) & ~(size_t)7;
}

static void text_order_add_text(struct grt_order_line *l, const char *line, size_t len)
{
	memcpy(l->text + l->bytes, line, len);
	l->text[l->bytes + len] = '\n';
	l->bytes = (uint16_t)(l->bytes + len + 1);
	l->size = (uint16_t)line_size(l->bytes);
}

static int text_order_put_line(struct grt_order *o, const struct grt_order_line *head, const char *line,
			       size_t len)
{
	struct grt_order_line *l;

	len = text_order_kept(len);
	if (text_order_make_room(o, line_size(len + 1)))
		return -ENOMEM;
	l = (struct grt_order_line *)(o->records + o->used);
	*l = *head;
	text_order_add_text(l, line, len);
	o->entry[o->entries++] = (struct grt_order_entry){l->time, (uint32_t)(o->used / 8), 0};
	o->used += l->size;
	return 0;
}

int grt_order_put_line(struct grt_order *o, const struct grt_order_place *place, uint64_t number,
		       const char *line, size_t len)
{
	const struct grt_order_line head = {
		.time = place->time,
		.step = (uint8_t)place->step,
		.from = (uint8_t)(place->from < UINT8_MAX && place->from < len ? place->from : 0),
		.number = number,
	};

	o->steps = o->steps || place->step;
	if (place->time >= o->latest)
		o->latest = place->time;
	else
		o->reordered++;
	return text_order_put_line(o, &head, line, len);
}

static int put_bare(struct grt_order *o, uint64_t time, uint64_t number, const char *line, size_t len)
{
	const struct grt_order_line head = {.time = time, .step = GRT_ORDER_BARE, .number = number};

	o->steps = true;
	return text_order_put_line(o, &head, line, len);
}

int grt_order_follow(struct grt_order *o, uint64_t number, const char *line, size_t len)
{
	struct grt_order_line *last;
	size_t more = text_order_kept(len) + 1;

	if (!o->entries)
		return put_bare(o, o->out, number, line, len);
	if (text_order_make_room(o, more + 8))
		return -ENOMEM;
	last = (struct grt_order_line *)(o->records + 8 * (size_t)o->entry[o->entries - 1].at);
	if (last->bytes + more > GRT_ORDER_LINE_MAX)
		return put_bare(o, last->time, number, line, len);
	o->used -= last->size;
	text_order_add_text(last, line, more - 1);
	o->used += last->size;
	return 0;
}

static const struct grt_event *record_of(const struct grt_order *o, const struct grt_order_entry *entry)
{
	return (const struct grt_event *)(o->records + 8 * (size_t)entry->at);
}

static const struct grt_order_line *text_order_line_of(const struct grt_order *o,
						       const struct grt_order_entry *entry)
{
	return (const struct grt_order_line *)record_of(o, entry);
}

/* Sorting */

/* Digits count as the number that they are. */
static int compare_text(const char *a, const char *a_end, const char *b, const char *b_end)
{
	uint64_t x = 0, y = 0;

	while (a < a_end && b < b_end) {
		if (grt_is_digit(*a) && grt_is_digit(*b)) {
			grt_scan_u64(&a, a_end, &x);
			grt_scan_u64(&b, b_end, &y);
			if (x != y)
				return x < y ? -1 : 1;
			continue;
		}
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		a++;
		b++;
	}
	return (a < a_end) - (b < b_end);
}

/* Whether the second of two lines that came with one stamp is to be the first. */
static bool is_swapped(const struct grt_order_line *first, const struct grt_order_line *second)
{
	const char *a_end = first->text + first->bytes, *b_end = second->text + second->bytes;
	int order;

	if (first->step != second->step)
		return second->step < first->step;
	if (!first->step || first->step == GRT_ORDER_BARE)
		return false;
	order = compare_text(first->text + first->from, a_end, second->text + second->from, b_end);
	return (order ? order : compare_text(first->text, a_end, second->text, b_end)) > 0;
}

static inline bool text_order_before(const struct grt_order *o, const struct grt_order_entry *second,
				     const struct grt_order_entry *first)
{
	if (second->time != first->time)
		return second->time < first->time;
	return o->steps && is_swapped(text_order_line_of(o, first), text_order_line_of(o, second));
}

/* Return: the number of entries from @at on that are in order. */
static size_t ordered(const struct grt_order *o, const struct grt_order_entry *entry, size_t at)
{
	size_t i = at + 1;

	while (i < o->entries && !text_order_before(o, &entry[i], &entry[i - 1]))
		i++;
	return i - at;
}

/* Merges @a entries at @from with the @b that follow them into @to. */
static void merge_two(const struct grt_order *o, struct grt_order_entry *to,
		      const struct grt_order_entry *from, size_t a, size_t b)
{
	const struct grt_order_entry *x = from, *xend = from + a, *y = xend, *yend = y + b;

	while (x < xend && y < yend)
		*to++ = text_order_before(o, y, x) ? *y++ : *x++;
	memcpy(to, x, (size_t)(xend - x) * sizeof(*x));
	memcpy(to + (xend - x), y, (size_t)(yend - y) * sizeof(*y));
}

/* Merges neighbours, as far as they are in order, into the other array. Return: how many it now consists of
 */
static size_t merge_pass(struct grt_order *o)
{
	struct grt_order_entry *from = o->entry, *to = o->other;
	size_t pieces = 0;

	for (size_t at = 0; at < o->entries; pieces++) {
		size_t a = ordered(o, from, at);
		size_t b = at + a < o->entries ? ordered(o, from, at + a) : 0;

		merge_two(o, to + at, from + at, a, b);
		at += a + b;
	}
	o->entry = to;
	o->other = from;
	return pieces;
}

/* Short pieces in order, so that few passes follow: by insertion. */
#define PIECE 16

static void insert_sort(const struct grt_order *o, struct grt_order_entry *entry, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct grt_order_entry moving = entry[i];
		size_t j = i;

		for (; j && text_order_before(o, &moving, &entry[j - 1]); j--)
			entry[j] = entry[j - 1];
		entry[j] = moving;
	}
}

static int text_order_sort(struct grt_order *o)
{
	if (o->entries < 2 || ordered(o, o->entry, 0) == o->entries)
		return 0;
	if (!o->other)
		o->other = malloc(o->entries_room * sizeof(*o->other));
	if (!o->other)
		return -ENOMEM;
	for (size_t at = 0; at < o->entries; at += PIECE)
		insert_sort(o, o->entry + at, o->entries - at < PIECE ? o->entries - at : PIECE);
	while (merge_pass(o) > 1)
		;
	return 0;
}

/* Runs in a file */

static int text_order_failed(struct grt_order *o, int code, const char *what)
{
	return grt_err_set(&o->err, code, strerror(-code),
			   "TMPDIR=DIR with room for it, before the command's name",
			   "%s: cannot %s a temporary file to sort the text", grt_tempfile_dir(), what);
}

static void free_merge(struct grt_order_merge *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->runs; i++)
		free(m->run[i].buf);
	if (m->fd >= 0)
		close(m->fd);
	free(m->write_buf);
	free(m->run);
	free(m->heap);
	free(m);
}

static int new_merge(struct grt_order *o)
{
	struct grt_order_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return text_order_failed(o, -ENOMEM, "make");
	m->fd = grt_tempfile_open();
	m->write_buf = malloc(WRITE_BUFFER);
	o->merge = m;
	if (m->fd < 0)
		return text_order_failed(o, -errno, "make");
	return m->write_buf ? 0 : text_order_failed(o, -ENOMEM, "make");
}

static int text_order_write_out(struct grt_order *o)
{
	struct grt_order_merge *m = o->merge;

	for (size_t done = 0; done < m->write_used;) {
		ssize_t n = pwrite(m->fd, m->write_buf + done, m->write_used - done, (off_t)m->size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return text_order_failed(o, n ? -errno : -ENOSPC, "write");
		done += (size_t)n;
		m->size += (uint64_t)n;
	}
	m->write_used = 0;
	return 0;
}

static int spill_record(struct grt_order *o, const struct grt_order_entry *entry)
{
	struct grt_order_merge *m = o->merge;
	const struct grt_event *e = record_of(o, entry);
	struct spilled head = {entry->cpu, e->size};
	int ret = 0;

	if (m->write_used + sizeof(head) + e->size > WRITE_BUFFER)
		ret = text_order_write_out(o);
	if (ret)
		return ret;
	memcpy(m->write_buf + m->write_used, &head, sizeof(head));
	memcpy(m->write_buf + m->write_used + sizeof(head), e, e->size);
	m->write_used += sizeof(head) + e->size;
	o->sorted += e->type != GRT_EV_NAME;
	return 0;
}

static int text_order_add_run(struct grt_order *o)
{
	struct grt_order_merge *m = o->merge;

	if (grt_grow(&m->run, &m->runs_room, m->runs + 1, 64))
		return text_order_failed(o, -ENOMEM, "make");
	m->run[m->runs++] = (struct run){.pos = m->size};
	return 0;
}

/* Writes the records that are held, which are sorted, as a run. */
static int spill(struct grt_order *o)
{
	int ret = o->merge ? 0 : new_merge(o);

	ret = ret ?: text_order_add_run(o);
	for (size_t i = 0; i < o->entries && !ret; i++)
		ret = spill_record(o, &o->entry[i]);
	ret = ret ?: text_order_write_out(o);
	if (ret)
		return ret;
	o->merge->run[o->merge->runs - 1].end = o->merge->size;
	o->entries = 0;
	o->used = 0;
	o->ready = 0;
	return 0;
}

/* Merging the runs */

static int read_run(struct grt_order *o, struct run *r)
{
	struct grt_order_merge *m = o->merge;
	size_t room;

	memmove(r->buf, r->buf + r->at, r->fill - r->at);
	r->fill -= r->at;
	r->at = 0;
	while (r->fill < r->room && r->pos < r->end) {
		ssize_t n;

		room = r->room - r->fill;
		if (room > r->end - r->pos)
			room = (size_t)(r->end - r->pos);
		n = pread(m->fd, r->buf + r->fill, room, (off_t)r->pos);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return text_order_failed(o, n ? -errno : -EIO, "read");
		r->fill += (size_t)n;
		r->pos += (uint64_t)n;
	}
	return 0;
}

static const struct spilled *text_order_head_of(const struct run *r)
{
	return (const struct spilled *)(r->buf + r->at);
}

static bool has_record(const struct run *r)
{
	size_t left = r->fill - r->at;

	return left >= sizeof(struct spilled) && left >= sizeof(struct spilled) + text_order_head_of(r)->size;
}

/* Makes room for a record that does not fit: with many runs, a buffer may be smaller than a line. */
static int widen(struct grt_order *o, struct run *r)
{
	size_t room = sizeof(struct spilled) + text_order_head_of(r)->size;
	char *wider = text_order_take_memory(room);

	if (!wider)
		return text_order_failed(o, -ENOMEM, "read");
	memcpy(wider, r->buf + r->at, r->fill - r->at);
	free(r->buf);
	r->buf = wider;
	r->fill -= r->at;
	r->at = 0;
	r->room = room;
	return 0;
}

/* Brings the run's next record into memory. Return: 1, 0 at its end, or a negative errno */
static int text_order_advance(struct grt_order *o, struct run *r)
{
	int ret = has_record(r) ? 0 : read_run(o, r);

	if (!ret && r->fill > r->at && !has_record(r))
		ret = widen(o, r) ?: read_run(o, r);
	if (ret)
		return ret;
	if (r->at == r->fill)
		return 0;
	r->time = ((const struct grt_event *)(r->buf + r->at + sizeof(struct spilled)))->time;
	return 1;
}

static const void *text_order_run_record(const struct run *r)
{
	return r->buf + r->at + sizeof(struct spilled);
}

static bool run_before(const struct grt_order *o, const uint32_t *first, const uint32_t *second)
{
	uint32_t a = *first, b = *second;
	const struct run *x = &o->merge->run[a], *y = &o->merge->run[b];

	if (x->time != y->time)
		return x->time < y->time;
	if (!o->steps)
		return a < b;
	return a < b ? !is_swapped(text_order_run_record(x), text_order_run_record(y))
		     : is_swapped(text_order_run_record(y), text_order_run_record(x));
}

GRT_HEAP(text_order, uint32_t, struct grt_order, run_before)

static int text_order_start_run(struct grt_order *o, uint32_t i)
{
	struct grt_order_merge *m = o->merge;
	int ret;

	m->run[i].buf = text_order_take_memory(m->buffer);
	m->run[i].room = m->buffer;
	if (!m->run[i].buf)
		return text_order_failed(o, -ENOMEM, "read");
	ret = text_order_advance(o, &m->run[i]);
	if (ret > 0) {
		m->heap[m->heap_used] = i;
		text_order_rise(o, m->heap, m->heap_used++);
	}
	return ret < 0 ? ret : 0;
}

static void free_held(struct grt_order *o)
{
	free(o->records);
	free(o->spare);
	free(o->entry);
	free(o->other);
	o->records = NULL;
	o->spare = NULL;
	o->entry = NULL;
	o->other = NULL;
	o->room = 0;
	o->spare_room = 0;
	o->entries_room = 0;
}

static int start_merge(struct grt_order *o)
{
	struct grt_order_merge *m = o->merge;
	int ret = 0;

	free_held(o);
	m->buffer = MERGE_BUFFERS / m->runs & ~(size_t)4095;
	if (m->buffer < MERGE_BUFFER_MIN)
		m->buffer = MERGE_BUFFER_MIN;
	if (m->buffer > WRITE_BUFFER)
		m->buffer = WRITE_BUFFER;
	m->heap = malloc(m->runs * sizeof(*m->heap));
	if (!m->heap)
		return text_order_failed(o, -ENOMEM, "read");
	for (uint32_t i = 0; i < m->runs && !ret; i++)
		ret = text_order_start_run(o, i);
	return ret;
}

/* The record that went out last is passed over. */
static int step(struct grt_order *o)
{
	struct grt_order_merge *m = o->merge;
	struct run *r = &m->run[m->heap[0]];
	int ret;

	m->taken = false;
	r->at += sizeof(struct spilled) + text_order_head_of(r)->size;
	ret = text_order_advance(o, r);
	if (ret < 0)
		return ret;
	if (!ret) {
		free(r->buf);
		r->buf = NULL;
		m->heap[0] = m->heap[--m->heap_used];
	}
	if (m->heap_used)
		text_order_sink(o, m->heap, m->heap_used, 0);
	return 0;
}

static int next_merged(struct grt_order *o, struct grt_order_run *run)
{
	struct grt_order_merge *m = o->merge;
	const struct run *r;
	int ret = m->taken ? step(o) : 0;

	if (ret || !m->heap_used)
		return ret;
	r = &m->run[m->heap[0]];
	run->ptr = r->buf + r->at + sizeof(struct spilled);
	run->end = run->ptr + text_order_head_of(r)->size;
	run->first = r->time;
	run->last = r->time;
	run->cpu = text_order_head_of(r)->cpu;
	run->late = r->time < o->out;
	o->out = r->time > o->out ? r->time : o->out;
	m->taken = true;
	return 1;
}

/* Going out */

/* Frees records that have left; those that stay move to the front, in their new order. */
static int drop_gone(struct grt_order *o)
{
	size_t stay = o->entries - o->next, at = 0;
	char *empty;

	if (stay && o->spare_room < o->room) {
		free(o->spare);
		o->spare_room = o->room;
		o->spare = text_order_take_memory(o->room);
		if (!o->spare) {
			o->spare_room = 0;
			return -ENOMEM;
		}
	}
	for (size_t i = 0; i < stay; i++) {
		const struct grt_event *e = record_of(o, &o->entry[o->next + i]);

		memcpy(o->spare + at, e, e->size);
		o->entry[i] =
			(struct grt_order_entry){e->time, (uint32_t)(at / 8), o->entry[o->next + i].cpu};
		at += e->size;
	}
	if (stay) {
		size_t room = o->spare_room;

		empty = o->records;
		o->records = o->spare;
		o->spare = empty;
		o->spare_room = o->room;
		o->room = room;
	}
	o->entries = stay;
	o->used = at;
	o->next = 0;
	o->ready = 0;
	return 0;
}

/* Entries that nothing earlier can follow. */
static size_t count_ready(const struct grt_order *o)
{
	uint64_t until = o->latest - o->window;

	if (o->window > o->latest)
		return 0;
	return grt_bisect(o->entries, i, o->entry[i].time <= until);
}

/* Makes room when no record may leave. */
static int make_way(struct grt_order *o)
{
	if (o->may_spill)
		return spill(o);
	o->ready = (o->entries + 1) / 2;
	return 0;
}

/* The next look comes when there is as much new as was left over, so that sorting and moving cost little. */
static void set_goal(struct grt_order *o)
{
	size_t left = o->entries ? o->used / o->entries * (o->entries - o->ready) : 0;

	o->goal = 2 * left > GOAL ? 2 * left : GOAL;
	if (o->goal > o->budget)
		o->goal = o->budget;
}

static int text_order_no_memory(struct grt_order *o)
{
	return grt_err_set(&o->err, -ENOMEM, strerror(ENOMEM), NULL, "cannot bring the text into order");
}

/* Looks what may go out. Return: 0 or a negative errno */
static int text_order_release(struct grt_order *o, bool end)
{
	o->ready = end ? o->entries : count_ready(o);
	/* Little by little would cost a sort each. */
	if (!end && o->used >= o->budget && o->ready < o->entries / 8)
		return make_way(o);
	return 0;
}

int grt_order_settle(struct grt_order *o, bool end)
{
	int ret;

	if (o->merge && o->merge->buffer)
		return 0;
	if (drop_gone(o))
		return text_order_no_memory(o);
	if (!end && o->used < o->goal)
		return 0;
	if (text_order_sort(o))
		return text_order_no_memory(o);
	ret = o->merge ? spill(o) : text_order_release(o, end);
	if (!ret && end && o->merge)
		ret = start_merge(o);
	set_goal(o);
	return ret;
}

int grt_order_next(struct grt_order *o, struct grt_order_run *run)
{
	const struct grt_order_entry *entry, *end;
	uint32_t at;

	if (o->merge && o->merge->buffer)
		return next_merged(o, run);
	if (o->next == o->ready)
		return 0;
	entry = o->entry + o->next;
	end = o->entry + o->ready;
	run->ptr = (const char *)record_of(o, entry);
	run->first = entry->time;
	run->cpu = entry->cpu;
	run->late = entry->time < o->out;
	do {
		at = entry->at + record_of(o, entry)->size / 8;
		run->last = entry->time;
		entry++;
	} while (!run->late && entry < end && entry->cpu == run->cpu && entry->at == at);
	run->end = o->records + 8 * (size_t)at;
	o->next = (size_t)(entry - o->entry);
	o->out = run->last > o->out ? run->last : o->out;
	return 1;
}

void grt_order_fini(struct grt_order *o)
{
	free_held(o);
	free_merge(o->merge);
	o->merge = NULL;
}
