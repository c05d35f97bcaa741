// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the traces of tests/golden/merge and tests/golden/annotate into the
 * working directory: what a CPU asked for (cpu.grt), what a GPU did (gpu.grt),
 * and the same with its clock elsewhere (shifted.grt).
 */
#include "../unit/trace_maker.h"

#define MS 1000000ULL

/* Stamps are in us after 10 s. */
#define AT(us) .e.time = 10000 * MS + (uint64_t)((us)*1000)
#define JOB(r, seq) \
	.e.ring = (r), .e.ctx = 0x10 + (r), .e.seqno = (seq), .e.device = 226, .e.engine = GRT_ENGINE_GRAPHICS
#define GAME .e.pid = 70, .e.tid = 71
#define DESK .e.pid = 80, .e.tid = 80
#define NODE .e.ring = GRT_RING_NONE, .e.device = 226U << 20 | 128

#define EXECBUFFER 0xc0406442U /* DRM_IOCTL_VIRTGPU_EXECBUFFER */
#define WAIT 0xc0086448U       /* DRM_IOCTL_VIRTGPU_WAIT */
#define CLOSE 0x40086409U      /* DRM_IOCTL_GEM_CLOSE */

static void name(struct trace_maker *tm, uint32_t kind, uint32_t id, uint64_t us, const char *text,
		 const char *owner)
{
	struct grt_ev_name n = {
		.e.type = GRT_EV_NAME,
		.e.size = sizeof(n),
		.e.time = 10000 * MS + us * 1000,
		.e.ring = GRT_RING_NONE,
		.kind = kind,
		.id = id,
	};

	snprintf(n.name, sizeof(n.name), "%s", text);
	snprintf(n.owner, sizeof(n.owner), "%s", owner);
	tm_event(tm, 0, &n.e);
}

static void threads(struct trace_maker *tm)
{
	tm_name_thread(tm, 71, "my game", "game");
	/* what a program can call itself: a line and keys of its own, a title for the terminal, half a
	 * character */
	tm_name_thread(tm, 80, "a\n[1.0] b=1, c \\\033\xc3", "desk");
}

static void cpu(void)
{
	struct trace_maker *tm = tm_dir("cpu.grt", 1);

	threads(tm);
	name(tm, GRT_NAME_DEVICE, 226U << 20 | 128, 0, "renderD128", "virtio_gpu");
	tm_emit(tm, 0, open, AT(0), GAME, NODE, .fd = 5, .oflags = 2);
	/* it was inside when the trace began */
	tm_emit(tm, 0, ioctl_exit, AT(5), DESK, NODE, .cmd = CLOSE);
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int t = 100 * i;

		tm_emit(tm, 0, ioctl_enter, AT(t + 10), GAME, NODE, .cmd = EXECBUFFER, .fd = 5,
			.arg = 0x7ffe00001000 + i);
		tm_emit(tm, 0, ioctl_exit, AT(t + 20.5), GAME, NODE, .cmd = EXECBUFFER);
		tm_emit(tm, 0, ioctl_enter, AT(t + 30), GAME, NODE, .cmd = WAIT, .fd = 5,
			.arg = 0x7ffe00002000);
		tm_emit(tm, 0, ioctl_enter, AT(t + 35), DESK, NODE, .cmd = CLOSE, .fd = 3);
		tm_emit(tm, 0, ioctl_exit, AT(t + 36), DESK, NODE, .cmd = CLOSE, .ret = -22);
		tm_emit(tm, 0, ioctl_exit, AT(t + 75), GAME, NODE, .cmd = WAIT);
	}
	tm_emit(tm, 0, mmap, AT(400), GAME, NODE, .addr = 0x7f0000000000, .length = 8192);
	tm_emit(tm, 0, close, AT(410), GAME, NODE, .fd = 5);
	/* it is inside when the trace ends */
	tm_emit(tm, 0, ioctl_enter, AT(420), DESK, NODE, .cmd = 0xdeadbeef, .fd = 3);
	tm_close(tm);
}

static void life(struct trace_maker *tm, unsigned int i, double by)
{
	double t = 100 * i + by;

	tm_emit(tm, 0, submit, AT(t + 14.25), GAME, JOB(0, i + 1), .cmd = 0x207, .fence_id = i + 100);
	tm_emit(tm, 0, commit, AT(t + 15), GAME, JOB(0, i + 1), .sw_depth = 1, .hw_depth = i);
	tm_emit(tm, 0, start, AT(t + 17), GAME, JOB(0, i + 1));
	tm_emit(tm, 0, irq, AT(t + 60), GAME, JOB(0, i + 1), .source = 181, .data = 0xff);
	tm_emit(tm, 0, end, AT(t + 60.125), GAME, JOB(0, i + 1), .reply = 0x1100);
	tm_emit(tm, 0, complete, AT(t + 62), GAME, JOB(0, i + 1), .status = i == 2 ? -5 : 0);
}

static void gpu(const char *path, double by)
{
	struct trace_maker *tm = tm_dir(path, 1);

	threads(tm);
	tm_name_ring(tm, 0, "control", "virtio_gpu");
	tm_name_ring(tm, 1, "ring=x, y", "virtio_gpu");
	/* still running when the trace began */
	tm_emit(tm, 0, end, AT(by), JOB(1, 9), DESK);
	tm_emit(tm, 0, complete, AT(by + 1), JOB(1, 9), DESK);
	for (unsigned int i = 0; i < 3; i++)
		life(tm, i, by);
	/* without START, submitted by nobody that is known */
	tm_emit(tm, 0, submit, AT(by + 300), JOB(1, 10), .e.flags = GRT_FLAG_COMMIT, .cmd = 0x301);
	tm_emit(tm, 0, ctx_switch, AT(by + 301), JOB(1, 10), .e.flags = GRT_FLAG_INFERRED, .prev_ctx = 0x10);
	tm_emit(tm, 0, sync_wait_enter, AT(by + 302), JOB(1, 10), DESK);
	tm_emit(tm, 0, error, AT(by + 309), JOB(1, 10), .status = -22, .code = 0x1203);
	tm_emit(tm, 0, end, AT(by + 310), JOB(1, 10));
	tm_emit(tm, 0, complete, AT(by + 311), JOB(1, 10));
	tm_emit(tm, 0, sync_wait_exit, AT(by + 312.5), JOB(1, 10), DESK);
	tm_emit(tm, 0, xid, AT(by + 320), .e.ring = GRT_RING_NONE, .code = 79, .bus = 0x100,
		.text = "pid=1, GPU has fallen off the bus\n");
	tm_emit(tm, 0, mem_move, AT(by + 330), .e.ring = GRT_RING_NONE, .object = 0x55, .bytes = 4096,
		.from = 0, .to = 1);
	tm_close(tm);
}

int main(void)
{
	cpu();
	gpu("gpu.grt", 0);
	gpu("shifted.grt", 5000000);
	return 0;
}
