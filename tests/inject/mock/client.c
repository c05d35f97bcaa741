// SPDX-License-Identifier: GPL-2.0
/*
 * client SCENE [NUMBER]: a program with a profiler of its own that takes CUPTI's activity buffers while
 * another client has subscribed, as PyTorch's does: it registers its callbacks, enables kinds of records, and
 * later disables them and flushes. It prints how many kernels it launched in each of its phases, and how many
 * the profiler has seen.
 */
#include "mock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* A buffer that it does not know is left alone. */
static void complete(void *context, uint32_t stream, uint8_t *at, size_t size, size_t valid)
{
	union cupti_record *r = NULL;
	bool known = false;

	(void)context, (void)stream, (void)size;
	for (unsigned int i = 0; i < client.buffers; i++)
		known = known || client.buffer[i] == at;
	client.foreign += !known;
	while (known && !cupti.next_record(at, valid, &r))
		client.kernels += r->kind == CUPTI_KIND_CONCURRENT_KERNEL;
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
	void *handle = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);

	if (!handle)
		return false;
#define MAY(name, symbol, args) *(void **)&cupti.name = dlsym(handle, #symbol);
#define NEED MAY
	CUPTI_FUNCTIONS
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

/* It lasts for so long that it is noticed. */
static void during(long ms)
{
	for (long t = 0; t < ms; t += 20) {
		launches("during", 2);
		wait_for_device();
		pause_ms(20);
	}
	printf("during %ld\n", ms / 20 * 2);
}

static void profiled(long ms)
{
	profiler_starts();
	during(ms);
	profiler_stops();
	printf("client %lu\n", client.kernels);
	/* until it is noticed that it is over */
	pause_ms(500);
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

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {{"once", once}, {"twice", twice}, {"brief", brief}, {"unended", unended}, {"none", none}};

int main(int argc, char **argv)
{
	int runtime;

	if (argc < 2 || cudaRuntimeGetVersion(&runtime) || cuInit(0) || !find_cupti())
		return 2;
	number = argc > 2 ? strtoul(argv[2], NULL, 10) : number;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (!strcmp(argv[1], scenes[i].name)) {
			scenes[i].play();
			printf("foreign %lu\n", client.foreign);
			return 0;
		}
	return 2;
}
