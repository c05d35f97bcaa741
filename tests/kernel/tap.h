/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TAP version 13: a plan, a line per case, diagnostics behind '#'. A case is a
 * function; the first CHECK in it that does not hold ends it as "not ok".
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct tap_case - one case
 * @title: what holds when it passes
 * @run: the case
 */
struct tap_case {
	const char *title;
	void (*run)(void);
};

/**
 * tap_run - runs cases, prints the plan and a line for each
 * @before: called before each of them; may be NULL
 * @only: run only the cases whose title contains this; NULL: all
 * Return: the exit status: 0, or 1 when one has failed
 */
int tap_run(const struct tap_case *cases, unsigned int count, void (*before)(void), const char *only);

/** tap_skip_all - prints a plan without cases and the reason. Return: the exit status */
int tap_skip_all(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** tap_skip - the running case cannot run here; return after it */
void tap_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** tap_fail - the running case has failed, with the reason */
void tap_fail(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** tap_note - a line for the reader of the results */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define TAP_FAIL(...) tap_fail(__FILE__, __LINE__, __VA_ARGS__)

/* Ends the calling case (a void function) unless @cond holds. */
#define CHECK(cond)                                    \
	do {                                           \
		if (!(cond)) {                         \
			TAP_FAIL("not so: %s", #cond); \
			return;                        \
		}                                      \
	} while (0)

/* The same for two integers, which are printed when they differ. */
#define CHECK_EQ(is, want)                                                             \
	do {                                                                           \
		long long is_ = (long long)(is), want_ = (long long)(want);            \
		if (is_ != want_) {                                                    \
			TAP_FAIL("%s is %lld, not %lld (%s)", #is, is_, want_, #want); \
			return;                                                        \
		}                                                                      \
	} while (0)

/* For functions that have said themselves why they returned false. */
#define CHECK_OK(call)          \
	do {                    \
		if (!(call))    \
			return; \
	} while (0)

#endif /* TAP_H */
