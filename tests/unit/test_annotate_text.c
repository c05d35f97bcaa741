// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of annotate text and timelines: what each form of line says, and
 * what lines that are cut, foreign or hostile do not.
 */
#include "collect.h"
#include "render.h"
#include "trace_maker.h"

static char *dir;
static struct render r;

static int setup(void **state)
{
	(void)state;
	dir = tm_tmpdir();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tm_remove(dir);
	free(dir);
	return 0;
}

static struct grt_health read_lines(const char *text)
{
	return render_text(&r, dir, text, strlen(text));
}

static void test_ioctl(void **state)
{
	struct grt_health h;

	(void)state;
	h = read_lines(
		"[100.000001] IOCTL_ENTER pid=10 tid=11 comm=Web Content cmd=0xc0106442 arg=0x7ffe0010\n"
		"[100.000021500] IOCTL_EXIT pid=10 tid=11 comm=Web Content cmd=0xc0106442 ret=-11 "
		"duration_ns=20500\n");
	assert_string_equal(r.text,
			    "100000.001000 IOCTL_ENTER pid=10 tid=11 cmd=0xc0106442 fd=-1 arg=0x7ffe0010\n"
			    "100000.021500 IOCTL_EXIT pid=10 tid=11 cmd=0xc0106442 ret=-11\n");
	assert_string_equal(r.names, "1:11 Web Content \n");
	assert_int_equal(h.text.bad, 0);
	assert_int_equal(h.text.skipped, 0);
	assert_string_equal(h.text.form, "annotate_text");
}

/* The fraction is one, whatever its digits. */
static void test_fraction(void **state)
{
	(void)state;
	read_lines("[1.5] IOCTL_ENTER pid=1\n[1.500000] IOCTL_ENTER pid=2\n[1.500000001] IOCTL_ENTER pid=3\n"
		   "[1.000005] IOCTL_ENTER pid=4\n");
	assert_string_equal(r.text, "1000.005000 IOCTL_ENTER pid=4 tid=4 fd=-1\n"
				    "1500.000000 IOCTL_ENTER pid=1 tid=1 fd=-1\n"
				    "1500.000000 IOCTL_ENTER pid=2 tid=2 fd=-1\n"
				    "1500.000001 IOCTL_ENTER pid=3 tid=3 fd=-1\n");
}

/* What follows comm= is its text up to the next key that is one. */
static void test_comm(void **state)
{
	(void)state;
	read_lines("[1.0] IOCTL_ENTER pid=1 tid=1 comm=a=b c=d cmd=0x1 arg=0x2\n"
		   "[1.0] IOCTL_ENTER pid=2 tid=2 comm= two  blanks  cmd=0x1\n"
		   "[1.0] IOCTL_EXIT pid=3 tid=3 comm=at the end\n"
		   "[1.0] IOCTL_EXIT pid=4 tid=4 comm=crlf\r\n"
		   "[1.0] IOCTL_EXIT pid=5 tid=5 comm=\\x0a\\\\x41\\x \\xff ret=1\n"
		   "[1.0] CPU IOCTL_EXIT       cmd=0x1, ret=0, pid=6, tid=6, comm=x, y, process=z z\n"
		   "[1.0] IOCTL_EXIT pid=7 tid=7 comm=<...> ret=1\n"
		   "[1.0] IOCTL_EXIT pid=7 tid=7 comm=<...>\\x00a ret=1\n"
		   "[1.0] IOCTL_EXIT pid=8 tid=9 comm= ret=1\n");
	assert_string_equal(r.names,
			    "1:1 a=b c=d a=b c=d\n1:2  two  blanks   two  blanks \n"
			    "1:3 at the end at the end\n1:4 crlf crlf\n1:5 \n\\x41\\x \xff \n\\x41\\x \xff\n"
			    "1:6 x, y z z\n1:9  \n");
	assert_non_null(strstr(r.text, "IOCTL_EXIT pid=5 tid=5 ret=1"));
	assert_non_null(strstr(r.text, "IOCTL_ENTER pid=1 tid=1 cmd=0x1 fd=-1 arg=0x2"));
}

static void test_jobs(void **state)
{
	(void)state;
	read_lines(
		"[1.000001] SUBMIT ctx=0x1f engine=compute ring=2 seq=7\n"
		"[1.000002] GPU COMMIT           ctx_id=0x1f, engine=compute, ring=2, seqno=7, hw_depth=3\n"
		"[1.000003]  GPU   START\n"
		"[1.000004] END ctx=31 seq=18446744073709551616 reply=0x1100 unknown=1, t_exec_ns=5\n"
		"[1.000005] COMPLETE ctx=0x1f seq=7 status=-5 hw_ctx=9999999999\n"
		"[1.000006] IRQ source=181 data=0xff\n"
		"[1.000007] CTX_SWITCH ctx=0x20 prev_ctx=31 flags=0x1 sample=50\n"
		"[1.000008] SYNC_WAIT_ENTER ctx=0x1f seq=7 pid=3 tid=4\n"
		"[1.000009] ERROR status=-22 code=0x1203\n");
	assert_string_equal(r.text, "1000.001000 SUBMIT engine=compute ctx=31 seqno=7 ring=2\n"
				    "1000.002000 COMMIT engine=compute ctx=31 seqno=7 ring=2 hw_depth=3\n"
				    "1000.003000 START\n"
				    "1000.004000 END ctx=31 seqno=18446744073709551615 reply=0x1100\n"
				    "1000.005000 COMPLETE ctx=31 seqno=7 status=-5 hw_ctx=4294967295\n"
				    "1000.006000 IRQ source=181 data=0xff\n"
				    "1000.007000 CTX_SWITCH flags=0x1 sample=50 ctx=32 prev_ctx=31\n"
				    "1000.008000 SYNC_WAIT_ENTER pid=3 tid=4 ctx=31 seqno=7\n"
				    "1000.009000 ERROR status=-22 code=0x1203\n");
}

/*
 * A ring may be a number, a number with a name, or a name, which then gets a
 * number. An empty name tells nothing.
 */
static void test_rings(void **state)
{
	(void)state;
	read_lines("[1.000001] SUBMIT ctx=1 ring=7 ring_name=sdma0 seq=1 driver=amdgpu\n"
		   "[1.000002] SUBMIT ctx=2 ring=gfx_0.0.0 seq=1\n"
		   "[1.000003] SUBMIT ctx=3 ring=comp\\x20x engine=GRAPHICS seq=1\n"
		   "[1.000004] SUBMIT ctx=4 ring= seq=1\n"
		   "[1.000005] SUBMIT ctx=5 ring=\\x00a seq=1\n"
		   "[1.000006] SUBMIT ctx=6 ring=7 ring_name=\\x00 seq=1\n"
		   "[1.000007] OPEN dev=nvidia0 device=12 pid=1 tid=1\n"
		   "[1.000008] OPEN dev=\\x00 device=12 pid=1 tid=1\n");
	assert_string_equal(r.text, "1000.001000 SUBMIT engine=copy ctx=1 seqno=1 ring=7\n"
				    "1000.002000 SUBMIT engine=graphics ctx=2 seqno=1\n"
				    "1000.003000 SUBMIT engine=graphics ctx=3 seqno=1 ring=1\n"
				    "1000.004000 SUBMIT ctx=4 seqno=1\n"
				    "1000.005000 SUBMIT ctx=5 seqno=1\n"
				    "1000.006000 SUBMIT ctx=6 seqno=1 ring=7\n"
				    "1000.007000 OPEN pid=1 tid=1 device=12\n"
				    "1000.008000 OPEN pid=1 tid=1 device=12\n");
	assert_string_equal(r.names, "2:7 sdma0 amdgpu\n2:0 gfx_0.0.0 \n2:1 comp x \n3:12 nvidia0 \n");
}

static void test_devices(void **state)
{
	(void)state;
	read_lines("[1.000001] OPEN pid=1 fd=3 oflags=0x2 dev=renderD128 driver=virtio_gpu\n"
		   "[1.000002] OPEN pid=1 fd=-13 dev=card1\n"
		   "[1.000003] OPEN pid=1 dev=nvidia0 device=204472320\n"
		   "[1.000004] OPEN pid=1 dev=renderDx\n");
	assert_string_equal(r.text, "1000.001000 OPEN pid=1 tid=1 device=236978304 fd=3 oflags=0x2\n"
				    "1000.002000 OPEN pid=1 tid=1 device=236978177 fd=-13\n"
				    "1000.003000 OPEN pid=1 tid=1 device=204472320\n"
				    "1000.004000 OPEN pid=1 tid=1\n");
	assert_string_equal(r.names,
			    "3:236978304 renderD128 virtio_gpu\n3:236978177 card1 \n3:204472320 nvidia0 \n");
}

/* Lines for people, up to their arrow. */
static void test_pretty(void **state)
{
	struct grt_health h;

	(void)state;
	h = read_lines("7.000000100  [CPU]  game (beta)(70) ioctl_enter\n"
		       "7.000001100  [GPU]  ctx=0x5 submit seq=1   \xe2\x86\x90 1.00 \xc2\xb5s, seq=99\n"
		       "  7.000002  [GPU]  ctx=0x5 start seq=1 ring=gfx\n"
		       "7.000009  [CPU]  a(70) b(71) ioctl_exit ret=-5 tid=72   \xe2\x86\x90 ret=1\n"
		       "7.000010  [CPU]  nobody\n"
		       "7.000011  [GPU]  ctx=0x5 dances\n"
		       "7.000012  [DSP]  ctx=0x5 start\n");
	assert_string_equal(r.text, "7000.000100 IOCTL_ENTER pid=70 tid=70 fd=-1\n"
				    "7000.001100 SUBMIT ctx=5 seqno=1\n"
				    "7000.002000 START engine=graphics ctx=5 seqno=1\n"
				    "7000.009000 IOCTL_EXIT pid=71 tid=72 ret=-5\n");
	assert_string_equal(r.names, "1:70 game (beta) game (beta)\n2:0 gfx \n1:72 a(70) b \n");
	assert_int_equal(h.text.bad, 2);
	assert_int_equal(h.text.skipped, 1);
}

static void test_bad_lines(void **state)
{
	struct grt_health h;

	(void)state;
	h = read_lines("[1.0] IOCTL_ENTER pid=1\n\n# comment\n   \n"
		       "Tracing... Hit Ctrl-C to end.\n"
		       "[1.0 IOCTL_ENTER pid=1\n[x] IOCTL_ENTER\n[1.0]\n[1.0] IOCTL_ENTER: pid=1\n"
		       "[1.0] SCHED_SWITCH prev=1\n[1.0] NAME kind=1\n[1.0] CPU SCHED_SWITCH\n[1.0] CPU\n");
	assert_string_equal(r.text, "1000.000000 IOCTL_ENTER pid=1 tid=1 fd=-1\n");
	assert_int_equal(h.text.lines, 13);
	assert_int_equal(h.text.bad, 5);
	assert_int_equal(h.text.bad_line, 5);
	assert_int_equal(h.text.skipped, 4);
	assert_string_equal(r.skipped, "SCHED_SWITCH 2\nNAME 1\nCPU 1\n");
}

/* Cut anywhere, a line is an event with what is left, or none. */
static void test_cut(void **state)
{
	static const char line[] =
		"[100.000001] IOCTL_ENTER pid=10 tid=11 comm=Web Content cmd=0xc0106442 arg=0x7f\n";
	static const char other[] = "[100.000002] OPEN pid=1\n";
	char text[sizeof(line) + sizeof(other)];

	(void)state;
	for (size_t n = 0; n < sizeof(line) - 1; n++) {
		memcpy(text, other, sizeof(other) - 1);
		memcpy(text + sizeof(other) - 1, line, n);
		render_text(&r, dir, text, sizeof(other) - 1 + n);
		assert_non_null(strstr(r.text, "OPEN pid=1"));
		assert_int_equal(strstr(r.text, "IOCTL_ENTER") != NULL,
				 n >= strlen("[100.000001] IOCTL_ENTER"));
	}
}

static void test_long_comm(void **state)
{
	size_t size = 65536;
	char *text = malloc(size + 128);
	int n = sprintf(text, "# begin\n[1.0] IOCTL_ENTER pid=1 tid=1 comm=");

	(void)state;
	memset(text + n, 'x', size);
	strcpy(text + n + size, " cmd=0x5 arg=0x6\n");
	read_lines(text);
	assert_string_equal(r.text, "1000.000000 IOCTL_ENTER pid=1 tid=1 cmd=0x5 fd=-1 arg=0x6\n");
	free(text);
}

/* Kernel messages begin alike, and are another form's. */
static void test_not_ours(void **state)
{
	static const char text[] = "[    3.412345] EDAC MC: Ver: 3.0.0\n[    3.412345] ACPI BIOS Error\n";
	char *path = path_join(dir, "dmesg");
	struct grt_session *s;
	struct grt_err err;

	(void)state;
	file_store(path, text, sizeof(text) - 1);
	if (!grt_session_open(&s, path, &err)) {
		assert_string_not_equal(grt_session_health(s)->text.form, "annotate_text");
		grt_session_close(s);
	}
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ioctl),	 cmocka_unit_test(test_fraction),
		cmocka_unit_test(test_comm),	 cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_rings),	 cmocka_unit_test(test_devices),
		cmocka_unit_test(test_pretty),	 cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_cut),	 cmocka_unit_test(test_long_comm),
		cmocka_unit_test(test_not_ours),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
