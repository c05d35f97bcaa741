// SPDX-License-Identifier: GPL-2.0
/*
 * The line of a TSG_* event in `grtrace sched`, as tools for patched drivers
 * print it, with right names. What is in a line is a row of the tables below;
 * what is unknown is "?".
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <grtrace/tsg.h>

#include "base/bus.h"
#include "codes/nv_codes.h"
#include "sched.h"

#define UNKNOWN UINT32_MAX
#define NS_PER_DAY (86400 * NS_PER_S)

/* ------------------------------------------------------------- values */

static void key(const char *name)
{
	printf(" %s=", name);
}

static void sched_line_put_number(const char *name, uint64_t value, bool known)
{
	key(name);
	if (known)
		printf("%" PRIu64, value);
	else
		putchar('?');
}

static void sched_line_put_hex(const char *name, uint32_t value, bool known)
{
	key(name);
	if (!known)
		putchar('?');
	else
		printf("%" PRIx32, value);
}

/* A channel's handle; with its client where that is not the group's. */
static void put_handle(const char *name, uint32_t handle, uint32_t client, uint32_t group)
{
	bool other = handle && client && client != group;

	if (!other) {
		sched_line_put_hex(name, handle, handle);
	} else {
		key(name);
		printf("%08" PRIx32 ":%" PRIx32, client, handle);
	}
}

/* A subcontext: that none was named is known, and another thing than one that is unknown. */
static void put_subcontext(uint32_t handle, uint32_t veid)
{
	if (handle)
		sched_line_put_hex("subctx", handle, handle != UNKNOWN);
	else
		fputs(" subctx=none", stdout);
	if (handle && handle != UNKNOWN)
		sched_line_put_number("veid", veid, veid != UNKNOWN);
}

/* A name of ours, or one of a thread, which may hold anything. */
static void sched_line_put_word(const char *name, const char *word)
{
	key(name);
	fputs(word ? word : "?", stdout);
}

static void put_us(const char *name, uint64_t us)
{
	sched_line_put_number(name, us, us);
	if (us)
		fputs(" us", stdout);
}

static void put_gpu(uint32_t bus)
{
	char text[GRT_BUS_MAX];

	sched_line_put_word("gpu", bus ? grt_bus_text(text, bus) : NULL);
}

static void sched_line_put_engine(uint32_t nv_engine)
{
	char text[GRT_NV_ENGINE_MAX];

	sched_line_put_word("engine", nv_engine ? grt_nv_engine_name(text, nv_engine) : NULL);
}

/* The driver's own answer; from 0xfffff001 on what the kernel answered in its place. */
static void put_status(uint32_t status)
{
	const char *name = grt_nv_status_name(status);
	char text[32];

	if (!status)
		return;
	if (status >= 0xfffff001)
		snprintf(text, sizeof(text), "-%s", strerrorname_np(-(int32_t)status) ?: "?");
	else if (!name)
		snprintf(text, sizeof(text), "0x%x", status);
	sched_line_put_word("status", name ? name : text);
}

static void put_allowed(uint32_t status)
{
	printf(" allowed=%s", status ? "no" : "yes");
	put_status(status);
}

/* ------------------------------------------------------------- lines */

static void line_init(const struct grt_event *e)
{
	const struct grt_ev_tsg_init *ev = (const struct grt_ev_tsg_init *)e;

	sched_line_put_engine(ev->nv_engine);
	put_us("timeslice", ev->timeslice);
	sched_line_put_word("interleave", grt_nv_interleave_name(ev->interleave));
	sched_line_put_number("runlist", ev->runlist, ev->runlist != UNKNOWN);
	put_gpu(ev->bus);
	put_status(ev->status);
}

static void line_schedule(const struct grt_event *e)
{
	const struct grt_ev_tsg_schedule *ev = (const struct grt_ev_tsg_schedule *)e;

	if (ev->channel)
		put_handle("channel", ev->channel, ev->channel_client, ev->client);
	sched_line_put_number("channels", ev->channels, ev->channels != UNKNOWN);
	put_us("timeslice", ev->timeslice);
	sched_line_put_word("interleave", grt_nv_interleave_name(ev->interleave));
	put_allowed(ev->status);
}

static void line_token(const struct grt_event *e)
{
	const struct grt_ev_tsg_token *ev = (const struct grt_ev_tsg_token *)e;

	sched_line_put_number("channel", ev->chid, ev->chid != UNKNOWN);
	put_handle("handle", ev->channel, ev->channel_client, ev->client);
	sched_line_put_number("token", ev->token, !ev->status || ev->chid != UNKNOWN);
	sched_line_put_number("runlist", ev->runlist, ev->runlist != UNKNOWN);
	put_gpu(ev->bus);
	put_status(ev->status);
}

static void line_channel(const struct grt_event *e)
{
	const struct grt_ev_tsg_channel *ev = (const struct grt_ev_tsg_channel *)e;

	sched_line_put_number("channel", ev->chid, ev->chid != UNKNOWN);
	put_handle("handle", ev->channel, ev->channel_client, ev->client);
	sched_line_put_number("channels", ev->channels, ev->channels != UNKNOWN);
	put_subcontext(ev->subctx, ev->veid);
}

static void line_set(const struct grt_event *e)
{
	const struct grt_ev_tsg_set *ev = (const struct grt_ev_tsg_set *)e;

	if (ev->timeslice)
		put_us("timeslice", ev->timeslice);
	if (ev->interleave != UNKNOWN)
		sched_line_put_word("interleave", grt_nv_interleave_name(ev->interleave));
	put_allowed(ev->status);
}

static void line_destroy(const struct grt_event *e)
{
	static const char *const causes[] = {NULL, "freed", "owner", "close", "exit"};
	const struct grt_ev_tsg_destroy *ev = (const struct grt_ev_tsg_destroy *)e;

	sched_line_put_word("cause",
			    ev->cause < sizeof(causes) / sizeof(causes[0]) ? causes[ev->cause] : NULL);
}

/* What a line is called, by @no where something is taken back. */
static const struct form {
	const char *title;
	const char *no;
	void (*put)(const struct grt_event *e);
} forms[GRT_EV_MAX] = {
	[GRT_EV_TSG_INIT] = {"TASK_INIT", "TASK_INIT", line_init},
	[GRT_EV_TSG_SCHEDULE] = {"SCHEDULE", "UNSCHEDULE", line_schedule},
	[GRT_EV_TSG_TOKEN] = {"WORK_SUBMIT", "WORK_SUBMIT", line_token},
	[GRT_EV_TSG_CHANNEL] = {"CHANNEL_ADD", "CHANNEL_FREE", line_channel},
	[GRT_EV_TSG_SET] = {"TASK_SET", "TASK_SET", line_set},
	[GRT_EV_TSG_DESTROY] = {"TASK_DESTROY", "TASK_DESTROY", line_destroy},
};

static const char *sched_line_title_of(const struct grt_event *e)
{
	const struct form *f = &forms[e->type];

	if (e->type == GRT_EV_TSG_SCHEDULE && !((const struct grt_ev_tsg_schedule *)e)->on)
		return f->no;
	if (e->type == GRT_EV_TSG_CHANNEL && !((const struct grt_ev_tsg_channel *)e)->bound)
		return f->no;
	return f->title;
}

static void sched_line_put_time(const struct sched *s, uint64_t time)
{
	uint64_t ns = s->own_clock ? time % NS_PER_DAY : time + (uint64_t)s->offset;
	time_t seconds = (time_t)(ns / NS_PER_S);
	struct tm tm;

	if (s->own_clock)
		gmtime_r(&seconds, &tm);
	else
		localtime_r(&seconds, &tm);
	printf("%02d:%02d:%02d.%06" PRIu64, tm.tm_hour, tm.tm_min, tm.tm_sec, ns % NS_PER_S / 1000);
}

/* "?" may be a name, so a name that is unknown is empty. */
static void sched_line_put_comm(const char *comm)
{
	size_t width = comm ? strlen(comm) : 0;

	putchar(' ');
	if (comm)
		cmd_put_text(stdout, comm);
	for (; width < 16; width++)
		putchar(' ');
}

static void put_identity(const struct grt_tsg_event *t)
{
	if (t->tsg)
		printf(" TSG=%08" PRIx32 ":%08" PRIx32, t->client, t->tsg);
	else if (t->client)
		printf(" TSG=%08" PRIx32 ":?", t->client);
	else if (t->grp != UNKNOWN)
		printf(" TSG=%" PRIu32, t->grp);
	else
		fputs(" TSG=?", stdout);
}

static void sched_line_text_line(const struct sched *s, const struct grt_event *e, uint32_t cpu,
				 const char *comm, bool partly)
{
	char pid[16];

	sched_line_put_time(s, e->time);
	snprintf(pid, sizeof(pid), "%" PRIu32, e->pid);
	printf(" [CPU%02" PRIu32 "] %-12s PID=%-6s", cpu, sched_line_title_of(e), pid);
	sched_line_put_comm(comm);
	put_identity((const struct grt_tsg_event *)e);
	forms[e->type].put(e);
	fputs(partly ? " known=partly\n" : "\n", stdout);
}

void sched_line(const struct sched *s, const struct grt_event *e, uint32_t cpu, bool partly)
{
	uint32_t name = grt_names_find(&s->names, GRT_NAME_THREAD, e->tid);

	if (s->json)
		grt_event_json_print(s->json, stdout, e, cpu, partly ? ",\"partly_known\":true" : "");
	else
		sched_line_text_line(s, e, cpu, grt_names_name(&s->names, name), partly);
}
