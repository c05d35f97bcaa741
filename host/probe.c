// SPDX-License-Identifier: GPL-2.0
/*
 * See probe.h: files below the prefix, mounts, the kernel, and this process's privileges.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "links.h"
#include "probe.h"

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

enum probe_lockdown_mode probe_lockdown_mode(void)
{
	char text[128], dir[256];

	if (probe_read(text, sizeof(text), "/sys/kernel/security/lockdown") < 0)
		return probe_mount("securityfs", dir, sizeof(dir)) &&
				       !probe_exists("/sys/kernel/security/lockdown")
			       ? PROBE_LOCKDOWN_NONE
			       : PROBE_LOCKDOWN_UNKNOWN;
	if (strstr(text, "[integrity]"))
		return PROBE_LOCKDOWN_INTEGRITY;
	if (strstr(text, "[confidentiality]"))
		return PROBE_LOCKDOWN_CONFIDENTIALITY;
	return strstr(text, "[none]") ? PROBE_LOCKDOWN_NONE : PROBE_LOCKDOWN_UNKNOWN;
}

bool probe_module_loaded(const char *module)
{
	return probe_exists("/sys/module/%s", module);
}

/* The number in a line of /proc/self/status after its first @skip numbers. */
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

	/* The real and the effective user. */
	return own_status("Uid:", 10, 1, &uid) && !uid;
}

bool probe_capable(unsigned int cap)
{
	unsigned long long caps;

	return own_status("CapEff:", 16, 0, &caps) && caps >> cap & 1;
}

const char *probe_load_fix(const char *modprobe)
{
	return probe_exists("/proc/modules")
		       ? modprobe
		       : "a kernel with this driver: this one loads no modules (CONFIG_MODULES)";
}
