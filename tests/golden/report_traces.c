// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the traces of tests/golden/report into the working directory. Small
 * ones, so that each number of the expected reports can be checked by hand.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../unit/trace_maker.h"
#include "trace/job_record.h"

#define MS 1000000ULL

/* Jobs are given their ring's context and a stamp in us after 10 s. */
#define AT(us) .e.time = 10000 * MS + (us)*1000ULL
#define JOB(r, seq) \
	.e.ring = (r), .e.ctx = 100 + (r), .e.seqno = (seq), .e.device = 226, .e.engine = GRT_ENGINE_GRAPHICS
#define RING(r) .e.ring = (r), .e.device = 226, .e.engine = GRT_ENGINE_GRAPHICS
#define GAME .e.pid = 70, .e.tid = 71
#define DESK .e.pid = 80, .e.tid = 80

static void names(struct trace_maker *tm)
{
	tm_name_ring(tm, 0, "control", "virtio_gpu");
	tm_name_ring(tm, 1, "cursor", "virtio_gpu");
	tm_name_thread(tm, 71, "render", "game");
	/* what a program can call itself: a title for the terminal, a quote, a comma, half a character */
	tm_name_thread(tm, 80, "a\033]0;b\a\"c,\xc3", "desk");
}

/* A driver that tells END and COMPLETE only, as virtio_gpu does. */
static void virtio(void)
{
	struct trace_maker *tm = tm_dir("virtio.grt", 2);

	names(tm);
	/* still running when the trace began */
	tm_emit(tm, 0, end, AT(0), JOB(0, 1), GAME);
	tm_emit(tm, 0, complete, AT(1), JOB(0, 1), GAME);
	/* three queued at once: START follows the ring */
	tm_emit(tm, 1, submit, AT(10), JOB(0, 2), GAME, .e.flags = GRT_FLAG_COMMIT, .cmd = 0x207);
	tm_emit(tm, 1, submit, AT(11), JOB(0, 3), GAME, .e.flags = GRT_FLAG_COMMIT, .cmd = 0x207);
	tm_emit(tm, 1, sync_wait_enter, AT(12), JOB(0, 3), GAME);
	tm_emit(tm, 1, submit, AT(20), JOB(0, 4), DESK, .e.flags = GRT_FLAG_COMMIT, .cmd = 0x207);
	tm_emit(tm, 1, command, AT(21), DESK, .e.ring = 1, .e.device = 226, .cmd = 0x300);
	tm_emit(tm, 1, submit, AT(22), JOB(1, 1), DESK, .e.flags = GRT_FLAG_COMMIT, .cmd = 0x301);
	tm_emit(tm, 0, end, AT(110), JOB(0, 2), GAME, .reply = 0x1100);
	tm_emit(tm, 0, complete, AT(112), JOB(0, 2), GAME);
	tm_emit(tm, 0, end, AT(360), JOB(0, 3), GAME, .reply = 0x1100);
	tm_emit(tm, 0, complete, AT(361), JOB(0, 3), GAME);
	tm_emit(tm, 1, sync_wait_exit, AT(365), JOB(0, 3), GAME);
	tm_emit(tm, 0, end, AT(400), JOB(0, 4), DESK, .reply = 0x1203);
	tm_emit(tm, 0, error, AT(400), JOB(0, 4), DESK, .status = -22, .code = 0x1203);
	tm_emit(tm, 0, complete, AT(401), JOB(0, 4), DESK);
	/* its END was not seen */
	tm_emit(tm, 0, complete, AT(500), JOB(1, 1), DESK);
	/* a fence of another driver */
	tm_emit(tm, 1, sync_wait_enter, AT(600), .e.ctx = 7, .e.seqno = 9, .e.ring = GRT_RING_NONE, DESK);
	tm_emit(tm, 1, sync_wait_exit, AT(650), .e.ctx = 7, .e.seqno = 9, .e.ring = GRT_RING_NONE, DESK);
	/* running when the trace ended, and waited for */
	tm_emit(tm, 1, submit, AT(900), JOB(0, 5), GAME, .e.flags = GRT_FLAG_COMMIT, .cmd = 0x207);
	tm_emit(tm, 1, sync_wait_enter, AT(1000), JOB(0, 5), GAME);
	tm_fate(tm, 0, GRT_FATE_BELOW_LEVEL, 6);
	tm_close(tm);
}

/* A driver that tells every step, on a ring that runs two jobs at a time. */
static void drm(void)
{
	struct trace_maker *tm = tm_dir("drm.grt", 2);

	tm_name_ring(tm, 0, "gfx", "softgpu");
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t t = 100 * i;

		tm_emit(tm, 0, submit, AT(t), JOB(0, i), GAME);
		tm_emit(tm, 0, commit, AT(t + 5), JOB(0, i), GAME);
		tm_emit(tm, 0, start, AT(t + 7), JOB(0, i), GAME);
		if (i > 0)
			tm_emit(tm, 1, end, AT(t + 30 + i), JOB(0, i - 1), GAME);
		if (i > 0)
			tm_emit(tm, 1, complete, AT(t + 31 + i), JOB(0, i - 1), GAME);
	}
	tm_close(tm);
}

static void sampled(void)
{
	struct trace_maker *tm = tm_dir("sampled.grt", 1);

	names(tm);
	for (uint64_t i = 0; i < 12; i++) {
		tm_emit(tm, 0, submit, AT(100 * i), JOB(0, 4 * i), GAME, .e.flags = GRT_FLAG_COMMIT,
			.e.sample = 25);
		tm_emit(tm, 0, end, AT(100 * i + 50), JOB(0, 4 * i), GAME, .e.sample = 25);
		tm_emit(tm, 0, complete, AT(100 * i + 51), JOB(0, 4 * i), GAME, .e.sample = 25);
	}
	tm_fate(tm, 0, GRT_FATE_SAMPLED_OUT, 108);
	tm_close(tm);
}

/*
 * Sampling whose rate changes from job to job, 100 % to 10 %; the 18 jobs that
 * are here stand for 69. @whole: each is one JOB record, as with a threshold.
 */
static void rates(const char *path, bool whole)
{
	static const uint8_t rate[] = {100, 50, 25, 10, 25, 50};
	struct trace_maker *tm = tm_dir(path, 1);

	tm_name_ring(tm, 0, "gfx", "softgpu");
	tm_name_thread(tm, 71, "render", "game");
	for (uint64_t i = 0; i < 18; i++) {
		uint64_t t = 10000 * MS + 100000 * i;
		const struct grt_event e = {.ring = 0,
					    .device = 226,
					    .engine = GRT_ENGINE_GRAPHICS,
					    .ctx = 100,
					    .seqno = i,
					    .pid = 70,
					    .tid = 71,
					    .sample = rate[i % 6]};
		struct grt_ev_job r = {.e = e,
				       .submit = t,
				       .commit = t + 5000,
				       .start = t + 7000,
				       .end = t + 20000 + 1000 * i,
				       .complete = t + 21000 + 1000 * i,
				       .cmd = 0x207,
				       .status = i == 7 ? -110 : 0};
		struct grt_job_parts parts;

		r.e.type = GRT_EV_JOB;
		r.e.size = sizeof(r);
		r.e.time = r.complete + 100;
		grt_job_split(&r.e, &parts);
		for (unsigned int k = 0; k < parts.n && !whole; k++)
			tm_event(tm, 0, &parts.of[k].e);
		if (whole) {
			tm_event(tm, 0, &r.e);
			tm_fate(tm, 0, GRT_FATE_AGGREGATED, parts.n);
		}
	}
	tm_fate(tm, 0, GRT_FATE_SAMPLED_OUT, 58);
	if (whole)
		tm_fate(tm, 0, GRT_FATE_UNHELD, 3);
	tm_close(tm);
}

/* Most of the events are sums: of ring 0 all, of which one record was lost; of ring 1 the records only
 * accompany. */
static void aggregated(void)
{
	struct trace_maker *tm = tm_dir("aggregated.grt", 1);

	names(tm);
	tm_emit(tm, 0, aggregate, AT(1000), RING(0), .begin = 10000 * MS, .end = 10001 * MS, .events = 400,
		.replaced = 400, .submits = 100, .completes = 98, .failed = 3, .jobs = 96,
		.latency = 96 * 250000ULL, .latency_min = 1000, .latency_max = 900000, .depth = 250,
		.depth_max = 7, .window = 1);
	tm_emit(tm, 0, submit, AT(1100), JOB(1, 1), GAME, .e.flags = GRT_FLAG_COMMIT);
	tm_emit(tm, 0, end, AT(1150), JOB(1, 1), GAME);
	tm_emit(tm, 0, complete, AT(1160), JOB(1, 1), GAME);
	tm_emit(tm, 0, aggregate, AT(2000), RING(1), .begin = 10001 * MS, .end = 10002 * MS, .events = 3,
		.submits = 1, .completes = 1, .jobs = 1, .latency = 60000, .latency_min = 60000,
		.latency_max = 60000, .depth = 1, .depth_max = 1, .window = 1);
	tm_emit(tm, 0, aggregate, AT(3000), RING(0), .begin = 10002 * MS, .end = 10003 * MS, .events = 8,
		.replaced = 8, .submits = 2, .completes = 4, .jobs = 4, .latency = 4 * 300000ULL,
		.latency_min = 200000, .latency_max = 1200000, .depth = 5, .depth_max = 3, .window = 3);
	/* three of them in the record that was lost */
	tm_fate(tm, 0, GRT_FATE_AGGREGATED, 411);
	tm_fate(tm, 0, GRT_FATE_LOST, 1);
	tm_close(tm);
}

static void few(const char *path, const char *state, bool gap)
{
	struct trace_maker *tm = tm_dir(path, 1);

	names(tm);
	tm_state(tm, state);
	for (uint64_t i = 0; i < 3; i++) {
		tm_emit(tm, 0, submit, AT(100 * i), JOB(0, i), GAME, .e.flags = GRT_FLAG_COMMIT);
		tm_emit(tm, 0, end, AT(100 * i + 50), JOB(0, i), GAME);
		tm_emit(tm, 0, complete, AT(100 * i + 51), JOB(0, i), GAME);
		if (gap && i == 1)
			tm_drop(tm, 0);
		else
			tm_flush(tm, 0, 0);
	}
	tm_close(tm);
}

/* A job of @ms that was over at @end us after 10 s, as one record. */
static void slow_job(struct trace_maker *tm, uint64_t seq, uint64_t end, uint64_t ms)
{
	uint64_t over = 10000 * MS + 1000 * end, begun = over - ms * MS;

	tm_emit(tm, 0, job, AT(end), JOB(0, seq), GAME, .submit = begun - 3000, .commit = begun - 2000,
		.start = begun, .end = over, .complete = over);
}

/*
 * Ten ms in which records tell of what took longer: jobs of a second on a ring, of which one was over
 * before anything was written, and kernels of one on a GPU.
 */
static void slow(void)
{
	struct trace_maker *tm = tm_dir("slow.grt", 1);

	names(tm);
	tm_emit(tm, 0, irq, AT(0));
	slow_job(tm, 1, 1000, 1000);
	slow_job(tm, 2, 4000, 1000);
	slow_job(tm, 3, 9000, 1);
	tm_emit(tm, 0, job, AT(9500), JOB(0, 4), GAME, .submit = 9000 * MS, .commit = 9000 * MS,
		.start = 9000 * MS, .end = 9500 * MS, .complete = 9500 * MS);
	for (uint64_t i = 0; i < 2; i++)
		tm_emit(tm, 0, gpu_kernel, AT(9900 + 100 * i), GAME, .start = (9000 + i) * MS,
			.end = (10002 + i) * MS, .correlation = 1 + (uint32_t)i, .gpu = 1, .context = 2,
			.cuda_stream = 7);
	tm_close(tm);
}

/* Copies of more than any machine has: of ten petabytes, and of what no number holds. */
static void huge(void)
{
	struct trace_maker *tm = tm_dir("huge.grt", 1);

	for (unsigned int i = 1; i <= 4; i++)
		tm_emit(tm, 0, gpu_copy, AT(100 * i), GAME, .start = 10000 * MS + 90000 * i,
			.end = 10000 * MS + 90000 * i + 1000, .correlation = i, .kind = i == 1 ? 1 : 2,
			.bytes = i == 1 ? 10000000000000001 : 1ULL << 63, .gpu = 1);
	tm_close(tm);
}

/* What a program has defined when the time begins that is looked at: its names, its stacks, that it is
 * traced. */
static void rounds_define(struct trace_maker *tm)
{
	tm_name_thread(tm, 71, "render", "game");
	tm_emit(tm, 0, process, AT(0), GAME, .what = 1, .text = 3);
	tm_emit(tm, 0, string, AT(0), GAME, .number = 1, .length = 5, .part = 5, .text = "scale");
	tm_emit(tm, 0, string, AT(0), GAME, .number = 2, .length = 4, .part = 4, .text = "draw");
	tm_emit(tm, 0, string, AT(0), GAME, .number = 3, .length = 4, .part = 4, .text = "game");
	tm_emit(tm, 0, node, AT(0), GAME, .node = 1, .function = 2);
}

/*
 * Five kernels of 5 us, 10 us apart, the first at 12; the thread waits for each, off the CPU. What CUPTI
 * tells of them is written when all is over, at 65.
 */
static void rounds(void)
{
	struct trace_maker *tm = tm_dir("rounds.grt", 1);

	rounds_define(tm);
	for (uint64_t i = 1; i <= 5; i++) {
		uint64_t at = 10000 * MS + 10000 * i;

		tm_emit(tm, 0, launch, AT(10 * i + 1), GAME, .begin = at, .correlation = 2 * i, .node = 1,
			.call = 211);
		tm_emit(tm, 0, off_cpu, AT(10 * i + 8), GAME, .start = at + 2000, .number = i, .user = 1,
			.reason = GRT_THREAD_LOCK, .over = 1);
		tm_emit(tm, 0, launch, AT(10 * i + 9), GAME, .begin = at + 1500, .correlation = 2 * i + 1,
			.node = 1, .call = 165);
	}
	for (uint64_t i = 1; i <= 5; i++)
		tm_emit(tm, 0, gpu_kernel, AT(65), GAME, .start = 10000 * MS + 10000 * i + 2000,
			.end = 10000 * MS + 10000 * i + 7000, .correlation = 2 * i, .name = 1,
			.cuda_stream = 7);
	tm_emit(tm, 0, process, AT(70), GAME, .what = 3, .launches = 10, .gpu_records = 5);
	tm_close(tm);
}

/* Strings and nodes of a rank's process; its pid is 70 + 10 * rank. */
enum { S_FORWARD = 1, S_NCCL, S_ADAM, S_TRAIN, S_TRAIN_PY, S_STEP, S_ADAM_PY };
enum { N_FORWARD = 1, N_TRAIN, N_STEP };

#define RANK(r) .e.pid = 70 + 10 * (r), .e.tid = 70 + 10 * (r)

static void ranks_define(struct trace_maker *tm, uint32_t r)
{
	static const char *const text[] = {
		"forward",   "ncclDevKernel_AllReduce", "adam", "train", "/home/me/train.py",
		"Adam.step", "/torch/optim/adam.py"};

	tm_emit(tm, r, process, AT(0), RANK(r), .what = 1);
	tm_emit(tm, r, rank, AT(0), RANK(r), .rank = r, .world = 2, .local_rank = UINT32_MAX);
	for (uint32_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct grt_ev_string s = {.e.type = GRT_EV_STRING, .e.size = sizeof(s), RANK(r), AT(0)};

		s.number = i + 1;
		s.length = s.part = (uint32_t)strlen(text[i]);
		memcpy(s.text, text[i], s.part);
		tm_event(tm, r, &s.e);
	}
	tm_emit(tm, r, node, AT(0), RANK(r), .node = N_FORWARD, .function = S_TRAIN, .file = S_TRAIN_PY,
		.line = 10);
	tm_emit(tm, r, node, AT(0), RANK(r), .node = N_TRAIN, .function = S_TRAIN, .file = S_TRAIN_PY,
		.line = 12);
	tm_emit(tm, r, node, AT(0), RANK(r), .node = N_STEP, .caller = N_TRAIN, .function = S_STEP,
		.file = S_ADAM_PY, .line = 90);
}

static void ranks_launch(struct trace_maker *tm, uint32_t r, uint64_t at, uint64_t id, uint32_t node)
{
	tm_emit(tm, r, launch, AT(at + 1), RANK(r), .begin = 10000 * MS + at * 1000, .correlation = id,
		.node = node, .call = 211);
}

static void ranks_kernel(struct trace_maker *tm, uint32_t r, uint64_t from, uint64_t to, uint64_t id,
			 uint32_t name)
{
	tm_emit(tm, r, gpu_kernel, AT(1000), RANK(r), .start = 10000 * MS + from * 1000,
		.end = 10000 * MS + to * 1000, .correlation = id, .name = name, .gpu = r,
		.cuda_stream = name == S_NCCL ? 9 : 7);
}

/*
 * Two ranks, six steps of 77 us: 5 us until the first launch, 2 until its kernel, which takes 40; a
 * collective of 10 from when the last one comes, 20 us in an optimizer. Rank 1 begins step 3 by 30 us late.
 */
static void ranks(void)
{
	struct trace_maker *tm = tm_dir("ranks.grt", 2);
	const uint64_t begin[] = {5, 82, 159, 236, 343, 420};

	for (uint32_t r = 0; r < 2; r++) {
		ranks_define(tm, r);
		for (uint64_t i = 0; i < 6; i++) {
			uint64_t at = begin[i] + (r && i == 3 ? 30 : 0);

			ranks_launch(tm, r, at, 3 * i + 1, N_FORWARD);
			ranks_launch(tm, r, at + 2, 3 * i + 2, N_FORWARD);
			ranks_launch(tm, r, at + 4, 3 * i + 3, N_STEP);
		}
		for (uint64_t i = 0; i < 6; i++) {
			uint64_t at = begin[i] + (r && i == 3 ? 30 : 0),
				 all = begin[i] + (i == 3 ? 30 : 0) + 42;

			ranks_kernel(tm, r, at + 2, at + 42, 3 * i + 1, S_FORWARD);
			ranks_kernel(tm, r, at + 42, all + 10, 3 * i + 2, S_NCCL);
			ranks_kernel(tm, r, all + 10, all + 30, 3 * i + 3, S_ADAM);
		}
		tm_emit(tm, r, process, AT(1001), RANK(r), .what = 3, .launches = 18, .gpu_records = 18);
	}
	tm_close(tm);
}

#define BUSY(at, card, id, who, ns)                                                                     \
	tm_emit(tm, 0, counter, AT(at), .e.device = 226 << 20 | (card), .e.pid = (who), .e.tid = (who), \
		.e.ring = GRT_RING_NONE, .counter = (id), .instance = (who), .value = (ns))

static void shares_name(struct trace_maker *tm, uint32_t kind, uint32_t id, const char *name,
			const char *owner)
{
	struct grt_ev_name e = {.e.type = GRT_EV_NAME,
				.e.size = sizeof(e),
				.e.ring = GRT_RING_NONE,
				AT(0),
				.kind = kind,
				.id = id};

	strcpy(e.name, name);
	strcpy(e.owner, owner);
	tm_event(tm, 0, &e.e);
}

static void shares_owner(struct trace_maker *tm, uint32_t pid, uint32_t uid, const char *cgroup)
{
	struct grt_ev_owner e = {.e.type = GRT_EV_OWNER,
				 .e.size = sizeof(e),
				 .e.ring = GRT_RING_NONE,
				 .e.pid = pid,
				 AT(0),
				 .uid = uid};

	e.length = (uint32_t)strlen(cgroup);
	memcpy(e.cgroup, cgroup, e.length);
	tm_event(tm, 0, &e.e);
}

/*
 * Who had the GPUs in 1 ms. card0 has two rings with jobs, one of which runs two at a time: 70 has control
 * from 100 to 400 and from 600 to 700, 80 from 300 to 500; cursor is 80's from 0 to 250. Its counters say the
 * same again. Of card1 there are only counters: 70 gets to 300 us in the engine, 80 to 200, and begins anew.
 */
static void shares(void)
{
	struct trace_maker *tm = tm_dir("shares.grt", 1);

	names(tm);
	shares_name(tm, GRT_NAME_THREAD, 70, "game", "game");
	shares_owner(tm, 70, 1000,
		     "/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/"
		     "cri-containerd-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope");
	shares_owner(tm, 80, 0, "/system.slice/desk.service");
	shares_name(tm, GRT_NAME_RING_GPU, 0, "0000:03:00.0", "card0");
	shares_name(tm, GRT_NAME_RING_GPU, 1, "0000:03:00.0", "card0");
	shares_name(tm, GRT_NAME_DEVICE, 226 << 20, "card0", "softgpu");
	shares_name(tm, GRT_NAME_DEVICE, 226 << 20 | 1, "card1", "other");
	shares_name(tm, GRT_NAME_COUNTER, 1, "busy gfx", "total ns");
	shares_name(tm, GRT_NAME_COUNTER, 2, "busy render", "total ns");
	shares_name(tm, GRT_NAME_COUNTER, 3, "memory vram", "B");
	tm_emit(tm, 0, submit, AT(0), JOB(0, 1), GAME);
	tm_emit(tm, 0, submit, AT(0), JOB(0, 2), DESK);
	tm_emit(tm, 0, submit, AT(0), JOB(0, 3), GAME);
	tm_emit(tm, 0, submit, AT(0), JOB(1, 1), DESK);
	tm_emit(tm, 0, start, AT(0), JOB(1, 1), DESK);
	tm_emit(tm, 0, start, AT(100), JOB(0, 1), GAME);
	BUSY(200, 1, 2, 70, 100000);
	tm_emit(tm, 0, end, AT(250), JOB(1, 1), DESK);
	tm_emit(tm, 0, complete, AT(250), JOB(1, 1), DESK);
	BUSY(260, 1, 2, 80, 150000);
	tm_emit(tm, 0, start, AT(300), JOB(0, 2), DESK);
	tm_emit(tm, 0, end, AT(400), JOB(0, 1), GAME);
	tm_emit(tm, 0, complete, AT(400), JOB(0, 1), GAME);
	BUSY(450, 0, 1, 70, 300000);
	tm_emit(tm, 0, end, AT(500), JOB(0, 2), DESK);
	tm_emit(tm, 0, complete, AT(500), JOB(0, 2), DESK);
	tm_emit(tm, 0, start, AT(600), JOB(0, 3), GAME);
	tm_emit(tm, 0, end, AT(700), JOB(0, 3), GAME);
	tm_emit(tm, 0, complete, AT(700), JOB(0, 3), GAME);
	BUSY(800, 1, 2, 80, 50000);
	BUSY(800, 1, 3, 80, 4096);
	BUSY(900, 1, 2, 70, 300000);
	BUSY(1000, 0, 1, 70, 400000);
	tm_close(tm);
}

/* Stacks of a training program, by the function: the number of each is its place, from 1. */
static const struct {
	const char *function;
	const char *file;
	uint32_t line;
	uint32_t caller;
} ops_node[] = {
	{"<module>", "/home/me/train.py", 5, 0},
	{"Model.forward", "/home/me/model.py", 10, 1},
	{"Module._call_impl", "/opt/torch/nn/modules/module.py", 1786, 2},
	{"Linear.forward", "/opt/torch/nn/modules/linear.py", 125, 3},
	{"at::_ops::linear::call", NULL, 0, 4},
	{"at::_ops::addmm::call", NULL, 0, 5},
	{"at::_ops::addmm::redispatch", NULL, 0, 6},
	{"cublasSgemm_v2", NULL, 0, 7},
	{"cublasLtSSSMatmul", NULL, 0, 8},
	{"at::_ops::add_Tensor::call", NULL, 0, 4},
	{"torch::autograd::Engine::thread_main", NULL, 0, 0},
	{"torch::autograd::generated::AddmmBackward0::apply", NULL, 0, 11},
	{"at::_ops::mm::call", NULL, 0, 12},
	{"cublasSgemm_v2", NULL, 0, 13},
	{"Adam.step", "/opt/torch/optim/adam.py", 200, 1},
	{"at::_ops::_foreach_add__List::call", NULL, 0, 15},
	{"call", "/tmp/torchinductor_me/ab/cab.py", 40, 2},
	{"CachingAutotuner.run", "/opt/torch/_inductor/runtime/triton_heuristics.py", 1200, 17},
	{"at::_ops::mm_out::call", NULL, 0, 17},
	{"JITFunction.run", "/opt/triton/runtime/jit.py", 700, 1},
	{"torch::autograd::Function<Mine>::apply", NULL, 0, 1},
	{"at::_ops::sum_dim_IntList::call", NULL, 0, 21},
	{"at::_ops::copy_::call", NULL, 0, 1},
};

/* What the GPU did: kernel or, without a name, a copy, of 1, 2, 4, ... us: a sum of times says of which they
 * are. */
static const struct {
	uint32_t node;
	const char *kernel;
} ops_work[] = {
	{9, "gemm"},  {9, "gemm"},	 {9, "splitk"},	       {10, "add"},
	{14, "gemm"}, {12, "sum"},	 {16, "multi_tensor"}, {18, "triton_poi_fused_add_0"},
	{19, "gemm"}, {20, "my_kernel"}, {22, "reduce"},       {23, NULL},
	{1, "mine"},
};

#define OPS_NODES (sizeof(ops_node) / sizeof(ops_node[0]))
#define OPS_WORKS (sizeof(ops_work) / sizeof(ops_work[0]))

static void ops_string(struct trace_maker *tm, size_t number, const char *text)
{
	struct grt_ev_string s = {.e.type = GRT_EV_STRING, .e.size = sizeof(s), GAME, AT(0)};

	s.number = (uint32_t)number;
	s.length = s.part = (uint32_t)strlen(text);
	memcpy(s.text, text, s.part);
	tm_event(tm, 0, &s.e);
}

static void ops_define(struct trace_maker *tm)
{
	for (size_t i = 0; i < OPS_NODES; i++) {
		ops_string(tm, 2 * i + 1, ops_node[i].function);
		if (ops_node[i].file)
			ops_string(tm, 2 * i + 2, ops_node[i].file);
		tm_emit(tm, 0, node, AT(0), GAME, .node = (uint32_t)i + 1, .caller = ops_node[i].caller,
			.function = (uint32_t)(2 * i + 1),
			.file = ops_node[i].file ? (uint32_t)(2 * i + 2) : 0, .line = ops_node[i].line);
	}
	for (size_t i = 0; i < OPS_WORKS; i++)
		if (ops_work[i].kernel)
			ops_string(tm, 100 + i, ops_work[i].kernel);
	/* the node of a graph that is launched is a clone of one that was captured in an operator */
	tm_emit(tm, 0, graph_node, AT(0), GAME, .id = 50, .node = 10);
	tm_emit(tm, 0, graph_node, AT(0), GAME, .id = 51, .source = 50);
}

static void ops(void)
{
	struct trace_maker *tm = tm_dir("ops.grt", 1);
	uint64_t end = 10000 * MS;

#define WORK(id) .start = end, .end = end + (1000ULL << (id)), .correlation = (id) + 1, .cuda_stream = 7
	ops_define(tm);
	for (uint32_t i = 0; i < OPS_WORKS; i++)
		tm_emit(tm, 0, launch, AT(i + 1), GAME, .begin = 10000 * MS + 1000 * i, .correlation = i + 1,
			.node = ops_work[i].node, .call = ops_work[i].kernel ? 211 : 31);
	/* of a graph; of a call that failed; and one work nobody has launched */
	tm_emit(tm, 0, launch, AT(20), GAME, .begin = 10000 * MS + 19000, .correlation = 14, .node = 1,
		.call = 311);
	tm_emit(tm, 0, launch, AT(21), GAME, .begin = 10000 * MS + 20000, .correlation = 15, .node = 10,
		.call = 211, .result = 1);
	for (uint32_t i = 0; i < OPS_WORKS; end += 1000ULL << i++)
		if (ops_work[i].kernel)
			tm_emit(tm, 0, gpu_kernel, AT(70000), GAME, WORK(i), .name = 100 + i);
		else
			tm_emit(tm, 0, gpu_copy, AT(70000), GAME, WORK(i), .kind = 1, .bytes = 4096);
	tm_emit(tm, 0, gpu_kernel, AT(70000), GAME, .start = end, .end = end + 8192000, .correlation = 14,
		.name = 103, .graph = 2, .graph_node = 51, .cuda_stream = 7);
	tm_emit(tm, 0, gpu_kernel, AT(70000), GAME, .start = end, .end = end + 16384000, .correlation = 14,
		.name = 103, .graph = 2, .graph_node = 77, .cuda_stream = 7);
	tm_emit(tm, 0, gpu_kernel, AT(70000), GAME, .start = end, .end = end + 32768000, .correlation = 99,
		.name = 103, .cuda_stream = 7);
#undef WORK
	tm_emit(tm, 0, process, AT(70001), GAME, .what = 3, .launches = 15, .gpu_records = 16);
	tm_close(tm);
}

#define FLIP 0xc01864b0
#define SHOWS .e.pid = 70, .e.tid = 71
#define FRAMES_JOB .e.ring = 0, .e.ctx = 100, .e.engine = GRT_ENGINE_GRAPHICS

/* A frame of the game, for which it computes for @work and waits for its loader for @wait, in us. */
static void frame(struct trace_maker *tm, uint64_t at, uint32_t n, uint32_t vseq, uint64_t work,
		  uint64_t wait, uint64_t exec)
{
	uint64_t submit = at + work + wait, end = submit + 200 + exec, shown = 16000 * (uint64_t)vseq;

	tm_emit(tm, 0, asleep, AT(at + work + wait), SHOWS, .start = 10000 * MS + (at + work) * 1000,
		.woken = 10000 * MS + (at + work + wait) * 1000, .number = n, .state = 1,
		.reason = GRT_THREAD_LOCK, .over = 1, .call = 202, .fd = UINT32_MAX, .waker = 75,
		.waker_pid = 70, .by = GRT_WAKER_THREAD, .waker_comm = "loader");
	tm_emit(tm, 0, submit, AT(submit), FRAMES_JOB, SHOWS, .e.seqno = n, .e.flags = GRT_FLAG_COMMIT,
		.cmd = 0x207);
	tm_emit(tm, 0, ioctl_enter, AT(submit + 100), SHOWS, .cmd = FLIP, .fd = 5);
	tm_emit(tm, 0, ioctl_exit, AT(submit + 150), SHOWS, .cmd = FLIP,
		.about = GRT_FLIP_FLAGS | GRT_FLIP_EVENT);
	tm_emit(tm, 0, end, AT(end), FRAMES_JOB, SHOWS, .e.seqno = n);
	tm_emit(tm, 0, complete, AT(end), FRAMES_JOB, SHOWS, .e.seqno = n);
	tm_emit(tm, 0, vblank_delivered, AT(shown), .e.pid = 70, .vseq = vseq, .file = 0x70);
	tm_emit(tm, 0, vblank, AT(shown + 5), .vseq = vseq, .stamp = 10000 * MS + shown * 1000,
		.high_prec = 1);
}

/* Flips at 62.5 Hz, each begun when the one before was shown: one misses two vertical blanks, one a single
 * one. */
static void frames(void)
{
	struct trace_maker *tm = tm_dir("frames.grt", 1);

	names(tm);
	tm_emit(tm, 0, thread, AT(0), SHOWS, .what = GRT_THREAD_SEEN_ON);
	frame(tm, 1000, 1, 1, 2000, 1000, 3000);
	frame(tm, 16000, 2, 2, 2000, 1000, 3000);
	frame(tm, 32000, 3, 3, 2000, 1000, 3000);
	/* it waited for its loader for 40 ms */
	frame(tm, 48000, 4, 6, 2000, 40000, 3000);
	frame(tm, 96000, 5, 7, 2000, 1000, 3000);
	/* its job took 20 ms */
	frame(tm, 112000, 6, 9, 2000, 1000, 20000);
	frame(tm, 144000, 7, 10, 2000, 1000, 3000);
	tm_close(tm);
}

#define TURN_STAMP(us) (10000 * MS + (us)*1000ULL)
#define TURN(cpu, minor, instance, of, from, to)                                                    \
	tm_emit(tm, cpu, gpu_slice, AT(to), .e.ring = GRT_RING_NONE, .e.pid = (of), .e.tid = (of),  \
		.e.device = 195 << 20 | (minor), .start = TURN_STAMP(from), .context = 0x30 + (of), \
		.begin = GRT_SLICE_SWITCH, .over = GRT_SLICE_SWITCH, .mig_gpu = (instance),         \
		.mig_compute = (instance) == 255 ? 255 : 0)

static void turns_define(struct trace_maker *tm, uint32_t pid, const char *bus, const char *bus1)
{
	static const char *const text[] = {"gemm", "relu", "solo", "part", "lonely"};

	tm_emit(tm, 0, process, AT(0), .e.pid = pid, .e.tid = pid, .what = 1);
	for (uint32_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct grt_ev_string s = {
			.e.type = GRT_EV_STRING, .e.size = sizeof(s), .e.pid = pid, .e.tid = pid, AT(0)};

		s.number = i + 1;
		s.length = s.part = (uint32_t)strlen(text[i]);
		memcpy(s.text, text[i], s.part);
		tm_event(tm, 0, &s.e);
	}
	for (uint32_t i = 0; i < 2 && (i ? bus1 : bus); i++) {
		struct grt_ev_device d = {
			.e.type = GRT_EV_DEVICE, .e.size = sizeof(d), .e.pid = pid, .e.tid = pid, AT(0)};
		const char *at = i ? bus1 : bus;

		d.gpu = i;
		d.mig = !strcmp(at, "0000:C8:00.0");
		snprintf(d.bus, sizeof(d.bus), "%s", at);
		snprintf(d.uuid, sizeof(d.uuid), "%s-00000000-0000-0000-0000-0000000000%.2s",
			 d.mig ? "MIG" : "GPU", strchr(at, ':') + 1);
		d.uuid[38] |= 32;
		tm_event(tm, 0, &d.e);
	}
}

static void turns_kernel(struct trace_maker *tm, uint32_t pid, uint32_t gpu, uint32_t stream, uint32_t name,
			 uint64_t called, uint64_t start, uint64_t end)
{
	tm_emit(tm, 0, launch, AT(called + 1), .e.pid = pid, .e.tid = pid, .begin = TURN_STAMP(called),
		.correlation = called, .call = 211);
	tm_emit(tm, 5, gpu_kernel, AT(10000), .e.pid = pid, .e.tid = pid, .start = TURN_STAMP(start),
		.end = TURN_STAMP(end), .correlation = called, .name = name, .gpu = gpu,
		.cuda_stream = stream);
}

/*
 * Four GPUs' worth of slices: two whole GPUs, two instances of a third. Of the waits, in us: gemm 2210 = 2000
 * others + 210, 3050 = 2000 + 1050 behind its own stream, 1610 = 1400 + 210; relu 10 of nothing known; solo
 * on the second GPU 340 = 250 + 90; part on an instance 1050 = 950 + 100; lonely has another pid in the
 * slices.
 */
static void turns(void)
{
	struct trace_maker *tm = tm_dir("turns.grt", 6);

	tm_name_thread(tm, 70, "python3", "python3");
	tm_name_thread(tm, 80, "desk", "desk");
	shares_name(tm, GRT_NAME_DEVICE, 195 << 20 | 0, "nvidia0 0000:c6:00.0", "nvidia");
	shares_name(tm, GRT_NAME_DEVICE, 195 << 20 | 1, "nvidia1 0000:c7:00.0", "nvidia");
	shares_name(tm, GRT_NAME_DEVICE, 195 << 20 | 2, "nvidia2 0000:c8:00.0", "nvidia");
	turns_define(tm, 70, "0000:C6:00.0", "0000:C7:00.0");
	turns_define(tm, 90, "0000:C8:00.0", NULL);
	turns_define(tm, 95, "0000:C6:00.0", NULL);
	TURN(1, 0, 255, 70, 0, 1000);
	TURN(1, 0, 255, 80, 1050, 3050);
	TURN(1, 0, 255, 70, 3100, 5000);
	TURN(1, 0, 255, 80, 5050, 6000);
	TURN(1, 0, 255, 99, 6050, 6500);
	TURN(1, 0, 255, 70, 6550, 9000);
	TURN(2, 1, 255, 70, 0, 100);
	TURN(2, 1, 255, 80, 150, 400);
	TURN(2, 1, 255, 70, 450, 600);
	TURN(3, 2, 1, 90, 0, 500);
	TURN(3, 2, 1, 80, 550, 1500);
	TURN(3, 2, 1, 90, 1550, 2000);
	TURN(4, 2, 2, 99, 0, 2000);
	turns_kernel(tm, 70, 0, 9, 2, 100, 110, 200);
	turns_kernel(tm, 70, 1, 7, 3, 120, 460, 500);
	turns_kernel(tm, 90, 0, 7, 4, 510, 1560, 1600);
	turns_kernel(tm, 70, 0, 7, 1, 900, 3110, 4000);
	turns_kernel(tm, 70, 0, 7, 1, 950, 4000, 4900);
	turns_kernel(tm, 95, 0, 7, 5, 1000, 2000, 2100);
	turns_kernel(tm, 70, 0, 7, 1, 4950, 6560, 6600);
	tm_close(tm);
}

static void sampled_pc(struct trace_maker *tm, uint64_t at, uint32_t function, uint64_t offset,
		       uint32_t reason, uint32_t samples)
{
	tm_emit(tm, 0, pc_sample, AT(at), GAME, .begin = TURN_STAMP(at - 1), .end = TURN_STAMP(at),
		.cubin = 77, .offset = offset, .function = function, .reason = reason, .samples = samples);
}

/*
 * PC samples of three functions. gemm was launched by fast for 30 us in two pieces, and by slow for 10: of 40
 * samples at line 12 that wait for memory 30 and 10, of 5 that issue 3 and 2, of 3 at a barrier at line 20 2
 * and 1, and 1 of them came late. norm was launched by slow alone; helper is no kernel, and its code has no
 * lines.
 */
static void samples(void)
{
	char path[4096 + 8] = "";
	const char *const text[] = {"gemm",
				    "norm",
				    "helper",
				    "fast",
				    "slow",
				    path,
				    "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
				    "smsp__pcsamp_warps_issue_stalled_selected",
				    "smsp__pcsamp_warps_issue_stalled_barrier"};
	enum { GEMM = 1, NORM, HELPER, FAST, SLOW, FILE_K, REASONS };
	const uint32_t ns[][4] = {{FAST, GEMM, 100, 110},
				  {SLOW, GEMM, 120, 130},
				  {FAST, GEMM, 140, 160},
				  {SLOW, NORM, 170, 175}};
	struct trace_maker *tm = tm_dir("samples.grt", 1);

	if (getcwd(path, sizeof(path) - 8))
		strcat(path, "/k.cu");
	tm_emit(tm, 0, process, AT(0), GAME, .what = 1);
	for (uint32_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct grt_ev_string s = {.e.type = GRT_EV_STRING, .e.size = sizeof(s), GAME, AT(0)};

		s.number = i + 1;
		s.length = s.part = (uint32_t)strlen(text[i]);
		memcpy(s.text, text[i], s.part);
		tm_event(tm, 0, &s.e);
	}
	for (uint32_t i = 0; i < 2; i++)
		tm_emit(tm, 0, node, AT(0), GAME, .node = 1 + i, .function = FAST + i);
	for (uint32_t i = 0; i < 3; i++)
		tm_emit(tm, 0, stall_reason, AT(0), GAME, .number = i, .name = REASONS + i);
	for (uint32_t i = 0; i < 2; i++)
		tm_emit(tm, 0, pc_line, AT(0), GAME, .cubin = 77, .offset = 16 * i, .function = GEMM,
			.file = FILE_K, .line = i ? 20 : 12);
	tm_emit(tm, 0, pc_line, AT(0), GAME, .cubin = 77, .offset = 64, .function = NORM, .file = FILE_K,
		.line = 12);
	for (uint32_t i = 0; i < 4; i++)
		tm_emit(tm, 0, launch, AT(i + 1), GAME, .begin = TURN_STAMP(i), .correlation = i + 1,
			.node = ns[i][0] - FAST + 1, .call = 211);
	for (uint32_t i = 0; i < 4; i++)
		tm_emit(tm, 0, gpu_kernel, AT(300 + i), GAME, .start = TURN_STAMP(ns[i][2]),
			.end = TURN_STAMP(ns[i][3]), .correlation = i + 1, .name = ns[i][1],
			.cuda_stream = 7);
	sampled_pc(tm, 310, GEMM, 0, 0, 40);
	sampled_pc(tm, 310, GEMM, 0, 1, 5);
	sampled_pc(tm, 310, GEMM, 16, 2, 2);
	sampled_pc(tm, 310, NORM, 64, 0, 6);
	sampled_pc(tm, 310, HELPER, 32, 2, 4);
	tm_emit(tm, 0, pc_count, AT(310), GAME, .begin = TURN_STAMP(309), .end = TURN_STAMP(310), .total = 60,
		.dropped = 2, .other = 1);
	sampled_pc(tm, 400, GEMM, 16, 2, 1);
	tm_close(tm);
}

int main(void)
{
	samples();
	turns();
	virtio();
	drm();
	sampled();
	rates("rates.grt", false);
	rates("whole.grt", true);
	aggregated();
	few("unfinished.grt", "recording", false);
	few("gap.grt", "complete", true);
	slow();
	huge();
	rounds();
	ranks();
	ops();
	shares();
	frames();
	tm_close(tm_dir("empty.grt", 1));
	return 0;
}
