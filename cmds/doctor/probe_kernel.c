// SPDX-License-Identifier: GPL-2.0
/* Probes of the kernel: its version, types, configuration and restrictions. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes.h"

#define FIX_BPF_INSTEAD "sudo grtrace record -e drm, which needs no module"

extern char **environ;

void probe_kernel(struct probe_result *r)
{
	char release[128];

	probe_release(release, sizeof(release));
	if (!*release)
		probe_set(r, PROBE_UNKNOWN, NULL, "/proc/sys/kernel/osrelease cannot be read");
	else if (probe_kernel_before(5, 8))
		probe_set(r, PROBE_FAILS, "sudo grtrace record -e kmod, or a newer kernel",
			  "%s: BPF sources need 5.8 or newer", release);
	else
		probe_set(r, PROBE_WORKS, NULL, "%s", release);
}

void probe_btf(struct probe_result *r)
{
	if (probe_exists("/sys/kernel/btf/vmlinux"))
		probe_set(r, PROBE_WORKS, NULL, "/sys/kernel/btf/vmlinux");
	else
		probe_set(r, PROBE_FAILS,
			  "sudo grtrace record -e kmod, or a kernel with CONFIG_DEBUG_INFO_BTF=y",
			  "no /sys/kernel/btf/vmlinux: BPF programs cannot be adapted to this kernel");
}

/* Modules whose structs BPF programs read. */
static const char *const btf_modules[] = {"drm", "gpu_sched", "amdgpu", "i915", "virtio_gpu"};
#define BTF_MODULES (sizeof(btf_modules) / sizeof(btf_modules[0]))

void probe_module_btf(struct probe_result *r)
{
	struct probe_result without = {0};
	int loaded = 0;
	size_t i;

	probe_set(r, PROBE_WORKS, NULL, "%s", "");
	for (i = 0; i < BTF_MODULES; i++) {
		/* The types of a built-in module are in the kernel's BTF, and it has no initstate. */
		if (!probe_exists("/sys/module/%s/initstate", btf_modules[i]))
			continue;
		loaded++;
		probe_add(probe_exists("/sys/kernel/btf/%s", btf_modules[i]) ? r : &without, "%s",
			  btf_modules[i]);
	}
	if (!loaded)
		probe_set(r, PROBE_ABSENT, NULL, "no module is loaded whose structs BPF programs read");
	else if (*without.detail)
		probe_set(
			r, PROBE_FAILS, "a kernel from 5.11 with CONFIG_DEBUG_INFO_BTF_MODULES=y",
			"none for %s: BPF programs cannot read their structs; of gpu_sched they use the fields "
			"of its tracepoints (the driver of a ring is then unknown), and record no jobs of the others",
			without.detail);
}

/* ---------------------------------------------------- lockdown, signing */

void probe_lockdown(struct probe_result *r)
{
	char dir[256];

	switch (probe_lockdown_mode()) {
	case PROBE_LOCKDOWN_NONE:
		probe_set(r, PROBE_WORKS, NULL, "none");
		break;
	case PROBE_LOCKDOWN_INTEGRITY:
		probe_set(
			r, PROBE_FAILS, FIX_BPF_INSTEAD ", or a boot without Secure Boot or lockdown=",
			"integrity: the kernel refuses unsigned modules, and the module's streams in debugfs "
			"cannot be opened; BPF sources work");
		break;
	case PROBE_LOCKDOWN_CONFIDENTIALITY:
		probe_set(r, PROBE_FAILS, "a boot with lockdown=integrity or without it",
			  "confidentiality: neither the module's streams, nor tracefs, nor BPF programs that "
			  "read the kernel's memory");
		break;
	default:
		if (probe_mount("securityfs", dir, sizeof(dir)))
			probe_set(r, PROBE_UNKNOWN, "the same command with sudo",
				  "needs root: /sys/kernel/security/lockdown cannot be read");
		else
			probe_set(r, PROBE_UNKNOWN,
				  "sudo mount -t securityfs securityfs /sys/kernel/security",
				  "securityfs is not mounted");
	}
}

void probe_secure_boot(struct probe_result *r)
{
	static const char name[] = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
	char value[16];
	ssize_t n;

	if (!probe_exists("/sys/firmware/efi")) {
		probe_set(r, PROBE_WORKS, NULL, "off: this system was not started by EFI");
		return;
	}
	/* Four bytes of attributes come first. */
	n = probe_read(value, sizeof(value), "/sys/firmware/efi/efivars/%s", name);
	if (n < 0)
		probe_set(r, PROBE_UNKNOWN, "mokutil --sb-state", "efivars cannot be read: %s",
			  strerror((int)-n));
	else if (n == 5 && value[4] == 1)
		probe_set(r, PROBE_FAILS, FIX_BPF_INSTEAD ", or sign it (see mokutil(1))",
			  "on: modules must be signed with a key that this machine knows");
	else
		probe_set(r, PROBE_WORKS, NULL, "off");
}

/* ------------------------------------------------------- configuration */

/* Return: as probe_config(); 'n' if the text lacks the option */
static int scan_config(FILE *f, const char *option)
{
	size_t length = strlen(option), room = 0;
	char *line = NULL;
	int found = 'n';

	while (getline(&line, &room, f) > 0)
		if (!strncmp(line, option, length) && line[length] == '=') {
			found = line[length + 1] == 'm' ? 'm' : 'y';
			break;
		}
	free(line);
	return found;
}

/*
 * Reads /proc/config.gz with gzip(1), which every distribution has. Return: the stream of its output, or
 * NULL
 */
static FILE *unpack(int file, pid_t *pid)
{
	static char *const argv[] = {"gzip", "-dc", NULL};
	posix_spawn_file_actions_t actions;
	int ends[2];
	FILE *f = NULL;

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (!posix_spawnp(pid, argv[0], &actions, NULL, argv, environ)) {
		f = fdopen(ends[0], "r");
		if (!f)
			waitpid(*pid, NULL, 0);
	}
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (!f)
		close(ends[0]);
	return f;
}

static int packed_config(const char *option)
{
	char path[PROBE_PATH], rest[4096];
	int fd = open(probe_path(path, "/proc/config.gz"), O_RDONLY | O_CLOEXEC), found = 0, status;
	pid_t pid;
	FILE *f;

	if (fd < 0)
		return 0;
	f = unpack(fd, &pid);
	close(fd);
	if (!f)
		return 0;
	found = scan_config(f, option);
	/* gzip must read to the end, otherwise its status means nothing. */
	while (fread(rest, 1, sizeof(rest), f))
		;
	fclose(f);
	return waitpid(pid, &status, 0) == pid && !status ? found : 0;
}

int probe_config(const char *option)
{
	static const char *const places[] = {"/boot/config-%s", "/lib/modules/%s/config"};
	char path[PROBE_PATH], name[256], release[128];
	int found = packed_config(option);
	size_t i;
	FILE *f;

	probe_release(release, sizeof(release));
	for (i = 0; !found && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(name, sizeof(name), i ? places[1] : places[0], release);
		f = fopen(probe_path(path, "%s", name), "re");
		if (!f)
			continue;
		found = scan_config(f, option);
		fclose(f);
	}
	return found;
}

static const char *tracefs_dir(char *dir, size_t room)
{
	if (!probe_mount("tracefs", dir, room))
		snprintf(dir, room, "/sys/kernel/tracing");
	return dir;
}

void probe_kprobes(struct probe_result *r)
{
	char dir[256], path[PROBE_PATH];
	int built = probe_config("CONFIG_KPROBE_EVENTS");

	tracefs_dir(dir, sizeof(dir));
	if (probe_exists("%s/kprobe_events", dir))
		probe_set(r, PROBE_WORKS, NULL, "%s/kprobe_events", dir);
	else if (built == 'n' || !access(probe_path(path, "%s/events", dir), F_OK))
		probe_set(r, PROBE_FAILS, "a kernel with CONFIG_KPROBE_EVENTS=y",
			  "this kernel has no kprobe events (CONFIG_KPROBE_EVENTS)");
	else if (built == 'y')
		probe_set(r, PROBE_WORKS, NULL, "by the kernel's configuration");
	else
		probe_set(r, PROBE_UNKNOWN, "the same command with sudo",
			  "needs root: the kernel's configuration is not here, and %s cannot be read", dir);
}
