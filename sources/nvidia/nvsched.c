// SPDX-License-Identifier: GPL-2.0
/*
 * Channel groups of NVIDIA's driver, whatever its version: BPF records the calls on its control device, and
 * lib/nvidia makes events from them, see nv_calls.h.
 */
#include "sources/bpf/shared.h"
#include "host/nvidia_devices.h"
#include "nv_calls.h"

static bool nvsched_failed;

static const struct cmd_opt options[] = {
	{"include-failed", 0, OPT_FLAG, NULL, &nvsched_failed,
	 "nvsched: record also failed calls, and calls on files that are not NVIDIA's"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static int nvsched_open_decoder(void **own, void *capture, const struct source_setup *setup,
				struct grt_err *err)
{
	const struct grt_nv_setup nv = {.emit = grt_bpf_put, .arg = capture, .refused = nvsched_failed};

	return nv_calls_open(own, capture, setup->gpu, &nv, err);
}

static const struct grt_bpf_decoder decoder = {
	.open = nvsched_open_decoder,
	.who = nv_calls_who,
	.take = nv_calls_take,
	.look = nv_calls_look,
	.settle = nv_calls_settle,
	.describe = nv_calls_describe,
	.close = nv_calls_close,
};

static const char *const objects[] = {"nvsched", NULL};
static void nvsched_configure(struct grt_bpf_config *config)
{
	config->refused = nvsched_failed;
}

static const struct grt_bpf_kind kind = {
	.name = "nvsched", .objects = objects, .configure = nvsched_configure, .decoder = &decoder};

static int nvsched_probe(struct grt_err *err)
{
	int ret = nvidia_loaded(err);

	return ret ? ret : grt_bpf_probe(objects, err);
}

static int nvsched_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	if (nvidia_loaded(NULL) && !nvsched_failed && setup->note)
		setup->note("nvsched: NVIDIA's driver is not loaded (no line of /proc/devices is of NVIDIA): "
			    "there will be no events before it is; try: sudo modprobe nvidia");
	return grt_bpf_open(state, setup, &kind, err);
}

BPF_OPS(nvsched, false, nvsched_probe, nvsched_open, .options = options);
