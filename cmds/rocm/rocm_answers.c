// SPDX-License-Identifier: GPL-2.0
/*
 * The last section of `grtrace rocm report`: answers in sentences, each from counts of this trace. If a trace
 * cannot answer, the sentence says so.
 */
#include <inttypes.h>
#include <string.h>

#include "rocm.h"
#include "base/say.h"
#include "base/units.h"

#define ANSWERS 8

/**
 * struct answers - the sentences
 * @used: bytes of the present one
 */
struct answers {
	struct grt_fields f;
	char text[ANSWERS][1024];
	unsigned int n;
	size_t used;
};

static void rocm_answers_say(struct answers *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void rocm_answers_say(struct answers *a, const char *fmt, ...)
{
	char *to = a->text[a->n];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = grt_say_text_va(to + a->used, sizeof(a->text[0]) - a->used, fmt, ap);
	va_end(ap);
	a->used += len > 0 ? (size_t)len : 0;
	if (a->used >= sizeof(a->text[0]))
		a->used = sizeof(a->text[0]) - 1;
}

static void answered(struct answers *a, const char *name)
{
	if (a->used && a->text[a->n][a->used - 1] == ' ')
		a->text[a->n][a->used - 1] = '\0';
	grt_field_add(&a->f, name, GRT_CELL_TEXT, (struct grt_cell){.text = a->text[a->n]}, NULL);
	a->n++;
	a->used = 0;
}

static uint64_t steps(const struct rocm_run *run, enum grt_rocm_step step)
{
	return grt_rocm_steps(&run->r.count, step);
}

static const char *rocm_answers_mean(const struct grt_rocm_times *t, char text[GRT_UNITS_MAX])
{
	if (!t->n)
		return "unknown";
	grt_units_ns(text, t->sum / t->n);
	return text;
}

static unsigned int joined(const struct rocm_run *run)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < run->r.creations; i++)
		n += run->r.creation[i].told != 0;
	return n;
}

static void order(struct answers *a, const struct rocm_run *run)
{
	const struct grt_rocm_count *c = &run->r.count;
	unsigned int both = joined(run);

	if (!run->log)
		rocm_answers_say(a, "The trace has no records of the runtime. ");
	if (!run->kernel)
		rocm_answers_say(a, "The trace has no records of the kernel. ");
	if (run->log)
		rocm_answers_say(a, "The runtime made %" PRIu64 " {hardware queue|hardware queues}. ",
				 c->queues);
	if (run->kernel)
		rocm_answers_say(a, "KFD got requests for %" PRIu64 " {queue|queues}.", c->creations);
	if (both)
		rocm_answers_say(
			a,
			" Of these, %u are seen in both: runtime's plan -> kfd_ioctl_create_queue -> runtime's word of the queue "
			"(joined by process and time).",
			both);
	else if (c->queues && c->creations)
		rocm_answers_say(a, " None of them could be joined by process and time.");
	answered(a, "order");
}

static void mqd(struct answers *a, const struct rocm_run *run)
{
	uint64_t map = steps(run, GRT_ROCM_MAP), submit = steps(run, GRT_ROCM_SUBMIT);

	if (!run->kernel) {
		rocm_answers_say(a, "Unknown: the trace has no kernel functions.");
	} else if (!steps(run, GRT_ROCM_MQD_ALLOCATE) && !steps(run, GRT_ROCM_MQD_INIT)) {
		rocm_answers_say(a, "No queue descriptor was allocated or initialised in the trace");
		rocm_answers_say(a,
				 run->r.count.creations
					 ? ": no creation came that far, or those functions were not traced."
					 : ": no queue was requested.");
	} else {
		rocm_answers_say(a,
				 "In the kernel, by KFD: allocated %" PRIu64
				 " {time|times}, initialised %" PRIu64 ", loaded %" PRIu64
				 ", updated %" PRIu64 ", destroyed %" PRIu64 ".",
				 steps(run, GRT_ROCM_MQD_ALLOCATE), steps(run, GRT_ROCM_MQD_INIT),
				 steps(run, GRT_ROCM_MQD_LOAD), steps(run, GRT_ROCM_MQD_UPDATE),
				 steps(run, GRT_ROCM_MQD_DESTROY));
		if (map || submit)
			rocm_answers_say(
				a,
				" It reached the GPU through the scheduler: queues were mapped %" PRIu64
				" {time|times}, and %" PRIu64
				" {packet was|packets were} sent to the scheduler.",
				map, submit);
		else if (steps(run, GRT_ROCM_MQD_LOAD))
			rocm_answers_say(a, " It was loaded into the hardware queue directly.");
		else
			rocm_answers_say(a, " How it reached the GPU is not in the trace.");
	}
	answered(a, "mqd");
}

static void kernel_queues(struct answers *a, const struct rocm_run *run)
{
	const struct grt_rocm_count *c = &run->r.count;
	uint64_t kq = steps(run, GRT_ROCM_SUBMIT) + steps(run, GRT_ROCM_KERNEL_QUEUE);

	if (run->kernel && !kq && !c->submits)
		rocm_answers_say(a, "No kernel command queue was used in the trace");
	else if (run->kernel)
		rocm_answers_say(
			a,
			"The kernel sent %" PRIu64
			" {packet or call|packets or calls} through its own queues, and the driver submitted %" PRIu64
			" {job|jobs}",
			kq, c->submits);
	else
		rocm_answers_say(a, "Unknown: the trace has no records of the kernel");
	if (run->log)
		rocm_answers_say(a, "; kernels were written into user queues %" PRIu64 " {time|times}",
				 c->dispatches);
	if (run->log && c->dispatches && c->submits)
		rocm_answers_say(a, ", %" PRIu64 ".%02" PRIu64 " for each job of the driver",
				 c->dispatches / c->submits, c->dispatches * 100 / c->submits % 100);
	rocm_answers_say(a, ".");
	answered(a, "kernel_queues");
}

static void doorbells(struct answers *a, const struct rocm_run *run)
{
	const struct grt_rocm_count *c = &run->r.count;
	uint64_t seen = steps(run, GRT_ROCM_DOORBELL), irqs = steps(run, GRT_ROCM_INTERRUPT);

	rocm_answers_say(
		a,
		"No. A doorbell is written by the program into memory that it has mapped: no function of the kernel runs for "
		"it, so none can be traced.");
	if (run->log)
		rocm_answers_say(
			a,
			" The log has %" PRIu64 " {packet|packets} after which a doorbell was rung (%" PRIu64
			" {kernel|kernels}, %" PRIu64 " {barrier|barriers}, %" PRIu64 " {other|others}).",
			c->dispatches + c->barriers + c->packets, c->dispatches, c->barriers, c->packets);
	if (run->kernel)
		rocm_answers_say(a,
				 " What the kernel sees is the other direction: %" PRIu64
				 " {signal|signals} from the GPU and %" PRIu64 " {interrupt|interrupts}.",
				 seen, irqs);
	if (run->kernel && seen && c->dispatches)
		rocm_answers_say(a,
				 " Signals for each kernel that the program wrote into a queue: %" PRIu64
				 ".%02" PRIu64 ".",
				 seen / c->dispatches, seen * 100 / c->dispatches % 100);
	answered(a, "doorbells");
}

/* A step of the path, with an arrow from the step before. */
static void station(struct answers *a, bool *any, uint64_t n, const char *what)
{
	char room[96];

	if (!n)
		return;
	rocm_answers_say(a, "%s%s", *any ? " -> " : "", grt_say_count(room, sizeof(room), n, what));
	*any = true;
}

/* The dispatcher and the handler that it calls are one ioctl. One of them may not be traced. */
static void ioctls(struct answers *a, const struct rocm_run *run)
{
	const struct grt_rocm_count *c = &run->r.count;
	uint64_t create = steps(run, GRT_ROCM_IOCTL_CREATE), memory = steps(run, GRT_ROCM_MEMORY),
		 entered = steps(run, GRT_ROCM_IOCTL_ENTRY), all = entered > c->ioctls ? entered : c->ioctls;

	rocm_answers_say(a, " In the kernel: %" PRIu64 " {queue creation|queue creations}", c->creations);
	if (all > create + memory || memory)
		rocm_answers_say(a, ", %" PRIu64 " {memory ioctl|memory ioctls}", memory);
	if (all > c->ioctls && !c->ioctls)
		rocm_answers_say(a, ", %" PRIu64 " {ioctl|ioctls} whose purpose is not in the trace", all);
	else if (all >= create + memory)
		rocm_answers_say(a, ", %" PRIu64 " {other ioctl|other ioctls}", all - create - memory);
	rocm_answers_say(a, ".");
}

static void path(struct answers *a, const struct rocm_run *run)
{
	const struct grt_rocm_count *c = &run->r.count;
	bool any = false;

	station(a, &any, c->calls, "{API call|API calls}");
	station(a, &any, c->enqueues, "{command|commands} enqueued");
	station(a, &any, c->dispatches, "{kernel|kernels} written into user queues");
	station(a, &any, c->dispatches + c->barriers + c->packets,
		"{doorbell|doorbells} for these and other packets (not visible)");
	station(a, &any, c->gpu_took.n, "{time|times} on the GPU by its clock");
	station(a, &any, c->completes, "{command|commands} complete");
	rocm_answers_say(a, any ? "." : "The trace has no records of the runtime.");
	if (c->funcs)
		ioctls(a, run);
	answered(a, "path");
}

static void latency(struct answers *a, const struct rocm_run *run)
{
	const struct grt_rocm_count *c = &run->r.count;
	const struct grt_rocm_times *create = &c->create_took;
	char text[GRT_UNITS_MAX];

	rocm_answers_say(a, "Queue creation in KFD: %s", rocm_answers_mean(create, text));
	if (create->n)
		rocm_answers_say(a, " on average of %" PRIu64, create->n);
	else if (c->creations)
		rocm_answers_say(a, " (start only: the trace has calls without returns)");
	rocm_answers_say(a, ". Enqueued to dispatched: %s", rocm_answers_mean(&c->wait, text));
	if (c->wait.n)
		rocm_answers_say(a, " of %" PRIu64, c->wait.n);
	rocm_answers_say(a, ". Dispatched to complete: %s", rocm_answers_mean(&c->run, text));
	if (c->run.n)
		rocm_answers_say(a, " of %" PRIu64, c->run.n);
	rocm_answers_say(a, ". On the GPU: %s", rocm_answers_mean(&c->gpu_took, text));
	if (c->gpu_took.n)
		rocm_answers_say(a, " of %" PRIu64, c->gpu_took.n);
	rocm_answers_say(a, ".");
	answered(a, "latency");
}

static void faults(struct answers *a, const struct rocm_run *run)
{
	const struct grt_rocm_count *c = &run->r.count;

	if (!run->log)
		rocm_answers_say(a, "Unknown: the trace has no records of the runtime.");
	else if (!c->faults && !c->hangs)
		rocm_answers_say(a, "None in the log.");
	if (c->faults)
		rocm_answers_say(a, "%" PRIu64 ", the first: %s. ", c->faults, c->first_fault);
	if (c->hangs)
		rocm_answers_say(a, "A queue was aborted before it had completed %s%s.", c->first_hang,
				 c->hangs > 1 ? ", and others" : "");
	answered(a, "faults");
}

void rocm_answers(const struct rocm_run *run, struct grt_writer *w)
{
	struct answers a = {.n = 0};

	order(&a, run);
	mqd(&a, run);
	kernel_queues(&a, run);
	doorbells(&a, run);
	path(&a, run);
	latency(&a, run);
	faults(&a, run);
	grt_fields_write(&a.f, w, "answers", "answers");
}
