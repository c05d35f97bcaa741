// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of grtrace_nvidia.ko, with one of modules/nvidia_* in place of the
 * driver: channel groups with known handles, and what is told of them, to the
 * event. TAP version 13; leaves the module stopped, empty and at its defaults.
 *
 *	insmod modules/nvidia_580/nvidia.ko; sudo ./grtrace_nvidia [PART OF A TITLE]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kmod.h"
#include "tap.h"
#include "told.h"

#define VERSION "/sys/module/nvidia/version"
/* The adapter does not read them. */
#define NO_SUBCONTEXT " subctx=0xffffffff veid=4294967295"

/* Ends the case when the stand-in refuses. */
#define PLAY(...)                                                      \
	do {                                                           \
		int err_ = play("nvidia", __VA_ARGS__);                \
		if (err_) {                                            \
			TAP_FAIL("the stand-in: %s", strerror(-err_)); \
			return;                                        \
		}                                                      \
	} while (0)

static unsigned int branch(void)
{
	char text[32] = "";
	FILE *f = fopen(VERSION, "re");

	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = 0;
		fclose(f);
	}
	return strtoul(text, NULL, 10);
}

static void binds(void)
{
	static const char *const functions[] = {
		"kchangrpInit_IMPL",
		"kchangrpapiConstruct_IMPL",
		"kchangrpDestroy_IMPL",
		"kchangrpapiDestruct_IMPL",
		"kchangrpapiCtrlCmdGpFifoSchedule_IMPL",
		"kchannelCtrlCmdGpFifoSchedule_IMPL",
		"kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL",
		"kchangrpAddChannel_IMPL",
		"kchangrpRemoveChannel_IMPL",
		"kchangrpapiCtrlCmdSetTimeslice_IMPL",
		"kchangrpapiCtrlCmdSetInterleaveLevel_IMPL",
	};
	char layout[32];
	size_t i;

	CHECK(!strcmp(adapter_word("nvidia", "bound"), "1"));
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (adapter_has("nvidia", functions[i]) != 1)
			TAP_FAIL("%s is not probed: %s", functions[i], adapter_word("nvidia", ""));
	snprintf(layout, sizeof(layout), "%u.", branch());
	CHECK(!strncmp(adapter_word("nvidia", "layout"), layout, strlen(layout)));
}

static void life(void)
{
	told_begin();
	PLAY("construct 0 0xc1d00019 0x5c000012 1");
	PLAY("add 0 0 0x5c000013 21");
	PLAY("add 0 1 0x5c000014 22");
	PLAY("token 0");
	PLAY("timeslice 0 2000");
	PLAY("schedule 0 1");
	PLAY("interleave 0 2");
	PLAY("schedule 0 0");
	PLAY("remove 0 1");
	PLAY("remove 0 0");
	PLAY("destruct 0");
	told("TSG_INIT me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7 nv_engine=0x1"
	     " timeslice=1024 interleave=1\n"
	     "TSG_CHANNEL me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 channel=0x5c000013 channel_client=0xc1d00019 chid=21 channels=1 bound=1" NO_SUBCONTEXT "\n"
	     "TSG_CHANNEL me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 channel=0x5c000014 channel_client=0xc1d00019 chid=22 channels=2 bound=1" NO_SUBCONTEXT "\n"
	     "TSG_TOKEN me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 channel=0x5c000013 channel_client=0xc1d00019 chid=21 token=0x70015\n"
	     "TSG_SET me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 timeslice=2000 interleave=4294967295\n"
	     "TSG_SCHEDULE me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 timeslice=2000 interleave=1 channels=2 chid=4294967295 on=1\n"
	     "TSG_SET me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 interleave=2\n"
	     "TSG_SCHEDULE me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 timeslice=2000 interleave=2 channels=2 chid=4294967295\n"
	     "TSG_CHANNEL me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 channel=0x5c000014 channel_client=0xc1d00019 chid=22 channels=1" NO_SUBCONTEXT "\n"
	     "TSG_CHANNEL me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 channel=0x5c000013 channel_client=0xc1d00019 chid=21" NO_SUBCONTEXT "\n"
	     "TSG_DESTROY me engine=graphics client=0xc1d00019 tsg=0x5c000012 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1\n");
}

static void alone(void)
{
	told_begin();
	PLAY("construct 1 0xc1d00020 0x10 9");
	PLAY("add 1 0 0x11 3");
	PLAY("schedule_channel 0 1");
	told("TSG_INIT me engine=copy client=0xc1d00020 tsg=0x10 bus=0x1c6c8 grp=17 runlist=7 nv_engine=0x9"
	     " timeslice=1024 interleave=1\n"
	     "TSG_CHANNEL me engine=copy client=0xc1d00020 tsg=0x10 bus=0x1c6c8 grp=17 runlist=7 nv_engine=0x9"
	     " channel=0x11 channel_client=0xc1d00020 chid=3 channels=1 bound=1" NO_SUBCONTEXT "\n"
	     "TSG_SCHEDULE me engine=copy client=0xc1d00020 tsg=0x10 bus=0x1c6c8 grp=17 runlist=7 nv_engine=0x9"
	     " timeslice=1024 interleave=1 channels=1 channel=0x11 channel_client=0xc1d00020 chid=3 on=1\n");
}

static void internal(void)
{
	told_begin();
	PLAY("init 2 10");
	PLAY("destroy 2");
	told("TSG_INIT me engine=copy bus=0x1c6c8 grp=18 runlist=7 nv_engine=0xa timeslice=1024\n"
	     "TSG_DESTROY me engine=copy bus=0x1c6c8 grp=18 runlist=7 nv_engine=0xa\n");
}

static void refused_calls(void)
{
	told_begin();
	PLAY("construct 0 0xc1d00021 0x20 1");
	PLAY("fail 0 0x1b");
	PLAY("schedule 0 1");
	PLAY("fail 0 0x1f");
	PLAY("timeslice 0 5");
	PLAY("fail 0 0x40");
	PLAY("add 0 0 0x21 4");
	PLAY("fail 0 0x40");
	PLAY("token 0");
	told("TSG_INIT me engine=graphics client=0xc1d00021 tsg=0x20 bus=0x1c6c8 grp=16 runlist=7 nv_engine=0x1"
	     " timeslice=1024 interleave=1\n"
	     "TSG_SCHEDULE me engine=graphics client=0xc1d00021 tsg=0x20 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 timeslice=1024 interleave=1 status=0x1b chid=4294967295 on=1\n"
	     "TSG_SET me engine=graphics client=0xc1d00021 tsg=0x20 bus=0x1c6c8 grp=16 runlist=7 nv_engine=0x1"
	     " timeslice=5 interleave=4294967295 status=0x1f\n"
	     "TSG_TOKEN me engine=graphics client=0xc1d00021 tsg=0x20 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 channel=0x21 channel_client=0xc1d00021 chid=4 status=0x40\n");
}

static void not_made(void)
{
	told_begin();
	PLAY("fail 0x51 0");
	PLAY("construct 0 0xc1d00022 0x30 1");
	PLAY("fail 0 0x1f");
	PLAY("construct 0 0xc1d00022 0x31 1");
	told("TSG_INIT me engine=graphics client=0xc1d00022 tsg=0x30 bus=0x1c6c8 grp=4294967295 runlist=4294967295"
	     " nv_engine=0x1 interleave=4294967295 status=0x51\n"
	     "TSG_INIT me engine=graphics client=0xc1d00022 tsg=0x31 bus=0x1c6c8 grp=16 runlist=7 nv_engine=0x1"
	     " timeslice=1024 status=0x1f\n");
}

static void engine_names(void)
{
	/* RM_ENGINE_TYPE: NVDEC0, NVENC1; from VP on the numbers are another by branch: NVJPEG1, OFA0 */
	unsigned int vp = branch() < 550 ? 0x28 : 0x29;

	told_begin();
	PLAY("init 0 0x1d");
	PLAY("init 0 0x26");
	PLAY("init 0 %u", vp + 14);
	PLAY("init 0 %u", vp + 21);
	PLAY("init 0 0x12");
	PLAY("init 0 0");
	told("TSG_INIT me engine=video_decode bus=0x1c6c8 grp=16 runlist=7 nv_engine=0x13 timeslice=1024\n"
	     "TSG_INIT me engine=video_encode bus=0x1c6c8 grp=16 runlist=7 nv_engine=0x1c timeslice=1024\n"
	     "TSG_INIT me engine=video_decode bus=0x1c6c8 grp=16 runlist=7 nv_engine=0x2c timeslice=1024\n"
	     "TSG_INIT me engine=video_enhance bus=0x1c6c8 grp=16 runlist=7 nv_engine=0x33 timeslice=1024\n"
	     "TSG_INIT me engine=copy bus=0x1c6c8 grp=16 runlist=7 nv_engine=0x12 timeslice=1024\n"
	     "TSG_INIT me bus=0x1c6c8 grp=16 runlist=7 timeslice=1024\n");
}

static void odd_layout(void)
{
	unsigned long before = strtoul(adapter_word("nvidia", "unmatched"), NULL, 10);

	told_begin();
	PLAY("odd 1");
	PLAY("construct 3 0xc1d00023 0x40 1");
	PLAY("odd 0");
	told("");
	CHECK_EQ(strtoul(adapter_word("nvidia", "unmatched"), NULL, 10), before + 1);
}

/* A build of the driver without checks: its groups are eight bytes shorter, which is found out by itself. */
static void release_build(void)
{
	if (branch() >= 575) {
		tap_skip("this branch is built in one way only");
		return;
	}
	told_begin();
	PLAY("shift 8");
	PLAY("construct 3 0xc1d00024 0x50 1");
	PLAY("shift 0");
	PLAY("construct 3 0xc1d00024 0x51 1");
	told("TSG_INIT me engine=graphics client=0xc1d00024 tsg=0x50 bus=0x1c6c8 grp=19 runlist=7 nv_engine=0x1"
	     " timeslice=1024 interleave=1\n"
	     "TSG_INIT me engine=graphics client=0xc1d00024 tsg=0x51 bus=0x1c6c8 grp=19 runlist=7 nv_engine=0x1"
	     " timeslice=1024 interleave=1\n");
}

static void stopped(void)
{
	PLAY("construct 0 0xc1d00025 0x60 1");
	told_begin();
	PLAY("schedule 0 1");
	told("TSG_SCHEDULE me engine=graphics client=0xc1d00025 tsg=0x60 bus=0x1c6c8 grp=16 runlist=7"
	     " nv_engine=0x1 timeslice=1024 interleave=1 chid=4294967295 on=1\n");
}

#define THREADS 4
#define EACH 200

static void *lives(void *arg)
{
	int group = *(int *)arg, i;

	for (i = 0; i < EACH; i++) {
		play("nvidia", "construct %d %d %d 1", group, 100 + group, i + 1);
		play("nvidia", "schedule %d 1", group);
		play("nvidia", "destruct %d", group);
	}
	return NULL;
}

/* Each group's events have its own thread and handles, in their order. */
static bool in_order(const struct capture *c)
{
	int next[THREADS] = {0}, tsg[THREADS] = {0};
	const struct grt_packet *p = NULL;
	const struct grt_event *e;

	/* one CPU's stream after the other: only counts and handles can be looked at */
	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			const struct grt_ev_tsg_init *t = (const void *)e;

			if (e->type < GRT_EV_TSG_INIT || e->type > GRT_EV_TSG_DESTROY)
				continue;
			if (t->client < 100 || t->client >= 100 + THREADS || t->tsg > EACH || !t->tsg ||
			    t->grp != 16 + t->client - 100)
				return false;
			next[t->client - 100]++;
			tsg[t->client - 100] += t->tsg;
		}
	for (int i = 0; i < THREADS; i++)
		if (next[i] != 3 * EACH || tsg[i] != 3 * EACH * (EACH + 1) / 2)
			return false;
	return true;
}

static void at_once(void)
{
	struct capture c = {0};
	pthread_t thread[THREADS];
	int group[THREADS], i;

	told_begin();
	kmod_unpin();
	for (i = 0; i < THREADS; i++) {
		group[i] = i;
		CHECK(!pthread_create(&thread[i], NULL, lives, &group[i]));
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(capture_file(&c, "trace_pipe"), 0);
	if (!capture_valid(&c))
		return;
	CHECK_EQ(capture_count(&c, GRT_EV_TSG_INIT), THREADS * EACH);
	CHECK_EQ(capture_count(&c, GRT_EV_TSG_SCHEDULE), THREADS * EACH);
	CHECK_EQ(capture_count(&c, GRT_EV_TSG_DESTROY), THREADS * EACH);
	CHECK(in_order(&c));
	capture_free(&c);
}

static void is_refused(void)
{
	char why[64];

	snprintf(why, sizeof(why), "driver_version_not_known_%u.", branch());
	if (strncmp(adapter_word("nvidia", "refused"), why, strlen(why)))
		TAP_FAIL("it does not say why: %s", adapter_word("nvidia", ""));
	CHECK_EQ(adapter_has("nvidia", "kchangrpInit_IMPL"), 0);
}

static void nothing_told(void)
{
	told_begin();
	PLAY("construct 0 0xc1d00019 0x5c000012 1");
	PLAY("schedule 0 1");
	PLAY("destruct 0");
	told("");
}

static const struct tap_case known[] = {
	{"it probes every function of the driver, by the structs of its branch", binds},
	{"a group: made, channels, token, timeslice, scheduled, interleave, taken off, gone", life},
	{"a channel that is scheduled alone", alone},
	{"a group of the driver's own has no handles", internal},
	{"calls that the driver refuses, with its status", refused_calls},
	{"a group that cannot be made: TSG_INIT with the status, no TSG_DESTROY", not_made},
	{"engines by their numbers in this branch", engine_names},
	{"a group with another layout is counted, and has no event", odd_layout},
	{"a driver that was built without checks", release_build},
	{"a group that was made before tracing began", stopped},
	{"four threads at once: every event of every group, once, with its handles", at_once},
};

static const struct tap_case unknown[] = {
	{"a driver of an unknown branch is refused, with the reason", is_refused},
	{"it has no event", nothing_told},
};

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int status;

	if (argc > 2) {
		fprintf(stderr, "Usage: grtrace_nvidia [PART OF A TITLE]\n");
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	if (!branch())
		return tap_skip_all(
			"the stand-in for nvidia is not loaded: insmod modules/nvidia_580/nvidia.ko");
	if (branch() == 999)
		status = tap_run(unknown, sizeof(unknown) / sizeof(unknown[0]), kmod_reset, argv[1]);
	else
		status = tap_run(known, sizeof(known) / sizeof(known[0]), kmod_reset, argv[1]);
	kmod_reset();
	return status;
}
