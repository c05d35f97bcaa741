// SPDX-License-Identifier: GPL-2.0
/*
 * Of mock/cuda.c: code that is loaded, and the samples that the GPU takes in it.
 */
#include "mock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct mock_samples mock_samples = {.lock = PTHREAD_MUTEX_INITIALIZER,
				    .context = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
				    .cupti = PTHREAD_MUTEX_INITIALIZER};

void mock_module(uint32_t number, const void *cubin, size_t bytes)
{
	const struct cupti_module m = {.id = 1, .bytes = bytes, .cubin = cubin};
	const struct cupti_resource r = {.context = &mock, .descriptor = &m};

	mock_samples.loaded = true;
	if (mock.callback && mock.wanted[CUPTI_DOMAIN_RESOURCE][number])
		mock.callback(NULL, CUPTI_DOMAIN_RESOURCE, number, (const void *)&r);
}

const void *mock_load(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *at;

	if (fd < 0 || fstat(fd, &st))
		abort();
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*bytes = (size_t)st.st_size;
	mock_module(CUPTI_RESOURCE_MODULE_LOADED, at, *bytes);
	return at;
}

void mock_pass_locks(void)
{
	struct timespec moment = {.tv_nsec = 50000}, look = {.tv_nsec = 3000000},
			again = {.tv_nsec = 40000000};

	if (!mock_samples.on)
		return;
	pthread_rwlock_rdlock(&mock_samples.context);
	nanosleep(&moment, NULL);
	pthread_mutex_lock(&mock_samples.cupti);
	if (!mock_samples.looked) {
		mock_samples.blind |= mock_samples.late && mock.kinds[CUPTI_KIND_CONCURRENT_KERNEL];
		nanosleep(&look, NULL);
	}
	mock_samples.looked = true;
	if (mock_samples.slow && mock_samples.launched != mock_samples.turn)
		nanosleep(&again, NULL);
	mock_samples.launched = mock_samples.turn;
	pthread_mutex_unlock(&mock_samples.cupti);
	pthread_rwlock_unlock(&mock_samples.context);
}

uint64_t mock_crc(const void *cubin, size_t bytes)
{
	const uint8_t *at = cubin;
	uint32_t h = 2166136261U;

	while (bytes--)
		h = (h ^ *at++) * 16777619U;
	return h;
}

unsigned int mock_sample(uint64_t crc, const char *function, uint64_t offset, uint32_t reason,
			 uint32_t samples)
{
	unsigned int turn;

	pthread_mutex_lock(&mock_samples.lock);
	turn = mock_samples.on ? mock_samples.turn : 0;
	if (mock_samples.n == MOCK_SAMPLES)
		abort();
	if (turn)
		mock_samples.sample[mock_samples.n++] = (struct mock_sample){
			crc, offset, function, reason, samples, (uint32_t)(mock.next - 1)};
	pthread_mutex_unlock(&mock_samples.lock);
	return turn;
}
