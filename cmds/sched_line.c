// SPDX-License-Identifier: GPL-2.0
/*
 * The line of a TSG_* event in `grtrace sched`, in the form of tools for patched drivers, with correct
 * names. A row of the table below determines the contents of a line; unknown values are "?".
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <grtrace/tsg.h>

#include "base/outbuf.h"
#include "codes/nv_codes.h"
#include "sched.h"

#define UNKNOWN UINT32_MAX
#define NS_PER_DAY (86400 * NS_PER_S)

static char *put_number(char *p, const char *key, uint32_t value, bool known)
{
	p = grt_format_word(p, key);
	return known ? grt_format_u64(p, value) : grt_format_word(p, "?");
}

/* A channel's handle, with its client if that is not the group's. */
static char *put_handle(char *p, const char *key, uint32_t handle, uint32_t client, const struct grt_event *e)
{
	bool other = handle && client && client != ((const struct grt_tsg_event *)e)->client;

	if (!handle)
		return p + sprintf(p, "%s?", key);
	return p + (other ? sprintf(p, "%s%08" PRIx32 ":%" PRIx32, key, client, handle)
			  : sprintf(p, "%s%" PRIx32, key, handle));
}

static char *put_channel(char *p, const struct grt_event *e)
{
	const struct grt_ev_tsg_schedule *ev = (const struct grt_ev_tsg_schedule *)e;

	return ev->channel ? put_handle(p, " channel=", ev->channel, ev->channel_client, e) : p;
}

/* TSG_TOKEN and TSG_CHANNEL have the same layout, so one struct reads both. */
static char *put_bound(char *p, const struct grt_event *e)
{
	const struct grt_ev_tsg_token *ev = (const struct grt_ev_tsg_token *)e;

	return put_handle(p, " handle=", ev->channel, ev->channel_client, e);
}

_Static_assert(offsetof(struct grt_ev_tsg_token, channel) == offsetof(struct grt_ev_tsg_channel, channel) &&
		       offsetof(struct grt_ev_tsg_token, channel_client) ==
			       offsetof(struct grt_ev_tsg_channel, channel_client),
	       "the same places");

static char *put_token(char *p, const struct grt_event *e)
{
	const struct grt_ev_tsg_token *ev = (const struct grt_ev_tsg_token *)e;

	return put_number(p, " token=", ev->token, !ev->status || ev->chid != UNKNOWN);
}

/* A subcontext: "none was named" is different from "unknown". */
static char *put_subcontext(char *p, const struct grt_event *e)
{
	const struct grt_ev_tsg_channel *ev = (const struct grt_ev_tsg_channel *)e;

	if (!ev->subctx || ev->subctx == UNKNOWN)
		return grt_format_word(p, ev->subctx ? " subctx=?" : " subctx=none");
	p += sprintf(p, " subctx=%" PRIx32, ev->subctx);
	return put_number(p, " veid=", ev->veid, ev->veid != UNKNOWN);
}

/* The driver's own answer, if it refused; from 0xfffff001 on, the kernel answered in its place. */
static char *put_status(char *p, const struct grt_event *e)
{
	uint32_t status = sched_status(e);
	const char *name = grt_nv_status_name(status);

	if (!status)
		return p;
	p = grt_format_word(p, " status=");
	if (status >= 0xfffff001)
		return grt_format_word(grt_format_word(p, "-"), strerrorname_np(-(int32_t)status) ?: "?");
	return name ? grt_format_word(p, name) : grt_format_hex(p, status);
}

static char *put_allowed(char *p, const struct grt_event *e)
{
	return put_status(grt_format_word(p, sched_status(e) ? " allowed=no" : " allowed=yes"), e);
}

#define US .unit = " us"

static const struct grt_text_row fields[] = {
	GRT_TEXT_ROW(TSG_INIT, nv_engine, .name = "engine"),
	GRT_TEXT_ROW(TSG_INIT, timeslice, US),
	GRT_TEXT_ROW(TSG_INIT, interleave),
	GRT_TEXT_ROW(TSG_INIT, runlist),
	GRT_TEXT_ROW(TSG_INIT, bus, .name = "gpu"),
	GRT_TEXT_ROW(TSG_INIT, status, .put = put_status),
	GRT_TEXT_ROW(TSG_SCHEDULE, channel, .put = put_channel),
	GRT_TEXT_ROW(TSG_SCHEDULE, channels),
	GRT_TEXT_ROW(TSG_SCHEDULE, timeslice, US),
	GRT_TEXT_ROW(TSG_SCHEDULE, interleave),
	GRT_TEXT_ROW(TSG_SCHEDULE, status, .put = put_allowed),
	GRT_TEXT_ROW(TSG_TOKEN, chid, .name = "channel"),
	GRT_TEXT_ROW(TSG_TOKEN, channel, .put = put_bound),
	GRT_TEXT_ROW(TSG_TOKEN, token, .put = put_token),
	GRT_TEXT_ROW(TSG_TOKEN, runlist),
	GRT_TEXT_ROW(TSG_TOKEN, bus, .name = "gpu"),
	GRT_TEXT_ROW(TSG_TOKEN, status, .put = put_status),
	GRT_TEXT_ROW(TSG_CHANNEL, chid, .name = "channel"),
	GRT_TEXT_ROW(TSG_CHANNEL, channel, .put = put_bound),
	GRT_TEXT_ROW(TSG_CHANNEL, channels),
	GRT_TEXT_ROW(TSG_CHANNEL, subctx, .put = put_subcontext),
	GRT_TEXT_ROW(TSG_CHANNEL, context, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(TSG_SET, timeslice, .hide = GRT_TEXT_HIDE_ZERO, US),
	GRT_TEXT_ROW(TSG_SET, interleave, .hide = GRT_TEXT_HIDE_UNKNOWN),
	GRT_TEXT_ROW(TSG_SET, status, .put = put_allowed),
	GRT_TEXT_ROW(TSG_DESTROY, cause),
	{.field = NULL},
};

int sched_line_new(struct sched *s)
{
	const struct grt_text_style style = {.rows = fields, .unknown = "?", .words = true};

	return s->as_json ? grt_event_json_new(&s->json) : grt_event_text_new(&s->text, &style);
}

/* The name of a line; @no: the name if something is revoked. */
static const struct {
	const char *title;
	const char *no;
} titles[GRT_EV_MAX] = {
	[GRT_EV_TSG_INIT] = {"TASK_INIT", NULL},    [GRT_EV_TSG_SCHEDULE] = {"SCHEDULE", "UNSCHEDULE"},
	[GRT_EV_TSG_TOKEN] = {"WORK_SUBMIT", NULL}, [GRT_EV_TSG_CHANNEL] = {"CHANNEL_ADD", "CHANNEL_FREE"},
	[GRT_EV_TSG_SET] = {"TASK_SET", NULL},	    [GRT_EV_TSG_DESTROY] = {"TASK_DESTROY", NULL},
};

static const char *sched_line_title_of(const struct grt_event *e)
{
	if ((e->type == GRT_EV_TSG_SCHEDULE && !((const struct grt_ev_tsg_schedule *)e)->on) ||
	    (e->type == GRT_EV_TSG_CHANNEL && !((const struct grt_ev_tsg_channel *)e)->bound))
		return titles[e->type].no;
	return titles[e->type].title;
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

/* "?" may be a name, so an unknown name is empty. */
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
	char pid[16], text[GRT_EVENT_TEXT_MAX];

	sched_line_put_time(s, e->time);
	snprintf(pid, sizeof(pid), "%" PRIu32, e->pid);
	printf(" [CPU%02" PRIu32 "] %-12s PID=%-6s", cpu, sched_line_title_of(e), pid);
	sched_line_put_comm(comm);
	put_identity((const struct grt_tsg_event *)e);
	*grt_event_text_put(s->text, text, e) = '\0';
	fputs(text, stdout);
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
