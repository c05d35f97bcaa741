// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace.ko: what becomes of every GPU job, in per-CPU relay buffers. This file
 * loads and unloads; see buffer.c for the packets, emit.c for the events and
 * control.c for the files in debugfs.
 */
#define pr_fmt(fmt) "grtrace: " fmt

#include <linux/debugfs.h>
#include <linux/module.h>

#include "core.h"

static ulong buffer_size;
module_param(buffer_size, ulong, 0444);
MODULE_PARM_DESC(buffer_size, "bytes per CPU (default 4 MiB)");

static bool enable;
module_param(enable, bool, 0444);
MODULE_PARM_DESC(enable, "start tracing at once");

DEFINE_MUTEX(grtrace_lock);
struct dentry *grtrace_dir;

static void grtrace_teardown(void)
{
	mutex_lock(&grtrace_lock);
	grtrace_stop_tracing();
	grtrace_buffer_close();
	grtrace_unlock();
	grtrace_hold_exit();
	static_key_deferred_flush(&grtrace_key);
	debugfs_remove(grtrace_dir);
	grtrace_rings_exit();
	grtrace_watch_exit();
	grtrace_jobs_exit();
	grtrace_cpus_exit();
	rcu_barrier(); /* watch lists are freed by RCU */
}

static int __init grtrace_init(void)
{
	int err;

	err = grtrace_cpus_init();
	if (err)
		return err;
	err = grtrace_rings_init();
	if (err)
		goto err_cpus;
	err = grtrace_jobs_init();
	if (err)
		goto err_rings;
	grtrace_dir = debugfs_create_dir("grtrace", NULL);
	if (IS_ERR(grtrace_dir)) {
		err = PTR_ERR(grtrace_dir);
		goto err_jobs;
	}
	grtrace_buffer_files();
	mutex_lock(&grtrace_lock);
	err = grtrace_config_init(buffer_size);
	if (!err)
		grtrace_control_init();
	if (!err && enable)
		err = grtrace_start_tracing();
	grtrace_unlock();
	if (err)
		grtrace_teardown();
	else
		grtrace_streams_unshut();
	return err;

err_jobs:
	grtrace_jobs_exit();
err_rings:
	grtrace_rings_exit();
err_cpus:
	grtrace_cpus_exit();
	return err;
}

static void __exit grtrace_exit(void)
{
	grtrace_teardown();
}

module_init(grtrace_init);
module_exit(grtrace_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU ring and job tracing");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);

#ifdef MODULE
/* `modprobe grtrace` loads the stages too. One line for all: modprobe takes only the first. */
static const char softdep[] __used __section(".modinfo") __aligned(1) = "softdep=post:"
#define GRT_STAGE(NAME, name, help) " grtrace_" #name
#include <grtrace/stages.def>
#undef GRT_STAGE
;
#endif
