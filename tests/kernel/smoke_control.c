// SPDX-License-Identifier: GPL-2.0
/*
 * Cases about the control files: what they take, what they refuse and what they
 * then say. A refused write must leave the value as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRT_CONTROL_TABLE
#include <grtrace/control.h>

#include "smoke.h"
#include "tap.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/**
 * struct attempt - a value written to a key
 * @key, @value: what
 * @err: what the write gives, 0 or a positive errno
 * @reads: what the key says then, NULL: as before
 */
struct attempt {
	const char *key;
	const char *value;
	int err;
	const char *reads;
};

static const struct attempt attempts[] = {
	{"enable", "1", 0, "1"},
	{"enable", "2", ERANGE, NULL},
	{"enable", "-1", EINVAL, NULL},
	{"enable", "on", EINVAL, NULL},
	{"enable", "", EINVAL, NULL},
	{"enable", "0", 0, "0"},
	{"level", "verbose", 0, "verbose"},
	{"level", "4", ERANGE, NULL},
	{"level", "loud", EINVAL, NULL},
	{"level", "3", 0, "debug"},
	{"level", "-1", EINVAL, NULL},
	{"level", "off", 0, "off"},
	{"level", "0x1", 0, "normal"},
	{"buffer_size", "131072", 0, "131072"},
	{"buffer_size", "65535", ERANGE, NULL},
	{"buffer_size", "1073741825", ERANGE, NULL},
	{"buffer_size", "18446744073709551616", ERANGE, NULL},
	{"buffer_size", "4M", EINVAL, NULL},
	{"buffer_size", "65536", 0, "65536"},
	{"trace_ctx", "0x1234", 0, "4660"},
	{"trace_ctx", "-1", EINVAL, NULL},
	{"trace_ctx", "18446744073709551616", ERANGE, NULL},
	{"trace_ctx", "12 34", EINVAL, NULL},
	{"trace_ctx", "0xffffffffffffffff", 0, "18446744073709551615"},
	{"sample", "37", 0, "37"},
	{"sample", "101", ERANGE, NULL},
	{"sample", "-1", EINVAL, NULL},
	{"sample", "1.5", EINVAL, NULL},
	{"sample", "0", 0, "0"},
	{"max_events_per_sec", "4294967295", 0, "4294967295"},
	{"max_events_per_sec", "4294967296", ERANGE, NULL},
	{"max_events_per_sec", "many", EINVAL, NULL},
	{"filter_engine_mask", "graphics,copy", 0, "0xa"},
	{"filter_engine_mask", "0x100000000", ERANGE, NULL},
	{"filter_engine_mask", "graphics,steam", EINVAL, NULL},
	{"filter_engine_mask", "graphics,", EINVAL, NULL},
	{"filter_engine_mask", "5", 0, "0x5"},
	{"filter_ring_id", "4294967294", 0, "4294967294"},
	{"filter_ring_id", "4294967295", ERANGE, NULL},
	{"filter_ring_id", "-2", ERANGE, NULL},
	{"filter_ring_id", "ring", EINVAL, NULL},
	{"filter_ring_id", "-1", 0, "-1"},
	{"filter_events", "SUBMIT,complete", 0, "submit,complete"},
	{"filter_events", "submit,commited", EINVAL, NULL},
	{"filter_events", "18446744073709551616", ERANGE, NULL},
	{"filter_events", "0x3e", 0, "submit,commit,start,end,complete"},
	{"filter_events", "0x3", EINVAL, NULL}, /* no event has the number 0 */
	{"filter_events", "0xffffffff", EINVAL, NULL},
	{"filter_events", "-irq", 0, "-irq"},
	{"filter_events", "-vblank,-irq", 0, "-irq,vblank"},
	{"filter_events", "vblank,-irq", EINVAL, NULL},
	{"filter_events", "-", EINVAL, NULL},
	{"filter_events", "-all", EINVAL, NULL},
	{"filter_events", "irq,", EINVAL, NULL},
	{"filter_events", "irq,7", EINVAL, NULL},
	{"filter_events", "", EINVAL, NULL},
	{"filter_events", "none", 0, "none"},
	{"filter_events", "0", 0, "none"},
	{"filter_events", "all", 0, "all"},
	{"filter_events", "0x80", 0, "irq"},
	{"filter_events", "0xffffffffffffffff", 0, "all"},
	{"filter_pid", "4194304", 0, "4194304"},
	{"filter_pid", "4194305", ERANGE, NULL},
	{"filter_pid", "-5", EINVAL, NULL},
	{"filter_pid", "", 0, "0"},
	{"filter_pid", "17,4100001 5", 0, "17,4100001,5"},
	{"filter_pid", "1,2,x", EINVAL, NULL},
	{"filter_pid",
	 "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33", E2BIG,
	 NULL},
	{"filter_pid", "0", 0, "0"},
	{"filter_uid", "1000", 0, "1000"},
	{"filter_uid", "-2", ERANGE, NULL},
	{"filter_uid", "4294967295", ERANGE, NULL},
	{"filter_uid", "root", EINVAL, NULL},
	{"filter_uid", "0", 0, "0"},
	{"filter_latency", "3600000000", 0, "3600000000"},
	{"filter_latency", "3600000001", ERANGE, NULL},
	{"filter_latency", "1ms", EINVAL, NULL},
	{"filter_enabled", "0", 0, "0"},
	{"filter_enabled", "2", ERANGE, NULL},
	{"filter_enabled", "1", 0, "1"},
	{"aggregator_enable", "1", 0, "1"},
	{"aggregator_enable", "2", ERANGE, NULL},
	{"aggregator_enable", "0", 0, "0"},
	{"aggregator_window", "100", 0, "100"},
	{"aggregator_window", "99", ERANGE, NULL},
	{"aggregator_window", "60000", 0, "60000"},
	{"aggregator_window", "60001", ERANGE, NULL},
	{"aggregator_window", "1s", EINVAL, NULL},
	{"aggregator_replace", "1", 0, "1"},
	{"aggregator_replace", "yes", EINVAL, NULL},
	{"perf_mon", "0", 0, "0"},
	{"perf_mon", "2", ERANGE, NULL},
	{"sampling_mode", "adaptive", 0, "adaptive"},
	{"sampling_mode", "2", 0, "threshold"},
	{"sampling_mode", "3", ERANGE, NULL},
	{"sampling_mode", "stat", EINVAL, NULL},
	{"sampling_mode", "static|adaptive", EINVAL, NULL},
	{"sampling_mode", "", EINVAL, NULL},
	{"sampling_mode", "static", 0, "static"},
	{"sampling_threshold", "0", 0, "0"},
	{"sampling_threshold", "3600000000001", ERANGE, NULL},
	{"sampling_threshold", "1us", EINVAL, NULL},
	{"sampling_budget", "100", 0, "100"},
	{"sampling_budget", "0", ERANGE, NULL},
	{"sampling_budget", "101", ERANGE, NULL},
	{"rate_limit_mode", "token_bucket", 0, "token_bucket"},
	{"rate_limit_mode", "bucket", EINVAL, NULL},
	{"rate_limit_mode", "2", ERANGE, NULL},
	{"rate_limit_burst", "4294967295", 0, "4294967295"},
	{"rate_limit_burst", "4294967296", ERANGE, NULL},
	{"rate_limit_burst", "", EINVAL, NULL},
	{"watchlist", "0,1 ring:3 ctx:0x1234 !2 !ctx:7", 0, "ring:0 ring:1 ring:3 ctx:4660 !ring:2 !ctx:7"},
	{"watchlist", "2147483648", ERANGE, NULL},
	{"watchlist", "ctx:0", ERANGE, NULL},
	{"watchlist", "pid:4", EINVAL, NULL},
	{"watchlist", "1 !", EINVAL, NULL},
	{"watchlist", "!!1", EINVAL, NULL},
	{"watchlist", "+!9,-ring:1", 0, "ring:0 ring:3 ctx:4660 !ring:2 !ctx:7 !ring:9"},
	{"watchlist", "+3", 0, "ring:0 ring:3 ctx:4660 !ring:2 !ctx:7 !ring:9"},
	{"watchlist", "-3 -4", ENOENT, NULL},
	{"watchlist", "-2", ENOENT, NULL},
	{"watchlist", "-!2 7", EINVAL, NULL},
	{"watchlist", "7 +8", EINVAL, NULL},
	{"watchlist", "+", EINVAL, NULL},
	{"watchlist", "+2147483648", ERANGE, NULL},
	{"watchlist", "-0 -3 -ctx:0x1234 -!2 -!ctx:7 -!9", 0, ""},
	{"watchlist", "+5", 0, "ring:5"},
	{"watchlist", "", 0, ""},
	{"watch_count", "1", ERANGE, NULL},
	{"watch_count", "none", EINVAL, NULL},
	{"watch_count", "0", 0, "0"},
	{"watch_ring_count", "7", ERANGE, NULL},
	{"watch_ring_count", "", EINVAL, NULL},
	{"watch_ring_count", "0", 0, "0"},
	{"flush_ms", "60000", 0, "60000"},
	{"flush_ms", "60001", ERANGE, NULL},
	{"flush_ms", "1s", EINVAL, NULL},
	{"flush_ms", "0", 0, "0"},
};

void smoke_version(void)
{
	char text[256], want[64];
	unsigned int format;

	CHECK(kmod_read("version", text, sizeof(text)) > 0);
	CHECK(sscanf(text, "grtrace %63s format %u\n", want, &format) == 2);
	CHECK_EQ(format, GRT_FORMAT);
	CHECK_EQ(kmod_write("version", "2"), -EINVAL);
}

static bool mode_is(const char *file, unsigned int mode)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", KMOD_DIR, file);
	if (lstat(path, &st) || (st.st_mode & 07777) != mode || !S_ISREG(st.st_mode)) {
		TAP_FAIL("%s: missing, or its mode is not %04o", file, mode);
		return false;
	}
	return true;
}

static bool link_is(int cpu)
{
	char path[256], name[32], to[32] = "";

	snprintf(path, sizeof(path), "%s/trace%d", KMOD_DIR, cpu);
	snprintf(name, sizeof(name), "events%d", cpu);
	if (readlink(path, to, sizeof(to) - 1) < 0 || strcmp(to, name)) {
		TAP_FAIL("%s is no link to %s", path, name);
		return false;
	}
	return mode_is(name, 0400);
}

/* A stage is there with its keys. */
static bool stage_is_loaded(enum grt_stage stage)
{
	unsigned int i;
	char text[2048];

	for (i = 0; i < GRT_CONFIG_KEYS; i++)
		if (grt_key_table[i].stage == stage)
			return kmod_config_get(grt_key_table[i].name, text, sizeof(text));
	return false;
}

void smoke_files(void)
{
	unsigned int i;
	int cpu;

#define GRT_FILE(name, mode, help) CHECK_OK(mode_is(#name, mode));
#define GRT_STAGE_FILE(STAGE, name, help) \
	CHECK_OK(!stage_is_loaded(GRT_STAGE_##STAGE) || mode_is(#name, 0400));
#include <grtrace/control.def>
	for (i = 0; i < GRT_CONFIG_KEYS; i++)
		if (grt_key_table[i].flags & GRT_KEY_AS_FILE && stage_is_loaded(grt_key_table[i].stage))
			CHECK_OK(mode_is(grt_key_table[i].name, 0600));
	/* also of CPUs that are offline */
	for (cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		CHECK_OK(link_is(cpu));
}

/* Behind its value a key's file has a newline; that of the set of events then has the table of events. */
static bool own_ends(const char *key, const char *rest)
{
	return !strcmp(rest, "\n") ||
	       (!strcmp(key, "filter_events") && !strncmp(rest, "\n 1 submit ", 11));
}

/* One attempt; @file: through the key's own file instead of `config`. */
static bool attempt_holds(const struct attempt *a, bool file)
{
	char before[2048], after[2048], own[4096];
	const char *want = a->reads ? a->reads : before;
	int err;

	kmod_config_get(a->key, before, sizeof(before));
	err = file ? kmod_write(a->key, a->value) : kmod_config("%s=%s", a->key, a->value);
	kmod_config_get(a->key, after, sizeof(after));
	if (err != -a->err)
		TAP_FAIL("%s=%s gives %d, not %d", a->key, a->value, err, -a->err);
	else if (strcmp(after, want))
		TAP_FAIL("%s=%s: reads '%s', not '%s'", a->key, a->value, after, want);
	else if (file && (kmod_read(a->key, own, sizeof(own)) < 1 || strncmp(own, want, strlen(want)) ||
			  !own_ends(a->key, own + strlen(want))))
		TAP_FAIL("file %s reads '%s', not '%s'", a->key, own, want);
	else
		return true;
	return false;
}

static bool key_is_file(const char *key)
{
	unsigned int i;

	for (i = 0; i < GRT_CONFIG_KEYS; i++)
		if (!strcmp(grt_key_table[i].name, key))
			return grt_key_table[i].flags & GRT_KEY_AS_FILE;
	return false;
}

/* An empty write(2) is none, so a file is emptied by a newline. */
static bool attempt_by_file(const struct attempt *a)
{
	struct attempt line = *a;

	if (!*line.value)
		line.value = "\n";
	return attempt_holds(&line, true);
}

static bool key_attempted(const char *key, bool good)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attempts); i++)
		if (!strcmp(attempts[i].key, key) && good == !attempts[i].err)
			return true;
	TAP_FAIL("no %s value of %s is tried", good ? "good" : "bad", key);
	return false;
}

/* Whether the stage of a key is loaded. */
static bool key_is_there(const char *key)
{
	char value[2048];

	return kmod_config_get(key, value, sizeof(value));
}

void smoke_keys(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attempts); i++)
		if (key_is_there(attempts[i].key))
			CHECK_OK(attempt_holds(&attempts[i], false));
		else
			CHECK_EQ(kmod_config("%s=1", attempts[i].key), -ENODEV);
	for (i = 0; i < GRT_CONFIG_KEYS; i++) {
		if (!stage_is_loaded(grt_key_table[i].stage))
			continue;
		CHECK_OK(key_attempted(grt_key_table[i].name, true));
		CHECK_OK(key_attempted(grt_key_table[i].name, false));
	}
}

void smoke_key_files(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attempts); i++)
		if (key_is_file(attempts[i].key) && key_is_there(attempts[i].key))
			CHECK_OK(attempt_by_file(&attempts[i]));
}

/* Sets the setting by one name; the listed name and every file must say so. */
static bool name_sets(const char *name, const char *listed, const char *value)
{
	char now[64];
	int err = kmod_config("%s=%s", name, value);

	kmod_config_get(listed, now, sizeof(now));
	if (err || strcmp(now, value)) {
		TAP_FAIL("%s=%s gives %d, %s reads '%s'", name, value, err, listed, now);
		return false;
	}
	return true;
}

static bool file_says(const char *file, const char *line)
{
	char text[4096];

	if (kmod_read(file, text, sizeof(text)) > 0 && !strncmp(text, line, strlen(line)))
		return true;
	TAP_FAIL("%s reads '%.16s', not %s", file, text, line);
	return false;
}

/* A value as it is read back. */
static void some_value(const struct grt_key_desc *d, unsigned int n, char *text, size_t size)
{
	if (d->kind == GRT_KEY_TYPES)
		snprintf(text, size, n % 2 ? "-irq" : "submit,complete");
	else
		snprintf(text, size, "%u", n);
}

void smoke_aliases(void)
{
	const struct grt_key_alias *a;
	char text[64], number[32];
	unsigned int n = 16;

	for (a = grt_key_aliases; a < grt_key_aliases + ARRAY_SIZE(grt_key_aliases); a++) {
		const struct grt_key_desc *d = &grt_key_table[a->key];

		some_value(d, ++n, number, sizeof(number));
		CHECK_OK(name_sets(a->name, d->name, d->kind == GRT_KEY_BOOL ? "1" : number));
		some_value(d, ++n, number, sizeof(number));
		CHECK_OK(name_sets(d->name, d->name, d->kind == GRT_KEY_BOOL ? "0" : number));
		if (!(d->flags & GRT_KEY_AS_FILE))
			continue;
		CHECK_EQ(kmod_write(a->name, d->kind == GRT_KEY_TYPES ? "2\n" : "1\n"), 0);
		CHECK_OK(file_says(d->name, d->kind == GRT_KEY_TYPES ? "submit\n" : "1\n"));
		CHECK_EQ(kmod_write(d->name, "0\n"), 0);
		CHECK_OK(file_says(a->name, d->kind == GRT_KEY_TYPES ? "none\n" : "0\n"));
	}
	kmod_config_get("enabled", text, sizeof(text));
	CHECK(!*text); /* `config` lists a setting once, under its own name */
}

static bool state_is(bool running)
{
	const char *files[] = {"enable", "enabled"};
	char text[64];
	unsigned int i;

	kmod_read("control", text, sizeof(text));
	if (strcmp(text, running ? "running\n" : "stopped\n")) {
		TAP_FAIL("control reads '%s'", text);
		return false;
	}
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		kmod_read(files[i], text, sizeof(text));
		if (strcmp(text, running ? "1\n" : "0\n")) {
			TAP_FAIL("%s reads '%s'", files[i], text);
			return false;
		}
	}
	if (kmod_stat("enabled", NULL) != running) {
		TAP_FAIL("stats disagrees with control");
		return false;
	}
	return true;
}

void smoke_switches(void)
{
	static const struct {
		const char *file, *text;
		bool running;
	} steps[] = {
		{"control", "start", true},	{"control", "start\n", true}, {"enable", "1", true},
		{"enabled", "1", true},		{"control", "stop", false},   {"control", "stop", false},
		{"enable", "0", false},		{"enabled", "0", false},      {"config", "enable=1", true},
		{"config", "enabled=0", false}, {"enable", "1", true},	      {"control", " stop \n", false},
		{"config", "enabled=1", true},	{"enabled", "0", false},
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		CHECK_EQ(kmod_write(steps[i].file, steps[i].text), 0);
		CHECK_OK(state_is(steps[i].running));
	}
}

void smoke_recorder(void)
{
	int fd = kmod_open("control", O_WRONLY), other = kmod_open("control", O_WRONLY);

	CHECK_EQ(write(fd, "record", 6), 6);
	CHECK_OK(state_is(true));
	CHECK(write(other, "record", 6) < 0 && errno == EBUSY);
	close(other);
	CHECK_OK(state_is(true));
	close(fd);
	CHECK_OK(state_is(false));

	/* tracing that others have started meanwhile is not its own */
	fd = kmod_open("control", O_WRONLY);
	CHECK_EQ(write(fd, "record", 6), 6);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	close(fd);
	CHECK_OK(state_is(true));
	CHECK_EQ(kmod_write("control", "record"), -EBUSY);
	CHECK_EQ(kmod_write("control", "stop"), 0);
}

/* `count` entries, beginning with @first, as a watch list. */
static void make_list(char *text, unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = 0, *text = 0; i < count; i++)
		text += sprintf(text, "%u ", first + i);
}

void smoke_bad_writes(void)
{
	static char before[8192], after[8192], longest[8192];

	kmod_read("config", before, sizeof(before));
	CHECK_EQ(kmod_write("control", "begin"), -EINVAL);
	CHECK_EQ(kmod_write("control", "startstop"), -EINVAL);
	CHECK_EQ(kmod_write("control", "start stop"), -EINVAL);
	CHECK_EQ(kmod_write("control", "\n"), -EINVAL);
	CHECK_EQ(kmod_write("config", "level"), -EINVAL);
	CHECK_EQ(kmod_write("config", "=1"), -EINVAL);
	CHECK_EQ(kmod_write("config", "levels=1"), -EINVAL);
	CHECK_EQ(kmod_write("config", "sample=1\nlevel=2"), -EINVAL);
	CHECK_EQ(kmod_write("stats", "0"), -EINVAL);
	memset(longest, ' ', 2048);
	CHECK_EQ(kmod_write("config", longest), -E2BIG);
	CHECK_EQ(kmod_write("control", longest), -E2BIG);
	CHECK_EQ(kmod_write("level", longest), -E2BIG);
	make_list(longest, 0, 65);
	CHECK_EQ(kmod_write("watchlist", longest), -E2BIG);
	kmod_read("config", after, sizeof(after));
	CHECK(!strcmp(before, after));
	make_list(longest, 0, 64);
	CHECK_EQ(kmod_write("watchlist", longest), 0);
}

void smoke_watch_counts(void)
{
	char text[256];

	CHECK_EQ(kmod_config("watchlist=1 !2 ctx:5 !ctx:6 ring:7"), 0);
	kmod_config_get("watch_count", text, sizeof(text));
	CHECK(!strcmp(text, "5"));
	kmod_config_get("watch_ring_count", text, sizeof(text));
	CHECK(!strcmp(text, "3"));
	CHECK_EQ(kmod_config("watch_ring_count=0"), 0);
	kmod_config_get("watchlist", text, sizeof(text));
	CHECK(!strcmp(text, "ctx:5 !ctx:6"));
	kmod_config_get("watch_ring_count", text, sizeof(text));
	CHECK(!strcmp(text, "0"));
	CHECK_EQ(kmod_config("watch_count=0"), 0);
	kmod_config_get("watchlist", text, sizeof(text));
	CHECK(!strcmp(text, ""));
}

static bool buffer_reads(uint64_t bytes)
{
	char text[64];

	kmod_config_get("buffer_size", text, sizeof(text));
	if (strtoull(text, NULL, 10) == bytes && kmod_stat("cpu0", "size") == bytes)
		return true;
	TAP_FAIL("buffer_size reads %s, not %llu", text, (unsigned long long)bytes);
	return false;
}

void smoke_buffer_sizes(void)
{
	uint64_t pages = 16ULL * sysconf(_SC_PAGESIZE);
	int fd;

	CHECK_EQ(kmod_config("buffer_size=%llu", (unsigned long long)pages * 2 + 1), 0);
	CHECK_OK(buffer_reads(pages * 3));
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_config("buffer_size=%llu", (unsigned long long)pages), -EBUSY);
	CHECK_EQ(kmod_write("buffer_size", "1"), -EBUSY);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_OK(buffer_reads(pages * 3));
	fd = kmod_open("events0", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	CHECK_EQ(kmod_config("buffer_size=%llu", (unsigned long long)pages), -EBUSY);
	close(fd);
	CHECK_OK(buffer_reads(pages * 3));
	CHECK_EQ(kmod_config("buffer_size=%llu", (unsigned long long)pages), 0);
	CHECK_OK(buffer_reads(pages));
}

/* More than there is memory for is refused before anything is taken or dropped. */
void smoke_buffer_memory(void)
{
	const uint64_t huge = 1ULL << 30, memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	char text[4096];

	if (memory > huge * kmod_cpus()) {
		tap_skip("this machine has the memory: run it in one of less than 1 GiB per CPU");
		return;
	}
	CHECK_EQ(kmod_config("buffer_size=131072"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 seqno=77"), 0);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(kmod_config("buffer_size=%llu", (unsigned long long)huge), -ENOMEM);
	CHECK_OK(buffer_reads(131072));
	CHECK(kmod_read("events", text, sizeof(text)) > 0);
	CHECK(strstr(text, " seqno=77 "));
}
