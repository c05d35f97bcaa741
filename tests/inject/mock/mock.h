/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CUDA without a GPU: mock/cuda.c is the driver and its device, mock/cupti.c
 * tells of it, mock/cudart.c is only there to be found. A program (mock/app.c)
 * plays launches; what really happened is written into the file of MOCK_LOG, a
 * line for each record that a recording must have.
 */
#ifndef TESTS_INJECT_MOCK_H
#define TESTS_INJECT_MOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti_abi.h"

#define CALL_MAX 1024

/* A stream's handle: its number, and whether the call has _ptsz. */
#define MOCK_STREAM(number, per_thread) (((uintptr_t)(number) << 8) | (uintptr_t)(per_thread))

/**
 * struct mock - the state that driver and CUPTI share
 * @version: of CUPTI
 * @taken: another client has subscribed; @subscribed: how often one did
 * @next: the next correlation id, of which CUPTI shows 32 bits; @frozen: all calls have that one, as
 *	after the call @freezes_at, 0: none
 * @zero_stamps: kernels have no stamps
 * @reverse: completed buffers come back in reverse order, and with a delay
 * @buffer_limit: bytes of a buffer that are used, 0: all
 * @dropped: records that CUPTI says it has lost
 * @silent_driver: the driver does not tell of what the runtime calls in it
 * @attached: CUPTI is in the process; it stays when nobody is subscribed, until it is finalized
 * @client: whose callback it is: a number that changes
 * @delivered: callbacks
 * @finalizing: it is being finalized, which takes a while; @finalized: how often it was
 * @faults: what a real CUPTI might crash from: see cupti.c
 * @owner: whether the caller is the program's own tool, which may use CUPTI after it was finalized
 * @graph: one was made executable while CUPTI was there; @broken: and CUPTI was finalized later
 * @kernel_waits: kernels do not end: calls that wait for the GPU, and finalizing, do not return meanwhile
 * @sync_result: what calls that wait for the GPU return
 * @in_sync: what a call that waits does meanwhile; NULL: nothing
 * @in_kernel: what happens while a kernel runs; NULL: it takes 1 us, and nobody waits for it
 * @device, @stream: that kernels and copies run on
 * @api: 1: functions without a subscriber are used, 2: those with one; 0: none so far
 * @several: the first subscriber allowed others; @second: another one
 * @request_v2, @complete_v2: in place of @request and @complete
 */
struct mock {
	uint32_t version;
	bool taken;
	unsigned long subscribed;
	uint64_t next;
	uint64_t freezes_at;
	bool frozen;
	bool zero_stamps;
	bool reverse;
	size_t buffer_limit;
	size_t dropped;
	bool silent_driver;
	bool attached;
	bool finalizing;
	uintptr_t client;
	unsigned long delivered;
	unsigned int finalized;
	unsigned int faults;
	bool owner;
	bool graph;
	bool broken;
	bool kernel_waits;
	int sync_result;
	void (*in_sync)(void);
	void (*in_kernel)(void);
	uint32_t device;
	uint32_t stream;
	cupti_callback_fn callback;
	bool wanted[4][CALL_MAX];
	bool kinds[64];
	cupti_request_fn request;
	cupti_complete_fn complete;
	uint64_t (*clock)(void);
	int api;
	bool several;
	cupti_request_v2_fn request_v2;
	cupti_complete_v2_fn complete_v2;
	struct mock_second {
		bool used;
		cupti_callback_fn callback;
		bool wanted[4][CALL_MAX];
		bool kinds[64];
		cupti_request_v2_fn request;
		cupti_complete_v2_fn complete;
	} second;
};

extern struct mock mock;

/** mock_flush - completes the buffers of all subscribers */
void mock_flush(void);

/** mock_forget - kinds, buffers and the clock are nobody's any more */
void mock_forget(void);

/** mock_at_exit - the calling thread is in the callback where its outermost call returns */
bool mock_at_exit(void);

/** mock_record_size - of a record, by its kind */
size_t mock_record_size(uint32_t kind);

/** mock_call - a call that launches @kernels kernels, or copies or sets memory; @domain and @number as CUPTI
 * has them, @inner: the driver's call within it, 0: none */
void mock_call(int domain, uint32_t number, uint32_t inner, unsigned int kernels, const char *name);

/** mock_copy, mock_set, mock_peer - the same with a record of another kind; mock_sync - with none: what is
 * waited for is @kind, as in a GPU_SYNC record */
void mock_copy(int domain, uint32_t number, uint32_t inner, uint64_t bytes);
void mock_set(int domain, uint32_t number, uint32_t inner, uint64_t bytes);
void mock_sync(int domain, uint32_t number, uint32_t inner, unsigned int kind);
void mock_peer(int domain, uint32_t number, uint32_t inner, uint64_t bytes);

/** mock_capture - a launch into a stream that is captured */
void mock_capture(uint32_t number, uint32_t inner);

/** mock_graph - makes a graph executable; mock_context - makes another context */
void mock_graph(void);
void mock_context(void);

/** struct mock_node - of a graph; @name: of its kernel */
struct mock_node {
	uint64_t id;
	const struct mock_node *origin;
	const char *name;
};

/** struct mock_nodes - a graph */
struct mock_nodes {
	struct mock_node node[16];
	unsigned int nodes;
};

/** mock_add_node - the program makes a node; @call: it is a launch into a stream that is captured, by this
 * function of the runtime and this one of the driver, else a function that is no launch */
void mock_add_node(struct mock_nodes *g, const char *name, uint32_t call, uint32_t inner);

/** mock_clone - makes a graph like @g; an executable one is a clone, too */
void mock_clone(struct mock_nodes *out, const struct mock_nodes *g);

/** mock_put_child - a graph becomes a node of another one: clones of its nodes are added to that */
void mock_put_child(struct mock_nodes *out, const struct mock_nodes *g);

/** mock_replay_loop - launches an executable graph with a conditional node, whose body runs @n times */
void mock_replay_loop(const struct mock_nodes *exec, const struct mock_nodes *body, unsigned int n);

/** mock_replay - launches an executable graph */
void mock_replay(const struct mock_nodes *exec);

/**
 * struct mock_work - a kernel, or a copy where @name is NULL, of a GPU that takes its time: it begins behind
 * what its stream has been given before, and what that was told to wait for
 * @ns: how long it takes
 */
struct mock_work {
	const char *name;
	unsigned int stream;
	uint64_t ns;
};

/* Streams of such a GPU: 1 and more. */
#define MOCK_STREAMS 16

/** mock_launch - launches it; mock_copy_and_wait - a copy that its call waits for */
void mock_launch(const struct mock_work *w);
void mock_copy_and_wait(const struct mock_work *w);

/** mock_order - a stream waits for what another one has been given */
void mock_order(unsigned int stream, unsigned int of);

/** mock_sync_stream - the thread waits for a stream, 0: for all */
void mock_sync_stream(unsigned int stream);

/* How a thread waits for a moment of the clock: by sleeping, where the program does not set another way. */
extern void (*mock_until)(uint64_t ns);

/** mock_wait - until the GPU has done all its work */
void mock_wait(void);

/** mock_overhead - a record without a call */
void mock_overhead(void);

/** mock_profiler - cudaProfilerStart() or -Stop(), which calls the driver's; mock_asked - callbacks of
 * launches and kinds of records that somebody wants */
void mock_profiler(bool start);
unsigned int mock_asked(void);

/** mock_driver_call - a call of the driver's with these arguments and this result */
void mock_driver_call(uint32_t number, const void *params, int result);

/** mock_drop - CUPTI loses @n records */
void mock_drop(size_t n);

/* CUPTI's numbers of cuDriverGetVersion and cudaGraphInstantiate. */
#define MOCK_GET_VERSION 2
#define MOCK_INSTANTIATE 310

int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDevicePrimaryCtxGetState(int device, unsigned int *flags, int *active);

/* Reasons of PC samples, and the number of the n-th. */
#define MOCK_REASONS 4
#define MOCK_REASON(n) (10U + (n))
#define MOCK_SAMPLES 65536

struct mock_sample {
	uint64_t cubin;
	uint64_t offset;
	const char *function;
	uint32_t reason;
	uint32_t samples;
	uint32_t correlation;
};

/**
 * struct mock_samples - that nobody has got yet, and losses that CUPTI has told of
 * @on: the GPU is sampled, for the @turn-th time; @launched: the last turn in which something was launched
 * @slow: the first launch of a turn takes 40 ms, and CUPTI's calls wait for it
 * @loaded: the program has code; @late: it had when sampling was enabled; @looked: a launch has returned since
 * @blind: sampling was disabled before, or kernels were recorded then, so CUPTI did not look at that code, and
 *	all kernels are others until cuptiFinalize(), as with CUDA 13.0
 * @context, @cupti: locks. A launch waits for @cupti while it holds @context for reading, and where sampling
 *	is switched off it is the other way round, as with CUDA 13.0
 */
struct mock_samples {
	pthread_mutex_t lock;
	pthread_rwlock_t context;
	pthread_mutex_t cupti;
	struct mock_sample sample[MOCK_SAMPLES];
	size_t n;
	uint64_t dropped;
	uint64_t other;
	bool on;
	unsigned int turn;
	bool slow;
	unsigned int launched;
	bool loaded;
	bool late;
	_Atomic bool looked;
	bool blind;
};

extern struct mock_samples mock_samples;

/** mock_pass_locks - what a call does that may launch */
void mock_pass_locks(void);

/** mock_module - code is loaded, or goes; mock_load - from a file. Return: where it is */
void mock_module(uint32_t number, const void *cubin, size_t bytes);
const void *mock_load(const char *path, size_t *bytes);

/** mock_crc - of code */
uint64_t mock_crc(const void *cubin, size_t bytes);

/** mock_sample - the GPU has seen warps at an instruction of a kernel of the last call, for MOCK_REASON().
 * Return: in which turn; 0: it is not sampled */
unsigned int mock_sample(uint64_t crc, const char *function, uint64_t offset, uint32_t reason,
			 uint32_t samples);

#endif /* TESTS_INJECT_MOCK_H */
