// SPDX-License-Identifier: GPL-2.0
/*
 * nvmem_loop CALLS: as many allocations, each freed at once: by turns physical memory and cudaMalloc of more
 * than the library shares among them. Prints when it began and ended (CLOCK_MONOTONIC, ns), its process, and
 * how many it made.
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <unistd.h>

static long long now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	auto create = (decltype(&cuMemCreate))dlsym(driver, "cuMemCreate");
	auto release = (decltype(&cuMemRelease))dlsym(driver, "cuMemRelease");
	long calls = argc > 1 ? atol(argv[1]) : 1000, made = 0;
	CUmemAllocationProp prop = {};
	void *keep, *p;

	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	if (cudaMalloc(&keep, 4 << 20))
		return 1;
	long long begin = now();
	for (long i = 0; i < calls; i++) {
		CUmemGenericAllocationHandle h;
		bool ok = i % 4 ? !create(&h, 2 << 20, &prop, 0) && !release(h)
				: !cudaMalloc(&p, 4 << 20) && !cudaFree(p);

		made += ok;
	}
	printf("%lld %lld %d %ld\n", begin, now(), (int)getpid(), made);
	return made != calls;
}
