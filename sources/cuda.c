// SPDX-License-Identifier: GPL-2.0
/*
 * CUDA: a library of grtrace in the program, which CUDA's driver loads (CUDA_INJECTION64_PATH) and which
 * writes its packets into the recording's directory. This source finds the library, tells it where to write,
 * and stops it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sources/bpf/bpf.h"
#include "base/clock.h"
#include "base/say.h"
#include "codes/cuda_codes.h"
#include "cuda_ask.h"
#include "cuda_attach.h"
#include "cuda_intake.h"
#include "duty.h"
#include "trace/cuda_recording.h"
#include "trace/packet.h"
#include "sources/bpf/bpf_nodes.h"
#include "host/elf_file.h"
#include "uprobe.h"

#define LIBRARY GRT_CUDA_LIBRARY
#define PREFIX "cuda_"
/* Writers look for this file, and end when it appears. */
#define STOP_NAME GRT_CUDA_STOP
#define STOP_MS 3000
#define NOTES_MAX 8
#define SERIALIZED "serialized"
/* Most processes that are asked at the same time. */
#define ASKS_MAX 64
/* Libraries with NVTX load the library in this variable. */
#define NVTX_ENV "NVTX_INJECTION64_PATH"
/* NCCL loads the library in this variable when it makes a process's first communicator. */
#define NCCL_ENV "NCCL_PROFILER_PLUGIN"
/* The library calls this function with the number of a launch, for --stack=bpf. */
#define MARKER "grtrace_cuda_launch"

/**
 * struct reading - the notes of a process
 * @string: the last text, with the number @number
 */
struct reading {
	struct grt_consumer c;
	struct capture *capture;
	bool begun;
	bool ended;
	bool cuda;
	uint32_t number;
	char string[512];
};

/**
 * struct capture - the state of this source
 * @library: path of the injected library
 * @stack: how it takes stacks
 * @dir: the recording, for this process; @path: for other processes
 * @number: a random number, in the metadata and in the program's environment: a process that outlives this
 *	recording does not write into another one at the same path
 * @event: readable once capture has stopped
 * @processes, @silent: number of processes that were traced, and of those whose end is missing
 * @cuda: number of them that used CUDA
 * @marker: the capture by BPF, of stacks alone or of launches, too; NULL: there is none; @kind, @point: its
 *	description
 * @outside: a running process that is watched from outside; @uprobes: its uprobes
 * @duty: the windows of --duty
 * @ask: running processes with the library that record on our request; @asks: number of them
 * @intake: receives packets; NULL: they are in files; @reading: notes of its processes
 * @uid, @gid: user and group of these processes
 */
struct capture {
	char library[PATH_MAX];
	const char *stack;
	int dir;
	char path[PATH_MAX];
	char number[GRT_CUDA_RECORDING_MAX];
	int event;
	bool ended;
	unsigned int processes;
	unsigned int silent;
	unsigned int cuda;
	unsigned int notes;
	void (*note)(const char *text);
	char processes_text[64];
	void *marker;
	struct grt_bpf_kind kind;
	struct grt_bpf_point point;
	pid_t outside;
	struct uprobes uprobes;
	struct grt_duty duty;
	struct cuda_ask ask[ASKS_MAX];
	unsigned int asks;
	struct cuda_intake *intake;
	struct reading reading[CUDA_INTAKE_PROCESSES];
	uid_t uid;
	gid_t gid;
};

static bool no_nvtx;
static const char *capture_range;
static double delay;
static const char *pc_sampling;
static const char *graph;
static bool torch;

static const struct cmd_opt options[] = {
	{"no-nvtx", 0, OPT_FLAG, NULL, &no_nvtx, "-e cuda: do not record the program's NVTX ranges"},
	{"capture-range", 0, OPT_STR, "RANGE", &capture_range,
	 "-e cuda: record only from cudaProfilerStart() to cudaProfilerStop() (cudaProfilerApi[:N]), or only in the program's NVTX ranges of a name (nvtx:NAME[:N]); N: only the first N"},
	{"graph", 0, OPT_STR, "node|graph", &graph,
	 "-e cuda: record each kernel of a CUDA graph (node, the default), or each graph as one (graph), which costs less"},
	{"torch", 0, OPT_FLAG, NULL, &torch,
	 "-e cuda: record modules of PyTorch as ranges, by their qualified names (layers.0.attn)"},
	{"delay", 0, OPT_SECONDS, "SECONDS", &delay, "-e cuda: start after this time"},
	{"pc-sampling", 0, OPT_MAYBE, "[=PERIOD|serialized[:PERIOD]]", &pc_sampling,
	 "-e cuda: sample where kernels stall, by instruction, every 2^PERIOD cycles (5 to 31, default: 20); serialized: kernels run one by one, and each sample belongs to a launch"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/* :N may follow a word that has no number of its own. */
static bool cuda_is_count(const char *text)
{
	size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;

	return !*text || (digits && digits < 10 && !text[digits + 1] && strtoul(text + 1, NULL, 10));
}

static bool cuda_is_serialized(const char *text)
{
	return text && !strncmp(text, SERIALIZED, strlen(SERIALIZED));
}

static bool cuda_is_period(const char *text)
{
	size_t digits;
	unsigned long n;

	if (cuda_is_serialized(text)) {
		text += strlen(SERIALIZED);
		if (!*text)
			return true;
		if (*text++ != ':' || !*text)
			return false;
	}
	digits = strspn(text, "0123456789");
	n = strtoul(text, NULL, 10);
	return !*text || (!text[digits] && n >= 5 && n <= 31);
}

/*
 * The first launch that is sampled waits while CUPTI examines all code that the program has loaded: 0.3 s in
 * a program with PyTorch (CUDA 13.0).
 */
static unsigned int cuda_window_ms(void)
{
	return pc_sampling ? 1000 : DUTY_WINDOW_MS;
}

static const char *cuda_refuse(const struct source_setup *setup)
{
	if (pc_sampling && (setup->pid || setup->gpu_users))
		return "--pc-sampling works only with a program that grtrace starts: grtrace record -e cuda --pc-sampling -- PROGRAM";
	if (pc_sampling && (capture_range || delay > 0))
		return "--pc-sampling samples the whole run, or the windows of --duty: leave out --capture-range and --delay";
	if (pc_sampling && setup->taken)
		return "--pc-sampling writes the kernels' code into the recording: leave out --last, --max-size, --max-time, --segment and --compress";
	if (pc_sampling && !cuda_is_period(pc_sampling))
		return "--pc-sampling=PERIOD: a number from 5 to 31, for a sample every 2^PERIOD cycles; or serialized, or serialized:PERIOD";
	if (torch && setup->pid && setup->stack && !strcmp(setup->stack, "bpf"))
		return "--torch and --stack=bpf do not work together for a running process, which is recorded from outside";
	if (graph && strcmp(graph, "node") && strcmp(graph, GRT_CUDA_GRAPH_WHOLE))
		return "--graph: node, to record each kernel of a CUDA graph, or graph, to record the graph as one";
	if (setup->duty && pc_sampling && cuda_is_serialized(pc_sampling))
		return "--pc-sampling=serialized and --duty do not work together: kernels are recorded in the windows, and the GPU is sampled before them";
	if (setup->duty && (capture_range || delay > 0))
		return "--duty works neither with --capture-range nor with --delay: each defines when to record";
	if (setup->duty && setup->pid && setup->stack && !strcmp(setup->stack, "bpf"))
		return "--duty and --stack=bpf do not work together for a running process, which is recorded from outside";
	if ((capture_range || delay > 0) && (setup->pid || setup->gpu_users))
		return "--capture-range and --delay work only with a program that grtrace starts: grtrace record -e cuda --delay 1 -- PROGRAM";
	if (capture_range && delay > 0)
		return "--capture-range and --delay do not work together: each defines when to begin";
	if (!capture_range)
		return NULL;
	if (!strncmp(capture_range, "cudaProfilerApi", 15) && cuda_is_count(capture_range + 15))
		return NULL;
	if (!strncmp(capture_range, "nvtx:", 5) && capture_range[5] && strlen(capture_range) < 256)
		return no_nvtx ? "--capture-range=nvtx:NAME and --no-nvtx do not work together" : NULL;
	return "--capture-range: cudaProfilerApi, cudaProfilerApi:N, nvtx:NAME or nvtx:NAME:N";
}

/* ------------------------------------------------------------- checks */

static bool cuda_in_dirs(const char *dirs, const char *name)
{
	char path[PATH_MAX];
	size_t length;

	for (; dirs && *dirs; dirs += length + (dirs[length] == ':')) {
		length = strcspn(dirs, ":");
		if (length && snprintf(path, sizeof(path), "%.*s/%s", (int)length, dirs, name) < PATH_MAX &&
		    !access(path, R_OK))
			return true;
	}
	return false;
}

/* The dynamic linker's own list has the names as texts. */
static bool in_linker_cache(const char *name)
{
	int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *text = MAP_FAILED;
	bool found = false;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
		text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text != MAP_FAILED) {
		found = memmem(text, (size_t)st.st_size, name, strlen(name));
		munmap(text, (size_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static bool has_cuda(void)
{
	return cuda_in_dirs(getenv("LD_LIBRARY_PATH"), "libcuda.so.1") || in_linker_cache("libcuda.so.1") ||
	       cuda_in_dirs(
		       "/usr/lib/x86_64-linux-gnu:/usr/lib64:/usr/lib:/usr/local/cuda/compat:/usr/lib/wsl/lib:"
		       "/usr/local/nvidia/lib64:/run/opengl-driver/lib",
		       "libcuda.so.1");
}

/* Return: whether the path is that of our library, as `grtrace start --cuda` sets it. */
static bool cuda_is_ours(const char *path)
{
	const char *name = strrchr(path, '/');

	return !strcmp(name ? name + 1 : path, LIBRARY);
}

static int no_library(struct grt_err *err)
{
	return grt_err_set(err, -ENOENT, "it is neither beside this program nor in ../lib/grtrace",
			   "make install, or make all in the source tree", "cannot find " LIBRARY);
}

static int cuda_probe(struct grt_err *err)
{
	struct capture c;

	if (!has_cuda())
		return grt_err_set(err, -ENODEV, "there is no libcuda.so.1", "install NVIDIA's driver",
				   "CUDA is not installed");
	return cuda_ask_library(c.library) ? 0 : no_library(err);
}

/* -------------------------------------------------------------- set-up */

static int cuda_check(const struct source_setup *setup, struct grt_err *err)
{
	const char *other = getenv("CUDA_INJECTION64_PATH");

	if (!setup->program && !setup->pid && !setup->gpu_users)
		return grt_err_set(err, -ENODEV, "neither a program nor a process is given",
				   "grtrace record -e cuda -- PROG, or grtrace record -e cuda -p PID",
				   "CUDA cannot be traced without a program");
	if (setup->merged)
		return grt_err_set(err, -EINVAL, "each process of the program writes files of its own",
				   "-o DIR", "--raw cannot hold CUDA's launches");
	if (setup->program && other && *other && !cuda_is_ours(other))
		return grt_err_set(err, -EBUSY, "CUDA_INJECTION64_PATH is set, by another tool",
				   "unset CUDA_INJECTION64_PATH", "CUDA cannot be traced");
	return 0;
}

static const char *cuda_stack_of(const char *how)
{
	if (!how || !strcmp(how, "auto"))
		return "inproc";
	return how;
}

/*
 * A uprobe in the library works in every process that loads the library, so it is attached before the first
 * one does.
 */
static int open_marker(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
#ifdef GRT_HAVE_BPF
	static const char *const objects[] = {"cuda_launch", NULL};
	struct source_setup own = *setup;
	int ret;

	c->point.path = c->library;
	c->point.fd = elf_open(c->library, err);
	if (c->point.fd < 0)
		return c->point.fd;
	ret = elf_function(c->point.fd, c->library, MARKER, &c->point.offset, err);
	if (ret)
		return ret;
	c->kind = (struct grt_bpf_kind){.name = "cuda_stacks",
					.objects = objects,
					.decoder = &grt_bpf_nodes_of_launches,
					.points = &c->point,
					.n_points = 1};
	own.user_stack = true;
	own.kernel_stack = false;
	return grt_bpf_open(&c->marker, &own, &c->kind, err);
#else
	return grt_bpf_open(&c->marker, setup, &c->kind, err);
#endif
}

#ifdef GRT_HAVE_BPF

/* Uprobes at the functions that launch kernels and graphs, as far as a library has them. */
static int add_launches(struct capture *c, pid_t pid, const char *library, uint32_t domain,
			struct grt_err *err)
{
	static const bool wanted[GRT_CUDA_KINDS] = {
		[GRT_CUDA_KIND_KERNEL] = true,
		[GRT_CUDA_KIND_GRAPH] = true,
	};
	const struct grt_cuda_call *call;
	char path[PATH_MAX];
	int fd = uprobes_mapped(pid, library, path, err);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	for (uint32_t number = 1; number < GRT_CUDA_DRIVER; number++) {
		call = grt_cuda_call(domain | number);
		if (call && wanted[call->kind])
			uprobes_add(&c->uprobes, fd, path, call->name, call->call, NULL);
	}
	close(fd);
	return 0;
}

/* A running process without our library: uprobes on CUDA's libraries see its launches, and nothing else. */
static int open_outside(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
	int ret;

	c->outside = setup->pid;
	c->stack = "bpf";
	ret = add_launches(c, setup->pid, "libcudart", 0, err);
	if (!ret)
		ret = add_launches(c, setup->pid, "libcuda", GRT_CUDA_DRIVER, err);
	if (ret)
		return ret;
	if (!c->uprobes.n)
		return grt_err_set(err, -ENODEV,
				   "it has loaded neither libcuda.so nor libcudart.so, or it may not be read",
				   "grtrace record -e cuda -- PROG, or the same command once it uses CUDA",
				   "process %d: no launches to record", (int)setup->pid);
	if (setup->note)
		setup->note("cuda: in a running process, grtrace records only launches and their stacks: "
			    "no kernels, copies, waits and GPU times (use flame --weight launches)");
	return uprobes_open(&c->uprobes, "cuda_calls", &c->marker, setup, err);
}

#else

static int open_outside(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
	return grt_bpf_open(&c->marker, setup, &c->kind, err);
}

#endif

/* Loads the library into a running process that does not have it. */
static int cuda_load_into(struct capture *c, struct cuda_ask *a, pid_t pid, struct grt_err *err)
{
	struct timespec moment = {.tv_nsec = 1000000};
	struct cuda_attach attach;
	char text[128];
	int ret = cuda_attach_load(&attach, pid, c->library, err);

	if (ret)
		return ret;
	/* the library's thread makes the page when it begins */
	for (int ms = 0; ms < 2000 && (ret = cuda_ask_find(a, pid, err)) == -ENOENT; ms++)
		nanosleep(&moment, NULL);
	if (ret)
		return ret;
	atomic_store(&a->page->scrap_bytes, attach.bytes);
	atomic_store(&a->page->scrap, attach.at);
	snprintf(
		text, sizeof(text),
		"cuda: the library was loaded into process %d, which stopped one of its threads for at most %.1f ms",
		(int)pid, (double)attach.longest / 1e6);
	if (c->note)
		c->note(text);
	return 0;
}

static int cuda_ask_process(struct capture *c, pid_t pid, bool named, struct grt_err *err)
{
	struct cuda_ask *a = &c->ask[c->asks];
	int ret = cuda_ask_find(a, pid, err);

	if (ret == -ENOENT && named)
		ret = cuda_ask_is_without(pid, err) ?: cuda_load_into(c, a, pid, err);
	c->asks += !ret;
	return ret;
}

/* If there are several processes, one that another recorder records is left to that recorder. */
static int cuda_ask_user(struct capture *c, pid_t pid, struct grt_err *err)
{
	int ret = cuda_ask_process(c, pid, true, err);

	if (ret)
		return ret;
	ret = cuda_ask_is_free(&c->ask[c->asks - 1], err);
	if (ret)
		cuda_ask_close(&c->ask[--c->asks]);
	return ret;
}

/* A process that refuses is named in a note, and the others are recorded. */
static int cuda_ask_users(struct capture *c, struct grt_err *err)
{
	char text[sizeof(err->what) + sizeof(err->why) + 16];
	pid_t pids[ASKS_MAX];
	unsigned int n = cuda_ask_gpu(pids, ASKS_MAX);
	struct grt_err why = {0};

	for (unsigned int i = 0; i < n; i++) {
		if (!cuda_ask_user(c, pids[i], &why))
			continue;
		snprintf(text, sizeof(text), "cuda: %s: %s", why.what, why.why);
		if (c->note)
			c->note(text);
	}
	if (c->asks)
		return 0;
	return grt_err_set(err, -ENOENT,
			   n ? "each of these processes refused"
			     : "no process that this user may inspect has libcuda.so",
			   "sudo grtrace record -e cuda -p gpu", "no process that uses CUDA can be recorded");
}

static int open_event(struct capture *c, struct grt_err *err)
{
	c->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return c->event < 0
		       ? grt_err_set(err, -errno, strerror(errno), NULL, "cannot make a descriptor for CUDA")
		       : 0;
}

static void cuda_on_packet(void *arg, unsigned int process, const struct grt_packet *p);
static void cuda_on_end(void *arg, unsigned int process);

static int open_intake(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
	const struct cuda_intake_ops ops = {cuda_on_packet, cuda_on_end, c};

	c->uid = setup->uid;
	c->gid = setup->gid;
	return setup->taken ? cuda_intake_new(&c->intake, &ops, err) : 0;
}

static int choose_number(struct capture *c, struct grt_err *err)
{
	uint64_t n[2];

	if (getrandom(n, sizeof(n), 0) != sizeof(n))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot get a random number");
	snprintf(c->number, sizeof(c->number), "%016" PRIx64 "%016" PRIx64, n[0], n[1]);
	return 0;
}

static int cuda_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int ret;

	*state = c;
	if (!c)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for CUDA");
	c->event = c->point.fd = -1;
	c->dir = -1;
	c->note = setup->note;
	if (cuda_is_serialized(pc_sampling) && setup->note)
		setup->note("cuda: --pc-sampling=serialized makes kernels run one by one: "
			    "waits, idle times and overlaps are not those of the program");
	if (setup->duty)
		c->duty = *setup->duty;
	c->stack = cuda_stack_of(setup->stack);
	if (!setup->program && setup->pid && setup->stack && !strcmp(setup->stack, "bpf"))
		return open_event(c, err) ?: open_outside(c, setup, err);
	ret = cuda_check(setup, err);
	if (ret)
		return ret;
	if (!cuda_ask_library(c->library))
		return no_library(err);
	/* the metadata that is written next contains it */
	ret = choose_number(c, err) ?: open_event(c, err) ?: open_intake(c, setup, err);
	if (!ret && setup->pid)
		ret = cuda_ask_process(c, setup->pid, setup->named, err);
	if (!ret && setup->gpu_users)
		ret = cuda_ask_users(c, err);
	if (ret)
		return ret;
	return strcmp(c->stack, "bpf") ? 0 : open_marker(c, setup, err);
}

/* NVTX and NCCL know only one library: a library that is set already stays. Return: 0 or -errno */
static int cuda_set_library(struct capture *c, const char *variable, const char *what)
{
	const char *other = getenv(variable);
	char text[PATH_MAX + 128];

	if (!other || !*other || cuda_is_ours(other))
		return setenv(variable, c->library, 1);
	snprintf(text, sizeof(text), "cuda: no %s: %s is set, to %s", what, variable, other);
	if (c->note)
		c->note(text);
	return 0;
}

static int cuda_set_duty(const struct grt_duty *d)
{
	char text[96];

	snprintf(text, sizeof(text), "%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64, d->parts, d->window,
		 d->seed, d->epoch);
	return d->parts ? setenv(GRT_DUTY_ENV, text, 1) : unsetenv(GRT_DUTY_ENV);
}

static int cuda_set_window(void)
{
	char until[32];

	snprintf(until, sizeof(until), "%" PRIu64, grt_now() + (uint64_t)(delay * 1e9));
	return (capture_range ? setenv("GRTRACE_CAPTURE", capture_range, 1) : unsetenv("GRTRACE_CAPTURE")) ||
	       (delay > 0 ? setenv("GRTRACE_DELAY", until, 1) : unsetenv("GRTRACE_DELAY"));
}

static bool cuda_wants_graphs(void)
{
	return graph && !strcmp(graph, GRT_CUDA_GRAPH_WHOLE);
}

static int cuda_set_graphs(void)
{
	return cuda_wants_graphs() ? setenv(GRT_CUDA_GRAPH_ENV, GRT_CUDA_GRAPH_WHOLE, 1)
				   : unsetenv(GRT_CUDA_GRAPH_ENV);
}

static int cuda_set_torch(void)
{
	return torch ? setenv(GRT_CUDA_TORCH_ENV, "1", 1) : unsetenv(GRT_CUDA_TORCH_ENV);
}

static int cuda_set_sampling(void)
{
	if (!pc_sampling)
		return unsetenv("GRTRACE_PC_SAMPLING");
	return setenv("GRTRACE_PC_SAMPLING", *pc_sampling ? pc_sampling : "0", 1);
}

static int cuda_set_environment(struct capture *c, struct grt_err *err)
{
	char given[sizeof(c->number) + sizeof(c->path)];

	snprintf(given, sizeof(given), "%s:%s", c->number, c->path);
	if (setenv(GRT_CUDA_RECORDING_ENV, given, 1) || setenv("CUDA_INJECTION64_PATH", c->library, 1) ||
	    setenv("GRTRACE_OUTPUT", c->path, 1) || setenv("GRTRACE_STACK", c->stack, 1) ||
	    (!no_nvtx && cuda_set_library(c, NVTX_ENV, "NVTX ranges")) ||
	    cuda_set_library(c, NCCL_ENV, "collectives of NCCL") || cuda_set_window() ||
	    cuda_set_duty(&c->duty) || cuda_set_graphs() || cuda_set_torch() || cuda_set_sampling())
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot set the environment");
	return c->intake ? cuda_intake_listen(c->intake, c->dir, c->uid, c->gid, err) : 0;
}

/* The program gets these variables with its environment. */
static int cuda_attach(void *state, int dir, const char *path, struct grt_err *err)
{
	struct capture *c = state;

	c->dir = dir;
	if (c->outside)
		return 0;
	if (c->asks)
		return realpath(path, c->path) ? 0 : -errno;
	if (!realpath(path, c->path))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot find %s", path);
	return cuda_set_environment(c, err);
}

/* Return: the library's number for this kind of stack. */
static uint32_t cuda_stack_number(const struct capture *c)
{
	return !strcmp(c->stack, "none")  ? GRT_CUDA_STACK_NONE
	       : !strcmp(c->stack, "bpf") ? GRT_CUDA_STACK_BPF
					  : GRT_CUDA_STACK_INPROC;
}

static int cuda_start(void *state, struct grt_err *err)
{
	struct capture *c = state;
	const struct cuda_request wish = {.stack = cuda_stack_number(c),
					  .duty = c->duty,
					  .whole_graphs = cuda_wants_graphs(),
					  .torch = torch};
	int ret = c->marker ? grt_bpf_start(c->marker, err) : 0;

	for (unsigned int i = 0; i < c->asks && !ret; i++) {
		ret = cuda_ask_start(&c->ask[i], &wish, err);
		if (!ret && c->intake && cuda_intake_add(c->intake, c->ask[i].pipe))
			ret = grt_err_set(err, -EMFILE, strerror(EMFILE), NULL,
					  "cannot take the packets of process %d", (int)c->ask[i].pid);
	}
	return ret;
}

/* The program's files are its own until the end, when they become part of the recording. */
static int cuda_confine(void *state, uint64_t *keep, struct grt_err *err)
{
	struct capture *c = state;

	*keep |= 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_CHOWN;
	return c->marker ? grt_bpf_confine(c->marker, keep, err) : 0;
}

/* The pipes of processes are streams of their own. */
static unsigned int cuda_pipes(const struct capture *c)
{
	return c->intake ? 0 : c->asks;
}

static unsigned int cuda_streams(void *state, struct pollfd *fds)
{
	struct capture *c = state;
	unsigned int pipes = cuda_pipes(c);

	fds[0] = (struct pollfd){.fd = c->intake ? cuda_intake_fd(c->intake) : c->event, .events = POLLIN};
	for (unsigned int i = 0; i < pipes; i++)
		fds[1 + i] = (struct pollfd){.fd = c->ask[i].pipe, .events = POLLIN};
	return 1 + pipes + (c->marker ? grt_bpf_streams(c->marker, fds + 1 + pipes) : 0);
}

/* The first places are those of processes. */
static unsigned int cuda_places(void *state)
{
	struct capture *c = state;
	struct pollfd fds[SOURCE_STREAMS_MAX];

	return cuda_streams(c, fds) + (c->intake ? CUDA_INTAKE_PLACES - 1 : 0);
}

static unsigned int cuda_place(void *state, unsigned int i)
{
	struct capture *c = state;

	if (!c->intake)
		return i;
	return i ? CUDA_INTAKE_PLACES - 1 + i : cuda_intake_place(c->intake);
}

static int cuda_flush(void *state, struct grt_err *err)
{
	struct capture *c = state;

	return c->marker ? grt_bpf_flush(c->marker, err) : 0;
}

/* The first stream is only a descriptor to wait for, because the library itself writes the packets. */
static ssize_t cuda_read(void *state, unsigned int i, void *buf, size_t len)
{
	struct capture *c = state;
	unsigned int pipes = cuda_pipes(c);
	ssize_t n;

	if (i > pipes)
		return grt_bpf_read(c->marker, i - 1 - pipes, buf, len);
	if (!i && c->intake)
		return cuda_intake_read(c->intake, buf, len);
	if (!i)
		return c->ended ? 0 : -EAGAIN;
	n = cuda_ask_read(&c->ask[i - 1], c->dir);
	return n > 0 ? -EAGAIN : n;
}

/* ------------------------------------------------------------ the end */

/* Calls @fn with each file of the library; ends with the first one for which it returns true. */
static bool each_file(struct capture *c, bool (*fn)(struct capture *c, const char *name))
{
	DIR *d = c->dir < 0 ? NULL : fdopendir(openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	bool done = false;

	while (d && !done && (e = readdir(d)))
		if (!strncmp(e->d_name, PREFIX, strlen(PREFIX)) && strchr(e->d_name + strlen(PREFIX), '_'))
			done = fn(c, e->d_name);
	if (d)
		closedir(d);
	return done;
}

/* Return: whether the file's writer is alive: it holds a lock on the file. */
static bool is_written(struct capture *c, const char *name)
{
	int fd = openat(c->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

static void wait_for_writers(struct capture *c)
{
	struct timespec moment = {.tv_nsec = 10000000};
	int fd, ms;

	for (unsigned int i = 0; i < c->asks; i++)
		cuda_ask_stop(&c->ask[i]);
	if (c->dir < 0 || c->outside || c->asks) {
		if (c->intake)
			cuda_intake_stop(c->intake, STOP_MS);
		return;
	}
	/*
	 * the file stays until the recorder ends, so that a process that begins now does not write into an
	 * ended recording
	 */
	fd = openat(c->dir, STOP_NAME, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	if (c->intake) {
		cuda_intake_stop(c->intake, STOP_MS);
		return;
	}
	for (ms = 0; ms < STOP_MS && each_file(c, is_written); ms += 10)
		nanosleep(&moment, NULL);
	if (ms >= STOP_MS && c->note)
		c->note("cuda: a process did not finish its part of the recording");
}

static int cuda_stop(void *state, struct grt_err *err)
{
	struct capture *c = state;
	uint64_t one = 1;

	wait_for_writers(c);
	c->ended = true;
	if (write(c->event, &one, sizeof(one)) < 0)
		errno = 0;
	return c->marker ? grt_bpf_stop(c->marker, err) : 1;
}

static void cuda_note_process(struct reading *r, const struct grt_ev_process *p)
{
	char text[640];

	if (!r->capture->note || r->capture->notes++ >= NOTES_MAX)
		return;
	snprintf(text, sizeof(text), "cuda: process %u%s: %s", p->e.pid, p->what == 4 ? " is not traced" : "",
		 !p->text		? "it has no memory left for the library (ulimit -v)"
		 : p->text == r->number ? r->string
					: "unknown reason");
	r->capture->note(text);
}

static int cuda_on_image(struct grt_consumer *consumer, const struct grt_event *e, uint32_t cpu)
{
	struct reading *r = (struct reading *)consumer;
	const struct grt_ev_process *p = (const void *)e;
	const struct grt_ev_string *s = (const void *)e;

	/* the file belongs to the program: the sum of two of its numbers may overflow */
	if (e->type == GRT_EV_STRING && s->part <= sizeof(s->text) && s->offset < sizeof(r->string) &&
	    s->part < sizeof(r->string) - s->offset) {
		r->number = s->number;
		memcpy(r->string + s->offset, s->text, s->part);
		r->string[s->offset + s->part] = '\0';
	}
	if (e->type != GRT_EV_PROCESS)
		return 0;
	r->begun = true;
	r->ended |= p->what == 3 || p->what == 4;
	/* a program with NVTX alone has no CUPTI */
	r->cuda |= p->version || p->what == 4;
	/* a note's text is new and was defined right before it */
	if (p->what == 4 || p->what == 5)
		cuda_note_process(r, p);
	return 0;
}

/* Return: whether it is a file of definitions: these begin with a PROCESS record. */
static bool has_definitions(struct capture *c, const char *name)
{
	struct grt_packet head;
	struct grt_event e;
	int fd = openat(c->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is = fd >= 0 && pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
		  pread(fd, &e, sizeof(e), head.header_size) == sizeof(e) &&
		  (e.type == GRT_EV_PROCESS || e.type == GRT_EV_NAME);

	if (fd >= 0)
		close(fd);
	return is;
}

/* Counts a process after its notes were read. */
static void cuda_count_process(struct capture *c, const struct reading *r)
{
	c->processes += r->begun;
	c->silent += r->begun && !r->ended;
	c->cuda += r->cuda;
}

static void cuda_on_packet(void *arg, unsigned int process, const struct grt_packet *p)
{
	const struct grt_event *e = NULL;
	struct capture *c = arg;

	c->reading[process].capture = c;
	while ((e = grt_packet_next(p, e)))
		if (e->type < GRT_EV_MAX && e->size >= grt_record_size[e->type])
			cuda_on_image(&c->reading[process].c, e, 0);
}

static void cuda_on_end(void *arg, unsigned int process)
{
	struct capture *c = arg;

	cuda_count_process(c, &c->reading[process]);
	c->reading[process] = (struct reading){.begun = false};
}

static bool read_notes(struct capture *c, const char *name)
{
	struct reading r = {.c = {.image = cuda_on_image}, .capture = c};
	struct grt_session *s;
	char path[2 * PATH_MAX];

	if (!has_definitions(c, name))
		return false;
	snprintf(path, sizeof(path), "%s/%s", c->path, name);
	if (grt_session_open(&s, path, NULL))
		return false;
	grt_session_run(s, &r.c, 0, UINT64_MAX, NULL);
	grt_session_close(s);
	cuda_count_process(c, &r);
	return false;
}

/* How the library was put to sleep, if the user should know. */
static void cuda_note_left(struct capture *c, struct cuda_ask *a)
{
	int left = cuda_ask_wait(a);
	char text[256];

	if (left == GRT_CUDA_ATTACHED)
		snprintf(
			text, sizeof(text),
			"cuda: CUPTI stays attached to process %d, whose launches stay some percent slower: it has CUDA graphs, several contexts or other clients of CUPTI, or made no call that waits for the device",
			(int)a->pid);
	else if (left == -ETIMEDOUT)
		snprintf(text, sizeof(text), "cuda: process %d has not detached CUPTI yet", (int)a->pid);
	if (left == GRT_CUDA_ATTACHED || left == -ETIMEDOUT)
		c->note(text);
}

static void cuda_note_intake(struct capture *c)
{
	const char *text = c->intake ? cuda_intake_text(c->intake) : NULL;
	char line[256];

	snprintf(line, sizeof(line), "cuda: %s", text ?: "");
	if (text && c->note)
		c->note(line);
}

static void told(void *state)
{
	struct capture *c = state;
	char text[128];

	each_file(c, read_notes);
	for (unsigned int i = 0; i < CUDA_INTAKE_PROCESSES; i++)
		cuda_count_process(c, &c->reading[i]);
	cuda_note_intake(c);
	if (!c->note || c->outside)
		return;
	for (unsigned int i = 0; i < c->asks; i++)
		cuda_note_left(c, &c->ask[i]);
	if (!c->cuda)
		c->note(c->asks ? "cuda: no process has used CUDA"
				: "cuda: no process of the program has used CUDA");
	if (c->silent) {
		grt_say_text(
			text, sizeof(text),
			"cuda: %u of %u {process|processes} ended by a signal, _exit or exec: up to 0.1 s of their last launches are missing",
			c->silent, c->processes);
		c->note(text);
	}
}

static int cuda_describe(void *state, struct grt_env *env, int room)
{
	struct capture *c = state;
	const struct grt_env all[] = {
		{"cuda_stack", c->stack},
		{GRT_CUDA_RECORDING_KEY, c->number},
		{"cuda_processes", c->processes_text},
	};
	int i, n = c->outside ? 1 : c->ended ? 3 : 2;

	snprintf(c->processes_text, sizeof(c->processes_text), "traced=%u without_end=%u", c->processes,
		 c->silent);
	for (i = 0; i < room && i < n; i++)
		env[i] = all[i];
	return i + (c->marker ? grt_bpf_describe(c->marker, env + i, room - i) : 0);
}

static int cuda_close(void *state, struct grt_err *err)
{
	struct capture *c = state;

	if (!c)
		return 0;
	for (unsigned int i = 0; i < c->asks; i++)
		cuda_ask_close(&c->ask[i]);
	if (c->dir >= 0 && !c->outside)
		unlinkat(c->dir, STOP_NAME, 0);
	cuda_intake_free(c->intake);
	grt_bpf_close(c->marker, err);
#ifdef GRT_HAVE_BPF
	uprobes_free(&c->uprobes);
#endif
	if (c->point.fd >= 0)
		close(c->point.fd);
	if (c->event >= 0)
		close(c->event);
	free(c);
	return 0;
}

const struct source source_cuda = {
	.name = "cuda",
	.program = true,
	.duty = true,
	.window_ms = cuda_window_ms,
	.all_gpus =
		"the work on all GPUs that the program uses: report --by device shows each, and the variable "
		"CUDA_VISIBLE_DEVICES selects what it uses",
	.less = "a free processor for the program's thread grtrace",
	.options = options,
	.refuse = cuda_refuse,
	.probe = cuda_probe,
	.addresses = true,
	.open = cuda_open,
	.attach = cuda_attach,
	.start = cuda_start,
	.confine = cuda_confine,
	.streams = cuda_streams,
	.places = cuda_places,
	.place = cuda_place,
	.flush = cuda_flush,
	.read = cuda_read,
	.stop = cuda_stop,
	.adopted = told,
	.describe = cuda_describe,
	.close = cuda_close,
};
