// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace's record of virtio-gpu's and dma_fence's tracepoints, in an instance
 * that nobody else uses, read from its text.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "wait.h"

#define TRACING "/sys/kernel/tracing"
#define INSTANCE TRACING "/instances/grtrace_test"

static const struct {
	const char *system, *name;
} points[FT_KINDS] = {
	[FT_QUEUE] = {"virtio_gpu", "virtio_gpu_cmd_queue"},
	[FT_RESPONSE] = {"virtio_gpu", "virtio_gpu_cmd_response"},
	[FT_SIGNALED] = {"dma_fence", "dma_fence_signaled"},
	[FT_WAIT_START] = {"dma_fence", "dma_fence_wait_start"},
	[FT_WAIT_END] = {"dma_fence", "dma_fence_wait_end"},
};

static bool put(const char *file, const char *text)
{
	char path[256];
	bool good;
	int fd;

	snprintf(path, sizeof(path), INSTANCE "/%s", file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return false;
	good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return good;
}

static bool switch_events(const char *on)
{
	char file[128];
	int i;

	for (i = 0; i < FT_KINDS; i++) {
		snprintf(file, sizeof(file), "events/%s/%s/enable", points[i].system, points[i].name);
		if (!put(file, on))
			return false;
	}
	return true;
}

const char *ft_start(void)
{
	if (access(TRACING "/instances", F_OK))
		return "tracefs is not mounted: mount -t tracefs tracefs " TRACING;
	rmdir(INSTANCE);
	if (mkdir(INSTANCE, 0700))
		return "ftrace gives no instance";
	if (!put("trace_clock", "mono") || !put("buffer_size_kb", "16384") || !switch_events("1"))
		return "ftrace has not the tracepoints of virtio_gpu and dma_fence";
	return NULL;
}

/* The number behind " key=" or "(key="; 0 without it. */
static uint64_t number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 0) : 0;
}

/*
 *	kmscube-281 [001] .....  12.345678: virtio_gpu_cmd_queue: vdev=0 ... type=0x207 flags=0x1 ...
 *	kmscube-281 [001] .....  12.345678: dma_fence_signaled: driver=virtio_gpu ... context=3 seqno=7
 */
static bool parse(const char *line, struct ft_event *e)
{
	const char *cpu = strstr(line, " ["), *at = cpu, *fields = NULL;
	char mark[64];
	int kind;

	if (!cpu || *line == '#')
		return false;
	for (kind = 0; kind < FT_KINDS && !fields; kind++) {
		snprintf(mark, sizeof(mark), ": %s: ", points[kind].name);
		fields = strstr(line, mark);
		e->kind = kind;
	}
	if (!fields)
		return false;
	e->unnamed = e->kind >= FT_SIGNALED && !strstr(fields, "driver=virtio_gpu ");
	if (e->unnamed && !strstr(fields, "driver=detached-driver "))
		return false;
	while (at > line && at[-1] != '-')
		at--;
	e->tid = strtoul(at, NULL, 10);
	for (at = fields; at > line && at[-1] != ' '; at--)
		;
	e->time = strtoull(at, NULL, 10) * 1000000000ULL + strtoull(strchr(at, '.') + 1, NULL, 10) * 1000;
	e->ctx = number(fields, " context=");
	e->device = number(fields, "vdev=");
	e->type = number(fields, " type=");
	e->id = number(fields, e->kind < FT_SIGNALED ? " fence_id=" : " seqno=");
	e->fenced = e->kind >= FT_SIGNALED || number(fields, " flags=") & 1;
	return true;
}

static void add(struct ft_log *log, const struct ft_event *e)
{
	if (!(log->count & (log->count + 1) & 0xffff) || !log->event) {
		log->event = reallocarray(log->event, log->count + 0x10000, sizeof(*e));
		if (!log->event) {
			perror("grtrace_wait");
			exit(1);
		}
	}
	log->event[log->count++] = *e;
}

static bool is_named(const struct ft_log *log, uint64_t ctx)
{
	size_t i;

	for (i = 0; i < log->count; i++)
		if (log->event[i].kind >= FT_SIGNALED && !log->event[i].unnamed && log->event[i].ctx == ctx)
			return true;
	return false;
}

/* From 6.17 on a fence that is signalled has no driver any more: its context tells. */
static void drop_others(struct ft_log *log)
{
	size_t i, kept = 0;

	for (i = 0; i < log->count; i++)
		if (!log->event[i].unnamed || is_named(log, log->event[i].ctx))
			log->event[kept++] = log->event[i];
	log->count = kept;
}

/* "# entries-in-buffer/entries-written: 12/12   #P:2": equal when nothing is lost. */
static bool complete(const char *line)
{
	unsigned long long in, written;

	if (sscanf(line, "# entries-in-buffer/entries-written: %llu/%llu", &in, &written) != 2)
		return true;
	if (in != written)
		TAP_FAIL("ftrace itself has lost %llu events", written - in);
	return in == written;
}

bool ft_stop(struct ft_log *log)
{
	char line[1024];
	struct ft_event e;
	bool good = true;
	FILE *f;

	put("tracing_on", "0");
	switch_events("0");
	f = fopen(INSTANCE "/trace", "re");
	while (f && fgets(line, sizeof(line), f)) {
		good &= complete(line);
		if (parse(line, &e))
			add(log, &e);
	}
	if (f)
		fclose(f);
	drop_others(log);
	rmdir(INSTANCE);
	return f && good;
}

size_t ft_count(const struct ft_log *log, enum ft_kind kind, bool fenced, uint64_t from, uint64_t to)
{
	size_t i, n = 0;

	for (i = 0; i < log->count; i++)
		n += log->event[i].kind == kind && log->event[i].time >= from && log->event[i].time <= to &&
		     (log->event[i].fenced || !fenced);
	return n;
}

void ft_free(struct ft_log *log)
{
	free(log->event);
	memset(log, 0, sizeof(*log));
}
