// SPDX-License-Identifier: GPL-2.0
/*
 * A function ends where the next one begins: /proc/kallsyms has no sizes, and the
 * functions of a module are in no order.
 */
#include "bpf_wakers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"

/* Code after the last function of a module may be far away. */
#define CODE_MAX 16384U

static const struct {
	const char *function;
	uint32_t cause;
} rows[] = {
#define GRT_WAKE_INTERRUPT BPF_IN_INTERRUPT
#define WAKER_FUNCTION(name, CAUSE) {#name, GRT_WAKE_##CAUSE},
#include "bpf_wakers.def"
#undef WAKER_FUNCTION
#undef GRT_WAKE_INTERRUPT
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

_Static_assert(ROWS < BPF_WAKERS, "the programs have a row without a size at the end");

/** struct code_map - the addresses at which the kernel's functions begin */
struct code_map {
	uint64_t *start;
	uint32_t used, room;
};

/* ADDRESS TYPE NAME [MODULE]; several functions may have the same name */
static void grt_bpf_wakers_take(struct grt_bpf_code *code, unsigned int *n, uint64_t start, const char *name)
{
	for (unsigned int i = 0; i < ROWS && *n < BPF_WAKERS - 1; i++)
		if (!strcmp(rows[i].function, name))
			code[(*n)++] = (struct grt_bpf_code){start, CODE_MAX, rows[i].cause};
}

static unsigned int grt_bpf_wakers_read(struct grt_bpf_code *code, struct code_map *map)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], *at, *name;
	unsigned int n = 0;
	uint64_t start;

	while (f && fgets(line, sizeof(line), f)) {
		start = strtoull(line, &at, 16);
		if (!start || at[0] != ' ' || !at[1] || !strchr("tTwW", at[1]) || at[2] != ' ')
			continue;
		name = at + 3;
		name[strcspn(name, " \t\n")] = '\0';
		grt_bpf_wakers_take(code, &n, start, name);
		if (grt_grow(&map->start, &map->room, map->used + 1, 65536))
			break;
		map->start[map->used++] = start;
	}
	if (f)
		fclose(f);
	return n;
}

void grt_bpf_wakers_find(struct grt_bpf_code code[BPF_WAKERS])
{
	struct code_map map = {.used = 0};
	unsigned int n = grt_bpf_wakers_read(code, &map);

	for (uint32_t i = 0; i < map.used; i++)
		for (unsigned int k = 0; k < n; k++)
			if (map.start[i] - code[k].start - 1 < code[k].size - 1)
				code[k].size = (uint32_t)(map.start[i] - code[k].start);
	free(map.start);
}
