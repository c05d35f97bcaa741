// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of the compute stacks: CUDA, CUPTI, ROCm.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/library.h"
#include "probes.h"

/* libcuda.so.1 -> libcuda.so.580.95.05: the driver that it belongs to. */
static const char *library_version(const char *path, char *target, size_t room)
{
	ssize_t n = readlink(path, target, room - 1);
	const char *mark = NULL;

	if (n > 0) {
		target[n] = '\0';
		mark = strstr(target, ".so.");
	}
	return mark && strchr(mark + 4, '.') ? mark + 4 : NULL;
}

void probe_cuda(struct probe_result *r)
{
	static const char *const more[] = {"/usr/lib/wsl/lib", NULL};
	char path[PROBE_PATH], target[512], text[1024];
	bool driver = probe_read(text, sizeof(text), "/proc/driver/nvidia/version") > 0;
	const char *version;

	if (!library_find("libcuda.so.1", more, path)) {
		if (driver)
			probe_set(r, PROBE_FAILS, "install it: libcuda1 (Debian), libnvidia-compute (Ubuntu)",
				  "NVIDIA's driver is loaded, but libcuda.so.1 was not found");
		else
			probe_set(r, PROBE_ABSENT, NULL, "libcuda.so.1 was not found");
		return;
	}
	version = library_version(path, target, sizeof(target));
	if (version && driver && !strstr(text, version))
		probe_set(r, PROBE_FAILS, "restart the machine, or load the module of that version",
			  "%s is of driver %s, another one is loaded", path, version);
	else
		probe_set(r, driver ? PROBE_WORKS : PROBE_ABSENT, NULL, "%s%s%s%s", path,
			  version ? ", version " : "", version ? version : "",
			  driver ? "" : ", but NVIDIA's driver is not loaded");
}

void probe_cupti(struct probe_result *r)
{
	static const char *const more[] = {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64",
					   "/opt/cuda/extras/CUPTI/lib64", NULL};
	char path[PROBE_PATH];

	if (library_find("libcupti.so.", more, path))
		probe_set(r, PROBE_WORKS, NULL, "%s", path);
	else if (probe_exists("/proc/driver/nvidia/version"))
		probe_set(r, PROBE_FAILS,
			  "LD_LIBRARY_PATH with its directory (CUDA/extras/CUPTI/lib64), or install it",
			  "libcupti.so was not found; only programs that bring their own copy can be traced");
	else
		probe_set(r, PROBE_ABSENT, NULL, "libcupti.so was not found");
}

static bool rocm_version(char *text, size_t room)
{
	if (probe_read(text, room, "/opt/rocm/.info/version") > 0)
		return true;
	snprintf(text, room, "of unknown version");
	return probe_exists("/opt/rocm");
}

void probe_rocm(struct probe_result *r)
{
	char version[64], path[PROBE_PATH];
	bool rocm = rocm_version(version, sizeof(version)), kfd = probe_exists("/dev/kfd");

	if (!rocm)
		probe_set(r, PROBE_ABSENT, NULL, "no /opt/rocm%s", kfd ? "; /dev/kfd is there" : "");
	else if (!kfd)
		probe_set(r, PROBE_FAILS, probe_load_fix("sudo modprobe amdgpu"), "ROCm %s, but no /dev/kfd",
			  version);
	else if (access(probe_path(path, "/dev/kfd"), R_OK | W_OK))
		probe_set(r, PROBE_FAILS, "sudo usermod -aG render USER, and log in again",
			  "ROCm %s, but /dev/kfd: %s", version, strerror(errno));
	else
		probe_set(r, PROBE_WORKS, NULL, "ROCm %s, /dev/kfd", version);
}
