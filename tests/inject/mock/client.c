// SPDX-License-Identifier: GPL-2.0
/*
 * client SCENE [NUMBER]: a program with a profiler of its own that takes CUPTI's activity buffers while
 * another client has subscribed, as PyTorch's does: it registers its callbacks, enables kinds of records, and
 * later disables them and flushes. It prints how many kernels it launched in each of its phases, and how many
 * the profiler has seen. In the scenes beside, first and alone, it subscribes as one of several clients.
 */
#include "mock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES 65536
#define BUFFERS 4096

int cudaRuntimeGetVersion(int *version);

static unsigned long number = 100;
static struct cupti cupti;

static struct {
	uint8_t *buffer[BUFFERS];
	unsigned int buffers;
	unsigned long kernels;
	unsigned long foreign;
	unsigned long calls;
	void *subscriber;
} client;

static void pause_ms(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void launches(const char *name, unsigned long n)
{
	while (n--)
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, name);
}

static void wait_for_device(void)
{
	mock_sync(CUPTI_DOMAIN_RUNTIME, 165, 0, 4);
}

/* ------------------------------------------------------------- the profiler */

static void request(uint8_t **at, size_t *size, size_t *max)
{
	*at = client.buffers < BUFFERS ? calloc(1, BUFFER_BYTES) : NULL;
	if (*at)
		client.buffer[client.buffers++] = *at;
	*size = *at ? BUFFER_BYTES : 0;
	*max = 0;
}

static int next_record(uint8_t *at, size_t valid, union cupti_record **r)
{
	return client.subscriber ? cupti.next_record_v2(client.subscriber, at, valid, r)
				 : cupti.next_record(at, valid, r);
}

/* A buffer that it does not know is left alone. */
static void complete(void *context, uint32_t stream, uint8_t *at, size_t size, size_t valid)
{
	union cupti_record *r = NULL;
	bool known = false;

	(void)context, (void)stream, (void)size;
	for (unsigned int i = 0; i < client.buffers; i++)
		known = known || client.buffer[i] == at;
	client.foreign += !known;
	while (known && !next_record(at, valid, &r))
		client.kernels += r->kind == CUPTI_KIND_CONCURRENT_KERNEL;
}

static void request_v2(uint8_t **at, size_t *size, size_t *max, void *info)
{
	(void)info;
	request(at, size, max);
}

static void complete_v2(uint8_t *at, size_t size, size_t valid, void *info)
{
	(void)info;
	complete(NULL, 0, at, size, valid);
}

static void call(void *user, int domain, uint32_t number, const struct cupti_callback *data)
{
	(void)user, (void)domain, (void)number;
	client.calls += data->site == CUPTI_SITE_ENTER;
}

static const int kinds[] = {CUPTI_KIND_MEMCPY, CUPTI_KIND_MEMSET, CUPTI_KIND_CONCURRENT_KERNEL};

static void profiler_starts(void)
{
	cupti.register_buffers(request, complete);
	for (int i = 0; i < 3; i++)
		cupti.enable(kinds[i]);
}

static void profiler_stops(void)
{
	wait_for_device();
	for (int i = 0; i < 3; i++)
		cupti.disable(kinds[i]);
	cupti.flush_all(CUPTI_FLUSH_FORCED);
}

static bool find_cupti(void)
{
	void *handle = dlopen("libcupti.so.13", RTLD_NOW);

	if (!handle)
		return false;
#define MAY(name, symbol, args) *(void **)&cupti.name = dlsym(handle, #symbol);
#define NEED MAY
#define NEW MAY
	CUPTI_FUNCTIONS
#undef NEW
#undef NEED
#undef MAY
	return cupti.register_buffers;
}

/* ------------------------------------------------------------------ scenes */

static void before(void)
{
	pause_ms(250);
	launches("before", number);
	wait_for_device();
}

/* When the first launches of during() had returned. */
static long launched_at;

static long clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* It lasts for so long that it is noticed. */
static void during(long ms)
{
	for (long t = 0; t < ms; t += 20) {
		launches("during", 2);
		if (!t)
			launched_at = clock_ms();
		wait_for_device();
		pause_ms(20);
	}
	printf("during %ld\n", ms / 20 * 2);
}

/* Prints how long it had the buffers at least, and at most, in all. */
static void profiled(long ms)
{
	static long least, most;
	long begin = clock_ms(), stop;
	bool unknown = getenv("MOCK_BOTH_KINDS");

	profiler_starts();
	during(ms);
	stop = clock_ms();
	least += stop - launched_at;
	profiler_stops();
	printf("client %lu\n", client.kernels);
	/* until it is noticed that it is over, and a moment more; with both kinds enabled it cannot be */
	for (int i = 0; i < 600 && !unknown && !mock.kinds[CUPTI_KIND_CONCURRENT_KERNEL]; i++)
		pause_ms(100);
	pause_ms(unknown ? 500 : 100);
	most += clock_ms() - begin;
	printf("held %ld %ld\n", least, most);
}

static void after(void)
{
	launches("after", number);
	wait_for_device();
}

static void once(void)
{
	before();
	profiled(1500);
	after();
}

static void twice(void)
{
	before();
	profiled(1500);
	after();
	/* without a pause: what is in the buffers of the one is the other's */
	profiled(1500);
	after();
}

/* It is over before it is noticed. */
static void brief(void)
{
	before();
	profiler_starts();
	launches("during", 10);
	profiler_stops();
	printf("client %lu\n", client.kernels);
	for (int i = 0; i < 40; i++) {
		launches("behind", 1);
		wait_for_device();
		pause_ms(50);
	}
	after();
}

/* The program ends before its profiler. */
static void unended(void)
{
	before();
	profiler_starts();
	during(1500);
	cupti.flush_all(CUPTI_FLUSH_FORCED);
	printf("client %lu\n", client.kernels);
}

/* No profiler: kernels whose records come late, and nothing else. */
static void none(void)
{
	before();
	for (int i = 0; i < 10; i++) {
		wait_for_device();
		pause_ms(100);
	}
	after();
}

/* ---------------------------------------------------- one of several clients */

static bool subscribe(bool several)
{
	struct cupti_subscriber what = {.size = sizeof(what), .name = "client", .several = several};
	int ret = cupti.subscribe_v2(&client.subscriber, call, NULL, &what);

	if (!ret)
		ret = cupti.register_buffers_v2(client.subscriber, request_v2, complete_v2);
	for (int i = 0; i < 3 && !ret; i++)
		ret = cupti.enable_v2(client.subscriber, kinds[i], NULL);
	if (!ret)
		ret = cupti.enable_callback(1, client.subscriber, CUPTI_DOMAIN_DRIVER, 307);
	printf("subscribed %d\n", ret);
	return !ret;
}

static void unsubscribe(void)
{
	for (int i = 0; i < 3; i++)
		cupti.disable_v2(client.subscriber, kinds[i], NULL);
	cupti.flush_all(CUPTI_FLUSH_FORCED);
	cupti.unsubscribe(client.subscriber);
	printf("client %lu\ncalls %lu\n", client.kernels, client.calls);
}

static void beside(void)
{
	before();
	if (!subscribe(true))
		return;
	during(1500);
	unsubscribe();
	after();
}

/* It has subscribed before CUDA was initialized. */
static void first(void)
{
	before();
	during(500);
	unsubscribe();
	after();
}

/* The same, until the file of MOCK_GO is there. */
static void waiting(void)
{
	unsigned long n = 0;

	printf("ready\n");
	fflush(stdout);
	for (; access(getenv("MOCK_GO"), F_OK); n++) {
		launches("during", 1);
		wait_for_device();
		pause_ms(2);
	}
	unsubscribe();
	printf("during %lu\n", n);
}

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {{"beside", beside},   {"first", first},	  {"alone", first},
	      {"waiting", waiting}, {"once", once},	  {"twice", twice},
	      {"brief", brief},	    {"unended", unended}, {"none", none}};

int main(int argc, char **argv)
{
	int runtime;

	if (argc < 2 || cudaRuntimeGetVersion(&runtime) || !find_cupti())
		return 2;
	if (getenv("MOCK_VERSION"))
		mock.version = (uint32_t)strtoul(getenv("MOCK_VERSION"), NULL, 10);
	if (strchr("fw", argv[1][0]) && !subscribe(true))
		return 2;
	if ((!strcmp(argv[1], "alone") && !subscribe(false)) || cuInit(0))
		return 2;
	number = argc > 2 ? strtoul(argv[2], NULL, 10) : number;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (!strcmp(argv[1], scenes[i].name)) {
			scenes[i].play();
			printf("foreign %lu\nfaults %u\n", client.foreign, mock.faults);
			return 0;
		}
	return 2;
}
