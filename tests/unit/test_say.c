// SPDX-License-Identifier: GPL-2.0
/* Sentences with counts: the form of the noun fits the number, whatever stands before and between. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/say.h"

#define SAYS(want, ...)                                        \
	do {                                                   \
		char text[256];                                \
		grt_say_text(text, sizeof(text), __VA_ARGS__); \
		assert_string_equal(text, want);               \
	} while (0)

static void has_forms(void **state)
{
	SAYS("0 jobs are late", "%u {job is|jobs are} late", 0U);
	SAYS("1 job is late", "%u {job is|jobs are} late", 1U);
	SAYS("2 jobs are late", "%u {job is|jobs are} late", 2U);
	SAYS("1 job has no end: its time is unknown",
	     "%" PRIu64 " {job has|jobs have} no end: {its|their} time is unknown", UINT64_C(1));
	SAYS("4294967297 jobs", "%" PRIu64 " {job|jobs}", UINT64_C(0x100000001));
	SAYS("1 job", "%lu {job|jobs}", 1UL);
	SAYS("1 job", "%zu {job|jobs}", (size_t)1);
	SAYS("-1 ns, 1 job", "%+" PRId64 " ns, %d {job|jobs}", INT64_C(-1), 1);
}

/* The number is the last integer before, not a time, a text or a width. */
static void takes_the_last_integer(void **state)
{
	SAYS("1 launch, 3 kernels, 1 copy", "%u {launch|launches}, %llu {kernel|kernels}, %hhu {copy|copies}",
	     1U, 3ULL, 1);
	SAYS("2 of 1 row", "%u of %u {row|rows}", 2U, 1U);
	SAYS("1 copy, ~2.5 MB, was slow", "%" PRIu64 " {copy|copies}, %s%.3g MB, {was|were} slow",
	     UINT64_C(1), "~", 2.5);
	SAYS("5 %: ab c     1 row", "%d %%: %.*s %c %*u {row|rows}", 5, 2, "abc", 'c', 5, 1U);
}

/* Names of a trace may have braces and bars; only the format has forms. */
static void leaves_texts_alone(void **state)
{
	SAYS("{a|b} 1 job {a|b}", "%s %u {job|jobs} %s", "{a|b}", 1U, "{a|b}");
	SAYS("{a|b} 1", "{a|b} %u", 1U);
	SAYS("1 {a} {", "%u {a} {", 1U);
	SAYS("100 %", "%u %%", 100U);
	SAYS("1 %", "%u %%", 1U);
}

static void counts(void **state)
{
	char text[64], small[8];

	assert_string_equal(grt_say_count(text, sizeof(text), 1, "{row is|rows are} late"), "1 row is late");
	assert_string_equal(grt_say_count(text, sizeof(text), 7, "{row is|rows are} late"),
			    "7 rows are late");
	assert_string_equal(grt_say_count(small, sizeof(small), 7, "{row is|rows are} late"), "7 rows ");
}

/* What does not fit is cut, as by snprintf(). */
static void has_a_limit(void **state)
{
	char text[8], format[GRT_SAY_FORMAT + 64];

	assert_int_equal(grt_say_text(text, sizeof(text), "%u {job is|jobs are} late", 1U), 13);
	assert_string_equal(text, "1 job i");
	memset(format, 'x', sizeof(format) - 1);
	format[sizeof(format) - 1] = '\0';
	assert_int_equal(grt_say_text(text, sizeof(text), format, 0), GRT_SAY_FORMAT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_forms),	      cmocka_unit_test(takes_the_last_integer),
		cmocka_unit_test(leaves_texts_alone), cmocka_unit_test(counts),
		cmocka_unit_test(has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
