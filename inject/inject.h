/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The inside of libgrtrace-cuda.so. The library runs in another program's process, so it
 * never ends or blocks the process, and prints nothing, except one line about another
 * client of CUPTI. If it fails, tracing ends, not the program.
 *
 * Which thread runs which file:
 *	the program's threads	launch.c, nvtx.c: one entry in the thread's own ring
 *				for each launch and range; no lock, no allocation, and
 *				no system call except for a thread's first entry
 *				nccl.c: as launch.c, in a ring that all threads share
 *				torch.c, torch_names.c: PyTorch calls them, with the GIL; a name that is
 *				new is looked for
 *				pcsampling.c, cubins.c: when code is loaded or a context is created
 *	CUPTI's threads		activity.c: provide buffers and take back full ones
 *	the writer		everything else: only it makes records and writes files
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

/** enum stack_mode - how the CPU stack of a launch is taken */
enum stack_mode {
	STACK_NONE = GRT_CUDA_STACK_NONE,
	STACK_INPROC = GRT_CUDA_STACK_INPROC,
	STACK_BPF = GRT_CUDA_STACK_BPF,
};

/**
 * struct inject - the state that all files share
 * @on: launches are recorded; cleared when tracing ends. A call that has begun by then is still recorded when
 *	it ends: @leaving, until everything is written
 * @detaching: no callback may call CUPTI, because CUPTI is being detached during the recording
 * @window: number of the recording in this program
 * @pid: pid of this process image; the child of a fork has another pid and records nothing
 * @image: a random number in its records, to distinguish processes with the same pid
 * @dir: the directory of the recording
 * @asked: a recorder started the recording in the running program; @pipe: gets the records instead of @dir
 * @dir_is, @pipe_is: the files of these descriptors
 * @since: when the recording began
 * @recorder: `grtrace record` created the recording and closes it
 * @stack: how stacks are taken
 * @version: version of CUPTI
 * @realtime: CUPTI's time stamps are CLOCK_REALTIME
 * @launches, @launches_lost, @gpu_records, @gpu_lost, @gpu_unknown, @no_stamps: as in PROCESS; used by the
 *	writer only, and complete after each of its rounds
 * @kernels, @kernel_calls: records of kernels, and calls that launch kernels or graphs; used by the writer
 *	only
 * @ranges, @ranges_lost, @fields, @fields_lost: as in PROCESS, for NVTX; used by the writer only
 * @running: kernels that CUPTI reported without an end; used by the writer only
 * @last_call: when the last written launch returned; used by the writer only
 * @homeless: launches of threads that got no ring
 * @nodes_lost: nodes of graphs for which there was no room
 */
struct inject {
	_Atomic bool on;
	_Atomic bool leaving;
	_Atomic bool detaching;
	_Atomic uint32_t window;
	int pid;
	uint64_t image;
	int dir;
	bool asked;
	int pipe;
	struct owned dir_is;
	struct owned pipe_is;
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
	uint64_t fields;
	uint64_t fields_lost;
	uint64_t running;
	uint64_t last_call;
	_Atomic uint64_t homeless;
	_Atomic uint64_t nodes_lost;
};

extern struct inject inject;

/** inject_is_on - whether launches are recorded; if so, all that the recording has set before is visible */
static inline bool inject_is_on(void)
{
	/* pairs with its stores of true */
	return atomic_load_explicit(&inject.on, memory_order_acquire);
}

/** now_ns - the time of a clock, ns */
static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ----------------------------------------------------------- recording.c */

/** recording_open - opens the directory. Return: whether this process is recorded into it */
bool recording_open(const char *path);

/** enum recording_state - what the recorder requests: go on, end, or end without writing anything more */
enum recording_state { RECORDING_GOES_ON, RECORDING_ENDS, RECORDING_IS_OVER };

/** recording_state - what the recorder requests; without a recorder, to go on */
enum recording_state recording_state(void);

/** recording_end - marks that this process has ended regularly, and has closed its files */
void recording_end(void);

/**
 * recording_has_dir - whether files can be opened in the directory; opens the directory again if the program
 * has closed it
 */
bool recording_has_dir(void);

/**
 * recording_may_open - whether files may be opened
 *
 * A program that has dropped privileges since it was loaded may be killed when it opens a file.
 */
bool recording_may_open(void);

/** recording_random - a random number, unique to this process; not 0 */
uint64_t recording_random(void);

/* ---------------------------------------------------------------- main.c */

/** inject_begin_ranges - begins the recording, also without CUDA. Return: whether the program's ranges are
 * recorded */
bool inject_begin_ranges(void);

/** program_goes_on - waits 10 ms; for the writer. Return: true; false at once if the program ends */
bool program_goes_on(void);

/** inject_record_on_request - makes a complete recording into @pipe; @duty: its windows.
 * Return: enum grt_cuda_left */
uint32_t inject_record_on_request(uint32_t stack, const struct grt_duty *duty);

/**
 * inject_writes_running - writes all finished GPU work; for the writer. Return: whether GPU work is still
 * running
 */
bool inject_writes_running(void);

/** inject_wait_for_requests - prepares for recorders that start a recording later; called once */
void inject_wait_for_requests(void);

/** inject_program_ends - whether the program ends */
bool inject_program_ends(void);

/* ------------------------------------------------------------- dormant.c */

/** dormant_is - whether a recorder can start a recording in the program */
bool dormant_is(void);

/** dormant_cgroup - the path of the control group from the recorder. Return: whether it gave one */
bool dormant_cgroup(char *path, size_t room);

/** dormant_state - recording_state() for the recorder that started the recording */
enum recording_state dormant_state(void);

/** dormant_wait_for_room - waits until the pipe has room. Return: false if it never will */
bool dormant_wait_for_room(void);

/** dormant_awake - recording begins now */
void dormant_awake(void);

/** dormant_close_pipe - closes the pipe, after everything was written */
void dormant_close_pipe(void);

/** dormant_wake - wakes the waiting thread, which then checks for a request */
void dormant_wake(void);

/** dormant_forked - called in a child, which cannot be recorded */
void dormant_forked(void);

/* -------------------------------------------------------------- detach.c */

/**
 * detach_reset - called before another recording; counts the contexts that the program has now
 */
void detach_reset(void);

/** detach_is_done - whether CUPTI was detached from the process */
bool detach_is_done(void);

/** detach_see_context - work ran in this context; for the writer */
void detach_see_context(uint32_t context);

/** detach_begin - from now on the program may start GPU work that is not recorded; called by the writer */
void detach_begin(void);

/**
 * detach - detaches CUPTI after the recording, while the program goes on; for the writer, takes at most some
 * 3 s
 */
void detach(void *subscriber);

/** detach_try - detaches CUPTI during the recording, if nothing holds it; for the writer, takes at most some
 * 2 s. Return: whether it is detached */
bool detach_try(void *subscriber);

/** detach_callback - a CUDA call begins or returns that is not recorded */
void detach_callback(int domain, uint32_t number, const struct cupti_callback *data);

/** detach_graph - the program has created a CUDA graph */
void detach_graph(void);

/** detach_context - the program has created a context */
void detach_context(void);

/** detach_has_context - whether the program has created a context since CUDA was loaded */
bool detach_has_context(void);

/** detach_forked - called in a child, which does not use CUPTI */
void detach_forked(void);

/* ------------------------------------------------------------- packets.c */

/* Most threads whose names are known to be in a packet. */
#define PACKET_NAMES 256U

/**
 * struct packets - a stream of the recording: a file of complete packets
 * @fd: -1 before the first packet, and if the file could not be created
 * @is: the file of @fd; @name: number in the file's name
 * @closed: further records are refused
 * @told: PROCESS records count the records of this stream, including records that cannot be written: no
 *	packet counts those, and a reader computes their number
 * @reserve: bytes of disk space that are reserved for the stream, so that a full disk can be reported
 * @room: most bytes of a packet, 0: the default; a failed write is repeated until the packet is full
 * @at: bytes of the packet being filled, with its header
 * @before: the stream that is written before this one, because it has the definitions; may be NULL
 * @records, @names: numbers of records in the packet; lost NAME records are not counted as lost
 * @number: number of the stream in its process, from 1; 0: none yet
 * @reserved: end of the reserved disk space in the file
 * @failed: when the packet could not be written, 0: no failure
 * @named: threads with a NAME record in the packet
 * @lost: records lost since the start
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
 * packets_open - creates the file early
 *
 * Later the program may have no free descriptors, or no right to open files.
 */
void packets_open(struct packets *p);

/**
 * packets_put - appends a record; if its time is before that of the previous record, it gets the time of that
 * record
 */
void packets_put(struct packets *p, struct grt_event *e);

/** packets_flush - writes the present records; if there are only losses, a packet without records */
void packets_flush(struct packets *p);

/** packets_close - packets_flush() for the last time. Return: whether everything was written */
bool packets_close(struct packets *p);

/** packets_give_up - drops the waiting records, to make room for a record that reports this */
void packets_give_up(struct packets *p);

/** packets_unwritten - a text with the number of unwritten records and the reason; NULL: none */
const char *packets_unwritten(void);

/** packets_stop - stops all writing */
void packets_stop(void);

/** packets_reset - prepares for another recording of the process */
void packets_reset(void);

/** packets_forked - called in a child, which does not write the inherited files */
void packets_forked(void);

/** event_init - fills in the common part of a record of the process */
void event_init(struct grt_event *e, uint16_t type, uint16_t size, uint64_t time);

/* -------------------------------------------------------------- define.c */

/** define_packets - the stream of definitions, the @before of other streams */
extern struct packets define_packets;

/** define_reset - forgets all definitions, for another recording */
void define_reset(void);

/**
 * define_round - the writer begins a round; all definitions in it get a time that is not after their first
 * use
 */
void define_round(void);

/** define_nodes - writes the new nodes and modules of stacks */
void define_nodes(void);

/* Most numbers whose definition was not ready when later numbers were written. */
#define DEFINE_LATE_MAX 64U

/** struct define_row - the state of definitions with numbers from 1: which are written */
struct define_row {
	uint32_t done;
	uint32_t lates;
	uint32_t late[DEFINE_LATE_MAX];
};

/**
 * define_row - writes the definitions up to @known with @define, which returns whether the definition was
 * ready
 */
void define_row(struct define_row *r, uint32_t known, bool (*define)(uint32_t number));

/** define_range_node - writes a RANGE_NODE record; @domain and @name are numbers of strings */
void define_range_node(uint32_t node, uint32_t outer, uint32_t domain, uint32_t name);

/** define_string - the number of a text; writes a new text; 0: none (NULL, or no room) */
uint32_t define_string(const char *text);

/** define_name - define_string() for the name of a kernel, whose address is likely to recur */
uint32_t define_name(const char *name);

/** define_process - writes a PROCESS record; @text may be NULL */
void define_process(uint32_t what, const char *text);

/** define_graph_node - writes a GRAPH_NODE record of the thread @tid */
void define_graph_node(uint64_t id, uint64_t source, uint32_t stack, uint32_t tid, uint32_t kind);

/** define_device - writes a DEVICE record from @device and @name; NULL: no name */
void define_device(const struct grt_ev_device *device, const char *name);

/** define_window - writes a CAPTURE record; @end 0: the window has begun */
void define_window(uint32_t number, uint64_t begin, uint64_t end);

/** define_reason - writes a STALL_REASON record */
void define_reason(uint32_t number, const char *name);

/** define_cubin - writes a CUBIN record */
void define_cubin(uint64_t crc, uint64_t bytes, uint32_t kept);

/** define_clock - writes a CLOCK record */
void define_clock(const struct grt_ev_clock *clock);

/** define_flush - writes definitions before records that use them */
void define_flush(void);

/** define_end - writes the final counts after tracing has ended regularly */
void define_end(void);

/** define_close - writes the last packets */
void define_close(void);

/* -------------------------------------------------------------- launch.c */

/** launch_init - allocates rings for the first threads. Return: 0 or -errno */
int launch_init(void);

/** launch_reset - empties the rings, for another recording */
void launch_reset(void);

/** launch_callback - CUPTI's callback for all calls of cuda_calls.def */
void launch_callback(void *user, int domain, uint32_t number, const struct cupti_callback *data);

/** launch_disable - disables CUPTI's callbacks */
void launch_disable(void *subscriber);

/** launch_in_callback - whether a thread is still in a callback in which it may call CUPTI. Clear @on and
 * @leaving 2 ms before, so that no further thread enters such a callback */
bool launch_in_callback(void);

/** launch_forget_outside - forgets what launch_in_callback() has seen */
void launch_forget_outside(void);

/** launch_is_outside - whether the calling thread is in no call of cuda_calls.def */
bool launch_is_outside(void);

/** launch_in_call - whether a thread is in a call of cuda_calls.def */
bool launch_in_call(void);

/** launch_filled - whether a ring is so full that the writer must not wait */
bool launch_filled(void);

/** launch_mark - stores the fill levels of the rings, up to which launch_write() writes */
void launch_mark(void);

/** launch_write - writes the launches up to the mark; @all: including the most recent ones */
void launch_write(bool all);

/**
 * launch_check - if kernels run without a launch reported by the driver, enables callbacks for the runtime's
 * functions, too; called once in each round. Return: whether it has just done so
 */
bool launch_check(void *subscriber);

/** launch_has_frozen - whether CUPTI has stopped giving new numbers to calls; true only once */
bool launch_has_frozen(void);

/** launch_refill - allocates rings for the next threads, outside of the program's threads */
void launch_refill(void);

/** launch_write_ranges - writes NVTX ranges that are open at the end, when no thread records any more */
void launch_write_ranges(void);

/** launch_close - writes the last packets */
void launch_close(void);

/**
 * launch_count_anew - call this before CUPTI is attached again, because it then counts calls from the
 * beginning
 */
void launch_count_anew(void);

/**
 * launch_gpu_correlation - launch_correlation() for a record of GPU work that began at @start, 0: unknown,
 * because CUPTI may have been attached again since then
 */
uint64_t launch_gpu_correlation(uint32_t correlation, uint64_t start);

/* -------------------------------------------------------------- device.c */

/** device_write - defines the devices, as soon as the driver can report them; for the writer, before records
 * with their numbers; @work: there are such records */
void device_write(bool work);

/** device_reset - forgets all definitions, for another recording */
void device_reset(void);

/**
 * launch_enable_calls, launch_disable_calls - callbacks for calls only. Return: how many of the calls CUPTI
 * knows
 */
unsigned int launch_enable_calls(void *subscriber);
void launch_disable_calls(void *subscriber);

/** launch_enable_resources - callbacks for contexts and graphs, which are always needed */
void launch_enable_resources(uint32_t enable, void *subscriber);

/* --------------------------------------------------------------- alloc.c */

/** struct alloc - an allocation or a free, as in an ALLOC record */
struct alloc {
	uint64_t address;
	uint64_t bytes;
	uint32_t call;
	uint32_t gpu;
	uint8_t kind;
	bool freed;
};

/** alloc_enable - enables or disables CUPTI's callbacks for these calls */
void alloc_enable(uint32_t enable, void *subscriber);

/** alloc_is - whether this is a driver function that allocates or frees memory */
bool alloc_is(uint32_t number);

/** alloc_take - called in a callback of a driver function; does not set @a->gpu. Return: whether memory was
 * allocated or freed */
bool alloc_take(uint32_t number, const struct cupti_callback *d, struct alloc *a);

/** alloc_ask_gpu - sets @a->gpu; asks CUPTI, so it must be certain to stay attached */
void alloc_ask_gpu(const struct cupti_callback *d, struct alloc *a);

/* ------------------------------------------------------------- capture.c */

enum capture_how { CAPTURE_ALL, CAPTURE_PROFILER, CAPTURE_NVTX, CAPTURE_DELAY, CAPTURE_DUTY };

/**
 * struct capture - the windows that are recorded
 * @inside: a window is open
 * @turn: number of the window; a call that was open in an earlier window did not return in this one
 * @name: CAPTURE_NVTX: number of the name of the ranges that are windows
 */
struct capture {
	_Atomic enum capture_how how;
	_Atomic bool inside;
	_Atomic uint32_t turn;
	uint32_t name;
};

extern struct capture capture;

/** capture_is_on - whether events are recorded now; if so, the window's @turn is visible */
static inline bool capture_is_on(void)
{
	/* pairs with its stores of true */
	return atomic_load_explicit(&capture.inside, memory_order_acquire);
}

/** capture_init - reads the environment */
void capture_init(void);

/** capture_reset - prepares for another recording that a recorder starts */
void capture_reset(const struct grt_duty *duty);

/** capture_duty_begin - begins a window; for the writer. Return: whether it began */
bool capture_duty_begin(uint32_t number);

/** capture_duty_none - a window in which nothing was launched has passed; for the writer */
void capture_duty_none(uint32_t number, uint64_t begin, uint64_t end);

/** capture_duty_end - ends the window; GPU work of its calls is still recorded; for the writer */
void capture_duty_end(void);

/** capture_stop - ends an open window; nothing is recorded any more */
void capture_stop(void);

/** capture_name - looks up the number of the name, once names exist */
void capture_name(void);

/** capture_range - an NVTX range with the name began or ended; not called in a function that records */
void capture_range(bool begins);

/** capture_call - called in CUPTI's callback. Return: whether the call begins or ends a window */
bool capture_call(int domain, uint32_t number, int site);

/** capture_join - CUPTI was attached: enables what is needed now. Return: 0 or an error */
int capture_join(void *client);

/** capture_leave - CUPTI will be detached */
void capture_leave(void *client);

/** capture_write - writes ended windows; for the writer */
void capture_write(void);

/** capture_close - the recording ends */
void capture_close(void);

/** capture_forked - called in a child, which is not recorded */
void capture_forked(void);

/* ---------------------------------------------------------------- gate.c */

/** gate_begin - calls are counted from now on: CUPTI was attached, and all functions of the driver are seen
 */
void gate_begin(void);

/** gate_end - calls are not counted any more */
void gate_end(void);

/** gate_callback - called in CUPTI's callback of a call, while gate_counts. It returns when the gate is open
 */
void gate_callback(int domain, uint32_t number, int site);
extern _Atomic bool gate_counts;

/** gate_close - waits until no thread of the program is in a call that may launch; calls that begin wait
 * until gate_open(). It takes no lock. Return: false, with the gate open: calls did not return */
bool gate_close(void);
void gate_open(void);

/** gate_expect_first - the GPU is sampled from now on. If the gate is closed, it opens for one call that may
 * launch at a time, until a launch has returned */
void gate_expect_first(void);

/** gate_first_is_over - a launch has returned since then, or calls are not counted */
bool gate_first_is_over(void);

/** gate_first_ns - how long the last first launch took; 0: there was none */
uint64_t gate_first_ns(void);

/** gate_forked - called in a child, which is not recorded */
void gate_forked(void);

/* ---------------------------------------------------------- pcsampling.c */

/** pcsampling_join - CUPTI was attached: starts sampling if requested; @enable 0: CUPTI will be detached */
void pcsampling_join(uint32_t enable, void *subscriber);

/** pcsampling_resource - called in CUPTI's callback when a context or module was created or destroyed */
void pcsampling_resource(uint32_t number, const void *data);

/** pcsampling_is_requested - whether the environment requests samples */
bool pcsampling_is_requested(void);

/** pcsampling_is_stuck - whether CUPTI holds a context that cannot be ended, and must not be finalized */
bool pcsampling_is_stuck(void);

/** pcsampling_window_begin - samples are taken before the random window of this number; for the writer */
void pcsampling_window_begin(uint32_t number);

/** pcsampling_window_next - the window has passed, and samples are still taken: before this one */
void pcsampling_window_next(uint32_t number);

/** pcsampling_window_end - no more samples are taken. Return: false: the program has launched nothing yet, so
 * sampling cannot end */
bool pcsampling_window_end(void);

/** pcsampling_tick - starts sampling of contexts whose calls were seen in the open window; for the writer.
 * Return: whether it still waits for the first one */
bool pcsampling_tick(void);

/** pcsampling_leave - CUPTI was detached: it will not report the end of contexts; for the writer */
void pcsampling_leave(void);

/** pcsampling_see - a call in the context was made, while pcsampling_sees_calls */
void pcsampling_see(void *context);
extern _Atomic bool pcsampling_sees_calls;

/** pcsampling_write - writes samples since the last round; for the writer */
void pcsampling_write(void);

/** pcsampling_end - ends sampling */
void pcsampling_end(void);

/** pcsampling_close - writes the last packets */
void pcsampling_close(void);

/* -------------------------------------------------------------- cubins.c */

/** cubins_take - called in CUPTI's callback when code was loaded */
void cubins_take(const struct cupti_module *m);

/** cubins_write - writes files and records of loaded code; for the writer */
void cubins_write(void);

/** cubins_close - writes the last packets */
void cubins_close(void);

/* ---------------------------------------------------------------- duty.c */

/** duty_init - reads the environment. Return: whether it requests random windows */
bool duty_init(void);

/** duty_set - sets the random windows that a recorder requests */
bool duty_set(const struct grt_duty *duty);

/** duty_parts - parts of a period; 0: no random windows */
uint32_t duty_parts(void);

/** duty_wait_ns - time until the next begin or end of a window, at most @ns */
uint64_t duty_wait_ns(uint64_t ns);

/**
 * struct duty_cupti - callbacks for CUPTI, called with the writer's lock
 * @is_wanted: whether the program uses CUDA
 * @attach: attaches CUPTI to the process. Return: whether it is attached
 * @detach: detaches CUPTI, if possible. Return: whether it is detached
 * @note: writes a note
 */
struct duty_cupti {
	bool (*is_wanted)(void);
	bool (*attach)(void);
	bool (*detach)(void);
	void (*note)(const char *text);
};

/** duty_tick - begins and ends windows; for the writer, without its lock */
void duty_tick(const struct duty_cupti *cupti);

/** duty_close - writes a note if windows passed before they could begin. Return: whether it did */
bool duty_close(void);

/* ---------------------------------------------------------------- nvtx.c */

/** nvtx_init - Return: 0, or an error if there is no memory for ranges */
int nvtx_init(void);

/** nvtx_reset - forgets counts and definitions, for another recording */
void nvtx_reset(void);

/* ------------------------------------------------------------ activity.c */

/** activity_init - allocates buffers. Return: 0 or CUPTI's result */
int activity_init(void);

/** activity_reset - call this before activity_init() of another recording */
void activity_reset(void);

/** activity_write - writes the records of completed buffers of CUPTI */
void activity_write(void);

/** activity_close - writes the last packets */
void activity_close(void);

/** activity_resume - CUPTI gets buffers again, after activity_empty() */
void activity_resume(void);

/**
 * activity_set_graphs - @whole: from the next activity_start() on, a graph has one record instead of a record
 * per kernel
 */
void activity_set_graphs(uint32_t whole);

/** activity_wants_graphs - whether whole graphs are recorded */
bool activity_wants_graphs(void);

/** activity_start - starts CUPTI's records. Return: 0 or CUPTI's result */
int activity_start(void);

/** activity_stop - stops CUPTI's records */
void activity_stop(void);

/** activity_empty - frees the memory of the buffers, when CUPTI requests no more */
void activity_empty(void);

/** activity_register - tells CUPTI whom to ask for buffers, and the time. Return: 0 or CUPTI's result */
int activity_register(void);

/** activity_is_requested - whether CUPTI has requested a buffer in this recording */
bool activity_is_requested(void);

/** activity_recover - writes the records of buffers that CUPTI has and no longer fills */
void activity_recover(void);

/* ---------------------------------------------------------------- held.c */

/** held_is - whether another client of CUPTI gets the records: what it uses must not be disabled */
bool held_is(void);

/** held_reset - forgets all, for another recording */
void held_reset(void);

/* The next three are called as records are written, in the order of time. */
/** held_see_record - a record of the GPU's work came */
void held_see_record(uint64_t correlation);

/** held_see_launch - a call launched kernels, of which CUPTI must have records when they have run */
void held_see_launch(uint64_t correlation, uint32_t context, uint64_t end);

/** held_see_wait - a call that began at @begin has waited for all work of a context, with success */
void held_see_wait(uint32_t context, uint64_t begin);

/** held_round - called once in a round of the writer, after all has been written */
void held_round(void);

/** held_close - the recording ends */
void held_close(void);

/* ---------------------------------------------------------- subscriber.c */

/** subscriber_prefers_several - whether the environment asks for a subscription beside others */
bool subscriber_prefers_several(void);

/** subscriber_reset - forgets the subscriber, for another recording */
void subscriber_reset(void);

/**
 * subscriber_join_others - subscribes so that other clients of CUPTI may subscribe, too
 * Return: false: only cuptiSubscribe() is left
 */
bool subscriber_join_others(void **subscriber, cupti_callback_fn fn);

/** subscriber_is_one_of_several - whether subscriber_join_others() has subscribed */
bool subscriber_is_one_of_several(void);

/* CUPTI's functions without _v2, or with it if subscriber_join_others() has subscribed. */
int subscriber_enable(int kind);
void subscriber_disable(int kind);
int subscriber_register(cupti_request_fn on_request, cupti_complete_fn on_complete);
int subscriber_next_record(uint8_t *buffer, size_t valid, union cupti_record **record);
int subscriber_dropped(void *context, uint32_t stream, size_t *dropped);

/* --------------------------------------------------------------- clock.c */

/** clock_snapshot - takes and writes a snapshot of the clocks */
void clock_snapshot(void);

/** clock_convert - converts a GPU time stamp to CLOCK_MONOTONIC; 0 stays 0 */
uint64_t clock_convert(uint64_t stamp);

/** clock_init - measures the clocks, takes some ms */
void clock_init(void);

/** clock_reset - forgets all snapshots, for another recording */
void clock_reset(void);

/** clock_forked - called in a child, which has no writer to tune the counter */
void clock_forked(void);

/** clock_tune - keeps clock_monotonic() exact; for the writer, every 10 ms */
void clock_tune(void);

/**
 * clock_monotonic - CLOCK_MONOTONIC, ns, for every launch and for CUPTI
 *
 * If reading the system's clock costs some 20 ns, this reads it. In sandboxes and virtual
 * machines it may cost 300 ns, and a launch reads it twice here and several times in CUPTI:
 * then the time comes from the processor's counter, which is repeatedly tuned to the clock,
 * with an error of some 100 ns.
 */
uint64_t clock_monotonic(void);

/** clock_cupti - clock_monotonic() as a callback for CUPTI */
uint64_t clock_cupti(void);

/** clock_real - CLOCK_REALTIME as a callback for CUPTI */
uint64_t clock_real(void);

/** clock_give_back - from now on clock_cupti() is CLOCK_REALTIME, which CUPTI's other clients expect */
void clock_give_back(void);

/* --------------------------------------------------------------- cupti.c */

/**
 * cupti_load - finds the CUPTI that fits this process and binds its functions
 * @why: gets a line with the reason if there is none
 * Return: 0 or -errno
 */
int cupti_load(struct cupti *c, char *why, size_t room);

/** cupti_driver_symbol - a symbol of the driver library that the process has loaded; NULL: none */
void *cupti_driver_symbol(const char *name);

#endif /* GRT_INJECT_INJECT_H */
