// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Processes as frames, see process_names.h. */
#include "process_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"

int grt_process_names_init(struct grt_process_names *p, bool alone)
{
	*p = (struct grt_process_names){.alone = alone};
	return grt_stacks_new(&p->text);
}

int grt_process_names_see(struct grt_process_names *p, const char *name, size_t len, uint32_t pid)
{
	uint32_t number;
	int ret = grt_stacks_name(p->text, name, len, &number);

	if (!ret)
		ret = grt_grow_zeroed(&p->name, &p->room, number + 1, 16);
	if (ret)
		return ret;
	if (number >= p->names) {
		p->names = number + 1;
		p->name[number].pid = pid;
	}
	p->name[number].several |= p->name[number].pid != pid;
	return 0;
}

int grt_process_names_text(const struct grt_process_names *p, const char *name, size_t len, uint32_t pid,
			   char room[320], const char **text)
{
	uint32_t number;
	int ret = grt_stacks_name(p->text, name, len, &number);

	*text = name;
	if (ret || p->alone || number >= p->names || !p->name[number].several)
		return ret ?: (int)len;
	*text = room;
	return snprintf(room, 320, "%.*s (%u)", len < 300 ? (int)len : 300, name, pid);
}

void grt_process_names_free(struct grt_process_names *p)
{
	grt_stacks_free(p->text);
	free(p->name);
	*p = (struct grt_process_names){.text = NULL};
}
