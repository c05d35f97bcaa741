// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of probes.def, and what all probes use to look: files below the
 * prefix, mounts, the kernel's version, this process's privileges.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "links.h"
#include "probe.h"

#define GRT_PROBE_GROUP(title) {.group = (title)},
#define GRT_PROBE(rname, needed, text) \
	{.name = #rname, .sources = (needed), .help = (text), .run = probe_##rname},
const struct probe_row probe_rows[] = {
#include "cmds/doctor/probes.def"
	{.name = NULL},
};
#undef GRT_PROBE

bool probe_needed(const struct probe_row *row, const char *source)
{
	size_t length = strlen(source);
	const char *p = row->sources;

	for (; p && *p; p += strcspn(p, " "), p += *p == ' ')
		if (strcspn(p, " ") == length && !strncmp(p, source, length))
			return true;
	return false;
}

/* ------------------------------------------------------------- results */

static void probe_append(struct probe_result *r, const char *fmt, va_list ap)
{
	static const char cut[] = "...";
	size_t used = strlen(r->detail);
	int n = vsnprintf(r->detail + used, sizeof(r->detail) - used, fmt, ap);

	if (n >= 0 && (size_t)n >= sizeof(r->detail) - used)
		memcpy(r->detail + sizeof(r->detail) - sizeof(cut), cut, sizeof(cut));
}

void probe_set(struct probe_result *r, enum probe_state state, const char *fix, const char *fmt, ...)
{
	va_list ap;

	r->state = state;
	r->detail[0] = '\0';
	snprintf(r->fix, sizeof(r->fix), "%s", fix ? fix : "");
	va_start(ap, fmt);
	probe_append(r, fmt, ap);
	va_end(ap);
}

void probe_add(struct probe_result *r, const char *fmt, ...)
{
	size_t used = strlen(r->detail);
	va_list ap;

	if (used && used + 3 < sizeof(r->detail))
		strcpy(r->detail + used, ", ");
	va_start(ap, fmt);
	probe_append(r, fmt, ap);
	va_end(ap);
}

/* --------------------------------------------------------------- files */

const char *probe_sysroot(void)
{
	const char *root = getenv("GRTRACE_SYSROOT");

	return root ? root : "";
}

static char *probe_path_of(char path[PROBE_PATH], const char *fmt, va_list ap)
{
	int n = snprintf(path, PROBE_PATH, "%s", probe_sysroot());

	if (n < PROBE_PATH)
		n += vsnprintf(path + n, (size_t)(PROBE_PATH - n), fmt, ap);
	if (n >= PROBE_PATH)
		path[0] = '\0';
	return path;
}

char *probe_path(char path[PROBE_PATH], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	probe_path_of(path, fmt, ap);
	va_end(ap);
	return path;
}

bool probe_exists(const char *fmt, ...)
{
	char path[PROBE_PATH];
	va_list ap;

	va_start(ap, fmt);
	probe_path_of(path, fmt, ap);
	va_end(ap);
	return access(path, F_OK) == 0;
}

static ssize_t read_start(int fd, char *text, size_t room)
{
	size_t used = 0;
	ssize_t n = 0;

	while (used + 1 < room && (n = read(fd, text + used, room - used - 1)) > 0)
		used += (size_t)n;
	if (n < 0)
		return -errno;
	while (used && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
	return (ssize_t)used;
}

ssize_t probe_read(char *text, size_t room, const char *fmt, ...)
{
	char path[PROBE_PATH];
	va_list ap;
	ssize_t n;
	int fd;

	text[0] = '\0';
	va_start(ap, fmt);
	probe_path_of(path, fmt, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read_start(fd, text, room);
	close(fd);
	return n;
}

bool probe_link(char *name, size_t room, const char *fmt, ...)
{
	char path[PROBE_PATH];
	va_list ap;

	va_start(ap, fmt);
	probe_path_of(path, fmt, ap);
	va_end(ap);
	return link_end(path, name, room);
}

const char *probe_line(const char *text, char *line, size_t room)
{
	size_t length = strcspn(text, "\n");

	if (!*text)
		return NULL;
	snprintf(line, room, "%.*s", (int)length, text);
	return text + length + (text[length] == '\n');
}

bool probe_mount(const char *type, char *dir, size_t room)
{
	char path[PROBE_PATH];
	FILE *mounts = setmntent(probe_path(path, "/proc/self/mounts"), "re");
	struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts))) {
		found = !strcmp(m->mnt_type, type);
		if (found)
			snprintf(dir, room, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* ---------------------------------------------------- kernel, process */

void probe_release(char *text, size_t room)
{
	probe_read(text, room, "/proc/sys/kernel/osrelease");
}

bool probe_kernel_before(unsigned int major, unsigned int minor)
{
	unsigned int have_major, have_minor;
	char release[128];

	probe_release(release, sizeof(release));
	if (sscanf(release, "%u.%u", &have_major, &have_minor) != 2)
		return false;
	return have_major != major ? have_major < major : have_minor < minor;
}

/* The first number of a line of /proc/self/status after its first @skip numbers. */
static bool own_status(const char *key, unsigned int base, unsigned int skip, unsigned long long *value)
{
	char text[8192], *p, *end;

	probe_read(text, sizeof(text), "/proc/self/status");
	p = strstr(text, key);
	if (!p || (p != text && p[-1] != '\n'))
		return false;
	p += strlen(key);
	do {
		*value = strtoull(p, &end, (int)base);
		if (end == p)
			return false;
		p = end;
	} while (skip--);
	return true;
}

bool probe_root(void)
{
	unsigned long long uid;

	/* Real and effective. */
	return own_status("Uid:", 10, 1, &uid) && !uid;
}

bool probe_capable(unsigned int cap)
{
	unsigned long long caps;

	return own_status("CapEff:", 16, 0, &caps) && caps >> cap & 1;
}
