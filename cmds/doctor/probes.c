// SPDX-License-Identifier: GPL-2.0
/* The rows of probes.def, and the functions with which a probe sets its result. */
#include <stdarg.h>
#include <string.h>

#include "probes.h"
#include "base/say.h"

#define GRT_PROBE_GROUP(title) {.group = (title)},
#define GRT_PROBE(rname, needed, text) \
	{.name = #rname, .sources = (needed), .help = (text), .run = probe_##rname},
const struct probe_row probe_rows[] = {
#include "probes.def"
	{.name = NULL},
};
#undef GRT_PROBE

const char *const probe_state_names[PROBE_STATES] = {
	[PROBE_WORKS] = "works",
	[PROBE_FAILS] = "fails",
	[PROBE_UNKNOWN] = "unknown",
	[PROBE_ABSENT] = "absent",
};

const char *const probe_state_words[PROBE_STATES] = {
	[PROBE_WORKS] = "works",
	[PROBE_FAILS] = "NO",
	[PROBE_UNKNOWN] = "unknown",
	[PROBE_ABSENT] = "-",
};

bool probe_needed(const struct probe_row *row, const char *source)
{
	size_t length = strlen(source);
	const char *p = row->sources;

	for (; p && *p; p += strcspn(p, " "), p += *p == ' ')
		if (strcspn(p, " ") == length && !strncmp(p, source, length))
			return true;
	return false;
}

/* ------------------------------------------------------------- results */

static void probe_append(struct probe_result *r, const char *fmt, va_list ap)
{
	static const char cut[] = "...";
	size_t used = strlen(r->detail);
	int n = grt_say_text_va(r->detail + used, sizeof(r->detail) - used, fmt, ap);

	if (n >= 0 && (size_t)n >= sizeof(r->detail) - used)
		memcpy(r->detail + sizeof(r->detail) - sizeof(cut), cut, sizeof(cut));
}

void probe_set(struct probe_result *r, enum probe_state state, const char *fix, const char *fmt, ...)
{
	va_list ap;

	r->state = state;
	r->detail[0] = '\0';
	snprintf(r->fix, sizeof(r->fix), "%s", fix ? fix : "");
	va_start(ap, fmt);
	probe_append(r, fmt, ap);
	va_end(ap);
}

void probe_add(struct probe_result *r, const char *fmt, ...)
{
	size_t used = strlen(r->detail);
	va_list ap;

	if (used && used + 3 < sizeof(r->detail))
		strcpy(r->detail + used, ", ");
	va_start(ap, fmt);
	probe_append(r, fmt, ap);
	va_end(ap);
}
