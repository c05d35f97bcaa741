// SPDX-License-Identifier: GPL-2.0
/*
 * launch: threads that take over what others have left. Prints TAP.
 */
#include <stdlib.h>
#include <sys/mman.h>

static unsigned int maps;

static void *counted_mmap(void *at, size_t size, int prot, int flags, int fd, long offset);

#define mmap counted_mmap
#include "../../../inject/launch.c"
#undef mmap

static void *counted_mmap(void *at, size_t size, int prot, int flags, int fd, long offset)
{
	maps++;
	return mmap(at, size, prot, flags, fd, offset);
}

struct inject inject = {.on = true, .stack = STACK_INPROC};
struct packets define_packets;
static struct grt_ev_launch last;
static unsigned int written;
static unsigned int ranges, ranges_lost;

void packets_put(struct packets *p, struct grt_event *e)
{
	(void)p;
	if (e->type != GRT_EV_LAUNCH)
		return;
	memcpy(&last, e, sizeof(last));
	written++;
}

void packets_flush(struct packets *p)
{
	(void)p;
}

bool packets_close(struct packets *p)
{
	(void)p;
	return true;
}

void packets_open(struct packets *p)
{
	(void)p;
}

void event_init(struct grt_event *e, uint16_t type, uint16_t size, uint64_t time)
{
	memset(e, 0, size);
	e->time = time;
	e->type = type;
	e->size = size;
}

void detach_callback(int domain, uint32_t number, const struct cupti_callback *data)
{
	(void)domain, (void)number, (void)data;
}

void detach_graph(void)
{
}

void held_see_launch(uint64_t correlation, uint32_t context, uint64_t end)
{
	(void)correlation, (void)context, (void)end;
}

void held_see_wait(uint32_t context, uint64_t begin)
{
	(void)context, (void)begin;
}

void detach_context(void)
{
}

struct capture capture = {.inside = true};

void nccl_write(struct packets *(*to)(uint64_t time), uint64_t last_time)
{
	(void)to, (void)last_time;
}

uint64_t nccl_lost(void)
{
	return 0;
}

bool capture_call(int domain, uint32_t number, int site)
{
	return false;
}

void capture_leave(void *client)
{
}

void alloc_enable(uint32_t enable, void *subscriber)
{
}

bool alloc_is(uint32_t number)
{
	return false;
}

bool alloc_take(uint32_t number, const struct cupti_callback *d, struct alloc *a)
{
	return false;
}

_Atomic bool pcsampling_sees_calls;
_Atomic bool gate_counts;
_Atomic bool torch_sees_launches;

void torch_launch(void)
{
}

void gate_callback(int domain, uint32_t number, int site)
{
	(void)domain, (void)number, (void)site;
}

void pcsampling_see(void *context)
{
	(void)context;
}

void pcsampling_join(uint32_t enable, void *subscriber)
{
}

void pcsampling_resource(uint32_t number, const void *data)
{
}

void define_graph_node(uint64_t id, uint64_t source, uint32_t stack, uint32_t tid, uint32_t kind)
{
	(void)id, (void)source, (void)stack, (void)tid, (void)kind;
}

/* Names are written in the order in which they were put: 1, 2, ... */
static uint32_t last_name;
static unsigned int disordered;

void nvtx_write(struct packets *p, uint16_t kind, const struct nvtx_range *r, uint64_t end, uint32_t tid)
{
	(void)p, (void)kind, (void)end, (void)tid;
	ranges++;
	disordered += r->name != ++last_name;
}

void nvtx_write_started(struct packets *(*to)(uint64_t time))
{
	(void)to;
}

void nvtx_lose(void)
{
	ranges_lost++;
}

void nvtx_lose_field(void)
{
}

uint64_t nvtx_lost_fields(void)
{
	return 0;
}

uint64_t nvtx_lost(void)
{
	uint64_t n = ranges_lost;

	ranges_lost = 0;
	return n;
}

uint64_t clock_monotonic(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

static void must(bool condition, const char *what)
{
	printf("%s - %s\n", condition ? "ok" : "not ok", what);
	if (!condition)
		exit(1);
}

static __attribute__((noinline)) void launch(void)
{
	static _Atomic uint32_t correlation;
	struct cupti_callback d = {.site = CUPTI_SITE_ENTER, .correlation = ++correlation};

	launch_callback(NULL, CUPTI_DOMAIN_DRIVER, 307, &d);
	d.site = CUPTI_SITE_EXIT;
	launch_callback(NULL, CUPTI_DOMAIN_DRIVER, 307, &d);
	__asm__ volatile("");
}

/* What the writer does each round. */
static void write_all(void)
{
	launch_mark();
	launch_write(true);
	launch_refill();
}

/* Until it has ended, its end included. */
static void run_on(void *stack, size_t size, void *(*function)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack, size) || pthread_create(&thread, &attr, function, NULL))
		abort();
	pthread_attr_destroy(&attr);
	pthread_join(thread, NULL);
	write_all();
}

/* With a page in front that nobody may touch, so that it is a mapping of its own. */
static void *map_stack(size_t size)
{
	char *at = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at, 4096, PROT_NONE))
		abort();
	return at + 4096;
}

static bool is_whole(uint32_t node)
{
	struct grt_unode n;

	while (grt_unwind_node(node, &n) && n.kind != GRT_UNODE_ROOT)
		node = n.parent;
	return node == GRT_ROOT_START;
}

static void *launch_once(void *arg)
{
	launch();
	return arg;
}

/* One after the other, so that all use one ring: many more than stacks are looked up for a thread. */
static void many_stacks(void)
{
	enum { STACKS = 6, THREADS = 600 };
	static const size_t size[STACKS] = {1 << 16, 1 << 17, 1 << 18, 1 << 16, 1 << 19, 1 << 20};
	unsigned int whole = 0, i;
	void *stack[STACKS];

	for (i = 0; i < STACKS; i++)
		stack[i] = map_stack(size[i]);
	written = 0;
	for (i = 0; i < THREADS; i++) {
		run_on(stack[i % STACKS], size[i % STACKS], launch_once);
		whole += is_whole(last.node);
	}
	printf("# %u of %u stacks are whole, %u threads were made\n", whole, written, threads);
	must(threads == 1, "threads that come one after the other share a ring");
	must(written == THREADS && whole == THREADS, "each has its whole stack");
}

static void (*code)(void (*function)(void), void *frame);
static char *place;
#define LARGE ((size_t)1 << 20)
#define SMALL ((size_t)1 << 18)

static void *launch_with_odd_frame(void *arg)
{
	code(launch, place + LARGE / 2);
	return arg;
}

/* What was a thread's stack is none when another one, which is smaller, is in its place. */
static void smaller_stack(void)
{
	/* push %rbp; mov %rsi,%rbp; call *%rdi; nop; pop %rbp; ret: the frame pointer is any */
	static const uint8_t bytes[] = {0x55, 0x48, 0x89, 0xf5, 0xff, 0xd7, 0x90, 0x5d, 0xc3};
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, bytes, sizeof(bytes));
	memcpy(&code, &at, sizeof(code));
	place = map_stack(LARGE);
	run_on(place, LARGE, launch_once);
	munmap(place + SMALL, LARGE - SMALL);
	run_on(place, SMALL, launch_with_odd_frame);
	must(!is_whole(last.node), "a frame beyond the stack that is there now is not read");
}

/* Where all rings are taken, a thread without one costs no memory, however often it launches. */
static void *launch_homeless(void *arg)
{
	unsigned int before = maps, i;

	for (i = 0; i < 100; i++)
		launch();
	must(maps == before, "a thread that finds no ring makes none");
	must(inject.homeless == 100, "its launches are counted");
	return arg;
}

static void too_many(void)
{
	uint32_t made = threads;
	pthread_t homeless;

	launch(); /* the ring of the threads before */
	threads = THREADS_MAX;
	pthread_create(&homeless, NULL, launch_homeless, NULL);
	pthread_join(homeless, NULL);
	must(threads == THREADS_MAX && spare[0], "nor takes one that is spare");
	threads = made;
}

static unsigned int put_ranges(unsigned int n)
{
	struct nvtx_range r = {.name = 0};

	while (r.name < n && nvtx_thread_enter()) {
		r.name++;
		nvtx_thread_put(NVTX_PUSHED, &r, 0);
		nvtx_thread_leave();
	}
	return r.name;
}

/* Return: how many were written, UINT32_MAX: not as they were put */
static unsigned int write_ranges(void)
{
	ranges = last_name = disordered = 0;
	write_all();
	return disordered ? UINT32_MAX : ranges;
}

/* More than a ring holds: what has no room is counted. */
static void many_ranges(void)
{
	unsigned int i;

	write_ranges();
	for (i = 0; i < 5; i++)
		must(put_ranges(RING_SMALL - 3) == RING_SMALL - 3 && write_ranges() == RING_SMALL - 3,
		     "ranges go around the small ring");
	must(self->large_from == IN_SMALL, "which is enough for them");
	must(put_ranges(2 * RING_SMALL) && self->large_from != IN_SMALL && write_ranges() == 2 * RING_SMALL,
	     "from the small ring into the large one");
	for (i = 0; i < 3; i++)
		must(put_ranges(RING - 5) && write_ranges() == RING - 5, "ranges go around the large ring");
	ranges = 0;
	i = put_ranges(RING + 1000);
	write_all();
	must(i == RING + 1000 && ranges + inject.ranges_lost == i && inject.ranges_lost == 1000,
	     "ranges of a full ring are counted");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (grt_unwind_init(0, false) || launch_init())
		return 1;
	inject.pid = getpid();
	many_stacks();
	smaller_stack();
	too_many();
	many_ranges();
	return 0;
}
