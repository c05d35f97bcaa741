// SPDX-License-Identifier: GPL-2.0
/*
 * Every driver whose jobs go through the DRM scheduler and that has no adapter
 * of its own: etnaviv, lima, panfrost, v3d, msm, later xe, panthor, imagination
 * and others. A driver whose adapter is loaded is left to that one, so that no
 * job is reported twice; nouveau's adapter leaves the scheduler's jobs here.
 */
#include "drm_sched.h"

static bool sched_follows(const char *driver)
{
	return !grtrace_adapter_serves(driver);
}

static u32 sched_command(const struct drm_sched_job *job)
{
	return 0;
}

static struct grtrace_probe probes[] = {
#define FROM NULL
#include "drm_sched.def"
};

static void grt_drm_bridge_scheduler_gone(struct grtrace_adapter *a)
{
	sched_forget();
}

static struct grtrace_adapter adapter = {
	.name = "drm_bridge",
	.driver = SCHED_MODULE,
	.probes = probes,
	.nprobes = ARRAY_SIZE(probes),
	.pool = SCHED_POOL,
	.gone = grt_drm_bridge_scheduler_gone,
	.show = sched_show,
};

module_grtrace_adapter(adapter);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: jobs of the DRM scheduler");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
