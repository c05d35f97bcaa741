// SPDX-License-Identifier: GPL-2.0
/*
 * TAP output, see tap.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

static bool failed;
static char skipped[256];

static void put_line(const char *prefix, const char *fmt, va_list ap)
{
	printf("%s", prefix);
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
}

void tap_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line("# ", fmt, ap);
	va_end(ap);
}

void tap_fail(const char *file, int line, const char *fmt, ...)
{
	char where[128];
	va_list ap;

	failed = true;
	snprintf(where, sizeof(where), "# %s:%d: ", file, line);
	va_start(ap, fmt);
	put_line(where, fmt, ap);
	va_end(ap);
}

void tap_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skipped, sizeof(skipped), fmt, ap);
	va_end(ap);
}

int tap_skip_all(const char *fmt, ...)
{
	va_list ap;

	printf("TAP version 13\n");
	va_start(ap, fmt);
	put_line("1..0 # SKIP ", fmt, ap);
	va_end(ap);
	return 0;
}

static void put_result(unsigned int number, const char *title)
{
	printf("%sok %u - %s", failed ? "not " : "", number, title);
	if (!failed && skipped[0])
		printf(" # SKIP %s", skipped);
	printf("\n");
	fflush(stdout);
}

static bool wanted(const struct tap_case *c, const char *only)
{
	return !only || strstr(c->title, only);
}

int tap_run(const struct tap_case *cases, unsigned int count, void (*before)(void), const char *only)
{
	unsigned int i, number = 0, planned = 0;
	bool any_failed = false;

	for (i = 0; i < count; i++)
		planned += wanted(&cases[i], only);
	printf("TAP version 13\n1..%u\n", planned);
	fflush(stdout);
	for (i = 0; i < count; i++) {
		if (!wanted(&cases[i], only))
			continue;
		failed = false;
		skipped[0] = 0;
		if (before)
			before();
		if (!failed)
			cases[i].run();
		put_result(++number, cases[i].title);
		any_failed |= failed;
	}
	return any_failed;
}
