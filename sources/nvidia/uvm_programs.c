// SPDX-License-Identifier: GPL-2.0
/* Looks for files of the driver in /proc, see uvm_programs.h. */
#include "uvm_programs.h"

#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/probe.h"
#include "nv_uvm.h"

uint32_t uvm_major(void)
{
	char text[8192], line[128], name[64];
	const char *at = text;
	uint32_t major;

	if (probe_read(text, sizeof(text), "/proc/devices") <= 0)
		return 0;
	while ((at = probe_line(at, line, sizeof(line))))
		if (sscanf(line, "%u %63s", &major, name) == 2 && !strcmp(name, "nvidia-uvm"))
			return major;
	return 0;
}

/* Return: the number that is the whole name, -1: the name is not a number. */
static long number_of(const char *name)
{
	char *end;
	long n = strtol(name, &end, 10);

	return end > name && !*end && n >= 0 ? n : -1;
}

int uvm_files(uint32_t major, uint32_t pid, int (*meet)(void *arg, uint32_t pid, int fd), void *arg)
{
	char path[PROBE_PATH];
	DIR *dir = opendir(probe_path(path, "/proc/%u/fd", pid));
	struct dirent *entry;
	struct stat s;
	int ret = 0;

	while (dir && !ret && (entry = readdir(dir))) {
		long fd = number_of(entry->d_name);

		if (fd >= 0 && !fstatat(dirfd(dir), entry->d_name, &s, 0) && S_ISCHR(s.st_mode) &&
		    major(s.st_rdev) == major && minor(s.st_rdev) != NV_UVM_TOOLS_MINOR)
			ret = meet(arg, pid, (int)fd);
	}
	if (dir)
		closedir(dir);
	return ret;
}

int uvm_all_files(uint32_t major, int (*meet)(void *arg, uint32_t pid, int fd), void *arg)
{
	char path[PROBE_PATH];
	DIR *dir = opendir(probe_path(path, "/proc"));
	struct dirent *entry;
	int ret = 0;

	while (dir && !ret && (entry = readdir(dir))) {
		long pid = number_of(entry->d_name);

		if (pid > 0 && pid != getpid())
			ret = uvm_files(major, (uint32_t)pid, meet, arg);
	}
	if (dir)
		closedir(dir);
	return ret;
}

int uvm_take_file(int pidfd, int fd)
{
	int ours = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);

	return ours < 0 ? -errno : ours;
}

bool uvm_same_file(int ours, uint32_t pid, int fd)
{
	return syscall(SYS_kcmp, getpid(), (pid_t)pid, KCMP_FILE, (long)ours, (long)fd) == 0;
}

int uvm_watch(void)
{
	char path[PROBE_PATH];
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (watch >= 0 && inotify_add_watch(watch, probe_path(path, UVM_FILE), IN_OPEN) < 0) {
		close(watch);
		return -1;
	}
	return watch;
}

bool uvm_watched(int watch)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool was = false;

	while (watch >= 0 && read(watch, buf, sizeof(buf)) > 0)
		was = true;
	return was;
}
