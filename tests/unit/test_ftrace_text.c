// SPDX-License-Identifier: GPL-2.0
/*
 * Text of ftrace, trace-cmd and perf script as an input: every layout of a line
 * and every event, how jobs are joined, and what is done with lines that are
 * damaged. How text is brought into order is in test_text_order.c.
 */
#include "collect.h"
#include "base/lines_in.h"
#include "trace_maker.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/wait.h>

#define MAX_RECORDS 4096

/* A whole record; @d is its payload, as the test that knows its type reads it. */
union record {
	struct grt_event e;
	struct grt_ev_submit submit;
	struct grt_ev_commit commit;
	struct grt_ev_end end;
	struct grt_ev_command command;
	struct grt_ev_error error;
	struct grt_ev_irq irq;
	struct grt_ev_name name;
	struct grt_ev_wait_dep dep;
	struct grt_ev_fence fence;
	struct grt_ev_vblank vblank;
	struct grt_ev_vblank_queued vblank_queued;
	struct grt_ev_mem_create create;
	struct grt_ev_mem_move move;
	struct grt_ev_mem_bind bind;
	struct grt_ev_mem_fault fault;
	struct grt_ev_mem_shrink shrink;
	struct grt_ev_counter counter;
};

struct fixture {
	struct grt_consumer c;
	char *dir;
	char *path;
	struct grt_session *s;
	const struct grt_health *h;
	union record r[MAX_RECORDS]; /* NAME records are not among them */
	uint32_t cpu[MAX_RECORDS];
	size_t n;
	struct grt_ev_name name[64];
	size_t names;
};

static int keep(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct fixture *f = (struct fixture *)c;

	if (e->type == GRT_EV_NAME) {
		if (f->names < 64)
			memcpy(&f->name[f->names++], e, sizeof(f->name[0]));
		return 0;
	}
	assert_true(f->n < MAX_RECORDS);
	assert_true(e->size <= sizeof(f->r[0]));
	memcpy(&f->r[f->n], e, e->size);
	f->cpu[f->n++] = cpu;
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = tm_tmpdir();
	f->path = path_join(f->dir, "trace.txt");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	grt_session_close(f->s);
	tm_remove(f->dir);
	free(f->path);
	free(f->dir);
	free(f);
	return 0;
}

static void balance_closes(const struct fixture *f)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < GRT_FATES; i++)
		sum += f->h->balance.fate[i];
	assert_int_equal(sum, f->h->balance.emitted);
	assert_int_equal(f->h->balance.fate[GRT_FATE_DELIVERED], f->h->events);
	assert_int_equal(f->h->events, f->n + f->names);
}

static void run(struct fixture *f)
{
	struct grt_err err;

	f->n = f->names = 0;
	f->c.event = keep;
	assert_int_equal(grt_session_run(f->s, &f->c, 0, UINT64_MAX, &err), 0);
	f->h = grt_session_health(f->s);
	balance_closes(f);
}

static void open_text(struct fixture *f, const char *text, size_t size)
{
	struct grt_err err;

	grt_session_close(f->s);
	file_store(f->path, text, size);
	if (grt_session_open(&f->s, f->path, &err))
		fail_msg("%s: %s", err.what, err.why);
}

static void read_bytes(struct fixture *f, const char *text, size_t size)
{
	open_text(f, text, size);
	run(f);
	assert_string_equal(f->h->text.form, "ftrace_text");
	assert_string_equal(f->h->first.what, "");
}

static void read_text(struct fixture *f, const char *text)
{
	read_bytes(f, text, strlen(text));
}

/* The same, and all of it is understood. */
static void read_whole(struct fixture *f, const char *text)
{
	read_text(f, text);
	if (f->h->text.bad)
		fail_msg("line %" PRIu64 ": %s", f->h->text.bad_line, f->h->text.bad_text);
}

static void refuse(struct fixture *f, const char *text, int code, const char *what)
{
	struct grt_err err;

	grt_session_close(f->s);
	file_store(f->path, text, strlen(text));
	assert_int_equal(grt_session_open(&f->s, f->path, &err), code);
	if (!strstr(err.what, what))
		fail_msg("'%s' is not in: %s", what, err.what);
	assert_string_not_equal(err.why, "");
}

static const struct grt_ev_name *name_of(const struct fixture *f, uint32_t kind, uint32_t id)
{
	const struct grt_ev_name *found = NULL;

	for (size_t i = 0; i < f->names; i++)
		if (f->name[i].kind == kind && f->name[i].id == id)
			found = &f->name[i];
	return found;
}

static void check_name(const struct fixture *f, uint32_t kind, uint32_t id, const char *name,
		       const char *owner)
{
	const struct grt_ev_name *n = name_of(f, kind, id);

	assert_non_null(n);
	assert_string_equal(n->name, name);
	assert_string_equal(n->owner, owner);
}

static uint64_t skipped(const struct fixture *f, const char *name)
{
	const struct grt_skipped *list;
	unsigned int n = grt_session_skipped(f->s, &list);

	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return list[i].events;
	return 0;
}

/* Type, time and identity of each record, as short text: "SUBMIT 1000 7:8". */
static void check_events(const struct fixture *f, const char *const *expected)
{
	static const char *const titles[] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = #NAME,
#include <grtrace/events.def>
#undef GRT_EVENT
	};
	char got[128];
	size_t i;

	for (i = 0; expected[i]; i++) {
		const struct grt_event *e = &f->r[i].e;

		if (i == f->n)
			fail_msg("only %zu events, next should be %s", f->n, expected[i]);
		snprintf(got, sizeof(got), "%s%s %" PRIu64 " %" PRIu64 ":%" PRIu64, titles[e->type],
			 e->flags & GRT_FLAG_INFERRED ? "*" : "", (uint64_t)e->time / 1000,
			 (uint64_t)e->ctx & ~(UINT64_C(0xff) << 48), (uint64_t)e->seqno);
		assert_string_equal(got, expected[i]);
	}
	assert_int_equal(f->n, i);
}

#define EVENTS(f, ...) check_events((f), (const char *const[]){__VA_ARGS__, NULL})

/* A line of text that leads to one event: what each layout has to give. */
static void one_job(struct fixture *f, const char *text, uint64_t time, uint32_t cpu, uint32_t pid,
		    uint32_t tid, const char *comm)
{
	read_whole(f, text);
	assert_int_equal(f->n, 1);
	assert_int_equal(f->r[0].e.type, GRT_EV_SUBMIT);
	assert_int_equal(f->r[0].e.time, time);
	assert_int_equal(f->r[0].e.ctx, 7);
	assert_int_equal(f->r[0].e.seqno, 8);
	assert_int_equal(f->r[0].e.pid, pid);
	assert_int_equal(f->r[0].e.tid, tid);
	assert_int_equal(f->cpu[0], cpu);
	if (comm)
		check_name(f, GRT_NAME_THREAD, tid, comm, pid == tid ? comm : "");
	else
		assert_null(name_of(f, GRT_NAME_THREAD, tid));
}

#define QUEUE \
	"drm_sched_job_queue: dev=0000:03:00.0, fence=7:8, ring=gfx_0.0.0, job count:2, hw job count:1, client_id:14\n"

static void every_layout_of_a_line(void **state)
{
	struct fixture *f = *state;

	one_job(f, "          glxgears-812     [003] .....  1042.000731: " QUEUE, 1042000731000, 3, 812, 812,
		"glxgears");
	one_job(f, "          glxgears-812     [003] d..1  1042.000731: " QUEUE, 1042000731000, 3, 812, 812,
		"glxgears");
	one_job(f, "          glxgears-812     [003] dNZff3 1042.000731: " QUEUE, 1042000731000, 3, 812, 812,
		"glxgears");
	one_job(f, "          glxgears-812     [003] d.h  1042.000731: " QUEUE, 1042000731000, 3, 812, 812,
		"glxgears");
	one_job(f, "          glxgears-812   [000]  1042.000731: " QUEUE, 1042000731000, 0, 812, 812,
		"glxgears");
	one_job(f, "          glxgears-812   [011]    42.000731001: " QUEUE, 42000731001, 11, 812, 812,
		"glxgears");
	one_job(f, "          glxgears-812     (    790) [003] .....  1042.000731: " QUEUE, 1042000731000, 3,
		790, 812, "glxgears");
	one_job(f, "          glxgears-812     (-------) [003] .....  1042.000731: " QUEUE, 1042000731000, 3,
		812, 812, "glxgears");
	one_job(f, "          glxgears-812     [003] ..... 104200073: " QUEUE, 104200073, 3, 812, 812,
		"glxgears");
	one_job(f, "glxgears-812     3d..1.  1042.000731: " QUEUE, 1042000731000, 3, 812, 812, "glxgears");
	one_job(f, "glxgears-812    12.....  1042.000731123: " QUEUE, 1042000731123, 12, 812, 812,
		"glxgears");
	one_job(f, "glxgears-812     3d..1.   42us : " QUEUE, 42000, 3, 812, 812, "glxgears");
	one_job(f, "glxgears-812     3d..1.   42us!: " QUEUE, 42000, 3, 812, 812, "glxgears");
	one_job(f,
		"          glxgears-812   [003]  1042.000731: drm_sched_job_queue:       dev=0000:03:00.0, "
		"fence=7:8, ring=gfx, job count:2, hw job count:1, client_id:14\n",
		1042000731000, 3, 812, 812, "glxgears");
}

static void perf_script(void **state)
{
	struct fixture *f = *state;

	one_job(f, "glxgears   812 [003]  1042.000731: gpu_scheduler:" QUEUE, 1042000731000, 3, 812, 812,
		"glxgears");
	one_job(f, "glxgears   790/812   [003]  1042.000731001: gpu_scheduler:" QUEUE, 1042000731001, 3, 790,
		812, "glxgears");
	one_job(f, "glxgears   812  1042.000731:          1 gpu_scheduler:" QUEUE, 1042000731000, 0, 812, 812,
		"glxgears");
	one_job(f,
		"gfx worker 2   812 [003]  1042.000731: gpu_scheduler:" QUEUE
		"\tffffffffc0a81234 drm_sched_entity_push_job+0x54 ([gpu_sched])\n"
		"\t    7f1100aa1bb4 __ioctl (inlined)\n\n",
		1042000731000, 3, 812, 812, "gfx worker 2");
	one_job(f,
		"glxgears   812 [003]  1042.000731: gpu_scheduler:drm_sched_job_queue:u: fence=7:8, ring=gfx\n",
		1042000731000, 3, 812, 812, "glxgears");
}

static void comms_may_hold_anything(void **state)
{
	struct fixture *f = *state;

	one_job(f, "   Web Content-3-812     [003] .....  1.000731: " QUEUE, 1000731000, 3, 812, 812,
		"Web Content-3");
	one_job(f, " a: [001] 1.5: b-812     [003] .....  1.000731: " QUEUE, 1000731000, 3, 812, 812,
		"a: [001] 1.5: b");
	one_job(f, "     kworker/u16:2-812     [003] .....  1.000731: " QUEUE, 1000731000, 3, 812, 812,
		"kworker/u16:2");
	one_job(f, "        odd (9) -812     [003] .....  1.000731: " QUEUE, 1000731000, 3, 812, 812,
		"odd (9)");
	one_job(f, "       \xc3\xa9t\xc3\xa9 \xff-812     [003] .....  1.000731: " QUEUE, 1000731000, 3, 812,
		812, "\xc3\xa9t\xc3\xa9 \xff");
	one_job(f, "             <...>-812     [003] .....  1.000731: " QUEUE, 1000731000, 3, 812, 812, NULL);
	one_job(f, "            <idle>-0       [003] .....  1.000731: " QUEUE, 1000731000, 3, 0, 0, NULL);
}

static void what_is_no_event_is_passed_over(void **state)
{
	struct fixture *f = *state;

	one_job(f,
		"# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:4\n#\n"
		"#                                _-----=> irqs-off/BH-disabled\n"
		"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		"version = 6\ncpus=4\nCPU 1 is empty\n\n"
		"##### CPU 3 buffer started ####\n"
		"          glxgears-812     [003] .....  1042.000731: " QUEUE
		" => drm_sched_entity_push_job\n"
		" => amdgpu_cs_ioctl\n...\n",
		1042000731000, 3, 812, 812, "glxgears");
	assert_int_equal(f->h->text.lines, 15);
}

static void lines_are_unwrapped(void **state)
{
	struct fixture *f = *state;
	static const char line[] = "          glxgears-812     [003] .....  1042.000731: ";
	char text[512];

	snprintf(text, sizeof(text), "%s%.*s\r\n", line, (int)strlen(QUEUE) - 1, QUEUE);
	one_job(f, text, 1042000731000, 3, 812, 812, "glxgears");
	snprintf(text, sizeof(text), "%s%swhat is this?\r\n", line, QUEUE);
	read_text(f, text);
	assert_int_equal(f->h->text.lines, 2);
	assert_string_equal(f->h->text.bad_text, "what is this?");
	/* no newline at the end */
	snprintf(text, sizeof(text), "%s%.*s", line, (int)strlen(QUEUE) - 1, QUEUE);
	one_job(f, text, 1042000731000, 3, 812, 812, "glxgears");
	snprintf(text, sizeof(text), "> > %s%s", line, QUEUE);
	one_job(f, text, 1042000731000, 3, 812, 812, "glxgears");
	snprintf(text, sizeof(text), "```\n    %s%s```\n", line, QUEUE);
	one_job(f, text, 1042000731000, 3, 812, 812, "glxgears");
	snprintf(text, sizeof(text), "\xef\xbb\xbf%s%s", line, QUEUE);
	one_job(f, text, 1042000731000, 3, 812, 812, "glxgears");
	snprintf(text, sizeof(text), "\033[1;32m%s\033[0m\033[31m%s", line, QUEUE);
	one_job(f, text, 1042000731000, 3, 812, 812, "glxgears");
}

static void a_page_of_systrace(void **state)
{
	struct fixture *f = *state;

	one_job(f,
		"<!DOCTYPE html>\n<html>\n<script>\nvar x = 'not a trace: [001] 1.5: y: z';\n</script>\n"
		"  <script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n#\n"
		"          glxgears-812     [003] .....  1042.000731: " QUEUE
		"</script>\n<p>x-1 [001] ..... 1.5: drm_sched_job_queue: fence=1:2, ring=gfx</p>\n</html>\n",
		1042000731000, 3, 812, 812, "glxgears");
	one_job(f,
		"<html>\n<script>\n  var linuxPerfData = \"\\\n# tracer: nop\\n\\\n"
		"          glxgears-812     [003] .....  1042.000731: drm_sched_job_queue: fence=7:8, ring=gfx\\n\\\n"
		"\";\n</script>\n</html>\n",
		1042000731000, 3, 812, 812, "glxgears");
}

#define IN_JSON \
	"          gl\\u00e4x\\u20AC\\\"-812     [003] .....  1042.000731: drm_sched_job_queue: fence=7:8, ring=gfx\\n"

static void a_json_trace(void **state)
{
	struct fixture *f = *state;
	static const char comm[] = "gl\xc3\xa4x\xe2\x82\xac\"";

	one_job(f, "{\"systemTraceEvents\" : \"# tracer: nop\\n" IN_JSON "\"}\n", 1042000731000, 3, 812, 812,
		comm);
	/* what only looks like it, before it and behind it */
	one_job(f,
		" {\n\"traceEvents\":[{\"name\":\"\\\"systemTraceEvents\\\":\",\"systemTraceEvents2\":\"x\"},"
		"\"systemTraceEvents\",{\"systemTraceEvents\":7}],\"systemTraceEvents\":\"" IN_JSON
		"\",\"x\":\" a-1 [001] ..... 1.5: drm_sched_job_queue: fence=1:2, ring=gfx\\n\"}",
		1042000731000, 3, 812, 812, comm);
	/* it ends anywhere */
	one_job(f, "{\"traceEvents\":[],\"systemTraceEvents\":\"" IN_JSON, 1042000731000, 3, 812, 812, comm);
	refuse(f, "{\"traceEvents\":[{}],\"systemTraceEvents\":[]}", -EINVAL,
	       "a JSON trace without ftrace text");
	refuse(f, "{\"traceEvents\":[],\"systemTraceEvents\":\"no\\nevents\\n\"}", -EINVAL, "line 1 to ");
}

/* Cut in two at every place. */
static void a_json_trace_that_comes_in_parts(void **state)
{
	static const char text[] = "{\"traceEvents\":[],\"systemTraceEvents\":\"" IN_JSON IN_JSON "\"}";
	struct grt_text_json j = {.on = false};
	char buf[sizeof(text) + GRT_TEXT_JSON_LEAD], whole[sizeof(text)];
	size_t fill = 0, all;

	(void)state;
	grt_text_json_begin(&j, text, sizeof(text) - 1);
	assert_true(j.on);
	all = grt_text_json_take(&j, whole, text, sizeof(text) - 1);
	assert_true(j.found);
	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		grt_text_json_begin(&j, text, sizeof(text) - 1);
		memcpy(buf, text, cut);
		fill = grt_text_json_take(&j, buf, buf, cut);
		memcpy(buf + fill + GRT_TEXT_JSON_LEAD, text + cut, sizeof(text) - 1 - cut);
		fill += grt_text_json_take(&j, buf + fill, buf + fill + GRT_TEXT_JSON_LEAD,
					   sizeof(text) - 1 - cut);
		assert_int_equal(fill, all);
		assert_memory_equal(buf, whole, all);
	}
}

static void damaged_lines_are_counted(void **state)
{
	struct fixture *f = *state;
	static const char text[] =
		"          glxgears-812     [003] .....  1.000731: " QUEUE
		"          glxgears-812     [003] .....  1.000732: drm_sched_job_queue: ring=gfx\n"
		"what is this\x01\0?\n"
		"          glxgears-812     [003] .....  1.0007\n"
		"          glxgears-812     [003] .....  1.000734: drm_sched_job_done: fence=7:8 signaled\n";

	read_bytes(f, text, sizeof(text) - 1);
	EVENTS(f, "SUBMIT 1000731 7:8", "END 1000734 7:8", "COMPLETE* 1000734 7:8");
	assert_int_equal(f->h->text.lines, 5);
	assert_int_equal(f->h->text.bad, 3);
	assert_int_equal(f->h->text.bad_line, 2);
	assert_memory_equal(f->h->text.bad_text, "          glxgears-812 ", 23);
}

/* A line of 1 MB is a line, of one of 9 MB the beginning. */
static void long_lines(void **state)
{
	static const size_t sizes[] = {1 << 20, 9 << 20};
	static const char good[] = "          glxgears-812     [003] .....  1.000731: " QUEUE;
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 2; i++) {
		size_t size = sizes[i] + 2 * sizeof(good);
		char *text = malloc(size);

		memset(text, 'x', size);
		memcpy(text, good, sizeof(good) - 1);
		text[size - sizeof(good)] = '\n';
		memcpy(text + size - sizeof(good) + 1, good, sizeof(good) - 1);
		memcpy(text + size - sizeof(good) + 1 +
			       strlen("          glxgears-812     [003] .....  1.0007"),
		       "9", 1);
		read_bytes(f, text, size);
		free(text);
		assert_int_equal(f->h->text.lines, 3);
		assert_int_equal(f->h->text.bad, 1);
		assert_int_equal(f->h->text.bad_line, 2);
		assert_int_equal(f->h->bytes, size);
		/* the second SUBMIT is of the same job */
		EVENTS(f, "SUBMIT 1000731 7:8");
	}
}

static void losses_are_in_the_balance(void **state)
{
	struct fixture *f = *state;

	read_whole(f, "# entries-in-buffer/entries-written: 100/130   #P:2\n"
		      "          glxgears-812     [003] .....  1.000731: " QUEUE "CPU:3 [LOST 12 EVENTS]\n"
		      "CPU:1 [5 EVENTS DROPPED]\nCPU:2 [LOST EVENTS]\nCPU:2 [EVENTS DROPPED]\n");
	assert_int_equal(f->h->balance.fate[GRT_FATE_LOST], 30 + 12 + 5);
	assert_int_equal(f->h->balance.emitted, f->h->events + 47);
	assert_int_equal(f->h->text.gaps, 2);
}

static void other_events_are_counted_by_name(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(65536), *p = text;

	read_whole(
		f,
		"          glxgears-812     [003] .....  1.000731: sched_switch: prev_comm=a prev_pid=11\n"
		"          glxgears-812     [003] .....  1.000732: sched_switch: x\n"
		"          glxgears-812     [003] .....  1.000733: dma_fence_destroy: driver=drm_sched timeline=gfx "
		"context=7 seqno=8\n"
		"          glxgears-812     [003] .....  1.000735: sys_ioctl(fd: 3, cmd: c0106444)\n"
		"          glxgears-812     [003] .....  1.000736: sys_ioctl -> 0x0\n"
		"          glxgears-812     [003] .....  1.000737: tracing_mark_write: B|812|frame\n");
	assert_int_equal(f->n, 0);
	assert_int_equal(skipped(f, "sched_switch"), 2);
	assert_int_equal(skipped(f, "dma_fence_destroy"), 1);
	assert_int_equal(skipped(f, "(system calls)"), 2);
	assert_int_equal(skipped(f, "tracing_mark_write"), 1);
	assert_int_equal(f->h->text.skipped, 6);
	/* the list is bounded, the count is not */
	for (unsigned int i = 0; i < 1000; i++)
		p += sprintf(p, "a-1 [000] ..... 1.5: event_%u: x\n", i);
	read_whole(f, text);
	free(text);
	assert_int_equal(f->h->text.skipped, 1000);
	assert_int_equal(skipped(f, "event_0"), 1);
	assert_int_equal(skipped(f, "(others)"), 1000 - 255);
}

static void what_has_no_events_is_refused(void **state)
{
	struct fixture *f = *state;

	refuse(f, "dear list,\n\nmy GPU hangs.\n", -EINVAL, "trace.txt: line 1 to 3: no events");
	refuse(f, "x", -EINVAL, "trace.txt: line 1 to 1: no events");
}

/* Scheduler */

static void scheduler_of_today(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"          glxgears-812     [003] .....  1.000731: " QUEUE
		"          glxgears-812     [003] .....  1.000732: drm_sched_job_add_dep: fence=7:8 depends on fence=5:6\n"
		"          glxgears-812     [003] .....  1.000733: drm_sched_job_unschedulable: fence=7:8 depends on "
		"unsignalled fence=5:6\n"
		"            <idle>-0       [002] d.h1.  1.000740: dma_fence_signaled: driver=drm_sched timeline=x "
		"context=5 seqno=6\n"
		"     kworker/u32:3-99      [001] .....  1.000741: drm_sched_job_run: dev=0000:03:00.0, fence=7:8, "
		"ring=gfx_0.0.0, job count:4, hw job count:3, client_id:14\n"
		"     kworker/u32:3-99      [001] .....  1.000742: dma_fence_signaled: driver=drm_sched "
		"timeline=gfx_0.0.0 context=6 seqno=8\n"
		"            <idle>-0       [002] d.h1.  1.000750: drm_sched_job_done: fence=7:8 signaled\n"
		"            <idle>-0       [002] d.h2.  1.000751: dma_fence_signaled: driver=drm_sched "
		"timeline=gfx_0.0.0 context=7 seqno=8\n");
	EVENTS(f, "SUBMIT 1000731 7:8", "WAIT_DEP 1000732 7:8", "FENCE 1000740 5:6", "COMMIT 1000741 7:8",
	       "END 1000750 7:8", "COMPLETE 1000751 7:8");
	assert_int_equal(f->r[0].e.engine, GRT_ENGINE_GRAPHICS);
	assert_int_equal(f->r[0].e.device, 3 << 8);
	check_name(f, GRT_NAME_RING, f->r[0].e.ring, "gfx_0.0.0", "");
	assert_int_equal(f->r[1].dep.dep_ctx, 5);
	assert_int_equal(f->r[1].dep.dep_seqno, 6);
	assert_int_equal(f->r[2].fence.waiters, 1);
	assert_int_equal(f->r[3].commit.sw_depth, 4);
	assert_int_equal(f->r[3].commit.hw_depth, 3);
	/* of who submitted it, not of who was running */
	assert_int_equal(f->r[3].e.tid, 812);
	assert_int_equal(f->r[4].e.tid, 812);
	/* the scheduled fence is no job */
	assert_int_equal(skipped(f, "dma_fence_signaled"), 1);
	assert_int_equal(skipped(f, "drm_sched_job_add_dep"), 0);
}

#define OLD(what, fence, id)                                       \
	what ": entity=00000000deadbee0, id=" #id ", fence=" fence \
	     ", ring=v3d_bin, job count:0, hw job count:1\n"

static void scheduler_of_yesterday_by_address(void **state)
{
	struct fixture *f = *state;
	uint64_t first;

	read_whole(
		f,
		"glmark2-812 [000] ..... 1.000001: " OLD("drm_sched_job", "00000000aaaa0001", 17) "glmark2-812 [000] ..... 1.000002: " OLD(
			"drm_sched_job", "00000000aaaa0002",
			18) "v3d_bin-99 [001] ..... 1.000003: " OLD("drm_run_job", "00000000aaaa0001",
								    17) "v3d_bin-99 [001] ..... 1.000004: " OLD("drm_run_job",
														"00000000aaaa0002",
														18)
		/* they end the other way round, which only an exact key tells */
		"<idle>-0 [000] d.h1. 1.000005: drm_sched_process_job: fence=00000000aaaa0002 signaled\n"
		"<idle>-0 [000] d.h1. 1.000006: drm_sched_process_job: fence=00000000aaaa0001 signaled\n"
		/* the address comes again for another job */
		"glmark2-812 [000] ..... 1.000007: " OLD("drm_sched_job", "00000000aaaa0001", 19) "v3d_bin-99 [001] ..... 1.000008: " OLD(
			"drm_run_job", "00000000aaaa0001",
			19) "<idle>-0 [000] d.h1. 1.000009: drm_sched_process_job: fence=00000000aaaa0001 signaled\n"
			    /* nobody's */
			    "<idle>-0 [000] d.h1. 1.000010: drm_sched_process_job: fence=00000000bbbb0001 signaled\n");
	EVENTS(f, "SUBMIT 1000001 0:1", "SUBMIT 1000002 0:2", "COMMIT 1000003 0:1", "COMMIT 1000004 0:2",
	       "END 1000005 0:2", "COMPLETE* 1000005 0:2", "END 1000006 0:1", "COMPLETE* 1000006 0:1",
	       "SUBMIT 1000007 0:3", "COMMIT 1000008 0:3", "END 1000009 0:3", "COMPLETE* 1000009 0:3");
	first = f->r[0].e.ctx;
	/* where no context of the kernel's can be */
	assert_true(first >> 52);
	assert_int_equal(skipped(f, "drm_sched_process_job"), 1);
}

#define PTRVAL "(____ptrval____)"

/* The queueing of a job is not in the text, and its fence has the address of one that never ended. */
static void an_address_of_another_job(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"glmark2-812 [000] ..... 1.000001: " OLD("drm_sched_job", "00000000aaaa0001", 17) "v3d_bin-99 [001] ..... 1.000003: " OLD(
			"drm_run_job", "00000000aaaa0001",
			18) "<idle>-0 [000] d.h1. 1.000005: drm_sched_process_job: fence=00000000aaaa0001 signaled\n");
	EVENTS(f, "SUBMIT 1000001 0:1", "COMMIT 1000003 0:2", "END 1000005 0:2", "COMPLETE* 1000005 0:2");
}

static void scheduler_of_yesterday_without_addresses(void **state)
{
	struct fixture *f = *state;

	read_whole(f, "glmark2-812 [000] ..... 1.000001: " OLD(
			      "drm_sched_job", PTRVAL,
			      17) "glmark2-812 [000] ..... 1.000002: " OLD("drm_sched_job", PTRVAL, 18)
		   /* run is joined by ring and id, which is exact */
		   "v3d_bin-99 [001] ..... 1.000003: " OLD(
			   "drm_run_job", PTRVAL,
			   17) "<idle>-0 [000] d.h1. 1.000005: drm_sched_process_job: fence=" PTRVAL
			       " signaled\n"
			       "v3d_bin-99 [001] ..... 1.000006: " OLD("drm_run_job", PTRVAL, 18)
		   /* only 1 job is on the ring, so 18 has ended, although nothing said so */
		   "v3d_bin-99 [001] ..... 1.000007: " OLD(
			   "drm_run_job", PTRVAL,
			   19) "<idle>-0 [000] d.h1. 1.000008: drm_sched_process_job: fence=" PTRVAL
			       " signaled\n"
			       "<idle>-0 [000] d.h1. 1.000009: drm_sched_process_job: fence=" PTRVAL
			       " signaled\n");
	EVENTS(f, "SUBMIT 1000001 0:1", "SUBMIT 1000002 0:2", "COMMIT 1000003 0:1", "END* 1000005 0:1",
	       "COMPLETE* 1000005 0:1", "COMMIT 1000006 0:2", "COMMIT 1000007 0:3", "END* 1000008 0:3",
	       "COMPLETE* 1000008 0:3");
	assert_int_equal(skipped(f, "drm_sched_process_job"), 1);
}

static void raw_fields(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] 1.000001: drm_sched_job:         entity=0xffff8881 fence=0xffff8882 name=gfx id=0x11 "
		"job_count=0x2 hw_job_count=0x1\n"
		"a-99 [000] 1.000002: drm_run_job:           [FAILED TO PARSE] entity=0xffff8881 fence=0xffff8882 "
		"name=gfx id=17 job_count=2 hw_job_count=1\n"
		"a-99 [000] 1.000003: drm_sched_process_job: fence=0xffff8882\n"
		"a-812 [000] 1.000004: drm_sched_job_queue:   name=gfx job_count=0x2 hw_job_count=1 dev=0000:03:00.0 "
		"fence_context=0x7 fence_seqno=0x8 client_id=0xe\n"
		"a-812 [000] 1.000005: drm_sched_job_unschedulable: fence_context=0x7 fence_seqno=0x8 ctx=0x5 "
		"seqno=0x6\n"
		"a-812 [000] 1.000006: drm_sched_job_done:    fence_context=0x7 fence_seqno=0x8\n"
		"a-812 [000] 1.000007: amdgpu_cs_ioctl:       sched_job_id=0x9 timeline=gfx context=0x77 seqno=0x8 "
		"fence=0x0 ring=gfx num_ibs=0x1\n"
		"a-812 [000] 1.000008: drm_vblank_event:      crtc=0x1 seq=0x20 time=0x64 high_prec=0x1\n");
	EVENTS(f, "SUBMIT 1000001 0:1", "COMMIT 1000002 0:1", "END 1000003 0:1", "COMPLETE* 1000003 0:1",
	       "SUBMIT 1000004 7:8", "WAIT_DEP 1000005 7:8", "END 1000006 7:8", "COMPLETE* 1000006 7:8",
	       "SUBMIT 1000007 119:8", "VBLANK 1000008 0:0");
	assert_int_equal(f->r[1].commit.sw_depth, 2);
	assert_int_equal(f->r[1].commit.hw_depth, 1);
	assert_int_equal(f->r[9].vblank.stamp, 100);
	assert_int_equal(f->r[9].vblank.high_prec, 1);
}

static void oldest_scheduler(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] 1.000001: amd_sched_job: entity=00000000deadbee0, id=3, fence=00000000aaaa0001, "
		"ring=gfx, job count:1, hw job count:0\n"
		"a-812 [000] 1.000002: amd_sched_process_job: fence=00000000aaaa0001 signaled\n");
	EVENTS(f, "SUBMIT 1000001 0:1", "END 1000002 0:1", "COMPLETE* 1000002 0:1");
}

/* Driver, scheduler and fence tell of one job: by ring and id, by address, by context and number. */
static void amdgpu_and_scheduler_tell_of_one_job(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"game-812 [000] ..... 1.000001: amdgpu_cs_ioctl: sched_job=17, timeline=gfx, context=105, "
		"seqno=3080, ring_name=ffff91cb1ab1bdd0, num_ibs=3\n"
		"game-812 [000] ..... 1.000002: drm_sched_job: entity=00000000deadbee0, id=17, "
		"fence=00000000aaaa0001, ring=gfx, job count:0, hw job count:0\n"
		"gfx-99 [000] ..... 1.000003: drm_run_job: entity=00000000deadbee0, id=17, fence=00000000aaaa0001, "
		"ring=gfx, job count:0, hw job count:1\n"
		"gfx-99 [000] ..... 1.000004: amdgpu_sched_run_job: sched_job=17, timeline=gfx, context=105, "
		"seqno=3080, ring_name=ffff91cb1ab1bdd0, num_ibs=3\n"
		"<idle>-0 [000] ..... 1.000005: drm_sched_process_job: fence=00000000aaaa0001 signaled\n"
		"<idle>-0 [000] ..... 1.000006: dma_fence_signaled: driver=drm_sched timeline=gfx context=105 "
		"seqno=3080\n"
		"<idle>-0 [000] ..... 1.000007: dma_fence_signaled: driver=amdgpu timeline=gfx context=4 seqno=99\n"
		/* the kernel's own job: the driver tells of it only when it runs */
		"gfx-99 [000] ..... 1.000011: drm_sched_job: entity=00000000deadbee1, id=5, fence=00000000aaaa0002, "
		"ring=sdma0, job count:0, hw job count:0\n"
		"gfx-99 [000] ..... 1.000012: drm_run_job: entity=00000000deadbee1, id=5, fence=00000000aaaa0002, "
		"ring=sdma0, job count:0, hw job count:1\n"
		"gfx-99 [000] ..... 1.000013: amdgpu_sched_run_job: sched_job=5, timeline=sdma0, context=122, "
		"seqno=7, ring_name=ffff91cb1ab1bdd0, num_ibs=1\n"
		"<idle>-0 [000] ..... 1.000014: dma_fence_signaled: driver=drm_sched timeline=sdma0 context=122 "
		"seqno=7\n");
	EVENTS(f, "SUBMIT 1000001 105:3080", "COMMIT 1000003 105:3080", "END 1000005 105:3080",
	       "COMPLETE 1000006 105:3080", "SUBMIT 1000011 1:1", "COMMIT 1000012 1:1", "END* 1000014 1:1",
	       "COMPLETE 1000014 1:1");
	check_name(f, GRT_NAME_RING, f->r[0].e.ring, "gfx", "amdgpu");
	assert_int_equal(f->r[0].e.ring, f->r[1].e.ring);
	assert_int_equal(f->r[4].e.engine, GRT_ENGINE_COPY);
	assert_int_equal(skipped(f, "dma_fence_signaled"), 1);
}

static void amdgpu_of_today(void **state)
{
	struct fixture *f = *state;

	read_whole(f,
		   "game-812 [000] ..... 1.000001: amdgpu_cs_ioctl: timeline=gfx_0.0.0, fence=105:3080, "
		   "ring_name=gfx_0.0.0, num_ibs=3\n"
		   "game-812 [000] ..... 1.000002: drm_sched_job_queue: dev=0000:03:00.0, fence=105:3080, "
		   "ring=gfx_0.0.0, job count:0, hw job count:0, client_id:1\n"
		   "gfx-99 [000] ..... 1.000003: amdgpu_sched_run_job: timeline=gfx_0.0.0, fence=105:3080, "
		   "ring_name=gfx_0.0.0, num_ibs=3\n");
	EVENTS(f, "SUBMIT 1000001 105:3080", "COMMIT 1000003 105:3080");
	assert_int_equal(f->r[1].e.device, 3 << 8);
}

/* The scheduler's events do not name the driver: it follows from names of rings that only one driver has. */
static void rings_by_their_names(void **state)
{
	static const struct {
		const char *name, *driver;
		unsigned int engine;
	} row[] = {
		{"gp", "", GRT_ENGINE_GRAPHICS},
		{"pp", "", GRT_ENGINE_GRAPHICS},
		{"pp0", "", GRT_ENGINE_UNKNOWN},
		{"gpu1", "", GRT_ENGINE_UNKNOWN},
		{"fragment", "", GRT_ENGINE_GRAPHICS},
		{"vertex-tiler", "", GRT_ENGINE_GRAPHICS},
		{"compute-only", "", GRT_ENGINE_COMPUTE},
		{"v3d_csd", "", GRT_ENGINE_COMPUTE},
		{"rcs17", "xe", GRT_ENGINE_GRAPHICS},
		{"panthor-queue-14-0-1", "panthor", GRT_ENGINE_UNKNOWN},
		{"nouveau_sched", "nouveau", GRT_ENGINE_UNKNOWN},
		{"pvr-queue", "powervr", GRT_ENGINE_UNKNOWN},
		{"amdxdna_js", "amdxdna", GRT_ENGINE_UNKNOWN},
	};
	struct fixture *f = *state;
	char text[4096] = "", *at = text;
	size_t rows = sizeof(row) / sizeof(row[0]);

	for (size_t i = 0; i < rows; i++)
		at += sprintf(
			at,
			"a-812 [000] ..... 1.%06zu: drm_sched_job_queue: dev=0000:03:00.0, fence=7:%zu, "
			"ring=%s, job count:0, hw job count:0, client_id:1\n",
			i + 1, i + 1, row[i].name);
	read_whole(f, text);
	assert_int_equal(f->n, rows);
	for (size_t i = 0; i < rows; i++) {
		check_name(f, GRT_NAME_RING, f->r[i].e.ring, row[i].name, row[i].driver);
		assert_int_equal(f->r[i].e.engine, row[i].engine);
	}
}

/*
 * By the TP_printk() of Linux 6.17, drivers/gpu/drm/scheduler/gpu_scheduler_trace.h: drm_sched_job prints
 * "dev=%s, fence=%llu:%llu, ring=%s, job count:%u, hw job count:%d, client_id:%llu", drm_sched_job_done
 * "fence=%llu:%llu signaled".
 */
#define JOB_OF(event, dev, fence) \
	event ": dev=" dev ", fence=" fence ", ring=gfx_0.0.0, job count:1, hw job count:0, client_id:14\n"

static void rings_of_two_gpus(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] ..... 1.000001: " JOB_OF("drm_sched_job_queue", "0000:03:00.0", "7:1") "b-813 [001] ..... 1.000002: " JOB_OF(
			"drm_sched_job_queue", "0000:83:00.0",
			"9:1") "k-99 [000] ..... 1.000003: " JOB_OF("drm_sched_job_run", "0000:03:00.0",
								    "7:1") "k-98 [001] ..... 1.000004: " JOB_OF("drm_sched_job_run",
														"0000:83:00.0",
														"9:1") "i-0 [000] ..... 1.000005: drm_sched_job_done: fence=7:1 signaled\n"
														       "i-0 [001] ..... 1.000006: drm_sched_job_done: fence=9:1 signaled\n");
	assert_int_not_equal(f->r[0].e.ring, f->r[1].e.ring);
	check_name(f, GRT_NAME_RING, f->r[0].e.ring, "gfx_0.0.0", "");
	check_name(f, GRT_NAME_RING, f->r[1].e.ring, "gfx_0.0.0", "");
	check_name(f, GRT_NAME_RING_GPU, f->r[0].e.ring, "0000:03:00.0", "");
	check_name(f, GRT_NAME_RING_GPU, f->r[1].e.ring, "0000:83:00.0", "");
	for (size_t i = 2; i < f->n; i++)
		assert_int_equal(f->r[i].e.ring, f->r[i].e.ctx == 7 ? f->r[0].e.ring : f->r[1].e.ring);
}

static void dependencies_of_yesterday(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] ..... 1.000001: " OLD(
			"drm_sched_job", "00000000aaaa0001",
			17) "v3d_bin-99 [000] ..... 1.000002: drm_sched_job_wait_dep: job ring=v3d_bin, id=17, depends "
			    "fence=00000000cccc0001, context=40, seq=9\n"
			    "v3d_bin-99 [000] ..... 1.000003: drm_sched_job_wait_dep: job ring=other, id=4, depends "
			    "fence=00000000cccc0001, context=40, seq=9\n"
			    "v3d_bin-99 [000] ..... 1.000004: dma_fence_signaled: driver=drm_sched timeline=v3d_bin context=40 "
			    "seqno=9\n"
			    "v3d_bin-99 [000] ..... 1.000005: dma_fence_signaled: driver=drm_sched timeline=v3d_bin context=40 "
			    "seqno=10\n");
	EVENTS(f, "SUBMIT 1000001 0:1", "WAIT_DEP 1000002 0:1", "WAIT_DEP 1000003 0:0", "FENCE 1000004 40:9");
	assert_int_equal(f->r[3].fence.waiters, 2);
	assert_int_equal(skipped(f, "dma_fence_signaled"), 1);
}

/* Fences */

static void names_of_fences_may_hold_blanks(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] ..... 1.000001: " QUEUE
		"a-812 [000] ..... 1.000002: dma_fence_wait_start: driver=my driver 2 timeline=card0.ring 1 "
		"context=1 x context=7 seqno=8\n"
		"a-812 [000] ..... 1.000003: dma_fence_wait_end: driver=a timeline=b c context=7 seqno=8\n"
		"a-812 [000] ..... 1.000004: dma_fence_wait_start: driver= timeline= context=70 seqno=80\n");
	EVENTS(f, "SUBMIT 1000001 7:8", "SYNC_WAIT_ENTER 1000002 7:8", "SYNC_WAIT_EXIT 1000003 7:8",
	       "SYNC_WAIT_ENTER 1000004 70:80");
}

/* The text has 32 bits of both numbers. */
static void fences_are_cut_to_32_bits(void **state)
{
	struct fixture *f = *state;

	read_whole(f,
		   "a-812 [000] ..... 1.000001: drm_sched_job_queue: fence=4294967303:4294967304, ring=gfx\n"
		   "a-812 [000] ..... 1.000002: dma_fence_signaled: driver=drm_sched timeline=gfx context=7 "
		   "seqno=8\n");
	EVENTS(f, "SUBMIT 1000001 4294967303:4294967304", "END* 1000002 4294967303:4294967304",
	       "COMPLETE 1000002 4294967303:4294967304");
}

static void drivers_whose_fences_are_jobs(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"Xorg-812 [000] ..... 1.000001: dma_fence_init: driver=nouveau timeline=Xorg[812] context=9 "
		"seqno=4\n"
		"Xorg-812 [000] ..... 1.000002: dma_fence_init: driver=i915 timeline=x context=10 seqno=4\n"
		"<idle>-0 [000] ..... 1.000003: dma_fence_signaled: driver=nouveau timeline=Xorg[812] context=9 "
		"seqno=4\n");
	EVENTS(f, "SUBMIT 1000001 9:4", "SUBMIT 1000002 10:4", "END 1000003 9:4", "COMPLETE* 1000003 9:4");
	assert_true(f->r[0].e.flags & GRT_FLAG_COMMIT);
	check_name(f, GRT_NAME_RING, f->r[0].e.ring, "Xorg[812]", "nouveau");
}

/* The same fence of i915 is a request, and a fence of another driver is nothing, where requests are reported.
 */
static void fences_are_no_spans_beside_jobs(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"Xorg-812 [000] ..... 1.000001: dma_fence_init: driver=i915 timeline=x context=10 seqno=4\n"
		"Xorg-812 [000] ..... 1.000002: dma_fence_init: driver=vgem timeline=y context=11 seqno=1\n"
		"Xorg-812 [000] ..... 1.000010: i915_request_queue: dev=0, engine=1:0, ctx=10, seqno=4, flags=0x0\n"
		"Xorg-812 [000] ..... 1.000020: dma_fence_init: driver=vgem timeline=y context=11 seqno=2\n"
		"<idle>-0 [000] ..... 1.000030: dma_fence_signaled: driver=vgem timeline=y context=11 seqno=1\n"
		"<idle>-0 [000] ..... 1.000040: dma_fence_signaled: driver=i915 timeline=x context=10 seqno=4\n");
	EVENTS(f, "SUBMIT 1000010 10:4", "END 1000040 10:4", "COMPLETE* 1000040 10:4");
	assert_int_equal(skipped(f, "dma_fence_init"), 1);
}

/* i915 */

static void i915_of_a_distribution(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"gnome-812 [000] ..... 1.000001: i915_request_queue: dev=0, engine=1:0, ctx=7, seqno=8, flags=0x0\n"
		"gnome-812 [000] ..... 1.000002: i915_request_add: dev=0, engine=1:0, ctx=7, seqno=8, tail=64\n"
		"gnome-812 [000] ..... 1.000003: dma_fence_wait_start: driver=0000:00:02.0 timeline=gnome context=7 "
		"seqno=8\n"
		"gnome-812 [000] ..... 1.000004: i915_request_wait_begin: dev=0, engine=1:0, ctx=7, seqno=8, "
		"flags=0x1\n"
		"<idle>-0 [000] ..... 1.000005: dma_fence_signaled: driver=0000:00:02.0 timeline=gnome context=7 "
		"seqno=8\n"
		"gnome-812 [000] ..... 1.000006: i915_request_wait_end: dev=0, engine=1:0, ctx=7, seqno=8, tail=1\n"
		"gnome-812 [000] ..... 1.000007: dma_fence_wait_end: driver=0000:00:02.0 timeline=gnome context=7 "
		"seqno=8\n"
		"gnome-812 [000] ..... 1.000008: i915_request_retire: dev=0, engine=1:0, ctx=7, seqno=8, tail=64\n");
	/* the two layers tell of one wait */
	EVENTS(f, "SUBMIT 1000001 7:8", "COMMIT* 1000002 7:8", "SYNC_WAIT_ENTER 1000003 7:8",
	       "END 1000005 7:8", "SYNC_WAIT_EXIT 1000007 7:8", "COMPLETE 1000008 7:8");
	check_name(f, GRT_NAME_RING, f->r[0].e.ring, "bcs0", "i915");
	assert_int_equal(f->r[0].e.engine, GRT_ENGINE_COPY);
}

static void i915_with_low_level_events(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] ..... 1.000001: i915_request_queue: dev=0, engine=2:1, hw_id=3, ctx=7, seqno=8, "
		"flags=0x0\n"
		"a-812 [000] ..... 1.000002: i915_request_add: dev=0, engine=2:1, ctx=7, seqno=8, tail=64\n"
		"a-812 [000] ..... 1.000003: i915_request_submit: dev=0, engine=2:1, ctx=7, seqno=8, tail=64\n"
		"a-812 [000] ..... 1.000004: i915_request_in: dev=0, engine=2:1, ctx=7, seqno=8, prio=0, port=0\n"
		"a-812 [000] ..... 1.000005: i915_request_out: dev=0, engine=2:1, ctx=7, seqno=8, completed?=0\n"
		"a-812 [000] ..... 1.000006: i915_request_out: dev=0, engine=2:1, ctx=7, seqno=8, completed?=1\n"
		"a-812 [000] ..... 1.000007: i915_request_add: dev=0, engine=0:0, ctx=9, seqno=1, tail=64\n");
	EVENTS(f, "SUBMIT 1000001 7:8", "COMMIT* 1000002 7:8", "COMMIT 1000003 7:8", "START 1000004 7:8",
	       "END 1000006 7:8", "COMPLETE* 1000006 7:8", "SUBMIT 1000007 9:1");
	check_name(f, GRT_NAME_RING, f->r[0].e.ring, "vcs1", "i915");
	assert_true(f->r[6].e.flags & GRT_FLAG_COMMIT);
}

static void i915_before_requests_had_contexts(void **state)
{
	struct fixture *f = *state;

	read_whole(f,
		   "chrome-1539  [000] 18422.955660: i915_gem_ring_dispatch: dev=0, ring=1, seqno=1178364\n"
		   "chrome-1539  [000] 18422.955688: i915_gem_request_add: dev=0, ring=1, seqno=1178364\n"
		   "cat-21833 [000] 18422.956832: i915_gem_request_complete: dev=0, ring=1, seqno=1178364\n"
		   "chrome-1539  [001] 18422.956931: i915_gem_request_retire: dev=0, ring=1, seqno=1178364\n"
		   "chrome-1539  [000] 18422.957000: i915_gem_request_add: dev=0, ring=2, seqno=1178364\n");
	assert_int_equal(f->n, 4);
	assert_int_equal(f->r[0].e.type, GRT_EV_SUBMIT);
	assert_int_equal(f->r[1].e.type, GRT_EV_END);
	assert_int_equal(f->r[2].e.type, GRT_EV_COMPLETE);
	assert_false(f->r[2].e.flags & GRT_FLAG_INFERRED);
	assert_true(f->r[0].e.ctx >> 52);
	assert_int_equal(f->r[0].e.seqno, 1178364);
	assert_int_equal(f->r[1].e.ctx, f->r[0].e.ctx);
	/* the same number on another ring is another job */
	assert_int_not_equal(f->r[3].e.ctx, f->r[0].e.ctx);
	check_name(f, GRT_NAME_RING, f->r[0].e.ring, "ring1", "i915");
}

static void i915_memory(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] ..... 1.000001: i915_gem_object_create: obj=00000000aaaa0001, size=0x2000\n"
		"a-812 [000] ..... 1.000002: i915_vma_bind: obj=00000000aaaa0001, offset=0x00000000fee00000 "
		"size=0x2000, mappable vm=00000000bbbb0001\n"
		"a-812 [000] ..... 1.000003: i915_gem_object_fault: obj=00000000aaaa0001, GTT index=3 , writable\n"
		"a-812 [000] ..... 1.000004: i915_gem_object_fault: obj=00000000aaaa0001, CPU index=4 \n"
		"a-812 [000] ..... 1.000005: i915_vma_unbind: obj=00000000aaaa0001, offset=0x00000000fee00000 "
		"size=0x2000 vm=00000000bbbb0001\n"
		"a-812 [000] ..... 1.000006: i915_gem_shrink: dev=0, target=128, flags=1f\n"
		"a-812 [000] ..... 1.000007: i915_gem_object_destroy: obj=00000000aaaa0001\n");
	EVENTS(f, "MEM_CREATE 1000001 0:0", "MEM_BIND 1000002 0:0", "MEM_FAULT 1000003 0:0",
	       "MEM_FAULT 1000004 0:0", "MEM_UNBIND 1000005 0:0", "MEM_SHRINK 1000006 0:0",
	       "MEM_DESTROY 1000007 0:0");
	assert_int_equal(f->r[0].create.object, 0xaaaa0001);
	assert_int_equal(f->r[0].create.bytes, 0x2000);
	assert_int_equal(f->r[0].create.placed, UINT32_MAX);
	assert_int_equal(f->r[1].bind.vm, 0xbbbb0001);
	assert_int_equal(f->r[1].bind.offset, 0xfee00000);
	assert_int_equal(f->r[1].bind.bytes, 0x2000);
	assert_int_equal(f->r[2].fault.page, 3);
	assert_int_equal(f->r[2].fault.gtt, 1);
	assert_int_equal(f->r[2].fault.writing, 1);
	assert_int_equal(f->r[3].fault.gtt, 0);
	assert_int_equal(f->r[3].fault.writing, 0);
	assert_int_equal(f->r[4].bind.vm, 0xbbbb0001);
	assert_int_equal(f->r[5].shrink.target, 128);
	assert_int_equal(f->r[5].shrink.mflags, 0x1f);
	assert_int_equal(f->r[6].create.object, 0xaaaa0001);
	assert_int_equal(f->r[6].e.tid, 812);
}

static void assert_irq(const struct grt_ev_irq *irq, uint32_t source, uint32_t data, uint16_t ring,
		       uint16_t vmid, uint32_t pasid)
{
	assert_int_equal(irq->source, source);
	assert_int_equal(irq->data, data);
	assert_int_equal(irq->hw_ring, ring);
	assert_int_equal(irq->vmid, vmid);
	assert_int_equal(irq->pasid, pasid);
	assert_int_equal(irq->e.ring, GRT_RING_NONE);
}

static void amdgpu_memory_and_interrupts(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] ..... 1.000001: amdgpu_bo_create: bo=00000000aaaa0001, pages=16, type=2, prefered=4, "
		"allowed=6, visible=1\n"
		"a-812 [000] ..... 1.000002: amdgpu_bo_create: bo=00000000aaaa0002, pages=1, type=-1, preferred=4, "
		"allowed=6, visible=9\n"
		"a-812 [000] ..... 1.000003: amdgpu_bo_move: bo=00000000aaaa0001, from=2, to=1, size=65536\n"
		"a-812 [000] ..... 1.000004: amdgpu_ttm_bo_move: bo=00000000aaaa0001, from=1, to=0, size=65536\n"
		"a-812 [000] d.h1. 1.000005: amdgpu_iv: ih:0 client_id:20 src_id:181 ring:36 vmid:3 timestamp: "
		"123456789 pasid:32770 src_data: 0000beef 00000000 00000000 00000000\n\n"
		"a-812 [000] d.h1. 1.000006: amdgpu_iv: ih=0 client_id=0 src_id=1 ring_id=0 vmid=0 vmid_src=0 "
		"timestamp=1 timestamp_src=0 pasid=0 src_data=ARRAY[0f, 00, 00, 00]\n"
		"a-812 [000] d.h1. 1.000007: amdgpu_iv: src_id:7 timestamp: 1\n");
	EVENTS(f, "MEM_CREATE 1000001 0:0", "MEM_CREATE 1000002 0:0", "MEM_MOVE 1000003 0:0",
	       "MEM_MOVE 1000004 0:0", "IRQ 1000005 0:0", "IRQ 1000006 0:0", "IRQ 1000007 0:0");
	assert_int_equal(f->r[0].create.bytes, 65536);
	assert_int_equal(f->r[0].create.wanted, 4);
	assert_int_equal(f->r[0].create.allowed, 6);
	assert_int_equal(f->r[0].create.placed, 2);
	assert_int_equal(f->r[0].create.mflags, 1);
	assert_int_equal(f->r[1].create.placed, UINT32_MAX);
	assert_int_equal(f->r[1].create.wanted, 4);
	assert_int_equal(f->r[2].move.from, 2);
	assert_int_equal(f->r[2].move.to, 1);
	assert_int_equal(f->r[3].move.to, 0);
	assert_int_equal(f->r[3].move.bytes, 65536);
	assert_irq(&f->r[4].irq, 20 << 16 | 181, 0xbeef, 36, 3, 32770);
	assert_irq(&f->r[5].irq, 1, UINT32_MAX, 0, 0, 0);
	assert_irq(&f->r[6].irq, 0xffff0000 | 7, UINT32_MAX, UINT16_MAX, UINT16_MAX, UINT32_MAX);
}

static void vblanks(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] d.h1. 1.000001: drm_vblank_event: crtc=1, seq=77, time=999000, high-prec=true\n"
		"a-812 [000] d.h1. 1.000002: drm_vblank_event: crtc=0, seq=78\n"
		"a-812 [000] ..... 1.000003: drm_vblank_event_queued: file=00000000aaaa0001, crtc=1, seq=79\n"
		"a-812 [000] ..... 1.000004: drm_vblank_event_delivered: file=00000000aaaa0001, crtc=1, seq=79\n"
		"a-812 [000] ..... 1.000005: drm_vblank_event_delivered: crtc=1, seq=80\n");
	EVENTS(f, "VBLANK 1000001 0:0", "VBLANK 1000002 0:0", "VBLANK_QUEUED 1000003 0:0",
	       "VBLANK_DELIVERED 1000004 0:0", "VBLANK_DELIVERED 1000005 0:0");
	assert_int_equal(f->r[0].vblank.crtc, 1);
	assert_int_equal(f->r[0].vblank.vseq, 77);
	assert_int_equal(f->r[0].vblank.stamp, 999000);
	assert_int_equal(f->r[0].vblank.high_prec, 1);
	assert_int_equal(f->r[1].vblank.high_prec, 0);
	assert_int_equal(f->r[3].vblank_queued.file, 0xaaaa0001);
	assert_int_equal(f->r[4].vblank_queued.file, 0);
	assert_int_equal(f->r[4].vblank_queued.vseq, 80);
}

static void virtio(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] ..... 1.000001: virtio_gpu_cmd_queue: vdev=2 vq=0 name=control type=0x207 flags=0x1 "
		"fence_id=9 ctx_id=3\n"
		"a-812 [000] ..... 1.000002: virtio_gpu_cmd_queue: vdev=2 vq=1 name=cursor type=0x300 flags=0x0 "
		"fence_id=0 ctx_id=0 num_free=64 seqno=5\n"
		"k-99 [001] ..... 1.000003: virtio_gpu_cmd_response: vdev=2 vq=0 name=control type=0x1100 flags=0x1 "
		"fence_id=9 ctx_id=3\n"
		"k-99 [001] ..... 1.000004: dma_fence_signaled: driver=virtio_gpu timeline=controlq context=11 "
		"seqno=9\n"
		"a-812 [000] ..... 1.000005: virtio_gpu_cmd_queue: vdev=2 vq=0 name=control type=0x207 flags=0x1 "
		"fence_id=10 ctx_id=3\n"
		"k-99 [001] ..... 1.000006: virtio_gpu_cmd_response: vdev=2 vq=0 name=control type=0x1202 flags=0x1 "
		"fence_id=10 ctx_id=3\n"
		"k-99 [001] ..... 1.000007: virtio_gpu_cmd_response: vdev=2 vq=1 name=cursor type=0x1200 flags=0x0 "
		"fence_id=0 ctx_id=0\n"
		"k-99 [001] ..... 1.000008: virtio_gpu_cmd_response: vdev=2 vq=0 name=control type=0x1100 flags=0x1 "
		"fence_id=8 ctx_id=3\n");
	assert_int_equal(f->n, 9);
	assert_int_equal(f->r[0].e.type, GRT_EV_SUBMIT);
	assert_true(f->r[0].e.flags & GRT_FLAG_COMMIT);
	assert_int_equal(f->r[0].submit.cmd, 0x207);
	assert_int_equal(f->r[0].submit.hw_ctx, 3);
	assert_int_equal(f->r[0].submit.fence_id, 9);
	assert_int_equal(f->r[0].e.seqno, 9);
	assert_int_equal(f->r[0].e.device, 2);
	assert_true(f->r[0].e.ctx >> 52);
	check_name(f, GRT_NAME_RING, f->r[0].e.ring, "control", "virtio_gpu");
	assert_int_equal(f->r[1].e.type, GRT_EV_COMMAND);
	assert_int_equal(f->r[1].command.cmd, 0x300);
	assert_int_equal(f->r[1].e.engine, GRT_ENGINE_DISPLAY);
	assert_int_equal(f->r[2].e.type, GRT_EV_END);
	assert_int_equal(f->r[2].end.reply, 0x1100);
	assert_int_equal(f->r[2].e.tid, 812);
	assert_int_equal(f->r[3].e.type, GRT_EV_COMPLETE);
	assert_false(f->r[3].e.flags & GRT_FLAG_INFERRED);
	assert_int_equal(f->r[3].e.ctx, f->r[0].e.ctx);
	assert_int_equal(f->r[5].e.type, GRT_EV_ERROR);
	assert_int_equal(f->r[5].error.code, 0x1202);
	assert_int_equal(f->r[5].e.seqno, 10);
	assert_int_equal(f->r[6].e.type, GRT_EV_END);
	assert_int_equal(f->r[8].e.type, GRT_EV_ERROR);
	assert_int_equal(f->r[8].e.ctx, 0);
	assert_int_equal(skipped(f, "virtio_gpu_cmd_response"), 1);
}

static void counters(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] ..... 1.000001: gpu_mem_total: gpu_id=1 pid=812 size=1048576\n"
		"a-812 [000] ..... 1.000002: gpu_frequency: state=850000 gpu_id=1\n"
		"a-812 [000] ..... 1.000003: intel_gpu_freq_change: new_freq=350\n"
		"a-812 [000] ..... 1.000004: gpu_work_period: gpu_id=0 uid=10080 start_time_ns=1 end_time_ns=9 "
		"total_active_duration_ns=5\n");
	assert_int_equal(f->n, 4);
	assert_int_equal(f->r[0].counter.value, 1048576);
	assert_int_equal(f->r[0].counter.instance, 812);
	assert_int_equal(f->r[0].e.device, 1);
	check_name(f, GRT_NAME_COUNTER, f->r[0].counter.counter, "gpu_mem_total", "bytes");
	assert_int_equal(f->r[1].counter.value, 850000);
	check_name(f, GRT_NAME_COUNTER, f->r[1].counter.counter, "gpu_frequency", "kHz");
	assert_int_equal(f->r[2].counter.value, 350);
	check_name(f, GRT_NAME_COUNTER, f->r[2].counter.counter, "intel_gpu_frequency", "MHz");
	assert_int_equal(f->r[3].counter.value, 5);
	assert_int_equal(f->r[3].counter.instance, 10080);
}

/* Numbers beyond 64 bits stay at the largest one. */
static void numbers_saturate(void **state)
{
	struct fixture *f = *state;

	read_whole(f,
		   "a-99999999999 [99999999999] ..... 99999999999999999999.5: drm_sched_job_queue: "
		   "fence=99999999999999999999:99999999999999999999, ring=gfx, job count:99999999999, hw job "
		   "count:-1\n");
	assert_int_equal(f->n, 1);
	assert_int_equal(f->r[0].e.time, UINT64_MAX);
	assert_int_equal(f->r[0].e.ctx, UINT64_MAX);
	assert_int_equal(f->r[0].e.tid, UINT32_MAX);
	assert_int_equal(f->cpu[0], UINT32_MAX);
}

/* Renamed threads are named again, known ones are not. */
static void names_are_told_once(void **state)
{
	struct fixture *f = *state;

	read_whole(f, "a-812 [000] ..... 1.000001: drm_sched_job_queue: fence=7:1, ring=gfx\n"
		      "a-812 [000] ..... 1.000002: drm_sched_job_queue: fence=7:2, ring=gfx\n"
		      "b-812 [000] ..... 1.000003: drm_sched_job_queue: fence=7:3, ring=gfx\n");
	assert_int_equal(f->names, 3);
	assert_string_equal(f->name[0].name, "gfx");
	assert_string_equal(f->name[1].name, "a");
	assert_string_equal(f->name[2].name, "b");
	assert_int_equal(f->name[2].e.time, 1000003000);
}

/* Their numbers say nothing to anyone, and a domain that has no place in them is not another device's. */
static void devices_are_named_by_their_address(void **state)
{
	struct fixture *f = *state;

	read_whole(
		f,
		"a-812 [000] ..... 1.000001: drm_sched_job_queue: dev=0000:03:00.0, fence=7:1, ring=gfx\n"
		"a-812 [000] ..... 1.000002: drm_sched_job_queue: dev=ffff:04:1f.7, fence=8:1, ring=gfx\n"
		"a-812 [000] ..... 1.000003: drm_sched_job_queue: dev=0000:03:00.0, fence=7:2, ring=gfx\n"
		"a-812 [000] ..... 1.000004: drm_sched_job_queue: dev=10000:03:00.0, fence=9:1, ring=gfx\n");
	assert_int_equal(f->r[0].e.device, 0x300);
	assert_int_equal(f->r[1].e.device, 0xffff04ff);
	assert_int_equal(f->r[2].e.device, 0x300);
	assert_int_equal(f->r[3].e.device, 0);
	check_name(f, GRT_NAME_DEVICE, 0x300, "0000:03:00.0", "");
	check_name(f, GRT_NAME_DEVICE, 0xffff04ff, "ffff:04:1f.7", "");
	/* a thread, two devices with a number, and of each GPU a ring and its address */
	assert_int_equal(f->names, 1 + 2 + 3 * 2);
}

static void a_run_can_be_repeated(void **state)
{
	struct fixture *f = *state;
	uint64_t first, last;

	read_whole(f, "a-812 [000] ..... 1.000001: drm_sched_job: id=1, fence=00000000aaaa0001, ring=gfx\n"
		      "a-812 [000] ..... 1.000009: sched_switch: x\n");
	EVENTS(f, "SUBMIT 1000001 0:1");
	run(f);
	EVENTS(f, "SUBMIT 1000001 0:1");
	assert_int_equal(f->h->text.lines, 2);
	assert_int_equal(f->h->text.skipped, 1);
	assert_int_equal(grt_session_span(f->s, &first, &last), 0);
	assert_int_equal(first, 1000001000);
	assert_int_equal(last, 1000009000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(every_layout_of_a_line),
		T(perf_script),
		T(comms_may_hold_anything),
		T(what_is_no_event_is_passed_over),
		T(lines_are_unwrapped),
		T(a_page_of_systrace),
		T(a_json_trace),
		T(a_json_trace_that_comes_in_parts),
		T(damaged_lines_are_counted),
		T(long_lines),
		T(losses_are_in_the_balance),
		T(other_events_are_counted_by_name),
		T(what_has_no_events_is_refused),
		T(scheduler_of_today),
		T(scheduler_of_yesterday_by_address),
		T(an_address_of_another_job),
		T(scheduler_of_yesterday_without_addresses),
		T(raw_fields),
		T(oldest_scheduler),
		T(amdgpu_and_scheduler_tell_of_one_job),
		T(amdgpu_of_today),
		T(rings_by_their_names),
		T(rings_of_two_gpus),
		T(dependencies_of_yesterday),
		T(names_of_fences_may_hold_blanks),
		T(fences_are_cut_to_32_bits),
		T(drivers_whose_fences_are_jobs),
		T(fences_are_no_spans_beside_jobs),
		T(i915_of_a_distribution),
		T(i915_with_low_level_events),
		T(i915_before_requests_had_contexts),
		T(i915_memory),
		T(amdgpu_memory_and_interrupts),
		T(vblanks),
		T(virtio),
		T(counters),
		T(numbers_saturate),
		T(names_are_told_once),
		T(devices_are_named_by_their_address),
		T(a_run_can_be_repeated),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
