// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of grtrace_amdgpu.ko, with modules/amdgpu in place of the driver:
 * jobs, interrupts and objects with known numbers, and what is told of them, to
 * the event. TAP version 13; leaves the module stopped, empty and at its
 * defaults.
 *
 *	insmod modules/amdgpu/amdgpu.ko; sudo ./grtrace_amdgpu [PART OF A TITLE]
 *
 * Without modules/amdgpu/gpu_sched.ko the scheduler has no events; with
 * grtrace_drm_bridge.ko each job must be told once all the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kmod.h"
#include "modules/amdgpu/gpu_sched.h"
#include "tap.h"
#include "told.h"

#define OFFSETS "/sys/module/amdgpu/parameters/offsets"

/* Rings of the stand-in. */
#define GFX 0
#define COMP 1
#define SDMA 2
#define FOREIGN 3
#define VCN 4 /* a name only */

/* Ends the case when the stand-in refuses. */
#define PLAY(...)                                                      \
	do {                                                           \
		int err_ = play("amdgpu", __VA_ARGS__);                \
		if (err_) {                                            \
			TAP_FAIL("the stand-in: %s", strerror(-err_)); \
			return;                                        \
		}                                                      \
	} while (0)

/* Ends the case where the scheduler's stand-in is not there. */
#define NEED_SCHEDULER()                                                    \
	do {                                                                \
		if (!scheduler()) {                                         \
			tap_skip("the stand-in for gpu_sched is left out"); \
			return;                                             \
		}                                                           \
	} while (0)

static bool scheduler(void)
{
	return !access("/sys/module/gpu_sched", F_OK);
}

static bool bridge(void)
{
	return !access("/sys/module/grtrace_drm_bridge", F_OK);
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
	if (!taken)
		TAP_FAIL("the module does not take the stand-in's offsets");
	return taken;
}

static void binds(void)
{
	static const char *const points[] = {
		"amdgpu_cs_ioctl", "amdgpu_sched_run_job", "amdgpu_iv",		 "amdgpu_bo_create",
		"amdgpu_bo_move",  "amdgpu_vm_bo_map",	   "amdgpu_vm_bo_unmap", "dma_fence_signaled",
	};
	static const char *const by_scheduler[] = {
		"drm_sched_job",	  "drm_sched_job_queue",   "drm_run_job",
		"drm_sched_job_run",	  "drm_sched_process_job", "drm_sched_job_done",
		"drm_sched_job_wait_dep",
	};
	size_t i;

	CHECK(!strcmp(adapter_word("amdgpu", "bound"), "1"));
	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		if (adapter_has("amdgpu", points[i]) != 1)
			TAP_FAIL("%s is not bound: %s", points[i], adapter_word("amdgpu", ""));
	for (i = 0; scheduler() && i < sizeof(by_scheduler) / sizeof(by_scheduler[0]); i++)
		if (adapter_has("amdgpu", by_scheduler[i]) != 1)
			TAP_FAIL("%s is not bound: %s", by_scheduler[i], adapter_word("amdgpu", ""));
	if (!scheduler())
		CHECK(strstr(adapter_word("amdgpu", "missing"),
			     "drm_sched_job|drm_sched_job_queue:gpu_sched-not-loaded"));
}

static void life_by(unsigned int queue, unsigned int run, unsigned int done)
{
	know_offsets(true);
	PLAY("make 100 1 %d 9", GFX);
	told_begin();
	PLAY("cs_ioctl 100 1");
	PLAY("sched 100 1 %u", queue);
	PLAY("sched 100 1 %u", run);
	PLAY("sched_run_job 100 1");
	PLAY("irq sched 100 1 %u", done);
	PLAY("irq signal 100 1");
	PLAY("free 100 1");
	told("SUBMIT me engine=graphics ctx=100 seqno=1 ring=gfx_0.0.0 cmd=0x9\n"
	     "COMMIT me engine=graphics ctx=100 seqno=1 ring=gfx_0.0.0 sw_depth=10 hw_depth=20\n"
	     "END me engine=graphics ctx=100 seqno=1 ring=gfx_0.0.0\n"
	     "COMPLETE me engine=graphics ctx=100 seqno=1 ring=gfx_0.0.0\n");
}

static void life_old(void)
{
	NEED_SCHEDULER();
	life_by(DRM_SCHED_JOB, DRM_RUN_JOB, DRM_SCHED_PROCESS_JOB);
}

static void life_new(void)
{
	NEED_SCHEDULER();
	life_by(DRM_SCHED_JOB_QUEUE, DRM_SCHED_JOB_RUN, DRM_SCHED_JOB_DONE);
}

static void life_alone(void)
{
	if (scheduler()) {
		tap_skip("the stand-in for gpu_sched is loaded");
		return;
	}
	know_offsets(true);
	PLAY("make 100 1 %d 9", SDMA);
	told_begin();
	PLAY("cs_ioctl 100 1");
	PLAY("sched_run_job 100 1");
	PLAY("irq signal 100 1");
	PLAY("free 100 1");
	told("SUBMIT me engine=copy ctx=100 seqno=1 ring=sdma0 cmd=0x9\n"
	     "COMMIT me engine=copy ctx=100 seqno=1 ring=sdma0 sw_depth=12 hw_depth=22\n"
	     "END me flags=0x1 engine=copy ctx=100 seqno=1 ring=sdma0\n"
	     "COMPLETE me engine=copy ctx=100 seqno=1 ring=sdma0\n");
}

static void own(void)
{
	NEED_SCHEDULER();
	know_offsets(true);
	PLAY("make 101 1 %d 9", COMP);
	told_begin();
	PLAY("sched 101 1 %u", DRM_SCHED_JOB);
	told("SUBMIT me engine=compute ctx=101 seqno=1 ring=comp_1.0.0\n");
	PLAY("signal 101 1");
	PLAY("free 101 1");
}

static void unknown_ibs(void)
{
	NEED_SCHEDULER();
	know_offsets(false);
	PLAY("make 102 1 %d 9", COMP);
	told_begin();
	PLAY("cs_ioctl 102 1");
	PLAY("sched 102 1 %u", DRM_SCHED_JOB);
	told("SUBMIT me engine=compute ctx=102 seqno=1 ring=comp_1.0.0\n");
	PLAY("signal 102 1");
	PLAY("free 102 1");
}

static void numbers(void)
{
	NEED_SCHEDULER();
	know_offsets(false);
	PLAY("make 0x123456789abc 0x1fffffffe %d 0", GFX);
	told_begin();
	PLAY("sched 0x123456789abc 0x1fffffffe %u", DRM_SCHED_JOB);
	PLAY("irq signal 0x123456789abc 0x1fffffffe");
	PLAY("free 0x123456789abc 0x1fffffffe");
	told("SUBMIT me engine=graphics ctx=20015998343868 seqno=8589934590 ring=gfx_0.0.0\n"
	     "COMPLETE me engine=graphics ctx=20015998343868 seqno=8589934590 ring=gfx_0.0.0\n");
}

static void fails(void)
{
	NEED_SCHEDULER();
	know_offsets(false);
	PLAY("make 103 1 %d 0", GFX);
	PLAY("make 103 2 %d 0", GFX);
	told_begin();
	PLAY("sched 103 1 %u", DRM_SCHED_JOB);
	PLAY("sched 103 2 %u", DRM_SCHED_JOB);
	PLAY("fail 103 1 %d", EIO);
	PLAY("fail_hw 103 2 %d", ETIME);
	PLAY("irq signal 103 1");
	PLAY("irq signal 103 2");
	PLAY("free 103 1");
	PLAY("free 103 2");
	told("SUBMIT me engine=graphics ctx=103 seqno=1 ring=gfx_0.0.0\n"
	     "SUBMIT me engine=graphics ctx=103 seqno=2 ring=gfx_0.0.0\n"
	     "ERROR me engine=graphics ctx=103 seqno=1 ring=gfx_0.0.0 status=-5\n"
	     "COMPLETE me engine=graphics ctx=103 seqno=1 ring=gfx_0.0.0 status=-5\n"
	     "ERROR me engine=graphics ctx=103 seqno=2 ring=gfx_0.0.0 status=-62\n"
	     "COMPLETE me engine=graphics ctx=103 seqno=2 ring=gfx_0.0.0\n");
}

static void refused(void)
{
	NEED_SCHEDULER();
	know_offsets(false);
	PLAY("make 109 1 %d 0", GFX);
	PLAY("refuse 109 1");
	told_begin();
	PLAY("sched 109 1 %u", DRM_SCHED_JOB);
	PLAY("sched 109 1 %u", DRM_RUN_JOB);
	PLAY("fail 109 1 %d", ENOMEM);
	PLAY("sched 109 1 %u", DRM_SCHED_PROCESS_JOB);
	PLAY("signal 109 1");
	PLAY("free 109 1");
	told("SUBMIT me engine=graphics ctx=109 seqno=1 ring=gfx_0.0.0\n"
	     "COMMIT me engine=graphics ctx=109 seqno=1 ring=gfx_0.0.0 sw_depth=10 hw_depth=20\n"
	     "ERROR me engine=graphics ctx=109 seqno=1 ring=gfx_0.0.0 status=-12\n"
	     "COMPLETE me engine=graphics ctx=109 seqno=1 ring=gfx_0.0.0 status=-12\n");
}

static void waits(void)
{
	NEED_SCHEDULER();
	know_offsets(false);
	PLAY("make 104 1 %d 0", GFX);
	told_begin();
	PLAY("sched 104 1 %u", DRM_SCHED_JOB);
	PLAY("wait 104 1 1");
	PLAY("irq signal 104 1");
	PLAY("free 104 1");
	told("SUBMIT me engine=graphics ctx=104 seqno=1 ring=gfx_0.0.0\n"
	     "SYNC_WAIT_ENTER me engine=graphics ctx=104 seqno=1 ring=gfx_0.0.0\n"
	     "SYNC_WAIT_EXIT me engine=graphics ctx=104 seqno=1 ring=gfx_0.0.0\n"
	     "COMPLETE me engine=graphics ctx=104 seqno=1 ring=gfx_0.0.0\n");
}

static void dependencies_old(void)
{
	NEED_SCHEDULER();
	know_offsets(false);
	PLAY("make 105 1 %d 0", GFX);
	PLAY("make 105 2 %d 0", GFX);
	PLAY("fence 0 9000 7");
	told_begin();
	PLAY("sched 105 1 %u", DRM_SCHED_JOB);
	PLAY("sched 105 2 %u", DRM_SCHED_JOB);
	PLAY("depend 105 1 %u 0", DRM_SCHED_JOB_WAIT_DEP);
	PLAY("depend 105 2 %u 0", DRM_SCHED_JOB_WAIT_DEP);
	PLAY("follow 105 2 %u 105 1", DRM_SCHED_JOB_WAIT_DEP);
	PLAY("irq signal_fence 0");
	PLAY("depend 105 2 %u 0", DRM_SCHED_JOB_WAIT_DEP);
	PLAY("signal 105 1");
	told("SUBMIT me engine=graphics ctx=105 seqno=1 ring=gfx_0.0.0\n"
	     "SUBMIT me engine=graphics ctx=105 seqno=2 ring=gfx_0.0.0\n"
	     "WAIT_DEP me engine=graphics ctx=105 seqno=1 ring=gfx_0.0.0 dep_ctx=9000 dep_seqno=7\n"
	     "WAIT_DEP me engine=graphics ctx=105 seqno=2 ring=gfx_0.0.0 dep_ctx=9000 dep_seqno=7\n"
	     "WAIT_DEP me engine=graphics ctx=105 seqno=2 ring=gfx_0.0.0 dep_ctx=105 dep_seqno=1\n"
	     "FENCE ctx=9000 seqno=7 waiters=2\n"
	     "WAIT_DEP me flags=0x10 engine=graphics ctx=105 seqno=2 ring=gfx_0.0.0 dep_ctx=9000 "
	     "dep_seqno=7\n"
	     "COMPLETE me engine=graphics ctx=105 seqno=1 ring=gfx_0.0.0\n");
	PLAY("signal 105 2");
	PLAY("free 105 1");
	PLAY("free 105 2");
}

static void dependencies_new(void)
{
	NEED_SCHEDULER();
	know_offsets(false);
	PLAY("make 106 1 %d 0", GFX);
	PLAY("fence 0 9001 7");
	PLAY("fence 1 9002 8");
	PLAY("signal_fence 1");
	told_begin();
	PLAY("sched 106 1 %u", DRM_SCHED_JOB_QUEUE);
	PLAY("depend 106 1 %u 0", DRM_SCHED_JOB_ADD_DEP);
	PLAY("depend 106 1 %u 1", DRM_SCHED_JOB_ADD_DEP);
	PLAY("depend 106 1 %u 0", DRM_SCHED_JOB_UNSCHEDULABLE);
	PLAY("signal_fence 0");
	told("SUBMIT me engine=graphics ctx=106 seqno=1 ring=gfx_0.0.0\n"
	     "WAIT_DEP me flags=0x10 engine=graphics ctx=106 seqno=1 ring=gfx_0.0.0 dep_ctx=9002 "
	     "dep_seqno=8\n"
	     "WAIT_DEP me engine=graphics ctx=106 seqno=1 ring=gfx_0.0.0 dep_ctx=9001 dep_seqno=7\n"
	     "FENCE ctx=9001 seqno=7 waiters=1\n");
	PLAY("signal 106 1");
	PLAY("free 106 1");
}

/* A scheduler that is freed gives its address to another one. */
static void renamed(void)
{
	NEED_SCHEDULER();
	know_offsets(false);
	PLAY("make 107 1 %d 0", GFX);
	PLAY("make 107 2 %d 0", GFX);
	PLAY("make 107 3 %d 0", GFX);
	told_begin();
	PLAY("sched 107 1 %u", DRM_SCHED_JOB);
	PLAY("rename %d %d", GFX, VCN);
	PLAY("sched 107 2 %u", DRM_SCHED_JOB);
	PLAY("rename %d %d", GFX, GFX);
	PLAY("sched 107 3 %u", DRM_SCHED_JOB);
	told("SUBMIT me engine=graphics ctx=107 seqno=1 ring=gfx_0.0.0\n"
	     "SUBMIT me engine=video_decode ctx=107 seqno=2 ring=vcn_dec_0\n"
	     "SUBMIT me engine=graphics ctx=107 seqno=3 ring=gfx_0.0.0\n");
	PLAY("signal 107 1");
	PLAY("signal 107 2");
	PLAY("signal 107 3");
	PLAY("free 107 1");
	PLAY("free 107 2");
	PLAY("free 107 3");
}

static void foreign(void)
{
	NEED_SCHEDULER();
	know_offsets(false);
	PLAY("make 108 1 %d 0", FOREIGN);
	told_begin();
	PLAY("sched 108 1 %u", DRM_SCHED_JOB);
	PLAY("sched 108 1 %u", DRM_RUN_JOB);
	PLAY("irq sched 108 1 %u", DRM_SCHED_PROCESS_JOB);
	PLAY("irq signal 108 1");
	PLAY("free 108 1");
	told(!bridge() ? ""
		       : "SUBMIT me engine=graphics ctx=108 seqno=1 ring=v3d_bin\n"
			 "COMMIT me engine=graphics ctx=108 seqno=1 ring=v3d_bin sw_depth=13 hw_depth=23\n"
			 "END me engine=graphics ctx=108 seqno=1 ring=v3d_bin\n"
			 "COMPLETE me engine=graphics ctx=108 seqno=1 ring=v3d_bin\n");
}

static void interrupts(void)
{
	CHECK_EQ(kmod_config("level=verbose"), 0);
	know_offsets(false);
	told_begin();
	PLAY("irq iv 20 181 36 3 32771 0xbeef");
	told("IRQ source=4294967295 data=0xffffffff hw_ring=65535 vmid=65535 pasid=4294967295\n");
	know_offsets(true);
	told_begin();
	PLAY("irq iv 20 181 36 3 32771 0xbeef");
	PLAY("irq iv 0 0 0 0 0 0");
	told("IRQ source=1310901 data=0xbeef hw_ring=36 vmid=3 pasid=32771\n"
	     "IRQ\n");
}

static void memory(void)
{
	know_offsets(true);
	told_begin();
	PLAY("create 0 8192 4 6 0x21 2");
	PLAY("create 1 0x100000000 2 2 0 1");
	PLAY("move 0 1 2");
	PLAY("map 1 0x100 0x101 5");
	PLAY("unmap 1");
	told("MEM_CREATE me device=5 object=A bytes=8192 wanted=0x4 allowed=0x6 placed=2 mflags=0x21\n"
	     "MEM_CREATE me device=5 object=B bytes=4294967296 wanted=0x2 allowed=0x2 placed=1\n"
	     "MEM_MOVE me device=5 object=A bytes=8192 from=2 to=1\n"
	     "MEM_BIND me device=5 object=B vm=C offset=0x100000 bytes=8192 mflags=0x5\n"
	     "MEM_UNBIND me device=5 object=B vm=C offset=0x100000 bytes=8192\n");
}

static void memory_unknown(void)
{
	know_offsets(false);
	told_begin();
	PLAY("create 0 8192 4 6 0x21 2");
	PLAY("move 0 1 2");
	PLAY("map 0 0x100 0x101 5");
	PLAY("unmap 0");
	told("MEM_CREATE me object=A placed=4294967295\n"
	     "MEM_MOVE me object=A from=2 to=1\n"
	     "MEM_BIND me\n"
	     "MEM_UNBIND me\n");
}

static void wild(void)
{
	know_offsets(true);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_bo.tbo.base.dev 1048576 8"), 0);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_bo.tbo.resource 8 4"), 0);
	told_begin();
	PLAY("create 0 8192 4 6 0x21 2");
	told("MEM_CREATE me object=A bytes=8192 wanted=0x4 allowed=0x6 placed=4294967295 mflags=0x21\n");
}

static void refusals(void)
{
	static char before[16384], after[16384];

	know_offsets(true);
	CHECK(kmod_read("offsets", before, sizeof(before)) > 0);
	CHECK(!strstr(before, " - -"));
	CHECK_EQ(kmod_write("offsets", "radeon amdgpu_job.num_ibs 8 4"), -ENODEV);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_job.num_ib 8 4"), -ENOENT);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_job 8 4"), -ENOENT);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_job.num_ibs 8"), -EINVAL);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_job.num_ibs - 4"), -EINVAL);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_job.num_ibs 8 4 4"), -EINVAL);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_job.num_ibs 1048577 4"), -ERANGE);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_job.num_ibs 8 0"), -ERANGE);
	CHECK_EQ(kmod_write("offsets", "amdgpu amdgpu_job.num_ibs 8 256"), -ERANGE);
	CHECK_EQ(kmod_write("offsets", ""), -EINVAL);
	CHECK(kmod_read("offsets", after, sizeof(after)) > 0);
	CHECK(!strcmp(before, after));
}

static void *lives(void *arg)
{
	int ctx = *(int *)arg, i;

	for (i = 1; i <= TOLD_EACH; i++) {
		play("amdgpu", "make %d %d %d 3", ctx, i, i % 3);
		play("amdgpu", "cs_ioctl %d %d", ctx, i);
		play("amdgpu", "sched %d %d %d", ctx, i, DRM_SCHED_JOB);
		play("amdgpu", "sched %d %d %d", ctx, i, DRM_RUN_JOB);
		play("amdgpu", "sched_run_job %d %d", ctx, i);
		play("amdgpu", "irq sched %d %d %d", ctx, i, DRM_SCHED_PROCESS_JOB);
		play("amdgpu", "irq signal %d %d", ctx, i);
		play("amdgpu", "free %d %d", ctx, i);
	}
	return NULL;
}

static void at_once(void)
{
	static const unsigned int types[] = {GRT_EV_SUBMIT, GRT_EV_COMMIT, GRT_EV_END, GRT_EV_COMPLETE};

	know_offsets(true);
	told_at_once(lives, 1000, types, sizeof(types) / sizeof(types[0]));
	CHECK(!strcmp(adapter_word("amdgpu", "unmatched"), "0"));
}

static const struct tap_case cases[] = {
	{"it binds to every tracepoint of the driver and the scheduler, and says which are not there", binds},
	{"a job under the scheduler's old names: each event once, done and signalled in interrupts",
	 life_old},
	{"a job under its new names", life_new},
	{"without the scheduler's events the driver's own tell of a job, END is inferred", life_alone},
	{"a job of the driver's own, which no ioctl submitted, has no command", own},
	{"without offsets the number of IBs is not known", unknown_ibs},
	{"context and seqno have all their 64 bits", numbers},
	{"a job that failed: ERROR also where only the hardware's fence says so", fails},
	{"a job that the driver refused has no END", refused},
	{"a wait for a job", waits},
	{"dependencies under the old names, and the fence that two jobs waited for", dependencies_old},
	{"dependencies under the new names: one that is open is told when it holds the job up",
	 dependencies_new},
	{"a scheduler at the address of another one is a ring of its own", renamed},
	{"a job of a driver without adapter is the bridge's, if it is loaded", foreign},
	{"interrupts, without and with offsets", interrupts},
	{"memory: create, move, map, unmap", memory},
	{"memory without offsets: unknown members are not reported", memory_unknown},
	{"offsets that lead astray: the field is not known", wild},
	{"lines of `offsets` that are wrong are refused and change nothing", refusals},
	{"four threads at once: every event of every job, once", at_once},
};

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int status;

	if (argc > 2) {
		fprintf(stderr, "Usage: grtrace_amdgpu [PART OF A TITLE]\n");
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	if (access(OFFSETS, F_OK))
		return tap_skip_all("the stand-in for amdgpu is not loaded: insmod modules/amdgpu/amdgpu.ko");
	status = tap_run(cases, sizeof(cases) / sizeof(cases[0]), kmod_reset, argv[1]);
	kmod_reset();
	return status;
}
