// SPDX-License-Identifier: GPL-2.0
/*
 * Shows frames on a display of virtio_gpu by page flips, and delays every few of them on
 * purpose. `frames DELAYS`: how many frames each cause delays. For each frame it prints
 *
 *	WHO FRAME CAUSE CTX SEQNO BEFORE AFTER EVENT DELAY TOTAL
 *
 * WHO: "flipper", or "client" of it, which is another process; FRAME: number of the frame among
 * those that WHO showed; CAUSE: of the delay, "-": none; CTX, SEQNO: the job that it shows, as
 * the software GPU names it, 0: none; BEFORE, AFTER: around the call that flipped, or submitted
 * the client's job; EVENT: the stamp in the flip's event;
 * DELAY, TOTAL: what the delay took, and all since the frame before, in ns by the program's own clock.
 * Causes:
 *
 *	cpu		it computes before it submits
 *	sleep		it sleeps before it submits
 *	gpu		its job takes long, and it waits for that before it flips
 *	fence		its job takes long, and the flip has its fence
 *	hog		another process of higher priority takes the CPU
 *	compositor	the flipper sleeps when its client's job is complete
 */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "gpu_calls.h"

#define MS 1000000L
#define DELAY_MS 40
/* One of so many frames is delayed. */
#define EVERY 5
#define FRAMES_MAX 65536
#define PROPS 64

/* As in include/uapi/drm/drm.h and drm_mode.h. */
struct destroy_sync {
	uint32_t handle, pad;
};

struct client_cap {
	uint64_t capability, value;
};

struct resources {
	uint64_t fbs, crtcs, connectors, encoders;
	uint32_t n_fbs, n_crtcs, n_connectors, n_encoders, size[4];
};

struct mode {
	uint32_t clock;
	uint16_t hdisplay, h[4], vdisplay, v[4];
	uint32_t refresh, flags, type;
	char name[32];
};

struct connector {
	uint64_t encoders, modes, props, values;
	uint32_t n_modes, n_props, n_encoders, encoder, id, type, type_id, connection, mm[2], subpixel, pad;
};

struct crtc {
	uint64_t connectors;
	uint32_t n_connectors, id, fb, x, y, gamma, mode_valid;
	struct mode mode;
};

struct dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct fb {
	uint32_t id, width, height, pitch, bpp, depth, handle;
};

struct flip {
	uint32_t crtc, fb, flags, reserved;
	uint64_t user;
};

struct planes {
	uint64_t ids;
	uint32_t n, pad;
};

struct properties {
	uint64_t ids, values;
	uint32_t n, object, type, pad;
};

struct property {
	uint64_t values, enums;
	uint32_t id, flags;
	char name[32];
	uint32_t n_values, n_enums;
};

struct atomic {
	uint32_t flags, n_objects;
	uint64_t objects, n_props, props, values, reserved, user;
};

struct event {
	uint32_t type, length;
	uint64_t user;
	uint32_t sec, usec, sequence, crtc;
};

#define SET_CLIENT_CAP _IOW('d', 0x0d, struct client_cap)
#define GETRESOURCES _IOWR('d', 0xa0, struct resources)
#define SETCRTC _IOWR('d', 0xa2, struct crtc)
#define GETCONNECTOR _IOWR('d', 0xa7, struct connector)
#define GETPROPERTY _IOWR('d', 0xaa, struct property)
#define ADDFB _IOWR('d', 0xae, struct fb)
#define PAGE_FLIP _IOWR('d', 0xb0, struct flip)
#define CREATE_DUMB _IOWR('d', 0xb2, struct dumb)
#define GETPLANERESOURCES _IOWR('d', 0xb5, struct planes)
#define OBJ_GETPROPERTIES _IOWR('d', 0xb9, struct properties)
#define ATOMIC _IOWR('d', 0xbc, struct atomic)
#define SYNCOBJ_DESTROY _IOWR('d', 0xc0, struct destroy_sync)

#define PLANE_OBJECT 0xeeeeeeeeU
#define FLIP_EVENT 1
#define ATOMIC_TEST_ONLY 0x100
#define ATOMIC_NONBLOCK 0x200

enum cause { NONE, CPU, SLEEP, GPU, FENCE, HOG, COMPOSITOR };

static const char *const cause_names[] = {"-", "cpu", "sleep", "gpu", "fence", "hog", "compositor"};

static struct note {
	enum cause cause;
	uint64_t ctx, seqno, before, after, event, delay, total;
} flips[FRAMES_MAX], shown[FRAMES_MAX];
static uint32_t n_flips, n_shown;

static int card;
static uint32_t crtc, fbs[2], plane, prop_fb, prop_fence;

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void pause_ms(long ms)
{
	struct timespec t = {.tv_nsec = ms * MS};

	while (nanosleep(&t, &t))
		;
}

static void compute_ms(long ms)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(ms * MS);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* ------------------------------------------------------------- devices */

static uint32_t make_fb(const struct mode *m)
{
	struct dumb dumb = {.height = m->vdisplay, .width = m->hdisplay, .bpp = 32};
	struct fb fb = {.width = m->hdisplay, .height = m->vdisplay, .bpp = 32, .depth = 24};

	if (ioctl(card, CREATE_DUMB, &dumb))
		fail("CREATE_DUMB");
	fb.pitch = dumb.pitch;
	fb.handle = dumb.handle;
	if (ioctl(card, ADDFB, &fb))
		fail("ADDFB");
	return fb.id;
}

static uint32_t find_property(const uint32_t *ids, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++) {
		struct property p = {.id = ids[i]};

		if (!ioctl(card, GETPROPERTY, &p) && !strcmp(p.name, name))
			return p.id;
	}
	errno = ENOENT;
	fail(name);
	return 0;
}

/* The first plane, which is the primary one of the first CRTC. */
static void find_plane(void)
{
	uint32_t planes[64], ids[PROPS];
	uint64_t values[PROPS];
	struct planes p = {.ids = (uintptr_t)planes, .n = 64};
	struct properties q = {
		.ids = (uintptr_t)ids, .values = (uintptr_t)values, .n = PROPS, .type = PLANE_OBJECT};

	if (ioctl(card, GETPLANERESOURCES, &p) || !p.n)
		fail("GETPLANERESOURCES");
	q.object = plane = planes[0];
	if (ioctl(card, OBJ_GETPROPERTIES, &q))
		fail("OBJ_GETPROPERTIES");
	prop_fb = find_property(ids, q.n, "FB_ID");
	prop_fence = find_property(ids, q.n, "IN_FENCE_FD");
}

static void open_display(void)
{
	uint32_t crtcs[16], connectors[16];
	struct mode modes[64];
	struct resources r = {.crtcs = (uintptr_t)crtcs,
			      .connectors = (uintptr_t)connectors,
			      .n_crtcs = 16,
			      .n_connectors = 16};
	struct client_cap planes = {2, 1}, atomic = {3, 1};
	struct connector c = {0};
	struct crtc set = {.n_connectors = 1, .mode_valid = 1};

	card = open_node("card", 0, "virtio_gpu");
	if (ioctl(card, SET_CLIENT_CAP, &planes) || ioctl(card, SET_CLIENT_CAP, &atomic) ||
	    ioctl(card, GETRESOURCES, &r) || !r.n_crtcs || !r.n_connectors)
		fail("GETRESOURCES");
	c.id = connectors[0];
	if (ioctl(card, GETCONNECTOR, &c))
		fail("GETCONNECTOR");
	c = (struct connector){.id = connectors[0], .modes = (uintptr_t)modes, .n_modes = 64};
	if (ioctl(card, GETCONNECTOR, &c) || !c.n_modes)
		fail("GETCONNECTOR");
	crtc = crtcs[0];
	fbs[0] = make_fb(&modes[0]);
	fbs[1] = make_fb(&modes[0]);
	set.connectors = (uintptr_t)&connectors[0];
	set.id = crtc;
	set.fb = fbs[0];
	set.mode = modes[0];
	if (ioctl(card, SETCRTC, &set))
		fail("SETCRTC");
	find_plane();
}

/* Return: a sync file of a job; @n gets its name */
static int submit_job(long ms, struct note *n)
{
	struct create c = {0};
	struct grtrace_softgpu_job j = {.duration = (uint64_t)(ms * MS)};
	struct grtrace_softgpu_submit s = {.jobs = (uintptr_t)&j, .count = 1};
	struct destroy_sync destroy = {0};
	struct to_fd t = {.flags = 1, .fd = -1};

	if (ioctl(gpu, SYNCOBJ_CREATE, &c))
		fail("SYNCOBJ_CREATE");
	j.out_sync = t.handle = destroy.handle = c.handle;
	if (ioctl(gpu, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &s) || ioctl(gpu, SYNCOBJ_TO_FD, &t) ||
	    ioctl(gpu, SYNCOBJ_DESTROY, &destroy))
		fail("a job");
	n->ctx = j.ctx;
	n->seqno = j.seqno;
	return t.fd;
}

static void wait_and_close(int fence)
{
	struct pollfd p = {.fd = fence, .events = POLLIN};

	if (poll(&p, 1, -1) != 1)
		fail("poll");
	close(fence);
}

/* ------------------------------------------------------------- flips */

static void flip_now(struct note *n, int fence)
{
	uint32_t props[2] = {prop_fb, prop_fence}, count = 2;
	uint64_t values[2] = {fbs[n_flips % 2], (uint64_t)(int64_t)fence};
	struct flip f = {.crtc = crtc, .fb = fbs[n_flips % 2], .flags = FLIP_EVENT, .user = n_flips};
	struct atomic a = {.flags = FLIP_EVENT | ATOMIC_NONBLOCK,
			   .n_objects = 1,
			   .objects = (uintptr_t)&plane,
			   .n_props = (uintptr_t)&count,
			   .props = (uintptr_t)props,
			   .values = (uintptr_t)values,
			   .user = n_flips};
	struct atomic test = a;

	/* as compositors do */
	test.flags = ATOMIC_TEST_ONLY;
	if (fence >= 0 && ioctl(card, ATOMIC, &test))
		fail("a test");
	n->before = now();
	if (fence < 0 ? ioctl(card, PAGE_FLIP, &f) : ioctl(card, ATOMIC, &a))
		fail("a flip");
	n->after = now();
}

static void await_event(struct note *n)
{
	struct event e;

	if (read(card, &e, sizeof(e)) != sizeof(e) || e.user != n_flips)
		fail("an event");
	n->event = (uint64_t)e.sec * 1000000000 + (uint64_t)e.usec * 1000;
}

static void end_frame(struct note *n)
{
	n->total = n_flips ? n->event - flips[n_flips - 1].event : 0;
	flips[n_flips++] = *n;
	if (n_flips == FRAMES_MAX)
		exit(1);
}

/* ------------------------------------------------------------- a process that flips for itself */

static int hog_go[2], hog_done[2];

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static void unpin(void)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

/* Runs at real-time priority on the flipper's CPU whenever it is told to. */
static pid_t start_hog(void)
{
	struct sched_param p = {.sched_priority = 50};
	char byte;
	pid_t pid;

	if (pipe(hog_go) || pipe(hog_done))
		fail("pipe");
	pid = fork();
	if (pid)
		return pid;
	close(hog_go[1]);
	pin();
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		fail("sched_setscheduler");
	while (read(hog_go[0], &byte, 1) == 1)
		compute_ms(DELAY_MS);
	_exit(0);
}

static void delay(struct note *n)
{
	uint64_t began = now();

	if (n->cause == CPU)
		compute_ms(DELAY_MS);
	if (n->cause == SLEEP)
		pause_ms(DELAY_MS);
	if (n->cause == HOG && write(hog_go[1], "", 1) != 1)
		fail("write");
	n->delay = now() - began;
}

static void show_own(enum cause cause, bool by_fence)
{
	struct note n = {.cause = cause};
	uint64_t job;
	bool slow = cause == GPU || cause == FENCE;
	int fence;

	compute_ms(1);
	delay(&n);
	job = now();
	fence = submit_job(slow ? DELAY_MS : 2, &n);
	if (!by_fence) {
		wait_and_close(fence);
		fence = -1;
	}
	n.delay = slow && !by_fence ? now() - job : n.delay;
	flip_now(&n, fence);
	if (fence >= 0)
		close(fence);
	await_event(&n);
	n.delay = slow && by_fence ? n.event - job : n.delay;
	end_frame(&n);
}

static void flip_for_itself(int delays)
{
	static const enum cause causes[] = {CPU, SLEEP, GPU, HOG, FENCE};

	for (unsigned int i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		pid_t hog = 0;

		if (causes[i] == HOG) {
			hog = start_hog();
			pin();
		}
		for (int k = 0; k < delays * EVERY; k++)
			show_own(k % EVERY == EVERY / 2 ? causes[i] : NONE, causes[i] == FENCE);
		if (!hog)
			continue;
		unpin();
		close(hog_go[1]);
		waitpid(hog, NULL, 0);
	}
}

/* ------------------------------------------------------------- a client, and its compositor */

/** struct message - from the client: it has a frame; its descriptors are the compositor's, too */
struct message {
	int fence;
	uint64_t ctx, seqno;
	enum cause cause;
};

static enum cause client_cause(int k)
{
	static const enum cause causes[] = {CPU, COMPOSITOR, GPU};

	return k % EVERY == EVERY / 2 ? causes[k / EVERY % 3] : NONE;
}

static void be_client(int to, int from, int frames)
{
	for (int k = 0; k < frames; k++) {
		struct note n = {.cause = client_cause(k)};
		struct message m = {.cause = n.cause};
		uint64_t at;

		compute_ms(1);
		at = now();
		if (n.cause == CPU)
			compute_ms(DELAY_MS);
		n.delay = now() - at;
		n.before = now();
		m.fence = submit_job(n.cause == GPU ? DELAY_MS : 2, &n);
		n.after = now();
		m.ctx = n.ctx;
		m.seqno = n.seqno;
		at = now();
		if (write(to, &m, sizeof(m)) != sizeof(m) || read(from, &n.event, sizeof(n.event)) < 1)
			fail("the flipper");
		n.delay = n.cause == COMPOSITOR || n.cause == GPU ? now() - at : n.delay;
		n.total = n_shown ? n.event - shown[n_shown - 1].event : 0;
		shown[n_shown++] = n;
	}
}

static void show_client(int from, int to)
{
	uint64_t began = now();
	struct message m;
	struct note n;

	if (read(from, &m, sizeof(m)) != sizeof(m))
		fail("the client");
	n = (struct note){.cause = m.cause, .ctx = m.ctx, .seqno = m.seqno};
	wait_and_close(m.fence);
	if (m.cause == COMPOSITOR)
		pause_ms(DELAY_MS);
	n.delay = now() - began;
	flip_now(&n, -1);
	await_event(&n);
	end_frame(&n);
	if (write(to, &n.event, sizeof(n.event)) != sizeof(n.event))
		fail("the client");
}

static void put(FILE *out, const char *who, const struct note *note, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s %u %s %llu %llu %llu %llu %llu %llu %llu\n", who, i + 1,
			cause_names[note[i].cause], (unsigned long long)note[i].ctx,
			(unsigned long long)note[i].seqno, (unsigned long long)note[i].before,
			(unsigned long long)note[i].after, (unsigned long long)note[i].event,
			(unsigned long long)note[i].delay, (unsigned long long)note[i].total);
}

/* It has the compositor's descriptors, so that a sync file need not be sent. */
static void compose(int delays)
{
	int to[2], from[2], frames = 3 * delays * EVERY;
	pid_t pid;

	if (pipe(to) || pipe(from))
		fail("pipe");
	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid < 0)
		fail("clone");
	if (!pid) {
		be_client(to[1], from[0], frames);
		put(stdout, "client", shown, n_shown);
		fflush(stdout);
		_exit(0);
	}
	for (int k = 0; k < frames; k++)
		show_client(to[0], from[1]);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	int delays = argc > 1 ? atoi(argv[1]) : 10;

	gpu = open_gpu();
	open_display();
	flip_for_itself(delays);
	compose(delays);
	put(stdout, "flipper", flips, n_flips);
	return 0;
}
