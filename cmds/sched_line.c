// SPDX-License-Identifier: GPL-2.0
/*
 * The line of a TSG_* event in `grtrace sched`: text as tools for patched
 * drivers print it, with right names, or a JSON object. What stands in a line is
 * a row of the tables below; what is not known is "?" in text and left out of
 * JSON.
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

/** struct line - how the line is printed */
struct line {
	const struct sched *s;
	bool json;
};

static void key(const struct line *l, const char *name)
{
	if (l->json)
		printf(",\"%s\":", name);
	else
		printf(" %s=", name);
}

static void put_number(const struct line *l, const char *name, uint64_t value, bool known)
{
	if (!known && l->json)
		return;
	key(l, name);
	if (known)
		printf("%" PRIu64, value);
	else
		putchar('?');
}

static void put_hex(const struct line *l, const char *name, uint32_t value, bool known)
{
	if (!known && l->json)
		return;
	key(l, name);
	if (!known)
		putchar('?');
	else
		printf(l->json ? "%" PRIu32 : "%" PRIx32, value);
}

/* A channel's handle; with its client where that is not the group's. */
static void put_handle(const struct line *l, const char *name, uint32_t handle, uint32_t client,
		       uint32_t group)
{
	bool other = handle && client && client != group;

	if (!other || l->json) {
		put_hex(l, name, handle, handle);
	} else {
		key(l, name);
		printf("%08" PRIx32 ":%" PRIx32, client, handle);
	}
	if (other && l->json)
		put_hex(l, "channel_client", client, true);
}

/* A subcontext: that none was named is known, and another thing than one that is not known. */
static void put_subcontext(const struct line *l, uint32_t handle, uint32_t veid)
{
	if (handle)
		put_hex(l, "subctx", handle, handle != UNKNOWN);
	else
		fputs(l->json ? ",\"subctx\":null" : " subctx=none", stdout);
	if (handle && handle != UNKNOWN)
		put_number(l, "veid", veid, veid != UNKNOWN);
}

/* A name of ours, or one of a thread, which may hold anything. */
static void put_word(const struct line *l, const char *name, const char *word)
{
	if (!word && l->json)
		return;
	key(l, name);
	if (l->json)
		cmd_put_json(stdout, word);
	else
		fputs(word ? word : "?", stdout);
}

static void put_us(const struct line *l, const char *name, uint64_t us)
{
	put_number(l, l->json ? "timeslice_us" : name, us, us);
	if (!l->json && us)
		fputs(" us", stdout);
}

static void put_gpu(const struct line *l, uint32_t bus)
{
	char text[GRT_BUS_MAX];

	put_word(l, "gpu", bus ? grt_bus_text(text, bus) : NULL);
}

static void put_engine(const struct line *l, uint32_t nv_engine)
{
	char text[GRT_NV_ENGINE_MAX];

	put_word(l, "engine", nv_engine ? grt_nv_engine_name(text, nv_engine) : NULL);
}

/* The driver's own answer; from 0xfffff001 on what the kernel answered in its place. */
static void put_status(const struct line *l, uint32_t status)
{
	const char *name = grt_nv_status_name(status);
	char text[32];

	if (!status && !l->json)
		return;
	if (status >= 0xfffff001)
		snprintf(text, sizeof(text), "-%s", strerrorname_np(-(int32_t)status) ?: "?");
	else if (!name)
		snprintf(text, sizeof(text), "0x%x", status);
	put_word(l, "status", name ? name : text);
}

static void put_allowed(const struct line *l, uint32_t status)
{
	if (!l->json)
		printf(" allowed=%s", status ? "no" : "yes");
	else
		printf(",\"allowed\":%s", status ? "false" : "true");
	put_status(l, status);
}

/* ------------------------------------------------------------- lines */

static void line_init(const struct line *l, const struct grt_event *e)
{
	const struct grt_ev_tsg_init *ev = (const struct grt_ev_tsg_init *)e;

	put_engine(l, ev->nv_engine);
	put_us(l, "timeslice", ev->timeslice);
	put_word(l, "interleave", grt_nv_interleave_name(ev->interleave));
	put_number(l, "runlist", ev->runlist, ev->runlist != UNKNOWN);
	put_gpu(l, ev->bus);
	put_status(l, ev->status);
}

static void line_schedule(const struct line *l, const struct grt_event *e)
{
	const struct grt_ev_tsg_schedule *ev = (const struct grt_ev_tsg_schedule *)e;

	if (ev->channel)
		put_handle(l, "channel", ev->channel, ev->channel_client, ev->client);
	put_number(l, "channels", ev->channels, ev->channels != UNKNOWN);
	put_us(l, "timeslice", ev->timeslice);
	put_word(l, "interleave", grt_nv_interleave_name(ev->interleave));
	put_allowed(l, ev->status);
}

static void line_token(const struct line *l, const struct grt_event *e)
{
	const struct grt_ev_tsg_token *ev = (const struct grt_ev_tsg_token *)e;

	put_number(l, "channel", ev->chid, ev->chid != UNKNOWN);
	put_handle(l, "handle", ev->channel, ev->channel_client, ev->client);
	put_number(l, "token", ev->token, !ev->status || ev->chid != UNKNOWN);
	put_number(l, "runlist", ev->runlist, ev->runlist != UNKNOWN);
	put_gpu(l, ev->bus);
	put_status(l, ev->status);
}

static void line_channel(const struct line *l, const struct grt_event *e)
{
	const struct grt_ev_tsg_channel *ev = (const struct grt_ev_tsg_channel *)e;

	put_number(l, "channel", ev->chid, ev->chid != UNKNOWN);
	put_handle(l, "handle", ev->channel, ev->channel_client, ev->client);
	put_number(l, "channels", ev->channels, ev->channels != UNKNOWN);
	put_subcontext(l, ev->subctx, ev->veid);
}

static void line_set(const struct line *l, const struct grt_event *e)
{
	const struct grt_ev_tsg_set *ev = (const struct grt_ev_tsg_set *)e;

	if (ev->timeslice)
		put_us(l, "timeslice", ev->timeslice);
	if (ev->interleave != UNKNOWN)
		put_word(l, "interleave", grt_nv_interleave_name(ev->interleave));
	put_allowed(l, ev->status);
}

static void line_destroy(const struct line *l, const struct grt_event *e)
{
	static const char *const causes[] = {NULL, "freed", "owner", "close", "exit"};
	const struct grt_ev_tsg_destroy *ev = (const struct grt_ev_tsg_destroy *)e;

	put_word(l, "cause", ev->cause < sizeof(causes) / sizeof(causes[0]) ? causes[ev->cause] : NULL);
}

/* What a line is called, by @no where something is taken back. */
static const struct form {
	const char *title;
	const char *no;
	void (*put)(const struct line *l, const struct grt_event *e);
} forms[GRT_EV_MAX] = {
	[GRT_EV_TSG_INIT] = {"TASK_INIT", "TASK_INIT", line_init},
	[GRT_EV_TSG_SCHEDULE] = {"SCHEDULE", "UNSCHEDULE", line_schedule},
	[GRT_EV_TSG_TOKEN] = {"WORK_SUBMIT", "WORK_SUBMIT", line_token},
	[GRT_EV_TSG_CHANNEL] = {"CHANNEL_ADD", "CHANNEL_FREE", line_channel},
	[GRT_EV_TSG_SET] = {"TASK_SET", "TASK_SET", line_set},
	[GRT_EV_TSG_DESTROY] = {"TASK_DESTROY", "TASK_DESTROY", line_destroy},
};

static const char *title_of(const struct grt_event *e)
{
	const struct form *f = &forms[e->type];

	if (e->type == GRT_EV_TSG_SCHEDULE && !((const struct grt_ev_tsg_schedule *)e)->on)
		return f->no;
	if (e->type == GRT_EV_TSG_CHANNEL && !((const struct grt_ev_tsg_channel *)e)->bound)
		return f->no;
	return f->title;
}

static void put_time(const struct sched *s, uint64_t time)
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

/* "?" may be a name, so a name that is not known is empty. */
static void put_comm(const char *comm)
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

static void text_line(const struct line *l, const struct grt_event *e, uint32_t cpu, const char *comm,
		      bool partly)
{
	char pid[16];

	put_time(l->s, e->time);
	snprintf(pid, sizeof(pid), "%" PRIu32, e->pid);
	printf(" [CPU%02" PRIu32 "] %-12s PID=%-6s", cpu, title_of(e), pid);
	put_comm(comm);
	put_identity((const struct grt_tsg_event *)e);
	forms[e->type].put(l, e);
	fputs(partly ? " known=partly\n" : "\n", stdout);
}

static void json_line(const struct line *l, const struct grt_event *e, uint32_t cpu, const char *comm,
		      const char *process, bool partly)
{
	const struct grt_tsg_event *t = (const struct grt_tsg_event *)e;

	printf("{\"time\":%" PRIu64 ",\"cpu\":%" PRIu32 ",\"event\":\"%s\",\"pid\":%" PRIu32
	       ",\"tid\":%" PRIu32,
	       (uint64_t)e->time, cpu, title_of(e), e->pid, e->tid);
	put_word(l, "comm", comm);
	put_word(l, "process", process);
	put_hex(l, "client", t->client, t->client);
	put_hex(l, "tsg", t->tsg, t->tsg);
	put_number(l, "grp", t->grp, t->grp != UNKNOWN);
	if (e->type != GRT_EV_TSG_INIT && e->type != GRT_EV_TSG_TOKEN) {
		put_number(l, "runlist", t->runlist, t->runlist != UNKNOWN);
		put_gpu(l, t->bus);
	}
	if (e->type != GRT_EV_TSG_INIT)
		put_engine(l, t->nv_engine);
	forms[e->type].put(l, e);
	if (e->flags & GRT_FLAG_INFERRED)
		fputs(",\"inferred\":true", stdout);
	if (partly)
		fputs(",\"partly_known\":true", stdout);
	fputs("}\n", stdout);
}

void sched_line(const struct sched *s, const struct grt_event *e, uint32_t cpu, bool partly)
{
	uint32_t name = grt_names_find(&s->names, GRT_NAME_THREAD, e->tid);
	const struct line l = {s, s->json};

	if (s->json)
		json_line(&l, e, cpu, grt_names_name(&s->names, name), grt_names_owner(&s->names, name),
			  partly);
	else
		text_line(&l, e, cpu, grt_names_name(&s->names, name), partly);
}
