// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Opens and closes sessions. flow.c delivers the events of a session.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err_path.h"
#include "base/containers.h"
#include "base/lines_in.h"
#include "base/sized.h"
#include "unpack.h"

/* ------------------------------------------------------------------ walk */

/*
 * The walk over a file's headers. It uses the same cursor as reading does, so
 * both agree on where packets are.
 */

#define NO_INDEX UINT16_MAX

struct walk_state {
	struct grt_walk *w;
	struct grt_stream st;
	uint16_t index[GRT_CPU_MAX]; /* of a CPU in w->cpu */
};

static struct grt_walk_cpu *find_cpu(struct walk_state *ws, uint32_t cpu)
{
	struct grt_walk *w = ws->w;

	if (ws->index[cpu] != NO_INDEX)
		return &w->cpu[ws->index[cpu]];
	if (grt_grow_one(&w->cpu, w->cpus))
		return NULL;
	ws->index[cpu] = (uint16_t)w->cpus;
	w->cpu[w->cpus] = (struct grt_walk_cpu){.cpu = cpu, .start = UINT64_MAX, .first_skip = GRT_SKIP_NONE};
	return &w->cpu[w->cpus++];
}

/* Without memory for these positions, reading is slower and has the same result. */
static void note_skip(struct grt_skips *s, struct grt_walk_cpu *c, uint64_t start, uint64_t end)
{
	if (!s || s->full)
		return;
	s->full = s->n == GRT_SKIPS_MAX || grt_grow_one(&s->skip, s->n);
	if (s->full)
		return;
	s->skip[s->n] = (struct grt_skip){start, GRT_SKIP_NONE};
	if (c->first_skip == GRT_SKIP_NONE)
		c->first_skip = s->n;
	else
		s->skip[c->last_skip].next = s->n;
	c->last_skip = s->n++;
	s->end = end;
}

static int note_packet(struct walk_state *ws)
{
	const struct grt_packet *p = &ws->st.packet;
	struct grt_walk_cpu *c = find_cpu(ws, p->cpu_id);
	uint64_t start = ws->st.packet_end - p->packet_size / 8;

	if (!c)
		return -ENOMEM;
	if (c->start == UINT64_MAX) {
		c->start = start;
		ws->w->earlier += p->begin.emitted;
	}
	c->end = ws->st.packet_end;
	if (c->content < p->content_size / 8)
		c->content = p->content_size / 8;
	if (ws->w->first > p->timestamp_begin)
		ws->w->first = p->timestamp_begin;
	if (ws->w->last < p->timestamp_end)
		ws->w->last = p->timestamp_end;
	ws->w->end = ws->st.packet_end;
	ws->w->emitted += p->end.emitted - c->emitted;
	c->emitted = p->end.emitted;
	note_skip(ws->w->skips, c, start, c->end);
	return 0;
}

static int walk_packets(struct walk_state *ws, uint64_t size)
{
	int ret;

	while ((ret = grt_stream_next(&ws->st)) > 0) {
		/* after the first packet, the input is known to be a trace, and all of it is searched */
		ws->st.limit = size;
		ws->st.at = GRT_AT_RECORDS;
		ret = note_packet(ws);
		if (ret)
			return ret;
	}
	return ret;
}

static int no_trace(const char *label, struct grt_err *err)
{
	return grt_err_set(err, -EINVAL, "no packet header was found in it",
			   "file PATH, which prints its type", "%s: not a file of packets", label);
}

/* The first header is checked on its own: its format decides whether the rest can be understood. */
static int judge_first(struct grt_stream *st, const char *label, enum grt_packet_look *look,
		       struct grt_err *err)
{
	struct grt_packet p = {.magic = 0};
	ssize_t n = grt_parts_read(st->parts, &st->cursor, &p, sizeof(p), 0);

	if (n < 0)
		return grt_err_set(err, (int)n, strerror((int)-n), NULL, "%s: cannot read", label);
	*look = grt_packet_look(&p);
	if (*look != GRT_LOOK_OTHER_FORMAT || n < (ssize_t)offsetof(struct grt_packet, header_size))
		return 0;
	return grt_err_set(err, -EPROTO, "it was written by another version of grtrace",
			   "use the version that wrote it", "%s: format %u, this tool reads %u..%u", label,
			   p.format, GRT_FORMAT_MIN, GRT_FORMAT);
}

static int conclude(struct walk_state *ws, const char *label, struct grt_err *err)
{
	const struct grt_stream *st = &ws->st;
	bool lost = st->lost_from != UINT64_MAX;

	ws->w->cut = lost && (st->lost_cut || st->lost_zero);
	if (!ws->w->cpus && lost && !st->lost_cut)
		return no_trace(label, err);
	return 0;
}

static int walk_walk(struct walk_state *ws, uint64_t size, struct grt_err *err)
{
	enum grt_packet_look look = GRT_LOOK_GARBAGE;
	int ret = judge_first(&ws->st, ws->st.label, &look, err);

	if (ret)
		return ret;
	/* if a file does not begin with a packet, only its beginning is searched for one */
	ws->st.limit = look == GRT_LOOK_PACKET || size < GRT_PACKET_MAX ? size : GRT_PACKET_MAX;
	ret = grt_stream_init(&ws->st, GRT_STREAM_BUF_MIN);
	if (!ret)
		ret = walk_packets(ws, size);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot read", ws->st.label);
	return conclude(ws, ws->st.label, err);
}

int grt_walk(struct grt_walk *w, const struct grt_parts *parts, const char *label, struct grt_health *h,
	     struct grt_err *err)
{
	struct walk_state *ws = calloc(1, sizeof(*ws));
	int ret;

	*w = (struct grt_walk){.first = UINT64_MAX};
	if (!ws)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot read", label);
	memset(ws->index, 0xff, sizeof(ws->index));
	w->skips = calloc(1, sizeof(*w->skips));
	ws->w = w;
	ws->st.mode = GRT_STREAM_HEADERS;
	ws->st.health = h;
	ws->st.label = label;
	ws->st.parts = parts;
	ws->st.read = grt_stream_read_file;
	ret = walk_walk(ws, parts->size, err);
	grt_stream_fini(&ws->st);
	free(ws);
	return ret;
}

/* --------------------------------------------------------------- session */

/*
 * Bytes of all buffers together, as long as each has its smallest size. All data pass through them, so they
 * should fit into a CPU's second-level cache: with 16 CPUs, reading was 30 % slower with 256 KiB each
 * instead of 64.
 */
#define BUFFERS_TOTAL (1U << 20)
/* A live source delivers complete packets, so a buffer should have room for one. */
#define LIVE_BUFFER (512U << 10)
/* Bytes that show whether an input is text or packets. */
#define HEAD (64U << 10)
/* Text without a newline is a line of its own up to this length. */
#define ONE_LINE 1024U

static int session_no_memory(const struct grt_session *s, struct grt_err *err)
{
	return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
}

static int keep_file(struct grt_session *s, struct grt_parts *parts, const char *label)
{
	char *copy = strdup(label);

	if (!copy || grt_grow_one(&s->parts, s->files) || grt_grow_one(&s->label, s->files) ||
	    grt_grow_one(&s->skips, s->files)) {
		free(copy);
		grt_parts_free(parts);
		return -ENOMEM;
	}
	s->parts[s->files] = parts;
	s->skips[s->files] = NULL;
	s->label[s->files++] = copy;
	return 0;
}

static struct grt_stream *add_stream(struct grt_session *s)
{
	struct grt_stream *st;

	if (grt_grow_one(&s->stream, s->streams))
		return NULL;
	st = &s->stream[s->streams];
	memset(st, 0, sizeof(*st));
	st->index = s->streams++;
	st->health = &s->health;
	return st;
}

static int add_cpu(struct grt_session *s, const struct grt_walk *w, const struct grt_walk_cpu *c)
{
	struct grt_stream *st = add_stream(s);

	if (!st)
		return -ENOMEM;
	st->parts = s->parts[s->files - 1];
	st->label = s->label[s->files - 1];
	st->skips = w->cpus == 1 ? NULL : s->skips[s->files - 1];
	st->read = grt_stream_read_file;
	st->mode = w->cpus == 1 ? GRT_STREAM_WHOLE : GRT_STREAM_ONE_CPU;
	st->cpu = c->cpu;
	st->quiet = true;
	st->start = c->start;
	st->limit = c->end;
	st->first_skip = c->first_skip;
	/* no more room than can ever be used, so that a file of many CPUs needs little for each */
	st->cap = w->cpus == 1 || c->content > GRT_STREAM_BUF_MAX ? GRT_STREAM_BUF_MAX : (size_t)c->content;
	return 0;
}

/* A compressed file that ends within a packet. */
static void session_note_tails(struct grt_session *s, const struct grt_parts *parts, const char *label)
{
	for (const struct grt_file_part *p = parts->part; p < parts->part + parts->n; p++)
		if (p->tail)
			grt_fault(&s->found, GRT_FAULT_CUT, p->tail,
				  "its writer was killed, the disk was full, or the copy is incomplete",
				  "use the complete packets, which were read, or grtrace record again",
				  "%s: the last packed packet is cut after %llu {byte|bytes}", label,
				  (unsigned long long)p->tail);
}

int grt_session_add_parts(struct grt_session *s, struct grt_parts *parts, const char *label,
			  struct grt_walk *w, struct grt_err *err)
{
	int ret = keep_file(s, parts, label);

	*w = (struct grt_walk){.first = UINT64_MAX};
	if (ret)
		return session_no_memory(s, err);
	session_note_tails(s, parts, label);
	if (parts->size == 0)
		return 0;
	ret = grt_walk(w, parts, label, &s->found, err);
	s->skips[s->files - 1] = w->skips;
	for (unsigned int i = 0; i < w->cpus && !ret; i++) {
		ret = add_cpu(s, w, &w->cpu[i]);
		if (ret)
			session_no_memory(s, err);
	}
	s->first = w->first < s->first ? w->first : s->first;
	s->last = w->last > s->last ? w->last : s->last;
	free(w->cpu);
	w->cpu = NULL;
	return ret;
}

int grt_session_add_file(struct grt_session *s, int fd, const char *label, struct grt_walk *w,
			 struct grt_err *err)
{
	struct grt_parts *parts = grt_parts_new();
	int ret;

	if (!parts) {
		close(fd);
		return session_no_memory(s, err);
	}
	ret = grt_parts_add(parts, fd);
	if (!ret)
		return grt_session_add_parts(s, parts, label, w, err);
	grt_parts_free(parts);
	return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot read", label);
}

int grt_session_add_source(struct grt_session *s, const struct grt_stream_source *source, void *owner,
			   const char *label, struct grt_err *err)
{
	struct grt_stream *st = add_stream(s);

	if (!st) {
		source->fini(&(struct grt_stream){.owner = owner});
		return session_no_memory(s, err);
	}
	st->source = source;
	st->owner = owner;
	st->limit = UINT64_MAX;
	if (keep_file(s, NULL, label))
		return session_no_memory(s, err);
	st->label = s->label[s->files - 1];
	return 0;
}

static int make_buffers(struct grt_session *s, struct grt_err *err)
{
	size_t share = s->is_live ? LIVE_BUFFER : BUFFERS_TOTAL / (s->streams ? s->streams : 1);

	if (share < GRT_STREAM_BUF_MIN)
		share = GRT_STREAM_BUF_MIN;
	s->kway.slot = calloc(s->streams + 1, sizeof(*s->kway.slot));
	if (!s->kway.slot)
		return session_no_memory(s, err);
	for (unsigned int i = 0; i < s->streams; i++)
		if (grt_stream_init(&s->stream[i], s->stream[i].cap < share ? s->stream[i].cap : share))
			return session_no_memory(s, err);
	return 0;
}

static struct grt_session *new_session(const char *path)
{
	struct grt_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->first = UINT64_MAX;
	s->window.from = UINT64_MAX;
	s->found.size = sizeof(s->found);
	s->found.finished = true;
	s->path = strdup(path);
	if (!s->path) {
		free(s);
		return NULL;
	}
	return s;
}

bool grt_head_is_text(const char *head, size_t len)
{
	static const uint32_t magic = GRT_PACKET_MAGIC;
	size_t odd = 0;

	for (size_t i = 0; i < len; i++)
		odd += (unsigned char)head[i] < ' ' && !memchr("\t\n\r\f\b\033", head[i], 6);
	for (size_t i = 0; i + sizeof(magic) <= len; i += 8)
		if (!memcmp(head + i, &magic, sizeof(magic)))
			return false;
	/* a packet that is cut within its first word */
	if (len < sizeof(magic) && !memcmp(head, &magic, len))
		return false;
	/* text may contain a NUL now and then, and its first line may be longer than the head */
	return odd <= len / 16 && (memchr(head, '\n', len) || len == HEAD || (len && len < ONE_LINE));
}

/* Reads the first bytes of the input; waits for the first bytes of a pipe. */
static int session_read_head(struct grt_session *s, int fd, const struct stat *st, struct grt_err *err)
{
	ssize_t n = 0;

	s->is_pipe = S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode);
	if (!s->is_pipe && !S_ISREG(st->st_mode))
		return 0;
	s->head = malloc(HEAD);
	if (!s->head)
		return session_no_memory(s, err);
	if (s->is_pipe) {
		n = grt_pipe_read(fd, s->head, HEAD);
	} else {
		do
			n = pread(fd, s->head, HEAD, 0);
		while (n < 0 && errno == EINTR);
		n = n < 0 ? -errno : n;
	}
	if (n < 0)
		return grt_err_set(err, (int)n, strerror((int)-n), NULL, "%s: cannot read", s->path);
	s->head_len = (size_t)n;
	return 0;
}

/* Return: the length of a path without the suffix of a packed file. */
static size_t session_name_length(const char *path)
{
	static const char *const endings[] = {".gz", ".zst"};
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t of_ending = strlen(endings[i]);

		if (length > of_ending && !strcmp(path + length - of_ending, endings[i]))
			return length - of_ending;
	}
	return length;
}

/* The tool for this format cannot read a compressed file. */
static int session_refuse_packed(const struct grt_session *s, struct grt_err *err)
{
	struct grt_err why;
	char fix[sizeof(why.fix) + 16], *name = strndup(s->path, session_name_length(s->path));
	int ret = name ? grt_foreign_refuse(name, s->head, s->head_len, &why) : -ENOMEM;

	if (name && ret)
		grt_err_path(&why, name);
	free(name);
	if (ret == -ENOMEM)
		return grt_err_set(err, ret, strerror(ENOMEM), NULL, "%s: cannot unpack", s->path);
	if (!ret)
		return 0;
	snprintf(fix, sizeof(fix), "unpack it, then %s", why.fix);
	return grt_err_set(err, ret, why.why, fix, "%s: not a trace", s->path);
}

/* Replaces a compressed input by its contents, which must not be compressed again. */
static int session_unpack(struct grt_session *s, int *fd, struct stat *st, struct grt_err *err)
{
	const struct grt_packed packed = {*fd, s->path, s->head, s->head_len, s->is_pipe};
	int plain, ret = grt_unpack(&packed, &plain, err);

	if (ret || plain < 0)
		return ret;
	close(*fd);
	*fd = plain;
	free(s->head);
	s->head = NULL;
	if (fstat(plain, st))
		return grt_err_set(err, -errno, strerror(errno), NULL, "%s: cannot unpack", s->path);
	return session_read_head(s, plain, st, err) ?: session_refuse_packed(s, err);
}

/* Whether a reader is asked for an input at all. */
static bool session_may_take(const struct grt_reader *r, const struct stat *st, const char *head, size_t len)
{
	size_t i = 0;

	if (!r->begins)
		return true;
	while (i < len && head[i] && strchr(" \t\r\n", head[i]))
		i++;
	return S_ISREG(st->st_mode) && len &&
	       ((*head && strchr(r->begins, *head)) || (i < len && head[i] && strchr(r->begins, head[i])));
}

static int session_open_input(struct grt_session *s, int *fd, const struct grt_reader *const *readers,
			      size_t n, struct grt_err *err)
{
	struct stat st;
	int ret;

	if (fstat(*fd, &st))
		return grt_err_set(err, -errno, strerror(errno), NULL, "%s: cannot open", s->path);
	ret = session_read_head(s, *fd, &st, err);
	/* what has no first bytes, as a directory, is of no other tool and not packed */
	if (!ret && s->head_len)
		ret = grt_foreign_refuse(s->path, s->head, s->head_len, err)
			      ?: session_unpack(s, fd, &st, err);
	for (size_t i = 0; i < n && !ret; i++)
		if (session_may_take(readers[i], &st, s->head, s->head_len) &&
		    readers[i]->takes(&st, s->head, s->head_len))
			return readers[i]->open(s, *fd, err);
	if (ret)
		return ret;
	/* for commands that only read directories, such as mend */
	if (S_ISREG(st.st_mode))
		return grt_err_set(err, -EINVAL, "it is a file, and a recording is a directory",
				   "the directory that grtrace record wrote", "%s: not a recording", s->path);
	return grt_err_set(err, -EINVAL,
			   s->is_pipe ? "the data in the pipe is not text"
				      : "it is neither a directory, a regular file nor a pipe",
			   "copy it to a file first: cat PATH > FILE", "%s: not a trace", s->path);
}

static int open_fd(const char *path)
{
	if (!strcmp(path, "-"))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	/* a FIFO is waited for when it is read */
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static int session_open_path(struct grt_session *s, const struct grt_reader *const *readers, size_t n,
			     struct grt_err *err)
{
	int fd = open_fd(s->path);
	const char *fix = errno == EACCES ? "read it as the user who recorded it, or with sudo"
			  : errno == ENOENT
				  ? "ls, which shows the right name; grtrace record -- PROGRAM makes one"
				  : "the path of a recording, a raw file or text";
	int ret;

	if (fd < 0)
		return grt_err_set(err, -errno, strerror(errno), fix, "%s: cannot open", s->path);
	ret = session_open_input(s, &fd, readers, n, err);
	close(fd);
	free(s->head);
	s->head = NULL;
	if (!ret)
		ret = make_buffers(s, err);
	s->health = s->found;
	return ret;
}

static int finish_open(struct grt_session **out, struct grt_session *s, int ret)
{
	if (ret) {
		grt_session_close(s);
		s = NULL;
	}
	*out = s;
	return ret;
}

int grt_session_open_by(struct grt_session **out, const char *path, const struct grt_reader *const *readers,
			size_t n, struct grt_err *err)
{
	struct grt_session *s = new_session(path);
	int ret;

	*out = NULL;
	if (!s)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", path);
	ret = session_open_path(s, readers, n, err);
	if (ret)
		grt_err_path(err, path);
	return finish_open(out, s, ret);
}

int grt_session_mend_by(struct grt_mending *out, const char *path, const struct grt_reader *const *readers,
			size_t n, struct grt_err *err)
{
	struct grt_session *s = new_session(path);
	int ret;

	*out = (struct grt_mending){0};
	if (!s)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", path);
	s->mending = out;
	ret = session_open_path(s, readers, n, err);
	if (ret)
		grt_err_path(err, path);
	grt_session_close(s);
	return ret;
}

static int add_live(struct grt_session *s, unsigned int i)
{
	struct grt_stream *st = add_stream(s);
	char label[32];
	int ret = st ? 0 : -ENOMEM;

	snprintf(label, sizeof(label), "stream %u", i);
	if (!ret)
		ret = keep_file(s, NULL, label);
	if (ret)
		return ret;
	st->label = s->label[i];
	st->live = &s->live;
	st->read = grt_stream_read_live;
	st->limit = UINT64_MAX;
	st->cap = LIVE_BUFFER;
	return 0;
}

int grt_session_open_live_sized(struct grt_session **out, const struct grt_live *live, size_t size,
				struct grt_err *err)
{
	struct grt_session *s = new_session("live");
	int ret = 0;

	*out = NULL;
	if (!s)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "live: cannot open");
	s->is_live = true;
	grt_sized_copy(&s->live, sizeof(s->live), live, size);
	for (unsigned int i = 0; i < live->streams && !ret; i++)
		ret = add_live(s, i);
	if (ret)
		session_no_memory(s, err);
	else
		ret = make_buffers(s, err);
	s->health = s->found;
	return finish_open(out, s, ret);
}

void grt_session_missed(struct grt_session *s, const struct grt_balance *missed, const char *what)
{
	uint64_t delivered = missed->fate[GRT_FATE_DELIVERED];

	for (unsigned int i = 0; i < GRT_FATES; i++)
		s->health.balance.fate[i] += i == GRT_FATE_DELIVERED ? 0 : missed->fate[i];
	s->health.balance.emitted += missed->emitted - delivered;
	s->health.missing_events += delivered;
	if (delivered)
		grt_fault(&s->health, GRT_FAULT_GAP, 0, "its source counted more events than were read",
			  "sudo rmmod grtrace, and record again",
			  "%s: %llu {event was|events were} delivered and {is|are} not here", what,
			  (unsigned long long)delivered);
}

/*
 * The source of a stream, from its file's name SOURCE_NUMBER. Return: the name's length, 0: it has no source
 */
static size_t session_source_name(const char *label, const char **name)
{
	const char *file = strrchr(label, '/'), *end;

	*name = file ? file + 1 : label;
	end = strrchr(*name, '_');
	return end ? (size_t)(end - *name) : 0;
}

/* Return: the element of the source, which may be new; NULL: no memory */
static struct grt_source_losses *session_source(const struct grt_session *s, struct grt_source_losses **all,
						unsigned int *n, const char *name, size_t len)
{
	struct grt_source_losses *l;

	for (l = *all; l < *all + *n; l++)
		if (!strncmp(l->name, name, len) && !l->name[len])
			return l;
	if (grt_grow_one(all, *n))
		return NULL;
	l = &(*all)[(*n)++];
	*l = (struct grt_source_losses){0};
	memcpy(l->name, name, len);
	if (!grt_window_of(&l->window, &s->env, name, len))
		l->window = (struct grt_window){.from = UINT64_MAX};
	return l;
}

int grt_session_sources(const struct grt_session *s, struct grt_source_losses **out)
{
	struct grt_source_losses *l;
	unsigned int n = 0;

	*out = NULL;
	for (unsigned int i = 0; i < s->streams && s->env.used; i++) {
		const char *name;
		size_t len = session_source_name(s->stream[i].label, &name);

		if (!len || len >= sizeof(l->name))
			continue;
		l = session_source(s, out, &n, name, len);
		if (!l) {
			free(*out);
			*out = NULL;
			return -ENOMEM;
		}
		for (unsigned int f = 0; f < GRT_FATES; f++)
			l->fate[f] += s->stream[i].sum.fate[f];
	}
	return (int)n;
}

const struct grt_health *grt_session_health(const struct grt_session *s)
{
	return &s->health;
}

int grt_session_span(struct grt_session *s, uint64_t *first, uint64_t *last)
{
	if (s->is_live)
		return -ENOTSUP;
	if (s->is_pipe)
		return -ESPIPE;
	if (s->first > s->last)
		return -ENODATA;
	*first = s->first;
	*last = s->last;
	return 0;
}

const char *grt_session_short(const struct grt_session *s)
{
	return s->shortest;
}

static void drop_gpus(struct grt_session *s)
{
	if (s->gpus)
		grt_gpus_free(s->gpus);
	free(s->gpus);
	s->gpus = NULL;
}

void grt_session_filter(struct grt_session *s, struct grt_filter *filter)
{
	s->filter = filter;
}

void grt_session_whole(struct grt_session *s)
{
	s->whole = true;
}

int grt_session_gpu(struct grt_session *s, const char *gpu, const char *cards, struct grt_err *err)
{
	const char *known = cards ?: grt_session_env(s, "gpus");
	int ret = -ENOMEM;

	drop_gpus(s);
	s->gpus = malloc(sizeof(*s->gpus));
	if (s->gpus)
		ret = grt_gpus_init(s->gpus, gpu, known);
	if (ret == -EINVAL)
		return grt_err_set(err, ret, known, "the whole name of one of them",
				   "%s: --device %s may be each of two GPUs", s->path, gpu);
	return ret ? session_no_memory(s, err) : 0;
}

int grt_session_gpu_missing(const struct grt_session *s, struct grt_err *err)
{
	char seen[128] = "";

	if (!s->gpus || s->gpus->found)
		return 0;
	for (unsigned int i = 0; i < GRT_GPUS_SEEN && s->gpus->seen[i][0]; i++)
		snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%s%s", i ? ", " : "",
			 s->gpus->seen[i]);
	if (!seen[0] && s->gpus->unplaced)
		return grt_err_set(err, -ENODEV,
				   "it does not have the addresses of the GPUs that CUDA programs used",
				   "--pid PID of one of them; grtrace report --by device shows them",
				   "%s: no events of the GPU %s", s->path, s->gpus->asked);
	return grt_err_set(
		err, -ENODEV, seen[0] ? NULL : "it names the GPU of no ring and of no device file",
		"grtrace report --by ring -v shows the GPU of each ring, --by device -v those of CUDA",
		"%s: no events of the GPU %s%s%s%s", s->path, s->gpus->asked, seen[0] ? " (there are " : "",
		seen, seen[0] ? ")" : "");
}

unsigned int grt_session_skipped(const struct grt_session *s, const struct grt_skipped **list)
{
	*list = NULL;
	return s->skipped && s->streams ? s->skipped(s->stream[0].owner, list) : 0;
}

const char *grt_session_env(const struct grt_session *s, const char *key)
{
	return grt_env_get(&s->env, key);
}

void grt_session_close(struct grt_session *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->streams; i++)
		grt_stream_fini(&s->stream[i]);
	for (unsigned int i = 0; i < s->files; i++) {
		grt_parts_free(s->parts[i]);
		free(s->label[i]);
		grt_skips_free(s->skips[i]);
	}
	drop_gpus(s);
	grt_env_free(&s->env);
	grt_written_free(&s->written);
	grt_linkage_free(s->linkage);
	free(s->kway.slot);
	free(s->head);
	free(s->stream);
	free(s->label);
	free(s->skips);
	free(s->parts);
	free(s->path);
	free(s);
}
