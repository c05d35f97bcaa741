/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Threads that work for a command: signals go to the command's own thread.
 */
#ifndef GRT_BASE_THREAD_H
#define GRT_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/** grt_thread_start - starts a thread that gets no signals. Return: whether it runs */
static inline bool grt_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !ret;
}

#endif /* GRT_BASE_THREAD_H */
