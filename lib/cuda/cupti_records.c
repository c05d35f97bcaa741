// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Reads the text of CUPTI's records, see cupti_text.h. The text after the time stamps is a list of `word
 * value` separated by commas, in no fixed order; the known words are rows below.
 */
#include "cupti_records.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers.h"
#include "base/lines_in.h"

static const struct kind_row {
	const char *word;
	unsigned int kind;
} kind_rows[] = {
	{"RUNTIME", GRT_CUPTI_CALL},
	{"DRIVER", GRT_CUPTI_CALL},
	{"CONCURRENT_KERNEL", GRT_CUPTI_KERNEL},
	{"KERNEL", GRT_CUPTI_KERNEL},
	{"MEMCPY", GRT_CUPTI_COPY},
	{"MEMCPY2", GRT_CUPTI_COPY},
	{"MEMSET", GRT_CUPTI_SET},
	{"OVERHEAD", GRT_CUPTI_OTHER},
	{"MEMORY2", GRT_CUPTI_OTHER},
	{"SYNCHRONIZATION", GRT_CUPTI_OTHER},
	{"MEMORY", GRT_CUPTI_OTHER},
};

#define FIELD(word, member)                                                                 \
	{                                                                                   \
		word, sizeof(word) - 1, __builtin_offsetof(struct grt_cupti_record, member) \
	}

static const struct field_row {
	const char *word;
	size_t len;
	size_t offset;
} field_rows[] = {
	FIELD("correlationId ", correlation),
	FIELD("threadId ", tid),
	FIELD("size ", bytes),
	FIELD("deviceId ", device),
	FIELD("streamId ", stream),
	FIELD("graphId ", graph),
	FIELD("processId ", pid),
	FIELD("contextId ", context),
	FIELD("graphNodeId ", graph_node),
	FIELD("sharedMemory (static ", shared),
	FIELD("dynamic ", shared_dynamic),
};

/* grid [ 4, 1, 1 ] */
static const struct field_row triple_rows[] = {FIELD("grid [", grid), FIELD("block [", block)};

/**
 * struct reader - a record, up to the line that does not belong to it
 * @name: its name, which is needed after its line
 */
struct reader {
	struct grt_cupti_count *count;
	struct grt_cupti_record r;
	bool open;
	char *name;
	size_t room;
	int (*record)(void *arg, const struct grt_cupti_record *r);
	void *arg;
};

static void take_field(struct grt_cupti_record *r, const char *p, const char *end)
{
	for (size_t i = 0; i < sizeof(field_rows) / sizeof(field_rows[0]); i++) {
		const struct field_row *f = &field_rows[i];
		const char *q = p;

		if (grt_scan_text(&q, end, f->word, f->len))
			grt_scan_u64(&q, end, (uint64_t *)((char *)r + f->offset));
	}
}

static void take_triple(struct grt_cupti_record *r, const char *p, const char *end)
{
	for (size_t i = 0; i < sizeof(triple_rows) / sizeof(triple_rows[0]); i++) {
		const struct field_row *f = &triple_rows[i];
		uint64_t *to = (uint64_t *)((char *)r + f->offset);
		const char *q = p;
		bool more = grt_scan_text(&q, end, f->word, f->len);

		for (int k = 0; k < 3 && more; k++) {
			grt_scan_blanks(&q, end);
			more = grt_scan_u64(&q, end, &to[k]) && grt_scan_char(&q, end, ',');
		}
	}
}

/* Values are separated by commas; those in brackets hold none of these words. */
static void cupti_records_take_fields(struct grt_cupti_record *r, const char *p, const char *end)
{
	const char *comma;

	for (; p < end; p = comma + 1) {
		grt_scan_blanks(&p, end);
		comma = memchr(p, ',', (size_t)(end - p)) ?: end;
		take_field(r, p, comma);
		take_triple(r, p, end);
	}
}

static int keep_name(struct reader *d, const char *name, size_t len)
{
	if (grt_grow(&d->name, &d->room, len, 256))
		return -ENOMEM;
	if (len)
		memcpy(d->name, name, len);
	d->r.name = (struct grt_span){d->name, len};
	return 0;
}

/* "NAME" of kernels may hold commas and quotes: it ends at the last quote. */
static bool take_name(const char **p, const char *end, struct grt_span *name)
{
	const char *from = memchr(*p, '"', (size_t)(end - *p)), *to;

	if (!from)
		return false;
	to = memrchr(from + 1, '"', (size_t)(end - from - 1));
	if (!to)
		return false;
	*name = (struct grt_span){from + 1, (size_t)(to - from - 1)};
	*p = to + 1;
	return true;
}

static bool take_stamps(const char **p, const char *end, struct grt_cupti_record *r)
{
	grt_scan_blanks(p, end);
	if (!grt_scan_char(p, end, '['))
		return false;
	grt_scan_blanks(p, end);
	if (!grt_scan_u64(p, end, &r->start) || !grt_scan_char(p, end, ','))
		return false;
	grt_scan_blanks(p, end);
	if (!grt_scan_u64(p, end, &r->end))
		return false;
	grt_scan_blanks(p, end);
	return grt_scan_char(p, end, ']') && r->end >= r->start;
}

/* Lines of copies have the kind before the time stamps; other lines have the name after them. */
static bool cupti_records_take_record(struct grt_cupti_record *r, const char *p, const char *end,
				      struct grt_span *name)
{
	const char *bracket = memchr(p, '[', (size_t)(end - p));

	*name = (struct grt_span){"", 0};
	if (!bracket)
		return false;
	if (r->kind == GRT_CUPTI_COPY)
		take_name(&p, bracket, name);
	p = bracket;
	if (!take_stamps(&p, end, r))
		return false;
	if ((r->kind == GRT_CUPTI_CALL || r->kind == GRT_CUPTI_KERNEL) && !take_name(&p, end, name))
		return false;
	cupti_records_take_fields(r, p, end);
	return true;
}

static const struct kind_row *cupti_records_kind_of(const char **p, const char *end)
{
	struct grt_span word;

	if (!grt_scan_token(p, end, &word))
		return NULL;
	for (size_t i = 0; i < sizeof(kind_rows) / sizeof(kind_rows[0]); i++)
		if (grt_span_is(word, kind_rows[i].word))
			return &kind_rows[i];
	return NULL;
}

static int close_record(struct reader *d)
{
	if (!d->open)
		return 0;
	d->open = false;
	return d->record(d->arg, &d->r);
}

static int cupti_records_take_line(struct reader *d, const char *line, const char *end)
{
	const struct kind_row *kind;
	struct grt_span name;
	const char *p = line;
	int ret;

	d->count->lines++;
	if (line < end && grt_is_blank(*line)) {
		if (d->open)
			cupti_records_take_fields(&d->r, line, end);
		return 0;
	}
	ret = close_record(d);
	kind = ret ? NULL : cupti_records_kind_of(&p, end);
	if (!kind) {
		d->count->other += line < end;
		return ret;
	}
	d->r = (struct grt_cupti_record){.kind = kind->kind, .bytes = GRT_BYTES_UNKNOWN};
	if (kind->kind != GRT_CUPTI_OTHER && !cupti_records_take_record(&d->r, p, end, &name)) {
		if (!d->count->bad++)
			d->count->first_bad = d->count->lines;
		return 0;
	}
	d->count->records++;
	if (kind->kind == GRT_CUPTI_OTHER)
		return 0;
	d->open = true;
	return keep_name(d, name.at, name.len);
}

bool grt_cupti_text_takes(const char *line, const char *end)
{
	struct grt_cupti_record r;
	struct grt_span name;
	const char *p = line;
	const struct kind_row *kind =
		line < end && !grt_is_blank(*line) ? cupti_records_kind_of(&p, end) : NULL;

	if (!kind || kind->kind == GRT_CUPTI_OTHER)
		return false;
	r = (struct grt_cupti_record){.kind = kind->kind};
	return cupti_records_take_record(&r, p, end, &name);
}

int grt_cupti_text_read(int fd, struct grt_cupti_count *count,
			int (*record)(void *arg, const struct grt_cupti_record *r), void *arg)
{
	struct reader d = {.count = count, .record = record, .arg = arg};
	struct grt_lines lines = {.fd = fd};
	const char *line, *end;
	int ret = grt_lines_init(&lines, NULL, 0), more = 0;

	while (!ret && (more = grt_lines_next(&lines, &line, &end)) > 0)
		ret = cupti_records_take_line(&d, line, end);
	if (!ret)
		ret = more < 0 ? more : close_record(&d);
	grt_lines_fini(&lines);
	free(d.name);
	return ret;
}
