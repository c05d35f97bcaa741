// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the reader of annotate text and timelines, and the writers
 * of the same forms. Whatever an input says, what is written from it has one
 * line per event, holds nothing but printable ASCII, and reads back as the
 * same text. The first byte of an input says which form is written, and whether
 * the rest are lines or changes to lines that are sound.
 *
 * Runs without --soak: 1500
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

#include "inputs.h"
#include "merge/offset.h"
#include "merge/merge.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

/* Lines of all forms. */
static const char seed[] =
	"[1.000001] IOCTL_ENTER pid=1 tid=2 comm=a b cmd=0xc0406442 arg=0x1 dev=renderD128 driver=virtio_gpu fd=3\n"
	"[1.000002] CPU IOCTL_EXIT       cmd=0xc0406442, ret=-1, pid=1, tid=2, comm=a\\x0ab, process=c\n"
	"[1.000003000] GPU SUBMIT           ctx_id=0x5, engine=graphics, ring=0, seqno=1, ring_name=gfx, pid=1\n"
	"[1.000003] COMMIT ctx=0x5 engine=copy ring=sdma0 seq=1 sw_depth=1 flags=0x1 sample=50\n"
	"1.000004  [GPU]  ctx=0x5 start seq=1 ring=gfx   \xe2\x86\x90 note\n"
	"1.000005  [CPU]  a b(1) ioctl_enter cmd=0xc0406442 tid=2\n"
	"[1.000006] GPU END              ctx_id=0x5, reply=0x1100\n"
	"[1.000007] COMPLETE ctx=0x5 seq=1 status=-5\n"
	"[1.000008] XID code=79 bus=0x100 text=gone \\x3d off, b\n"
	"[1.000009] MMAP pid=3 tid=3 comm=<...> addr=0x1000 length=5 device=17\n"
	"[0.5] SYNC_WAIT_ENTER ctx=0x5 seq=1 pid=1 tid=2\n[2] SYNC_WAIT_EXIT ctx=0x5 seq=1\n# end\n";

static int in_memory(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

/* Bytes can be added that make a text look like packets. */
static bool is_text(const struct grt_merge *m)
{
	return grt_session_health(grt_merge_session(m, 0))->text.form;
}

/* Writes the events of @from into a file in memory. Return: it, or -1 where it cannot be opened */
static int write_form(int from, enum grt_line_form form, uint64_t *events)
{
	int fd = in_memory("out");
	struct grt_merged out;
	struct grt_merge *m;
	struct grt_err err;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", from);
	CHECK(!grt_merge_new(&m) && !grt_merged_init(&out, form, fd, 1));
	if (grt_merge_open(m, path, GRT_MERGE_BOTH, &err) || !is_text(m)) {
		close(fd);
		fd = -1;
		goto out;
	}
	CHECK(!grt_merge_run(m, &out.sink, 0, UINT64_MAX, &err));
	CHECK(!grt_line_out_flush(out.lines));
	*events = out.input[0].total;
	CHECK(grt_line_out_count(out.lines)->lines == *events);
out:
	grt_merged_fini(&out);
	grt_merge_free(m);
	return fd;
}

static size_t load(int fd, char **text)
{
	off_t size = lseek(fd, 0, SEEK_END);

	CHECK(size >= 0);
	*text = malloc((size_t)size + 1);
	CHECK(*text && pread(fd, *text, (size_t)size, 0) == size);
	return (size_t)size;
}

/* One line per event; @plain: of printable ASCII. */
static void check_lines(int fd, uint64_t events, bool plain)
{
	uint64_t lines = 0;
	char *text;
	size_t size = load(fd, &text);

	for (size_t i = 0; i < size; i++) {
		lines += text[i] == '\n';
		CHECK(text[i] == '\n' || !plain || (text[i] >= ' ' && text[i] <= '~') ||
		      (unsigned char)text[i] >= 0x80);
	}
	CHECK(lines == events);
	free(text);
}

static void check_round(int first, enum grt_line_form form)
{
	uint64_t again;
	char *a, *b;
	int second = write_form(first, form, &again);
	size_t n, k;

	CHECK(second >= 0);
	n = load(first, &a);
	k = load(second, &b);
	CHECK(n == k && !memcmp(a, b, n));
	free(a);
	free(b);
	close(second);
}

static int on_event(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	(void)cpu;
	return grt_offset_event(arg, e, input);
}

static void estimate(int from)
{
	struct grt_offset_result result;
	struct grt_merge_sink sink = {.event = on_event};
	struct grt_offset *o;
	struct grt_merge *m;
	struct grt_err err;
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", from);
	CHECK(!grt_offset_new(&o) && !grt_merge_new(&m));
	sink.arg = o;
	if (!grt_merge_open(m, path, GRT_MERGE_BOTH, &err))
		CHECK(!grt_merge_run(m, &sink, 0, UINT64_MAX, &err));
	ret = grt_offset_find(o, &result, &err);
	CHECK(!ret || ret == -ENODATA || ret == -EDOM);
	CHECK(ret || result.agree <= result.pairs);
	grt_merge_free(m);
	grt_offset_free(o);
}

/* Changes are three bytes each: a place and the byte that goes there; a place beyond the end cuts. */
static void write_changed(int fd, const uint8_t *change, size_t size)
{
	char text[sizeof(seed)];
	size_t left = sizeof(seed) - 1;

	memcpy(text, seed, sizeof(seed));
	for (size_t n = 0; n + 3 <= size; n += 3) {
		size_t at = change[n] | (size_t)change[n + 1] << 8;

		if (at < left)
			text[at] = (char)change[n + 2];
		else
			left -= left < at - left ? left : at - left;
	}
	CHECK(write(fd, text, left) == (ssize_t)left);
}

static void check_form(int in, enum grt_line_form form)
{
	uint64_t events;
	int out = write_form(in, form, &events);

	if (out < 0)
		return;
	check_lines(out, events, form != GRT_LINE_OUT_JSON);
	if ((form == GRT_LINE_OUT_ANNOTATE || form == GRT_LINE_OUT_MERGED) && events)
		check_round(out, form);
	close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in = in_memory("in");
	unsigned int way = size ? data[0] : 0;

	if (size && way / 8 % 2) {
		write_changed(in, data + 1, size - 1);
	} else if (size) {
		CHECK(write(in, seed, sizeof(seed) - 1) == sizeof(seed) - 1);
		CHECK(write(in, data + 1, size - 1) == (ssize_t)size - 1);
	}
	if (size && way % 8 < GRT_LINE_FORMS)
		check_form(in, way % 8);
	else if (size)
		estimate(in);
	close(in);
	return 0;
}
