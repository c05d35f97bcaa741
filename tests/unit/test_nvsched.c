// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder of calls on NVIDIA's control device, with calls made by hand: what
 * belongs to what, who goes with whom, what is known and what is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "codes/nv_codes.h"
#include "codes/nv_abi.h"
#include "nvidia/decode.h"
#include "nvidia/tree.h"

#define CLIENT 0xc1d00019U
#define UNKNOWN UINT32_MAX

static struct grt_nv *d;
static uint64_t now;

/* What was told, in its order. */
static struct {
	union {
		struct grt_event e;
		struct grt_ev_tsg_init init;
		struct grt_ev_tsg_schedule schedule;
		struct grt_ev_tsg_token token;
		struct grt_ev_tsg_channel channel;
		struct grt_ev_tsg_set set;
		struct grt_ev_tsg_destroy destroy;
	} ev[64];
	unsigned int n;
	unsigned int of[GRT_EV_MAX];
} told;

static int keep(void *arg, struct grt_event *e, uint32_t cpu)
{
	(void)arg;
	(void)cpu;
	memcpy(&told.ev[told.n++ % 64], e, e->size);
	told.of[e->type]++;
	return 0;
}

static void begin_as(const struct grt_nv_setup *setup)
{
	struct grt_nv_setup s = *setup;

	s.emit = keep;
	memset(&told, 0, sizeof(told));
	now = 1000;
	assert_int_equal(grt_nv_new(&d, &s), 0);
}

static void begin(void)
{
	begin_as(&(struct grt_nv_setup){.branch = 580, .only_gpu = 0xc600});
}

static void finish(void)
{
	grt_nv_free(d);
}

/* The last thing that was told. */
#define LAST (told.ev[(told.n - 1) % 64])

static void put32(void *at, unsigned int offset, uint32_t v)
{
	memcpy((char *)at + offset, &v, sizeof(v));
}

static struct grt_nv_call call_of(uint32_t nr, uint32_t size, uint64_t file)
{
	return (struct grt_nv_call){.time = now++,
				    .file = file,
				    .pid = 70,
				    .tid = 71,
				    .kind = GRT_NV_IOCTL,
				    .nr = nr,
				    .size = size,
				    .head_size = size < GRT_NV_HEAD ? size : GRT_NV_HEAD};
}

static void give(const struct grt_nv_call *c)
{
	assert_int_equal(grt_nv_call(d, c), 0);
}

static struct grt_nv_call alloc_call(uint64_t file, uint32_t client, uint32_t parent, uint32_t handle,
				     uint32_t class)
{
	struct grt_nv_call c = call_of(NV_ESC_RM_ALLOC, NV_ALLOC_SIZE_64, file);

	put32(c.head, NV_ALLOC_CLIENT, client);
	put32(c.head, NV_ALLOC_PARENT, parent);
	put32(c.head, NV_ALLOC_OBJECT, handle);
	put32(c.head, NV_ALLOC_CLASS, class);
	c.params_size = GRT_NV_PARAMS;
	return c;
}

static void client(uint64_t file, uint32_t handle)
{
	struct grt_nv_call c = alloc_call(file, 0, 0, handle, NV_CLASS_ROOT_CLIENT);

	give(&c);
}

static void device(uint32_t handle, uint32_t instance)
{
	struct grt_nv_call c = alloc_call(1, CLIENT, CLIENT, handle, NV_CLASS_DEVICE);

	put32(c.params, NV_DEVICE_ID, instance);
	give(&c);
}

static void space(uint32_t parent, uint32_t handle)
{
	struct grt_nv_call c = alloc_call(1, CLIENT, parent, handle, NV_CLASS_VASPACE);

	give(&c);
}

static void group(uint32_t parent, uint32_t handle, uint32_t engine, uint32_t vaspace)
{
	struct grt_nv_call c = alloc_call(1, CLIENT, parent, handle, NV_CLASS_CHANNEL_GROUP);

	put32(c.params, NV_GROUP_ENGINE, engine);
	put32(c.params, NV_GROUP_VASPACE, vaspace);
	give(&c);
}

static void channel(uint32_t parent, uint32_t handle, uint32_t share)
{
	struct grt_nv_call c = alloc_call(1, CLIENT, parent, handle, 0xc86f);

	put32(c.params, NV_CHANNEL_SHARE, share);
	put32(c.params, NV_CHANNEL_ENGINE, 9);
	give(&c);
}

static void release(uint32_t handle)
{
	struct grt_nv_call c = call_of(NV_ESC_RM_FREE, NV_FREE_SIZE, 1);

	put32(c.head, NV_FREE_CLIENT, CLIENT);
	put32(c.head, NV_FREE_OBJECT, handle);
	give(&c);
}

static struct grt_nv_call control_call(uint32_t handle, uint32_t cmd, uint32_t size)
{
	struct grt_nv_call c = call_of(NV_ESC_RM_CONTROL, NV_CONTROL_SIZE, 1);

	put32(c.head, NV_CONTROL_CLIENT, CLIENT);
	put32(c.head, NV_CONTROL_OBJECT, handle);
	put32(c.head, NV_CONTROL_CMD, cmd);
	put32(c.head, NV_CONTROL_PARAMS_SIZE, size);
	c.params_size = size;
	return c;
}

static void control(uint32_t handle, uint32_t cmd, uint32_t size, uint32_t value)
{
	struct grt_nv_call c = control_call(handle, cmd, size);

	put32(c.params, 0, value);
	give(&c);
}

static void hint(uint32_t kind, uint64_t file, uint32_t pid)
{
	struct grt_nv_call c = {.time = now++, .file = file, .pid = pid, .kind = kind};

	give(&c);
}

/* A client with a device, an address space and a group of two channels. */
static void usual(void)
{
	client(1, CLIENT);
	device(2, 0);
	space(2, 3);
	group(2, 4, 1, 3);
	channel(4, 5, 0);
	channel(4, 6, 0);
}

static bool nobody(void *arg, uint64_t file, uint32_t *pid)
{
	(void)arg, (void)file, (void)pid;
	return false;
}

static bool everybody(void *arg, uint64_t file, uint32_t *pid)
{
	(void)file;
	*pid = *(uint32_t *)arg;
	return true;
}

static void born_and_freed(void **state)
{
	(void)state;
	begin();
	usual();
	assert_int_equal(told.of[GRT_EV_TSG_INIT], 1);
	assert_int_equal(told.ev[0].init.client, CLIENT);
	assert_int_equal(told.ev[0].init.bus, 0xc600);
	assert_int_equal(told.ev[0].init.nv_engine, 1);
	assert_int_equal(told.ev[0].init.timeslice, 1024);
	assert_int_equal(told.ev[0].init.interleave, 1);
	assert_int_equal(told.ev[0].init.runlist, UNKNOWN);
	assert_int_equal(told.ev[0].init.grp, UNKNOWN);
	assert_int_equal(told.ev[0].e.engine, GRT_ENGINE_GRAPHICS);
	assert_int_equal(LAST.channel.channels, 2);
	release(5);
	assert_int_equal(LAST.channel.bound, 0);
	assert_int_equal(LAST.channel.channels, 1);
	assert_false(LAST.e.flags & GRT_FLAG_INFERRED);
	release(4);
	assert_int_equal(LAST.e.type, GRT_EV_TSG_DESTROY);
	assert_int_equal(LAST.destroy.cause, 1);
	assert_int_equal(told.of[GRT_EV_TSG_CHANNEL], 4);
	release(4);
	release(CLIENT);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 1);
	finish();
}

static void goes_with_its_owner(void **state)
{
	static const uint32_t owners[] = {2, 3, CLIENT};

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		begin();
		usual();
		release(owners[i]);
		assert_int_equal(LAST.e.type, GRT_EV_TSG_DESTROY);
		assert_int_equal(LAST.destroy.cause, 2);
		assert_true(LAST.e.flags & GRT_FLAG_INFERRED);
		assert_int_equal(told.of[GRT_EV_TSG_CHANNEL], 4);
		finish();
	}
}

static void runlists_are_learnt(void **state)
{
	(void)state;
	begin();
	usual();
	control(5, NV_CTRL_GET_TOKEN, 4, 7 << 16 | 33);
	assert_int_equal(LAST.token.runlist, 7);
	assert_int_equal(LAST.token.chid, 33);
	assert_int_equal(LAST.token.tsg, 4);
	group(2, 14, 1, 0);
	assert_int_equal(LAST.init.runlist, 7);
	group(2, 15, 9, 0);
	assert_int_equal(LAST.init.runlist, UNKNOWN);
	/* the same engine on another runlist: nobody knows any more */
	channel(14, 16, 0);
	control(16, NV_CTRL_GET_TOKEN, 4, 8 << 16);
	group(2, 17, 1, 0);
	assert_int_equal(LAST.init.runlist, UNKNOWN);
	finish();
}

static void tokens_of_unknown_form(void **state)
{
	(void)state;
	begin();
	usual();
	control(5, NV_CTRL_GET_TOKEN, 4, 0x40000002);
	assert_int_equal(LAST.token.chid, 2);
	assert_int_equal(LAST.token.runlist, 0);
	control(6, NV_CTRL_GET_TOKEN, 4, 0x80001002);
	assert_int_equal(LAST.token.chid, UNKNOWN);
	assert_int_equal(LAST.token.token, 0x80001002);
	finish();
	begin_as(&(struct grt_nv_setup){.no_runlist = true});
	usual();
	control(5, NV_CTRL_GET_TOKEN, 4, 2);
	assert_int_equal(LAST.token.runlist, UNKNOWN);
	finish();
}

static void parts_of_a_gpu(void **state)
{
	struct grt_nv_call c;

	(void)state;
	begin();
	usual();
	c = alloc_call(1, CLIENT, 2, 20, NV_CLASS_SMC_PARTITION);
	give(&c);
	group(2, 21, 1, 0);
	channel(21, 22, 0);
	control(22, NV_CTRL_GET_TOKEN, 4, 5 << 16);
	group(2, 23, 1, 0);
	assert_int_equal(LAST.init.runlist, UNKNOWN);
	finish();
}

static void addresses_of_gpus(void **state)
{
	struct grt_nv_call c;

	(void)state;
	begin_as(&(struct grt_nv_setup){.branch = 580});
	client(1, CLIENT);
	device(2, 3);
	group(2, 4, 1, 0);
	assert_int_equal(LAST.init.bus, 0);
	c = control_call(CLIENT, NV_CTRL_GPU_GET_ID_INFO_V2, 16);
	put32(c.params, NV_ID_INFO_GPU, 0x0001c61f);
	put32(c.params, NV_ID_INFO_INSTANCE, 3);
	give(&c);
	group(2, 5, 1, 0);
	assert_int_equal(LAST.init.bus, 0x0001c600 | 0x1f << 3);
	finish();
}

static void share(uint32_t parent, uint32_t handle, uint32_t veid)
{
	struct grt_nv_call c = alloc_call(1, CLIENT, parent, handle, NV_CLASS_CONTEXT_SHARE);

	put32(c.params, NV_SHARE_SUBCONTEXT, veid);
	give(&c);
}

/* The last event is of a channel in subcontext @subctx, which is number @veid. */
static void assert_subcontext(uint32_t subctx, uint32_t veid)
{
	assert_int_equal(LAST.e.type, GRT_EV_TSG_CHANNEL);
	assert_int_equal(LAST.channel.subctx, subctx);
	assert_int_equal(LAST.channel.veid, veid);
}

static void subcontexts(void **state)
{
	struct grt_nv_call c;

	(void)state;
	begin();
	usual();
	assert_subcontext(0, UNKNOWN);
	share(4, 70, 63);
	share(4, 71, 0);
	channel(4, 72, 70);
	assert_subcontext(70, 63);
	channel(4, 73, 71);
	assert_subcontext(71, 0);
	/* made before the capture; another object; parameters that end before it */
	channel(4, 74, 99);
	assert_subcontext(99, UNKNOWN);
	channel(4, 75, 3);
	assert_subcontext(3, UNKNOWN);
	c = alloc_call(1, CLIENT, 4, 76, 0xc86f);
	c.params_size = NV_CHANNEL_SHARE;
	give(&c);
	assert_subcontext(UNKNOWN, UNKNOWN);
	c = alloc_call(1, CLIENT, 4, 77, NV_CLASS_CONTEXT_SHARE);
	c.params_size = NV_SHARE_SUBCONTEXT;
	give(&c);
	channel(4, 78, 77);
	assert_subcontext(77, UNKNOWN);
	/* one that was refused is none */
	c = alloc_call(1, CLIENT, 4, 79, NV_CLASS_CONTEXT_SHARE);
	put32(c.params, NV_SHARE_SUBCONTEXT, 5);
	put32(c.head, NV_ALLOC_STATUS_64, 0x1a);
	give(&c);
	channel(4, 80, 79);
	assert_subcontext(79, UNKNOWN);
	/* a channel goes with its subcontext */
	release(70);
	assert_subcontext(70, 63);
	assert_int_equal(LAST.channel.bound, 0);
	assert_int_equal(LAST.channel.channel, 72);
	assert_true(LAST.e.flags & GRT_FLAG_INFERRED);
	assert_int_equal(grt_nv_count(d).subcontexts, 3);
	finish();
}

static void what_is_set(void **state)
{
	(void)state;
	begin();
	usual();
	control(4, NV_CTRL_GROUP_SET_TIMESLICE, 8, 2000);
	assert_int_equal(LAST.set.timeslice, 2000);
	assert_int_equal(LAST.set.interleave, UNKNOWN);
	control(4, NV_CTRL_GROUP_SET_INTERLEAVE, 4, 2);
	assert_int_equal(LAST.set.timeslice, 0);
	control(4, NV_CTRL_GROUP_GET_INFO, 4, 91);
	control(4, NV_CTRL_GROUP_SCHEDULE, 3, 1);
	assert_int_equal(LAST.schedule.timeslice, 2000);
	assert_int_equal(LAST.schedule.interleave, 2);
	assert_int_equal(LAST.schedule.channels, 2);
	assert_int_equal(LAST.schedule.grp, 91);
	assert_int_equal(LAST.schedule.on, 1);
	control(5, NV_CTRL_CHANNEL_SCHEDULE, 3, 0);
	assert_int_equal(LAST.schedule.channel, 5);
	assert_int_equal(LAST.schedule.on, 0);
	finish();
}

static void refused(void **state)
{
	struct grt_nv_call c;

	(void)state;
	begin();
	usual();
	c = alloc_call(1, CLIENT, 2, 30, NV_CLASS_CHANNEL_GROUP);
	put32(c.head, NV_ALLOC_STATUS_64, 0x1a);
	give(&c);
	assert_int_equal(LAST.init.status, 0x1a);
	assert_int_equal(LAST.init.timeslice, 0);
	c = control_call(4, NV_CTRL_GROUP_SET_TIMESLICE, 8);
	put32(c.params, 0, 9);
	put32(c.head, NV_CONTROL_STATUS, 0x1b);
	give(&c);
	assert_int_equal(LAST.set.status, 0x1b);
	control(4, NV_CTRL_GROUP_SCHEDULE, 2, 1);
	assert_int_equal(LAST.schedule.timeslice, 1024);
	release(30);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 0);
	/* a free that failed frees nothing */
	c = call_of(NV_ESC_RM_FREE, NV_FREE_SIZE, 1);
	put32(c.head, NV_FREE_CLIENT, CLIENT);
	put32(c.head, NV_FREE_OBJECT, 4);
	put32(c.head, NV_FREE_STATUS, 0x57);
	give(&c);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 0);
	finish();
}

/* The driver's number of a channel, where its branch has it; it is there to the end of the channel. */
static void numbers_of_channels(void **state)
{
	static const struct {
		uint32_t branch;
		unsigned int at;
	} of[] = {{535, 132}, {595, 132}, {610, 140}};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct grt_nv_call c;

		begin_as(&(struct grt_nv_setup){.branch = of[i].branch});
		usual();
		assert_int_equal(LAST.channel.context, 0);
		c = alloc_call(1, CLIENT, 4, 7, 0xc86f);
		put32(c.params, of[i].at, 0x1234);
		give(&c);
		assert_int_equal(LAST.e.type, GRT_EV_TSG_CHANNEL);
		assert_int_equal(LAST.channel.context, 0x1234);
		release(7);
		assert_int_equal(LAST.channel.bound, 0);
		assert_int_equal(LAST.channel.context, 0x1234);
		c.params_size = of[i].at + 3;
		give(&c);
		assert_int_equal(LAST.channel.bound, 1);
		assert_int_equal(LAST.channel.context, 0);
		finish();
	}
}

static void alone(void **state)
{
	(void)state;
	begin();
	client(1, CLIENT);
	device(2, 0);
	channel(2, 40, 0);
	assert_int_equal(told.ev[0].e.type, GRT_EV_TSG_INIT);
	assert_int_equal(told.ev[0].init.tsg, 40);
	assert_int_equal(told.ev[0].init.nv_engine, 9);
	assert_true(told.ev[0].e.flags & GRT_FLAG_INFERRED);
	release(40);
	assert_int_equal(LAST.e.type, GRT_EV_TSG_DESTROY);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 1);
	finish();
}

static void older_than_the_capture(void **state)
{
	(void)state;
	begin();
	control(4, NV_CTRL_GROUP_SCHEDULE, 2, 1);
	assert_int_equal(LAST.schedule.channels, UNKNOWN);
	assert_int_equal(LAST.schedule.timeslice, 0);
	assert_int_equal(LAST.schedule.nv_engine, 0);
	control(5, NV_CTRL_GET_TOKEN, 4, 3 << 16 | 1);
	assert_int_equal(LAST.token.tsg, 0);
	assert_int_equal(LAST.token.runlist, 3);
	hint(GRT_NV_EXIT, 0, 70);
	assert_int_equal(grt_nv_settle(d, now, nobody, NULL), 0);
	assert_int_equal(LAST.e.type, GRT_EV_TSG_DESTROY);
	assert_int_equal(LAST.destroy.cause, 4);
	assert_true(grt_nv_count(d).partly >= 3);
	finish();
}

static void dup(uint32_t to, uint32_t handle, uint32_t source)
{
	struct grt_nv_call c = call_of(NV_ESC_RM_DUP_OBJECT, NV_DUP_SIZE, 2);

	put32(c.head, NV_DUP_CLIENT, to);
	put32(c.head, NV_DUP_PARENT, to);
	put32(c.head, NV_DUP_OBJECT, handle);
	put32(c.head, NV_DUP_CLIENT_SRC, CLIENT);
	put32(c.head, NV_DUP_OBJECT_SRC, source);
	give(&c);
}

static void duplicates(void **state)
{
	(void)state;
	begin();
	usual();
	client(2, CLIENT + 1);
	dup(CLIENT + 1, 50, 4);
	release(4);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 0);
	release(CLIENT);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 0);
	hint(GRT_NV_CLOSED, 2, 70);
	assert_int_equal(grt_nv_settle(d, now, nobody, NULL), 0);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 1);
	assert_int_equal(LAST.destroy.tsg, 4);
	assert_int_equal(LAST.destroy.cause, 3);
	/* onto itself */
	usual();
	dup(CLIENT, 4, 4);
	release(4);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 2);
	finish();
}

static void files(void **state)
{
	uint32_t heir = 90;

	(void)state;
	begin();
	usual();
	hint(GRT_NV_EXIT, 0, 70);
	assert_true(grt_nv_unsettled(d));
	assert_int_equal(grt_nv_settle(d, now, everybody, &heir), 0);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 0);
	assert_false(grt_nv_unsettled(d));
	hint(GRT_NV_EXIT, 0, 90);
	assert_int_equal(grt_nv_settle(d, now, nobody, NULL), 0);
	assert_int_equal(LAST.destroy.cause, 4);
	assert_int_equal(LAST.e.pid, 90);
	/* where nobody can tell: with the process that used it */
	usual();
	hint(GRT_NV_EXEC, 0, 70);
	assert_int_equal(grt_nv_settle(d, now, NULL, NULL), 0);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 1);
	hint(GRT_NV_EXIT, 0, 70);
	assert_int_equal(grt_nv_settle(d, now, NULL, NULL), 0);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 2);
	/* a new file in its place */
	usual();
	hint(GRT_NV_OPENED, 1, 99);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 3);
	finish();
}

/* A file that came after the look is not judged by it; one that nothing explains waits for another. */
static void looks(void **state)
{
	uint64_t looked;

	(void)state;
	begin();
	client(9, CLIENT + 9);
	looked = now;
	usual();
	hint(GRT_NV_EXIT, 0, 1);
	assert_int_equal(grt_nv_settle(d, looked, nobody, NULL), 0);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 0);
	assert_true(grt_nv_unsettled(d));
	assert_int_equal(grt_nv_settle(d, now, nobody, NULL), 0);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 0);
	assert_true(grt_nv_unsettled(d));
	assert_int_equal(grt_nv_settle(d, now, nobody, NULL), 0);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 1);
	assert_int_equal(LAST.destroy.cause, 0);
	assert_false(grt_nv_unsettled(d));
	finish();
}

static void handles_used_again(void **state)
{
	(void)state;
	begin();
	usual();
	group(2, 4, 9, 0);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 1);
	assert_int_equal(told.of[GRT_EV_TSG_INIT], 2);
	/* its own parent */
	channel(77, 77, 0);
	release(77);
	/* the client's handle by another file: the first client is no more */
	client(7, CLIENT);
	assert_int_equal(told.of[GRT_EV_TSG_DESTROY], 2);
	finish();
}

static void short_and_packed(void **state)
{
	struct grt_nv_call c;

	(void)state;
	begin();
	usual();
	c = alloc_call(1, CLIENT, 2, 60, NV_CLASS_CHANNEL_GROUP);
	c.params_size = 12;
	give(&c);
	assert_int_equal(LAST.init.nv_engine, 0);
	c = alloc_call(1, CLIENT, 2, 61, NV_CLASS_CHANNEL_GROUP);
	put32(c.params, NV_GROUP_ENGINE, 1);
	put32(c.head, NV_ALLOC_FLAGS_64, NV_ALLOC_PACKED);
	give(&c);
	assert_int_equal(LAST.init.nv_engine, 0);
	c = control_call(4, NV_CTRL_GROUP_SCHEDULE, 2);
	put32(c.head, NV_CONTROL_FLAGS, NV_CONTROL_PACKED);
	give(&c);
	control(4, NV_CTRL_GROUP_SET_TIMESLICE, 4, 3);
	c = call_of(NV_ESC_RM_ALLOC, 40, 1);
	give(&c);
	c = call_of(NV_ESC_RM_FREE, NV_FREE_SIZE, 1);
	c.head_size = 8;
	give(&c);
	assert_int_equal(told.of[GRT_EV_TSG_SCHEDULE] + told.of[GRT_EV_TSG_SET], 0);
	assert_int_equal(grt_nv_count(d).unknown, 6);
	c.head_size = GRT_NV_HEAD + 1;
	assert_int_equal(grt_nv_call(d, &c), -EPROTO);
	c.head_size = 0;
	c.kind = 77;
	assert_int_equal(grt_nv_call(d, &c), -EPROTO);
	finish();
}

static void too_many(void **state)
{
	struct grt_nv_call c;

	(void)state;
	begin();
	client(1, CLIENT);
	for (uint32_t i = 0; i < GRT_NV_NODES_MAX + 10; i++) {
		c = alloc_call(1, CLIENT, CLIENT, 100 + i, NV_CLASS_VASPACE);
		give(&c);
	}
	assert_true(grt_nv_count(d).over >= 10);
	release(CLIENT);
	usual();
	assert_int_equal(told.of[GRT_EV_TSG_INIT], 1);
	finish();
}

static void names(void **state)
{
	char text[GRT_NV_ENGINE_MAX];

	(void)state;
	assert_string_equal(grt_nv_engine_name(text, 1), "GRAPHICS");
	assert_string_equal(grt_nv_engine_name(text, 2), "GRAPHICS1");
	assert_string_equal(grt_nv_engine_name(text, 9), "COPY0");
	assert_string_equal(grt_nv_engine_name(text, 0x12), "COPY9");
	assert_string_equal(grt_nv_engine_name(text, 0x34), "COPY10");
	assert_string_equal(grt_nv_engine_name(text, 0x33), "OFA0");
	assert_string_equal(grt_nv_engine_name(text, 0x99), "0x99");
	for (uint32_t nv = 1; nv < 0x54; nv++) {
		const char *name = grt_nv_engine_name(text, nv);

		if (name[0] != '0')
			assert_int_equal(grt_nv_engine_number(name, strlen(name)), nv);
	}
	assert_int_equal(grt_nv_engine_of(9), GRT_ENGINE_COPY);
	assert_string_equal(grt_nv_status_name(0x40), "INVALID_STATE");
	assert_null(grt_nv_status_name(0x9999));
	assert_string_equal(grt_nv_ioctl_name("nvidiactl", 0xc030462b), "NV_ESC_RM_ALLOC");
	assert_null(grt_nv_ioctl_name("nvidiactl", 0xc030642b));
	assert_string_equal(grt_nv_ioctl_name("nvidia-uvm", 51), "UVM_MIGRATE");
	assert_string_equal(grt_nv_ioctl_name("nvidiactl", 0xc020462a), "NV_ESC_RM_CONTROL");
	assert_null(grt_nv_ioctl_name("nvidiactl", 51));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(born_and_freed),
		cmocka_unit_test(goes_with_its_owner),
		cmocka_unit_test(runlists_are_learnt),
		cmocka_unit_test(tokens_of_unknown_form),
		cmocka_unit_test(parts_of_a_gpu),
		cmocka_unit_test(addresses_of_gpus),
		cmocka_unit_test(subcontexts),
		cmocka_unit_test(what_is_set),
		cmocka_unit_test(refused),
		cmocka_unit_test(numbers_of_channels),
		cmocka_unit_test(alone),
		cmocka_unit_test(older_than_the_capture),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(files),
		cmocka_unit_test(looks),
		cmocka_unit_test(handles_used_again),
		cmocka_unit_test(short_and_packed),
		cmocka_unit_test(too_many),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
