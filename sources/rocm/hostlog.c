// SPDX-License-Identifier: GPL-2.0
/*
 * Records the log of AMD's runtime in a program that the recorder starts. The program gets AMD_LOG_LEVEL and
 * a file for the log, so that its own output is not affected. Older runtimes have no such file and log to
 * standard error; then that is captured, and lines that are not records of the log are passed on unchanged.
 * The same is done for a program in a container, whose process numbers become those of the host in the
 * recording; the log itself is not changed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/say.h"
#include "sources/source.h"
#include "text/amd_log_header.h"
#include "textlog.h"

/* ---------------------------------------------------------- hostlog pids */

/*
 * Which processes of a container are which processes of the host: a container's log has their numbers in the
 * container.
 */

/* Most processes. */
#define HOSTLOG_PIDS_MAX 256U

/* The privileges that hostlog_pids_see() needs for other users' processes. */
#define HOSTLOG_PIDS_KEEP (1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH)

/**
 * struct hostlog_pid - a process
 * @outside: its number on the host; 0: it was not found
 * @tries: how many times it was looked for
 */
struct hostlog_pid {
	uint32_t inside;
	uint32_t outside;
	unsigned int tries;
};

/**
 * struct hostlog_pids - initialised by hostlog_pids_init()
 * @mark: a variable, NAME=VALUE, that only the environment of the program and its children contains
 */
struct hostlog_pids {
	const char *mark;
	struct hostlog_pid of[HOSTLOG_PIDS_MAX];
	unsigned int n;
};

/*
 * Processes of a container. They are not our children: the container's runtime starts
 * them. They have an environment from us, and a number in each of their namespaces, which the kernel shows
 * as long as they run. So a process is looked for as soon as the log names it.
 */

/* A process that has just been started may have its environment a moment later. */
#define TRIES 8
#define STATUS_ROOM 4096
#define CHUNK 4096

/* Initialises it without processes; @mark must stay valid. */
static void hostlog_pids_init(struct hostlog_pids *p, const char *mark)
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

/*
 * The log names this process now: looks for a running process with the mark and this last
 * number of NSpid in /proc/PID/status (Documentation/filesystems/proc.rst)
 */
static void hostlog_pids_see(struct hostlog_pids *p, uint32_t inside)
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

/* Its number on the host. Return: 0: it was not found. */
static uint32_t hostlog_pids_outside(const struct hostlog_pids *p, uint32_t inside)
{
	const struct hostlog_pid *one = hostlog_pids_known(p, inside);

	return one ? one->outside : 0;
}

/*
 * Writes all of them as text: "13=4711,14=?", with ? for a process that was not found;
 * at most @room bytes
 */
static void hostlog_pids_text(const struct hostlog_pids *p, char *text, size_t room)
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

/* -------------------------------------------------------- hostlog clocks */

/*
 * Snapshots of the two clocks whose time stamps a log of AMD's runtime has: CLOCK_MONOTONIC, and
 * CLOCK_MONOTONIC_RAW of ROCr, the layer below.
 */

/*
 * Most snapshots. When they are reached, every second one is dropped, and further ones are taken half as
 * often.
 */
#define HOSTLOG_SNAPSHOTS 64U

/** struct hostlog_snapshot - both clocks at the same time, with a possible error of @error ns */
struct hostlog_snapshot {
	uint64_t monotonic;
	uint64_t raw;
	uint64_t error;
};

/** struct hostlog_clocks - all bytes zero: no snapshot yet. @every: time between two snapshots, ns */
struct hostlog_clocks {
	struct hostlog_snapshot of[HOSTLOG_SNAPSHOTS];
	unsigned int n;
	uint64_t every;
};

/*
 * Snapshots of two clocks.
 */

/* Takes the best of this many attempts, because an interrupt between two readings makes one worse. */
#define ATTEMPTS 5
#define HOSTLOG_LINE_CHUNK 65536

static const char rocr[] = "[***rocr***]";

static struct hostlog_snapshot snapshot(void)
{
	struct hostlog_snapshot best = {.error = UINT64_MAX};

	for (unsigned int i = 0; i < ATTEMPTS; i++) {
		uint64_t before = grt_clock_ns(CLOCK_MONOTONIC), raw = grt_clock_ns(CLOCK_MONOTONIC_RAW),
			 after = grt_clock_ns(CLOCK_MONOTONIC), error = (after - before + 1) / 2;

		if (error < best.error)
			best = (struct hostlog_snapshot){before + error, raw, error};
	}
	return best;
}

/* Takes a snapshot if it is time for one, or if @now is set. */
static void hostlog_clocks_take(struct hostlog_clocks *c, int now)
{
	if (!c->every)
		c->every = GRT_NS_PER_S;
	if (!now && c->n && grt_clock_ns(CLOCK_MONOTONIC) - c->of[c->n - 1].monotonic < c->every)
		return;
	if (c->n == HOSTLOG_SNAPSHOTS) {
		for (unsigned int i = 0; 2 * i < HOSTLOG_SNAPSHOTS; i++)
			c->of[i] = c->of[2 * i];
		c->n /= 2;
		c->every *= 2;
	}
	c->of[c->n++] = snapshot();
}

static bool has_rocr(int file)
{
	const size_t behind = sizeof(rocr) - 2;
	static _Thread_local char buf[HOSTLOG_LINE_CHUNK];
	size_t kept = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(file, buf + kept, sizeof(buf) - kept, at)) > 0) {
		size_t len = kept + (size_t)n;

		if (memmem(buf, len, rocr, sizeof(rocr) - 1))
			return true;
		at += n;
		kept = len < behind ? len : behind;
		memmove(buf, buf + len - kept, kept);
	}
	return false;
}

/*
 * Adds them as lines to a log that has lines of ROCr; other logs stay as they are.
 * lib/text/amd_log_header.h describes the lines
 * Return: 0 or -errno
 */
static int hostlog_clocks_write(const struct hostlog_clocks *c, int file)
{
	char line[160];
	struct stat st;
	int len;

	if (!has_rocr(file) || fstat(file, &st))
		return 0;
	for (unsigned int i = 0; i < c->n; i++) {
		/* the log's last line may have no newline */
		len = snprintf(line, sizeof(line),
			       "%s" AMD_LOG_CLOCKS_MARK "monotonic=%" PRIu64 " monotonic_raw=%" PRIu64
			       " error=%" PRIu64 "\n",
			       i ? "" : "\n", c->of[i].monotonic, c->of[i].raw, c->of[i].error);
		if (pwrite(file, line, (size_t)len, st.st_size) != len)
			return -EIO;
		st.st_size += len;
	}
	return 0;
}

/* --------------------------------------------------------------- hostlog */

#define LEVEL_DEFAULT 4
#define LINE_ROOM (64U << 10)
/* Bytes after a line's end that may be read, see lib/base/lines_in.h. */
#define AHEAD 32U

/* Variables that are set for the program, and their previous values. */
static const char *const names[] = {"AMD_LOG_LEVEL", "AMD_LOG_LEVEL_FILE", "AMD_LOG_MASK"};
#define NAMES (sizeof(names) / sizeof(names[0]))

/**
 * struct capture - the state of this source
 * @err_pipe: the program's standard error; -1: it is ours
 * @was: previous values of the variables
 * @line: an incomplete line of standard error
 * @clocks: for lines of ROCr
 * @pids: processes of a container
 * @strangers: number of records of processes that were not found on the host
 */
struct capture {
	struct textlog log;
	int err_pipe[2];
	char *was[NAMES];
	bool set;
	void (*note)(const char *text);
	char level[16];
	char line[LINE_ROOM + AHEAD];
	size_t used;
	struct hostlog_clocks clocks;
	struct hostlog_pids pids;
	uint64_t strangers;
	char pids_text[512];
};

static int hostlog_program_stderr(void *state)
{
	return ((struct capture *)state)->err_pipe[1];
}

static void hostlog_program_started(void *state)
{
	struct capture *c = state;

	if (c->err_pipe[1] >= 0)
		close(c->err_pipe[1]);
	c->err_pipe[1] = -1;
}

static void set_environment(struct capture *c)
{
	for (size_t i = 0; i < NAMES; i++) {
		const char *was = getenv(names[i]);

		c->was[i] = was ? strdup(was) : NULL;
	}
	snprintf(c->level, sizeof(c->level), "%u",
		 textlog_settings.level ? textlog_settings.level : LEVEL_DEFAULT);
	setenv(names[0], c->level, 1);
	if (!textlog_settings.capture_stderr)
		setenv(names[1], c->log.path, 1);
	else
		unsetenv(names[1]);
	c->set = true;
}

static void restore_environment(struct capture *c)
{
	for (size_t i = 0; i < NAMES && c->set; i++) {
		if (c->was[i])
			setenv(names[i], c->was[i], 1);
		else
			unsetenv(names[i]);
		free(c->was[i]);
	}
	c->set = false;
}

/* If nobody reads the program's output, that is the program's concern; the log continues. */
static void pass_on(const char *text, size_t len)
{
	if (write(STDERR_FILENO, text, len) < 0)
		errno = 0;
}

/* Passes on the program's part of a line, and stores the log's part. */
static void hostlog_take_line(struct capture *c, const char *line, const char *end)
{
	const char *p = line, *record;
	struct amd_log_head h = {.pid = 0};
	struct textlog *t = &c->log;

	grt_scan_blanks(&p, end);
	record = amd_log_find(p, end);
	if (!(record ? amd_log_head(record, end, &h) : amd_log_rocr(p, end, &h)) && !record) {
		pass_on(line, (size_t)(end - line) + 1);
		return;
	}
	if (c->pids.mark)
		hostlog_pids_see(&c->pids, h.pid);
	if (record && record > p)
		pass_on(line, (size_t)(record - line));
	textlog_write(t, record ? record : line, (size_t)(end - (record ? record : line)) + 1);
}

static void hostlog_take_lines(struct capture *c, bool all)
{
	char *line = c->line, *end = c->line + c->used, *stop;

	while ((stop = memchr(line, '\n', (size_t)(end - line)))) {
		hostlog_take_line(c, line, stop);
		line = stop + 1;
	}
	if (line < end && (all || end - line == LINE_ROOM - 1)) {
		*end = '\n';
		hostlog_take_line(c, line, end);
		line = end;
	}
	c->used = (size_t)(end - line);
	memmove(c->line, line, c->used);
}

static void copy_stderr(struct textlog *t, const char *data, size_t len)
{
	struct capture *c = t->arg;
	size_t n;

	if (!data)
		hostlog_take_lines(c, true);
	while (len) {
		n = LINE_ROOM - 1 - c->used < len ? LINE_ROOM - 1 - c->used : len;
		memcpy(c->line + c->used, data, n);
		c->used += n;
		data += n;
		len -= n;
		hostlog_take_lines(c, false);
	}
}

static void look_at_clocks(struct textlog *t)
{
	hostlog_clocks_take(&((struct capture *)t->arg)->clocks, false);
}

static void write_clocks(struct textlog *t)
{
	struct capture *c = t->arg;
	int ret;

	hostlog_clocks_take(&c->clocks, true);
	ret = hostlog_clocks_write(&c->clocks, t->file);
	if (ret)
		textlog_failed(t, ret);
}

/*
 * A process of the container becomes the host's; if it is not found, the event belongs to no known process.
 */
static void move_pid(struct textlog *t, struct grt_event *e)
{
	struct capture *c = t->arg;

	if (!e->pid)
		return;
	e->pid = hostlog_pids_outside(&c->pids, e->pid);
	c->strangers += !e->pid;
}

static int open_pipe(struct capture *c, struct grt_err *err)
{
	if (!textlog_settings.capture_stderr)
		return 0;
	if (pipe2(c->err_pipe, O_CLOEXEC))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot make a pipe");
	c->log.copy = copy_stderr;
	if (textlog_settings.mark) {
		hostlog_pids_init(&c->pids, textlog_settings.mark);
		c->log.keep = HOSTLOG_PIDS_KEEP;
		c->log.edit = move_pid;
	}
	return 0;
}

static int hostlog_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int ret;

	*state = c;
	if (!c)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for a log");
	c->err_pipe[0] = c->err_pipe[1] = -1;
	c->log = TEXTLOG_NONE;
	c->note = setup->note;
	if (!setup->program)
		return grt_err_set(
			err, -EINVAL,
			"the runtime writes its log only for programs that are started with AMD_LOG_LEVEL",
			"grtrace record -e hostlog -- PROG", "hostlog needs a program to start");
	ret = textlog_open(&c->log, textlog_settings.log_name ? textlog_settings.log_name : "amd_log.txt",
			   setup, err);
	c->log.arg = c;
	c->log.tick = look_at_clocks;
	c->log.leave = write_clocks;
	if (!ret)
		ret = open_pipe(c, err);
	if (!ret)
		set_environment(c);
	return ret;
}

static int hostlog_start(void *state, struct grt_err *err)
{
	struct capture *c = state;

	hostlog_clocks_take(&c->clocks, true);
	return textlog_start(&c->log, c->err_pipe[0], err);
}

static void hostlog_note_empty(struct capture *c)
{
	struct stat st;

	if (!c->note || textlog_settings.capture_stderr || fstat(c->log.file, &st) || st.st_size)
		return;
	c->note("hostlog: no log was written: the program does not use AMD's runtime, or one before "
		"AMD_LOG_LEVEL_FILE (then: grtrace rocm record --capture-stderr)");
}

static int hostlog_stop(void *state, struct grt_err *err)
{
	struct capture *c = state;

	hostlog_note_empty(c);
	textlog_stop(&c->log, 0);
	return 1;
}

static int hostlog_describe(void *state, struct grt_env *env, int room)
{
	struct capture *c = state;
	const struct grt_env all[] = {
		{"hostlog_level", c->level},
		{"hostlog_text", textlog_summary(&c->log)},
		{"hostlog_skipped", textlog_skipped(&c->log)},
		{"hostlog_pids", c->pids_text},
	};
	int i, n = c->pids.mark ? 4 : 3;

	if (c->pids.mark)
		hostlog_pids_text(&c->pids, c->pids_text, sizeof(c->pids_text));
	for (i = 0; i < room && i < n; i++)
		env[i] = all[i];
	return i;
}

static void hostlog_note_strangers(struct capture *c)
{
	char text[160];

	grt_say_text(
		text, sizeof(text),
		"hostlog: %" PRIu64
		" {record belongs|records belong} to processes of the container that were not found on the host: {it has|they have} no pid",
		c->strangers);
	if (c->strangers && c->note)
		c->note(text);
}

static int hostlog_close(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret;

	if (!c)
		return 0;
	restore_environment(c);
	hostlog_program_started(c);
	ret = textlog_close(&c->log, err);
	hostlog_note_strangers(c);
	if (c->err_pipe[0] >= 0)
		close(c->err_pipe[0]);
	free(c);
	return ret;
}

const struct source source_hostlog = {
	.name = "hostlog",
	.by_name = true,
	.all_gpus = "the log of the runtime, which is of all GPUs",
	.uncut = true,
	.open = hostlog_open,
	.program_stderr = hostlog_program_stderr,
	.program_started = hostlog_program_started,
	.start = hostlog_start,
	.confined = textlog_confined,
	.streams = textlog_streams,
	.read = textlog_read,
	.stop = hostlog_stop,
	.describe = hostlog_describe,
	.close = hostlog_close,
};
