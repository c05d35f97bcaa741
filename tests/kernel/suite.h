/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the self-tests that work with grtrace.ko have in common: their main
 * function, and looks at everything at once.
 */
#ifndef SUITE_H
#define SUITE_H

#include "kmod.h"
#include "tap.h"

/**
 * suite_main - runs cases one after another, each with the module stopped, empty and at its defaults
 * @name: of the program
 * @stage: a key of the stage that must be loaded, NULL: none
 * @argv: with at most one argument, a part of a case's title
 * Return: the exit status
 */
int suite_main(const char *name, const char *stage, const struct tap_case *cases, unsigned int count,
	       int argc, char **argv);

/**
 * capture_all - stops tracing and reads all there is from trace_pipe
 * @c: empty; the caller frees it
 * Return: false after failing the case: also when a rule of the stream is broken
 */
bool capture_all(struct capture *c);

/**
 * balance_is - whether the balance is as expected and closes
 * @delivered: events delivered, without NAME records
 * @fate, @n: how many events met this fate; every other fate has 0
 * Return: false after failing the case
 */
bool balance_is(uint64_t delivered, enum grt_fate fate, uint64_t n);

/**
 * counts_are - whether the balance in stats, in the packets and the records of a capture agree
 * @c: a capture of all, valid
 * @want: fates as expected, DELIVERED without NAME records; @want->emitted is ignored
 * Return: false after failing the case
 */
bool counts_are(const struct capture *c, const struct grt_balance *want);

/** capture_next - the record after @e in all packets, the first for NULL; NAME records left out; NULL at the
 * end */
const struct grt_event *capture_next(const struct capture *c, const struct grt_packet **p,
				     const struct grt_event *e);

/** set - a line of `config`. Return: false after failing the case */
bool set(const char *setting);

/**
 * short_job - a whole job of ring 3 in far less than a second, beside one that takes longer
 * Return: false after failing the case, or skipping it where the machine is too slow
 */
bool short_job(unsigned int ctx);

/** sleep_ms - for at least this long */
void sleep_ms(unsigned int ms);

#endif /* SUITE_H */
