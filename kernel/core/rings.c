// SPDX-License-Identifier: GPL-2.0
/*
 * The rings that adapters have named. Readers on the emit path run with
 * interrupts off, which is an RCU read-side section; entries are replaced, never
 * changed.
 */
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "core.h"

static const struct {
	const char *begin;
	u8 engine;
} names[] = {
#define GRT_RING_NAME(begin, ENGINE) { begin, GRT_ENGINE_##ENGINE },
#include <grtrace/ring_names.def>
#undef GRT_RING_NAME
};

/* Counts rings that went: an id may have another name after that. */
unsigned int grtrace_rings_gone;

static struct grtrace_ring __rcu *rings[GRTRACE_RINGS];
static DEFINE_RAW_SPINLOCK(rings_lock);

/* As many again, since one that went is free only when nobody reads it any more. */
static struct grtrace_pool pool = { .count = 2 * GRTRACE_RINGS, .size = sizeof(struct grtrace_ring) };

/** grtrace_ring_get - a ring, NULL where none is registered; call with interrupts or preemption off */
const struct grtrace_ring *grtrace_ring_get(u32 id)
{
	return id < GRTRACE_RINGS ? rcu_dereference_sched(rings[id]) : NULL;
}

/**
 * grtrace_engine_of_ring - the engine that a ring of this name feeds
 * @name: as the driver calls it
 * Return: GRT_ENGINE_UNKNOWN for a name that says nothing. Any context
 */
enum grt_engine grtrace_engine_of_ring(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i].begin, strlen(names[i].begin)))
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

static int lowest_free(void)
{
	int id;

	for (id = 0; id < GRTRACE_RINGS; id++)
		if (!rcu_access_pointer(rings[id]))
			return id;
	return -ENOSPC;
}

/**
 * grtrace_ring_register - names a ring
 * @id: 0..GRTRACE_RINGS-1, or GRTRACE_RING_ANY for the lowest free one
 * @name: as the driver calls it; cut to 31 characters
 * @engine: what it feeds
 * @driver: run-time name of the driver's module; cut to 15 characters
 *
 * May be called in atomic context.
 * Return: the id, -EEXIST when it is taken, -ENOSPC, -EINVAL or -ENOMEM
 */
int grtrace_ring_register(int id, const char *name, enum grt_engine engine, const char *driver)
{
	struct grtrace_ring *ring;
	unsigned long flags;

	if (id < GRTRACE_RING_ANY || id >= GRTRACE_RINGS || engine >= GRT_ENGINE_MAX)
		return -EINVAL;
	ring = grtrace_pool_get(&pool);
	if (!ring)
		return -ENOMEM;
	strscpy(ring->name, name, sizeof(ring->name));
	strscpy(ring->driver, driver, sizeof(ring->driver));
	ring->engine = engine;

	raw_spin_lock_irqsave(&rings_lock, flags);
	if (id == GRTRACE_RING_ANY)
		id = lowest_free();
	else if (rcu_access_pointer(rings[id]))
		id = -EEXIST;
	if (id >= 0)
		rcu_assign_pointer(rings[id], ring);
	raw_spin_unlock_irqrestore(&rings_lock, flags);

	if (id < 0)
		grtrace_pool_put(ring);
	else
		pr_debug("ring %d: %s of %s\n", id, name, driver);
	return id;
}
EXPORT_SYMBOL_GPL(grtrace_ring_register);

/**
 * grtrace_ring_unregister - forgets a ring
 * @id: as registered; one that is not is ignored
 *
 * Packets already written keep its name.
 */
void grtrace_ring_unregister(int id)
{
	struct grtrace_ring *ring;
	unsigned long flags;

	if (id < 0 || id >= GRTRACE_RINGS)
		return;
	raw_spin_lock_irqsave(&rings_lock, flags);
	ring = rcu_dereference_protected(rings[id], lockdep_is_held(&rings_lock));
	RCU_INIT_POINTER(rings[id], NULL);
	WRITE_ONCE(grtrace_rings_gone, grtrace_rings_gone + !!ring);
	raw_spin_unlock_irqrestore(&rings_lock, flags);
	if (ring) {
		pr_debug("ring %d: gone\n", id);
		grtrace_pool_put(ring);
	}
}
EXPORT_SYMBOL_GPL(grtrace_ring_unregister);

/** grtrace_rings_init - makes room for them. Return: 0 or -ENOMEM */
int grtrace_rings_init(void)
{
	return grtrace_pool_init(&pool);
}

void grtrace_rings_exit(void)
{
	int id;

	for (id = 0; id < GRTRACE_RINGS; id++)
		grtrace_ring_unregister(id);
	grtrace_pool_exit(&pool);
}
