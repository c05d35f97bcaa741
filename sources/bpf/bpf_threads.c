// SPDX-License-Identifier: GPL-2.0
/* Registers of threads, see bpf_threads.h. */
#include "bpf_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "threads.skel.h"

/* The inode of the kernel's first pid namespace, whose numbers BPF sees: PROC_PID_INIT_INO. */
#define FIRST_NAMESPACE 0xeffffffcU
/* How often a load begins again that stops of the process have ended. */
#define LOADS_MAX 50U

struct grt_bpf_threads {
	struct threads_bpf *skeleton;
	struct bpf_link *link;
};

struct grt_bpf_threads *grt_bpf_threads_open(void)
{
	struct grt_bpf_threads *t;
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino != FIRST_NAMESPACE)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	/* warnings about missing features do not belong into a recording */
	libbpf_set_print(NULL);
	/* a stop of the process ends the kernel's verification, see load_again() in bpf.c; signals are
	 * blocked */
	for (unsigned int n = 0; !t->skeleton && n < LOADS_MAX && (!n || errno == EAGAIN); n++)
		t->skeleton = threads_bpf__open_and_load();
	if (t->skeleton)
		t->link = bpf_program__attach_iter(t->skeleton->progs.thread_registers, NULL);
	if (t->link)
		return t;
	grt_bpf_threads_close(t);
	return NULL;
}

unsigned int grt_bpf_threads_read(struct grt_bpf_threads *t, pid_t pid, struct grt_bpf_registers *out,
				  unsigned int room)
{
	size_t used = 0, most = room * sizeof(*out);
	ssize_t n = 0;
	int fd;

	t->skeleton->bss->wanted = pid;
	fd = bpf_iter_create(bpf_link__fd(t->link));
	while (fd >= 0 && used < most && (n = read(fd, (char *)out + used, most - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	return (unsigned int)(used / sizeof(*out));
}

void grt_bpf_threads_close(struct grt_bpf_threads *t)
{
	if (!t)
		return;
	bpf_link__destroy(t->link);
	threads_bpf__destroy(t->skeleton);
	free(t);
}

#else

struct grt_bpf_threads *grt_bpf_threads_open(void)
{
	return NULL;
}

unsigned int grt_bpf_threads_read(struct grt_bpf_threads *t, pid_t pid, struct grt_bpf_registers *out,
				  unsigned int room)
{
	return 0;
}

void grt_bpf_threads_close(struct grt_bpf_threads *t)
{
}

#endif
