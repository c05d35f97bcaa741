// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Words and sums of stack_ends.h. */
#include "stack_ends.h"

#include <string.h>

static const struct {
	const char *name;
	const char *help;
} rows[GRT_STACK_ENDS] = {
	[GRT_STACK_END_UNKNOWN] = {"unknown", "the recording does not say why the stack ends"},
#define GRT_STACK_END(number, NAME, name, help) [number] = {#name, help},
#include <grtrace/stack_ends.def>
#undef GRT_STACK_END
};

static const struct {
	const char *text;
	enum grt_stack_end end;
} roots[] = {
#define GRT_STACK_ROOT(NAME, text, END, meaning) {text, GRT_STACK_END_##END},
#define GRT_STACK_ROOT_BPF(text, END, meaning) {text, GRT_STACK_END_##END},
#include <grtrace/stack_roots.def>
#undef GRT_STACK_ROOT
};

const char *grt_stack_end_name(unsigned int end)
{
	return rows[end < GRT_STACK_ENDS ? end : 0].name;
}

const char *grt_stack_end_help(unsigned int end)
{
	return rows[end < GRT_STACK_ENDS ? end : 0].help;
}

enum grt_stack_end grt_stack_end_of_root(const char *text)
{
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (roots[i].text && text ? !strcmp(roots[i].text, text) : roots[i].text == text)
			return roots[i].end;
	return GRT_STACK_END_UNKNOWN;
}

uint64_t grt_stack_ends_ns(const struct grt_stack_ends *e)
{
	uint64_t ns = e->none.ns;

	for (unsigned int i = 0; i < GRT_STACK_ENDS; i++)
		ns += e->end[i].ns;
	return ns;
}
