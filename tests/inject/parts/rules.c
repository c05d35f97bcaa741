// SPDX-License-Identifier: GPL-2.0
/*
 * rules: threads that see a changed list of objects at once, while each may be
 * preempted before anything that it tells the others. Prints TAP.
 */
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int object_fn(struct dl_phdr_info *info, size_t size, void *data);

static int fake_iterate(object_fn *function, void *data);
static void dawdle(void);

#define dl_iterate_phdr fake_iterate
#undef atomic_store
#define atomic_store(at, value) (dawdle(), atomic_store_explicit(at, value, memory_order_seq_cst))
#include "../../../inject/rules.c"

#define CHANGES 200U
#define THREADS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t adds = 10;
static _Atomic uint32_t loaded = 10;

/* The generation until the last change, and the number of that one. */
static _Atomic uint64_t before[CHANGES + 1];
static _Atomic uint32_t changes;
static _Atomic unsigned int stale, walks;

static int fake_iterate(object_fn *function, void *data)
{
	struct dl_phdr_info info = {.dlpi_name = ""};
	int ret;

	pthread_mutex_lock(&lock);
	info.dlpi_adds = adds;
	info.dlpi_subs = adds - loaded;
	ret = function(&info, sizeof(info), data);
	pthread_mutex_unlock(&lock);
	return ret;
}

static void dawdle(void)
{
	static __thread unsigned int state;

	state = state * 1664525 + 1013904223;
	if (state >> 30 == 3)
		usleep(state >> 16 & 63);
	else
		sched_yield();
}

static void *walk(void *arg)
{
	uint32_t change;

	do {
		change = changes;
		grt_rules_check();
		stale += change && grt_rules.generation == before[change];
		walks++;
		sched_yield();
	} while (change < CHANGES);
	return arg;
}

int main(void)
{
	pthread_t thread[THREADS];
	unsigned int i;

	grt_rules.adds = &adds;
	grt_rules.loaded = &loaded;
	grt_rules_changed();
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, walk, NULL);
	for (i = 1; i <= CHANGES; i++) {
		grt_rules_check();
		pthread_mutex_lock(&lock);
		before[i] = grt_rules.generation;
		adds++;
		changes = i;
		pthread_mutex_unlock(&lock);
		usleep(200);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("# %u of %u walks by rules of before\n", stale, walks);
	printf("%s - a change of the list of objects holds for all threads that see it\n",
	       stale ? "not ok" : "ok");
	return stale != 0;
}
