// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the traces of export.sh: `export_traces KIND PATH`. What is in them is
 * told there, line by line.
 */
#include <err.h>
#include <string.h>

#include "../unit/trace_maker.h"

#define DEVICE 226 << 20 | 128
#define APP .e.pid = 70, .e.tid = 71
#define OTHER .e.pid = 80, .e.tid = 80
#define GFX .e.ring = 1, .e.device = DEVICE, .e.engine = GRT_ENGINE_GRAPHICS
#define NOWHERE .e.ring = GRT_RING_NONE, .e.device = DEVICE

static void name_device(struct trace_maker *tm)
{
	tm_emit(tm, 0, name, .e.time = 900, .e.ring = GRT_RING_NONE, .kind = GRT_NAME_DEVICE, .id = DEVICE,
		.name = "renderD128", .owner = "amdgpu");
	tm_emit(tm, 0, name, .e.time = 900, .e.ring = GRT_RING_NONE, .kind = GRT_NAME_COUNTER, .id = 7,
		.name = "power", .owner = "mW");
	tm_name_thread(tm, 71, "draw", "app");
	tm_name_thread(tm, 80, "bad\xff\"\\\x1b", "b\xe2\x82\xac;\nd");
	tm_name_ring(tm, 1, "gfx", "amdgpu");
}

/* Ioctls with a submit and a wait in them, ends and beginnings that are not there. */
static void calls(struct trace_maker *tm)
{
	tm_emit(tm, 0, ioctl_exit, .e.time = 950, APP, NOWHERE, .cmd = 0xc0186444);
	tm_emit(tm, 0, ioctl_enter, .e.time = 1000, APP, NOWHERE, .cmd = 0xc0186444, .fd = 5);
	tm_emit(tm, 0, submit, .e.time = 1010, APP, GFX, .e.ctx = 9, .e.seqno = 1);
	tm_emit(tm, 0, ioctl_exit, .e.time = 1050, APP, NOWHERE, .cmd = 0xc0186444, .ret = -11);
	tm_emit(tm, 0, ioctl_enter, .e.time = 1100, APP, NOWHERE, .cmd = 0xc0206449, .fd = 5);
	tm_emit(tm, 0, sync_wait_enter, .e.time = 1110, APP, GFX, .e.ctx = 9, .e.seqno = 1);
	tm_emit(tm, 0, submit, .e.time = 1120, OTHER, GFX, .e.ctx = 10, .e.seqno = 1);
	tm_emit(tm, 0, submit, .e.time = 1130, OTHER, GFX, .e.ctx = 10, .e.seqno = 2);
	tm_emit(tm, 0, sync_wait_exit, .e.time = 1400, APP, GFX, .e.ctx = 9, .e.seqno = 1);
	tm_emit(tm, 0, ioctl_exit, .e.time = 1450, APP, NOWHERE, .cmd = 0xc0206449);
	tm_emit(tm, 0, ioctl_enter, .e.time = 1500, OTHER, NOWHERE, .cmd = 0x1234, .fd = 4);
	tm_emit(tm, 0, ioctl_enter, .e.time = 1600, OTHER, NOWHERE, .cmd = 0x1234, .fd = 4);
}

/* Three jobs, of which the second and the third overlap; one without an end. */
static void jobs(struct trace_maker *tm)
{
	tm_emit(tm, 1, commit, .e.time = 1020, GFX, .e.ctx = 9, .e.seqno = 1);
	tm_emit(tm, 1, start, .e.time = 1030, GFX, .e.ctx = 9, .e.seqno = 1);
	tm_emit(tm, 1, commit, .e.time = 1140, GFX, .e.ctx = 10, .e.seqno = 1);
	tm_emit(tm, 1, commit, .e.time = 1141, GFX, .e.ctx = 10, .e.seqno = 2);
	tm_emit(tm, 1, end, .e.time = 1300, GFX, .e.ctx = 9, .e.seqno = 1);
	tm_emit(tm, 1, complete, .e.time = 1310, GFX, .e.ctx = 9, .e.seqno = 1);
	tm_emit(tm, 1, start, .e.time = 1320, GFX, .e.ctx = 10, .e.seqno = 1);
	tm_emit(tm, 1, start, .e.time = 1330, GFX, .e.ctx = 10, .e.seqno = 2);
	tm_emit(tm, 1, end, .e.time = 1400, GFX, .e.ctx = 10, .e.seqno = 1);
	tm_emit(tm, 1, complete, .e.time = 1405, GFX, .e.ctx = 10, .e.seqno = 1, .status = -5);
	tm_emit(tm, 1, end, .e.time = 1410, GFX, .e.ctx = 10, .e.seqno = 2);
	tm_emit(tm, 1, complete, .e.time = 1420, GFX, .e.ctx = 10, .e.seqno = 2);
	tm_emit(tm, 1, start, .e.time = 1500, GFX, .e.ctx = 10, .e.seqno = 3);
}

static void others(struct trace_maker *tm)
{
	tm_emit(tm, 2, counter, .e.time = 1000, NOWHERE, .counter = 7, .value = 21000);
	tm_emit(tm, 2, tsg_init, .e.time = 1050, APP, NOWHERE, .client = 0xc1d0, .tsg = 3, .timeslice = 2000);
	tm_emit(tm, 2, tsg_init, .e.time = 1060, APP, NOWHERE, .client = 0xc1d0, .tsg = 4, .timeslice = 2000);
	tm_emit(tm, 2, vblank, .e.time = 1100, NOWHERE, .crtc = 1, .vseq = 77, .stamp = 1095);
	tm_emit(tm, 2, xid, .e.time = 1200, NOWHERE, .code = 31, .bus = 0x0100, .text = "pid=70, MMU Fault");
	tm_emit(tm, 2, counter, .e.time = 1300, NOWHERE, .counter = 7, .value = -1);
	tm_emit(tm, 2, irq, .e.time = 1350, GFX, .source = 181);
	tm_emit(tm, 2, tsg_destroy, .e.time = 1400, APP, NOWHERE, .client = 0xc1d0, .tsg = 3, .cause = 1);
	tm_fate(tm, 2, GRT_FATE_LOST, 13);
}

static void all(const char *path)
{
	struct trace_maker *tm = tm_dir(path, 3);

	name_device(tm);
	calls(tm);
	jobs(tm);
	others(tm);
	tm_close(tm);
}

/* More jobs at a time on one ring than there are lanes: 200, each inside the one before. */
static void deep(const char *path)
{
	struct trace_maker *tm = tm_dir(path, 1);

	for (uint64_t i = 0; i < 200; i++)
		tm_emit(tm, 0, start, .e.time = 1000 + i, GFX, .e.ctx = 9, .e.seqno = i + 1);
	for (uint64_t i = 200; i-- > 0;)
		tm_emit(tm, 0, end, .e.time = 9000 - 10 * i, GFX, .e.ctx = 9, .e.seqno = i + 1);
	for (uint64_t i = 0; i < 200; i++)
		tm_emit(tm, 0, complete, .e.time = 10000 + i, GFX, .e.ctx = 9, .e.seqno = i + 1);
	tm_close(tm);
}

/* A kernel, a copy, a graph of two kernels and a wait; one kernel without stamps. */
static void cuda(const char *path)
{
	struct trace_maker *tm = tm_dir(path, 1);

#define STREAM .gpu = 1, .context = 2, .cuda_stream = 7
	tm_name_thread(tm, 71, "python3", "python3");
	tm_emit(tm, 0, process, .e.time = 900, APP, .what = 1);
	tm_emit(tm, 0, string, .e.time = 900, APP, .number = 1, .length = 11, .part = 11,
		.text = "_Z5scalePfi");
	tm_emit(tm, 0, string, .e.time = 900, APP, .number = 2, .length = 5, .part = 5, .text = "plain");
	tm_emit(tm, 0, launch, .e.time = 1010, APP, .begin = 1000, .correlation = 5, .call = 211);
	tm_emit(tm, 0, launch, .e.time = 1030, APP, .begin = 1020, .correlation = 6, .call = 31,
		.result = 700);
	tm_emit(tm, 0, launch, .e.time = 1050, APP, .begin = 1040, .correlation = 7, .call = 0xfff);
	tm_emit(tm, 0, gpu_kernel, .e.time = 5000, APP, .start = 1100, .end = 1200, .correlation = 5,
		.name = 1, STREAM, .grid_x = 64);
	tm_emit(tm, 0, gpu_copy, .e.time = 5001, APP, .start = 1150, .end = 1250, .correlation = 6, .kind = 1,
		.bytes = 4096, STREAM);
	tm_emit(tm, 0, gpu_kernel, .e.time = 5002, APP, .start = 1300, .end = 1310, .correlation = 7,
		.name = 2, STREAM, .graph = 3, .graph_node = 1);
	tm_emit(tm, 0, gpu_kernel, .e.time = 5003, APP, .start = 1310, .end = 1320, .correlation = 7,
		.name = 2, STREAM, .graph = 3, .graph_node = 2);
	tm_emit(tm, 0, gpu_kernel, .e.time = 5004, APP, .name = 2, STREAM);
	tm_emit(tm, 0, gpu_sync, .e.time = 5005, APP, .start = 1060, .end = 1330, .kind = 4, .context = 2);
#undef STREAM
	tm_close(tm);
}

#define STREAM .gpu = 0, .context = 3, .cuda_stream = 9
#define SHAPE .grid_x = 8, .grid_y = 4, .grid_z = 2, .block_x = 128, .block_y = 2, .block_z = 1
static void gpu_strings(struct trace_maker *tm)
{
	static const char *const texts[] = {"app", "main", "step", "_Z4gemmPfi", "NVIDIA L4"};

	tm_emit(tm, 0, process, .e.time = 900, APP, .what = 1, .text = 1);
	for (uint32_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct grt_ev_string e = {
			.e = {.type = GRT_EV_STRING, .size = sizeof(e), .time = 900, .pid = 70, .tid = 71},
			.number = i + 1};

		e.length = e.part = (uint32_t)strlen(texts[i]);
		memcpy(e.text, texts[i], e.length);
		tm_event(tm, 0, &e.e);
	}
	tm_emit(tm, 0, device, .e.time = 900, APP, .gpu = 0, .name = 5, .major = 8, .minor = 9, .sms = 58,
		.bus = "0000:01:00.0", .uuid = "GPU-00112233-4455-6677-8899-aabbccddeeff");
	tm_emit(tm, 0, node, .e.time = 900, APP, .node = 1, .function = 2);
	tm_emit(tm, 0, node, .e.time = 900, APP, .node = 2, .caller = 1, .function = 3);
}

/* Three launches, two from one stack; a wait for the stream, one for its context, and one that later work
 * hides; a GPU whose time is shared, which is that of CUDA; a job that waited for another one. */
static void gpu(const char *path)
{
	struct trace_maker *tm = tm_dir(path, 1);

	name_device(tm);
	tm_emit(tm, 0, name, .e.time = 900, NOWHERE, .kind = GRT_NAME_DEVICE, .id = 5,
		.name = "nvidia0 0000:01:00.0");
	gpu_strings(tm);
	tm_emit(tm, 0, launch, .e.time = 1010, APP, .begin = 1000, .correlation = 5, .call = 211, .node = 2,
		.stack = 1);
	tm_emit(tm, 0, launch, .e.time = 1030, APP, .begin = 1020, .correlation = 6, .call = 211, .node = 2,
		.stack = 1);
	tm_emit(tm, 0, launch, .e.time = 1050, APP, .begin = 1040, .correlation = 8, .call = 31, .node = 1,
		.stack = 1);
	tm_emit(tm, 0, submit, .e.time = 1100, OTHER, GFX, .e.ctx = 10, .e.seqno = 1);
	tm_emit(tm, 0, submit, .e.time = 1110, OTHER, GFX, .e.ctx = 10, .e.seqno = 2);
	tm_emit(tm, 0, wait_dep, .e.time = 1120, OTHER, GFX, .e.ctx = 10, .e.seqno = 2, .dep_ctx = 10,
		.dep_seqno = 1);
	tm_emit(tm, 0, wait_dep, .e.time = 1121, OTHER, GFX, .e.ctx = 10, .e.seqno = 2,
		.e.flags = GRT_FLAG_SIGNALLED, .dep_ctx = 11, .dep_seqno = 1);
	for (uint64_t i = 1; i < 3; i++) {
		tm_emit(tm, 0, start, .e.time = 1200 + 100 * i, GFX, .e.ctx = 10, .e.seqno = i);
		tm_emit(tm, 0, end, .e.time = 1250 + 100 * i, GFX, .e.ctx = 10, .e.seqno = i);
		tm_emit(tm, 0, complete, .e.time = 1251 + 100 * i, GFX, .e.ctx = 10, .e.seqno = i);
	}
	tm_emit(tm, 0, gpu_slice, .e.time = 2000, .e.pid = 70, .e.tid = 70, .e.ring = GRT_RING_NONE,
		.e.device = 5, .start = 1100, .mig_gpu = GRT_NOT_DIVIDED);
	/* as CUPTI hands them over: in no order */
	tm_emit(tm, 0, gpu_sync, .e.time = 5000, APP, .start = 1060, .end = 1410, .correlation = 9, .kind = 3,
		.context = 3, .cuda_stream = 9, .event_id = UINT32_MAX);
	tm_emit(tm, 0, gpu_sync, .e.time = 5001, APP, .start = 1061, .end = 1420, .correlation = 10,
		.kind = 4, .context = 3, .cuda_stream = UINT32_MAX, .event_id = UINT32_MAX);
	tm_emit(tm, 0, gpu_sync, .e.time = 5002, APP, .start = 1055, .end = 1415, .correlation = 7, .kind = 3,
		.context = 3, .cuda_stream = 9, .event_id = UINT32_MAX);
	tm_emit(tm, 0, gpu_copy, .e.time = 5003, APP, .start = 1300, .end = 1400, .correlation = 8, .kind = 1,
		.bytes = 4096, STREAM);
	tm_emit(tm, 0, gpu_kernel, .e.time = 5004, APP, .start = 1200, .end = 1300, .correlation = 6,
		.name = 4, STREAM, SHAPE, .registers = 40, .shared_static = 1024);
	tm_emit(tm, 0, gpu_kernel, .e.time = 5005, APP, .start = 1100, .end = 1150, .correlation = 5,
		.name = 4, STREAM, SHAPE, .registers = 40, .shared_dynamic = 2048);
	tm_close(tm);
}

/* A recorder that saw nothing. */
static void silent(const char *path)
{
	tm_close(tm_dir(path, 1));
}

static const struct {
	const char *name;
	void (*write)(const char *path);
} kinds[] = {{"silent", silent}, {"all", all}, {"deep", deep}, {"cuda", cuda}, {"gpu", gpu}};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].write(argv[2]);
			return 0;
		}
	errx(2, "usage: export_traces silent|all|deep|cuda|gpu PATH");
}
