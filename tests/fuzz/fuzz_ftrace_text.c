// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: text of ftrace. The first byte of an input says whether the
 * rest is the text, a string in JSON, or a list of what to do with lines that are made here: which
 * of them follow each other, at which stamps, and which of their bytes change.
 * So short inputs reach the events, the joins and the order without a corpus.
 *
 * Readers: text_input
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

#define TEXT_MAX 65536

/* Without what stands before the event. */
static const char *const events[] = {
	"drm_sched_job: entity=00000000deadbee0, id=1, fence=00000000aaaa0001, ring=gfx, job count:0, hw job count:1",
	"drm_run_job: entity=00000000deadbee0, id=1, fence=00000000aaaa0001, ring=gfx, job count:0, hw job count:1",
	"drm_sched_process_job: fence=00000000aaaa0001 signaled",
	"drm_sched_job: entity=(____ptrval____), id=2, fence=(____ptrval____), ring=gfx, job count:0, hw job count:1",
	"drm_run_job: entity=(____ptrval____), id=2, fence=(____ptrval____), ring=gfx, job count:0, hw job count:1",
	"drm_sched_process_job: fence=(____ptrval____) signaled",
	"drm_sched_job_wait_dep: job ring=gfx, id=1, depends fence=00000000cccc0001, context=7, seq=8",
	"drm_sched_job_queue: dev=0000:03:00.0, fence=7:8, ring=gfx_0.0.0, job count:0, hw job count:1, client_id:4",
	"drm_sched_job_run: dev=0000:03:00.0, fence=7:8, ring=gfx_0.0.0, job count:0, hw job count:1, client_id:4",
	"drm_sched_job_done: fence=7:8 signaled",
	"drm_sched_job_unschedulable: fence=7:8 depends on unsignalled fence=7:9",
	"dma_fence_signaled: driver=drm_sched timeline=gfx a b context=7 seqno=8",
	"dma_fence_wait_start: driver=a timeline=b context=7 seqno=8",
	"dma_fence_wait_end: driver=a timeline=b context=7 seqno=8",
	"dma_fence_init: driver=nouveau timeline=x context=9 seqno=1",
	"dma_fence_signaled: driver=nouveau timeline=x context=9 seqno=1",
	"amdgpu_cs_ioctl: sched_job=1, timeline=gfx, context=7, seqno=8, ring_name=ffff91cb1ab1bdd0, num_ibs=3",
	"amdgpu_sched_run_job: sched_job=1, timeline=gfx, context=7, seqno=8, ring_name=gfx, num_ibs=3",
	"amdgpu_iv: ih:0 client_id:20 src_id:181 ring:0 vmid:3 timestamp: 12 pasid:1 src_data: 0000beef 0 0 0",
	"amdgpu_bo_create: bo=00000000aaaa0001, pages=16, type=-1, prefered=4, allowed=6, visible=1",
	"amdgpu_bo_move: bo=00000000aaaa0001, from=2, to=1, size=65536",
	"i915_request_queue: dev=0, engine=1:0, ctx=7, seqno=8, flags=0x0",
	"i915_request_add: dev=0, engine=1:0, ctx=7, seqno=8, tail=64",
	"i915_request_out: dev=0, engine=1:0, ctx=7, seqno=8, completed?=1",
	"i915_request_retire: dev=0, engine=1:0, ctx=7, seqno=8, tail=64",
	"i915_request_wait_begin: dev=0, engine=1:0, ctx=7, seqno=8, flags=0x1",
	"i915_gem_request_add: dev=0, ring=1, seqno=1178364",
	"i915_vma_bind: obj=00000000aaaa0001, offset=0x0 size=0x2000, mappable vm=00000000bbbb0001",
	"i915_gem_object_fault: obj=00000000aaaa0001, GTT index=3 , writable",
	"virtio_gpu_cmd_queue: vdev=2 vq=0 name=control type=0x207 flags=0x1 fence_id=9 ctx_id=3",
	"virtio_gpu_cmd_response: vdev=2 vq=0 name=control type=0x1202 flags=0x1 fence_id=9 ctx_id=3",
	"dma_fence_signaled: driver=virtio_gpu timeline=controlq context=11 seqno=9",
	"drm_vblank_event: crtc=1, seq=77, time=999000, high-prec=true",
	"drm_vblank_event_queued: file=00000000aaaa0001, crtc=1, seq=79",
	"gpu_mem_total: gpu_id=1 pid=812 size=1048576",
	"sched_switch: prev_comm=a prev_pid=11 prev_prio=97 prev_state=S ==> next_comm=b",
	"kfd_set_event <-kfd_ioctl",
	"kfd_ioctl_create_queue: (kfd_ioctl_create_queue+0x0/0x3c0 [amdgpu]) gpu_id=7 type=2",
	"pqm_create: (pqm_create_queue+0x1c/0x3c0 [amdgpu])",
	"ret: (kfd_ioctl+0x2d1/0x510 [amdgpu] <- kfd_ioctl_create_queue) ret=0xffffffea queue_id=3",
	"kfd_user_event: queue=3 state=mapped",
	"sys_ioctl(fd: 3, cmd: c0106444)",
	"sys_ioctl -> 0xffffffffffffffea",
	"funcgraph_entry:        0.550 us   |  kfd_open();",
	"funcgraph_entry:                   |  kfd_ioctl() {",
	"funcgraph_exit:       + 12.500 us  |  }",
	"funcgraph_entry:      func=0xffffffffc0123456 depth=1",
	"funcgraph_exit:       func=0xffffffffc0123456 calltime=100 rettime=350 overrun=0 depth=1",
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

/* What stands before it; the number is seconds. */
static const char *const layouts[] = {
	"          glxgears-812     [003] d..1.  %u.000731: ",
	"  a [001] 1.5: b-812     (  790) [003]  %u.000731123: ",
	"glxgears-812     3d..1.  %u.000731: ",
	"glxgears   790/812   [003]  %u.000731: gpu_scheduler:",
	"glxgears   812  %u.000731:          1 gpu_scheduler:",
	"> \033[1mglxgears-812     3d..1.   %uus : ",
};
#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

static const char *const others[] = {
	"# entries-in-buffer/entries-written: 5/7   #P:4\n",
	"CPU:3 [LOST 12 EVENTS]\n",
	"CPU:3 [EVENTS DROPPED]\r\n",
	"<html>\n<script class=\"trace-data\" type=\"application/text\">\n",
	"</script>\n",
	"\tffffffffc0a81234 drm_sched_entity_push_job+0x54 ([gpu_sched])\n",
	"# tracer: function_graph\n# CPU  DURATION                  FUNCTION CALLS\n",
	" 1)               |  kfd_ioctl() {\n",
	" 1)   0.550 us    |    kfd_ioctl_get_version [amdgpu]();\n",
	" 1) + 10.250 us   |      pqm_create_queue(); /* = 0xffffffea */\n",
	" 1) ! 120.500 us  |  } /* kfd_ioctl_create_queue ret=-22 */\n",
	" 1)               |    /* a comment of trace_printk */\n",
	" ------------------------------------------\n 1)    kf-114     =>    bash-200   \n",
	"  12.954289 |   1)    kf-114     |               |  kfd_ioctl() {\n",
	"  12.954310 |   0)   a b-115     |  d..1. |   1.550 us    |    kfd_open(filep=0x1);\n",
	"  12.954320 |   1)    kf-114     | + 31.550 us   |  }\n",
};
#define OTHERS (sizeof(others) / sizeof(others[0]))

struct seen {
	struct grt_consumer c;
	uint64_t events;
	uint64_t backward;
	uint64_t last;
	volatile char sum;
};

static int see_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct seen *s = (struct seen *)c;

	(void)cpu;
	CHECK(e->size >= sizeof(*e) && e->size % 8 == 0);
	for (unsigned int i = 0; i < e->size; i++)
		s->sum = (char)(s->sum + ((const char *)e)[i]);
	s->backward += e->time < s->last;
	s->last = e->time;
	s->events++;
	return 0;
}

static uint64_t sum_of(const struct grt_balance *b)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < GRT_FATES; i++)
		sum += b->fate[i];
	return sum;
}

/* Once more: nothing of the first run is left. */
static void run(struct grt_session *s, size_t size)
{
	const struct grt_skipped *list;
	struct grt_health h[2];
	struct grt_err err;

	for (unsigned int i = 0; i < 2; i++) {
		struct seen seen = {.c = {.event = see_event}};
		uint64_t skips = 0;

		CHECK(grt_session_run(s, &seen.c, 0, UINT64_MAX, &err) == 0);
		h[i] = *grt_session_health(s);
		CHECK(seen.backward == 0 && h[i].fault[GRT_FAULT_TIME] == 0);
		CHECK(h[i].events == seen.events && h[i].balance.fate[GRT_FATE_DELIVERED] == seen.events);
		CHECK(h[i].balance.emitted == sum_of(&h[i].balance));
		CHECK(h[i].bytes == size && h[i].text.lines <= size && h[i].text.bad <= h[i].text.lines);
		for (unsigned int n = grt_session_skipped(s, &list); n; n--)
			skips += list[n - 1].events;
		CHECK(skips == h[i].text.skipped);
	}
	CHECK(h[0].events == h[1].events && h[0].text.bad == h[1].text.bad);
}

static void read_text(const char *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct grt_session *s;
	struct grt_err err;
	uint64_t first, last;
	char path[32];

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!grt_session_open(&s, path, &err)) {
		/* what has a packet's magic is none of ours */
		if (grt_session_health(s)->text.form)
			run(s, size);
		CHECK(grt_session_span(s, &first, &last) || first <= last);
		grt_session_close(s);
	}
	close(fd);
}

struct made {
	char text[TEXT_MAX];
	size_t size;
};

static void add(struct made *m, const char *text, size_t len)
{
	if (len > TEXT_MAX - m->size)
		len = TEXT_MAX - m->size;
	memcpy(m->text + m->size, text, len);
	m->size += len;
}

static void add_line(struct made *m, const uint8_t *how)
{
	char text[512];

	if (how[0] >= 220) {
		add(m, others[how[0] % OTHERS], strlen(others[how[0] % OTHERS]));
		return;
	}
	snprintf(text, sizeof(text), layouts[how[1] % LAYOUTS], (unsigned int)how[2]);
	add(m, text, strlen(text));
	add(m, events[how[0] % EVENTS], strlen(events[how[0] % EVENTS]));
	add(m, "\n", 1);
}

/* Three bytes each: a line, or (with a first byte from 210 to 219) another byte in the one before. */
static void made_lines(const uint8_t *data, size_t size)
{
	struct made *m = calloc(1, sizeof(*m));
	char *copy;

	CHECK(m);
	for (; size >= 3; data += 3, size -= 3) {
		if (data[0] < 210 || data[0] >= 220)
			add_line(m, data);
		else if (m->size > data[1])
			m->text[m->size - 1 - data[1]] = (char)data[2];
	}
	/* in memory of its own size, so that reading beyond it is found */
	copy = malloc(m->size ? m->size : 1);
	CHECK(copy);
	memcpy(copy, m->text, m->size);
	read_text(copy, m->size);
	free(copy);
	free(m);
}

static void in_json(const char *data, size_t size)
{
	static const char begin[] = "{\"traceEvents\":[],\"systemTraceEvents\":\"";
	char *text = malloc(sizeof(begin) + size);

	CHECK(text);
	memcpy(text, begin, sizeof(begin) - 1);
	memcpy(text + sizeof(begin) - 1, data, size);
	read_text(text, sizeof(begin) - 1 + size);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] % 2)
		made_lines(data + 1, size - 1);
	else if (data[0] % 4)
		in_json((const char *)data + 1, size - 1);
	else
		read_text((const char *)data + 1, size - 1);
	return 0;
}
