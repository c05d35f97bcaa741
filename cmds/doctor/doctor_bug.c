// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace doctor --bug-report: one text file with everything that a bug report needs. It is composed in
 * memory, the names of this host and its users are removed, and it is written completely or not at all.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmod/kmod.h"
#include "base/memfile.h"
#include "doctor.h"

#define TITLE "grtrace bug report"
#define FILE_ROOM 65536
#define LOG_ROOM ((size_t)4 << 20)
#define LOG_LINES 300

static const char *const files[] = {
	"/proc/version",
	"/etc/os-release",
	"/proc/driver/nvidia/version",
	"/sys/kernel/security/lockdown",
	"/sys/module/amdgpu/version",
	"/sys/module/nvidia/version",
	"/opt/rocm/.info/version",
	"/proc/sys/kernel/unprivileged_bpf_disabled",
	"/proc/sys/kernel/perf_event_paranoid",
	"/proc/sys/kernel/kptr_restrict",
	"/proc/sys/kernel/tainted",
	"/proc/sys/kernel/ftrace_enabled",
};

/* The module's files. */
static const char *const module_files[] = {"version",  "control", "config",	   "stats",
					   "adapters", "rings",	  "events_by_type"};

/* Words that select lines of the list of modules, of the command line and of the log. */
static const char *const about_modules[] = {"grtrace",	  "drm",      "gpu_sched", "ttm",     "amdgpu",
					    "radeon",	  "i915",     "xe ",	   "nouveau", "nvidia",
					    "virtio_gpu", "panfrost", "msm ",	   "v3d",     NULL};
static const char *const about_cmdline[] = {"lockdown", "amdgpu", "i915",      "nouveau", "nvidia", "drm",
					    "module.",	"iommu",  "nomodeset", "pci=",	  NULL};
static const char *const about_log[] = {"drm",	   "amdgpu", "i915", "nouveau",	 "NVRM",
					"grtrace", "nvidia", "kfd",  "Lockdown", NULL};

static bool mentions(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

static void title(FILE *f, const char *text)
{
	fprintf(f, "\n==== %s\n", text);
}

/* Copies lines of other text; @words NULL: all lines. */
static void put_lines(FILE *f, const char *text, const char *const *words)
{
	char line[1024];

	while ((text = probe_line(text, line, sizeof(line)))) {
		if (words && !mentions(line, words))
			continue;
		cmd_put_text(f, line);
		fputc('\n', f);
	}
}

static void put_files(FILE *f, char *room)
{
	size_t i;
	ssize_t n;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		n = probe_read(room, FILE_ROOM, "%s", files[i]);
		if (n == -ENOENT)
			continue;
		title(f, files[i]);
		if (n < 0)
			fprintf(f, "(%s)\n", strerror((int)-n));
		else
			put_lines(f, room, NULL);
	}
}

static void put_modules(FILE *f, char *room)
{
	title(f, "/proc/modules: GPU drivers");
	if (probe_read(room, FILE_ROOM, "/proc/modules") > 0)
		put_lines(f, room, about_modules);
}

/* Copies only the GPU's options from the command line, which may also name disks and hosts. */
static void put_cmdline(FILE *f, char *room)
{
	char *p;

	title(f, "/proc/cmdline: what concerns GPUs");
	if (probe_read(room, FILE_ROOM, "/proc/cmdline") <= 0)
		return;
	for (p = room; *p; p++)
		if (*p == ' ')
			*p = '\n';
	put_lines(f, room, about_cmdline);
}

static void put_module_files(FILE *f)
{
	struct kmod k = {.dir = -1};
	struct grt_err err = {0};
	char *text;
	size_t i;

	if (kmod_open(&k, &err)) {
		title(f, "the kernel module");
		fprintf(f, "(%s: %s)\n", err.what, err.why);
		return;
	}
	for (i = 0; i < sizeof(module_files) / sizeof(module_files[0]); i++) {
		title(f, module_files[i]);
		text = kmod_read(&k, module_files[i], &err);
		if (text)
			put_lines(f, text, NULL);
		else
			fprintf(f, "(%s: %s)\n", err.what, err.why);
		free(text);
	}
	kmod_close(&k);
}

/* ---------------------------------------------------------- kernel log */

/*
 * Reads all of /dev/kmsg, which returns one message per read(2), and -EPIPE for messages that were
 * overwritten meanwhile. Return: the text, or NULL with errno set
 */
static char *read_log(void)
{
	char path[PROBE_PATH], *text = malloc(LOG_ROOM);
	int fd = open(probe_path(path, "/dev/kmsg"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 0;

	while (fd >= 0 && text && used + 8192 < LOG_ROOM) {
		n = read(fd, text + used, LOG_ROOM - used - 1);
		if (n == 0 || (n < 0 && errno != EPIPE))
			break;
		used += n > 0 ? (size_t)n : 0;
	}
	if (fd < 0 || !text || (n < 0 && errno != EAGAIN && errno != EPIPE)) {
		free(text);
		text = NULL;
	} else {
		text[used] = '\0';
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* Converts "6,339,5140900,-;message" to "[    5.140900] message"; other lines are printed unchanged. */
static void put_message(FILE *f, const char *line)
{
	const char *text = strchr(line, ';');
	unsigned long long us;

	if (text && sscanf(line, "%*u,%*u,%llu,", &us) == 1)
		fprintf(f, "[%5llu.%06llu] ", us / 1000000, us % 1000000);
	cmd_put_text(f, text ? text + 1 : line);
	fputc('\n', f);
}

static bool doctor_bug_is_ours(const char *line)
{
	/* Lines that begin with a space are properties of the message before. */
	return *line != ' ' && mentions(line, about_log);
}

static void put_log(FILE *f)
{
	char *log = read_log(), line[2048];
	const char *next;
	int n = 0;

	title(f, "kernel log: the last lines about GPUs");
	if (!log) {
		fprintf(f, "(/dev/kmsg: %s; as root there would be more here)\n", strerror(errno));
		return;
	}
	for (next = log; (next = probe_line(next, line, sizeof(line)));)
		n += doctor_bug_is_ours(line);
	for (next = log; (next = probe_line(next, line, sizeof(line)));)
		if (doctor_bug_is_ours(line) && n-- <= LOG_LINES)
			put_message(f, line);
	free(log);
}

/* --------------------------------------------------------------- names */

/* struct private - a name that is removed, and its replacement */
struct private_name {
	char name[256];
	const char *instead;
};

static void add_name(struct private_name *list, int *n, const char *name, const char *instead)
{
	/* One letter would match everywhere, and root is not private. */
	if (!name || strlen(name) < 2 || strlen(name) >= sizeof(list->name) || !strcmp(name, "root"))
		return;
	strcpy(list[*n].name, name);
	list[(*n)++].instead = instead;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static const struct private_name *name_at(const char *text, const char *p, const struct private_name *list,
					  int n)
{
	size_t length;
	int i;

	if (p > text && in_word(p[-1]))
		return NULL;
	for (i = 0; i < n; i++) {
		length = strlen(list[i].name);
		if (!strncmp(p, list[i].name, length) && !in_word(p[length]))
			return &list[i];
	}
	return NULL;
}

/* The text with private names replaced, and everything after /home/. */
static void put_public(FILE *f, const char *text, const struct private_name *list, int n)
{
	static const char home[] = "/home/";
	const struct private_name *hit;
	const char *p = text;

	while (*p) {
		hit = name_at(text, p, list, n);
		if (hit) {
			fputs(hit->instead, f);
			p += strlen(hit->name);
		} else if (!strncmp(p, home, sizeof(home) - 1) && in_word(p[sizeof(home) - 1])) {
			p += sizeof(home) - 1;
			p += strcspn(p, "/ \n\t:,;)\"'");
			fputs("/home/USER", f);
		} else {
			fputc(*p++, f);
		}
	}
}

static int private_names(struct private_name *list)
{
	char host[256];
	const struct passwd *pw = getpwuid(getuid());
	int n = 0;

	probe_read(host, sizeof(host), "/proc/sys/kernel/hostname");
	add_name(list, &n, host, "HOST");
	host[strcspn(host, ".")] = '\0';
	add_name(list, &n, host, "HOST");
	add_name(list, &n, pw ? pw->pw_name : NULL, "USER");
	add_name(list, &n, getenv("USER"), "USER");
	add_name(list, &n, getenv("SUDO_USER"), "USER");
	return n;
}

/* ---------------------------------------------------------------- file */

static char *doctor_bug_collect(const struct diagnosis *trace)
{
	char *text = NULL, *room = malloc(FILE_ROOM);
	struct grt_memfile m;
	FILE *f = room ? grt_memfile_open(&m) : NULL;

	if (f) {
		fputs(TITLE "\n\nRead it before you send it: the names of this host and its users were left "
			    "out where they\nwere found, but names of programs and files may be private.\n",
		      f);
		title(f, "versions");
		fprintf(f, "grtrace " GRT_VERSION ", format %d, reads %d..%d\n", GRT_FORMAT, GRT_FORMAT_MIN,
			GRT_FORMAT);
		title(f, "grtrace doctor");
		doctor_print(f, false, NULL, trace);
		put_module_files(f);
		put_files(f, room);
		put_modules(f, room);
		put_cmdline(f, room);
		put_log(f);
		fputs("\n==== end\n", f);
		text = grt_memfile_close(&m, f, NULL);
	}
	free(room);
	return text;
}

/* An existing file is only replaced if it is an older report. */
static int doctor_bug_check_target(const char *path, struct grt_err *err)
{
	char start[sizeof(TITLE)] = "";
	struct stat st;
	int fd;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : grt_err_set(err, -errno, strerror(errno), NULL, "%s", path);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && S_ISREG(st.st_mode) && read(fd, start, sizeof(start) - 1) < 0)
		start[0] = '\0';
	if (fd >= 0)
		close(fd);
	if (S_ISREG(st.st_mode) && (!st.st_size || !strcmp(start, TITLE)))
		return 0;
	return grt_err_set(err, -EEXIST, "the file exists and is not a bug report of grtrace", "another name",
			   "cannot write %s", path);
}

static int doctor_bug_write_error(const char *path, struct grt_err *err)
{
	return grt_err_set(err, -errno, strerror(errno),
			   errno == ENOSPC ? "free space on the disk, or another place" : "another place",
			   "cannot write %s", path);
}

static int write_whole(const char *path, const char *text, struct grt_err *err)
{
	struct private_name names[8];
	int n = private_names(names), ret = 0, fd, bad;
	char *temp;
	FILE *f;

	if (asprintf(&temp, "%s.XXXXXX", path) < 0)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for %s", path);
	fd = mkostemp(temp, O_CLOEXEC); /* mode 0600 */
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f) {
		ret = doctor_bug_write_error(path, err);
	} else {
		put_public(f, text, names, n);
		bad = fflush(f) || fsync(fd);
		bad |= fclose(f);
		if (bad || rename(temp, path))
			ret = doctor_bug_write_error(path, err);
	}
	if (ret && fd >= 0)
		unlink(temp);
	free(temp);
	return ret;
}

int doctor_bug_report(const char *path, const struct diagnosis *trace)
{
	struct grt_err err = {0};
	int ret = doctor_bug_check_target(path, &err);
	char *text = ret ? NULL : doctor_bug_collect(trace);

	if (!ret && !text)
		ret = grt_err_set(&err, -ENOMEM, NULL, NULL, "no memory for the report");
	if (!ret)
		ret = write_whole(path, text, &err);
	free(text);
	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	cmd_put_text(stdout, path);
	puts(": written; read it before you send it");
	return cmd_close_stdout();
}
