// SPDX-License-Identifier: GPL-2.0
/* The option's text, and its windows, see duty.h. */
#include "duty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"

#define PERCENT_MIN 0.01
#define PERCENT_MAX 50

/* Length of a window. */
#define WINDOW_MS_MIN 5
#define WINDOW_MS_MAX 60000

static const char bad_duty[] =
	"--duty: PERCENT[,WINDOW], 0.01 to 50 % of the time, in windows of 5ms to 60s: --duty 1%, --duty 0.5%,50ms";

const char *duty_read(const char *text, unsigned int window_ms, struct grt_duty *d)
{
	char *end;
	double percent = strtod(text, &end), window = window_ms, unit = 1000;

	if (end == text || !(percent >= PERCENT_MIN && percent <= PERCENT_MAX))
		return bad_duty;
	end += *end == '%';
	if (*end == ',') {
		text = end + 1;
		window = strtod(text, &end);
		if (!strcmp(end, "ms"))
			unit = 1;
		window *= unit;
		end += end == text ? 0 : strspn(end, unit > 1 ? "s" : "ms");
	}
	if (*end || end == text || !(window >= WINDOW_MS_MIN && window <= WINDOW_MS_MAX))
		return bad_duty;
	*d = (struct grt_duty){.parts = (uint64_t)(100 / percent + 0.5), .window = (uint64_t)(window * 1e6)};
	return NULL;
}

int duty_begin(struct grt_duty *d)
{
	d->epoch = grt_now();
	return getrandom(&d->seed, sizeof(d->seed), 0) == sizeof(d->seed) ? 0 : -errno;
}
