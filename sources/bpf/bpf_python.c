// SPDX-License-Identifier: GPL-2.0
/* Names and lines of CPython's frames, see bpf_python.h. */
#include "bpf_python.h"

#ifdef GRT_HAVE_BPF

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "inject/python_format.h"
#include "unwind_rows.h"

/* Bytes of a table of lines that are read here if the programs could not read all of it. */
#define TABLE_MAX (1U << 20)

/** struct code - a code object, with @bytes of its table of lines */
struct code {
	char *function;
	char *file;
	uint8_t *table;
	uint32_t bytes;
	uint32_t minor;
	int32_t first;
	uint32_t shown;
};

static struct {
	struct code *code; /* by index in the programs' table */
	uint64_t unread;
} python;

bool grt_bpf_python_is(uint64_t word)
{
	return word & PYTHON_WORD;
}

/* Return: the characters of a str that were read; "": none were. NULL: no memory */
static char *bpf_python_text(const struct python_text *t, const char *data, size_t room, bool tail)
{
	uint32_t kind = GRT_PYTHON_TEXT_KIND(t->state), bytes = t->bytes < room ? t->bytes : (uint32_t)room;
	char *text = malloc(4 * room + 5);
	size_t used = 0;

	if (!text)
		return NULL;
	if (kind)
		used = grt_python_utf8(data, t->state, bytes / kind, text, 4 * room, tail);
	text[used] = '\0';
	return text;
}

static void bpf_python_free(struct code *c)
{
	free(c->function);
	free(c->file);
	free(c->table);
	*c = (struct code){.function = NULL};
}

/* The rest of a long table, if it still exists. Return: its bytes */
static uint32_t bpf_python_read_on(const struct python_news *n, uint8_t **table)
{
	uint32_t whole = n->whole < TABLE_MAX ? (uint32_t)n->whole : TABLE_MAX;
	struct iovec to, from = {(void *)(uintptr_t)n->address, whole};
	uint8_t *larger;

	if (whole <= n->table)
		return n->table;
	larger = malloc(whole);
	to = (struct iovec){larger, whole};
	if (!larger || process_vm_readv((pid_t)n->pid, &to, 1, &from, 1, 0) != (ssize_t)whole ||
	    memcmp(larger, *table, n->table)) {
		free(larger);
		return n->table;
	}
	free(*table);
	*table = larger;
	return whole;
}

int grt_bpf_python_take(void *arg, void *data, size_t size)
{
	const struct python_news *n = data;
	struct code c;

	if (size < sizeof(*n) || n->place >= PYTHON_CODES_MAX || n->table > size - sizeof(*n))
		return 0;
	if (!python.code)
		python.code = calloc(PYTHON_CODES_MAX, sizeof(*python.code));
	c = (struct code){.function = bpf_python_text(&n->name, n->name_at, sizeof(n->name_at), false),
			  .file = bpf_python_text(&n->file, n->file_at, sizeof(n->file_at), true),
			  .table = malloc(n->table ?: 1),
			  .minor = n->minor,
			  .first = n->first,
			  .shown = n->shown};
	if (!python.code || !c.function || !c.file || !c.table) {
		bpf_python_free(&c);
		return -ENOMEM;
	}
	memcpy(c.table, n + 1, n->table);
	c.bytes = bpf_python_read_on(n, &c.table);
	python.unread += !c.function[0] || c.bytes < n->whole;
	bpf_python_free(&python.code[n->place]);
	python.code[n->place] = c;
	return 0;
}

bool grt_bpf_python_find(uint64_t word, struct grt_bpf_python *out)
{
	const struct code *c = python.code && PYTHON_PLACE(word) < PYTHON_CODES_MAX
				       ? &python.code[PYTHON_PLACE(word)]
				       : NULL;
	int64_t unit = PYTHON_UNIT(word);

	*out = (struct grt_bpf_python){.function = "[python]"};
	if (!c || !c->function)
		return true;
	/*
	 * before its first traceable instruction: frames that CPython inserts from 3.12 on between a class
	 * and its __init__()
	 */
	if (c->minor >= 11 && unit < (int64_t)c->shown)
		return false;
	out->function = c->function[0] ? c->function : "[python]";
	out->file = c->file[0] ? c->file : NULL;
	out->line = grt_python_line(c->minor, c->table, c->bytes, c->first, unit);
	return true;
}

uint64_t grt_bpf_python_unread(void)
{
	return python.unread;
}

void grt_bpf_python_forget(void)
{
	for (uint32_t i = 0; python.code && i < PYTHON_CODES_MAX; i++)
		bpf_python_free(&python.code[i]);
	free(python.code);
	memset(&python, 0, sizeof(python));
}

#endif /* GRT_HAVE_BPF */
