// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder's side of inject/dormant.c. The process is not trusted: root may ask processes of other
 * users.
 */
#include "cuda_ask.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/stream.h>

#include "host/links.h"
#include "host/maps.h"
#include "host/read_all.h"
#include "owners.h"

#define ANSWER_MS 5000
#define SLEEP_MS 6000
/* Larger than all packets of the library. */
#define PACKET_MAX ((size_t)64 << 20)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

bool cuda_ask_library(char *library)
{
	static const char *const places[] = {"", "../lib/grtrace/", "../lib64/grtrace/"};
	char dir[PATH_MAX], path[2 * PATH_MAX];
	size_t i;

	if (!link_program_dir(dir))
		return false;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s" GRT_CUDA_LIBRARY, dir, places[i]);
		if (realpath(path, library))
			return true;
	}
	return false;
}

static int ask_unreadable(pid_t pid, int code, struct grt_err *err)
{
	if (code == -ESRCH || code == -ENOENT)
		return grt_err_set(err, -ESRCH, "there is no such process", "ps -e",
				   "cannot request a recording from process %d", (int)pid);
	return grt_err_set(err, code, strerror(-code), "sudo grtrace record ...",
			   "cannot request a recording from process %d", (int)pid);
}

/* The last one of the process's numbers, which is its number in its own namespace. */
static uint32_t ask_own_number(pid_t pid)
{
	char numbers[256];

	read_status(pid, "NSpid", numbers, sizeof(numbers));
	return (uint32_t)strtoul(strrchr(numbers, '\t') ?: numbers, NULL, 10);
}

static bool ask_take_page(struct cuda_ask *a, int proc, const char *name)
{
	int fd = openat(proc, name, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	void *at = MAP_FAILED;

	if (fd >= 0 && (fcntl(fd, F_GET_SEALS) & SEALS) == SEALS && !fstat(fd, &st) &&
	    st.st_size == GRT_CUDA_ASK_BYTES)
		at = mmap(NULL, GRT_CUDA_ASK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	a->page = at == MAP_FAILED ? NULL : at;
	a->fd = fd;
	if (a->page && a->page->magic == GRT_CUDA_ASK_MAGIC && a->page->version == GRT_CUDA_ASK_VERSION &&
	    a->page->pid == ask_own_number(a->pid))
		return true;
	cuda_ask_close(a);
	return false;
}

static bool ask_find_page(struct cuda_ask *a, DIR *d)
{
	char to[sizeof(GRT_CUDA_ASK_LINK) + 1];
	struct dirent *e;
	ssize_t n;

	while ((e = readdir(d))) {
		n = readlinkat(dirfd(d), e->d_name, to, sizeof(to));
		if (n == sizeof(GRT_CUDA_ASK_LINK) - 1 && !memcmp(to, GRT_CUDA_ASK_LINK, (size_t)n) &&
		    ask_take_page(a, dirfd(d), e->d_name))
			return true;
	}
	return false;
}

/* The pid of the recorder of the process, 0: none, -1: a process outside of this PID namespace. */
static pid_t cuda_ask_holder(const struct cuda_ask *a)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(a->fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
		return 0;
	/* a process of another namespace has no number here */
	return lock.l_pid > 0 ? lock.l_pid : -1;
}

static int ask_held(const struct cuda_ask *a, pid_t other, struct grt_err *err)
{
	char why[64];

	snprintf(why, sizeof(why), "process %d, another recorder, records it already", (int)other);
	return grt_err_set(err, -EBUSY, other > 0 ? why : "another recorder records it already",
			   "grtrace status", "cannot record process %d", (int)a->pid);
}

static int ask_lock(struct cuda_ask *a, struct grt_err *err)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(a->fd, F_SETLK, &lock) ? ask_held(a, cuda_ask_holder(a), err) : 0;
}

int cuda_ask_is_free(const struct cuda_ask *a, struct grt_err *err)
{
	pid_t other = cuda_ask_holder(a);

	return other ? ask_held(a, other, err) : 0;
}

int cuda_ask_find(struct cuda_ask *a, pid_t pid, struct grt_err *err)
{
	char path[64];
	DIR *d;
	bool found;

	*a = (struct cuda_ask){.pid = pid, .fd = -1, .pipe = -1};
	for (int i = 0; i < CUDA_ASK_FILES; i++)
		a->file[i] = -1;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	if (!d)
		return ask_unreadable(pid, -errno, err);
	found = ask_find_page(a, d);
	closedir(d);
	if (found)
		a->pipe = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return found ? 0
		     : grt_err_set(err, -ENOENT, "it was started without libgrtrace-cuda.so",
				   "grtrace start --cuda, and start it again", "process %d cannot record",
				   (int)pid);
}

/* The next process in /proc; 0: there are no more. */
static pid_t ask_next_process(DIR *proc)
{
	struct dirent *e;
	pid_t pid;

	while (proc && (e = readdir(proc))) {
		pid = (pid_t)atoi(e->d_name);
		if (pid > 0)
			return pid;
	}
	return 0;
}

unsigned int cuda_ask_each(void (*fn)(pid_t pid, pid_t held))
{
	DIR *proc = opendir("/proc");
	struct cuda_ask a;
	unsigned int n = 0;
	pid_t pid;

	while ((pid = ask_next_process(proc))) {
		if (cuda_ask_find(&a, pid, NULL))
			continue;
		fn(pid, cuda_ask_holder(&a));
		cuda_ask_close(&a);
		n++;
	}
	if (proc)
		closedir(proc);
	return n;
}

/* Return: whether the process has mapped a file whose name begins like this. */
static bool ask_has_mapped(pid_t pid, const char *file)
{
	struct maps maps = {.from = maps_open(pid)};
	struct maps_row row;
	const char *name;
	bool has = false;

	while (!has && maps_next(&maps, &row)) {
		name = strrchr(row.path, '/');
		has = name && !strncmp(name + 1, file, strlen(file));
	}
	maps_close(&maps);
	return has;
}

int cuda_ask_is_without(pid_t pid, struct grt_err *err)
{
	if (!ask_has_mapped(pid, GRT_CUDA_LIBRARY))
		return 0;
	return grt_err_set(err, -EBUSY,
			   "a recorder started it, and the library in it answers to that one alone",
			   "grtrace start --cuda, and start it again", "cannot record process %d", (int)pid);
}

unsigned int cuda_ask_gpu(pid_t *pids, unsigned int room)
{
	DIR *proc = opendir("/proc");
	unsigned int n = 0;
	pid_t pid;

	while (n < room && (pid = ask_next_process(proc)))
		if (pid != getpid() && ask_has_mapped(pid, "libcuda.so"))
			pids[n++] = pid;
	if (proc)
		closedir(proc);
	return n;
}

static void ask_tell(struct cuda_ask *a)
{
	atomic_fetch_add(&a->page->word, 1);
	syscall(SYS_futex, &a->page->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Return: whether this becomes true within the time */
static bool ask_until(struct cuda_ask *a, const _Atomic uint32_t *what, uint32_t value, unsigned int ms)
{
	struct timespec moment = {.tv_nsec = 500000};

	for (unsigned int half = 0; atomic_load(what) != value; half++) {
		if (half >= 2 * ms || (kill(a->pid, 0) && errno == ESRCH))
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

static int ask_open_pipe(struct cuda_ask *a, struct grt_err *err)
{
	char path[64], why[sizeof(a->page->why) + 1];
	struct stat st;
	int number = atomic_load(&a->page->pipe), fd;
	bool is;

	snprintf(why, sizeof(why), "%.*s", (int)sizeof(a->page->why), a->page->why);
	if (number < 0)
		return grt_err_set(err, -EACCES, why[0] ? why : "it refuses", NULL,
				   "process %d cannot be recorded", (int)a->pid);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)a->pid, number);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	is = fd >= 0 && !fstat(fd, &st) && S_ISFIFO(st.st_mode) && dup3(fd, a->pipe, O_CLOEXEC) >= 0;
	if (fd >= 0)
		close(fd);
	if (is)
		return 0;
	return grt_err_set(err, -EPROTO, "it has no pipe to grtrace", NULL, "process %d cannot be recorded",
			   (int)a->pid);
}

static int ask_no_answer(struct cuda_ask *a, struct grt_err *err)
{
	return grt_err_set(err, -ETIMEDOUT, "the library's thread in it does not answer",
			   "grep State /proc/PID/status: a process that is stopped cannot",
			   "process %d cannot be recorded", (int)a->pid);
}

/* @option: gets an option that the process does not know */
static bool ask_supports(const struct cuda_ask *a, const struct cuda_request *wish, const char **option)
{
	*option = wish->duty.parts && !a->page->duties	   ? "duty"
		  : wish->whole_graphs && !a->page->graphs ? "graph"
		  : wish->torch && !a->page->torches	   ? "torch"
							   : NULL;
	return !*option;
}

int cuda_ask_start(struct cuda_ask *a, const struct cuda_request *wish, struct grt_err *err)
{
	int ret = ask_lock(a, err);
	const char *option;

	if (ret)
		return ret;
	if (!ask_supports(a, wish, &option))
		return grt_err_set(err, -ENOTSUP, "it runs with an older " GRT_CUDA_LIBRARY,
				   "start the program again", "process %d cannot be recorded with --%s",
				   (int)a->pid, option);
	/* a recorder that was killed may have left the library awake */
	if (!ask_until(a, &a->page->state, GRT_CUDA_ASLEEP, SLEEP_MS))
		return ask_no_answer(a, err);
	atomic_store(&a->page->stack, wish->stack);
	a->page->duty = wish->duty;
	a->page->graph = wish->whole_graphs;
	a->page->torch = wish->torch;
	owners_cgroup((uint32_t)a->pid, a->page->cgroup, sizeof(a->page->cgroup));
	a->number = atomic_load(&a->page->ask) + 1;
	atomic_store(&a->page->ask, a->number);
	ask_tell(a);
	if (!ask_until(a, &a->page->answer, a->number, ANSWER_MS))
		return ask_no_answer(a, err);
	ret = ask_open_pipe(a, err);
	if (ret)
		return ret;
	atomic_store(&a->page->taken, a->number);
	/* from now on everything is recorded; a process that has ended by now gives the reason */
	ask_until(a, &a->page->state, GRT_CUDA_AWAKE, ANSWER_MS);
	return 0;
}

/* ------------------------------------------------------------ packets */

static int ask_file(struct cuda_ask *a, int dir)
{
	unsigned int stream = a->head.cpu_id;
	char name[48];

	if (memcmp(&a->head.magic, &(uint32_t){GRT_PACKET_MAGIC}, sizeof(uint32_t)) ||
	    stream >= CUDA_ASK_FILES || a->head.packet_size % 8 || a->head.packet_size / 8 > PACKET_MAX ||
	    a->head.packet_size / 8 < sizeof(a->head))
		return -EPROTO;
	if (a->file[stream] >= 0)
		return a->file[stream];
	snprintf(name, sizeof(name), "cuda_%d_%u", (int)a->pid, stream);
	a->file[stream] = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return a->file[stream] >= 0 ? a->file[stream] : -errno;
}

static int ask_write(int fd, const char *at, size_t length)
{
	ssize_t n;

	for (; length; at += n, length -= (size_t)n) {
		n = write(fd, at, length);
		if (n < 0 && errno != EINTR)
			return -errno;
		n = n < 0 ? 0 : n;
	}
	return 0;
}

/* Return: number of bytes that were used, or -errno */
static ssize_t ask_take(struct cuda_ask *a, int dir, const char *at, size_t length)
{
	size_t n = a->left;

	if (n) {
		n = n < length ? n : length;
		a->left -= n;
		return ask_write(a->to, at, n) ?: (ssize_t)n;
	}
	n = sizeof(a->head) - a->got;
	n = n < length ? n : length;
	memcpy((char *)&a->head + a->got, at, n);
	a->got += n;
	if (a->got < sizeof(a->head))
		return (ssize_t)n;
	a->to = ask_file(a, dir);
	if (a->to < 0)
		return a->to;
	a->got = 0;
	a->left = a->head.packet_size / 8 - sizeof(a->head);
	return ask_write(a->to, (char *)&a->head, sizeof(a->head)) ?: (ssize_t)n;
}

ssize_t cuda_ask_read(struct cuda_ask *a, int dir)
{
	static char buffer[1 << 18];
	ssize_t n = read(a->pipe, buffer, sizeof(buffer)), used = 0, at;

	if (n <= 0)
		return n < 0 ? -errno : 0;
	for (at = 0; at < n && used >= 0; at += used)
		used = ask_take(a, dir, buffer + at, (size_t)(n - at));
	return used < 0 ? used : n;
}

/* -------------------------------------------------------------- the end */

void cuda_ask_stop(struct cuda_ask *a)
{
	if (!a->page || !a->number)
		return;
	atomic_store(&a->page->end, a->number);
	ask_tell(a);
}

int cuda_ask_wait(struct cuda_ask *a)
{
	if (!ask_until(a, &a->page->state, GRT_CUDA_ASLEEP, SLEEP_MS))
		return kill(a->pid, 0) && errno == ESRCH ? -ESRCH : -ETIMEDOUT;
	return (int)atomic_load(&a->page->left);
}

void cuda_ask_close(struct cuda_ask *a)
{
	if (!a->pid)
		return;
	for (int i = 0; i < CUDA_ASK_FILES; i++)
		if (a->file[i] >= 0)
			close(a->file[i]);
	if (a->page)
		munmap(a->page, GRT_CUDA_ASK_BYTES);
	if (a->pipe >= 0)
		close(a->pipe);
	/* this releases the lock, too */
	if (a->fd >= 0)
		close(a->fd);
	a->page = NULL;
	a->fd = a->pipe = -1;
}
