// SPDX-License-Identifier: GPL-2.0
/*
 * Ties adapters to tracepoints by name. A driver's tracepoints come and go with
 * its module: the tracepoint notifier tells, and replays what is loaded already,
 * so the order of loading does not matter and one function does both.
 *
 * No driver's tracepoint is exported, in any version, hence by name and without
 * a check of the prototype: an adapter's handlers state the versions they fit.
 *
 * Of a driver without tracepoints the tracepoint notifier does not tell: that of
 * modules does, but replays nothing. What was there before, or is built in, is
 * found among the PCI drivers.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/tracepoint.h>

#include "core.h"

static LIST_HEAD(adapters);
static DEFINE_MUTEX(adapters_lock);

static void probe_attach(struct grtrace_adapter *a, struct tracepoint *tp)
{
	struct grtrace_probe *p;

	for (p = a->probes; p < a->probes + a->nprobes; p++) {
		if (p->bound || strcmp(p->name, tp->name))
			continue;
		if (!tracepoint_probe_register(tp, p->fn, a))
			p->bound = tp;
	}
}

static void probe_attach_kernel(struct tracepoint *tp, void *adapter)
{
	probe_attach(adapter, tp);
}

static void driver_comes(struct grtrace_adapter *a, struct module *mod)
{
	int i;

	if (a->comes)
		a->comes(a, mod);
	for (i = 0; mod && i < mod->num_tracepoints; i++)
		probe_attach(a, tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]));
	for_each_kernel_tracepoint(probe_attach_kernel, a);
	a->present = true;
	pr_debug("adapter %s: attached to %s\n", a->name, a->driver);
}

static void driver_goes(struct grtrace_adapter *a)
{
	struct grtrace_probe *p;

	for (p = a->probes; p < a->probes + a->nprobes; p++) {
		if (p->bound)
			tracepoint_probe_unregister(p->bound, p->fn, a);
		p->bound = NULL;
	}
	tracepoint_synchronize_unregister();
	a->present = false;
	if (a->gone)
		a->gone(a);
	pr_debug("adapter %s: detached from %s\n", a->name, a->driver);
}

static void driver_event(struct grtrace_adapter *a, unsigned long state, struct module *mod)
{
	if (strcmp(mod->name, a->driver))
		return;
	mutex_lock(&adapters_lock);
	if (state == MODULE_STATE_COMING && !a->present)
		driver_comes(a, mod);
	else if (state == MODULE_STATE_GOING && a->present)
		driver_goes(a);
	mutex_unlock(&adapters_lock);
}

static int tracepoints_event(struct notifier_block *nb, unsigned long state, void *data)
{
	struct tp_module *tpm = data;

	driver_event(container_of(nb, struct grtrace_adapter, nb), state, tpm->mod);
	return NOTIFY_OK;
}

/* Tracepoints of a module that the kernel does not trust are none: see tracepoint_module_coming(). */
static int module_event(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (!mod->num_tracepoints)
		driver_event(container_of(nb, struct grtrace_adapter, module_nb), state, mod);
	return NOTIFY_OK;
}

static int look_at_driver(struct device_driver *driver, void *adapter)
{
	struct grtrace_adapter *a = adapter;

	if (strcmp(driver->name, a->driver))
		return 0;
	mutex_lock(&adapters_lock);
	if (!a->present)
		driver_comes(a, driver->owner);
	mutex_unlock(&adapters_lock);
	return 1;
}

static void adapter_forget(struct grtrace_adapter *a)
{
	mutex_lock(&adapters_lock);
	if (a->present)
		driver_goes(a);
	list_del(&a->list);
	mutex_unlock(&adapters_lock);
}

/**
 * grtrace_adapter_register - attaches an adapter to its driver, now or when it comes
 * @a: stays in use until grtrace_adapter_unregister(); may sleep
 * Return: 0 or a negative errno
 */
int grtrace_adapter_register(struct grtrace_adapter *a)
{
	int err;

	mutex_lock(&adapters_lock);
	list_add_tail(&a->list, &adapters);
	mutex_unlock(&adapters_lock);
	a->nb.notifier_call = tracepoints_event;
	a->module_nb.notifier_call = module_event;
	err = register_module_notifier(&a->module_nb);
	if (err)
		goto err_list;
	err = register_tracepoint_module_notifier(&a->nb);
	if (err)
		goto err_module;
	if (IS_ENABLED(CONFIG_PCI))
		bus_for_each_drv(&pci_bus_type, NULL, a, look_at_driver);
	return 0;

err_module:
	unregister_module_notifier(&a->module_nb);
err_list:
	adapter_forget(a);
	return err;
}
EXPORT_SYMBOL_GPL(grtrace_adapter_register);

/** grtrace_adapter_unregister - detaches it; none of its handlers runs after this. May sleep */
void grtrace_adapter_unregister(struct grtrace_adapter *a)
{
	unregister_tracepoint_module_notifier(&a->nb); /* replays GOING */
	unregister_module_notifier(&a->module_nb);
	adapter_forget(a);
}
EXPORT_SYMBOL_GPL(grtrace_adapter_unregister);

/** grtrace_adapters_show - a line per adapter */
void grtrace_adapters_show(struct seq_file *m)
{
	struct grtrace_adapter *a;
	unsigned int i;

	mutex_lock(&adapters_lock);
	list_for_each_entry(a, &adapters, list) {
		seq_printf(m, "%s driver=%s bound=%d unmatched=%lld tracepoints=", a->name, a->driver,
			   a->present, atomic64_read(&a->unmatched));
		for (i = 0; i < a->nprobes; i++)
			seq_printf(m, "%s%s:%d", i ? "," : "", a->probes[i].name, !!a->probes[i].bound);
		if (a->show)
			a->show(a, m);
		seq_putc(m, '\n');
	}
	mutex_unlock(&adapters_lock);
}
