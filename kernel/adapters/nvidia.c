// SPDX-License-Identifier: GPL-2.0
/*
 * nvidia: channel groups (TSG), by probes on functions of NVIDIA's open module.
 *
 *	kchangrpInit_IMPL                           TSG_INIT. Within
 *	kchangrpapiConstruct_IMPL                   this it comes when that
 *						    returns: only then is the
 *						    interleave level final
 *	kchangrpapiCtrlCmdGpFifoSchedule_IMPL,
 *	kchannelCtrlCmdGpFifoSchedule_IMPL          TSG_SCHEDULE
 *	kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL    TSG_TOKEN
 *	kchangrpapiCtrlCmdSetTimeslice_IMPL,
 *	kchangrpapiCtrlCmdSetInterleaveLevel_IMPL   TSG_SET
 *	kchangrpAddChannel_IMPL, _RemoveChannel_    TSG_CHANNEL
 *	kchangrpDestroy_IMPL                        TSG_DESTROY; the handles are
 *	kchangrpapiDestruct_IMPL                    those of this, around it
 *
 * Each event is reported when the function returns, with its status. The functions
 * and their arguments are the same in the branches 535 to 595 (src/nvidia,
 * kernel/gpu/fifo); they have no place for the function tracer, so only a probe
 * by breakpoint reaches them, and its handler runs as in an NMI: it takes the
 * arguments, no more.
 *
 * Where what lies in the driver's structs changes with the branch: a table has
 * it, compiled from the driver's headers with its own flags. A branch that is
 * not in the table is refused. The proprietary module has other names.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include <grtrace/tsg.h>

#include "../core/grtrace.h"

#define DRIVER "nvidia"

#define UNKNOWN 0xffffffffU

/*
 * Most simultaneous calls of one function, and of functions that contain others; further calls are
 * counted.
 */
#define CALLS 64

#define INTERLEAVE_LOW	0
#define INTERLEAVE_HIGH 2

/**
 * struct layout - offsets of members in the driver's structs, in bytes
 * @branch, @from: the first version with this layout, such as 580.65; it holds up to the next row
 *	of the branch. If there are several rows for one version, the first group decides which one
 *	is right: up to 570, the public source requests a build with checks, which makes groups
 *	longer
 * @vp: RM_ENGINE_TYPE_VP, from which on the numbers of engines differ
 * @grp: KernelChannelGroup.grpID; runlistId, chanCount, engineType follow it
 * @timeslice: KernelChannelGroup.timesliceUs
 * @interleave: KernelChannelGroup.pInterleaveLevel
 * @api_kcg: KernelChannelGroupApi.pKernelChannelGroup
 * @ref: pResourceRef in KernelChannelGroupApi and KernelChannel
 * @gpu: pGpu in the same
 * @kc_api: KernelChannel.pKernelChannelGroupApi, directly after runlistId and ChID
 * @gpu_id: OBJGPU.gpuId
 * @client: RsClient.hClient
 */
struct layout {
	u16 branch;
	u16 from;
	u8 vp;
	u16 grp;
	u16 timeslice;
	u16 interleave;
	u16 api_kcg;
	u16 ref;
	u16 gpu;
	u16 kc_api;
	u16 gpu_id;
	u16 client;
};

/* The same in all layouts. */
#define GRP_RUNLIST	4
#define GRP_CHANNELS	8
#define GRP_ENGINE	12
#define KC_API_CHID	(-4)
#define REF_CLIENT	0
#define REF_HANDLE	16
#define PARAMS_CLIENT	0	/* RS_RES_ALLOC_PARAMS_INTERNAL.hClient */
#define PARAMS_RESOURCE 8	/* .hResource */

static const struct layout layouts[] = {
	/* version, VP, the group, its handle, the channel, GPU, client */
	{ 535, 43, 0x28, 216, 264, 320, 1160, 240, 744, 1744, 980, 160 },
	{ 535, 43, 0x28, 208, 256, 312, 1160, 240, 744, 1744, 980, 160 },
	{ 535, 113, 0x28, 216, 264, 320, 1160, 240, 744, 1744, 988, 160 },
	{ 535, 113, 0x28, 208, 256, 312, 1160, 240, 744, 1744, 988, 160 },
	{ 535, 129, 0x28, 216, 264, 320, 1160, 240, 744, 1744, 1012, 160 },
	{ 535, 129, 0x28, 208, 256, 312, 1160, 240, 744, 1744, 1012, 160 },
	{ 535, 146, 0x28, 216, 264, 320, 1160, 240, 744, 1744, 1020, 160 },
	{ 535, 146, 0x28, 208, 256, 312, 1160, 240, 744, 1744, 1020, 160 },
	{ 535, 161, 0x28, 216, 264, 320, 1160, 240, 744, 1744, 1004, 160 },
	{ 535, 161, 0x28, 208, 256, 312, 1160, 240, 744, 1744, 1004, 160 },
	{ 545, 23, 0x28, 216, 264, 320, 1160, 240, 744, 1744, 996, 160 },
	{ 545, 23, 0x28, 208, 256, 312, 1160, 240, 744, 1744, 996, 160 },
	{ 550, 54, 0x29, 216, 264, 320, 1160, 240, 744, 1768, 1260, 160 },
	{ 550, 54, 0x29, 208, 256, 312, 1160, 240, 744, 1768, 1260, 160 },
	{ 550, 76, 0x29, 216, 264, 320, 1160, 240, 744, 1784, 1260, 160 },
	{ 550, 76, 0x29, 208, 256, 312, 1160, 240, 744, 1784, 1260, 160 },
	{ 550, 90, 0x29, 216, 264, 320, 1160, 240, 744, 1784, 1268, 160 },
	{ 550, 90, 0x29, 208, 256, 312, 1160, 240, 744, 1784, 1268, 160 },
	{ 555, 42, 0x29, 216, 264, 320, 1152, 240, 744, 1624, 1228, 168 },
	{ 555, 42, 0x29, 208, 256, 312, 1152, 240, 744, 1624, 1228, 168 },
	{ 560, 28, 0x29, 216, 264, 320, 1152, 240, 744, 1624, 1412, 168 },
	{ 560, 28, 0x29, 208, 256, 312, 1152, 240, 744, 1624, 1412, 168 },
	{ 565, 57, 0x29, 216, 264, 320, 472, 128, 264, 848, 1556, 80 },
	{ 565, 57, 0x29, 208, 256, 312, 472, 128, 264, 848, 1556, 80 },
	{ 570, 86, 0x29, 216, 312, 368, 480, 128, 264, 856, 1604, 80 },
	{ 570, 86, 0x29, 208, 296, 352, 480, 128, 264, 856, 1604, 80 },
	{ 575, 51, 0x29, 208, 296, 352, 448, 96, 232, 800, 1620, 72 },
	{ 580, 65, 0x29, 240, 328, 384, 312, 96, 232, 656, 1892, 72 },
	{ 590, 44, 0x29, 240, 328, 384, 312, 96, 232, 656, 1932, 72 },
	{ 595, 44, 0x29, 240, 328, 384, 312, 96, 232, 696, 1964, 72 },
};

/* NULL: the driver is not loaded, or was refused. */
static const struct layout *layout;
static char refused[96];

/* RM_ENGINE_TYPE, which the structs have, to NV2080_ENGINE_TYPE, which programs know. */
static const struct {
	u8 first;
	u8 count;
	u8 nv;
	bool above_vp;	/* @first is counted from VP */
} engine_numbers[] = {
	{ 0x01, 18, 0x01 },	/* GR0..7, COPY0..9 */
	{ 0x13, 10, 0x34 },	/* COPY10..19 */
	{ 0x1d, 8, 0x13 },	/* NVDEC0..7 */
	{ 0x25, 3, 0x1b },	/* NVENC0..2 */
	{ 0, 7, 0x1e, true },	/* VP, ME, PPP, MPEG, SW, TSEC, VIC */
	{ 8, 1, 0x26, true },	/* SEC2 */
	{ 13, 8, 0x2b, true },	/* NVJPEG0..7 */
	{ 21, 1, 0x33, true },	/* OFA0 */
	{ 22, 1, 0x3e, true },	/* OFA1 */
	{ 0x28, 1, 0x3f },	/* NVENC3, if VP follows it */
};

static const struct {
	u8 first;
	u8 last;
	u8 engine;
} engines[] = {
	{ 0x01, 0x08, GRT_ENGINE_GRAPHICS },
	{ 0x09, 0x12, GRT_ENGINE_COPY },
	{ 0x13, 0x1a, GRT_ENGINE_VIDEO_DECODE },
	{ 0x1b, 0x1d, GRT_ENGINE_VIDEO_ENCODE },
	{ 0x2b, 0x32, GRT_ENGINE_VIDEO_DECODE },
	{ 0x33, 0x33, GRT_ENGINE_VIDEO_ENHANCE },
	{ 0x34, 0x3d, GRT_ENGINE_COPY },
	{ 0x3e, 0x3e, GRT_ENGINE_VIDEO_ENHANCE },
	{ 0x3f, 0x3f, GRT_ENGINE_VIDEO_ENCODE },
};

static u32 grt_nvidia_nv_engine_of(u32 rm)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(engine_numbers); i++) {
		u32 first = engine_numbers[i].first + (engine_numbers[i].above_vp ? layout->vp : 0);

		if (rm >= first && rm - first < engine_numbers[i].count)
			return engine_numbers[i].nv + rm - first;
	}
	return 0;
}

static u8 grt_nvidia_engine_of(u32 nv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(engines); i++)
		if (nv >= engines[i].first && nv <= engines[i].last)
			return engines[i].engine;
	return GRT_ENGINE_UNKNOWN;
}

static u32 grt_nvidia_read_u32(const void *object, int offset, u32 unknown)
{
	u32 value;

	return object && !grtrace_peek(&value, object + offset, sizeof(value)) ? value : unknown;
}

static u64 grt_nvidia_read_u64(const void *object, int offset)
{
	u64 value;

	return object && !grtrace_peek(&value, object + offset, sizeof(value)) ? value : 0;
}

static const void *grt_nvidia_read_pointer(const void *object, int offset)
{
	return (const void *)(unsigned long)grt_nvidia_read_u64(object, offset);
}

/* gpuId is domain << 16 | bus << 8 | device. */
static u32 grt_nvidia_bus_of(const void *gpu)
{
	u32 id = grt_nvidia_read_u32(gpu, layout->gpu_id, 0);

	return (id & ~0xffU) | (id & 0x1f) << 3;
}

static u32 grt_nvidia_handle_of(const void *resource)
{
	return grt_nvidia_read_u32(grt_nvidia_read_pointer(resource, layout->ref), REF_HANDLE, 0);
}

static u32 grt_nvidia_client_of(const void *resource)
{
	return grt_nvidia_read_u32(
		grt_nvidia_read_pointer(grt_nvidia_read_pointer(resource, layout->ref), REF_CLIENT),
		layout->client, 0);
}

static void grt_nvidia_take_group(struct grt_tsg_event *t, const void *kcg)
{
	t->grp = grt_nvidia_read_u32(kcg, layout->grp, UNKNOWN);
	t->runlist = grt_nvidia_read_u32(kcg, layout->grp + GRP_RUNLIST, UNKNOWN);
	t->nv_engine = grt_nvidia_nv_engine_of(grt_nvidia_read_u32(kcg, layout->grp + GRP_ENGINE, 0));
	t->e.engine = grt_nvidia_engine_of(t->nv_engine);
	t->e.ring = GRT_RING_NONE;
}

static u32 grt_nvidia_interleave_of(const void *kcg)
{
	return grt_nvidia_read_u32(grt_nvidia_read_pointer(kcg, layout->interleave), 0, UNKNOWN);
}

/* Return: the KernelChannelGroup */
static const void *grt_nvidia_take_api(struct grt_tsg_event *t, const void *api)
{
	const void *kcg = grt_nvidia_read_pointer(api, layout->api_kcg);

	t->client = grt_nvidia_client_of(api);
	t->tsg = grt_nvidia_handle_of(api);
	t->bus = grt_nvidia_bus_of(grt_nvidia_read_pointer(api, layout->gpu));
	grt_nvidia_take_group(t, kcg);
	return kcg;
}

/**
 * struct call - a function of the driver that was entered and has not returned
 * @arg: its arguments
 * @asked: the objects of its arguments, which may have changed when it returns
 * @outer: for functions that call others of these functions
 * @tsg: the group before it is destroyed
 */
struct call {
	const void *arg[4];
	u64 asked;
	struct outer *outer;
	struct grt_tsg_event tsg;
};

/**
 * struct outer - a call from which the calls within it get handles
 * @task: the calling thread; NULL: unused
 * @client, @tsg: the handles
 * @kcg: the group that was initialised within the call; NULL: none
 * @init: its event, which waits for the end of the call
 */
struct outer {
	struct task_struct *task;
	u32 client;
	u32 tsg;
	const void *kcg;
	struct grt_ev_tsg_init init;
};

static struct outer outers[CALLS];

static struct grtrace_adapter adapter;

static struct outer *grt_nvidia_outer_begin(u32 client, u32 tsg)
{
	struct outer *o;

	for (o = outers; o < outers + CALLS; o++) {
		if (cmpxchg(&o->task, NULL, current))
			continue;
		o->client = client;
		o->tsg = tsg;
		o->kcg = NULL;
		return o;
	}
	atomic64_inc(&adapter.unmatched);
	return NULL;
}

static void grt_nvidia_outer_end(struct outer *o)
{
	smp_store_release(&o->task, NULL); /* pairs with outer_begin() */
}

/* The call of the running thread, which has one at a time. */
static struct outer *grt_nvidia_outer_of_current(void)
{
	struct outer *o;

	for (o = outers; o < outers + CALLS; o++)
		if (READ_ONCE(o->task) == current)
			return o;
	return NULL;
}

/*
 * Return: whether the values that kchangrpInit_IMPL has just set are within bounds, which is true
 * only for the right layout.
 */
static bool grt_nvidia_bears_out(const struct layout *l, const void *kcg)
{
	u64 timeslice = grt_nvidia_read_u64(kcg, l->timeslice);
	u32 level = grt_nvidia_read_u32(grt_nvidia_read_pointer(kcg, l->interleave), 0, UNKNOWN);

	return grt_nvidia_read_u32(kcg, l->grp, UNKNOWN) <= U16_MAX &&
	       !grt_nvidia_read_u32(kcg, l->grp + GRP_CHANNELS, UNKNOWN) && timeslice &&
	       timeslice <= USEC_PER_SEC && level <= INTERLEAVE_HIGH;
}

static bool grt_nvidia_same_version(const struct layout *a, const struct layout *b)
{
	return a->branch == b->branch && a->from == b->from;
}

/* Return: false: none of the rows of this version fits */
static bool grt_nvidia_layout_choose(const void *kcg)
{
	const struct layout *l;

	if (grt_nvidia_bears_out(layout, kcg))
		return true;
	for (l = layouts; l < layouts + ARRAY_SIZE(layouts); l++) {
		if (!grt_nvidia_same_version(l, layout) || !grt_nvidia_bears_out(l, kcg))
			continue;
		WRITE_ONCE(layout, l);
		return true;
	}
	return false;
}

/* kchangrpapiConstruct_IMPL(KernelChannelGroupApi *, CALL_CONTEXT *, RS_RES_ALLOC_PARAMS_INTERNAL *) */
static void grt_nvidia_construct_enter(struct call *c)
{
	c->outer = grt_nvidia_outer_begin(grt_nvidia_read_u32(c->arg[2], PARAMS_CLIENT, 0),
					  grt_nvidia_read_u32(c->arg[2], PARAMS_RESOURCE, 0));
}

static void grt_nvidia_construct_leave(struct call *c, u32 status)
{
	struct outer *o = c->outer;

	if (!o)
		return;
	if (o->kcg) {
		o->init.status = status;
		if (!status)
			o->init.interleave = grt_nvidia_interleave_of(o->kcg);
		grtrace_emit(&o->init.e);
	}
	grt_nvidia_outer_end(o);
}

/* kchangrpInit_IMPL(OBJGPU *, KernelChannelGroup *, OBJVASPACE *, NvU32 gfid) */
static void grt_nvidia_init_leave(struct call *c, u32 status)
{
	struct grt_ev_tsg_init ev = { .e.type = GRT_EV_TSG_INIT, .status = status };
	struct outer *o = grt_nvidia_outer_of_current();
	const void *kcg = c->arg[1];

	if (!status && !grt_nvidia_layout_choose(kcg)) {
		atomic64_inc(&adapter.unmatched);
		return;
	}
	ev.bus = grt_nvidia_bus_of(c->arg[0]);
	grt_nvidia_take_group((struct grt_tsg_event *)&ev, kcg);
	ev.timeslice = status ? 0 : grt_nvidia_read_u64(kcg, layout->timeslice);
	ev.interleave = status ? UNKNOWN : grt_nvidia_interleave_of(kcg);
	if (status)
		ev.grp = ev.runlist = UNKNOWN;
	if (!o) {
		grtrace_emit(&ev.e);
		return;
	}
	ev.client = o->client;
	ev.tsg = o->tsg;
	o->init = ev;
	o->kcg = kcg;
}

/* kchangrpapiDestruct_IMPL(KernelChannelGroupApi *) */
static void grt_nvidia_destruct_enter(struct call *c)
{
	c->outer = grt_nvidia_outer_begin(grt_nvidia_client_of(c->arg[0]), grt_nvidia_handle_of(c->arg[0]));
}

static void grt_nvidia_destruct_leave(struct call *c, u32 unused)
{
	if (c->outer)
		grt_nvidia_outer_end(c->outer);
}

/* kchangrpDestroy_IMPL(OBJGPU *, KernelChannelGroup *) */
static void grt_nvidia_destroy_enter(struct call *c)
{
	c->tsg.bus = grt_nvidia_bus_of(c->arg[0]);
	grt_nvidia_take_group(&c->tsg, c->arg[1]);
}

static void grt_nvidia_destroy_leave(struct call *c, u32 status)
{
	struct grt_ev_tsg_destroy ev = { .status = status };
	struct outer *o = grt_nvidia_outer_of_current();

	if (o && o->kcg == c->arg[1])
		return; /* creating the group failed after all, which its TSG_INIT reports */
	memcpy(&ev, &c->tsg, sizeof(c->tsg));
	ev.e.type = GRT_EV_TSG_DESTROY;
	ev.client = o ? o->client : 0;
	ev.tsg = o ? o->tsg : 0;
	grtrace_emit(&ev.e);
}

/* NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS.bEnable */
static void grt_nvidia_schedule_enter(struct call *c)
{
	c->asked = grt_nvidia_read_u32(c->arg[1], 0, 0) & 0xff;
}

static void grt_nvidia_emit_schedule(struct grt_ev_tsg_schedule *ev, const void *kcg, const struct call *c,
				     u32 status)
{
	ev->e.type = GRT_EV_TSG_SCHEDULE;
	ev->timeslice = grt_nvidia_read_u64(kcg, layout->timeslice);
	ev->interleave = grt_nvidia_interleave_of(kcg);
	ev->channels = grt_nvidia_read_u32(kcg, layout->grp + GRP_CHANNELS, UNKNOWN);
	ev->on = !!c->asked;
	ev->status = status;
	grtrace_emit(&ev->e);
}

/* kchangrpapiCtrlCmdGpFifoSchedule_IMPL(KernelChannelGroupApi *, NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS *) */
static void grt_nvidia_schedule_leave(struct call *c, u32 status)
{
	struct grt_ev_tsg_schedule ev = { .chid = UNKNOWN };

	grt_nvidia_emit_schedule(&ev, grt_nvidia_take_api((struct grt_tsg_event *)&ev, c->arg[0]), c, status);
}

static u32 grt_nvidia_chid_of(const void *kc)
{
	return grt_nvidia_read_u32(kc, layout->kc_api + KC_API_CHID, UNKNOWN);
}

/* kchannelCtrlCmdGpFifoSchedule_IMPL(KernelChannel *, NVA06F_CTRL_GPFIFO_SCHEDULE_PARAMS *) */
static void grt_nvidia_schedule_channel_leave(struct call *c, u32 status)
{
	const void *kc = c->arg[0];
	struct grt_ev_tsg_schedule ev = {
		.channel = grt_nvidia_handle_of(kc),
		.channel_client = grt_nvidia_client_of(kc),
		.chid = grt_nvidia_chid_of(kc),
	};

	grt_nvidia_emit_schedule(
		&ev,
		grt_nvidia_take_api((struct grt_tsg_event *)&ev, grt_nvidia_read_pointer(kc, layout->kc_api)),
		c, status);
}

/* kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL(KernelChannel *, NvU32 *token) */
static void grt_nvidia_token_leave(struct call *c, u32 status)
{
	const void *kc = c->arg[0];
	struct grt_ev_tsg_token ev = {
		.channel = grt_nvidia_handle_of(kc),
		.channel_client = grt_nvidia_client_of(kc),
		.chid = grt_nvidia_chid_of(kc),
		.status = status,
		.token = status ? 0 : grt_nvidia_read_u32(c->arg[1], 0, 0),
	};

	grt_nvidia_take_api((struct grt_tsg_event *)&ev, grt_nvidia_read_pointer(kc, layout->kc_api));
	ev.e.type = GRT_EV_TSG_TOKEN;
	grtrace_emit(&ev.e);
}

static void grt_nvidia_emit_channel(const struct call *c, bool bound)
{
	const void *kcg = c->arg[1], *kc = c->arg[2];
	struct grt_ev_tsg_channel ev = {
		.channel = grt_nvidia_handle_of(kc),
		.channel_client = grt_nvidia_client_of(kc),
		.chid = grt_nvidia_chid_of(kc),
		.bound = bound,
		.channels = grt_nvidia_read_u32(kcg, layout->grp + GRP_CHANNELS, UNKNOWN),
		.subctx = UNKNOWN,
		.veid = UNKNOWN,
	};

	grt_nvidia_take_api((struct grt_tsg_event *)&ev, grt_nvidia_read_pointer(kc, layout->kc_api));
	ev.bus = grt_nvidia_bus_of(c->arg[0]);
	grt_nvidia_take_group((struct grt_tsg_event *)&ev, kcg);
	ev.e.type = GRT_EV_TSG_CHANNEL;
	grtrace_emit(&ev.e);
}

/* kchangrpAddChannel_IMPL(OBJGPU *, KernelChannelGroup *, KernelChannel *), and Remove */
static void grt_nvidia_add_leave(struct call *c, u32 status)
{
	if (!status)
		grt_nvidia_emit_channel(c, true);
}

static void grt_nvidia_remove_leave(struct call *c, u32 status)
{
	if (!status)
		grt_nvidia_emit_channel(c, false);
}

static void grt_nvidia_emit_set(const struct call *c, u64 timeslice, u32 interleave, u32 status)
{
	struct grt_ev_tsg_set ev = { .timeslice = timeslice, .interleave = interleave, .status = status };

	grt_nvidia_take_api((struct grt_tsg_event *)&ev, c->arg[0]);
	ev.e.type = GRT_EV_TSG_SET;
	grtrace_emit(&ev.e);
}

/* kchangrpapiCtrlCmdSetTimeslice_IMPL(KernelChannelGroupApi *, {NvU64 timesliceUs} *) */
static void grt_nvidia_timeslice_enter(struct call *c)
{
	c->asked = grt_nvidia_read_u64(c->arg[1], 0);
}

static void grt_nvidia_timeslice_leave(struct call *c, u32 status)
{
	grt_nvidia_emit_set(c, c->asked, UNKNOWN, status);
}

/* kchangrpapiCtrlCmdSetInterleaveLevel_IMPL(KernelChannelGroupApi *, {NvU32 tsgInterleaveLevel} *) */
static void grt_nvidia_interleave_enter(struct call *c)
{
	c->asked = grt_nvidia_read_u32(c->arg[1], 0, UNKNOWN);
}

static void grt_nvidia_interleave_leave(struct call *c, u32 status)
{
	grt_nvidia_emit_set(c, 0, c->asked, status);
}

/**
 * struct hook - a function that is probed
 * @symbol: its name
 * @enter: stores what no longer exists when the function returns; runs as in an NMI; may be NULL
 * @leave: reports the event
 * @rp: the probe
 * @bound: the probe is attached
 */
struct hook {
	const char *symbol;
	void (*enter)(struct call *c);
	void (*leave)(struct call *c, u32 status);
	struct kretprobe rp;
	bool bound;
};

static struct hook hooks[] = {
	{DRIVER ":kchangrpInit_IMPL", NULL, grt_nvidia_init_leave},
	{DRIVER ":kchangrpapiConstruct_IMPL", grt_nvidia_construct_enter, grt_nvidia_construct_leave},
	{DRIVER ":kchangrpDestroy_IMPL", grt_nvidia_destroy_enter, grt_nvidia_destroy_leave},
	{DRIVER ":kchangrpapiDestruct_IMPL", grt_nvidia_destruct_enter, grt_nvidia_destruct_leave},
	{DRIVER ":kchangrpapiCtrlCmdGpFifoSchedule_IMPL", grt_nvidia_schedule_enter,
	 grt_nvidia_schedule_leave},
	{DRIVER ":kchannelCtrlCmdGpFifoSchedule_IMPL", grt_nvidia_schedule_enter,
	 grt_nvidia_schedule_channel_leave},
	{DRIVER ":kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL", NULL, grt_nvidia_token_leave},
	{DRIVER ":kchangrpAddChannel_IMPL", NULL, grt_nvidia_add_leave},
	{DRIVER ":kchangrpRemoveChannel_IMPL", NULL, grt_nvidia_remove_leave},
	{DRIVER ":kchangrpapiCtrlCmdSetTimeslice_IMPL", grt_nvidia_timeslice_enter,
	 grt_nvidia_timeslice_leave},
	{DRIVER ":kchangrpapiCtrlCmdSetInterleaveLevel_IMPL", grt_nvidia_interleave_enter,
	 grt_nvidia_interleave_leave},
};

static struct hook *grt_nvidia_hook_of(struct kretprobe_instance *ri)
{
	struct kretprobe *rp = get_kretprobe(ri);

	return rp ? container_of(rp, struct hook, rp) : NULL;
}

/* Return: not 0: the function's return need not be probed. */
static int grt_nvidia_on_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *c = (struct call *)ri->data;
	struct hook *h = grt_nvidia_hook_of(ri);
	unsigned int i;

	if (!h || !grtrace_enabled())
		return 1;
	memset(c, 0, sizeof(*c));
	for (i = 0; i < ARRAY_SIZE(c->arg); i++)
		c->arg[i] = (const void *)regs_get_kernel_argument(regs, i);
	if (h->enter)
		h->enter(c);
	return 0;
}
NOKPROBE_SYMBOL(grt_nvidia_on_enter);

static int grt_nvidia_on_leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct hook *h = grt_nvidia_hook_of(ri);

	if (h)
		h->leave((struct call *)ri->data, regs_return_value(regs));
	return 0;
}
NOKPROBE_SYMBOL(grt_nvidia_on_leave);

static const char *grt_nvidia_function_of(const struct hook *h)
{
	return h->symbol + strlen(DRIVER ":");
}

static int grt_nvidia_hook_attach(struct hook *h)
{
	int err;

	memset(&h->rp, 0, sizeof(h->rp));
	h->rp.kp.symbol_name = h->symbol;
	h->rp.entry_handler = grt_nvidia_on_enter;
	h->rp.handler = grt_nvidia_on_leave;
	h->rp.data_size = sizeof(struct call);
	h->rp.maxactive = CALLS;
	err = register_kretprobe(&h->rp);
	h->bound = !err;
	if (err)
		pr_debug("adapter " DRIVER ": no probe on %s: %d\n", grt_nvidia_function_of(h), err);
	return err;
}

static void grt_nvidia_hooks_detach(void)
{
	struct hook *h;

	for (h = hooks; h < hooks + ARRAY_SIZE(hooks); h++) {
		if (!h->bound)
			continue;
		atomic64_add(h->rp.nmissed, &adapter.unmatched);
		unregister_kretprobe(&h->rp);
		h->bound = false;
	}
	synchronize_rcu(); /* handlers run with preemption off */
}

static void grt_nvidia_refuse(const char *why, const char *what)
{
	snprintf(refused, sizeof(refused), "%s_%s", why, what);
	pr_warn("adapter " DRIVER ": no channel groups are recorded: %s\n", refused);
}

/* The last row that does not begin after this version; of several equal rows, the first one. */
static const struct layout *grt_nvidia_layout_of(const char *version)
{
	const struct layout *l, *found = NULL;
	unsigned int branch, minor;

	if (!version || sscanf(version, "%u.%u", &branch, &minor) != 2)
		return NULL;
	for (l = layouts; l < layouts + ARRAY_SIZE(layouts); l++)
		if (l->branch == branch && l->from <= minor && (!found || !grt_nvidia_same_version(l, found)))
			found = l;
	return found;
}

static void grt_nvidia_driver_comes(struct grtrace_adapter *a, struct module *mod)
{
	const char *version = mod ? mod->version : NULL;
	struct hook *h;
	int err;

	refused[0] = 0;
	layout = grt_nvidia_layout_of(version);
	if (!layout) {
		grt_nvidia_refuse("driver_version_not_known", version ?: "none");
		return;
	}
	err = grt_nvidia_hook_attach(&hooks[0]);
	if (err) {
		grt_nvidia_refuse(err == -ENOENT ? "not_the_open_driver_no_function" : "cannot_be_probed",
				  grt_nvidia_function_of(&hooks[0]));
		return;
	}
	for (h = hooks + 1; h < hooks + ARRAY_SIZE(hooks); h++)
		grt_nvidia_hook_attach(h);
	pr_debug("adapter " DRIVER ": driver %s, structs as in %u.%u\n", version, layout->branch, layout->from);
}

static void grt_nvidia_driver_gone(struct grtrace_adapter *a)
{
	grt_nvidia_hooks_detach();
	memset(outers, 0, sizeof(outers));
	refused[0] = 0;
}

static void grt_nvidia_show(struct grtrace_adapter *a, struct seq_file *m)
{
	struct hook *h;

	if (!a->present)
		return;
	seq_puts(m, " functions=");
	for (h = hooks; h < hooks + ARRAY_SIZE(hooks); h++)
		seq_printf(m, "%s%s:%d", h == hooks ? "" : ",", grt_nvidia_function_of(h), h->bound);
	if (refused[0])
		seq_printf(m, " refused=%s", refused);
	else
		seq_printf(m, " layout=%u.%u", layout->branch, layout->from);
}

static struct grtrace_adapter adapter = {
	.name = DRIVER,
	.driver = DRIVER,
	.comes = grt_nvidia_driver_comes,
	.gone = grt_nvidia_driver_gone,
	.show = grt_nvidia_show,
};

module_grtrace_adapter(adapter);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: channel groups of NVIDIA's open driver");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
