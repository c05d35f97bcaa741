// SPDX-License-Identifier: GPL-2.0
/* The filters of commands that read, see filter.h. */
#include "filter.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "trace/session.h"

static int filter_refuse(const struct filter *x, unsigned int refused, const char *why)
{
	const struct {
		unsigned int filter;
		bool given;
		const char *name;
	} all[] = {
		{FILTER_TIME, x->from.set, "from"},   {FILTER_TIME, x->to.set, "to"},
		{FILTER_PID, x->pid, "pid"},	      {FILTER_COMM, x->comm, "comm"},
		{FILTER_RING, x->ring, "ring"},	      {FILTER_DEVICE, x->gpu, "device"},
		{FILTER_TYPE, x->type_names, "type"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].given && refused & all[i].filter)
			return cmd_usage_error("--%s: %s", all[i].name, why);
	return EXIT_DONE;
}

static int check_ring(const char *ring)
{
	if (!ring || ring[strspn(ring, "0123456789")] || strtoull(ring, NULL, 10) <= UINT32_MAX)
		return EXIT_DONE;
	return cmd_usage_error("--ring %s: out of range, ring ids are at most 4294967295", ring);
}

int filter_check(struct filter *x, unsigned int refused, const char *why)
{
	int status = filter_refuse(x, refused, why);

	if (status == EXIT_DONE)
		status = check_ring(x->ring);
	if (status == EXIT_DONE && x->type_names)
		status = cmd_event_types(x->type_names, &x->f.types);
	x->f.by_type = x->type_names;
	x->f.pid = (uint32_t)x->pid;
	x->f.comm = x->comm;
	x->f.ring = x->ring;
	return status;
}

int filter_session(struct filter *x, struct grt_session *s, bool live)
{
	if (grt_filter_any(&x->f) || (x->gpu && (x->f.joins || x->f.whole)))
		grt_session_filter(s, &x->f);
	return reading_gpu(s, x->gpu, live);
}

/* "gfx (0), sdma0 (1)" */
static void filter_put_seen(const struct filter *x, FILE *out)
{
	for (uint32_t i = 0; i < x->f.seens; i++) {
		const char *name = grt_filter_named(&x->f, &x->f.seen[i]);

		fputs(i ? ", " : "", out);
		cmd_put_text(out, name ?: x->ring ? "ring" : "pid");
		fprintf(out, name ? " (%u)" : " %u", x->f.seen[i].id);
	}
	if (x->f.more)
		fputs(" and more", out);
}

int filter_found(const struct filter *x, const char *input)
{
	const char *const what = x->ring ? "ring" : "process";
	char *seen = NULL, pid[32] = "", fix[300];
	size_t length;
	FILE *out;

	if ((!x->pid && !x->comm && !x->ring) || x->f.found)
		return EXIT_DONE;
	out = open_memstream(&seen, &length);
	if (out) {
		filter_put_seen(x, out);
		fclose(out);
	}
	if (x->pid)
		snprintf(pid, sizeof(pid), " --pid %" PRIu64, x->pid);
	snprintf(fix, sizeof(fix), "grtrace report --by %s %s", what,
		 input && strlen(input) < sizeof(fix) / 2 ? input : "PATH");
	cmd_fail(EXIT_FAILED, NULL, fix, "%s:%s%s%s%s%s: the trace has no such %s%s%s", input, pid,
		 x->comm ? " --comm " : "", x->comm ?: "", x->ring ? " --ring " : "", x->ring ?: "", what,
		 seen && *seen ? "; it has " : "", seen ?: "");
	free(seen);
	return EXIT_FAILED;
}

void filter_free(struct filter *x)
{
	grt_filter_free(&x->f);
}
