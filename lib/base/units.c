// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Numbers in the form for people, see units.h; names of numbers, from the .def files. */
#include "units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

void grt_put_amount(FILE *out, int64_t thousandths)
{
	uint64_t size = thousandths < 0 ? -(uint64_t)thousandths : (uint64_t)thousandths;

	if (thousandths < 0)
		putc('-', out);
	if (size % 1000)
		grt_put_percent(out, size);
	else
		grt_put_u64(out, size / 1000);
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

/*
 * Prints ns / unit with @digits after the decimal point. Return: whether it has at most three digits in all.
 */
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

/**
 * struct scale - @unit may be shown as @shown, one of which is @from (in 1/1000 of @unit); smaller ones come
 * first
 */
static const struct scale {
	const char *unit;
	const char *shown;
	uint64_t from;
} scales[] = {
	{"uW", "W", 1000000000},
	{"mW", "W", 1000000},
	{"mV", "V", 1000000},
	{"mA", "A", 1000000},
	{"mC", "C", 1000000},
	{"m%", "%", 1000000},
	{"Hz", "Hz", 1000},
	{"Hz", "kHz", 1000000},
	{"Hz", "MHz", 1000000000},
	{"Hz", "GHz", 1000000000000},
	{"kHz", "MHz", 1000000},
	{"kHz", "GHz", 1000000000},
	{"MHz", "MHz", 1000},
	{"MHz", "GHz", 1000000},
	{"B", "B", 1000},
	{"B", "KiB", 1000ULL << 10},
	{"B", "MiB", 1000ULL << 20},
	{"B", "GiB", 1000ULL << 30},
	{"bytes", "B", 1000},
	{"bytes", "KiB", 1000ULL << 10},
	{"bytes", "MiB", 1000ULL << 20},
	{"bytes", "GiB", 1000ULL << 30},
	{"B/s", "B/s", 1000},
	{"B/s", "kB/s", 1000000},
	{"B/s", "MB/s", 1000000000},
	{"B/s", "GB/s", 1000000000000},
};

/* Return: whether the unit has scales */
static bool try_scales(char *text, uint64_t thousandths, const char *unit)
{
	const struct scale *s;
	unsigned int digits;
	bool known = false;

	for (s = scales; s < scales + sizeof(scales) / sizeof(scales[0]); s++) {
		if (strcmp(s->unit, unit) != 0)
			continue;
		known = true;
		/* "999 B" is exact already */
		digits = s->from == 1000 && thousandths % 1000 == 0 ? 1 : 3;
		while (digits-- > 0)
			if (try_unit(text, thousandths, s->from, digits, s->shown))
				return true;
	}
	return known;
}

void grt_units_amount(char *text, size_t room, int64_t thousandths, const char *unit)
{
	uint64_t size = thousandths < 0 ? -(uint64_t)thousandths : (uint64_t)thousandths;
	const char *minus = thousandths < 0 ? "-" : "";
	char number[GRT_UNITS_MAX];

	if (try_scales(number, size, unit))
		snprintf(text, room, "%s%s", strpbrk(number, "123456789") ? minus : "", number);
	else if (size % 1000)
		snprintf(text, room, "%s%" PRIu64 ".%" PRIu64 " %s", minus, (size + 50) / 1000,
			 (size + 50) / 100 % 10, unit);
	else
		snprintf(text, room, "%s%" PRIu64 " %s", minus, size / 1000, unit);
}

void grt_units_count(char text[GRT_UNITS_MAX], uint64_t n)
{
	char digits[24], *to = text;
	int left = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (const char *from = digits; left; left--) {
		*to++ = *from++;
		if (left > 1 && left % 3 == 1)
			*to++ = ',';
	}
	*to = '\0';
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
