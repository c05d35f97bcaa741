// SPDX-License-Identifier: GPL-2.0
/* The loader's side of the sums, see bpf_sums.h. */
#include "bpf_sums.h"

#ifdef GRT_HAVE_BPF

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/hist.h"

_Static_assert(BPF_SUM_BITS == GRT_HIST_BITS, "the buckets of the programs are those of the histograms");

/* A place without a job in so many sums is given to another process when there is no other. */
#define IDLE_SUMS 10U

/* A program that adds to a sum needs less than a microsecond, unless the machine's host stops it. */
#define TURN_NAPS 1000
#define TURN_NAP_NS 100000L

static size_t sums_bytes(size_t size, size_t n)
{
	size_t page = (size_t)getpagesize();

	return (size * n + page - 1) / page * page;
}

static void *sums_map(int map, size_t size, size_t n)
{
	void *at = mmap(NULL, sums_bytes(size, n), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	return at == MAP_FAILED ? NULL : at;
}

int grt_bpf_sums_open(struct grt_bpf_sums *s, const struct grt_bpf_sum_maps *maps)
{
	s->places = maps->places;
	s->sum = sums_map(maps->sums, sizeof(*s->sum), (size_t)2 * BPF_SUM_ROWS);
	s->ring = sums_map(maps->rings, sizeof(*s->ring), BPF_SUM_ROWS);
	s->times = sums_map(maps->times, sizeof(*s->times), 1);
	if (!s->sum || !s->ring || !s->times)
		return -errno;
	__atomic_store_n(&s->times->since[0], UINT64_MAX, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->times->since[1], UINT64_MAX, __ATOMIC_SEQ_CST);
	return 0;
}

void grt_bpf_sums_begin(struct grt_bpf_sums *s, uint64_t from)
{
	__atomic_store_n(&s->times->since[0], from, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->times->since[1], 0, __ATOMIC_SEQ_CST);
	s->next = 1;
}

void grt_bpf_sums_close(struct grt_bpf_sums *s)
{
	if (s->sum)
		munmap(s->sum, sums_bytes(sizeof(*s->sum), (size_t)2 * BPF_SUM_ROWS));
	if (s->ring)
		munmap(s->ring, sums_bytes(sizeof(*s->ring), BPF_SUM_ROWS));
	if (s->times)
		munmap(s->times, sums_bytes(sizeof(*s->times), 1));
}

/* ------------------------------------------------------------------- places */

static int sums_place(const struct grt_bpf_sums *s, const struct grt_bpf_sum_key *key, uint32_t row,
		      uint32_t ring)
{
	const struct grt_bpf_sum_place place = {.row = row, .ring = ring};

	return bpf_map_update_elem(s->places, key, &place, BPF_ANY);
}

/* The element of a ring, made if there is none. Return: its number, BPF_SUM_ROWS: there is no room */
static uint32_t sums_ring(struct grt_bpf_sums *s, uint32_t id, bool firmware)
{
	const struct grt_bpf_sum_key any = {.ring = id};
	uint32_t n = 0, free = BPF_SUM_ROWS;

	for (; n < BPF_SUM_ROWS && !(s->rings[n].rows && s->rings[n].id == id); n++)
		if (!s->rings[n].rows && s->rings[n].free <= s->turns && free == BPF_SUM_ROWS)
			free = n;
	if (n < BPF_SUM_ROWS || free == BPF_SUM_ROWS)
		return n;
	s->ring[free].ended = 0;
	s->ring[free].firmware = firmware;
	s->rings[free].id = id;
	return sums_place(s, &any, BPF_SUM_NO_ROW, free) ? BPF_SUM_ROWS : free;
}

static struct grt_bpf_sum_row *sums_free_row(struct grt_bpf_sums *s, const struct grt_bpf_sum_key *key)
{
	struct grt_bpf_sum_row *free = NULL;

	for (struct grt_bpf_sum_row *r = s->row; r < s->row + BPF_SUM_ROWS; r++) {
		if (r->used && r->key.pid == key->pid && r->key.ring == key->ring)
			return NULL;
		if (!r->used && !free)
			free = r;
	}
	return free;
}

void grt_bpf_sums_meet(struct grt_bpf_sums *s, uint32_t ring, const struct grt_event *e, bool firmware)
{
	const struct grt_bpf_sum_key key = {.pid = e->pid, .ring = ring};
	struct grt_bpf_sum_row *row;
	uint32_t number;

	if (!e->pid || e->ring == GRT_RING_NONE)
		return;
	row = sums_free_row(s, &key);
	number = row ? sums_ring(s, ring, firmware) : BPF_SUM_ROWS;
	if (number == BPF_SUM_ROWS)
		return;
	if (sums_place(s, &key, (uint32_t)(row - s->row), number))
		return;
	*row = (struct grt_bpf_sum_row){.key = key, .ring = number, .used = true, .e = *e};
	s->rings[number].rows++;
}

/* Programs that found the place before may use it until the next turn. */
static void sums_take_place(struct grt_bpf_sums *s, struct grt_bpf_sum_row *r)
{
	r->gone = !bpf_map_delete_elem(s->places, &r->key);
}

static void sums_free_place(struct grt_bpf_sums *s, struct grt_bpf_sum_row *r)
{
	const struct grt_bpf_sum_key any = {.ring = r->key.ring};

	if (s->rings[r->ring].rows == 1 && bpf_map_delete_elem(s->places, &any))
		return;
	s->rings[r->ring].rows--;
	s->rings[r->ring].free = s->turns + 1;
	r->used = false;
}

/* -------------------------------------------------------------------- turns */

void grt_bpf_sums_bound(struct grt_bpf_sums *s, uint64_t at)
{
	__atomic_store_n(&s->times->since[s->next], at, __ATOMIC_SEQ_CST);
}

void grt_bpf_sums_turn(struct grt_bpf_sums *s)
{
	const struct timespec nap = {.tv_nsec = TURN_NAP_NS};
	unsigned int naps = 0;

	for (uint32_t i = 0; i < BPF_SUM_ROWS; i++)
		while (__atomic_load_n(&s->ring[i].inside, __ATOMIC_SEQ_CST) && naps++ < TURN_NAPS)
			nanosleep(&nap, NULL);
	s->next = !s->next;
	s->turns++;
}

static struct grt_bpf_sum *sums_of(const struct grt_bpf_sums *s, unsigned int row)
{
	/* what is next now was in use until the turn */
	return &s->sum[2 * row + s->next];
}

unsigned int grt_bpf_sums_next(struct grt_bpf_sums *s, unsigned int row, struct grt_bpf_sum **sum)
{
	for (; row < BPF_SUM_ROWS; row++) {
		*sum = sums_of(s, row);
		if (s->row[row].used && ((*sum)->timed || (*sum)->untimed))
			return row + 1;
	}
	return 0;
}

static struct grt_hist_counts sums_counts(const struct grt_bpf_sum_hist *h)
{
	return (struct grt_hist_counts){.bucket = h->cell,
					.octaves = BPF_SUM_OCTAVES,
					.used = h->octaves,
					.sum = h->sum,
					.min = h->min,
					.max = h->max,
					.inferred = true};
}

static void sums_clear_hist(struct grt_bpf_sum_hist *h)
{
	for (uint32_t used = h->octaves; used; used &= used - 1)
		memset(h->cell + (size_t)__builtin_ctz(used) * BPF_SUM_BUCKETS, 0,
		       BPF_SUM_BUCKETS * sizeof(*h->cell));
	memset(h, 0, offsetof(struct grt_bpf_sum_hist, cell));
}

static void sums_clear(struct grt_bpf_sum *sum)
{
	sums_clear_hist(&sum->exec);
	sums_clear_hist(&sum->queue);
	memset(sum, 0, offsetof(struct grt_bpf_sum, exec));
}

static int sums_tell(const struct grt_bpf_sum_row *r, const struct grt_bpf_sum *sum,
		     int (*fn)(void *arg, struct grt_job_sums *sums), void *arg)
{
	struct grt_job_sums out = {
		.device = r->e.device,
		.ring = r->e.ring,
		.pid = r->e.pid,
		.tid = sum->tid,
		.engine = r->e.engine,
		.timed = sum->timed,
		.untimed = sum->untimed,
		.last_end = sum->last_end,
		.last_commit = sum->last_commit,
		.exec = sums_counts(&sum->exec),
		.queue = sums_counts(&sum->queue),
	};

	return fn(arg, &out);
}

/* Rows that are not used are free for others, in time. */
static void sums_settle(struct grt_bpf_sums *s)
{
	for (struct grt_bpf_sum_row *r = s->row; r < s->row + BPF_SUM_ROWS; r++) {
		if (r->gone)
			sums_free_place(s, r);
		else if (r->used && ++r->idle > IDLE_SUMS)
			sums_take_place(s, r);
	}
}

int grt_bpf_sums_each(struct grt_bpf_sums *s, int (*fn)(void *arg, struct grt_job_sums *sums), void *arg)
{
	struct grt_bpf_sum *sum;
	int ret = 0;

	for (unsigned int i = 0; !ret && (i = grt_bpf_sums_next(s, i, &sum));) {
		ret = sums_tell(&s->row[i - 1], sum, fn, arg);
		s->row[i - 1].idle = 0;
		sums_clear(sum);
	}
	sums_settle(s);
	return ret;
}

#endif /* GRT_HAVE_BPF */
