// SPDX-License-Identifier: GPL-2.0
/*
 * Loads BPF programs and converts the records in their ring buffer into packets per CPU. The section of a
 * program names its tracepoint. A program whose tracepoint does not exist on this kernel is not loaded, so
 * one object works on kernels of every age.
 */
#include <errno.h>
#include <fcntl.h>

#include "bpf.h"
#include "sources/owners.h"

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "nvidia_probes.h"
#include "shared.h"
#include "bpf_devices.h"
#include "bpf_duty.h"
#include "bpf_embedded.h"
#include "bpf_format.h"
#include "bpf_functions.h"
#include "bpf_kept.h"
#include "bpf_kernel.h"
#include "bpf_rings.h"
#include "bpf_samples.h"
#include "bpf_stacks.h"
#include "bpf_sums.h"
#include "bpf_tables.h"
#include "bpf_xid.h"
#include "base/clock.h"
#include "base/say.h"
#include "trace/job_record.h"
#include "trace/packer.h"
#include "trace/packet.h"
#include "host/known_gpus.h"
#include "host/pid_ns.h"
#include "host/probe.h"
#include "host/read_all.h"
#include "host/tracefs.h"

#define OBJECTS_MAX 16
#define PROGRAMS_MAX 128
/* How many times a load is tried that a stop of the process has ended. */
#define LOADS_MAX 50

/* How often the ring buffer is emptied if no reader calls. */
#define TICK_NS 50000000L

/*
 * An event that was delayed by an interrupt is at most this much older than events before it in the ring
 * buffer.
 */
#define WINDOW_NS 2000000ULL

/* How long one call may name frames after the end of capture. */
#define PATIENCE_MS 20

#define RING_BYTES_CPU ((uint64_t)1 << 20)
#define RING_BYTES_MIN ((uint64_t)4 << 20)
#define RING_BYTES_MAX ((uint64_t)1 << 30)

/* By default, the ring buffer takes at most this part of the machine's memory. */
#define RING_MEMORY_SHARE 256
#define RING_BYTES_SHARE_MAX ((uint64_t)128 << 20)

/**
 * struct cpu_tally - counts of a CPU
 * @events: events from the ring buffer
 * @late: of these, events that came too late for their place
 * @filtered: events of a decoder that were not requested
 * @replaced: events that became a part of JOB records; @whole: these records
 * @flushed: see @flushes of struct capture
 */
struct cpu_tally {
	uint64_t events;
	uint64_t late;
	uint64_t filtered;
	uint64_t replaced;
	uint64_t whole;
	uint64_t flushed;
};

/* The number of threads that are found without a search, by the lowest bits of their tids. */
#define THREADS_NEAR 256U

/**
 * struct named_thread - the last known name of a thread
 * @names: grt_packer_names() of the packer at that time
 */
struct named_thread {
	uint32_t tid;
	uint32_t pid;
	uint64_t names;
	struct grt_bpf_comm comm;
};

/**
 * struct capture - the state of a source of BPF programs
 * @kind: its description
 * @object: loaded objects, which share maps with the first one
 * @link: one per attached program
 * @tracefs: the root of tracefs
 * @reader, @counts: the shared maps
 * @epoll: ready when the timer has expired or a program has woken the reader
 * @horizon: all events up to this time have been read
 * @flushes: number of flushes. A flush writes a CPU's events up to @horizon, and then sets the CPU's
 *	@flushed to this number
 * @end: when the recording ends, 0: not yet known
 * @ended: capture has ended, and no more events will come
 * @whole: all frames of stacks have been written
 * @missed: how many times a program did not run because another one was running on the CPU
 * @forgotten: number of jobs in flight for which the programs had no room; known at the end
 * @asked: the next flush also writes the jobs in flight at this time; 0: it does not
 * @duty: its windows
 * @sums: sums of finished jobs
 * @kept: the last of these jobs; @kept_bytes: memory for them
 * @without: number of objects left out because a module has no BTF
 * @refused: number of objects left out because the kernel refuses them; the others work without them
 * @tables: the programs walk stacks with unwind tables
 * @no_names: frames get no names
 * @covered: another source has the jobs that omitted objects would report
 * @note: shows a note to the user
 * @near: threads that need not be named again while nothing changes
 * @own: the decoder's state
 * @samples: the clocks of programs that sample what runs
 * @positions: positions in the ring buffer, see position(); NULL without a decoder
 * @text: texts of describe()
 */
struct capture {
	const struct grt_bpf_kind *kind;
	struct bpf_object *object[OBJECTS_MAX];
	unsigned int objects;
	struct bpf_link *link[PROGRAMS_MAX];
	unsigned int links;
	unsigned int programs;
	int tracefs;
	struct ring_buffer *reader;
	int counts;
	int epoll;
	int timer;
	unsigned int cpus;
	bool merged;
	uint64_t flushes;
	bool ended;
	bool whole;
	uint64_t end;
	uint64_t horizon;
	struct grt_packer *packer;
	struct grt_bpf_devices devices;
	struct grt_bpf_stacks stacks;
	struct grt_bpf_samples samples;
	struct grt_bpf_rings numbered;
	struct owners owners;
	uint32_t ring_base;
	struct cpu_tally tally[BPF_CPUS_MAX];
	struct grt_bpf_counts count[BPF_CPUS_MAX];
	struct grt_bpf_config config;
	uint64_t ring_bytes;
	int failed;
	uint64_t missed;
	uint64_t forgotten;
	uint64_t asked;
	void (*note)(const char *text);
	struct grt_bpf_duty duty;
	struct grt_bpf_sums sums;
	struct grt_bpf_kept kept;
	uint64_t kept_bytes;
	char without[128];
	char refused[64];
	bool no_names;
	bool covered;
	bool tables;
	struct named_thread near[THREADS_NEAR];
	void *own;
	const char *positions;
	struct {
		char key[32];
		char value[4096];
	} text[10];
};

/* ------------------------------------------------------------- programs */

/*
 * libbpf's messages are for authors of programs. The last warning is kept for the error; all messages, with
 * the verifier's log, go to a file if the user names one.
 */
static char last_warning[200];

static void keep_log(const char *format, va_list ap)
{
	const char *path = getenv("GRTRACE_BPF_LOG");
	int fd =
		path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;

	if (fd < 0)
		return;
	vdprintf(fd, format, ap);
	close(fd);
}

static int keep_warning(enum libbpf_print_level level, const char *format, va_list ap)
{
	va_list again;

	if (level == LIBBPF_DEBUG)
		return 0;
	va_copy(again, ap);
	keep_log(format, again);
	va_end(again);
	if (level == LIBBPF_WARN)
		vsnprintf(last_warning, sizeof(last_warning), format, ap);
	return 0;
}

/** struct attach_point - the parts of a section name: raw_tp/EVENT or tp/GROUP/EVENT */
struct attach_point {
	bool raw;
	char group[64];
	char event[64];
};

static bool parse_section(const char *section, struct attach_point *at)
{
	at->group[0] = '\0';
	at->raw = !strncmp(section, "raw_tp/", 7);
	if (at->raw)
		return snprintf(at->event, sizeof(at->event), "%s", section + 7) > 0;
	return sscanf(section, "tp/%63[^/]/%63s", at->group, at->event) == 2;
}

/* Return: whether the program is an iterator, which runs when its rows are read and is not attached. */
static bool is_iterator(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__section_name(prog), "iter/", 5);
}

/* Return: whether the program runs at a frequency. */
static bool is_sampler(const struct bpf_program *prog)
{
	return !strcmp(bpf_program__section_name(prog), "perf_event");
}

/* Return: whether the program is attached to places in files. */
static bool is_uprobe(const struct bpf_program *prog)
{
	return !strcmp(bpf_program__section_name(prog), "uprobe");
}

/* Return: whether the program is attached to functions by code of the source. */
static bool is_probe(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	return !strcmp(section, "kprobe") || !strcmp(section, "kretprobe");
}

/* Return: whether the program is attached to a function of the kernel. */
static bool is_of_function(const struct bpf_program *prog)
{
	return grt_bpf_function_of(bpf_program__section_name(prog));
}

static bool is_here(int tracefs, const struct bpf_program *prog)
{
	struct attach_point at;

	if (is_of_function(prog))
		return grt_bpf_function_here(grt_bpf_function_of(bpf_program__section_name(prog)));
	if (is_iterator(prog) || is_sampler(prog) || is_probe(prog) || is_uprobe(prog))
		return true;
	return parse_section(bpf_program__section_name(prog), &at) &&
	       tracefs_find(tracefs, at.group[0] ? at.group : NULL, at.event, NULL, 0);
}

/* Every kernel has fences: programs for fences only complete what a driver's programs see. */
static bool is_helper(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	if (is_of_function(prog))
		return !grt_bpf_function_replaces(section, NULL);
	return is_iterator(prog) || !strncmp(section, "raw_tp/dma_fence_", 17);
}

static bool only_helps(struct bpf_object *o)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, o) if (!is_helper(prog)) return false;
	return true;
}

/* Return: whether another program of the object sees the same at a lower cost. */
static bool is_replaced(int tracefs, struct bpf_object *o, const struct bpf_program *it)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, o) if (grt_bpf_function_replaces(bpf_program__section_name(prog),
									    bpf_program__section_name(it)) &&
						  is_here(tracefs, prog)) return true;
	return false;
}

/*
 * Leaves out what this kernel does not have. Return: the number of remaining programs that see something of
 * their own
 */
static unsigned int grt_bpf_choose(int tracefs, struct bpf_object *o)
{
	unsigned int n = 0;
	struct bpf_program *prog;
	bool here;

	bpf_object__for_each_program(prog, o)
	{
		here = is_here(tracefs, prog) && !is_replaced(tracefs, o, prog);
		bpf_program__set_autoload(prog, here);
		n += here && !is_helper(prog);
	}
	return n;
}

static int grt_bpf_open_failed(const char *name, int code, struct grt_err *err)
{
	if (code == -EAGAIN)
		return grt_err_set(
			err, code,
			"this process was stopped, or got a signal, each time that the kernel checked them",
			"the same command where nothing stops it: no cpulimit, debugger or freezer of its cgroup",
			"cannot load the BPF programs of %s", name);
	if (code == -EACCES && !geteuid())
		return grt_err_set(err, code, "the kernel's verifier rejects them, which is a bug of grtrace",
				   "GRTRACE_BPF_LOG=FILE before the same command, and report what is in FILE",
				   "cannot load the BPF programs of %s", name);
	if (code == -EPERM || code == -EACCES)
		return grt_err_set(err, -EACCES,
				   geteuid() ? "only root may load BPF programs"
					     : "the kernel refuses BPF programs (lockdown, or a container)",
				   geteuid() ? "the same command with sudo" : "grtrace doctor",
				   "cannot load the BPF programs of %s", name);
	last_warning[strcspn(last_warning, "\n")] = '\0';
	return grt_err_set(err, code, last_warning[0] ? last_warning : strerror(-code), "grtrace doctor",
			   "cannot load the BPF programs of %s", name);
}

/* Without BTF, the programs cannot find members of the kernel's structs. */
static int check_kernel(struct grt_err *err)
{
	struct utsname u;

	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return 0;
	uname(&u);
	return grt_err_set(err, -ENOSYS, "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)",
			   "a kernel of your distribution, 5.8 or later",
			   "cannot load BPF programs on Linux %s", u.release);
}

static int no_btf(const struct capture *c, struct grt_err *err)
{
	return grt_err_set(err, -ENODEV, "the driver's module has no BTF, so its structs cannot be read",
			   "a kernel with CONFIG_DEBUG_INFO_BTF_MODULES=y, or: grtrace record -e kmod",
			   "nothing to attach to for %s", c->without);
}

static int no_tracepoint(const char *const *objects, struct grt_err *err)
{
	char names[128] = "";

	for (; *objects; objects++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", names[0] ? ", " : "",
			 *objects);
	return grt_err_set(err, -ENODEV, "no loaded driver has their tracepoints",
			   "load the GPU's driver first (lsmod), then the same command",
			   "nothing to attach to for %s", names);
}

int grt_bpf_probe(const char *const *objects, struct grt_err *err)
{
	int tracefs, ret = check_kernel(err);
	unsigned int n = 0;
	struct bpf_object *o;

	if (ret)
		return ret;
	tracefs = tracefs_open(err);
	if (tracefs < 0)
		return tracefs;
	libbpf_set_print(keep_warning);
	for (const char *const *name = objects; *name; name++) {
		o = grt_bpf_embedded_open(*name);
		n += o ? grt_bpf_choose(tracefs, o) : 0;
		bpf_object__close(o);
	}
	close(tracefs);
	return n ? 0 : no_tracepoint(objects, err);
}

int grt_bpf_probe_driver(const char *const *objects, const char *driver, struct grt_err *err)
{
	char fix[64];

	if (!driver || probe_module_loaded(driver))
		return grt_bpf_probe(objects, err);
	snprintf(fix, sizeof(fix), "sudo modprobe %s, then the same command", driver);
	return grt_err_set(err, -ENODEV, "its driver is not loaded", probe_load_fix(fix),
			   "no GPU of %s on this system", driver);
}

static const char *const shared_maps[] = {"events",	"counts",     "jobs",  "wholes",    "rings",
					  "ring_names", "deps",	      "waits", "commands",  "stacks",
					  "walked",	".data.gate", "sums",  "sum_rings", "sum_places",
					  ".data.sums", "kept"};

/* Whether jobs that its programs see become JOB records. It comes first where it takes part. */
static bool makes_wholes(const struct bpf_object *o)
{
	return !strcmp(bpf_object__name(o), "drm_sched");
}

/* All objects use the maps of the first object that has them. */
static int share_maps(struct capture *c, struct bpf_object *o)
{
	struct bpf_map *mine, *first = NULL;
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(shared_maps) / sizeof(shared_maps[0]); i++) {
		mine = bpf_object__find_map_by_name(o, shared_maps[i]);
		first = NULL;
		for (unsigned int k = 0; mine && !first && k < c->objects; k++)
			first = bpf_object__find_map_by_name(c->object[k], shared_maps[i]);
		if (first)
			ret = bpf_map__reuse_fd(mine, bpf_map__fd(first));
		else if (mine && !strcmp(shared_maps[i], "events"))
			ret = bpf_map__set_max_entries(mine, (uint32_t)c->ring_bytes);
		else if (mine && ((!strcmp(shared_maps[i], "stacks") && !c->config.stacks) ||
				  (!strcmp(shared_maps[i], "wholes") && !c->config.whole)))
			ret = bpf_map__set_max_entries(mine, 1);
		else if (mine && !strcmp(shared_maps[i], "sums") && c->config.sums)
			ret = bpf_map__set_max_entries(mine, 2 * BPF_SUM_ROWS);
		else if (mine && !strcmp(shared_maps[i], "kept") && makes_wholes(o) && c->config.kept)
			ret = bpf_map__set_max_entries(mine, (uint32_t)c->kept_bytes);
	}
	return ret ? ret : grt_bpf_tables_share(o, c->config.stacks & BPF_STACK_TABLES);
}

static struct bpf_map *constants(struct bpf_object *o, const char *name)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, o) if (strstr(bpf_map__name(map), name)) return map;
	return NULL;
}

static int grt_bpf_configure(struct capture *c, struct bpf_object *o, struct grt_err *err)
{
	struct bpf_map *config = constants(o, ".rodata.config"), *fields = constants(o, ".rodata.format");
	struct bpf_map *known = constants(o, ".rodata.symbols");
	struct grt_bpf_symbols symbols;
	struct grt_bpf_format format;
	int ret = config ? bpf_map__set_initial_value(config, &c->config, sizeof(c->config)) : -ENOENT;

	if (!ret && fields) {
		ret = grt_bpf_format_read(c->tracefs, &format, err);
		if (ret)
			return ret;
		ret = bpf_map__set_initial_value(fields, &format, sizeof(format));
	}
	if (!ret && known) {
		grt_kernel_symbols(&symbols);
		ret = bpf_map__set_initial_value(known, &symbols, sizeof(symbols));
	}
	return ret ? grt_bpf_open_failed(bpf_object__name(o), ret, err) : 0;
}

/**
 * struct needs - an object reads a struct that the BTF of the kernel or of a module must describe
 * @instead: the object to use without that BTF; NULL: there is none
 */
struct needs {
	const char *object;
	const char *module;
	const char *type;
	const char *instead;
};

static const struct needs needs[] = {
	{"drm_sched", "gpu_sched", "drm_sched_job", "drm_format"},
	{"amdgpu", "amdgpu", "amdgpu_job", NULL},
	{"i915", "i915", "i915_request", NULL},
	{"virtio_gpu", "virtio_gpu", "virtqueue", NULL},
	{"vblank", "drm", "drm_file", NULL},
};

/* Return: the object that works here in place of @name; NULL: there is none */
static const char *grt_bpf_usable(const char *name)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (!strcmp(needs[i].object, name))
			return grt_kernel_struct(needs[i].type, needs[i].module) ? name : needs[i].instead;
	return name;
}

static void leave_out(struct capture *c, const char *name)
{
	snprintf(c->without + strlen(c->without), sizeof(c->without) - strlen(c->without), "%s%s",
		 c->without[0] ? " " : "", name);
}

/* Return: whether this kernel may refuse the object, and the other objects work without it. */
static bool is_optional(const struct bpf_object *o)
{
	return !strcmp(bpf_object__name(o), "sync_wait");
}

static void grt_bpf_refuse(struct capture *c, const char *name)
{
	snprintf(c->refused, sizeof(c->refused), "%s", name);
}

/**
 * choose_object - opens an object, or the one that works here in its place
 * @found: NULL if this kernel has nothing for it
 * @programs: number of its programs that see something of their own
 */
static int choose_object(struct capture *c, const char *name, struct bpf_object **found,
			 unsigned int *programs, struct grt_err *err)
{
	struct bpf_object *o = grt_bpf_embedded_open(name);
	const char *other = name;

	*found = o;
	if (!o)
		return grt_bpf_open_failed(name, -errno ?: -EINVAL, err);
	*programs = grt_bpf_choose(c->tracefs, o);
	if (*programs)
		other = grt_bpf_usable(name);
	if (other == name && (*programs || (c->programs && only_helps(o)) || (c->covered && is_optional(o))))
		return 0;
	bpf_object__close(o);
	*found = NULL;
	if (other == name)
		return 0;
	leave_out(c, name);
	return other ? choose_object(c, other, found, programs, err) : 0;
}

/* Shares the tables with the source's first object that walks stacks. */
static int adopt_tables(struct capture *c, struct bpf_object *o)
{
	int ret = c->tables || !bpf_object__find_map_by_name(o, "walked") ? 0 : grt_bpf_tables_adopt(o);

	c->tables |= !ret && bpf_object__find_map_by_name(o, "walked");
	return ret;
}

/* If no descriptor is free, libbpf cannot probe for a feature and assumes a kernel without it. */
static int check_descriptors(struct capture *c, struct bpf_object *o)
{
	int fd[PROGRAMS_MAX], n = 0, want = 4, ret = 0;
	struct bpf_program *prog;
	struct bpf_map *map;

	bpf_object__for_each_program(prog, o) want += bpf_program__autoload(prog);
	bpf_object__for_each_map(map, o) want++;
	for (; n < want && n < PROGRAMS_MAX && !ret; n += !ret) {
		fd[n] = fcntl(c->tracefs, F_DUPFD_CLOEXEC, 0);
		ret = fd[n] < 0 ? -errno : 0;
	}
	while (n-- > 0)
		close(fd[n]);
	return ret;
}

/* Signals wait meanwhile, because each one would end the kernel's verification. */
static int load_undisturbed(struct bpf_object *o)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	ret = bpf_object__load(o);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static int load_once(struct capture *c, const char *name, struct bpf_object *o, struct grt_err *err)
{
	int ret = grt_bpf_configure(c, o, err);

	if (ret)
		return ret;
	ret = share_maps(c, o) ?: check_descriptors(c, o) ?: load_undisturbed(o);
	if (!ret && c->config.stacks & BPF_STACK_TABLES)
		ret = adopt_tables(c, o);
	return ret ? grt_bpf_open_failed(name, ret, err) : 0;
}

/*
 * No process can put off being stopped: when it continues, the kernel has ended the verification with
 * -EAGAIN. libbpf tries again a few times, which may all be disturbed if the CPUs are busy. Then nothing is
 * left of the object, so it is opened again.
 */
static int load_again(struct capture *c, const char *name, struct bpf_object **o, struct grt_err *err)
{
	int ret = load_once(c, name, *o, err);
	struct bpf_object *next;

	for (unsigned int n = 1; ret == -EAGAIN && n < LOADS_MAX; n++) {
		next = grt_bpf_embedded_open(bpf_object__name(*o));
		if (!next)
			return ret;
		bpf_object__close(*o);
		*o = next;
		grt_bpf_choose(c->tracefs, next);
		ret = load_once(c, name, next, err);
	}
	return ret;
}

static int grt_bpf_load_object(struct capture *c, const char *name, struct grt_err *err)
{
	struct bpf_object *o;
	unsigned int programs;
	bool optional;
	int ret = choose_object(c, name, &o, &programs, err);

	if (ret || !o)
		return ret;
	ret = load_again(c, name, &o, err);
	if (ret) {
		optional = is_optional(o);
		bpf_object__close(o);
		if (optional)
			grt_bpf_refuse(c, name);
		return optional ? 0 : ret;
	}
	c->object[c->objects++] = o;
	c->programs += programs;
	return 0;
}

/* ------------------------------------------------------------- events */

/*
 * Sets what only user space knows: the ring's number and engine, the device at an ioctl's end, the ids of
 * stacks.
 */
static int grt_bpf_complete_event(struct capture *c, unsigned int cpu, struct grt_event *e)
{
	int ret;

	if (c->kind->complete)
		c->kind->complete(e);
	ret = grt_bpf_rings_see(&c->numbered, c->packer, cpu, e);
	if (!ret && (e->type == GRT_EV_SUBMIT || e->type == GRT_EV_JOB) &&
	    grt_types_has(&c->config.types, GRT_EV_OWNER))
		ret = owners_add(&c->owners, c->packer, cpu, e->time, e->pid);
	if (!ret && c->config.stacks)
		ret = grt_bpf_stacks_see(&c->stacks, c->packer, cpu, e);
	return ret ? ret : grt_bpf_devices_see(&c->devices, c->packer, cpu, e);
}

static bool grt_bpf_is_named(const struct capture *c, const struct named_thread *t, const struct grt_event *e,
			     const struct grt_bpf_comm *n)
{
	return t->tid == e->tid && t->pid == e->pid && t->names == grt_packer_names(c->packer) &&
	       !memcmp(&t->comm, n, sizeof(*n)) && !owners_lacks_name(&c->owners, e->pid);
}

static int grt_bpf_name_thread(struct capture *c, unsigned int cpu, const struct grt_event *e,
			       const struct grt_bpf_comm *n)
{
	struct named_thread *t = &c->near[e->tid % THREADS_NEAR];
	char comm[BPF_COMM + 1] = "", owner[BPF_COMM + 1] = "";
	int ret;

	if (grt_bpf_is_named(c, t, e, n))
		return 0;
	memcpy(comm, n->comm, BPF_COMM);
	memcpy(owner, n->owner[0] ? n->owner : n->comm, BPF_COMM);
	owners_name(&c->owners, e->pid, owner);
	ret = grt_packer_name(c->packer, cpu, e->time, GRT_NAME_THREAD, e->tid, comm, owner);
	*t = (struct named_thread){e->tid, e->pid, grt_packer_names(c->packer), *n};
	return ret;
}

/** struct labels - the parts in front of an event; NULL: the record lacks the part */
struct labels {
	const struct nv_hit *hit;
	const struct grt_bpf_comm *names;
	const struct grt_bpf_xid *xid;
	const struct grt_bpf_text *text;
};

/* Parses the message from which an event is made. */
static int grt_bpf_read_text(struct capture *c, unsigned int cpu, struct grt_event *e, const struct labels *l)
{
	char message[BPF_TEXT + 1] = "", comm[BPF_COMM + 1] = "";

	if (e->type != GRT_EV_XID)
		return 0;
	memcpy(message, l->text->text, BPF_TEXT);
	if (l->xid)
		grt_bpf_xid_join((struct grt_ev_xid *)e, l->xid, message, comm, sizeof(comm));
	else
		grt_bpf_xid_read((struct grt_ev_xid *)e, message, comm, sizeof(comm));
	return comm[0] ? grt_packer_name(c->packer, cpu, e->time, GRT_NAME_THREAD, e->tid, comm, comm) : 0;
}

/* A job that was in flight at the time @at. Return: 0 or -errno */
static int grt_bpf_add_running(struct capture *c, unsigned int cpu, const struct grt_ev_job *whole,
			       uint64_t at)
{
	struct grt_ev_job job = *whole;

	job.e.time = at;
	job.complete = 0;
	job.status = 0;
	job.errors = 0;
	job.commit = job.commit > at ? 0 : job.commit;
	job.end = job.end > at ? 0 : job.end;
	/* which job of a ring was running follows from the order of those in flight */
	job.start = job.end ? job.start : 0;
	job.inferred = job.start ? job.inferred : 0;
	return grt_packer_add(c->packer, cpu, &job.e);
}

/* A job that ended while the jobs in flight were being looked up. Return: 0 or -errno */
static int grt_bpf_take_job(struct capture *c, unsigned int cpu, const struct grt_ev_job *job)
{
	c->tally[cpu].whole++;
	c->tally[cpu].replaced += grt_job_replaced(&job->e);
	if (job->submit > c->asked || job->complete <= c->asked)
		return 0;
	return grt_bpf_add_running(c, cpu, job, c->asked);
}

static int grt_bpf_take_event(struct capture *c, unsigned int cpu, struct grt_event *e,
			      const struct labels *l)
{
	uint32_t ring = e->ring;
	int ret = 0;

	c->tally[cpu].events++;
	if (l->names)
		ret = grt_bpf_name_thread(c, cpu, e, l->names);
	if (l->text)
		ret = grt_bpf_read_text(c, cpu, e, l);
	if (l->hit && c->kind->probes)
		c->kind->probes->tell((struct grt_ev_func *)e, l->hit);
	if (!ret)
		ret = grt_bpf_complete_event(c, cpu, e);
	if (!ret && e->type == GRT_EV_JOB)
		ret = grt_bpf_take_job(c, cpu, (struct grt_ev_job *)e);
	if (e->type == GRT_EV_JOB && c->config.sums)
		grt_bpf_sums_meet(&c->sums, ring, e, !c->numbered.in_order);
	if (!ret)
		ret = grt_packer_add(c->packer, cpu, e);
	/* which context was running follows from the order of all jobs */
	if (!ret && !c->config.duty.parts && e->type != GRT_EV_JOB)
		ret = grt_bpf_rings_switch(&c->numbered, c->packer, cpu, e);
	if (ret != -ERANGE)
		return ret;
	c->tally[cpu].late++;
	return 0;
}

/* A record for the decoder, which passes the events that it makes from it to grt_bpf_put(). */
static int grt_bpf_take_call(struct capture *c, unsigned int cpu, const void *data, size_t size)
{
	const struct grt_bpf_decoder *d = c->kind->decoder;
	const char *record = (const char *)data + sizeof(struct grt_bpf_comm);
	struct grt_event who = {.time = 0};
	int ret;

	if (size < sizeof(struct grt_bpf_comm) || !d ||
	    !d->who(record, size - sizeof(struct grt_bpf_comm), &who))
		return -EPROTO;
	c->tally[cpu].events++;
	ret = ((const struct grt_bpf_comm *)data)->comm[0] ? grt_bpf_name_thread(c, cpu, &who, data) : 0;
	return ret ? ret : d->take(c->own, record, size - sizeof(struct grt_bpf_comm));
}

int grt_bpf_put(void *capture, struct grt_event *e, uint32_t cpu)
{
	struct capture *c = capture;
	int ret;

	if (cpu >= c->cpus)
		return -EPROTO;
	if (!grt_types_has(&c->config.types, e->type)) {
		c->tally[cpu].filtered++;
		return 0;
	}
	ret = grt_packer_add(c->packer, cpu, e);
	if (ret != -ERANGE)
		return ret;
	c->tally[cpu].late++;
	return 0;
}

int grt_bpf_add_event(void *capture, struct grt_event *e, uint32_t cpu, const struct grt_bpf_comm *names)
{
	struct capture *c = capture;
	int ret = cpu < c->cpus ? 0 : -EPROTO;

	if (!ret && names)
		ret = grt_bpf_name_thread(c, cpu, e, names);
	if (!ret)
		ret = grt_bpf_complete_event(c, cpu, e);
	return ret ? ret : grt_bpf_put(c, e, cpu);
}

int grt_bpf_own_map(void *capture, const char *name)
{
	struct capture *c = capture;
	int fd;

	for (unsigned int i = 0; i < c->objects; i++) {
		fd = bpf_object__find_map_fd_by_name(c->object[i], name);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

static struct bpf_program *find_program(struct capture *c, const char *name)
{
	struct bpf_program *prog = NULL;

	for (unsigned int i = 0; i < c->objects && !prog; i++)
		prog = bpf_object__find_program_by_name(c->object[i], name);
	return prog;
}

ssize_t grt_bpf_rows(void *capture, const char *program, void **rows)
{
	struct bpf_program *prog = find_program(capture, program);
	struct bpf_link *link = prog ? bpf_program__attach_iter(prog, NULL) : NULL;
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -ENOENT;
	ssize_t n = -errno;
	size_t used;

	if (fd >= 0) {
		*rows = read_all(fd, SIZE_MAX, &used);
		n = *rows ? (ssize_t)used : -errno;
		close(fd);
	}
	bpf_link__destroy(link);
	return n;
}

/* A record of the ring buffer. It comes from our own programs, and is checked all the same. */
static int grt_bpf_on_record(void *arg, void *data, size_t size)
{
	union {
		struct grt_event e;
		char bytes[GRT_RECORD_MAX];
	} ev;
	const struct grt_bpf_record *r = data;
	struct labels l = {.names = NULL};
	struct capture *c = arg;
	size_t at = sizeof(*r);

	if (size < at + sizeof(ev.e) || r->cpu >= c->cpus)
		return -EPROTO;
	if (r->labels & BPF_HAS_CALL)
		return grt_bpf_take_call(c, r->cpu, (const char *)data + at, size - at);
	if (r->labels & BPF_HAS_HIT) {
		l.hit = (const void *)((const char *)data + at);
		at += sizeof(*l.hit) + (r->labels & BPF_HAS_COMM ? 0 : sizeof(*l.names));
	}
	if (r->labels & BPF_HAS_COMM) {
		l.names = (const void *)((const char *)data + at);
		at += sizeof(*l.names);
	}
	if (r->labels & BPF_HAS_XID) {
		l.xid = (const void *)((const char *)data + at);
		at += sizeof(*l.xid);
	}
	if (r->labels & BPF_HAS_TEXT) {
		l.text = (const void *)((const char *)data + at);
		at += sizeof(*l.text);
	}
	if (size < at + sizeof(ev.e) || size - at > sizeof(ev))
		return -EPROTO;
	memcpy(&ev, (const char *)data + at, size - at);
	if (!grt_record_sound(&ev.e, size - at))
		return -EPROTO;
	return grt_bpf_take_event(c, r->cpu, &ev.e, &l);
}

/*
 * Return: how much the programs have written, or how much this process has read; the kernel stores both in
 * the first pages of the ring buffer.
 */
static uint64_t position(const struct capture *c, unsigned int page)
{
	return __atomic_load_n((const uint64_t *)(c->positions + page * (size_t)getpagesize()),
			       __ATOMIC_ACQUIRE);
}

/*
 * Takes all records that were reserved before now. A record that is still being written delays the records
 * after it.
 */
static int catch_up(struct capture *c)
{
	const struct timespec pause = {.tv_nsec = 20000};
	uint64_t end = position(c, 1);
	int ret = 0;

	while (ret >= 0 && position(c, 0) < end) {
		ret = ring_buffer__consume(c->reader);
		if (!ret)
			nanosleep(&pause, NULL);
	}
	return ret < 0 ? ret : 0;
}

static int consume(struct capture *c)
{
	int ret = ring_buffer__consume(c->reader);

	grt_bpf_kept_look(&c->kept);
	if (ret >= 0 && c->kind->decoder && c->kind->decoder->look(c->own))
		ret = catch_up(c) ?: c->kind->decoder->settle(c->own);
	if (ret < 0)
		c->failed = ret;
	return ret < 0 ? ret : 0;
}

static void grt_bpf_read_counts(struct capture *c)
{
	for (uint32_t cpu = 0; cpu < c->cpus; cpu++)
		bpf_map_lookup_elem(c->counts, &cpu, &c->count[cpu]);
}

/* ------------------------------------------------------------- set-up */

/* Takes memory for the last jobs in sums, a power of two. Without enough of it, each job is a record. */
static void grt_bpf_keep_jobs(struct capture *c, uint64_t *left)
{
	uint64_t bytes = BPF_KEPT_NONE;

	if (strcmp(c->kind->objects[0], "drm_sched"))
		return;
	while (2 * bytes <= *left && 2 * bytes <= RING_BYTES_MAX)
		bytes *= 2;
	c->config.kept = bytes <= *left;
	c->config.sums = c->config.kept;
	if (!c->config.kept)
		return;
	c->kept_bytes = bytes;
	*left -= bytes;
}

static void set_config(struct capture *c, const struct source_setup *setup)
{
	c->config = (struct grt_bpf_config){.pid = (uint32_t)setup->pid};
	grt_types_fill(&c->config.types, 1);
	if (setup->comm)
		snprintf(c->config.comm, sizeof(c->config.comm), "%s", setup->comm);
	if (setup->ring)
		snprintf(c->config.ring, sizeof(c->config.ring), "%s", setup->ring);
	if (c->kind->driver || setup->driver)
		snprintf(c->config.driver, sizeof(c->config.driver), "%s", c->kind->driver ?: setup->driver);
	/* without some of their records, stacks of uprobes would be useless */
	if (!grt_types_empty(&setup->types) && !c->kind->points)
		c->config.types = setup->types;
	if (setup->duty)
		c->config.duty = *setup->duty;
	c->config.whole = setup->whole && !setup->duty && !setup->user_stack && !setup->kernel_stack;
	c->config.sums = c->config.whole && setup->sums && grt_types_empty(&setup->types);
	if (c->config.sums && setup->keep_jobs)
		grt_bpf_keep_jobs(c, setup->keep_jobs);
	for (int i = 0; setup->gpu && i < KNOWN_GPU_FILES; i++)
		c->config.devices[i] = setup->gpu->file[i].number;
	c->config.one_gpu = setup->gpu != NULL;
	if (setup->gpu)
		snprintf(c->config.bus, sizeof(c->config.bus), "%s", setup->gpu->bus);
	c->config.self = (uint32_t)getpid();
	c->config.tree = setup->program;
	c->config.pid_ns = pid_ns_inner();
	c->config.stacks = (setup->user_stack ? BPF_STACK_USER | BPF_STACK_TABLES : 0) |
			   (setup->kernel_stack ? BPF_STACK_KERNEL : 0);
	if (getrandom(&c->config.secret, sizeof(c->config.secret), 0) < 0)
		c->config.secret = grt_now() * 0x9e3779b97f4a7c15ULL;
	if (c->kind->configure)
		c->kind->configure(&c->config);
}

/*
 * Return: the size if the user chose none: what the CPUs need or, if it is more, a share of the memory, for
 * bursts.
 */
static uint64_t default_bytes(const struct capture *c)
{
	uint64_t cpus = RING_BYTES_CPU * c->cpus, share, size = RING_BYTES_MIN;
	struct sysinfo system;

	share = sysinfo(&system) ? 0 : (uint64_t)system.totalram * system.mem_unit / RING_MEMORY_SHARE;
	if (share > RING_BYTES_SHARE_MAX)
		share = RING_BYTES_SHARE_MAX;
	while (size * 2 <= share)
		size *= 2;
	return size > cpus ? size : cpus;
}

/* A power of two. */
static uint64_t ring_bytes(const struct capture *c, uint64_t per_cpu)
{
	uint64_t want = per_cpu ? per_cpu * c->cpus : default_bytes(c), size = RING_BYTES_MIN;

	while (size < want && size < RING_BYTES_MAX)
		size *= 2;
	return size;
}

static int make_reader(struct capture *c, struct grt_err *err)
{
	struct itimerspec tick = {.it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS};
	/*
	 * edge-triggered: waiting data is no reason to wake up before the programs call or the timer expires
	 */
	struct epoll_event called = {.events = EPOLLIN | EPOLLET}, ticked = {.events = EPOLLIN},
			   asked = {.events = EPOLLIN};
	int ring = bpf_object__find_map_fd_by_name(c->object[0], "events");

	c->counts = bpf_object__find_map_fd_by_name(c->object[0], "counts");
	grt_bpf_rings_init(&c->numbered, bpf_object__find_map_fd_by_name(c->object[0], "ring_names"),
			   c->ring_base);
	if (c->config.stacks &&
	    grt_bpf_stacks_init(&c->stacks, grt_bpf_own_map(c, "stacks"),
				c->config.stacks & BPF_STACK_TABLES ? grt_bpf_own_map(c, "walked") : -1,
				c->ring_base))
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for stacks");
	c->stacks.no_names = c->no_names;
	c->reader = ring_buffer__new(ring, grt_bpf_on_record, c, NULL);
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!c->reader || c->epoll < 0 || c->timer < 0 || timerfd_settime(c->timer, 0, &tick, NULL) ||
	    epoll_ctl(c->epoll, EPOLL_CTL_ADD, ring, &called) ||
	    epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->timer, &ticked) ||
	    (c->tables && epoll_ctl(c->epoll, EPOLL_CTL_ADD, grt_bpf_tables_fd(), &asked)))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot read the BPF ring buffer");
	return 0;
}

/* The gate is in memory that the programs and this process share. */
static int grt_bpf_find_gate(struct capture *c, struct grt_err *err)
{
	void *page;

	if (!c->config.duty.parts)
		return 0;
	page = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED,
		    grt_bpf_own_map(c, ".data.gate"), 0);
	if (page == MAP_FAILED)
		return grt_err_set(err, -errno, strerror(errno), "grtrace doctor",
				   "%s cannot record in windows: its programs have no memory for them",
				   c->kind->name);
	c->duty = (struct grt_bpf_duty){.d = c->config.duty, .of = c->kind->duty, .gate = page};
	return 0;
}

static int grt_bpf_find_sums(struct capture *c, struct grt_err *err)
{
	const struct grt_bpf_sum_maps maps = {
		.places = grt_bpf_own_map(c, "sum_places"),
		.sums = grt_bpf_own_map(c, "sums"),
		.rings = grt_bpf_own_map(c, "sum_rings"),
		.times = grt_bpf_own_map(c, ".data.sums"),
	};
	int ret = c->config.sums ? grt_bpf_sums_open(&c->sums, &maps) : 0;

	return ret ? grt_err_set(err, ret, strerror(-ret), "grtrace doctor",
				 "%s cannot sum up jobs: its programs have no memory for it", c->kind->name)
		   : 0;
}

static int grt_bpf_find_kept(struct capture *c, struct grt_err *err)
{
	int ret;

	if (!c->config.kept || !c->objects || !makes_wholes(c->object[0]))
		return 0;
	ret = grt_bpf_kept_open(&c->kept, grt_bpf_own_map(c, "kept"), c->kept_bytes);
	return ret ? grt_err_set(err, ret, strerror(-ret), "a smaller --last-size",
				 "%s cannot keep the last jobs: no memory for %llu KiB", c->kind->name,
				 (unsigned long long)c->kept_bytes >> 10)
		   : 0;
}

static int grt_bpf_open_decoder(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
	int ring = bpf_object__find_map_fd_by_name(c->object[0], "events");
	void *pages = mmap(NULL, 2 * (size_t)getpagesize(), PROT_READ, MAP_SHARED, ring, 0);

	if (pages == MAP_FAILED)
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot read the BPF ring buffer");
	c->positions = pages;
	return c->kind->decoder->open(&c->own, c, setup, err);
}

/* Objects for a single driver have the driver's name in theirs. */
static bool grt_bpf_is_requested(const struct capture *c, const char *object)
{
	static const char *const drivers[] = {"amdgpu", "i915", "virtio_gpu"};
	bool of_driver = false;

	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		of_driver |= !strcmp(drivers[i], object);
	return !of_driver || !c->config.driver[0] || !strcmp(c->config.driver, object);
}

static int grt_bpf_prepare(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
	const char *const *objects = c->kind->objects;
	int ret = check_kernel(err);

	if (ret)
		return ret;
	c->tracefs = tracefs_open(err);
	if (c->tracefs < 0)
		return c->tracefs;
	if (grt_packer_new(&c->packer, c->cpus))
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for events of %u {CPU|CPUs}",
				   c->cpus);
	libbpf_set_print(keep_warning);
	set_config(c, setup);
	c->samples.frequency = c->kind->frequency ? (unsigned int)*c->kind->frequency : 0;
	c->ring_bytes = ring_bytes(c, setup->buffer_size);
	c->merged = setup->merged;
	c->note = setup->note;
	c->ring_base = setup->ring_base;
	c->no_names = setup->no_names;
	for (const char *const *name = objects; !ret && *name; name++)
		if (setup->covered && setup->covered(setup->arg, *name)) {
			c->covered = true;
			c->config.all_fences = 1;
		} else if (grt_bpf_is_requested(c, *name)) {
			ret = grt_bpf_load_object(c, *name, err);
		}
	if (!ret && !(c->covered ? c->objects : c->programs))
		return c->covered ? grt_err_set(err, -ENODEV, "the source kmod records all of its events", "",
						"nothing for %s", c->kind->name)
		       : c->without[0] ? no_btf(c, err)
				       : no_tracepoint(objects, err);
	if (!ret)
		ret = make_reader(c, err) ?: grt_bpf_find_gate(c, err) ?: grt_bpf_find_sums(c, err) ?: grt_bpf_find_kept(c, err);
	return ret || !c->kind->decoder ? ret : grt_bpf_open_decoder(c, setup, err);
}

int grt_bpf_open(void **state, const struct source_setup *setup, const struct grt_bpf_kind *kind,
		 struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));

	*state = c;
	if (!c)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for BPF sources");
	c->tracefs = c->epoll = c->timer = -1;
	c->kind = kind;
	c->cpus = (unsigned int)libbpf_num_possible_cpus();
	if (c->cpus > BPF_CPUS_MAX)
		c->cpus = BPF_CPUS_MAX;
	return grt_bpf_prepare(c, setup, err);
}

static struct bpf_link *attach_event(struct capture *c, struct bpf_program *prog,
				     const struct attach_point *at)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	int id = tracefs_event_id(c->tracefs, at->group, at->event), fd;
	struct bpf_link *link;

	if (id < 0)
		return NULL;
	attr.config = (uint64_t)id;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event(prog, fd);
	if (!link)
		close(fd);
	return link;
}

static int attach_points(struct capture *c, struct bpf_program *prog, struct grt_err *err)
{
	const struct grt_bpf_point *p = c->kind->points;
	struct bpf_uprobe_opts opts = {.sz = sizeof(opts)};
	struct bpf_link *link;
	char file[32];

	for (; p < c->kind->points + c->kind->n_points; p++) {
		opts.bpf_cookie = p->number;
		/* the file that was inspected, even if its name belongs to another file now */
		snprintf(file, sizeof(file), "/proc/self/fd/%d", p->fd);
		link = c->links == PROGRAMS_MAX
			       ? NULL
			       : bpf_program__attach_uprobe_opts(prog, -1, file, p->offset, &opts);
		if (!link)
			return grt_err_set(err, -errno ?: -E2BIG, strerror(errno ?: E2BIG), "grtrace doctor",
					   "cannot put a uprobe into %s", p->path);
		c->link[c->links++] = link;
	}
	return 0;
}

static int attach_function(struct capture *c, struct bpf_program *prog, struct grt_err *err)
{
	struct bpf_link *link = bpf_program__attach_trace(prog);

	if (!link)
		return grt_err_set(err, -errno ?: -EINVAL, strerror(errno), "grtrace doctor",
				   "cannot attach to the function %s",
				   grt_bpf_function_of(bpf_program__section_name(prog)));
	c->link[c->links++] = link;
	return 0;
}

static int grt_bpf_attach(struct capture *c, struct bpf_program *prog, struct grt_err *err)
{
	struct attach_point at;
	struct bpf_link *link;

	if (is_sampler(prog))
		return grt_bpf_samples_attach(&c->samples, prog, err);
	if (is_uprobe(prog))
		return attach_points(c, prog, err);
	if (is_of_function(prog))
		return attach_function(c, prog, err);

	parse_section(bpf_program__section_name(prog), &at);
	link = at.raw ? bpf_program__attach_raw_tracepoint(prog, at.event) : attach_event(c, prog, &at);
	if (!link)
		return grt_err_set(err, -errno ?: -EINVAL, strerror(errno), "grtrace doctor",
				   "cannot attach to the tracepoint %s", at.event);
	c->link[c->links++] = link;
	return 0;
}

static int attach_probes(struct capture *c, struct grt_err *err)
{
	const struct grt_bpf_probes *probes = c->kind->probes;
	int n = 0;

	for (unsigned int i = 0; probes && i < c->objects; i++)
		if (!strcmp(bpf_object__name(c->object[i]), probes->object))
			n = probes->attach(c->object[i], c->link + c->links, PROGRAMS_MAX - c->links, err);
	if (n < 0)
		return n;
	c->links += (unsigned int)n;
	return 0;
}

/* Attaches all programs of an object, or none of them. */
static int attach_object(struct capture *c, struct bpf_object *o, struct grt_err *err)
{
	unsigned int before = c->links;
	struct bpf_program *prog;
	int ret = 0;

	bpf_object__for_each_program(prog, o) if (!ret && bpf_program__autoload(prog) && !is_iterator(prog) &&
						  !is_probe(prog) && c->links < PROGRAMS_MAX) ret =
		grt_bpf_attach(c, prog, err);
	if (!ret || !is_optional(o))
		return ret;
	while (c->links > before)
		bpf_link__destroy(c->link[--c->links]);
	grt_bpf_refuse(c, bpf_object__name(o));
	return 0;
}

int grt_bpf_start(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret = 0;

	/* all objects are loaded */
	grt_kernel_btf_forget();
	if (c->tables) {
		grt_bpf_tables_begin(0);
		if (c->config.pid) {
			/* the process runs already, and its first stacks should be complete, too */
			grt_bpf_tables_begin((int)c->config.pid);
			grt_bpf_tables_wait();
		}
	}
	for (unsigned int i = 0; !ret && i < c->objects; i++)
		ret = attach_object(c, c->object[i], err);
	if (!ret)
		ret = attach_probes(c, err);
	return ret;
}

void grt_bpf_begins(void *state, uint64_t from)
{
	struct capture *c = state;

	c->failed = c->failed ?: grt_bpf_duty_begin(&c->duty, c->packer, from);
	if (c->config.sums)
		grt_bpf_sums_begin(&c->sums, from);
	if (c->kind->begun)
		c->kind->begun(c, &c->config, from);
}

/* Programs that keep states of the outside keep the states of that moment. */
void grt_bpf_ends(void *state, uint64_t to)
{
	struct capture *c = state;
	int map = grt_bpf_own_map(c, "end_of_recording");
	uint32_t first = 0;

	c->end = to;
	if (map >= 0)
		bpf_map_update_elem(map, &first, &to, BPF_ANY);
}

/* Before Linux 5.19, unprivileged_bpf_disabled also concerns maps that are open already. */
static bool maps_need_privilege(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;
	char off[16];

	read_line("/proc/sys/kernel/unprivileged_bpf_disabled", off, sizeof(off));
	return off[0] && off[0] != '0' && !uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major < 5 || (major == 5 && minor < 19));
}

/* While stacks arrive, mappings of processes are read and mapped files are opened. */
int grt_bpf_confine(void *state, uint64_t *keep, struct grt_err *err)
{
	struct capture *c = state;

	if (maps_need_privilege())
		*keep |= 1ULL << CAP_BPF;
	/* maps of unwind tables are created when they are needed */
	if (c->tables)
		*keep |= 1ULL << CAP_BPF;
	if (c->config.stacks & BPF_STACK_USER)
		*keep |=
			1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_CHECKPOINT_RESTORE;
	if (c->config.stacks & BPF_STACK_KERNEL)
		symbols_read_kernel(c->stacks.symbols);
	return 0;
}

unsigned int grt_bpf_streams(void *state, struct pollfd *fds)
{
	struct capture *c = state;
	unsigned int n = c->merged ? 1 : c->cpus;

	for (unsigned int i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = c->epoll, .events = POLLIN};
	return n;
}

/* ------------------------------------------------------------- reading */

static uint64_t grt_bpf_lost(const struct capture *c)
{
	uint64_t lost = c->missed + c->forgotten;

	for (unsigned int cpu = 0; cpu < c->cpus; cpu++)
		lost += c->count[cpu].lost + c->tally[cpu].late;
	return lost;
}

/* All streams share one descriptor; the stream that is read first empties the ring buffer for all of them. */
static int refresh(struct capture *c)
{
	struct epoll_event ready[3];
	uint64_t ticks, before;

	if (c->ended || epoll_wait(c->epoll, ready, 3, 0) <= 0)
		return 0;
	if (c->tables)
		grt_bpf_tables_look();
	if (read(c->timer, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		return -errno;
	before = grt_now();
	if (consume(c))
		return c->failed;
	if (before - WINDOW_NS > c->horizon)
		c->horizon = before - WINDOW_NS;
	grt_bpf_read_counts(c);
	c->failed = grt_bpf_duty_look(&c->duty, c->packer, before, grt_bpf_lost(c));
	if (c->config.stacks)
		grt_bpf_stacks_make_room(&c->stacks);
	grt_bpf_samples_look(&c->samples);
	return c->failed;
}

static size_t read_cpu(struct capture *c, unsigned int cpu, void *buf, size_t len)
{
	struct grt_packer_counts counts = {
		.filtered = c->count[cpu].filtered + c->tally[cpu].filtered,
		.aggregated = c->count[cpu].replaced + c->tally[cpu].replaced,
		.lost = c->count[cpu].lost + c->tally[cpu].late + (cpu ? 0 : c->missed + c->forgotten),
	};
	bool now = c->ended || c->tally[cpu].flushed != c->flushes;
	enum grt_pack pack = c->whole ? GRT_PACK_ALL : now ? GRT_PACK_NOW : GRT_PACK_ENOUGH;
	size_t n = grt_packer_read(c->packer, cpu, buf, len, c->horizon, pack, &counts);

	if (!n)
		c->tally[cpu].flushed = c->flushes;
	return n;
}

static void note_unnamed(const struct capture *c)
{
	struct addresses_unnamed n;
	char text[320];

	grt_bpf_stacks_unnamed(&c->stacks, &n);
	if (!(n.bad + n.late + n.over) || !c->note)
		return;
	grt_say_text(
		text, sizeof(text),
		"%s: %llu {frame|frames} of stacks without names: %llu because reading their files failed or took too long, "
		"%llu because time was short, %llu because there are too many",
		c->kind->name, (unsigned long long)(n.bad + n.late + n.over), (unsigned long long)n.bad,
		(unsigned long long)n.late, (unsigned long long)n.over);
	c->note(text);
}

/* The other sources have stopped as well, so this may take time. Return: 0 or -ENOMEM */
static int name_stacks(struct capture *c)
{
	int ret;

	if (!c->ended || c->whole)
		return 0;
	ret = c->config.stacks ? grt_bpf_stacks_name(&c->stacks, c->packer, c->horizon, PATIENCE_MS) : 1;
	if (ret <= 0)
		return ret;
	/*
	 * this must be a branch: QEMU 7.2 loses the flags of SETcc into a page that is shared with the
	 * naming process
	 */
	c->whole = true;
	note_unnamed(c);
	return 0;
}

ssize_t grt_bpf_read(void *state, unsigned int i, void *buf, size_t len)
{
	struct capture *c = state;
	unsigned int cpu = c->merged ? 0 : i, end = c->merged ? c->cpus : i + 1;
	size_t done = 0;
	int ret = refresh(c);

	if (!ret)
		ret = name_stacks(c);
	if (ret)
		return ret;
	for (; cpu < end; cpu++)
		done += read_cpu(c, cpu, (char *)buf + done, len - done);
	if (done)
		return (ssize_t)done;
	return c->whole ? 0 : -EAGAIN;
}

/* One job from the programs' table, at the time @at. Return: 1: it is in flight, 0: it is not, or -errno */
static int grt_bpf_tell_job(struct capture *c, int table, const struct job_key *key, const struct whole *w,
			    uint64_t at)
{
	struct grt_ev_job ev = {
		.e = {.time = at,
		      .ctx = key->ctx,
		      .seqno = key->seqno,
		      .type = GRT_EV_JOB,
		      .size = sizeof(ev),
		      .flags = GRT_FLAG_BPF},
		.submit = w->submit,
		.commit = w->commit,
		.end = w->end,
		.cmd = w->cmd,
		.sw_depth = w->sw_depth,
		.hw_depth = w->hw_depth,
	};
	struct whole later;
	int ret;

	/* the job has completed meanwhile, or a later record will report it */
	if (w->submit > at || bpf_map_lookup_elem(table, key, &later) || later.job.state & JOB_DONE)
		return 0;
	ev.e.pid = w->job.pid;
	ev.e.tid = w->job.tid;
	ev.e.ring = w->job.ring;
	ev.e.device = w->job.device;
	ret = grt_bpf_name_thread(c, 0, &ev.e, &w->comm) ?: grt_bpf_complete_event(c, 0, &ev.e);
	return ret ?: grt_bpf_add_running(c, 0, &ev, at) ?: 1;
}

#define JOBS_AT_A_TIME 1024U

/* Writes all jobs in flight at the time @at. Return: their number, or -errno */
static int64_t grt_bpf_tell_jobs(struct capture *c, uint64_t at)
{
	struct job_key key[JOBS_AT_A_TIME];
	struct whole w[JOBS_AT_A_TIME];
	uint32_t batch, n;
	int table = grt_bpf_own_map(c, "wholes"), ret = 0, more = 0;
	int64_t all = 0;

	for (void *from = NULL; !more && ret >= 0; from = &batch) {
		n = JOBS_AT_A_TIME;
		more = bpf_map_lookup_batch(table, from, &batch, key, w, &n, NULL);
		if (more && more != -ENOENT)
			return more;
		for (uint32_t i = 0; i < n && ret >= 0; i++) {
			ret = grt_bpf_tell_job(c, table, &key[i], &w[i], at);
			all += ret > 0;
		}
	}
	return ret < 0 ? ret : all;
}

/* Names the threads and processes of sums, because no event names them. Return: 0 or -ENOMEM */
static int grt_bpf_name_sums(struct capture *c, uint64_t at)
{
	struct grt_bpf_sum *sum;
	int ret = 0;

	for (unsigned int i = 0; !ret && (i = grt_bpf_sums_next(&c->sums, i, &sum));) {
		struct grt_event e = c->sums.row[i - 1].e;

		e.time = at;
		e.tid = sum->tid;
		e.ring = c->sums.row[i - 1].key.ring;
		ret = grt_bpf_name_thread(c, 0, &e, &sum->comm) ?: grt_bpf_complete_event(c, 0, &e);
	}
	return ret;
}

void grt_bpf_bound(void *state, uint64_t at)
{
	struct capture *c = state;

	if (c->config.sums)
		grt_bpf_sums_bound(&c->sums, at);
}

int grt_bpf_sums(void *state, int (*fn)(void *arg, struct grt_job_sums *sums), void *arg)
{
	struct capture *c = state;

	return c->config.sums && !c->ended ? grt_bpf_sums_each(&c->sums, fn, arg) : 0;
}

void grt_bpf_held(void *state, struct source_held *held)
{
	const struct capture *c = state;

	*held = (struct source_held){.from = c->kept.from, .bytes = c->kept.bytes};
}

/** struct handing - kept jobs on their way into packets */
struct handing {
	struct capture *c;
	struct grt_packer *packer;
	uint64_t from;
	uint64_t to;
};

static int grt_bpf_hand_job(void *arg, const char *record)
{
	const struct grt_bpf_record *r = (const void *)record;
	const struct grt_bpf_comm *n = (const void *)(r + 1);
	struct handing *h = arg;
	char comm[BPF_COMM + 1] = "", owner[BPF_COMM + 1] = "";
	struct grt_ev_job job;
	int ret;

	memcpy(&job, n + 1, sizeof(job));
	if (r->cpu >= h->c->cpus || !grt_record_sound(&job.e, sizeof(job)))
		return -EPROTO;
	if (job.e.time < h->from || job.e.time > h->to)
		return 0;
	memcpy(comm, n->comm, BPF_COMM);
	memcpy(owner, n->owner[0] ? n->owner : n->comm, BPF_COMM);
	ret = grt_packer_name(h->packer, r->cpu, job.e.time, GRT_NAME_THREAD, job.e.tid, comm, owner);
	ret = ret ?: grt_bpf_rings_tell(&h->c->numbered, h->packer, r->cpu, &job.e);
	return ret ?: grt_packer_add(h->packer, r->cpu, &job.e);
}

/* Bytes of packets at a time. */
#define HAND_BYTES ((size_t)256 << 10)

static int grt_bpf_hand_packets(struct handing *h, unsigned int cpu, char *room, source_hand *fn, void *arg)
{
	const struct grt_packer_counts none = {0};
	size_t n;
	int ret = 0;

	while (!ret &&
	       (n = grt_packer_read(h->packer, cpu, room, HAND_BYTES, UINT64_MAX, GRT_PACK_NOW, &none)))
		ret = fn(arg, cpu, room, n);
	return ret;
}

int grt_bpf_hand(void *state, uint64_t from, uint64_t to, source_hand *fn, void *arg)
{
	struct capture *c = state;
	struct handing h = {.c = c, .from = from, .to = to};
	char *room;
	int ret;

	if (!c->kept.bytes)
		return 0;
	room = malloc(HAND_BYTES);
	ret = room ? grt_packer_new(&h.packer, c->cpus) : -ENOMEM;
	ret = ret ?: grt_bpf_kept_each(&c->kept, grt_bpf_hand_job, &h);
	for (unsigned int cpu = 0; !ret && cpu < c->cpus; cpu++)
		ret = grt_bpf_hand_packets(&h, cpu, room, fn, arg);
	grt_packer_free(h.packer);
	free(room);
	return ret;
}

int grt_bpf_running(void *state, uint64_t at, struct grt_err *err)
{
	struct capture *c = state;
	int64_t ret = 0;

	if (!c->config.whole || c->ended)
		return 0;
	c->asked = at;
	if (c->config.sums) {
		grt_bpf_sums_turn(&c->sums);
		ret = grt_bpf_name_sums(c, at);
	}
	ret = ret ?: grt_bpf_tell_jobs(c, at);
	return ret < 0 ? grt_err_set(err, (int)ret, strerror((int)-ret), NULL,
				     "cannot read the jobs in flight")
		       : 0;
}

int grt_bpf_flush(void *state, struct grt_err *err)
{
	struct timespec window = {.tv_nsec = WINDOW_NS / 2};
	struct capture *c = state;
	uint64_t before = grt_now();
	int ret;

	if (c->ended)
		return 0;
	nanosleep(&window, NULL);
	ret = consume(c);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "cannot read the BPF ring buffer");
	c->horizon = before;
	c->asked = 0;
	c->flushes++;
	grt_bpf_read_counts(c);
	return 0;
}

/* The next flush writes the frames as records. */
int grt_bpf_name(void *state)
{
	struct capture *c = state;

	return c->config.stacks ? grt_bpf_stacks_name(&c->stacks, c->packer, c->horizon, 0) : 1;
}

/* From 5.12 on, the kernel counts these by program and not by CPU: the first CPU gets them all. */
static void read_missed(struct capture *c)
{
	struct bpf_prog_info info;
	struct bpf_program *prog;
	__u32 size;

	for (unsigned int i = 0; i < c->objects; i++)
		bpf_object__for_each_program(prog, c->object[i])
		{
			size = sizeof(info);
			memset(&info, 0, size);
			if (bpf_program__autoload(prog) &&
			    !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
				c->missed += info.recursion_misses;
		}
}

static void grt_bpf_detach(struct capture *c)
{
	grt_bpf_samples_detach(&c->samples);
	for (unsigned int i = 0; i < c->links; i++)
		bpf_link__destroy(c->link[i]);
	c->links = 0;
}

static void note_samples(const struct capture *c)
{
	char text[256], line[320];

	if (!c->samples.again && !c->samples.refused)
		return;
	grt_bpf_samples_text(&c->samples, text, sizeof(text));
	snprintf(line, sizeof(line), "%s: samples by %s", c->kind->name, text);
	if (c->note)
		c->note(line);
}

/*
 * Return: whether the number of offered events equals the sum of events that arrived, were filtered, or were
 * lost; otherwise events are uncounted.
 */
static int check_counts(const struct capture *c, struct grt_err *err)
{
	for (unsigned int cpu = 0; cpu < c->cpus; cpu++) {
		const struct grt_bpf_counts *n = &c->count[cpu];
		uint64_t known = c->tally[cpu].events + n->lost;

		if (n->wanted != known)
			return grt_err_set(
				err, -EPROTO, "this is a bug of grtrace", "grtrace doctor --bug-report FILE",
				"%s: CPU %u: %llu {event was|events were} recorded, %llu are accounted for",
				c->kind->name, cpu, (unsigned long long)n->wanted, (unsigned long long)known);
	}
	return 0;
}

/*
 * Jobs with one record each have completed or are in flight; for all others, the programs' table had no
 * room. Return: 0 or -errno
 */
static int grt_bpf_end_jobs(struct capture *c, uint64_t end)
{
	uint64_t submitted = 0, known = 0;
	int64_t running = c->config.whole ? grt_bpf_tell_jobs(c, end) : 0;

	if (running < 0 || !c->config.whole)
		return (int)running;
	for (unsigned int cpu = 0; cpu < c->cpus; cpu++) {
		submitted += c->count[cpu].whole;
		known += c->count[cpu].summed + c->tally[cpu].whole;
	}
	known += (uint64_t)running;
	c->forgotten = submitted > known ? submitted - known : 0;
	return 0;
}

static uint64_t stacks_lost(const struct capture *c)
{
	uint64_t lost = c->stacks.lost;

	for (unsigned int cpu = 0; cpu < c->cpus; cpu++)
		lost += c->count[cpu].no_stack;
	return lost;
}

static void note_rings(const struct capture *c)
{
	char text[128];

	if (!c->numbered.unnumbered || !c->note)
		return;
	grt_say_text(text, sizeof(text), "%s: %llu {event has|events have} no ring (limit of %u rings)",
		     c->kind->name, (unsigned long long)c->numbered.unnumbered, c->numbered.all.max);
	c->note(text);
}

static void note_stacks(const struct capture *c)
{
	uint64_t lost = stacks_lost(c);
	char text[128];

	if (!lost || !c->note)
		return;
	grt_say_text(
		text, sizeof(text),
		"%s: %llu {stack is|stacks are} missing from {its event|their events}: the stack table was full",
		c->kind->name, (unsigned long long)lost);
	c->note(text);
}

/* The counts are those of all sources: the first source prints them. */
static void note_code_objects(const struct capture *c)
{
	static bool told;
	uint64_t unnamed = c->tables ? grt_bpf_tables_unnamed() : 0;
	char text[128];

	if (!unnamed || !c->note || told)
		return;
	told = true;
	grt_say_text(
		text, sizeof(text),
		"%llu {Python frame has|Python frames have} no name: there were too many code objects, or too many at a time",
		(unsigned long long)unnamed);
	c->note(text);
}

int grt_bpf_stop(void *state, struct grt_err *err)
{
	struct capture *c = state;
	uint64_t end = c->end ? c->end : grt_now();
	int ret;

	if (c->ended)
		return 1;
	/* what a decoder has looked up is valid only as long as the programs report changes */
	ret = c->kind->decoder ? consume(c) : 0;
	grt_bpf_detach(c);
	if (!ret)
		ret = consume(c);
	if (!ret && c->kind->decoder && c->kind->decoder->end)
		ret = c->kind->decoder->end(c->own);
	grt_bpf_read_counts(c);
	if (!ret)
		ret = grt_bpf_duty_end(&c->duty, c->packer, end, grt_bpf_lost(c));
	if (!ret && c->kind->over)
		ret = c->kind->over(c, &c->config, end);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "cannot read the BPF ring buffer");
	grt_bpf_read_counts(c);
	ret = grt_bpf_end_jobs(c, grt_now());
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "cannot read the jobs in flight");
	read_missed(c);
	c->horizon = grt_now();
	c->ended = true;
	note_stacks(c);
	note_code_objects(c);
	note_rings(c);
	note_samples(c);
	ret = check_counts(c, err);
	return ret ? ret : 1;
}

/* If a stream ended too early, events are left that nothing else counts. */
int grt_bpf_missed(void *state, struct grt_balance *missed, struct grt_err *err)
{
	struct capture *c = state;

	*missed = (struct grt_balance){.fate[GRT_FATE_DELIVERED] = grt_packer_waiting(c->packer)};
	grt_err_set(err, -EPROTO, "this is a bug of grtrace", "grtrace doctor --bug-report FILE",
		    "%s: %llu {event was|events were} recorded and {is|are} not in the recording",
		    c->kind->name, (unsigned long long)missed->fate[GRT_FATE_DELIVERED]);
	return 0;
}

static void programs_text(const struct capture *c, char *text, size_t room)
{
	struct bpf_program *prog;

	text[0] = '\0';
	for (unsigned int i = 0; i < c->objects; i++)
		bpf_object__for_each_program(prog, c->object[i]) if (bpf_program__autoload(prog) &&
								     !is_iterator(prog))
			snprintf(text + strlen(text), room - strlen(text), "%s%s", text[0] ? " " : "",
				 bpf_program__section_name(prog));
}

static void grt_bpf_counts_text(const struct capture *c, char *text, size_t room)
{
	struct grt_bpf_counts sum = {0};
	uint64_t late = 0;

	for (unsigned int cpu = 0; cpu < c->cpus; cpu++) {
		sum.wanted += c->count[cpu].wanted;
		sum.filtered += c->count[cpu].filtered;
		sum.lost += c->count[cpu].lost;
		sum.unmatched += c->count[cpu].unmatched;
		late += c->tally[cpu].late;
	}
	snprintf(
		text, room,
		"emitted=%llu filtered=%llu lost=%llu late=%llu missed=%llu unmatched=%llu no_stack=%llu unnumbered=%llu packed=%llu",
		(unsigned long long)(sum.wanted + sum.filtered), (unsigned long long)sum.filtered,
		(unsigned long long)sum.lost, (unsigned long long)late, (unsigned long long)c->missed,
		(unsigned long long)sum.unmatched, (unsigned long long)stacks_lost(c),
		(unsigned long long)c->numbered.unnumbered,
		(unsigned long long)grt_packer_emitted(c->packer));
}

int grt_bpf_describe(void *state, struct grt_env *env, int room)
{
	static const char *const keys[] = {"programs", "buffer_size", "balance", "without_btf", "decoder",
					   "samples",  "refused",     "tables",	 "stack_ends",	"windows"};
	struct capture *c = state;
	int n = 0;

	programs_text(c, c->text[0].value, sizeof(c->text[0].value));
	snprintf(c->text[1].value, sizeof(c->text[1].value), "%llu", (unsigned long long)c->ring_bytes);
	grt_bpf_counts_text(c, c->text[2].value, sizeof(c->text[2].value));
	snprintf(c->text[3].value, sizeof(c->text[3].value), "%s", c->without);
	if (c->kind->decoder)
		c->kind->decoder->describe(c->own, c->text[4].value, sizeof(c->text[4].value));
	grt_bpf_samples_text(&c->samples, c->text[5].value, sizeof(c->text[5].value));
	snprintf(c->text[6].value, sizeof(c->text[6].value), "%s", c->refused);
	c->text[7].value[0] = c->text[8].value[0] = '\0';
	if (c->tables) {
		grt_bpf_tables_text(c->text[7].value, sizeof(c->text[7].value));
		/* a decoder has its own counts */
		if (!c->kind->decoder)
			grt_bpf_stacks_ends_text(c->stacks.ends, c->text[8].value, sizeof(c->text[8].value));
	}
	c->text[9].value[0] = '\0';
	if (c->duty.gate)
		snprintf(c->text[9].value, sizeof(c->text[9].value), "recorded=%llu missed=%llu open=%u",
			 (unsigned long long)c->duty.whole, (unsigned long long)c->duty.missed,
			 c->duty.gate->open);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && n < room; i++) {
		if (!c->text[i].value[0])
			continue;
		snprintf(c->text[i].key, sizeof(c->text[i].key), "%s_%s", c->kind->name, keys[i]);
		env[n++] = (struct grt_env){c->text[i].key, c->text[i].value};
	}
	return n;
}

int grt_bpf_close(void *state, struct grt_err *err)
{
	struct capture *c = state;

	if (!c)
		return 0;
	grt_bpf_detach(c);
	if (c->kind->decoder)
		c->kind->decoder->close(c->own);
	if (c->positions)
		munmap((void *)c->positions, 2 * (size_t)getpagesize());
	if (c->duty.gate)
		munmap(c->duty.gate, (size_t)getpagesize());
	grt_bpf_sums_close(&c->sums);
	grt_bpf_kept_close(&c->kept);
	ring_buffer__free(c->reader);
	for (unsigned int i = 0; i < c->objects; i++)
		bpf_object__close(c->object[i]);
	grt_packer_free(c->packer);
	grt_bpf_stacks_fini(&c->stacks);
	grt_bpf_rings_fini(&c->numbered);
	if (c->tables)
		grt_bpf_tables_leave();
	if (c->epoll >= 0)
		close(c->epoll);
	if (c->timer >= 0)
		close(c->timer);
	if (c->tracefs >= 0)
		close(c->tracefs);
	free(c);
	return 0;
}

#else /* !GRT_HAVE_BPF */

static int not_built(struct grt_err *err)
{
	return grt_err_set(err, -ENOSYS, "grtrace was built without BPF programs",
			   "apt-get install clang bpftool libbpf-dev libelf-dev zlib1g-dev, then make",
			   "cannot load BPF programs");
}

int grt_bpf_open(void **state, const struct source_setup *setup, const struct grt_bpf_kind *kind,
		 struct grt_err *err)
{
	*state = NULL;
	return not_built(err);
}

int grt_bpf_probe(const char *const *objects, struct grt_err *err)
{
	return not_built(err);
}

int grt_bpf_probe_driver(const char *const *objects, const char *driver, struct grt_err *err)
{
	return not_built(err);
}

int grt_bpf_put(void *capture, struct grt_event *e, uint32_t cpu)
{
	return -ENOSYS;
}

int grt_bpf_add_event(void *capture, struct grt_event *e, uint32_t cpu, const struct grt_bpf_comm *names)
{
	return -ENOSYS;
}

ssize_t grt_bpf_rows(void *capture, const char *program, void **rows)
{
	return -ENOSYS;
}

int grt_bpf_own_map(void *capture, const char *name)
{
	return -ENOSYS;
}

/* grt_bpf_open() never succeeds, so the other functions are only called to close what was never opened. */
int grt_bpf_start(void *state, struct grt_err *err)
{
	return not_built(err);
}

void grt_bpf_begins(void *state, uint64_t from)
{
}

void grt_bpf_ends(void *state, uint64_t to)
{
}

int grt_bpf_confine(void *state, uint64_t *keep, struct grt_err *err)
{
	return not_built(err);
}

unsigned int grt_bpf_streams(void *state, struct pollfd *fds)
{
	return 0;
}

int grt_bpf_running(void *state, uint64_t at, struct grt_err *err)
{
	return not_built(err);
}

void grt_bpf_bound(void *state, uint64_t at)
{
}

int grt_bpf_sums(void *state, int (*fn)(void *arg, struct grt_job_sums *sums), void *arg)
{
	return 0;
}

void grt_bpf_held(void *state, struct source_held *held)
{
	*held = (struct source_held){0};
}

int grt_bpf_hand(void *state, uint64_t from, uint64_t to, source_hand *fn, void *arg)
{
	return 0;
}

int grt_bpf_flush(void *state, struct grt_err *err)
{
	return not_built(err);
}

ssize_t grt_bpf_read(void *state, unsigned int i, void *buf, size_t len)
{
	return -ENOSYS;
}

int grt_bpf_name(void *state)
{
	(void)state;
	return 1;
}

int grt_bpf_stop(void *state, struct grt_err *err)
{
	return not_built(err);
}

int grt_bpf_missed(void *state, struct grt_balance *missed, struct grt_err *err)
{
	return not_built(err);
}

int grt_bpf_describe(void *state, struct grt_env *env, int room)
{
	return 0;
}

int grt_bpf_close(void *state, struct grt_err *err)
{
	return 0;
}

#endif /* GRT_HAVE_BPF */
