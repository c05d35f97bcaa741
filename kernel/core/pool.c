// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for handlers of tracepoints and for what happens under a raw spinlock,
 * where the kernel's allocators may not be called: with PREEMPT_RT their locks
 * sleep. So all objects are there from the beginning.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "grtrace.h"

/**
 * struct pool_object - comes before each object
 * @rcu: while readers may still use the object
 * @pool: the object's pool
 * @next: the next free object
 */
struct pool_object {
	struct rcu_head rcu;
	struct grtrace_pool *pool;
	struct pool_object *next;
	u64 data[];
};

static size_t pool_bytes_each(const struct grtrace_pool *p)
{
	return ALIGN(sizeof(struct pool_object) + p->size, sizeof(u64));
}

static void pool_push(struct grtrace_pool *p, struct pool_object *o)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&p->lock, flags);
	o->next = p->free;
	p->free = o;
	raw_spin_unlock_irqrestore(&p->lock, flags);
}

/**
 * grtrace_pool_init - allocates the objects of a pool; may sleep
 * @p: with @count and @size
 * Return: 0 or -ENOMEM
 */
int grtrace_pool_init(struct grtrace_pool *p)
{
	struct pool_object *o;
	unsigned int i;

	raw_spin_lock_init(&p->lock);
	p->free = NULL;
	p->memory = kvcalloc(p->count, pool_bytes_each(p), GFP_KERNEL);
	if (!p->memory)
		return -ENOMEM;
	for (i = 0; i < p->count; i++) {
		o = p->memory + i * pool_bytes_each(p);
		o->pool = p;
		pool_push(p, o);
	}
	return 0;
}

/**
 * grtrace_pool_exit - frees the pool, when only readers under RCU may still use an object; may
 * sleep
 */
void grtrace_pool_exit(struct grtrace_pool *p)
{
	rcu_barrier(); /* objects that are being returned */
	kvfree(p->memory);
	p->memory = NULL;
	p->free = NULL;
}

/**
 * grtrace_pool_get - takes an object, all bytes zero; NULL: there is none left, which is counted.
 * Any context but NMI
 */
void *grtrace_pool_get(struct grtrace_pool *p)
{
	struct pool_object *o;
	unsigned long flags;

	raw_spin_lock_irqsave(&p->lock, flags);
	o = p->free;
	if (o)
		p->free = o->next;
	raw_spin_unlock_irqrestore(&p->lock, flags);
	if (!o) {
		atomic64_inc(&p->empty);
		return NULL;
	}
	return memset(o->data, 0, p->size);
}
EXPORT_SYMBOL_GPL(grtrace_pool_get);

static void pool_give_back(struct rcu_head *rcu)
{
	struct pool_object *o = container_of(rcu, struct pool_object, rcu);

	pool_push(o->pool, o);
}

/** grtrace_pool_put - gives an object back, once its readers under RCU are done. Any context but NMI */
void grtrace_pool_put(void *object)
{
	call_rcu(&container_of(object, struct pool_object, data[0])->rcu, pool_give_back);
}
EXPORT_SYMBOL_GPL(grtrace_pool_put);
