/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libgrtrace-cuda.so inside: it lives in another program's process, so it never
 * ends or blocks it, and prints nothing but one line about another client of
 * CUPTI. What fails turns tracing off, not the program.
 *
 * Who runs what:
 *	the program's threads	launch.c, nvtx.c: one entry in the thread's own ring
 *				for each launch and range; no lock, no allocation, no
 *				system call but for a thread's first one
 *				nccl.c: the same, in a ring of all threads
 *				pcsampling.c, cubins.c: where code is loaded and contexts are made
 *	CUPTI's threads		activity.c: hand buffers in and out
 *	the writer		all the rest: it alone makes records and writes files
 */
#ifndef GRT_INJECT_INJECT_H
#define GRT_INJECT_INJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <grtrace/event.h>
#include <grtrace/stream.h>

#include "cupti_abi.h"
#include "owned.h"
#include "trace/cuda_ask.h"

#define NS_PER_S 1000000000ULL

/** enum stack_mode - what takes the CPU's stack of a launch */
enum stack_mode {
	STACK_NONE = GRT_CUDA_STACK_NONE,
	STACK_INPROC = GRT_CUDA_STACK_INPROC,
	STACK_BPF = GRT_CUDA_STACK_BPF,
};

/**
 * struct inject - what the parts share
 * @on: launches are recorded; cleared when tracing ends. What has begun by
 *	then is recorded when it ends: @leaving, until all is written
 * @detaching: no callback may call CUPTI, which is being taken out while the recording goes on
 * @pid: of this process image; a fork's child has another one and stays silent
 * @image: a random number in its records: another process with the same pid has another one
 * @dir: the recording
 * @asked: a recorder has asked the program, which ran already; @pipe: where its records go instead of @dir
 * @dir_is, @pipe_is: the files that these are of
 * @window: which of the program's recordings it is
 * @since: when it began
 * @recorder: `grtrace record` made it and closes it
 * @stack: how stacks are taken
 * @version: of CUPTI
 * @realtime: CUPTI's stamps are CLOCK_REALTIME
 * @launches, @launches_lost, @gpu_records, @gpu_lost, @gpu_unknown, @no_stamps: as
 *	in PROCESS; the writer's, and complete with its rounds
 * @kernels, @kernel_calls: records of kernels, and calls that launch kernels or graphs; the writer's
 * @ranges, @ranges_lost: as in PROCESS, of NVTX; the writer's
 * @running: kernels that CUPTI reported without an end; the writer's
 * @last_call: when the last launch that is written returned; the writer's
 * @homeless: launches of threads that got no ring
 * @nodes_lost: nodes of graphs that found no room
 */
struct inject {
	_Atomic bool on;
	_Atomic bool leaving;
	_Atomic bool detaching;
	int pid;
	uint64_t image;
	int dir;
	bool asked;
	int pipe;
	struct owned dir_is;
	struct owned pipe_is;
	uint32_t window;
	uint64_t since;
	bool recorder;
	enum stack_mode stack;
	uint32_t version;
	bool realtime;
	struct cupti cupti;
	uint64_t launches;
	uint64_t launches_lost;
	uint64_t gpu_records;
	uint64_t gpu_lost;
	uint64_t gpu_unknown;
	uint64_t no_stamps;
	uint64_t kernels;
	uint64_t kernel_calls;
	uint64_t ranges;
	uint64_t ranges_lost;
	uint64_t running;
	uint64_t last_call;
	_Atomic uint64_t homeless;
	_Atomic uint64_t nodes_lost;
};

extern struct inject inject;

/** now_ns - of a clock, ns */
static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ----------------------------------------------------------- recording.c */

/** recording_open - the directory. Return: whether this process is to be recorded into it */
bool recording_open(const char *path);

/** enum recording_asks - what is to be done: go on, end, or end and write nothing any more */
enum recording_asks { RECORDING_GOES_ON, RECORDING_ENDS, RECORDING_IS_OVER };

/** recording_asks - what the recorder wants; without one it goes on */
enum recording_asks recording_asks(void);

/** recording_end - this process has ended in order, and has closed its files */
void recording_end(void);

/** recording_has_dir - whether files can be opened in the directory; where the program has closed it, it is
 * opened again */
bool recording_has_dir(void);

/**
 * recording_may_open - whether files may be opened
 *
 * A program that has given up rights since it was loaded may be killed for it.
 */
bool recording_may_open(void);

/** recording_random - a number that nobody else gets; not 0 */
uint64_t recording_random(void);

/* ---------------------------------------------------------------- main.c */

/** inject_begin_ranges - the recording begins, also without CUDA. Return: whether the program's ranges are
 * wanted */
bool inject_begin_ranges(void);

/** program_goes_on - 10 ms later; the writer's. Return: false: at once, because it ends */
bool program_goes_on(void);

/** inject_record_asked - a recording from its beginning to its end, into @pipe; @duty: in which windows.
 * Return: enum grt_cuda_left */
uint32_t inject_record_asked(uint32_t stack, const struct grt_duty *duty);

/** inject_writes_running - all that the GPU has done is written; the writer. Return: whether it does more */
bool inject_writes_running(void);

/** inject_be_asked - once, before there may be one */
void inject_be_asked(void);

/** inject_is_told - the program ends */
bool inject_is_told(void);

/* ------------------------------------------------------------- dormant.c */

/** dormant_is - whether the program may be asked */
bool dormant_is(void);

/** dormant_cgroup - the path that a recorder has given. Return: whether it has */
bool dormant_cgroup(char *path, size_t room);

/** dormant_asks - as recording_asks(), of the recorder that has asked */
enum recording_asks dormant_asks(void);

/** dormant_wait_for_room - until the pipe takes more. Return: false: it will not */
bool dormant_wait_for_room(void);

/** dormant_awake - what happens from now on is recorded */
void dormant_awake(void);

/** dormant_close_pipe - all is written */
void dormant_close_pipe(void);

/** dormant_wake - the thread that waits looks what is to be done */
void dormant_wake(void);

/** dormant_forked - in a child, which is not asked */
void dormant_forked(void);

/* -------------------------------------------------------------- detach.c */

/** detach_reset - before another recording: what the program has made by now */
void detach_reset(void);

/** detach_is_done - CUPTI was taken out of the process */
bool detach_is_done(void);

/** detach_see_context - work ran in this context; the writer */
void detach_see_context(uint32_t context);

/** detach_begin - from now on the program may start GPU work that is not recorded; called by the writer */
void detach_begin(void);

/** detach - CUPTI is given back: the recording has ended, the program goes on; the writer, some 3 s at most
 */
void detach(void *subscriber);

/** detach_try - CUPTI is taken out of a program that is recorded on, where nothing holds it; the writer, some
 * 2 s at most. Return: whether it is out */
bool detach_try(void *subscriber);

/** detach_callback - a call of CUDA begins or returns, and is not recorded */
void detach_callback(int domain, uint32_t number, const struct cupti_callback *data);

/** detach_graph - the program has a CUDA graph */
void detach_graph(void);

/** detach_context - the program has made a context */
void detach_context(void);

/** detach_has_context - whether it has made one since CUDA was there */
bool detach_has_context(void);

/** detach_forked - in a child, which leaves CUPTI alone */
void detach_forked(void);

/* ------------------------------------------------------------- packets.c */

/* Threads whose names are remembered to be in a packet. */
#define PACKET_NAMES 256U

/**
 * struct packets - a stream of the recording: a file of whole packets
 * @fd: -1 before the first packet, and where none could be made
 * @is: the file that it is of; @name: its number in the file's name
 * @closed: records are not taken any more
 * @told: PROCESS records count its records, also those that cannot be written: these are in no balance of
 *	packets, and a reader finds out how many they are
 * @reserve: bytes of the disk that are kept for it, so that a full disk can be reported
 * @room: bytes of a packet at most, 0: the usual; what cannot be written is tried again until there
 *	are so many
 * @at: bytes of the packet being filled, its header included
 * @before: is written before this one, for it defines what is used here; may be NULL
 * @records, @names: in the packet; NAME records are for others and are not missed
 * @number: of the stream in its process, from 1; 0: none yet
 * @reserved: up to which byte of the file the disk is kept
 * @failed: when it could not be written, 0: it could
 * @named: threads that are named in the packet by a NAME record
 * @lost: records that did not come here since the start
 */
struct packets {
	int fd;
	struct owned is;
	int name;
	bool closed;
	bool told;
	size_t reserve;
	size_t room;
	struct packets *before;
	char *buf;
	size_t at;
	uint64_t size;
	uint64_t first;
	uint64_t last;
	uint64_t records;
	uint64_t names;
	uint64_t seq;
	uint32_t number;
	uint64_t lost;
	uint64_t reserved;
	uint64_t failed;
	struct grt_balance balance;
	uint32_t named[PACKET_NAMES];
};

/**
 * packets_open - makes the file, while the program still lets us
 *
 * Later it may have used up its descriptors, or have given up the right to open any.
 */
void packets_open(struct packets *p);

/** packets_put - appends a record, whose time is raised to that of the one before where it is less */
void packets_put(struct packets *p, struct grt_event *e);

/** packets_flush - writes what there is, and a packet without records where only losses are to be reported */
void packets_flush(struct packets *p);

/** packets_close - the same, for the last time. Return: whether all was written */
bool packets_close(struct packets *p);

/** packets_give_up - the records that wait are lost: there is room for one that says so */
void packets_give_up(struct packets *p);

/** packets_unwritten - how many were, and why; NULL: none */
const char *packets_unwritten(void);

/** packets_mute - nothing is written any more */
void packets_mute(void);

/** packets_reset - for another recording of the process */
void packets_reset(void);

/** packets_forked - in a child, which has inherited the files and does not write them */
void packets_forked(void);

/** event_init - the common part of a record of the process */
void event_init(struct grt_event *e, uint16_t type, uint16_t size, uint64_t time);

/* -------------------------------------------------------------- define.c */

/** define_packets - the stream of definitions, as @before of others */
extern struct packets define_packets;

/** define_reset - nothing is defined, for another recording */
void define_reset(void);

/** define_round - the writer begins a round: all that is defined in it is not later than what uses it */
void define_round(void);

/** define_nodes - writes the nodes and modules that stacks have got since the last time */
void define_nodes(void);

/* Numbers whose thread was still making them when those behind them were written. */
#define DEFINE_LATE_MAX 64U

/** struct define_row - definitions by number, from 1: what is written so far */
struct define_row {
	uint32_t done;
	uint32_t lates;
	uint32_t late[DEFINE_LATE_MAX];
};

/** define_row - writes those up to @known by a function: whether it is made */
void define_row(struct define_row *r, uint32_t known, bool (*define)(uint32_t number));

/** define_range_node - writes a RANGE_NODE record; its texts are strings */
void define_range_node(uint32_t node, uint32_t outer, uint32_t domain, uint32_t name);

/** define_string - the number of a text, which is written when it is new; 0: none (NULL, or no room) */
uint32_t define_string(const char *text);

/** define_name - the same for a kernel's name, whose address is likely to come again */
uint32_t define_name(const char *name);

/** define_process - writes a PROCESS record; @text may be NULL */
void define_process(uint32_t what, const char *text);

/** define_graph_node - writes a GRAPH_NODE record, of the thread @tid */
void define_graph_node(uint64_t id, uint64_t source, uint32_t stack, uint32_t tid, uint32_t kind);

/** define_device - writes a DEVICE record, all but @name of which is in @device; NULL: it has none */
void define_device(const struct grt_ev_device *device, const char *name);

/** define_window - writes a CAPTURE record; @end 0: it has begun */
void define_window(uint32_t number, uint64_t begin, uint64_t end);

/** define_reason - writes a STALL_REASON record */
void define_reason(uint32_t number, const char *name);

/** define_cubin - writes a CUBIN record */
void define_cubin(uint64_t crc, uint64_t bytes, uint32_t kept);

/** define_clock - writes a CLOCK record */
void define_clock(const struct grt_ev_clock *clock);

/** define_flush - what is defined is on its way before what uses it */
void define_flush(void);

/** define_end - tracing has ended in order, with these counts */
void define_end(void);

/** define_close - the last of it */
void define_close(void);

/* -------------------------------------------------------------- launch.c */

/** launch_init - rings for the first threads. Return: 0 or -errno */
int launch_init(void);

/** launch_reset - nothing is in the rings, for another recording */
void launch_reset(void);

/** launch_callback - CUPTI's callback for all calls of cuda_calls.def */
void launch_callback(void *user, int domain, uint32_t number, const struct cupti_callback *data);

/** launch_disable - CUPTI does not call any more */
void launch_disable(void *subscriber);

/** launch_in_callback - whether a thread is still in a callback in which it may call CUPTI; with @on and
 * @leaving cleared 2 ms before, for none comes there any more */
bool launch_in_callback(void);

/** launch_forget_outside - what launch_in_callback() has seen before */
void launch_forget_outside(void);

/** launch_is_outside - whether the calling thread is in no call of cuda_calls.def */
bool launch_is_outside(void);

/** launch_in_call - whether a thread is in a call of cuda_calls.def */
bool launch_in_call(void);

/** launch_filled - whether a ring is so full that it should not wait */
bool launch_filled(void);

/** launch_mark - remembers how far the rings are filled: launch_write() writes that much */
void launch_mark(void);

/** launch_write - writes the launches up to the mark; @all: also those of the last moment */
void launch_write(bool all);

/**
 * launch_check - where kernels run and the driver reports no launch, requests the runtime's functions, too;
 * once in each round. Return: whether it has just done so
 */
bool launch_check(void *subscriber);

/** launch_has_frozen - whether CUPTI has stopped to give calls numbers of their own; once */
bool launch_has_frozen(void);

/** launch_refill - rings for the next threads, made where it costs the program nothing */
void launch_refill(void);

/** launch_write_ranges - ranges of NVTX that are open at the end; no thread records any more */
void launch_write_ranges(void);

/** launch_close - the last packets */
void launch_close(void);

/** launch_correlation - CUPTI's 32 bit number, in 64 bits that do not wrap; 0: CUPTI does not count any more
 */
uint64_t launch_correlation(uint32_t correlation);

/** launch_count_anew - before CUPTI comes again, which counts calls from the beginning then */
void launch_count_anew(void);

/** launch_gpu_correlation - the same for a record of what the GPU did from @start on, 0: unknown: CUPTI may
 * have come again since then */
uint64_t launch_gpu_correlation(uint32_t correlation, uint64_t start);

/* -------------------------------------------------------------- device.c */

/** device_write - defines the devices, once the driver can be asked about them; the writer, before records
 * that have their numbers; @work: such ones are there */
void device_write(bool work);

/** device_reset - none is defined, for another recording */
void device_reset(void);

/** launch_enable_calls, launch_disable_calls - the calls alone. Return: how many CUPTI knows */
unsigned int launch_enable_calls(void *subscriber);
void launch_disable_calls(void *subscriber);

/** launch_enable_resources - contexts and graphs, which is wanted at all times */
void launch_enable_resources(uint32_t enable, void *subscriber);

/* --------------------------------------------------------------- alloc.c */

/** struct alloc - memory was allocated, or freed; as in an ALLOC record */
struct alloc {
	uint64_t address;
	uint64_t bytes;
	uint32_t call;
	uint32_t gpu;
	uint8_t kind;
	bool freed;
};

/** alloc_enable - asks CUPTI for the calls, or not any more */
void alloc_enable(uint32_t enable, void *subscriber);

/** alloc_is - whether it is one of the driver's functions that allocate or free */
bool alloc_is(uint32_t number);

/** alloc_take - in a callback of the driver's. Return: whether memory was allocated or freed */
bool alloc_take(uint32_t number, const struct cupti_callback *d, struct alloc *a);

/* ------------------------------------------------------------- capture.c */

enum capture_how { CAPTURE_ALL, CAPTURE_PROFILER, CAPTURE_NVTX, CAPTURE_DELAY, CAPTURE_DUTY };

/**
 * struct capture - which time is recorded
 * @inside: this moment is
 * @turn: another one in each window; calls that were open in an earlier one did not return in it
 * @name: CAPTURE_NVTX: number of the name of the ranges that are windows
 */
struct capture {
	enum capture_how how;
	_Atomic bool inside;
	uint32_t turn;
	uint32_t name;
};

extern struct capture capture;

/** capture_is_on - whether what happens now is recorded */
static inline bool capture_is_on(void)
{
	return atomic_load_explicit(&capture.inside, memory_order_relaxed);
}

/** capture_init - what the environment wants */
void capture_init(void);

/** capture_reset - for another recording of a program that is asked */
void capture_reset(const struct grt_duty *duty);

/** capture_duty_begin - a window begins; the writer. Return: whether it does */
bool capture_duty_begin(uint32_t number);

/** capture_duty_end - it ends, and what its calls have given the GPU will be recorded; the writer */
void capture_duty_end(void);

/** capture_stop - a window that is open ends now: nothing is recorded any more */
void capture_stop(void);

/** capture_name - the name, once names can be known */
void capture_name(void);

/** capture_range - a range of NVTX with the name began, or ended; not in a function that records */
void capture_range(bool begins);

/** capture_call - in CUPTI's callback. Return: whether it was for windows */
bool capture_call(int domain, uint32_t number, int site);

/** capture_join - CUPTI is there, and does what is wanted now. Return: 0 or not */
int capture_join(void *client);

/** capture_leave - it is given back */
void capture_leave(void *client);

/** capture_write - windows that have ended; the writer */
void capture_write(void);

/** capture_close - the recording ends */
void capture_close(void);

/** capture_forked - in a child: nothing is recorded */
void capture_forked(void);

/* ---------------------------------------------------------- pcsampling.c */

/** pcsampling_join - CUPTI is there, and is to sample where that is wanted; @enable 0: it is given back */
void pcsampling_join(uint32_t enable, void *subscriber);

/** pcsampling_resource - in CUPTI's callback: contexts and modules come and go */
void pcsampling_resource(uint32_t number, const void *data);

/** pcsampling_write - what was sampled since the last round; the writer */
void pcsampling_write(void);

/** pcsampling_end - nothing is sampled any more */
void pcsampling_end(void);

/** pcsampling_close - the last packets */
void pcsampling_close(void);

/* -------------------------------------------------------------- cubins.c */

/** cubins_take - in CUPTI's callback: code was loaded */
void cubins_take(const struct cupti_module *m);

/** cubins_write - files and records of what was loaded; the writer */
void cubins_write(void);

/** cubins_close - the last of them */
void cubins_close(void);

/* ---------------------------------------------------------------- duty.c */

/** duty_init - what the environment wants. Return: whether that is windows at random places */
bool duty_init(void);

/** duty_set - the same, of a recorder that asks */
bool duty_set(const struct grt_duty *duty);

/** duty_parts - of a period; 0: there are none */
uint32_t duty_parts(void);

/** duty_wait_ns - how long there is nothing to be done, at most @ns */
uint64_t duty_wait_ns(uint64_t ns);

/**
 * struct duty_cupti - what is done with CUPTI, by the owner of the writer's lock
 * @is_wanted: the program uses CUDA
 * @attach: it comes into the process. Return: whether it is there
 * @detach: it goes, where it can. Return: whether it has
 * @note: writes a note
 */
struct duty_cupti {
	bool (*is_wanted)(void);
	bool (*attach)(void);
	bool (*detach)(void);
	void (*note)(const char *text);
};

/** duty_tick - begins and ends windows; the writer, without its lock */
void duty_tick(const struct duty_cupti *cupti);

/* ---------------------------------------------------------------- nvtx.c */

/** nvtx_init - Return: 0, or not: there is no memory for ranges */
int nvtx_init(void);

/** nvtx_reset - nothing is counted or defined, for another recording */
void nvtx_reset(void);

/* ------------------------------------------------------------ activity.c */

/** activity_init - buffers. Return: 0 or CUPTI's result */
int activity_init(void);

/** activity_reset - before activity_init() of another recording */
void activity_reset(void);

/** activity_write - records of the buffers that CUPTI has completed */
void activity_write(void);

/** activity_close - the last packets */
void activity_close(void);

/** activity_resume - CUPTI gets buffers again, after activity_empty() */
void activity_resume(void);

/** activity_set_graphs - @whole: from the next activity_start() on a graph is one record, not its kernels */
void activity_set_graphs(uint32_t whole);

/** activity_start - CUPTI makes records from now on. Return: 0 or CUPTI's result */
int activity_start(void);

/** activity_stop - CUPTI makes no records any more */
void activity_stop(void);

/** activity_empty - nobody requests buffers any more: their memory goes back */
void activity_empty(void);

/* --------------------------------------------------------------- clock.c */

/** clock_snapshot - takes and writes one */
void clock_snapshot(void);

/** clock_convert - a stamp of the GPU to CLOCK_MONOTONIC; 0 stays 0 */
uint64_t clock_convert(uint64_t stamp);

/** clock_init - measures the clocks, some ms */
void clock_init(void);

/** clock_reset - without snapshots, for another recording */
void clock_reset(void);

/** clock_forked - in a child, which has no writer: the counter is not tuned any more */
void clock_forked(void);

/** clock_tune - keeps clock_monotonic() right; the writer, every 10 ms */
void clock_tune(void);

/**
 * clock_monotonic - CLOCK_MONOTONIC, ns, for every launch and for CUPTI
 *
 * Where the system has it for some 20 ns that is it. In sandboxes and virtual
 * machines it may take 300, and a launch takes two of ours and several of CUPTI's:
 * then it comes from the processor's counter, tuned to the clock again and again,
 * and may be some 100 ns off.
 */
uint64_t clock_monotonic(void);

/** clock_cupti - the same, for CUPTI */
uint64_t clock_cupti(void);

/** clock_give_back - from now on clock_cupti() is CLOCK_REALTIME, which CUPTI's other clients expect */
void clock_give_back(void);

/* --------------------------------------------------------------- cupti.c */

/**
 * cupti_load - finds the CUPTI that fits this process and binds its functions
 * @why: why there is none, a line
 * Return: 0 or -errno
 */
int cupti_load(struct cupti *c, char *why, size_t room);

/** cupti_driver_symbol - in the driver's library that the process has loaded; NULL: none */
void *cupti_driver_symbol(const char *name);

#endif /* GRT_INJECT_INJECT_H */
