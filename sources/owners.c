// SPDX-License-Identifier: GPL-2.0
/* OWNER and OWNER_RANK records, see owners.h. */
#include "owners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "host/probe.h"

/*
 * Bytes of /proc/PID/status up to the line of the users, and of a path of control groups, which may have
 * 4096.
 */
#define TEXT_ROOM 8192
/* Bytes of variables that are read; further ones are ignored. */
#define ENVIRONMENT_ROOM ((size_t)256 << 10)

void owners_name(struct owners *o, uint32_t pid, const char *comm)
{
	__auto_type met = &o->met[pid % OWNERS_MAX];

	if (met->pid != pid)
		return;
	if (met->comm[0] && strncmp(met->comm, comm, sizeof(met->comm) - 1))
		met->pid = 0;
	snprintf(met->comm, sizeof(met->comm), "%s", met->pid ? comm : "");
}

/* The effective uid in "Uid: real effective saved file". */
static uint32_t owners_read_user(uint32_t pid)
{
	char text[TEXT_ROOM];
	const char *line;
	unsigned int uid;

	if (probe_read(text, sizeof(text), "/proc/%u/status", pid) <= 0)
		return UINT32_MAX;
	line = strstr(text, "\nUid:");
	return line && sscanf(line, "\nUid: %*u %u", &uid) == 1 ? uid : UINT32_MAX;
}

/* Return: the length of the path in @text, 0: unknown */
static size_t owners_read_cgroup(uint32_t pid, char text[TEXT_ROOM], const char **path)
{
	if (probe_read(text, TEXT_ROOM, "/proc/%u/cgroup", pid) <= 0)
		return 0;
	*path = grt_cgroup_path(text);
	return *path ? strlen(*path) : 0;
}

void owners_cgroup(uint32_t pid, char *out, size_t room)
{
	char text[TEXT_ROOM];
	const char *path = "";
	size_t length = owners_read_cgroup(pid, text, &path);

	/* the end of the path is the most specific part */
	snprintf(out, room, "%s", length < room ? path : path + length - room + 1);
}

static void owners_read_group(uint32_t pid, struct grt_ev_owner *ev)
{
	char text[TEXT_ROOM];
	const char *path;
	size_t length = owners_read_cgroup(pid, text, &path);

	ev->length = (uint32_t)length;
	if (length > sizeof(ev->cgroup))
		path += length - sizeof(ev->cgroup);
	if (length)
		memcpy(ev->cgroup, path, strnlen(path, sizeof(ev->cgroup)));
}

/*
 * Return: the value of a variable; NULL: there is none. Each variable ends with a NUL, the last one with the
 * byte after the text.
 */
static const char *owners_variable(const char *environment, size_t length, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = environment; at < environment + length; at += strlen(at) + 1)
		if (!strncmp(at, name, n) && at[n] == '=')
			return at + n + 1;
	return NULL;
}

/* UINT32_MAX: it is not a number. */
static uint32_t owners_number(const char *environment, size_t length, const char *name)
{
	const char *text = owners_variable(environment, length, name);
	char *end;
	unsigned long number = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : UINT32_MAX;

	return number < UINT32_MAX && !*end ? (uint32_t)number : UINT32_MAX;
}

static void owners_read_job(const char *environment, size_t length, struct grt_ev_owner_rank *ev)
{
	static const char *const ids[] = {
#define GRT_LAUNCHER_JOB(id) id,
#include "codes/launchers.def"
#undef GRT_LAUNCHER_JOB
	};
	const char *text;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) && !ev->length; i++) {
		text = owners_variable(environment, length, ids[i]);
		if (!text || !*text || !strcmp(text, "none"))
			continue;
		ev->length = (uint32_t)strlen(text);
		memcpy(ev->job, text, strnlen(text, sizeof(ev->job)));
	}
}

/* Return: whether the process has a rank, as far as its environment may be read */
static bool owners_read_rank(uint32_t pid, struct grt_ev_owner_rank *ev)
{
	char *text = malloc(ENVIRONMENT_ROOM);
	ssize_t length = text ? probe_read(text, ENVIRONMENT_ROOM, "/proc/%u/environ", pid) : 0;
	size_t n = length > 0 ? (size_t)length : 0;

	ev->rank = ev->local_rank = ev->world = UINT32_MAX;
#define GRT_LAUNCHER(number, on_host, all)                                                                \
	ev->rank = ev->rank != UINT32_MAX ? ev->rank : owners_number(text, n, number);                    \
	ev->local_rank = ev->local_rank != UINT32_MAX ? ev->local_rank : owners_number(text, n, on_host); \
	ev->world = ev->world != UINT32_MAX ? ev->world : owners_number(text, n, all);
#include "codes/launchers.def"
#undef GRT_LAUNCHER
	if (ev->rank != UINT32_MAX)
		owners_read_job(text, n, ev);
	free(text);
	return ev->rank != UINT32_MAX;
}

static int owners_add_rank(struct grt_packer *p, unsigned int cpu, uint64_t time, uint32_t pid)
{
	struct grt_ev_owner_rank ev = {.e = {.time = time,
					     .type = GRT_EV_OWNER_RANK,
					     .size = sizeof(ev),
					     .pid = pid,
					     .tid = pid,
					     .ring = GRT_RING_NONE}};
	int ret = owners_read_rank(pid, &ev) ? grt_packer_add(p, cpu, &ev.e) : 0;

	return ret == -ERANGE ? 0 : ret;
}

int owners_add(struct owners *o, struct grt_packer *p, unsigned int cpu, uint64_t time, uint32_t pid)
{
	struct grt_ev_owner ev = {.e = {.time = time,
					.type = GRT_EV_OWNER,
					.size = sizeof(ev),
					.pid = pid,
					.tid = pid,
					.ring = GRT_RING_NONE}};
	int ret;

	if (!pid || o->met[pid % OWNERS_MAX].pid == pid)
		return 0;
	ev.uid = owners_read_user(pid);
	owners_read_group(pid, &ev);
	if (ev.uid == UINT32_MAX && !ev.length)
		return 0;
	ret = grt_packer_add(p, cpu, &ev.e);
	if (ret == -ERANGE)
		return 0;
	o->met[pid % OWNERS_MAX].pid = pid;
	o->met[pid % OWNERS_MAX].comm[0] = '\0';
	return ret ?: owners_add_rank(p, cpu, time, pid);
}
