/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of each process on NVIDIA's GPUs, as NVML reports it. */
#ifndef GRTRACE_POWER_USERS_H
#define GRTRACE_POWER_USERS_H

#include <stdint.h>

#include <grtrace/grtrace.h>

struct power_users;

/** power_users_open - loads NVML. Return: 0, or -errno with *err and *out NULL */
int power_users_open(struct power_users **out, struct grt_err *err);

/**
 * power_users_each - reads the users of GPUs from NVML now
 * @fn: gets each process of each GPU once: @bus is the GPU's address as in events, @pid a number of the first
 *	pid namespace. A result other than 0 ends the call
 * Return: 0, or the result of @fn
 */
int power_users_each(struct power_users *u, int (*fn)(void *arg, uint32_t bus, uint32_t pid, uint64_t bytes),
		     void *arg);

/** power_users_close - frees it; NULL is allowed */
void power_users_close(struct power_users *u);

#endif /* GRTRACE_POWER_USERS_H */
