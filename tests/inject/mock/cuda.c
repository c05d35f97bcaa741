// SPDX-License-Identifier: GPL-2.0
/*
 * A driver: loads the injection library as NVIDIA's does, and a device whose work
 * is done when it is launched.
 */
#include "mock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct mock mock = {.version = 130001, .next = 1, .stream = 7};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define HELD 8

/* struct out - a buffer that is being filled, or waits to be handed back */
struct out {
	uint8_t *at;
	size_t size;
	size_t used;
};

static struct out current, of_second, held[HELD];
static unsigned int n_held;

/* Calls the subscribers that want it. Return: whether the first one does */
static bool call_back(int domain, uint32_t number, const void *data)
{
	cupti_callback_fn fn = mock.callback, second = mock.second.callback;
	bool wanted = fn && mock.wanted[domain][number];

	if (wanted)
		fn(NULL, domain, number, data);
	if (second && mock.second.wanted[domain][number])
		second(NULL, domain, number, data);
	return wanted;
}

static void tell_resource_of(uint32_t number, const struct cupti_graph *graph)
{
	const struct cupti_resource r = {.context = &mock, .descriptor = graph};

	call_back(CUPTI_DOMAIN_RESOURCE, number, &r);
}

static void tell_resource(uint32_t number)
{
	tell_resource_of(number, NULL);
}

int cuInit(unsigned int flags)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*init)(void) = NULL;

	(void)flags;
	if (path && !library)
		fprintf(stderr, "mock: %s\n", dlerror());
	if (library)
		*(void **)&init = dlsym(library, "InitializeInjection");
	if (init && !init())
		return 1;
	mock_context();
	return 0;
}

static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
	static int fd = -2;
	const char *path = getenv("MOCK_LOG");
	char line[2048];
	va_list ap;
	int n;

	if (fd == -2)
		fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
	va_start(ap, format);
	n = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (fd >= 0 && write(fd, line, (size_t)n) != n)
		abort();
}

static uint64_t clock_now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static uint64_t stamp(void)
{
	uint64_t (*clock)(void) = mock.clock;

	return clock ? clock() : clock_now(CLOCK_REALTIME);
}

/* -------------------------------------------------------------- records */

size_t mock_record_size(uint32_t kind)
{
	bool old = mock.version < 100000;

	switch (kind) {
	case CUPTI_KIND_CONCURRENT_KERNEL:
		return old ? 160 : 216;
	case CUPTI_KIND_MEMCPY:
		return old ? 80 : 96;
	case CUPTI_KIND_MEMCPY2:
		return old ? 88 : 96;
	case CUPTI_KIND_MEMSET:
		return old ? 80 : 88;
	case CUPTI_KIND_GRAPH_TRACE:
		return old ? 56 : 64;
	case CUPTI_KIND_OVERHEAD:
		return old ? 40 : 56;
	case 52:
		return 64;
	}
	return 0;
}

/* Without the lock, which no call of the other side may find taken. */
static void give_back(struct out o)
{
	cupti_complete_fn complete = mock.complete;
	cupti_complete_v2_fn complete_v2 = mock.complete_v2;

	if (o.at && complete)
		complete(NULL, 0, o.at, o.size, o.used);
	else if (o.at && complete_v2)
		complete_v2(o.at, o.size, o.used, NULL);
}

static struct out take_current(void)
{
	struct out o = current;

	current = (struct out){.at = NULL};
	return o;
}

/* With the lock held. Return: what is to be given back once it is free */
static struct out make_room(size_t size)
{
	struct out full = {.at = NULL};
	size_t limit = mock.buffer_limit && mock.buffer_limit < current.size ? mock.buffer_limit
									     : current.size,
	       max;

	if (current.at && current.used + size > limit)
		full = take_current();
	if (full.at && mock.reverse && n_held < HELD) {
		held[n_held++] = full;
		full.at = NULL;
	}
	if (!current.at && (mock.request || mock.request_v2)) {
		if (mock.request)
			mock.request(&current.at, &current.size, &max);
		else
			mock.request_v2(&current.at, &current.size, &max, NULL);
		current.used = 0;
		/* as the real one does, where it is not told otherwise */
		if (current.at)
			memset(current.at, 0, current.size);
	}
	return full;
}

static void put_for_second(const void *record, uint32_t kind)
{
	size_t size = mock_record_size(kind), max;
	struct out full = {.at = NULL}, *o = &of_second;

	if (!mock.second.kinds[kind] || !mock.second.request)
		return;
	pthread_mutex_lock(&lock);
	if (o->at && o->used + size > o->size) {
		full = *o;
		o->at = NULL;
	}
	if (!o->at) {
		mock.second.request(&o->at, &o->size, &max, NULL);
		o->used = 0;
	}
	if (o->at) {
		memcpy(o->at + o->used, record, size);
		o->used += size;
	}
	pthread_mutex_unlock(&lock);
	if (full.at)
		mock.second.complete(full.at, full.size, full.used, NULL);
}

static void put(const void *record, uint32_t kind)
{
	size_t size = mock_record_size(kind);
	struct out full;

	put_for_second(record, kind);
	pthread_mutex_lock(&lock);
	if (kind != 52 && !mock.kinds[kind]) {
		pthread_mutex_unlock(&lock);
		return;
	}
	full = make_room(size);
	if (current.at) {
		memset(current.at + current.used, 0, size);
		memcpy(current.at + current.used, record, size);
		current.used += size;
	} else {
		mock.dropped++;
	}
	pthread_mutex_unlock(&lock);
	give_back(full);
}

void mock_forget(void)
{
	pthread_mutex_lock(&lock);
	memset(mock.kinds, 0, sizeof(mock.kinds));
	mock.request = NULL;
	mock.complete = NULL;
	mock.request_v2 = NULL;
	mock.complete_v2 = NULL;
	mock.clock = NULL;
	take_current();
	n_held = 0;
	pthread_mutex_unlock(&lock);
}

void mock_flush(void)
{
	struct out all[HELD + 1], second;
	unsigned int n = 0;

	pthread_mutex_lock(&lock);
	second = of_second;
	of_second.at = NULL;
	all[n++] = take_current();
	while (n_held)
		all[n++] = held[--n_held];
	pthread_mutex_unlock(&lock);
	while (n)
		give_back(all[--n]);
	if (second.at && mock.second.complete)
		mock.second.complete(second.at, second.size, second.used, NULL);
}

static void stamps(uint64_t *start, uint64_t *end)
{
	*start = mock.zero_stamps ? 0 : stamp();
	*end = mock.zero_stamps || mock.kernel_waits ? 0 : *start + 1000;
}

/* ---------------------------------------------------------------- calls */

/* struct call - one while it is made; @stream: its first argument */
struct call {
	uintptr_t stream;
	int domain;
	uint32_t number;
	uint32_t inner;
	uint64_t correlation;
	int result;
};

/* Calls that the thread is in, and whether the outermost one returns. */
static __thread unsigned int depth;
static __thread bool returns;

bool mock_at_exit(void)
{
	return returns;
}

static void site(int where, int domain, uint32_t number, struct call *c)
{
	uint64_t data = 0;
	struct cupti_callback d = {
		.site = where,
		.function = "mock",
		.params = &c->stream,
		.context = &mock,
		.result = where == CUPTI_SITE_EXIT ? &c->result : NULL,
		.context_uid = 1,
		.data = &data,
		.correlation = (uint32_t)c->correlation,
	};

	depth += where == CUPTI_SITE_ENTER;
	returns = where == CUPTI_SITE_EXIT && depth == 1;
	if (call_back(domain, number, &d))
		__atomic_fetch_add(&mock.delivered, 1, __ATOMIC_RELAXED);
	returns = false;
	depth -= where == CUPTI_SITE_EXIT;
}

/* The number that the recording has for a call: of the outermost function that is asked for. */
static uint32_t told_number(const struct call *c)
{
	if (c->inner && !mock.silent_driver && !mock.wanted[c->domain][c->number])
		return c->inner | 0x8000U;
	return c->number | (c->domain == CUPTI_DOMAIN_DRIVER ? 0x8000U : 0);
}

static void begin(struct call *c)
{
	do
		c->correlation = __atomic_fetch_add(&mock.next, !mock.frozen, __ATOMIC_RELAXED);
	while (!(uint32_t)c->correlation);
	mock.frozen |= c->correlation == mock.freezes_at;
	if (getenv("MOCK_LOG"))
		tell("L %d %d %u %llu\n", getpid(), (int)syscall(SYS_gettid), told_number(c),
		     (unsigned long long)c->correlation);
	site(CUPTI_SITE_ENTER, c->domain, c->number, c);
	if (c->inner && !mock.silent_driver)
		site(CUPTI_SITE_ENTER, CUPTI_DOMAIN_DRIVER, c->inner, c);
}

static void end(struct call *c)
{
	if (c->inner && !mock.silent_driver)
		site(CUPTI_SITE_EXIT, CUPTI_DOMAIN_DRIVER, c->inner, c);
	site(CUPTI_SITE_EXIT, c->domain, c->number, c);
}

int cuDriverGetVersion(int *version)
{
	struct call c = {.domain = CUPTI_DOMAIN_DRIVER, .number = MOCK_GET_VERSION};

	site(CUPTI_SITE_ENTER, CUPTI_DOMAIN_DRIVER, MOCK_GET_VERSION, &c);
	*version = mock.version >= 100000 ? (int)(mock.version / 10000 * 1000) : 12000;
	site(CUPTI_SITE_EXIT, CUPTI_DOMAIN_DRIVER, MOCK_GET_VERSION, &c);
	return 0;
}

/* ------------------------------------------------------------- devices */

/*
 * MOCK_DEVICES: of each device that the process sees two hexadecimal digits, which its UUID consists of, and
 * where it is a MIG instance a dot and those of its GPU. Without it there is one, which the driver does not
 * know.
 */
static bool device_digits(int device, unsigned int digits[2])
{
	const char *at = getenv("MOCK_DEVICES");

	while (at && device--)
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	if (!at || sscanf(at, "%2x", &digits[0]) != 1)
		return false;
	if (sscanf(at, "%*2x.%2x", &digits[1]) != 1)
		digits[1] = digits[0];
	return true;
}

int cuDeviceGetCount(int *count)
{
	unsigned int digits[2];

	for (*count = 0; device_digits(*count, digits); ++*count)
		;
	*count += !getenv("MOCK_DEVICES");
	return 0;
}

int cuDeviceGet(int *device, int ordinal);
int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return 0;
}

int cuDeviceGetName(char *name, int room, int device);
int cuDeviceGetName(char *name, int room, int device)
{
	unsigned int digits[2];

	if (!device_digits(device, digits))
		return 1;
	snprintf(name, (size_t)room, digits[0] == digits[1] ? "Mock 100" : "Mock 100 MIG 1g.10gb");
	return 0;
}

int cuDeviceGetUuid(uint8_t uuid[16], int device);
int cuDeviceGetUuid(uint8_t uuid[16], int device)
{
	unsigned int digits[2];

	if (!device_digits(device, digits))
		return 1;
	memset(uuid, (int)digits[1], 16);
	return 0;
}

int cuDeviceGetUuid_v2(uint8_t uuid[16], int device);
int cuDeviceGetUuid_v2(uint8_t uuid[16], int device)
{
	unsigned int digits[2];

	if (!device_digits(device, digits))
		return 1;
	memset(uuid, (int)digits[0], 16);
	return 0;
}

int cuDeviceGetPCIBusId(char *bus, int room, int device);
int cuDeviceGetPCIBusId(char *bus, int room, int device)
{
	unsigned int digits[2];

	if (!device_digits(device, digits))
		return 1;
	snprintf(bus, (size_t)room, "0000:%02x:00.0", digits[1]);
	return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	*bytes = (size_t)80 << 30;
	return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	/* those of an H100 */
	static const int of[][2] = {{10, 32},	    {13, 1980000}, {16, 132}, {36, 2619000},
				    {38, 52428800}, {39, 2048},	   {75, 9},   {76, 0},
				    {81, 233472},   {82, 65536},   {106, 32}, {111, 1024}};

	(void)device;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (of[i][0] == attribute) {
			*value = of[i][1];
			return 0;
		}
	return 1;
}

static void tell_gpu(const char *what, uint64_t correlation, uint64_t start, uint64_t end, const char *name,
		     uint64_t more)
{
	tell("G %d %s %llu %llu %llu %s %llu\n", getpid(), what, (unsigned long long)correlation,
	     (unsigned long long)start, (unsigned long long)end, name, (unsigned long long)more);
}

static void run_kernel(const char *name, uint64_t correlation, uint64_t node)
{
	union {
		struct cupti_kernel k;
		uint8_t bytes[216];
	} r = {.bytes = {0}};
	uint64_t start, finish;

	stamps(&start, &finish);
	if (mock.in_kernel) {
		mock.in_kernel();
		finish = stamp();
	}
	r.k = (struct cupti_kernel){
		.kind = CUPTI_KIND_CONCURRENT_KERNEL,
		.registers = 32,
		.start = start,
		.end = finish,
		.device = mock.device,
		.context = 1,
		.stream = mock.stream,
		.grid = {2, 3, 4},
		.block = {32, 2, 1},
		.correlation = (uint32_t)correlation,
		.name = name,
		.graph_node = node,
		.graph = node ? 5 : 0,
	};
	tell_gpu("kernel", correlation, start, finish, name, r.k.graph_node);
	put(&r, CUPTI_KIND_CONCURRENT_KERNEL);
}

/* The kernels of a graph, as one: the least and the greatest of their stamps. */
static void run_graph(uint64_t correlation, unsigned int kernels)
{
	union {
		struct cupti_graph_trace g;
		uint8_t bytes[64];
	} r = {.bytes = {0}};
	uint64_t start = 0, finish = 0, first;
	unsigned int i;

	for (i = 0; i < kernels; i++) {
		stamps(&first, &finish);
		start = i ? start : first;
	}
	r.g = (struct cupti_graph_trace){
		.kind = CUPTI_KIND_GRAPH_TRACE,
		.correlation = (uint32_t)correlation,
		.start = start,
		.end = finish,
		.device = mock.device,
		.graph = 5,
		.context = 1,
		.stream = mock.stream,
	};
	tell_gpu("kernel", correlation, start, finish, "CUDA graph 5", 0);
	put(&r, CUPTI_KIND_GRAPH_TRACE);
}

void mock_call(int domain, uint32_t number, uint32_t inner, unsigned int kernels, const char *name)
{
	struct call c = {.domain = domain, .number = number, .inner = inner};
	unsigned int i;

	begin(&c);
	mock_pass_locks();
	/* an executable graph of more kernels than one */
	__atomic_fetch_add(&mock.faults, mock.broken && kernels > 1, __ATOMIC_RELAXED);
	if (kernels > 1 && mock.kinds[CUPTI_KIND_GRAPH_TRACE])
		run_graph(c.correlation, kernels);
	for (i = 0; i < kernels && !(kernels > 1 && mock.kinds[CUPTI_KIND_GRAPH_TRACE]); i++)
		run_kernel(name, c.correlation, kernels > 1 ? 5ULL << 32 | (i + 1) : 0);
	end(&c);
}

/* ------------------------------------------------------ a GPU that takes its time */

/* From a launch to the earliest begin of its work. */
#define MOCK_LATENCY 3000

/* By stream, [0] of all: when what it was given is over. */
static uint64_t busy_until[MOCK_STREAMS];

static void sleep_until(uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

void (*mock_until)(uint64_t ns) = sleep_until;

static void give_stream(unsigned int stream, uint64_t ns, uint64_t *start, uint64_t *finish)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC) + MOCK_LATENCY;

	*start = busy_until[stream] > now ? busy_until[stream] : now;
	*finish = busy_until[stream] = *start + ns;
	busy_until[0] = *finish > busy_until[0] ? *finish : busy_until[0];
}

/* CUPTI's stamps of a moment of the clock. */
static uint64_t stamp_of(uint64_t monotonic)
{
	return mock.clock ? monotonic : monotonic + stamp() - clock_now(CLOCK_MONOTONIC);
}

static void record_work(const struct mock_work *w, uint64_t correlation)
{
	union {
		struct cupti_kernel k;
		struct cupti_memcpy m;
		uint8_t bytes[216];
	} r = {.bytes = {0}};
	uint64_t start, finish;

	give_stream(w->stream, w->ns, &start, &finish);
	start = stamp_of(start);
	finish = start + w->ns;
	if (w->name)
		r.k = (struct cupti_kernel){.kind = CUPTI_KIND_CONCURRENT_KERNEL,
					    .start = start,
					    .end = finish,
					    .context = 1,
					    .stream = w->stream,
					    .correlation = (uint32_t)correlation,
					    .name = w->name};
	else
		r.m = (struct cupti_memcpy){.kind = CUPTI_KIND_MEMCPY,
					    .copy_kind = 2,
					    .bytes = 1,
					    .start = start,
					    .end = finish,
					    .context = 1,
					    .stream = w->stream,
					    .correlation = (uint32_t)correlation};
	put(&r, w->name ? CUPTI_KIND_CONCURRENT_KERNEL : CUPTI_KIND_MEMCPY);
}

void mock_launch(const struct mock_work *w)
{
	struct call c = {
		.number = w->name ? 211 : 41, .inner = w->name ? 307 : 0, .domain = CUPTI_DOMAIN_RUNTIME};

	c.stream = MOCK_STREAM(w->stream, false);
	begin(&c);
	mock_pass_locks();
	record_work(w, c.correlation);
	end(&c);
}

void mock_copy_and_wait(const struct mock_work *w)
{
	struct call c = {.number = 31, .domain = CUPTI_DOMAIN_RUNTIME};

	begin(&c);
	record_work(w, c.correlation);
	mock_until(busy_until[w->stream]);
	end(&c);
}

void mock_order(unsigned int stream, unsigned int of)
{
	struct call c = {.number = 147, .domain = CUPTI_DOMAIN_RUNTIME};

	c.stream = MOCK_STREAM(stream, false);
	begin(&c);
	if (busy_until[of] > busy_until[stream])
		busy_until[stream] = busy_until[of];
	end(&c);
}

void mock_sync_stream(unsigned int stream)
{
	struct call c = {.number = stream ? 131 : 165, .domain = CUPTI_DOMAIN_RUNTIME};

	c.stream = MOCK_STREAM(stream, false);
	begin(&c);
	mock_until(busy_until[stream]);
	end(&c);
}

void mock_capture(uint32_t number, uint32_t inner)
{
	struct call c = {.domain = CUPTI_DOMAIN_RUNTIME, .number = number, .inner = inner};

	begin(&c);
	tell_resource(CUPTI_RESOURCE_GRAPH_NODE_CREATED);
	end(&c);
}

static struct mock_node *new_node(struct mock_nodes *g, const char *name, const struct mock_node *origin)
{
	static uint64_t last = 7ULL << 32;
	struct mock_node *n = &g->node[g->nodes++];

	*n = (struct mock_node){.id = ++last, .origin = origin, .name = name};
	return n;
}

void mock_add_node(struct mock_nodes *g, const char *name, uint32_t call, uint32_t inner)
{
	struct call c = {.domain = CUPTI_DOMAIN_RUNTIME, .number = call, .inner = inner};
	struct cupti_graph data = {.graph = g, .node = new_node(g, name, NULL)};

	if (call)
		begin(&c);
	tell_resource_of(CUPTI_RESOURCE_GRAPH_NODE_CREATED, &data);
	if (call)
		end(&c);
}

void mock_put_child(struct mock_nodes *out, const struct mock_nodes *g)
{
	struct cupti_graph data = {.graph = out, .original_graph = (void *)g};
	unsigned int i;

	for (i = 0; i < g->nodes; i++) {
		data.original_node = (void *)&g->node[i];
		data.node = new_node(out, g->node[i].name, &g->node[i]);
		tell_resource_of(CUPTI_RESOURCE_GRAPH_NODE_CLONED, &data);
	}
}

void mock_clone(struct mock_nodes *out, const struct mock_nodes *g)
{
	out->nodes = 0;
	mock_put_child(out, g);
}

void mock_replay_loop(const struct mock_nodes *exec, const struct mock_nodes *body, unsigned int n)
{
	struct call c = {.domain = CUPTI_DOMAIN_RUNTIME, .number = 311, .inner = 514};

	begin(&c);
	for (unsigned int i = 0; i < exec->nodes; i++)
		run_kernel(exec->node[i].name, c.correlation, exec->node[i].id);
	while (n--)
		for (unsigned int i = 0; i < body->nodes; i++)
			run_kernel(body->node[i].name, c.correlation, body->node[i].id);
	end(&c);
}

void mock_replay(const struct mock_nodes *exec)
{
	struct call c = {.domain = CUPTI_DOMAIN_RUNTIME, .number = 311, .inner = 514};
	unsigned int i;

	begin(&c);
	if (mock.kinds[CUPTI_KIND_GRAPH_TRACE])
		run_graph(c.correlation, exec->nodes);
	for (i = 0; i < exec->nodes && !mock.kinds[CUPTI_KIND_GRAPH_TRACE]; i++)
		run_kernel(exec->node[i].name, c.correlation, exec->node[i].id);
	end(&c);
}

void mock_graph(void)
{
	struct call c = {.domain = CUPTI_DOMAIN_RUNTIME, .number = MOCK_INSTANTIATE};

	site(CUPTI_SITE_ENTER, c.domain, c.number, &c);
	tell_resource(CUPTI_RESOURCE_GRAPH_EXEC_CREATING);
	mock.graph = mock.attached;
	tell_resource(CUPTI_RESOURCE_GRAPH_EXEC_CREATED);
	site(CUPTI_SITE_EXIT, c.domain, c.number, &c);
}

static int contexts;

int cuDevicePrimaryCtxGetState(int device, unsigned int *flags, int *active)
{
	*flags = 0;
	*active = contexts > 0;
	return device != 0;
}

void mock_context(void)
{
	contexts++;
	tell_resource(CUPTI_RESOURCE_CONTEXT_CREATED);
}

void mock_wait(void)
{
	struct timespec t = {.tv_nsec = 1000000};

	while (__atomic_load_n(&mock.kernel_waits, __ATOMIC_RELAXED))
		nanosleep(&t, NULL);
}

void mock_copy(int domain, uint32_t number, uint32_t inner, uint64_t bytes)
{
	struct call c = {.domain = domain, .number = number, .inner = inner};
	union {
		struct cupti_memcpy m;
		uint8_t bytes[96];
	} r = {.bytes = {0}};

	begin(&c);
	r.m = (struct cupti_memcpy){.kind = CUPTI_KIND_MEMCPY,
				    .copy_kind = 1,
				    .src_kind = 1,
				    .dst_kind = 3,
				    .bytes = bytes,
				    .context = 1,
				    .device = mock.device,
				    .stream = mock.stream,
				    .correlation = (uint32_t)c.correlation};
	r.m.start = stamp();
	r.m.end = r.m.start + 500;
	tell_gpu("HtoD", c.correlation, r.m.start, r.m.end, "-", bytes);
	put(&r, CUPTI_KIND_MEMCPY);
	end(&c);
}

void mock_peer(int domain, uint32_t number, uint32_t inner, uint64_t bytes)
{
	struct call c = {.domain = domain, .number = number, .inner = inner};
	union {
		struct cupti_memcpy_peer m;
		uint8_t bytes[96];
	} r = {.bytes = {0}};

	begin(&c);
	r.m = (struct cupti_memcpy_peer){.kind = CUPTI_KIND_MEMCPY2,
					 .copy_kind = 10,
					 .bytes = bytes,
					 .context = 1,
					 .stream = 7,
					 .src_device = 1,
					 .dst_device = 2,
					 .correlation = (uint32_t)c.correlation};
	r.m.start = stamp();
	r.m.end = r.m.start + 500;
	tell_gpu("PtoP", c.correlation, r.m.start, r.m.end, "-", bytes);
	put(&r, CUPTI_KIND_MEMCPY2);
	end(&c);
}

void mock_set(int domain, uint32_t number, uint32_t inner, uint64_t bytes)
{
	struct call c = {.domain = domain, .number = number, .inner = inner};
	union {
		struct cupti_memset m;
		uint8_t bytes[88];
	} r = {.bytes = {0}};

	begin(&c);
	r.m = (struct cupti_memset){.kind = CUPTI_KIND_MEMSET,
				    .value = 0x55,
				    .bytes = bytes,
				    .context = 1,
				    .stream = 7,
				    .correlation = (uint32_t)c.correlation};
	r.m.start = stamp();
	r.m.end = r.m.start + 300;
	tell_gpu("set", c.correlation, r.m.start, r.m.end, "-", bytes);
	put(&r, CUPTI_KIND_MEMSET);
	end(&c);
}

void mock_sync(int domain, uint32_t number, uint32_t inner, unsigned int kind)
{
	struct call c = {.domain = domain, .number = number, .inner = inner};
	char stream[32] = "-";

	bool per_thread = domain == CUPTI_DOMAIN_RUNTIME ? number == 239 || number == 247
							 : number == 436 || number == 440;

	c.stream = MOCK_STREAM(7 + number % 5, per_thread);
	c.result = mock.sync_result;
	begin(&c);
	if (mock.in_sync)
		mock.in_sync();
	mock_wait();
	if (kind == 2 || kind == 3)
		snprintf(stream, sizeof(stream), "stream%u", 7 + number % 5);
	tell_gpu("sync", c.correlation, 0, 0, stream, kind);
	end(&c);
}

void mock_overhead(void)
{
	union {
		struct cupti_overhead o;
		uint8_t bytes[64];
	} r = {.bytes = {0}};

	r.o = (struct cupti_overhead){.kind = CUPTI_KIND_OVERHEAD, .overhead_kind = 1 << 16};
	r.o.start = stamp();
	r.o.end = r.o.start + 100;
	tell_gpu("overhead", 0, r.o.start, r.o.end, "-", 1 << 16);
	put(&r, CUPTI_KIND_OVERHEAD);
	/* of a kind that nobody asked for */
	r.o.kind = 52;
	put(&r, 52);
}

/* A call of the driver's with its arguments, once it has done its work. */
void mock_driver_call(uint32_t number, const void *params, int result)
{
	struct call c = {.domain = CUPTI_DOMAIN_DRIVER, .number = number};
	struct cupti_callback d = {.site = CUPTI_SITE_EXIT,
				   .function = "mock",
				   .params = params,
				   .context = &mock,
				   .result = &result,
				   .context_uid = 1};

	site(CUPTI_SITE_ENTER, c.domain, number, &c);
	call_back(CUPTI_DOMAIN_DRIVER, number, &d);
	depth--;
}

void mock_profiler(bool start)
{
	struct call c = {.domain = CUPTI_DOMAIN_RUNTIME, .number = start ? 171 : 172};
	uint32_t inner = start ? 308 : 309;

	c.correlation = __atomic_fetch_add(&mock.next, 1, __ATOMIC_RELAXED);
	site(CUPTI_SITE_ENTER, c.domain, c.number, &c);
	site(CUPTI_SITE_ENTER, CUPTI_DOMAIN_DRIVER, inner, &c);
	site(CUPTI_SITE_EXIT, CUPTI_DOMAIN_DRIVER, inner, &c);
	site(CUPTI_SITE_EXIT, c.domain, c.number, &c);
}

unsigned int mock_asked(void)
{
	unsigned int n = mock.wanted[CUPTI_DOMAIN_DRIVER][307] + mock.wanted[CUPTI_DOMAIN_RUNTIME][31];

	for (size_t i = 0; i < sizeof(mock.kinds) / sizeof(mock.kinds[0]); i++)
		n += mock.kinds[i];
	return n;
}

void mock_drop(size_t n)
{
	__atomic_fetch_add(&mock.dropped, n, __ATOMIC_RELAXED);
}
