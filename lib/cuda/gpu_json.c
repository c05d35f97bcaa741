// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A pull parser that keeps nothing but the members that matter of the event at
 * hand. Events are the objects of the array "traceEvents", or of a bare array, which
 * may end anywhere. Stamps are microseconds with decimals: taken as digits, since
 * those of an epoch are more than a double holds.
 */
#include "gpu_json.h"
#include "codes/cuda_codes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifdef GRT_HAVE_ZLIB
#include <zlib.h>
#endif

#define CHUNK 65536U
#define KEY_MAX 32U
/* Nesting that is followed. */
#define DEPTH_MAX 128U

/** struct text - of a string, cut to @room; @len: kept */
struct text {
	char *at;
	size_t len;
	size_t room;
};

/** struct reader - @label: of args, of an event that names something; @all: ranges and names are wanted; @gz:
 * zlib's, NULL: @fd is read as it is; @error: of reading */
struct reader {
	int fd;
	void *gz;
	unsigned char *buf;
	size_t at, have;
	int error;
	struct grt_cupti_count *count;
	int (*record)(void *arg, const struct grt_cupti_record *r);
	void *arg;
	struct text name;
	struct text label;
	bool all;
};

/** struct event - what matters of one; @timed, @lasting: it has ts, dur */
struct event {
	char category[KEY_MAX];
	char phase[4];
	uint64_t ts, dur, tid;
	uint64_t correlation, device, stream, graph, bytes;
	uint64_t pid, context, registers, shared, external;
	uint64_t grid[3], block[3];
	bool timed, lasting;
};

/* ------------------------------------------------------------------ bytes */

static void gpu_json_refill(struct reader *r)
{
	ssize_t n;

	r->at = r->have = 0;
#ifdef GRT_HAVE_ZLIB
	if (r->gz) {
		n = gzread(r->gz, r->buf, CHUNK);
		if (n < 0)
			r->error = -EPROTO;
		r->have = n > 0 ? (size_t)n : 0;
		return;
	}
#endif
	do
		n = read(r->fd, r->buf, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		r->error = -errno;
	r->have = n > 0 ? (size_t)n : 0;
}

/* The byte that comes, -1 at the end. */
static inline int peek(struct reader *r)
{
	if (r->at == r->have) {
		if (r->error)
			return -1;
		gpu_json_refill(r);
		if (!r->have)
			return -1;
	}
	return r->buf[r->at];
}

static inline int gpu_json_take(struct reader *r)
{
	int c = peek(r);

	r->at += c >= 0;
	return c;
}

static int peek_word(struct reader *r)
{
	int c = peek(r);

	while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
		r->at++;
		c = peek(r);
	}
	return c;
}

static bool take_char(struct reader *r, int c)
{
	if (peek_word(r) != c)
		return false;
	r->at++;
	return true;
}

/* ----------------------------------------------------------------- values */

static void gpu_json_keep(struct text *t, unsigned int c)
{
	if (t && t->len < t->room)
		t->at[t->len++] = (char)c;
}

static void keep_code(struct text *t, unsigned int code)
{
	if (code < 0x80) {
		gpu_json_keep(t, code);
	} else if (code < 0x800) {
		gpu_json_keep(t, 0xc0 | code >> 6);
		gpu_json_keep(t, 0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		gpu_json_keep(t, 0xe0 | code >> 12);
		gpu_json_keep(t, 0x80 | (code >> 6 & 0x3f));
		gpu_json_keep(t, 0x80 | (code & 0x3f));
	} else {
		gpu_json_keep(t, 0xf0 | code >> 18);
		gpu_json_keep(t, 0x80 | (code >> 12 & 0x3f));
		gpu_json_keep(t, 0x80 | (code >> 6 & 0x3f));
		gpu_json_keep(t, 0x80 | (code & 0x3f));
	}
}

static bool take_hex4(struct reader *r, unsigned int *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++) {
		int c = gpu_json_take(r);
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;

		if (digit < 0)
			return false;
		*code = *code << 4 | (unsigned int)digit;
	}
	return true;
}

static bool gpu_json_take_escape(struct reader *r, struct text *t)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int c = gpu_json_take(r);
	const char *at = c > 0 ? strchr(from, c) : NULL;
	unsigned int code, low;

	if (at) {
		gpu_json_keep(t, (unsigned char)to[at - from]);
		return true;
	}
	if (c != 'u' || !take_hex4(r, &code))
		return false;
	if (code >= 0xd800 && code < 0xdc00) {
		if (gpu_json_take(r) != '\\' || gpu_json_take(r) != 'u' || !take_hex4(r, &low) ||
		    low < 0xdc00 || low > 0xdfff)
			return false;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	keep_code(t, code);
	return true;
}

/* A string; @t may be NULL. */
static bool gpu_json_take_string(struct reader *r, struct text *t)
{
	int c;

	if (!take_char(r, '"'))
		return false;
	while ((c = gpu_json_take(r)) != '"') {
		if (c < 0 || (c == '\\' && !gpu_json_take_escape(r, t)))
			return false;
		if (c != '\\')
			gpu_json_keep(t, (unsigned int)c);
	}
	return true;
}

/* A short string, with a NUL. */
static bool take_short(struct reader *r, char *at, size_t room)
{
	struct text t = {.at = at, .room = room - 1};
	bool good = gpu_json_take_string(r, &t);

	at[t.len] = '\0';
	return good;
}

static bool gpu_json_is_number(int c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* A number times 10^@scale, cut to whole ones; below 0 or beyond 64 bits it is none */
static bool gpu_json_take_number(struct reader *r, int scale, uint64_t *value)
{
	uint64_t v = 0;
	int point = -1, c = peek_word(r);
	bool good = true;

	/* exponents are of doubles: what they stand for is not exact anyway */
	for (; gpu_json_is_number(c); r->at++, c = peek(r)) {
		if (c == '.' && point < 0) {
			point = 0;
			continue;
		}
		if (c < '0' || c > '9') {
			good = false;
			continue;
		}
		if (point >= scale)
			continue;
		good &= !__builtin_mul_overflow(v, 10, &v) &&
			!__builtin_add_overflow(v, (uint64_t)(c - '0'), &v);
		point += point >= 0;
	}
	for (int i = point < 0 ? 0 : point; i < scale; i++)
		good &= !__builtin_mul_overflow(v, 10, &v);
	if (good)
		*value = v;
	return good;
}

static bool skip_value(struct reader *r);

/* ROCm has whole numbers as text, decimal or with 0x. */
static bool take_quoted(struct reader *r, uint64_t *value)
{
	char at[KEY_MAX];
	struct text t = {.at = at, .room = sizeof(at)};
	bool good = gpu_json_take_string(r, &t);
	const char *p = at, *end = at + t.len;
	uint64_t v;

	if (good && t.len < t.room && grt_scan_number(&p, end, &v) && p == end && v != UINT64_MAX)
		*value = v;
	return good;
}

/* A number; what is none is passed over. Return: false: no JSON */
static bool take_u64(struct reader *r, int scale, uint64_t *value, bool *has)
{
	bool good;

	if (!scale && peek_word(r) == '"')
		return take_quoted(r, value);
	if (!gpu_json_is_number(peek_word(r)))
		return skip_value(r);
	good = gpu_json_take_number(r, scale, value);
	if (has)
		*has |= good;
	return true;
}

static bool skip_literal(struct reader *r)
{
	int c = peek(r), n = 0;

	for (; (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || gpu_json_is_number(c); c = peek(r), n++)
		r->at++;
	return n > 0;
}

/* Passes over a value of any kind. */
static bool skip_value(struct reader *r)
{
	unsigned int depth = 0;
	int c;

	do {
		c = peek_word(r);
		if (c == '{' || c == '[') {
			r->at++;
			if (++depth > DEPTH_MAX)
				return false;
			continue;
		}
		if (depth && (c == '}' || c == ']' || c == ',' || c == ':')) {
			r->at++;
			depth -= c == '}' || c == ']';
			continue;
		}
		if (c == '"' ? !gpu_json_take_string(r, NULL) : !skip_literal(r))
			return false;
	} while (depth);
	return true;
}

/* ----------------------------------------------------------------- events */

static bool take_member(struct reader *r, struct event *e, const char *key, bool in_args);

/* The members of an object whose brace is behind. */
static bool take_object(struct reader *r, struct event *e, bool in_args)
{
	char key[KEY_MAX];

	if (take_char(r, '}'))
		return true;
	do {
		if (!take_short(r, key, sizeof(key)) || !take_char(r, ':') ||
		    !take_member(r, e, key, in_args))
			return false;
	} while (take_char(r, ','));
	return take_char(r, '}');
}

/* Numbers of an event: where they stand, and in what. */
static const struct number {
	const char *key;
	bool in_args;
	int scale;
	size_t offset;
	size_t has;
} numbers[] = {
	{"ts", false, 3, offsetof(struct event, ts), offsetof(struct event, timed)},
	{"dur", false, 3, offsetof(struct event, dur), offsetof(struct event, lasting)},
	{"tid", false, 0, offsetof(struct event, tid), 0},
	{"pid", false, 0, offsetof(struct event, pid), 0},
	{"context", true, 0, offsetof(struct event, context), 0},
	{"registers per thread", true, 0, offsetof(struct event, registers), 0},
	{"shared memory", true, 0, offsetof(struct event, shared), 0},
	{"correlation", true, 0, offsetof(struct event, correlation), 0},
	{"device", true, 0, offsetof(struct event, device), 0},
	{"stream", true, 0, offsetof(struct event, stream), 0},
	{"External id", true, 0, offsetof(struct event, external), 0},
	{"external id", true, 0, offsetof(struct event, external), 0},
	/* as our own exports have them */
	{"gpu", true, 0, offsetof(struct event, device), 0},
	{"cuda_stream", true, 0, offsetof(struct event, stream), 0},
	{"graph", true, 0, offsetof(struct event, graph), 0},
	{"graph id", true, 0, offsetof(struct event, graph), 0},
	{"bytes", true, 0, offsetof(struct event, bytes), 0},
	/* as parsers of CUPTI's text write them: with the names of that */
	{"correlationId", true, 0, offsetof(struct event, correlation), 0},
	{"deviceId", true, 0, offsetof(struct event, device), 0},
	{"streamId", true, 0, offsetof(struct event, stream), 0},
	{"graphId", true, 0, offsetof(struct event, graph), 0},
	{"size", true, 0, offsetof(struct event, bytes), 0},
};

/* [x, y, z] */
static bool take_sizes(struct reader *r, uint64_t size[3])
{
	unsigned int i = 0;

	if (!take_char(r, '['))
		return false;
	do {
		if (i < 3 ? !take_u64(r, 0, &size[i], NULL) : !skip_value(r))
			return false;
		i++;
	} while (take_char(r, ','));
	return take_char(r, ']');
}

static bool take_member(struct reader *r, struct event *e, const char *key, bool in_args)
{
	const struct number *n = numbers;

	if (!in_args && !strcmp(key, "args") && peek_word(r) == '{')
		return take_char(r, '{') && take_object(r, e, true);
	if (in_args && !strcmp(key, "grid") && peek_word(r) == '[')
		return take_sizes(r, e->grid);
	if (in_args && !strcmp(key, "block") && peek_word(r) == '[')
		return take_sizes(r, e->block);
	if (in_args && !strcmp(key, "name") && peek_word(r) == '"') {
		r->label.len = 0;
		return gpu_json_take_string(r, &r->label);
	}
	if (!in_args && peek_word(r) == '"') {
		r->name.len = strcmp(key, "name") ? r->name.len : 0;
		if (!strcmp(key, "name"))
			return gpu_json_take_string(r, &r->name);
		if (!strcmp(key, "cat"))
			return take_short(r, e->category, sizeof(e->category));
		if (!strcmp(key, "ph"))
			return take_short(r, e->phase, sizeof(e->phase));
	}
	for (; n < numbers + sizeof(numbers) / sizeof(numbers[0]); n++)
		if (n->in_args == in_args && !strcmp(n->key, key))
			return take_u64(r, n->scale, (uint64_t *)((char *)e + n->offset),
					n->has ? (bool *)((char *)e + n->has) : NULL);
	return skip_value(r);
}

/*
 * Categories, whatever the case of their letters: of Kineto as it is and as it was
 * before 2022, and of parsers of CUPTI's text, which put a word before each name.
 */
static const struct category {
	const char *name;
	unsigned int kind;
	const char *word;
	bool of_program; /* what the program itself did: handed out where it is wanted */
} categories[] = {
	{"kernel", GRT_CUPTI_KERNEL, NULL, false},
	{"gpu_memcpy", GRT_CUPTI_COPY, NULL, false},
	{"gpu_memset", GRT_CUPTI_SET, NULL, false},
	{"cuda_runtime", GRT_CUPTI_CALL, "Runtime: ", false},
	{"cuda_driver", GRT_CUPTI_CALL, "Driver: ", false},
	{"Memcpy", GRT_CUPTI_COPY, NULL, false},
	{"Memset", GRT_CUPTI_SET, NULL, false},
	{"Runtime", GRT_CUPTI_CALL, NULL, false},
	{"GPU_Kernel", GRT_CUPTI_KERNEL, "Kernel: ", false},
	{"MemCopy", GRT_CUPTI_COPY, "MemCopy: ", false},
	{"user_annotation", GRT_CUPTI_RANGE, NULL, true},
	{"cpu_op", GRT_CUPTI_OP, NULL, true},
	{"Operator", GRT_CUPTI_OP, NULL, true},
	{"python_function", GRT_CUPTI_FRAME, NULL, true},
};

static struct grt_span without(struct grt_span name, const char *word)
{
	size_t len = word ? strlen(word) : 0;

	if (len && name.len > len && !memcmp(name.at, word, len))
		return (struct grt_span){name.at + len, name.len - len};
	return name;
}

/* The kind of memory that has a name. Return: 0: unknown */
static uint64_t gpu_json_memory(const char *at, size_t len)
{
	const char *name;

	for (uint32_t kind = 1; (name = grt_cuda_memory_name(kind)); kind++)
		if (strlen(name) == len && !memcmp(name, at, len))
			return kind;
	return 0;
}

/* Of "Memcpy HtoD (Pageable -> Device)" and "Memset (Device)" the kinds of memory. */
static void gpu_json_memories(struct grt_span name, struct grt_cupti_record *rec)
{
	static const char to[] = " -> ";
	const char *begin = name.len ? memchr(name.at, '(', name.len) : NULL, *end = name.at + name.len - 1;
	const char *arrow =
		begin && *end == ')' ? memmem(begin, (size_t)(end - begin), to, sizeof(to) - 1) : NULL;

	if (!begin || *end != ')')
		return;
	if (arrow)
		rec->from_memory = gpu_json_memory(begin + 1, (size_t)(arrow - begin - 1));
	begin = arrow ? arrow + sizeof(to) - 1 : begin + 1;
	rec->to_memory = gpu_json_memory(begin, (size_t)(end - begin));
}

/* Of "Memcpy HtoD (Pageable -> Device)" the direction. */
static struct grt_span direction(struct grt_span name)
{
	static const char word[] = "Memcpy ";
	const char *end;

	if (name.len < sizeof(word) - 1 || memcmp(name.at, word, sizeof(word) - 1))
		return name;
	name.at += sizeof(word) - 1;
	name.len -= sizeof(word) - 1;
	end = memchr(name.at, ' ', name.len);
	if (end)
		name.len = (size_t)(end - name.at);
	return name;
}

static const struct category *category_of(const struct reader *r, const struct event *e)
{
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
		if ((r->all || !categories[i].of_program) && !strcasecmp(e->category, categories[i].name))
			return &categories[i];
	return NULL;
}

static int gpu_json_hand_out(struct reader *r, const struct event *e)
{
	const struct category *c = category_of(r, e);
	struct grt_cupti_record rec = {.start = e->ts,
				       .correlation = e->correlation,
				       .tid = e->tid,
				       .bytes = e->bytes,
				       .device = e->device,
				       .stream = e->stream,
				       .graph = e->graph,
				       .pid = e->pid,
				       .context = e->context,
				       .registers = e->registers,
				       .shared = e->shared,
				       .external = e->external,
				       .name = {r->name.at, r->name.len}};

	r->count->lines++;
	memcpy(rec.grid, e->grid, sizeof(rec.grid));
	memcpy(rec.block, e->block, sizeof(rec.block));
	if (r->all && !strcmp(e->phase, "M") && r->name.len == 12 &&
	    !memcmp(r->name.at, "process_name", 12)) {
		rec.kind = GRT_CUPTI_PROCESS;
		rec.end = rec.start;
		rec.name = (struct grt_span){r->label.at, r->label.len};
		r->count->other++;
		return r->record(r->arg, &rec);
	}
	if (!c || strcmp(e->phase, "X")) {
		r->count->other++;
		return 0;
	}
	if (!e->timed || !e->lasting || __builtin_add_overflow(e->ts, e->dur, &rec.end)) {
		if (!r->count->bad++)
			r->count->first_bad = r->count->lines;
		return 0;
	}
	r->count->records++;
	rec.kind = c->kind;
	rec.name = without(rec.name, c->word);
	if (c->kind == GRT_CUPTI_COPY || c->kind == GRT_CUPTI_SET)
		gpu_json_memories(rec.name, &rec);
	if (c->kind == GRT_CUPTI_COPY)
		rec.name = direction(rec.name);
	return r->record(r->arg, &rec);
}

/* zlib hands out what there is of a cut file, and then the end. */
static bool gpu_json_is_whole(const struct reader *r)
{
#ifdef GRT_HAVE_ZLIB
	int code = Z_OK;

	if (r->gz)
		gzerror(r->gz, &code);
	return code != Z_BUF_ERROR;
#else
	return !r->gz;
#endif
}

/* The events of an array whose bracket is behind; a bare one may end anywhere between them. */
static int gpu_json_take_events(struct reader *r, bool bare)
{
	struct event e;
	int ret = 0;

	if (take_char(r, ']'))
		return 0;
	do {
		if (bare && (peek_word(r) == ']' || peek(r) < 0))
			break;
		if (peek_word(r) != '{') {
			if (!skip_value(r))
				return -EPROTO;
			continue;
		}
		e = (struct event){.phase = ""};
		r->name.len = r->label.len = 0;
		if (!take_char(r, '{') || !take_object(r, &e, false))
			return -EPROTO;
		ret = gpu_json_hand_out(r, &e);
	} while (!ret && take_char(r, ','));
	if (ret)
		return ret;
	return take_char(r, ']') || (bare && peek_word(r) < 0 && gpu_json_is_whole(r)) ? 0 : -EPROTO;
}

/* The members of distributedInfo, whose brace is behind. */
static bool take_rank(struct reader *r)
{
	char key[KEY_MAX];
	bool good;

	if (take_char(r, '}'))
		return true;
	do {
		if (!take_short(r, key, sizeof(key)) || !take_char(r, ':'))
			return false;
		if (!strcmp(key, "rank"))
			good = take_u64(r, 0, &r->count->rank, &r->count->ranked);
		else if (!strcmp(key, "world_size"))
			good = take_u64(r, 0, &r->count->world, NULL);
		else
			good = skip_value(r);
	} while (good && take_char(r, ','));
	return good && take_char(r, '}');
}

static int take_trace(struct reader *r)
{
	char key[KEY_MAX];
	int ret = 0;

	if (take_char(r, '['))
		return gpu_json_take_events(r, true);
	if (!take_char(r, '{'))
		return -EPROTO;
	if (take_char(r, '}'))
		return 0;
	do {
		if (!take_short(r, key, sizeof(key)) || !take_char(r, ':'))
			return -EPROTO;
		if (!strcmp(key, "traceEvents") && take_char(r, '['))
			ret = gpu_json_take_events(r, false);
		else if (!strcmp(key, "distributedInfo") && take_char(r, '{'))
			ret = take_rank(r) ? 0 : -EPROTO;
		else if (!strcmp(key, "baseTimeNanoseconds"))
			ret = take_u64(r, 0, &r->count->base, NULL) ? 0 : -EPROTO;
		else if (!skip_value(r))
			ret = -EPROTO;
	} while (!ret && take_char(r, ','));
	return ret ? ret : take_char(r, '}') ? 0 : -EPROTO;
}

/* ------------------------------------------------------------------ files */

static bool is_gzip(const char *head, size_t len)
{
	return len >= 2 && !memcmp(head, "\x1f\x8b", 2);
}

bool grt_gpu_json_takes(const char *head, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", head[i]) && head[i])
		i++;
	return is_gzip(head, len) || (i < len && (head[i] == '{' || head[i] == '['));
}

/* A copy of the descriptor is read through zlib where it begins like gzip. */
static int open_gzip(struct reader *r)
{
	char head[2];

	if (pread(r->fd, head, sizeof(head), lseek(r->fd, 0, SEEK_CUR)) != sizeof(head) || !is_gzip(head, 2))
		return 0;
#ifdef GRT_HAVE_ZLIB
	int copy = dup(r->fd);

	r->gz = copy < 0 ? NULL : gzdopen(copy, "rb");
	if (!r->gz && copy >= 0)
		close(copy);
	return r->gz ? 0 : -ENOMEM;
#else
	return -ENOSYS;
#endif
}

/* What precedes the end is good where the end is all that is wrong. */
static int forgive_end(struct reader *r, int ret)
{
	r->count->cut = ret == -EPROTO && r->count->lines && peek(r) < 0 && !r->error;
	return r->count->cut ? 0 : ret;
}

static int gpu_json_read(int fd, struct grt_cupti_count *count,
			 int (*record)(void *arg, const struct grt_cupti_record *r), void *arg, bool all)
{
	struct reader r = {.fd = fd, .count = count, .record = record, .arg = arg, .all = all};
	int ret;

	r.buf = malloc(CHUNK);
	r.name = (struct text){.at = malloc(GRT_GPU_JSON_NAME_MAX), .room = GRT_GPU_JSON_NAME_MAX};
	r.label = (struct text){.at = malloc(GRT_GPU_JSON_NAME_MAX), .room = GRT_GPU_JSON_NAME_MAX};
	ret = r.buf && r.name.at && r.label.at ? open_gzip(&r) : -ENOMEM;
	if (!ret)
		ret = forgive_end(&r, take_trace(&r));
	if (r.error)
		ret = r.error;
#ifdef GRT_HAVE_ZLIB
	if (r.gz)
		gzclose(r.gz);
#endif
	free(r.buf);
	free(r.name.at);
	free(r.label.at);
	return ret;
}

int grt_gpu_json_read(int fd, struct grt_cupti_count *count,
		      int (*record)(void *arg, const struct grt_cupti_record *r), void *arg)
{
	return gpu_json_read(fd, count, record, arg, false);
}

int grt_gpu_json_read_all(int fd, struct grt_cupti_count *count,
			  int (*record)(void *arg, const struct grt_cupti_record *r), void *arg)
{
	return gpu_json_read(fd, count, record, arg, true);
}
