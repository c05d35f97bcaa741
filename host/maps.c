// SPDX-License-Identifier: GPL-2.0
/* The lines of maps.h, see proc(5). One that is none is passed over. */
#include "maps.h"

#include <stdlib.h>
#include <string.h>

FILE *maps_open(pid_t pid)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	return fopen(name, "re");
}

static bool maps_take_line(struct maps_row *row, const char *line)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char perms[8];
	int path = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, perms, &offset, &major, &minor,
		   &inode, &path) < 7)
		return false;
	*row = (struct maps_row){start, end,   offset,		major,
				 minor, inode, perms[2] == 'x', path ? line + path : ""};
	return true;
}

bool maps_next(struct maps *m, struct maps_row *row)
{
	bool found = false;

	while (m->from && !found && getline(&m->line, &m->room, m->from) > 0) {
		m->line[strcspn(m->line, "\n")] = '\0';
		found = maps_take_line(row, m->line);
	}
	return found;
}

void maps_close(struct maps *m)
{
	free(m->line);
	if (m->from)
		fclose(m->from);
	*m = (struct maps){.from = NULL};
}
