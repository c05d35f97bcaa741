// SPDX-License-Identifier: GPL-2.0
/*
 * nccl SCENE VERSION [ARGS]: a program that communicates by a mock NCCL (nccl.h).
 *	basic		each kind of call once or more, in two communicators
 *	hostile		what no NCCL would do
 *	many N		N collectives, as fast as it goes
 *	threads		4 threads, each with a communicator of its own
 *	graph N		a collective that is captured, and N replays
 *	ranks RANKS STEPS MS	processes: in each step a random one sleeps MS ms before its collective;
 *			who, is a line of NCCL_LOG: `late STEP RANK`
 *	hang RANKS WHO STEPS	processes, of which one stops after so many steps; until it is killed
 *	wait		collectives while the file MOCK_GO is not there
 */
#include "nccl.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define KERNEL "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"
#define SIZE (1 << 20)

int cudaRuntimeGetVersion(int *version);

static pthread_barrier_t *all_there;

static void nap(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void launch(void)
{
	mock_call(CUPTI_DOMAIN_DRIVER, 307, 0, 1, KERNEL);
}

/* One that does not end: it is never recorded. */
static void launch_hanging(void)
{
	mock_call(CUPTI_DOMAIN_DRIVER, 307, 0, 0, KERNEL);
}

static void meet(void);

/* While a kernel hangs CUPTI keeps back the records of those before it on that GPU. */
static void launch_held_back(void)
{
	meet();
	launch_hanging();
}

static void begin_cuda(void)
{
	int version;

	if (cudaRuntimeGetVersion(&version) || cuInit(0))
		exit(1);
}

static struct nccl_call all_reduce(size_t count)
{
	return (struct nccl_call){.func = "AllReduce",
				  .count = count,
				  .datatype = "ncclFloat32",
				  .algo = "RING",
				  .proto = "SIMPLE",
				  .channels = 8};
}

static void one(struct nccl_comm *c, struct nccl_call k)
{
	nccl_group(c, &k, 1, launch, false);
}

static void do_basic(void)
{
	struct nccl_comm world = {.hash = 0x1234567890abcdefULL, .name = "world", .rank = 1, .ranks = 4},
			 pair = {.hash = 0xfedcba0987654321ULL, .rank = 0, .ranks = 2};
	struct nccl_call part = {.func = "AllGather",
				 .count = SIZE,
				 .datatype = "ncclInt8",
				 .algo = "TREE",
				 .proto = "LL128",
				 .channels = 4},
			 root = {.func = "Broadcast",
				 .count = 100,
				 .datatype = "ncclInt8",
				 .root = 3,
				 .algo = "RING",
				 .proto = "LL",
				 .channels = 1},
			 send = {.func = "Send",
				 .count = 7,
				 .datatype = "ncclBfloat16",
				 .root = 1,
				 .channels = 2,
				 .p2p = true};
	struct nccl_call two[2] = {all_reduce(SIZE), all_reduce(3 * SIZE)}, swap[2] = {send, send};

	nccl_init(&world);
	nccl_init(&pair);
	/* not of NCCL */
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "kernel");
	for (int i = 0; i < 3; i++)
		one(&world, all_reduce(SIZE));
	one(&pair, all_reduce(SIZE));
	one(&world, part);
	one(&world, root);
	nccl_group(&world, two, 2, launch, false);
	swap[1].func = "Recv";
	nccl_group(&pair, swap, 2, launch, false);
	nccl_finalize(&pair);
	one(&world, all_reduce(SIZE));
	nccl_finalize(&world);
}

static void do_hostile(void)
{
	static char text[9000];
	struct nccl_comm c = {.hash = UINT64_MAX, .name = text, .rank = -7, .ranks = -1}, other;
	struct nccl_descr d = {.type = ~0ULL};
	void *handle = (void *)1;

	memset(text, '<', sizeof(text) - 1);
	nccl_plugin->start(NULL, &handle, &d);
	nccl_plugin->start(&c, &handle, &d);
	nccl_plugin->stop((void *)0x12345);
	nccl_plugin->state((void *)0x12345, 77, NULL);
	nccl_plugin->finalize(NULL);
	nccl_plugin->finalize(&c);
	nccl_init(&c);
	for (uint64_t type = 1; type; type <<= 1) {
		memset(&d, 0, sizeof(d));
		d.type = type;
		if (type == NCCL_COLL)
			d.coll = (struct nccl_coll){.seq = UINT64_MAX,
						    .count = SIZE_MAX,
						    .root = -1,
						    .func = text,
						    .datatype = "\x1b[31m\n",
						    .algo = "",
						    .group = (void *)-1};
		handle = (void *)1;
		nccl_plugin->start(c.context, &handle, &d);
		nccl_plugin->stop(handle);
		nccl_plugin->stop(handle);
	}
	nccl_plugin->start(c.context, NULL, &d);
	nccl_plugin->start(c.context, &handle, NULL);
	/* more than there is room for, and none is given back */
	for (int i = 0; i < 3000; i++) {
		other = (struct nccl_comm){.hash = (uint64_t)i + 1, .ranks = 1};
		if (nccl_version == 4)
			nccl_plugin->init_v4(&other.context, &nccl_mask, NULL, other.hash, 1, 1, 0, NULL);
		else
			nccl_plugin->init(&other.context, other.hash, &nccl_mask, NULL, 1, 1, 0, NULL);
		one(&other, all_reduce(1));
	}
	nccl_finalize(&c);
	nccl_finalize(&c);
	one(&c, all_reduce(1));
}

static void do_many(unsigned long n)
{
	struct nccl_comm c = {.hash = 42, .name = "many", .ranks = 1};
	struct nccl_descr d;
	struct timespec from, to;
	unsigned long i;

	nccl_init(&c);
	one(&c, all_reduce(1));
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 1; i < n; i++) {
		d = (struct nccl_descr){.type = NCCL_COLL};
		d.coll = (struct nccl_coll){.func = "AllReduce", .seq = i, .datatype = "ncclInt8"};
		nccl_stop(nccl_start(&c, &d, NCCL_COLL));
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%.0f ns\n",
	       ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)n);
}

static pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER;

static void *communicate(void *arg)
{
	struct nccl_comm c = {.hash = 100 + (uintptr_t)arg, .name = "of a thread", .ranks = 1};

	nccl_init(&c);
	for (int i = 0; i < 500; i++) {
		/* the mock's next correlation is read before the launch */
		pthread_mutex_lock(&launching);
		one(&c, all_reduce((size_t)i));
		pthread_mutex_unlock(&launching);
	}
	nccl_finalize(&c);
	return NULL;
}

static void do_threads(void)
{
	pthread_t t[4];

	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, communicate, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static struct mock_nodes nodes;

static void capture(void)
{
	mock_add_node(&nodes, KERNEL, 211, 307);
}

static void do_graph(int replays)
{
	static struct mock_nodes exec;
	struct nccl_comm c = {.hash = 7, .name = "captured", .ranks = 2};
	struct nccl_call k = all_reduce(SIZE);

	nccl_init(&c);
	nccl_group(&c, &k, 1, capture, true);
	mock_clone(&exec, &nodes);
	mock_graph();
	for (int i = 0; i < replays; i++)
		mock_replay(&exec);
	nccl_finalize(&c);
}

/* ------------------------------------------------------------------ ranks */

static void meet(void)
{
	pthread_barrier_wait(all_there);
	nap(1);
}

static void start(int rank, int ranks, struct nccl_comm *c)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", rank);
	setenv("RANK", text, 1);
	begin_cuda();
	mock.device = (uint32_t)rank;
	mock.stream = 20;
	*c = (struct nccl_comm){.hash = 0xabc, .name = "world", .rank = rank, .ranks = ranks};
	nccl_init(c);
}

static void rank_with_delays(int rank, int ranks, int steps, double ms)
{
	struct timespec t = {.tv_nsec = (long)(ms * 1e6)};
	struct nccl_comm c;
	unsigned int seed = 12345;

	start(rank, ranks, &c);
	mock.in_kernel = meet;
	one(&c, all_reduce(1));
	for (int i = 1; i <= steps; i++) {
		int late = rand_r(&seed) % ranks;

		if (late == rank) {
			nanosleep(&t, NULL);
			nccl_tell("late %d %d\n", i, rank);
		}
		one(&c, all_reduce(SIZE));
	}
	nccl_finalize(&c);
}

static void rank_that_hangs(int rank, int ranks, int who, int steps)
{
	struct nccl_comm c, own = {.hash = 0xdef, .name = "pair", .rank = rank % 2, .ranks = 2};
	struct nccl_call k = all_reduce(SIZE);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	start(rank, ranks, &c);
	mock.in_kernel = meet;
	for (int i = 0; i < steps; i++) {
		k = all_reduce(SIZE);
		nccl_group(&c, &k, 1, rank ? launch : launch_held_back, false);
	}
	mock.in_kernel = NULL;
	k = all_reduce(SIZE);
	if (rank == who) {
		nccl_init(&own);
		one(&own, all_reduce(1));
	} else {
		nccl_group(&c, &k, 1, launch_hanging, false);
	}
	for (;;)
		nap(1000);
}

static int with_ranks(int ranks, void (*run)(int rank, char **argv), char **argv)
{
	pthread_barrierattr_t shared;
	int status, failed = 0;

	all_there = mmap(NULL, sizeof(*all_there), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(all_there, &shared, (unsigned int)ranks);
	for (int i = 0; i < ranks; i++)
		if (!fork()) {
			if (!nccl_load(atoi(argv[2])))
				exit(1);
			run(i, argv);
			exit(0);
		}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

static void run_delays(int rank, char **argv)
{
	rank_with_delays(rank, atoi(argv[3]), atoi(argv[4]), atof(argv[5]));
}

static void run_hang(int rank, char **argv)
{
	rank_that_hangs(rank, atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
}

static void do_wait(void)
{
	struct nccl_comm c = {.hash = 9, .name = "waits", .ranks = 1};
	unsigned int calls = 0;

	nccl_init(&c);
	printf("mask %d\nready\n", nccl_mask);
	fflush(stdout);
	while (access(getenv("MOCK_GO"), F_OK)) {
		one(&c, all_reduce(SIZE));
		calls += nccl_mask != 0;
		nap(1);
	}
	printf("mask %d, %u calls\n", nccl_mask, calls);
}

int main(int argc, char **argv)
{
	const char *scene = argc > 2 ? argv[1] : "";

	if (!strcmp(scene, "ranks") && argc == 6)
		return with_ranks(atoi(argv[3]), run_delays, argv);
	if (!strcmp(scene, "hang") && argc == 6)
		return with_ranks(atoi(argv[3]), run_hang, argv);
	if (argc < 3)
		return 2;
	begin_cuda();
	if (!nccl_load(atoi(argv[2])))
		return 3;
	if (!strcmp(scene, "basic"))
		do_basic();
	else if (!strcmp(scene, "hostile"))
		do_hostile();
	else if (!strcmp(scene, "many") && argc == 4)
		do_many(strtoul(argv[3], NULL, 10));
	else if (!strcmp(scene, "threads"))
		do_threads();
	else if (!strcmp(scene, "graph") && argc == 4)
		do_graph(atoi(argv[3]));
	else if (!strcmp(scene, "wait"))
		do_wait();
	else
		return 2;
	return 0;
}
