// SPDX-License-Identifier: GPL-2.0
/*
 * The rings that adapters have named.
 *
 * Rings are in places, made when the module is loaded, since they come where
 * nothing can be allocated. A ring's id is never given again while the module is
 * loaded; id % GRTRACE_RINGS_LIVE is its place, which another ring gets when the
 * emit path, which runs with interrupts off and so in an RCU read-side section,
 * cannot see the old one any more.
 *
 * What is counted per ring has fewer places, the slots: id % GRTRACE_RINGS. A ring
 * that has none is not counted apart. A slot is free again when the stages have
 * told and forgotten what they had summed up for its ring. Ids that nobody has
 * registered, of injected events, get a slot with their first event.
 */
#include <linux/device.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core.h"

static const struct {
	const char *begin;
	u8 engine;
	size_t compared;
} names[] = {
#define GRT_RING_NAME(begin, ENGINE) { begin, GRT_ENGINE_##ENGINE, sizeof(begin) - 1 },
#define GRT_RING_WHOLE_NAME(name, ENGINE) { name, GRT_ENGINE_##ENGINE, sizeof(name) },
#include <grtrace/ring_names.def>
#undef GRT_RING_WHOLE_NAME
#undef GRT_RING_NAME
};

#define PLACE_FREE 0
#define PLACE_LIVE 1
#define PLACE_GONE 2

/* Number of rings that were removed: afterwards, their places may have other rings. */
unsigned int grtrace_rings_gone;

static struct grtrace_ring *places;
static u32 slot_ring[GRTRACE_RINGS] = {[0 ... GRTRACE_RINGS - 1] = GRT_RING_NONE};
static u32 next_id;
static DEFINE_RAW_SPINLOCK(rings_lock);

/* Releases places and slots. */
static void rings_reap_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap, rings_reap_fn);
static void rings_wake_reaper(struct irq_work *work);
static struct irq_work wake = IRQ_WORK_INIT(rings_wake_reaper);
static bool leaving;

static struct grtrace_ring *rings_place_of(u32 id)
{
	return &places[id % GRTRACE_RINGS_LIVE];
}

/** grtrace_ring_get - a ring, NULL where none is registered; call with interrupts or preemption off */
const struct grtrace_ring *grtrace_ring_get(u32 id)
{
	const struct grtrace_ring *ring = rings_place_of(id);

	return smp_load_acquire(&ring->id) == id ? ring : NULL; /* pairs with place_fill() */
}

/**
 * grtrace_ring_place - a ring that grtrace_ring_get() has found since interrupts are off, and that may have
 * gone
 */
const struct grtrace_ring *grtrace_ring_place(u32 id)
{
	return rings_place_of(id);
}

/**
 * grtrace_ring_slot - the slot in which a ring is counted; call with interrupts or preemption off
 * @id: id of the ring, or GRT_RING_NONE
 * Return: 0..GRTRACE_RINGS-1, negative: the ring is not counted by itself
 */
int grtrace_ring_slot(u32 id)
{
	u32 *at = &slot_ring[id % GRTRACE_RINGS], owner = READ_ONCE(*at);

	if (likely(owner == id && id != GRT_RING_NONE))
		return id % GRTRACE_RINGS;
	if (id >= GRTRACE_RINGS || id < READ_ONCE(next_id) || owner != GRT_RING_NONE)
		return -1;
	owner = cmpxchg(at, GRT_RING_NONE, id);
	return owner == GRT_RING_NONE || owner == id ? id : -1;
}
EXPORT_SYMBOL_GPL(grtrace_ring_slot);

/**
 * grtrace_slot_ring - the ring that is counted in a slot, GRT_RING_NONE: there is none; any context
 */
u32 grtrace_slot_ring(unsigned int slot)
{
	return READ_ONCE(slot_ring[slot]);
}
EXPORT_SYMBOL_GPL(grtrace_slot_ring);

/**
 * grtrace_engine_of_ring - the engine that a ring of this name feeds
 * @name: the driver's name of the ring
 * Return: GRT_ENGINE_UNKNOWN: the name does not identify it. Any context
 */
enum grt_engine grtrace_engine_of_ring(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i].begin, names[i].compared))
			return names[i].engine;
	return GRT_ENGINE_UNKNOWN;
}
EXPORT_SYMBOL_GPL(grtrace_engine_of_ring);

/**
 * grtrace_ring_name - the name of a ring, for what stages print; any context
 * @name: gets it, "-" where none is registered
 * @size: of @name
 * Return: whether it is registered
 */
bool grtrace_ring_name(u32 id, char *name, size_t size)
{
	const struct grtrace_ring *ring;

	preempt_disable();
	ring = grtrace_ring_get(id);
	strscpy(name, ring ? ring->name : "-", size);
	preempt_enable();
	return ring;
}
EXPORT_SYMBOL_GPL(grtrace_ring_name);

/*
 * Whether a ring with this id would find a place and a slot, which an injected event may have
 * taken.
 */
static bool rings_is_free(u32 id, bool with_slot)
{
	u32 owner = slot_ring[id % GRTRACE_RINGS];

	return rings_place_of(id)->state == PLACE_FREE &&
	       (!with_slot || owner == GRT_RING_NONE || owner == id);
}

/* The caller holds the lock. Return: the next id for which there is room, or -ENOSPC */
static int rings_find_id(void)
{
	u32 i;

	for (i = 0; i < GRTRACE_RINGS; i++)
		if (rings_is_free((next_id + i) & INT_MAX, true))
			return (next_id + i) & INT_MAX;
	for (i = 0; i < GRTRACE_RINGS_LIVE; i++)
		if (rings_is_free((next_id + i) & INT_MAX, false))
			return (next_id + i) & INT_MAX;
	return -ENOSPC;
}

/* The caller holds the lock. */
static void rings_place_fill(u32 id, const char *name, enum grt_engine engine, const char *driver,
			     const struct device *dev)
{
	struct grtrace_ring *ring = rings_place_of(id);

	strscpy(ring->name, name, sizeof(ring->name));
	strscpy(ring->driver, driver, sizeof(ring->driver));
	strscpy(ring->device, dev ? dev_name(dev) : "", sizeof(ring->device));
	ring->engine = engine;
	ring->state = PLACE_LIVE;
	cmpxchg(&slot_ring[id % GRTRACE_RINGS], GRT_RING_NONE, id);
	WRITE_ONCE(next_id, id + 1);
	smp_store_release(&ring->id, id); /* id after the rest; pairs with grtrace_ring_get() */
}

/**
 * grtrace_ring_register - registers a ring
 * @name: the driver's name of the ring; cut to 31 characters
 * @engine: the engine that it feeds
 * @driver: run-time name of the driver's module; cut to 15 characters
 * @dev: the GPU's device on its bus, whose name is kept; NULL: unknown
 *
 * May be called in atomic context. Return: the id, which no other ring has had since the module was
 * loaded, -ENOSPC or -EINVAL
 */
int grtrace_ring_register(const char *name, enum grt_engine engine, const char *driver,
			  const struct device *dev)
{
	unsigned long flags;
	int id;

	if (engine >= GRT_ENGINE_MAX)
		return -EINVAL;
	raw_spin_lock_irqsave(&rings_lock, flags);
	id = rings_find_id();
	if (id >= 0)
		rings_place_fill(id, name, engine, driver, dev);
	raw_spin_unlock_irqrestore(&rings_lock, flags);
	if (id >= 0)
		pr_debug("ring %d: %s of %s\n", id, name, driver);
	return id;
}
EXPORT_SYMBOL_GPL(grtrace_ring_register);

/**
 * grtrace_ring_unregister - forgets a ring
 * @id: as registered; one that is not is ignored
 *
 * May be called in atomic context. Packets already written keep its name.
 */
void grtrace_ring_unregister(int id)
{
	struct grtrace_ring *ring = rings_place_of(id);
	unsigned long flags;
	bool known;

	if (id < 0)
		return;
	raw_spin_lock_irqsave(&rings_lock, flags);
	known = ring->state == PLACE_LIVE && ring->id == id;
	if (known) {
		ring->state = PLACE_GONE;
		ring->was = id;
		WRITE_ONCE(ring->id, GRT_RING_NONE);
		WRITE_ONCE(grtrace_rings_gone, grtrace_rings_gone + 1);
	}
	raw_spin_unlock_irqrestore(&rings_lock, flags);
	if (!known)
		return;
	pr_debug("ring %d: gone\n", id);
	if (!READ_ONCE(leaving))
		irq_work_queue(&wake);
}
EXPORT_SYMBOL_GPL(grtrace_ring_unregister);

static void rings_wake_reaper(struct irq_work *work)
{
	schedule_delayed_work(&reap, 0);
}

/*
 * Stages come first, because they report their sums under the ring's id. grtrace_lock held. Return:
 * whether the slot was released
 */
static bool rings_slot_release(u32 id)
{
	unsigned int slot = id % GRTRACE_RINGS;
	int cpu;

	if (slot_ring[slot] != id)
		return true;
	if (!grtrace_stages_forget(slot))
		return false;
	for_each_possible_cpu(cpu)
		memset(&per_cpu_ptr(&grtrace_cpus, cpu)->rings[slot], 0, sizeof(struct grtrace_ring_counts));
	WRITE_ONCE(slot_ring[slot], GRT_RING_NONE);
	return true;
}

static void rings_place_release(struct grtrace_ring *ring)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rings_lock, flags);
	ring->state = PLACE_FREE;
	raw_spin_unlock_irqrestore(&rings_lock, flags);
}

/*
 * No CPU uses the rings any more that were removed before @gone. Return: whether some are left for
 * later
 */
static bool rings_reap_places(unsigned long *gone)
{
	bool later = false;
	unsigned int i;

	for_each_set_bit(i, gone, GRTRACE_RINGS_LIVE) {
		if (rings_slot_release(places[i].was))
			rings_place_release(&places[i]);
		else
			later = true;
	}
	return later;
}

static void rings_reap_fn(struct work_struct *work)
{
	static DECLARE_BITMAP(gone, GRTRACE_RINGS_LIVE);
	unsigned int i;

	bitmap_zero(gone, GRTRACE_RINGS_LIVE);
	for (i = 0; i < GRTRACE_RINGS_LIVE; i++)
		if (READ_ONCE(places[i].state) == PLACE_GONE)
			__set_bit(i, gone);
	synchronize_rcu();
	mutex_lock(&grtrace_lock);
	if (rings_reap_places(gone))
		schedule_delayed_work(&reap, HZ);
	grtrace_unlock();
}

/** grtrace_rings_init - makes room for them. Return: 0 or -ENOMEM */
int grtrace_rings_init(void)
{
	unsigned int i;

	places = kvcalloc(GRTRACE_RINGS_LIVE, sizeof(*places), GFP_KERNEL);
	for (i = 0; places && i < GRTRACE_RINGS_LIVE; i++)
		places[i].id = GRT_RING_NONE;
	return places ? 0 : -ENOMEM;
}

/** grtrace_rings_exit - forgets all rings; nothing is emitted or registered any more */
void grtrace_rings_exit(void)
{
	WRITE_ONCE(leaving, true);
	irq_work_sync(&wake);
	cancel_delayed_work_sync(&reap);
	kvfree(places);
}

/** grtrace_rings_next - the id that the next ring gets, or a smaller one than that */
u32 grtrace_rings_next(void)
{
	return READ_ONCE(next_id);
}
