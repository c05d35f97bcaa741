// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of bpftrace scripts' output: each kind of row, how jobs are
 * joined, stamps, and what is counted instead of understood.
 */
#define _GNU_SOURCE 1
#include "render.h"
#include "trace_maker.h"

/* Contexts of the first and the second ring that a text names. */
#define RING0 "4503599627370496"
#define RING1 "4503599627370497"

#define JOB_HEADER "TIME(ms)           EVENT        JOB_ID           RING         QUEUED   DETAILS\n"
#define CALL_HEADER \
	"TIME(ms)     EVENT              COMM             PID      GPU_ID   DETAILS             \n"

static char *dir;

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

static struct render r;

static struct grt_health read_all(const char *text)
{
	return render_text(&r, dir, text, strlen(text));
}

static void says(const char *text, const char *events)
{
	read_all(text);
	assert_string_equal(r.text, events);
}

static void scheduler_rows(void **state)
{
	(void)state;
	says(JOB_HEADER
	     "1000               SUBMIT       12               gfx          3        hw=1\n"
	     "1001               WAIT_DEP     12               gfx          -        ctx=77 seq=4000000000\n"
	     "1002               RUN          12               gfx          2        hw=1\n"
	     "1003               COMPLETE     0xffff8881045f7780\n",
	     "1000.000000 SUBMIT engine=graphics ctx=" RING0 " seqno=12\n"
	     "1001.000000 WAIT_DEP engine=graphics ctx=" RING0 " seqno=12 dep_ctx=77 dep_seqno=4000000000\n"
	     "1002.000000 COMMIT engine=graphics ctx=" RING0 " seqno=12 sw_depth=2 hw_depth=1\n"
	     "1003.000000 END flags=0x1 engine=graphics ctx=" RING0 " seqno=12\n"
	     "1003.000000 COMPLETE flags=0x1 engine=graphics ctx=" RING0 " seqno=12\n");
}

static void a_ring_keeps_its_order(void **state)
{
	(void)state;
	says(JOB_HEADER "1               COMPLETE     0xffff01\n"
			"2               RUN          7                gfx          0        hw=1\n"
			"3               RUN          9                gfx          0        hw=2\n"
			"4               COMPLETE     0xffff01\n"
			"5               COMPLETE     0xffff...\n",
	     "1.000000 COMPLETE\n"
	     "2.000000 COMMIT engine=graphics ctx=" RING0 " seqno=7 hw_depth=1\n"
	     "3.000000 COMMIT engine=graphics ctx=" RING0 " seqno=9 hw_depth=2\n"
	     "4.000000 END flags=0x1 engine=graphics ctx=" RING0 " seqno=7\n"
	     "4.000000 COMPLETE flags=0x1 engine=graphics ctx=" RING0 " seqno=7\n"
	     "5.000000 END flags=0x1 engine=graphics ctx=" RING0 " seqno=9\n"
	     "5.000000 COMPLETE flags=0x1 engine=graphics ctx=" RING0 " seqno=9\n");
}

/* One of two rings: not known, until the next RUN of sdma0 says that it has no other job. */
static void a_run_tells_the_ring(void **state)
{
	(void)state;
	says(JOB_HEADER "1               RUN          7                gfx          0        hw=1\n"
			"2               RUN          8                sdma0        0        hw=1\n"
			"3               RUN          9                sdma0        0        hw=2\n"
			"4               COMPLETE     0xffff01\n"
			"5               COMPLETE     0xffff01\n"
			"6               RUN          10               sdma0        0        hw=1\n",
	     "1.000000 COMMIT engine=graphics ctx=" RING0 " seqno=7 hw_depth=1\n"
	     "2.000000 COMMIT engine=copy ctx=" RING1 " seqno=8 ring=1 hw_depth=1\n"
	     "3.000000 COMMIT engine=copy ctx=" RING1 " seqno=9 ring=1 hw_depth=2\n"
	     "4.000000 END flags=0x1 engine=copy ctx=" RING1 " seqno=8 ring=1\n"
	     "4.000000 COMPLETE flags=0x1 engine=copy ctx=" RING1 " seqno=8 ring=1\n"
	     "5.000000 END flags=0x1 engine=copy ctx=" RING1 " seqno=9 ring=1\n"
	     "5.000000 COMPLETE flags=0x1 engine=copy ctx=" RING1 " seqno=9 ring=1\n"
	     "6.000000 COMMIT engine=copy ctx=" RING1 " seqno=10 ring=1 hw_depth=1\n");
}

/* One of each ring, in an order that nothing tells; and then nothing runs any more. */
static void two_rings_are_not_guessed(void **state)
{
	(void)state;
	says(JOB_HEADER "1               RUN          7                gfx          0        hw=1\n"
			"2               RUN          8                sdma0        0        hw=1\n"
			"3               COMPLETE     0xffff01\n"
			"4               COMPLETE     0xffff02\n"
			"5               RUN          9                gfx          0        hw=1\n"
			"6               COMPLETE     0xffff01\n",
	     "1.000000 COMMIT engine=graphics ctx=" RING0 " seqno=7 hw_depth=1\n"
	     "2.000000 COMMIT engine=copy ctx=" RING1 " seqno=8 ring=1 hw_depth=1\n"
	     "3.000000 COMPLETE\n"
	     "4.000000 COMPLETE\n"
	     "5.000000 COMMIT engine=graphics ctx=" RING0 " seqno=9 hw_depth=1\n"
	     "6.000000 END flags=0x1 engine=graphics ctx=" RING0 " seqno=9\n"
	     "6.000000 COMPLETE flags=0x1 engine=graphics ctx=" RING0 " seqno=9\n");
}

/* Nor when the RUN comes a second later, or the text ends. */
static void nothing_waits_for_long(void **state)
{
	(void)state;
	says(JOB_HEADER "1               RUN          7                gfx          0        hw=1\n"
			"2               RUN          8                sdma0        0        hw=1\n"
			"3               COMPLETE     0xffff01\n"
			"1003            RUN          9                sdma0        0        hw=1\n"
			"1004            COMPLETE     0xffff02\n",
	     "1.000000 COMMIT engine=graphics ctx=" RING0 " seqno=7 hw_depth=1\n"
	     "2.000000 COMMIT engine=copy ctx=" RING1 " seqno=8 ring=1 hw_depth=1\n"
	     "3.000000 COMPLETE\n"
	     "1003.000000 COMMIT engine=copy ctx=" RING1 " seqno=9 ring=1 hw_depth=1\n"
	     "1004.000000 COMPLETE\n");
}

/* A COMPLETE printed behind the RUN that it made room for is none that was lost; job 8's is. */
static void lost_completes(void **state)
{
	(void)state;
	says(JOB_HEADER "1               RUN          7                gfx          0        hw=1\n"
			"2               RUN          8                gfx          0        hw=1\n"
			"2               COMPLETE     0xffff01\n"
			"3               RUN          9                gfx          0        hw=1\n"
			"4               RUN          10               gfx          0        hw=2\n"
			"5               COMPLETE     0xffff03\n",
	     "1.000000 COMMIT engine=graphics ctx=" RING0 " seqno=7 hw_depth=1\n"
	     "2.000000 COMMIT engine=graphics ctx=" RING0 " seqno=8 hw_depth=1\n"
	     "2.000000 END flags=0x1 engine=graphics ctx=" RING0 " seqno=7\n"
	     "2.000000 COMPLETE flags=0x1 engine=graphics ctx=" RING0 " seqno=7\n"
	     "3.000000 COMMIT engine=graphics ctx=" RING0 " seqno=9 hw_depth=1\n"
	     "4.000000 COMMIT engine=graphics ctx=" RING0 " seqno=10 hw_depth=2\n"
	     "5.000000 END flags=0x1 engine=graphics ctx=" RING0 " seqno=9\n"
	     "5.000000 COMPLETE flags=0x1 engine=graphics ctx=" RING0 " seqno=9\n");
}

static void fences_join_exactly(void **state)
{
	(void)state;
	says(JOB_HEADER
	     "1               RUN          7                gfx          0        hw=1 fence=0xffff01\n"
	     "2               RUN          8                sdma0        0        hw=1 fence=0xffff02\n"
	     "3               COMPLETE     0xffff01\n"
	     "4               COMPLETE     0xffff02\n"
	     "5               RUN          9                gfx          0        hw=1 fence=0xffff01\n"
	     "6               COMPLETE     0xffff01\n"
	     "7               COMPLETE     0xffff01\n",
	     "1.000000 COMMIT engine=graphics ctx=" RING0 " seqno=7 hw_depth=1\n"
	     "2.000000 COMMIT engine=copy ctx=" RING1 " seqno=8 ring=1 hw_depth=1\n"
	     "3.000000 END engine=graphics ctx=" RING0 " seqno=7\n"
	     "3.000000 COMPLETE engine=graphics ctx=" RING0 " seqno=7\n"
	     "4.000000 END engine=copy ctx=" RING1 " seqno=8 ring=1\n"
	     "4.000000 COMPLETE engine=copy ctx=" RING1 " seqno=8 ring=1\n"
	     "5.000000 COMMIT engine=graphics ctx=" RING0 " seqno=9 hw_depth=1\n"
	     "6.000000 END engine=graphics ctx=" RING0 " seqno=9\n"
	     "6.000000 COMPLETE engine=graphics ctx=" RING0 " seqno=9\n"
	     "7.000000 COMPLETE\n");
}

static void numbers_join_exactly(void **state)
{
	(void)state;
	says(JOB_HEADER "1               RUN          5:100            gfx          0        hw=1\n"
			"2               RUN          8                gfx          0        hw=2 fence=6:7\n"
			"3               RUN          9                gfx          0        hw=3\n"
			"4               COMPLETE     6:7\n"
			"5               COMPLETE     9                gfx\n"
			"6               COMPLETE     5:100\n",
	     "1.000000 COMMIT engine=graphics ctx=5 seqno=100 hw_depth=1\n"
	     "2.000000 COMMIT engine=graphics ctx=6 seqno=7 hw_depth=2\n"
	     "3.000000 COMMIT engine=graphics ctx=" RING0 " seqno=9 hw_depth=3\n"
	     "4.000000 END engine=graphics ctx=6 seqno=7\n"
	     "4.000000 COMPLETE engine=graphics ctx=6 seqno=7\n"
	     "5.000000 END engine=graphics ctx=" RING0 " seqno=9\n"
	     "5.000000 COMPLETE engine=graphics ctx=" RING0 " seqno=9\n"
	     "6.000000 END engine=graphics ctx=5 seqno=100\n"
	     "6.000000 COMPLETE engine=graphics ctx=5 seqno=100\n");
}

static void many_jobs_in_flight(void **state)
{
	static char text[200000];
	size_t used = 0;

	(void)state;
	for (unsigned int i = 1; i <= 3000; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%u  RUN  %u  gfx  0  hw=%u\n", i,
					 i, i);
	snprintf(text + used, sizeof(text) - used, "4000  COMPLETE  0xff01\n");
	/* the first of those that are remembered: 512 of them */
	render_text(&r, dir, text, strlen(text));
	assert_non_null(
		strstr(r.text, "4000.000000 END flags=0x1 engine=graphics ctx=" RING0 " seqno=2489\n"));
}

static void device_file_rows(void **state)
{
	(void)state;
	says(CALL_HEADER
	     "1042         OPEN               python3          4711     -        GPU device opened\n"
	     "1043         IOCTL              exactly15chars_  4711     -        cmd=0xc020462a\n"
	     "1044         MMAP               python3          4711     -        offset=0xffff888100 size=4096\n"
	     "1045         POLL               python3          4711     0        \n"
	     "1047.25      CLOSE              python3          4711     -        GPU device closed\n",
	     /* what a row does not tell has all bits set, a file descriptor all but one */
	     "1042.000000 OPEN pid=4711 tid=4711 fd=2147483647 oflags=0xffffffff\n"
	     "1043.000000 IOCTL_ENTER pid=4711 tid=4711 cmd=0xc020462a fd=2147483647 arg=0xffffffffffffffff\n"
	     "1044.000000 MMAP pid=4711 tid=4711 addr=0xffffffffffffffff length=4096\n"
	     "1045.000000 POLL pid=4711 tid=4711 fd=2147483647 events=0xffffffff\n"
	     "1047.250000 CLOSE pid=4711 tid=4711 fd=2147483647 at_exit=4294967295\n");
	assert_non_null(strstr(r.names, "1:4711 exactly15chars_ exactly15chars_\n"));
}

static void comms_with_blanks(void **state)
{
	(void)state;
	read_all(CALL_HEADER
		 "1042         OPEN               my app 12 -      4712     -        GPU device opened\n");
	assert_string_equal(r.text, "1042.000000 OPEN pid=4712 tid=4712 fd=2147483647 oflags=0xffffffff\n");
	assert_string_equal(r.names, "1:4712 my app 12 - my app 12 -\n");
	/* columns lost, as mail programs do it */
	read_all(CALL_HEADER "1042 OPEN my app 4712 - GPU device opened\n");
	assert_string_equal(r.text, "1042.000000 OPEN pid=4712 tid=4712 fd=2147483647 oflags=0xffffffff\n");
	assert_string_equal(r.names, "1:4712 my app my app\n");
}

static void xid_has_two_lines(void **state)
{
	(void)state;
	says(CALL_HEADER
	     "\n!!! GPU ERROR !!!\n"
	     "1046         XID_ERROR          irq/130-nvidia   812      -        dev=0000:41:00.0\n"
	     "  \xe2\x94\x94\xe2\x94\x80 Xid: 79 - GPU has fallen off the bus and all that it says of it\n\n"
	     "  \xe2\x94\x94\xe2\x94\x80 Xid: 80 - of no row\n"
	     "1050         XID_ERROR          swapper/0        0        -        dev=nonsense\n",
	     "1046.000000 XID pid=812 tid=812 code=79 bus=0x4100 text=GPU has fallen off the bus and all that it says of it\n");
}

static void memory_rows(void **state)
{
	(void)state;
	says("TIME(ms)           EVENT        OBJECT             SIZE/OFFSET  DETAILS\n"
	     "5000               GEM_CREATE   0xffff888104000000 1048576      total=1 MB\n"
	     "5001               VMA_BIND     0xffff888104000000 0x100000     size=65536 flags=0x3\n"
	     "5002               VMA_UNBIND   0xffff888104000000 0x100000     size=65536\n"
	     "5003               SHRINK       -                  4096         flags=0x5\n"
	     "5004               FAULT        0xffff888104000000 128          GTT WRITE\n"
	     "5005               FAULT        0xffff888104000000 129          CPU READ\n"
	     "6001               BO_CREATE      0xffff8881040000 8192         pages=2 type=2\n"
	     "6002               BO_MOVE        0xffff8881040000 8192         (migration)\n",
	     "5000.000000 MEM_CREATE device=4294967294 object=0xffff888104000000 bytes=1048576 placed=4294967295\n"
	     "5001.000000 MEM_BIND device=4294967294 object=0xffff888104000000 offset=0x100000 bytes=65536 mflags=0x3\n"
	     "5002.000000 MEM_UNBIND device=4294967294 object=0xffff888104000000 offset=0x100000 bytes=65536\n"
	     "5003.000000 MEM_SHRINK device=4294967294 target=4096 mflags=0x5\n"
	     "5004.000000 MEM_FAULT device=4294967294 object=0xffff888104000000 page=128 gtt=1 writing=1\n"
	     "5005.000000 MEM_FAULT device=4294967294 object=0xffff888104000000 page=129\n"
	     "6001.000000 MEM_CREATE device=4294967295 object=0xffff8881040000 bytes=8192 placed=2\n"
	     "6002.000000 MEM_MOVE device=4294967295 object=0xffff8881040000 bytes=8192 from=4294967295 to=4294967295\n");
	/* which of the driver's GPUs it was, no row says */
	assert_non_null(strstr(r.names, "3:4294967294 i915 i915\n"));
	assert_non_null(strstr(r.names, "3:4294967295 amdgpu amdgpu\n"));
}

static void amdgpu_and_vblank_rows(void **state)
{
	(void)state;
	says("6002               CS_IOCTL       17               gfx_0.0.0    seq=5 ibs=2\n"
	     "6003               SCHED_RUN      17               gfx_0.0.0    seq=5 latency=12us\n"
	     "6004               INTERRUPT      ih=0          -            client=18 src=181 vmid=0 pasid=0\n"
	     "6005               INTERRUPT      ih=0          -            src=182 vmid=3 pasid=32770\n"
	     "7000               VBLANK         1      1234       high-prec\n"
	     "7001               QUEUED         1      1235      \n"
	     "7016               DELIVERED      1      1235       latency=16000us\n",
	     "6002.000000 SUBMIT engine=graphics ctx=" RING0 " seqno=17\n"
	     "6003.000000 COMMIT engine=graphics ctx=" RING0 " seqno=17\n"
	     "6004.000000 IRQ source=1179829 data=0xffffffff hw_ring=65535\n"
	     "6005.000000 IRQ source=4294901942 data=0xffffffff hw_ring=65535 vmid=3 pasid=32770\n"
	     "7000.000000 VBLANK flags=0x1 crtc=1 high_prec=1 vseq=1234 stamp=7000000000\n"
	     "7001.000000 VBLANK_QUEUED crtc=1 vseq=1235\n"
	     "7016.000000 VBLANK_DELIVERED crtc=1 vseq=1235\n");
}

static void midnight(void **state)
{
	(void)state;
	says("23:59:58.123456 [CPU07] TASK_EXIT PID=12 foo timeslice=512 us\n"
	     "23:59:59.5  RUN  1  gfx  0  hw=1\n"
	     "00:00:01    RUN  2  gfx  0  hw=2\n"
	     "00:00:02    RUN  3  gfx  0  hw=3\n"
	     "23:59:59    RUN  4  gfx  0  hw=4\n"
	     "25:00:02    RUN  5  gfx  0  hw=4\n",
	     "86399000.000000 COMMIT engine=graphics ctx=" RING0 " seqno=4 hw_depth=4\n"
	     "86399500.000000 COMMIT engine=graphics ctx=" RING0 " seqno=1 hw_depth=1\n"
	     "86401000.000000 COMMIT engine=graphics ctx=" RING0 " seqno=2 hw_depth=2\n"
	     "86402000.000000 COMMIT engine=graphics ctx=" RING0 " seqno=3 hw_depth=3\n");
	assert_int_equal(r.first, UINT64_C(86398123456000));
	assert_int_equal(r.last, UINT64_C(86402000000000));
}

/* The lines of a CPU stand together, and are more than are held before the first goes out. */
static void blocks_of_time_of_day(void **state)
{
	enum { LINES = 5000, PERIOD_US = 4000 };
	size_t size = LINES * 2 * 64, used = 0;
	struct collect k = {.n = 0};
	char *text = malloc(size), *path = path_join(dir, "blocks.txt");
	struct grt_session *s;
	uint64_t first, last;

	(void)state;
	assert_non_null(text);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		for (unsigned int i = 0; i < LINES; i++)
			used += (size_t)snprintf(
				text + used, size - used, "23:59:%02u.%06u [CPU%02u] VBLANK 0 %u\n",
				i * PERIOD_US / 1000000, i * PERIOD_US % 1000000 + cpu, cpu, i);
	file_store(path, text, used);
	collect_path(&k, path, &s);
	assert_int_equal(grt_session_health(s)->fault[GRT_FAULT_TIME], 0);
	assert_int_equal(k.n, 2 * LINES);
	for (size_t i = 1; i < k.n; i++)
		assert_true(k.e[i - 1].time < k.e[i].time);
	assert_int_equal(grt_session_span(s, &first, &last), 0);
	assert_int_equal(first, k.e[0].time);
	assert_int_equal(last, k.e[k.n - 1].time);
	grt_session_close(s);
	collect_reset(&k);
	free(path);
	free(text);
}

static void stamps(void **state)
{
	(void)state;
	says(JOB_HEADER "0.000001           RUN          1                gfx          0        hw=1\n"
			"1.5                RUN          2                gfx          0        hw=2\n"
			"2.123456789        RUN          3                gfx          0        hw=3\n"
			"99999999999999999999999 RUN     4                gfx          0        hw=4\n",
	     "0.000001 COMMIT engine=graphics ctx=" RING0 " seqno=1 hw_depth=1\n"
	     "1.500000 COMMIT engine=graphics ctx=" RING0 " seqno=2 hw_depth=2\n"
	     "2.123456 COMMIT engine=graphics ctx=" RING0 " seqno=3 hw_depth=3\n"
	     "18446744073709.551615 COMMIT engine=graphics ctx=" RING0 " seqno=4 hw_depth=4\n");
}

/* The script's own sums are values of counters; captions and rules are no lines of the trace. */
static void maps_are_counters(void **state)
{
	struct grt_health health;

	(void)state;
	health = read_all(
		CALL_HEADER
		"7            OPEN               python3          4711     -        GPU device opened\n"
		"\n========================================\n  NVIDIA GPU Driver Statistics\n"
		"========================================\n\n--- Device Operations ---\n"
		"Opens by process:\n@opens[llama-server]: 39\n@opens[a b]: -1\n\n@poll_count: 24254\n"
		"@hist:\n[1]   3 |@@@|\n");
	assert_string_equal(r.text, "7.000000 OPEN pid=4711 tid=4711 fd=2147483647 oflags=0xffffffff\n"
				    "7.000000 COUNTER counter=1 value=39\n"
				    "7.000000 COUNTER counter=2 value=-1\n"
				    "7.000000 COUNTER counter=3 value=24254\n");
	assert_non_null(strstr(r.names, "4:1 opens[llama-server] \n"));
	assert_non_null(strstr(r.names, "4:3 poll_count \n"));
	assert_string_equal(r.skipped, "@hist 1\n");
	assert_int_equal(health.text.bad, 0);
}

static void what_the_driver_met(void **state)
{
	(void)state;
	says(CALL_HEADER "7            PAGE_FAULT         python3          4711     -        addr=0x7f00\n"
			 "8            P2P_DMA_MAP        python3          4711     -        \n"
			 "9            SUSPEND            systemd          1        -        state=3\n",
	     "7.000000 FUNC pid=4711 tid=4711 step=4 function=PAGE_FAULT text=addr=0x7f00\n"
	     "8.000000 FUNC pid=4711 tid=4711 step=4 function=P2P_DMA_MAP\n"
	     "9.000000 FUNC pid=1 tid=1 step=4 function=SUSPEND text=state=3\n");
}

static void every_line_is_counted(void **state)
{
	struct grt_health health;
	size_t n = 0;
	char *text = malloc(8201 * 8 + 256);

	(void)state;
	n = (size_t)sprintf(text, CALL_HEADER);
	for (int i = 0; i < 8200; i++)
		n += (size_t)sprintf(text + n, "nothing\n");
	health = render_text(&r, dir, text, n);
	assert_int_equal(health.text.bad, 8200);
	free(text);
}

static void other_text_is_no_event(void **state)
{
	struct grt_health health;

	(void)state;
	health = read_all(
		"Attaching 5 probes...\n"
		"Tracing DRM GPU scheduler... Hit Ctrl-C to end.\n" JOB_HEADER "12 GB free, 13 RUN\n"
		"^C\n"
		"=== DRM Scheduler Statistics ===\n\n"
		"@jobs_per_ring[gfx]: 1523\n"
		"@jobs_per_ring[a,kprobe:x]: 2\n"
		"Lost 12 events\n"
		"@isr_latency_us: \n"
		"[1]                    3 |@@@@@@@                   |\n"
		"[2, 4)                10 |@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
		"5                  EVICT        -                  4096         align=4096 flags=0x5\n"
		"> 6                RUN          1                gfx          0        hw=1\r\n");
	assert_string_equal(r.text, "6.000000 COMMIT engine=graphics ctx=" RING0 " seqno=1 hw_depth=1\n");
	/* maps before the first row have no time */
	assert_string_equal(r.skipped, "@jobs_per_ring 2\n@isr_latency_us 1\nEVICT 1\n");
	/* "12 GB free" */
	assert_int_equal(health.text.bad, 1);
	assert_int_equal(health.text.bad_line, 4);
	assert_int_equal(health.balance.fate[GRT_FATE_LOST], 12);
}

/* What a row cannot say for certain is no event, and the rows around it stand. */
static void torn_rows(void **state)
{
	static const char *const rows[] = {
		"2  RUN",
		"2  RUN  ",
		"2  RUN  x  gfx  0  hw=1",
		"2  RUN  7  -  0",
		"2  RUN  7  5  hw=2",
		"2  WAIT_DEP  7  gfx  -  ctx=",
		"2  IOCTL  a  -1  -  cmd=0x1",
		"2  IOCTL  a  7  -  cmd",
		"2  VBLANK  x  1",
		"2  GEM_CREATE  (nil) 12",
		"2  FAULT  0x1  2",
		"2  VMA_BIND  0x1  0x2",
		"2  CS_IOCTL  17",
		"2  OPEN  a",
		"2  INTERRUPT  ih=0  -",
		"2  SHRINK  -",
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), JOB_HEADER "1  RUN  1  gfx  0  hw=1\n%s\n3  COMPLETE  0x1\n",
			 rows[i]);
		assert_int_equal(read_all(text).text.bad, 1);
		assert_string_equal(r.text,
				    "1.000000 COMMIT engine=graphics ctx=" RING0 " seqno=1 hw_depth=1\n"
				    "3.000000 END flags=0x1 engine=graphics ctx=" RING0 " seqno=1\n"
				    "3.000000 COMPLETE flags=0x1 engine=graphics ctx=" RING0 " seqno=1\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scheduler_rows),
		cmocka_unit_test(a_ring_keeps_its_order),
		cmocka_unit_test(a_run_tells_the_ring),
		cmocka_unit_test(two_rings_are_not_guessed),
		cmocka_unit_test(nothing_waits_for_long),
		cmocka_unit_test(lost_completes),
		cmocka_unit_test(fences_join_exactly),
		cmocka_unit_test(numbers_join_exactly),
		cmocka_unit_test(many_jobs_in_flight),
		cmocka_unit_test(device_file_rows),
		cmocka_unit_test(comms_with_blanks),
		cmocka_unit_test(xid_has_two_lines),
		cmocka_unit_test(memory_rows),
		cmocka_unit_test(amdgpu_and_vblank_rows),
		cmocka_unit_test(midnight),
		cmocka_unit_test(blocks_of_time_of_day),
		cmocka_unit_test(stamps),
		cmocka_unit_test(other_text_is_no_event),
		cmocka_unit_test(maps_are_counters),
		cmocka_unit_test(what_the_driver_met),
		cmocka_unit_test(every_line_is_counted),
		cmocka_unit_test(torn_rows),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
