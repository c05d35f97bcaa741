// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: JSON of rocprofv3, of its words (see words.h). Whatever is read is read twice alike, in
 * the order of time.
 *
 * Readers: rocprof_json
 *
 * Runs without --soak: 4000
 */
#define _GNU_SOURCE 1
#include "words.h"

#define RECORD(rest) "{\"kind\":1,\"operation\":0,\"thread_id\":8,\"correlation_id\":{\"internal\":7}," rest

static const char *const rocprof_json_words[] = {
	"\"metadata\":{\"pid\":77,\"command\":[\"/opt/a\",\"-x\"]},",
	"\"agents\":[{\"id\":{\"handle\":3},\"logical_node_id\":1}],",
	"\"strings\":{\"buffer_records\":[{\"kind\":\"K\",\"operations\":[\"hsa_signal_store_x\"]},"
	"{\"kind\":\"H\",\"operations\":[\"hipLaunchKernel\",\"roctxThreadRangeA\",\"HOST_TO_DEVICE\"]}],"
	"\"marker_api\":[{\"key\":7,\"value\":\"step\"}]},",
	"\"kernel_symbols\":[{\"kernel_id\":5,\"formatted_kernel_name\":\"k<\\u00e4>\"}],",
	"\"buffer_records\":{",
	"\"kernel_dispatch\":[",
	"\"hip_api\":[",
	"\"hsa_api\":[",
	"\"marker_api\":[",
	"\"memory_copies\":[",
	RECORD("\"start_timestamp\":10,\"end_timestamp\":20}"),
	RECORD("\"start_timestamp\":5,\"end_timestamp\":40,\"operation\":1}"),
	RECORD("\"start_timestamp\":30,\"end_timestamp\":50,\"dispatch_info\":{\"kernel_id\":5,\"agent_id\":{"
	       "\"handle\":3},\"workgroup_size\":{\"x\":64},\"grid_size\":{\"x\":100}}}"),
	RECORD("\"start_timestamp\":9,\"end_timestamp\":18446744073709551615,\"bytes\":4096}"),
	"\"start_timestamp\":",
	"\"stream_id\":{\"handle\":",
	"{\"handle\":{\"handle\":{\"handle\":{\"x\":1}}}}",
	"],",
	"]",
	"},",
	"}",
	"}]}",
	",",
	"null",
	"-1",
	"1e9",
};

static const struct words rocprof_json = WORDS("{\"rocprofiler-sdk-tool\":[{", rocprof_json_words);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[65536];
	struct seen seen = {.c = {.event = see_event}};
	size_t len = spell(&rocprof_json, data, size, text, sizeof(text));
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct grt_session *s;
	struct grt_err err;
	uint64_t events;
	char path[32];

	CHECK(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!grt_session_open(&s, path, &err)) {
		CHECK(!grt_session_run(s, &seen.c, 0, UINT64_MAX, &err));
		events = seen.events;
		seen.last = seen.events = 0;
		CHECK(!grt_session_run(s, &seen.c, 0, UINT64_MAX, &err));
		CHECK(seen.events == events && grt_session_health(s)->events == events);
		grt_session_close(s);
	} else {
		CHECK(*err.what && *err.why);
	}
	close(fd);
	return 0;
}
