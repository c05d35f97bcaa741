/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel module as seen from user space: its control files, its streams,
 * and loading it. Everything goes through the files of control.def below
 * DEBUGFS/grtrace; GRTRACE_DEBUGFS names another directory in their place, so
 * that all of this runs against ordinary files and FIFOs too.
 */
#ifndef GRTRACE_KMOD_H
#define GRTRACE_KMOD_H

#include <grtrace/grtrace.h>

/* Longest text of a control file that is read: `rings` has a line per ring. */
#define KMOD_TEXT_MAX (256 * 1024)

/* Control files that ending a capture needs. */
#define KMOD_HELD 4

/**
 * struct kmod - an open control directory
 * @dir: its descriptor
 * @path: its name, for messages
 * @version: the module's version text, GRT_VERSION when it was built
 * @format: the stream format of the module
 * @cpus: number of per-CPU streams
 * @number: the CPU of each, rising
 * @streams: their descriptors, -1 where not open
 * @held: control files that stay open, see kmod_hold()
 * @recorder: `control` with which tracing ends, see kmod_record(); -1 where not open
 * @tally: of what is read, see kmod_tally_begin()
 * @meter: of each stream that a session reads
 * @read_to: what was before this has been handed out, ns
 * @live: what grt_session_open_live() reads; its arg is this struct
 */
struct kmod {
	int dir;
	char path[256];
	char version[32];
	unsigned int format;
	unsigned int cpus;
	unsigned int *number;
	int *streams;
	int held[KMOD_HELD];
	int recorder;
	struct kmod_tally *tally;
	struct meter *meter;
	uint64_t read_to;
	struct grt_live live;
};

/**
 * struct kmod_stats - the `stats` file
 * @lines: the whole text, NUL terminated; the caller frees it
 * @reader: pid of the process with an open stream, 0: none
 * @total: the balance of all CPUs together
 */
struct kmod_stats {
	char *lines;
	int reader;
	struct grt_balance total;
};

/** enum kmod_kind - the KIND of a key in control.def */
enum kmod_kind {
	KMOD_BOOL,
	KMOD_U64,
	KMOD_S64,
	KMOD_MASK,
	KMOD_LEVEL,
	KMOD_LIST,
	KMOD_WORD,
	KMOD_IDS,
	KMOD_TYPES,
};

/**
 * struct kmod_key - a row of control.def
 * @name: as in `config`
 * @kind: enum kmod_kind
 * @min, @max, @def: range and default, as text
 * @unit: "" where it has none
 * @flags: as text
 * @help: one line
 */
struct kmod_key {
	const char *name;
	enum kmod_kind kind;
	const char *min;
	const char *max;
	const char *def;
	const char *unit;
	const char *flags;
	const char *help;
};

/* Ended by a row without name. */
extern const struct kmod_key kmod_keys[];

/** kmod_key_find - the row of a key by its name or another spelling, NULL for an unknown one */
const struct kmod_key *kmod_key_find(const char *name);

/** kmod_key_alias - the @n-th other spelling of a key, NULL where there are no more */
const char *kmod_key_alias(const struct kmod_key *key, unsigned int n);

/** kmod_key_unit - its unit, "" for none; words that it takes are none */
const char *kmod_key_unit(const struct kmod_key *key);

/** kmod_key_module - the module that brings it: "grtrace" itself or that of a stage */
const char *kmod_key_module(const struct kmod_key *key);

/** kmod_stage - the module of the @n-th stage, NULL where there are no more */
const char *kmod_stage(unsigned int n);

/** kmod_key_default - its default as the module prints it */
void kmod_key_default(const struct kmod_key *key, char *text, size_t room);

/* Room for the name of an event type, with its comma. */
#define KMOD_TYPE_NAME 24

/** kmod_types_text - the names of event types, with commas between. Return: bytes */
int kmod_types_text(const struct grt_type_set *types, char *text, size_t room);

/** kmod_key_word - the @n-th word that it takes, for a mask one of those with commas between. Return: whether
 * there is one */
bool kmod_key_word(const struct kmod_key *key, unsigned int n, char *text, size_t room);

/** kmod_key_range - what may be written to a key, in words */
void kmod_key_range(const struct kmod_key *key, char *text, size_t room);

/** kmod_key_when_stopped - whether it can only be changed while tracing is off */
bool kmod_key_when_stopped(const struct kmod_key *key);

/** kmod_key_is_setting - whether it can be set to a value: not the switch itself, nor a count */
bool kmod_key_is_setting(const struct kmod_key *key);

/**
 * kmod_key_check - whether a value is of the key's kind and in its range
 * Names and lists are not looked into: the module knows them.
 * Return: 0, -EINVAL or -ERANGE with range and unit in *@err
 */
int kmod_key_check(const struct kmod_key *key, const char *value, struct grt_err *err);

/**
 * kmod_key_refused - the error of a value that the module or kmod_key_check() refused
 * Return: @code
 */
int kmod_key_refused(int code, const struct kmod_key *key, const char *value, struct grt_err *err);

/** kmod_key_is_default - whether this text, as read from `config`, is the key's default */
bool kmod_key_is_default(const struct kmod_key *key, const char *value);

/**
 * kmod_open - finds the module's files and checks its format
 * @k: filled in; to be given to kmod_close()
 * Return: 0, -ENODEV (not loaded), -ENOENT (no debugfs), -EACCES (privilege),
 * -EPROTO (another format), or another negative errno
 */
int kmod_open(struct kmod *k, struct grt_err *err);

/** kmod_close - closes streams and directory; all zero is allowed */
void kmod_close(struct kmod *k);

/** kmod_exit_status - the exit status for an error of these functions: 3 for what is missing, else 1 */
int kmod_exit_status(int code);

/**
 * kmod_hold - opens the control files that a capture needs up to its end, so that privileges can be dropped
 * Return: 0 or -errno
 */
int kmod_hold(struct kmod *k, struct grt_err *err);

/**
 * kmod_read - the text of a control file, without its last newline
 * Return: the text, which the caller frees, or NULL with *@err set
 */
char *kmod_read(struct kmod *k, const char *file, struct grt_err *err);

/** kmod_write - writes @text into a control file in one write(2). Return: 0 or -errno with *@err set */
int kmod_write(struct kmod *k, const char *file, const char *text, struct grt_err *err);

/**
 * kmod_record - starts tracing, which ends with this process if nothing ends it before
 * Return: 1, 0 where it is on already and stays on, or -errno
 */
int kmod_record(struct kmod *k, struct grt_err *err);

/** kmod_running - whether tracing is on: 1, 0 or -errno */
int kmod_running(struct kmod *k, struct grt_err *err);

/** kmod_line - the value of `key=value` or `key value` in a text of lines. Return: whether it is there */
bool kmod_line(const char *text, const char *key, char *value, size_t room);

/** kmod_get - a key of `config`, as text. Return: 0 or -errno */
int kmod_get(struct kmod *k, const char *key, char *value, size_t room, struct grt_err *err);

/** kmod_no_key - the error of a key that the module does not have. Return: -errno */
int kmod_no_key(struct kmod *k, const struct kmod_key *key, struct grt_err *err);

/** kmod_set - sets a key of `config`. Return: 0 or -errno with range and unit of the key in *@err */
int kmod_set(struct kmod *k, const char *key, const char *value, struct grt_err *err);

/** kmod_stats - reads `stats`. Return: 0 or -errno */
int kmod_stats(struct kmod *k, struct kmod_stats *s, struct grt_err *err);

/** kmod_balance_line - the counts of a line `... emitted=N delivered=N ...`; keys that are not there are 0 */
void kmod_balance_line(const char *line, struct grt_balance *b);

/** kmod_number - the number of `key=N` in a line. Return: whether it is there */
bool kmod_number(const char *line, const char *key, uint64_t *value);

/**
 * kmod_open_stream - opens a file of packets without blocking
 * Return: a descriptor, or -errno; -EBUSY with the holder's pid in *@err
 */
int kmod_open_stream(struct kmod *k, const char *file, struct grt_err *err);

/** kmod_tally_begin - from now on what is read is counted, see kmod_tally.h. Return: 0 or -errno */
int kmod_tally_begin(struct kmod *k, struct grt_err *err);

/** kmod_open_streams - opens the streams of all CPUs. Return: 0 or -errno, then none is open */
int kmod_open_streams(struct kmod *k, struct grt_err *err);

/** kmod_close_streams - closes the streams of all CPUs, if they are open */
void kmod_close_streams(struct kmod *k);

/** kmod_live_session - a session over the streams of all CPUs, which it opens. Return: 0 or -errno */
int kmod_live_session(struct kmod *k, struct grt_session **out, struct grt_err *err);

/**
 * kmod_live_pump - pushes what has happened so far into a consumer: flushes,
 * then runs the session up to the time from before the flush
 * Return: as grt_session_run_live()
 */
int kmod_live_pump(struct kmod *k, struct grt_session *s, struct grt_consumer *c, struct grt_err *err);

/**
 * kmod_live_end - the last of these: lets the session's health have what the module says that it
 * delivered, and the session did not get
 */
int kmod_live_end(struct kmod *k, struct grt_session *s, struct grt_consumer *c, struct grt_err *err);

/**
 * kmod_load - loads grtrace.ko if it is not, and the adapter of every GPU
 * driver that is loaded and has one; lets them know where the members of the
 * drivers' structs lie
 * @note: called with a line for each thing done or left out
 * Return: 0, or -errno with *@err set. With GRTRACE_DEBUGFS set it does nothing
 */
int kmod_load(void (*note)(const char *text), struct grt_err *err);

/**
 * kmod_busy - the error of a stream that has a reader
 * @what: the stream
 * @reader: its pid, 0 where it is unknown
 * Return: -EBUSY
 */
int kmod_busy(const char *what, int reader, struct grt_err *err);

#endif /* GRTRACE_KMOD_H */
