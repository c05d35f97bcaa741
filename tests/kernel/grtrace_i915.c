// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of grtrace_i915.ko, with modules/i915 or modules/i915_low in place
 * of the driver: requests and objects with known numbers, and what is told of
 * them, to the event. TAP version 13; leaves the module stopped, empty and at
 * its defaults.
 *
 *	insmod modules/i915/i915.ko; sudo ./grtrace_i915 [PART OF A TITLE]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kmod.h"
#include "tap.h"
#include "told.h"

#define OFFSETS "/sys/module/i915/parameters/offsets"
#define ASTRAY "/sys/module/i915/parameters/astray"

/* Ends the case when the stand-in refuses. */
#define PLAY(...)                                                      \
	do {                                                           \
		int err_ = play("i915", __VA_ARGS__);                  \
		if (err_) {                                            \
			TAP_FAIL("the stand-in: %s", strerror(-err_)); \
			return;                                        \
		}                                                      \
	} while (0)

static bool low_level(void)
{
	return adapter_has("i915", "i915_request_in") == 1;
}

/* Has the module know where the driver's private members lie, or not. Return: whether it takes that */
static bool know_offsets(bool known)
{
	char line[128];
	FILE *f = fopen(OFFSETS, "re");
	bool taken = f;

	while (taken && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (!known)
			strcpy(strchr(strchr(line, ' ') + 1, ' ') + 1, "- -");
		taken = !kmod_write("offsets", line);
	}
	if (f)
		fclose(f);
	return taken;
}

static void binds(void)
{
	static const char *const points[] = {
		"i915_request_queue",	   "i915_request_add",	    "i915_request_retire",
		"i915_request_wait_begin", "i915_request_wait_end", "i915_gem_object_create",
		"i915_gem_object_destroy", "i915_gem_object_fault", "i915_vma_bind",
		"i915_vma_unbind",	   "i915_gem_shrink",	    "dma_fence_signaled",
	};
	size_t i;

	CHECK(!strcmp(adapter_word("i915", "bound"), "1"));
	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		if (adapter_has("i915", points[i]) != 1)
			TAP_FAIL("%s is not bound: %s", points[i], adapter_word("i915", ""));
	CHECK_EQ(adapter_has("i915", "i915_request_in"), adapter_has("i915", "i915_request_out"));
}

static void life(void)
{
	know_offsets(false);
	PLAY("make 100 1 0 0");
	told_begin();
	PLAY("queue 100 1");
	PLAY("add 100 1");
	PLAY("signal 100 1");
	PLAY("retire 100 1");
	PLAY("free 100 1");
	told("SUBMIT me ctx=100 seqno=1\n"
	     "COMMIT me ctx=100 seqno=1\n"
	     "END me flags=0x1 ctx=100 seqno=1\n"
	     "COMPLETE me ctx=100 seqno=1\n");
}

static void own(void)
{
	know_offsets(false);
	PLAY("make 101 1 0 0");
	told_begin();
	PLAY("add 101 1");
	PLAY("signal 101 1");
	PLAY("free 101 1");
	told("SUBMIT me flags=0x2 ctx=101 seqno=1\n"
	     "END me flags=0x1 ctx=101 seqno=1\n"
	     "COMPLETE me ctx=101 seqno=1\n");
}

static void retire_first(void)
{
	know_offsets(false);
	PLAY("make 102 7 0 0");
	told_begin();
	PLAY("queue 102 7");
	PLAY("add 102 7");
	PLAY("retire 102 7");
	PLAY("signal 102 7");
	PLAY("free 102 7");
	told("SUBMIT me ctx=102 seqno=7\n"
	     "COMMIT me ctx=102 seqno=7\n"
	     "END me flags=0x1 ctx=102 seqno=7\n"
	     "COMPLETE me ctx=102 seqno=7\n");
}

static void fails(void)
{
	know_offsets(false);
	PLAY("make 103 1 0 0");
	told_begin();
	PLAY("queue 103 1");
	PLAY("add 103 1");
	PLAY("fail 103 1 %d", EIO);
	PLAY("irq signal 103 1");
	PLAY("free 103 1");
	told("SUBMIT me ctx=103 seqno=1\n"
	     "COMMIT me ctx=103 seqno=1\n"
	     "END me flags=0x1 ctx=103 seqno=1\n"
	     "ERROR me ctx=103 seqno=1 status=-5\n"
	     "COMPLETE me ctx=103 seqno=1 status=-5\n");
}

static void waits(void)
{
	know_offsets(false);
	PLAY("make 104 1 0 0");
	told_begin();
	PLAY("queue 104 1");
	PLAY("wait_begin 104 1");
	PLAY("irq signal 104 1");
	PLAY("wait_end 104 1");
	PLAY("free 104 1");
	told("SUBMIT me ctx=104 seqno=1\n"
	     "SYNC_WAIT_ENTER me ctx=104 seqno=1\n"
	     "END me flags=0x1 ctx=104 seqno=1\n"
	     "COMPLETE me ctx=104 seqno=1\n"
	     "SYNC_WAIT_EXIT me ctx=104 seqno=1\n");
}

static void unknown(void)
{
	know_offsets(false);
	PLAY("make 105 1 0 0");
	PLAY("queue 105 1");
	PLAY("add 105 1");
	told_begin();
	PLAY("irq signal 105 1");
	PLAY("retire 105 1");
	PLAY("free 105 1");
	told("");
}

static void numbers(void)
{
	know_offsets(false);
	PLAY("make 0x123456789abc 0x1fffffffe 0 0");
	told_begin();
	PLAY("queue 0x123456789abc 0x1fffffffe");
	PLAY("irq signal 0x123456789abc 0x1fffffffe");
	PLAY("free 0x123456789abc 0x1fffffffe");
	told("SUBMIT me ctx=20015998343868 seqno=8589934590\n"
	     "END me flags=0x1 ctx=20015998343868 seqno=8589934590\n"
	     "COMPLETE me ctx=20015998343868 seqno=8589934590\n");
}

static void engines(void)
{
	if (!know_offsets(true)) {
		tap_skip("the module takes no offsets");
		return;
	}
	PLAY("make 106 1 0 0");
	PLAY("make 106 2 1 1");
	PLAY("make 106 3 2 0");
	PLAY("make 106 4 3 0");
	PLAY("make 106 5 4 1");
	told_begin();
	PLAY("queue 106 1");
	PLAY("add 106 2");
	PLAY("queue 106 3");
	PLAY("queue 106 4");
	PLAY("queue 106 5");
	PLAY("irq signal 106 5");
	told("SUBMIT me engine=graphics ctx=106 seqno=1 ring=rcs0 device=3\n"
	     "SUBMIT me flags=0x2 engine=copy ctx=106 seqno=2 ring=bcs1 device=3\n"
	     "SUBMIT me engine=video_decode ctx=106 seqno=3 ring=vcs0 device=3\n"
	     "SUBMIT me engine=video_enhance ctx=106 seqno=4 ring=vecs0 device=3\n"
	     "SUBMIT me engine=compute ctx=106 seqno=5 ring=ccs1 device=3\n"
	     "END me flags=0x1 engine=compute ctx=106 seqno=5 ring=ccs1 device=3\n"
	     "COMPLETE me engine=compute ctx=106 seqno=5 ring=ccs1 device=3\n");
	for (int i = 1; i <= 5; i++)
		PLAY("free 106 %d", i);
}

static void put_offset(const char *member, unsigned int offset)
{
	char line[96];

	snprintf(line, sizeof(line), "i915 %s %u 8", member, offset);
	CHECK_EQ(kmod_write("offsets", line), 0);
}

/* What the pointers are is said at ASTRAY in the stand-in; the kernel's log is looked at afterwards. */
static void wild(void)
{
	unsigned int request, vma, n = 0;
	char expected[64];
	FILE *f = fopen(ASTRAY, "re");

	if (!f || fscanf(f, "%u %u %u", &request, &vma, &n) != 3)
		TAP_FAIL("%s: not there", ASTRAY);
	if (f)
		fclose(f);
	for (unsigned int i = 0; i < n; i++) {
		if (!know_offsets(true)) {
			tap_skip("the module takes no offsets");
			return;
		}
		PLAY("make 107 %u 0 0", i + 1);
		put_offset("i915_request.engine", request + 8 * i);
		told_begin();
		PLAY("queue 107 %u", i + 1);
		snprintf(expected, sizeof(expected), "SUBMIT me ctx=107 seqno=%u device=3\n", i + 1);
		told(expected);
		put_offset("i915_request.i915", request + 8 * i);
		put_offset("i915_request.hwsp_seqno", request + 8 * i);
		told_begin();
		PLAY("queue 107 %u", i + 1);
		snprintf(expected, sizeof(expected), "SUBMIT me ctx=107 seqno=%u\n", i + 1);
		told(expected);
		if (low_level()) {
			PLAY("in 107 %u", i + 1);
			PLAY("out 107 %u", i + 1);
		}
		PLAY("free 107 %u", i + 1);
		put_offset("i915_vma.obj", vma + 8 * i);
		PLAY("create 2 4096");
		PLAY("bind 2 0x20000 4096 1");
		PLAY("unbind 2");
	}
}

static void preempted(void)
{
	if (!low_level()) {
		tap_skip("this stand-in has no i915_request_in");
		return;
	}
	if (!know_offsets(true)) {
		tap_skip("the module takes no offsets");
		return;
	}
	PLAY("make 108 9 0 0");
	told_begin();
	PLAY("queue 108 9");
	PLAY("add 108 9");
	PLAY("irq in 108 9");
	PLAY("irq out 108 9");
	PLAY("irq in 108 9");
	PLAY("reach 108 9");
	PLAY("irq out 108 9");
	PLAY("irq signal 108 9");
	PLAY("retire 108 9");
	PLAY("free 108 9");
	told("SUBMIT me engine=graphics ctx=108 seqno=9 ring=rcs0 device=3\n"
	     "COMMIT me engine=graphics ctx=108 seqno=9 ring=rcs0 device=3\n"
	     "START me engine=graphics ctx=108 seqno=9 ring=rcs0 device=3\n"
	     "END me engine=graphics ctx=108 seqno=9 ring=rcs0 device=3\n"
	     "COMPLETE me engine=graphics ctx=108 seqno=9 ring=rcs0 device=3\n");
}

static void out_unknown(void)
{
	if (!low_level()) {
		tap_skip("this stand-in has no i915_request_in");
		return;
	}
	know_offsets(false);
	PLAY("make 109 1 0 0");
	told_begin();
	PLAY("queue 109 1");
	PLAY("add 109 1");
	PLAY("irq in 109 1");
	PLAY("reach 109 1");
	PLAY("irq out 109 1");
	PLAY("irq signal 109 1");
	PLAY("irq out 109 1");
	PLAY("free 109 1");
	told("SUBMIT me ctx=109 seqno=1\n"
	     "COMMIT me ctx=109 seqno=1\n"
	     "START me ctx=109 seqno=1\n"
	     "END me flags=0x1 ctx=109 seqno=1\n"
	     "COMPLETE me ctx=109 seqno=1\n");
}

static void memory(void)
{
	know_offsets(false);
	told_begin();
	PLAY("create 0 8192");
	PLAY("create 1 0x100000000");
	PLAY("fault 1 5 1 1");
	PLAY("fault 0 6 0 0");
	PLAY("bind 0 0x10000 8192 3");
	PLAY("unbind 0");
	PLAY("shrink 77 0x13");
	PLAY("destroy 0");
	PLAY("destroy 1");
	told("MEM_CREATE me device=3 object=A bytes=8192 placed=4294967295\n"
	     "MEM_CREATE me device=3 object=B bytes=4294967296 placed=4294967295\n"
	     "MEM_FAULT me device=3 object=B page=5 gtt=1 writing=1\n"
	     "MEM_FAULT me device=3 object=A page=6\n"
	     "MEM_BIND me offset=0x10000 bytes=8192 mflags=0x3\n"
	     "MEM_UNBIND me offset=0x10000 bytes=8192\n"
	     "MEM_SHRINK me device=3 target=77 mflags=0x13\n"
	     "MEM_DESTROY me device=3 object=A\n"
	     "MEM_DESTROY me device=3 object=B\n");
}

static void bindings(void)
{
	if (!know_offsets(true)) {
		tap_skip("the module takes no offsets");
		return;
	}
	told_begin();
	PLAY("create 2 4096");
	PLAY("bind 2 0x20000 4096 1");
	PLAY("unbind 2");
	told("MEM_CREATE me device=3 object=A bytes=4096 placed=4294967295\n"
	     "MEM_BIND me device=3 object=A vm=B offset=0x20000 bytes=4096 mflags=0x1\n"
	     "MEM_UNBIND me device=3 object=A vm=B offset=0x20000 bytes=4096\n");
}

static void foreign(void)
{
	know_offsets(false);
	PLAY("make 110 1 0 0");
	PLAY("make 111 1 0 0");
	told_begin();
	PLAY("queue 110 1");
	PLAY("signal 111 1"); /* a request of which SUBMIT was not seen */
	PLAY("signal 110 1");
	told("SUBMIT me ctx=110 seqno=1\n"
	     "END me flags=0x1 ctx=110 seqno=1\n"
	     "COMPLETE me ctx=110 seqno=1\n");
	PLAY("free 110 1");
	PLAY("free 111 1");
}

static void *lives(void *arg)
{
	int ctx = *(int *)arg, i;

	for (i = 1; i <= TOLD_EACH; i++) {
		play("i915", "make %d %d %d 0", ctx, i, i % 5);
		play("i915", "queue %d %d", ctx, i);
		play("i915", "add %d %d", ctx, i);
		play("i915", "irq signal %d %d", ctx, i);
		play("i915", "retire %d %d", ctx, i);
		play("i915", "free %d %d", ctx, i);
	}
	return NULL;
}

static void at_once(void)
{
	static const unsigned int types[] = {GRT_EV_SUBMIT, GRT_EV_COMMIT, GRT_EV_END, GRT_EV_COMPLETE};

	know_offsets(true);
	told_at_once(lives, 1000, types, sizeof(types) / sizeof(types[0]));
}

static const struct tap_case cases[] = {
	{"it binds to every tracepoint of the driver, request_in and _out where they are", binds},
	{"a request: SUBMIT, COMMIT, END (inferred), COMPLETE, once each", life},
	{"a request of the driver's own, without a queue: SUBMIT is COMMIT", own},
	{"a request that is retired before its fence is signalled is complete then", retire_first},
	{"a failed request, in an interrupt: ERROR and COMPLETE with the status and the submitter", fails},
	{"a wait for a request", waits},
	{"a request that was queued before tracing began has no events", unknown},
	{"context and seqno have all their 64 bits", numbers},
	{"with offsets: ring, engine and device of each class", engines},
	{"offsets that lead astray: ring and device are unknown", wild},
	{"with request_in and _out: START once, END when completed, not when preempted", preempted},
	{"request_out of which is not known whether it is completed: END comes by the fence", out_unknown},
	{"memory: create, fault, bind, unbind, shrink, destroy", memory},
	{"with offsets: a binding's object, address space and device", bindings},
	{"fences of requests that are not known are left alone", foreign},
	{"four threads at once: every event of every request, once", at_once},
};

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int status;

	if (argc > 2) {
		fprintf(stderr, "Usage: grtrace_i915 [PART OF A TITLE]\n");
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	if (access(OFFSETS, F_OK))
		return tap_skip_all("the stand-in for i915 is not loaded: insmod modules/i915/i915.ko");
	status = tap_run(cases, sizeof(cases) / sizeof(cases[0]), kmod_reset, argv[1]);
	kmod_reset();
	return status;
}
