// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Which processes had an NVIDIA GPU, in a sentence for each GPU or MIG instance. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memfile.h"
#include "base/say.h"
#include "base/units.h"
#include "gpu_processes.h"
#include "table/rows.h"

/* Processes with their names; GPUs with a sentence. */
#define PROCESSES_MAX 3U
#define SENTENCES_MAX 8U

static void put_share(FILE *out, uint64_t ns, uint64_t wall)
{
	char text[GRT_UNITS_MAX];

	grt_units_percent(text, grt_share(ns, wall));
	fputs(text, out);
}

static void put_gpu(FILE *out, const struct grt_gpu_process *o, const char *device, uint64_t wall)
{
	char text[GRT_UNITS_MAX];

	grt_units_ns(text, wall);
	fputs(device ?: "GPU", out);
	if (o->instance >> 8 != GRT_NOT_DIVIDED)
		fprintf(out, " MIG instance %u.%u", o->instance >> 8, o->instance & 0xff);
	fprintf(out, " (%s):", text);
}

static void put_process(FILE *out, const struct grt_gpu_process *o, const struct grt_names *names, bool first,
			uint64_t wall)
{
	fprintf(out, "%s (PID %u) %sfor ", grt_process_name(names, o->pid) ?: "a process", o->pid,
		first ? "had it " : "");
	put_share(out, o->residency, wall);
}

/* How long a switch takes, beside how many there are, tells whether slices are too short. */
static void put_rest(FILE *out, const struct grt_gpu_process *o, uint64_t wall)
{
	char count[GRT_UNITS_MAX], each[GRT_UNITS_MAX];

	if (o->kind == GRT_GPU_SWITCHING) {
		grt_units_count(count, o->came);
		grt_units_ns(each, o->came ? o->residency / o->came : 0);
		fprintf(out, "%s switches of %s took ", count, each);
	} else {
		fputs(o->kind == GRT_GPU_NOBODY ? "no process had it for " : "its process is unknown for ",
		      out);
	}
	put_share(out, o->residency, wall);
}

/* @row: those of one GPU; processes come first, the one with the most time in front. */
static void put_parts(FILE *out, const struct grt_gpu_process *const *row, uint64_t n,
		      const struct grt_names *names, uint64_t wall)
{
	const char *between = " ";
	uint64_t others = 0, ns = 0;

	for (uint64_t i = 0; i < n; i++) {
		bool process = row[i]->kind == GRT_GPU_PROCESS;

		if (process && i >= PROCESSES_MAX) {
			others++;
			ns += row[i]->residency;
		}
		if (others && (!process || i + 1 == n)) {
			grt_say(out, ", %" PRIu64 " more {process|processes} for ", others);
			put_share(out, ns, wall);
			others = 0;
		}
		if (!row[i]->residency || (process && i >= PROCESSES_MAX))
			continue;
		fputs(between, out);
		between = ", ";
		if (process)
			put_process(out, row[i], names, !i, wall);
		else
			put_rest(out, row[i], wall);
	}
}

static char *gpu_process_sentence(const struct grt_gpu_processes_view *v,
				  const struct grt_gpu_process *const *row, uint64_t n)
{
	uint64_t wall = grt_gpu_processes_wall(v->g, row[0]);
	const char *device = NULL;
	struct grt_memfile m;
	FILE *out;

	out = grt_memfile_open(&m);
	if (!out)
		return NULL;
	grt_gpu_processes_device(grt_gpu_processes_place(v->g, row[0]), v->names, &device);
	put_gpu(out, row[0], device, wall);
	put_parts(out, row, n, v->names, wall);
	fputs(" (report --by gpu-process).", out);
	return grt_memfile_close(&m, out, NULL);
}

static bool is_of(const struct grt_gpu_process *a, const struct grt_gpu_process *b)
{
	return a->source == GRT_GPU_SLICES && a->device == b->device && a->instance == b->instance;
}

int grt_gpu_processes_sentences(const struct grt_gpu_processes_view *v,
				const struct grt_gpu_process *const *row, uint64_t n, struct grt_notes *notes)
{
	uint64_t first, i = 0;
	char *text;

	for (unsigned int gpus = 0; i < n && gpus < SENTENCES_MAX; gpus++) {
		first = i++;
		while (i < n && is_of(row[i], row[first]))
			i++;
		if (row[first]->source != GRT_GPU_SLICES || row[first]->kind != GRT_GPU_PROCESS ||
		    !grt_gpu_processes_wall(v->g, row[first]))
			continue;
		text = gpu_process_sentence(v, row + first, i - first);
		if (!text)
			return -ENOMEM;
		grt_note(notes, "%s", text);
		free(text);
	}
	return 0;
}
