// SPDX-License-Identifier: GPL-2.0
/*
 * Touches unified memory in a known way: uvm_load MIB [wait]. MIB of managed memory, at most 512, go to the GPU
 * by faults, back by faults of the CPU, there and back by prefetching; then memory that is mostly read, memory that
 * stays with the CPU, and pages for which both fight. Each step prints a line:
 *
 *	STEP BEGIN END BYTES	CLOCK_MONOTONIC, ns; bytes that must move, -1: the driver decides
 *
 * With "wait" it begins when a line comes on its standard input, after CUDA has begun. Built with -DPEER it prints
 * what CUPTI counted, too: "cupti KIND VALUE".
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_runtime.h>
#ifdef PEER
#include <cupti.h>
#endif

static void must(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
	exit(1);
}

static int64_t now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__global__ void add_up(const uint32_t *p, size_t words, unsigned long long *sum)
{
	unsigned long long mine = 0;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x)
		mine += p[i];
	atomicAdd(sum, mine);
}

__global__ void change(volatile uint32_t *p, size_t words, int times)
{
	for (int t = 0; t < times; t++)
		for (size_t i = threadIdx.x * 1024; i < words; i += 1024 * (size_t)blockDim.x)
			p[i] = p[i] + 1;
}

static int64_t began;

static void begin()
{
	began = now();
}

static void done(const char *step, long long bytes)
{
	must(cudaDeviceSynchronize(), step);
	printf("%s %lld %lld %lld\n", step, (long long)began, (long long)now(), bytes);
	fflush(stdout);
}

/* cudaMemPrefetchAsync and cudaMemAdvise take another form of place from CUDA 13 on. */
static void prefetch(const void *p, size_t bytes, int device)
{
#if CUDART_VERSION >= 13000
	cudaMemLocation at = {device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device < 0 ? 0 : device};

	must(cudaMemPrefetchAsync(p, bytes, at, 0, 0), "prefetch");
#else
	must(cudaMemPrefetchAsync(p, bytes, device < 0 ? cudaCpuDeviceId : device, 0), "prefetch");
#endif
}

static void advise(const void *p, size_t bytes, cudaMemoryAdvise what, int device)
{
#if CUDART_VERSION >= 13000
	cudaMemLocation at = {device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device < 0 ? 0 : device};

	must(cudaMemAdvise(p, bytes, what, at), "advise");
#else
	must(cudaMemAdvise(p, bytes, what, device < 0 ? cudaCpuDeviceId : device), "advise");
#endif
}

static uint32_t *managed(size_t bytes)
{
	void *p;

	must(cudaMallocManaged(&p, bytes), "cudaMallocManaged");
	return (uint32_t *)p;
}

#ifdef PEER
static unsigned long long htod, dtoh, gpu_groups, cpu_faults, thrashing, throttling, remote, records;

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *max)
{
	*size = 1 << 20;
	*max = 0;
	*buffer = (uint8_t *)aligned_alloc(8, *size);
}

static void CUPTIAPI take(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
	CUpti_Activity *r = NULL;

	while (cuptiActivityGetNextRecord(buffer, valid, &r) == CUPTI_SUCCESS) {
		const CUpti_ActivityUnifiedMemoryCounter2 *c = (const CUpti_ActivityUnifiedMemoryCounter2 *)r;

		if (r->kind != CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
			continue;
		records++;
		htod += c->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD ? c->value : 0;
		dtoh += c->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH ? c->value : 0;
		gpu_groups += c->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT ? c->value : 0;
		cpu_faults += c->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
		thrashing += c->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING;
		throttling += c->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING;
		remote += c->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP;
	}
	free(buffer);
}

static void peer_on()
{
	static const CUpti_ActivityUnifiedMemoryCounterKind kinds[] = {
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP,
	};
	CUpti_ActivityUnifiedMemoryCounterConfig config[sizeof(kinds) / sizeof(kinds[0])];
	uint32_t n = sizeof(kinds) / sizeof(kinds[0]);
	CUptiResult r;

	for (uint32_t i = 0; i < n; i++) {
		config[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
		config[i].kind = kinds[i];
		config[i].deviceId = 0;
		config[i].enable = 1;
	}
	cuptiActivityRegisterCallbacks(give, take);
	r = cuptiActivityConfigureUnifiedMemoryCounter(config, n);
	if (!r)
		r = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	printf("cupti status %d\n", (int)r);
}

static void peer_off()
{
	cuptiActivityFlushAll(1);
	printf("cupti htod %llu\ncupti dtoh %llu\ncupti gpu_faults %llu\ncupti cpu_faults %llu\ncupti thrashing %llu\n"
	       "cupti throttling %llu\ncupti remote %llu\ncupti records %llu\n",
	       htod, dtoh, gpu_groups, cpu_faults, thrashing, throttling, remote, records);
}
#else
static void peer_on() {}
static void peer_off() {}
#endif

static void fight(uint32_t *p, size_t words)
{
	volatile uint32_t *q = p;
	int64_t end;

	change<<<1, 32>>>(p, words, 400);
	end = now() + 300000000;
	while (now() < end)
		for (size_t i = 0; i < words; i += 1024)
			q[i] = q[i] + 1;
}

int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 64, bytes = mib << 20, words = bytes / 4;
	size_t small = 1 << 20, free_bytes, total;
	unsigned long long *sum;
	uint32_t *a, *b, *c, *d, one = 0;
	char line[16];

	if (!mib || mib > 512)
		return fprintf(stderr, "uvm_load MIB [wait]: 1 to 512\n"), 2;
	must(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
	if (free_bytes < 4 * bytes)
		return fprintf(stderr, "uvm_load: too little free memory on the GPU\n"), 4;
	must(cudaMalloc(&sum, sizeof(*sum)), "cudaMalloc");
	peer_on();
	if (argc > 2) {
		printf("ready\n");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	a = managed(bytes);
	begin();
	memset(a, 1, bytes);
	done("cpu_first", 0);
	begin();
	add_up<<<64, 256>>>(a, words, sum);
	done("gpu_fault", (long long)bytes);
	begin();
	for (size_t i = 0; i < words; i += 1024)
		one += ((volatile uint32_t *)a)[i];
	done("cpu_fault", (long long)bytes);
	begin();
	prefetch(a, bytes, 0);
	done("prefetch_gpu", (long long)bytes);
	begin();
	prefetch(a, bytes, -1);
	done("prefetch_cpu", (long long)bytes);

	b = managed(small);
	memset(b, 2, small);
	advise(b, small, cudaMemAdviseSetReadMostly, 0);
	begin();
	add_up<<<4, 256>>>(b, small / 4, sum);
	done("read_mostly", (long long)small);
	begin();
	b[0] = 7;
	done("read_mostly_write", 0);

	c = managed(small);
	advise(c, small, cudaMemAdviseSetPreferredLocation, -1);
	advise(c, small, cudaMemAdviseSetAccessedBy, 0);
	begin();
	memset(c, 3, small);
	add_up<<<4, 256>>>(c, small / 4, sum);
	done("stays", 0);

	d = managed(small);
	memset(d, 0, small);
	begin();
	fight(d, 16384);
	done("fight", -1);
	peer_off();
	fprintf(stderr, "%u\n", one);
	return 0;
}
