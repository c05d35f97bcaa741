// SPDX-License-Identifier: GPL-2.0
/*
 * activity: buffers where there is no memory for a time. Prints TAP.
 */
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool no_memory;

static void *maybe_mmap(void *at, size_t size, int prot, int flags, int fd, long offset)
{
	return no_memory ? MAP_FAILED : mmap(at, size, prot, flags & ~MAP_POPULATE, fd, offset);
}

#define mmap maybe_mmap
#include "../../../inject/activity.c"

void device_write(bool work)
{
}

struct inject inject = {.version = CUPTI_VERSION_12_9};
struct packets define_packets;

void event_init(struct grt_event *e, uint16_t type, uint16_t size, uint64_t time)
{
	(void)e;
	(void)type;
	(void)size;
	(void)time;
}

void packets_put(struct packets *p, struct grt_event *e)
{
	(void)p;
	(void)e;
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

bool subscriber_is_one_of_several(void)
{
	return false;
}

int subscriber_enable(int kind)
{
	return inject.cupti.enable(kind);
}

void subscriber_disable(int kind)
{
	inject.cupti.disable(kind);
}

int subscriber_register(cupti_request_fn on_request, cupti_complete_fn on_complete)
{
	return inject.cupti.register_buffers(on_request, on_complete);
}

int subscriber_next_record(uint8_t *buffer, size_t valid, union cupti_record **record)
{
	return inject.cupti.next_record(buffer, valid, record);
}

int subscriber_dropped(void *context, uint32_t stream, size_t *dropped)
{
	return inject.cupti.dropped(context, stream, dropped);
}

bool held_is(void)
{
	return false;
}

void held_reset(void)
{
}

void held_see_record(uint64_t correlation)
{
	(void)correlation;
}

uint64_t clock_real(void)
{
	return 0;
}

uint64_t clock_cupti(void)
{
	return 0;
}

uint64_t clock_convert(uint64_t stamp)
{
	return stamp;
}

void detach_see_context(uint32_t context)
{
	(void)context;
}

void detach_graph(void)
{
}

uint64_t launch_gpu_correlation(uint32_t correlation, uint64_t start)
{
	return correlation;
}

uint32_t define_name(const char *name)
{
	(void)name;
	return 0;
}

uint32_t define_string(const char *text)
{
	return text[0] != 0;
}

void define_process(uint32_t what, const char *text)
{
	(void)what;
	(void)text;
}

static void must(bool condition, const char *what)
{
	printf("%s - %s\n", condition ? "ok" : "not ok", what);
	if (!condition)
		exit(1);
}

/* Buffers that are had by @tries requests. */
static unsigned int had(unsigned int tries)
{
	size_t size, records;
	unsigned int n = 0;
	uint8_t *at;

	while (tries--) {
		activity_request(&at, &size, &records);
		n += at != NULL;
	}
	return n;
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	no_memory = true;
	must(!had(2 * BUFFERS_ENOUGH), "without memory there is no buffer");
	activity_complete(NULL, 0, NULL, 0, 0);
	must(!completed, "none is not one that comes back");
	no_memory = false;
	must(had(2 * BUFFERS_ENOUGH) == BUFFERS_ENOUGH, "later there are as many as ever");
	return 0;
}
