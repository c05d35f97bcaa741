// SPDX-License-Identifier: GPL-2.0
/*
 * How fast text is read: writes a trace as ftrace prints it, of jobs of the DRM
 * scheduler on two rings between other events, and reads it through a session
 * with a consumer that only counts.
 *
 *	bench_text [-s MIB] [-n RUNS] [-b NS] [-k] FILE
 *
 * -b puts every seventh line so much behind its place, which makes the reader
 * bring order into it: up to 1 s in a window, beyond that in temporary files.
 * -k keeps FILE.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

/* CPU time, so that a busy machine does not show. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct writer {
	FILE *out;
	uint64_t ns;
	uint64_t back;
	uint64_t lines;
};

static void begin_line(struct writer *w, const char *comm, unsigned int tid, const char *flags)
{
	uint64_t ns = w->lines % 7 == 6 && w->ns > w->back ? w->ns - w->back : w->ns;

	w->ns += 1500;
	fprintf(w->out, "%16s-%-7u [%03u] %s %5" PRIu64 ".%06" PRIu64 ": ", comm, tid,
		(unsigned int)(w->lines % 8), flags, ns / 1000000000, ns / 1000 % 1000000);
	w->lines++;
}

/* The life of a job, and what else goes on. */
static void write_job(struct writer *w, uint64_t seqno)
{
	const char *ring = seqno % 4 ? "gfx_0.0.0" : "sdma0";
	uint64_t ctx = seqno % 4 ? 142 : 144;

	begin_line(w, "RenderThread", 25155, ".....");
	fprintf(w->out,
		"drm_sched_job_queue: dev=0000:03:00.0, fence=%" PRIu64 ":%" PRIu64
		", ring=%s, job count:%u, hw job count:%u, client_id:14\n",
		ctx, seqno, ring, (unsigned int)(seqno % 3), (unsigned int)(seqno % 2));
	begin_line(w, "RenderThread", 25155, "d..2.");
	fprintf(w->out, "sched_switch: prev_comm=RenderThread prev_pid=25155 prev_prio=120 prev_state=S ==> "
			"next_comm=swapper/3 next_pid=0 next_prio=120\n");
	begin_line(w, "kworker/u32:3", 812, ".....");
	fprintf(w->out,
		"drm_sched_job_run: dev=0000:03:00.0, fence=%" PRIu64 ":%" PRIu64
		", ring=%s, job count:%u, hw job count:%u, client_id:14\n",
		ctx, seqno, ring, 0, 1);
	begin_line(w, "kworker/u32:3", 812, "d..1.");
	fprintf(w->out,
		"dma_fence_signaled: driver=drm_sched timeline=%s context=%" PRIu64 " seqno=%" PRIu64 "\n",
		ring, ctx - 1, seqno);
	begin_line(w, "<idle>", 0, "d.h1.");
	fprintf(w->out, "drm_sched_job_done: fence=%" PRIu64 ":%" PRIu64 " signaled\n", ctx, seqno);
	begin_line(w, "<idle>", 0, "d.h2.");
	fprintf(w->out,
		"dma_fence_signaled: driver=drm_sched timeline=%s context=%" PRIu64 " seqno=%" PRIu64 "\n",
		ring, ctx, seqno);
}

static uint64_t make_file(const char *path, uint64_t bytes, uint64_t back, uint64_t *lines)
{
	struct writer w = {.out = fopen(path, "w"), .ns = 5000000000000, .back = back};
	long size;

	if (!w.out) {
		perror(path);
		exit(1);
	}
	fputs("# tracer: nop\n#\n", w.out);
	for (uint64_t seqno = 1; (uint64_t)ftell(w.out) < bytes; seqno++)
		write_job(&w, seqno);
	size = ftell(w.out);
	if (fclose(w.out)) {
		perror(path);
		exit(1);
	}
	*lines = w.lines + 2;
	return (uint64_t)size;
}

struct count {
	struct grt_consumer c;
	uint64_t events;
	uint64_t last;
};

static int on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct count *k = (struct count *)c;

	(void)cpu;
	if (e->time < k->last) {
		fprintf(stderr, "bench_text: out of order\n");
		exit(1);
	}
	k->last = e->time;
	k->events++;
	return 0;
}

static double read_once(const char *path, struct count *k, struct grt_health *h)
{
	struct grt_session *s;
	struct grt_err err;
	double begin = now();

	*k = (struct count){.c = {.event = on_event}};
	if (grt_session_open(&s, path, &err) || grt_session_run(s, &k->c, 0, UINT64_MAX, &err)) {
		fprintf(stderr, "bench_text: %s: %s\n", err.what, err.why);
		exit(1);
	}
	*h = *grt_session_health(s);
	grt_session_close(s);
	return now() - begin;
}

int main(int argc, char **argv)
{
	uint64_t mib = 256, runs = 5, back = 0, size, lines;
	struct grt_health h = {0};
	struct rusage use;
	struct count k = {.events = 0};
	double best = 1e9, took;
	bool keep = false;
	int opt;

	while ((opt = getopt(argc, argv, "s:n:b:k")) != -1) {
		if (opt == 's')
			mib = strtoull(optarg, NULL, 0);
		else if (opt == 'n')
			runs = strtoull(optarg, NULL, 0);
		else if (opt == 'b')
			back = strtoull(optarg, NULL, 0);
		else if (opt == 'k')
			keep = true;
		else
			return 2;
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: bench_text [-s MIB] [-n RUNS] [-b NS] [-k] FILE\n");
		return 2;
	}
	size = make_file(argv[optind], mib << 20, back, &lines);
	for (uint64_t i = 0; i < runs; i++) {
		took = read_once(argv[optind], &k, &h);
		best = took < best ? took : best;
	}
	getrusage(RUSAGE_SELF, &use);
	printf("text: %.0f MB, %" PRIu64 " lines, %" PRIu64 " events, %" PRIu64 " skipped\n",
	       (double)size / 1e6, lines, k.events, h.text.skipped);
	printf("order: %" PRIu64 " behind, %" PRIu64 " sorted in files, %" PRIu64 " too late\n",
	       h.text.reordered, h.text.sorted, h.fault[GRT_FAULT_TIME]);
	printf("read: %.0f MB/s, %.2f M lines/s, %.2f M events/s, best of %" PRIu64 "; %.0f MiB of memory\n",
	       (double)size / best / 1e6, (double)lines / best / 1e6, (double)k.events / best / 1e6, runs,
	       (double)use.ru_maxrss / 1024);
	if (!keep)
		unlink(argv[optind]);
	return 0;
}
