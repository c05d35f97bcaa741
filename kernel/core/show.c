// SPDX-License-Identifier: GPL-2.0
/*
 * The files that can only be read: version, stats, events_by_type, rings, adapters.
 */
#include <linux/device.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "core.h"

static void show_balance(struct seq_file *m, const struct grt_balance *b)
{
	int i;

	seq_printf(m, " emitted=%llu", b->emitted);
	for (i = 0; i < GRT_FATES; i++)
		seq_printf(m, " %s=%llu", grtrace_fate_name(i), b->fate[i]);
}

static void show_add_balance(struct grt_balance *sum, const struct grt_balance *b)
{
	int i;

	sum->emitted += b->emitted;
	for (i = 0; i < GRT_FATES; i++)
		sum->fate[i] += b->fate[i];
}

/* Reads again while the CPU is between two of its counters, which takes nanoseconds. */
static struct grt_balance show_look_at(const struct grtrace_cpu *c)
{
	struct grt_balance b;
	int i, tries = 100;
	u64 sum;

	do {
		b.emitted = READ_ONCE(c->balance.emitted);
		for (i = 0, sum = 0; i < GRT_FATES; i++)
			sum += b.fate[i] = READ_ONCE(c->balance.fate[i]);
	} while (sum != b.emitted && --tries);
	return b;
}

struct totals {
	struct grt_balance balance;
	u64 overruns;
	u64 consumed;
};

/* @each: the balance of every CPU, by number */
static void show_sum_up(struct totals *t, struct grt_balance *each)
{
	int cpu;

	memset(t, 0, sizeof(*t));
	for_each_possible_cpu(cpu) {
		const struct grtrace_cpu *c = per_cpu_ptr(&grtrace_cpus, cpu);

		each[cpu] = show_look_at(c);
		show_add_balance(&t->balance, &each[cpu]);
		t->overruns += c->overruns;
		t->consumed += c->consumed;
	}
}

static int grtrace_stats_show(struct seq_file *m, void *unused)
{
	struct grt_balance *each = kvcalloc(nr_cpu_ids, sizeof(*each), GFP_KERNEL);
	struct totals t;
	int cpu;

	if (!each)
		return -ENOMEM;
	mutex_lock(&grtrace_lock); /* a resize frees the buffers */
	show_sum_up(&t, each);
	seq_printf(m, "enabled %d\n", grtrace_running());
	seq_printf(m, "reader_pid %d\n", grtrace_reader_pid());
	seq_printf(m, "overruns %llu\n", t.overruns);
	seq_printf(m, "lost_events %llu\n", t.balance.fate[GRT_FATE_LOST]);
	seq_printf(m, "subbufs_consumed %llu\n", t.consumed);
	seq_printf(m, "jobs_evicted %llu\n", grtrace_jobs_evicted());
	seq_printf(m, "nmi_refused %llu\n", grtrace_nmi_refused());
	seq_puts(m, "total");
	show_balance(m, &t.balance);
	seq_putc(m, '\n');
	for_each_possible_cpu(cpu) {
		const struct grtrace_cpu *c = per_cpu_ptr(&grtrace_cpus, cpu);

		if (!c->buf && !each[cpu].emitted)
			continue;
		seq_printf(m, "cpu%d", cpu);
		show_balance(m, &each[cpu]);
		seq_printf(m, " used=%zu size=%llu\n", grtrace_buffer_used(cpu), grtrace_buffer_size());
	}
	grtrace_unlock();
	kvfree(each);
	return 0;
}

static const char *const event_names[] = {
#define GRT_EVENT(id, NAME, lname, CLASS, LEVEL, WHO, fields, help) \
	[GRT_EVENT_PLACE_##NAME] = #lname,
#include <grtrace/events.def>
#undef GRT_EVENT
};

static int grtrace_events_by_type_show(struct seq_file *m, void *unused)
{
	int place, cpu;
	u64 n;

	for (place = 0; place < GRT_EVENTS; place++) {
		n = 0;
		for_each_possible_cpu(cpu)
			n += per_cpu_ptr(&grtrace_cpus, cpu)->by_type[place];
		seq_printf(m, "%s %llu\n", event_names[place], n);
	}
	return 0;
}

static struct grtrace_ring_counts show_ring_counts(unsigned int slot)
{
	struct grtrace_ring_counts sum = {};
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct grtrace_ring_counts *n = &per_cpu_ptr(&grtrace_cpus, cpu)->rings[slot];

		sum.events += n->events;
		sum.submits += n->submits;
		sum.completes += n->completes;
		sum.errors += n->errors;
	}
	return sum;
}

/* Return: the number of the DRM device, negative: it is not one */
static int show_card_number(struct device *dev, void *number)
{
	if (!dev->class || strcmp(dev->class->name, "drm") ||
	    sscanf(dev_name(dev), "card%d", (int *)number) != 1)
		return 0;
	return !strchr(dev_name(dev), '-'); /* card0-HDMI-A-1 is a connector */
}

/* Below the device or, for a virtio GPU, below the virtio device. */
static int show_card_below(struct device *dev, void *number)
{
	return show_card_number(dev, number) || device_for_each_child(dev, number, show_card_number);
}

/* The DRM device of a GPU at a bus address; "-": unknown. */
static void show_card(struct seq_file *m, const char *device)
{
	struct device *dev = bus_find_device_by_name(&platform_bus_type, NULL, device);
	int number;

#ifdef CONFIG_PCI
	dev = dev ?: bus_find_device_by_name(&pci_bus_type, NULL, device);
#endif
	if (dev && device_for_each_child(dev, &number, show_card_below))
		seq_printf(m, "card%d ", number);
	else
		seq_puts(m, "- ");
	put_device(dev);
}

static void show_counts(struct seq_file *m, const struct grtrace_ring_counts *n)
{
	seq_printf(m, "%llu %llu %llu %llu\n", n->events, n->submits, n->completes, n->errors);
}

/* Shows a registered ring; a ring without a slot is not counted by itself. */
static void show_ring(struct seq_file *m, const struct grtrace_ring *ring)
{
	struct grtrace_ring_counts n = show_ring_counts(ring->id % GRTRACE_RINGS);

	seq_printf(m, "%u %s %s %s %s ", ring->id, ring->name, grtrace_engine_name(ring->engine),
		   ring->driver, ring->device[0] ? ring->device : "-");
	show_card(m, ring->device);
	if (grtrace_slot_ring(ring->id % GRTRACE_RINGS) == ring->id)
		show_counts(m, &n);
	else
		seq_puts(m, "- - - -\n");
}

/* Shows an unregistered ring in a slot, or the sum of all rings without one. */
static void show_unknown(struct seq_file *m, unsigned int slot, u32 id)
{
	struct grtrace_ring_counts n = show_ring_counts(slot);

	if (!n.events)
		return;
	if (id == GRT_RING_NONE)
		seq_puts(m, "- - - - - - ");
	else
		seq_printf(m, "%u - - - - - ", id);
	show_counts(m, &n);
}

static bool show_ring_copy(u32 id, struct grtrace_ring *copy)
{
	const struct grtrace_ring *ring;

	preempt_disable();
	ring = grtrace_ring_get(id);
	if (ring)
		*copy = *ring;
	preempt_enable();
	copy->id = id;
	return ring;
}

static int grtrace_rings_show(struct seq_file *m, void *unused)
{
	u32 next = grtrace_rings_next(), id = next > GRTRACE_RINGS_LIVE ? next - GRTRACE_RINGS_LIVE : 0;
	struct grtrace_ring copy;
	unsigned int slot;

	seq_puts(m, "id name engine driver device card events submits completes errors\n");
	for (; id < next; id++)
		if (show_ring_copy(id, &copy))
			show_ring(m, &copy);
	for (slot = 0; slot < GRTRACE_RINGS; slot++) {
		id = grtrace_slot_ring(slot);
		if (id != GRT_RING_NONE && !show_ring_copy(id, &copy))
			show_unknown(m, slot, id);
	}
	show_unknown(m, GRTRACE_RINGS, GRT_RING_NONE);
	return 0;
}

static int grtrace_adapters_file_show(struct seq_file *m, void *unused)
{
	grtrace_adapters_show(m);
	return 0;
}

static int grtrace_version_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "grtrace %s format %d\n", GRT_VERSION, GRT_FORMAT);
	return 0;
}

/* A file of a stage, which may have been unloaded since the file was opened. */
static int grtrace_stage_file_show(struct seq_file *m, void *unused)
{
	enum grt_stage kind = (unsigned long)m->private;
	const struct grtrace_stage *s;
	int err = grtrace_lock_for_file(kind);

	if (err)
		return err;
	s = grtrace_stage_get(kind);
	if (s && s->show)
		s->show(m);
	grtrace_unlock();
	return s ? 0 : -ENODEV;
}

#define SHOW_FOPS(name, show)                                                 \
	static int name##_open(struct inode *inode, struct file *file)        \
	{                                                                     \
		return single_open(file, show, inode->i_private);             \
	}                                                                     \
	const struct file_operations grtrace_##name##_fops = {                \
		.owner = THIS_MODULE,                                         \
		.open = name##_open,                                          \
		.read = seq_read,                                             \
		.llseek = seq_lseek,                                          \
		.release = single_release,                                    \
	}

SHOW_FOPS(stats, grtrace_stats_show);
SHOW_FOPS(events_by_type, grtrace_events_by_type_show);
SHOW_FOPS(rings, grtrace_rings_show);
SHOW_FOPS(adapters, grtrace_adapters_file_show);
SHOW_FOPS(version, grtrace_version_show);
SHOW_FOPS(stage_file, grtrace_stage_file_show);
