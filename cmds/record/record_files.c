// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are made from a finished recording, see record_files.h. Each takes a pass through the
 * recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/flame.h"
#include "base/say.h"
#include "cuda/launch_flame.h"
#include "cmds/outfile.h"
#include "record_files.h"
#include "export/export.h"
#include "flamegraph/flamegraph.h"

#define NS_PER_US 1000U

static int record_files_read_failed(const char *path, int code, const struct grt_err *err)
{
	if (err->what[0])
		return cmd_error(EXIT_FAILED, err);
	return cmd_fail(EXIT_FAILED, strerror(-code), NULL, "cannot read %s", path);
}

/* ---------------------------------------------------------------- exports */

static int export_to(struct grt_session *s, const struct grt_export_row *row, struct outfile *out,
		     struct grt_err *err)
{
	struct grt_export x;
	int ret = grt_export_init(&x, row, s, out->fd);

	if (!ret)
		ret = grt_session_run(s, &x.c, 0, UINT64_MAX, err);
	ret = ret < 0 ? ret : grt_export_end(&x);
	grt_export_fini(&x);
	if (ret && !err->what[0])
		outfile_failed(out, ret, err);
	return ret ? ret : outfile_keep(out, err);
}

static int write_export(const char *path, const char *format, const char *file)
{
	struct grt_err err = {0};
	struct grt_session *s;
	struct outfile out;
	int ret;

	if (!file)
		return EXIT_DONE;
	if (grt_session_open(&s, path, &err))
		return cmd_error(EXIT_FAILED, &err);
	ret = outfile_open(&out, file, &err);
	if (!ret) {
		ret = export_to(s, grt_export_find(format), &out, &err);
		outfile_drop(&out);
	}
	grt_session_close(s);
	return ret ? record_files_read_failed(path, ret, &err) : EXIT_DONE;
}

/* ---------------------------------------------------------------- stacks */

/** struct merged - the consumer */
struct merged {
	struct grt_consumer c;
	struct grt_flame *flame;
	struct grt_stacks *tree;
};

static int record_files_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return grt_flame_event(((struct merged *)c)->flame, e);
}

static void record_files_print(const struct merged *m)
{
	struct grt_launches_count n = grt_launch_flame_count(grt_flame_launches(m->flame));

	grt_say(stderr,
		"grtrace record: %llu {launch|launches}, %llu {kernel|kernels}, %llu {copy|copies}; %llu {stack|stacks}, %.3f ms on the GPU\n",
		(unsigned long long)n.launches, (unsigned long long)n.kernels, (unsigned long long)n.copies,
		(unsigned long long)n.stacks, (double)(n.kernel_ns + n.copy_ns) / 1e6);
	fprintf(stderr,
		"  kernels and copies got their launch: %llu by correlation id, %llu were launched by the GPU, "
		"%llu have no launch in the trace; %llu have a stack\n",
		(unsigned long long)n.matched, (unsigned long long)n.by_gpu, (unsigned long long)n.unknown,
		(unsigned long long)n.with_stack);
	if (n.stack_cut || n.stack_none)
		fprintf(stderr,
			"  stacks that do not reach their thread's beginning: of %llu; without any frame: of %llu\n",
			(unsigned long long)n.stack_cut, (unsigned long long)n.stack_none);
	if (n.nothing)
		grt_say(stderr, "  %llu {launch has|launches have} no kernel: [GPU_Launch_Pending]\n",
			(unsigned long long)n.nothing);
	if (n.launches_lost || n.gpu_lost)
		grt_say(stderr, "  lost: %llu {launch|launches}, %llu {record|records} of the GPU\n",
			(unsigned long long)n.launches_lost, (unsigned long long)n.gpu_lost);
	if (n.undefined)
		grt_say(stderr,
			"  %llu {definition of stacks and names was|definitions of stacks and names were} invalid or lost\n",
			(unsigned long long)n.undefined);
}

static int build(struct merged *m, const char *path, struct grt_err *err)
{
	const struct grt_flame_shape shape = {0};
	struct grt_session *s;
	int ret = grt_session_open(&s, path, err);

	if (ret)
		return ret;
	ret = grt_session_run(s, &m->c, 0, UINT64_MAX, err);
	grt_session_close(s);
	if (ret >= 0)
		ret = grt_flame_tree(m->flame, &shape, m->tree, GRT_STACKS_NOW);
	if (!ret)
		grt_stacks_seal(m->tree);
	return ret < 0 ? ret : 0;
}

static int record_files_write_folded(const struct merged *m, const char *file, struct grt_err *err)
{
	const struct grt_flamegraph_look look = {.divide = NS_PER_US};
	struct grt_flamegraph_count count;
	struct outfile out;
	int ret = outfile_open(&out, file, err);

	if (ret)
		return ret;
	ret = grt_flamegraph_write(m->tree, GRT_FLAMEGRAPH_FOLDED, &look, out.fd, &count);
	ret = ret ? outfile_failed(&out, ret, err) : outfile_keep(&out, err);
	outfile_drop(&out);
	return ret;
}

/* The summary covers all stacks, whether they are requested or not. */
static int write_merged(const char *path, const char *file)
{
	struct merged m = {.c.event = record_files_on_event};
	struct grt_err err = {0};
	int ret = grt_flame_new(&m.flame);

	if (!ret)
		ret = grt_stacks_new(&m.tree);
	if (!ret)
		ret = build(&m, path, &err);
	if (!ret)
		record_files_print(&m);
	if (!ret && file)
		ret = record_files_write_folded(&m, file, &err);
	grt_stacks_free(m.tree);
	grt_flame_free(m.flame);
	return ret ? record_files_read_failed(path, ret, &err) : EXIT_DONE;
}

int record_files_write(const struct record_files *f, const char *path)
{
	int status = write_export(path, "chrome", f->chrome);

	if (status == EXIT_DONE)
		status = write_export(path, "extended_folded", f->cpu_folded);
	if (status == EXIT_DONE)
		status = write_export(path, "cupti_text", f->cupti_text);
	return status == EXIT_DONE ? write_merged(path, f->folded) : status;
}
