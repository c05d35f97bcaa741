// SPDX-License-Identifier: GPL-2.0
/*
 * Records the log of AMD's runtime in a program that the recorder starts. The program gets AMD_LOG_LEVEL and
 * a file for the log, so that its own output is not affected. Older runtimes have no such file and log to
 * standard error; then that is captured, and lines that are not records of the log are passed on unchanged.
 * The same is done for a program in a container, whose process numbers become those of the host in the
 * recording; the log itself is not changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostlog_clocks.h"
#include "base/say.h"
#include "hostlog_pids.h"
#include "text/amd_log_header.h"
#include "sources/source.h"
#include "textlog.h"

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
