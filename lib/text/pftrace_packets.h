/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Reads the packets of a trace for Perfetto, and resolves their references to earlier packets of their
 * sequence: names, contexts, clocks. Field numbers are those of protos/perfetto/trace of Perfetto v58.2.
 *
 * Memory is bounded by the largest packet, which is not larger than the file, and 64 bytes for each of
 * 1048576 names, sequences and tracks.
 */
#ifndef GRT_TEXT_PFTRACE_PACKETS_H
#define GRT_TEXT_PFTRACE_PACKETS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "base/protobuf_in.h"

/* interned_data.proto, gpu_interned_data.proto */
enum pftrace_table {
	PFTRACE_CATEGORIES = 1,
	PFTRACE_EVENT_NAMES = 2,
	PFTRACE_ARG_NAMES = 3,
	PFTRACE_CONTEXTS = 23,
	PFTRACE_SPECIFICATIONS = 24,
	PFTRACE_KERNELS = 1000,
	PFTRACE_LAUNCH_ARG_NAMES = 1001,
};

/** struct pftrace_name - an interned object; @text: its name; @pid, @value: process and API of a context */
struct pftrace_name {
	uint32_t text;
	uint32_t pid;
	uint64_t value;
};

/* Maximum number of open slices of a track. */
#define PFTRACE_OPEN_MAX 16U

/* The values of slices that are read: PFTRACE_ARG(NAME, "name") */
#define PFTRACE_ARGS(PFTRACE_ARG)                         \
	PFTRACE_ARG(CORRELATION, "correlation")           \
	PFTRACE_ARG(RESULT, "result")                     \
	PFTRACE_ARG(CTX, "ctx")                           \
	PFTRACE_ARG(SEQNO, "seqno")                       \
	PFTRACE_ARG(T_QUEUE, "t_queue")                   \
	PFTRACE_ARG(T_COMPLETE, "t_complete")             \
	PFTRACE_ARG(STATUS, "status")                     \
	PFTRACE_ARG(START_INFERRED, "start_inferred")     \
	PFTRACE_ARG(END_INFERRED, "end_inferred")         \
	PFTRACE_ARG(KIND, "kind")                         \
	PFTRACE_ARG(CONTEXT, "context")                   \
	PFTRACE_ARG(CUDA_STREAM, "cuda_stream")           \
	PFTRACE_ARG(DEVICE, "device")                     \
	PFTRACE_ARG(STREAM, "stream")                     \
	PFTRACE_ARG(BYTES, "bytes")                       \
	PFTRACE_ARG(GRAPH, "graph")                       \
	PFTRACE_ARG(GRAPH_NODE, "graph_node")             \
	PFTRACE_ARG(FROM_MEMORY, "from_memory")           \
	PFTRACE_ARG(TO_MEMORY, "to_memory")               \
	PFTRACE_ARG(REGISTERS, "registers_per_thread")    \
	PFTRACE_ARG(SHARED_STATIC, "shared_mem_static")   \
	PFTRACE_ARG(SHARED_DYNAMIC, "shared_mem_dynamic") \
	PFTRACE_ARG(BEGIN, "begin")                       \
	PFTRACE_ARG(OVER, "over")                         \
	PFTRACE_ARG(MIG_GPU, "mig_gpu")                   \
	PFTRACE_ARG(MIG_COMPUTE, "mig_compute")

enum pftrace_arg {
#define PFTRACE_ARG(NAME, name) PFTRACE_##NAME,
	PFTRACE_ARGS(PFTRACE_ARG)
#undef PFTRACE_ARG
		PFTRACE_ARG_COUNT,
};

/** struct pftrace_values - values of a slice; @has: the known values, a bit for each enum pftrace_arg */
struct pftrace_values {
	uint32_t has;
	uint64_t v[PFTRACE_ARG_COUNT];
};

/**
 * struct pftrace_work - a slice of a GPU (GpuRenderStageEvent)
 * @number: id of the slice; @name, @linked, @queue, @stage: numbers of texts, 0: none
 * @api: API of its context, 0: unknown
 * @is_kernel: the slice has fields that only kernels have
 */
struct pftrace_work {
	uint64_t time;
	uint64_t duration;
	uint64_t number;
	uint64_t gpu;
	uint64_t queue_iid;
	uint32_t name;
	uint32_t linked;
	uint32_t queue;
	uint32_t stage;
	uint32_t pid;
	uint32_t api;
	bool is_kernel;
	uint64_t grid[3];
	uint64_t block[3];
	struct pftrace_values args;
};

/**
 * struct pftrace_slice - a slice or moment of a track (TrackEvent)
 * @number: id of the GPU work that the slice submitted, 0: none
 * @track: number of the text with the name of its track
 */
struct pftrace_slice {
	uint64_t time;
	uint64_t end;
	uint64_t number;
	uint32_t name;
	uint32_t category;
	uint32_t track;
	uint32_t pid;
	uint32_t tid;
	bool moment;
	struct pftrace_values args;
};

struct pftrace_packets;

/**
 * struct pftrace_sink - functions that get the contents; a result other than 0 ends the reading
 * @ftrace: gets an FtraceEventBundle; @offset: to be added to its stamps, ns, modulo 2^64
 * @gpu: gets number and name of a GPU of the trace
 * Each may be NULL.
 */
struct pftrace_sink {
	int (*work)(void *arg, const struct pftrace_work *w);
	int (*slice)(void *arg, const struct pftrace_slice *s);
	int (*ftrace)(void *arg, struct grt_span bundle, uint64_t offset);
	int (*process)(void *arg, uint32_t pid, struct grt_span name);
	int (*gpu)(void *arg, uint64_t number, struct grt_span name);
	void *arg;
};

/**
 * struct pftrace_count - counts of a reading
 * @packets: all packets; @unnamed: packets with references to unknown names; @timeless: packets whose clock
 * is unknown
 * @half: starts of slices without an end, and ends without a start
 */
struct pftrace_count {
	uint64_t packets;
	uint64_t unnamed;
	uint64_t timeless;
	uint64_t half;
};

/** pftrace_packets_new - sets up the reading of a regular file; the caller still owns @fd. Return: 0 or a
 * negative errno */
int pftrace_packets_new(struct pftrace_packets **out, int fd);

/**
 * pftrace_packets_read - passes all contents to the sink, from the beginning
 * Return: 0, what the sink returned, -ENOMEM, or -EPROTO; see pftrace_packets_why()
 */
int pftrace_packets_read(struct pftrace_packets *p, const struct pftrace_sink *sink);

/** pftrace_packets_why - why the file cannot be read, and @byte its offset; NULL: it can be read */
const char *pftrace_packets_why(const struct pftrace_packets *p, uint64_t *byte);

/** pftrace_packets_count - counts of the last reading */
const struct pftrace_count *pftrace_packets_count(const struct pftrace_packets *p);

/** pftrace_packets_text - a text by its number; empty for 0 */
struct grt_span pftrace_packets_text(const struct pftrace_packets *p, uint32_t number);

/** pftrace_packets_free - frees @p, which may be NULL */
void pftrace_packets_free(struct pftrace_packets *p);

/** pftrace_is_packets - whether an input begins with whole packets */
bool pftrace_is_packets(const char *head, size_t len);

#endif /* GRT_TEXT_PFTRACE_PACKETS_H */
