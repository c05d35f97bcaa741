// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: traces of CUDA as JSON. Bytes below 128 stand for themselves and
 * the others for the words of such a trace. Nothing is handed out that was not
 * counted, ends before it begins, or has a name that is too long.
 *
 * Readers: cuda_json
 *
 * Runs without --soak: 12000
 */
#define _GNU_SOURCE 1
#include "cuda/gpu_json.h"
#include "trace/session.h"
#include "words.h"

static const char *const word[] = {
	"{\"traceEvents\":[",
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1.5,\"dur\":2,\"tid\":7,\"args\":{",
	"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> Device)\",",
	"\"cat\":\"cuda_runtime\",",
	"\"correlation\":",
	"\"stream\":",
	"\"bytes\":",
	"\"ts\":",
	"\"dur\":",
	"1694039969479080.123",
	"18446744073709551615",
	"-1",
	"1e9",
	"\"\\ud83d\\ude00\"",
	"\"\\u0000\"",
	"null",
	"}}",
	"},",
	"]}",
	"{\"a\":[{\"b\":[1,2,{}]}]},",
	"\"baseTimeNanoseconds\":",
	"\"distributedInfo\":{\"rank\":1,\"world_size\":2},",
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"p\"}},",
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"ts\":1,\"dur\":2},",
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":7,\"tid\":8,\"ts\":1,\"dur\":2,\"args\":{\"correlation\":7",
	"\"grid\":[1,2,3]",
	"\"block\":[",
};

static int on_record(void *arg, const struct grt_cupti_record *r)
{
	uint64_t *n = arg;

	CHECK(r->end >= r->start && r->kind < GRT_CUPTI_OTHER);
	CHECK(r->name.len <= GRT_GPU_JSON_NAME_MAX);
	++*n;
	return 0;
}

static int on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	CHECK(e->type < GRT_EV_MAX && e->size == grt_record_size[e->type]);
	return 0;
}

/* The same as a trace: whatever is read is read twice alike, in the order of time. */
static void check_reader(int fd)
{
	struct grt_consumer c = {.event = on_event};
	const struct grt_health *h;
	struct grt_session *s;
	struct grt_err err;
	char path[64];
	uint64_t events;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (grt_session_open(&s, path, &err))
		return;
	if (!grt_session_run(s, &c, 0, UINT64_MAX, &err)) {
		events = grt_session_health(s)->events;
		CHECK(!grt_session_run(s, &c, 0, UINT64_MAX, &err));
		h = grt_session_health(s);
		CHECK(h->events == events && !h->fault[GRT_FAULT_TIME] && !h->fault[GRT_FAULT_RECORD]);
	}
	grt_session_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct words words = WORDS("", word);
	static char text[65536];
	struct grt_cupti_count count = {0};
	size_t len = spell(&words, data, size, text, sizeof(text));
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	uint64_t n = 0;

	CHECK(fd >= 0 && write(fd, text, len) == (ssize_t)len && !lseek(fd, 0, SEEK_SET));
	grt_gpu_json_read(fd, &count, on_record, &n);
	CHECK(n == count.records && count.records + count.bad + count.other == count.lines);
	check_reader(fd);
	close(fd);
	return 0;
}
