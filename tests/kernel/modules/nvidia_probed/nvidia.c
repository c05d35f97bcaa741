// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for the interface files of NVIDIA's open module: functions of the names
 * and arguments that `--probes` looks at, which last as long as they are told to,
 * and the tracepoint for Xids.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/interrupt.h>
#include <linux/mm.h>

#include "functions.h"
#include "play.h"

#define CREATE_TRACE_POINTS
#include "nvidia_trace.h"

/* As far as it is the same in all branches (kernel-open/common/inc/nv.h). */
struct nv_state {
	char unknown[20];
	u32 domain;
	u8 bus;
	u8 slot;
	u8 function;
};

static struct nv_state gpu = { .domain = 1, .bus = 0xc6, .slot = 2 };
static struct device *device;

noinline __noclone int nvidia_isr(int irq, void *nvl)
{
	udelay(20);
	return IRQ_WAKE_THREAD;
}

noinline __noclone int nvidia_isr_msix(int irq, void *nvl)
{
	return nvidia_isr(irq, nvl);
}

noinline __noclone int nvidia_isr_msix_kthread_bh(int irq, void *nv)
{
	usleep_range(2000, 2100);
	return IRQ_HANDLED;
}

noinline __noclone void nvidia_vma_open(struct vm_area_struct *vma)
{
	barrier_data(vma);
}

noinline __noclone void nvidia_vma_release(struct vm_area_struct *vma)
{
	barrier_data(vma);
}

noinline __noclone int nvidia_fault(struct vm_fault *vmf)
{
	barrier_data(vmf);
	return VM_FAULT_NOPAGE;
}

noinline __noclone int nvidia_p2p_get_pages(u64 token, u32 space, u64 vaddr, u64 length, void **table, void *done,
					    void *data)
{
	barrier_data(table);
	return length ? 0 : -EINVAL;
}

noinline __noclone int nvidia_p2p_put_pages(u64 token, u32 space, u64 vaddr, void *table)
{
	barrier_data(table);
	return 0;
}

noinline __noclone int nv_pmops_suspend(struct device *dev)
{
	msleep(30);
	return 0;
}

noinline __noclone int nv_pmops_resume(struct device *dev)
{
	msleep(50);
	return -EIO;
}

/* The verbs. */

/* NUMBER TIMES */
static int do_isr(const u64 *arg)
{
	for (u64 i = 0; i < arg[1]; i++)
		nvidia_isr_msix(arg[0], &gpu);
	return 0;
}

static int do_bh(const u64 *arg)
{
	nvidia_isr_msix_kthread_bh(arg[0], &gpu);
	return 0;
}

/* START LENGTH: a mapping is made, touched and removed */
static int do_vma(const u64 *arg)
{
	struct vm_area_struct *vma = kzalloc(sizeof(*vma), GFP_KERNEL);
	struct vm_fault vmf = { .address = arg[0] };

	if (!vma)
		return -ENOMEM;
	vma->vm_start = arg[0];
	vma->vm_end = arg[0] + arg[1];
	nvidia_vma_open(vma);
	nvidia_fault(&vmf);
	nvidia_vma_release(vma);
	kfree(vma);
	return 0;
}

/* ADDRESS LENGTH */
static int do_p2p(const u64 *arg)
{
	void *table = NULL;

	nvidia_p2p_get_pages(0, 0, arg[0], arg[1], &table, NULL, NULL);
	nvidia_p2p_put_pages(0, 0, arg[0], table);
	return 0;
}

static int do_power(const u64 *arg)
{
	nv_pmops_suspend(device);
	nv_pmops_resume(device);
	return 0;
}

/* CODE PID HOW: what is written to the log comes before the event (0), behind it (1), or the event says it all (2) */
static int do_xid(const u64 *arg)
{
	char text[96];
	bool all = arg[2] == 2;

	snprintf(text, sizeof(text), "%sCh %08llx, MMU Fault", all ? "pid=4711, name=inside, " : "", arg[1]);
	if (arg[2] == 0)
		pr_err("NVRM: Xid (PCI:0001:c6:02): %llu, pid=%llu, name=culprit, %s\n", arg[0], arg[1], text);
	trace_nvidia_dev_xid(dev_name(device), arg[0], text);
	if (arg[2])
		pr_err("NVRM: Xid (PCI:0001:c6:02): %llu, pid=%llu, name=culprit, %s\n", arg[0], arg[1], text);
	return 0;
}

static const struct play_verb play_verbs[] = {
	{ "isr", 2, do_isr },
	{ "bh", 1, do_bh },
	{ "vma", 2, do_vma },
	{ "p2p", 2, do_p2p },
	{ "power", 0, do_power },
	{ "xid", 3, do_xid },
};

static const unsigned int play_nverbs = ARRAY_SIZE(play_verbs);

static int __init stand_in_init(void)
{
	device = root_device_register("0001:c6:02.0");
	if (IS_ERR(device))
		return PTR_ERR(device);
	play_begin();
	return 0;
}
module_init(stand_in_init);

static void __exit stand_in_exit(void)
{
	play_end();
	root_device_unregister(device);
}
module_exit(stand_in_exit);

MODULE_DESCRIPTION("grtrace: stands for the interface files of NVIDIA's module");
MODULE_LICENSE("GPL");
