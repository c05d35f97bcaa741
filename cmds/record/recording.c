// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the directory and the files of a recording, and appends packets to them. What existed before is only
 * renamed or removed if it is a recording.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/privileges.h"
#include "base/containers.h"
#include "trace/cuda_recording.h"
#include "trace/metadata.h"
#include "trace/packet.h"
#include "trace/segment.h"
#include "cmds/outfile.h"
#include "recording.h"

#define PATH_ROOM 4096

/* A segment that has no metadata yet. */
#define SEGMENT_NEW ".segment.new"

static int remove_segment(int dir, const char *name);

/* Kinds of contents of a directory that would be replaced. */
enum dir_kind { DIR_EMPTY, DIR_RECORDING, DIR_FOREIGN };

/* SOURCE_N, or metadata, or what a crash left of metadata or of a recorder. */
static bool is_our_name(const char *name)
{
	const char *number = strrchr(name, '_');

	/* recordings of a black box are never replaced */
	if (!strncmp(name, GRT_SNAPSHOT "_", strlen(GRT_SNAPSHOT "_")))
		return false;
	if (!strcmp(name, "metadata") || grt_metadata_is_new(name) || !strcmp(name, GRT_CUDA_STOP) ||
	    !strcmp(name, GRT_CUDA_SOCKET) || !strcmp(name, SEGMENT_NEW))
		return true;
	return number && number[1] && strspn(number + 1, "0123456789") == strcspn(number + 1, ".") &&
	       (!strchr(number, '.') || !strcmp(strchr(number, '.'), GRT_PACKED_SUFFIX));
}

/* Reads the beginning of a regular file. Return: its length, or -1 */
static ssize_t recording_read_head(int dir, const char *name, char *text, size_t room)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? read(fd, text, room - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n;
}

static bool is_our_metadata(int dir)
{
	char text[8192];

	return recording_read_head(dir, "metadata", text, sizeof(text)) > 0 &&
	       !strncmp(text, GRT_METADATA_HEAD, strlen(GRT_METADATA_HEAD)) && strstr(text, "grtrace");
}

/*
 * Directories that a recorder left behind because it was killed before it had anything: the next one removes
 * them.
 */
static bool is_begun(int dir, const char *name)
{
	char text[sizeof(GRT_METADATA_HEAD)];
	ssize_t n = grt_metadata_is_new(name) ? recording_read_head(dir, name, text, sizeof(text)) : -1;

	return n >= 0 && !strncmp(text, GRT_METADATA_HEAD, (size_t)n);
}

static bool is_segment(const char *name)
{
	return grt_segment_number(name) || !strcmp(name, SEGMENT_NEW);
}

static int open_segment(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A segment with foreign files makes the whole directory foreign. */
static bool is_our_segment(int dir, const char *name)
{
	int fd = is_segment(name) ? open_segment(dir, name) : -1;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	bool ours = true;
	struct dirent *e;

	if (!d)
		return true;
	while (ours && (e = readdir(d)))
		ours = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		       (is_our_name(e->d_name) && !is_segment(e->d_name));
	closedir(d);
	return ours;
}

static enum dir_kind dir_kind(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	enum dir_kind kind = DIR_EMPTY;
	bool others = false;
	struct dirent *e;

	if (!d)
		return DIR_FOREIGN;
	errno = 0;
	while (kind != DIR_FOREIGN && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) {
			kind = is_our_name(e->d_name) && is_our_segment(dir, e->d_name) ? DIR_RECORDING
											: DIR_FOREIGN;
			others |= !is_begun(dir, e->d_name);
		}
	closedir(d);
	if (kind != DIR_RECORDING || is_our_metadata(dir))
		return kind;
	return others ? DIR_FOREIGN : DIR_EMPTY;
}

static int open_dir(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool has_snapshots(const char *path)
{
	int dir = open_dir(path);
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	bool found = false;
	struct dirent *e;

	while (d && !found && (e = readdir(d)))
		found = !strncmp(e->d_name, GRT_SNAPSHOT "_", strlen(GRT_SNAPSHOT "_"));
	if (d)
		closedir(d);
	return found;
}

/* Or the directory could not be read: dir_kind() then leaves errno like this. */
static int recording_not_ours(const char *path, struct grt_err *err)
{
	if (errno == EMFILE || errno == ENFILE)
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot look into %s", path);
	return grt_err_set(err, -EEXIST,
			   has_snapshots(path) ? "it has snapshots of a black box, which are never replaced"
					       : "it exists and has files that are not part of a recording",
			   "another name with -o, or move it away", "cannot replace %s", path);
}

/* Half a second in all. */
#define LOCK_TRIES 25U
#define LOCK_NS 20000000L

/*
 * A recorder holds the lock as long as it writes, as does CUDA's library if it writes without a recorder.
 * Closing the directory releases it.
 */
static int recording_lock_dir(int dir, const char *doing, const char *path, struct grt_err *err)
{
	/* a reader has the lock only for a moment */
	for (unsigned int i = 0; i < LOCK_TRIES; i++, nanosleep(&(struct timespec){.tv_nsec = LOCK_NS}, NULL))
		if (!flock(dir, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return 0;
	return grt_err_set(err, -EBUSY, "another grtrace has it open", "another name with -o", "cannot %s %s",
			   doing, path);
}

static void remove_files(int dir)
{
	DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_our_name(e->d_name) && unlinkat(dir, e->d_name, 0) && is_segment(e->d_name))
			remove_segment(dir, e->d_name);
	if (d)
		closedir(d);
}

/* A segment has no segments itself. Return: 0 or -errno */
static int remove_segment(int dir, const char *name)
{
	int fd = open_segment(dir, name);

	if (fd < 0)
		return -errno;
	remove_files(fd);
	close(fd);
	return unlinkat(dir, name, AT_REMOVEDIR) ? -errno : 0;
}

/* Removes metadata that other recorders began to write; the lock ensures that none is writing it now. */
static void remove_begun(int dir)
{
	DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_begun(dir, e->d_name))
			unlinkat(dir, e->d_name, 0);
	if (d)
		closedir(d);
}

/* Removes a directory that has been found to contain a recording and nothing else. */
static int remove_recording(const char *path, int dir)
{
	remove_files(dir);
	return rmdir(path) ? -errno : 0;
}

void recording_discard(struct recording *r)
{
	if (r->dir < 0)
		return;
	remove_files(r->dir);
	if (!r->made)
		return;
	as_user_begin_at(r->uid, r->gid, r->path);
	rmdir(r->path);
	as_user_end();
}

/* Makes room for PATH.old. */
static int remove_old_dir(const char *old, struct grt_err *err)
{
	int dir = open_dir(old), ret = 0;

	if (dir < 0)
		return errno == ENOENT ? 0 : recording_not_ours(old, err);
	if (dir_kind(dir) == DIR_FOREIGN)
		ret = recording_not_ours(old, err);
	else
		ret = recording_lock_dir(dir, "replace", old, err);
	if (!ret) {
		ret = remove_recording(old, dir);
		if (ret)
			grt_err_set(err, ret, strerror(-ret), NULL, "cannot remove %s", old);
	}
	close(dir);
	return ret;
}

static int rename_to_old(const char *path, const char *old, struct grt_err *err)
{
	if (!rename(path, old))
		return 0;
	return grt_err_set(err, -errno, strerror(errno), NULL, "cannot rename %s to %s", path, old);
}

/* Return: 1: an empty directory can be used, 0: the name is free now, or -errno. */
static int recording_make_room(const char *path, struct grt_err *err)
{
	char old[PATH_ROOM + 8];
	int dir = open_dir(path), ret;
	enum dir_kind kind;

	if (dir < 0)
		return errno == ENOENT ? 0 : recording_not_ours(path, err);
	kind = dir_kind(dir);
	if (kind == DIR_RECORDING) {
		snprintf(old, sizeof(old), "%s.old", path);
		ret = recording_lock_dir(dir, "replace", path, err) ?: remove_old_dir(old, err);
		ret = ret ?: rename_to_old(path, old, err);
	} else {
		ret = kind == DIR_EMPTY ? 1 : recording_not_ours(path, err);
	}
	close(dir);
	return ret;
}

/* If this fails, the file still belongs to root, which is safe, and only less convenient. */
static void give(const struct recording *r, int dir, const char *name, int flags)
{
	if (r->uid != (uid_t)-1 && fchownat(dir, name, r->uid, r->gid, flags | AT_SYMLINK_NOFOLLOW) < 0)
		errno = 0;
}

void recording_give(struct recording *r, const char *name)
{
	give(r, r->dir, name, 0);
}

static void set_path(struct recording *r, const char *path)
{
	*r = (struct recording){.path = path,
				.dir = -1,
				.at = -1,
				.uid = (uid_t)-1,
				.gid = (gid_t)-1,
				.box = r->box,
				.segments = r->segments};
	/* Under sudo, it belongs to the calling user, who can then read it without sudo. */
	privileges_user(&r->uid, &r->gid);
}

static int owner_of(int dir, uid_t *uid, gid_t *gid)
{
	struct stat st;

	if (fstat(dir, &st))
		return -errno;
	*uid = st.st_uid ? st.st_uid : (uid_t)-1;
	*gid = st.st_gid;
	return 0;
}

/* The files belong to the owner of the directory, even if it existed before. */
static int set_owner(struct recording *r)
{
	return geteuid() ? 0 : owner_of(r->dir, &r->uid, &r->gid);
}

void recording_owner(const char *path, uid_t *uid, gid_t *gid)
{
	int dir = geteuid() ? -1 : open_dir(path);

	*uid = (uid_t)-1;
	*gid = (gid_t)-1;
	if (dir < 0 || dir_kind(dir) != DIR_EMPTY || owner_of(dir, uid, gid))
		privileges_user(uid, gid);
	if (dir >= 0)
		close(dir);
}

/*
 * Enters a directory, which may have been a black box's; a recording in it is renamed. Return: as
 * recording_make_room()
 */
static int recording_enter_box(const char *path, struct grt_err *err)
{
	char text[8192];
	int dir = open_dir(path);
	bool was_box;

	if (dir < 0)
		return errno == ENOENT ? 0 : recording_not_ours(path, err);
	was_box =
		recording_read_head(dir, "metadata", text, sizeof(text)) > 0 && strstr(text, "black_box = ");
	close(dir);
	return was_box ? 1 : recording_make_room(path, err);
}

unsigned long recording_snapshots(const struct recording *r)
{
	DIR *d = fdopendir(openat(r->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const char *prefix = GRT_SNAPSHOT "_";
	unsigned long most = 0, number;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		number = strncmp(e->d_name, prefix, strlen(prefix))
				 ? 0
				 : strtoul(e->d_name + strlen(prefix), NULL, 10);
		most = number > most ? number : most;
	}
	if (d)
		closedir(d);
	return most;
}

/* Creates it, or uses an empty one, as the user who called sudo. Return: 0 or -errno */
static int make_dir(struct recording *r, const char *name, struct grt_err *err)
{
	bool as_user = as_user_begin_at(r->uid, r->gid, name);
	int ret = r->box ? recording_enter_box(name, err) : recording_make_room(name, err);

	if (!ret && mkdir(name, 0700))
		ret = grt_err_set(err, -errno, strerror(errno), outfile_fix(errno),
				  "cannot make the directory %s", name);
	if (ret >= 0) {
		r->made = !ret;
		r->dir = r->at = open_dir(name);
		if (r->dir < 0)
			ret = grt_err_set(err, -errno, strerror(errno), NULL, "cannot open %s", name);
	}
	as_user_end();
	/* made by root, in a place where no other user may write */
	if (ret >= 0 && r->made && !as_user)
		give(r, r->dir, "", AT_EMPTY_PATH);
	return ret < 0 ? ret : 0;
}

/* Nothing in it is removed. */
static int take_no_dir(struct recording *r, uid_t owner, const char *name, struct grt_err *err)
{
	close(r->dir);
	r->dir = r->at = -1;
	return grt_err_set(err, -EACCES,
			   owner ? "it belongs to another user"
				 : "it belongs to root, and a link of another user may lead there",
			   "-o DIR, where DIR is new or your own", "cannot record into %s", name);
}

/*
 * A directory is used if it belongs to this user. One of root is used if the user cannot have led there: by a
 * link, or by another directory in the place of the one that was just made.
 */
static int take_dir(struct recording *r, const char *name, struct grt_err *err)
{
	struct stat st;

	if (fstat(r->dir, &st))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot open %s", name);
	if (r->uid != (uid_t)-1 && st.st_uid != r->uid && (st.st_uid || !as_user_is_roots(r->dir, name)))
		return take_no_dir(r, st.st_uid, name, err);
	/* root's own directory stays visible to others; the files are only for their owner */
	if ((r->made || st.st_uid || r->uid == (uid_t)-1) && fchmod(r->dir, 0700))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot open %s", name);
	return 0;
}

int recording_open_dir(struct recording *r, const char *path, struct grt_err *err)
{
	char name[PATH_ROOM];
	size_t length = strlen(path);
	int ret;

	set_path(r, path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	if (!length || length + 8 > sizeof(name))
		return grt_err_set(err, -EINVAL, "no usable name", NULL, "cannot write '%s'", path);
	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	ret = make_dir(r, name, err);
	if (!ret)
		ret = take_dir(r, name, err);
	if (ret)
		return ret;
	/* readers leave an unfinished last packet alone while this lock is held */
	ret = recording_lock_dir(r->dir, "record into", name, err);
	if (ret)
		return ret;
	if (set_owner(r))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot open %s", name);
	remove_begun(r->dir);
	r->seekable = true;
	return 0;
}

static struct recording_file *new_file(struct recording *r)
{
	if (grt_grow_one(&r->files, r->count))
		return NULL;
	r->files[r->count] = (struct recording_file){.fd = -1};
	return &r->files[r->count++];
}

/* A raw file may be renamed or replaced if it is empty or begins with a packet. */
static bool is_raw(const char *path, const struct stat *st)
{
	uint32_t magic = 0;
	int fd;

	if (!S_ISREG(st->st_mode) || !st->st_size)
		return S_ISREG(st->st_mode);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && read(fd, &magic, sizeof(magic)) < 0)
		magic = 0;
	if (fd >= 0)
		close(fd);
	return magic == GRT_PACKET_MAGIC;
}

static int make_room_raw(const char *path, struct grt_err *err)
{
	char old[PATH_ROOM + 8];
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT
			       ? 0
			       : grt_err_set(err, -errno, strerror(errno), NULL, "cannot write %s", path);
	if (!S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	if (!is_raw(path, &st))
		return recording_not_ours(path, err);
	snprintf(old, sizeof(old), "%s.old", path);
	if (!lstat(old, &st) && !is_raw(old, &st))
		return recording_not_ours(old, err);
	return rename_to_old(path, old, err);
}

int recording_open_raw(struct recording *r, const char *path, struct grt_err *err)
{
	struct recording_file *f;
	struct stat st;
	int ret;

	set_path(r, path);
	f = new_file(r);
	if (!f)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for %s", path);
	as_user_begin_at(r->uid, r->gid, path);
	ret = strcmp(path, "-") ? make_room_raw(path, err) : 0;
	if (!ret)
		f->fd = strcmp(path, "-") ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)
					  : dup(STDOUT_FILENO);
	as_user_end();
	if (ret)
		return ret;
	if (f->fd < 0 || fstat(f->fd, &st))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot write %s", path);
	snprintf(f->name, sizeof(f->name), "packets");
	r->seekable = S_ISREG(st.st_mode) && strcmp(path, "-");
	/* a link was accepted: it may lead to a device or a FIFO */
	if (r->seekable && st.st_size)
		return grt_err_set(err, -EEXIST, "it is a link to a file that is not empty",
				   "another name with --raw", "cannot replace %s", path);
	return 0;
}

int recording_name_file(struct recording *r, const char *source, unsigned int index, struct grt_err *err)
{
	struct recording_file *f = new_file(r);

	if (!f)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for %s", r->path);
	snprintf(f->name, sizeof(f->name), "%s_%u", source, index);
	f->late = true;
	return (int)r->count - 1;
}

static int recording_make_file(struct recording *r, struct recording_file *f, struct grt_err *err)
{
	f->fd = recording_create(r, f->name);
	return f->fd < 0 ? grt_err_set(err, f->fd, strerror(-f->fd), NULL, "cannot write %s/%s", r->path,
				       f->name)
			 : 0;
}

int recording_add_file(struct recording *r, const char *source, unsigned int index, struct grt_err *err)
{
	int i = recording_name_file(r, source, index, err), ret;

	if (i < 0)
		return i;
	r->files[i].late = false;
	/* files of segments are made with each segment */
	ret = r->segments ? 0 : recording_make_file(r, &r->files[i], err);
	return ret ?: i;
}

int recording_create(const struct recording *r, const char *name)
{
	int fd = openat(r->at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	give(r, fd, "", AT_EMPTY_PATH);
	return fd;
}

int recording_name_dir(struct recording *r, const char *name)
{
	return renameat(r->dir, SEGMENT_NEW, r->dir, name);
}

int recording_enter_dir(struct recording *r)
{
	bool as_user = as_user_begin_in(r->uid, r->gid, r->dir);
	int ret = mkdirat(r->dir, SEGMENT_NEW, 0700), fd;

	as_user_end();
	fd = ret ? -1 : open_segment(r->dir, SEGMENT_NEW);
	if (fd < 0)
		return -errno;
	if (!as_user)
		give(r, fd, "", AT_EMPTY_PATH);
	if (r->at != r->dir)
		close(r->at);
	r->at = fd;
	return 0;
}

int recording_remove_dir(struct recording *r, const char *name)
{
	return remove_segment(r->dir, name);
}

int recording_write_metadata(const struct recording *r, int dir, const struct grt_env *env,
			     int64_t realtime_offset, struct grt_err *err)
{
	bool as_user = as_user_begin_in(r->uid, r->gid, dir);
	int ret = grt_metadata_write(dir, env, realtime_offset, err);

	as_user_end();
	/* made by root, in a place where no other user may write */
	if (!ret && !as_user)
		give(r, dir, "metadata", 0);
	return ret;
}

void recording_count_packet(void *arg, const struct grt_packet *p)
{
	struct recording *r = arg;

	r->events += grt_packet_fate(p, GRT_FATE_DELIVERED);
	r->lost += grt_packet_fate(p, GRT_FATE_LOST);
}

static int recording_write_error(struct recording *r, struct recording_file *f, int code, struct grt_err *err)
{
	const char *fix = NULL;

	if (code == ENOSPC || code == EDQUOT)
		fix = "another disk with -o, or free space";
	if (code == EFBIG)
		fix = "ulimit -f unlimited";
	if (r->dir < 0)
		return grt_err_set(err, -code, strerror(code), fix, "cannot write %s",
				   strcmp(r->path, "-") ? r->path : "standard output");
	return grt_err_set(err, -code, strerror(code), fix, "cannot write %s/%s", r->path, f->name);
}

int recording_write(struct recording *r, unsigned int i, const void *data, size_t len, struct grt_err *err)
{
	struct recording_file *f = &r->files[i];
	size_t done = 0, whole;
	ssize_t n = 0;

	if (r->segments)
		return segments_write(r, i, data, len, err);
	if (f->fd < 0 && f->late && recording_make_file(r, f, err))
		return f->fd;
	while (done < len) {
		n = write(f->fd, (const char *)data + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		done += (size_t)n;
	}
	n = n < 0 ? errno : 0;
	whole = meter_feed(&f->meter, data, done, recording_count_packet, r);
	if (whole)
		f->whole = f->bytes + whole;
	f->bytes += done;
	return n ? recording_write_error(r, f, (int)n, err) : 0;
}

/**
 * struct adopting - a file that others have written
 * @to: how many of its bytes stay, so far
 */
struct adopting {
	struct recording *r;
	struct grt_cut *cut;
	int fd;
	uint64_t size;
	uint64_t to;
};

/*
 * Writes a packet that reaches beyond the window, or that follows a packet which became shorter. Return: 0
 * or -errno
 */
static int adopt_changed(struct adopting *a, struct grt_packet *p, uint64_t at, uint64_t length)
{
	char *whole = malloc(length);
	ssize_t left = -EIO;

	if (!whole)
		return -ENOMEM;
	if (pread(a->fd, whole, length, (off_t)at) == (ssize_t)length)
		left = grt_cut_packet(a->cut, (struct grt_packet *)whole);
	if (left > 0 && pwrite(a->fd, whole, (size_t)left, (off_t)a->to) != left)
		left = -errno;
	memcpy(p, whole, sizeof(*p));
	free(whole);
	if (left < 0)
		return (int)left;
	a->to += (uint64_t)left;
	return 0;
}

/* A file whose writer continues is counted, and not changed. Return: 0 or -errno */
static int adopt_packets(struct adopting *a, bool written)
{
	struct grt_packet p;
	uint64_t at = 0, length;
	int ret = 0;

	while (!ret && a->size - at >= sizeof(p) && pread(a->fd, &p, sizeof(p), (off_t)at) == sizeof(p)) {
		length = p.packet_size / 8;
		if (grt_packet_look(&p) != GRT_LOOK_PACKET || length > a->size - at)
			break;
		if (!written && (a->to < at || p.timestamp_end > a->cut->window.to))
			ret = adopt_changed(a, &p, at, length);
		else
			a->to += length;
		recording_count_packet(a->r, &p);
		at += length;
	}
	return ret;
}

static int adopt_file(struct recording *r, const char *name, struct grt_cut *cut, struct grt_err *err)
{
	struct adopting a = {.r = r, .cut = cut, .fd = -1};
	struct stat st;
	bool written;
	int ret = 0;

	a.fd = openat(r->dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (a.fd < 0 || fstat(a.fd, &st))
		ret = -errno;
	/* one with a second name may be someone else's */
	if (!ret && S_ISREG(st.st_mode) && st.st_nlink == 1) {
		/* a writer that is still alive has promised to stop: then the file is not changed */
		written = flock(a.fd, LOCK_EX | LOCK_NB);
		a.size = (uint64_t)st.st_size;
		/* each file is counted separately */
		grt_cut_free(cut);
		ret = adopt_packets(&a, written);
		if (!ret && !written && a.to < a.size && ftruncate(a.fd, (off_t)a.to))
			ret = -errno;
		r->adopted += a.to;
		give(r, a.fd, "", AT_EMPTY_PATH);
	}
	if (a.fd >= 0)
		close(a.fd);
	return ret ? grt_err_set(err, ret, strerror(-ret), NULL, "cannot add %s/%s to the recording", r->path,
				 name)
		   : 0;
}

int recording_adopt(struct recording *r, const char *source, struct grt_cut *cut, struct grt_err *err)
{
	size_t length = strlen(source);
	struct dirent *e;
	DIR *d;
	int ret = 0;

	if (r->dir < 0)
		return 0;
	d = fdopendir(openat(r->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	while (d && !ret && (e = readdir(d)))
		if (!strncmp(e->d_name, source, length) && e->d_name[length] == '_' &&
		    strchr(e->d_name + length + 1, '_') && is_our_name(e->d_name))
			ret = adopt_file(r, e->d_name, cut, err);
	if (d)
		closedir(d);
	return ret;
}

uint64_t recording_bytes(const struct recording *r)
{
	uint64_t bytes = r->adopted;
	unsigned int i;

	for (i = 0; i < r->count; i++)
		bytes += r->files[i].bytes;
	return bytes;
}

bool recording_counted(const struct recording *r)
{
	unsigned int i;

	for (i = 0; i < r->count; i++)
		if (r->files[i].meter.lost_track)
			return false;
	return true;
}

/*
 * Bytes that are not packets are left for the reader to judge, but the beginning of a packet without its end
 * is removed.
 */
static int cut_to_whole(struct recording *r, struct recording_file *f)
{
	if (!r->seekable || r->segments || f->meter.lost_track || f->whole == f->bytes)
		return 0;
	f->bytes = f->whole;
	return ftruncate(f->fd, (off_t)f->whole) ? errno : 0;
}

int recording_close_files(struct recording *r)
{
	int code = 0;

	for (unsigned int i = 0; i < r->count; i++) {
		if (r->files[i].fd >= 0 && close(r->files[i].fd))
			code = -errno;
		r->files[i].fd = -1;
	}
	return code;
}

int recording_finish(struct recording *r, struct grt_err *err)
{
	struct recording_file *f;
	int ret = 0, code;
	unsigned int i;

	for (i = 0; i < r->count; i++) {
		f = &r->files[i];
		if (f->fd < 0)
			continue;
		code = cut_to_whole(r, f);
		if (close(f->fd) && !code)
			code = errno;
		f->fd = -1;
		if (code)
			ret = recording_write_error(r, f, code, err);
	}
	return ret;
}

void recording_close(struct recording *r)
{
	recording_finish(r, NULL);
	if (r->at >= 0 && r->at != r->dir)
		close(r->at);
	if (r->dir >= 0)
		close(r->dir);
	r->dir = -1;
	free(r->files);
	*r = (struct recording){.dir = -1, .at = -1};
}
