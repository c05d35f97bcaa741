// SPDX-License-Identifier: GPL-2.0
/* OWNER records, see owners.h. */
#include "owners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/probe.h"

/* Of /proc/PID/status, up to the line of the users; of a path of control groups, which may be 4096 bytes. */
#define TEXT_ROOM 8192

void owners_name(struct owners *o, uint32_t pid, const char *comm)
{
	__auto_type met = &o->met[pid % OWNERS_MAX];

	if (met->pid != pid)
		return;
	if (met->comm[0] && strncmp(met->comm, comm, sizeof(met->comm) - 1))
		met->pid = 0;
	snprintf(met->comm, sizeof(met->comm), "%s", met->pid ? comm : "");
}

/* The effective one of "Uid: real effective saved file". */
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

/* The path in the one hierarchy of version 2, else in the first of version 1. */
static void owners_read_group(uint32_t pid, struct grt_ev_owner *ev)
{
	char text[TEXT_ROOM], *line, *path;
	size_t length;

	if (probe_read(text, sizeof(text), "/proc/%u/cgroup", pid) <= 0)
		return;
	line = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
	line = line ? line + (*line == '\n') : text;
	path = strchr(line, '/');
	if (!path)
		return;
	path[strcspn(path, "\n")] = '\0';
	length = strlen(path);
	ev->length = (uint32_t)length;
	/* its end says most */
	if (length > sizeof(ev->cgroup))
		path += length - sizeof(ev->cgroup);
	memcpy(ev->cgroup, path, strnlen(path, sizeof(ev->cgroup)));
}

int owners_meet(struct owners *o, struct grt_packer *p, unsigned int cpu, uint64_t time, uint32_t pid)
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
	return ret;
}
