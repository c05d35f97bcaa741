// SPDX-License-Identifier: GPL-2.0
/*
 * joined DIR: what lib/cuda/launches.c says of a recording: a line of counts,
 * and for each function that was called how often and what came of it.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/launches.h"
#include "codes/cuda_codes.h"

struct row {
	const char *name;
	uint64_t launches;
	uint64_t work;
	uint64_t nothing;
};

struct joined {
	struct grt_consumer c;
	struct grt_launches *l;
	struct row row[512];
	unsigned int rows;
	uint64_t graph_kernels;
	uint64_t depth;
	uint64_t whole;
	uint64_t python;
};

static struct row *row_of(struct joined *j, uint16_t call)
{
	const char *name = grt_cuda_call(call) ? grt_cuda_call(call)->name : "unknown";
	unsigned int i;

	for (i = 0; i < j->rows; i++)
		if (!strcmp(j->row[i].name, name))
			return &j->row[i];
	j->row[j->rows].name = name;
	return &j->row[j->rows++];
}

/* How deep its stack is, whether it ends at the thread's beginning, and whether Python is in it. */
static void look_at_stack(struct joined *j, const struct grt_launch *l)
{
	const struct grt_image_node *n = grt_image_node(l->image, l->node);
	bool python = false, whole = false;

	for (; n; n = grt_image_node(l->image, n->caller)) {
		j->depth += n->ip || n->file;
		python |= n->file != 0;
		whole = !n->caller && !n->ip && !n->function;
	}
	j->python += python;
	j->whole += whole;
}

static int on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
		   const struct grt_launch *launch, enum grt_launched_how how)
{
	struct joined *j = arg;

	(void)image;
	(void)how;
	if (!launch)
		return 0;
	row_of(j, launch->call)->work += e->type != GRT_EV_GPU_SYNC;
	if (e->type != GRT_EV_GPU_KERNEL)
		return 0;
	j->graph_kernels += ((const struct grt_ev_gpu_kernel *)e)->graph_node != 0;
	look_at_stack(j, launch);
	return 0;
}

static int on_nothing(void *arg, const struct grt_launch *launch)
{
	row_of(arg, launch->call)->nothing++;
	return 0;
}

static int on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct joined *j = (struct joined *)c;

	(void)cpu;
	if (e->type == GRT_EV_LAUNCH)
		row_of(j, ((const struct grt_ev_launch *)e)->call)->launches++;
	return grt_launches_event(j->l, e);
}

#define U(n) ((unsigned long long)(n))

static void print(const struct joined *j)
{
	struct grt_launches_count n = grt_launches_count(j->l);
	const struct grt_images *m = grt_launches_images(j->l);
	uint64_t cut = 0, nodes = 0;
	uint32_t i;

	for (i = 0; i < m->images; i++)
		cut += m->image[i]->process.stacks_cut;
	for (i = 0; i < m->images; i++)
		nodes += m->image[i]->nodes;
	printf("launches=%llu failed=%llu captured=%llu lost=%llu+%llu kernels=%llu copies=%llu syncs=%llu matched=%llu by_gpu=%llu unknown=%llu syncs_matched=%llu nothing=%llu open=%llu no_stamps=%llu with_stack=%llu no_end=%llu doubled=%llu graph_kernels=%llu processes=%u\n",
	       U(n.launches), U(n.failed), U(n.captured), U(n.launches_lost), U(n.gpu_lost), U(n.kernels),
	       U(n.copies), U(n.syncs), U(n.matched), U(n.by_gpu), U(n.unknown), U(n.syncs_matched),
	       U(n.nothing), U(n.open), U(n.no_stamps), U(n.with_stack), U(n.no_end), U(n.doubled),
	       U(j->graph_kernels), m->images);
	printf("gpu_ms=%.3f mean_depth=%.1f whole_stacks=%llu python_stacks=%llu stacks_cut=%llu nodes=%llu dropped=%llu\n",
	       (double)n.kernel_ns / 1e6, n.kernels ? (double)j->depth / (double)n.kernels : 0, U(j->whole),
	       U(j->python), U(cut), U(nodes), U(m->dropped));
	for (i = 0; i < j->rows; i++)
		printf("call %s launches=%llu work=%llu nothing=%llu\n", j->row[i].name,
		       U(j->row[i].launches), U(j->row[i].work), U(j->row[i].nothing));
}

int main(int argc, char **argv)
{
	struct joined j = {.c = {.event = on_event}};
	struct grt_launches_sink sink = {.work = on_work, .nothing = on_nothing, .arg = &j};
	struct grt_err err = {0};
	struct grt_session *s;

	if (argc != 2 || grt_launches_new(&j.l, &sink))
		return 2;
	if (grt_session_open(&s, argv[1], &err) || grt_session_run(s, &j.c, 0, UINT64_MAX, &err) ||
	    grt_launches_flush(j.l)) {
		printf("%s: %s\n", err.what, err.why);
		return 1;
	}
	print(&j);
	grt_session_close(s);
	grt_launches_free(j.l);
	return 0;
}
