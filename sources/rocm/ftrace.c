// SPDX-License-Identifier: GPL-2.0
/*
 * Traces functions and events of the kernel with an instance of tracefs of its own, so that other tracing is
 * not disturbed. Its clock is CLOCK_MONOTONIC. For each function of ftrace_functions.def that this kernel
 * has, calls are traced, and also returns if a probe can be set.
 *
 * Instances and probes have the name grtrace-PID-START-NAMESPACE: the process, its start time, and the
 * namespace of the PID. If a recorder was killed, they stay, and the next recorder removes those of processes
 * that do not exist any more. Namespaces share tracefs and do not see each other's processes, so those of
 * other namespaces are left.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/privileges.h"
#include "base/say.h"
#include "host/pid_ns.h"
#include "host/probe.h"
#include "host/read_all.h"
#include "sources/source.h"
#include "textlog.h"
#include "host/tracefs.h"

#define PREFIX "grtrace"
#define BUFFER_DEFAULT (4U << 20)
/*
 * Most calls of a function at a time whose returns are probed; the kernel's default is only ten or a few
 * more.
 */
#define RETURNS_MAX "128"
/* Most functions requested by name. */
#define FUNCTIONS_MAX 256
#define DEBUGFS "/sys/kernel/debug/kfd"

/* Most functions with the same name whose numbers are stored. */
#define SAME_NAME_MAX 16

/**
 * struct wanted - a function
 * @args: arguments of its probe; NULL: only its calls are traced
 * @symbol: its name in this kernel, with its module in front; "": this kernel lacks it
 * @exact: number of functions with exactly this name; others are parts and copies that the compiler made of
 *	it, such as name.part.0
 * @number: their @numbers lines in available_filter_functions. The filter accepts these (Linux 5.1); it
 *	would compare a name with every function of the kernel, which takes a second on a slow machine
 * @symbol_number: the line of @symbol
 */
struct wanted {
	char name[64];
	const char *args;
	char symbol[160];
	unsigned int number[SAME_NAME_MAX];
	unsigned int numbers;
	unsigned int symbol_number;
	unsigned int exact;
	bool probed;
};

static const struct row {
	const char *name;
	const char *args;
} rows[] = {
#define FTRACE_PROBE(function, args) {#function, args},
#define FTRACE_CALL(function) {#function, NULL},
#include "ftrace_functions.def"
#undef FTRACE_PROBE
#undef FTRACE_CALL
};

/* Events about jobs of the kernel's own queues, if the driver is loaded. */
static const char *const events[] = {"amdgpu/amdgpu_cs_ioctl", "amdgpu/amdgpu_sched_run_job", "kfd"};

/**
 * struct capture - the state of this source
 * @root: tracefs; @instance: our instance
 * @name: name of the instance and, with _ instead of -, of the group of its probes
 * @function: the @functions functions
 */
struct capture {
	struct textlog log;
	int root;
	int instance;
	int pipe;
	char name[64];
	char group[64];
	struct wanted function[FUNCTIONS_MAX];
	unsigned int functions;
	unsigned int here;
	unsigned int probed;
	unsigned int events;
	uint64_t lost;
	uint64_t missed;
	uint64_t buffer;
	uid_t uid;
	gid_t gid;
	void (*note)(const char *text);
	char counts[128];
	char missing[1024];
};

/* ------------------------------------------------------------------- tracefs */

/* Return: 0 or -errno */
static int ftrace_put(int dir, const char *path, const char *text, int flags)
{
	int fd = openat(dir, path, O_WRONLY | O_CLOEXEC | flags);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		n = -errno;
	close(fd);
	return n < 0 ? (int)n : 0;
}

/* Reads a whole file, which the caller frees. NULL: it cannot be read */
static char *ftrace_get(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t used;
	char *text = fd >= 0 ? read_all(fd, SIZE_MAX, &used) : NULL;

	if (fd >= 0)
		close(fd);
	return text;
}

static int ftrace_failed(struct grt_err *err, int code, const char *what)
{
	return grt_err_set(err, code, strerror(-code),
			   code == -EACCES || code == -EPERM ? "the same command with sudo" : "",
			   "ftrace: cannot set %s", what);
}

/* --------------------------------------------------- what a killed one left */

/* Return: when a process began, in clock ticks since boot; 0: there is no such process */
static unsigned long long start_of(long pid)
{
	unsigned long long start = 0;
	char path[64], *text, *p;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	text = ftrace_get(AT_FDCWD, path);
	p = text ? strrchr(text, ')') : NULL;
	/* the time is the 22nd field; the second one is the command */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		start = strtoull(p, NULL, 10);
	free(text);
	return start;
}

static bool is_left_behind(const char *name, uint32_t namespace)
{
	unsigned long long start, its;
	long pid;

	return sscanf(name, PREFIX "-%ld-%llu-%llu", &pid, &start, &its) == 3 && its && its == namespace &&
	       start_of(pid) != start;
}

static void ftrace_group_of(char group[64], const char *name)
{
	size_t i;

	for (i = 0; name[i] && i < 63; i++)
		group[i] = name[i] == '-' ? '_' : name[i];
	group[i] = '\0';
}

/* Removes the probes of a group. */
static void remove_probes(int root, const char *group)
{
	char *text = ftrace_get(root, "kprobe_events"), *line, *next, name[256];
	size_t len = strlen(group);
	const char *at;

	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		at = strchr(line, ':');
		if (!at || strncmp(at + 1, group, len) != 0 || at[1 + len] != '/')
			continue;
		snprintf(name, sizeof(name), "-:%.*s\n", (int)strcspn(at + 1, " "), at + 1);
		ftrace_put(root, "kprobe_events", name, O_APPEND);
	}
	free(text);
}

static void remove_instance(int root, const char *name)
{
	char path[160], group[64];

	snprintf(path, sizeof(path), "instances/%s/tracing_on", name);
	ftrace_put(root, path, "0", 0);
	snprintf(path, sizeof(path), "instances/%s/events/enable", name);
	ftrace_put(root, path, "0", 0);
	snprintf(path, sizeof(path), "instances/%s/current_tracer", name);
	ftrace_put(root, path, "nop", 0);
	snprintf(path, sizeof(path), "instances/%s", name);
	unlinkat(root, path, AT_REMOVEDIR);
	ftrace_group_of(group, name);
	remove_probes(root, group);
}

static void clean_up(struct capture *c)
{
	int fd = openat(c->root, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	uint32_t namespace = pid_ns();
	unsigned int n = 0;
	struct dirent *e;
	char text[80];

	while (dir && (e = readdir(dir))) {
		if (!is_left_behind(e->d_name, namespace))
			continue;
		remove_instance(c->root, e->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	grt_say_text(text, sizeof(text), "ftrace: removed leftovers of %u {killed recorder|killed recorders}",
		     n);
	if (n && c->note)
		c->note(text);
}

/* ---------------------------------------------------------------- functions */

static int add_function(struct capture *c, const char *name, size_t len, const char *args)
{
	struct wanted *w = &c->function[c->functions];

	if (!len || len >= sizeof(w->name) || c->functions == FUNCTIONS_MAX)
		return -EINVAL;
	memcpy(w->name, name, len);
	w->args = args;
	c->functions++;
	return 0;
}

static const char *args_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].name) == len && !strncmp(rows[i].name, name, len))
			return rows[i].args;
	return "";
}

static int choose_functions(struct capture *c, struct grt_err *err)
{
	const char *p = textlog_settings.functions;
	size_t len;

	for (size_t i = 0; !p && i < sizeof(rows) / sizeof(rows[0]); i++)
		add_function(c, rows[i].name, strlen(rows[i].name), rows[i].args);
	for (; p && *p; p += len + (p[len] == ',')) {
		len = strcspn(p, ",");
		/* they become lines of files of the kernel */
		if (strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") < len ||
		    add_function(c, p, len, args_of(p, len)))
			return grt_err_set(err, -EINVAL, "it is not a list of names separated by commas",
					   "--functions=kfd_open,kfd_ioctl", "--functions=%.100s",
					   textlog_settings.functions);
	}
	return 0;
}

/* Converts "name [module]" or "name.constprop.0 [module]" to the form for kprobes: "module:name" */
static void ftrace_take_line(struct capture *c, struct wanted *w, const char *line, unsigned int number)
{
	size_t len = strcspn(line, " \n"), end = strcspn(line, "\n");
	const char *open = memchr(line, '[', end), *close = memchr(line, ']', end);
	bool exact = len == strlen(w->name);

	c->here += !w->numbers;
	if (w->numbers < SAME_NAME_MAX)
		w->number[w->numbers++] = number;
	if (!exact && w->exact)
		return;
	w->exact += exact;
	w->symbol_number = number;
	if (open && close > open)
		snprintf(w->symbol, sizeof(w->symbol), "%.*s:%.*s", (int)(close - open - 1), open + 1,
			 (int)len, line);
	else
		snprintf(w->symbol, sizeof(w->symbol), "%.*s", (int)len, line);
}

static void match_line(struct capture *c, const char *line, unsigned int number)
{
	size_t len = strcspn(line, " \n"), base = strcspn(line, ". \n");

	for (unsigned int i = 0; i < c->functions; i++) {
		struct wanted *w = &c->function[i];
		size_t want = strlen(w->name);

		if ((want == len || want == base) && !strncmp(w->name, line, want))
			ftrace_take_line(c, w, line, number);
	}
}

/*
 * Finds the functions that can be traced. The kernel looks up each of these names, which takes seconds on a
 * slow machine with a module as large as amdgpu. So the result of a probe is stored for the next opening.
 */
static char *available;

static int match_functions(struct capture *c, struct grt_err *err)
{
	char *text = available ? available : ftrace_get(c->root, "available_filter_functions"), *line;
	unsigned int number = 0;

	available = text;

	if (!text)
		return grt_err_set(err, -ENOTSUP, "this kernel has no function tracer",
				   "boot a kernel that has CONFIG_FUNCTION_TRACER=y",
				   "ftrace: cannot read available_filter_functions");
	for (line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
		match_line(c, line, ++number);
	if (c->here)
		return 0;
	return grt_err_set(err, -ENOENT, "the driver is not loaded, or has none of these functions",
			   probe_load_fix("sudo modprobe amdgpu"),
			   "ftrace: none of the %u functions is in this kernel", c->functions);
}

static void ftrace_note_missing(struct capture *c)
{
	char text[sizeof(c->missing) + 64];
	size_t used = 0;

	for (unsigned int i = 0; i < c->functions && used < sizeof(c->missing); i++)
		if (!c->function[i].numbers)
			used += (size_t)snprintf(c->missing + used, sizeof(c->missing) - used, "%s%s",
						 used ? "," : "", c->function[i].name);
	snprintf(text, sizeof(text), "ftrace: not in this kernel: %s", c->missing);
	if (used && c->note)
		c->note(text);
}

/* Sets a probe at the entry and one at the return. A name that several functions have gets none. */
static bool probe_function(const struct capture *c, struct wanted *w)
{
	char text[512];

	snprintf(text, sizeof(text), "p:%s/%s %s %s\n", c->group, w->name, w->symbol, w->args);
	if (ftrace_put(c->root, "kprobe_events", text, O_APPEND)) {
		snprintf(text, sizeof(text), "p:%s/%s %s\n", c->group, w->name, w->symbol);
		if (ftrace_put(c->root, "kprobe_events", text, O_APPEND))
			return false;
	}
	snprintf(text, sizeof(text), "r" RETURNS_MAX ":%s/%s_ret %s ret=$retval:s32\n", c->group, w->name,
		 w->symbol);
	if (!ftrace_put(c->root, "kprobe_events", text, O_APPEND))
		return true;
	snprintf(text, sizeof(text), "-:%s/%s\n", c->group, w->name);
	ftrace_put(c->root, "kprobe_events", text, O_APPEND);
	return false;
}

/* The filter takes one word per write(). Return: 0 or -errno */
static int put_words(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_APPEND | O_CLOEXEC), ret = 0;
	size_t left = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -errno;
	while (left && !ret) {
		n = write(fd, text, left);
		if (n > 0) {
			text += n;
			left -= (size_t)n;
		} else if (!n || errno != EINTR) {
			ret = n ? -errno : -EIO;
		}
	}
	close(fd);
	return ret;
}

/* Traces calls of functions without a probe. */
static int trace_calls(struct capture *c)
{
	char text[FUNCTIONS_MAX * SAME_NAME_MAX * 8];
	size_t used = 0;
	int ret;

	for (unsigned int i = 0; i < c->functions; i++) {
		const struct wanted *w = &c->function[i];

		for (unsigned int k = 0; k < w->numbers; k++)
			if (!w->probed || w->number[k] != w->symbol_number)
				used += (size_t)snprintf(text + used, sizeof(text) - used, "%u\n",
							 w->number[k]);
	}
	if (!used)
		return 0;
	ret = put_words(c->instance, "set_ftrace_filter", text);
	return ret ? ret : ftrace_put(c->instance, "current_tracer", "function", 0);
}

static int set_functions(struct capture *c, struct grt_err *err)
{
	char path[128];
	int ret;

	for (unsigned int i = 0; i < c->functions; i++) {
		struct wanted *w = &c->function[i];

		w->probed = (w->exact ? w->exact : w->numbers) == 1 && w->args && probe_function(c, w);
		c->probed += w->probed;
	}
	ret = trace_calls(c);
	if (ret)
		return ftrace_failed(err, ret, "the function tracer");
	if (c->probed) {
		snprintf(path, sizeof(path), "events/%s/enable", c->group);
		ret = ftrace_put(c->instance, path, "1", 0);
	}
	return ret ? ftrace_failed(err, ret, "probes") : 0;
}

/* ------------------------------------------------------------------ the source */

static int make_instance(struct capture *c, struct grt_err *err)
{
	char path[128], size[32];
	int ret;

	snprintf(c->name, sizeof(c->name), PREFIX "-%ld-%llu-%" PRIu32, (long)getpid(), start_of(getpid()),
		 pid_ns());
	ftrace_group_of(c->group, c->name);
	snprintf(path, sizeof(path), "instances/%s", c->name);
	if (mkdirat(c->root, path, 0700) && errno != EEXIST)
		return ftrace_failed(err, -errno, "up an instance");
	c->instance = openat(c->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->instance < 0)
		return ftrace_failed(err, -errno, "up an instance");
	snprintf(size, sizeof(size), "%" PRIu64, c->buffer / 1024);
	ret = ftrace_put(c->instance, "tracing_on", "0", 0);
	if (!ret)
		ret = ftrace_put(c->instance, "trace_clock", "mono", 0);
	if (!ret)
		ret = ftrace_put(c->instance, "buffer_size_kb", size, 0);
	/* without this option, the process of a thread is unknown; older kernels do not have it here */
	if (!ret)
		ftrace_put(c->instance, "options/record-tgid", "1", 0);
	return ret ? ftrace_failed(err, ret, "the clock or the buffer") : 0;
}

static void set_events(struct capture *c)
{
	char path[128];

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(path, sizeof(path), "events/%s/enable", events[i]);
		c->events += !ftrace_put(c->instance, path, "1", 0);
	}
}

static int open_instance(struct capture *c, struct grt_err *err)
{
	int ret = choose_functions(c, err);

	c->root = ret ? -1 : tracefs_open(err);
	if (ret || c->root < 0)
		return ret ? ret : c->root;
	clean_up(c);
	ret = match_functions(c, err);
	free(available);
	available = NULL;
	if (!ret)
		ret = make_instance(c, err);
	if (!ret)
		ret = set_functions(c, err);
	if (ret)
		return ret;
	ftrace_note_missing(c);
	set_events(c);
	c->pipe = openat(c->instance, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return c->pipe < 0 ? ftrace_failed(err, -errno, "trace_pipe") : 0;
}

/* Whether the source will probably work; changes nothing. */
static int ftrace_probe(struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int ret = c ? choose_functions(c, err) : -ENOMEM;

	if (!ret) {
		c->root = tracefs_open(err);
		ret = c->root < 0 ? c->root : match_functions(c, err);
		if (c->root >= 0)
			close(c->root);
	}
	free(c);
	return ret;
}

static int ftrace_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int ret;

	*state = c;
	if (!c)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for ftrace");
	c->root = c->instance = c->pipe = -1;
	c->buffer = setup->buffer_size ? setup->buffer_size : BUFFER_DEFAULT;
	c->uid = setup->uid;
	c->gid = setup->gid;
	c->note = setup->note;
	ret = textlog_open(&c->log, textlog_settings.trace_name ? textlog_settings.trace_name : "ftrace.txt",
			   setup, err);
	return ret ? ret : open_instance(c, err);
}

/* Stores KFD's view of its queues beside the texts, because they have no time stamps of their own. */
static void keep_debugfs(const struct capture *c, const char *when)
{
	static const char *const files[] = {"mqds", "hqds", "rls"};
	char path[4200], *text;
	int fd;

	for (size_t i = 0; textlog_settings.dir && i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), DEBUGFS "/%s", files[i]);
		text = ftrace_get(AT_FDCWD, path);
		if (!text)
			continue;
		snprintf(path, sizeof(path), "%s/kfd_%s.%s", textlog_settings.dir, files[i], when);
		as_user_begin(c->uid, c->gid);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
		as_user_end();
		if (fd >= 0 && write(fd, text, strlen(text)) < 0)
			errno = 0;
		if (fd >= 0)
			close(fd);
		free(text);
	}
}

static int source_ftrace_start(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret = textlog_start(&c->log, c->pipe, err);

	keep_debugfs(c, "before");
	if (!ret)
		ret = ftrace_put(c->instance, "tracing_on", "1", 0);
	return ret ? ftrace_failed(err, ret, "tracing_on") : 0;
}

/* The files that are restored at the end belong to root. */
static int ftrace_confine(void *state, uint64_t *keep, struct grt_err *err)
{
	*keep |= 1ULL << CAP_DAC_OVERRIDE;
	return 0;
}

/* Return: number of events for which the CPUs' buffers had no room. */
static uint64_t count_lost(struct capture *c)
{
	static const char *const keys[] = {"\noverrun: ", "\ndropped events: "};
	char path[64], *text, *at;
	uint64_t lost = 0;

	for (unsigned int cpu = 0; cpu < 4096; cpu++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
		text = ftrace_get(c->instance, path);
		if (!text)
			break;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			at = strstr(text, keys[i]);
			lost += at ? strtoull(at + strlen(keys[i]), NULL, 10) : 0;
		}
		free(text);
	}
	return lost;
}

/* The line after @text's line, whose end becomes a NUL; NULL: that was the last line */
static char *cut_line(char *text)
{
	char *end = strchr(text, '\n');

	if (!end)
		return NULL;
	*end = '\0';
	return end[1] ? end + 1 : NULL;
}

/*
 * Return: number of calls and returns that the kernel could not probe: kprobe_profile has "NAME HITS MISSED"
 * without the group, for the probes of kprobe_events in their order (trace_kprobe.c, Linux 6.1).
 */
static uint64_t count_missed(const struct capture *c)
{
	char *events = ftrace_get(c->root, "kprobe_events"), *profile = ftrace_get(c->root, "kprobe_profile");
	size_t len = strlen(c->group);
	uint64_t missed = 0;
	char *event = events && *events ? events : NULL, *line = profile && *profile ? profile : NULL;

	while (event && line) {
		char *next_event = cut_line(event), *next_line = cut_line(line);
		const char *at = strchr(event, ':'), *last = strrchr(line, ' ');

		if (at && last && !strncmp(at + 1, c->group, len) && at[1 + len] == '/')
			missed += strtoull(last, NULL, 10);
		event = next_event;
		line = next_line;
	}
	free(events);
	free(profile);
	return missed;
}

static int ftrace_stop(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret = ftrace_put(c->instance, "tracing_on", "0", 0);

	keep_debugfs(c, "after");
	/* the text reports overwritten events if something follows them, so only the others are added */
	c->lost = count_lost(c);
	c->missed = c->probed ? count_missed(c) : 0;
	textlog_stop(&c->log, c->missed);
	return ret ? ftrace_failed(err, ret, "tracing_on") : 1;
}

static int ftrace_describe(void *state, struct grt_env *env, int room)
{
	struct capture *c = state;
	const struct grt_env all[] = {
		{"ftrace_functions", c->counts},
		{"ftrace_missing", c->missing},
		{"ftrace_text", textlog_summary(&c->log)},
		{"ftrace_skipped", textlog_skipped(&c->log)},
	};
	int i;

	snprintf(c->counts, sizeof(c->counts),
		 "asked=%u here=%u with_returns=%u event_groups=%u clock=mono overwritten=%" PRIu64
		 " missed=%" PRIu64,
		 c->functions, c->here, c->probed, c->events, c->lost, c->missed);
	for (i = 0; i < room && i < 4; i++)
		env[i] = all[i];
	return i;
}

static int ftrace_close(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret;

	if (!c)
		return 0;
	ret = textlog_close(&c->log, err);
	if (c->pipe >= 0)
		close(c->pipe);
	if (c->instance >= 0) {
		close(c->instance);
		remove_instance(c->root, c->name);
	}
	if (c->root >= 0)
		close(c->root);
	free(c);
	return ret;
}

const struct source source_ftrace = {
	.name = "ftrace",
	.by_name = true,
	.all_gpus = "what the driver does for all GPUs",
	.probe = ftrace_probe,
	.open = ftrace_open,
	.start = source_ftrace_start,
	.confine = ftrace_confine,
	.confined = textlog_confined,
	.streams = textlog_streams,
	.read = textlog_read,
	.stop = ftrace_stop,
	.describe = ftrace_describe,
	.close = ftrace_close,
};
