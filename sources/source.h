/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A live input of `record` is a file of this directory, a row in
 * sources.def, and one struct source in the file. A source owns its streams;
 * `record` owns the files for their packets, and the loop.
 */
#ifndef GRTRACE_SOURCE_H
#define GRTRACE_SOURCE_H

#include <poll.h>

#include <grtrace/grtrace.h>

#include "host/known_gpus.h"
#include "host/option.h"

struct grt_duty;
struct grt_job_sums;

/* Most streams of one source: one per CPU or traced thread, and one of its own. */
#define SOURCE_STREAMS_MAX 1025

/* Most ring numbers of one source; the numbers of the next source follow. */
#define SOURCE_RINGS 65536U

/**
 * struct source_setup - what `record` requests from a source
 * @pid: only events of this process, 0: all processes
 * @gpu_users: all processes that use CUDA, instead of @pid
 * @comm: only threads of this name; NULL: all
 * @ring: only rings of this name; NULL: all
 * @driver: the driver whose fences are jobs, for sources that need one
 * @gpu: only this GPU; NULL: all. Valid until close()
 * @types: bit per requested event type, 0: all
 * @buffer_size: bytes per CPU, 0: unchanged
 * @merged: one stream of complete packets instead of one per CPU
 * @user_stack, @kernel_stack: record CPU stacks at each SUBMIT
 * @stack: the value of the option --stack; NULL: not given
 * @no_names: the frames of stacks get no names
 * @program: a program will be started
 * @whole: sources that can make one JOB record of each job, in place of its events; struct source.running has
 *	those in flight
 * @sums: with @whole: sources that can sum up finished jobs hand them out by struct source.sums, without
 *	records
 * @keep_jobs: with @sums: bytes of memory in which sources keep the last of those jobs, for struct
 *	source.hand; each one subtracts what it takes. NULL: none are kept
 * @named: the user has named this source
 * @taken: the recorder reads all packets, to keep them in memory or in segments: traced programs write no
 *	files
 * @duty: record only in these windows, for sources with struct source.duty; NULL: always
 * @uid, @gid: the owner of files that the source creates beside the recording, and the user of the recorder
 *	once capture runs; (uid_t)-1: the present user
 * @ring_base: numbers of rings begin here, so that sources do not share them
 * @covered: whether another source of this recording reports this driver's jobs; NULL: none does
 * @arg: argument of @covered
 * @note: prints a message for the user about a step that was done (a module was loaded)
 */
struct source_setup {
	pid_t pid;
	bool gpu_users;
	const char *comm;
	const char *ring;
	const char *driver;
	const struct known_gpu *gpu;
	struct grt_type_set types;
	uint64_t buffer_size;
	bool merged;
	bool user_stack;
	bool kernel_stack;
	const char *stack;
	bool no_names;
	bool program;
	bool whole;
	bool sums;
	uint64_t *keep_jobs;
	bool named;
	bool taken;
	const struct grt_duty *duty;
	uid_t uid;
	gid_t gid;
	uint32_t ring_base;
	bool (*covered)(void *arg, const char *driver);
	void *arg;
	void (*note)(const char *text);
};

/**
 * struct source_held - the jobs that a source keeps
 * @from: all that were complete at this time or later are there, ns
 * @bytes: memory for them
 */
struct source_held {
	uint64_t from;
	uint64_t bytes;
};

/* Gets whole packets of a CPU. Return: 0 or -errno */
typedef int source_hand(void *arg, unsigned int cpu, const char *data, size_t len);

/**
 * struct source - one live input
 * @name: as in sources.def
 * @by_name: not part of `auto`, for one of these reasons: another source has its events, too; the user must
 *	name an object to trace; or its events are many and belong to no job
 * @program: the source traces only the program that is started for the recording: not part of `monitor all`
 * @background: `auto` includes it only beside another source, because it reports no jobs itself
 * @addresses: the frames of its stacks are addresses, which get their names at the end of the recording
 * @prompt_ms: how often a view of single events reads it, so that the events are recent; 0: the default
 * @uncut: the program's own runtime makes its time stamps, by any clock: no event is cut off at the ends of
 *	the recording, and the source has no window
 * @alone: if one of its options was given, `auto` means this source only
 * @duty: it supports --duty
 * @window_ms: the length of a window of --duty if the user gives none; NULL: as usual
 * @all_gpus: what it records of all GPUs, because it has no filter by GPU. NULL: it has one, or records no
 *	events of GPUs
 * @less: what to type if it loses events; NULL: a larger --buffer
 * @options: options of this source only, ended by a row without name; NULL: none. Their targets belong to the
 *	source
 * @word: parses the text after "NAME:" in `-e`. Return: NULL, or why it is invalid. NULL: no text is allowed
 *	there
 * @refuse: returns why its options contradict the setup, NULL if they do not. May be NULL
 * @probe: whether it works here, without changing anything: 0, or a negative errno with what, why and fix
 * @open: prepares the source, without starting capture. Stores the state in *@state, which close() frees
 *	(also after an error of a later step)
 * @covers: whether it reports the jobs of this driver; may be NULL
 * @attach: called when the recording's directory exists; the program will be started with the environment
 *	that this callback leaves; @dir stays valid until @close; may be NULL
 * @start: begins capture
 * @begins: all sources have started, and the recording begins at @from, ns. The source now records values
 *	that it reads periodically, and states on which later events depend; may be NULL
 * @ends: the recording will end at @to, ns, in the near future: later events are not needed; may be NULL
 * @program_stderr: after attach(): the standard error of the program, -1: ours; may be NULL
 * @program_started: the program has its own copy of @program_stderr, or will not be started; with
 *	@program_stderr
 * @confine: after start(): does now all work that would need privileges later. *@keep gets bits (1 << CAP_*)
 *	of the privileges that the source still needs. NULL: none
 * @confined: after confine(): the user was changed, and the calling thread has dropped its privileges. The
 *	source now does the same in its own threads. NULL: it has none
 * @streams: number of streams; @fds gets a descriptor for poll() of each
 * @places: number of files of its packets; files beyond @streams are created with their first packet; NULL:
 *	one for each stream
 * @place: the file of the packets that read() of stream @i returned last; with @places
 * @running: the next flush() also makes a JOB record without a COMPLETE readable, with the time @at, of each
 *	job in flight then: with struct source_setup.whole, no other event says that a job is. @at is now.
 *	NULL: other events do
 * @bound: jobs that are complete before @at, ns, belong to the present sums, and others to the next ones: the
 *	next running() is of this moment, which is still to come. May be called again with a later one. NULL:
 *	it has no sums
 * @sums: after running(): calls @fn for the jobs that it has summed up since the moment before, and clears
 *	them. Return: 0, or the result of @fn, which ends the loop
 * @held: what it has for hand(); NULL: nothing
 * @hand: calls @fn for packets with a JOB record of each job that was summed up and complete from @from to
 *	@to, ns. The records stay. read() never returns these packets, which belong into files of their own,
 *	one for each stream. Return: 0, the result of @fn, or -errno
 * @flush: makes everything captured so far readable; NULL: everything always is
 * @name_frames: names the frames of the stacks so far, some with each call, during capture. Return: 1: done;
 *	0: not yet, or -errno. NULL: no stack needs this
 * @read: reads packets of stream @i, complete ones if @len allows; > 0 bytes, 0 end of stream, -EAGAIN
 *	nothing yet, or another negative errno
 * @took: a packet of the source was stored; may be NULL
 * @stop: ends capture and makes the remaining packets readable. Return: 1 if the streams now end by
 *	themselves, 0 if they go on (capture was on before; only packets that are readable now belong to the
 *	recording), or -errno
 * @adopted: files that other processes have written into the directory, called @name_NUMBER_NUMBER, are now
 *	complete and part of the recording; NULL: there are none
 * @missed: after stop() and the last took(): the events that the source counted and took() did not get; @err
 *	gets the message if delivered events are missing. NULL: it has no count of its own.
 * Return: 0, or -errno if this is unknown
 * @describe: adds entries to the recording's environment; the texts live until close(). Return: entries
 *	written, at most @room
 * @close: restores every setting and frees @state; NULL is allowed
 */
struct source {
	const char *name;
	bool by_name;
	unsigned int prompt_ms;
	bool program;
	bool background;
	bool uncut;
	bool addresses;
	bool alone;
	bool duty;
	unsigned int (*window_ms)(void);
	const char *all_gpus;
	const char *less;
	const struct cmd_opt *options;
	const char *(*word)(const char *text);
	const char *(*refuse)(const struct source_setup *setup);
	int (*probe)(struct grt_err *err);
	int (*open)(void **state, const struct source_setup *setup, struct grt_err *err);
	bool (*covers)(void *state, const char *driver);
	int (*attach)(void *state, int dir, const char *path, struct grt_err *err);
	int (*program_stderr)(void *state);
	void (*program_started)(void *state);
	int (*start)(void *state, struct grt_err *err);
	void (*begins)(void *state, uint64_t from);
	void (*ends)(void *state, uint64_t to);
	int (*confine)(void *state, uint64_t *keep, struct grt_err *err);
	int (*confined)(void *state, struct grt_err *err);
	unsigned int (*streams)(void *state, struct pollfd *fds);
	unsigned int (*places)(void *state);
	unsigned int (*place)(void *state, unsigned int i);
	int (*running)(void *state, uint64_t at, struct grt_err *err);
	void (*bound)(void *state, uint64_t at);
	int (*sums)(void *state, int (*fn)(void *arg, struct grt_job_sums *sums), void *arg);
	void (*held)(void *state, struct source_held *held);
	int (*hand)(void *state, uint64_t from, uint64_t to, source_hand *fn, void *arg);
	int (*flush)(void *state, struct grt_err *err);
	int (*name_frames)(void *state);
	ssize_t (*read)(void *state, unsigned int i, void *buf, size_t len);
	void (*took)(void *state, const struct grt_packet *p);
	int (*stop)(void *state, struct grt_err *err);
	int (*missed)(void *state, struct grt_balance *missed, struct grt_err *err);
	void (*adopted)(void *state);
	int (*describe)(void *state, struct grt_env *env, int room);
	int (*close)(void *state, struct grt_err *err);
};

#define GRT_SOURCE(name, help) extern const struct source source_##name;
#include "sources.def"
#undef GRT_SOURCE

/* Number of rows of sources.def. */
enum {
#define GRT_SOURCE(name, help) +1
	SOURCES = 0
#include "sources.def"
#undef GRT_SOURCE
};

/* All sources, in the order of sources.def. */
extern const struct source *const all_sources[SOURCES];

#endif /* GRTRACE_SOURCE_H */
