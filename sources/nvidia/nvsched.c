// SPDX-License-Identifier: GPL-2.0
/*
 * Channel groups of NVIDIA's driver, of any driver: BPF takes the calls on its
 * control device, lib/nvidia makes events of them. Here is what the decoder
 * needs of this machine: which GPUs there are, which driver, and who has files
 * open.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sources/bpf/bpf.h"
#include "sources/bpf/shared.h"
#include "base/clock.h"
#include "host/nvidia_devices.h"
#include "nvidia/decode.h"

static bool nvsched_failed;

static const struct cmd_opt options[] = {
	{"include-failed", 0, OPT_FLAG, NULL, &nvsched_failed,
	 "nvsched: record failed calls, too, and calls on files that are not NVIDIA's"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/* NVIDIA's number of Volta's PCI devices: tokens have no runlist there. */
#define VOLTA_FIRST 0x1d80
#define VOLTA_LAST 0x1dff

/**
 * struct nvsched - the state of the source
 * @row: of the last look at the open files, sorted, of which there are @rows
 * @looked: when that began, CLOCK_MONOTONIC ns
 * @blind: such a look is not possible here
 */
struct nvsched {
	void *capture;
	struct grt_nv *decoder;
	struct grt_bpf_nv_file *row;
	size_t rows;
	uint64_t looked;
	bool blind;
};

/* ------------------------------------------------------------- this machine */

static FILE *nvsched_open_below(const char *path)
{
	const char *root = getenv("GRTRACE_SYSROOT");
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root ? root : "", path);
	return fopen(full, "re");
}

/* "580.159.04"; 0: not loaded. */
static uint32_t driver_branch(void)
{
	FILE *f = nvsched_open_below("/sys/module/nvidia/version");
	unsigned int branch = 0;

	if (f && fscanf(f, "%u.", &branch) != 1)
		branch = 0;
	if (f)
		fclose(f);
	return branch;
}

static bool is_volta(const char *gpu)
{
	char path[300];
	unsigned int id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/device", gpu);
	f = nvsched_open_below(path);
	if (f && fscanf(f, "%x", &id) != 1)
		id = 0;
	if (f)
		fclose(f);
	return id >= VOLTA_FIRST && id <= VOLTA_LAST;
}

/* The driver has a directory for each GPU, which is called like its PCI address. */
static void find_gpus(struct grt_nv_setup *setup)
{
	const char *root = getenv("GRTRACE_SYSROOT");
	unsigned int domain, bus, device, function, n = 0;
	char path[512];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus", root ? root : "");
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%x:%x:%x.%u", &domain, &bus, &device, &function) != 4)
			continue;
		n++;
		setup->only_gpu = n > 1 ? 0 : domain << 16 | bus << 8 | (device & 0x1f) << 3 | (function & 7);
		setup->no_runlist |= is_volta(entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* ------------------------------------------------------------- open files */

static int by_file(const void *a, const void *b)
{
	const struct grt_bpf_nv_file *x = a, *y = b;

	return (x->file > y->file) - (x->file < y->file);
}

static bool look_at_files(void *own)
{
	struct nvsched *s = own;
	void *rows = NULL;
	ssize_t n;

	if (!grt_nv_unsettled(s->decoder))
		return false;
	s->looked = grt_now();
	n = grt_bpf_rows(s->capture, "nv_open_files", &rows);
	free(s->row);
	s->row = rows;
	s->rows = n > 0 ? (size_t)n / sizeof(*s->row) : 0;
	s->blind = n < 0;
	if (s->rows)
		qsort(s->row, s->rows, sizeof(*s->row), by_file);
	return true;
}

static bool is_open(void *arg, uint64_t file, uint32_t *pid)
{
	const struct nvsched *s = arg;
	const struct grt_bpf_nv_file key = {.file = file}, *found;

	found = s->rows ? bsearch(&key, s->row, s->rows, sizeof(key), by_file) : NULL;
	if (found)
		*pid = found->pid;
	return found;
}

/* ------------------------------------------------------------- decoder */

static bool nvsched_who_is_it(const void *record, size_t size, struct grt_event *who)
{
	const struct grt_nv_call *call = record;

	if (size != sizeof(*call))
		return false;
	who->time = call->time;
	who->tid = call->tid;
	return true;
}

static int nvsched_take_it(void *own, const void *record, size_t size)
{
	struct nvsched *s = own;

	return grt_nv_call(s->decoder, record);
}

static int nvsched_settle_it(void *own)
{
	struct nvsched *s = own;

	return grt_nv_settle(s->decoder, s->looked, s->blind ? NULL : is_open, s);
}

static void nvsched_describe_it(void *own, char *text, size_t room)
{
	const struct nvsched *s = own;
	const struct grt_nv_count n = grt_nv_count(s->decoder);

	snprintf(text, room, "calls=%llu unknown=%llu partly=%llu subcontexts=%llu over=%llu%s",
		 (unsigned long long)n.calls, (unsigned long long)n.unknown, (unsigned long long)n.partly,
		 (unsigned long long)n.subcontexts, (unsigned long long)n.over,
		 s->blind ? " files=unseen" : "");
}

static void nvsched_close_it(void *own)
{
	struct nvsched *s = own;

	if (!s)
		return;
	grt_nv_free(s->decoder);
	free(s->row);
	free(s);
}

static int nvsched_open_decoder(void **own, void *capture, const struct source_setup *setup,
				struct grt_err *err)
{
	struct grt_nv_setup nv = {
		.emit = grt_bpf_put,
		.arg = capture,
		.branch = driver_branch(),
		.refused = nvsched_failed,
	};
	struct nvsched *s = calloc(1, sizeof(*s));

	*own = s;
	if (!s)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for the handles of NVIDIA's driver");
	s->capture = capture;
	find_gpus(&nv);
	if (grt_nv_new(&s->decoder, &nv))
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for the handles of NVIDIA's driver");
	return 0;
}

static const struct grt_bpf_decoder decoder = {
	.open = nvsched_open_decoder,
	.who = nvsched_who_is_it,
	.take = nvsched_take_it,
	.look = look_at_files,
	.settle = nvsched_settle_it,
	.describe = nvsched_describe_it,
	.close = nvsched_close_it,
};

/* ------------------------------------------------------------- source */

static const char *const objects[] = {"nvsched", NULL};
static void nvsched_configure(struct grt_bpf_config *config)
{
	config->refused = nvsched_failed;
}

static const struct grt_bpf_kind kind = {
	.name = "nvsched", .objects = objects, .configure = nvsched_configure, .decoder = &decoder};

static int probe_it(struct grt_err *err)
{
	int ret = nvidia_loaded(err);

	return ret ? ret : grt_bpf_probe(objects, err);
}

static int open_it(void **state, const struct source_setup *setup, struct grt_err *err)
{
	if (nvidia_loaded(NULL) && !nvsched_failed && setup->note)
		setup->note("nvsched: NVIDIA's driver is not loaded (no line of /proc/devices is of NVIDIA)");
	return grt_bpf_open(state, setup, &kind, err);
}

BPF_OPS(nvsched, false, probe_it, open_it, .options = options);
