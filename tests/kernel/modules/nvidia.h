/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands for NVIDIA's open module: functions of the names and arguments that the
 * adapter probes, out of reach of the function tracer as the real ones are, on
 * structs laid out as the branch has them. Included by a file that says where
 * what lies.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "play.h"

#define OBJECT_SIZE 2560
#define GROUPS	    4
#define CHANNELS    4

#define NV_OK			  0
#define NV_ERR_INVALID_ARGUMENT	  0x1f
#define NV_ERR_INVALID_STATE	  0x40
#define MEDIUM			  1

/* Objects are bytes; only the members that matter are in them. */
struct object {
	char byte[OBJECT_SIZE];
};

/* RsResourceRef */
struct ref {
	struct object *client;
	void *resource;
	u32 handle;
};

/* RS_RES_ALLOC_PARAMS_INTERNAL */
struct alloc_params {
	u32 client;
	u32 parent;
	u32 resource;
	u32 class;
	u32 engine;	/* from here on not the driver's */
	u32 init_status;
	u32 end_status;
	struct object *kcg;
};

struct group {
	struct object api;
	struct object kcg;
	struct object client;
	struct ref ref;
	u32 interleave[2];
};

struct channel {
	struct object kc;
	struct ref ref;
};

static int shift;
static struct object gpu;
static struct group *groups;
static struct channel *channels;

static void put32(struct object *o, int at, u32 value)
{
	memcpy(o->byte + at, &value, sizeof(value));
}

static u32 get32(const struct object *o, int at)
{
	u32 value;

	memcpy(&value, o->byte + at, sizeof(value));
	return value;
}

static void put64(struct object *o, int at, u64 value)
{
	memcpy(o->byte + at, &value, sizeof(value));
}

static void put_pointer(struct object *o, int at, const void *p)
{
	put64(o, at, (unsigned long)p);
}

/* The driver's functions: seen by a breakpoint only, and called as written. */

u32 kchangrpInit_IMPL(struct object *pgpu, struct object *kcg, void *vas, u32 gfid);
u32 kchangrpapiConstruct_IMPL(struct object *api, void *context, struct alloc_params *params);
u32 kchangrpDestroy_IMPL(struct object *pgpu, struct object *kcg);
void kchangrpapiDestruct_IMPL(struct object *api);
u32 kchangrpapiCtrlCmdGpFifoSchedule_IMPL(struct object *api, u8 *params);
u32 kchannelCtrlCmdGpFifoSchedule_IMPL(struct object *kc, u8 *params);
u32 kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL(struct object *kc, u32 *token);
u32 kchangrpAddChannel_IMPL(struct object *pgpu, struct object *kcg, struct object *kc);
u32 kchangrpRemoveChannel_IMPL(struct object *pgpu, struct object *kcg, struct object *kc);
u32 kchangrpapiCtrlCmdSetTimeslice_IMPL(struct object *api, u64 *us);
u32 kchangrpapiCtrlCmdSetInterleaveLevel_IMPL(struct object *api, u32 *level);

/* What fails, once. */
static u32 init_status, status;

/* What Init writes is odd: no layout fits. */
static bool odd;

static u32 take_status(u32 *s)
{
	u32 taken = *s;

	*s = NV_OK;
	return taken;
}

static struct group *group_of(struct object *kcg)
{
	return container_of(kcg, struct group, kcg);
}

/* The number of a group on the hardware is 16 and its number here. */
noinline __noclone notrace u32 kchangrpInit_IMPL(struct object *pgpu, struct object *kcg, void *vas, u32 gfid)
{
	u32 failed = take_status(&init_status);

	if (failed)
		return failed;
	group_of(kcg)->interleave[0] = 0;
	put32(kcg, GRP_ID - shift, 16 + (group_of(kcg) - groups));
	put32(kcg, GRP_ID - shift + 4, 7);
	put32(kcg, GRP_ID - shift + 8, 0);
	put64(kcg, TIMESLICE - shift, odd ? 0 : 1024);
	put_pointer(kcg, INTERLEAVE - shift, group_of(kcg)->interleave);
	return NV_OK;
}

noinline __noclone notrace u32 kchangrpDestroy_IMPL(struct object *pgpu, struct object *kcg)
{
	put_pointer(kcg, INTERLEAVE - shift, NULL);
	return NV_OK;
}

noinline __noclone notrace u32 kchangrpapiConstruct_IMPL(struct object *api, void *context, struct alloc_params *params)
{
	u32 failed;

	put_pointer(api, API_KCG, params->kcg);
	put32(params->kcg, GRP_ID - shift + 12, params->engine);
	failed = kchangrpInit_IMPL(&gpu, params->kcg, NULL, 0);
	if (failed)
		return failed;
	group_of(params->kcg)->interleave[0] = MEDIUM;
	failed = take_status(&status);
	if (failed)
		kchangrpDestroy_IMPL(&gpu, params->kcg);
	params->resource = 0; /* nobody's business any more */
	return failed;
}

noinline __noclone notrace void kchangrpapiDestruct_IMPL(struct object *api)
{
	kchangrpDestroy_IMPL(&gpu, &container_of(api, struct group, api)->kcg);
}

/* As the real ones, they are done with their parameters before they return. */
noinline __noclone notrace u32 kchangrpapiCtrlCmdGpFifoSchedule_IMPL(struct object *api, u8 *params)
{
	params[0] = 0x55;
	return take_status(&status);
}

noinline __noclone notrace u32 kchannelCtrlCmdGpFifoSchedule_IMPL(struct object *kc, u8 *params)
{
	params[0] = 0x55;
	return take_status(&status);
}

noinline __noclone notrace u32 kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL(struct object *kc, u32 *token)
{
	u32 failed = take_status(&status);

	if (!failed)
		*token = get32(kc, KC_API - 8) << 16 | get32(kc, KC_API - 4);
	return failed;
}

noinline __noclone notrace u32 kchangrpAddChannel_IMPL(struct object *pgpu, struct object *kcg, struct object *kc)
{
	u32 failed = take_status(&status);

	if (!failed)
		put32(kcg, GRP_ID - shift + 8, get32(kcg, GRP_ID - shift + 8) + 1);
	return failed;
}

noinline __noclone notrace u32 kchangrpRemoveChannel_IMPL(struct object *pgpu, struct object *kcg, struct object *kc)
{
	put32(kcg, GRP_ID - shift + 8, get32(kcg, GRP_ID - shift + 8) - 1);
	return NV_OK;
}

noinline __noclone notrace u32 kchangrpapiCtrlCmdSetTimeslice_IMPL(struct object *api, u64 *us)
{
	u32 failed = take_status(&status);

	if (!failed)
		put64(&container_of(api, struct group, api)->kcg, TIMESLICE - shift, *us);
	*us = 0x5555;
	return failed;
}

noinline __noclone notrace u32 kchangrpapiCtrlCmdSetInterleaveLevel_IMPL(struct object *api, u32 *level)
{
	u32 failed = take_status(&status);

	if (!failed)
		container_of(api, struct group, api)->interleave[0] = *level;
	*level = 0x5555;
	return failed;
}

/* The verbs. */

static struct group *group(const u64 *arg)
{
	return arg[0] < GROUPS ? &groups[arg[0]] : NULL;
}

/* GROUP CLIENT TSG ENGINE: by a program */
static int do_construct(const u64 *arg)
{
	struct group *g = group(arg);
	struct alloc_params params = {
		.client = arg[1], .resource = arg[2], .engine = arg[3], .kcg = g ? &g->kcg : NULL,
	};

	if (!g)
		return -EINVAL;
	memset(g, 0, sizeof(*g));
	put32(&g->client, CLIENT, arg[1]);
	g->ref.client = &g->client;
	g->ref.handle = arg[2];
	put_pointer(&g->api, REF, &g->ref);
	put_pointer(&g->api, GPU, &gpu);
	kchangrpapiConstruct_IMPL(&g->api, NULL, &params);
	return 0;
}

/* GROUP ENGINE: by the driver itself, without handles */
static int do_init(const u64 *arg)
{
	struct group *g = group(arg);

	if (!g)
		return -EINVAL;
	memset(g, 0, sizeof(*g));
	put32(&g->kcg, GRP_ID - shift + 12, arg[1]);
	kchangrpInit_IMPL(&gpu, &g->kcg, NULL, 0);
	return 0;
}

/* ODD */
static int do_odd(const u64 *arg)
{
	odd = arg[0];
	return 0;
}

/* BYTES: groups are laid out as in a build without checks, so much shorter */
static int do_shift(const u64 *arg)
{
	shift = arg[0];
	return 0;
}

static int do_destruct(const u64 *arg)
{
	struct group *g = group(arg);

	if (!g)
		return -EINVAL;
	kchangrpapiDestruct_IMPL(&g->api);
	return 0;
}

static int do_destroy(const u64 *arg)
{
	struct group *g = group(arg);

	if (!g)
		return -EINVAL;
	kchangrpDestroy_IMPL(&gpu, &g->kcg);
	return 0;
}

/* INIT STATUS: what the next functions return, once */
static int do_fail(const u64 *arg)
{
	init_status = arg[0];
	status = arg[1];
	return 0;
}

/* GROUP ENABLE */
static int do_schedule(const u64 *arg)
{
	u8 params[3] = { arg[1] };

	if (!group(arg))
		return -EINVAL;
	barrier_data(params); /* the function does not look at it, the probe does */
	kchangrpapiCtrlCmdGpFifoSchedule_IMPL(&group(arg)->api, params);
	return 0;
}

static int do_timeslice(const u64 *arg)
{
	u64 us = arg[1];

	if (!group(arg))
		return -EINVAL;
	kchangrpapiCtrlCmdSetTimeslice_IMPL(&group(arg)->api, &us);
	return 0;
}

static int do_interleave(const u64 *arg)
{
	u32 level = arg[1];

	if (!group(arg))
		return -EINVAL;
	kchangrpapiCtrlCmdSetInterleaveLevel_IMPL(&group(arg)->api, &level);
	return 0;
}

/* GROUP CHANNEL HANDLE CHID */
static int do_add(const u64 *arg)
{
	struct channel *c = &channels[arg[1] % CHANNELS];
	struct group *g = group(arg);

	if (!g)
		return -EINVAL;
	c->ref.client = &g->client;
	c->ref.handle = arg[2];
	put_pointer(&c->kc, REF, &c->ref);
	put_pointer(&c->kc, GPU, &gpu);
	put32(&c->kc, KC_API - 8, 7);
	put32(&c->kc, KC_API - 4, arg[3]);
	put_pointer(&c->kc, KC_API, &g->api);
	kchangrpAddChannel_IMPL(&gpu, &g->kcg, &c->kc);
	return 0;
}

/* GROUP CHANNEL */
static int do_remove(const u64 *arg)
{
	if (!group(arg))
		return -EINVAL;
	kchangrpRemoveChannel_IMPL(&gpu, &group(arg)->kcg, &channels[arg[1] % CHANNELS].kc);
	return 0;
}

/* CHANNEL */
static int do_token(const u64 *arg)
{
	u32 token = 0;

	kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL(&channels[arg[0] % CHANNELS].kc, &token);
	return 0;
}

/* CHANNEL ENABLE */
static int do_schedule_channel(const u64 *arg)
{
	u8 params[3] = { arg[1] };

	barrier_data(params);
	kchannelCtrlCmdGpFifoSchedule_IMPL(&channels[arg[0] % CHANNELS].kc, params);
	return 0;
}

static const struct play_verb play_verbs[] = {
	{ "construct", 4, do_construct },
	{ "init", 2, do_init },
	{ "odd", 1, do_odd },
	{ "shift", 1, do_shift },
	{ "destruct", 1, do_destruct },
	{ "destroy", 1, do_destroy },
	{ "fail", 2, do_fail },
	{ "schedule", 2, do_schedule },
	{ "schedule_channel", 2, do_schedule_channel },
	{ "timeslice", 2, do_timeslice },
	{ "interleave", 2, do_interleave },
	{ "add", 4, do_add },
	{ "remove", 2, do_remove },
	{ "token", 1, do_token },
};

static const unsigned int play_nverbs = ARRAY_SIZE(play_verbs);

/* The real one is a PCI driver, too. */
static const struct pci_device_id no_devices[] = { {} };

static struct pci_driver pci_driver = {
	.name = "nvidia",
	.id_table = no_devices,
};

static int __init stand_in_init(void)
{
	int err;

	groups = kcalloc(GROUPS, sizeof(*groups), GFP_KERNEL);
	channels = kcalloc(CHANNELS, sizeof(*channels), GFP_KERNEL);
	err = groups && channels ? pci_register_driver(&pci_driver) : -ENOMEM;
	if (err) {
		kfree(groups);
		kfree(channels);
		return err;
	}
	put32(&gpu, GPU_ID, 0x1c619); /* 0001:c6:19 */
	play_begin();
	return 0;
}

static void __exit stand_in_exit(void)
{
	play_end();
	pci_unregister_driver(&pci_driver);
	kfree(groups);
	kfree(channels);
}

module_init(stand_in_init);
module_exit(stand_in_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("Test of grtrace: stands for NVIDIA's open module");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION(DRIVER_VERSION);
