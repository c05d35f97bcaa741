// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "relay.h"
#include "thread.h"

static void *relay_run(void *arg)
{
	struct grt_relay *r = arg;

	pthread_mutex_lock(&r->lock);
	while (r->full || !r->ends) {
		if (!r->full) {
			pthread_cond_wait(&r->turned, &r->lock);
			continue;
		}
		pthread_mutex_unlock(&r->lock);
		r->work(r->arg);
		pthread_mutex_lock(&r->lock);
		r->full = false;
		pthread_cond_signal(&r->turned);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static bool relay_start(struct grt_relay *r)
{
	r->runs = grt_thread_start(&r->thread, relay_run, r);
	return r->runs;
}

void grt_relay_init(struct grt_relay *r, void (*work)(void *arg), void *arg)
{
	*r = (struct grt_relay){.work = work, .arg = arg};
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->turned, NULL);
}

void grt_relay_wait(struct grt_relay *r)
{
	pthread_mutex_lock(&r->lock);
	while (r->full)
		pthread_cond_wait(&r->turned, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

void grt_relay_go(struct grt_relay *r)
{
	if (!r->runs && !relay_start(r)) {
		r->work(r->arg);
		return;
	}
	pthread_mutex_lock(&r->lock);
	r->full = true;
	pthread_cond_signal(&r->turned);
	pthread_mutex_unlock(&r->lock);
}

void grt_relay_fini(struct grt_relay *r)
{
	pthread_mutex_lock(&r->lock);
	r->ends = true;
	pthread_cond_signal(&r->turned);
	pthread_mutex_unlock(&r->lock);
	if (r->runs)
		pthread_join(r->thread, NULL);
	pthread_cond_destroy(&r->turned);
	pthread_mutex_destroy(&r->lock);
}
