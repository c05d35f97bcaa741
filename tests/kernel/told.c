// SPDX-License-Identifier: GPL-2.0
/*
 * Stand-ins and what is told of them, see told.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grtrace/event_table.h>

#include "kmod.h"
#include "tap.h"
#include "told.h"

#define TEXT_MAX 65536
#define OBJECTS 26

int play(const char *module, const char *fmt, ...)
{
	char path[128], line[256];
	va_list ap;
	int fd, err = 0;

	snprintf(path, sizeof(path), "/sys/kernel/debug/grtrace_play_%s", module);
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, line, strlen(line)) < 0)
		err = -errno;
	close(fd);
	return err;
}

void told_begin(void)
{
	int err = kmod_write("control", "start");

	if (err)
		TAP_FAIL("cannot start: %s", strerror(-err));
	else if (!kmod_pin(0))
		TAP_FAIL("cannot stay on CPU 0: %s", strerror(errno));
}

/* Text that grows within bounds. */
struct text {
	char data[TEXT_MAX];
	size_t len;
	uint64_t object[OBJECTS];
	char ring[256][32];
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->data + t->len, sizeof(t->data) - t->len, fmt, ap);
	va_end(ap);
	if (n > 0 && t->len + n < sizeof(t->data))
		t->len += n;
}

static uint64_t field(const struct grt_field *f, const struct grt_event *e)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)e + f->offset, f->size);
	return value;
}

static char letter(struct text *t, uint64_t object)
{
	int i;

	for (i = 0; i < OBJECTS - 1 && t->object[i] && t->object[i] != object; i++)
		;
	t->object[i] = object;
	return 'A' + i;
}

static bool is_object(const struct grt_field *f)
{
	return f->size == 8 && (!strcmp(f->name, "object") || !strcmp(f->name, "vm"));
}

static void put_field(struct text *t, const struct grt_field *f, const struct grt_event *e)
{
	uint64_t value = field(f, e);

	if (f->kind == GRT_FIELD_STR)
		put(t, " %s=%.*s", f->name, f->size, (const char *)e + f->offset);
	else if (!value)
		return;
	else if (is_object(f))
		put(t, " %s=%c", f->name, letter(t, value));
	else if (f->kind == GRT_FIELD_ENGINE)
		put(t, " %s=%s", f->name, grt_engine_names[value]);
	else if (f->kind == GRT_FIELD_HEX)
		put(t, " %s=0x%llx", f->name, (unsigned long long)value);
	else if (f->kind == GRT_FIELD_SIGNED)
		put(t, " %s=%d", f->name, (int)value);
	else
		put(t, " %s=%llu", f->name, (unsigned long long)value);
}

static void put_common(struct text *t, const struct grt_field *f, const struct grt_event *e)
{
	const char *name = f->name;

	if (!strcmp(name, "pid") || !strcmp(name, "tid") || !strcmp(name, "sample"))
		return;
	if (strcmp(name, "ring"))
		put_field(t, f, e);
	else if (e->ring < 256)
		put(t, " ring=%s", t->ring[e->ring]);
}

static void put_event(struct text *t, const struct grt_event *e)
{
	const struct grt_event_desc *d = &grt_event_table[e->type & (GRT_EV_MAX - 1)];
	const struct grt_field *f;

	put(t, "%s", d->title ? d->title : "?");
	if (e->pid == (uint32_t)getpid())
		put(t, " me");
	else if (e->pid || e->tid)
		put(t, " pid=%u", e->pid);
	for (f = grt_common_fields; f->name; f++)
		put_common(t, f, e);
	for (f = d->name ? d->fields() : NULL; f && f->name; f++)
		put_field(t, f, e);
	put(t, "\n");
}

static void learn_ring(struct text *t, const struct grt_ev_name *n)
{
	if (n->kind == GRT_NAME_RING && n->id < 256)
		snprintf(t->ring[n->id], sizeof(t->ring[0]), "%.31s", n->name);
}

static bool stop(struct capture *c)
{
	int err = kmod_write("control", "stop");

	memset(c, 0, sizeof(*c));
	kmod_unpin();
	if (!err)
		err = capture_file(c, "trace_pipe");
	if (err)
		TAP_FAIL("cannot stop and read: %s", strerror(-err));
	return !err && capture_valid(c);
}

/* All that the capture holds as text; it came from one CPU, so it is in order. */
static struct text *describe(const struct capture *c)
{
	struct text *t = calloc(1, sizeof(*t));
	const struct grt_packet *p = NULL;
	const struct grt_event *e;

	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
			if (e->type == GRT_EV_NAME)
				learn_ring(t, (const void *)e);
			else
				put_event(t, e);
		}
	return t;
}

static const char *line_after(const char *at, size_t *len)
{
	*len = strcspn(at, "\n");
	return at + *len + (at[*len] == '\n');
}

static bool same(const char *is, const char *want)
{
	size_t n, m;

	while (*is || *want) {
		const char *next_is = line_after(is, &n), *next_want = line_after(want, &m);

		if (n != m || memcmp(is, want, n)) {
			TAP_FAIL("told:     %.*s", (int)n, is);
			tap_note("expected: %.*s", (int)m, want);
			return false;
		}
		is = next_is;
		want = next_want;
	}
	return true;
}

bool told(const char *want)
{
	struct capture c;
	struct text *t;
	bool good = stop(&c);

	if (good) {
		t = describe(&c);
		good = same(t->data, want);
		free(t);
	}
	capture_free(&c);
	return good;
}

uint64_t told_count(unsigned int type)
{
	struct capture c;
	uint64_t n = UINT64_MAX;

	if (stop(&c))
		n = capture_count(&c, type);
	capture_free(&c);
	return n;
}

static bool count_job(const struct grt_event *e, uint64_t ctx, unsigned int nctx, unsigned int n,
		      uint8_t *seen)
{
	if (e->ctx < ctx || e->ctx >= ctx + nctx || !e->seqno || e->seqno > n)
		return false;
	seen[(e->ctx - ctx) * n + e->seqno - 1]++;
	return true;
}

static bool once(const struct capture *c, unsigned int type, uint64_t ctx, unsigned int nctx, unsigned int n)
{
	uint8_t *seen = calloc(nctx, n);
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	bool good = true;
	unsigned int i;

	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e))
			if (e->type == type && !count_job(e, ctx, nctx, n, seen))
				good = false;
	for (i = 0; i < nctx * n; i++)
		good &= seen[i] == 1;
	free(seen);
	return good;
}

bool told_each_once(const unsigned int *types, unsigned int ntypes, uint64_t ctx, unsigned int nctx,
		    unsigned int n)
{
	struct capture c;
	bool good = stop(&c);
	unsigned int i;

	for (i = 0; good && i < ntypes; i++) {
		good = once(&c, types[i], ctx, nctx, n);
		if (!good)
			TAP_FAIL("%s was not told once for each job: %llu for %u",
				 grt_event_table[types[i]].title,
				 (unsigned long long)capture_count(&c, types[i]), nctx * n);
	}
	capture_free(&c);
	return good;
}

void told_at_once(void *(*lives)(void *ctx), int first, const unsigned int *types, unsigned int ntypes)
{
	pthread_t thread[TOLD_THREADS];
	int ctx[TOLD_THREADS], i;

	told_begin();
	kmod_unpin();
	for (i = 0; i < TOLD_THREADS; i++) {
		ctx[i] = first + i;
		CHECK(!pthread_create(&thread[i], NULL, lives, &ctx[i]));
	}
	for (i = 0; i < TOLD_THREADS; i++)
		pthread_join(thread[i], NULL);
	told_each_once(types, ntypes, first, TOLD_THREADS, TOLD_EACH);
}

const char *adapter_word(const char *adapter, const char *name)
{
	static char text[32768], word[64];
	char *at = text, *line, *found;

	snprintf(word, sizeof(word), " %s=", name);
	kmod_read("adapters", text, sizeof(text));
	while ((line = strsep(&at, "\n"))) {
		if (strncmp(line, adapter, strlen(adapter)) || line[strlen(adapter)] != ' ')
			continue;
		if (!*name)
			return line;
		found = strstr(line, word);
		if (!found)
			return "";
		found += strlen(word);
		found[*found == '"' ? 1 + strcspn(found + 1, "\"") : strcspn(found, " ")] = 0;
		return found + (*found == '"');
	}
	return "";
}

int adapter_has(const char *adapter, const char *point)
{
	const char *at = adapter_word(adapter, "");
	size_t n = strlen(point);

	while ((at = strstr(at, point))) {
		if ((at[-1] == '=' || at[-1] == ',') && at[n] == ':')
			return at[n + 1] == '1';
		at += n;
	}
	return -1;
}
