// SPDX-License-Identifier: GPL-2.0
/*
 * app SCENE [NUMBER]: a program that uses CUDA in the way that its first argument says.
 */
#include "mock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define KERNEL "_Z6kernelPfS_i"

int cudaRuntimeGetVersion(int *version);

static unsigned long number = 1000;

static void launch(void)
{
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, KERNEL);
}

static void launches(unsigned long n)
{
	while (n--)
		launch();
}

static void pause_ms(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

enum { KERNEL_CALL, GRAPH_CALL, COPY_CALL, SET_CALL, EVENT_CALL, WAIT_CALL, STREAM_CALL, CONTEXT_CALL };

/* Every function there is. */
static const struct {
	int domain;
	uint32_t number;
	int kind;
} calls[] = {
#define KIND_KERNEL KERNEL_CALL
#define KIND_GRAPH GRAPH_CALL
#define KIND_COPY COPY_CALL
#define KIND_SET SET_CALL
#define KIND_EVENT_SYNC EVENT_CALL
#define KIND_STREAM_WAIT WAIT_CALL
#define KIND_STREAM_SYNC STREAM_CALL
#define KIND_CONTEXT_SYNC CONTEXT_CALL
#define GRT_CUDA_CALL(DOMAIN, number, KIND, name) {CUPTI_DOMAIN_##DOMAIN, number, KIND_##KIND},
#include <grtrace/cuda_calls.def>
};

/* As the runtime does: by a call of the driver, or by none, but for kernels. */
static void all_calls(void)
{
	static const uint32_t inner[] = {307, 514, 277, 249, 121, 295, 126, 17};
	uint32_t in;
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		in = calls[i].domain == CUPTI_DOMAIN_RUNTIME && (i % 3 || calls[i].kind == KERNEL_CALL)
			     ? inner[calls[i].kind]
			     : 0;
		if (calls[i].kind == KERNEL_CALL)
			mock_call(calls[i].domain, calls[i].number, in, 1, KERNEL);
		else if (calls[i].kind == GRAPH_CALL)
			mock_call(calls[i].domain, calls[i].number, in, 17, "graph_kernel");
		else if (calls[i].kind == COPY_CALL)
			mock_copy(calls[i].domain, calls[i].number, in, 4096 + i);
		else if (calls[i].kind == SET_CALL)
			mock_set(calls[i].domain, calls[i].number, in, 100 + i);
		else
			mock_sync(calls[i].domain, calls[i].number, in,
				  (unsigned int)(calls[i].kind - EVENT_CALL + 1));
	}
	for (i = 0; i < 3; i++)
		mock_capture(211, 307);
	mock_peer(CUPTI_DOMAIN_RUNTIME, 161, 319, 77);
	mock_overhead();
}

/*
 * Functions with the names that PyTorch's and cuBLAS's have: a step of a training program, whose kernels are
 * of 1 us each. Calls at their ends would be jumps.
 */
#define OPERATOR(name, symbol, ...)                \
	void name(void) __asm__(symbol);           \
	__attribute__((noinline)) void name(void)  \
	{                                          \
		__VA_ARGS__;                       \
		__asm__ volatile("" ::: "memory"); \
	}
OPERATOR(op_lt, "cublasLtSSSMatmul", launches(2))
OPERATOR(op_gemm, "cublasSgemm_v2", op_lt())
OPERATOR(op_addmm_redispatch, "_ZN2at4_ops5addmm10redispatchEN3c1014DispatchKeySetERKNS_6TensorE", op_gemm())
OPERATOR(op_addmm, "_ZN2at4_ops5addmm4callERKNS_6TensorES4_", op_addmm_redispatch(), launch())
OPERATOR(op_linear, "_ZN2at4_ops6linear4callERKNS_6TensorES4_", op_addmm())
OPERATOR(op_add, "_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_", launch())
OPERATOR(op_mm, "_ZN2at4_ops2mm4callERKNS_6TensorES4_", op_gemm())
OPERATOR(op_sum, "_ZN2at4_ops15sum_dim_IntList4callERKNS_6TensorE", launch())
OPERATOR(op_backward, "_ZN5torch8autograd9generated14AddmmBackward05applyEOSt6vectorIN2at6TensorESaIS4_EE",
	 op_mm(), op_sum(), launch())
OPERATOR(op_engine, "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEE",
	 op_backward())
OPERATOR(op_copy, "_ZN2at4_ops5copy_4callERNS_6TensorERKS2_b", mock_copy(CUPTI_DOMAIN_RUNTIME, 41, 279, 4096))

static void operators(void)
{
	for (unsigned long i = 0; i < number; i++) {
		op_copy();
		op_linear();
		op_add();
		op_engine();
		launch();
	}
}

/* Names that do not fit a record, and ones that come again at another address. */
static void names(void)
{
	static char text[3][1000], copy[16];
	int i;

	for (i = 0; i < 3; i++) {
		memset(text[i], 'a' + i, sizeof(text[i]) - 1);
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, text[i]);
	}
	strcpy(copy, "first");
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, copy);
	pause_ms(250);
	strcpy(copy, "second");
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, copy);
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "");
}

static void *launch_some(void *arg)
{
	launches(*(unsigned long *)arg);
	return NULL;
}

static void many_threads(unsigned int n)
{
	pthread_t thread[256];
	unsigned int i;

	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, launch_some, &number))
			abort();
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static void zero(void)
{
	launches(10);
	mock.zero_stamps = true;
	launches(5);
	mock.zero_stamps = false;
	launches(10);
}

static void drop(void)
{
	launches(10);
	mock_drop(7);
	pause_ms(250);
	launches(10);
	mock_drop(4);
}

/* The child of a CUDA program may not use CUDA, but it may run another one. */
static void fork_and_exec(bool exec)
{
	pid_t pid;

	launches(100);
	pid = fork();
	if (!pid) {
		if (exec)
			execl("/proc/self/exe", "app", "plain", "50", (char *)NULL);
		exit(0);
	}
	launches(100);
	waitpid(pid, NULL, 0);
}

/* Long enough for what came before it to be written. */
static void then_die(bool kill_it)
{
	launches(500);
	pause_ms(400);
	launches(20);
	if (kill_it)
		raise(SIGKILL);
	_exit(0);
}

/* Memory of the process, MB. */
static unsigned long resident(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*s %lu", &pages) != 1)
		abort();
	fclose(f);
	return pages >> 8;
}

/* Threads that live one after the other, each with a launch: what they leave behind. */
static void churn(void)
{
	unsigned long i, n = number, before;
	pthread_t thread;

	number = 1;
	launches(1);
	before = resident();
	for (i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, launch_some, &number) || pthread_join(thread, NULL))
			abort();
	printf("%lu MB more\n", resident() - before);
}

/* Threads that each launch once, 250 of them at a time. */
static void swarm(void)
{
	unsigned long n = number, i;

	number = 1;
	for (i = 0; i < n; i += 250)
		many_threads(250);
	printf("%lu MB\n", resident());
}

static pthread_barrier_t all_there, may_go;

static void *launch_and_stay(void *arg)
{
	launches(10);
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&may_go);
	return arg;
}

/* Threads that live at once: whether the program can still open a file, and what it has back when they have
 * ended. */
static void crowd(void)
{
	unsigned long i, before;
	pthread_t *thread = calloc(number, sizeof(*thread));
	pthread_attr_t attr;
	int fd;

	if (!thread)
		abort();
	launches(1);
	before = resident();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 17);
	pthread_barrier_init(&all_there, NULL, (unsigned int)number + 1);
	pthread_barrier_init(&may_go, NULL, (unsigned int)number + 1);
	for (i = 0; i < number; i++)
		if (pthread_create(&thread[i], &attr, launch_and_stay, NULL))
			abort();
	pthread_barrier_wait(&all_there);
	pause_ms(300);
	fd = open("/dev/null", O_RDONLY);
	printf("open: %s\n", fd < 0 ? strerror(errno) : "fine");
	pthread_barrier_wait(&may_go);
	for (i = 0; i < number; i++)
		pthread_join(thread[i], NULL);
	launches(1);
	pause_ms(400);
	printf("%lu MB more\n", resident() - before);
	free(thread);
}

/* Coroutines, each with a stack that is a mapping of its own. */
static ucontext_t outside, *fiber;
static unsigned long on_fiber;

static void run_fiber(void)
{
	for (;;) {
		launches(1);
		swapcontext(&fiber[on_fiber], &outside);
	}
}

static void *fiber_stack(size_t size)
{
	char *at = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at, 4096, PROT_NONE))
		abort();
	return at + 4096;
}

static void fibers(void)
{
	size_t size = 32768;
	int turn;

	fiber = calloc(number, sizeof(*fiber));
	for (on_fiber = 0; on_fiber < number; on_fiber++) {
		getcontext(&fiber[on_fiber]);
		fiber[on_fiber].uc_stack.ss_sp = fiber_stack(size);
		fiber[on_fiber].uc_stack.ss_size = size;
		makecontext(&fiber[on_fiber], run_fiber, 0);
	}
	for (turn = 0; turn < 10; turn++)
		for (on_fiber = 0; on_fiber < number; on_fiber++)
			swapcontext(&outside, &fiber[on_fiber]);
}

/* From here on no file can be opened: by an error, or the program is killed for it. */
static void caged(bool kill_it)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, kill_it ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(f) / sizeof(f[0]), f};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		abort();
	for (unsigned long i = 0; i < number; i++)
		launches(1), pause_ms(5);
}

/*
 * MOCK_CAGE="CALL:ACTION,...": from here on these system calls have these actions of seccomp, numbers as in
 * C; CALL * is each other one. MOCK_CAGE_ALONE: those of this thread only.
 */
static void cage(const char *text)
{
	struct sock_filter f[256] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	unsigned int n = 1, others = SECCOMP_RET_ALLOW, flags = SECCOMP_FILTER_FLAG_TSYNC;
	struct sock_fprog program = {.filter = f};

	for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		unsigned int action = (unsigned int)strtoul(strchr(at, ':') + 1, NULL, 0);

		if (*at == '*') {
			others = action;
			continue;
		}
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, strtoul(at, NULL, 0), 0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, getenv("MOCK_CAGE_ALONE") ? 0 : flags, &program))
		abort();
}

/* How many files of the recording the program has open. */
static unsigned int recording_files(void)
{
	char path[64], name[4096];
	unsigned int n = 0;
	ssize_t length;

	for (int fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, name, sizeof(name) - 1);
		name[length > 0 ? length : 0] = '\0';
		n += strstr(name, "/cuda_") != NULL;
	}
	return n;
}

/* Callbacks and kinds of records that somebody has asked for. */
static unsigned int asked_of_cupti(void)
{
	unsigned int n = 0;

	for (int d = 0; d < 4; d++)
		for (int i = 0; i < CALL_MAX; i++)
			n += mock.wanted[d][i];
	for (size_t i = 0; i < sizeof(mock.kinds) / sizeof(mock.kinds[0]); i++)
		n += mock.kinds[i];
	return n;
}

static long ms_since(const struct timespec *begun)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begun->tv_sec) * 1000 + (now.tv_nsec - begun->tv_nsec) / 1000000;
}

static void stop_recording(void)
{
	char path[4096];

	while (!recording_files())
		pause_ms(1);
	snprintf(path, sizeof(path), "%s/.stop", getenv("GRTRACE_OUTPUT"));
	close(open(path, O_WRONLY | O_CREAT, 0600));
}

/* Tracing ends, and the program goes on with files of its own, which its child uses. */
static void stopped(void)
{
	int ends[2], fd, used = 0, status;
	struct timespec begun;

	many_threads(8);
	launches(10);
	stop_recording();
	clock_gettime(CLOCK_MONOTONIC, &begun);
	while (recording_files())
		pause_ms(10);
	for (fd = 0; fd < 32; fd++)
		if (pipe(ends))
			abort();
	if (!fork()) {
		for (fd = 0; fd <= ends[1]; fd++)
			used += fcntl(fd, F_GETFD) >= 0;
		_exit(used < 64);
	}
	wait(&status);
	printf("%s\n", status ? "files are gone" : "files are there");
	while ((mock.taken || mock.finalizing) && ms_since(&begun) < 2000)
		pause_ms(10);
	printf("CUPTI is %s\n", mock.callback || mock.taken || asked_of_cupti() ? "ours" : "free");
}

/* ------------------------------------------- another tool, after the recording */

static struct cupti cupti;
static unsigned long told, seen;
static uint64_t from, to;

static bool load_cupti(void)
{
	void *handle = dlopen("libcupti.so.13", RTLD_NOW);

#define NEED(name, symbol, args) *(void **)&cupti.name = dlsym(handle, #symbol);
#define MAY NEED
#define NEW NEED
	if (handle) {
		CUPTI_FUNCTIONS
	}
#undef NEW
#undef MAY
#undef NEED
	return handle;
}

/* Not one that anybody else has. */
static uint64_t tool_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (1ULL << 62) + (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void tool_callback(void *user, int domain, uint32_t call, const struct cupti_callback *data)
{
	(void)user, (void)domain, (void)call;
	told += data->site == CUPTI_SITE_EXIT;
}

static void tool_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*size = 1 << 20;
	*buffer = malloc(*size);
	*max_records = 0;
}

/* Its clock; where CUPTI did not take it, CUPTI's own. */
static clockid_t tool_base;

static uint64_t tool_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return tool_base == CLOCK_REALTIME ? (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec
					   : tool_clock();
}

/* Of its kernels those that ran while it looked. */
static void tool_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	union cupti_record *r = NULL;

	(void)context, (void)stream, (void)size;
	while (valid && !cupti.next_record(buffer, valid, &r))
		seen += r->kind == CUPTI_KIND_CONCURRENT_KERNEL && r->kernel.start >= from &&
			r->kernel.end <= to + 1000;
	free(buffer);
}

/* As PyTorch's profiler: a client with a clock of its own. */
static void profile(void)
{
	void *client;

	told = seen = 0;
	mock.owner = true;
	if (cupti.subscribe(&client, tool_callback, NULL)) {
		printf("refused\n");
		return;
	}
	cupti.enable_callback(1, client, CUPTI_DOMAIN_RUNTIME, 211);
	tool_base = cupti.register_clock(tool_clock) ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	cupti.register_buffers(tool_request, tool_complete);
	cupti.enable(CUPTI_KIND_CONCURRENT_KERNEL);
	from = tool_now();
	launches(100);
	to = tool_now();
	cupti.flush_all(CUPTI_FLUSH_FORCED);
	cupti.disable(CUPTI_KIND_CONCURRENT_KERNEL);
	cupti.enable_callback(0, client, CUPTI_DOMAIN_RUNTIME, 211);
	cupti.unsubscribe(client);
	mock.owner = false;
	printf("profiled: %lu launches, %lu kernels by %s clock\n", told, seen,
	       tool_base == CLOCK_REALTIME ? "CUPTI's" : "its");
}

static bool rests;
static void (*busy_call)(void);

static void *be_busy(void *arg)
{
	while (!__atomic_load_n(&rests, __ATOMIC_RELAXED))
		busy_call();
	return arg;
}

static void launch_by_driver(void)
{
	mock_call(CUPTI_DOMAIN_DRIVER, 307, 0, 1, KERNEL);
	mock_sync(CUPTI_DOMAIN_DRIVER, 17, 0, 4);
}

static void launch_and_wait(void)
{
	launch();
	mock_sync(CUPTI_DOMAIN_RUNTIME, 165, 17, 4);
}

/* Waits for a stream and for an event, and not for the device. */
static void launch_slowly(void)
{
	launch();
	if (!mock.kernel_waits) {
		mock_sync(CUPTI_DOMAIN_RUNTIME, 131, 126, 3);
		mock_sync(CUPTI_DOMAIN_RUNTIME, 137, 121, 1);
	}
	pause_ms(1);
}

static void launch_graph(void)
{
	mock_call(CUPTI_DOMAIN_RUNTIME, 311, 514, 17, "graph_kernel");
	mock_sync(CUPTI_DOMAIN_RUNTIME, 165, 17, 4);
	pause_ms(1);
}

/* Three nodes by capture, two by functions of graphs, and what is done with them. */
static __attribute__((noipa)) void capture_forward(struct mock_nodes *g)
{
	for (int i = 0; i < 3; i++)
		mock_add_node(g, "forward", 211, 307);
	__asm__ volatile("");
}

static __attribute__((noipa)) void add_loss(struct mock_nodes *g)
{
	for (int i = 0; i < 2; i++)
		mock_add_node(g, "loss", 0, 0);
	__asm__ volatile(""); /* the last call is none that replaces this function */
}

static __attribute__((noipa)) void serve(const struct mock_nodes *exec, int n)
{
	while (n--)
		mock_replay(exec);
}

static __attribute__((noipa)) void warm_up(const struct mock_nodes *exec, int n)
{
	while (n--)
		mock_replay(exec);
}

/* Of a graph, of a clone of it, and of one that was made before the recording. */
static void graphs(void)
{
	static struct mock_nodes graph, clone, exec, exec_of_clone,
		unknown = {.nodes = 1, .node = {{9, NULL, "old"}}};

	capture_forward(&graph);
	add_loss(&graph);
	mock_clone(&exec, &graph);
	mock_clone(&clone, &graph);
	mock_clone(&exec_of_clone, &clone);
	warm_up(&exec, 7);
	serve(&exec, 100);
	serve(&exec_of_clone, 20);
	serve(&unknown, 3);
	mock_sync(CUPTI_DOMAIN_RUNTIME, 165, 17, 4);
}

static __attribute__((noipa)) void capture_child(struct mock_nodes *g)
{
	for (int i = 0; i < 2; i++)
		mock_add_node(g, "attend", 211, 307);
	__asm__ volatile("");
}

static __attribute__((noipa)) void capture_body(struct mock_nodes *g)
{
	for (int i = 0; i < 2; i++)
		mock_add_node(g, "decode", 211, 307);
	__asm__ volatile("");
}

static __attribute__((noipa)) void serve_loops(const struct mock_nodes *exec, const struct mock_nodes *body,
					       int n)
{
	while (n--)
		mock_replay_loop(exec, body, 4);
	__asm__ volatile("");
}

/* A graph within a graph, the body of a conditional node, and another kernel in an executable graph's node.
 */
static __attribute__((noipa)) void nested_graphs(void)
{
	static struct mock_nodes graph, child, body, exec, exec_of_body;

	capture_child(&child);
	capture_forward(&graph);
	mock_put_child(&graph, &child);
	capture_body(&body);
	mock_clone(&exec, &graph);
	mock_clone(&exec_of_body, &body);
	serve_loops(&exec, &exec_of_body, 10);
	exec.node[3].name = "attend_better";
	serve(&exec, 5);
	mock_sync(CUPTI_DOMAIN_RUNTIME, 165, 17, 4);
}

static void launch_and_wait_slowly(void)
{
	launch_and_wait();
	pause_ms(1);
}

/* After the recording a kernel that waits for the program, and then no call. */
static void launch_late(void)
{
	static atomic_flag launched = ATOMIC_FLAG_INIT;

	if (!recording_files() && !atomic_flag_test_and_set(&launched)) {
		__atomic_store_n(&mock.kernel_waits, true, __ATOMIC_RELAXED);
		launch();
	}
	pause_ms(1);
}

static void sleep_until_rest(void)
{
	while (!__atomic_load_n(&rests, __ATOMIC_RELAXED))
		pause_ms(1);
}

/* A call that does not return. */
static void wait_long(void)
{
	mock.in_sync = sleep_until_rest;
	mock_sync(CUPTI_DOMAIN_RUNTIME, 165, 17, 4);
}

static void no_call(void)
{
	pause_ms(1);
}

/* The recording ends while threads make these calls; then the program looks at itself with a tool. */
static void given_back(void (*call)(void))
{
	unsigned long before;
	struct timespec begun;
	pthread_t thread[4];
	int i;

	launches(10);
	busy_call = call;
	for (i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, be_busy, NULL))
			abort();
	pause_ms(20);
	stop_recording();
	clock_gettime(CLOCK_MONOTONIC, &begun);
	while ((mock.taken || mock.finalizing) && ms_since(&begun) < 10000)
		pause_ms(1);
	mock.sync_result = 0;
	printf("%s after %ld ms, %s\n", mock.taken ? "kept" : "given back", ms_since(&begun),
	       mock.attached ? "attached" : "detached");
	__atomic_store_n(&rests, true, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	mock.in_sync = NULL;
	__atomic_store_n(&mock.kernel_waits, false, __ATOMIC_RELAXED);
	if (mock.graph)
		launch_graph();
	before = mock.delivered;
	launches(1000);
	printf("%lu callbacks, %u asked\n", mock.delivered - before, asked_of_cupti());
	for (i = 0; i < 10 && load_cupti(); i++)
		profile();
	printf("finalized %u times, %u faults\n", mock.finalized, mock.faults);
}

static void given_back_by(const char *how)
{
	if (!strcmp(how, ""))
		given_back(launch_and_wait);
	else if (!strcmp(how, "-driver"))
		given_back(launch_by_driver);
	else if (!strcmp(how, "-idle"))
		given_back(no_call);
	else if (!strcmp(how, "-waits"))
		given_back(wait_long);
	else if (!strcmp(how, "-launches"))
		given_back(launch_slowly);
	else if (!strcmp(how, "-kernel"))
		mock.kernel_waits = true, given_back(launch_slowly);
	else if (!strcmp(how, "-late"))
		given_back(launch_late);
	else if (!strcmp(how, "-graph"))
		mock_graph(), given_back(launch_graph);
	else if (!strcmp(how, "-exec"))
		mock_graph(), given_back(launch_and_wait_slowly);
	else if (!strcmp(how, "-contexts"))
		mock_context(), given_back(launch_and_wait_slowly);
	else if (!strcmp(how, "-fails"))
		mock.sync_result = 719, given_back(launch_and_wait_slowly);
	else
		abort();
}

static void handler(int sig)
{
	(void)sig;
}

/* Signals at any moment. */
static void signals(void)
{
	struct sigaction a = {.sa_handler = handler};
	timer_t timer;
	struct itimerspec every = {.it_interval.tv_nsec = 100000, .it_value.tv_nsec = 100000};

	sigaction(SIGALRM, &a, NULL);
	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) || timer_settime(timer, 0, &every, NULL))
		abort();
	launches(number);
}

/* 100 ms of the CPU's time. */
static void spin(void)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec < 100000000L);
}

static void sleep_and_spin(void)
{
	pause_ms(100);
	spin();
}

/* Sleeps and runs outside of a call that waits, in it, and in one that does not wait. */
static void waits(void)
{
	launches(1);
	sleep_and_spin();
	mock.in_sync = sleep_and_spin;
	mock_sync(CUPTI_DOMAIN_RUNTIME, 165, 17, 4);
	mock_sync(CUPTI_DOMAIN_RUNTIME, 131, 126, 3);
	mock.in_sync = NULL;
	sleep_and_spin();
	launches(1);
}

/* ---- what a program may do between two launches, each of which it measures, see causes.sh ---- */

#define CAUSE_MS 30

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int pipe_ends[2];

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* How long this thread was ready to run without a CPU, as the scheduler counts it. */
static uint64_t run_delay(void)
{
	unsigned long long ran, delay = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (!f || fscanf(f, "%llu %llu", &ran, &delay) != 2)
		abort();
	fclose(f);
	return delay;
}

static void spin_ms(long ms)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ms * 1000000;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* In the function itself, whose frame is not gone by then. */
#define LAUNCH_HERE()                                                 \
	do {                                                          \
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, KERNEL); \
		__asm__ volatile("" ::: "memory");                    \
	} while (0)

static __attribute__((noinline)) void cause_sleep(void)
{
	pause_ms(CAUSE_MS);
	LAUNCH_HERE();
}

static __attribute__((noinline)) void cause_running(void)
{
	spin_ms(CAUSE_MS);
	LAUNCH_HERE();
}

static void *hold(void *arg)
{
	prctl(PR_SET_NAME, "holder");
	pthread_mutex_lock(&held);
	pthread_barrier_wait(&both);
	pause_ms(CAUSE_MS);
	pthread_mutex_unlock(&held);
	return arg;
}

static __attribute__((noinline)) void cause_lock(void)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	LAUNCH_HERE();
}

static void *feed(void *arg)
{
	prctl(PR_SET_NAME, "feeder");
	pthread_barrier_wait(&both);
	pause_ms(CAUSE_MS);
	if (write(pipe_ends[1], "", 1) != 1)
		abort();
	return arg;
}

static __attribute__((noinline)) void cause_io(void)
{
	char byte;

	if (read(pipe_ends[0], &byte, 1) != 1)
		abort();
	LAUNCH_HERE();
}

static __attribute__((noinline)) void cause_child(void)
{
	pid_t child = fork();

	if (!child)
		pause_ms(CAUSE_MS), _exit(0);
	waitpid(child, NULL, 0);
	LAUNCH_HERE();
}

static atomic_bool hogged;

static void *hog(void *arg)
{
	pthread_barrier_wait(&both);
	while (atomic_load(&hogged))
		;
	return arg;
}

/* With others on its CPU. */
static __attribute__((noinline)) void cause_runnable(void)
{
	spin_ms(CAUSE_MS);
	LAUNCH_HERE();
}

/* What the clocks and the scheduler say: time, time on a CPU, time ready to run without one. */
static void look(uint64_t at[3])
{
	at[0] = clock_ns(CLOCK_MONOTONIC);
	at[1] = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	at[2] = run_delay();
}

static void say(const char *name, const uint64_t before[3], const uint64_t after[3])
{
	printf("%s", name);
	for (int i = 0; i < 3; i++)
		printf(" %llu", (unsigned long long)(after[i] - before[i]));
	puts("");
}

/* @beside: a thread that is there meanwhile; NULL: none */
static void cause(const char *name, void (*call)(void), void *(*beside)(void *arg))
{
	uint64_t before[3], after[3];
	pthread_t thread;

	if (beside && pthread_create(&thread, NULL, beside, NULL))
		abort();
	if (beside)
		pthread_barrier_wait(&both);
	launch();
	look(before);
	call();
	look(after);
	launch();
	say(name, before, after);
	atomic_store(&hogged, false);
	if (beside)
		pthread_join(thread, NULL);
}

static void one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}

static void causes(void)
{
	uint64_t before[3], after[3];

	if (pipe(pipe_ends) || pthread_barrier_init(&both, NULL, 2))
		abort();
	pause_ms(CAUSE_MS);
	launch();
	look(before);
	for (int i = 0; i < 3; i++) {
		cause("sleep", cause_sleep, NULL);
		cause("running", cause_running, NULL);
		cause("lock", cause_lock, hold);
		cause("io", cause_io, feed);
		cause("child", cause_child, NULL);
	}
	one_cpu();
	atomic_store(&hogged, true);
	cause("runnable", cause_runnable, hog);
	look(after);
	launch();
	say("all", before, after);
}

/* What a launch costs with nothing behind it, ns. */
static void speed(void)
{
	struct timespec a, b;
	unsigned long i;

	mock.kinds[CUPTI_KIND_CONCURRENT_KERNEL] = false;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < number; i++)
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 0, KERNEL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.1f\n",
	       ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (double)number);
}

#define DURATIONS 8000000U
/* A call that takes longer is printed. */
#define LONG_NS 100000U

static int compare_durations(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* How long each launch takes, for @number ms, with a wait for the device behind ten of them, and a pause.
 * Prints the median in ns, and each call that takes long: when it began, and for how long. */
static void durations(void)
{
	uint64_t begun = clock_ns(CLOCK_MONOTONIC), before = begun, after;
	uint32_t *ns = malloc(DURATIONS * sizeof(*ns));
	size_t n = 0;

	/* CUPTI comes and goes */
	mock.owner = true;
	while (before - begun < number * 1000000ULL && n + 10 < DURATIONS) {
		before = clock_ns(CLOCK_MONOTONIC);
		for (int i = 0; i <= 10; i++) {
			if (i < 10)
				mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, KERNEL);
			else
				mock_sync(CUPTI_DOMAIN_RUNTIME, 165, 17, 4);
			after = clock_ns(CLOCK_MONOTONIC);
			if (after - before > LONG_NS)
				printf("long %llu %llu\n", (unsigned long long)before,
				       (unsigned long long)(after - before));
			if (i < 10)
				ns[n++] = (uint32_t)(after - before);
			before = after;
		}
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	qsort(ns, n, sizeof(*ns), compare_durations);
	printf("launches %zu median %u faults %u finalized %u\n", n, ns[n / 2], mock.faults, mock.finalized);
	fflush(stdout);
	free(ns);
}

static void turn(unsigned long way, int turns);

/* Different code, or the compiler makes one function of the two. */
#define TURN(name, way_on)                                                                 \
	static __attribute__((noinline)) void turn_##name(unsigned long way_on, int turns) \
	{                                                                                  \
		turn(way_on >> 1, turns - 1);                                              \
		__asm__ volatile("# " #name : : : "memory");                               \
	}
TURN(left, way)
TURN(right, way)

static void turn(unsigned long way, int turns)
{
	if (!turns)
		launch();
	else if (way & 1)
		turn_left(way, turns);
	else
		turn_right(way, turns);
	__asm__ volatile("" : : : "memory");
}

/* Each launch has a stack of its own. */
static void paths(void)
{
	for (unsigned long way = 0; way < 4096; way++)
		turn(way, 12);
}

/* Whether anybody has CUPTI tell of launches, or make records. */
static void asked(void)
{
	unsigned int n = mock.callback != NULL;

	launches(number);
	for (size_t i = 0; i < sizeof(mock.kinds) / sizeof(mock.kinds[0]); i++)
		n += mock.kinds[i];
	printf("%s\n", n ? "asked" : "not asked");
}

/* ------------------------------------------- a program that is asked now and then */

static unsigned long unclean;

static bool is_unclean(void)
{
	return !mock.taken && (asked_of_cupti() || mock.callback || mock.attached);
}

/* How each recording leaves CUPTI; the moment between is the library's, and long on a busy machine. */
static void *watch_windows(void *arg)
{
	bool was = false, is;

	while (!__atomic_load_n(&rests, __ATOMIC_RELAXED)) {
		is = mock.taken || mock.finalizing;
		for (int i = 0; i < 5000 && was && !is && is_unclean(); i++)
			pause_ms(2);
		unclean += was && !is && is_unclean();
		was = is;
		pause_ms(1);
	}
	return arg;
}

/* Threads that wait: for time, for bytes, for a lock. What the calls return is as without anybody else. */
static _Atomic unsigned long disturbed;
static int quiet[2];

static void *wait_for_time(void *arg)
{
	struct timespec t = {.tv_nsec = 300000000}, left;
	uint64_t begun;

	while (!__atomic_load_n(&rests, __ATOMIC_RELAXED)) {
		begun = clock_ns(CLOCK_MONOTONIC);
		disturbed += nanosleep(&t, &left) != 0;
		disturbed += clock_ns(CLOCK_MONOTONIC) - begun < 300000000;
	}
	return arg;
}

static void *wait_for_bytes(void *arg)
{
	char byte;

	disturbed += read(quiet[0], &byte, 1) != 0;
	return arg;
}

static void *wait_for_lock(void *arg)
{
	int value = 0;

	/* the bare call, which the C library would repeat */
	while (!__atomic_load_n(&rests, __ATOMIC_RELAXED))
		if (syscall(SYS_futex, &value, 128, 0, NULL, NULL, 0) && errno == EINTR) {
			disturbed++;
			break;
		}
	return arg;
}

static void driver_alloc(uint32_t call, uint64_t address, uint64_t bytes, int result);
static void driver_free(uint32_t call, uint64_t address);

/* A thread that allocates and frees, and calls nothing else. */
static void *allocate_alone(void *arg)
{
	while (!__atomic_load_n(&rests, __ATOMIC_RELAXED)) {
		driver_alloc(243, 0x5000000, 4096, 0);
		driver_free(245, 0x5000000);
		pause_ms(1);
	}
	return arg;
}

/* Until the file of MOCK_GO is there: what it computes, and what became of CUPTI. */
static void ask_me(bool calls)
{
	void *(*const waits[])(void *arg) = {watch_windows, wait_for_time, wait_for_bytes, wait_for_lock};
	uint64_t sum = 0, steps = 0;
	pthread_t thread[4], allocates;

	mock.owner = true;
	if (pipe(quiet))
		abort();
	if (calls && pthread_create(&allocates, NULL, allocate_alone, NULL))
		abort();
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, waits[i], NULL))
			abort();
	launch_and_wait();
	if (getenv("MOCK_CAGE"))
		cage(getenv("MOCK_CAGE"));
	printf("ready\n");
	fflush(stdout);
	while (access(getenv("MOCK_GO"), F_OK)) {
		if (calls)
			launch_and_wait();
		/* no faster than a busy machine can follow */
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
		if (steps < number)
			sum = (sum ^ ++steps) * 0x9e3779b97f4a7c15ULL;
		else
			pause_ms(1);
	}
	for (; steps < number;)
		sum = (sum ^ ++steps) * 0x9e3779b97f4a7c15ULL;
	/* the library may still be about to find that its recorder has gone */
	for (int i = 0; i < 5000 && (asked_of_cupti() || mock.finalizing); i++)
		pause_ms(2);
	__atomic_store_n(&rests, true, __ATOMIC_RELAXED);
	close(quiet[1]);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	pthread_join(thread[2], NULL);
	if (calls)
		pthread_join(allocates, NULL);
	printf("sum %llx, %lu windows, %lu unclean, finalized %u times, %u faults, %lu callbacks, %u asked, %lu disturbed\n",
	       (unsigned long long)sum, mock.subscribed, unclean, mock.finalized, mock.faults, mock.delivered,
	       asked_of_cupti(), (unsigned long)disturbed);
}

/* Launches, and as many again once the file of MOCK_GO is there. */
static void gated(void)
{
	launches(number);
	while (access(getenv("MOCK_GO"), F_OK))
		pause_ms(10);
	launches(number);
}

/*
 * Memory by call site, and what is true of it in the end: the program keeps its own books. Addresses are used
 * again. A call that fails allocates nothing.
 */
static uint64_t books_live, books_peak, site_live[5], site_at_peak[5];

static void book(int at, int64_t bytes)
{
	site_live[at] += (uint64_t)bytes;
	books_live += (uint64_t)bytes;
	if (books_live <= books_peak)
		return;
	books_peak = books_live;
	memcpy(site_at_peak, site_live, sizeof(site_live));
}

static void driver_alloc(uint32_t call, uint64_t address, uint64_t bytes, int result)
{
	uint64_t out = address;
	struct {
		uint64_t *out;
		uint64_t bytes;
		uint64_t more[2];
	} params = {&out, bytes, {0}};

	mock_driver_call(call, &params, result);
}

static void driver_free(uint32_t call, uint64_t address)
{
	uint64_t params[2] = {address};

	mock_driver_call(call, params, 0);
}

#define SITE(name, at, call)                                                      \
	static __attribute__((noipa)) void name(uint64_t address, uint64_t bytes) \
	{                                                                         \
		driver_alloc(call, address, bytes, 0);                            \
		book(at, (int64_t)bytes);                                         \
		__asm__ volatile("# " #name ::: "memory");                        \
	}
SITE(alloc_weights, 0, 243)
SITE(alloc_activations, 1, 598)
SITE(alloc_segment, 2, 549)
SITE(alloc_managed, 3, 371)
SITE(alloc_layer, 4, 243)

/* Each layer has a stack of its own. */
static __attribute__((noipa)) void layers(unsigned int left)
{
	if (left)
		layers(left - 1);
	alloc_layer(0xc0000000 + left * 0x100000ULL, 1001 + left);
	__asm__ volatile("" ::: "memory");
}

static void memory(void)
{
	static const char *const names[] = {"alloc_weights", "alloc_activations", "alloc_segment",
					    "alloc_managed", "alloc_layer"};

	for (unsigned long i = 0; i < 8; i++)
		alloc_weights(0x10000000 + i * 0x1000000, 1000003 * (i + 1));
	alloc_segment(77, 2 << 20);
	layers(59);
	for (unsigned long i = 0; i < number; i++) {
		alloc_activations(0x90000000, 4096 + i * 13);
		alloc_activations(0xa0000000, 7777);
		launch();
		driver_free(600, 0x90000000), book(1, -(int64_t)(4096 + i * 13));
		driver_free(245, 0xa0000000), book(1, -7777);
	}
	alloc_managed(0xb0000000, 12345);
	driver_free(550, 77), book(2, -(2 << 20));
	driver_free(245, 0x10000000), book(0, -1000003);
	driver_alloc(243, 0xdead0000, 1 << 30, 2);
	driver_free(245, 0xcafe0000);
	for (int i = 0; i < 5; i++)
		printf("%s %llu %llu\n", names[i], (unsigned long long)site_live[i],
		       (unsigned long long)site_at_peak[i]);
	printf("all %llu %llu\n", (unsigned long long)books_live, (unsigned long long)books_peak);
}

/* Memory of the host: pinned, of which one part is freed, and pages of the program's own that are registered.
 * Then two copies from its pageable memory. */
static __attribute__((noipa)) void alloc_pinned(uint64_t address, uint64_t bytes, uint32_t call)
{
	driver_alloc(call, address, bytes, 0);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noipa)) void register_pages(uint64_t address, uint64_t bytes)
{
	uint64_t params[3] = {address, bytes};

	mock_driver_call(301, params, 0);
	__asm__ volatile("" ::: "memory");
}

static void host_memory(void)
{
	alloc_weights(0x10000000, 5000);
	alloc_pinned(0x20000000, 70001, 39);
	alloc_pinned(0x30000000, 30002, 294);
	register_pages(0x40000000, 1234);
	register_pages(0x50000000, 4321);
	driver_free(38, 0x30000000);
	driver_free(302, 0x50000000);
	for (int i = 0; i < 2; i++)
		mock_copy(CUPTI_DOMAIN_RUNTIME, 31, 276, 4096);
}

/*
 * Work of known shares for @number ms: kernels of four names, of which some are many and short, some few and
 * long, in an order that has a rhythm of its own, and a wait for the device now and then. Prints what it has
 * done.
 */
static void shares(void)
{
	static const struct {
		const char *name;
		uint64_t ns;
		unsigned int of;
	} kernel[] = {
		{"short", 20000, 600}, {"middle", 100000, 300}, {"long", 900000, 80}, {"tiny", 2000, 20}};
	unsigned long calls[4] = {0};
	uint64_t seed = 1, ns[4] = {0}, begun, left;
	struct timespec t;
	unsigned int k, steps = 0;

	/* CUPTI comes and goes */
	mock.owner = true;
	clock_gettime(CLOCK_MONOTONIC, &t);
	begun = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	do {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		left = (seed >> 33) % 1000;
		for (k = 0; left >= kernel[k].of; k++)
			left -= kernel[k].of;
		calls[k]++;
		ns[k] += kernel[k].ns;
		mock_launch(&(struct mock_work){kernel[k].name, 1, kernel[k].ns});
		if (++steps % 8 == 0)
			mock_sync_stream(0);
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 - begun < number);
	mock_sync_stream(0);
	for (k = 0; k < 4; k++)
		printf("truth %s %lu %llu\n", kernel[k].name, calls[k], (unsigned long long)ns[k]);
	printf("finalized %u times, %u faults, %u asked\n", mock.finalized, mock.faults, mock_asked());
	fflush(stdout);
}

static unsigned int kinds_of_cupti(void)
{
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(mock.kinds) / sizeof(mock.kinds[0]); i++)
		n += mock.kinds[i];
	return n;
}

/* Four ranges for the profiler, with waits between them that are not theirs, how often records of CUPTI were
 * wanted outside, and what of it before the first and behind the last. */
static void profiler_windows(void)
{
	unsigned int outside = 0, before = 0;

	for (unsigned long i = 0; i < 4; i++) {
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "outside");
		pause_ms(30);
		outside += kinds_of_cupti() != 0;
		before += i ? 0 : mock_asked();
		mock_profiler(true);
		for (unsigned long k = 0; k < number; k++)
			mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "inside");
		pause_ms(10);
		mock_profiler(false);
	}
	mock_profiler(false);
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "outside");
	printf("records outside: %u, asked before: %u, asked behind: %u\n", outside, before, mock_asked());
}

static void play(const char *scene)
{
	if (!strcmp(scene, "plain"))
		launches(number);
	else if (!strcmp(scene, "graphs"))
		graphs();
	else if (!strcmp(scene, "nested-graphs"))
		nested_graphs();
	else if (!strcmp(scene, "operators"))
		operators();
	else if (!strcmp(scene, "calls"))
		all_calls();
	else if (!strcmp(scene, "memory"))
		memory();
	else if (!strcmp(scene, "host-memory"))
		host_memory();
	else if (!strcmp(scene, "windows"))
		profiler_windows();
	else if (!strcmp(scene, "names"))
		names();
	else if (!strcmp(scene, "threads"))
		many_threads(64);
	else if (!strcmp(scene, "short-threads"))
		for (int i = 0; i < 50; i++)
			many_threads(4), pause_ms(i % 10 ? 0 : 120);
	else if (!strcmp(scene, "zero"))
		zero();
	else if (!strcmp(scene, "drop"))
		drop();
	else if (!strcmp(scene, "fork") || !strcmp(scene, "exec"))
		fork_and_exec(scene[0] == 'e');
	else if (!strcmp(scene, "again"))
		launches(30), pause_ms(300), execl("/proc/self/exe", "app", "plain", "50", (char *)NULL);
	else if (!strcmp(scene, "kill") || !strcmp(scene, "_exit"))
		then_die(scene[0] == 'k');
	else if (!strcmp(scene, "stopped"))
		stopped();
	else if (!strncmp(scene, "back", 4))
		given_back_by(scene + 4);
	else if (!strcmp(scene, "churn"))
		churn();
	else if (!strcmp(scene, "swarm"))
		swarm();
	else if (!strcmp(scene, "crowd"))
		crowd();
	else if (!strcmp(scene, "fibers"))
		fibers();
	else if (!strcmp(scene, "caged") || !strcmp(scene, "caged-kill"))
		caged(scene[5]);
	else if (!strcmp(scene, "signals"))
		signals();
	else if (!strcmp(scene, "slow"))
		while (number--)
			launches(1), pause_ms(10);
	else if (!strcmp(scene, "ask") || !strcmp(scene, "ask-idle"))
		ask_me(!scene[3]);
	else if (!strcmp(scene, "gated"))
		gated();
	else if (!strcmp(scene, "paths"))
		paths();
	else if (!strcmp(scene, "asked"))
		asked();
	else if (!strcmp(scene, "waits"))
		waits();
	else if (!strcmp(scene, "causes"))
		causes();
	else if (!strcmp(scene, "shares"))
		shares();
	else if (!strcmp(scene, "speed"))
		speed();
	else if (!strcmp(scene, "durations"))
		durations();
	else
		abort();
}

int main(int argc, char **argv)
{
	const char *version = getenv("MOCK_VERSION"), *next = getenv("MOCK_NEXT");
	int runtime;

	if (argc < 2 || cudaRuntimeGetVersion(&runtime))
		return 2;
	if (argc > 2)
		number = strtoul(argv[2], NULL, 10);
	if (version)
		mock.version = (uint32_t)strtoul(version, NULL, 10);
	if (next)
		mock.next = strtoull(next, NULL, 0);
	if (getenv("MOCK_DEVICE"))
		mock.device = (uint32_t)strtoul(getenv("MOCK_DEVICE"), NULL, 10);
	if (getenv("MOCK_FREEZES_AT"))
		mock.freezes_at = strtoull(getenv("MOCK_FREEZES_AT"), NULL, 0);
	mock.silent_driver = getenv("MOCK_SILENT_DRIVER");
	mock.taken = getenv("MOCK_TAKEN");
	mock.reverse = getenv("MOCK_REVERSE");
	mock.buffer_limit = getenv("MOCK_SMALL") ? 4096 : 0;
	if (cuInit(0))
		return 1;
	play(argv[1]);
	/* a context takes long to end; with it a recorder has time to look at the process */
	if (getenv("MOCK_LINGER"))
		pause_ms(300);
	return 0;
}
