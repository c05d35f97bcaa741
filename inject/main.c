// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * libgrtrace-cuda.so: CUDA's driver loads it into a program by
 * CUDA_INJECTION64_PATH and calls InitializeInjection() within the first call of
 * CUDA; libraries with NVTX do so by NVTX_INJECTION64_PATH (nvtx.c), and NCCL by
 * NCCL_PROFILER_PLUGIN (nccl.c). Whoever comes
 * first begins the recording; CUPTI joins it with CUDA. From the environment:
 *	GRTRACE_OUTPUT	the recording's directory; without it nothing is done until a
 *			recorder asks (dormant.c)
 *	GRTRACE_STACK	inproc (default), bpf or none
 *	GRTRACE_CAPTURE, GRTRACE_DELAY, GRTRACE_DUTY	which time is recorded, see capture.c
 *	GRTRACE_GRAPH		graph: a CUDA graph is one record
 *	GRTRACE_TORCH		modules of PyTorch are ranges, see torch.c
 *	GRTRACE_PC_SAMPLING	see pcsampling.c
 *	GRTRACE_CUPTI	the libcupti.so to use, where the one that is found is wrong
 *	GRTRACE_CUPTI_API	see subscriber.c
 *
 * Here: the beginning, the end, and the writer's rounds between them.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/cuda_recording.h"
#include "inject.h"
#include "nccl.h"
#include "nvtx.h"
#include "python.h"
#include "torch.h"
#include "unwind.h"

#define TICK_NS 10000000ULL
#define TICK_SOON_NS 1000000ULL
#define ROUND_NS 100000000ULL
#define COUNTS_NS 1000000000ULL
/* How long the end of the program waits for the writer. */
#define END_NS (2 * NS_PER_S)

struct inject inject = {.dir = -1, .pipe = -1};

/* The state of the recording. FAILED also after a fork during BEGINS. */
enum { STATE_NONE, STATE_BEGINS, STATE_ON, STATE_FAILED };

/**
 * The writer
 * @lock: held while records are written, by the writer or by the thread that attaches CUPTI
 * @state: of the recording
 * @told: a futex; not 0: the writer must end
 * @ended: the writer has ended, and everything is written
 * @tried: a recording was begun on a recorder's request
 * @waits: CUPTI is attached at the first call of a window, which has a context
 * @cupti: CUPTI is attached; @over: the recording ends, and CUPTI is not attached any more; both protected
 *	by @lock
 */
static struct {
	pthread_mutex_t lock;
	_Atomic int state;
	bool cupti;
	bool over;
	bool tried;
	pthread_t thread;
	_Atomic uint32_t told;
	_Atomic bool ended;
	_Atomic bool runs;
	uint64_t last_round;
	uint64_t last_counts;
	uint64_t counted;
	const char *python;
	void *subscriber;
	bool waits;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER};

int InitializeInjection(void) __attribute__((visibility("default")));

/* ---------------------------------------------------------- the writer */

/* The interpreter may be found late; one note gives the reason for missing Python frames. */
static void inject_note_python(void)
{
	const char *why = grt_python_why_not();

	if (!why || writer.python)
		return;
	writer.python = why;
	define_process(5, why);
}

/* @all: including the most recent calls */
static void inject_write_round(bool all)
{
	define_round();
	if (inject.stack == STACK_INPROC && writer.cupti) {
		grt_unwind_refresh();
		inject_note_python();
	}
	launch_mark();
	capture_write();
	define_nodes();
	nvtx_define();
	activity_write();
	pcsampling_write();
	define_flush();
	launch_write(all);
	if (writer.cupti && launch_check(writer.subscriber))
		define_process(
			5,
			"kernels ran for which the driver reported no launch: launches are recorded from the runtime, too");
	if (launch_has_frozen())
		define_process(
			5,
			"CUPTI has stopped counting the calls of this process, which is a bug of CUPTI: from then on "
			"its kernels have no launch, until it is started again");
}

static void inject_write_counts(uint64_t now)
{
	uint64_t n = inject.launches + inject.gpu_records + inject.gpu_unknown + inject.ranges;

	/* ranks that wait for each other do nothing, but these records show that they live */
	if (now - writer.last_counts < COUNTS_NS || (n == writer.counted && !nccl_is_used()))
		return;
	writer.last_counts = now;
	writer.counted = n;
	define_process(2, NULL);
}

static void inject_tick(void)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	clock_tune();
	/* it takes the dynamic linker's lock, which a thread in inject_join_ranges() may have */
	if (writer.cupti)
		torch_tick();
	writer.waits = pcsampling_tick();
	if (now - writer.last_round < ROUND_NS) {
		if (launch_filled())
			inject_write_round(false);
		launch_refill();
		return;
	}
	writer.last_round = now;
	if (writer.cupti)
		inject.cupti.flush_all(0);
	if (inject.realtime && writer.cupti)
		clock_snapshot();
	inject_write_round(false);
	if (writer.cupti && capture_is_on() && capture.how != CAPTURE_DUTY)
		held_round();
	inject_write_counts(now);
	launch_refill();
}

/* Writes all records up to now, and none after that. */
static void inject_write_end(void)
{
	struct timespec moment = {.tv_nsec = 2000000};

	/* calls that have begun return in the meantime */
	capture_stop();
	atomic_store(&inject.leaving, true);
	atomic_store(&inject.on, false);
	/* a communicator that begins now looks whether @on is set */
	nccl_switch(false);
	inject.running = 0;
	if (writer.cupti) {
		pcsampling_end();
		inject.cupti.flush_all(CUPTI_FLUSH_FORCED);
	}
	nanosleep(&moment, NULL);
	atomic_store(&inject.leaving, false);
	inject_write_round(true);
	launch_write_ranges();
	capture_close();
	held_close();
	inject.launches += atomic_load(&inject.homeless);
	inject.launches_lost += atomic_load(&inject.homeless);
	define_packets.lost += atomic_load(&inject.homeless) + atomic_load(&inject.nodes_lost);
	clock_snapshot();
	launch_close();
	activity_close();
	pcsampling_close();
	torch_write_notes();
	define_end();
	define_close();
	recording_end();
	atomic_store(&writer.ended, true);
}

static void inject_wait_tick(void)
{
	struct timespec t = {.tv_nsec = (long)duty_wait_ns(writer.waits ? TICK_SOON_NS : TICK_NS)};

	syscall(SYS_futex, &writer.told, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}

bool program_goes_on(void)
{
	inject_wait_tick();
	return !atomic_load(&writer.told);
}

/*
 * The recording ends and the program goes on, with CUPTI as it was before: another
 * tool may take it. @over: the files are a finished recording's, nothing is added to them.
 */
static void inject_end_before_program(bool over)
{
	bool cupti;

	pthread_mutex_lock(&writer.lock);
	writer.over = true;
	cupti = writer.cupti;
	if (cupti) {
		detach_begin();
		activity_stop();
	}
	if (over)
		packets_stop();
	inject_write_end();
	torch_want(false);
	torch_tick();
	pthread_mutex_unlock(&writer.lock);
	if (!cupti)
		return;
	detach(writer.subscriber);
	activity_empty();
}

static void inject_join_driver(void);

/* Windows begin by themselves, unless CUPTI must see code that the program loads before the first one. */
static bool inject_begins_cupti(void)
{
	return capture.how != CAPTURE_DUTY || pcsampling_is_requested();
}

/* ----------------------------------------------------------- windows at random places */

static bool inject_init_cupti(void);

static bool inject_has_driver(void)
{
	return cupti_driver_symbol("cuDriverGetVersion");
}

/* If CUPTI refused to be attached once, it is not tried again. */
static bool inject_duty_attach(void)
{
	bool there = false;

	pthread_mutex_lock(&writer.lock);
	there = writer.cupti;
	if (!there && !writer.over && !writer.tried) {
		detach_reset();
		activity_resume();
		launch_count_anew();
		there = inject_init_cupti();
		writer.tried = !there;
	}
	pthread_mutex_unlock(&writer.lock);
	return there;
}

static bool inject_duty_detach(void)
{
	pthread_mutex_lock(&writer.lock);
	detach_begin();
	inject.cupti.flush_all(0);
	inject_write_round(false);
	pthread_mutex_unlock(&writer.lock);
	if (!detach_try(writer.subscriber))
		return false;
	pthread_mutex_lock(&writer.lock);
	writer.cupti = false;
	pcsampling_leave();
	capture_leave(NULL);
	inject_write_round(false);
	pthread_mutex_unlock(&writer.lock);
	activity_empty();
	return true;
}

bool inject_writes_running(void)
{
	pthread_mutex_lock(&writer.lock);
	inject.running = 0;
	inject.cupti.flush_all(CUPTI_FLUSH_FORCED);
	inject_write_round(false);
	pthread_mutex_unlock(&writer.lock);
	return inject.running;
}

static void inject_duty_note(const char *text)
{
	pthread_mutex_lock(&writer.lock);
	define_process(5, text);
	pthread_mutex_unlock(&writer.lock);
}

static const struct duty_cupti duty_cupti = {inject_has_driver, inject_duty_attach, inject_duty_detach,
					     inject_duty_note};

static void inject_write_until_end(void)
{
	enum recording_state asks;

	pthread_mutex_lock(&writer.lock);
	define_process(6, NULL);
	pthread_mutex_unlock(&writer.lock);
	while (!atomic_load(&writer.told)) {
		inject_wait_tick();
		if (atomic_load(&writer.told))
			break;
		asks = recording_state();
		if (asks != RECORDING_GOES_ON) {
			inject_end_before_program(asks == RECORDING_IS_OVER);
			break;
		}
		pthread_mutex_lock(&writer.lock);
		if (inject.asked)
			inject_join_driver();
		inject_tick();
		pthread_mutex_unlock(&writer.lock);
		duty_tick(&duty_cupti);
	}
}

static void *inject_write_all(void *arg)
{
	prctl(PR_SET_NAME, "grtrace");
	inject_write_until_end();
	return arg;
}

static bool inject_start_writer(void)
{
	sigset_t all, old;

	/* only the program's own threads shall handle its signals */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	writer.runs = !pthread_create(&writer.thread, NULL, inject_write_all, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return writer.runs;
}

/* --------------------------------------------------------- begin and end */

/* At the limit of a file's size, write() shall fail instead of ending the program. */
static void inject_write_end_quietly(void)
{
	struct timespec none = {0};
	sigset_t full, old;

	sigemptyset(&full);
	sigaddset(&full, SIGXFSZ);
	if (inject.asked)
		sigaddset(&full, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &full, &old);
	inject_write_end();
	while (!sigismember(&old, SIGXFSZ) && sigtimedwait(&full, NULL, &none) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The program ends. The library does not wait for the GPU: kernels that still run have no end. */
static void inject_at_end(void)
{
	struct timespec moment = {.tv_nsec = 500000};
	uint64_t limit;

	if (getpid() != inject.pid || !writer.runs || pthread_equal(pthread_self(), writer.thread))
		return;
	writer.runs = false;
	atomic_store(&writer.told, 1);
	syscall(SYS_futex, &writer.told, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	dormant_wake();
	/* not pthread_timedjoin_np(): somebody may set its clock in the meantime */
	for (limit = now_ns(CLOCK_MONOTONIC) + END_NS; pthread_tryjoin_np(writer.thread, NULL);) {
		if (now_ns(CLOCK_MONOTONIC) >= limit)
			return;
		nanosleep(&moment, NULL);
	}
	/* another thread attaches CUPTI, which takes some time */
	while (pthread_mutex_trylock(&writer.lock)) {
		if (now_ns(CLOCK_MONOTONIC) >= limit)
			return;
		nanosleep(&moment, NULL);
	}
	writer.over = true;
	if (!atomic_load(&writer.ended))
		inject_write_end_quietly();
	pthread_mutex_unlock(&writer.lock);
}

/*
 * CUDA does not work in the child of a process that uses it. A program that the child executes is recorded
 * on its own.
 */
static void inject_in_child(void)
{
	atomic_store(&inject.on, false);
	atomic_store(&inject.leaving, false);
	nccl_forked();
	detach_forked();
	capture_forked();
	gate_forked();
	dormant_forked();
	clock_forked();
	packets_forked();
	owned_close(inject.dir, &inject.dir_is);
	inject.dir = -1;
	owned_close(inject.pipe, &inject.pipe_is);
	inject.pipe = -1;
	writer.runs = false;
}

static const char *inject_exe_name(void)
{
	static char path[1024];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	return path;
}

/* Without CUPTI, there may still be NVTX ranges. */
static void inject_give_up(const char *why)
{
	if (writer.runs) {
		define_process(4, why);
		return;
	}
	atomic_store(&writer.state, STATE_FAILED);
	define_process(4, why);
	define_close();
	recording_end();
}

/* The only line that this library prints, because the user would not know why records are missing. */
static void inject_give_way(void)
{
	char why[256];
	int n = snprintf(why, sizeof(why),
			 "grtrace: CUDA is not traced in process %d: another tool uses CUPTI in it\n",
			 inject.pid);

	/* the recorder that requested the recording reads the note */
	if (!inject.asked && write(STDERR_FILENO, why, (size_t)n) < 0)
		errno = 0;
	inject_give_up("another tool uses CUPTI in it (torch.profiler, nsys, ncu): one at a time");
}

static enum stack_mode inject_stack_mode(void)
{
	const char *how = secure_getenv("GRTRACE_STACK") ?: "";

	if (!strcmp(how, "none"))
		return STACK_NONE;
	return strcmp(how, "bpf") ? STACK_INPROC : STACK_BPF;
}

static void inject_init_stacks(void)
{
	static bool there;
	int ret;

	if (!inject.asked)
		inject.stack = inject_stack_mode();
	if (inject.stack != STACK_INPROC && !inject.asked)
		return;
	ret = there ? 0 : grt_unwind_init(0, true);
	if (there)
		grt_unwind_refresh();
	if (there)
		return;
	there = !ret;
	if (ret) {
		inject.stack = STACK_NONE;
		define_process(5, ret == -ENOSYS ? "no CPU stacks: grtrace cannot walk stacks on this machine"
						 : "no CPU stacks: no memory for them");
		return;
	}
	grt_unwind_hide((const void *)(uintptr_t)InitializeInjection);
}

static void inject_hide_cupti(void)
{
	const void *driver;

	if (inject.stack != STACK_INPROC && !inject.asked)
		return;
	grt_unwind_hide((const void *)(uintptr_t)inject.cupti.subscribe);
	/* between the runtime's function and its callback */
	driver = cupti_driver_symbol("cuDriverGetVersion");
	if (driver)
		grt_unwind_hide(driver);
}

/* From CUDA 12.6 to 13.0, some time stamps were 0 with a clock of our own. */
static void inject_init_clock(void)
{
	/* if there is a context already, its time stamps stay those of the system */
	bool good = !inject.asked && capture.how != CAPTURE_DUTY &&
		    (inject.version < CUPTI_VERSION_12_6 || inject.version >= CUPTI_VERSION_13_0);

	inject.realtime =
		!good || !inject.cupti.register_clock || inject.cupti.register_clock(clock_cupti) != CUPTI_OK;
}

/* Without the writer, nobody would empty its buffers. */
static void inject_leave_cupti(void)
{
	activity_stop();
	inject.cupti.unsubscribe(writer.subscriber);
}

/* The clock must be set first: CUPTI does not accept it later. */
static int inject_subscribe_alone(void)
{
	inject_init_clock();
	if (inject.cupti.set_thread_ids)
		inject.cupti.set_thread_ids(CUPTI_THREAD_ID_SYSTEM);
	return inject.cupti.subscribe(&writer.subscriber, launch_callback, NULL);
}

/* Only a single subscriber can detach CUPTI, which a recording of a running program does. */
static int inject_subscribe_first(void)
{
	bool several = subscriber_prefers_several() && !inject.asked;
	int ret = several ? CUPTI_MULTIPLE_SUBSCRIBERS : inject_subscribe_alone();

	if (ret != CUPTI_MULTIPLE_SUBSCRIBERS)
		return ret;
	if (subscriber_join_others(&writer.subscriber, launch_callback))
		return CUPTI_OK;
	return several ? inject_subscribe_alone() : ret;
}

/* Return: 0, or the reason why nothing is recorded */
static int inject_subscribe_and_record(int (*subscribe)(void))
{
	int ret = subscribe();

	if (ret)
		return ret;
	ret = capture_join(writer.subscriber);
	if (ret)
		inject_leave_cupti();
	return ret;
}

static bool inject_subscribe(void)
{
	int ret = inject_subscribe_and_record(inject_subscribe_first);

	if (ret && subscriber_is_one_of_several()) {
		subscriber_reset();
		ret = inject_subscribe_and_record(inject_subscribe_alone);
	}
	if (ret == CUPTI_MULTIPLE_SUBSCRIBERS || ret == CUPTI_MAX_LIMIT_REACHED)
		inject_give_way();
	else if (ret)
		inject_give_up("CUPTI refused to trace this process (is it under a debugger or MPS?)");
	return !ret;
}

static bool inject_init_cupti(void)
{
	char why[512] = "";
	bool there = inject.cupti.subscribe;

	if (!there && cupti_load(&inject.cupti, why, sizeof(why))) {
		inject_give_up(why);
		return false;
	}
	inject.cupti.get_version(&inject.version);
	if (!there)
		inject_hide_cupti();
	if (!inject_subscribe())
		return false;
	clock_snapshot();
	writer.cupti = true;
	return true;
}

/* Return: whether records may be written; so far, nothing makes any */
static bool inject_begin_recording(const char *output)
{
	inject.pid = getpid();
	inject.image = recording_random();
	if (!recording_open(output))
		return false;
	define_process(1, inject_exe_name());
	/*
	 * A recorder that ends now waits for the processes that it sees; other processes must notice its end
	 * themselves.
	 */
	define_flush();
	if (recording_state() != RECORDING_GOES_ON) {
		define_close();
		recording_end();
		return false;
	}
	clock_init();
	capture_init();
	activity_set_graphs(!strcmp(secure_getenv(GRT_CUDA_GRAPH_ENV) ?: "", GRT_CUDA_GRAPH_WHOLE));
	inject_init_stacks();
	if (launch_init() || nvtx_init()) {
		inject_give_up("no memory");
		return false;
	}
	capture_name();
	torch_init();
	return true;
}

/* From now on, the program's threads record. */
static bool inject_start(void)
{
	pthread_atfork(NULL, NULL, inject_in_child);
	atomic_store(&inject.on, true);
	/* before the program goes on with its first call of CUDA */
	torch_tick();
	if (!inject_start_writer()) {
		atomic_store(&inject.on, false);
		if (writer.cupti)
			inject_leave_cupti();
		inject_give_up("no thread could be made");
		return false;
	}
	atexit(inject_at_end);
	at_quick_exit(inject_at_end);
	atomic_store(&writer.state, STATE_ON);
	return true;
}

/*
 * A thread of the program that is cancelled while it begins the recording would leave half of it, and a lock
 * that nobody opens. Return: what inject_release_thread() restores
 */
static int inject_keep_thread(void)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	return cancel;
}

static void inject_release_thread(int cancel)
{
	pthread_setcancelstate(cancel, NULL);
}

/* Return: whether the caller is the first one, which must begin the recording */
static bool inject_is_first(const char *output)
{
	int none = STATE_NONE;

	return output && *output && atomic_compare_exchange_strong(&writer.state, &none, STATE_BEGINS);
}

/* ---------------------------------------------------- a program that is asked */

/* The program may begin to use CUDA after the recorder's request. The caller holds the lock. */
static void inject_join_driver(void)
{
	if (writer.tried || capture.how == CAPTURE_DUTY || !inject_has_driver())
		return;
	writer.tried = true;
	detach_reset();
	inject_init_cupti();
}

static void inject_reset(uint32_t stack, const struct grt_duty *duty)
{
	const struct inject fresh = {.pid = getpid(),
				     .image = recording_random(),
				     .dir = -1,
				     .asked = true,
				     .pipe = inject.pipe,
				     .pipe_is = inject.pipe_is,
				     .stack = stack,
				     .version = inject.version,
				     .cupti = inject.cupti};

	/* the program's threads read the members before this one */
	memcpy(&inject.pid, &fresh.pid, sizeof(inject) - offsetof(struct inject, pid));
	atomic_fetch_add(&inject.window, 1);
	packets_reset();
	define_reset();
	clock_reset();
	launch_reset();
	activity_reset();
	nvtx_reset();
	nccl_reset();
	capture_reset(duty);
	device_reset();
	detach_reset();
	subscriber_reset();
	writer.cupti = writer.over = writer.tried = false;
	writer.last_round = writer.last_counts = writer.counted = 0;
	writer.python = NULL;
	atomic_store(&writer.ended, false);
}

static bool inject_prepare_recording(void)
{
	define_process(1, inject_exe_name());
	define_flush();
	clock_init();
	inject_init_stacks();
	return !launch_init();
}

uint32_t inject_record_on_request(uint32_t stack, const struct grt_duty *duty)
{
	static bool at_end;
	bool ready;

	/* late, so that the handler runs before CUDA's own */
	if (!at_end) {
		atexit(inject_at_end);
		at_quick_exit(inject_at_end);
	}
	at_end = true;
	pthread_mutex_lock(&writer.lock);
	inject_reset(stack, duty);
	ready = inject_prepare_recording();
	inject.since = now_ns(CLOCK_MONOTONIC);
	writer.thread = pthread_self();
	writer.runs = ready;
	atomic_store(&inject.on, ready);
	nccl_switch(ready);
	if (ready)
		inject_join_driver();
	else
		inject_give_up("no memory");
	pthread_mutex_unlock(&writer.lock);
	dormant_awake();
	if (ready)
		inject_write_until_end();
	if (!inject_program_ends())
		writer.runs = false;
	return !writer.cupti ? GRT_CUDA_UNUSED : detach_is_done() ? GRT_CUDA_DETACHED : GRT_CUDA_ATTACHED;
}

bool inject_program_ends(void)
{
	return atomic_load(&writer.told);
}

void inject_wait_for_requests(void)
{
	if (nvtx_init())
		return;
	pthread_atfork(NULL, NULL, inject_in_child);
}

bool inject_begin_ranges(void)
{
	const char *output = secure_getenv("GRTRACE_OUTPUT");
	int saved = errno, state, cancel;

	if (dormant_is())
		return true;

	cancel = inject_keep_thread();
	if (inject_is_first(output) && (!inject_begin_recording(output) || !inject_start()))
		atomic_store(&writer.state, STATE_FAILED);
	inject_release_thread(cancel);
	errno = saved;
	state = atomic_load(&writer.state);
	/* while another thread begins the recording, NVTX functions do nothing */
	return (state == STATE_ON && inject.pid == getpid()) || state == STATE_BEGINS;
}

/* NVTX ranges came first, or another thread begins the recording now. */
static void inject_join_ranges(void)
{
	uint64_t limit = now_ns(CLOCK_MONOTONIC) + END_NS;
	struct timespec moment = {.tv_nsec = 500000};

	while (atomic_load(&writer.state) == STATE_BEGINS && now_ns(CLOCK_MONOTONIC) < limit)
		nanosleep(&moment, NULL);
	if (atomic_load(&writer.state) != STATE_ON || inject.pid != getpid())
		return;
	pthread_mutex_lock(&writer.lock);
	if (!writer.over && inject_begins_cupti())
		inject_init_cupti();
	pthread_mutex_unlock(&writer.lock);
}

static void inject_begin(const char *output)
{
	if (!inject_is_first(output))
		inject_join_ranges();
	else if (!inject_begin_recording(output) || (inject_begins_cupti() && !inject_init_cupti()) ||
		 !inject_start())
		atomic_store(&writer.state, STATE_FAILED);
}

int InitializeInjection(void)
{
	static atomic_flag begun = ATOMIC_FLAG_INIT;
	const char *output = secure_getenv("GRTRACE_OUTPUT");
	int saved = errno, cancel = inject_keep_thread();

	if (output && *output && !atomic_flag_test_and_set(&begun))
		inject_begin(output);
	inject_release_thread(cancel);
	errno = saved;
	return 1;
}
