// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of kernel logs: every form of what stands before a message, the
 * messages, and logs without order, year or stamp.
 */
#define _GNU_SOURCE 1
#include "render.h"
#include "trace_maker.h"

#define BOOT "[    0.000000] Linux version 6.1.0\n"
#define XID "NVRM: Xid (PCI:0000:01:00): 63"

static char *dir;
static struct render r;

static int make_dir(void **state)
{
	(void)state;
	dir = tm_tmpdir();
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	tm_remove(dir);
	free(dir);
	return 0;
}

static struct grt_health says(const char *text, const char *events)
{
	struct grt_health health = render_text(&r, dir, text, strlen(text));

	assert_string_equal(r.text, events);
	return health;
}

/* A stamp in ms and what stands before the message. */
static const struct {
	const char *before;
	const char *time;
} prefixes[] = {
	{"[12345.678901] ", "12345678.901000"},
	{"[    1.000001] ", "1000.001000"},
	{"[    1.000001] host kernel: ", "1000.001000"},
	{"[Wed Jan  1 00:00:01 2031] ", "1924992001000.000000"},
	{"kern  :warn  : 2031-01-01T00:00:00,123456+00:00 ", "1924992000123.456000"},
	{"kern  :warn  : [   42.000001] ", "42000.001000"},
	{"Jan  1 00:00:01.5 host kernel: ", "63072001500.000000"},
	{"Feb 29 23:59:59 host kernel: ", "68255999000.000000"},
	{"Jan  1 00:00:01 host kernel: [   42.000001] ", "42000.001000"},
	{" 1\xe6\x9c\x88 01 00:00:01 host kernel: ", "63072001000.000000"},
	{"<6>[   42.000001] ", "42000.001000"},
	{"<6>[   42.000001][T12] ", "42000.001000"},
	{"<6>[   42.000001][    C3] ", "42000.001000"},
	{"4,1234,42000001,-;", "42000.001000"},
	{"4,1234,42000001,-,caller=T12;", "42000.001000"},
	{"10.0.0.1: kern: warning: [2031-01-01T00:00:00.123456789Z]: ", "1924992000123.456789"},
	{"2031-01-01T00:00:00.5+01:00 host kernel: ", "1924988400500.000000"},
	{"2031-01-01T00:00:00-0130 host kernel: ", "1924997400000.000000"},
	{"2031-01-01 00:00:00 host kernel: ", "1924992000000.000000"},
};

static void every_prefix(void **state)
{
	char text[256], expected[256];

	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		snprintf(text, sizeof(text), "%s" XID "\n", prefixes[i].before);
		snprintf(expected, sizeof(expected), "%s XID code=63 bus=0x100\n", prefixes[i].time);
		says(text, expected);
	}
}

static void no_prefix(void **state)
{
	(void)state;
	says(XID "\n[   42.000001] other\n" XID "\n", "0.000000 XID flags=0x1 code=63 bus=0x100\n"
						      "42000.001000 XID flags=0x1 code=63 bus=0x100\n");
}

static void hangs_and_who_did_it(void **state)
{
	(void)state;
	/* as 6.12 and as the newest kernels print it */
	says("[ 2000.100000] amdgpu 0000:28:00.0: ring gfx_0.0.0 timeout, signaled seq=57638, emitted seq=57641\n"
	     "[ 2000.100050] amdgpu 0000:28:00.0:  Process glmark 2 pid 4021 thread glmark2:cs0 pid 4025\n"
	     "[ 2000.200000] amdgpu 0000:28:00.0: amdgpu: ring comp_1.0.0 timeout, signaled seq=12, emitted seq=14\n"
	     "[ 2000.200050] amdgpu 0000:28:00.0: amdgpu: Process information: process blender pid 77 thread b pid 78\n"
	     "[ 2000.300000] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, signaled seq=5\n"
	     "[ 2000.300010] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* Process information: process  pid 0 thread  pid 0\n"
	     "[ 2010.000000] amdgpu 0000:28:00.0: amdgpu:  Process late pid 5 thread late pid 5\n",
	     "2000100.000000 ERROR engine=graphics pid=4021 tid=4021 device=10240\n"
	     "2000200.000000 ERROR engine=compute pid=77 tid=77 ring=1 device=10240\n"
	     "2000300.000000 ERROR engine=copy ring=2\n");
	assert_non_null(strstr(r.names, "1:4021 glmark 2 glmark 2\n"));
	assert_non_null(strstr(r.names, "3:10240 0000:28:00.0 amdgpu\n"));
	/* newest first */
	says("[ 2000.200050] amdgpu 0000:28:00.0: amdgpu: Process information: process blender pid 77 thread b pid 78\n"
	     "[ 2000.200000] amdgpu 0000:28:00.0: amdgpu: ring comp_1.0.0 timeout, signaled seq=12, emitted seq=14\n"
	     "[ 2000.100050] amdgpu 0000:28:00.0:  Process glmark 2 pid 4021 thread glmark2:cs0 pid 4025\n"
	     "[ 2000.100000] amdgpu 0000:28:00.0: ring gfx_0.0.0 timeout, signaled seq=57638, emitted seq=57641\n",
	     "2000100.000000 ERROR engine=graphics pid=4021 tid=4021 device=10240\n"
	     "2000200.000000 ERROR engine=compute pid=77 tid=77 ring=1 device=10240\n");
	/* each process by its stamp, whatever stands beside it */
	says("[ 2000.100050] amdgpu 0000:28:00.0:  Process glmark 2 pid 4021 thread glmark2:cs0 pid 4025\n"
	     "[ 2000.200000] amdgpu 0000:28:00.0: amdgpu: ring comp_1.0.0 timeout, signaled seq=12, emitted seq=14\n"
	     "[ 2000.100000] amdgpu 0000:28:00.0: ring gfx_0.0.0 timeout, signaled seq=57638, emitted seq=57641\n"
	     "[ 2000.200050] amdgpu 0000:28:00.0: amdgpu: Process information: process blender pid 77 thread b pid 78\n",
	     "2000100.000000 ERROR engine=graphics pid=4021 tid=4021 device=10240\n"
	     "2000200.000000 ERROR engine=compute pid=77 tid=77 ring=1 device=10240\n");
	/* stamps of a second: the order of the text is that of the log, or the other way round */
	says("Jun  1 10:00:00 h kernel: amdgpu: ring gfx timeout, signaled seq=1, emitted seq=2\n"
	     "Jun  1 10:00:00 h kernel: amdgpu: Process information: process a pid 11 thread a pid 11\n"
	     "Jun  1 10:00:00 h kernel: amdgpu: ring comp timeout, signaled seq=1, emitted seq=2\n"
	     "Jun  1 10:00:00 h kernel: amdgpu: Process information: process b pid 12 thread b pid 12\n"
	     "Jun  1 09:00:00 h kernel: usb 1-1: new device\n",
	     "76240800000.000000 ERROR engine=graphics pid=11 tid=11\n"
	     "76240800000.000000 ERROR engine=compute pid=12 tid=12 ring=1\n");
	says("Jun  1 10:00:01 h kernel: usb 1-1: new device\n"
	     "Jun  1 10:00:00 h kernel: amdgpu: Process information: process b pid 12 thread b pid 12\n"
	     "Jun  1 10:00:00 h kernel: amdgpu: ring comp timeout, signaled seq=1, emitted seq=2\n"
	     "Jun  1 10:00:00 h kernel: amdgpu: Process information: process a pid 11 thread a pid 11\n"
	     "Jun  1 10:00:00 h kernel: amdgpu: ring gfx timeout, signaled seq=1, emitted seq=2\n",
	     "76240800000.000000 ERROR engine=compute pid=12 tid=12\n"
	     "76240800000.000000 ERROR engine=graphics pid=11 tid=11 ring=1\n");
}

static void off_the_bus(void **state)
{
	(void)state;
	/* in one line, in three, and beside an Xid that says so itself, whichever comes first */
	says(BOOT "[ 4000.000000] NVRM: GPU 0000:02:00.0: GPU has fallen off the bus.\n"
		  "[ 5000.000000] NVRM: The NVIDIA GPU 0000:0b:00.0\n"
		  "               NVRM: (PCI ID: 10de:2204) installed in this system has\n"
		  "               NVRM: fallen off the bus and is not responding to commands.\n"
		  "[ 6000.000000] NVRM: GPU at PCI:0000:01:00.0 has fallen off the bus.\n"
		  "[ 6000.100000] NVRM: Xid (PCI:0000:01:00): 79, GPU lost\n"
		  "[ 6000.200000] NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.\n",
	     "4000000.000000 XID flags=0x1 code=79 bus=0x200 text=GPU has fallen off the bus\n"
	     "5000000.000000 XID flags=0x1 code=79 bus=0xb00 text=GPU has fallen off the bus\n"
	     "6000100.000000 XID code=79 bus=0x100 text=GPU lost\n");
	/* two in a moment, each said by a line and by an Xid, in any order */
	says(BOOT "[ 7000.000002] NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.\n"
		  "[ 7000.000001] NVRM: GPU 0000:02:00.0: GPU has fallen off the bus.\n"
		  "[ 7000.000004] NVRM: Xid (PCI:0000:01:00): 79, GPU lost\n"
		  "[ 7000.000003] NVRM: Xid (PCI:0000:02:00): 79, GPU lost\n",
	     "7000000.003000 XID code=79 bus=0x200 text=GPU lost\n"
	     "7000000.004000 XID code=79 bus=0x100 text=GPU lost\n");
}

static void every_message_is_counted(void **state)
{
	struct grt_health health;
	char *text = malloc(8201 * 40);
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 8200; i++)
		n += (size_t)sprintf(text + n, "[ 100.000001] usb 1-1: new device\n");
	n += (size_t)sprintf(text + n, "what is this\n");
	health = render_text(&r, dir, text, n);
	assert_string_equal(r.skipped, "other messages 8200\n");
	assert_int_equal(health.text.bad, 1);
	assert_int_equal(health.text.bad_line, 8201);
	free(text);
}

static void messages(void **state)
{
	struct grt_health health;

	(void)state;
	health = says(
		BOOT
		"[    1.000001] NVRM: Xid (0000:01:00): 8, Channel 00000001\n"
		"[    2.000001] NVRM: Xid (PCI:0000:c1:1f.7): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp\n"
		"[    3.000001] NVRM: Xid (PCI:0001:01:00): 31, pid=4711, name=my app, Ch 00000008\n"
		"[    4.000001] NVRM: Xid (PCI:0000:01:00): 43, pid=4712, Ch 00000008, at 0x7f00_12345000 and what follows it\n"
		"[    5.000001] NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n"
		"[    5.000002] NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.\n"
		"[    6.000001] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 24007, Fatal\n"
		"[    7.000001] amdgpu 0000:03:00.0: amdgpu: ring sdma0 timeout, signaled seq=1, emitted seq=3\n"
		"[    8.000001] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, signaled seq=1\n"
		"[    8.000002] NVRM: Xid (PCI:10000:01:00): 64\n"
		"[    9.000001] NVRM: Xid (PCI:zz): 63\n"
		"[    9.000001] NVRM: Xid (PCI:0000:01:00): \n"
		"[    9.000001] NVRM: Xid (PCI:0000:01:20): 5\n",
		"1000.001000 XID code=8 bus=0x100 text=Channel 00000001\n"
		"2000.001000 XID code=13 bus=0xc1ff text=Graphics SM Warp\n"
		"3000.001000 XID pid=4711 tid=4711 code=31 bus=0x10100 text=Ch 00000008\n"
		"4000.001000 XID pid=4712 tid=4712 code=43 bus=0x100 text=Ch 00000008, at 0x7f00_12345000 and what follows it\n"
		"5000.001000 XID code=79 bus=0x100 text=GPU has fallen off the bus.\n"
		"6000.001000 XID code=24007 bus=0xc100 text=SXid: Fatal\n"
		"7000.001000 ERROR engine=copy device=768\n"
		"8000.001000 ERROR engine=copy\n"
		"8000.002000 XID code=64\n");
	assert_int_equal(health.text.bad, 3);
	assert_string_equal(r.skipped, "other messages 1\n");
	assert_non_null(strstr(r.names, "1:4711 my app my app\n"));
	assert_null(strstr(r.names, "4712"));
	assert_non_null(strstr(r.names, "2:0 sdma0 amdgpu\n"));
}

/* 183 bytes of text are a record's; of more the last three say so. */
static void long_messages(void **state)
{
	static const char before[] = "[    1.000001] NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:00): 31, ";
	static const char part[] = "1000.001000 XID code=31 bus=0x100 text=GPU-I:05 GPU-CI:00: ";
	char words[200], text[400], expected[400];

	(void)state;
	memset(words, 'x', sizeof(words));
	snprintf(text, sizeof(text), BOOT "%s%.163s\n", before, words);
	snprintf(expected, sizeof(expected), "%s%.163s\n", part, words);
	says(text, expected);
	snprintf(text, sizeof(text), BOOT "%s%.164s\n", before, words);
	snprintf(expected, sizeof(expected), "%s%.160s...\n", part, words);
	says(text, expected);
}

static void new_year(void **state)
{
	(void)state;
	says("Dec 31 23:59:59 host kernel: " XID "\n"
	     "Jan  1 00:00:01 host kernel: " XID "\n",
	     "94694399000.000000 XID code=63 bus=0x100\n"
	     "94694401000.000000 XID code=63 bus=0x100\n");
	assert_int_equal(r.first, UINT64_C(94694399000000000));
	assert_int_equal(r.last, UINT64_C(94694401000000000));
}

/* As some programs list them. */
static void newest_first(void **state)
{
	(void)state;
	says("[    3.000000] " XID "\n[    2.000000] " XID "\n" BOOT "",
	     "2000.000000 XID code=63 bus=0x100\n"
	     "3000.000000 XID code=63 bus=0x100\n");
	says("Jan  1 00:00:01 host kernel: " XID "\n"
	     "Dec 31 23:59:59 host kernel: " XID "\n",
	     "63071999000.000000 XID code=63 bus=0x100\n"
	     "63072001000.000000 XID code=63 bus=0x100\n");
	assert_int_equal(r.first, UINT64_C(63071999000000000));
	assert_int_equal(r.last, UINT64_C(63072001000000000));
}

static void silent_for_long(void **state)
{
	(void)state;
	says("Jan  1 00:00:01 host kernel: " XID "\n"
	     "Aug 31 23:59:59 host kernel: " XID "\n",
	     "63072001000.000000 XID code=63 bus=0x100\n"
	     "84153599000.000000 XID code=63 bus=0x100\n");
}

/* Months are numbered as they come. */
static void foreign_months(void **state)
{
	(void)state;
	says("Mrz 31 23:59:59 host kernel: x\n"
	     "Mrz 31 23:59:59 host kernel: " XID "\n"
	     "Mai  1 00:00:01 host kernel: " XID "\n",
	     "65750399000.000000 XID code=63 bus=0x100\n"
	     "65750401000.000000 XID code=63 bus=0x100\n");
	assert_int_equal(r.first, UINT64_C(65750399000000000));
	assert_int_equal(r.last, UINT64_C(65750401000000000));
}

/* From the last month that is known; a line that comes late does not count its month again. */
static void months_of_two_languages(void **state)
{
	(void)state;
	says("Sep 30 23:59:59 host kernel: " XID "\n"
	     "Okt  1 00:00:01 host kernel: " XID "\n"
	     "Nov  1 00:00:02 host kernel: " XID "\n"
	     "Okt 31 23:59:59 host kernel: " XID "\n"
	     "Dez 31 23:59:59 host kernel: " XID "\n"
	     "Jan  1 00:00:01 host kernel: " XID "\n",
	     "86745599000.000000 XID code=63 bus=0x100\n"
	     "86745601000.000000 XID code=63 bus=0x100\n"
	     "89423999000.000000 XID code=63 bus=0x100\n"
	     "89424002000.000000 XID code=63 bus=0x100\n"
	     "94694399000.000000 XID code=63 bus=0x100\n"
	     "94694401000.000000 XID code=63 bus=0x100\n");
}

/* Where a count begins is not known, but the first month that is known is later. */
static void months_before_a_known_one(void **state)
{
	(void)state;
	says("Okt 31 23:59:59 host kernel: " XID "\n"
	     "Nov  1 00:00:01 host kernel: " XID "\n",
	     "65750399000.000000 XID code=63 bus=0x100\n"
	     "89424001000.000000 XID code=63 bus=0x100\n");
	says("Dez 31 23:59:59 host kernel: " XID "\n"
	     "Jan  1 00:00:01 host kernel: " XID "\n",
	     "65750399000.000000 XID code=63 bus=0x100\n"
	     "94694401000.000000 XID code=63 bus=0x100\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_prefix),
		cmocka_unit_test(no_prefix),
		cmocka_unit_test(messages),
		cmocka_unit_test(hangs_and_who_did_it),
		cmocka_unit_test(off_the_bus),
		cmocka_unit_test(every_message_is_counted),
		cmocka_unit_test(new_year),
		cmocka_unit_test(long_messages),
		cmocka_unit_test(newest_first),
		cmocka_unit_test(foreign_months),
		cmocka_unit_test(silent_for_long),
		cmocka_unit_test(months_of_two_languages),
		cmocka_unit_test(months_before_a_known_one),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
