// SPDX-License-Identifier: GPL-2.0
/*
 * What the decoder of NVIDIA's calls must know about this machine, see nv_calls.h: its GPUs, its driver, and
 * the open files of processes.
 */
#include "nv_calls.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/tsg.h>

#include "host/probe.h"
#include "sources/bpf/shared.h"
#include "base/clock.h"
#include "base/compare.h"

/* NVIDIA's number of Volta's PCI devices: tokens have no runlist there. */
#define VOLTA_FIRST 0x1d80
#define VOLTA_LAST 0x1dff

/**
 * struct nv_calls - the state of the source
 * @row: the @rows open files at the last look, sorted
 * @looked: when that look began, CLOCK_MONOTONIC ns
 * @blind: such a look is not possible here
 * @like: the decoder's setup, whose events @gpu limits
 * @gpu: only events of this GPU; NULL: of all GPUs
 * @of_others, @of_unknown: number of omitted events of other GPUs, and of an unknown GPU
 */
struct nv_calls {
	void *capture;
	struct grt_nv *decoder;
	struct grt_bpf_nv_file *row;
	size_t rows;
	uint64_t looked;
	bool blind;
	struct grt_nv_setup like;
	const struct known_gpu *gpu;
	uint64_t of_others;
	uint64_t of_unknown;
};

/* ------------------------------------------------------------- this machine */

/* "580.159.04"; 0: not loaded. */
static uint32_t driver_branch(void)
{
	char version[64];

	probe_read(version, sizeof(version), "/sys/module/nvidia/version");
	return (uint32_t)strtoul(version, NULL, 10);
}

static bool is_volta(const char *gpu)
{
	char text[32];
	unsigned long id;

	probe_read(text, sizeof(text), "/sys/bus/pci/devices/%s/device", gpu);
	id = strtoul(text, NULL, 16);
	return id >= VOLTA_FIRST && id <= VOLTA_LAST;
}

/* The driver has a directory for each GPU, with its PCI address as the name. */
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

	return grt_compare(x->file, y->file);
}

bool nv_calls_look(void *own)
{
	struct nv_calls *s = own;
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
	const struct nv_calls *s = arg;
	const struct grt_bpf_nv_file key = {.file = file}, *found;

	found = s->rows ? bsearch(&key, s->row, s->rows, sizeof(key), by_file) : NULL;
	if (found)
		*pid = found->pid;
	return found;
}

/* ------------------------------------------------------------- decoder */

/* The GPU's address in an event; 0: unknown */
static uint32_t nv_calls_bus(const struct grt_event *e)
{
	return e->type == GRT_EV_NV_MEMORY ? ((const struct grt_ev_nv_memory *)e)->bus
					   : ((const struct grt_tsg_event *)e)->bus;
}

/*
 * Every call is decoded, because objects of one GPU depend on objects of no GPU; events are filtered
 * afterwards.
 */
static int nv_calls_emit(void *arg, struct grt_event *e, uint32_t cpu)
{
	struct nv_calls *s = arg;
	uint32_t bus = nv_calls_bus(e);

	if (!s->gpu || known_gpu_is_at(s->gpu, bus))
		return s->like.emit(s->like.arg, e, cpu);
	s->of_others += bus != 0;
	s->of_unknown += !bus;
	return 0;
}

bool nv_calls_who(const void *record, size_t size, struct grt_event *who)
{
	const struct grt_nv_call *call = record;

	if (size != sizeof(*call))
		return false;
	who->time = call->time;
	who->tid = call->tid;
	return true;
}

int nv_calls_take(void *own, const void *record, size_t size)
{
	struct nv_calls *s = own;

	return grt_nv_call(s->decoder, record);
}

int nv_calls_settle(void *own)
{
	struct nv_calls *s = own;

	return grt_nv_settle(s->decoder, s->looked, s->blind ? NULL : is_open, s);
}

void nv_calls_describe(void *own, char *text, size_t room)
{
	const struct nv_calls *s = own;
	const struct grt_nv_count n = grt_nv_count(s->decoder);

	snprintf(text, room, "calls=%llu unknown=%llu partly=%llu subcontexts=%llu over=%llu unsized=%llu%s",
		 (unsigned long long)n.calls, (unsigned long long)n.unknown, (unsigned long long)n.partly,
		 (unsigned long long)n.subcontexts, (unsigned long long)n.over, (unsigned long long)n.unsized,
		 s->blind ? " files=unseen" : "");
	if (s->gpu && strlen(text) < room)
		snprintf(text + strlen(text), room - strlen(text), " of_other_gpus=%llu of_unknown_gpus=%llu",
			 (unsigned long long)s->of_others, (unsigned long long)s->of_unknown);
}

void nv_calls_close(void *own)
{
	struct nv_calls *s = own;

	if (!s)
		return;
	grt_nv_free(s->decoder);
	free(s->row);
	free(s);
}

int nv_calls_open(void **own, void *capture, const struct known_gpu *gpu, const struct grt_nv_setup *like,
		  struct grt_err *err)
{
	struct grt_nv_setup nv = *like;
	struct nv_calls *s = calloc(1, sizeof(*s));

	*own = s;
	if (!s)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for the handles of NVIDIA's driver");
	s->capture = capture;
	s->like = *like;
	s->gpu = gpu;
	nv.emit = nv_calls_emit;
	nv.arg = s;
	nv.branch = driver_branch();
	find_gpus(&nv);
	if (grt_nv_new(&s->decoder, &nv))
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for the handles of NVIDIA's driver");
	return 0;
}
