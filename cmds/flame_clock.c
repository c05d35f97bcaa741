// SPDX-License-Identifier: GPL-2.0
/*
 * The offset between two clocks, see flame_clock.h. The stack of a launch was taken during the call, or a
 * moment before it by a probe at the function's entry. So each pair limits the offset, and
 * lib/merge/offset.c finds the value that fits most pairs.
 */
#include "flame_clock.h"
#include "base/say.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "merge/offset.h"

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

int flame_clock_set(struct grt_seeds *s, double window, const char *offset, int fd, const char *path)
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
