/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources made of BPF programs. Such a source is a file that names its
 * objects (sources/bpf/NAME.bpf.c), and a row in sources.def.
 */
#ifndef GRTRACE_BPF_H
#define GRTRACE_BPF_H

#include "sources/source.h"

struct grt_bpf_comm;
struct grt_bpf_config;
struct bpf_link;
struct bpf_object;
struct nv_hit;

/**
 * struct grt_bpf_decoder - makes events from records that are not events (BPF_HAS_CALL)
 * @open: begins; @capture is for grt_bpf_put(), grt_bpf_rows() and grt_bpf_own_map()
 * @who: checks a record and reads its time and thread. Return: whether the record is valid
 * @take: takes a record without the names in front of it. Return: 0 or -errno
 * @look: takes a look at the state of the system if the decoder needs one. Return: whether it has done so
 * @settle: all records from before that look have been taken. Return: 0 or -errno
 * @end: all records have been taken; may be NULL. Return: 0 or -errno
 * @describe: writes text for the recording's environment
 * @close: frees the decoder; NULL is allowed
 */
struct grt_bpf_decoder {
	int (*open)(void **own, void *capture, const struct source_setup *setup, struct grt_err *err);
	bool (*who)(const void *record, size_t size, struct grt_event *who);
	int (*take)(void *own, const void *record, size_t size);
	bool (*look)(void *own);
	int (*settle)(void *own);
	int (*end)(void *own);
	void (*describe)(void *own, char *text, size_t room);
	void (*close)(void *own);
};

/**
 * struct grt_bpf_point - the place of a uprobe
 * @path: path of the file, only for messages; @fd is used
 * @offset: offset in the file
 * @number: number that hits of the uprobe have
 */
struct grt_bpf_point {
	const char *path;
	int fd;
	uint64_t offset;
	uint32_t number;
};

/**
 * struct grt_bpf_probes - programs for functions of a kernel module, in sections named kprobe and kretprobe
 * @object: the object with these programs
 * @attach: attaches the programs to every function that exists here. Return: the number of links, at most
 *	@room, or -errno
 * @tell: sets the fields of an event for a hit
 */
struct grt_bpf_probes {
	const char *object;
	int (*attach)(struct bpf_object *o, struct bpf_link **link, unsigned int room, struct grt_err *err);
	void (*tell)(struct grt_ev_func *ev, const struct nv_hit *hit);
};

/**
 * struct grt_bpf_kind - the description of a source of BPF programs
 * @name: name of the source
 * @driver: only rings of this driver; NULL: as the user requests
 * @objects: names of its objects, ended by NULL. Programs whose tracepoint this kernel does not have are
 *	left out
 * @configure: changes settings of the programs; may be NULL
 * @frequency: samples per second of what runs; 0 or NULL: no samples
 * @probes: programs for functions of kernel modules; NULL: there are none
 * @decoder: makes events from the programs' records; NULL: these are events
 * @complete: sets what only user space knows in an event of the programs; may be NULL
 * @begun: called when the recording has begun, at @from, ns; may be NULL
 * @over: called after the programs were detached, at @end, ns: adds, with grt_bpf_add_event(), what the end
 *	of the recording cut off; may be NULL. Return: 0 or -errno
 * @duty: GRT_WINDOW_*: the source obeys --duty, and what its windows contain; 0: it does not
 * @points: the @n_points places of programs in the section "uprobe"
 */
struct grt_bpf_kind {
	const char *name;
	const char *driver;
	const char *const *objects;
	void (*configure)(struct grt_bpf_config *config);
	const uint64_t *frequency;
	const struct grt_bpf_probes *probes;
	const struct grt_bpf_decoder *decoder;
	void (*complete)(struct grt_event *e);
	void (*begun)(void *capture, const struct grt_bpf_config *config, uint64_t from);
	int (*over)(void *capture, const struct grt_bpf_config *config, uint64_t end);
	uint16_t duty;
	const struct grt_bpf_point *points;
	unsigned int n_points;
};

/** grt_bpf_open - the open() of a source of BPF programs; @kind is used until it is closed */
int grt_bpf_open(void **state, const struct source_setup *setup, const struct grt_bpf_kind *kind,
		 struct grt_err *err);

/** grt_bpf_probe - whether the source would work here. Return: 0, or -errno with what is missing in *err */
int grt_bpf_probe(const char *const *objects, struct grt_err *err);

/** grt_bpf_probe_driver - as grt_bpf_probe(), if the module of @driver is loaded, or any driver's (NULL) */
int grt_bpf_probe_driver(const char *const *objects, const char *driver, struct grt_err *err);

/** grt_bpf_put - adds an event that a decoder has made to the stream of @cpu. Return: 0 or -ENOMEM */
int grt_bpf_put(void *capture, struct grt_event *e, uint32_t cpu);

/**
 * grt_bpf_add_event - as grt_bpf_put(), for an event with ids of stacks as the programs write them, which
 * are completed
 * @names: names of its thread; NULL: they are known
 * Return: 0 or -ENOMEM
 */
int grt_bpf_add_event(void *capture, struct grt_event *e, uint32_t cpu, const struct grt_bpf_comm *names);

/**
 * grt_bpf_rows - runs an iterator program
 * @program: its name
 * @rows: gets the bytes that it writes; the caller frees them
 * Return: the number of bytes, or -errno
 */
ssize_t grt_bpf_rows(void *capture, const char *program, void **rows);

/** grt_bpf_own_map - the descriptor of a map of the source's programs, or -errno */
int grt_bpf_own_map(void *capture, const char *name);

/* The other operations; see struct source. */
int grt_bpf_start(void *state, struct grt_err *err);
void grt_bpf_begins(void *state, uint64_t from);
void grt_bpf_ends(void *state, uint64_t to);
int grt_bpf_confine(void *state, uint64_t *keep, struct grt_err *err);
unsigned int grt_bpf_streams(void *state, struct pollfd *fds);
int grt_bpf_running(void *state, uint64_t at, struct grt_err *err);
void grt_bpf_bound(void *state, uint64_t at);
int grt_bpf_sums(void *state, int (*fn)(void *arg, struct grt_job_sums *sums), void *arg);
void grt_bpf_held(void *state, struct source_held *held);
int grt_bpf_hand(void *state, uint64_t from, uint64_t to, source_hand *fn, void *arg);
int grt_bpf_flush(void *state, struct grt_err *err);
ssize_t grt_bpf_read(void *state, unsigned int i, void *buf, size_t len);
int grt_bpf_name(void *state);
int grt_bpf_stop(void *state, struct grt_err *err);
int grt_bpf_missed(void *state, struct grt_balance *missed, struct grt_err *err);
int grt_bpf_describe(void *state, struct grt_env *env, int room);
int grt_bpf_close(void *state, struct grt_err *err);

/*
 * BPF_OPS_CLOSE(name, by_name, probe, open, close, ...): defines source_NAME from its own operations, further
 * members, and the common operations. BPF_OPS(): the same with the common close
 */
#define BPF_OPS_CLOSE(name_, by_name_, probe_, open_, close_, ...)          \
	const struct source source_##name_ = {.name = #name_,               \
					      .by_name = by_name_,          \
					      .probe = probe_,              \
					      .open = open_,                \
					      .start = grt_bpf_start,       \
					      .begins = grt_bpf_begins,     \
					      .ends = grt_bpf_ends,         \
					      .confine = grt_bpf_confine,   \
					      .streams = grt_bpf_streams,   \
					      .running = grt_bpf_running,   \
					      .bound = grt_bpf_bound,       \
					      .sums = grt_bpf_sums,         \
					      .held = grt_bpf_held,         \
					      .hand = grt_bpf_hand,         \
					      .flush = grt_bpf_flush,       \
					      .read = grt_bpf_read,         \
					      .name_frames = grt_bpf_name,  \
					      .stop = grt_bpf_stop,         \
					      .missed = grt_bpf_missed,     \
					      .describe = grt_bpf_describe, \
					      .close = close_,              \
					      ##__VA_ARGS__}
#define BPF_OPS(name_, by_name_, probe_, open_, ...) \
	BPF_OPS_CLOSE(name_, by_name_, probe_, open_, grt_bpf_close, ##__VA_ARGS__)

/* BPF_SOURCE_OF(name, by_name, driver, duty, "object", ...): defines source_NAME; driver and duty as in
 * struct grt_bpf_kind */
#define BPF_SOURCE_OF(name_, by_name_, driver_, duty_, ...)                                          \
	static const char *const objects[] = {__VA_ARGS__, NULL};                                    \
	static const struct grt_bpf_kind kind = {                                                    \
		.name = #name_, .driver = driver_, .objects = objects, .duty = duty_};               \
	static int name_##_open(void **state, const struct source_setup *setup, struct grt_err *err) \
	{                                                                                            \
		return grt_bpf_open(state, setup, &kind, err);                                       \
	}                                                                                            \
	static int name_##_probe(struct grt_err *err)                                                \
	{                                                                                            \
		return grt_bpf_probe_driver(objects, driver_, err);                                  \
	}                                                                                            \
	BPF_OPS(name_, by_name_, name_##_probe, name_##_open, .duty = duty_ != 0)

/* BPF_SOURCE(name, by_name, "object", ...): the same for any driver, at all times; BPF_SOURCE_DUTY(name,
 * by_name, duty, "object", ...): where --duty is given, in windows only */
#define BPF_SOURCE(name_, by_name_, ...) BPF_SOURCE_OF(name_, by_name_, NULL, 0, __VA_ARGS__)
#define BPF_SOURCE_DUTY(name_, by_name_, duty_, ...) BPF_SOURCE_OF(name_, by_name_, NULL, duty_, __VA_ARGS__)

#endif /* GRTRACE_BPF_H */
