// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of what this process may do: capabilities, and settings of the kernel that restrict tracing. A
 * setting only fails if it stops this process.
 */
#include <stdlib.h>
#include <string.h>

#include "probes.h"

#define FIX_SUDO "the same command with sudo"

/* Capabilities for BPF programs that read the kernel's memory. */
static bool may_trace(void)
{
	return probe_capable(CAP_SYS_ADMIN) ||
	       (probe_capable(CAP_BPF) && probe_capable(CAP_PERFMON) && !probe_kernel_before(5, 8));
}

void probe_privileges(struct probe_result *r)
{
	if (probe_root() && !may_trace())
		probe_set(r, PROBE_FAILS, "the machine itself, or a container with --privileged",
			  "root without CAP_SYS_ADMIN or CAP_BPF and CAP_PERFMON, as in a container");
	else if (probe_root())
		probe_set(r, PROBE_WORKS, NULL, "root");
	else if (may_trace())
		probe_set(r, PROBE_WORKS, NULL, "%s, for BPF; the kernel module and tracefs are root's",
			  probe_capable(CAP_SYS_ADMIN) ? "CAP_SYS_ADMIN" : "CAP_BPF and CAP_PERFMON");
	else
		probe_set(r, PROBE_FAILS, FIX_SUDO, "neither root nor CAP_BPF and CAP_PERFMON");
}

/* Return: whether the setting can be read */
static bool setting(struct probe_result *r, const char *name, long *value)
{
	char text[32];

	if (probe_read(text, sizeof(text), "/proc/sys/kernel/%s", name) <= 0) {
		probe_set(r, PROBE_UNKNOWN, NULL, "this kernel has no setting kernel.%s", name);
		return false;
	}
	*value = strtol(text, NULL, 10);
	return true;
}

void probe_unprivileged_bpf(struct probe_result *r)
{
	long value;

	if (!setting(r, "unprivileged_bpf_disabled", &value))
		return;
	if (may_trace())
		probe_set(r, PROBE_WORKS, NULL, "%ld, does not limit this process", value);
	else
		probe_set(r, PROBE_FAILS, FIX_SUDO, "%ld: %s", value,
			  value ? "BPF needs privileges"
				: "BPF is allowed to all, but tracing with it needs CAP_PERFMON");
}

void probe_perf_event_paranoid(struct probe_result *r)
{
	long value;

	if (!setting(r, "perf_event_paranoid", &value))
		return;
	if (may_trace() || probe_capable(CAP_PERFMON))
		probe_set(r, PROBE_WORKS, NULL, "%ld, does not limit this process", value);
	else if (value <= -1)
		probe_set(r, PROBE_WORKS, NULL, "%ld", value);
	else
		probe_set(r, PROBE_FAILS,
			  "the same command with sudo, or sudo sysctl "
			  "kernel.perf_event_paranoid=-1",
			  "%ld: tracepoints only with CAP_PERFMON", value);
}

void probe_kptr_restrict(struct probe_result *r)
{
	bool syslog = probe_capable(CAP_SYSLOG);
	long value;

	if (!setting(r, "kptr_restrict", &value))
		return;
	if (value >= 2)
		probe_set(r, PROBE_FAILS, "sudo sysctl kernel.kptr_restrict=1",
			  "%ld: kernel addresses are hidden from all, kernel stacks have no names", value);
	else if (!syslog)
		probe_set(r, PROBE_FAILS, FIX_SUDO,
			  "%ld: kernel addresses are hidden from this user, kernel stacks have no names",
			  value);
	else
		probe_set(r, PROBE_WORKS, NULL, "%ld", value);
}

void probe_memlock(struct probe_result *r)
{
	static const char key[] = "Max locked memory";
	char text[4096], *line;
	unsigned long long bytes;

	if (!probe_kernel_before(5, 11)) {
		probe_set(r, PROBE_WORKS, NULL, "this kernel does not apply it to BPF");
		return;
	}
	probe_read(text, sizeof(text), "/proc/self/limits");
	line = strstr(text, key);
	if (!line)
		probe_set(r, PROBE_UNKNOWN, NULL, "/proc/self/limits does not show it");
	else if (probe_capable(CAP_SYS_RESOURCE))
		probe_set(r, PROBE_WORKS, NULL, "this process may raise the limit");
	else if (sscanf(line + sizeof(key) - 1, "%llu", &bytes) != 1)
		probe_set(r, PROBE_WORKS, NULL, "unlimited");
	else
		probe_set(r, bytes < 64 << 20 ? PROBE_FAILS : PROBE_WORKS,
			  bytes < 64 << 20 ? "ulimit -l unlimited" : NULL, "%llu KiB", bytes >> 10);
}
