// SPDX-License-Identifier: GPL-2.0
/* Threads at an incident, see record_threads.h. */
#include "record_threads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "host/capabilities.h"
#include "host/leaks.h"
#include "cmds/cmd.h"
#include "record_stacks.h"

#define COMM "grtrace-threads"
/* Limits: threads of a process, and bytes of the texts about one. */
#define THREADS_MAX 4096U
#define THREAD_BYTES 8192U
#define SAID_BYTES (THREAD_BYTES + RECORD_STACKS_TEXT + 64)
#define IN_USER_SPACE "    in user space\n"
/* Limit for the time of walking stacks in user space. */
#define WALK_NS (600 * 1000000ULL)
#define TEXT_MAX ((size_t)4 << 20)
#define LOOK_NS NS_PER_S
#define KEPT (1ULL << CAP_SYS_ADMIN | 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH)

/* ------------------------------------------------------- the process that reads */

/* Reads a file of a thread, without its last newline. Return: number of bytes */
static size_t threads_read(int thread, const char *name, char *text, size_t room)
{
	int fd = openat(thread, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	n = n < 0 ? 0 : n;
	n -= n && text[n - 1] == '\n';
	text[n] = '\0';
	return (size_t)n;
}

/* "S (sleeping)" of its status. */
static void threads_state(int thread, char state[32])
{
	char text[512];
	const char *at;

	threads_read(thread, "status", text, sizeof(text));
	at = strstr(text, "\nState:\t");
	snprintf(state, 32, "%.*s", at ? (int)strcspn(at + 8, "\n") : 1, at ? at + 8 : "-");
}

/* A line about the thread, and one for each frame of its stack in the kernel. Return: number of bytes */
static size_t threads_describe(int thread, const char *tid, char *text)
{
	char comm[64], state[32], wchan[128], call[32], stack[4096];
	size_t used;

	threads_read(thread, "comm", comm, sizeof(comm));
	threads_state(thread, state);
	threads_read(thread, "wchan", wchan, sizeof(wchan));
	threads_read(thread, "syscall", call, sizeof(call));
	/* a running thread is in no call */
	call[isdigit((unsigned char)call[0]) ? strcspn(call, " ") : 0] = '\0';
	for (char *c = comm; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	used = (size_t)snprintf(text, THREAD_BYTES, "%s %s: %s, system call %s, in %s\n", tid, comm, state,
				call[0] ? call : "-", wchan[0] && strcmp(wchan, "0") ? wchan : "-");
	threads_read(thread, "stack", stack, sizeof(stack));
	for (char *next = stack, *line; (line = strsep(&next, "\n")) && *line;) {
		line += strncmp(line, "[<0>] ", 6) ? 0 : 6;
		if (used + strlen(line) + 6 < THREAD_BYTES)
			used += (size_t)snprintf(text + used, THREAD_BYTES - used, "    %s\n", line);
	}
	return used;
}

/**
 * struct threads_said - texts about the threads of a process
 * @text: @used bytes of texts
 * @end: end of the text about each of the @n threads
 */
struct threads_said {
	char *text;
	size_t used;
	size_t room;
	unsigned int n;
	uint32_t tid[THREADS_MAX];
	size_t end[THREADS_MAX];
};

/* Return: whether there is room for more */
static bool threads_describe_one(struct threads_said *said, struct record_stacks *stacks, int task,
				 const char *tid)
{
	int thread = openat(task, tid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (thread < 0)
		return true;
	if (said->used + THREAD_BYTES > TEXT_MAX ||
	    grt_grow(&said->text, &said->room, said->used + THREAD_BYTES, (size_t)64 << 10)) {
		close(thread);
		return false;
	}
	said->used += threads_describe(thread, tid, said->text + said->used);
	said->tid[said->n] = (uint32_t)strtoul(tid, NULL, 10);
	said->end[said->n] = said->used;
	if (stacks)
		record_stacks_copy(stacks, said->tid[said->n], thread);
	close(thread);
	return ++said->n < THREADS_MAX;
}

static void threads_describe_all(struct threads_said *said, struct record_stacks *stacks, uint32_t pid)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]) &&
		    !threads_describe_one(said, stacks, dirfd(d), e->d_name))
			break;
	if (d)
		closedir(d);
}

/* Sends the text about a thread, and after it its stack in user space. */
static bool threads_send(int to, const struct threads_said *said, unsigned int i,
			 const struct record_stacks *stacks)
{
	size_t begin = i ? said->end[i - 1] : 0, n = said->end[i] - begin;
	const char *user = record_stacks_text(stacks, said->tid[i]);
	char text[SAID_BYTES];

	memcpy(text, said->text + begin, n);
	if (*user)
		n += (size_t)snprintf(text + n, sizeof(text) - n, IN_USER_SPACE "%s", user);
	return send(to, text, n, MSG_NOSIGNAL) >= 0;
}

static void threads_send_all(int to, struct record_stacks *stacks, uint32_t pid)
{
	uint64_t until = grt_now() + WALK_NS;
	struct threads_said *said = calloc(1, sizeof(*said));

	if (said && stacks)
		record_stacks_begin(stacks, (pid_t)pid);
	if (said)
		threads_describe_all(said, stacks, pid);
	if (said && stacks)
		record_stacks_walk(stacks, until);
	for (unsigned int i = 0; said && i < said->n && threads_send(to, said, i, stacks); i++)
		;
	/* an empty text is the end: a text about a thread is longer */
	send(to, "", 1, MSG_NOSIGNAL);
	if (said)
		free(said->text);
	free(said);
}

/* The process keeps nothing of the recorder except the socket. */
static void __attribute__((noreturn)) threads_serve(int fd)
{
	struct record_stacks *stacks;
	sigset_t all;
	uint32_t pid;

	/* signals of the terminal are for the recorder; when that has ended, this process ends, too */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, COMM);
	if (dup2(fd, STDIN_FILENO) != STDIN_FILENO || syscall(SYS_close_range, 1, ~0U, 0))
		_exit(1);
	stacks = record_stacks_new();
	capabilities_drop(KEPT);
	while (recv(STDIN_FILENO, &pid, sizeof(pid), 0) == sizeof(pid))
		threads_send_all(STDIN_FILENO, stacks, pid);
	record_stacks_free(stacks);
	leaks_check();
	_exit(0);
}

/* ------------------------------------------------------------------ the recorder */

void record_threads_begin(struct record_threads *t)
{
	int ends[2];

	*t = (struct record_threads){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return;
	t->pid = fork();
	if (!t->pid)
		threads_serve(ends[1]);
	close(ends[1]);
	t->fd = ends[0];
	if (t->pid < 0)
		record_threads_end(t);
}

/* Return: whether there is more */
static bool threads_take(struct record_threads *t, uint64_t until)
{
	struct pollfd p = {.fd = t->fd, .events = POLLIN};
	uint64_t now = grt_now();
	ssize_t n;

	if (now >= until || poll(&p, 1, (int)((until - now) / 1000000) + 1) <= 0 ||
	    t->used + SAID_BYTES > TEXT_MAX ||
	    grt_grow(&t->text, &t->room, t->used + SAID_BYTES, (size_t)64 << 10))
		return false;
	n = recv(t->fd, t->text + t->used, SAID_BYTES, MSG_DONTWAIT);
	t->used += n > 1 ? (size_t)n : 0;
	return n > 1;
}

void record_threads_look(struct record_threads *t, pid_t pid)
{
	uint64_t until = grt_now() + LOOK_NS;
	uint32_t number = (uint32_t)pid;
	char rest[SAID_BYTES];

	t->used = 0;
	if (t->fd < 0 || !pid)
		return;
	/* an answer that came too late for the previous request */
	while (recv(t->fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
		;
	if (send(t->fd, &number, sizeof(number), MSG_NOSIGNAL) == sizeof(number))
		while (threads_take(t, until))
			;
}

int record_threads_write(const struct record_threads *t, const char *path)
{
	char name[4200];
	int fd, ret;

	if (!t->used)
		return 0;
	snprintf(name, sizeof(name), "%.4100s" RECORD_THREADS_SUFFIX, path);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ret = fd < 0 ? -errno : write(fd, t->text, t->used) == (ssize_t)t->used ? 0 : -(errno ?: ENOSPC);
	if (fd >= 0)
		close(fd);
	if (ret)
		fprintf(stderr, "grtrace record: cannot write %s: %s\n", name, strerror(-ret));
	return ret;
}

void record_threads_end(struct record_threads *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->pid > 0)
		waitpid(t->pid, NULL, 0);
	free(t->text);
	*t = (struct record_threads){.fd = -1};
}
