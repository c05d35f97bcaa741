// SPDX-License-Identifier: GPL-2.0
/* Records of the last jobs, see bpf_kept.h. libbpf reads a ring buffer only in order to free all of it. */
#include "bpf_kept.h"

#ifdef GRT_HAVE_BPF

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "shared.h"

/* What a record takes with its header: all have the same size. */
#define KEPT_STEP ((BPF_RINGBUF_HDR_SZ + BPF_KEPT_BYTES + 7) / 8 * 8)

/* A program needs less than a microsecond for a record, unless the machine's host stops it. */
#define KEPT_NAPS 20000
#define KEPT_NAP_NS 50000L

int grt_bpf_kept_open(struct grt_bpf_kept *k, int map, size_t bytes)
{
	size_t page = (size_t)getpagesize();
	void *read = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0), *written;
	int ret = read == MAP_FAILED ? -errno : 0;

	if (ret)
		return ret;
	/* the kernel has the records twice, so that each one is in one piece */
	written = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, map, (off_t)page);
	if (written == MAP_FAILED) {
		ret = -errno;
		munmap(read, page);
		return ret;
	}
	*k = (struct grt_bpf_kept){.bytes = bytes, .read = read, .written = written};
	return 0;
}

void grt_bpf_kept_close(struct grt_bpf_kept *k)
{
	size_t page = (size_t)getpagesize();

	if (!k->bytes)
		return;
	munmap(k->read, page);
	munmap((void *)k->written, page + 2 * k->bytes);
	k->bytes = 0;
}

static uint64_t kept_end(const struct grt_bpf_kept *k)
{
	return __atomic_load_n((const uint64_t *)k->written, __ATOMIC_ACQUIRE);
}

static const uint32_t *kept_header(const struct grt_bpf_kept *k, uint64_t at)
{
	return (const uint32_t *)(k->written + getpagesize() + (at & (k->bytes - 1)));
}

/* Its length, with the bits that say whether it is being written, or is none. */
static uint32_t kept_length(const struct grt_bpf_kept *k, uint64_t at)
{
	return __atomic_load_n(kept_header(k, at), __ATOMIC_ACQUIRE);
}

/* The kernel may use the room of a record only when its program has ended it. Return: whether all are free */
static int kept_free(struct grt_bpf_kept *k, uint64_t to)
{
	uint64_t at = *k->read;

	while (at < to && !(kept_length(k, at) & BPF_RINGBUF_BUSY_BIT))
		at += KEPT_STEP;
	__atomic_store_n(k->read, at, __ATOMIC_RELEASE);
	return at == to;
}

static void kept_mark(struct grt_bpf_kept *k, uint64_t end)
{
	uint64_t last = k->marks ? k->mark[k->marks - 1].at : *k->read;

	if (end - last < k->bytes / BPF_KEPT_PARTS || k->marks == BPF_KEPT_PARTS)
		return;
	k->mark[k->marks++] = (struct grt_bpf_kept_mark){end, grt_now()};
}

void grt_bpf_kept_look(struct grt_bpf_kept *k)
{
	uint64_t end = k->bytes ? kept_end(k) : 0;
	unsigned int n = 0;

	if (!k->bytes)
		return;
	kept_mark(k, end);
	while (n < k->marks && end - *k->read > BPF_KEPT_FULL(k->bytes)) {
		/* even if not all of its records go */
		k->from = k->mark[n].time + 1;
		if (!kept_free(k, k->mark[n].at))
			break;
		n++;
	}
	k->marks -= n;
	memmove(k->mark, k->mark + n, k->marks * sizeof(*k->mark));
}

/* Return: its length and bits when its program has ended it; BPF_RINGBUF_BUSY_BIT: it does not end */
static uint32_t kept_wait(const struct grt_bpf_kept *k, uint64_t at)
{
	const struct timespec nap = {.tv_nsec = KEPT_NAP_NS};
	uint32_t length = kept_length(k, at);

	for (unsigned int naps = 0; length & BPF_RINGBUF_BUSY_BIT && naps < KEPT_NAPS; naps++) {
		nanosleep(&nap, NULL);
		length = kept_length(k, at);
	}
	return length;
}

int grt_bpf_kept_each(const struct grt_bpf_kept *k, int (*fn)(void *arg, const char *record), void *arg)
{
	uint64_t end = k->bytes ? kept_end(k) : 0;
	int ret = 0;

	for (uint64_t at = k->bytes ? *k->read : 0; at < end && !ret; at += KEPT_STEP) {
		uint32_t length = kept_wait(k, at);

		if (length & BPF_RINGBUF_BUSY_BIT)
			return -EAGAIN;
		if ((length & ~BPF_RINGBUF_DISCARD_BIT) != BPF_KEPT_BYTES)
			return -EPROTO;
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			ret = fn(arg, (const char *)kept_header(k, at) + BPF_RINGBUF_HDR_SZ);
	}
	return ret;
}

#endif /* GRT_HAVE_BPF */
