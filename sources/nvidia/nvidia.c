// SPDX-License-Identifier: GPL-2.0
/*
 * System calls on NVIDIA's device files, and Xid errors, with any driver; with
 * --probes functions of its kernel modules, where the kernel allows it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sources/bpf/bpf.h"
#include "base/say.h"
#include "sources/bpf/shared.h"
#include "host/nvidia_devices.h"
#include "nvidia_probes.h"
#include "host/tracefs.h"

static bool nvidia_wants_probes;

static const struct cmd_opt options[] = {
	{"probes", 0, OPT_FLAG, NULL, &nvidia_wants_probes,
	 "nvidia: also functions of its kernel modules: interrupts, faults, P2P, power"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static const char *const objects[] = {"nvidia", NULL};
static const char *const with_probes[] = {"nvidia", "nvidia_probes", NULL};

static bool stands_at(const char *format, const char *name, unsigned int offset)
{
	struct tracefs_field field;

	return tracefs_field(format, name, &field) && field.offset == offset;
}

/* The driver's tracepoint, with the record that the program reads. */
static bool has_xid_event(void)
{
	int tracefs = tracefs_open(NULL);
	char *format = tracefs < 0 ? NULL : tracefs_format(tracefs, "nvidia", "nvidia_dev_xid");
	bool has = format && stands_at(format, "dev", 8) && stands_at(format, "error_code", 12) &&
		   stands_at(format, "msg", 16);

	free(format);
	if (tracefs >= 0)
		close(tracefs);
	return has;
}

static void nvidia_configure(struct grt_bpf_config *config)
{
	nvidia_majors(config->majors, BPF_MAJORS);
	config->xid_event = has_xid_event();
}

static const struct grt_bpf_kind kind = {.name = "nvidia", .objects = objects, .configure = nvidia_configure};

static const struct grt_bpf_kind probing = {
	.name = "nvidia", .objects = with_probes, .configure = nvidia_configure, .probes = &nvidia_probes};

/* System calls exist everywhere, but without the driver there is nothing to see. */
static int nvidia_probe(struct grt_err *err)
{
	int ret = nvidia_loaded(err);

	return ret ? ret : grt_bpf_probe(objects, err);
}

static int open_probing(void **state, const struct source_setup *setup, struct grt_err *err)
{
	unsigned int found;
	char text[64];
	int ret = nvidia_probes_here(&found, err);

	if (ret)
		return ret;
	grt_say_text(text, sizeof(text), "nvidia: --probes: %u {function|functions}", found);
	if (setup->note)
		setup->note(text);
	return grt_bpf_open(state, setup, &probing, err);
}

/* A user who names the source may load the driver during the recording. */
static int nvidia_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	if (nvidia_loaded(NULL) && setup->note)
		setup->note(
			"nvidia: NVIDIA's driver is not loaded (no line of /proc/devices is of NVIDIA): if it is "
			"loaded now, calls on nvidia-uvm will not be recorded");
	*state = NULL;
	return nvidia_wants_probes ? open_probing(state, setup, err) : grt_bpf_open(state, setup, &kind, err);
}

BPF_OPS(nvidia, false, nvidia_probe, nvidia_open, .options = options);
