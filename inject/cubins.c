// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Cubins: the code that the GPU runs, which has the line numbers for PC samples. CUPTI shows the code only
 * while it is being loaded, so the program's thread copies it then. The writer stores it as a file of the
 * recording, once for each content: the file's name has CUPTI's CRC, which samples have, too. Several
 * processes share these files.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject.h"
#include "trace/cuda_recording.h"

/* Limits of the size of one cubin, and of all cubins that a process stores, including waiting ones. */
#define CUBIN_MAX ((size_t)256 << 20)
#define ALL_MAX ((size_t)1 << 30)
#define CUBINS_MAX 16384U

enum { KEPT = 1, KEPT_TOO_LARGE, KEPT_FAILED };

/**
 * struct cubin - a cubin that waits for the writer
 * @copy: NULL: there was no room
 */
struct cubin {
	struct cubin *next;
	void *copy;
	size_t bytes;
};

/**
 * @first: cubins that wait, in any order; protected by @lock
 * @bytes: bytes that were stored or wait
 * @known: CRCs of the cubins that are written
 */
static struct {
	pthread_mutex_t lock;
	struct cubin *first;
	_Atomic size_t bytes;
	uint64_t known[CUBINS_MAX];
	uint32_t n;
	uint64_t unkept;
	int error;
} cubins = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *cubins_copy(const struct cupti_module *m)
{
	void *at = MAP_FAILED;

	if (m->bytes <= CUBIN_MAX && atomic_load(&cubins.bytes) + m->bytes <= ALL_MAX)
		at = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	atomic_fetch_add(&cubins.bytes, m->bytes);
	return memcpy(at, m->cubin, m->bytes);
}

void cubins_take(const struct cupti_module *m)
{
	struct cubin *c = m && m->cubin && m->bytes ? malloc(sizeof(*c)) : NULL;

	if (!c)
		return;
	*c = (struct cubin){.copy = cubins_copy(m), .bytes = m->bytes};
	pthread_mutex_lock(&cubins.lock);
	c->next = cubins.first;
	cubins.first = c;
	pthread_mutex_unlock(&cubins.lock);
}

/* -------------------------------------------------------------- the writer */

static bool cubins_write_all(int fd, const char *at, size_t bytes)
{
	ssize_t n;

	for (; bytes; at += n, bytes -= (size_t)n) {
		n = write(fd, at, bytes);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

/* The file is written under another name first, so a file with the final name is complete. */
static int cubins_write_file(const struct cubin *c, const char *name)
{
	static unsigned int number;
	char new[64];
	bool there;
	int fd;

	if (!recording_has_dir())
		return KEPT_FAILED;
	if (!faccessat(inject.dir, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return KEPT;
	snprintf(new, sizeof(new), GRT_CUDA_CUBIN "new%d_%u", inject.pid, number++);
	fd = recording_may_open()
		     ? openat(inject.dir, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)
		     : -1;
	if (fd < 0)
		return KEPT_FAILED;
	there = cubins_write_all(fd, c->copy, c->bytes);
	cubins.error = there ? cubins.error : errno;
	close(fd);
	if (there && !renameat(inject.dir, new, inject.dir, name))
		return KEPT;
	unlinkat(inject.dir, new, 0);
	return KEPT_FAILED;
}

static bool cubins_is_known(uint64_t crc)
{
	for (uint32_t i = 0; i < cubins.n; i++)
		if (cubins.known[i] == crc)
			return true;
	if (cubins.n < CUBINS_MAX)
		cubins.known[cubins.n++] = crc;
	return false;
}

static void cubins_keep(const struct cubin *c)
{
	struct cupti_crc crc = {.size = sizeof(crc), .bytes = c->bytes, .cubin = c->copy};
	int kept = KEPT_TOO_LARGE;
	char name[40];

	if (c->copy && (!inject.cupti.cubin_crc || inject.cupti.cubin_crc(&crc)))
		crc.crc = 0;
	if (crc.crc && cubins_is_known(crc.crc)) {
		atomic_fetch_sub(&cubins.bytes, c->bytes);
		return;
	}
	if (crc.crc) {
		snprintf(name, sizeof(name), GRT_CUDA_CUBIN "%llu", (unsigned long long)crc.crc);
		kept = cubins_write_file(c, name);
	}
	cubins.unkept += kept != KEPT;
	define_cubin(crc.crc, c->bytes, (uint32_t)kept);
}

void cubins_write(void)
{
	struct cubin *c, *next;

	pthread_mutex_lock(&cubins.lock);
	c = cubins.first;
	cubins.first = NULL;
	pthread_mutex_unlock(&cubins.lock);
	for (; c; c = next) {
		next = c->next;
		cubins_keep(c);
		if (c->copy)
			munmap(c->copy, c->bytes);
		free(c);
	}
}

void cubins_close(void)
{
	char text[160];

	cubins_write();
	if (!cubins.unkept)
		return;
	snprintf(text, sizeof(text),
		 "%llu cubins are not in the recording, and PC samples in them have no lines: %s",
		 (unsigned long long)cubins.unkept,
		 cubins.error ? strerror(cubins.error) : "they are too large, or too many");
	define_process(5, text);
}
