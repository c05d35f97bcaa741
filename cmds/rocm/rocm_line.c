// SPDX-License-Identifier: GPL-2.0
/*
 * The time line of `grtrace rocm report`: time | layer | event.
 */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "codes/words.h"
#include "rocm.h"

static void rocm_line_put_text(FILE *out, const char *text, size_t room)
{
	grt_escape_print(GRT_ESCAPE_TERM, out, text, strnlen(text, room));
}

static void rocm_line_begin(const struct rocm_run *run, const struct grt_event *e, const char *layer)
{
	uint64_t t = run->opt->relative ? e->time - run->first : e->time;

	fprintf(run->out, "%6" PRIu64 ".%09" PRIu64 " | %-7s | ", t / NS_PER_S, t % NS_PER_S, layer);
	if (e->pid)
		fprintf(run->out, "%u%s ", e->pid, e->flags & GRT_FLAG_INFERRED ? "*" : "");
}

static void rocm_line_put_call(const struct rocm_run *run, const struct grt_ev_log_call *x)
{
	bool entered = x->step == GRT_CALL_ENTERED;

	rocm_line_begin(run, &x->e, "hip");
	rocm_line_put_text(run->out, x->function, sizeof(x->function));
	fputs(entered ? "(" : " = ", run->out);
	rocm_line_put_text(run->out, x->text, sizeof(x->text));
	fputs(entered ? ")" : "", run->out);
}

static void put_note(const struct rocm_run *run, const struct grt_ev_log_note *n)
{
	rocm_line_begin(run, &n->e, n->what == GRT_LOG_GPU_TIME ? "gpu" : "runtime");
	fputs(grt_word(GRT_WORDS_LOG_NOTE, n->what) ?: "note", run->out);
	if (n->queue && n->what != GRT_LOG_SHADER)
		fprintf(run->out, " queue=0x%" PRIx64, (uint64_t)n->queue);
	if (n->object)
		fprintf(run->out, " object=0x%" PRIx64, (uint64_t)n->object);
	if (n->what == GRT_LOG_GPU_TIME)
		fprintf(run->out, " took=%" PRIu64 "ns",
			n->second > n->first ? (uint64_t)(n->second - n->first) : 0);
	if (n->text[0])
		fputc(' ', run->out);
	rocm_line_put_text(run->out, n->text, sizeof(n->text));
}

static void put_dispatch(const struct rocm_run *run, const struct grt_ev_log_dispatch *d)
{
	rocm_line_begin(run, &d->e, "runtime");
	fprintf(run->out, "dispatch queue=0x%" PRIx64 " grid=%ux%ux%u workgroup=%ux%ux%u ",
		(uint64_t)d->queue, d->grid_x, d->grid_y, d->grid_z, d->group_x, d->group_y, d->group_z);
	if (d->name[0])
		rocm_line_put_text(run->out, d->name, sizeof(d->name));
	else
		fprintf(run->out, "0x%" PRIx64, (uint64_t)d->object);
}

static void put_func(const struct rocm_run *run, const struct grt_ev_func *x)
{
	static const char *const steps[] = {"", "called", "enter", "return", "event"};

	rocm_line_begin(run, &x->e,
			grt_rocm_step_of(x->function, sizeof(x->function)) == GRT_ROCM_OTHER ? "kernel"
											     : "kfd");
	fprintf(run->out, "%*s%-6s ", x->depth < 32 ? 2 * x->depth : 64, "",
		x->step < sizeof(steps) / sizeof(steps[0]) ? steps[x->step] : "");
	rocm_line_put_text(run->out, x->function, sizeof(x->function));
	if (x->known & GRT_FUNC_TOOK)
		fprintf(run->out, " took=%" PRIu64 "ns", (uint64_t)x->took);
	if (x->known & GRT_FUNC_RET)
		fprintf(run->out, " ret=%" PRId64, (int64_t)x->ret);
	if (x->text[0])
		fputs(x->step == GRT_FUNC_CALLED ? " <- " : " ", run->out);
	rocm_line_put_text(run->out, x->text, sizeof(x->text));
}

static void put_job(const struct rocm_run *run, const struct grt_event *e, const char *what)
{
	rocm_line_begin(run, e, "driver");
	fprintf(run->out, "%s ctx=%" PRIu64 " seqno=%" PRIu64, what, (uint64_t)e->ctx, (uint64_t)e->seqno);
}

void rocm_line(const struct rocm_run *run, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_LOG_CALL:
		rocm_line_put_call(run, (const struct grt_ev_log_call *)e);
		break;
	case GRT_EV_LOG_NOTE:
		put_note(run, (const struct grt_ev_log_note *)e);
		break;
	case GRT_EV_LOG_DISPATCH:
		put_dispatch(run, (const struct grt_ev_log_dispatch *)e);
		break;
	case GRT_EV_FUNC:
		put_func(run, (const struct grt_ev_func *)e);
		break;
	case GRT_EV_SUBMIT:
		put_job(run, e, "submit");
		break;
	case GRT_EV_COMPLETE:
		put_job(run, e, "complete");
		break;
	default:
		return;
	}
	fputc('\n', run->out);
}
