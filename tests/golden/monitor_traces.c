// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the traces of tests/golden/monitor into the working directory. Small
 * ones, so that each number of the expected statistics can be checked by hand.
 */
#include "../unit/trace_maker.h"

#define MS 1000000ULL

/* Jobs are given their ring's context and a stamp in us after 10 s. */
#define AT(us) .e.time = 10000 * MS + (us)*1000ULL
#define JOB(r, seq) \
	.e.ring = (r), .e.ctx = 100 + (r), .e.seqno = (seq), .e.device = 226, .e.engine = GRT_ENGINE_GRAPHICS
#define GAME .e.pid = 70, .e.tid = 71
#define DESK .e.pid = 80, .e.tid = 80
#define OTHER .e.ring = 0, .e.ctx = 110, .e.seqno = 1, .e.device = 226, .e.engine = GRT_ENGINE_GRAPHICS
#define NO_RING .e.ring = GRT_RING_NONE

static void names(struct trace_maker *tm, const char *driver)
{
	tm_name_ring(tm, 0, "gfx", driver);
	tm_name_ring(tm, 1, "sdma0", driver);
	tm_name_thread(tm, 71, "render", "game");
	/* what a program can call itself: a title for the terminal, a quote, a comma, half a character */
	tm_name_thread(tm, 80, "a\033]0;b\a\"c,\xc3", "desk");
}

/* A driver under the DRM scheduler, with dependencies between its rings and on a foreign fence. */
static void drm(void)
{
	struct trace_maker *tm = tm_dir("drm.grt", 2);

	names(tm, "amdgpu");
	tm_emit(tm, 0, submit, AT(0), JOB(0, 1), GAME, .cmd = 1);
	tm_emit(tm, 0, submit, AT(1), JOB(1, 1), GAME, .cmd = 1);
	/* waits 99 us for job 100:1 */
	tm_emit(tm, 0, wait_dep, AT(2), JOB(1, 1), GAME, .dep_ctx = 100, .dep_seqno = 1);
	/* met again while it waits: the same wait */
	tm_emit(tm, 0, wait_dep, AT(3), JOB(1, 1), GAME, .dep_ctx = 100, .dep_seqno = 1);
	tm_emit(tm, 0, commit, AT(4), JOB(0, 1), GAME, .sw_depth = 3, .hw_depth = 1);
	tm_emit(tm, 0, start, AT(10), JOB(0, 1), GAME);
	tm_emit(tm, 1, end, AT(100), JOB(0, 1), GAME);
	tm_emit(tm, 1, complete, AT(101), JOB(0, 1), GAME);
	tm_emit(tm, 0, commit, AT(121), JOB(1, 1), GAME, .sw_depth = 0, .hw_depth = 2);
	/* signalled already: no time */
	tm_emit(tm, 0, submit, AT(130), JOB(0, 2), DESK, .cmd = 2);
	tm_emit(tm, 0, wait_dep, AT(131), JOB(0, 2), DESK, .dep_ctx = 100, .dep_seqno = 1,
		.e.flags = GRT_FLAG_SIGNALLED);
	/* without the flag, but its signal is in the trace */
	tm_emit(tm, 0, wait_dep, AT(132), JOB(0, 2), DESK, .dep_ctx = 100, .dep_seqno = 1);
	/* a foreign fence, whose context says the ring where the event does not */
	tm_emit(tm, 0, wait_dep, AT(133), .e.ctx = 100, .e.seqno = 2, NO_RING, .dep_ctx = 7, .dep_seqno = 9);
	tm_emit(tm, 0, sync_wait_enter, AT(134), JOB(0, 2), DESK);
	tm_emit(tm, 1, fence, AT(333), .e.ctx = 7, .e.seqno = 9, NO_RING, .waiters = 1);
	tm_emit(tm, 0, commit, AT(340), JOB(0, 2), DESK, .sw_depth = 0, .hw_depth = 1);
	/* another process's job, behind which it runs */
	tm_emit(tm, 0, submit, AT(341), OTHER, GAME, .cmd = 1);
	tm_emit(tm, 0, commit, AT(342), OTHER, GAME, .sw_depth = 0, .hw_depth = 2);
	tm_emit(tm, 1, end, AT(400), JOB(1, 1), GAME);
	tm_emit(tm, 1, complete, AT(402), JOB(1, 1), GAME);
	tm_emit(tm, 1, end, AT(450), OTHER, GAME);
	tm_emit(tm, 1, complete, AT(451), OTHER, GAME);
	tm_emit(tm, 1, end, AT(500), JOB(0, 2), DESK);
	tm_emit(tm, 1, error, AT(500), JOB(0, 2), DESK, .status = -62, .code = 0);
	tm_emit(tm, 1, complete, AT(503), JOB(0, 2), DESK, .status = -62);
	tm_emit(tm, 1, sync_wait_exit, AT(510), JOB(0, 2), DESK);
	/* not signalled at the end of the trace */
	tm_emit(tm, 1, submit, AT(600), JOB(1, 2), GAME, .cmd = 1);
	tm_emit(tm, 1, wait_dep, AT(601), JOB(1, 2), GAME, .dep_ctx = 8, .dep_seqno = 1);
	tm_fate(tm, 1, GRT_FATE_LOST, 5);
	tm_close(tm);
}

/* amdgpu: memory and interrupts; the trace is 2 s long. */
static void amdgpu(void)
{
	struct trace_maker *tm = tm_dir("amdgpu.grt", 1);

	names(tm, "amdgpu");
	tm_emit(tm, 0, mem_create, AT(0), GAME, NO_RING, .object = 0x1000, .bytes = 4096, .wanted = 4,
		.allowed = 6, .placed = 2, .mflags = 1);
	tm_emit(tm, 0, mem_create, AT(10), GAME, NO_RING, .object = 0x2000, .bytes = 8192, .wanted = 4,
		.allowed = 6, .placed = 1);
	tm_emit(tm, 0, mem_create, AT(20), DESK, NO_RING, .object = 0x3000, .bytes = 100, .wanted = 2,
		.placed = 0xffffffff, .mflags = 5);
	tm_emit(tm, 0, mem_move, AT(30), GAME, NO_RING, .object = 0x9000, .bytes = 3000000, .from = 2,
		.to = 1);
	tm_emit(tm, 0, mem_move, AT(40), GAME, NO_RING, .object = 0x9001, .bytes = 1000000, .from = 2,
		.to = 1);
	tm_emit(tm, 0, mem_move, AT(50), GAME, NO_RING, .object = 0x2000, .bytes = 0, .from = 1, .to = 2);
	tm_emit(tm, 0, mem_move, AT(60), GAME, NO_RING, .object = 0x9002, .bytes = 0, .from = 0, .to = 9);
	for (uint64_t i = 0; i < 7; i++)
		tm_emit(tm, 0, irq, AT(100 + i), NO_RING, .source = GRT_IRQ_SOURCE(20, 181), .hw_ring = 36,
			.vmid = 3, .pasid = 32770);
	tm_emit(tm, 0, irq, AT(200), NO_RING, .source = GRT_IRQ_SOURCE(0x77, 1));
	/* of another ring; then one of which nothing is known */
	tm_emit(tm, 0, irq, AT(201), NO_RING, .source = GRT_IRQ_SOURCE(0x77, 1), .hw_ring = 5);
	tm_emit(tm, 0, irq, AT(202), NO_RING, .source = UINT32_MAX, .data = UINT32_MAX, .hw_ring = UINT16_MAX,
		.vmid = UINT16_MAX, .pasid = UINT32_MAX);
	/* submit to run: 50, 100 (not over) and 100.001 us */
	tm_emit(tm, 0, submit, AT(300), JOB(0, 1), GAME, .cmd = 1);
	tm_emit(tm, 0, commit, AT(350), JOB(0, 1), GAME);
	tm_emit(tm, 0, submit, AT(400), JOB(0, 2), GAME, .cmd = 4);
	tm_emit(tm, 0, commit, AT(500), JOB(0, 2), GAME);
	tm_emit(tm, 0, submit, AT(600), JOB(0, 3), GAME, .cmd = 4);
	tm_emit(tm, 0, commit, AT(700) + 1, JOB(0, 3), GAME);
	tm_emit(tm, 0, complete, AT(2000000), JOB(0, 1), GAME);
	tm_close(tm);
}

/* A process that moves for 1 ms of 10 s: rates are of the 10 s, whether it is asked for or not. */
static void moves(void)
{
	struct trace_maker *tm = tm_dir("moves.grt", 1);

	names(tm, "amdgpu");
	tm_emit(tm, 0, submit, AT(0), JOB(0, 1), GAME, .cmd = 1);
	tm_emit(tm, 0, mem_move, AT(5000000), DESK, NO_RING, .object = 1, .bytes = 1000000, .from = 1,
		.to = 2);
	tm_emit(tm, 0, mem_move, AT(5001000), DESK, NO_RING, .object = 1, .bytes = 1000000, .from = 1,
		.to = 2);
	tm_emit(tm, 0, complete, AT(10000000), JOB(0, 1), GAME);
	tm_close(tm);
}

static void i915(void)
{
	struct trace_maker *tm = tm_dir("i915.grt", 1);

	tm_name_ring(tm, 0, "rcs0", "i915");
	tm_name_thread(tm, 71, "render", "game");
	tm_emit(tm, 0, mem_create, AT(0), GAME, NO_RING, .object = 0xa000, .bytes = 65536,
		.placed = 0xffffffff);
	tm_emit(tm, 0, mem_create, AT(100), GAME, NO_RING, .object = 0xb000, .bytes = 4096,
		.placed = 0xffffffff);
	for (uint64_t i = 0; i < 3; i++) {
		tm_emit(tm, 0, mem_bind, AT(200 + 10 * i), GAME, NO_RING, .object = 0xb000, .vm = 0x11,
			.offset = 0x100000, .bytes = 4096, .mflags = 4);
		tm_emit(tm, 0, mem_unbind, AT(205 + 10 * i), GAME, NO_RING, .object = 0xb000, .vm = 0x11,
			.offset = 0x100000, .bytes = 4096);
	}
	tm_emit(tm, 0, mem_bind, AT(300), GAME, NO_RING, .object = 0xa000, .vm = 0x11, .offset = 0x200000,
		.bytes = 65536);
	/* created before the trace: its size is not known, its bindings are */
	tm_emit(tm, 0, mem_bind, AT(310), GAME, NO_RING, .object = 0xc000, .vm = 0x11, .bytes = 4096);
	tm_emit(tm, 0, mem_bind, AT(320), GAME, NO_RING, .object = 0xc000, .vm = 0x22, .bytes = 4096);
	tm_emit(tm, 0, mem_destroy, AT(330), GAME, NO_RING, .object = 0xc000);
	tm_emit(tm, 0, mem_fault, AT(340), GAME, NO_RING, .object = 0xa000, .page = 1, .gtt = 1,
		.writing = 1);
	tm_emit(tm, 0, mem_fault, AT(341), GAME, NO_RING, .object = 0xa000, .page = 2, .gtt = 1,
		.writing = 1);
	tm_emit(tm, 0, mem_fault, AT(342), GAME, NO_RING, .object = 0xa000, .page = 3, .gtt = 0,
		.writing = 0);
	tm_emit(tm, 0, mem_shrink, AT(400), GAME, NO_RING, .target = 128, .mflags = 3);
	tm_emit(tm, 0, mem_shrink, AT(401), GAME, NO_RING, .target = 64, .mflags = 3);
	/* 50 ms later: another slice of the time */
	tm_emit(tm, 0, mem_destroy, AT(50000), DESK, NO_RING, .object = 0xa000);
	/* a job whose START nobody tells */
	tm_emit(tm, 0, submit, AT(50010), JOB(0, 1), GAME);
	tm_emit(tm, 0, commit, AT(50020), JOB(0, 1), GAME);
	tm_emit(tm, 0, end, AT(50120), JOB(0, 1), GAME);
	tm_emit(tm, 0, complete, AT(50121), JOB(0, 1), GAME);
	tm_close(tm);
}

/* 60 frames/s on CRTC 0, with two missed; a slow client and a page flip. */
static void vblank(void)
{
	struct trace_maker *tm = tm_dir("vblank.grt", 1);
	uint64_t frame = 16666667;

	for (uint32_t i = 0; i < 10; i++) {
		uint64_t stamp = 10000 * MS + i * frame;

		if (i == 4 || i == 5)
			continue;
		tm_emit(tm, 0, vblank, .e.time = stamp + 5000, NO_RING, .crtc = 0, .vseq = 1000 + i,
			.stamp = stamp, .high_prec = i != 9);
		/* asked for after frame 2, delivered 1.5 ms after frame 3 began */
		if (i == 2)
			tm_emit(tm, 0, vblank_queued, .e.time = stamp + MS, GAME, NO_RING, .crtc = 0,
				.vseq = 1003, .file = 0xf1);
		if (i == 3)
			tm_emit(tm, 0, vblank_delivered, .e.time = stamp + 1500000, NO_RING, .crtc = 0,
				.vseq = 1003, .file = 0xf1);
		/* nobody asked for it: a page flip, 10 us after the frame */
		if (i == 7)
			tm_emit(tm, 0, vblank_delivered, .e.time = stamp + 10000, NO_RING, .crtc = 0,
				.vseq = 1007, .file = 0xf2);
	}
	tm_emit(tm, 0, vblank_queued, .e.time = 10200 * MS, GAME, NO_RING, .crtc = 0, .vseq = 2000,
		.file = 0xf1);
	/* a driver without vertical blanks */
	tm_emit(tm, 0, vblank_delivered, .e.time = 10201 * MS, NO_RING, .crtc = 1, .vseq = 0, .file = 0xf3);
	tm_close(tm);
}

static void virtio(void)
{
	struct trace_maker *tm = tm_dir("virtio.grt", 1);

	tm_name_ring(tm, 0, "control", "virtio_gpu");
	tm_name_thread(tm, 71, "render", "game");
	for (uint64_t i = 0; i < 5; i++) {
		tm_emit(tm, 0, submit, AT(100 * i), JOB(0, i + 1), GAME, .e.flags = GRT_FLAG_COMMIT,
			.cmd = 0x207);
		tm_emit(tm, 0, end, AT(100 * i + 50), JOB(0, i + 1), GAME, .reply = 0x1100);
		tm_emit(tm, 0, complete, AT(100 * i + 51), JOB(0, i + 1), GAME);
	}
	tm_emit(tm, 0, command, AT(600), .e.ring = 0, .e.device = 226, GAME, .cmd = 0x104);
	tm_emit(tm, 0, command, AT(601), .e.ring = 0, .e.device = 226, GAME, .cmd = 0x104);
	tm_emit(tm, 0, command, AT(602), .e.ring = 0, .e.device = 226, GAME, .cmd = 0x999);
	tm_emit(tm, 0, error, AT(610), .e.ring = 0, .e.device = 226, GAME, .status = -22, .code = 0x1203);
	tm_close(tm);
}

#define NV0 .e.device = 195 << 20
#define IOCTL(us, fd_, took)                                                                             \
	do {                                                                                             \
		tm_emit(tm, 0, ioctl_enter, AT(us), GAME, NO_RING, NV0, .cmd = 0xc020462a, .fd = (fd_)); \
		tm_emit(tm, 0, ioctl_exit, AT((us) + (took)), GAME, NO_RING, NV0, .cmd = 0xc020462a,     \
			.about = 0xa06c0101);                                                            \
	} while (0)

/* What they are about, and what the driver says. */
static void nv_ioctls(struct trace_maker *tm)
{
	struct grt_ev_name uvm = {
		.e = {.time = 10000 * MS + 119000, .type = GRT_EV_NAME, .size = sizeof(uvm)},
		.kind = GRT_NAME_DEVICE,
		.id = 511 << 20,
		.name = "nvidia-uvm",
		.owner = "nvidia"};

	tm_event(tm, 0, &uvm.e);
	tm_emit(tm, 0, ioctl_exit, AT(120), GAME, NO_RING, NV0, .cmd = 0xc030462b, .about = 0xa06c);
	tm_emit(tm, 0, ioctl_exit, AT(121), GAME, NO_RING, NV0, .cmd = 0xc030462b, .about = 0xeeee,
		.status = 0x22);
	tm_emit(tm, 0, ioctl_exit, AT(122), GAME, NO_RING, NV0, .cmd = 0xc020462a, .about = 0x20801234,
		.status = 0x77);
	tm_emit(tm, 0, ioctl_exit, AT(123), GAME, NO_RING, NV0, .cmd = 0xc020462a, .ret = -14,
		.about = UINT32_MAX, .status = UINT32_MAX);
	tm_emit(tm, 0, ioctl_exit, AT(124), GAME, NO_RING, .e.device = 511 << 20, .cmd = 51, .status = 0x1f);
	tm_emit(tm, 0, ioctl_exit, AT(125), GAME, NO_RING, NV0, .cmd = 51);
}

static void nvidia(void)
{
	struct trace_maker *tm = tm_dir("nvidia.grt", 1);
	struct grt_ev_name device = {.e = {.time = 10000 * MS, .type = GRT_EV_NAME, .size = sizeof(device)},
				     .kind = GRT_NAME_DEVICE,
				     .id = 195 << 20,
				     .name = "nvidia0 0000:c6:00.0",
				     .owner = "nvidia"};

	tm_name_thread(tm, 71, "train", "python3");
	tm_name_thread(tm, 80, "a\033]0;b\a\"c,\xc3", "desk");
	tm_event(tm, 0, &device.e);
	tm_emit(tm, 0, open, AT(0), GAME, NO_RING, NV0, .fd = 5, .oflags = 2);
	tm_emit(tm, 0, open, AT(1), GAME, NO_RING, NV0, .fd = 6, .oflags = 2);
	tm_emit(tm, 0, open, AT(2), DESK, NO_RING, NV0, .fd = -13, .oflags = 2);
	for (uint64_t i = 0; i < 7; i++)
		IOCTL(10 + 10 * i, 5, 2);
	tm_emit(tm, 0, ioctl_enter, AT(90), GAME, NO_RING, NV0, .cmd = 1, .fd = 5);
	tm_emit(tm, 0, ioctl_exit, AT(91), GAME, NO_RING, NV0, .cmd = 1, .ret = -22);
	/* entered before the trace */
	tm_emit(tm, 0, ioctl_exit, AT(95), DESK, NO_RING, NV0, .cmd = 2);
	tm_emit(tm, 0, mmap, AT(100), GAME, NO_RING, NV0, .addr = 0x7f0000000000, .length = 65536);
	tm_emit(tm, 0, poll, AT(101), GAME, NO_RING, NV0, .fd = 5, .events = 1);
	tm_emit(tm, 0, close, AT(110), GAME, NO_RING, NV0, .fd = 6);
	/* opened before the trace */
	tm_emit(tm, 0, close, AT(111), DESK, NO_RING, NV0, .fd = 9);
	nv_ioctls(tm);
	tm_emit(tm, 0, xid, AT(200), GAME, NO_RING, .code = 31, .bus = 0xc600,
		.text = "Ch 00000008, \033[31mfault\n");
	tm_emit(tm, 0, xid, AT(201), NO_RING, .code = 79, .bus = 1 << 16 | 0xc6 << 8);
	tm_emit(tm, 0, xid, AT(202), NO_RING, .code = 9999, .bus = 0xc600, .text = "\"new\"");
	tm_emit(tm, 0, xid, AT(203), GAME, NO_RING, .code = 31, .bus = 0xc600, .text = "again");
	tm_close(tm);
}

/* Rings of three drivers in one trace. */
static void fence(void)
{
	struct trace_maker *tm = tm_dir("fence.grt", 1);
	static const char *const driver[] = {"nouveau", "xe", "amdgpu"};

	struct grt_ev_name device = {.e = {.time = 9000 * MS, .type = GRT_EV_NAME, .size = sizeof(device)},
				     .kind = GRT_NAME_DEVICE,
				     .id = 226 << 20 | 128,
				     .name = "renderD128",
				     .owner = "amdgpu"};

	for (uint32_t ring = 0; ring < 3; ring++)
		tm_name_ring(tm, ring, "ch", driver[ring]);
	tm_name_thread(tm, 71, "render", "game");
	tm_event(tm, 0, &device.e);
	tm_emit(tm, 0, ioctl_enter, .e.time = 9000 * MS, GAME, NO_RING, .e.device = 226 << 20 | 128,
		.cmd = 0xc0186444, .fd = 4);
	tm_emit(tm, 0, ioctl_exit, .e.time = 9001 * MS, GAME, NO_RING, .e.device = 226 << 20 | 128,
		.cmd = 0xc0186444);
	for (uint64_t i = 0; i < 6; i++) {
		uint32_t ring = (uint32_t)i % 3;

		tm_emit(tm, 0, submit, AT(100 * i), JOB(ring, i + 1), GAME, .e.flags = GRT_FLAG_COMMIT);
		tm_emit(tm, 0, end, AT(100 * i + 70), JOB(ring, i + 1), .e.flags = GRT_FLAG_INFERRED);
		/* its ring is known of its context only */
		tm_emit(tm, 0, complete, AT(100 * i + 70), .e.ctx = 100 + ring, .e.seqno = i + 1, NO_RING);
	}
	tm_close(tm);
}

/* Counters of a device and of a process, the stamps in ms after 10 s; see tests/golden/monitor/power.txt. */
#define COUNTER(ms, id, number, ...)                                                            \
	tm_emit(tm, 0, counter, AT((ms)*1000), NO_RING, .e.device = 226 << 20, .counter = (id), \
		.value = (number), __VA_ARGS__)

static void name(struct trace_maker *tm, uint32_t kind, uint32_t id, const char *text, const char *owner)
{
	struct grt_ev_name ev = {
		.e = {.time = 9000 * MS, .type = GRT_EV_NAME, .size = sizeof(ev)}, .kind = kind, .id = id};

	snprintf(ev.name, sizeof(ev.name), "%s", text);
	snprintf(ev.owner, sizeof(ev.owner), "%s", owner);
	tm_event(tm, 0, &ev.e);
}

#define US(us) (10000 * MS + (us)*1000ULL)
#define SLICE(of, context_, from, to, begin_, over_)                                                \
	tm_emit(tm, 0, gpu_slice, AT(to), NO_RING, .e.pid = (of), .e.tid = (of), .e.device = 195 << 20, \
		.start = US(from), .context = (context_), .begin = GRT_SLICE_##begin_,                  \
		.over = GRT_SLICE_##over_, .mig_gpu = 255, .mig_compute = 255)

/*
 * Two processes on one GPU, in us: python3 has it for 2000 + 2000, desk for 2000, for 2000 in two parts, and
 * for 1000 until the recording ends. Three switches of 80; 10000 are nobody's; after a record that is lost 3000
 * are unknown. Together 22240.
 */
static void slices(void)
{
	struct trace_maker *tm = tm_dir("slices.grt", 1);

	tm_name_thread(tm, 70, "python3", "python3");
	tm_name_thread(tm, 80, "desk", "desk");
	name(tm, GRT_NAME_DEVICE, 195 << 20, "nvidia0 0000:c6:00.0", "nvidia");
	SLICE(70, 0x34, 0, 2000, SWITCH, SWITCH);
	SLICE(80, 0x35, 2080, 4080, SWITCH, SWITCH);
	SLICE(70, 0x34, 4160, 6160, SWITCH, SWITCH);
	SLICE(80, 0x35, 16160, 17160, SWITCH, GOES_ON);
	SLICE(80, 0x35, 17160, 18160, GOES_ON, SWITCH);
	SLICE(70, 0x34, 18240, 18240, SWITCH, LOST);
	SLICE(80, 0x35, 21240, 22240, SWITCH, CUT);
	tm_close(tm);
}

static void power(void)
{
	struct trace_maker *tm = tm_dir("power.grt", 1);

	tm_name_thread(tm, 70, "game", "game");
	name(tm, GRT_NAME_DEVICE, 226 << 20, "card0", "amdgpu");
	name(tm, GRT_NAME_COUNTER, 1, "power", "uW");
	name(tm, GRT_NAME_COUNTER, 2, "busy gfx", "total ns");
	name(tm, GRT_NAME_COUNTER, 3, "memory \033[31mvram", "B");
	/*
	 * Power: 10 W for 100 ms, 20 W for 300 ms, 17.5 W; then it is gone. Busy: for 50 of 100 ms, then for
	 * 100 of 300 ms: 37.5 %. One value is its mean, and a counter without a name has no unit.
	 */
	COUNTER(0, 1, 10000000, .instance = 0);
	COUNTER(0, 2, 7000000000, .instance = 70, .e.pid = 70, .e.tid = 70);
	COUNTER(100, 1, 20000000, .instance = 0);
	COUNTER(100, 2, 7050000000, .instance = 70, .e.pid = 70, .e.tid = 70);
	COUNTER(400, 1, 20000000, .e.flags = GRT_FLAG_ENDED);
	COUNTER(400, 2, 7150000000, .instance = 70, .e.pid = 70, .e.tid = 70, .e.flags = GRT_FLAG_INFERRED);
	COUNTER(400, 3, 1073741824, .instance = 0);
	COUNTER(400, 4, -5, .instance = 0);
	tm_close(tm);
}

int main(void)
{
	drm();
	amdgpu();
	moves();
	i915();
	vblank();
	virtio();
	nvidia();
	fence();
	slices();
	power();
	tm_close(tm_dir("empty.grt", 1));
	return 0;
}
