// SPDX-License-Identifier: GPL-2.0
/*
 * The module's control files, see kmod.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GRT_CONTROL_TABLE
#include <grtrace/control.h>

#include "kmod.h"
#include "tap.h"

const char *kmod_missing(void)
{
	struct stat st;

	if (geteuid())
		return "only root may use debugfs: sudo ./grtrace_smoke";
	if (stat("/sys/kernel/debug/.", &st) || access("/sys/kernel/debug/clear_warn_once", F_OK))
		return "debugfs is not mounted: mount -t debugfs debugfs /sys/kernel/debug";
	if (access(KMOD_DIR "/version", F_OK))
		return "the module is not loaded: insmod grtrace.ko, or modprobe grtrace";
	return NULL;
}

int kmod_open(const char *file, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", KMOD_DIR, file);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int kmod_write(const char *file, const char *text)
{
	int fd = kmod_open(file, O_WRONLY), err = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = write(fd, text, strlen(text));
	if (n < 0)
		err = -errno;
	else if ((size_t)n != strlen(text))
		err = -EIO;
	close(fd);
	return err;
}

ssize_t kmod_read(const char *file, char *buf, size_t size)
{
	int fd = kmod_open(file, O_RDONLY);
	size_t done = 0;
	ssize_t n;

	buf[0] = 0;
	if (fd < 0)
		return fd;
	while ((n = read(fd, buf + done, size - 1 - done)) > 0)
		done += n;
	if (n < 0)
		n = -errno;
	buf[done] = 0;
	close(fd);
	return n < 0 ? n : (ssize_t)done;
}

int kmod_config(const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return kmod_write("config", text);
}

bool kmod_config_get(const char *key, char *value, size_t size)
{
	char text[8192], *line, *at = text;
	size_t len = strlen(key);
	bool listed = false;

	value[0] = 0;
	kmod_read("config", text, sizeof(text));
	while ((line = strsep(&at, "\n")))
		if (!strncmp(line, key, len) && line[len] == '=') {
			snprintf(value, size, "%s", line + len + 1);
			listed = true;
		}
	return listed;
}

int kmod_emit(const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return kmod_write("emit", text);
}

uint64_t kmod_stat(const char *line, const char *word)
{
	static char text[65536];
	char *at = text, *l, *w;
	size_t len = strlen(line);

	kmod_read("stats", text, sizeof(text));
	while ((l = strsep(&at, "\n"))) {
		if (strncmp(l, line, len) || l[len] != ' ')
			continue;
		if (!word)
			return strtoull(l + len + 1, NULL, 10);
		l += len + 1;
		while ((w = strsep(&l, " ")))
			if (!strncmp(w, word, strlen(word)) && w[strlen(word)] == '=')
				return strtoull(w + strlen(word) + 1, NULL, 10);
	}
	return UINT64_MAX;
}

static const char *const fate_names[GRT_FATES] = {
#define GRT_FATE(NAME, name, help) [GRT_FATE_##NAME] = #name,
#include <grtrace/fates.def>
#undef GRT_FATE
};

struct grt_balance kmod_balance(const char *line)
{
	struct grt_balance b = {.emitted = kmod_stat(line, "emitted")};
	int i;

	for (i = 0; i < GRT_FATES; i++)
		b.fate[i] = kmod_stat(line, fate_names[i]);
	return b;
}

uint64_t kmod_delivered(const char *type)
{
	char text[4096], *at = text, *line;
	size_t len = strlen(type);

	kmod_read("events_by_type", text, sizeof(text));
	while ((line = strsep(&at, "\n")))
		if (!strncmp(line, type, len) && line[len] == ' ')
			return strtoull(line + len + 1, NULL, 10);
	return UINT64_MAX;
}

/* The default of a key as `config` takes it. */
static void default_text(const struct grt_key_desc *d, char *text, size_t size)
{
	if (d->kind == GRT_KEY_LIST)
		text[0] = 0;
	else if (d->kind == GRT_KEY_S64)
		snprintf(text, size, "%lld", (long long)d->def);
	else
		snprintf(text, size, "%llu", (unsigned long long)d->def);
}

void kmod_reset(void)
{
	const struct grt_key_desc *d;
	char text[64], now[64];
	int err;

	kmod_unpin();
	err = kmod_write("control", "stop");
	if (!err)
		err = kmod_write("control", "clear");
	for (d = grt_key_table; !err && d < grt_key_table + GRT_CONFIG_KEYS; d++) {
		default_text(d, text, sizeof(text));
		if (!kmod_config_get(d->name, now, sizeof(now)))
			continue; /* of a stage that is not loaded */
		if (strcmp(now, text))
			err = kmod_config("%s=%s", d->name, text);
		if (err == -ENODEV)
			err = 0; /* the stage has gone meanwhile */
	}
	if (err)
		TAP_FAIL("cannot bring the module to its defaults: %s", strerror(-err));
}

bool kmod_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

void kmod_unpin(void)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	sched_setaffinity(0, sizeof(set), &set);
}

int kmod_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

uint64_t kmod_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}
