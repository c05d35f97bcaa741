// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A program that is not recorded yet: a thread waits until a recorder asks for a recording, and does not
 * touch CUPTI before. The recorder gets the records through a pipe, so the program opens no file, whatever
 * its user, its rights and its namespaces are.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"
#include "torch.h"

#define PIPE_BYTES (1 << 20)
/* How long the recorder may take to open the pipe after its request. */
#define TAKE_NS (2 * NS_PER_S)
/* Writing to a full pipe is retried at this interval, and this many times when the program ends. */
#define ROOM_MS 10
#define ROOM_STEPS_AT_END 100

static struct grt_cuda_ask *page;
static int page_fd = -1;
static struct owned page_is;
/* The last recording that was requested. */
static uint32_t answered;

bool dormant_is(void)
{
	return page;
}

bool dormant_cgroup(char *path, size_t room)
{
	if (!page || !page->cgroup[0])
		return false;
	snprintf(path, room, "%.*s", (int)sizeof(page->cgroup), page->cgroup);
	return true;
}

static bool dormant_make_page(void)
{
	void *at = MAP_FAILED;

	page_fd = (int)syscall(SYS_memfd_create, GRT_CUDA_ASK_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* reading a page that was truncated would kill the process */
	if (page_fd >= 0 && !ftruncate(page_fd, GRT_CUDA_ASK_BYTES) && !fchmod(page_fd, 0600) &&
	    !fcntl(page_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		at = mmap(NULL, GRT_CUDA_ASK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
	if (at == MAP_FAILED) {
		if (page_fd >= 0)
			close(page_fd);
		page_fd = -1;
		return false;
	}
	page_is = owned_note(page_fd);
	madvise(at, GRT_CUDA_ASK_BYTES, MADV_DONTFORK);
	page = at;
	page->version = GRT_CUDA_ASK_VERSION;
	page->pid = (uint32_t)getpid();
	page->duties = true;
	page->graphs = true;
	page->torches = true;
	page->magic = GRT_CUDA_ASK_MAGIC;
	return true;
}

/* ------------------------------------------------------------ a recording */

enum recording_state dormant_state(void)
{
	struct pollfd p = {.fd = inject.pipe};

	if (!owned_is(inject.pipe, &inject.pipe_is))
		return RECORDING_IS_OVER;
	if (poll(&p, 1, 0) > 0 && p.revents & POLLERR)
		return RECORDING_IS_OVER;
	return atomic_load(&page->end) == answered ? RECORDING_ENDS : RECORDING_GOES_ON;
}

bool dormant_wait_for_room(void)
{
	struct pollfd p = {.fd = inject.pipe, .events = POLLOUT};

	for (int step = 0; !inject_program_ends() || step < ROOM_STEPS_AT_END; step++)
		if (poll(&p, 1, ROOM_MS) > 0)
			return !(p.revents & POLLERR);
	return false;
}

void dormant_awake(void)
{
	atomic_store(&page->state, GRT_CUDA_AWAKE);
}

void dormant_close_pipe(void)
{
	owned_close(inject.pipe, &inject.pipe_is);
	inject.pipe = -1;
	atomic_store(&page->state, GRT_CUDA_LEAVING);
}

static void dormant_answer(int pipe, const char *why)
{
	snprintf(page->why, sizeof(page->why), "%s", why);
	atomic_store(&page->pipe, pipe);
	atomic_store(&page->answer, answered);
}

/* Return: whether the recorder has opened the pipe */
static bool dormant_is_taken(void)
{
	uint64_t limit = now_ns(CLOCK_MONOTONIC) + TAKE_NS;
	struct timespec moment = {.tv_nsec = 500000};

	while (atomic_load(&page->taken) != answered) {
		if (now_ns(CLOCK_MONOTONIC) >= limit || atomic_load(&page->ask) != answered ||
		    inject_program_ends())
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

static void dormant_record(void)
{
	struct grt_duty duty;
	int ends[2];

	/* a seccomp filter may kill the program when it opens a descriptor */
	if (!recording_may_open()) {
		dormant_answer(-1, "it has dropped privileges since its start (seccomp)");
		return;
	}
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
		dormant_answer(-1, "it can open no more files");
		return;
	}
	if (fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) < 0)
		errno = 0;
	dormant_answer(ends[0], "");
	inject.pipe = ends[1];
	inject.pipe_is = owned_note(ends[1]);
	if (!dormant_is_taken()) {
		close(ends[0]);
		dormant_close_pipe();
		return;
	}
	close(ends[0]);
	duty = page->duty;
	activity_set_graphs(page->graph);
	torch_want(page->torch);
	atomic_store(&page->left, inject_record_on_request(atomic_load(&page->stack), &duty));
}

/* Unmaps the memory with which the library was loaded. */
static void dormant_free_scrap(void)
{
	uint64_t at = atomic_exchange(&page->scrap, 0);

	if (at && munmap((void *)(uintptr_t)at, atomic_load(&page->scrap_bytes)))
		errno = 0;
}

static void *dormant_wait(void *arg)
{
	uint32_t word;

	prctl(PR_SET_NAME, "grtrace");
	while (!inject_program_ends()) {
		word = atomic_load(&page->word);
		if (atomic_load(&page->ask) == answered) {
			syscall(SYS_futex, &page->word, FUTEX_WAIT, word, NULL, NULL, 0);
			continue;
		}
		answered = atomic_load(&page->ask);
		dormant_free_scrap();
		atomic_store(&page->state, GRT_CUDA_WAKING);
		dormant_record();
		atomic_store(&page->state, GRT_CUDA_ASLEEP);
	}
	return arg;
}

void dormant_wake(void)
{
	if (!page)
		return;
	atomic_fetch_add(&page->word, 1);
	syscall(SYS_futex, &page->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* A child does not have the page, so no recorder can ask it. */
void dormant_forked(void)
{
	page = NULL;
	owned_close(page_fd, &page_is);
	page_fd = -1;
}

static void dormant_begin(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;

	recording_may_open();
	if (!dormant_make_page())
		return;
	inject_wait_for_requests();
	pthread_attr_init(&attr);
	/* the program's signals are its own threads' */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, &attr, dormant_wait, NULL)) {
		munmap(page, GRT_CUDA_ASK_BYTES);
		dormant_forked();
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
}

/* Runs when the library is loaded; a program with more privileges than its user cannot be asked. */
static void __attribute__((constructor)) dormant_load(void)
{
	const char *output = secure_getenv("GRTRACE_OUTPUT");
	int saved = errno;

	if ((!output || !*output) && !getauxval(AT_SECURE))
		dormant_begin();
	errno = saved;
}
