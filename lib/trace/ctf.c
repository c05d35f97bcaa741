// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A recording: a CTF directory made by grtrace. Only the environment in its metadata is read; the format's
 * number determines the layout of packets.
 *
 * An incomplete last packet, as after a crash, is skipped. On request it is cut off, so that strict readers
 * can open the directory, but only if no packet follows, and no recorder holds the directory's lock.
 *
 * The recorder of a bounded recording deletes segments while the recording is read: it replaces the metadata
 * first, and deletes the files then. The reader opens all files before it reads one. If the metadata was
 * replaced meanwhile, it opens all files again, so that the metadata describes them. Open files stay
 * readable.
 */
#define _GNU_SOURCE 1
#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <grtrace/event_table.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err_path.h"
#include "base/containers.h"
#include "parts.h"
#include "segment.h"

#define METADATA_MAX (1U << 20)
/* The reader opens the files at most this often, if segments are deleted each time. */
#define ATTEMPTS_MAX 100U

/** struct source_sum - events that were offered, according to the packets of one source */
struct source_sum {
	char name[32];
	uint64_t emitted;
};

/**
 * struct ctf_file - a file of packets, or the files of this name in all segments
 * @first, @last: paths of the first and the last one in the recording
 * @st: of the last one
 */
struct ctf_file {
	char name[NAME_MAX + 1];
	char first[2 * NAME_MAX + 2];
	char last[2 * NAME_MAX + 2];
	struct stat st;
	struct grt_parts *parts;
};

/* The directory while it is being opened. */
struct ctf_dir {
	struct grt_session *s;
	int fd;
	bool recording;	      /* a process is still writing */
	struct stat metadata; /* that was read */
	struct ctf_file *file;
	unsigned int files;
	unsigned int segments;
	struct source_sum *source;
	unsigned int sources;
};

static bool ctf_takes(const struct stat *st, const char *head, size_t len)
{
	return S_ISDIR(st->st_mode);
}

static int ctf_open_failed(const struct grt_session *s, const char *name, int code, struct grt_err *err)
{
	const char *fix = code == -EACCES ? "read it as the user who recorded it, or with sudo"
					  : "ls -la PATH: a recording has its metadata and files of packets";

	return grt_err_set(err, code, strerror(-code), fix, "%s/%s: cannot open", s->path, name);
}

/* Opens a regular file of the directory; a FIFO must not block it, a link must not lead out of it. */
static int ctf_open_file(const struct ctf_dir *d, const char *name, struct stat *st, struct grt_err *err)
{
	int fd = openat(d->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 && errno == ELOOP)
		return grt_err_set(err, -EINVAL, "it is a symbolic link", "move it out of the recording",
				   "%s/%s: not a file of packets", d->s->path, name);
	if (fd < 0 || fstat(fd, st)) {
		int code = -errno;

		if (fd >= 0)
			close(fd);
		return ctf_open_failed(d->s, name, code, err);
	}
	return fd;
}

static int ctf_not_ours(const struct ctf_dir *d, const char *why, struct grt_err *err)
{
	return grt_err_set(err, -EINVAL, why, "babeltrace2 PATH, which reads traces of other programs",
			   "%s: not a grtrace recording", d->s->path);
}

/* Whether rocprofv3 wrote the directory: any of its tables is an input, and the others are found beside it.
 */
static bool ctf_has_rocprof(const struct ctf_dir *d)
{
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e = NULL;
	bool found;

	while (dir && (e = readdir(dir)) &&
	       fnmatch("*_@(kernel_trace.csv|results.json)", e->d_name, FNM_EXTMATCH))
		;
	found = e;
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return found;
}

/* Directories of tables have one for each table, and each has the table of what is known about the recording.
 */
static int ctf_without_metadata(const struct ctf_dir *d, struct grt_err *err)
{
	struct stat st;

	if (!fstatat(d->fd, "meta", &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode))
		return grt_err_set(err, -EINVAL, "it has tables that grtrace export wrote",
				   "grtrace fleet PATH, where they are Parquet; the recording has the events",
				   "%s: not a grtrace recording", d->s->path);
	if (ctf_has_rocprof(d))
		return grt_err_set(
			err, -EINVAL, "it has tables of rocprofv3",
			"one of them, such as PATH/NUMBER_kernel_trace.csv; those beside it are read with it",
			"%s: not a grtrace recording", d->s->path);
	return ctf_not_ours(d, "it has no metadata file", err);
}

static ssize_t ctf_read_text(int fd, char *text, size_t room)
{
	size_t used = 0;
	ssize_t n;

	while ((n = read(fd, text + used, room - used)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

static int check_env(const struct ctf_dir *d, struct grt_err *err)
{
	const char *tracer = grt_env_get(&d->s->env, "tracer_name");
	const char *format = grt_env_get(&d->s->env, "grtrace_format");
	unsigned long n = format ? strtoul(format, NULL, 0) : 0;

	if (!tracer || strcmp(tracer, "grtrace") || !format)
		return ctf_not_ours(d, "its metadata does not name grtrace as its writer", err);
	if (n < GRT_FORMAT_MIN || n > GRT_FORMAT)
		return grt_err_set(err, -EPROTO, "it was written by another version of grtrace",
				   "use the version that wrote it",
				   "%s/metadata: format %lu, this tool reads %u..%u", d->s->path, n,
				   GRT_FORMAT_MIN, GRT_FORMAT);
	return 0;
}

static int parse_metadata(const struct ctf_dir *d, const char *text, size_t len, struct grt_err *err)
{
	size_t offset;
	int ret = grt_env_parse(&d->s->env, text, len, &offset);

	if (ret == -EINVAL)
		return grt_err_set(err, ret, "it is damaged, or was not written by grtrace",
				   "grtrace dump PATH/FILE, which reads a file of packets without it",
				   "%s/metadata: offset %zu: not understood", d->s->path, offset);
	if (ret)
		return ctf_open_failed(d->s, "metadata", ret, err);
	return check_env(d, err);
}

static int read_metadata(struct ctf_dir *d, struct grt_err *err)
{
	struct stat *st = &d->metadata;
	char *text;
	ssize_t n;
	int fd = openat(d->fd, "metadata", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int ret;

	if (fd < 0 && errno == ENOENT)
		return ctf_without_metadata(d, err);
	if (fd < 0)
		return ctf_open_failed(d->s, "metadata", -errno, err);
	text = malloc(METADATA_MAX + 1);
	if (!text || fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_size > METADATA_MAX)
		ret = ctf_not_ours(d, "grtrace did not write its metadata", err);
	else if ((n = ctf_read_text(fd, text, METADATA_MAX)) < 0)
		ret = ctf_open_failed(d->s, "metadata", (int)n, err);
	else
		ret = parse_metadata(d, text, (size_t)n, err);
	free(text);
	close(fd);
	return ret;
}

/* Whether a recorder has replaced the metadata since it was read: it never changes the file itself. */
static bool metadata_was_replaced(const struct ctf_dir *d)
{
	struct stat st;

	return fstatat(d->fd, "metadata", &st, AT_SYMLINK_NOFOLLOW) || st.st_dev != d->metadata.st_dev ||
	       st.st_ino != d->metadata.st_ino || st.st_ctim.tv_sec != d->metadata.st_ctim.tv_sec ||
	       st.st_ctim.tv_nsec != d->metadata.st_ctim.tv_nsec;
}

/* Return: 0, or a negative errno; -EBUSY: the file changed since it was examined */
static int truncate_file(const struct ctf_dir *d, const char *name, const struct stat *seen, uint64_t size)
{
	struct stat st;
	int fd = openat(d->fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), ret = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_dev != seen->st_dev || st.st_ino != seen->st_ino ||
	    st.st_size != seen->st_size)
		ret = -EBUSY;
	else if (ftruncate(fd, (off_t)size))
		ret = -errno;
	close(fd);
	return ret;
}

/* The last packet of a file is incomplete: cuts it off. */
static void ctf_mend(const struct ctf_dir *d, const char *name, const struct stat *st, uint64_t end)
{
	struct grt_mending *m = d->s->mending;
	int ret = truncate_file(d, name, st, end);

	if (ret) {
		m->why = ret;
		return;
	}
	m->files++;
	m->bytes += (uint64_t)st->st_size - end;
}

/* Sets the advice for the fault that is reported: to use grtrace mend. */
static void ctf_advise_mend(const struct ctf_dir *d)
{
	struct grt_err *first = &d->s->found.first;

	snprintf(first->fix, sizeof(first->fix),
		 "use the complete packets, which were read; grtrace mend PATH cuts the rest off, for other "
		 "readers");
	grt_err_path(first, d->s->path);
}

/* A packet that its recorder has not finished is no fault. */
static void forgive_cut(struct grt_session *s, const struct grt_health *before)
{
	if (s->found.fault[GRT_FAULT_CUT] > before->fault[GRT_FAULT_CUT])
		s->found = *before;
}

/* SOURCE_NUMBER is the name of a stream's file. Return: 0 or -ENOMEM */
static int note_source(struct ctf_dir *d, const char *name, uint64_t emitted)
{
	const char *end = strrchr(name, '_');
	size_t len = end ? (size_t)(end - name) : 0;
	unsigned int i = 0;

	if (!len || len >= sizeof(d->source->name))
		return 0;
	while (i < d->sources && (strncmp(d->source[i].name, name, len) || d->source[i].name[len]))
		i++;
	if (i == d->sources) {
		if (grt_grow_one(&d->source, d->sources))
			return -ENOMEM;
		d->source[i] = (struct source_sum){.emitted = 0};
		memcpy(d->source[i].name, name, len);
		d->sources++;
	}
	d->source[i].emitted += emitted;
	return 0;
}

/* ------------------------------------------------------------- files */

static int ctf_no_memory(const struct ctf_dir *d, struct grt_err *err)
{
	return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", d->s->path);
}

/* Return: the length of a file's name without the suffix of a packed file. */
static size_t ctf_stem(const char *name)
{
	size_t len = strlen(name), suffix = strlen(GRT_PACKED_SUFFIX);

	return len > suffix && !strcmp(name + len - suffix, GRT_PACKED_SUFFIX) ? len - suffix : len;
}

/* The file with this name, which all segments share. Return: NULL: no memory */
static struct ctf_file *ctf_file_of(struct ctf_dir *d, const char *segment, const char *name)
{
	size_t len = ctf_stem(name);
	struct ctf_file *f;

	for (unsigned int i = 0; i < d->files; i++) {
		f = &d->file[i];
		if (!strncmp(f->name, name, len) && !f->name[len])
			return f;
	}
	if (grt_grow_one(&d->file, d->files))
		return NULL;
	f = &d->file[d->files];
	*f = (struct ctf_file){.parts = grt_parts_new()};
	if (!f->parts || len >= sizeof(f->name)) {
		grt_parts_free(f->parts);
		return NULL;
	}
	memcpy(f->name, name, len);
	snprintf(f->first, sizeof(f->first), "%s%s%s", segment, *segment ? "/" : "", name);
	d->files++;
	return f;
}

/* @segment: the directory in which it is; "": the recording's own. Return: 0 or -errno */
static int ctf_take_file(struct ctf_dir *d, const char *segment, const char *name, struct grt_err *err)
{
	struct ctf_file *f;
	char path[2 * NAME_MAX + 2];
	struct stat st;
	int fd, ret;

	snprintf(path, sizeof(path), "%s%s%s", segment, *segment ? "/" : "", name);
	fd = ctf_open_file(d, path, &st, err);
	if (fd < 0)
		return fd;
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return S_ISDIR(st.st_mode) ? 0
					   : grt_err_set(err, -EINVAL, "it is not a regular file",
							 "move it out of the recording",
							 "%s/%s: not a file of packets", d->s->path, path);
	}
	f = ctf_file_of(d, segment, name);
	if (!f) {
		close(fd);
		return ctf_no_memory(d, err);
	}
	snprintf(f->last, sizeof(f->last), "%s", path);
	f->st = st;
	ret = grt_parts_add(f->parts, fd);
	return ret ? ctf_open_failed(d->s, path, ret, err) : 0;
}

static int is_stream_name(const struct dirent *e)
{
	return e->d_name[0] != '.' && strcmp(e->d_name, "metadata") != 0;
}

static int is_segment_name(const struct dirent *e)
{
	return grt_segment_number(e->d_name) != 0;
}

static void free_entries(struct dirent **entry, int n)
{
	for (int i = 0; i < n; i++)
		free(entry[i]);
	free(entry);
}

/* A segment repeats definitions of older segments for readers that only have this segment. */
static bool ctf_is_repeated(const struct ctf_dir *d, const char *name)
{
	return d->segments && !strncmp(name, GRT_CARRIED "_", strlen(GRT_CARRIED) + 1);
}

static int ctf_take_files(struct ctf_dir *d, const char *segment, struct grt_err *err)
{
	struct dirent **entry;
	int n = scandirat(d->fd, *segment ? segment : ".", &entry, is_stream_name, versionsort), ret = 0;

	if (n < 0)
		return ctf_open_failed(d->s, *segment ? segment : ".", -errno, err);
	for (int i = 0; i < n && !ret; i++)
		if (!*segment && is_segment_name(entry[i]))
			continue;
		else if (!*segment || !ctf_is_repeated(d, entry[i]->d_name))
			ret = ctf_take_file(d, segment, entry[i]->d_name, err);
	free_entries(entry, n);
	return ret;
}

/* The oldest segment comes first; nothing is read of segments that the recorder was about to delete. */
static int ctf_take_segments(struct ctf_dir *d, struct grt_err *err)
{
	const char *text = grt_env_get(&d->s->env, "segments") ?: "";
	uint64_t first = grt_env_number(text, "first");
	struct dirent **entry;
	struct stat st;
	int n = scandirat(d->fd, ".", &entry, is_segment_name, versionsort), ret = 0;

	if (n < 0)
		return ctf_open_failed(d->s, ".", -errno, err);
	d->s->found.deleted_segments = grt_env_number(text, "deleted");
	for (int i = 0; i < n && !ret; i++) {
		if (grt_segment_number(entry[i]->d_name) < first ||
		    fstatat(d->fd, entry[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
			continue;
		ret = ctf_take_files(d, entry[i]->d_name, err);
		d->segments++;
	}
	free_entries(entry, n);
	return ret;
}

/* The last file has complete packets up to @end; @first: this is the first fault, which is reported. */
static void ctf_cut(const struct ctf_dir *d, const struct ctf_file *f, uint64_t end, bool first)
{
	if (d->s->mending)
		ctf_mend(d, f->last, &f->st, end);
	else if (first)
		ctf_advise_mend(d);
}

static int add_stream_file(struct ctf_dir *d, struct ctf_file *f, struct grt_err *err)
{
	struct grt_health before = d->s->found;
	struct grt_parts *parts = f->parts;
	const struct grt_file_part *last = &parts->part[parts->n - 1];
	char label[PATH_MAX];
	struct grt_walk w;
	int ret;

	snprintf(label, sizeof(label), "%s/%s", d->s->path, f->first);
	f->parts = NULL;
	ret = grt_session_add_parts(d->s, parts, label, &w, err);
	if (ret)
		return ret;
	/* deleted segments have a count of their own */
	if (note_source(d, f->name, d->segments ? w.emitted - w.earlier : w.emitted))
		return ctf_no_memory(d, err);
	if (d->recording)
		forgive_cut(d->s, &before);
	else if (w.cut && !last->is_packed && w.end >= last->start)
		ctf_cut(d, f, w.end - last->start, !before.first.what[0]);
	return 0;
}

static void ctf_drop_files(struct ctf_dir *d)
{
	for (unsigned int i = 0; i < d->files; i++)
		grt_parts_free(d->file[i].parts);
	free(d->file);
	d->file = NULL;
	d->files = d->segments = 0;
}

static int add_stream_files(struct ctf_dir *d, struct grt_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < d->files && !ret; i++)
		if (d->file[i].parts->n)
			ret = add_stream_file(d, &d->file[i], err);
	return ret;
}

/* Parses the recorder's counts of missing events: `name=count` separated by blanks. */
static uint64_t ctf_take_missed(struct grt_session *s, const char *key)
{
	const char *text = grt_env_get(&s->env, key);
	struct grt_balance missed = {0};

	if (!text || !*text)
		return 0;
	for (unsigned int i = 0; i < GRT_FATES; i++) {
		missed.fate[i] = grt_env_number(text, grt_fate_names[i]);
		missed.emitted += missed.fate[i];
	}
	s->health = s->found;
	grt_session_missed(s, &missed, s->path);
	s->found = s->health;
	return missed.emitted;
}

/* Events of a source that its packets no longer account for. */
static uint64_t cut_of(const struct grt_session *s, const char *name, size_t len)
{
	struct grt_window w;

	return grt_window_of(&w, &s->env, name, len) ? w.before + w.after + w.deleted : 0;
}

/* The metadata of an interrupted recording has its begin; its end is that of its packets. */
static void ctf_take_window(struct grt_session *s)
{
	uint64_t repeated;

	if (!grt_window_common(&s->window, &s->env, &s->shortest)) {
		s->window = (struct grt_window){.from = UINT64_MAX};
		return;
	}
	s->found.before_start = s->window.before;
	s->found.after_end = s->window.after;
	/* repeated events were read, and are not missing */
	repeated = grt_env_number(grt_env_get(&s->env, "segments") ?: "", "repeated");
	/* the same holds for what had been lost before it was deleted */
	repeated += ctf_take_missed(s, "deleted_fates");
	s->found.deleted = s->window.deleted > repeated ? s->window.deleted - repeated : 0;
	if (s->window.to == UINT64_MAX && s->first > s->last)
		return;
	s->first = s->window.from;
	if (s->window.to != UINT64_MAX)
		s->last = s->window.to;
}

/* The packets of a part of a source, such as cuda_stacks of cuda, are in the source's files. */
static uint64_t written_by(const struct ctf_dir *d, const char *name, size_t len)
{
	do {
		for (unsigned int i = 0; i < d->sources; i++)
			if (!strncmp(d->source[i].name, name, len) && !d->source[i].name[len])
				return d->source[i].emitted + cut_of(d->s, name, len);
		while (len && name[--len] != '_')
			;
	} while (len);
	return 0;
}

/*
 * `SOURCE_balance`, which a source of BPF programs has written: `packed` is what its packets account for. Of
 * recordings without it `emitted` is at most that, since names are beside it, but with a decoder, which makes
 * other events.
 */
static void take_counted(const struct ctf_dir *d)
{
	static const char suffix[] = "_balance";
	struct grt_session *s = d->s;
	char decoder[64];

	for (unsigned int i = 0; i < s->env.used; i++) {
		const char *key = s->env.entry[i].key;
		size_t len = strlen(key), room = sizeof(suffix) - 1;
		uint64_t counted, written;

		if (len <= room || strcmp(key + len - room, suffix) || !strcmp(key, "kmod_balance"))
			continue;
		snprintf(decoder, sizeof(decoder), "%.*s_decoder", (int)(len - room), key);
		counted = grt_env_number(s->env.entry[i].value, "packed");
		if (!counted && !grt_env_get(&s->env, decoder))
			counted = grt_env_number(s->env.entry[i].value, "emitted");
		written = written_by(d, key, len - room);
		if (counted <= written)
			continue;
		s->found.missing_events += counted - written;
		grt_fault(
			&s->found, GRT_FAULT_GAP, 0, "packets are missing at the end of its files",
			"read the recording as it was made, before files were copied or cut; or grtrace record again",
			"%s: %.*s counted %llu {event|events}, its packets %llu", s->path, (int)(len - room),
			key, (unsigned long long)counted, (unsigned long long)written);
	}
}

/* Whether a process is recording into the directory; if not, none begins to before ctf_unlock(). */
static bool ctf_lock(const struct ctf_dir *d)
{
	return flock(d->fd, (d->s->mending ? LOCK_EX : LOCK_SH) | LOCK_NB) && errno == EWOULDBLOCK;
}

/* Return: 0; -EAGAIN: the recorder has replaced the metadata meanwhile; or another negative errno */
static int ctf_open_files(struct ctf_dir *d, struct grt_err *err)
{
	int ret = read_metadata(d, err);

	if (!ret && grt_env_get(&d->s->env, "black_box"))
		ret = grt_err_set(err, -EINVAL, "a black box has a recording for each incident",
				  "ls PATH, and the path of one, PATH/" GRT_SNAPSHOT "_000001",
				  "%s: not a recording", d->s->path);
	if (ret)
		return ret;
	d->recording = ctf_lock(d);
	ret = ctf_take_segments(d, err);
	if (!ret)
		ret = ctf_take_files(d, "", err);
	if ((ret && ret != -ENOENT) || !metadata_was_replaced(d))
		return ret;
	return -EAGAIN;
}

static int ctf_open_consistent(struct ctf_dir *d, struct grt_err *err)
{
	unsigned int attempts = 1;
	int ret;

	while ((ret = ctf_open_files(d, err)) == -EAGAIN && attempts++ < ATTEMPTS_MAX) {
		ctf_drop_files(d);
		grt_env_free(&d->s->env);
	}
	if (ret == -EAGAIN)
		ret = grt_err_set(err, ret, "segments are deleted faster than they can be opened",
				  "grtrace record with a larger --segment", "%s: cannot open", d->s->path);
	return ret;
}

static int ctf_open(struct grt_session *s, int fd, struct grt_err *err)
{
	struct ctf_dir d = {.s = s, .fd = fd};
	const char *state;
	int ret = ctf_open_consistent(&d, err);

	if (s->mending)
		s->mending->busy = d.recording;
	ret = ret ?: add_stream_files(&d, err);
	ctf_drop_files(&d);
	flock(fd, LOCK_UN);
	if (!ret) {
		state = grt_env_get(&s->env, "state");
		s->found.finished = state && !strcmp(state, "complete");
		ctf_take_missed(s, "kmod_unread");
		ctf_take_window(s);
	}
	if (!ret && s->found.finished)
		take_counted(&d);
	free(d.source);
	return ret;
}

const struct grt_reader grt_reader_ctf = {
	.name = "ctf",
	.takes = ctf_takes,
	.open = ctf_open,
};
