// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of the trace file systems and of the tracepoints, by the groups in
 * which sources use them.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memfile.h"
#include "probes.h"

/* Whether it is mounted, and this process may look into it. */
static void file_system(struct probe_result *r, const char *type, const char *usual, const char *without)
{
	char dir[256], path[PROBE_PATH], fix[192];
	DIR *d;

	if (!probe_mount(type, dir, sizeof(dir))) {
		snprintf(fix, sizeof(fix), "sudo mount -t %s %s %s", type, type, usual);
		probe_set(r, PROBE_FAILS, fix, "not mounted%s", without);
		return;
	}
	d = opendir(probe_path(path, "%s", dir));
	if (d)
		probe_set(r, PROBE_WORKS, NULL, "%s", dir);
	else if (!probe_root())
		probe_set(r, PROBE_UNKNOWN, "the same command with sudo", "needs root: mounted on %s, %s",
			  dir, strerror(errno));
	else
		probe_set(r, PROBE_FAILS, "see the line lockdown", "mounted on %s, but %s", dir,
			  strerror(errno));
	if (d)
		closedir(d);
}

void probe_debugfs(struct probe_result *r)
{
	file_system(r, "debugfs", "/sys/kernel/debug", ": the kernel module cannot be reached");
}

void probe_tracefs(struct probe_result *r)
{
	file_system(r, "tracefs", "/sys/kernel/tracing", ", which BPF sources do not need");
}

/* --------------------------------------------------------- tracepoints */

/*
 * Every tracepoint has a function __traceiter_NAME (from Linux 5.10). Unlike tracefs, /proc/kallsyms shows
 * its name to every user. Reading that file takes tens of milliseconds, so it is read only once.
 */
static const char *symbols(void)
{
	static const char mark[] = " __traceiter_";
	static char *names;
	struct grt_memfile m;
	char path[PROBE_PATH], *line = NULL, *name;
	size_t room = 0;
	FILE *in, *out;

	if (names)
		return names;
	out = grt_memfile_open(&m);
	in = fopen(probe_path(path, "/proc/kallsyms"), "re");
	while (in && out && getline(&line, &room, in) > 0) {
		name = strstr(line, mark);
		if (name)
			fprintf(out, "\n%.*s", (int)strcspn(name + sizeof(mark) - 1, " \t\n"),
				name + sizeof(mark) - 1);
	}
	free(line);
	if (in)
		fclose(in);
	if (out) {
		fputc('\n', out);
		names = grt_memfile_close(&m, out, NULL);
	}
	return names;
}

static int by_symbol(const char *event)
{
	const char *all = symbols();
	char line[128];

	/* Without any such line, the file was not readable, or the kernel is too old. */
	if (!all || !all[1])
		return -EACCES;
	snprintf(line, sizeof(line), "\n%s\n", event);
	return strstr(all, line) != NULL;
}

static int probe_tracepoint(const char *system, const char *event)
{
	char dir[256], path[PROBE_PATH];

	if (!probe_mount("tracefs", dir, sizeof(dir)))
		return by_symbol(event);
	if (access(probe_path(path, "%s/events", dir), X_OK))
		return by_symbol(event);
	return probe_exists("%s/events/%s/%s", dir, system, event);
}

/**
 * struct points - tracepoints of one system that are used together
 * @system: its name in tracefs
 * @module: the module that has them; NULL: the kernel itself
 * @config: the option of the kernel that they need; NULL: none
 * @without: what is lost without them
 * @sets: sets of names; any one set is enough
 */
struct points {
	const char *system;
	const char *module;
	const char *config;
	const char *without;
	const char *sets[2];
};

/* Return: 1: all exist, 0: some are missing, -EACCES */
static int has_set(const char *system, const char *set)
{
	char names[256], *name, *next = names;
	int ret = 1;

	snprintf(names, sizeof(names), "%s", set);
	while (ret == 1 && (name = strsep(&next, " ")))
		ret = probe_tracepoint(system, name);
	return ret;
}

static void probe_trace_missing(struct probe_result *r, const struct points *p)
{
	/* If the driver is loaded, missing events were left out when it was built. */
	bool here = !p->module || probe_module_loaded(p->module);
	char fix[128] = "", config[128] = "";

	if (p->config) {
		snprintf(fix, sizeof(fix), "a kernel with %s=y", p->config);
		snprintf(config, sizeof(config), " (%s%s)", p->config,
			 here || probe_config(p->config) == 'n' ? "=n" : "");
	}
	if (here)
		probe_set(r, PROBE_FAILS, fix, "no %s in this kernel%s: %s", p->sets[0], config, p->without);
	else
		probe_set(r, PROBE_ABSENT, NULL, "the module %s is not loaded%s", p->module, config);
}

static void find_points(struct probe_result *r, const struct points *p)
{
	int ret, i;

	for (i = 0; i < 2 && p->sets[i]; i++) {
		ret = has_set(p->system, p->sets[i]);
		if (ret > 0) {
			probe_set(r, PROBE_WORKS, NULL, "%s", p->sets[i]);
			return;
		}
		if (ret < 0) {
			probe_set(r, PROBE_UNKNOWN, "the same command with sudo",
				  "needs root: tracefs is not readable, and /proc/kallsyms does not show it");
			return;
		}
	}
	probe_trace_missing(r, p);
}

/* POINTS(name, members of struct points): defines the probe of a row of probes.def */
#define POINTS(name, ...)                                     \
	void probe_##name(struct probe_result *r)             \
	{                                                     \
		static const struct points p = {__VA_ARGS__}; \
                                                              \
		find_points(r, &p);                           \
	}

POINTS(gpu_scheduler, .system = "gpu_scheduler", .module = "gpu_sched",
       .without = "jobs of drivers that use the DRM scheduler cannot be recorded",
       /* Renamed between Linux 6.14 and 6.17. */
       .sets = {"drm_sched_job_queue drm_sched_job_run drm_sched_job_done",
		"drm_sched_job drm_run_job drm_sched_process_job"})

POINTS(dma_fence, .system = "dma_fence", .without = "the ends of jobs and waits for them cannot be recorded",
       .sets = {"dma_fence_init dma_fence_emit dma_fence_signaled dma_fence_wait_start "
		"dma_fence_wait_end"})

POINTS(amdgpu, .system = "amdgpu", .module = "amdgpu", .without = "jobs come from gpu_scheduler alone",
       .sets = {"amdgpu_cs_ioctl amdgpu_sched_run_job amdgpu_bo_create amdgpu_bo_move amdgpu_iv"})

POINTS(i915, .system = "i915", .module = "i915", .without = "requests cannot be recorded",
       .sets = {"i915_request_queue i915_request_add i915_request_retire i915_vma_bind"})

POINTS(i915_low_level, .system = "i915", .module = "i915", .config = "CONFIG_DRM_I915_LOW_LEVEL_TRACEPOINTS",
       .without = "execution is inferred", .sets = {"i915_request_in i915_request_out"})

POINTS(virtio_gpu, .system = "virtio_gpu", .module = "virtio_gpu", .without = "commands cannot be recorded",
       .sets = {"virtio_gpu_cmd_queue virtio_gpu_cmd_response"})

POINTS(vblank, .system = "drm", .module = "drm", .without = "vertical blanks cannot be recorded",
       .sets = {"drm_vblank_event drm_vblank_event_queued drm_vblank_event_delivered"})
