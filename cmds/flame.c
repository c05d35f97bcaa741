// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace flame: GPU time under the CPU code that requested it, as folded stacks or as a picture. Stacks of
 * any origin become one tree (lib/stack/stacks.h), which is written (lib/flamegraph/flamegraph.h). The
 * analysis that has the weight as its part (lib/analyses.def) makes the tree of a recording; take_folded()
 * and take_seeds() read other inputs.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyses.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd.h"
#include "cuda/seeds.h"
#include "flamegraph/flamegraph.h"
#include "merge/offset.h"
#include "outfile.h"
#include "reading.h"
#include "stack/folded_in.h"
#include "trace/session.h"

/* ----------------------------------------------------------- flame clock */

/* The offset between the clocks of the files of `flame --cpu` and `--gpu`, as typed or as estimated. */

/*
 * The offset between two clocks. The stack of a launch was taken during the call, or a
 * moment before it by a probe at the function's entry. So each pair limits the offset, and
 * lib/merge/offset.c finds the value that fits most pairs.
 */

/* The longest time from the entry of a function to the begin of its call according to CUPTI, ns. */
#define ENTRY 10000U

static int flame_clock_stack(void *arg, uint32_t tid, uint64_t ts)
{
	return grt_offset_submit(arg, tid, ts);
}

static int flame_clock_call(void *arg, uint32_t tid, uint64_t start, uint64_t end)
{
	return grt_offset_call(arg, tid, start > ENTRY ? start - ENTRY : 0, end);
}

static int flame_clock_no_answer(int code, const char *path)
{
	static const char fix[] = "--clock-offset NS with a number; or stacks that end in [correlation N]";

	if (code == -ENODATA)
		return cmd_fail(EXIT_FAILED, "the files share no thread that has both stacks and launches",
				fix, "%s: --clock-offset auto: the offset of the clocks is unknown", path);
	if (code == -EDOM)
		return cmd_fail(EXIT_FAILED, "no single offset puts most stacks into launches", fix,
				"%s: --clock-offset auto: the offset of the clocks is unknown", path);
	return cmd_fail(EXIT_FAILED, strerror(-code), NULL, "cannot read %s", path);
}

/* Stacks that name their launches are joined without their times, so the offset has no effect. */
static bool flame_clock_needless(const struct grt_seeds *s)
{
	const struct grt_seeds_count n = grt_seeds_count(s);

	if (!n.samples || n.named < n.samples)
		return false;
	fputs("grtrace flame: clock offset: not needed, because each stack has the correlation id of its launch\n",
	      stderr);
	return true;
}

/* The estimate is the offset of the stacks; that of the launches is its negative. */
static int flame_clock_estimate(struct grt_seeds *s, int fd, const char *path, int64_t *offset)
{
	struct grt_offset_result r = {0};
	struct grt_seeds_moments m = {.stack = flame_clock_stack, .call = flame_clock_call};
	struct grt_err err = {.what = ""};
	struct grt_offset *o;
	int ret = grt_offset_new(&o);

	m.arg = o;
	ret = ret ?: grt_seeds_moments(s, fd, &m) ?: grt_offset_find(o, &r, &err);
	grt_offset_free(o);
	if (ret)
		return flame_clock_no_answer(ret, path);
	*offset = -r.ns;
	grt_say(stderr,
		"grtrace flame: clock offset %+" PRId64 " ns, off by at most %" PRIu64 " ns: fits %" PRIu64
		" of %" PRIu64 " {stack|stacks}%s%s\n",
		*offset, r.error, r.agree, r.pairs,
		r.ordinal ? ", as many as launches" : ", by their times alone",
		r.same ? "; the clocks may be the same" : "");
	return EXIT_DONE;
}

/*
 * Sets the window and the offset with which stacks are joined to launches by time
 * @window: s; 0: the default
 * @offset: as typed, a number of ns or "auto"; NULL: not given
 * @fd, @path: the GPU's file
 * Return: EXIT_DONE, or another status after a message
 */
static int flame_clock_set(struct grt_seeds *s, double window, const char *offset, int fd, const char *path)
{
	uint64_t ns = window > 0 ? (uint64_t)(window * NS_PER_S) : GRT_SEEDS_WINDOW;
	int64_t apart = 0;
	char *end;
	int status = EXIT_DONE;

	if (offset && !strcmp(offset, "auto")) {
		if (!flame_clock_needless(s))
			status = flame_clock_estimate(s, fd, path, &apart);
	} else if (offset) {
		errno = 0;
		apart = strtoll(offset, &end, 10);
		if (*end || end == offset || isspace((unsigned char)*offset) || errno)
			status = cmd_usage_error("--clock-offset: '%s' is neither a number of ns nor auto",
						 offset);
	}
	grt_seeds_clock(s, ns, apart);
	return status;
}

/* ----------------------------------------------------------------- flame */

/* Bytes at the beginning of a file that show whether it has folded stacks. */
#define HEAD 65536U
/* A tenth of a pixel, like flamegraph.pl. */
#define MIN_DEFAULT 100U
#define MIN_MAX GRT_FLAMEGRAPH_WIDTH

static struct {
	const char *input;
	const char *output;
	struct filter filter;
	const char *by;
	const char *weight;
	const char *only;
	const char *min;
	const char *ranges;
	bool no_ranges;
	bool verbose;
	const char *title;
	const char *unit;
	const char *diff;
	const char *cpu;
	const char *gpu;
	double window;
	const char *offset;
} opt;

static const char by_words[] = ""
#define GRT_FLAME_BY(NAME, name, help) "|" #name
#include "stack/flame_shapes.def"
	;
static const char weight_words[] = ""
#define GRT_FLAME_WEIGHT(NAME, name, unit, help) "|" #name
#include "stack/flame_shapes.def"
	;
static const char only_words[] = ""
#define GRT_FLAME_ONLY(NAME, name, help) "|" #name
#include "stack/flame_shapes.def"
	;

static const struct cmd_opt options[] = {
	{"input", 'i', OPT_STR, "PATH", &opt.input,
	 "a trace, or folded stacks, also - (default: " DEFAULT_INPUT ")"},
	{"output", 'o', OPT_STR, "FILE", &opt.output,
	 "write to this file: .svg a picture, .html a page, .folded folded stacks, .pprof or .speedscope.json a profile (default: standard output)"},
	FILTER_OPTIONS(opt.filter, 0),
	{"by", 0, OPT_STR, by_words + 1, &opt.by, "group by this, as the root frame"},
	{"weight", 0, OPT_STR, weight_words + 1, &opt.weight, "the weight of a frame (default: time)"},
	{"only", 0, OPT_STR, only_words + 1, &opt.only, "keep only work of this kind"},
	{"min", 0, OPT_STR, "PIXELS", &opt.min, "SVG: draw no frames narrower than this (default: 0.1)"},
	{"ranges", 0, OPT_STR, "folded|full", &opt.ranges,
	 "NVTX ranges: keep the numbers in their names, or fold them (default: folded)"},
	{"no-ranges", 0, OPT_FLAG, NULL, &opt.no_ranges, "no frames of NVTX ranges"},
	{"title", 0, OPT_TEXT, "TEXT", &opt.title, "the picture's heading"},
	{"unit", 0, OPT_STR, "WORD", &opt.unit,
	 "unit of the weights of folded stacks: ns, us, B, or any word"},
	{"diff", 0, OPT_STR, "OTHER", &opt.diff,
	 "compare with this trace or these folded stacks: red grew, blue shrank"},
	{"cpu", 0, OPT_STR, "FILE", &opt.cpu,
	 "CPU stacks of another tool: lines of ts_ns comm pid tid cpu f1;f2;..."},
	{"gpu", 0, OPT_STR, "FILE", &opt.gpu,
	 "GPU records of another tool: text of CUPTI records, or a trace in JSON (PyTorch's; .gz too); joined with --cpu"},
	{"window", 0, OPT_SECONDS, "TIME", &opt.window,
	 "with --cpu and --gpu: largest time between a stack and its launch (default: 1ms)"},
	{"clock-offset", 0, OPT_STR, "NS|auto", &opt.offset,
	 "add this to the time stamps of --gpu; auto: estimate it from stacks and their launches"},
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose, "show why stacks end before the program's entry"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/**
 * struct graph - a flame graph
 * @folded: the input was folded stacks, whose unit is unknown
 * @about: program, host and time of the first recording
 * @notes: what the graph does not show, for all inputs
 */
struct graph {
	struct grt_stacks *tree;
	struct grt_flame_shape shape;
	struct grt_flamegraph_look look;
	bool folded;
	char about[1024];
	struct grt_notes notes;
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* --------------------------------------------------------- recordings */

/*
 * Prints notes about what the picture does not show; a note that begins with blanks continues the previous
 * one.
 */
static void flame_print_notes(const struct grt_notes *notes, unsigned int first)
{
	for (unsigned int i = first; i < notes->n; i++) {
		fputs(notes->text[i][0] == ' ' ? "" : "grtrace flame: ", stderr);
		cmd_put_text(stderr, notes->text[i]);
		fputc('\n', stderr);
	}
}

/* What to type if an input cannot be opened, by errno. */
static const char *flame_open_fix(void)
{
	return errno == ENOENT	 ? "ls, which shows the right name"
	       : errno == EACCES ? "the same command with sudo, or as the owner of the file"
				 : NULL;
}

static int no_tree(const struct grt_flame_shape *shape, int code, const char *path)
{
	if (code == -ENODATA && grt_flame_is_sampled(shape))
		return cmd_fail(EXIT_FAILED, "it has no PC samples, or none with this weight",
				"grtrace record -e cuda --pc-sampling -- PROGRAM", "%s: nothing to add up",
				path);
	if (code == -ENODATA)
		return cmd_fail(EXIT_FAILED,
				"jobs have no size in bytes, and it has no copy whose size is known",
				"--weight time or --weight launches", "%s: cannot add up bytes", path);
	if (code == -EOVERFLOW)
		return cmd_fail(EXIT_FAILED, "the sum of its times is more than 2^63 ns", NULL,
				"%s: cannot add up", path);
	return cmd_fail(EXIT_FAILED, strerror(-code), NULL, "%s: cannot read", path);
}

/* Which recordings have such weights, or which weights such recordings. */
static const char *flame_recorder(const struct grt_flame_shape *shape)
{
	if (shape->only)
		return "grtrace flame PATH, without --only";
	switch (shape->weight) {
	case GRT_FLAME_WEIGHT_BYTES:
		return "--weight time or --weight launches";
	case GRT_FLAME_WEIGHT_WALL:
		return "grtrace record -e sched -- PROG, which follows threads";
	case GRT_FLAME_WEIGHT_LIVE:
	case GRT_FLAME_WEIGHT_PEAK:
		return "grtrace record -e cuda -- PROG, or -e nvmem, of all processes on NVIDIA's driver";
	default:
		return "grtrace record --stack=bpf -- PROG; or --weight wall, where threads were followed (-e sched)";
	}
}

/* A picture without frames would look as if nothing had happened. */
static int flame_is_empty(const struct graph *g, const char *path)
{
	bool narrowed = grt_filter_any(&opt.filter.f) || opt.filter.from.set || opt.filter.to.set;
	const char *why = "it has nothing with this weight";
	char only[64];

	if (narrowed)
		why = "nothing that the filters select has this weight";
	else if (g->shape.weight == GRT_FLAME_WEIGHT_BYTES)
		why = "only copies have a size in bytes, and it shows none";
	else if (g->shape.only) {
		snprintf(only, sizeof(only), "it has no %s", opt.only);
		why = only;
	}
	return cmd_fail(EXIT_FAILED, why,
			narrowed ? "grtrace report PATH, which shows its contents"
				 : flame_recorder(&g->shape),
			"%s: --weight %s: nothing to draw", path,
			grt_flame_weight_words[g->shape.weight ? g->shape.weight - 1 : 0]);
}

/* Shows everything that was read before a fault, and then reports the fault. */
static int flame_take_events(struct graph *g, struct grt_analyses *a, struct grt_session *s, const char *path,
			     const struct reading_span *span)
{
	unsigned int told = g->notes.n;
	struct grt_err err = {0};
	int ret, code;

	a->pass.filter = grt_filter_any(&opt.filter.f) ? &opt.filter.f : NULL;
	a->pass.notes = &g->notes;
	a->pass.verbose = opt.verbose;
	a->pass.first = opt.filter.from.set ? span->first : 0;
	a->pass.last = opt.filter.to.set ? span->last : UINT64_MAX;
	if (grt_analyses_begin(a))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	grt_analyses_consume(a);
	grt_session_whole(s);
	ret = grt_session_run(s, &a->c, a->pass.first, a->pass.last, &err);
	code = ret < 0 ? EXIT_DONE : filter_found(&opt.filter, path);
	if (code != EXIT_DONE)
		return code;
	code = ret < 0 ? 0 : grt_analyses_finish(a);
	g->look.estimated |= a->pass.estimated;
	if (code)
		return no_tree(&g->shape, code, path);
	if (ret >= 0)
		grt_analyses_notes(a);
	flame_print_notes(&g->notes, told);
	code = reading_faults(s, path, 0, ret, &err);
	if (code == EXIT_DONE && a->pass.side == GRT_STACKS_NOW && !grt_stacks_total(g->tree, GRT_STACKS_NOW))
		return flame_is_empty(g, path);
	return code;
}

static void flame_add_about(struct graph *g, const char *before, const char *text)
{
	size_t used = strlen(g->about);

	if (text && *text)
		snprintf(g->about + used, sizeof(g->about) - used, "%s%s", used ? before : "", text);
}

/* In a comparison, describes the first recording. */
static void flame_set_about(struct graph *g, const struct grt_session *s, const struct reading_span *span)
{
	char text[GRT_UNITS_MAX];

	if (*g->about)
		return;
	flame_add_about(g, "", grt_session_env(s, "command"));
	flame_add_about(g, " on ", grt_session_env(s, "hostname"));
	flame_add_about(g, ", Linux ", grt_session_env(s, "kernel"));
	grt_units_ns(text, span->last - span->first);
	flame_add_about(g, ", ", span->known ? text : NULL);
}

static int check_shape(const struct grt_flame_shape *shape)
{
	bool wall = shape->weight == GRT_FLAME_WEIGHT_WALL;
	bool memory = shape->weight == GRT_FLAME_WEIGHT_LIVE || shape->weight == GRT_FLAME_WEIGHT_PEAK;

	if (memory && shape->only)
		return cmd_usage_error("--only selects GPU work: it does not work with --weight %s",
				       grt_flame_weight_words[shape->weight - 1]);
	if (memory && shape->by && shape->by != GRT_FLAME_BY_PROCESS && shape->by != GRT_FLAME_BY_DEVICE)
		return cmd_usage_error("--by %s: --weight %s works only with process and device",
				       grt_flame_by_words[shape->by - 1],
				       grt_flame_weight_words[shape->weight - 1]);
	if (wall && shape->only)
		return cmd_usage_error("--only selects GPU work: it does not work with --weight wall");
	if (wall && shape->by && shape->by != GRT_FLAME_BY_PROCESS && shape->by != GRT_FLAME_BY_THREAD)
		return cmd_usage_error("--by %s: --weight wall works only with process and thread",
				       grt_flame_by_words[shape->by - 1]);
	if (!wall && shape->by == GRT_FLAME_BY_THREAD)
		return cmd_usage_error(
			"--by thread works only with --weight wall: GPU time is not attributed to threads");
	return EXIT_DONE;
}

static int take_recording(struct graph *g, struct grt_session *s, const char *path, enum grt_stacks_side side)
{
	const char *weight = grt_flame_weight_words[g->shape.weight ? g->shape.weight - 1 : 0];
	struct grt_analyses a = {.pass = {.shape = &g->shape, .tree = g->tree, .side = side}};
	struct reading_span span;
	int status = check_shape(&g->shape);

	if (status == EXIT_DONE)
		status = filter_session(&opt.filter, s, false);
	if (status == EXIT_DONE)
		status = reading_span(s, &opt.filter.from, &opt.filter.to, &span);
	if (status != EXIT_DONE)
		return status;
	/* memory is known from CUDA's own records, or from the driver's */
	grt_analyses_want_named(&a, weight, GRT_PART_FLAME);
	if (g->shape.all && !g->shape.only)
		grt_analyses_want(
			&a, grt_part_find(grt_flame_weight_words[GRT_FLAME_WEIGHT_WALL - 1], GRT_PART_FLAME));
	flame_set_about(g, s, &span);
	status = flame_take_events(g, &a, s, path, &span);
	filter_free(&opt.filter);
	grt_analyses_free(&a);
	return status;
}

/* ------------------------------------------------------ folded stacks */

static void print_folded(const char *path, const struct grt_folded_count *n)
{
	fputs("grtrace flame: ", stderr);
	cmd_put_text(stderr, path);
	grt_say(stderr, ": %llu {line|lines}, %llu {stack|stacks}\n", (unsigned long long)n->lines,
		(unsigned long long)n->stacks);
	if (n->bad)
		grt_say(stderr,
			"  %llu {line does|lines do} not end with a weight and {is|are} not in it, the first is line %llu\n",
			(unsigned long long)n->bad, (unsigned long long)n->first_bad);
	if (n->cut)
		grt_say(stderr, "  %llu {stack is|stacks are} too deep: {it ends|they end} after %u frames\n",
			(unsigned long long)n->cut, GRT_STACKS_DEPTH_MAX);
}

static int take_folded(struct graph *g, int fd, const char *path, enum grt_stacks_side side)
{
	struct grt_folded_count n = {0};
	struct grt_err err;

	if (g->shape.by || g->shape.weight || g->shape.only || opt.filter.from.set || opt.filter.to.set)
		return cmd_usage_error(
			"%s is folded stacks: they have no --by, --weight, --only, --from and --to", path);
	g->folded = true;
	if (grt_folded_read(fd, path, g->tree, side, &n, &err))
		return cmd_error(EXIT_FAILED, &err);
	print_folded(path, &n);
	if (n.lines && !n.stacks)
		return cmd_fail(EXIT_FAILED, "no line has the form FRAME;FRAME;... NUMBER", NULL,
				"%s: no folded stacks", path);
	return EXIT_DONE;
}

/* Return: whether a file begins like folded stacks. */
static bool looks_folded(int fd)
{
	char *head = malloc(HEAD);
	ssize_t n = head ? pread(fd, head, HEAD, 0) : 0;
	bool yes = n > 0 && grt_folded_takes(head, (size_t)n);

	free(head);
	return yes;
}

static bool is_named_folded(const char *path)
{
	static const char end[] = ".folded";
	size_t len = strlen(path);

	return len > sizeof(end) - 1 && !strcmp(path + len - (sizeof(end) - 1), end);
}

/* A file that no reader of traces recognises may have folded stacks; @err is the readers' error. */
static int take_file(struct graph *g, const char *path, enum grt_stacks_side side, const struct grt_err *err)
{
	int fd = !strcmp(path, "-") ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int status;

	if (fd < 0 && err)
		return cmd_error(cmd_open_status(-errno), err);
	if (fd < 0)
		return cmd_fail(cmd_open_status(-errno), strerror(errno), flame_open_fix(), "cannot open %s",
				path);
	status = err && !looks_folded(fd) ? cmd_error(EXIT_FAILED, err) : take_folded(g, fd, path, side);
	if (fd != STDIN_FILENO)
		close(fd);
	return status;
}

static int flame_take(struct graph *g, const char *path, enum grt_stacks_side side)
{
	struct grt_session *s;
	struct grt_err err;
	int status;

	if (!strcmp(path, "-") || is_named_folded(path))
		return take_file(g, path, side, NULL);
	if (grt_session_open(&s, path, &err))
		return take_file(g, path, side, &err);
	status = take_recording(g, s, path, side);
	grt_session_close(s);
	return status;
}

/* ---------------------------------------------- files of other tools */

static void print_seeds(const struct grt_seeds_count *n)
{
	double window = opt.window > 0 ? opt.window * 1e6 : (double)GRT_SEEDS_WINDOW / 1000;

	grt_say(stderr,
		"grtrace flame: %llu {CPU stack|CPU stacks}; %llu {launch|launches} and %llu {kernel or copy|kernels and copies}, %.3f ms\n",
		(unsigned long long)n->samples, (unsigned long long)n->calls, (unsigned long long)n->ops,
		(double)n->ns / 1e6);
	if (n->calls && n->samples)
		fprintf(stderr,
			"  launches got their stack: %llu by correlation id, %llu by thread and order, "
			"%llu by time (within %.10g us), %llu have none\n",
			(unsigned long long)n->by_id, (unsigned long long)n->by_order,
			(unsigned long long)n->by_window, window, (unsigned long long)n->no_stack);
	if (n->no_call && n->samples)
		grt_say(stderr,
			"  %llu {kernel or copy has|kernels and copies have} no launch with a stack: [unmatched]\n",
			(unsigned long long)n->no_call);
	if (n->pending)
		grt_say(stderr, "  %llu {launch has|launches have} no kernel: [GPU_Launch_Pending]\n",
			(unsigned long long)n->pending);
	if (n->unsized)
		grt_say(stderr,
			"  the size of %llu {copy|copies} is unknown: {it counts|they count} as 0 bytes\n",
			(unsigned long long)n->unsized);
	if (n->bad_samples)
		grt_say(stderr,
			"  %llu {line is not a CPU stack|lines are not CPU stacks}, the first is line %llu\n",
			(unsigned long long)n->bad_samples, (unsigned long long)n->first_bad);
	if (n->gpu.bad || n->gpu.other)
		grt_say(stderr,
			"  GPU file: %llu {line is not a record|lines are not records}, %llu {record|records} cannot be read\n",
			(unsigned long long)n->gpu.other, (unsigned long long)n->gpu.bad);
}

static int flame_clock(struct grt_seeds *s)
{
	int fd, status;

	if (!opt.cpu || !opt.gpu)
		return EXIT_DONE;
	fd = open(opt.gpu, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cmd_fail(EXIT_FAILED, strerror(errno), flame_open_fix(), "cannot open %s", opt.gpu);
	status = flame_clock_set(s, opt.window, opt.offset, fd, opt.gpu);
	close(fd);
	return status;
}

/* Passes a file to a function that reads it. */
static int with_file(struct grt_seeds *s, const char *path, int (*read)(struct grt_seeds *s, int fd))
{
	int fd, ret;

	if (!path)
		return EXIT_DONE;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cmd_fail(EXIT_FAILED, strerror(errno), flame_open_fix(), "cannot open %s", path);
	ret = read(s, fd);
	close(fd);
	if (ret == -EPROTO)
		return cmd_fail(EXIT_FAILED, "it is not a trace in JSON, or it ends before the first event",
				NULL, "%s: cannot read further after event %llu", path,
				(unsigned long long)grt_seeds_count(s).gpu.lines);
	if (ret == -ENOSYS)
		return cmd_fail(EXIT_FAILED, "this program was built without zlib", "gunzip it",
				"cannot read %s", path);
	return ret ? cmd_fail(EXIT_FAILED, strerror(-ret),
			      ret == -ESPIPE ? "copy it to a file first: cat PATH > FILE" : NULL,
			      "cannot read %s", path)
		   : EXIT_DONE;
}

static int join_seeds(struct graph *g, struct grt_seeds *s)
{
	int status = with_file(s, opt.cpu, grt_seeds_cpu);
	struct grt_seeds_count n;

	if (status == EXIT_DONE)
		status = flame_clock(s);
	if (status == EXIT_DONE)
		status = with_file(s, opt.gpu, grt_seeds_gpu);
	if (status != EXIT_DONE)
		return status;
	n = grt_seeds_count(s);
	if (opt.cpu && !n.samples)
		return cmd_fail(EXIT_FAILED, "no line has the form ts_ns comm pid tid cpu f1;f2;...", NULL,
				"%s: no CPU stacks", opt.cpu);
	if (opt.gpu && !n.gpu.records)
		return cmd_fail(
			EXIT_FAILED,
			"it has no record of CUPTI, and no event of JSON in a category of kernels or calls",
			"grtrace record -e cuda -- PROG", "%s: no GPU records", opt.gpu);
	grt_stacks_free(g->tree);
	g->tree = grt_seeds_take(s);
	print_seeds(&n);
	if (n.gpu.cut)
		return cmd_fail(EXIT_FAILED,
				"its writer was killed, the disk was full, or the copy is incomplete",
				"use the part that was read, or record again", "%s: cut after event %llu",
				opt.gpu, (unsigned long long)n.gpu.lines);
	return EXIT_DONE;
}

static int take_seeds(struct graph *g)
{
	struct grt_seeds *s;
	int status;

	if (filter_check(&opt.filter, ~0U, "files of --cpu and --gpu can only be used as a whole") !=
	    EXIT_DONE)
		return EXIT_USAGE;
	if (g->shape.weight == GRT_FLAME_WEIGHT_WALL || g->shape.by == GRT_FLAME_BY_THREAD)
		return cmd_usage_error(
			"--weight wall needs a recording with threads: --cpu and --gpu have none");
	if (grt_flame_is_sampled(&g->shape))
		return cmd_usage_error(
			"--weight %s needs a recording with PC samples: --cpu and --gpu have none",
			grt_flame_weight_words[g->shape.weight - 1]);
	if (!opt.gpu && (g->shape.by || g->shape.weight || g->shape.only))
		return cmd_usage_error("--by, --weight and --only need --gpu");
	if (grt_seeds_new(&s, &g->shape))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	status = join_seeds(g, s);
	grt_seeds_free(s);
	if (!opt.gpu)
		g->look.unit = "samples";
	else if (!g->shape.weight || g->shape.weight == GRT_FLAME_WEIGHT_TIME)
		g->look.divide = 1000;
	return status;
}

/* ------------------------------------------------------------- output */

static void print_drawn(const struct graph *g, const struct grt_flamegraph_count *n)
{
	grt_say(stderr, "  %llu {frame|frames} drawn", (unsigned long long)n->drawn);
	if (n->narrow)
		fprintf(stderr, "; %llu with %.2f %% of the weight are narrower than %s pixels",
			(unsigned long long)n->narrow,
			percent(n->narrow_weight, grt_stacks_total(g->tree, GRT_STACKS_NOW)),
			opt.min ? opt.min : "0.1");
	fputc('\n', stderr);
	if (n->gone_weight)
		fprintf(stderr, "  %.2f %% of the weight before is gone\n",
			percent(n->gone_weight, grt_stacks_total(g->tree, GRT_STACKS_BEFORE)));
}

/* Return: the default for the outermost frames. */
static const char *flame_levels(const struct graph *g)
{
	const struct grt_flame_shape *shape = &g->shape;

	if (g->folded || opt.cpu || opt.gpu)
		return NULL;
	if (shape->all)
		return GRT_FLAME_LABEL_WORDS " process";
	if (shape->weight == GRT_FLAME_WEIGHT_WALL)
		return shape->by == GRT_FLAME_BY_PROCESS ? "process" : "process thread";
	return !shape->by || shape->by == GRT_FLAME_BY_PROCESS ? "process"
							       : grt_flame_by_words[shape->by - 1];
}

/* The unit of folded stacks is unknown. */
static const char *flame_weight(const struct graph *g)
{
	if (g->folded)
		return NULL;
	return grt_flame_weight_words[g->shape.weight ? g->shape.weight - 1 : GRT_FLAME_WEIGHT_TIME - 1];
}

static int flame_write_out(struct graph *g)
{
	enum grt_flamegraph_form form = grt_flamegraph_form(opt.output);
	struct grt_flamegraph_count count;
	struct outfile out;
	struct grt_err err;
	int ret;

	if (!opt.output)
		terminal_page();
	grt_stacks_seal(g->tree);
	if (opt.unit || !g->look.unit)
		g->look.unit = opt.unit ? opt.unit : g->folded ? "" : grt_flame_unit(&g->shape);
	g->look.about = g->about;
	g->look.levels = flame_levels(g);
	g->look.labels = g->shape.all && !g->folded ? GRT_FLAME_LABELS : 0;
	g->look.weight = flame_weight(g);
	g->look.notes = &g->notes;
	if (outfile_open(&out, opt.output, &err))
		return cmd_error(EXIT_FAILED, &err);
	ret = grt_flamegraph_write(g->tree, form, &g->look, out.fd, &count);
	if (ret)
		outfile_failed(&out, ret, &err);
	else
		ret = outfile_keep(&out, &err);
	outfile_drop(&out);
	if (ret)
		return cmd_error(EXIT_FAILED, &err);
	if (grt_flamegraph_drawn(form))
		print_drawn(g, &count);
	return cmd_close_stdout();
}

/* ------------------------------------------------------- command line */

/* The number of a word of flame_shapes.def. Return: EXIT_DONE, or EXIT_USAGE after a message */
static int flame_take_word(const char *option, const char *word, const char *const *words,
			   unsigned int *number)
{
	char all[128] = "";

	for (unsigned int i = 0; word && words[i]; i++) {
		if (!strcmp(word, words[i])) {
			*number = i + 1;
			return EXIT_DONE;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "", words[i]);
	}
	return word ? cmd_usage_error("--%s: '%s' is not one of: %s", option, word, all) : EXIT_DONE;
}

/* enum grt_flame_ranges, by number from 1 */
static const char *const range_words[] = {"folded", "full", NULL};

static int take_shape(struct grt_flame_shape *shape)
{
	unsigned int by = 0, weight = 0, only = 0, ranges = 0;
	int status = flame_take_word("by", opt.by, grt_flame_by_words, &by);

	if (status == EXIT_DONE)
		status = flame_take_word("weight", opt.weight, grt_flame_weight_words, &weight);
	if (status == EXIT_DONE)
		status = flame_take_word("only", opt.only, grt_flame_only_words, &only);
	if (status == EXIT_DONE)
		status = flame_take_word("ranges", opt.ranges, range_words, &ranges);
	if (status == EXIT_DONE && ranges && opt.no_ranges)
		status = cmd_usage_error("--ranges and --no-ranges: use only one of them");
	*shape = (struct grt_flame_shape){
		by,
		weight,
		only,
		opt.no_ranges ? GRT_FLAME_RANGES_NONE
		: ranges == 2 ? GRT_FLAME_RANGES_FULL
			      : GRT_FLAME_RANGES_FOLDED,
		.compared = opt.diff,
		.places = !opt.diff && grt_flamegraph_has_places(grt_flamegraph_form(opt.output)),
		.all = !opt.diff && !by && !weight && !opt.cpu && !opt.gpu &&
		       grt_flamegraph_has_values(grt_flamegraph_form(opt.output))};
	return status;
}

static int take_look(struct grt_flamegraph_look *look)
{
	char *end = NULL;
	double min = opt.min ? strtod(opt.min, &end) : 0;

	if (opt.min && (end == opt.min || *end || !isdigit((unsigned char)*opt.min) || min > MIN_MAX))
		return cmd_usage_error("--min: '%s' is not understood (wanted: pixels, 0 to %u)", opt.min,
				       MIN_MAX);
	*look = (struct grt_flamegraph_look){.title = opt.title,
					     .min = opt.min ? (uint64_t)(min * 1000 + 0.5) : MIN_DEFAULT};
	return EXIT_DONE;
}

static int cmd_flame_run(struct graph *g, const char *path)
{
	int status, fault;

	if (grt_stacks_new(&g->tree))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	fault = opt.cpu || opt.gpu ? take_seeds(g) : flame_take(g, path, GRT_STACKS_NOW);
	if (fault == EXIT_DONE && opt.diff)
		fault = flame_take(g, opt.diff, GRT_STACKS_BEFORE);
	/* if the trace has a fault, everything before the fault is drawn */
	status = fault == EXIT_DONE || grt_stacks_total(g->tree, GRT_STACKS_NOW) ? flame_write_out(g) : fault;
	grt_stacks_free(g->tree);
	return status != EXIT_DONE ? status : fault;
}

static const char endings[] = ""
#define GRT_FLAMEGRAPH_FORM(NAME, name, endings, drawn, places, help) " " endings
#include "flamegraph/forms.def"
	;
static const char ending_help[] = ""
#define GRT_FLAMEGRAPH_FORM(NAME, name, endings, drawn, places, help) ", " help
#include "flamegraph/forms.def"
	;

static int output_usage(const char *path)
{
	const char *const input[] = {path, opt.diff, opt.cpu, opt.gpu};
	int status = outfile_ending_usage(opt.output, endings + 1, ending_help + 2);

	for (size_t i = 0; i < sizeof(input) / sizeof(input[0]) && status == EXIT_DONE; i++)
		status = outfile_usage(opt.output, input[i]);
	return status;
}

static int flame_run(int argc, char **argv)
{
	const char *path = opt.input ? opt.input : argc ? argv[0] : DEFAULT_INPUT;
	struct graph g = {0};
	int status = take_shape(&g.shape);

	if (status == EXIT_DONE)
		status = take_look(&g.look);
	opt.filter.f.joins = true;
	if (status == EXIT_DONE)
		status = filter_check(&opt.filter, FILTER_TYPE,
				      "its weights are joined from events of several types");
	if (status != EXIT_DONE)
		return status;
	if (argc > 1 || (argc && opt.input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	if ((opt.cpu || opt.gpu) && (opt.input || argc))
		return cmd_usage_error("with --cpu and --gpu there is no other input: remove '%s'", path);
	if (!opt.cpu && !opt.gpu && !opt.input && !argc && access(path, F_OK))
		return cmd_fail(EXIT_FAILED, "there is no such recording",
				"grtrace record --stack=bpf -- PROG", "cannot open %s", path);
	if ((opt.window > 0 || opt.offset) && !(opt.cpu && opt.gpu))
		return cmd_usage_error("--window and --clock-offset join --cpu and --gpu: give both files");
	status = output_usage(opt.cpu || opt.gpu ? NULL : path);
	return status == EXIT_DONE ? cmd_flame_run(&g, path) : status;
}

const struct cmd cmd_flame = {
	.reads = true,
	.usage = "[PATH] [-i PATH] [-o FILE] [--by WORD] [--diff OTHER] [--pid PID] [--device GPU]",
	.opts = options,
	.run = flame_run,
};
