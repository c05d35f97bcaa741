// SPDX-License-Identifier: GPL-2.0
/* Describes the machine of a recording, see machine.h. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cmds/cmd.h"
#include "host/known_gpus.h"

static void machine_clocks(char *text, size_t room)
{
	snprintf(text, room, "monotonic=%llu realtime=%llu boottime=%llu monotonic_raw=%llu",
		 (unsigned long long)grt_clock_ns(CLOCK_MONOTONIC),
		 (unsigned long long)grt_clock_ns(CLOCK_REALTIME),
		 (unsigned long long)grt_clock_ns(CLOCK_BOOTTIME),
		 (unsigned long long)grt_clock_ns(CLOCK_MONOTONIC_RAW));
}

static void machine_read_boot(char *text, size_t room)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	*text = '\0';
	if (f && fgets(text, (int)room, f))
		text[strcspn(text, "\n")] = '\0';
	if (f)
		fclose(f);
}

void machine_begin(struct machine *m)
{
	machine_read_boot(m->boot_id, sizeof(m->boot_id));
	m->realtime_offset = (int64_t)(grt_clock_ns(CLOCK_REALTIME) - grt_clock_ns(CLOCK_MONOTONIC));
	machine_clocks(m->clock_start, sizeof(m->clock_start));
}

void machine_end(struct machine *m)
{
	machine_clocks(m->clock_end, sizeof(m->clock_end));
}

char *machine_command(void)
{
	char text[4096];
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0, i;

	if (f)
		fclose(f);
	for (i = 0; i + 1 < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = '\0';
	return strdup(text);
}

int machine_describe(struct machine *m, const char *state, const char *command, struct grt_env *env)
{
	int n = 0;

	uname(&m->uname);
	/* GPUs that appear are added; those that disappear stay */
	known_gpus_env(m->gpus, sizeof(m->gpus));
	env[n++] = (struct grt_env){"state", state};
	env[n++] = (struct grt_env){"hostname", m->uname.nodename};
	if (m->boot_id[0])
		env[n++] = (struct grt_env){"boot_id", m->boot_id};
	env[n++] = (struct grt_env){"kernel", m->uname.release};
	env[n++] = (struct grt_env){"kernel_version", m->uname.version};
	env[n++] = (struct grt_env){"machine", m->uname.machine};
	env[n++] = (struct grt_env){"tool_version", GRT_VERSION};
	env[n++] = (struct grt_env){"command", command ?: ""};
	env[n++] = (struct grt_env){"clock_start", m->clock_start};
	env[n++] = (struct grt_env){"gpus", m->gpus};
	if (m->clock_end[0])
		env[n++] = (struct grt_env){"clock_end", m->clock_end};
	return n;
}

int machine_leave_out_counts(struct grt_env *env, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (!strstr(env[i].key, "_balance") && !strstr(env[i].key, "_unread"))
			env[kept++] = env[i];
	return kept;
}
