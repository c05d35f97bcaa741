// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Stacks of FRAME records, see frames.h. */
#include "frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/outbuf.h"

/* ------------------------------------------------------------ stack ends */

static const struct {
	const char *name;
	const char *help;
} rows[GRT_STACK_ENDS] = {
	[GRT_STACK_END_UNKNOWN] = {"unknown", "the recording does not say why the stack ends"},
#define GRT_STACK_END(number, NAME, name, help) [number] = {#name, help},
#include <grtrace/stack_ends.def>
#undef GRT_STACK_END
};

static const struct {
	const char *text;
	enum grt_stack_end end;
} roots[] = {
#define GRT_STACK_ROOT(NAME, text, END, meaning) {text, GRT_STACK_END_##END},
#define GRT_STACK_ROOT_BPF(text, END, meaning) {text, GRT_STACK_END_##END},
#include <grtrace/stack_roots.def>
#undef GRT_STACK_ROOT
};

const char *grt_stack_end_name(unsigned int end)
{
	return rows[end < GRT_STACK_ENDS ? end : 0].name;
}

const char *grt_stack_end_help(unsigned int end)
{
	return rows[end < GRT_STACK_ENDS ? end : 0].help;
}

enum grt_stack_end grt_stack_end_of_root(const char *text)
{
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (roots[i].text && text ? !strcmp(roots[i].text, text) : roots[i].text == text)
			return roots[i].end;
	return GRT_STACK_END_UNKNOWN;
}

/* ------------------------------------------------------------ frame text */

const char *grt_frame_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *grt_frame_text(const char *function, size_t len, const char *file, uint32_t line)
{
	char number[16 + GRT_PAD] = ":", *end = number, *text, *p;
	const char *base;
	size_t base_len;

	if (!function)
		len = strlen(function = "?");
	if (!file || !*file)
		return strndup(function, len);
	if (line)
		end = grt_format_u64(number + 1, line);
	base = grt_frame_base(file);
	base_len = strlen(base);
	len = strnlen(function, len);
	text = malloc(len + base_len + (size_t)(end - number) + sizeof(" ()"));
	if (!text)
		return NULL;
	p = grt_format_text(text, function, len);
	p = grt_format_text(p, " (", 2);
	p = grt_format_text(p, base, base_len);
	p = grt_format_text(p, number, (size_t)(end - number));
	memcpy(p, ")", 2);
	return text;
}

/* ---------------------------------------------------------------- frames */

#define DEPTH_MAX 1024U
/* Most paths of object files and sources, and most bytes of one. */
#define PATHS_MAX 131072U
#define PATH_BYTES_MAX 4096U
/* As in grt_stacks_name(). */
#define FRAMES_UNNAMED "[unknown]"

/**
 * struct grt_frames_stack
 * @symbol: for each of the @depth frames, innermost first: number of its text plus 1, 0: unknown
 * @place: the same number of places; NULL: none is known
 * @end: enum grt_stack_end
 */
struct grt_frames_stack {
	uint32_t id;
	uint32_t depth;
	uint32_t end;
	uint32_t *symbol;
	struct frame_numbers *place;
};

/** struct frame_numbers - of a FRAME_PLACE record */
struct frame_numbers {
	uint32_t module;
	uint32_t file;
	uint32_t line;
	bool inlined;
};

/** struct grt_frames_path - a path from FRAME_TEXT records, of whose @length bytes @used have arrived */
struct grt_frames_path {
	uint32_t number;
	uint32_t length;
	uint32_t used;
	char *text;
};

int grt_frames_init(struct grt_frames *f)
{
	*f = (struct grt_frames){.key = grt_hash_key_new()};
	return grt_stacks_new(&f->text);
}

static bool same_stack(const void *owner, uint32_t id, const void *key)
{
	return ((const struct grt_frames *)owner)->stack[id].id == *(const uint32_t *)key;
}

static struct grt_frames_stack *frames_find_stack(const struct grt_frames *f, uint32_t id)
{
	uint32_t at = grt_index_find(&f->index, grt_hash(&f->key, id, 1), same_stack, f, &id);

	return at == GRT_NOWHERE ? NULL : &f->stack[at];
}

/* Return: 0, with *out NULL: there are too many, or -ENOMEM */
static int frames_get_stack(struct grt_frames *f, uint32_t id, struct grt_frames_stack **out)
{
	*out = frames_find_stack(f, id);
	if (*out)
		return 0;
	if (f->stacks == GRT_FRAMES_STACKS_MAX) {
		f->dropped++;
		return 0;
	}
	if (grt_grow(&f->stack, &f->room, f->stacks + 1, 64))
		return -ENOMEM;
	*out = &f->stack[f->stacks];
	**out = (struct grt_frames_stack){.id = id};
	return grt_index_add(&f->index, grt_hash(&f->key, id, 1), f->stacks++);
}

/* The first of its records has the stack's depth. */
static int frames_set_depth(struct grt_frames_stack *s, uint32_t depth)
{
	if (s->symbol)
		return 0;
	s->symbol = calloc(depth, sizeof(*s->symbol));
	s->depth = s->symbol ? depth : 0;
	return s->symbol ? 0 : -ENOMEM;
}

static int frames_take_frame(struct grt_frames *f, const struct grt_ev_frame *e)
{
	struct grt_frames_stack *s;
	uint32_t number;
	int ret;

	if (!e->depth || e->depth > DEPTH_MAX)
		return 0;
	ret = frames_get_stack(f, e->stack, &s);
	if (!ret && s)
		ret = frames_set_depth(s, e->depth);
	if (ret || !s || e->index >= s->depth)
		return ret;
	ret = grt_stacks_name(f->text, e->symbol, strnlen(e->symbol, sizeof(e->symbol)), &number);
	if (!ret)
		s->symbol[e->index] = number + 1;
	return ret;
}

static int frames_take_end(struct grt_frames *f, const struct grt_ev_stack_end *e)
{
	struct grt_frames_stack *s;
	int ret = frames_get_stack(f, e->stack, &s);

	if (!ret && s)
		s->end = e->end < GRT_STACK_ENDS ? e->end : GRT_STACK_END_UNKNOWN;
	return ret;
}

static int frames_take_place(struct grt_frames *f, const struct grt_ev_frame_place *e)
{
	struct grt_frames_stack *s = frames_find_stack(f, e->stack);

	if (!s || e->index >= s->depth)
		return 0;
	if (!s->place)
		s->place = calloc(s->depth, sizeof(*s->place));
	if (!s->place)
		return -ENOMEM;
	s->place[e->index] = (struct frame_numbers){e->module, e->file, e->line, e->inlined};
	return 0;
}

static bool same_path(const void *owner, uint32_t id, const void *key)
{
	return ((const struct grt_frames *)owner)->path[id].number == *(const uint32_t *)key;
}

static struct grt_frames_path *frames_find_path(const struct grt_frames *f, uint32_t number)
{
	uint32_t at = grt_index_find(&f->path_index, grt_hash(&f->key, number, 2), same_path, f, &number);

	return at == GRT_NOWHERE ? NULL : &f->path[at];
}

/* Return: 0 or -ENOMEM */
static int frames_begin_path(struct grt_frames *f, const struct grt_ev_frame_text *e)
{
	struct grt_frames_path p = {.number = e->number, .length = e->length};

	if (f->paths == PATHS_MAX || e->length > PATH_BYTES_MAX)
		return 0;
	p.text = calloc(e->length + 1, 1);
	if (!p.text || grt_grow(&f->path, &f->path_room, f->paths + 1, 64)) {
		free(p.text);
		return -ENOMEM;
	}
	f->path[f->paths] = p;
	return grt_index_add(&f->path_index, grt_hash(&f->key, e->number, 2), f->paths++);
}

/* The parts of a text follow one another. */
static int frames_take_text(struct grt_frames *f, const struct grt_ev_frame_text *e)
{
	struct grt_frames_path *p = frames_find_path(f, e->number);
	int ret = p || e->offset ? 0 : frames_begin_path(f, e);

	p = p ?: frames_find_path(f, e->number);
	if (ret || !p || e->offset != p->used || e->part > sizeof(e->text) || e->part > p->length - p->used)
		return ret;
	memcpy(p->text + p->used, e->text, e->part);
	p->used += e->part;
	return 0;
}

int grt_frames_event(struct grt_frames *f, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_FRAME:
		return frames_take_frame(f, (const struct grt_ev_frame *)e);
	case GRT_EV_STACK_END:
		return frames_take_end(f, (const struct grt_ev_stack_end *)e);
	case GRT_EV_FRAME_PLACE:
		return frames_take_place(f, (const struct grt_ev_frame_place *)e);
	case GRT_EV_FRAME_TEXT:
		return frames_take_text(f, (const struct grt_ev_frame_text *)e);
	}
	return 0;
}

bool grt_frames_has(const struct grt_frames *f, uint32_t id)
{
	const struct grt_frames_stack *s = id ? frames_find_stack(f, id) : NULL;

	for (uint32_t i = 0; s && i < s->depth; i++)
		if (s->symbol[i])
			return true;
	return false;
}

bool grt_frames_is_call_only(const struct grt_frames *f, uint32_t id)
{
	static const char call[] = "ioctl";
	const struct grt_frames_stack *s = id ? frames_find_stack(f, id) : NULL;
	const size_t n = sizeof(call) - 1;
	const char *text;
	size_t len;

	if (!s || s->depth != 1 || !s->symbol[0])
		return false;
	text = grt_stacks_text(f->text, s->symbol[0] - 1, &len);
	return len >= n && !memcmp(text + len - n, call, n) && (len == n || text[len - n - 1] == '_');
}

/* Return: the length of the function's name, without a version or an offset after it. */
static size_t frames_function_length(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && text[i] != '@' && text[i] != '+' && text[i] != '.')
		i++;
	return i;
}

bool grt_frames_is_entry(const char *text, size_t len)
{
	static const char *const entries[] = {
		"_start",  "__libc_start_main", "__libc_start_call_main", "main",	  "clone", "clone3",
		"__clone", "__clone3",		"start_thread",		  "thread_start",
	};

	len = frames_function_length(text, len);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strlen(entries[i]) == len && !memcmp(entries[i], text, len))
			return true;
	return false;
}

enum grt_stack_end grt_frames_end(const struct grt_frames *f, uint32_t id)
{
	const struct grt_frames_stack *s = id ? frames_find_stack(f, id) : NULL;
	const char *text;
	size_t len;

	if (!s)
		return GRT_STACK_END_UNKNOWN;
	if (!s->depth || !s->symbol[s->depth - 1])
		return s->end;
	text = grt_stacks_text(f->text, s->symbol[s->depth - 1] - 1, &len);
	return grt_frames_is_entry(text, len) ? GRT_STACK_END_ENTRY : s->end;
}

static const char *frames_path(const struct grt_frames *f, uint32_t number)
{
	const struct grt_frames_path *p = number ? frames_find_path(f, number) : NULL;

	return p && p->length && p->used == p->length ? p->text : NULL;
}

struct grt_frame_place grt_frames_place(const struct grt_frames *f, uint32_t id, uint32_t index)
{
	const struct grt_frames_stack *s = id ? frames_find_stack(f, id) : NULL;
	const struct frame_numbers *n = s && s->place && index < s->depth ? &s->place[index] : NULL;

	if (!n)
		return (struct grt_frame_place){.module = NULL};
	return (struct grt_frame_place){frames_path(f, n->module), frames_path(f, n->file), n->line,
					n->inlined};
}

uint32_t grt_frames_depth(const struct grt_frames *f, uint32_t id)
{
	const struct grt_frames_stack *s = id ? frames_find_stack(f, id) : NULL;

	return s ? s->depth : 0;
}

const char *grt_frames_function(const struct grt_frames *f, uint32_t id, uint32_t index, size_t *len)
{
	uint32_t symbol = frames_find_stack(f, id)->symbol[index];

	*len = strlen(FRAMES_UNNAMED);
	return symbol ? grt_stacks_text(f->text, symbol - 1, len) : FRAMES_UNNAMED;
}

char *grt_frames_text(const struct grt_frames *f, uint32_t id, uint32_t index)
{
	const struct grt_frame_place at = grt_frames_place(f, id, index);
	size_t len;
	const char *function = grt_frames_function(f, id, index, &len);

	return grt_frame_text(function, len, at.line ? at.file : NULL, at.line);
}

/* A function of an interpreter is in no object file; its text always contains its place. */
static bool frames_is_interpreted(const struct grt_frame_place *at)
{
	return at->file && !at->module;
}

/* The function alone, if the tree stores its lines separately. */
static int frames_put_function(const struct grt_frames *f, uint32_t id, uint32_t i, struct grt_stacks *tree,
			       uint32_t *node)
{
	const struct grt_frame_place at = grt_frames_place(f, id, i);
	size_t len;
	const char *text = grt_frames_function(f, id, i, &len);
	int ret = grt_stacks_frame(tree, *node, text, len, node);

	if (ret || !at.file || !at.line)
		return ret;
	return grt_stacks_lines(tree, grt_stacks_node(tree, *node)->name, at.file, at.line);
}

static int frames_put_text(const struct grt_frames *f, uint32_t id, uint32_t i, struct grt_stacks *tree,
			   uint32_t *node)
{
	char *text = grt_frames_text(f, id, i);
	int ret = text ? grt_stacks_word(tree, text, node) : -ENOMEM;

	free(text);
	return ret;
}

int grt_frames_put(const struct grt_frames *f, uint32_t id, bool places, struct grt_stacks *tree,
		   uint32_t *node)
{
	int ret = 0;

	for (uint32_t i = grt_frames_depth(f, id); i-- > 0 && !ret;) {
		const struct grt_frame_place at = grt_frames_place(f, id, i);

		ret = places || frames_is_interpreted(&at) ? frames_put_text(f, id, i, tree, node)
							   : frames_put_function(f, id, i, tree, node);
	}
	return ret;
}

void grt_frames_free(struct grt_frames *f)
{
	for (uint32_t i = 0; i < f->stacks; i++) {
		free(f->stack[i].symbol);
		free(f->stack[i].place);
	}
	for (uint32_t i = 0; i < f->paths; i++)
		free(f->path[i].text);
	free(f->path);
	grt_index_free(&f->path_index);
	free(f->stack);
	grt_index_free(&f->index);
	grt_stacks_free(f->text);
	*f = (struct grt_frames){.stack = NULL};
}
