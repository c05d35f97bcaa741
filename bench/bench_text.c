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
#include "reading.h"

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

int main(int argc, char **argv)
{
	struct reading r;
	uint64_t size, lines;

	if (!reading_options(&r, argc, argv, "s:n:b:k"))
		return 2;
	size = make_file(r.path, r.mib << 20, r.back, &lines);
	reading_run(&r, size, lines);
	return 0;
}
