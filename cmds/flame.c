// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace flame: GPU time under the CPU code that submitted it, as folded
 * stacks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/flame.h"
#include "reading.h"

static struct {
	const char *input;
	const char *output;
	struct opt_time from;
	struct opt_time to;
} opt;

static const struct cmd_opt options[] = {
	{"input", 'i', OPT_STR, "PATH", &opt.input, "the trace (default: " DEFAULT_INPUT ")"},
	{"output", 'o', OPT_STR, "FILE", &opt.output, "write here (default: standard output)"},
	{"from", 0, OPT_TIME, "T", &opt.from,
	 "begin here: seconds as printed, +T from the start, -T from the end"},
	{"to", 0, OPT_TIME, "T", &opt.to, "end here"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/** struct flame - the consumer */
struct flame {
	struct grt_consumer c;
	struct grt_flame *flame;
};

static int on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_flame_event(((struct flame *)c)->flame, e);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* What the picture does not show is said beside it. */
static void tell(const struct grt_flame_count *n)
{
	fprintf(stderr, "grtrace flame: %llu jobs, %.3f ms of GPU time, %.1f %% of it under a stack\n",
		(unsigned long long)n->jobs, (double)n->ns / 1e6,
		n->ns ? 100 - percent(n->no_stack_ns, n->ns) : 0);
	if (n->sampled)
		fputs("  jobs were sampled: counts and times are estimates for all jobs\n", stderr);
	if (n->inferred_ns)
		fprintf(stderr, "  of %.1f %% the start is concluded from the ring's order, not observed\n",
			percent(n->inferred_ns, n->ns));
	if (n->untimed)
		fprintf(stderr, "  %llu jobs without a known time on the GPU are not in it\n",
			(unsigned long long)n->untimed);
	if (n->dropped)
		fprintf(stderr, "  %llu frames of stacks beyond the first %u are missing\n",
			(unsigned long long)n->dropped, GRT_FLAME_STACKS_MAX);
	if (n->jobs && n->no_stack == n->jobs)
		fputs("  try: grtrace record --stack=bpf, which takes the stack of each submit\n", stderr);
}

static int no_output(const char *path)
{
	return cmd_fail(EXIT_FAILED, strerror(errno), NULL, "cannot write %s", path);
}

/* Whole or not at all: the file takes its name when it is written. */
static int write_file(struct grt_flame *f, const char *path)
{
	char *temp = NULL;
	int fd = asprintf(&temp, "%s.XXXXXX", path) < 0 ? -1 : mkostemp(temp, O_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int ret = out ? grt_flame_write(f, out) : -errno;

	if (out && fclose(out) && !ret)
		ret = -errno;
	if (!ret && rename(temp, path))
		ret = -errno;
	if (ret && fd >= 0)
		unlink(temp);
	free(temp);
	errno = -ret;
	return ret ? no_output(path) : EXIT_DONE;
}

static int write_out(struct flame *f, struct grt_session *s, const char *path, int ret,
		     const struct grt_err *err)
{
	struct grt_flame_count n;
	int status = EXIT_DONE;

	if (ret >= 0 && opt.output)
		status = write_file(f->flame, opt.output);
	else if (ret >= 0)
		ret = grt_flame_write(f->flame, stdout);
	n = grt_flame_count(f->flame);
	if (status != EXIT_DONE)
		return status;
	if (ret >= 0)
		tell(&n);
	return reading_judge(s, path, 0, ret, err);
}

static int fold(struct grt_session *s, const char *path)
{
	struct flame f = {.c.event = on_event};
	struct reading_span span;
	struct grt_err err = {0};
	int ret, status = reading_span(s, &opt.from, &opt.to, &span);

	if (status != EXIT_DONE)
		return status;
	if (grt_flame_new(&f.flame))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	ret = grt_session_run(s, &f.c, opt.from.set ? span.first : 0, opt.to.set ? span.last : UINT64_MAX,
			      &err);
	status = write_out(&f, s, path, ret, &err);
	grt_flame_free(f.flame);
	return status;
}

static int flame_run(int argc, char **argv)
{
	const char *path = opt.input ? opt.input : argc ? argv[0] : DEFAULT_INPUT;
	struct grt_session *s;
	struct grt_err err;
	int status;

	if (argc > 1 || (argc && opt.input))
		return cmd_usage_error("more than one trace: '%s'", argv[argc - 1]);
	if (!opt.input && !argc && access(path, F_OK))
		return cmd_fail(EXIT_FAILED, "there is no such recording",
				"grtrace record --stack=bpf -- PROG", "cannot open %s", path);
	if (grt_session_open(&s, path, &err))
		return cmd_error(EXIT_FAILED, &err);
	status = fold(s, path);
	grt_session_close(s);
	return status;
}

const struct cmd cmd_flame = {
	.usage = "[PATH] [-i PATH] [-o FILE] [--from T] [--to T]",
	.opts = options,
	.run = flame_run,
};
