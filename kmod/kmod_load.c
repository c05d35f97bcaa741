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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/say.h"
#include "kmod.h"
#include "host/links.h"

/* --------------------------------------------------------------- offsets */

/*
 * Gives adapters the offsets of members in the drivers' private structs. The module's file `offsets` lists
 * the members that adapters can use; the offsets come from the BTF of the loaded driver, or of the kernel if
 * the driver is built in.
 */

#ifdef GRT_HAVE_BPF

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define NAME_MAX_LEN 64
#define WHY_MAX 256

/** struct place - where a member is, in bytes from the start of its struct */
struct place {
	uint32_t offset;
	uint32_t size;
};

/**
 * struct source - the BTF of the driver whose members are looked up
 * @driver: its name
 * @kernel: BTF of the kernel, the base of that of modules; NULL before it is needed
 * @module: BTF of the driver; NULL: it is built in, or has none
 */
struct source {
	char driver[NAME_MAX_LEN];
	struct btf *kernel;
	struct btf *module;
};

/** struct tally - counts of one driver: how many of its members were found, for a message */
struct tally {
	unsigned int known;
	unsigned int all;
	char missing[WHY_MAX];
};

static const struct btf_type *plain_type(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool is_composite(const struct btf_type *t)
{
	return t && btf_is_composite(t);
}

/* Finds a member by its name, also inside an unnamed struct or union. */
static const struct btf_type *find_member(const struct btf *btf, const struct btf_type *in, const char *name,
					  size_t length, uint32_t *bits, uint32_t *id)
{
	const struct btf_member *m = btf_members(in);
	const struct btf_type *found;
	const char *known;
	uint32_t i;

	for (i = 0; i < btf_vlen(in); i++, m++) {
		known = btf__name_by_offset(btf, m->name_off);
		if (!known || (*known && (strncmp(known, name, length) || known[length])))
			continue;
		found = plain_type(btf, m->type);
		if (!*known && is_composite(found))
			found = find_member(btf, found, name, length, bits, id);
		else if (!*known || btf_member_bitfield_size(in, i))
			found = NULL;
		else
			*id = m->type;
		if (!found)
			continue;
		*bits += btf_member_bit_offset(in, i);
		return found;
	}
	return NULL;
}

/* @path: "struct.member.member" */
static bool kmod_offsets_find_place(const struct btf *btf, const char *path, struct place *place)
{
	char type[NAME_MAX_LEN];
	size_t length = strcspn(path, ".");
	const struct btf_type *t;
	uint32_t bits = 0, id = 0;
	int64_t size;
	int found;

	snprintf(type, sizeof(type), "%.*s", (int)length, path);
	found = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	t = found > 0 ? btf__type_by_id(btf, (uint32_t)found) : NULL;
	while (t && path[length] == '.') {
		path += length + 1;
		length = strcspn(path, ".");
		t = is_composite(t) ? find_member(btf, t, path, length, &bits, &id) : NULL;
	}
	size = t && id ? btf__resolve_size(btf, id) : -1;
	if (size <= 0 || bits % 8)
		return false;
	place->offset = bits / 8;
	place->size = (uint32_t)size;
	return true;
}

static void source_close(struct source *s)
{
	btf__free(s->module);
	btf__free(s->kernel);
	*s = (struct source){0};
}

/* Makes @s the BTF of @driver. Return: that BTF, or NULL if neither the driver nor the kernel has one */
static const struct btf *source_of(struct source *s, const char *driver)
{
	char path[NAME_MAX_LEN + 32];
	struct stat st;

	if (strcmp(s->driver, driver)) {
		btf__free(s->module);
		s->module = NULL;
		snprintf(s->driver, sizeof(s->driver), "%s", driver);
		if (!s->kernel)
			s->kernel = btf__load_vmlinux_btf();
		if (libbpf_get_error(s->kernel))
			s->kernel = NULL;
		if (s->kernel)
			s->module = btf__load_module_btf(driver, s->kernel);
		if (libbpf_get_error(s->module))
			s->module = NULL;
	}
	if (s->module)
		return s->module;
	/* A module without BTF must not be taken for a driver that is built in. */
	snprintf(path, sizeof(path), "/sys/module/%s/initstate", driver);
	return stat(path, &st) ? s->kernel : NULL;
}

static void set_place(struct kmod *k, struct tally *t, const char *driver, const char *member,
		      const struct btf *btf)
{
	struct place place;
	struct grt_err err = {0};
	char line[256];
	size_t used = strlen(t->missing);

	t->all++;
	if (btf && kmod_offsets_find_place(btf, member, &place)) {
		snprintf(line, sizeof(line), "%s %s %u %u", driver, member, place.offset, place.size);
		if (!kmod_write(k, "offsets", line, &err)) {
			t->known++;
			return;
		}
	}
	snprintf(t->missing + used, sizeof(t->missing) - used, "%s%s", used ? " " : "", member);
}

static void kmod_offsets_say(const struct tally *t, const struct source *s, void (*note)(const char *text))
{
	char text[WHY_MAX + 256];

	if (!t->all)
		return;
	if (t->known == t->all)
		snprintf(text, sizeof(text), "%s: knows all %u members of the driver's structs", s->driver,
			 t->all);
	else if (!s->module && !t->known)
		snprintf(text, sizeof(text),
			 "%s: cannot read the driver's structs: the driver has no BTF in this kernel",
			 s->driver);
	else
		grt_say_text(text, sizeof(text),
			     "%s: knows %u of %u {member|members} of the driver's structs, not %s", s->driver,
			     t->known, t->all, t->missing);
	note(text);
}

static void set_all(struct kmod *k, const char *lines, void (*note)(const char *text))
{
	char driver[NAME_MAX_LEN], member[128], offset[16];
	struct source source = {0};
	struct tally tally = {0};
	const struct btf *btf = NULL;

	for (; lines && *lines; lines = strchr(lines, '\n'), lines += !!lines) {
		if (sscanf(lines, "%63s %127s %15s", driver, member, offset) != 3 || strcmp(offset, "-"))
			continue;
		if (strcmp(source.driver, driver)) {
			kmod_offsets_say(&tally, &source, note);
			tally = (struct tally){0};
			btf = source_of(&source, driver);
		}
		set_place(k, &tally, driver, member, btf);
	}
	kmod_offsets_say(&tally, &source, note);
	source_close(&source);
}

static int be_quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return 0;
}

/**
 * kmod_set_offsets - gives the adapters the offsets that they do not have yet
 * @note: called with a line for each driver
 *
 * An offset that is not found stays unknown, and so do the event fields that need it; this is not an error.
 */
static void kmod_set_offsets(void (*note)(const char *text))
{
	struct grt_err err = {0};
	libbpf_print_fn_t before;
	struct kmod k;
	char *lines;

	if (kmod_open(&k, &err))
		return;
	lines = kmod_read(&k, "offsets", &err);
	if (lines && strstr(lines, " - -")) {
		before = libbpf_set_print(be_quiet);
		set_all(&k, lines, note);
		libbpf_set_print(before);
	}
	free(lines);
	kmod_close(&k);
}

#else

static void kmod_set_offsets(void (*note)(const char *text))
{
	struct grt_err err = {0};
	struct kmod k;
	char *lines;

	if (kmod_open(&k, &err))
		return;
	lines = kmod_read(&k, "offsets", &err);
	if (lines && strstr(lines, " - -"))
		note("cannot read the drivers' structs: this grtrace was built without libbpf");
	free(lines);
	kmod_close(&k);
}

#endif

/* --------------------------------------------------------------- loading */

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
