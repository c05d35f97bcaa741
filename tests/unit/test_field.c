// SPDX-License-Identifier: GPL-2.0
/*
 * Values that stand for none: the table has those of which the help texts of
 * events.def say so, and no others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "trace/field.h"

/* "N: unknown", "N where unknown" */
static bool says_unknown(const char *help, uint64_t *value)
{
	static const char *const words[] = {": unknown",
					    ": not known",
					    " where unknown",
					    ": not in the log",
					    ": not changed",
					    ": none yet"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(help, words[i]), *p = at;

		while (p && p > help && !strchr(" ,;", p[-1]))
			p--;
		if (p && p < at) {
			*value = strtoull(p, NULL, 0);
			return true;
		}
	}
	return false;
}

/* Addresses, hashes and durations of which 0 is a plain sign that the log has none. */
static bool is_of_log(const struct grt_event_desc *d, const struct grt_field *f)
{
	return !strcmp(d->name, "log_dispatch") && f->kind == GRT_FIELD_HEX;
}

static void table_is_the_help(void **state)
{
	unsigned int found = 0;

	(void)state;
	for (unsigned int type = 0; type < GRT_EV_MAX; type++) {
		const struct grt_event_desc *d = &grt_event_table[type];

		for (const struct grt_field *f = d->name ? d->fields() : NULL; f && f->name; f++) {
			const struct grt_unknown *u = grt_unknown_of(type, f->offset);
			uint64_t value;

			if (says_unknown(f->help, &value) && !is_of_log(d, f)) {
				found++;
				if (!u || u->size != f->size || u->value != value)
					fail_msg("%s.%s: \"%s\" is not in unknown.def", d->name, f->name,
						 f->help);
			}
		}
	}
	assert_in_range(found, 30, 1000);
}

static void calls_of_text(void **state)
{
	struct grt_ev_open told = {.e.type = GRT_EV_OPEN, .fd = 3, .oflags = UINT32_MAX}, untold = told;
	struct grt_ev_func func = {.e.type = GRT_EV_FUNC, .known = 1};
	const struct grt_unknown *flags = grt_unknown_of(GRT_EV_OPEN, offsetof(struct grt_ev_open, oflags));

	(void)state;
	untold.fd = GRT_FD_UNKNOWN;
	assert_false(grt_is_unknown(flags, &told.e, told.oflags));
	assert_true(grt_is_unknown(flags, &untold.e, untold.oflags));
	assert_true(grt_is_unknown(grt_unknown_of(GRT_EV_OPEN, offsetof(struct grt_ev_open, fd)), &untold.e,
				   (uint64_t)(int64_t)untold.fd));
	assert_false(
		grt_is_unknown(grt_unknown_of(GRT_EV_FUNC, offsetof(struct grt_ev_func, took)), &func.e, 0));
	assert_true(
		grt_is_unknown(grt_unknown_of(GRT_EV_FUNC, offsetof(struct grt_ev_func, ret)), &func.e, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_the_help),
		cmocka_unit_test(calls_of_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
