// SPDX-License-Identifier: GPL-2.0
/*
 * How fast the log of AMD's runtime is read: writes one as level 4 prints it,
 * launches of kernels on some queues with everything around them, and reads it
 * through a session with a consumer that only counts.
 *
 *	bench_rocm [-s MIB] [-n RUNS] [-k] FILE
 *
 * -k keeps FILE, -n 0 only writes it.
 */
#include "reading.h"

#define QUEUES 4
#define KERNELS 7

struct writer {
	FILE *out;
	uint64_t us;
	uint64_t lines;
};

static void begin_line(struct writer *w, int level, const char *file, int line)
{
	w->us += 3;
	w->lines++;
	fprintf(w->out, ":%d:%-25s:%-4d: %010" PRIu64 " us: [pid:4321  tid: 0x7f00aa11bb40] ", level, file,
		line, w->us);
}

static void write_launch(struct writer *w, uint64_t i)
{
	unsigned long long queue = 0x7f0835fa2000 + i % QUEUES * 0x10000,
			   command = 0x55d4bfb63a80 + i % 64 * 256;

	begin_line(w, 3, "hip_module.cpp", 700);
	fprintf(w->out,
		" hipLaunchKernel ( 0x55d4be7d6d90, {4096,1,1}, {256,1,1}, 0x7ffd49f8a0c0, 0, stream:<null> ) \n");
	begin_line(w, 4, "command.cpp", 349);
	fprintf(w->out, "Command (KernelExecution) enqueued: 0x%llx to queue: 0x55d4bf5b8720\n", command);
	for (int arg = 0; arg < 3; arg++) {
		begin_line(w, 3, "rocvirtual.cpp", 703);
		fprintf(w->out, "Arg%d:   = ptr:0x7f0722800000 obj:[0x7f0722800000-0x7f0722bd0900]\n", arg);
	}
	begin_line(w, 3, "rocvirtual.cpp", 2774);
	fprintf(w->out, "ShaderName : _Z%dgemm_tile_%" PRIu64 "PKfS0_Pfi\n", 12, i % KERNELS);
	begin_line(w, 4, "rocvirtual.cpp", 862);
	fprintf(w->out,
		"SWq=0x7f8edc1a8000, HWq=0x%llx, id=1, Dispatch Header = 0x1502 (type=2, barrier=1, acquire=2, release=2), "
		"setup=3, grid=[1048576, 1, 1], workgroup=[256, 1, 1], private_seg_size=0, group_seg_size=0, "
		"kernel_obj=0x7f0823adc680, kernarg_address=0x7f0720a00000, completion_signal=0x0, correlation_id=0, "
		"rptr=%" PRIu64 ", wptr=%" PRIu64 "\n",
		queue, i / QUEUES, i / QUEUES);
	begin_line(w, 3, "hip_module.cpp", 702);
	fprintf(w->out, "hipLaunchKernel: Returned hipSuccess : \n");
	begin_line(w, 4, "command.cpp", 179);
	fprintf(w->out, "Command 0x%llx complete\n", command);
}

static uint64_t make_file(const char *path, uint64_t bytes, uint64_t *lines)
{
	struct writer w = {.out = fopen(path, "w"), .us = 102993890480};
	long size;

	if (!w.out) {
		perror(path);
		exit(1);
	}
	for (unsigned int i = 0; i < QUEUES; i++) {
		begin_line(&w, 3, "rocdevice.cpp", 3048);
		fprintf(w.out,
			"Created SWq=0x7f8edc1a8000 to map on HWq=0x%llx with size 16384 with priority 1, cooperative: 0\n",
			0x7f0835fa2000 + i * 0x10000ULL);
	}
	for (uint64_t i = 0; (uint64_t)ftell(w.out) < bytes; i++)
		write_launch(&w, i);
	size = ftell(w.out);
	if (fclose(w.out)) {
		perror(path);
		exit(1);
	}
	*lines = w.lines;
	return (uint64_t)size;
}

int main(int argc, char **argv)
{
	struct reading r;
	uint64_t size, lines;

	if (!reading_options(&r, argc, argv, "s:n:k"))
		return 2;
	size = make_file(r.path, r.mib << 20, &lines);
	reading_run(&r, size, lines);
	return 0;
}
