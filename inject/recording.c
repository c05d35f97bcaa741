// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The directory of the recording: who owns it, and which processes may write into it.
 *
 * If a recorder made it, this process has the recording's random number from its environment. A directory of
 * the same name that belongs to another recording has another number. A directory that was removed is not
 * made again.
 *
 * Without a recorder, any number of processes share the directory. Each process holds a shared lock from
 * before it reads the metadata until its end. The process that gets the lock exclusively is the last one.
 * Each process also has a file that shows that it has not ended in an orderly way: a killed process leaves
 * it behind, and then no process declares the recording complete.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

#include "trace/cuda_recording.h"
#include "inject.h"

/* The name of the file of a process that has not ended, without a recorder, with its pid and a number. */
#define ALIVE ".cuda_"
#define METADATA_ROOM ((size_t)64 << 10)
/* How many times to try a lock that a reader holds for a moment, at intervals of 1 ms. */
#define LOCK_TRIES 200

/* The state in the metadata of the directory. */
enum state { STATE_NONE, STATE_RECORDING, STATE_COMPLETE, STATE_FOREIGN };

/**
 * struct recording
 * @path: absolute path of the directory; "": unknown
 * @number: number of the recorder's recording; "": there is none
 * @alive: the file that shows that this process has not ended
 * @seen: the metadata's file when it was last read
 */
static struct {
	char path[4096];
	char number[GRT_CUDA_RECORDING_MAX];
	char alive[48];
	struct stat seen;
	bool own;
} recording;

bool recording_may_open(void)
{
	static int mode = -1;
	int now = prctl(PR_GET_SECCOMP);

	if (mode < 0)
		mode = now;
	return now == mode;
}

uint64_t recording_random(void)
{
	uint64_t n = 0;

	if (syscall(SYS_getrandom, &n, sizeof(n), 1 /* GRND_NONBLOCK */) != sizeof(n) || !n)
		n = (now_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 44) * 0x9e3779b97f4a7c15ULL | 1;
	return n;
}

/* ------------------------------------------------------------ metadata */

static bool recording_write_metadata(const char *state)
{
	struct utsname u;
	char clock[128];
	struct grt_env env[] = {
		{"state", state},
		{"hostname", u.nodename},
		{"kernel", u.release},
		{"machine", u.machine},
		{"tool_version", GRT_VERSION},
		{"command", "libgrtrace-cuda.so"},
		{"clock_start", clock},
		{NULL, NULL},
	};
	uint64_t mono = now_ns(CLOCK_MONOTONIC), real = now_ns(CLOCK_REALTIME);

	uname(&u);
	snprintf(clock, sizeof(clock), "monotonic=%llu realtime=%llu boottime=%llu", (unsigned long long)mono,
		 (unsigned long long)real, (unsigned long long)now_ns(CLOCK_BOOTTIME));
	return !grt_metadata_write(inject.dir, env, (int64_t)(real - mono), NULL);
}

static bool recording_says(const char *text, const char *key, const char *value)
{
	char line[128];

	snprintf(line, sizeof(line), "\t%s = \"%s\"", key, value);
	return strstr(text, line);
}

static enum state recording_state_of(const char *text)
{
	recording.own = recording_says(text, "command", "libgrtrace-cuda.so");
	if (recording.number[0] && !recording_says(text, GRT_CUDA_RECORDING_KEY, recording.number))
		return STATE_FOREIGN;
	if (!recording.number[0] && strstr(text, "\t" GRT_CUDA_RECORDING_KEY " = \""))
		return STATE_FOREIGN;
	return strstr(text, "state = \"recording\"") ? STATE_RECORDING : STATE_COMPLETE;
}

static enum state recording_read_state(void)
{
	int fd = openat(inject.dir, "metadata", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *text = fd >= 0 ? malloc(METADATA_ROOM) : NULL;
	ssize_t n = text && !old_fstatat(fd, "", &recording.seen, AT_EMPTY_PATH)
			    ? read(fd, text, METADATA_ROOM - 1)
			    : -1;
	enum state state = STATE_NONE;

	if (fd >= 0)
		close(fd);
	if (n >= 0) {
		text[n] = '\0';
		state = recording_state_of(text);
	}
	free(text);
	return state;
}

/* ------------------------------------------------------------ writers */

/* Return: whether the lock is held; on a file system without locks, all locks succeed */
static bool inject_recording_lock_dir(int how)
{
	struct timespec moment = {.tv_nsec = 1000000};

	for (int i = 0; i < LOCK_TRIES; i++, nanosleep(&moment, NULL))
		if (!flock(inject.dir, how | LOCK_NB))
			return true;
		else if (errno != EWOULDBLOCK)
			break;
	return errno != EWOULDBLOCK;
}

static bool recording_say_alive(void)
{
	int fd = -1;

	for (unsigned int n = 0; fd < 0 && n < 1000000; n++) {
		snprintf(recording.alive, sizeof(recording.alive), ALIVE "%d_%u", inject.pid, n);
		fd = openat(inject.dir, recording.alive, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd >= 0)
		close(fd);
	else
		recording.alive[0] = '\0';
	return fd >= 0;
}

/* Return: whether a process that began here has not ended in an orderly way. */
static bool recording_any_alive(void)
{
	DIR *d = fdopendir(openat(inject.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	bool any = !d;

	while (d && !any && (e = readdir(d)))
		any = !strncmp(e->d_name, ALIVE, strlen(ALIVE));
	if (d)
		closedir(d);
	return any;
}

/* Without a recorder: joins the other writing processes, or begins the recording. */
static bool recording_join(void)
{
	enum state state;

	/* while a writer holds this lock, readers ignore the last packet of a file */
	inject_recording_lock_dir(LOCK_SH);
	state = recording_read_state();
	if (state == STATE_FOREIGN || (state == STATE_COMPLETE && !recording.own))
		return false;
	inject.recorder = state == STATE_RECORDING && !recording.own;
	if (inject.recorder) {
		flock(inject.dir, LOCK_UN);
		return true;
	}
	recording.own = true;
	recording_say_alive();
	/* while this process holds the lock, no other one declares the recording complete */
	return state == STATE_RECORDING || recording_write_metadata("recording");
}

/* Reads "NUMBER:PATH" from the recorder; the number is valid for this path only. */
static void recording_take_number(const char *path)
{
	const char *given = secure_getenv(GRT_CUDA_RECORDING_ENV), *colon = given ? strchr(given, ':') : NULL;

	if (!colon || strcmp(colon + 1, path) || (size_t)(colon - given) >= sizeof(recording.number))
		return;
	memcpy(recording.number, given, (size_t)(colon - given));
}

static void recording_disconnect(void)
{
	owned_close(inject.pipe, &inject.pipe_is);
	inject.pipe = -1;
}

static bool recording_is_disconnected(void)
{
	struct pollfd p = {.fd = inject.pipe};

	return !owned_is(inject.pipe, &inject.pipe_is) ||
	       (poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP));
}

/*
 * If the recorder keeps packets in memory or in segments, they go to its socket. Return: whether it takes
 * them, or there is no socket
 */
static bool recording_connect(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	if (!inject.recorder || faccessat(inject.dir, GRT_CUDA_SOCKET, F_OK, 0))
		return true;
	/* the recording's path may be longer than a socket's address can be */
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/" GRT_CUDA_SOCKET, inject.dir);
	inject.pipe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (inject.pipe < 0)
		return false;
	inject.pipe_is = owned_note(inject.pipe);
	if (connect(inject.pipe, (const struct sockaddr *)&to, sizeof(to)) ||
	    fcntl(inject.pipe, F_SETFL, O_NONBLOCK)) {
		recording_disconnect();
		return false;
	}
	return true;
}

static bool recording_open_dir(const char *path)
{
	char at[32];
	ssize_t n;

	inject.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (inject.dir < 0)
		return false;
	inject.dir_is = owned_note(inject.dir);
	/* the program may change its working directory */
	snprintf(at, sizeof(at), "/proc/self/fd/%d", inject.dir);
	n = readlink(at, recording.path, sizeof(recording.path) - 1);
	recording.path[n > 0 ? n : 0] = '\0';
	return true;
}

bool recording_has_dir(void)
{
	int fd;

	if (owned_is(inject.dir, &inject.dir_is))
		return true;
	inject.dir = -1;
	fd = recording_may_open() ? open(recording.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	if (!owned_is(fd, &inject.dir_is)) {
		close(fd);
		return false;
	}
	inject.dir = fd;
	if (recording.own)
		inject_recording_lock_dir(LOCK_SH);
	return true;
}

bool recording_open(const char *path)
{
	recording_take_number(path);
	if (!recording.number[0] && mkdir(path, 0700) && errno != EEXIST)
		return false;
	if (!recording_open_dir(path))
		return false;
	if (!recording.number[0] ? recording_join() : recording_read_state() == STATE_RECORDING) {
		inject.recorder |= recording.number[0] != '\0';
		if (recording_connect() && recording_state() == RECORDING_GOES_ON)
			return true;
		recording_disconnect();
		return false;
	}
	close(inject.dir);
	inject.dir = -1;
	return false;
}

enum recording_state recording_state(void)
{
	struct stat st;

	if (inject.asked)
		return dormant_state();
	if (!inject.recorder)
		return RECORDING_GOES_ON;
	if (inject.pipe >= 0 && recording_is_disconnected())
		return RECORDING_IS_OVER;
	/* the request cannot be read */
	if (!recording_has_dir())
		return RECORDING_GOES_ON;
	/* the file was replaced or removed, so its contents may have changed */
	if (old_fstatat(inject.dir, "metadata", &st, AT_SYMLINK_NOFOLLOW) ||
	    st.st_ino != recording.seen.st_ino || st.st_mtim.tv_sec != recording.seen.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != recording.seen.st_mtim.tv_nsec)
		if (recording_read_state() != STATE_RECORDING)
			return RECORDING_IS_OVER;
	return faccessat(inject.dir, GRT_CUDA_STOP, F_OK, 0) ? RECORDING_GOES_ON : RECORDING_ENDS;
}

void recording_end(void)
{
	if (inject.asked)
		dormant_close_pipe();
	recording_disconnect();
	if (!recording.own || !recording_has_dir())
		return;
	if (recording.alive[0] && recording_may_open())
		unlinkat(inject.dir, recording.alive, 0);
	recording.own = false;
	if (!recording_may_open())
		return;
	if (inject_recording_lock_dir(LOCK_EX) && !recording_any_alive())
		recording_write_metadata("complete");
	flock(inject.dir, LOCK_UN);
}
