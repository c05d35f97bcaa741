// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: folded stacks, and what is written of them: nothing is
 * lost, folded stacks read back the same, and pictures hold no byte that XML
 * forbids and no markup of the input.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stack/folded_in.h"
#include "flamegraph/flamegraph.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

static int file_of(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static char *text_of(int fd, size_t *len)
{
	char *text;
	off_t size = lseek(fd, 0, SEEK_END);

	CHECK(size >= 0);
	*len = (size_t)size;
	text = malloc(*len + 1);
	CHECK(text && pread(fd, text, *len, 0) == size);
	text[*len] = '\0';
	close(fd);
	return text;
}

static char *written(const struct grt_stacks *s, enum grt_flamegraph_form form, size_t *len)
{
	const struct grt_flamegraph_look look = {.title = "a<&>\"'\x01\xff", .unit = "us", .min = 1};
	struct grt_flamegraph_count count;
	int fd = file_of("", 0);

	CHECK(!grt_flamegraph_write(s, form, &look, fd, &count));
	return text_of(fd, len);
}

static struct grt_stacks *tree_of(int fd, struct grt_folded_count *count)
{
	struct grt_stacks *s;
	struct grt_err err;
	int ret;

	CHECK(!grt_stacks_new(&s));
	ret = grt_folded_read(fd, "fuzz", s, GRT_STACKS_NOW, count, &err);
	close(fd);
	if (!ret)
		return s;
	CHECK(ret == -EOVERFLOW);
	grt_stacks_free(s);
	return NULL;
}

static void check_folded(const struct grt_stacks *s, const struct grt_folded_count *count)
{
	struct grt_folded_count again = {0};
	size_t len, len_again;
	char *text = written(s, GRT_FLAMEGRAPH_FOLDED, &len), *text_again;
	struct grt_stacks *t = tree_of(file_of(text, len), &again);

	CHECK(t && !again.bad && grt_stacks_total(t, GRT_STACKS_NOW) == grt_stacks_total(s, GRT_STACKS_NOW));
	CHECK(count->lines == count->stacks + count->bad && (count->stacks == 0) == (len == 0));
	text_again = written(t, GRT_FLAMEGRAPH_FOLDED, &len_again);
	CHECK(len == len_again && !memcmp(text, text_again, len));
	grt_stacks_free(t);
	free(text);
	free(text_again);
}

static void check_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		CHECK((unsigned char)text[i] >= ' ' || text[i] == '\n' || text[i] == '\t');
}

static void check_picture(const struct grt_stacks *s)
{
	size_t len, markup = 0;
	char *text = written(s, GRT_FLAMEGRAPH_SVG, &len);
	const char *from = strstr(text, "<g id=\"flame-frames\">"),
		   *to = from ? strstr(from, "\n</g>") : NULL;

	check_text(text, len);
	CHECK(from && to);
	/* <g> <title> </title> <rect/> <text> </text> </g> */
	for (const char *p = from + 21; p < to + 5; p++)
		markup += *p == '<';
	CHECK(markup % 7 == 1);
	free(text);
}

/* A profile has a frame for each text: nothing of a stack ends a string. */
static void check_profiles(const struct grt_stacks *s)
{
	size_t len, names = 0;
	char *text = written(s, GRT_FLAMEGRAPH_SPEEDSCOPE, &len);

	check_text(text, len);
	for (const char *p = text; (p = strstr(p, "\n{\"name\": \"")); p++)
		names++;
	CHECK(names == grt_stacks_names(s));
	free(text);
	free(written(s, GRT_FLAMEGRAPH_PPROF, &len));
}

static size_t markup_of(const struct grt_stacks *s)
{
	size_t len, markup = 0;
	char *text = written(s, GRT_FLAMEGRAPH_HTML, &len);

	check_text(text, len);
	for (size_t i = 0; i < len; i++)
		markup += text[i] == '<';
	free(text);
	return markup;
}

/* Stacks are data of a page and never markup: any has as much as one without stacks. */
static void check_page(const struct grt_stacks *s)
{
	static size_t markup;
	struct grt_stacks *none;

	if (!markup) {
		CHECK(!grt_stacks_new(&none));
		markup = markup_of(none);
		grt_stacks_free(none);
	}
	CHECK(markup && markup_of(s) == markup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct grt_folded_count count = {0};
	struct grt_stacks *s = tree_of(file_of(data, size), &count);

	if (!s)
		return 0;
	grt_folded_takes((const char *)data, size);
	check_folded(s, &count);
	check_picture(s);
	check_profiles(s);
	check_page(s);
	grt_stacks_free(s);
	return 0;
}
