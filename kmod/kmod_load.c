// SPDX-License-Identifier: GPL-2.0
/*
 * Loads the kernel module, its stages, and the adapters of the GPU drivers that are loaded: from
 * GRTRACE_MODULES if that is set, with modprobe if they are installed, otherwise from the build to which
 * this program belongs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmod.h"
#include "kmod_offsets.h"
#include "host/links.h"

#define CORE "grtrace"
/* The adapter for all drivers under the DRM scheduler, and the scheduler's module. */
#define BRIDGE "drm_bridge"
#define SCHEDULER "gpu_sched"
#define DRIVERS_MAX 32

extern char **environ;

struct driver_list {
	char names[DRIVERS_MAX][64];
	int n;
};

static bool is_loaded(const char *module)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	return access(path, F_OK) == 0;
}

static void add_driver(struct driver_list *list, const char *name)
{
	char *dash;
	int i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->names[i], name))
			return;
	if (list->n == DRIVERS_MAX || strlen(name) >= sizeof(list->names[0]))
		return;
	strcpy(list->names[list->n], name);
	while ((dash = strchr(list->names[list->n], '-')))
		*dash = '_';
	list->n++;
}

/* Modules that use the DRM core: its drivers, and helpers, which have no adapter. */
static void add_holders(struct driver_list *list)
{
	DIR *d = opendir("/sys/module/drm/holders");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			add_driver(list, e->d_name);
	if (d)
		closedir(d);
}

/* Drivers of the cards. This also finds drivers that are built into the kernel together with the DRM core. */
static void kmod_load_add_cards(struct driver_list *list)
{
	DIR *d = opendir("/sys/class/drm");
	struct dirent *e;
	char path[PATH_MAX], driver[NAME_MAX + 1];

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "card", 4) || strchr(e->d_name, '-'))
			continue;
		snprintf(path, sizeof(path), "/sys/class/drm/%s/device/driver", e->d_name);
		if (link_end(path, driver, sizeof(driver)))
			add_driver(list, driver);
	}
	if (d)
		closedir(d);
}

/* Return: 0, or a negative errno; -ENOENT: the file does not exist. */
static int load_file(const char *dir, const char *module, char *path)
{
	int fd, ret = 0;

	snprintf(path, PATH_MAX, "%s/%s.ko", dir, module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST)
		ret = -errno;
	close(fd);
	return ret;
}

/* Return: 0, or -ENOENT: modprobe does not exist, or does not know or load the module. */
static int load_installed(const char *module)
{
	char *const argv[] = {"modprobe", "-q", (char *)module, NULL};
	static const char *const places[] = {"/sbin/modprobe", "/usr/sbin/modprobe"};
	pid_t pid;
	int status;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (posix_spawn(&pid, places[i], NULL, NULL, argv, environ))
			continue;
		if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status))
			return 0;
		break;
	}
	return -ENOENT;
}

/* The directory of this program's build, which contains its modules. */
static bool build_directory(char *dir)
{
	char self[PATH_MAX];

	if (!link_program_dir(self))
		return false;
	snprintf(dir, PATH_MAX, "%.*s/kernel", PATH_MAX - 16, self);
	return true;
}

/* Return: 0, with the module's origin in @from, or -errno. */
static int load_module(const char *module, char *from)
{
	const char *given = getenv("GRTRACE_MODULES");
	char dir[PATH_MAX];

	if (given && *given)
		return load_file(given, module, from);
	snprintf(from, PATH_MAX, "modprobe");
	if (!load_installed(module))
		return 0;
	return build_directory(dir) ? load_file(dir, module, from) : -ENOENT;
}

static int load_error(int code, const char *from, struct grt_err *err)
{
	struct utsname u;

	uname(&u);
	switch (code) {
	case -ENOENT:
		return grt_err_set(
			err, code, "the module was not found",
			"make modules && sudo make modules_install, or set GRTRACE_MODULES to its directory",
			"cannot load grtrace.ko for kernel %s", u.release);
	case -ENOEXEC:
		return grt_err_set(err, code, "it was built for another kernel",
				   "make modules, with the headers of this kernel installed",
				   "cannot load %s into kernel %s", from, u.release);
	case -ENOSYS:
		return grt_err_set(err, code, "this kernel loads no modules (CONFIG_MODULES)",
				   "sudo grtrace record -e drm, which needs none", "cannot load %s", from);
	case -EKEYREJECTED:
	case -ENOKEY:
		return grt_err_set(
			err, -ENOKEY, "this kernel loads only signed modules",
			"sign it with the machine's key (see mokutil(1)), or boot without Secure Boot",
			"cannot load %s", from);
	case -EPERM:
	case -EACCES:
		return grt_err_set(err, -EACCES, "only root may load modules", "the same command with sudo",
				   "cannot load %s", from);
	default:
		return grt_err_set(err, code, strerror(-code), "sudo dmesg | tail", "cannot load %s", from);
	}
}

/* Return: 1: it was loaded now, 0: it was loaded before, or -errno */
static int load_core(void (*note)(const char *text), struct grt_err *err)
{
	char from[PATH_MAX] = "", text[PATH_MAX + 64];
	int ret;

	if (is_loaded(CORE))
		return 0;
	if (geteuid())
		return grt_err_set(err, -EACCES,
				   "the kernel module grtrace is not loaded, and only root may load it",
				   "the same command with sudo", "cannot trace the kernel");
	ret = load_module(CORE, from);
	if (ret)
		return load_error(ret, from, err);
	snprintf(text, sizeof(text), "loaded %s (%s)", CORE, from);
	note(text);
	return 1;
}

/* Loads an adapter or a stage; does nothing if it is not installed. */
static void load_part(const char *module, void (*note)(const char *text))
{
	char from[PATH_MAX], text[PATH_MAX + 512];
	struct grt_err err;
	int ret;

	if (is_loaded(module))
		return;
	ret = load_module(module, from);
	if (ret == -ENOENT)
		return;
	if (ret) {
		load_error(ret, from, &err);
		snprintf(text, sizeof(text), "left out %s: %s: %s", module, err.what, err.why);
	} else {
		snprintf(text, sizeof(text), "loaded %s (%s)", module, from);
	}
	note(text);
}

/* @adapter: its driver, or BRIDGE */
static void load_adapter(const char *adapter, void (*note)(const char *text))
{
	char module[96];

	snprintf(module, sizeof(module), "grtrace_%s", adapter);
	load_part(module, note);
}

/*
 * modprobe loads the stages with the core. A module that was loaded from a file comes alone, and a stage
 * that a user unloads stays unloaded.
 */
static void load_stages(void (*note)(const char *text))
{
	const char *module;
	unsigned int i;

	for (i = 0; (module = kmod_stage(i)); i++)
		load_part(module, note);
}

int kmod_load(void (*note)(const char *text), struct grt_err *err)
{
	struct driver_list *drivers;
	const char *given = getenv("GRTRACE_DEBUGFS");
	int ret, i;

	if (given && *given)
		return 0;
	ret = load_core(note, err);
	if (ret < 0 || geteuid())
		return ret < 0 ? ret : 0;
	drivers = calloc(1, sizeof(*drivers));
	if (!drivers)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for the list of drivers");
	if (ret)
		load_stages(note);
	add_holders(drivers);
	kmod_load_add_cards(drivers);
	for (i = 0; i < drivers->n; i++)
		load_adapter(drivers->names[i], note);
	free(drivers);
	if (is_loaded(SCHEDULER))
		load_adapter(BRIDGE, note);
	kmod_set_offsets(note);
	return 0;
}
