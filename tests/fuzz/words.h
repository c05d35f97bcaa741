/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fuzz targets for text share: bytes of an input below 128 stand for
 * themselves and the others for words of the text, so that short inputs make
 * whole records; and what must hold of any text that was read.
 */
#ifndef FUZZ_WORDS_H
#define FUZZ_WORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

/** struct words - of a form of text; @first: how each input begins, so that it is known */
struct words {
	const char *first;
	const char *const *word;
	unsigned int words;
};

#define WORDS(first, list)                                        \
	{                                                         \
		(first), (list), sizeof(list) / sizeof((list)[0]) \
	}

static inline size_t spell(const struct words *w, const uint8_t *data, size_t size, char *text, size_t room)
{
	size_t used = strlen(w->first);

	memcpy(text, w->first, used);
	for (size_t i = 0; i < size; i++) {
		const char *word = data[i] < 128 ? NULL : w->word[(data[i] - 128U) % w->words];
		size_t len = word ? strlen(word) : 1;

		if (used + len > room)
			break;
		memcpy(text + used, word ? (const void *)word : &data[i], len);
		used += len;
	}
	return used;
}

struct seen {
	struct grt_consumer c;
	uint64_t events;
	uint64_t last;
	volatile char sum;
};

static inline int see_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct seen *s = (struct seen *)c;

	(void)cpu;
	CHECK(e->size >= sizeof(*e) && e->size % 8 == 0 && e->type && e->type < GRT_EV_MAX);
	CHECK(e->time >= s->last);
	for (unsigned int i = 0; i < e->size; i++)
		s->sum = (char)(s->sum + ((const char *)e)[i]);
	s->last = e->time;
	s->events++;
	return 0;
}

static inline void check(struct grt_session *s, const struct seen *seen, const char *text, size_t size)
{
	const struct grt_health *h = grt_session_health(s);
	const struct grt_skipped *kind;
	uint64_t lines = 0;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n' || i + 1 == size;
	CHECK(h->events == seen->events);
	CHECK(h->text.lines == lines && h->text.bad <= lines);
	CHECK(!h->fault[GRT_FAULT_TIME]);
	CHECK((grt_session_skipped(s, &kind) > 0) == (h->text.skipped > 0));
}

/* Reads the text that an input spells. */
static inline void read_words(const struct words *w, const uint8_t *data, size_t size)
{
	static char text[65536];
	struct seen seen = {.c = {.event = see_event}};
	size_t len = spell(w, data, size, text, sizeof(text));
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct grt_session *s;
	struct grt_err err;
	char path[32];

	CHECK(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!grt_session_open(&s, path, &err)) {
		CHECK(grt_session_run(s, &seen.c, 0, UINT64_MAX, &err) == 0);
		check(s, &seen, text, len);
		grt_session_close(s);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* FUZZ_WORDS_H */
