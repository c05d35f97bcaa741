// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The reader of traces for Perfetto: what this program's own export has of GPUs, slices of GPUs of other
 * producers, and ftrace's events. CUDA's calls, kernels, copies, waits and ranges are those of cuda_file.h.
 * Jobs of other drivers, and who had NVIDIA's GPU, become lines of grtrace annotate, and ftrace's events
 * lines of ftrace, both in files without a name, which are read as such text is.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tempfile.h"
#include "cuda_file.h"
#include "pftrace_packets.h"

/* -------------------------------------------------------- pftrace ftrace */

/*
 * Events of ftrace in a trace for Perfetto, printed as the kernel prints them: then they are read as text of
 * ftrace is. Field numbers are those of protos/perfetto/trace/ftrace of Perfetto v58.2.
 */

#define FIELDS 16U

/* ftrace_event.proto, and a file for each subsystem. @print: %N and how the field N is printed: u, d, x, s */
static const struct ftrace_row {
	uint16_t field;
	const char *name;
	const char *print;
} rows[] = {
	{340, "gpu_mem_total", "gpu_id=%1u pid=%2u size=%3u"},
	{409, "drm_vblank_event", "crtc=%1d, seq=%3u, time=%4d, high-prec=%2u"},
	{410, "drm_vblank_event_delivered", "file=%2x, crtc=%1d, seq=%3u"},
	{411, "drm_sched_job", "entity=%1x, id=%4u, fence=%2x, ring=%6s, job count:%5u, hw job count:%3d"},
	{412, "drm_run_job", "entity=%1x, id=%4u, fence=%2x, ring=%6s, job count:%5u, hw job count:%3d"},
	{413, "drm_sched_process_job", "fence=%1x signaled"},
	{414, "dma_fence_init", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{415, "dma_fence_emit", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{416, "dma_fence_signaled", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{417, "dma_fence_wait_start", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{418, "dma_fence_wait_end", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{468, "virtio_gpu_cmd_queue",
	 "vdev=%2d vq=%9u name=%5s type=%8x flags=%4x fence_id=%3x ctx_id=%1x num_free=%6u seqno=%7u"},
	{469, "virtio_gpu_cmd_response",
	 "vdev=%2d vq=%9u name=%5s type=%8x flags=%4x fence_id=%3x ctx_id=%1x num_free=%6u seqno=%7u"},
	{591, "drm_sched_job_add_dep", "fence=%1u:%2u depends on fence=%3u:%4u"},
	{592, "drm_sched_job_done", "fence=%1u:%2u signaled"},
	{593, "drm_sched_job_queue",
	 "dev=%4s, fence=%5u:%6u, ring=%1s, job count:%2u, hw job count:%3d, client_id:%7u"},
	{594, "drm_sched_job_run",
	 "dev=%4s, fence=%5u:%6u, ring=%1s, job count:%2u, hw job count:%3d, client_id:%7u"},
	{595, "drm_sched_job_unschedulable", "fence=%1u:%2u depends on unsignalled fence=%3u:%4u"},
};

/* Writes a word of a line; characters that would end it become _. */
static void put_word(FILE *out, struct grt_span text)
{
	for (size_t i = 0; i < text.len && i < 128; i++)
		fputc((unsigned char)text.at[i] <= ' ' || text.at[i] == ',' || text.at[i] == 0x7f
			      ? '_'
			      : text.at[i],
		      out);
}

static void put_fields(FILE *out, const char *print, const struct grt_pb_field field[FIELDS])
{
	const struct grt_pb_field *f;

	for (; *print; print++) {
		if (*print != '%') {
			fputc(*print, out);
			continue;
		}
		f = &field[print[1] - '0'];
		print += 2;
		if (*print == 's')
			put_word(out, f->bytes);
		else if (*print == 'u')
			fprintf(out, "%" PRIu64, f->value);
		else if (*print == 'd')
			fprintf(out, "%" PRId64, (int64_t)f->value);
		else
			fprintf(out, "0x%" PRIx64, f->value);
	}
}

static bool put_row(FILE *out, const struct ftrace_row *r, struct grt_span message)
{
	struct grt_pb_field field[FIELDS] = {{0}}, f;
	struct grt_pb_in in = grt_pb_read(message);

	while (grt_pb_next(&in, &f))
		if (f.number < FIELDS)
			field[f.number] = f;
	fprintf(out, "%s: ", r->name);
	put_fields(out, r->print, field);
	fputc('\n', out);
	return !in.bad;
}

/* Return: false: it cannot be read */
static bool put_event(FILE *out, struct grt_span message, uint64_t cpu, uint64_t offset, uint64_t *events)
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_span body = {NULL, 0};
	const struct ftrace_row *row = NULL;
	uint64_t time = 0, tid = 0;
	struct grt_pb_field f;

	while (grt_pb_next(&in, &f)) {
		if (f.number == 1)
			time = f.value + offset;
		else if (f.number == 2)
			tid = f.value;
		for (size_t i = 0; f.wire == 2 && i < sizeof(rows) / sizeof(rows[0]); i++)
			if (rows[i].field == f.number) {
				row = &rows[i];
				body = f.bytes;
			}
	}
	if (in.bad || !row)
		return !in.bad;
	++*events;
	fprintf(out, "           <...>-%-7u [%03u] ..... %" PRIu64 ".%09" PRIu64 ": ", (uint32_t)tid,
		(uint32_t)cpu, time / 1000000000, time % 1000000000);
	return put_row(out, row, body);
}

/** Pftrace_put_ftrace - prints the events of a bundle as ftrace does; skips other events. Return: false: the
 * bundle cannot be read. */
static bool pftrace_put_ftrace(FILE *out, struct grt_span bundle, uint64_t offset, uint64_t *events)
{
	struct grt_pb_in in = grt_pb_read(bundle);
	uint64_t cpu = 0, clock = 0;
	struct grt_pb_field f;
	bool good = true;

	while (grt_pb_next(&in, &f)) {
		if (f.number == 1)
			cpu = f.value % 100000;
		else if (f.number == 3 && f.value)
			fprintf(out, "CPU:%u [EVENTS DROPPED]\n", (uint32_t)cpu);
		else if (f.number == 5)
			clock = f.value;
	}
	/* only the boot clock is one of the trace's */
	if (clock)
		offset = 0;
	for (struct grt_pb_in again = grt_pb_read(bundle); good && grt_pb_next(&again, &f);)
		if (f.number == 2 && f.wire == 2)
			good = put_event(out, f.bytes, cpu, offset, events);
	return good && !in.bad;
}

/* --------------------------------------------------------------- pftrace */

#define QUEUES_MAX 65536U
#define GPUS_MAX 1024U
#define JOBS_MAX 1048576U
#define GPU_NAME 96
/* Fence contexts of jobs that have none; those of kernels are small. */
#define OWN_CONTEXTS (1ULL << 40)
/* gpu_render_stage_event.proto: InternedGraphicsContext.Api */
enum { API_CUDA = 4, API_HIP = 5 };

/** struct pftrace_submit - of a job: who and when */
struct pftrace_submit {
	uint64_t time;
	uint32_t tid;
};

/** struct pftrace_queue - @number: of its ring; @jobs: without a fence; @end: of the last slice */
struct pftrace_queue {
	uint32_t number;
	uint64_t jobs;
	uint64_t end;
};

/**
 * struct pftrace - an input
 * @processes: texts of @names, by pid; @gpus: char[GPU_NAME], by number; @submits: struct pftrace_submit, by
 *	fence
 * @jobs, @ftrace: where lines are written; NULL: this reading writes none
 * @nested: slices inside of others of their queue, which are ignored
 * @record: gets CUDA's records; NULL: this reading has none
 * @name: name of the call, kernel or process that is delivered
 */
struct pftrace {
	int fd;
	struct pftrace_packets *packets;
	struct grt_texts names;
	struct grt_keyed processes;
	struct grt_keyed gpus;
	struct grt_keyed submits;
	struct grt_keyed queues;
	FILE *jobs;
	FILE *ftrace;
	uint64_t job_lines;
	uint64_t ftrace_lines;
	uint64_t cuda_records;
	uint64_t nested;
	int (*record)(void *arg, const struct grt_cupti_record *r);
	void *arg;
	struct grt_cupti_count *count;
};

static struct grt_span pftrace_text(const struct pftrace *f, uint32_t number)
{
	return pftrace_packets_text(f->packets, number);
}

static bool pftrace_begins(struct grt_span s, const char *text)
{
	return s.len >= strlen(text) && !memcmp(s.at, text, strlen(text));
}

static bool pftrace_has(const struct pftrace_values *a, enum pftrace_arg arg)
{
	return a->has >> arg & 1;
}

static int pftrace_hand_out(struct pftrace *f, const struct grt_cupti_record *r)
{
	f->cuda_records++;
	if (!f->record)
		return 0;
	f->count->records++;
	return f->record(f->arg, r);
}

/* ------------------------------------------------------------------ jobs */

/* Writes a value of a line of grtrace annotate, escaping the characters that would end it. */
static void put_value(FILE *out, const char *key, struct grt_span text)
{
	unsigned char c;

	fprintf(out, " %s=", key);
	for (size_t i = 0; i < text.len && i < 64; i++) {
		c = (unsigned char)text.at[i];
		if (c <= ' ' || c == '=' || c == ',' || c == '\\' || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
}

static void put_stamp(FILE *out, uint64_t time, const char *event)
{
	fprintf(out, "[%" PRIu64 ".%09" PRIu64 "] %s", time / GRT_NS_PER_S, time % GRT_NS_PER_S, event);
}

/* "GPU renderD128 (amdgpu)": the device and the driver of a name that this program gave. */
static void put_gpu(const struct pftrace *f, uint64_t number)
{
	struct grt_key key = {{number}};
	const char *name = grt_keyed_find(&f->gpus, &key), *open = name ? strrchr(name, '(') : NULL;
	struct grt_span words = name ? (struct grt_span){name, strlen(name)} : (struct grt_span){NULL, 0};

	if (!name || !pftrace_begins(words, "GPU "))
		return;
	if (open && name[words.len - 1] == ')')
		put_value(f->jobs, "driver", (struct grt_span){open + 1, strlen(open) - 2});
	words = (struct grt_span){name + 4, strcspn(name + 4, " ")};
	if (pftrace_begins(words, "renderD") || pftrace_begins(words, "card"))
		put_value(f->jobs, "dev", words);
}

static struct pftrace_queue *queue_of(struct pftrace *f, const struct pftrace_work *w)
{
	struct grt_key key = {{w->gpu, w->queue}};
	struct pftrace_queue *q;
	void *found;

	if (grt_keyed_get(&f->queues, &key, &found))
		return NULL;
	q = found;
	if (!q->number)
		q->number = f->queues.used;
	return q;
}

/** struct pftrace_job - a job while its lines are written; @submit: NULL: not seen */
struct pftrace_job {
	const struct pftrace_work *w;
	const struct pftrace_submit *submit;
	uint64_t ctx;
	uint64_t seqno;
	uint32_t ring;
};

static void put_job(struct pftrace *f, const struct pftrace_job *j, uint64_t time, const char *event,
		    bool inferred, bool who)
{
	const struct pftrace_work *w = j->w;
	struct grt_key key = {{w->pid}};
	const uint32_t *name = grt_keyed_find(&f->processes, &key);

	put_stamp(f->jobs, time, event);
	fprintf(f->jobs, " ctx=0x%" PRIx64 " seq=%" PRIu64 " ring=%u", j->ctx, j->seqno, j->ring);
	if (who && w->pid)
		fprintf(f->jobs, " pid=%u tid=%u", w->pid, j->submit ? j->submit->tid : w->pid);
	if (who && w->pid && name)
		put_value(f->jobs, "process",
			  (struct grt_span){grt_texts_get(&f->names, *name),
					    grt_texts_length(&f->names, *name)});
	put_value(f->jobs, "ring_name", pftrace_text(f, w->queue));
	put_gpu(f, w->gpu);
	if (inferred)
		fprintf(f->jobs, " flags=0x%x", GRT_FLAG_INFERRED);
	if (!strcmp(event, "COMPLETE") && pftrace_has(&w->args, PFTRACE_STATUS))
		fprintf(f->jobs, " status=%" PRId64, (int64_t)w->args.v[PFTRACE_STATUS]);
	fputc('\n', f->jobs);
	f->job_lines++;
}

/* Writes a job's time stamps, from START backwards and from END forwards. */
static void put_stamps(struct pftrace *f, const struct pftrace_job *j)
{
	const struct pftrace_values *a = &j->w->args;
	uint64_t start = j->w->time, end = start + j->w->duration;
	uint64_t commit = start - a->v[PFTRACE_T_QUEUE];
	bool committed = pftrace_has(a, PFTRACE_T_QUEUE) && a->v[PFTRACE_T_QUEUE] <= start;

	if (j->submit)
		put_job(f, j, j->submit->time, "SUBMIT", false, true);
	if (committed)
		put_job(f, j, commit, "COMMIT", false, false);
	put_job(f, j, start, "START", pftrace_has(a, PFTRACE_START_INFERRED), !j->submit);
	put_job(f, j, end, "END", pftrace_has(a, PFTRACE_END_INFERRED), false);
	if (pftrace_has(a, PFTRACE_T_COMPLETE) && a->v[PFTRACE_T_COMPLETE] < UINT64_MAX - end)
		put_job(f, j, end + a->v[PFTRACE_T_COMPLETE], "COMPLETE", false, false);
}

static int take_job(struct pftrace *f, const struct pftrace_work *w)
{
	struct pftrace_job j = {.w = w, .ctx = w->args.v[PFTRACE_CTX], .seqno = w->args.v[PFTRACE_SEQNO]};
	struct pftrace_queue *q = queue_of(f, w);
	struct grt_key key = {{j.ctx, j.seqno}};

	if (!q)
		return -ENOMEM;
	j.ring = q->number;
	j.submit = j.ctx ? grt_keyed_find(&f->submits, &key) : NULL;
	if (!pftrace_has(&w->args, PFTRACE_CTX) || !j.ctx) {
		/* producers draw what a slice is made of inside of it, on its queue */
		if (w->time < q->end && w->time + w->duration <= q->end) {
			f->nested++;
			return 0;
		}
		q->end = w->time + w->duration;
		j.ctx = OWN_CONTEXTS + q->number;
		j.seqno = ++q->jobs;
	}
	if (f->jobs)
		put_stamps(f, &j);
	else
		f->job_lines++;
	return 0;
}

/* Writes which process had NVIDIA's GPU, as this program exports it. */
static int take_turn(struct pftrace *f, const struct pftrace_work *w)
{
	static const struct {
		enum pftrace_arg arg;
		const char *name;
	} fields[] = {{PFTRACE_CONTEXT, "context"},
		      {PFTRACE_BEGIN, "begin"},
		      {PFTRACE_OVER, "over"},
		      {PFTRACE_MIG_GPU, "mig_gpu"},
		      {PFTRACE_MIG_COMPUTE, "mig_compute"}};

	f->job_lines++;
	if (!f->jobs)
		return 0;
	put_stamp(f->jobs, w->time + w->duration, "GPU_SLICE");
	fprintf(f->jobs, " pid=%u tid=%u device=%" PRIu64 " start=%" PRIu64, w->pid, w->pid, w->gpu, w->time);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		fprintf(f->jobs, " %s=%" PRIu64, fields[i].name, w->args.v[fields[i].arg]);
	fputc('\n', f->jobs);
	return 0;
}

/* ------------------------------------------------------------------ CUDA */

/* "Memcpy HtoD (Pageable -> Device)": the direction. */
static struct grt_span copy_direction(struct grt_span name)
{
	struct grt_span way = {name.at + 7, name.len - 7};
	const char *blank = memchr(way.at, ' ', way.len);

	if (blank)
		way.len = (size_t)(blank - way.at);
	return way;
}

static int take_cuda(struct pftrace *f, const struct pftrace_work *w)
{
	const uint64_t *v = w->args.v;
	struct grt_cupti_record r = {
		.kind = GRT_CUPTI_KERNEL,
		.name = pftrace_text(f, w->linked ?: w->name),
		.start = w->time,
		.end = w->time + w->duration,
		.correlation = v[PFTRACE_CORRELATION] ?: w->number,
		.pid = w->pid,
		.device = pftrace_has(&w->args, PFTRACE_DEVICE) ? v[PFTRACE_DEVICE] : w->gpu,
		.stream = pftrace_has(&w->args, PFTRACE_STREAM) ? v[PFTRACE_STREAM] : w->queue_iid,
		.context = v[PFTRACE_CONTEXT],
		.graph = v[PFTRACE_GRAPH],
		.graph_node = v[PFTRACE_GRAPH_NODE],
		.bytes = v[PFTRACE_BYTES],
		.from_memory = v[PFTRACE_FROM_MEMORY],
		.to_memory = v[PFTRACE_TO_MEMORY],
		.registers = v[PFTRACE_REGISTERS],
		.shared = v[PFTRACE_SHARED_STATIC],
		.shared_dynamic = v[PFTRACE_SHARED_DYNAMIC],
	};
	struct grt_span name = pftrace_text(f, w->name);

	memcpy(r.grid, w->grid, sizeof(r.grid));
	memcpy(r.block, w->block, sizeof(r.block));
	if (!w->is_kernel && pftrace_begins(name, "Memcpy ")) {
		r.kind = GRT_CUPTI_COPY;
		r.name = copy_direction(name);
	} else if (!w->is_kernel && pftrace_begins(name, "Memset")) {
		r.kind = GRT_CUPTI_SET;
	}
	return pftrace_hand_out(f, &r);
}

static int pftrace_on_work(void *arg, const struct pftrace_work *w)
{
	struct pftrace *f = arg;
	struct grt_span stage = pftrace_text(f, w->stage);

	if (w->is_kernel || w->api == API_CUDA || w->api == API_HIP)
		return take_cuda(f, w);
	if (grt_span_is(stage, "context") && pftrace_has(&w->args, PFTRACE_MIG_GPU))
		return take_turn(f, w);
	return take_job(f, w);
}

/* The thread that a track's name ends with: "CUDA calls of thread 71". */
static uint64_t thread_in(struct grt_span name)
{
	static const char of[] = " of thread ";
	const char *at = name.len ? memmem(name.at, name.len, of, sizeof(of) - 1) : NULL;
	uint64_t tid = 0;

	if (at) {
		at += sizeof(of) - 1;
		grt_scan_u64(&at, name.at + name.len, &tid);
	}
	return tid;
}

static int take_call(struct pftrace *f, const struct pftrace_slice *s, uint32_t kind)
{
	const uint64_t *v = s->args.v;
	struct grt_span track = pftrace_text(f, s->track);
	struct grt_cupti_record r = {
		.kind = kind,
		.name = pftrace_text(f, s->name),
		.start = s->time,
		.end = s->end,
		.correlation = v[PFTRACE_CORRELATION] ?: s->number,
		.pid = s->pid,
		.tid = thread_in(track) ?: s->tid,
		.code = kind == GRT_CUPTI_SYNC ? v[PFTRACE_KIND] : v[PFTRACE_RESULT],
		.context = v[PFTRACE_CONTEXT],
		.stream = pftrace_has(&s->args, PFTRACE_CUDA_STREAM) ? v[PFTRACE_CUDA_STREAM] : UINT32_MAX,
	};

	if (kind == GRT_CUPTI_RANGE)
		r.code = thread_in(track) ? 1 : 2;
	return pftrace_hand_out(f, &r);
}

/* Takes the process that submitted a job. */
static int take_submit(struct pftrace *f, const struct pftrace_slice *s)
{
	struct grt_key key = {{s->args.v[PFTRACE_CTX], s->args.v[PFTRACE_SEQNO]}};
	void *found;
	int ret = grt_keyed_get_or_replace(&f->submits, &key, NULL, &found);

	if (!ret)
		*(struct pftrace_submit *)found = (struct pftrace_submit){s->time, s->tid};
	return ret;
}

static int pftrace_on_slice(void *arg, const struct pftrace_slice *s)
{
	struct pftrace *f = arg;
	struct grt_span category = pftrace_text(f, s->category);

	if (s->moment)
		return grt_span_is(category, "submit") && pftrace_has(&s->args, PFTRACE_CTX)
			       ? take_submit(f, s)
			       : 0;
	if (s->number || pftrace_begins(category, "cuda_"))
		return take_call(f, s, GRT_CUPTI_CALL);
	if (grt_span_is(category, "user_annotation"))
		return take_call(f, s, GRT_CUPTI_RANGE);
	if (grt_span_is(category, "wait") && grt_span_is(pftrace_text(f, s->name), "GPU_SYNC"))
		return take_call(f, s, GRT_CUPTI_SYNC);
	return 0;
}

static int pftrace_on_process(void *arg, uint32_t pid, struct grt_span name)
{
	const struct grt_cupti_record r = {.kind = GRT_CUPTI_PROCESS, .pid = pid, .name = name};
	struct pftrace *f = arg;
	struct grt_key key = {{pid}};
	void *found;
	int ret = grt_keyed_get_or_replace(&f->processes, &key, NULL, &found);

	ret = ret ?: grt_texts_add(&f->names, name.at, name.len < 64 ? name.len : 64, found);
	return ret || !f->record ? ret : f->record(f->arg, &r);
}

static int pftrace_on_gpu(void *arg, uint64_t number, struct grt_span name)
{
	struct pftrace *f = arg;
	struct grt_key key = {{number}};
	void *found;
	int ret = grt_keyed_get_or_replace(&f->gpus, &key, NULL, &found);

	if (!ret)
		snprintf(found, GPU_NAME, "%.*s", (int)(name.len < GPU_NAME ? name.len : GPU_NAME), name.at);
	return ret;
}

static int pftrace_on_ftrace(void *arg, struct grt_span bundle, uint64_t offset)
{
	struct pftrace *f = arg;

	return pftrace_put_ftrace(f->ftrace, bundle, offset, &f->ftrace_lines) ? 0 : -EPROTO;
}

/* --------------------------------------------------------------- readings */

static void pftrace_forget(struct pftrace *f)
{
	grt_keyed_free(&f->queues);
	grt_keyed_init(&f->queues, sizeof(struct pftrace_queue), QUEUES_MAX);
	f->job_lines = f->ftrace_lines = f->cuda_records = f->nested = 0;
}

static int pftrace_read_all(struct pftrace *f)
{
	const struct pftrace_sink sink = {
		.work = pftrace_on_work,
		.slice = pftrace_on_slice,
		.ftrace = f->ftrace ? pftrace_on_ftrace : NULL,
		.process = pftrace_on_process,
		.gpu = pftrace_on_gpu,
		.arg = f,
	};

	pftrace_forget(f);
	return pftrace_packets_read(f->packets, &sink);
}

static int pftrace_read(void *reader, struct grt_cupti_count *count,
			int (*record)(void *arg, const struct grt_cupti_record *r), void *arg)
{
	struct pftrace *f = reader;
	int ret;

	f->record = record;
	f->arg = arg;
	f->count = count;
	ret = pftrace_read_all(f);
	count->lines = pftrace_packets_count(f->packets)->packets;
	count->bad = pftrace_packets_count(f->packets)->unnamed + pftrace_packets_count(f->packets)->timeless;
	return ret;
}

static int pftrace_failed(const struct pftrace *f, const char *path, int code, struct grt_err *err)
{
	uint64_t byte;
	const char *why = pftrace_packets_why(f->packets, &byte);

	if (code != -EPROTO)
		return grt_err_set(err, code, strerror(-code), NULL, "%s: cannot read", path);
	return grt_err_set(err, code, why ?: "its events of ftrace cannot be read",
			   "head -c BYTE PATH > FILE, which keeps the packets that precede it",
			   "%s: byte %" PRIu64 ": cannot read the packet of Perfetto there", path, byte);
}

static int pftrace_judge(void *reader, const char *path, const struct grt_cupti_count *count, int code,
			 struct grt_err *err)
{
	return code ? pftrace_failed(reader, path, code, err) : 0;
}

static void pftrace_free(void *reader)
{
	struct pftrace *f = reader;

	pftrace_packets_free(f->packets);
	grt_texts_free(&f->names);
	grt_keyed_free(&f->processes);
	grt_keyed_free(&f->gpus);
	grt_keyed_free(&f->submits);
	grt_keyed_free(&f->queues);
	if (f->jobs)
		fclose(f->jobs);
	if (f->ftrace)
		fclose(f->ftrace);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

static const struct grt_cuda_file_kind pftrace_kind = {
	.form = "perfetto",
	.read = pftrace_read,
	.judge = pftrace_judge,
	.free = pftrace_free,
};

/* ---------------------------------------------------------------- opening */

extern const struct grt_reader grt_reader_text_input;

static FILE *pftrace_lines(void)
{
	int fd = grt_tempfile_open();
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

/* Lines that were written are an input of their own. Return: 0 or a negative errno */
static int pftrace_add_text(struct grt_session *s, FILE *lines, uint64_t n, struct grt_err *err)
{
	uint64_t first = s->first, last = s->last;
	bool any = first <= last;
	int ret;

	if (!n)
		return 0;
	if (fflush(lines) || lseek(fileno(lines), 0, SEEK_SET) < 0)
		return grt_err_set(err, -errno, strerror(errno),
				   "TMPDIR=DIR with room for it, before the command's name",
				   "%s: cannot write its events into a temporary file", s->path);
	ret = grt_reader_text_input.open(s, fileno(lines), err);
	if (any && first < s->first)
		s->first = first;
	if (any && last > s->last)
		s->last = last;
	return ret;
}

/* The names of GPUs are at the end of a file: it is read once for these, then for lines. */
static int pftrace_write_lines(struct pftrace *f, struct grt_session *s, struct grt_err *err)
{
	int ret = pftrace_read_all(f);

	if (ret)
		return pftrace_failed(f, s->path, ret, err);
	f->jobs = pftrace_lines();
	f->ftrace = pftrace_lines();
	if (!f->jobs || !f->ftrace)
		return grt_err_set(err, -errno, strerror(errno),
				   "TMPDIR=DIR with room for it, before the command's name",
				   "%s: cannot make a temporary file in %s", s->path, grt_tempfile_dir());
	ret = pftrace_read_all(f);
	if (ret)
		return pftrace_failed(f, s->path, ret, err);
	if (!f->job_lines && !f->ftrace_lines && !f->cuda_records)
		return grt_err_set(
			err, -EINVAL,
			"it has no work of a GPU, no calls of CUDA, and no events of GPUs of ftrace",
			"https://ui.perfetto.dev opens it", "%s: nothing to read in a trace for Perfetto",
			s->path);
	return 0;
}

static int pftrace_add_all(struct pftrace *f, struct grt_session *s, struct grt_err *err)
{
	uint64_t first, last;
	bool cuda, any;
	int ret = pftrace_write_lines(f, s, err);

	/* a caller that skips events uses the number of those of the first stream */
	ret = ret ?: pftrace_add_text(s, f->ftrace, f->ftrace_lines, err)
		     ?: pftrace_add_text(s, f->jobs, f->job_lines, err);
	cuda = f->cuda_records;
	if (f->jobs)
		fclose(f->jobs);
	if (f->ftrace)
		fclose(f->ftrace);
	f->jobs = f->ftrace = NULL;
	if (ret || !cuda) {
		s->found.text.form = "perfetto";
		pftrace_free(f);
		return ret;
	}
	first = s->first;
	last = s->last;
	any = first <= last;
	ret = grt_cuda_file_open(s, &pftrace_kind, f, err);
	if (any && first < s->first)
		s->first = first;
	if (any && last > s->last)
		s->last = last;
	return ret;
}

static bool pftrace_takes(const struct stat *st, const char *head, size_t len)
{
	return len > 2 && head[0] == '\n' && pftrace_is_packets(head, len);
}

static int pftrace_open(struct grt_session *s, int fd, struct grt_err *err)
{
	struct pftrace *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	grt_texts_init(&f->names, JOBS_MAX);
	grt_keyed_init(&f->processes, sizeof(uint32_t), JOBS_MAX);
	grt_keyed_init(&f->gpus, GPU_NAME, GPUS_MAX);
	grt_keyed_init(&f->submits, sizeof(struct pftrace_submit), JOBS_MAX);
	grt_keyed_init(&f->queues, sizeof(struct pftrace_queue), QUEUES_MAX);
	ret = f->fd < 0 ? -errno : pftrace_packets_new(&f->packets, f->fd);
	if (ret) {
		pftrace_free(f);
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot open", s->path);
	}
	return pftrace_add_all(f, s, err);
}

const struct grt_reader grt_reader_pftrace = {
	.name = "pftrace",
	.begins = "\n",
	.takes = pftrace_takes,
	.open = pftrace_open,
};
