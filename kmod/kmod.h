/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Access to the kernel module from user space: its control files, its streams,
 * and loading it. Everything goes through the files of control.def in
 * DEBUGFS/grtrace; tests set GRTRACE_DEBUGFS to another directory, with ordinary
 * files and FIFOs.
 */
#ifndef GRTRACE_KMOD_H
#define GRTRACE_KMOD_H

#include <grtrace/grtrace.h>

/* Longest text of a control file: `rings` has a line per ring. */
#define KMOD_TEXT_MAX (256 * 1024)

/* Number of control files that are needed to end a capture. */
#define KMOD_HELD 4

/**
 * struct kmod - an open control directory
 * @dir: its descriptor
 * @path: its name, for messages
 * @version: the module's version text, GRT_VERSION when it was built
 * @format: the stream format of the module
 * @cpus: number of per-CPU streams
 * @number: the CPU of each stream, ascending
 * @streams: descriptors of the streams, -1 if not open
 * @held: control files that stay open, see kmod_hold()
 * @recorder: an open `control` file; tracing ends when it is closed, see kmod_record(); -1 if not open
 * @tally: counts of the packets that were read, see kmod_tally_begin()
 * @meter: the meter of each stream that a session reads
 * @read_to: all events before this time have been passed on, ns
 * @live: the input of grt_session_open_live(); its arg is this struct
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
 * struct kmod_stats - the contents of `stats`
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
 * @unit: "" if it has none
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

/** kmod_key_find - the row of a key, by any of its spellings; NULL if it is unknown */
const struct kmod_key *kmod_key_find(const char *name);

/** kmod_key_alias - the @n-th other spelling of a key, NULL after the last one */
const char *kmod_key_alias(const struct kmod_key *key, unsigned int n);

/** kmod_key_unit - the unit of a key, "" if it has none or takes words */
const char *kmod_key_unit(const struct kmod_key *key);

/** kmod_key_module - the module that has the key: "grtrace" or the module of a stage */
const char *kmod_key_module(const struct kmod_key *key);

/** kmod_stage - the module of the @n-th stage, NULL after the last one */
const char *kmod_stage(unsigned int n);

/** kmod_key_default - the default of a key, as the module prints it */
void kmod_key_default(const struct kmod_key *key, char *text, size_t room);

/* Room for the name of an event type, with its comma. */
#define KMOD_TYPE_NAME 24

/** kmod_types_text - the names of event types, with commas between. Return: bytes */
int kmod_types_text(const struct grt_type_set *types, char *text, size_t room);

/**
 * kmod_key_word - the @n-th word that a key takes; a mask takes several, separated by commas. Return: whether
 * there is one
 */
bool kmod_key_word(const struct kmod_key *key, unsigned int n, char *text, size_t room);

/** kmod_key_range - the allowed values of a key, in words */
void kmod_key_range(const struct kmod_key *key, char *text, size_t room);

/** kmod_key_when_stopped - whether a key can only be changed while tracing is off */
bool kmod_key_when_stopped(const struct kmod_key *key);

/** kmod_key_is_setting - whether a key is a setting, and not the switch of tracing or a count */
bool kmod_key_is_setting(const struct kmod_key *key);

/**
 * kmod_key_check - checks the kind and the range of a value
 * The module itself checks names and lists.
 * Return: 0, -EINVAL or -ERANGE with range and unit in *@err
 */
int kmod_key_check(const struct kmod_key *key, const char *value, struct grt_err *err);

/**
 * kmod_key_refused - fills in the error for a value that the module or kmod_key_check() refused
 * Return: @code
 */
int kmod_key_refused(int code, const struct kmod_key *key, const char *value, struct grt_err *err);

/** kmod_key_is_default - whether this text, as read from `config`, is the key's default */
bool kmod_key_is_default(const struct kmod_key *key, const char *value);

/**
 * kmod_open - finds the module's files and checks its format
 * @k: filled in; pass it to kmod_close()
 * Return: 0, -ENODEV (not loaded), -ENOENT (no debugfs), -EACCES (privilege),
 * -EPROTO (another format), or another negative errno
 */
int kmod_open(struct kmod *k, struct grt_err *err);

/** kmod_close - closes streams and directory; all zero is allowed */
void kmod_close(struct kmod *k);

/** kmod_exit_status - the exit status for an error of these functions: 3 if something is missing, else 1 */
int kmod_exit_status(int code);

/**
 * kmod_hold - opens the control files that a capture needs until its end, so that privileges can be dropped
 * Return: 0 or -errno
 */
int kmod_hold(struct kmod *k, struct grt_err *err);

/**
 * kmod_read - reads the text of a control file, without its last newline
 * Return: the text, which the caller frees, or NULL with *@err set
 */
char *kmod_read(struct kmod *k, const char *file, struct grt_err *err);

/** kmod_write - writes @text into a control file in one write(2). Return: 0 or -errno with *@err set */
int kmod_write(struct kmod *k, const char *file, const char *text, struct grt_err *err);

/**
 * kmod_record - starts tracing, which ends with this process at the latest
 * Return: 1, 0 if tracing is already on and stays on, or -errno
 */
int kmod_record(struct kmod *k, struct grt_err *err);

/** kmod_running - whether tracing is on: 1, 0 or -errno */
int kmod_running(struct kmod *k, struct grt_err *err);

/** kmod_line - finds the value of `key=value` or `key value` in a text of lines. Return: whether it exists */
bool kmod_line(const char *text, const char *key, char *value, size_t room);

/** kmod_get - reads a key of `config`, as text. Return: 0 or -errno */
int kmod_get(struct kmod *k, const char *key, char *value, size_t room, struct grt_err *err);

/** kmod_no_key - fills in the error for a key that the module does not have. Return: -errno */
int kmod_no_key(struct kmod *k, const struct kmod_key *key, struct grt_err *err);

/** kmod_set - sets a key of `config`. Return: 0 or -errno with range and unit of the key in *@err */
int kmod_set(struct kmod *k, const char *key, const char *value, struct grt_err *err);

/** kmod_stats - reads `stats`. Return: 0 or -errno */
int kmod_stats(struct kmod *k, struct kmod_stats *s, struct grt_err *err);

/** kmod_balance_line - parses the counts of a line `... emitted=N delivered=N ...`; missing keys are 0 */
void kmod_balance_line(const char *line, struct grt_balance *b);

/** kmod_number - finds the number of `key=N` in a line. Return: whether it exists */
bool kmod_number(const char *line, const char *key, uint64_t *value);

/**
 * kmod_open_stream - opens a file of packets without blocking
 * Return: a descriptor, or -errno; -EBUSY with the holder's pid in *@err
 */
int kmod_open_stream(struct kmod *k, const char *file, struct grt_err *err);

/** kmod_tally_begin - counts packets that are read from now on, see kmod_tally.h. Return: 0 or -errno */
int kmod_tally_begin(struct kmod *k, struct grt_err *err);

/** kmod_open_streams - opens the streams of all CPUs. Return: 0, or -errno with no stream open */
int kmod_open_streams(struct kmod *k, struct grt_err *err);

/** kmod_close_streams - closes the streams of all CPUs, if they are open */
void kmod_close_streams(struct kmod *k);

/** kmod_live_session - opens the streams of all CPUs and a session over them. Return: 0 or -errno */
int kmod_live_session(struct kmod *k, struct grt_session **out, struct grt_err *err);

/**
 * kmod_live_pump - passes the events so far to a consumer: flushes the buffers,
 * then runs the session up to the time before the flush
 * Return: as grt_session_run_live()
 */
int kmod_live_pump(struct kmod *k, struct grt_session *s, struct grt_consumer *c, struct grt_err *err);

/**
 * kmod_live_end - the last kmod_live_pump(): adds to the session's health the events that the module
 * delivered, according to its `stats`, and the session did not get
 */
int kmod_live_end(struct kmod *k, struct grt_session *s, struct grt_consumer *c, struct grt_err *err);

/**
 * kmod_load - loads grtrace.ko if it is not loaded, and the adapter of every loaded
 * GPU driver that has one; gives the adapters the offsets of members in the
 * drivers' structs
 * @note: called with a line for each step that was done or left out
 * Return: 0, or -errno with *@err set. Does nothing if GRTRACE_DEBUGFS is set
 */
int kmod_load(void (*note)(const char *text), struct grt_err *err);

/**
 * kmod_busy - fills in the error for a stream that already has a reader
 * @what: the stream
 * @reader: pid of the reader, 0 if it is unknown
 * Return: -EBUSY
 */
int kmod_busy(const char *what, int reader, struct grt_err *err);

#endif /* GRTRACE_KMOD_H */
