/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cases of grtrace_smoke and what several of them use.
 */
#ifndef SMOKE_H
#define SMOKE_H

#include "kmod.h"

#define SMOKE(name, title) void smoke_##name(void);
#include "smoke.def"
#undef SMOKE

/**
 * smoke_capture - stops tracing and reads all there is from trace_pipe
 * @c: empty; the caller frees it
 * Return: false after failing the case: also when a rule of the stream is broken
 */
bool smoke_capture(struct capture *c);

/**
 * smoke_balance - whether the balance is as expected and closes
 * @delivered: events delivered, without NAME records
 * @fate, @n: how many events met this fate; every other fate has 0
 * Return: false after failing the case
 */
bool smoke_balance(uint64_t delivered, enum grt_fate fate, uint64_t n);

#endif /* SMOKE_H */
