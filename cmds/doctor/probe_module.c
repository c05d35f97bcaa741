// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of grtrace.ko and its adapters: whether they are loaded, or could be.
 */
#include <errno.h>
#include <string.h>

#include "kmod/kmod_find.h"
#include "probes.h"

#define CORE "grtrace"

void probe_module_file(struct probe_result *r)
{
	char path[PROBE_PATH];
	struct grt_err err = {0};
	int ret = kmod_find(CORE, path, &err);

	if (!ret)
		probe_set(r, PROBE_WORKS, NULL, "%s", path);
	else
		probe_set(r, ret == -EACCES && !probe_root() ? PROBE_UNKNOWN : PROBE_FAILS, err.fix, "%s: %s",
			  err.what, err.why);
}

void probe_module(struct probe_result *r)
{
	char version[64];

	if (!probe_module_loaded(CORE))
		probe_set(r, PROBE_ABSENT, NULL, "not loaded; record and start load it");
	else if (probe_read(version, sizeof(version), "/sys/module/" CORE "/version") > 0 &&
		 strcmp(version, GRT_VERSION))
		probe_set(r, PROBE_FAILS, "sudo rmmod grtrace, then sudo grtrace start",
			  "version %s is loaded, this tool is " GRT_VERSION, version);
	else
		probe_set(r, PROBE_WORKS, NULL, "loaded, version %s", *version ? version : "unknown");
}

/* A driver without its own adapter has the scheduler's adapter if it uses the DRM scheduler. */
static bool is_bridged(const char *driver)
{
	return probe_exists("/sys/module/gpu_sched/holders/%s", driver);
}

/* Return: whether this driver's jobs would be seen */
static bool add_adapter(struct probe_result *r, const char *driver)
{
	char module[64], path[PROBE_PATH];
	bool loaded, core = probe_module_loaded(CORE);
	struct grt_err err = {0};
	int ret;

	/* the kernel has no longer names */
	snprintf(module, sizeof(module), CORE "_%.55s", driver);
	loaded = probe_module_loaded(module);
	ret = loaded ? 0 : kmod_find(module, path, &err);
	if (ret == -ENOENT && is_bridged(driver)) {
		loaded = probe_module_loaded(CORE "_drm_bridge");
		ret = loaded ? 0 : kmod_find(CORE "_drm_bridge", path, &err);
	}
	if (loaded)
		probe_add(r, "%s: loaded", driver);
	else if (ret == -ENOENT)
		probe_add(r, "%s: no adapter in this version", driver);
	else if (ret)
		probe_add(r, "%s: %s", driver, err.why);
	else
		probe_add(r, core ? "%s: not loaded" : "%s: is loaded together with grtrace", driver);
	if (ret == -ENOENT)
		snprintf(r->fix, sizeof(r->fix), "sudo grtrace record -e drm, which needs no module");
	else if (!loaded)
		snprintf(r->fix, sizeof(r->fix), "%s", ret ? err.fix : core ? "sudo grtrace start" : "");
	return loaded || (!ret && !core);
}

void probe_adapters(struct probe_result *r)
{
	struct probe_driver list[PROBE_DRIVERS];
	int n = probe_drivers(list), i, here = 0;
	bool all = true;

	probe_set(r, PROBE_WORKS, NULL, "%s", "");
	for (i = 0; i < n; i++) {
		/* A device without a render node only drives displays. */
		if (!strstr(list[i].nodes, "renderD"))
			continue;
		here++;
		all &= add_adapter(r, list[i].name);
	}
	if (!here)
		probe_set(r, PROBE_ABSENT, NULL, "this system has no GPU that runs jobs");
	else if (!all)
		r->state = PROBE_FAILS;
}
