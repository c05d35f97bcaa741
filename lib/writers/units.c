// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Numbers as people read them, see units.h; names of numbers, from the .def files. */
#include "units.h"

#include <inttypes.h>
#include <stdio.h>

#include <grtrace/event.h>

static const char *const engine_names[GRT_ENGINE_MAX] = {
#define GRT_ENGINE(number, NAME, name, help) [number] = #name,
#include <grtrace/engines.def>
#undef GRT_ENGINE
};

static const char *const event_titles[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = #NAME,
#include <grtrace/events.def>
#undef GRT_EVENT
};

void grt_put_u64(FILE *out, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	fwrite(digits + at, 1, sizeof(digits) - at, out);
}

void grt_put_s64(FILE *out, int64_t number)
{
	if (number < 0)
		putc('-', out);
	grt_put_u64(out, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void grt_put_percent(FILE *out, uint64_t thousandths)
{
	grt_put_u64(out, thousandths / 1000);
	putc('.', out);
	putc((int)('0' + thousandths / 100 % 10), out);
	putc((int)('0' + thousandths / 10 % 10), out);
	putc((int)('0' + thousandths % 10), out);
}

const char *grt_engine_name(uint64_t engine)
{
	return engine < GRT_ENGINE_MAX && engine_names[engine] ? engine_names[engine] : "unknown";
}

const char *grt_event_title(uint64_t type)
{
	return type < GRT_EV_MAX && event_titles[type] ? event_titles[type] : "unknown";
}

/* Prints ns / unit with @digits behind the point. Return: whether it has at most three digits in all. */
static int try_unit(char *text, uint64_t ns, uint64_t unit, unsigned int digits, const char *name)
{
	static const uint64_t power[] = {1, 10, 100};
	uint64_t scaled = (uint64_t)(((unsigned __int128)ns * power[digits] + unit / 2) / unit);

	if (digits)
		snprintf(text, GRT_UNITS_MAX, "%" PRIu64 ".%0*" PRIu64 " %s", scaled / power[digits],
			 (int)digits, scaled % power[digits], name);
	else
		snprintf(text, GRT_UNITS_MAX, "%" PRIu64 " %s", scaled, name);
	return scaled < 1000;
}

void grt_units_ns(char text[GRT_UNITS_MAX], uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} unit[] = {{1000, "us"}, {1000000, "ms"}, {1000000000, "s"}};

	if (try_unit(text, ns, 1, 0, "ns"))
		return;
	for (unsigned int i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		for (unsigned int digits = 3; digits-- > 0;)
			if (try_unit(text, ns, unit[i].ns, digits, unit[i].name))
				return;
}

void grt_units_time(char text[GRT_UNITS_MAX], uint64_t ns)
{
	snprintf(text, GRT_UNITS_MAX, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

void grt_units_percent(char text[GRT_UNITS_MAX], uint64_t thousandths)
{
	uint64_t tenths = thousandths / 100 + (thousandths % 100 >= 50);

	snprintf(text, GRT_UNITS_MAX, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}
