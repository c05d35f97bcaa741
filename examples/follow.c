// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Follows a recording while it is made and prints its events, until the recorder is done.
 *	cc -o follow follow.c $(pkg-config --cflags --libs grtrace)
 *	grtrace record -e drm -o run.grt & sleep 1; ./follow run.grt run.grt/drm_[0-9]*
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

static int fds[256], dir, done;

/* A recorder holds the lock of the directory while it writes; what it wrote last is still to be read then. */
static ssize_t read_stream(void *arg, unsigned int i, void *buf, size_t len)
{
	ssize_t n = read(fds[i], buf, len);

	(void)arg;
	return n ? (n < 0 ? -errno : n) : done ? 0 : -EAGAIN;
}

static int on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)c;
	return printf("%" PRIu64 " cpu %" PRIu32 " %s %" PRIu64 ":%" PRIu64 "\n", (uint64_t)e->time, cpu,
		      grt_event_title(e->type), (uint64_t)e->ctx, (uint64_t)e->seqno) < 0;
}

int main(int argc, char **argv)
{
	struct grt_live live = {.read = read_stream};
	struct grt_consumer c = {.event = on_event};
	struct grt_err err = {.what = "usage: follow DIRECTORY FILE..."};
	struct grt_session *session = NULL;
	int ret = argc < 3 || argc > 258 || (dir = open(argv[1], O_RDONLY)) < 0;

	for (; !ret && live.streams + 2 < (unsigned int)argc; live.streams++)
		ret = (fds[live.streams] = open(argv[live.streams + 2], O_RDONLY)) < 0;
	ret = ret ? -1 : grt_session_open_live(&session, &live, &err);
	for (ret = ret ? ret : 1; ret == 1; nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL)) {
		struct timespec now;

		done = !flock(dir, LOCK_EX | LOCK_NB);
		clock_gettime(CLOCK_MONOTONIC, &now);
		/* Most events are in their file within a second; later ones are printed out of order. */
		ret = grt_session_run_live(session, &c,
					   done ? UINT64_MAX : (uint64_t)(now.tv_sec - 1) * 1000000000, &err);
		fflush(stdout);
	}
	if (ret)
		fprintf(stderr, "follow: %s: %s\n", err.what, err.why);
	grt_session_close(session);
	return ret != 0;
}
