// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that NVIDIA's drivers give to processes: BPF programs take the calls on the control device,
 * lib/nvidia makes events of them, see nv_calls.h.
 *
 * Memory that a process had before is known only to NVML, as a sum. NVML is asked when the recording begins
 * and every second from then on, so that the sum of the events can be compared.
 */
#include <stdio.h>

#include "host/read_all.h"
#include "sources/bpf/shared.h"
#include "sources/power/power_users.h"
#include "base/clock.h"
#include "host/nvidia_devices.h"
#include "nv_calls.h"

/* Time between two requests to NVML, ns. */
#define COUNT_NS GRT_NS_PER_S

static bool nvmem_any_file;

static const struct cmd_opt options[] = {
	{"any-file", 0, OPT_FLAG, NULL, &nvmem_any_file,
	 "nvmem: record also calls on files that are not NVIDIA's, as if its driver had answered"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/**
 * struct counting - the requests to NVML
 * @users: NULL: there is no NVML
 * @pid: only this process; 0: all
 * @gpu: only this GPU; NULL: all
 * @asked: time of the last request, ns; 0: the recording has not begun
 */
static struct counting {
	void *capture;
	struct power_users *users;
	uint32_t pid;
	const struct known_gpu *gpu;
	uint64_t asked;
} counting;

/* -------------------------------------------------------------- counts */

/* @pid: 0: the request itself */
static int put_count(const struct counting *n, uint32_t bus, uint32_t pid, uint64_t bytes)
{
	struct grt_ev_nv_memory ev = {
		.e = {.time = n->asked,
		      .type = GRT_EV_NV_MEMORY,
		      .size = sizeof(ev),
		      .pid = pid,
		      .tid = pid,
		      .ring = GRT_RING_NONE},
		.bytes = bytes,
		.bus = bus,
		.owner = pid,
		.what = GRT_NV_MEMORY_COUNTED,
		.place = GRT_NV_MEMORY_OF_GPU,
	};
	struct grt_bpf_comm names = {.owner = ""};

	read_comm((pid_t)pid, names.comm, sizeof(names.comm));
	return grt_bpf_add_event(n->capture, &ev.e, 0, names.comm[0] ? &names : NULL);
}

static int put_user(void *arg, uint32_t bus, uint32_t pid, uint64_t bytes)
{
	const struct counting *n = arg;

	if ((n->pid && n->pid != pid) || (n->gpu && !known_gpu_is_at(n->gpu, bus)))
		return 0;
	return put_count(n, bus, pid, bytes);
}

/* A process without a record at this moment has no memory. */
static void count_now(struct counting *n)
{
	n->asked = grt_now();
	if (!n->users || put_count(n, 0, 0, 0))
		return;
	power_users_each(n->users, put_user, n);
}

/* ------------------------------------------------------------- decoder */

static int nvmem_put(void *capture, struct grt_event *e, uint32_t cpu)
{
	return grt_bpf_add_event(capture, e, cpu, NULL);
}

static int nvmem_open_decoder(void **own, void *capture, const struct source_setup *setup,
			      struct grt_err *err)
{
	const struct grt_nv_setup nv = {
		.emit = nvmem_put, .arg = capture, .memory = true, .refused = nvmem_any_file};
	struct grt_err why = {.why = ""};
	char text[320];

	counting = (struct counting){.capture = capture, .pid = (uint32_t)setup->pid, .gpu = setup->gpu};
	if (power_users_open(&counting.users, &why) && !nvidia_loaded(NULL) && setup->note) {
		snprintf(text, sizeof(text), "nvmem: NVML does not report the memory of processes: %s",
			 why.why);
		setup->note(text);
	}
	return nv_calls_open(own, capture, setup->gpu, &nv, err);
}

static bool nvmem_look(void *own)
{
	if (counting.asked && grt_now() - counting.asked >= COUNT_NS)
		count_now(&counting);
	return nv_calls_look(own);
}

static void nvmem_close(void *own)
{
	power_users_close(counting.users);
	counting = (struct counting){.users = NULL};
	nv_calls_close(own);
}

static const struct grt_bpf_decoder decoder = {
	.open = nvmem_open_decoder,
	.who = nv_calls_who,
	.take = nv_calls_take,
	.look = nvmem_look,
	.settle = nv_calls_settle,
	.describe = nv_calls_describe,
	.close = nvmem_close,
};

/* -------------------------------------------------------------- source */

static const char *const objects[] = {"nvmem", NULL};

static void nvmem_configure(struct grt_bpf_config *config)
{
	config->refused = nvmem_any_file;
}

static void nvmem_begun(void *capture, const struct grt_bpf_config *config, uint64_t from)
{
	count_now(&counting);
}

static const struct grt_bpf_kind kind = {
	.name = "nvmem",
	.objects = objects,
	.configure = nvmem_configure,
	.decoder = &decoder,
	.begun = nvmem_begun,
};

static int nvmem_probe(struct grt_err *err)
{
	int ret = nvidia_loaded(err);

	return ret ? ret : grt_bpf_probe(objects, err);
}

static int nvmem_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	if (nvidia_loaded(NULL) && !nvmem_any_file && setup->note)
		setup->note("nvmem: NVIDIA's driver is not loaded (no line of /proc/devices is of NVIDIA): "
			    "there will be no events before it is; try: sudo modprobe nvidia");
	return grt_bpf_open(state, setup, &kind, err);
}

BPF_OPS(nvmem, true, nvmem_probe, nvmem_open, .options = options);
