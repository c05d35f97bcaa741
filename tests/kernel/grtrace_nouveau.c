// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of grtrace_nouveau.ko, by real fences under the driver's name
 * (modules/fences.c) and jobs under the real scheduler (modules/execs.c), the
 * driver being loaded without hardware: what is told of them, to the event. TAP
 * version 13; leaves the module stopped, empty and at its defaults.
 *
 *	modprobe nouveau; modprobe gpu_sched; insmod modules/fences.ko; insmod modules/execs.ko
 *	sudo ./grtrace_nouveau [PART OF A TITLE]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kmod.h"
#include "tap.h"
#include "told.h"

/* Ends the case when the module refuses. */
#define PLAY(...)                                                           \
	do {                                                                \
		int err_ = play("fences", __VA_ARGS__);                     \
		if (err_) {                                                 \
			TAP_FAIL("the module fences: %s", strerror(-err_)); \
			return;                                             \
		}                                                           \
	} while (0)

/* Kinds of fences of the module: nouveau's that keep their ops, that let go of them, others. */
#define KEPT 0
#define LET_GO 1
#define FOREIGN 2

static void binds(void)
{
	CHECK(!strcmp(adapter_word("nouveau", "bound"), "1"));
	CHECK_EQ(adapter_has("nouveau", "dma_fence_init"), 1);
	CHECK_EQ(adapter_has("nouveau", "dma_fence_signaled"), 1);
	CHECK_EQ(adapter_has("nouveau", "dma_fence_wait_start"), 1);
	CHECK_EQ(adapter_has("nouveau", "dma_fence_wait_end"), 1);
}

static void life(void)
{
	told_begin();
	PLAY("init 5000 1 %d", KEPT);
	PLAY("irq signal 5000 1");
	PLAY("free 5000 1");
	told("SUBMIT me flags=0x2 ctx=5000 seqno=1 ring=channel 5000\n"
	     "END me flags=0x1 ctx=5000 seqno=1 ring=channel 5000\n"
	     "COMPLETE me ctx=5000 seqno=1 ring=channel 5000\n");
}

static void both_ops(void)
{
	told_begin();
	PLAY("init 5001 1 %d", KEPT);
	PLAY("init 5002 1 %d", LET_GO);
	PLAY("irq signal 5002 1");
	PLAY("irq signal 5001 1");
	PLAY("free 5001 1");
	PLAY("free 5002 1");
	told("SUBMIT me flags=0x2 ctx=5001 seqno=1 ring=channel 5001\n"
	     "SUBMIT me flags=0x2 ctx=5002 seqno=1 ring=channel 5002\n"
	     "END me flags=0x1 ctx=5002 seqno=1 ring=channel 5002\n"
	     "COMPLETE me ctx=5002 seqno=1 ring=channel 5002\n"
	     "END me flags=0x1 ctx=5001 seqno=1 ring=channel 5001\n"
	     "COMPLETE me ctx=5001 seqno=1 ring=channel 5001\n");
}

static void foreign(void)
{
	told_begin();
	PLAY("init 5003 1 %d", FOREIGN);
	PLAY("init 5004 1 %d", KEPT);
	PLAY("wait 5003 1 1");
	PLAY("irq signal 5003 1");
	PLAY("irq signal 5004 1");
	PLAY("free 5003 1");
	PLAY("free 5004 1");
	told("SUBMIT me flags=0x2 ctx=5004 seqno=1 ring=channel 5004\n"
	     "END me flags=0x1 ctx=5004 seqno=1 ring=channel 5004\n"
	     "COMPLETE me ctx=5004 seqno=1 ring=channel 5004\n");
}

static void fails(void)
{
	told_begin();
	PLAY("init 5005 1 %d", KEPT);
	PLAY("fail 5005 1 %d", ETIMEDOUT);
	PLAY("irq signal 5005 1");
	PLAY("free 5005 1");
	told("SUBMIT me flags=0x2 ctx=5005 seqno=1 ring=channel 5005\n"
	     "END me flags=0x1 ctx=5005 seqno=1 ring=channel 5005\n"
	     "ERROR me ctx=5005 seqno=1 ring=channel 5005 status=-110\n"
	     "COMPLETE me ctx=5005 seqno=1 ring=channel 5005 status=-110\n");
}

static void waits(void)
{
	told_begin();
	PLAY("init 5006 1 %d", KEPT);
	PLAY("wait 5006 1 20");
	PLAY("irq signal 5006 1");
	PLAY("free 5006 1");
	told("SUBMIT me flags=0x2 ctx=5006 seqno=1 ring=channel 5006\n"
	     "SYNC_WAIT_ENTER me ctx=5006 seqno=1 ring=channel 5006\n"
	     "SYNC_WAIT_EXIT me ctx=5006 seqno=1 ring=channel 5006\n"
	     "END me flags=0x1 ctx=5006 seqno=1 ring=channel 5006\n"
	     "COMPLETE me ctx=5006 seqno=1 ring=channel 5006\n");
}

static void *signal_later(void *seconds)
{
	(void)seconds;
	kmod_pin(0);
	usleep(300000);
	play("fences", "signal 5007 1");
	return NULL;
}

/* The wait ends because the fence is signalled, which may have taken its ops and its name by then. */
static void wait_till_signalled(void)
{
	pthread_t thread;

	told_begin();
	PLAY("init 5007 1 %d", LET_GO);
	CHECK(!pthread_create(&thread, NULL, signal_later, NULL));
	PLAY("wait 5007 1 60000");
	pthread_join(thread, NULL);
	PLAY("free 5007 1");
	told("SUBMIT me flags=0x2 ctx=5007 seqno=1 ring=channel 5007\n"
	     "SYNC_WAIT_ENTER me ctx=5007 seqno=1 ring=channel 5007\n"
	     "END me flags=0x1 ctx=5007 seqno=1 ring=channel 5007\n"
	     "COMPLETE me ctx=5007 seqno=1 ring=channel 5007\n"
	     "SYNC_WAIT_EXIT me ctx=5007 seqno=1 ring=channel 5007\n");
}

static void unknown(void)
{
	PLAY("init 5008 1 %d", KEPT);
	told_begin();
	PLAY("irq signal 5008 1");
	PLAY("free 5008 1");
	told("");
}

/* A channel that goes leaves its number, and the fence context, to the next one. */
static void another_client(void)
{
	told_begin();
	PLAY("client 5009 1 %d 100", KEPT);
	PLAY("client 5009 2 %d 100", KEPT);
	PLAY("irq signal 5009 1");
	PLAY("client 5009 3 %d 200", KEPT);
	PLAY("irq signal 5009 2");
	PLAY("irq signal 5009 3");
	PLAY("free 5009 1");
	PLAY("free 5009 2");
	PLAY("free 5009 3");
	told("SUBMIT me flags=0x2 ctx=5009 seqno=1 ring=client 100\n"
	     "SUBMIT me flags=0x2 ctx=5009 seqno=2 ring=client 100\n"
	     "END me flags=0x1 ctx=5009 seqno=1 ring=client 100\n"
	     "COMPLETE me ctx=5009 seqno=1 ring=client 100\n"
	     "SUBMIT me flags=0x2 ctx=5009 seqno=3 ring=client 200\n"
	     "END me flags=0x1 ctx=5009 seqno=2 ring=client 100\n"
	     "COMPLETE me ctx=5009 seqno=2 ring=client 100\n"
	     "END me flags=0x1 ctx=5009 seqno=3 ring=client 200\n"
	     "COMPLETE me ctx=5009 seqno=3 ring=client 200\n");
}

/* Records of a type, all of which are this process's jobs of one context. */
static unsigned int mine(const struct capture *c, unsigned int type, uint64_t ctx)
{
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	unsigned int n = 0;

	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			if (e->type != type)
				continue;
			if (e->ctx != ctx || e->pid != (uint32_t)getpid())
				TAP_FAIL("%llu:%llu is told as a job of %u", (unsigned long long)e->ctx,
					 (unsigned long long)e->seqno, e->pid);
			n++;
		}
	return n;
}

/* The scheduler's worker runs it a moment later. */
static bool exec_and_end(unsigned int seqno)
{
	int tries = 1000, err = play("execs", "exec 8000 %u", seqno);

	while (!err && (err = play("execs", "end 8000 %u", seqno)) == -ENOENT && tries--) {
		err = 0;
		usleep(1000);
	}
	if (err)
		TAP_FAIL("the module execs: %s", strerror(-err));
	return !err;
}

/* By drm_bridge, from the scheduler's events; the fences that its worker makes are no jobs of it. */
static void under_scheduler(void)
{
	struct capture c = {.data = NULL};
	unsigned int i;

	CHECK_EQ(kmod_write("control", "start"), 0);
	for (i = 1; i <= 20; i++)
		CHECK_OK(exec_and_end(i));
	usleep(100000);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(capture_file(&c, "trace_pipe"), 0);
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(mine(&c, GRT_EV_SUBMIT, 9001), 20);
	CHECK_EQ(mine(&c, GRT_EV_COMMIT, 9001), 20);
	CHECK_EQ(mine(&c, GRT_EV_END, 9001), 20);
	CHECK_EQ(mine(&c, GRT_EV_COMPLETE, 9001), 20);
	capture_free(&c);
}

/* More channels than have a ring: their jobs are told all the same. */
static void many_channels(void)
{
	static const unsigned int types[] = {GRT_EV_SUBMIT, GRT_EV_END, GRT_EV_COMPLETE};
	int i;

	told_begin();
	for (i = 0; i < 300; i++) {
		PLAY("init %d 1 %d", 7000 + i, KEPT);
		PLAY("irq signal %d 1", 7000 + i);
		PLAY("free %d 1", 7000 + i);
	}
	told_each_once(types, sizeof(types) / sizeof(types[0]), 7000, 300, 1);
}

static void *lives(void *arg)
{
	int ctx = *(int *)arg, i;

	for (i = 1; i <= TOLD_EACH; i++) {
		play("fences", "init %d %d %d", ctx, i, i % 2 ? KEPT : LET_GO);
		play("fences", "init %d %d %d", ctx + 100, i, FOREIGN);
		play("fences", "irq signal %d %d", ctx + 100, i);
		play("fences", "irq signal %d %d", ctx, i);
		play("fences", "free %d %d", ctx, i);
		play("fences", "free %d %d", ctx + 100, i);
	}
	return NULL;
}

static void at_once(void)
{
	static const unsigned int types[] = {GRT_EV_SUBMIT, GRT_EV_END, GRT_EV_COMPLETE};

	told_at_once(lives, 6000, types, sizeof(types) / sizeof(types[0]));
}

static const struct tap_case cases[] = {
	{"it binds to the fences while the driver is there", binds},
	{"a fence: SUBMIT (and COMMIT), END (inferred), COMPLETE, on a ring named after its timeline", life},
	{"both kinds of fence ops of the driver", both_ops},
	{"fences of other drivers are left alone", foreign},
	{"a failed fence, in an interrupt: ERROR and COMPLETE with the status and the submitter", fails},
	{"a wait that ends by its time", waits},
	{"a wait that ends by the signal", wait_till_signalled},
	{"a fence that was made before tracing began has no events", unknown},
	{"another client's channel under the same number is another ring", another_client},
	{"a job under the DRM scheduler is reported once, with its submitter, by drm_bridge", under_scheduler},
	{"more channels than rings: every job is reported", many_channels},
	{"four threads at once: every event of every job, once", at_once},
};

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int status;

	if (argc > 2) {
		fprintf(stderr, "Usage: grtrace_nouveau [PART OF A TITLE]\n");
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	if (access("/sys/module/fences", F_OK) || access("/sys/module/nouveau", F_OK))
		return tap_skip_all(
			"the driver or the fences are not there: modprobe nouveau; insmod modules/fences.ko");
	status = tap_run(cases, sizeof(cases) / sizeof(cases[0]), kmod_reset, argv[1]);
	kmod_reset();
	return status;
}
