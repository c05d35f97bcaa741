// SPDX-License-Identifier: GPL-2.0
/*
 * Event types as they are typed: names of events.def, with commas between.
 */
#include <grtrace/event_table.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cmd.h"

static int unknown_type(const char *word, size_t len)
{
	char all[2048] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		if (grt_event_table[i].name && used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? ", " : "",
						 grt_event_table[i].name);
	return cmd_usage_error("--type: '%.*s' is not an event type; there are: %s", (int)len, word, all);
}

/* Return: the type, 0: there is none with this name */
static unsigned int type_named(const char *word, size_t len)
{
	for (unsigned int i = 0; i < GRT_EV_MAX; i++) {
		const char *name = grt_event_table[i].name;

		if (name && strlen(name) == len && !strncasecmp(name, word, len))
			return i;
	}
	return 0;
}

int cmd_event_types(const char *word, struct grt_type_set *types)
{
	unsigned int type;
	size_t len;

	for (;; word += len + 1) {
		len = strcspn(word, ",");
		type = type_named(word, len);
		if (!type)
			return unknown_type(word, len);
		grt_types_add(types, type);
		if (!word[len])
			return EXIT_DONE;
	}
}
