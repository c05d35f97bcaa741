// SPDX-License-Identifier: GPL-2.0
/*
 * A client with the layouts of an older header, see old_client.h. It includes no
 * header of the library that is tested.
 */
#include "old_client.h"

#include <string.h>
#include <sys/types.h>

struct grt_event;
struct grt_packet;
struct grt_err;
struct grt_session;
struct old_consumer;

typedef int (*old_event_fn)(struct old_consumer *c, const struct grt_event *e, uint32_t cpu);

struct old_consumer {
	int (*packet)(struct old_consumer *c, const struct grt_packet *p);
	old_event_fn event, unknown, beyond, late;
	old_event_fn job, wait, error, command, irq, name, call, dep, vblank, mem, xid, counter, stack,
		aggregate, tsg;
};

struct old_live {
	ssize_t (*read)(void *arg, unsigned int i, void *buf, size_t len);
	void *arg;
	unsigned int streams;
};

/* The beginning of struct grt_health. */
struct old_health {
	uint64_t size, events, unknown;
};

int grt_session_open(struct grt_session **out, const char *path, struct grt_err *err);
int grt_session_open_live_sized(struct grt_session **out, const struct old_live *live, size_t size,
				struct grt_err *err);
int grt_session_run_sized(struct grt_session *s, struct old_consumer *c, size_t size, uint64_t from,
			  uint64_t to, struct grt_err *err);
int grt_session_run_live_sized(struct grt_session *s, struct old_consumer *c, size_t size, uint64_t until,
			       struct grt_err *err);
const struct old_health *grt_session_health(const struct grt_session *s);
void grt_session_close(struct grt_session *s);

#define MEMBER(name)                                       \
	{                                                  \
#name, offsetof(struct old_consumer, name) \
	}
const struct old_member old_members[] = {
	MEMBER(packet),	   MEMBER(event),   MEMBER(unknown),
	MEMBER(beyond),	   MEMBER(late),    MEMBER(job),
	MEMBER(wait),	   MEMBER(error),   MEMBER(command),
	MEMBER(irq),	   MEMBER(name),    MEMBER(call),
	MEMBER(dep),	   MEMBER(vblank),  MEMBER(mem),
	MEMBER(xid),	   MEMBER(counter), MEMBER(stack),
	MEMBER(aggregate), MEMBER(tsg),	    {NULL, sizeof(struct old_consumer)},
};

/* What a program has behind the consumer that it embeds. */
struct client {
	struct old_consumer c;
	old_event_fn behind[64];
	struct old_counts *n;
};

static int old_packet(struct old_consumer *c, const struct grt_packet *p)
{
	(void)p;
	((struct client *)c)->n->packets++;
	return 0;
}

#define CALLBACK(what)                                                                         \
	static int old_##what(struct old_consumer *c, const struct grt_event *e, uint32_t cpu) \
	{                                                                                      \
		(void)e;                                                                       \
		(void)cpu;                                                                     \
		((struct client *)c)->n->what++;                                               \
		return 0;                                                                      \
	}
CALLBACK(events)
CALLBACK(unknown)
CALLBACK(job)
CALLBACK(wait)
CALLBACK(tsg)
CALLBACK(behind)

int old_client_run(const char *path, struct old_counts *counts)
{
	struct client client = {
		.c = {.packet = old_packet,
		      .event = old_events,
		      .unknown = old_unknown,
		      .job = old_job,
		      .wait = old_wait,
		      .tsg = old_tsg},
		.n = counts,
	};
	const struct old_health *h;
	struct grt_session *s;
	int ret;

	for (size_t i = 0; i < sizeof(client.behind) / sizeof(client.behind[0]); i++)
		client.behind[i] = old_behind;
	memset(counts, 0, sizeof(*counts));
	ret = grt_session_open(&s, path, NULL);
	if (ret)
		return ret;
	ret = grt_session_run_sized(s, &client.c, sizeof(client.c), 0, UINT64_MAX, NULL);
	h = grt_session_health(s);
	if (h->size < sizeof(*h) || h->events != counts->events || h->unknown != counts->unknown)
		ret = 1;
	grt_session_close(s);
	return ret;
}

static ssize_t old_read(void *arg, unsigned int i, void *buf, size_t len)
{
	(void)i;
	(void)buf;
	(void)len;
	++*(unsigned int *)arg;
	return 0;
}

int old_client_follow(unsigned int *reads)
{
	struct old_live live = {.read = old_read, .arg = reads, .streams = 3};
	struct old_consumer c = {.packet = NULL};
	struct grt_session *s;
	int ret = grt_session_open_live_sized(&s, &live, sizeof(live), NULL);

	if (ret)
		return ret;
	ret = grt_session_run_live_sized(s, &c, sizeof(c), UINT64_MAX, NULL);
	grt_session_close(s);
	return ret;
}
