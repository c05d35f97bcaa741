// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Converts recordings of trace-cmd (trace.dat) to the text that `trace-cmd report` prints, with its library,
 * which is loaded when it is needed. The library trusts its input, so it runs in a separate process: a
 * damaged file can only end that process.
 */
#include "unpack_tracecmd.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef GRT_HAVE_TRACECMD
#include <dlfcn.h>
#include <traceevent/event-parse.h>

#include "base/clock.h"

#define TRACECMD_LIBRARY "libtracecmd.so.1"
#define TRACEEVENT_LIBRARY "libtraceevent.so.1"
#define INSTANCES_MAX 256
/* What the library may use: a part for any file, and a part for each byte of the file. */
#define MEMORY_FREE (UINT64_C(1) << 30)
#define MEMORY_PER_BYTE 4U
#define SECONDS_FREE 60U
#define BYTES_PER_SECOND (UINT64_C(1) << 20)
#define TEXT_FREE (UINT64_C(256) << 20)
#define TEXT_PER_BYTE 256U
#define NOBODY 65534
/* a flag of tracecmd_open_fd(): no plugins, because they are programs of a user */
#define TRACECMD_FL_LOAD_NO_PLUGINS 1

struct tracecmd_input;
typedef int (*tracecmd_callback)(struct tracecmd_input *in, struct tep_record *record, int cpu, void *arg);

/** struct tracecmd - functions of the libraries, by their names */
struct tracecmd {
	struct tracecmd_input *(*tracecmd_open_fd)(int fd, int flags);
	struct tep_handle *(*tracecmd_get_tep)(struct tracecmd_input *in);
	int (*tracecmd_buffer_instances)(struct tracecmd_input *in);
	struct tracecmd_input *(*tracecmd_buffer_instance_handle)(struct tracecmd_input *in, int i);
	int (*tracecmd_iterate_events_multi)(struct tracecmd_input **in, int n, tracecmd_callback callback,
					     void *arg);
	void (*tep_print_event)(struct tep_handle *tep, struct trace_seq *s, struct tep_record *record,
				const char *format, ...);
	void (*trace_seq_init)(struct trace_seq *s);
	void (*trace_seq_reset)(struct trace_seq *s);
	void (*trace_seq_terminate)(struct trace_seq *s);
	struct trace_seq text;
	FILE *out;
};

/* How the process ends. */
enum { TRACECMD_DONE, TRACECMD_BAD, TRACECMD_NO_LIBRARY, TRACECMD_NO_PLACE };

static bool tracecmd_load(struct tracecmd *t)
{
	void *events = dlopen(TRACEEVENT_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
	void *library = events ? dlopen(TRACECMD_LIBRARY, RTLD_NOW) : NULL;

#define LOAD(from, name) (t->name = dlsym(from, #name))
	return library && LOAD(library, tracecmd_open_fd) && LOAD(library, tracecmd_get_tep) &&
	       LOAD(library, tracecmd_buffer_instances) && LOAD(library, tracecmd_buffer_instance_handle) &&
	       LOAD(library, tracecmd_iterate_events_multi) && LOAD(events, tep_print_event) &&
	       LOAD(events, trace_seq_init) && LOAD(events, trace_seq_reset) &&
	       LOAD(events, trace_seq_terminate);
#undef LOAD
}

/* A newline in an event's text must not begin a new line. */
static void tracecmd_put(struct tracecmd *t)
{
	t->trace_seq_terminate(&t->text);
	for (char *p = t->text.buffer; *p; p++)
		fputc(*p == '\n' ? ' ' : *p, t->out);
	t->trace_seq_reset(&t->text);
}

static void tracecmd_put_lost(const struct tracecmd *t, const struct tep_record *r)
{
	if (r->missed_events < 0)
		fprintf(t->out, "CPU:%d [EVENTS DROPPED]\n", r->cpu);
	else if (r->missed_events)
		fprintf(t->out, "CPU:%d [%lld EVENTS DROPPED]\n", r->cpu, r->missed_events);
}

static int tracecmd_take(struct tracecmd_input *in, struct tep_record *r, int cpu, void *arg)
{
	struct tracecmd *t = arg;
	struct tep_handle *tep = t->tracecmd_get_tep(in);

	tracecmd_put_lost(t, r);
	t->tep_print_event(tep, &t->text, r, "%16s-%-5d [%03d]", TEP_PRINT_COMM, TEP_PRINT_PID,
			   TEP_PRINT_CPU);
	tracecmd_put(t);
	fprintf(t->out, " %llu.%09llu: ", r->ts / GRT_NS_PER_S, r->ts % GRT_NS_PER_S);
	t->tep_print_event(tep, &t->text, r, "%s: %s", TEP_PRINT_NAME, TEP_PRINT_INFO);
	tracecmd_put(t);
	fputc('\n', t->out);
	return ferror(t->out) ? -1 : 0;
}

/* Prints all buffers, merged in the order of time. */
static int tracecmd_report(struct tracecmd *t, int fd)
{
	struct tracecmd_input *in[INSTANCES_MAX + 1] = {t->tracecmd_open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS)};
	int n = 1, buffers;

	if (!in[0])
		return TRACECMD_BAD;
	buffers = t->tracecmd_buffer_instances(in[0]);
	for (int i = 0; i < buffers && i < INSTANCES_MAX; i++) {
		in[n] = t->tracecmd_buffer_instance_handle(in[0], i);
		n += in[n] != NULL;
	}
	t->trace_seq_init(&t->text);
	if (t->tracecmd_iterate_events_multi(in, n, tracecmd_take, t) < 0)
		return ferror(t->out) ? TRACECMD_NO_PLACE : TRACECMD_BAD;
	return fflush(t->out) ? TRACECMD_NO_PLACE : TRACECMD_DONE;
}

static void tracecmd_limit(int what, uint64_t most)
{
	setrlimit(what, &(struct rlimit){most, most});
}

/* Limits what a damaged file can make the library do. What root reads does not run as root. */
static bool tracecmd_confine(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
#ifndef __SANITIZE_ADDRESS__
	tracecmd_limit(RLIMIT_AS, MEMORY_FREE + MEMORY_PER_BYTE * (uint64_t)st.st_size);
#endif
	tracecmd_limit(RLIMIT_CPU, SECONDS_FREE + (uint64_t)st.st_size / BYTES_PER_SECOND);
	tracecmd_limit(RLIMIT_FSIZE, TEXT_FREE + TEXT_PER_BYTE * (uint64_t)st.st_size);
	tracecmd_limit(RLIMIT_CORE, 0);
	/* a container may lack the privilege to change its user */
	if (!geteuid() &&
	    (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)) &&
	    errno != EPERM)
		return false;
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int tracecmd_child(int fd, int out)
{
	struct tracecmd t = {.out = fdopen(out, "w")};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (!t.out)
		return TRACECMD_NO_PLACE;
	if (!tracecmd_load(&t))
		return TRACECMD_NO_LIBRARY;
	/* messages of the libraries are not for the user */
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    !tracecmd_confine(fd))
		return TRACECMD_BAD;
	return tracecmd_report(&t, fd);
}

int grt_tracecmd_unpack(int fd, const char *path, int out, struct grt_err *err)
{
	static const char report[] = "trace-cmd report PATH > trace.txt, and give that";
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		_exit(tracecmd_child(fd, out));
	if (child < 0)
		return grt_err_set(err, -errno, strerror(errno), report,
				   "%s: cannot read the recording of trace-cmd", path);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return grt_err_set(err, -errno, strerror(errno), report,
					   "%s: cannot read the recording of trace-cmd", path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == TRACECMD_DONE)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == TRACECMD_NO_LIBRARY)
		return grt_err_set(
			err, -ENOSYS, TRACECMD_LIBRARY " is missing",
			"apt-get install libtracecmd1; or trace-cmd report PATH > trace.txt, and give that",
			"%s: not a trace: it is a recording of trace-cmd", path);
	if (WIFEXITED(status) && WEXITSTATUS(status) == TRACECMD_NO_PLACE)
		return grt_err_set(err, -ENOSPC, strerror(ENOSPC),
				   "TMPDIR=DIR with room for it, before the command's name",
				   "%s: cannot write its events into a temporary file", path);
	return grt_err_set(err, -EPROTO, "its library cannot read it: it is cut or damaged", report,
			   "%s: not a trace: it is a recording of trace-cmd", path);
}
#endif
