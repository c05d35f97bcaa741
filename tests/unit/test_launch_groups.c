// SPDX-License-Identifier: GPL-2.0
/*
 * What CUDA's GPU did, summed up: times, latency, queues, bandwidth; idle time and
 * what the CPU was in, to the nanosecond; the same as stacks of a flame graph.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cuda/launch_flame.h"
#include "cuda/launch_groups.h"
#include "codes/cuda_codes.h"

#define LAUNCH_KERNEL 211
#define MEMCPY 31
#define SYNCHRONIZE 165

/* struct both - one trace, taken in by both analyses */
struct both {
	struct grt_launches *launches;
	struct grt_launch_groups *groups;
	struct grt_launch_flame *flame;
};

static int on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
		   const struct grt_launch *launch, enum grt_launched_how how)
{
	return grt_launch_groups_work(((struct both *)arg)->groups, e, image, launch, how);
}

static int on_nothing(void *arg, const struct grt_launch *launch)
{
	return grt_launch_groups_nothing(((struct both *)arg)->groups, launch);
}

static void begin(struct both *b, enum grt_launch_by by)
{
	const struct grt_launches_sink sink = {.work = on_work, .nothing = on_nothing, .arg = b};

	assert_int_equal(grt_launches_new(&b->launches, &sink), 0);
	assert_int_equal(grt_launch_groups_new(&b->groups, by, b->launches), 0);
	assert_int_equal(grt_launch_flame_new(&b->flame), 0);
}

static void end(struct both *b)
{
	grt_launch_groups_free(b->groups);
	grt_launches_free(b->launches);
	grt_launch_flame_free(b->flame);
}

static void put(struct both *b, const struct grt_event *e)
{
	assert_int_equal(grt_launch_groups_slice(b->groups, e, NULL), 0);
	assert_int_equal(grt_launches_event(b->launches, e), 0);
	assert_int_equal(grt_launch_flame_event(b->flame, e), 0);
}

#define PUT(b, NAME, record, p, ...)                                                              \
	do {                                                                                      \
		struct grt_ev_##record ev = {                                                     \
			.e = {.type = GRT_EV_##NAME, .size = sizeof(ev), .pid = (p), .tid = (p)}, \
			##__VA_ARGS__};                                                           \
		put(b, &ev.e);                                                                    \
	} while (0)
#define CALL(b, p, id, number, from, to, ...)                                                             \
	PUT(b, LAUNCH, launch, p, .e.time = (to), .begin = (from), .correlation = (id), .call = (number), \
	    ##__VA_ARGS__)
#define KERNEL(b, p, id, from, to, ...) \
	PUT(b, GPU_KERNEL, gpu_kernel, p, .correlation = (id), .start = (from), .end = (to), ##__VA_ARGS__)
#define COPY(b, p, id, from, to, ...) \
	PUT(b, GPU_COPY, gpu_copy, p, .correlation = (id), .start = (from), .end = (to), ##__VA_ARGS__)

static void string(struct both *b, uint32_t pid, uint32_t number, const char *text)
{
	struct grt_ev_string s = {.e = {.type = GRT_EV_STRING, .size = sizeof(s), .pid = pid}};

	s.number = number;
	s.length = s.part = (uint32_t)strlen(text);
	memcpy(s.text, text, s.part);
	put(b, &s.e);
}

static const struct grt_launch_group *only(struct both *b, int64_t n, int64_t at)
{
	const struct grt_launch_group *const *row;

	assert_int_equal(grt_launches_flush(b->launches), 0);
	assert_int_equal(grt_launch_groups_list(b->groups, &row), n);
	return row[at];
}

static void kernels(void **state)
{
	const struct grt_launch_group *g;
	struct both b;

	(void)state;
	begin(&b, GRT_LAUNCH_BY_KERNEL);
	string(&b, 7, 1, "_Z3addPfS_");
	string(&b, 7, 2, "<script>");
	for (unsigned int i = 1; i <= 10; i++) {
		CALL(&b, 7, i, LAUNCH_KERNEL, 100 * i, 100 * i + 5);
		KERNEL(&b, 7, i, 100 * i + 20, 100 * i + 20 + i, .name = 1);
	}
	CALL(&b, 7, 11, LAUNCH_KERNEL, 5000, 5001);
	KERNEL(&b, 7, 11, 4990, 6000, .name = 2);
	CALL(&b, 7, 12, LAUNCH_KERNEL, 5000, 5001);
	KERNEL(&b, 7, 12, 0, 0, .name = 2);
	CALL(&b, 7, 13, MEMCPY, 5000, 5001);
	COPY(&b, 7, 13, 6000, 6001, .kind = 1);
	g = only(&b, 2, 0);
	assert_string_equal(g->name, "<script>");
	assert_int_equal(g->kernels, 2);
	assert_int_equal(g->untimed, 1);
	assert_int_equal(g->before_call, 1);
	assert_int_equal(g->latency.weight, 0);
	g = only(&b, 2, 1);
	assert_string_equal(g->name, "add");
	assert_int_equal(g->kernels, 10);
	assert_int_equal(grt_hist_sum(&g->exec), 55);
	assert_int_equal(g->exec.max, 10);
	assert_int_equal(g->latency.min, 20);
	assert_int_equal(g->latency.max, 20);
	end(&b);
}

static void copies(void **state)
{
	const struct grt_launch_group *g;
	struct both b;

	(void)state;
	begin(&b, GRT_LAUNCH_BY_COPY);
	for (unsigned int i = 1; i <= 4; i++) {
		CALL(&b, 7, i, MEMCPY, 100 * i, 100 * i + 50);
		COPY(&b, 7, i, 100 * i + 10, 100 * i + 20, .kind = 1, .bytes = 1000);
	}
	COPY(&b, 7, 5, 0, 0, .kind = 1, .bytes = 7);
	CALL(&b, 7, 6, MEMCPY, 600, 601);
	COPY(&b, 7, 6, 700, 800, .kind = 10, .bytes = 5, .from_gpu = 1, .to_gpu = 3);
	g = only(&b, 2, 1);
	assert_string_equal(g->name, "HtoD");
	assert_int_equal(g->copies, 5);
	assert_int_equal(g->bytes, 4007);
	assert_int_equal(g->timed_bytes, 4000);
	assert_int_equal(grt_hist_sum(&g->exec), 40);
	assert_string_equal(only(&b, 2, 0)->name, "PtoP 1 to 3");
	end(&b);
}

static void streams(void **state)
{
	const struct grt_launch_group *g;
	struct both b;

	(void)state;
	begin(&b, GRT_LAUNCH_BY_STREAM);
	/* three at once, then one when all is over, then five of one graph */
	for (unsigned int i = 0; i < 3; i++)
		CALL(&b, 7, i + 1, LAUNCH_KERNEL, 10 + i, 11 + i);
	for (unsigned int i = 0; i < 3; i++)
		KERNEL(&b, 7, i + 1, 100 + 10 * i, 110 + 10 * i, .cuda_stream = 5);
	CALL(&b, 7, 4, LAUNCH_KERNEL, 200, 201);
	KERNEL(&b, 7, 4, 210, 220, .cuda_stream = 5);
	CALL(&b, 7, 5, 311, 215, 216);
	for (unsigned int i = 0; i < 5; i++)
		KERNEL(&b, 7, 5, 230 + 10 * i, 240 + 10 * i, .cuda_stream = 5, .graph = 1);
	g = only(&b, 1, 0);
	assert_int_equal(g->stream, 5);
	assert_int_equal(g->kernels, 9);
	assert_int_equal(grt_busy_sum(&g->busy), 90);
	/* 0, 1, 2 for the three, 0, and 1 before the graph */
	assert_int_equal(g->depths, 5);
	assert_int_equal(g->depth_sum, 4);
	assert_int_equal(g->depth_max, 2);
	end(&b);
}

/* Weight of a folded stack, -1: it is not there. */
static int64_t weight(struct grt_stacks *t, uint32_t depth, const char *const *frame)
{
	uint32_t at = GRT_STACKS_ROOT, before = grt_stacks_nodes(t);

	for (uint32_t i = 0; i < depth; i++)
		assert_int_equal(grt_stacks_frame(t, at, frame[i], strlen(frame[i]), &at), 0);
	return grt_stacks_nodes(t) == before ? (int64_t)grt_stacks_weight(t, at, GRT_STACKS_NOW) : -1;
}

#define WEIGHT(t, ...) \
	weight(t, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})

static struct grt_stacks *tree_of(struct both *b, const struct grt_flame_shape *shape)
{
	struct grt_process_names processes;
	struct grt_stacks *t;

	assert_int_equal(grt_stacks_new(&t), 0);
	assert_int_equal(grt_process_names_init(&processes, shape->compared), 0);
	assert_int_equal(grt_launch_flame_flush(b->flame), 0);
	assert_int_equal(grt_launch_flame_processes(b->flame, &processes), 0);
	assert_int_equal(grt_launch_flame_tree(b->flame, shape, &processes, t, GRT_STACKS_NOW), 0);
	grt_process_names_free(&processes);
	return t;
}

/* A process with a stack of two functions of Python, a kernel, copies, and all that has no stack. */
static void fill(struct both *b)
{
	begin(b, GRT_LAUNCH_BY_STACK);
	string(b, 7, 1, "/usr/bin/py thon");
	string(b, 7, 2, "_Z3addPfS_");
	string(b, 7, 3, "main");
	string(b, 7, 4, "/a/b/model.py");
	string(b, 7, 5, "Net.forward");
	PUT(b, PROCESS, process, 7, .what = 1, .text = 1);
	/* its definitions are of the image that begins */
	string(b, 7, 1, "/usr/bin/py thon");
	string(b, 7, 2, "_Z3addPfS_");
	string(b, 7, 3, "main");
	string(b, 7, 4, "/a/b/model.py");
	string(b, 7, 5, "Net.forward");
	PUT(b, NODE, node, 7, .node = 1, .function = 3, .file = 4, .line = 9);
	PUT(b, NODE, node, 7, .node = 2, .caller = 1, .function = 5, .file = 4, .line = 42);
	CALL(b, 7, 1, LAUNCH_KERNEL, 10, 11, .node = 2);
	KERNEL(b, 7, 1, 20, 120, .name = 2, .cuda_stream = 3, .graph = 6);
	CALL(b, 7, 2, LAUNCH_KERNEL, 30, 31, .node = 2);
	KERNEL(b, 7, 2, 120, 130, .name = 2, .cuda_stream = 3);
	CALL(b, 7, 3, MEMCPY, 40, 41);
	COPY(b, 7, 3, 200, 207, .kind = 2, .bytes = 4096);
	KERNEL(b, 7, 50, 300, 311, .name = 2);
	KERNEL(b, 7, 0, 400, 413, .name = 2, .by_gpu = 1);
	CALL(b, 7, 4, LAUNCH_KERNEL, 500, 501, .node = 1);
	PUT(b, PROCESS, process, 7, .what = 3, .gpu_lost = 4);
}

#define ADD "[GPU_Kernel]add"
#define MAIN "main (model.py:9)"
#define FORWARD "Net.forward (model.py:42)"

static void flame(void **state)
{
	struct grt_flame_shape shape = {0};
	struct grt_stacks *t;
	struct both b;

	(void)state;
	fill(&b);
	t = tree_of(&b, &shape);
	assert_int_equal(WEIGHT(t, "py thon", MAIN, FORWARD, ADD), 110);
	assert_int_equal(WEIGHT(t, "py thon", "cudaMemcpy", "[GPU_Memcpy DtoH]"), 7);
	assert_int_equal(WEIGHT(t, "py thon", "[unmatched]", ADD), 11);
	assert_int_equal(WEIGHT(t, "py thon", "[device launch]", ADD), 13);
	assert_int_equal(grt_stacks_total(t, GRT_STACKS_NOW), 110 + 7 + 11 + 13);
	grt_stacks_free(t);
	assert_int_equal(grt_launch_flame_count(b.flame).with_stack, 2);
	assert_int_equal(only(&b, 4, 0)->kernels, 2);
	assert_string_equal(only(&b, 4, 0)->name, MAIN ";" FORWARD);
	assert_string_equal(only(&b, 4, 0)->brief, FORWARD);
	end(&b);
}

/* The stack of a launch of a process that had run @age seconds when its tracing began, now. */
static void code_made_at_run_time(uint32_t pid, uint32_t age, const char *function)
{
	struct both b;

	begin(&b, GRT_LAUNCH_BY_STACK);
	PUT(&b, PROCESS, process, pid, .e.time = 1000, .what = 1, .age = age);
	PUT(&b, CLOCK, clock, pid, .realtime = (uint64_t)time(NULL) * 1000000000U, .monotonic = 1000);
	PUT(&b, NODE, node, pid, .node = 1, .ip = 0x7f0000001010);
	CALL(&b, pid, 1, LAUNCH_KERNEL, 2000, 2001, .node = 1);
	KERNEL(&b, pid, 1, 2010, 2020);
	PUT(&b, PROCESS, process, pid, .e.time = 3000, .what = 2);
	assert_string_equal(only(&b, 1, 0)->name, function);
	end(&b);
}

static void map_of_another_process(void **state)
{
	/* beyond the numbers that the kernel gives */
	uint32_t pid = 0x7ffe0000U | ((unsigned int)getpid() & 0xffff);
	struct timespec times[2];
	char path[64];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("7f0000001000 20 jit\n", f);
	fclose(f);
	code_made_at_run_time(pid, 0, "jit");
	times[0] = times[1] = (struct timespec){.tv_sec = time(NULL) - 60};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	code_made_at_run_time(pid, 0, "0x7f000000100f");
	code_made_at_run_time(pid, 100, "jit");
	code_made_at_run_time(pid, UINT32_MAX, "jit");
	unlink(path);
}

static void flame_shapes(void **state)
{
	struct grt_flame_shape launches = {.weight = GRT_FLAME_WEIGHT_LAUNCHES},
			       bytes = {.weight = GRT_FLAME_WEIGHT_BYTES},
			       by_stream = {.by = GRT_FLAME_BY_STREAM, .only = GRT_FLAME_ONLY_KERNELS},
			       by_graph = {.by = GRT_FLAME_BY_GRAPH, .only = GRT_FLAME_ONLY_KERNELS};
	struct grt_stacks *t;
	struct both b;

	(void)state;
	fill(&b);
	t = tree_of(&b, &launches);
	assert_int_equal(WEIGHT(t, "py thon", MAIN, "[GPU_Launch_Pending]"), 1);
	assert_int_equal(WEIGHT(t, "py thon", "[lost]"), 4);
	assert_int_equal(WEIGHT(t, "py thon", MAIN, FORWARD, ADD), 2);
	grt_stacks_free(t);
	t = tree_of(&b, &bytes);
	assert_int_equal(grt_stacks_total(t, GRT_STACKS_NOW), 4096);
	grt_stacks_free(t);
	t = tree_of(&b, &by_stream);
	assert_int_equal(WEIGHT(t, "[GPU 0 stream 3]", "py thon", MAIN, FORWARD, ADD), 110);
	assert_int_equal(grt_stacks_total(t, GRT_STACKS_NOW), 110 + 11 + 13);
	grt_stacks_free(t);
	t = tree_of(&b, &by_graph);
	assert_int_equal(WEIGHT(t, "[GPU graph 6]", "py thon", MAIN, FORWARD, ADD), 100);
	assert_int_equal(WEIGHT(t, "[no graph]", "py thon", MAIN, FORWARD, ADD), 10);
	grt_stacks_free(t);
	end(&b);
}

static void several_devices(void **state)
{
	struct grt_flame_shape shape = {.by = GRT_FLAME_BY_DEVICE};
	struct grt_stacks *t;
	struct both b;

	(void)state;
	begin(&b, GRT_LAUNCH_BY_DEVICE);
	for (unsigned int i = 0; i < 3; i++) {
		CALL(&b, 7, i + 1, LAUNCH_KERNEL, 10, 11);
		KERNEL(&b, 7, i + 1, 20, 30 + i, .gpu = i);
	}
	t = tree_of(&b, &shape);
	assert_int_equal(WEIGHT(t, "[GPU device 2]", "pid 7", "cudaLaunchKernel", "[GPU2_Kernel][unknown]"),
			 12);
	assert_int_equal(only(&b, 3, 0)->gpu, 2);
	grt_stacks_free(t);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels),
		cmocka_unit_test(copies),
		cmocka_unit_test(streams),
		cmocka_unit_test(flame),
		cmocka_unit_test(map_of_another_process),
		cmocka_unit_test(flame_shapes),
		cmocka_unit_test(several_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
