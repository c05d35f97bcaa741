// SPDX-License-Identifier: GPL-2.0
/*
 * Processes of a container, see hostlog_pids.h. They are not our children: the container's runtime starts
 * them. They have an environment from us, and a number in each of their namespaces, which the kernel shows
 * as long as they run. So a process is looked for as soon as the log names it.
 */
#include "hostlog_pids.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A process that has just been started may have its environment a moment later. */
#define TRIES 8
#define STATUS_ROOM 4096
#define CHUNK 4096

void hostlog_pids_init(struct hostlog_pids *p, const char *mark)
{
	*p = (struct hostlog_pids){.mark = mark};
}

static int open_of(const char *pid, const char *file)
{
	char path[300];

	snprintf(path, sizeof(path), "/proc/%.255s/%s", pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Return: the number of a process in its innermost namespace; 0: it has ended */
static uint32_t inner_number(const char *pid)
{
	char text[STATUS_ROOM], *line, *end, *last = NULL;
	int fd = open_of(pid, "status");
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nNSpid:");
	end = line ? strchr(line + 1, '\n') : NULL;
	if (!end)
		return 0;
	*end = '\0';
	last = strrchr(line, '\t');
	return last ? (uint32_t)strtoul(last, NULL, 10) : 0;
}

/* Whether a process has the mark in its environment, whose words end in NULs. */
static bool has_mark(const char *pid, const char *mark)
{
	char buf[CHUNK];
	size_t len = strlen(mark) + 1, matched = 0;
	bool begins = true;
	int fd = open_of(pid, "environ");
	ssize_t n;

	while (fd >= 0 && matched < len && (n = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n && matched < len; i++) {
			matched = begins && buf[i] == mark[matched] ? matched + 1 : 0;
			/* the rest of a word that differs is not compared */
			begins = matched || !buf[i];
		}
	if (fd >= 0)
		close(fd);
	return matched == len;
}

static uint32_t hostlog_pids_find(const char *mark, uint32_t inside)
{
	DIR *dir = opendir("/proc");
	uint32_t found = 0;
	struct dirent *e;

	while (dir && !found && (e = readdir(dir))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		if (inner_number(e->d_name) == inside && has_mark(e->d_name, mark))
			found = (uint32_t)strtoul(e->d_name, NULL, 10);
	}
	if (dir)
		closedir(dir);
	return found;
}

static const struct hostlog_pid *hostlog_pids_known(const struct hostlog_pids *p, uint32_t inside)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (p->of[i].inside == inside)
			return &p->of[i];
	return NULL;
}

void hostlog_pids_see(struct hostlog_pids *p, uint32_t inside)
{
	struct hostlog_pid *one = (struct hostlog_pid *)(uintptr_t)hostlog_pids_known(p, inside);

	if (!inside || (one && (one->outside || one->tries == TRIES)))
		return;
	if (!one) {
		if (p->n == HOSTLOG_PIDS_MAX)
			return;
		one = &p->of[p->n++];
		*one = (struct hostlog_pid){.inside = inside};
	}
	one->tries++;
	one->outside = hostlog_pids_find(p->mark, inside);
}

uint32_t hostlog_pids_outside(const struct hostlog_pids *p, uint32_t inside)
{
	const struct hostlog_pid *one = hostlog_pids_known(p, inside);

	return one ? one->outside : 0;
}

void hostlog_pids_text(const struct hostlog_pids *p, char *text, size_t room)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < p->n && used + 24 < room; i++) {
		used += (size_t)snprintf(text + used, room - used, "%s%u=", i ? "," : "", p->of[i].inside);
		if (p->of[i].outside)
			used += (size_t)snprintf(text + used, room - used, "%u", p->of[i].outside);
		else
			used += (size_t)snprintf(text + used, room - used, "?");
	}
}
