// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the file from which a module would be loaded, in the order of kmod_load.c, and whether this kernel
 * would accept it.
 */
#include "kmod_find.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/links.h"

#define CORE "grtrace"
#define FIX_MAKE "make modules && sudo make modules_install"
#define FIX_SIGN "sign it with the machine's key (see mokutil(1)), or boot without Secure Boot"

/* Whether a line of modules.dep is about this module: "updates/grtrace.ko.xz: needed.ko". */
static bool is_module_line(const char *line, const char *module)
{
	const char *end = line + strcspn(line, ":"), *name = end;

	while (name > line && name[-1] != '/')
		name--;
	for (; *module && name < end; module++, name++)
		if (*name != *module && !(*name == '-' && *module == '_'))
			return false;
	return !*module && !strncmp(name, ".ko", 3) && strchr(".:", name[3]);
}

/* Finds the file that modprobe would load. */
static bool find_installed(const char *module, const char *release, char path[PROBE_PATH])
{
	FILE *f = fopen(probe_path(path, "/lib/modules/%s/modules.dep", release), "re");
	bool found = false;
	char *line = NULL;
	size_t room = 0;

	while (f && !found && getline(&line, &room, f) > 0)
		found = is_module_line(line, module);
	if (found && *line == '/')
		probe_path(path, "%.*s", (int)strcspn(line, ":"), line);
	else if (found)
		probe_path(path, "/lib/modules/%s/%.*s", release, (int)strcspn(line, ":"), line);
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* The directory of the build to which this program belongs. */
static bool find_built(const char *module, char path[PROBE_PATH])
{
	char self[PATH_MAX];

	if (*probe_sysroot() || !link_program_dir(self))
		return false;
	return snprintf(path, PROBE_PATH, "%s/kernel/%s.ko", self, module) < PROBE_PATH &&
	       !access(path, F_OK);
}

static bool find_given(const char *dir, const char *module, char path[PROBE_PATH])
{
	return snprintf(path, PROBE_PATH, "%s/%s.ko", dir, module) < PROBE_PATH && !access(path, F_OK);
}

/* Return: the mapped file of the module, which the caller unmaps; NULL with errno set. */
static const char *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	void *map = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size > 0) {
		*size = (size_t)st.st_size;
		map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	} else {
		errno = ENODATA;
	}
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static void vermagic(const char *file, size_t size, char *release, size_t room)
{
	static const char key[] = "vermagic=";
	const char *at = memmem(file, size, key, sizeof(key) - 1);
	size_t length = 0;

	for (at = at ? at + sizeof(key) - 1 : file + size; at + length < file + size; length++)
		if (!at[length] || at[length] == ' ')
			break;
	snprintf(release, room, "%.*s", (int)(length < room ? length : room - 1), at);
}

static bool is_signed(const char *file, size_t size)
{
	static const char mark[] = "~Module signature appended~\n";

	return size >= sizeof(mark) && !memcmp(file + size - sizeof(mark) + 1, mark, sizeof(mark) - 1);
}

static bool signing_enforced(void)
{
	enum probe_lockdown_mode mode = probe_lockdown_mode();
	char text[8];

	if (mode == PROBE_LOCKDOWN_INTEGRITY || mode == PROBE_LOCKDOWN_CONFIDENTIALITY)
		return true;
	return probe_read(text, sizeof(text), "/sys/module/module/parameters/sig_enforce") > 0 &&
	       *text == 'Y';
}

static int check_file(const char *path, const char *release, struct grt_err *err)
{
	char built_for[128], why[192];
	const char *file;
	size_t size, length = strlen(path);
	bool has_signature;

	/* Only modules_install writes compressed modules, below the release's own directory. */
	if (length < 3 || strcmp(path + length - 3, ".ko"))
		return 0;
	file = map_file(path, &size);
	if (!file)
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot read %s", path);
	vermagic(file, size, built_for, sizeof(built_for));
	has_signature = is_signed(file, size);
	munmap((void *)file, size);
	if (strcmp(built_for, release)) {
		snprintf(why, sizeof(why), "it was built for kernel %s",
			 *built_for ? built_for : "(unknown)");
		return grt_err_set(err, -ENOEXEC, why,
				   "make modules, with the headers of this kernel installed",
				   "cannot load %s into kernel %s", path, release);
	}
	if (!has_signature && signing_enforced())
		return grt_err_set(err, -ENOKEY, "this kernel loads only signed modules", FIX_SIGN,
				   "cannot load %s", path);
	return 0;
}

int kmod_find(const char *module, char path[PROBE_PATH], struct grt_err *err)
{
	const char *given = getenv("GRTRACE_MODULES");
	char release[128];
	bool found;

	probe_release(release, sizeof(release));
	if (!probe_exists("/proc/modules"))
		return grt_err_set(err, -ENOSYS, "this kernel loads no modules (CONFIG_MODULES)",
				   "sudo grtrace record -e drm, which needs none", "cannot load %s.ko",
				   module);
	if (given && *given)
		found = find_given(given, module, path);
	else
		found = find_installed(module, release, path) || find_built(module, path);
	if (!found)
		return grt_err_set(err, -ENOENT, "the module was not found",
				   FIX_MAKE ", or set GRTRACE_MODULES to its directory",
				   "cannot load %s.ko for kernel %s", module, release);
	return check_file(path, release, err);
}

int kmod_usable(struct grt_err *err)
{
	char path[PROBE_PATH], dir[256];
	enum probe_lockdown_mode mode = probe_lockdown_mode();

	if (!probe_mount("debugfs", dir, sizeof(dir)))
		return grt_err_set(err, -ENOENT, "debugfs is not mounted",
				   "sudo mount -t debugfs debugfs /sys/kernel/debug",
				   "cannot find the kernel module's files");
	if (!probe_root())
		return grt_err_set(err, -EACCES,
				   "the kernel module grtrace is not loaded, and only root may load it",
				   "the same command with sudo", "cannot trace the kernel");
	if (mode == PROBE_LOCKDOWN_INTEGRITY || mode == PROBE_LOCKDOWN_CONFIDENTIALITY)
		return grt_err_set(err, -ENOKEY,
				   "the kernel is locked down (see /sys/kernel/security/lockdown)",
				   "sudo grtrace record -e drm, or a boot without Secure Boot",
				   "cannot read the streams of grtrace.ko");
	return kmod_find(CORE, path, err);
}
