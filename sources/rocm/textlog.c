// SPDX-License-Identifier: GPL-2.0
/*
 * Sources whose events come as text, see textlog.h. The thread alone uses the file, the session and the
 * packer; the recorder reads the pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "host/privileges.h"
#include "trace/packer.h"
#include "sources/source.h"
#include "host/tempdir.h"
#include "textlog.h"

#define TEMP_NAME "grtrace"
#define CHUNK (1U << 16)
/* Bytes of packets to request at a time: enough for any packet. */
#define PACKETS (1U << 20)
#define EVENTS_AT_ONCE 4096
#define TICK_MS 1000

struct textlog_settings textlog_settings;

/** struct reading - the consumer of the text's session */
struct reading {
	struct grt_consumer c;
	struct textlog *t;
	struct grt_packer *packer;
	char *buf;
	uint64_t last;
	uint64_t held;
};

/* ------------------------------------------------------------------ the file */

/*
 * The file gets its own directory: in /tmp, which is sticky, root could not open a file that was given to
 * the user (fs.protected_regular=2, as in Debian).
 */
static int make_temp_dir(struct textlog *t, const struct source_setup *setup)
{
	return tempdir_make(t->temp, sizeof(t->temp), TEMP_NAME, setup->uid, setup->gid);
}

/*
 * Makes a file as the user. If the user cannot reach the directory, as root, provided that the name is
 * unused or belongs to a plain file of one of the two.
 */
static int make_file(const char *path, uid_t uid, gid_t gid)
{
	const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	struct stat st;
	int fd;

	as_user_begin(uid, gid);
	fd = open(path, flags | O_CREAT | O_TRUNC, 0600);
	as_user_end();
	if (fd >= 0 || errno != EACCES || uid == (uid_t)-1)
		return fd;
	fd = open(path, flags | O_CREAT, 0600);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 && (!st.st_uid || st.st_uid == uid) &&
	    !ftruncate(fd, 0) && !fchown(fd, uid, gid))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

int textlog_open(struct textlog *t, const char *name, const struct source_setup *setup, struct grt_err *err)
{
	const char *dir = textlog_settings.dir;
	int ret;

	*t = TEXTLOG_NONE;
	t->kept = dir != NULL;
	ret = dir ? 0 : make_temp_dir(t, setup);
	snprintf(t->path, sizeof(t->path), "%s/%s", dir ? dir : t->temp, name);
	if (!ret)
		t->file = make_file(t->path, setup->uid, setup->gid);
	if (t->file < 0)
		return grt_err_set(err, -errno, strerror(errno),
				   t->kept ? "-o DIR that you may write to"
					   : "TMPDIR=DIR that you may write to",
				   "cannot write %s", t->path);
	t->wake = eventfd(0, EFD_CLOEXEC);
	if (t->wake < 0 || pipe2(t->pipe, O_CLOEXEC) || fcntl(t->pipe[0], F_SETFL, O_NONBLOCK))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot make a pipe");
	return 0;
}

/* @done: number of bytes that were written, also if it fails */
static int textlog_write_all(int fd, const char *data, size_t len, size_t *done)
{
	ssize_t n;

	for (*done = 0; *done < len; *done += (size_t)n) {
		n = write(fd, data + *done, len - *done);
		if (n < 0 && errno != EINTR)
			return -errno;
		n = n < 0 ? 0 : n;
	}
	return 0;
}

void textlog_failed(struct textlog *t, int code)
{
	const char *fix = t->kept ? "-o DIR on another disk, or free space"
				  : "TMPDIR=DIR on another disk, or free space";

	if (t->failed)
		return;
	t->failed = code;
	grt_err_set(&t->why, code, strerror(-code), code == -EFBIG ? "ulimit -f unlimited" : fix,
		    "cannot write %s, and events are missing", t->path);
}

/* A part of a line could be taken for another event. */
static void cut_torn_line(struct textlog *t, const char *data, size_t done)
{
	const char *end = memrchr(data, '\n', done);
	size_t torn = end ? done - (size_t)(end + 1 - data) : done;
	off_t size = lseek(t->file, 0, SEEK_CUR) - (off_t)torn;

	if (torn && ftruncate(t->file, size) == 0)
		lseek(t->file, size, SEEK_SET);
}

void textlog_write(struct textlog *t, const char *data, size_t len)
{
	size_t done = 0;
	int ret = t->failed ? t->failed : textlog_write_all(t->file, data, len, &done);

	t->bytes += done;
	if (!ret)
		return;
	cut_torn_line(t, data, done);
	textlog_failed(t, ret);
	for (const char *end = data + len, *p = data + done; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		t->unwritten++;
}

/* ---------------------------------------------------------------- its events */

static int hand_over(struct reading *r, enum grt_pack pack)
{
	const struct grt_packer_counts counts = {.lost = r->t->lost + r->t->late};
	size_t n, done;
	int ret = 0;

	do {
		n = grt_packer_read(r->packer, 0, r->buf, PACKETS, r->last, pack, &counts);
		ret = textlog_write_all(r->t->pipe[1], r->buf, n, &done);
	} while (n && !ret);
	return ret;
}

static int textlog_add_event(struct reading *r, const struct grt_event *e)
{
	const struct grt_ev_name *n = (const struct grt_ev_name *)e;
	char name[sizeof(n->name) + 1] = "", owner[sizeof(n->owner) + 1] = "";

	if (e->type != GRT_EV_NAME)
		return grt_packer_add(r->packer, 0, e);
	memcpy(name, n->name, sizeof(n->name));
	memcpy(owner, n->owner, sizeof(n->owner));
	return grt_packer_name(r->packer, 0, e->time, n->kind, n->id, name, owner);
}

static int textlog_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct reading *r = (struct reading *)c;
	_Alignas(8) char copy[GRT_RECORD_MAX];
	int ret;

	if (r->t->edit && e->type != GRT_EV_NAME) {
		e = memcpy(copy, e, e->size);
		r->t->edit(r->t, (struct grt_event *)copy);
	}
	ret = textlog_add_event(r, e);
	r->last = e->time;
	r->t->events += !ret && e->type != GRT_EV_NAME;
	r->t->late += ret == -ERANGE;
	if (ret && ret != -ERANGE)
		return ret;
	if (++r->held < EVENTS_AT_ONCE)
		return 0;
	r->held = 0;
	return hand_over(r, GRT_PACK_ENOUGH);
}

static void list_skipped(struct textlog *t, const struct grt_session *s)
{
	const struct grt_skipped *list;
	unsigned int n = grt_session_skipped(s, &list);
	size_t used = 0;

	for (unsigned int i = 0; i < n && used < sizeof(t->skipped); i++)
		used += (size_t)snprintf(t->skipped + used, sizeof(t->skipped) - used, "%s%s: %" PRIu64,
					 i ? ", " : "", list[i].name, list[i].events);
}

static int textlog_read_text(struct reading *r)
{
	struct grt_session *s = NULL;
	struct grt_err err = {.what = ""};
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", r->t->file);
	ret = grt_session_open(&s, path, &err);
	/* nothing came, or nothing in a known format: that is reported, and is no failure */
	r->t->empty = ret == -ENODATA || ret == -EINVAL;
	if (r->t->empty)
		return 0;
	if (!ret) {
		ret = grt_session_run(s, &r->c, 0, UINT64_MAX, &err);
		r->t->health = *grt_session_health(s);
		r->t->lost += r->t->health.balance.fate[GRT_FATE_LOST];
		list_skipped(r->t, s);
		grt_session_close(s);
	}
	return ret;
}

static void convert(struct textlog *t)
{
	struct reading r = {.c = {.event = textlog_on_event}, .t = t, .buf = malloc(PACKETS)};
	int ret = r.buf ? grt_packer_new(&r.packer, 1) : -ENOMEM;

	t->lost += t->unwritten;
	if (!ret)
		ret = textlog_read_text(&r);
	if (!ret)
		ret = hand_over(&r, GRT_PACK_ALL);
	/* -EPIPE: the recorder has given up, which it reports itself; -EACCES: it runs as the owner of DIR */
	if (ret && ret != -EPIPE && !t->failed)
		grt_err_set(&t->why, ret, strerror(-ret),
			    ret == -EACCES ? "-o DIR, a directory that does not exist yet" : NULL,
			    "cannot read the text %s", t->path);
	t->failed = t->failed ? t->failed : ret;
	grt_packer_free(r.packer);
	free(r.buf);
}

/* ---------------------------------------------------------------- the thread */

/* Return: number of bytes; 0: at the end, or nothing is available */
static ssize_t copy_some(struct textlog *t, char *buf)
{
	ssize_t n = read(t->in, buf, CHUNK);

	if (n <= 0)
		return 0;
	if (t->copy)
		t->copy(t, buf, (size_t)n);
	else
		textlog_write(t, buf, (size_t)n);
	return n;
}

/* Copies until the end is requested, and then the rest. */
static void copy_all(struct textlog *t)
{
	struct pollfd fds[2] = {{.fd = t->in, .events = POLLIN}, {.fd = t->wake, .events = POLLIN}};
	static _Thread_local char buf[CHUNK];

	while (!fds[1].revents) {
		if (poll(fds, 2, t->tick ? TICK_MS : -1) < 0 && errno != EINTR)
			break;
		if (t->tick)
			t->tick(t);
		/* all writers of the pipe have closed it */
		if (fds[0].revents && !copy_some(t, buf) && !(fds[0].revents & POLLIN))
			fds[0].fd = -1;
	}
	while (t->in >= 0 && copy_some(t, buf) > 0)
		;
	if (t->copy)
		t->copy(t, NULL, 0);
}

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

static void *textlog_run(void *arg)
{
	struct textlog *t = arg;

	/* without this, a process that becomes another user loses its capabilities */
	if (t->keep)
		prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	sem_post(&t->ready);
	wait_for(&t->confined);
	t->not_confined = capabilities_drop(t->keep);
	sem_post(&t->ready);
	copy_all(t);
	if (t->leave)
		t->leave(t);
	convert(t);
	close(t->pipe[1]);
	t->pipe[1] = -1;
	return NULL;
}

int textlog_start(struct textlog *t, int in, struct grt_err *err)
{
	int ret;

	t->in = in;
	if (in >= 0)
		fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
	sem_init(&t->ready, 0, 0);
	sem_init(&t->confined, 0, 0);
	ret = pthread_create(&t->thread, NULL, textlog_run, t);
	if (ret)
		return grt_err_set(err, -ret, strerror(ret), NULL, "cannot start a thread");
	t->running = true;
	wait_for(&t->ready);
	return 0;
}

int textlog_confined(void *state, struct grt_err *err)
{
	struct textlog *t = state;
	int ret;

	sem_post(&t->confined);
	wait_for(&t->ready);
	ret = t->not_confined;
	return ret ? grt_err_set(err, ret, strerror(-ret), NULL, "a thread cannot give up all privileges")
		   : 0;
}

unsigned int textlog_streams(void *state, struct pollfd *fds)
{
	fds[0] = (struct pollfd){.fd = ((struct textlog *)state)->pipe[0], .events = POLLIN};
	return 1;
}

ssize_t textlog_read(void *state, unsigned int i, void *buf, size_t len)
{
	const struct textlog *t = state;
	ssize_t n = read(t->pipe[0], buf, len);

	return n < 0 ? -errno : n;
}

void textlog_stop(struct textlog *t, uint64_t lost)
{
	uint64_t one = 1;

	if (!t->running || t->stopped)
		return;
	t->stopped = true;
	t->lost = lost;
	/* the thread still waits for this if another source could not start */
	sem_post(&t->confined);
	if (write(t->wake, &one, sizeof(one)) < 0)
		t->failed = -errno;
}

const char *textlog_summary(struct textlog *t)
{
	const struct grt_health_text *h = &t->health.text;

	snprintf(t->text, sizeof(t->text),
		 "form=%s lines=%" PRIu64 " events=%" PRIu64 " bad=%" PRIu64 " skipped=%" PRIu64
		 " lost=%" PRIu64 " late=%" PRIu64 " failed=%d",
		 h->form ? h->form : "none", h->lines, t->events, h->bad, h->skipped, t->lost, t->late,
		 -t->failed);
	return t->text;
}

const char *textlog_skipped(const struct textlog *t)
{
	return t->skipped;
}

int textlog_close(struct textlog *t, struct grt_err *err)
{
	textlog_stop(t, 0);
	/* writers that wait for room in the pipe get an error */
	if (t->pipe[0] >= 0)
		close(t->pipe[0]);
	if (t->running)
		pthread_join(t->thread, NULL);
	t->running = false;
	if (t->pipe[1] >= 0)
		close(t->pipe[1]);
	if (t->wake >= 0)
		close(t->wake);
	if (t->file >= 0)
		close(t->file);
	tempdir_remove(t->temp);
	t->pipe[0] = t->pipe[1] = t->wake = t->file = -1;
	return t->why.what[0] ? grt_err_set(err, t->failed, t->why.why, t->why.fix, "%s", t->why.what) : 0;
}
