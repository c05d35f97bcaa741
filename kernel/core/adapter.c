// SPDX-License-Identifier: GPL-2.0
/*
 * Ties adapters to tracepoints by name. A driver's tracepoints come and go with
 * its module: the tracepoint notifier reports, and replays what is loaded already,
 * so the order of loading does not matter and one function does both. Those of
 * the kernel itself, where drivers that are built in have theirs too, are always
 * there.
 *
 * Of a driver without tracepoints that notifier does not report: the one of modules
 * does, but replays nothing. What was there before, or is built in, is found
 * among the PCI drivers.
 *
 * No driver's tracepoint is exported, in any version, hence by name and without
 * a check of the prototype: an adapter's handlers state the versions they fit.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/once.h>
#include <linux/pci.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/siphash.h>
#include <linux/tracepoint.h>

#include "core.h"

/* Changed under the lock; grtrace_adapter_serves() reads it without the lock. */
LIST_HEAD(grtrace_adapters);
DEFINE_MUTEX(grtrace_adapters_lock);

atomic_t grtrace_adapters_changed = ATOMIC_INIT(0);
EXPORT_SYMBOL_GPL(grtrace_adapters_changed);

/* Hides addresses in numbers of objects, see grtrace_opaque(). */
static siphash_key_t opaque_key __read_mostly;

#define for_each_probe(p, a) for (p = (a)->probes; p < (a)->probes + (a)->nprobes; p++)

/* Return: the module that must be loaded for this row; a built-in driver is part of the kernel. */
static const char *adapter_origin(const struct grtrace_adapter *a, const struct grtrace_probe *p)
{
	if (p->in_kernel)
		return GRTRACE_VMLINUX;
	return p->from ?: a->driver;
}

static void adapter_probe_attach(struct grtrace_adapter *a, struct grtrace_probe *p, struct tracepoint *tp)
{
	if (p->bound || strcmp(p->name, tp->name))
		return;
	p->err = tracepoint_probe_register(tp, p->fn, a);
	if (p->err)
		return;
	p->bound = tp;
	p->told = true;
}

/* Return: whether handlers may still run, until tracepoint_synchronize_unregister() */
static bool adapter_probes_detach(struct grtrace_adapter *a, const char *module)
{
	struct grtrace_probe *p;
	bool any = false;

	for_each_probe(p, a) {
		if (strcmp(adapter_origin(a, p), module))
			continue;
		if (p->bound)
			tracepoint_probe_unregister(p->bound, p->fn, a);
		any |= !!p->bound;
		p->bound = NULL;
		p->here = false;
	}
	return any;
}

static void adapter_attach_kernel(struct tracepoint *tp, void *adapter)
{
	struct grtrace_adapter *a = adapter;
	struct grtrace_probe *p;

	for_each_probe(p, a)
		if (!strcmp(adapter_origin(a, p), GRTRACE_VMLINUX))
			adapter_probe_attach(a, p, tp);
}

static void adapter_attach_module(struct grtrace_adapter *a, struct module *mod)
{
	struct grtrace_probe *p;
	int i;

	for_each_probe(p, a) {
		if (strcmp(adapter_origin(a, p), mod->name))
			continue;
		p->here = true;
		for (i = 0; i < mod->num_tracepoints; i++)
			adapter_probe_attach(a, p, tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]));
	}
}

/*
 * Binds the tracepoints that the kernel itself defines; other modules are reported on their own.
 * @mod: NULL: the driver is built in
 */
static void adapter_driver_comes(struct grtrace_adapter *a, struct module *mod)
{
	struct grtrace_probe *p;

	if (a->comes)
		a->comes(a, mod);
	if (mod)
		adapter_attach_module(a, mod);
	a->present = true;
	for_each_probe(p, a)
		if (!strcmp(adapter_origin(a, p), GRTRACE_VMLINUX))
			p->here = true;
	for_each_kernel_tracepoint(adapter_attach_kernel, a)
		;
	pr_debug("adapter %s: attached to %s\n", a->name, a->driver);
}

static void adapter_driver_goes(struct grtrace_adapter *a)
{
	struct grtrace_probe *p;
	unsigned int i;

	adapter_probes_detach(a, a->driver);
	adapter_probes_detach(a, GRTRACE_VMLINUX);
	tracepoint_synchronize_unregister();
	for_each_probe(p, a)
		p->told = false;
	a->present = false;
	for (i = 0; i < a->nfields; i++)
		WRITE_ONCE(a->fields[i].place, 0);
	if (a->gone)
		a->gone(a);
	pr_debug("adapter %s: detached from %s\n", a->name, a->driver);
}

static void adapter_module_comes(struct grtrace_adapter *a, struct module *mod)
{
	if (strcmp(mod->name, a->driver))
		adapter_attach_module(a, mod);
	else if (!a->present)
		adapter_driver_comes(a, mod);
}

static void adapter_module_goes(struct grtrace_adapter *a, struct module *mod)
{
	if (a->present && !strcmp(mod->name, a->driver))
		adapter_driver_goes(a);
	else if (adapter_probes_detach(a, mod->name))
		tracepoint_synchronize_unregister();
}

static void adapter_module_event(struct grtrace_adapter *a, unsigned long state, struct module *mod)
{
	mutex_lock(&grtrace_adapters_lock);
	if (state == MODULE_STATE_COMING)
		adapter_module_comes(a, mod);
	else if (state == MODULE_STATE_GOING)
		adapter_module_goes(a, mod);
	mutex_unlock(&grtrace_adapters_lock);
}

static int adapter_with_tracepoints(struct notifier_block *nb, unsigned long state, void *data)
{
	struct tp_module *tpm = data;

	adapter_module_event(container_of(nb, struct grtrace_adapter, nb), state, tpm->mod);
	return NOTIFY_OK;
}

static int adapter_without_tracepoints(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (!mod->num_tracepoints)
		adapter_module_event(container_of(nb, struct grtrace_adapter, module_nb), state, mod);
	return NOTIFY_OK;
}

static int adapter_look_at_driver(struct device_driver *driver, void *adapter)
{
	struct grtrace_adapter *a = adapter;

	if (strcmp(driver->name, a->driver))
		return 0;
	/* a module that is leaving was reported before the notifier was registered */
	if (!try_module_get(driver->owner))
		return 1;
	mutex_lock(&grtrace_adapters_lock);
	if (!a->present)
		adapter_driver_comes(a, driver->owner);
	mutex_unlock(&grtrace_adapters_lock);
	module_put(driver->owner);
	return 1;
}

/* The tracepoints of a driver that is not a module are in the kernel. */
static void adapter_find_builtin(struct tracepoint *tp, void *adapter)
{
	struct grtrace_adapter *a = adapter;
	struct grtrace_probe *p;

	for_each_probe(p, a)
		p->in_kernel |= !strcmp(p->name, tp->name);
}

static bool adapter_is_builtin(const struct grtrace_adapter *a)
{
	const struct grtrace_probe *p;

	for_each_probe(p, a)
		if (!p->from && p->in_kernel)
			return true;
	return false;
}

static void adapter_add(struct grtrace_adapter *a)
{
	get_random_once(&opaque_key, sizeof(opaque_key));
	a->nb.notifier_call = adapter_with_tracepoints;
	a->module_nb.notifier_call = adapter_without_tracepoints;
	mutex_lock(&grtrace_adapters_lock);
	list_add_tail_rcu(&a->list, &grtrace_adapters);
	atomic_inc(&grtrace_adapters_changed);
	for_each_kernel_tracepoint(adapter_find_builtin, a)
		;
	if (adapter_is_builtin(a))
		adapter_driver_comes(a, NULL);
	mutex_unlock(&grtrace_adapters_lock);
}

static void adapter_remove(struct grtrace_adapter *a)
{
	mutex_lock(&grtrace_adapters_lock);
	if (a->present)
		adapter_driver_goes(a);
	list_del_rcu(&a->list);
	atomic_inc(&grtrace_adapters_changed);
	mutex_unlock(&grtrace_adapters_lock);
	synchronize_rcu();
}

/* Handlers may still have taken objects after the driver was unloaded. */
static void adapter_pool_exit(struct grtrace_adapter *a)
{
	if (!a->pool.count)
		return;
	if (a->gone)
		a->gone(a);
	grtrace_pool_exit(&a->pool);
}

/**
 * grtrace_adapter_register - attaches an adapter to its driver, now or when it comes
 * @a: stays in use until grtrace_adapter_unregister(); may sleep
 * Return: 0 or a negative errno
 */
int grtrace_adapter_register(struct grtrace_adapter *a)
{
	int err = a->pool.count ? grtrace_pool_init(&a->pool) : 0;

	if (err)
		return err;
	adapter_add(a);
	err = register_module_notifier(&a->module_nb);
	if (err)
		goto err_adapter;
	err = register_tracepoint_module_notifier(&a->nb);
	if (err)
		goto err_module;
	if (IS_ENABLED(CONFIG_PCI))
		bus_for_each_drv(&pci_bus_type, NULL, a, adapter_look_at_driver)
			;
	return 0;

err_module:
	unregister_module_notifier(&a->module_nb);
err_adapter:
	adapter_remove(a);
	adapter_pool_exit(a);
	return err;
}
EXPORT_SYMBOL_GPL(grtrace_adapter_register);

/** grtrace_adapter_unregister - detaches it; none of its handlers runs after this. May sleep */
void grtrace_adapter_unregister(struct grtrace_adapter *a)
{
	unregister_tracepoint_module_notifier(&a->nb); /* replays GOING */
	unregister_module_notifier(&a->module_nb);
	adapter_remove(a);
	adapter_pool_exit(a);
}
EXPORT_SYMBOL_GPL(grtrace_adapter_unregister);

/**
 * grtrace_adapter_serves - whether a loaded adapter of this driver also reports the DRM scheduler's
 * jobs
 * @driver: run-time name of its module
 *
 * Any context. The result holds until grtrace_adapters_changed changes.
 */
bool grtrace_adapter_serves(const char *driver)
{
	const struct grtrace_adapter *a;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(a, &grtrace_adapters, list)
		found |= !a->leaves_scheduler && !strcmp(a->driver, driver);
	rcu_read_unlock();
	return found;
}
EXPORT_SYMBOL_GPL(grtrace_adapter_serves);

static bool adapter_role_bound(const struct grtrace_adapter *a, unsigned int role)
{
	const struct grtrace_probe *p;

	for_each_probe(p, a)
		if (p->role == role && p->bound)
			return true;
	return false;
}

/**
 * grtrace_role_is_reported - whether this kernel has one of the tracepoints with this role; any context
 *
 * The same until the last handler has run: tracepoints are detached one after the other.
 */
bool grtrace_role_is_reported(const struct grtrace_adapter *a, unsigned int role)
{
	const struct grtrace_probe *p;

	for_each_probe(p, a)
		if (p->role == role && READ_ONCE(p->told))
			return true;
	return false;
}
EXPORT_SYMBOL_GPL(grtrace_role_is_reported);

/**
 * grtrace_opaque - the number by which an object of the kernel is known in a trace
 * @object: its address
 * Return: the same number for the same address until grtrace is loaded anew, 0 for NULL
 */
u64 grtrace_opaque(const void *object)
{
	return object ? siphash_1u64((unsigned long)object, &opaque_key) : 0;
}
EXPORT_SYMBOL_GPL(grtrace_opaque);

/* Whether another row of its role reports the tracepoint: the bound one, or else the first. */
static bool adapter_stands_for(const struct grtrace_adapter *a, const struct grtrace_probe *p)
{
	const struct grtrace_probe *q;

	if (!p->role || p->bound)
		return true;
	if (adapter_role_bound(a, p->role))
		return false;
	for (q = a->probes; q < p; q++)
		if (q->role == p->role)
			return false;
	return true;
}

/* "drm_sched_job|drm_sched_job_queue": none of these names exists. */
static void adapter_show_name(struct seq_file *m, const struct grtrace_adapter *a,
			      const struct grtrace_probe *p)
{
	const struct grtrace_probe *q;

	seq_puts(m, p->name);
	if (!p->role || p->bound)
		return;
	for_each_probe(q, a)
		if (q != p && q->role == p->role)
			seq_printf(m, "|%s", q->name);
}

static void adapter_show_tracepoints(struct seq_file *m, const struct grtrace_adapter *a)
{
	const struct grtrace_probe *p;
	const char *comma = "";

	seq_puts(m, " tracepoints=");
	for_each_probe(p, a) {
		if (!adapter_stands_for(a, p))
			continue;
		seq_puts(m, comma);
		adapter_show_name(m, a, p);
		seq_printf(m, ":%s", p->bound ? "1" : p->optional ? "-" : "0");
		comma = ",";
	}
}

static void adapter_show_reason(struct seq_file *m, const struct grtrace_adapter *a,
				const struct grtrace_probe *p)
{
	if (p->err)
		seq_printf(m, ":errno-%d", -p->err);
	else if (p->here)
		seq_puts(m, ":not-in-this-kernel");
	else
		seq_printf(m, ":%s-not-loaded", adapter_origin(a, p));
}

/* Shows which tracepoints are not bound, and why not. */
static void adapter_show_missing(struct seq_file *m, const struct grtrace_adapter *a)
{
	const struct grtrace_probe *p;
	const char *before = " missing=";

	if (!a->present)
		return;
	for_each_probe(p, a) {
		if (p->bound || !adapter_stands_for(a, p))
			continue;
		seq_puts(m, before);
		adapter_show_name(m, a, p);
		adapter_show_reason(m, a, p);
		before = ",";
	}
}

static void adapter_show_fields(struct seq_file *m, const struct grtrace_adapter *a)
{
	unsigned int i, known = 0;

	for (i = 0; i < a->nfields; i++)
		known += !!a->fields[i].place;
	if (a->nfields)
		seq_printf(m, " fields=%u/%u", known, a->nfields);
}

/* Shows how many times the pool was empty. */
static void adapter_show_pool(struct seq_file *m, const struct grtrace_adapter *a)
{
	s64 empty = atomic64_read(&a->pool.empty);

	if (empty)
		seq_printf(m, " no_room=%lld", empty);
}

/** grtrace_adapters_show - a line per adapter */
void grtrace_adapters_show(struct seq_file *m)
{
	struct grtrace_adapter *a;

	mutex_lock(&grtrace_adapters_lock);
	list_for_each_entry(a, &grtrace_adapters, list) {
		seq_printf(m, "%s driver=%s bound=%d unmatched=%lld", a->name, a->driver, a->present,
			   atomic64_read(&a->unmatched));
		adapter_show_tracepoints(m, a);
		adapter_show_missing(m, a);
		adapter_show_fields(m, a);
		adapter_show_pool(m, a);
		if (a->show)
			a->show(a, m);
		seq_putc(m, '\n');
	}
	mutex_unlock(&grtrace_adapters_lock);
}
