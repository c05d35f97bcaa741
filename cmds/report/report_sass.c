// SPDX-License-Identifier: GPL-2.0
/* See report_sass.h. */
#include "report_sass.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/privileges.h"
#include "stack/cubin.h"
#include "trace/cuda_recording.h"

#define PROGRAM "nvdisasm"
#define TOOLKIT "/usr/local/cuda/bin"
#define MEMORY_MAX (16ULL << 30)
#define CPU_SECONDS 100
#define SECONDS 300
/* The descriptor of the code for nvdisasm, which only accepts a name. */
#define CODE 3
#define CODE_NAME "/proc/self/fd/3"
/* If there are more functions, nvdisasm prints all functions of the cubin. */
#define FUNCTIONS_MAX 256U
#define LIST_BYTES (FUNCTIONS_MAX * 12)

static bool sass_is_program(char *out, size_t room, const char *dir, size_t length)
{
	return length && *dir == '/' && snprintf(out, room, "%.*s/" PROGRAM, (int)length, dir) < (int)room &&
	       !access(out, X_OK);
}

static bool sass_find(struct report_sass *s)
{
	const char *dirs = getenv("PATH") ?: "";
	size_t length;

	for (; *dirs; dirs += length + (dirs[length] == ':')) {
		length = strcspn(dirs, ":");
		if (sass_is_program(s->program, sizeof(s->program), dirs, length))
			return true;
	}
	return sass_is_program(s->program, sizeof(s->program), TOOLKIT, strlen(TOOLKIT));
}

/* A file of the recording, which a traced program may have put there itself. */
static int sass_open_code(const struct report_sass *s, uint64_t cubin)
{
	char path[4096];
	struct stat st;
	int fd = -1;

	if (snprintf(path, sizeof(path), "%s/" GRT_CUDA_CUBIN "%" PRIu64, s->path, cubin) < (int)sizeof(path))
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* "12,40": symbols of the functions; "": prints all of them, for example if one is unknown. */
static void sass_list(int fd, const char *const *functions, uint32_t n, char list[LIST_BYTES])
{
	struct grt_cubin *c = NULL;
	unsigned int symbol = 1;
	size_t used = 0;

	if (n <= FUNCTIONS_MAX && !grt_cubin_open(&c, fd))
		for (uint32_t i = 0; i < n && symbol; i++) {
			symbol = grt_cubin_symbol(c, functions[i]);
			used += (size_t)snprintf(list + used, LIST_BYTES - used, "%s%u", i ? "," : "",
						 symbol);
		}
	if (!c || !symbol)
		list[0] = '\0';
	grt_cubin_close(c);
}

static void sass_limit(int what, rlim_t most)
{
	const struct rlimit limit = {most, most};

	setrlimit(what, &limit);
}

static void __attribute__((noreturn))
sass_run(const struct report_sass *s, const int fds[3], const char *list)
{
	char *const argv[] = {PROGRAM, "-c", *list ? "-fun" : CODE_NAME, (char *)list, CODE_NAME, NULL};
	char *const whole[] = {PROGRAM, "-c", CODE_NAME, NULL};

	if (capabilities_drop(0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(126);
	sass_limit(RLIMIT_AS, MEMORY_MAX);
	sass_limit(RLIMIT_CPU, CPU_SECONDS);
	sass_limit(RLIMIT_CORE, 0);
	sass_limit(RLIMIT_FSIZE, 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	alarm(SECONDS);
	/* the descriptors are above these four */
	if (dup2(fds[0], STDIN_FILENO) < 0 || dup2(fds[1], STDOUT_FILENO) < 0 ||
	    dup2(fds[0], STDERR_FILENO) < 0 || dup2(fds[2], CODE) < 0)
		_exit(126);
	execv(s->program, *list ? argv : whole);
	_exit(127);
}

/* Return: a duplicate above the first four descriptors */
static int sass_lift(int fd)
{
	int above = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, CODE + 1);

	if (fd >= 0)
		close(fd);
	return above;
}

static int sass_start(struct report_sass *s, int code, const char *list)
{
	int ends[2], fds[3], ret = 0;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fds[0] = sass_lift(open("/dev/null", O_RDWR | O_CLOEXEC));
	fds[1] = sass_lift(ends[1]);
	fds[2] = sass_lift(dup(code));
	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0)
		ret = -EMFILE;
	fflush(NULL);
	s->pid = ret ? 0 : fork();
	if (!ret && !s->pid)
		sass_run(s, fds, list);
	if (s->pid < 0)
		ret = -errno;
	for (unsigned int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (!ret)
		return ends[0];
	s->pid = 0;
	close(ends[0]);
	return ret;
}

int report_sass_open(void *arg, uint64_t cubin, const char *const *functions, uint32_t n)
{
	struct report_sass *s = arg;
	char list[LIST_BYTES] = "";
	int code, fd;

	if (!sass_find(s))
		return -ENOENT;
	code = sass_open_code(s, cubin);
	if (code < 0)
		return -ENODATA;
	sass_list(code, functions, n, list);
	fd = sass_start(s, code, list);
	close(code);
	return fd == -ENOENT || fd == -ENODATA ? -EIO : fd;
}

/* Reads the rest of the output. */
void report_sass_close(void *arg)
{
	struct report_sass *s = arg;

	if (s->pid <= 0)
		return;
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->pid = 0;
}
