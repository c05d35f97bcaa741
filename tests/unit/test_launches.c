// SPDX-License-Identifier: GPL-2.0
/*
 * Launches and what the GPU did for them: by correlation id within a process
 * image, in any order, with exact counts; definitions of a hostile trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cuda/launch_pages.h"
#include "cuda/launches.h"
#include "codes/cuda_codes.h"

#define LAUNCH_KERNEL 211

/* struct seen - what was handed out last, and how often */
struct seen {
	struct grt_launches *l;
	unsigned int works;
	unsigned int outside;
	unsigned int nothings;
	enum grt_launched_how how;
	struct grt_launch launch;
	const struct grt_image *image;
};

static int on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
		   const struct grt_launch *launch, enum grt_launched_how how)
{
	struct seen *s = arg;

	(void)e;
	s->works++;
	s->how = how;
	s->image = image;
	if (launch)
		s->launch = *launch;
	assert_int_equal(!!launch, how == GRT_LAUNCHED_MATCHED);
	return 0;
}

static int on_nothing(void *arg, const struct grt_launch *launch)
{
	struct seen *s = arg;

	s->nothings++;
	s->launch = *launch;
	return 0;
}

static int setup(void **state)
{
	struct seen *s = calloc(1, sizeof(*s));
	struct grt_launches_sink sink = {.work = on_work, .nothing = on_nothing, .arg = s};

	*state = s;
	return grt_launches_new(&s->l, &sink);
}

static int teardown(void **state)
{
	struct seen *s = *state;

	grt_launches_free(s->l);
	free(s);
	return 0;
}

#define PUT(s, NAME, record, p, ...)                                                              \
	do {                                                                                      \
		struct grt_ev_##record ev = {                                                     \
			.e = {.type = GRT_EV_##NAME, .size = sizeof(ev), .pid = (p), .tid = (p)}, \
			##__VA_ARGS__};                                                           \
		assert_int_equal(grt_launches_event((s)->l, &ev.e), 0);                           \
	} while (0)
#define CALL(s, p, id, number, ...) \
	PUT(s, LAUNCH, launch, p, .correlation = (id), .call = (number), ##__VA_ARGS__)
#define LAUNCH(s, p, id, ...) CALL(s, p, id, LAUNCH_KERNEL, ##__VA_ARGS__)
#define WORK(s, p, id, ...) PUT(s, GPU_KERNEL, gpu_kernel, p, .correlation = (id), ##__VA_ARGS__)
#define KERNEL(s, p, id, ...) WORK(s, p, id, .start = 10, .end = 30, ##__VA_ARGS__)

static struct grt_launches_count finish(struct seen *s)
{
	assert_int_equal(grt_launches_flush(s->l), 0);
	return grt_launches_count(s->l);
}

static void joined(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	for (unsigned int i = 1; i <= 5; i++)
		PUT(s, NODE, node, 7, .node = i, .caller = i - 1, .ip = 0x1000 + i);
	for (unsigned int i = 1; i <= 1000; i++)
		LAUNCH(s, 7, i * 3, .begin = i, .node = 5);
	for (unsigned int i = 1; i <= 1000; i++) {
		KERNEL(s, 7, i * 3);
		assert_int_equal(s->how, GRT_LAUNCHED_MATCHED);
		assert_int_equal(s->launch.begin, i);
		assert_int_equal(s->launch.tid, 7);
		assert_int_equal(s->launch.kind, GRT_CUDA_KIND_KERNEL);
	}
	n = finish(s);
	assert_int_equal(n.matched, 1000);
	assert_int_equal(n.with_stack, 1000);
	assert_int_equal(n.kernel_ns, 20000);
	assert_int_equal(n.nothing + n.unknown + n.doubled, 0);
}

static void graph(void **state)
{
	struct seen *s = *state;

	CALL(s, 7, 1, 311);
	for (int i = 0; i < 17; i++)
		KERNEL(s, 7, 1, .graph_node = 1);
	assert_int_equal(finish(s).matched, 17);
}

static void earlier_than_its_launch(void **state)
{
	struct seen *s = *state;

	KERNEL(s, 7, 1);
	assert_int_equal(s->works, 0);
	LAUNCH(s, 7, 1);
	assert_int_equal(finish(s).matched, 1);
	assert_int_equal(s->works, 1);
	assert_int_equal(s->nothings, 0);
}

static void of_another_process(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	LAUNCH(s, 7, 1);
	KERNEL(s, 8, 1);
	n = finish(s);
	assert_int_equal(n.unknown, 1);
	assert_int_equal(n.nothing, 1);
	assert_int_equal(s->how, GRT_LAUNCHED_UNKNOWN);
}

static void of_another_image(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	PUT(s, PROCESS, process, 7, .what = 1);
	LAUNCH(s, 7, 1);
	PUT(s, PROCESS, process, 7, .what = 1);
	KERNEL(s, 7, 1);
	PUT(s, PROCESS, process, 7, .what = 3, .launches_lost = 3, .gpu_lost = 4);
	n = finish(s);
	assert_int_equal(n.unknown, 1);
	assert_int_equal(n.nothing, 1);
	assert_int_equal(n.no_end, 1);
	assert_int_equal(n.launches_lost, 3);
	assert_int_equal(n.gpu_lost, 4);
}

/* A view that is written twice, or again after more events, has each loss and each launch once. */
static void flushed_twice(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	LAUNCH(s, 7, 1);
	LAUNCH(s, 7, 2);
	CALL(s, 7, 3, GRT_CUDA_PROBED);
	KERNEL(s, 7, 1);
	PUT(s, PROCESS, process, 7, .what = 2, .launches_lost = 3, .gpu_lost = 4);
	finish(s);
	n = finish(s);
	assert_int_equal(n.launches_lost, 3);
	assert_int_equal(n.gpu_lost, 4);
	assert_int_equal(n.nothing, 1);
	assert_int_equal(n.no_end, 1);
	assert_int_equal(s->nothings, 2);
	KERNEL(s, 7, 2);
	LAUNCH(s, 7, 4);
	PUT(s, PROCESS, process, 7, .what = 3, .launches_lost = 5, .gpu_lost = 6);
	n = finish(s);
	assert_int_equal(n.launches_lost, 5);
	assert_int_equal(n.gpu_lost, 6);
	assert_int_equal(n.matched, 2);
	assert_int_equal(n.nothing, 1);
	assert_int_equal(n.no_end, 0);
	assert_int_equal(s->nothings, 3);
}

static void what_brings_no_kernel(void **state)
{
	const struct grt_ev_launch captured = {
		.e = {.type = GRT_EV_LAUNCH, .size = sizeof(captured), .pid = 7, .flags = GRT_FLAG_CAPTURED},
		.correlation = 2,
		.call = LAUNCH_KERNEL,
	};
	struct seen *s = *state;
	struct grt_launches_count n;

	LAUNCH(s, 7, 1, .result = 1);
	grt_launches_event(s->l, &captured.e);
	CALL(s, 7, 3, 131);
	LAUNCH(s, 7, 4);
	LAUNCH(s, 7, 4);
	KERNEL(s, 7, 9, .by_gpu = 1);
	n = finish(s);
	assert_int_equal(n.failed, 1);
	assert_int_equal(n.captured, 1);
	assert_int_equal(n.nothing, 1);
	assert_int_equal(n.doubled, 1);
	assert_int_equal(n.by_gpu, 1);
	assert_int_equal(s->launch.correlation, 4);
}

static void stamps(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	LAUNCH(s, 7, 1);
	WORK(s, 7, 1);
	WORK(s, 7, 1, .start = 5);
	n = finish(s);
	assert_int_equal(n.no_stamps, 1);
	assert_int_equal(n.open, 1);
	assert_int_equal(n.kernel_ns, 0);
}

static void definitions(void **state)
{
	struct seen *s = *state;
	const struct grt_image *i;

	PUT(s, STRING, string, 7, .number = 1, .length = 6, .part = 3, .text = "ker");
	PUT(s, STRING, string, 7, .number = 1, .length = 6, .offset = 3, .part = 3, .text = "nel");
	PUT(s, NODE, node, 7, .node = 1, .ip = 0x10);
	PUT(s, NODE, node, 7, .node = 2, .caller = 1, .function = 1, .line = 5);
	PUT(s, MAPPING, mapping, 7, .module = 1, .start = 1, .end = 9, .build_id = "ab");
	i = grt_launches_images(s->l)->image[0];
	assert_string_equal(grt_image_string(i, 1), "kernel");
	assert_int_equal(grt_image_node(i, 2)->caller, 1);
	assert_int_equal(grt_image_node(i, 2)->line, 5);
	assert_string_equal(grt_image_mapping(i, 1)->build_id, "ab");
	assert_null(grt_image_string(i, 2));
	assert_null(grt_image_node(i, 0));
	assert_null(grt_image_mapping(i, 2));
}

/* Two processes with one pid, at the same time: their records are of the image that they name. */
static void one_pid(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	for (uint64_t image = 1000; image <= 1001; image++) {
		PUT(s, PROCESS, process, 7, .e.ctx = image, .what = 1);
		PUT(s, STRING, string, 7, .e.ctx = image, .number = 1, .length = 1, .part = 1,
		    .text = {(char)('a' + image % 2)});
	}
	for (unsigned int i = 1; i <= 100; i++) {
		LAUNCH(s, 7, i, .e.ctx = 1000, .begin = i);
		LAUNCH(s, 7, i, .e.ctx = 1001, .begin = 500 + i);
	}
	for (unsigned int i = 1; i <= 100; i++) {
		KERNEL(s, 7, i, .e.ctx = 1001, .name = 1);
		assert_int_equal(s->launch.begin, 500 + i);
		assert_string_equal(grt_image_string(s->image, 1), "b");
		KERNEL(s, 7, i, .e.ctx = 1000, .name = 1);
		assert_int_equal(s->launch.begin, i);
		assert_string_equal(grt_image_string(s->image, 1), "a");
	}
	n = finish(s);
	assert_int_equal(n.matched, 200);
	assert_int_equal(n.doubled + n.unknown + n.nothing, 0);
	assert_int_equal(grt_launches_images(s->l)->images, 2);
}

/* The recorder's nodes name no image: they may come before the process has told of itself. */
static void recorders_node_first(void **state)
{
	struct seen *s = *state;

	PUT(s, NODE, node, 7, .node = 1, .ip = 0x10, .e.seqno = 3);
	PUT(s, PROCESS, process, 7, .e.ctx = 1000, .what = 1);
	LAUNCH(s, 7, 3, .e.ctx = 1000, .stack = 2);
	KERNEL(s, 7, 3, .e.ctx = 1000);
	assert_int_equal(s->launch.node, 1);
	assert_int_equal(grt_launches_images(s->l)->images, 1);
}

/* As the library writes them: the first nodes are no frames, and say how a stack ends. */
static void how_far_stacks_reach(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	PUT(s, STRING, string, 7, .number = 1, .length = 17, .part = 17, .text = "[stack truncated]");
	PUT(s, STRING, string, 7, .number = 2, .length = 8, .part = 8, .text = "[module]");
	PUT(s, NODE, node, 7, .node = 1);
	PUT(s, NODE, node, 7, .node = 2, .function = 1);
	PUT(s, NODE, node, 7, .node = 3, .caller = 1, .ip = 0x10);
	PUT(s, NODE, node, 7, .node = 4, .caller = 3, .function = 2);
	PUT(s, NODE, node, 7, .node = 5, .caller = 2, .ip = 0x10);
	PUT(s, NODE, node, 7, .node = 7, .caller = 6, .ip = 0x10);
	for (uint32_t node = 0; node <= 8; node++) {
		LAUNCH(s, 7, 2 * node + 1, .node = node);
		LAUNCH(s, 7, 2 * node + 2, .node = node);
		KERNEL(s, 7, 2 * node + 1, .name = node);
		KERNEL(s, 7, 2 * node + 2, .name = node + 100);
	}
	n = finish(s);
	assert_int_equal(n.matched, 18);
	/* 3, 4, 5, and 7 whose caller is lost */
	assert_int_equal(n.with_stack, 8);
	assert_int_equal(n.stack_cut, 4);
	/* 1 and 2 are no frames, 6 and 8 are not here */
	assert_int_equal(n.stack_none, 8);
	/* whatever their kernels are called */
	assert_int_equal(n.stacks, 4);
}

static void hostile(void **state)
{
	struct seen *s = *state;

	PUT(s, NODE, node, 7, .node = UINT32_MAX);
	PUT(s, NODE, node, 7, .node = 0);
	PUT(s, NODE, node, 7, .node = 3, .caller = 3);
	PUT(s, STRING, string, 7, .number = UINT32_MAX, .part = 1);
	PUT(s, STRING, string, 7, .number = 1, .part = 5000);
	PUT(s, STRING, string, 7, .number = 1, .part = 1, .offset = UINT32_MAX);
	PUT(s, MAPPING, mapping, 7, .module = UINT32_MAX);
	assert_int_equal(grt_launches_count(s->l).undefined, 7);
}

static size_t room_of(const struct grt_images *m)
{
	size_t bytes = 0;

	for (uint32_t n = 0; n < m->images; n++)
		bytes += m->image[n]->strings * sizeof(*m->image[n]->string) +
			 m->image[n]->recorder_strings * sizeof(*m->image[n]->recorder_string) +
			 m->image[n]->nodes * sizeof(*m->image[n]->node) +
			 m->image[n]->mappings * sizeof(*m->image[n]->mapping);
	return bytes;
}

/* Memory is of what is defined: many processes, each with a large number. */
static void far_numbers(void **state)
{
	struct seen *s = *state;
	const struct grt_images *m = grt_launches_images(s->l);

	for (uint32_t pid = 1; pid <= 20; pid++) {
		PUT(s, NODE, node, pid, .node = 1000000);
		PUT(s, STRING, string, pid, .number = 1000000, .part = 1);
		PUT(s, STRING, string, pid, .number = GRT_IMAGE_RECORDER + 1000000, .part = 1);
		PUT(s, MAPPING, mapping, pid, .module = 1000000, .end = 1);
	}
	assert_true(room_of(m) < 80U << 20);
	assert_in_range(grt_launches_count(s->l).undefined, 70, 79);
	/* each that comes in turn is taken as before */
	for (uint32_t pid = 2001; pid <= 3000; pid++) {
		for (uint32_t node = 1; node <= 100; node++)
			PUT(s, NODE, node, pid, .node = node, .caller = node - 1, .ip = 1);
		PUT(s, STRING, string, pid, .number = 1, .part = 1);
		PUT(s, STRING, string, pid, .number = GRT_IMAGE_RECORDER + 1, .part = 1);
		PUT(s, MAPPING, mapping, pid, .module = 1, .end = 1);
	}
	assert_in_range(grt_launches_count(s->l).undefined, 70, 79);
	assert_non_null(grt_image_node(m->image[m->images - 1], 100));
}

/* The records before are lost; those behind are in turn, or nearly. */
static void late_numbers(void **state)
{
	struct seen *s = *state;
	const struct grt_image *i;

	for (uint32_t node = 500001; node < 700001; node++)
		PUT(s, NODE, node, 7, .node = node ^ 63, .caller = 1, .ip = node);
	i = grt_launches_images(s->l)->image[0];
	assert_int_equal(grt_image_node(i, 600000)->ip, 600000 ^ 63);
	assert_int_equal(grt_launches_count(s->l).undefined, 0);
}

/* As text may have them: each is a call of its own, of which no work can be. */
static void without_an_id(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	for (unsigned int i = 1; i <= 70000; i++) {
		CALL(s, 7, 0, GRT_CUDA_PROBED, .begin = i, .node = 5);
		assert_int_equal(s->nothings, i);
		assert_int_equal(s->launch.begin, i);
		assert_int_equal(s->launch.node, 5);
		assert_int_equal(s->launch.correlation, 0);
	}
	LAUNCH(s, 7, 0);
	LAUNCH(s, 7, 0, .result = 1);
	CALL(s, 7, 0, 165);
	WORK(s, 7, 0, .start = 10, .end = 30);
	n = finish(s);
	assert_int_equal(s->nothings, 70001);
	assert_int_equal(n.launches, 70003);
	assert_int_equal(n.probed, 70000);
	assert_int_equal(n.nothing, 1);
	assert_int_equal(n.doubled, 0);
	assert_int_equal(n.unknown, 1);
}

/* From 20 to 40 counts; calls and work outside are known of, and all are told after that. */
static void within(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	grt_launches_within(s->l, 20, 40);
	LAUNCH(s, 7, 1, .e.time = 11, .begin = 10);
	LAUNCH(s, 7, 2, .e.time = 20, .begin = 10);
	LAUNCH(s, 7, 3, .e.time = 41, .begin = 40);
	LAUNCH(s, 7, 4, .e.time = 42, .begin = 41);
	WORK(s, 7, 1, .e.time = 100, .start = 12, .end = 19);
	WORK(s, 7, 1, .e.time = 100, .start = 12, .end = 20);
	assert_int_equal(s->works, 1);
	assert_int_equal(s->how, GRT_LAUNCHED_MATCHED);
	WORK(s, 7, 2, .e.time = 100, .start = 41, .end = 50);
	/* work that comes before its launch, and none */
	WORK(s, 7, 5, .e.time = 100, .start = 12, .end = 19);
	WORK(s, 7, 9, .e.time = 100, .start = 12, .end = 19);
	LAUNCH(s, 7, 5, .e.time = 30, .begin = 30);
	/* it has not ended, or does not say when it ran */
	WORK(s, 7, 1, .e.time = 100, .start = 12);
	WORK(s, 7, 1, .e.time = 100, .start = 41);
	WORK(s, 7, 1, .e.time = 30);
	WORK(s, 7, 1, .e.time = 100);
	PUT(s, GPU_COPY, gpu_copy, 7, .e.time = 30, .correlation = 1, .start = 41, .end = 42);
	n = finish(s);
	assert_int_equal(s->works, 3);
	assert_int_equal(n.launches, 3);
	assert_int_equal(n.kernels, 3);
	assert_int_equal(n.copies, 0);
	assert_int_equal(n.matched, 3);
	assert_int_equal(n.unknown, 0);
	assert_int_equal(n.kernel_ns, 8);
	assert_int_equal(n.open, 1);
	assert_int_equal(n.no_stamps, 1);
	/* of 2 and 5 something came outside, of 3 nothing; 4 is none of ours */
	assert_int_equal(n.nothing, 1);
	assert_int_equal(s->nothings, 1);
	assert_int_equal(s->launch.correlation, 3);
}

static int on_outside(void *arg, const struct grt_event *e, const struct grt_image *image,
		      const struct grt_launch *launch, enum grt_launched_how how)
{
	struct seen *s = arg;

	(void)e;
	(void)image;
	s->outside++;
	assert_int_equal(!!launch, how == GRT_LAUNCHED_MATCHED);
	assert_false(launch && launch->first);
	return 0;
}

/* Who wants it gets what is outside as well: it is in no count, and is not the first work of its launch. */
static void outside(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;

	grt_launches_within(s->l, 20, 40);
	grt_launches_outside(s->l, on_outside);
	LAUNCH(s, 7, 1, .e.time = 22, .begin = 21);
	WORK(s, 7, 1, .e.time = 100, .start = 12, .end = 19);
	assert_int_equal(s->outside, 1);
	assert_int_equal(s->works, 0);
	WORK(s, 7, 1, .e.time = 100, .start = 23, .end = 24);
	assert_int_equal(s->works, 1);
	assert_true(s->launch.first);
	/* without a launch, and of another kernel */
	WORK(s, 7, 9, .e.time = 100, .start = 41, .end = 50);
	WORK(s, 7, 0, .e.time = 100, .start = 41, .end = 50, .by_gpu = 1);
	n = finish(s);
	assert_int_equal(s->outside, 3);
	assert_int_equal(s->works, 1);
	assert_int_equal(n.kernels, 1);
	assert_int_equal(n.matched, 1);
	assert_int_equal(n.unknown, 0);
	assert_int_equal(n.by_gpu, 0);
	assert_int_equal(n.nothing, 0);
}

/* One launch in each of so many pages: more than there may be in memory. */
#define FAR (2 * GRT_LAUNCH_PAGES_RESIDENT + 5)

/* Work of launches of which most are in a file by then, in an order that has no use for the recent ones. */
static void far_apart(void **state)
{
	struct seen *s = *state;
	struct grt_launches_count n;
	uint64_t id;

	for (uint64_t i = 1; i <= FAR; i++) {
		LAUNCH(s, 7, i << 8, .begin = i, .context = 100 + (uint32_t)(i % 3));
		if (i % 2)
			LAUNCH(s, 7, (i << 8) + 9, .begin = i + 1, .context = 200);
	}
	for (uint64_t turn = 0; turn < 2; turn++)
		for (uint64_t i = 0; i < FAR; i++) {
			id = i * 4001 % FAR + 1;
			if (id % 4 == 3)
				continue;
			KERNEL(s, 7, id << 8);
			assert_int_equal(s->launch.begin, id);
			assert_int_equal(s->launch.context, 100 + id % 3);
			assert_int_equal(s->launch.first, !turn);
		}
	/* known still, though it was read long ago; and a page has one more than when it was written */
	LAUNCH(s, 7, 1 << 8, .begin = 77);
	LAUNCH(s, 7, (2 << 8) + 3, .begin = 78);
	n = finish(s);
	assert_int_equal(n.doubled, 1);
	assert_int_equal(n.launches, FAR + (FAR + 1) / 2 + 2);
	assert_int_equal(n.matched, 2 * (FAR - FAR / 4));
	assert_int_equal(n.nothing, FAR / 4 + (FAR + 1) / 2 + 1);
	KERNEL(s, 7, (1 << 8) + 9);
	KERNEL(s, 7, (2 << 8) + 3);
	assert_int_equal(s->launch.begin, 78);
	assert_int_equal(finish(s).nothing, n.nothing - 2);
}

/* Without a file, everything stays in memory. */
static void far_apart_without_a_file(void **state)
{
	setenv("TMPDIR", "/dev/null/nowhere", 1);
	far_apart(state);
	unsetenv("TMPDIR");
}

/* However many there are, so many are in memory. */
static void pages_in_memory(void **state)
{
	struct grt_launch_pages l;
	struct grt_launch_page *p;

	grt_launch_pages_init(&l, true);
	for (uint64_t i = 0; i < FAR; i++) {
		assert_int_equal(grt_launch_pages_add(&l, 1, i << 8, &p), 0);
		assert_int_equal(
			grt_launch_pages_put(&l, p, i << 8, &(struct grt_launch_entry){.node = 1}, i), 0);
	}
	assert_false(l.stuck);
	assert_int_equal(l.residents, GRT_LAUNCH_PAGES_RESIDENT);
	for (uint64_t i = 0; i < FAR; i++) {
		assert_int_equal(grt_launch_pages_find(&l, 1, i << 8, GRT_RECENT_WORK, &p), 0);
		assert_int_equal(p->begin[p->place[0]], i);
	}
	assert_int_equal(l.residents, GRT_LAUNCH_PAGES_RESIDENT);
	grt_launch_pages_free(&l);
}

#define IDS GRT_LAUNCH_PAGE_IDS

/* The launches of a page, by id; those with 0 as begin are none. */
static struct {
	struct grt_launch_entry entry;
	uint64_t begin;
	bool ended;
} is[FAR][IDS];

static uint64_t some(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* As many bits as a number of the given width has, any width. */
static uint64_t some_wide(unsigned int bits)
{
	unsigned int width = (unsigned int)(some() % (bits + 1));

	return width ? some() >> (64 - width) : 0;
}

/* Adds launches of @page, at most one of each id, in the order of ids or in any other one. */
static void put_some(struct grt_launch_pages *l, struct grt_launch_page *p, uint64_t page, unsigned int n)
{
	const unsigned int nodes = (unsigned int)(some() % 33), callers = (unsigned int)(some() % 30),
			   begins = (unsigned int)(some() % 60),
			   turn = page % 2 ? 1 : 2 * (unsigned int)some() + 1;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int at = i * turn % IDS;
		uint64_t id = page << GRT_LAUNCH_PAGE_BITS | at;

		if (is[page][at].begin)
			continue;
		is[page][at].entry =
			(struct grt_launch_entry){.node = (uint32_t)some_wide(nodes),
						  .caller = some_wide(callers) & ((1U << 29) - 1),
						  .seen = some() % 2,
						  .handed = some() % 2,
						  .outside = some() % 2};
		is[page][at].begin = (1ULL << 60) + some_wide(begins);
		is[page][at].ended = page % 3 && some() % 2;
		assert_int_equal(grt_launch_pages_put(l, p, id, &is[page][at].entry, is[page][at].begin), 0);
		p->ended[at / 64] |= (uint64_t)is[page][at].ended << at % 64;
	}
}

static void is_there(struct grt_launch_pages *l, uint64_t page)
{
	struct grt_launch_page *p;

	assert_int_equal(grt_launch_pages_find(l, 1, page << GRT_LAUNCH_PAGE_BITS, GRT_RECENT_WORK, &p), 0);
	assert_non_null(p);
	for (unsigned int at = 0; at < IDS; at++) {
		assert_int_equal(p->present[at / 64] >> at % 64 & 1, is[page][at].begin != 0);
		assert_int_equal(p->ended[at / 64] >> at % 64 & 1, is[page][at].ended);
		if (!is[page][at].begin)
			continue;
		assert_memory_equal(&p->entry[p->place[at]], &is[page][at].entry, sizeof(is[page][at].entry));
		assert_int_equal(p->begin[p->place[at]], is[page][at].begin);
	}
}

/* Launches of any kind come back as they were, also those of pages that grew after they had been in the file.
 */
static void pages_that_come_back(void **state)
{
	struct grt_launch_pages l;
	struct grt_launch_page *p;
	uint64_t end;

	grt_launch_pages_init(&l, true);
	for (uint64_t i = 0; i < FAR; i++) {
		assert_int_equal(grt_launch_pages_add(&l, 1, i << GRT_LAUNCH_PAGE_BITS, &p), 0);
		put_some(&l, p, i, 1 + (unsigned int)(some() % (i % 2 ? IDS : 20)));
	}
	for (uint64_t i = 0; i < FAR; i++)
		is_there(&l, i);
	for (unsigned int turn = 1; turn < 4; turn++) {
		for (uint64_t i = 0; i < FAR; i += turn) {
			assert_int_equal(grt_launch_pages_find(&l, 1, i << GRT_LAUNCH_PAGE_BITS,
							       GRT_RECENT_LAUNCH, &p),
					 0);
			put_some(&l, p, i, turn == 3 ? IDS : 60 * turn);
		}
		for (uint64_t i = 0; i < FAR; i++)
			is_there(&l, i);
	}
	/* a place that a page cannot outgrow is its last one */
	end = l.flushed + l.tail_used;
	for (uint64_t i = 0; i < FAR; i++) {
		assert_int_equal(grt_launch_pages_find(&l, 1, i << GRT_LAUNCH_PAGE_BITS, GRT_RECENT_WORK, &p),
				 0);
		p->changed = true;
	}
	for (uint64_t i = 0; i < FAR; i++)
		is_there(&l, i);
	assert_int_equal(l.flushed + l.tail_used, end);
	assert_false(l.stuck);
	grt_launch_pages_free(&l);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(joined),
		TEST(graph),
		TEST(earlier_than_its_launch),
		TEST(of_another_process),
		TEST(of_another_image),
		TEST(flushed_twice),
		TEST(what_brings_no_kernel),
		TEST(stamps),
		TEST(definitions),
		TEST(one_pid),
		TEST(recorders_node_first),
		TEST(how_far_stacks_reach),
		TEST(hostile),
		TEST(far_numbers),
		TEST(late_numbers),
		TEST(without_an_id),
		TEST(within),
		TEST(outside),
		TEST(far_apart),
		TEST(far_apart_without_a_file),
		TEST(pages_in_memory),
		TEST(pages_that_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
