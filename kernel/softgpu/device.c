// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace_softgpu.ko: a GPU without hardware under the real DRM scheduler. Each job takes the time
 * that it requests. This file has the device and its parameters; see softgpu.h for how it works.
 */
#define pr_fmt(fmt) "grtrace_softgpu: " fmt

#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/rcupdate.h>

#include <drm/drm_drv.h>
#include <drm/drm_ioctl.h>

#include "compat/switches.h"
#include "softgpu.h"

static unsigned int rings_of[GRTRACE_SOFTGPU_TYPES] = { 1, 2, 1, 1 };
module_param_named(gfx, rings_of[GRTRACE_SOFTGPU_GFX], uint, 0444);
MODULE_PARM_DESC(gfx, "graphics rings (0 to 8, default 1)");
module_param_named(compute, rings_of[GRTRACE_SOFTGPU_COMPUTE], uint, 0444);
MODULE_PARM_DESC(compute, "compute rings (0 to 8, default 2)");
module_param_named(sdma, rings_of[GRTRACE_SOFTGPU_SDMA], uint, 0444);
MODULE_PARM_DESC(sdma, "copy rings (0 to 8, default 1)");
module_param_named(video, rings_of[GRTRACE_SOFTGPU_VIDEO], uint, 0444);
MODULE_PARM_DESC(video, "video rings (0 to 8, default 1)");

static unsigned int first;
module_param(first, uint, 0444);
MODULE_PARM_DESC(first, "number in the name of the first ring of each kind (default 0)");

static unsigned int cards = 1;
module_param(cards, uint, 0444);
MODULE_PARM_DESC(cards, "GPUs, each with these rings (1 to 8, default 1)");

unsigned int softgpu_hw_depth = 2;
module_param_named(hw_depth, softgpu_hw_depth, uint, 0444);
MODULE_PARM_DESC(hw_depth,
		 "jobs that a ring holds besides those queued in the scheduler (1 to 1024, default 2)");

unsigned int softgpu_timeout_ms = 2000;
module_param_named(timeout_ms, softgpu_timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms,
		 "after this a job has hung and is aborted (10 to 600000, 0: never, default 2000)");

unsigned int softgpu_jobs_max = 65536;
module_param_named(jobs_max, softgpu_jobs_max, uint, 0444);
MODULE_PARM_DESC(jobs_max, "jobs of an open file in flight or unread (1 to 1048576, default 65536)");

#define CARDS_MAX 8

static struct platform_device *devices[CARDS_MAX];

static int device_softgpu_ring_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct softgpu *gpu = to_softgpu(drm);
	struct grtrace_softgpu_ring *arg = data;
	u32 index = arg->index;

	*arg = (struct grtrace_softgpu_ring){
		.index = index,
		.count = gpu->nrings,
		.hw_depth = softgpu_hw_depth,
		.timeout_ms = softgpu_timeout_ms,
		.jobs_max = softgpu_jobs_max,
	};
	/* no error: a request for more rings than exist also gets the limits */
	if (index >= gpu->nrings)
		return 0;
	arg->type = gpu->rings[index].type;
	strscpy(arg->name, gpu->rings[index].name, sizeof(arg->name));
	return 0;
}

static const struct drm_ioctl_desc ioctls[] = {
	DRM_IOCTL_DEF_DRV(GRTRACE_SOFTGPU_RING, device_softgpu_ring_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(GRTRACE_SOFTGPU_SUBMIT, softgpu_submit_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(GRTRACE_SOFTGPU_RESULTS, softgpu_results_ioctl, DRM_RENDER_ALLOW),
};

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.show_fdinfo = softgpu_show_fdinfo,
#ifdef FOP_UNSIGNED_OFFSET /* requested by drm_open() from 6.12 on */
	.fop_flags = FOP_UNSIGNED_OFFSET,
#endif
};

static const struct drm_driver driver = {
	.driver_features = DRIVER_RENDER | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE,
	.open = softgpu_open,
	.postclose = softgpu_postclose,
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.fops = &fops,
	.name = GRTRACE_SOFTGPU_DRIVER,
	.desc = "software GPU for tests of GPU tracing",
#if GRTRACE_HAS_DRM_DRIVER_DATE
	.date = "20261121",
#endif
	.major = 1,
};

static void device_stop_rings(struct softgpu *gpu)
{
	unsigned int i;

	for (i = 0; i < gpu->started; i++)
		softgpu_ring_kill(&gpu->rings[i]);
	wait_event(gpu->idle, !atomic_read(&gpu->live));
	spin_lock_irq(&gpu->idle.lock); /* the CPU that set it has released the lock */
	spin_unlock_irq(&gpu->idle.lock);
	for (i = 0; i < gpu->started; i++)
		softgpu_ring_fini(&gpu->rings[i]);
	gpu->started = 0;
}

static int device_start_rings(struct softgpu *gpu, struct device *dev)
{
	unsigned int type, number;
	int err;

	for (type = 0; type < GRTRACE_SOFTGPU_TYPES; type++) {
		for (number = 0; number < rings_of[type]; number++) {
			err = softgpu_ring_init(gpu, &gpu->rings[gpu->started], type, first + number, dev);
			if (err)
				return err;
			gpu->started++;
		}
	}
	gpu->nrings = gpu->started;
	return 0;
}

static int __init device_softgpu_probe(struct platform_device *pdev)
{
	struct softgpu *gpu;
	int err;

	gpu = devm_drm_dev_alloc(&pdev->dev, &driver, struct softgpu, drm);
	if (IS_ERR(gpu))
		return PTR_ERR(gpu);
	atomic_set(&gpu->live, 0);
	init_waitqueue_head(&gpu->idle);
	err = device_start_rings(gpu, &pdev->dev);
	if (!err)
		err = drm_dev_register(&gpu->drm, 0);
	if (err)
		device_stop_rings(gpu);
	else
		platform_set_drvdata(pdev, gpu);
	return err;
}

/* No remove: the device exists until the module is unloaded, see softgpu_exit(). */
static const struct platform_device_id device_ids[] = { { GRTRACE_SOFTGPU_DRIVER }, {} };

/* Not the module's name, as with msm and etnaviv: rings have the module's. */
static struct platform_driver platform_driver = {
	.driver.name = "softgpu-core",
	.id_table = device_ids,
};

static bool __init device_allowed(const char *name, unsigned int value, unsigned int min, unsigned int max)
{
	if (value >= min && value <= max)
		return true;
	pr_err("%s=%u is out of range: it takes %u to %u\n", name, value, min, max);
	return false;
}

static bool __init device_parameters_good(void)
{
	static const char *const names[] = { "gfx", "compute", "sdma", "video" };
	unsigned int i, sum = 0;

	for (i = 0; i < GRTRACE_SOFTGPU_TYPES; i++) {
		if (!device_allowed(names[i], rings_of[i], 0, GRTRACE_SOFTGPU_RINGS_MAX))
			return false;
		sum += rings_of[i];
	}
	if (!sum) {
		pr_err("a GPU without rings: give one of gfx, compute, sdma, video\n");
		return false;
	}
	/*
	 * within a shorter time, the scheduler may still be handing over the job that it takes for
	 * hung
	 */
	if (softgpu_timeout_ms && !device_allowed("timeout_ms", softgpu_timeout_ms, 10, 600000))
		return false;
	return device_allowed("cards", cards, 1, CARDS_MAX) &&
	       device_allowed("hw_depth", softgpu_hw_depth, 1, 1024) &&
	       device_allowed("jobs_max", softgpu_jobs_max, 1, 1048576);
}

static void device_remove_card(struct platform_device *device)
{
	struct softgpu *gpu = platform_get_drvdata(device);

	if (gpu) {
		drm_dev_unregister(&gpu->drm);
		device_stop_rings(gpu);
	}
	platform_device_unregister(device);
}

static void device_remove_cards(void)
{
	unsigned int i;

	for (i = 0; i < CARDS_MAX && devices[i]; i++)
		device_remove_card(devices[i]);
}

static int __init device_add_cards(void)
{
	struct platform_device *device;
	unsigned int i;

	for (i = 0; i < cards; i++) {
		device = platform_device_register_simple(GRTRACE_SOFTGPU_DRIVER,
							 cards > 1 ? i : PLATFORM_DEVID_NONE, NULL, 0);
		if (IS_ERR(device))
			return PTR_ERR(device);
		devices[i] = device;
	}
	return 0;
}

/* The driver core does not report the error of a probe. */
static int __init device_all_probed(void)
{
	unsigned int i;

	for (i = 0; i < cards; i++)
		if (!platform_get_drvdata(devices[i]))
			return -ENODEV;
	return 0;
}

static int __init device_softgpu_init(void)
{
	int err;

	if (!device_parameters_good())
		return -EINVAL;
	err = device_add_cards();
	if (!err)
		err = platform_driver_probe(&platform_driver, device_softgpu_probe);
	if (err) {
		device_remove_cards();
		return err;
	}
	err = device_all_probed();
	if (err) {
		device_remove_cards();
		platform_driver_unregister(&platform_driver);
	}
	return err;
}

/* No file is open and none of our fences is left: both hold the module. */
static void __exit device_softgpu_exit(void)
{
	device_remove_cards();
	platform_driver_unregister(&platform_driver);
	/*
	 * The context that released the last reference to a fence, or freed the last job, may
	 * still run code of this module: an interrupt, or a preempted task.
	 */
	rcu_barrier();
	synchronize_rcu();
	synchronize_rcu_tasks();
}

module_init(device_softgpu_init);
module_exit(device_softgpu_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("Software GPU under the DRM scheduler");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
