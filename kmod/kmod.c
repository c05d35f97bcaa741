// SPDX-License-Identifier: GPL-2.0
/*
 * Access to the kernel module's control files and streams. Each errno is converted to what is wrong on this
 * system and what to type.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grtrace/event_table.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compare.h"
#include "base/containers.h"
#include "kmod.h"
#include "kmod_tally.h"
#include "host/meter.h"
#include "host/read_all.h"

#define DEBUGFS_DEFAULT "/sys/kernel/debug"

/* Gets the mount point of debugfs. Return: false: it is not mounted. */
static bool find_debugfs(char *path, size_t room)
{
	struct mntent *m;
	bool found = false;
	FILE *mounts = setmntent("/proc/self/mounts", "re");

	while (mounts && !found && (m = getmntent(mounts))) {
		found = !strcmp(m->mnt_type, "debugfs");
		if (found)
			snprintf(path, room, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

static int no_directory(const char *path, int code, struct grt_err *err)
{
	if (code == EACCES || code == EPERM)
		return grt_err_set(err, -EACCES, "only root may use it", "the same command with sudo",
				   "cannot open %s", path);
	if (code != ENOENT)
		return grt_err_set(err, -code, strerror(code), NULL, "cannot open %s", path);
	return grt_err_set(err, -ENODEV, "the kernel module grtrace is not loaded", "sudo grtrace start",
			   "cannot open %s", path);
}

static int open_directory(struct kmod *k, struct grt_err *err)
{
	const char *given = getenv("GRTRACE_DEBUGFS");
	char mount[128] = DEBUGFS_DEFAULT;

	if (given && *given)
		snprintf(k->path, sizeof(k->path), "%s", given);
	else if (find_debugfs(mount, sizeof(mount)))
		snprintf(k->path, sizeof(k->path), "%s/grtrace", mount);
	else
		return grt_err_set(err, -ENOENT, "debugfs is not mounted",
				   "sudo mount -t debugfs debugfs " DEBUGFS_DEFAULT,
				   "cannot find the kernel module's files");
	k->dir = open(k->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* O_PATH also opens a directory that may not be searched; that shows at the first name in it. */
	if (k->dir < 0 || faccessat(k->dir, ".", X_OK, AT_EACCESS) < 0)
		return no_directory(k->path, errno, err);
	return 0;
}

static int check_version(struct kmod *k, struct grt_err *err)
{
	char *text = kmod_read(k, "version", err);
	int fields;

	if (!text)
		return -errno;
	fields = sscanf(text, "grtrace %31s format %u", k->version, &k->format);
	if (fields != 2)
		grt_err_set(err, 0, text, "sudo rmmod grtrace, then grtrace start",
			    "%s/version: not a version of grtrace", k->path);
	free(text);
	if (fields != 2)
		return -EPROTO;
	if (k->format >= GRT_FORMAT_MIN && k->format <= GRT_FORMAT)
		return 0;
	return grt_err_set(
		err, -EPROTO, NULL,
		"unload it (sudo rmmod grtrace) and load the module of this version: sudo grtrace start",
		"kernel module %s: format %u, this tool reads %d..%d", k->version, k->format, GRT_FORMAT_MIN,
		GRT_FORMAT);
}

/* The number N of eventsN; -1: it is another file. */
static long stream_number(const char *name)
{
	static const char head[] = "events";
	size_t length = sizeof(head) - 1;
	char *end;
	long n;

	if (strncmp(name, head, length) || name[length] < '0' || name[length] > '9')
		return -1;
	n = strtol(name + length, &end, 10);
	return *end ? -1 : n;
}

/* Numbers of CPUs may have gaps. Return: 0 or -ENOMEM */
static int find_streams(struct kmod *k)
{
	DIR *d = fdopendir(openat(k->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	long number;
	int ret = 0;

	while (d && !ret && (e = readdir(d))) {
		number = stream_number(e->d_name);
		if (number < 0)
			continue;
		ret = grt_grow_one(&k->number, k->cpus);
		if (!ret)
			k->number[k->cpus++] = (unsigned int)number;
	}
	if (d)
		closedir(d);
	if (k->cpus)
		qsort(k->number, k->cpus, sizeof(*k->number), grt_compare_u32);
	return ret;
}

static void kmod_count_packet(void *arg, const struct grt_packet *p)
{
	kmod_tally_take(((struct kmod *)arg)->tally, p);
}

static ssize_t live_read(void *arg, unsigned int i, void *buf, size_t len)
{
	struct kmod *k = arg;
	ssize_t n = read(k->streams[i], buf, len);

	if (n > 0)
		meter_feed(&k->meter[i], buf, (size_t)n, kmod_count_packet, k);
	return n < 0 ? -errno : n;
}

static const struct kmod none = {.dir = -1, .held = {-1, -1, -1, -1}, .recorder = -1};

int kmod_open(struct kmod *k, struct grt_err *err)
{
	int ret;

	*k = none;
	ret = open_directory(k, err);
	if (!ret)
		ret = check_version(k, err);
	if (!ret && find_streams(k))
		ret = grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for the streams of %s", k->path);
	if (!ret && !k->cpus)
		ret = grt_err_set(err, -EPROTO, "the file events0 is missing",
				  "sudo rmmod grtrace, then grtrace start",
				  "%s is not the kernel module's directory", k->path);
	if (ret)
		kmod_close(k);
	return ret;
}

void kmod_close_streams(struct kmod *k)
{
	unsigned int i;

	for (i = 0; k->streams && i < k->cpus; i++)
		if (k->streams[i] >= 0)
			close(k->streams[i]);
	free(k->streams);
	free(k->meter);
	k->streams = NULL;
	k->meter = NULL;
}

void kmod_close(struct kmod *k)
{
	kmod_close_streams(k);
	kmod_tally_free(k->tally);
	free(k->number);
	for (size_t i = 0; k->path[0] && i < KMOD_HELD; i++)
		if (k->held[i] >= 0)
			close(k->held[i]);
	if (k->path[0] && k->recorder >= 0)
		close(k->recorder);
	if (k->path[0] && k->dir >= 0)
		close(k->dir);
	*k = none;
}

int kmod_exit_status(int code)
{
	static const int missing[] = {-ENODEV, -ENOENT, -EACCES,  -EPERM,  -EPROTO,
				      -EBUSY,  -ENOKEY, -ENOEXEC, -ENOSYS, -ENOTSUP};
	size_t i;

	for (i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (code == missing[i])
			return 3;
	return 1;
}

/* Explains the errno of a failed open, read or write of a control file. */
static int file_error(struct kmod *k, const char *doing, const char *file, int code, struct grt_err *err)
{
	if (code == EACCES || code == EPERM)
		return grt_err_set(err, -EACCES,
				   geteuid()
					   ? "only root may do that"
					   : "the kernel is locked down (see /sys/kernel/security/lockdown)",
				   geteuid() ? "the same command with sudo"
					     : "boot without Secure Boot, or with lockdown=none",
				   "cannot %s %s/%s", doing, k->path, file);
	if (code == ENOENT)
		return grt_err_set(err, -EPROTO, "the module has no such file",
				   "sudo rmmod grtrace, then grtrace start", "cannot %s %s/%s", doing,
				   k->path, file);
	return grt_err_set(err, -code, strerror(code), NULL, "cannot %s %s/%s", doing, k->path, file);
}

/** struct held - a control file that may stay open */
static const struct held {
	const char *name;
	int flags;
} held[KMOD_HELD] = {
	{"control", O_RDWR},
	{"config", O_RDWR},
	{"stats", O_RDONLY},
	{"adapters", O_RDONLY},
};

int kmod_hold(struct kmod *k, struct grt_err *err)
{
	for (size_t i = 0; i < KMOD_HELD; i++) {
		k->held[i] = openat(k->dir, held[i].name, held[i].flags | O_CLOEXEC);
		if (k->held[i] < 0 && errno != ENOENT)
			return file_error(k, "open", held[i].name, errno, err);
	}
	return 0;
}

/*
 * A control file. If it can no longer be opened, the descriptor that was opened before, which is @kept.
 * Return: -1 with errno set
 */
static int kmod_open_file(const struct kmod *k, const char *file, int flags, bool *kept)
{
	int fd = openat(k->dir, file, flags | O_CLOEXEC);

	*kept = false;
	if (fd >= 0 || errno != EACCES)
		return fd;
	for (size_t i = 0; i < KMOD_HELD; i++)
		if (k->held[i] >= 0 && !strcmp(file, held[i].name)) {
			*kept = true;
			/* the module's files have no pwrite(2) */
			return lseek(k->held[i], 0, SEEK_SET) < 0 ? -1 : k->held[i];
		}
	return -1;
}

/* Return: the contents of a file without the newline of its last line; NULL with errno set. */
static char *kmod_read_text(int fd)
{
	size_t used;
	char *text = read_all(fd, KMOD_TEXT_MAX, &used);

	while (text && used && text[used - 1] == '\n')
		text[--used] = '\0';
	return text;
}

char *kmod_read(struct kmod *k, const char *file, struct grt_err *err)
{
	bool kept;
	int fd = kmod_open_file(k, file, O_RDONLY, &kept), code;
	char *text = fd >= 0 ? kmod_read_text(fd) : NULL;

	code = errno;
	if (fd >= 0 && !kept)
		close(fd);
	if (!text)
		errno = -file_error(k, "read", file, code, err);
	return text;
}

/* Return: 0 or -errno as the kernel returned it. */
static int kmod_write_file(struct kmod *k, const char *file, const char *text)
{
	bool kept;
	int fd = kmod_open_file(k, file, O_WRONLY | O_TRUNC, &kept), ret = 0;

	if (fd < 0)
		return -errno;
	/* what O_TRUNC does; the module's files have no length */
	if (kept && ftruncate(fd, 0))
		errno = 0;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	if (!kept)
		close(fd);
	return ret;
}

int kmod_write(struct kmod *k, const char *file, const char *text, struct grt_err *err)
{
	int ret = kmod_write_file(k, file, text);
	char doing[64];

	if (!ret)
		return 0;
	snprintf(doing, sizeof(doing), "write '%.40s' to", text);
	return file_error(k, doing, file, -ret, err);
}

int kmod_record(struct kmod *k, struct grt_err *err)
{
	static const char order[] = "record";
	int fd = openat(k->dir, "control", O_WRONLY | O_TRUNC | O_CLOEXEC), code;

	if (fd < 0)
		return file_error(k, "open", "control", errno, err);
	if (write(fd, order, sizeof(order) - 1) > 0) {
		k->recorder = fd;
		return 1;
	}
	code = errno;
	close(fd);
	if (code == EBUSY)
		return 0;
	/* a module that does not know this command yet */
	if (code == EINVAL)
		return kmod_write(k, "control", "start", err) ?: 1;
	return file_error(k, "write 'record' to", "control", code, err);
}

int kmod_running(struct kmod *k, struct grt_err *err)
{
	char *text = kmod_read(k, "control", err);
	int running;

	if (!text)
		return -errno;
	running = !strcmp(text, "running") ? 1 : !strcmp(text, "stopped") ? 0 : -EPROTO;
	if (running < 0)
		grt_err_set(err, running, text, NULL, "%s/control: neither running nor stopped", k->path);
	free(text);
	return running;
}

bool kmod_line(const char *text, const char *key, char *value, size_t room)
{
	size_t length = strlen(key), end;

	for (; *text; text += end + (text[end] == '\n')) {
		end = strcspn(text, "\n");
		if (strncmp(text, key, length) || (text[length] != '=' && text[length] != ' '))
			continue;
		/* if a file keeps its length, the end of a longer text may follow as blanks */
		while (end > length + 1 && text[end - 1] == ' ')
			end--;
		snprintf(value, room, "%.*s", (int)(end - length - 1), text + length + 1);
		return true;
	}
	return false;
}

int kmod_no_key(struct kmod *k, const struct kmod_key *key, struct grt_err *err)
{
	const char *module = kmod_key_module(key);
	char why[128], fix[128];

	if (!strcmp(module, "grtrace"))
		return grt_err_set(err, -EPROTO, "the module does not list it: it has another version",
				   "sudo rmmod grtrace, then grtrace start", "%s/config: no key %s", k->path,
				   key->name);
	snprintf(why, sizeof(why), "it belongs to the module %s, which is not loaded", module);
	snprintf(fix, sizeof(fix), "sudo modprobe %s", module);
	return grt_err_set(err, -ENODEV, why, fix, "the setting %s does not exist now", key->name);
}

int kmod_get(struct kmod *k, const char *key, char *value, size_t room, struct grt_err *err)
{
	char *text = kmod_read(k, "config", err);
	bool found;

	if (!text)
		return -errno;
	found = kmod_line(text, key, value, room);
	free(text);
	return found ? 0 : kmod_no_key(k, kmod_key_find(key), err);
}

int kmod_set(struct kmod *k, const char *key, const char *value, struct grt_err *err)
{
	const struct kmod_key *row = kmod_key_find(key);
	char line[4096];
	int ret;

	if (!row)
		return grt_err_set(err, -EINVAL, NULL, "grtrace config", "unknown key '%s'", key);
	if ((size_t)snprintf(line, sizeof(line), "%s=%s", key, value) >= sizeof(line))
		return grt_err_set(err, -EINVAL, "longer than a page", NULL, "cannot set %s", row->name);
	ret = kmod_write_file(k, "config", line);
	if (ret == -EACCES || ret == -EPERM || ret == -ENOENT)
		return file_error(k, "write", "config", -ret, err);
	if (ret == -ENODEV)
		return kmod_no_key(k, row, err);
	return ret ? kmod_key_refused(ret, row, value, err) : 0;
}

bool kmod_number(const char *line, const char *key, uint64_t *value)
{
	size_t length = strlen(key), end = strcspn(line, "\n");
	const char *p = line;

	while ((p = strstr(p, key)) && p < line + end) {
		if ((p == line || p[-1] == ' ') && p[length] == '=') {
			*value = strtoull(p + length + 1, NULL, 0);
			return true;
		}
		p += length;
	}
	return false;
}

void kmod_balance_line(const char *line, struct grt_balance *b)
{
	int i;

	*b = (struct grt_balance){0};
	kmod_number(line, "emitted", (uint64_t *)&b->emitted);
	for (i = 0; i < GRT_FATES; i++)
		kmod_number(line, grt_fate_names[i], (uint64_t *)&b->fate[i]);
}

int kmod_stats(struct kmod *k, struct kmod_stats *s, struct grt_err *err)
{
	char value[512];

	*s = (struct kmod_stats){.lines = kmod_read(k, "stats", err)};
	if (!s->lines)
		return -errno;
	if (kmod_line(s->lines, "reader_pid", value, sizeof(value)))
		s->reader = atoi(value);
	if (kmod_line(s->lines, "total", value, sizeof(value)))
		kmod_balance_line(value, &s->total);
	return 0;
}

int kmod_busy(const char *what, int reader, struct grt_err *err)
{
	char comm[32], why[128] = "another program reads it", fix[64] = "";

	if (reader > 0) {
		read_comm(reader, comm, sizeof(comm));
		snprintf(why, sizeof(why), "process %d%s%s%s reads it", reader, *comm ? " (" : "", comm,
			 *comm ? ")" : "");
		snprintf(fix, sizeof(fix), "sudo kill -INT %d, or wait until it ends", reader);
	}
	return grt_err_set(err, -EBUSY, why, fix, "cannot open %s", what);
}

static int stream_busy(struct kmod *k, const char *file, struct grt_err *err)
{
	struct kmod_stats stats = {0};
	char what[sizeof(k->path) + 64];

	kmod_stats(k, &stats, NULL);
	free(stats.lines);
	snprintf(what, sizeof(what), "%s/%s", k->path, file);
	return kmod_busy(what, stats.reader, err);
}

int kmod_open_stream(struct kmod *k, const char *file, struct grt_err *err)
{
	int fd = openat(k->dir, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == EBUSY ? stream_busy(k, file, err) : file_error(k, "open", file, errno, err);
}

int kmod_tally_begin(struct kmod *k, struct grt_err *err)
{
	char *stats = kmod_read(k, "stats", err);

	if (!stats)
		return -errno;
	k->tally = kmod_tally_new(stats);
	free(stats);
	return k->tally ? 0 : grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for counts");
}

int kmod_open_streams(struct kmod *k, struct grt_err *err)
{
	char name[32];
	unsigned int i;
	int fd;

	k->streams = malloc(k->cpus * sizeof(*k->streams));
	k->meter = calloc(k->cpus, sizeof(*k->meter));
	if (!k->streams || !k->meter)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for %u {stream|streams}", k->cpus);
	memset(k->streams, 0xff, k->cpus * sizeof(*k->streams));
	for (i = 0; i < k->cpus; i++) {
		snprintf(name, sizeof(name), "events%u", k->number[i]);
		fd = kmod_open_stream(k, name, err);
		if (fd < 0) {
			kmod_close_streams(k);
			return fd;
		}
		k->streams[i] = fd;
		k->meter[i].early = true;
	}
	k->live = (struct grt_live){.read = live_read, .arg = k, .streams = k->cpus};
	return 0;
}

int kmod_live_session(struct kmod *k, struct grt_session **out, struct grt_err *err)
{
	int ret = kmod_tally_begin(k, err);

	ret = ret ?: kmod_open_streams(k, err);
	return ret ?: grt_session_open_live(out, &k->live, err);
}

/* Reads up to the time before the flush. */
static int kmod_pump(struct kmod *k, struct grt_session *s, struct grt_consumer *c, struct grt_err *err)
{
	int ret;

	k->read_to = grt_now();
	ret = kmod_write(k, "control", "flush", err);
	return ret ? ret : grt_session_run_live(s, c, k->read_to, err);
}

static void kmod_take_missed(struct kmod *k, struct grt_session *s, const char *stats)
{
	struct grt_balance missed;

	kmod_tally_missed(k->tally, stats, &missed);
	grt_session_missed(s, &missed, "the streams of the kernel module");
}

int kmod_live_end(struct kmod *k, struct grt_session *s, struct grt_consumer *c, struct grt_err *err)
{
	/* counts from before a flush may be read after it */
	char *stats = kmod_read(k, "stats", err);
	int ret = stats ? kmod_pump(k, s, c, err) : -errno;

	if (stats && ret >= 0)
		kmod_take_missed(k, s, stats);
	free(stats);
	return ret;
}

int kmod_live_pump(struct kmod *k, struct grt_session *s, struct grt_consumer *c, struct grt_err *err)
{
	int ret = kmod_pump(k, s, c, err);

	/* tracing has ended, so the streams have ended, too */
	return ret ? ret : kmod_live_end(k, s, c, err);
}
