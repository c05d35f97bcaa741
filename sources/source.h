/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a live input of `record` is: a file of this directory, a row in
 * sources.def, and in the file one struct source. A source owns its streams;
 * `record` owns the files that their packets go to, and the loop.
 */
#ifndef GRTRACE_SOURCE_H
#define GRTRACE_SOURCE_H

#include <poll.h>

#include <grtrace/grtrace.h>

#include "host/option.h"

struct grt_duty;

/* Most streams of one source: one per CPU or traced thread, and one of its own. */
#define SOURCE_STREAMS_MAX 1025

/* Numbers of rings that one source may give; those of the next one begin behind them. */
#define SOURCE_RINGS 65536U

/**
 * struct source_setup - what `record` asks of a source
 * @pid: only events of this process, 0: of all
 * @gpu_users: all processes that use CUDA, instead of @pid
 * @comm: only threads of this name; NULL: all
 * @ring: only rings of this name; NULL: all
 * @driver: the driver whose fences are jobs, for sources that need one
 * @device: only this device file, by its number (major << 20 | minor); 0: all
 * @types: bit per event type that is wanted, 0: all
 * @buffer_size: bytes per CPU, 0: as it is
 * @merged: one stream of whole packets instead of one per CPU
 * @user_stack, @kernel_stack: CPU stacks are wanted at each SUBMIT
 * @stack: how, as the option says; NULL: without it
 * @no_names: their frames get no names
 * @program: a program will be started
 * @named: the user has named this source
 * @taken: all packets are read by the recorder, which keeps them in memory or in segments: nobody writes
 *files of his own
 * @duty: only in these windows, for sources that obey it; NULL: all of the time
 * @uid, @gid: the owner of the files that it creates beside the recording, and our user once
 *	capture runs; (uid_t)-1: the present user
 * @ring_base: numbers of rings begin here, so that sources do not share them
 * @covered: whether another source of this recording reports this driver's
 *	jobs; NULL: none does
 * @arg: handed to @covered
 * @note: tells the user what was done on the way (a module was loaded)
 */
struct source_setup {
	pid_t pid;
	bool gpu_users;
	const char *comm;
	const char *ring;
	const char *driver;
	uint32_t device;
	struct grt_type_set types;
	uint64_t buffer_size;
	bool merged;
	bool user_stack;
	bool kernel_stack;
	const char *stack;
	bool no_names;
	bool program;
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
 * struct source - one live input
 * @name: as in sources.def
 * @by_name: not part of `auto`: another source has its events, too, the user must name it
 *	to look at, or its events are many and of no job
 * @program: it sees nothing but the program that is started for the recording: not part of `monitor all`
 * @background: `auto` takes it only beside another one: alone it tells of no job
 * @addresses: the frames of its stacks are addresses, which get their names when the recording is over
 * @prompt_ms: how often a view of single events looks, so that they are new to who watches; 0: as others
 * @uncut: the program's own runtime makes its stamps, by whatever clock: no event is cut off at the ends of
 *the recording, and it has no window
 * @alone: where one of its options was given, `auto` is it alone
 * @duty: it obeys --duty
 * @less: what to type where it loses events; NULL: a larger --buffer
 * @options: what only it obeys, ended by a row without name; NULL: it has none. Targets are its own
 * @word: takes what stands behind "NAME:" in `-e`. Return: NULL, or why not; NULL: nothing may stand there
 * @refuse: why its options do not go with the setup; NULL: they do. May be NULL
 * @probe: whether it works here, changing nothing: 0, or a negative errno with what, why and fix
 * @open: finds and prepares it; nothing is captured yet. Leaves the state in
 *	*@state, which close() frees (also after an error of a later step)
 * @covers: whether it reports the jobs of this driver; may be NULL
 * @attach: the recording's directory is there, and the program will be made with the
 *	environment as it is then; @dir lives until @close; may be NULL
 * @start: begins capture
 * @begins: all sources have started, and the recording begins at @from, ns: what is only looked at now and
 *	then, and states that later events go on from, are looked at now; may be NULL
 * @ends: the recording ends at @to, ns, which is about to come: events from then on are not wanted any
 *	more; may be NULL
 * @program_stderr: after attach(): what the program gets as its standard error, -1: ours; may be NULL
 * @program_started: the program has its own copy of that, or there will be none; with @program_stderr
 * @confine: after start(): does now what later would need privileges. *@keep gets
 *	bits (1 << CAP_*) of those without which it cannot go on. NULL: it needs none
 * @confined: after confine(): we are who we are to be, and the calling thread's privileges are given up.
 *	So are now those of threads that the source has made. NULL: it has none
 * @streams: number of streams; @fds gets a descriptor for poll() of each
 * @places: how many files its packets go into, of more than @streams each is made with its first packet;
 *NULL: one for each stream
 * @place: which of them what read() of stream @i has just given goes into; with @places
 * @flush: makes everything captured so far readable; NULL: it always is
 * @name_frames: names the frames of stacks that came so far, a little further with each call, while capture
 *goes on. Return: 1: all have what name there is; 0: not yet, or -errno. NULL: no stack waits for it
 * @read: packets of stream @i, whole ones where @len allows; > 0 bytes, 0 end of stream, -EAGAIN
 *	nothing yet, or another negative errno
 * @took: a packet of it is where it is meant to be; NULL: it does not want to know
 * @stop: ends capture and makes what is left readable. Return: 1 when the
 *	streams end by themselves now, 0 when they go on (capture was on before):
 *	what is readable then is all that belongs to the recording, or -errno
 * @adopted: files that others have written into the directory, called @name_NUMBER_NUMBER,
 *	are part of the recording now, and whole; NULL: there are none
 * @missed: after stop(), when all was taken: what it counted itself and took() was not reported; @err gets
 *	what to say of events that were delivered. NULL: it has no count of its own.
 *	Return: 0, or -errno where it cannot be known
 * @describe: adds what belongs into the recording's environment; the texts
 *	live until close(). Return: entries written, at most @room
 * @close: puts every setting back and frees @state; NULL is allowed
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

/* How many rows sources.def has. */
enum {
#define GRT_SOURCE(name, help) +1
	SOURCES = 0
#include "sources.def"
#undef GRT_SOURCE
};

/* They, in its order. */
extern const struct source *const all_sources[SOURCES];

#endif /* GRTRACE_SOURCE_H */
