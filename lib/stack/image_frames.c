// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A frame of a trace may be several frames of text, if the compiler has inlined functions into each other.
 * Their numbers follow one another in @list. For each node, the index in this list is stored, and for each
 * kernel a name.
 */
#include "image_frames.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memfile.h"
#include "base/demangle.h"
#include "base/containers.h"
#include "frames.h"
#include "own_code.h"
#include "symbols.h"

/* Most frames of a stack in a brief text, innermost first, and most bytes of each. */
#define FRAMES_SHOWN 2U
#define BRIEF_MAX 1024U

/* Most paths of sources. */
#define FILES_MAX 131072U

/* Places for frames that are known from other stacks; what another one replaced is looked up again. */
#define KNOWN 8192U

/**
 * struct listed - a frame: the text of its function, the text with its place, and the place
 * @file: of the paths; 0: it is unknown, or the text of the function contains it
 */
struct listed {
	uint32_t function;
	uint32_t placed;
	uint32_t file;
	uint32_t line;
};

/**
 * struct place
 * @at: index in the list, plus 1; 0: not looked up
 */
struct place {
	uint32_t at;
	uint32_t frames;
};

/** struct known - a frame without its caller, and what it is */
struct known {
	uint64_t ip;
	uint32_t image;
	uint32_t module;
	uint32_t function;
	uint32_t file;
	uint32_t line;
	struct place place;
};

/** struct put - where in the tree a stack ends that was put from its root on; @nodes: of the stack, 0: it was
 * not put */
struct put {
	uint32_t at;
	uint32_t nodes;
};

/**
 * struct image - the names of an image's frames
 * @put: by node, as @place; of the tree of @puts, and of no other
 * @object: by mapping: number of its object plus 1
 * @kernel: by string: number of the kernel's text plus 1
 */
struct image {
	struct place *place;
	struct put *put;
	uint32_t put_room;
	uint64_t puts;
	uint32_t *object;
	uint32_t *kernel;
	uint32_t nodes, mappings, strings;
};

struct grt_image_frames {
	struct grt_symbols *symbols; /* NULL: no address was looked up so far */
	struct grt_stacks *names;
	struct image *image;
	uint32_t images;
	struct grt_texts files;
	struct known *known; /* by a simple hash of the address or the function */
	struct listed *list;
	uint32_t listed, room;
	uint64_t tree;	   /* the last tree to which stacks were added: grt_stacks_id() */
	bool places;	   /* how they were added */
	uint64_t puts;	   /* how often one of both changed */
	uint32_t *in_tree; /* number there of a frame with its place, plus 1 */
	uint32_t in_trees;
};

int grt_image_frames_new(struct grt_image_frames **out)
{
	struct grt_image_frames *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return -ENOMEM;
	grt_texts_init(&f->files, FILES_MAX);
	f->known = calloc(KNOWN, sizeof(*f->known));
	if (f->known && !grt_stacks_new(&f->names))
		return 0;
	grt_image_frames_free(f);
	*out = NULL;
	return -ENOMEM;
}

/* NULL: no memory. */
static struct image *image_of(struct grt_image_frames *f, const struct grt_image *i)
{
	struct image *m;

	if (grt_grow_zeroed(&f->image, &f->images, i->number + 1, 1))
		return NULL;
	m = &f->image[i->number];
	if (grt_grow_zeroed(&m->place, &m->nodes, i->nodes, 8) ||
	    grt_grow_zeroed(&m->object, &m->mappings, i->mappings, 8) ||
	    grt_grow_zeroed(&m->kernel, &m->strings, i->strings, 8))
		return NULL;
	return m;
}

/* --------------------------------------------------------------- frames */

/* @file, @line: NULL, 0: unknown */
static int list(struct grt_image_frames *f, struct place *p, const char *function, const char *file,
		uint32_t line)
{
	char *text = grt_frame_text(function, function ? strlen(function) : 0, line ? file : NULL, line);
	struct listed *l;
	int ret;

	if (!text || grt_grow(&f->list, &f->room, f->listed + 1, 1024)) {
		free(text);
		return -ENOMEM;
	}
	p->frames++;
	l = &f->list[f->listed++];
	*l = (struct listed){.line = line};
	function = function ?: "?";
	ret = grt_stacks_name(f->names, text, strlen(text), &l->placed);
	l->function = l->placed;
	/* otherwise both texts are the same */
	if (!ret && line && file)
		ret = grt_stacks_name(f->names, function, strlen(function), &l->function)
			      ?: grt_texts_add(&f->files, file, strlen(file), &l->file);
	free(text);
	return ret;
}

/* A function of an interpreter, whose text always has its place; or a note. */
static int list_interpreted(struct grt_image_frames *f, struct place *p, const struct grt_image *i,
			    const struct grt_image_node *n)
{
	const char *function = grt_image_string(i, n->function), *file = grt_image_string(i, n->file);
	char *text;
	int ret;

	if (!file)
		return list(f, p, function ?: "", NULL, 0);
	text = grt_frame_text(function, function ? strlen(function) : 0, file, n->line);
	ret = text ? list(f, p, text, NULL, 0) : -ENOMEM;
	free(text);
	return ret;
}

static int object_of(struct grt_image_frames *f, struct image *m, const struct grt_image *i, uint32_t module,
		     uint32_t *object)
{
	const struct grt_image_mapping *map = grt_image_mapping(i, module);
	const char *path = map ? grt_image_string(i, map->path) : NULL;
	int ret;

	*object = GRT_SYMBOLS_NO_OBJECT;
	if (!path)
		return 0;
	if (!m->object[module - 1]) {
		ret = grt_symbols_object(f->symbols, path, map->build_id, object);
		if (ret)
			return ret;
		m->object[module - 1] = *object + 1;
	}
	*object = m->object[module - 1] - 1;
	return 0;
}

/* CLOCK_REALTIME ns, 0: unknown */
static uint64_t began(const struct grt_image *i)
{
	return i->began && i->ahead ? (uint64_t)i->began + i->ahead : 0;
}

/* Return: the time at which the image ended. */
static uint64_t image_frames_ended(const struct grt_image *i)
{
	return i->process.what == 3 && i->ahead ? i->process.e.time + i->ahead : 0;
}

static int image_frames_look_up(struct grt_image_frames *f, struct image *m, const struct grt_image *i,
				const struct grt_image_node *n, struct grt_symbols_found *found)
{
	const struct grt_image_mapping *map = grt_image_mapping(i, n->module);
	uint32_t object;
	int ret = f->symbols ? 0 : grt_symbols_new(&f->symbols, NULL);

	ret = ret ?: object_of(f, m, i, n->module, &object);
	if (ret)
		return ret;
	/* a return address follows its call */
	if (map && object != GRT_SYMBOLS_NO_OBJECT)
		return grt_symbols_at(f->symbols, object, n->ip - 1 - map->bias, found);
	ret = grt_symbols_began(f->symbols, i->pid, began(i))
		      ?: grt_symbols_ended(f->symbols, i->pid, image_frames_ended(i));
	return ret ? ret : grt_symbols_in_process(f->symbols, i->pid, n->ip - 1, found);
}

/* The name of a function of the recording, as in its source. */
static int image_frames_list_linked(struct grt_image_frames *f, struct place *p, const struct grt_image *i,
				    const struct grt_image_code *code)
{
	const char *linked = grt_image_string(i, code->function) ?: "?";
	char *clean = grt_demangle(linked);
	int ret = list(f, p, clean ? clean : linked, grt_image_string(i, code->file), code->line);

	free(clean);
	return ret;
}

/*
 * Outermost first, in the order in which frames are added. Names that the recording has were found in the
 * files that ran.
 */
static int list_code(struct grt_image_frames *f, struct image *m, struct place *p, const struct grt_image *i,
		     const struct grt_image_node *n)
{
	uint32_t codes;
	const struct grt_image_code *code = grt_image_code((struct grt_image *)i, n->ip, n->module, &codes);
	struct grt_symbols_found found;
	int ret = 0;

	for (uint32_t k = 0; code && k < codes && !ret; k++)
		ret = image_frames_list_linked(f, p, i, &code[k]);
	if (code)
		return ret;
	ret = image_frames_look_up(f, m, i, n, &found);

	for (unsigned int k = ret ? 0 : found.frames; k-- > 0 && !ret;)
		ret = list(f, p, found.frame[k].function, found.frame[k].file, found.frame[k].line);
	return ret;
}

static struct known *known_at(const struct grt_image_frames *f, const struct grt_image_node *n)
{
	uint64_t mixed = (n->ip ^ (uint64_t)n->function << 32 ^ n->line) * 0x9e3779b97f4a7c15;

	return &f->known[(mixed >> 32) % KNOWN];
}

static bool is_known(const struct known *k, const struct grt_image *i, const struct grt_image_node *n)
{
	return k->place.at && k->ip == n->ip && k->function == n->function && k->file == n->file &&
	       k->line == n->line && k->module == n->module && k->image == i->number;
}

/* Most functions are in many stacks: one at the same place is looked up once. Return: 0 or a negative errno
 */
static int image_frames_list_node(struct grt_image_frames *f, struct image *m, const struct grt_image *i,
				  const struct grt_image_node *n, struct place *out)
{
	struct known *known = known_at(f, n);
	int ret = 0;

	if (is_known(known, i, n)) {
		*out = known->place;
		return 0;
	}
	out->at = f->listed + 1;
	if (n->ip)
		ret = list_code(f, m, out, i, n);
	else if (n->function || n->file)
		ret = list_interpreted(f, out, i, n);
	if (!ret)
		*known = (struct known){n->ip, i->number, n->module, n->function, n->file, n->line, *out};
	return ret;
}

/* Finds out what a node is, and stores it. Return: 0 or a negative errno */
static int image_frames_place_of(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
				 struct place *out)
{
	const struct grt_image_node *n = grt_image_node(i, node);
	struct image *m = image_of(f, i);
	int ret;

	*out = (struct place){0};
	if (!m)
		return -ENOMEM;
	if (!n)
		return 0;
	*out = m->place[node - 1];
	if (out->at)
		return 0;
	ret = image_frames_list_node(f, m, i, n, out);
	m->place[node - 1] = *out;
	return ret;
}

/* Calls @put with each frame of a stack, outermost first. */
static int each_frame(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
		      int (*put)(struct grt_image_frames *f, void *arg, const struct listed *l), void *arg)
{
	uint32_t path[GRT_STACKS_DEPTH_MAX], depth = 0;
	const struct grt_image_node *n = grt_image_node(i, node);
	struct place p;
	int ret = 0;

	for (; n && depth < GRT_STACKS_DEPTH_MAX; node = n->caller, n = grt_image_node(i, node))
		path[depth++] = node;
	while (depth-- > 0 && !ret) {
		ret = image_frames_place_of(f, i, path[depth], &p);
		for (uint32_t k = 0; k < p.frames && !ret; k++)
			ret = put(f, arg, &f->list[p.at - 1 + k]);
	}
	return ret;
}

/** struct tree - the tree to which a stack is added */
struct tree {
	struct grt_stacks *stacks;
	uint32_t *at;
};

static int image_frames_name_in_tree(const struct grt_image_frames *f, struct grt_stacks *tree,
				     const struct listed *l, uint32_t *there)
{
	size_t len;
	const char *text = grt_stacks_text(f->names, f->places ? l->placed : l->function, &len);
	int ret = grt_stacks_name(tree, text, len, there);

	if (ret || f->places || !l->file)
		return ret;
	return grt_stacks_lines(tree, *there, grt_texts_get(&f->files, l->file), l->line);
}

/* A frame's text is added to the tree only once: it may be long, and be in thousands of stacks. */
static int put_in_tree(struct grt_image_frames *f, void *arg, const struct listed *l)
{
	struct tree *t = arg;
	uint32_t there;
	int ret = grt_grow_zeroed(&f->in_tree, &f->in_trees, l->placed + 1, 256);

	if (!ret && !f->in_tree[l->placed]) {
		ret = image_frames_name_in_tree(f, t->stacks, l, &there);
		f->in_tree[l->placed] = ret ? 0 : there + 1;
	}
	return ret ? ret : grt_stacks_child(t->stacks, *t->at, f->in_tree[l->placed] - 1, t->at);
}

/* Gets the stacks of an image's nodes in the tree; NULL: there are no nodes. Return: 0 or -ENOMEM */
static int image_frames_puts(struct grt_image_frames *f, const struct grt_image *i, struct put **out)
{
	struct image *m = image_of(f, i);

	if (!m || grt_grow_zeroed(&m->put, &m->put_room, i->nodes, 8))
		return -ENOMEM;
	if (m->puts != f->puts && m->put)
		memset(m->put, 0, m->put_room * sizeof(*m->put));
	m->puts = f->puts;
	*out = m->put;
	return 0;
}

/*
 * Calls put_in_tree() with each frame of a stack, from the root of the tree on. Stacks of a program have most
 * of their frames in common: what was put before is not put again.
 */
static int put_from_root(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, struct tree *t)
{
	uint32_t path[GRT_STACKS_DEPTH_MAX], depth = 0, nodes = 0;
	const struct grt_image_node *n;
	struct place p;
	struct put *put;
	int ret = image_frames_puts(f, i, &put);

	for (; !ret && (n = grt_image_node(i, node)) && depth < GRT_STACKS_DEPTH_MAX; node = n->caller) {
		if (put[node - 1].nodes && put[node - 1].nodes + depth <= GRT_STACKS_DEPTH_MAX) {
			*t->at = put[node - 1].at;
			nodes = put[node - 1].nodes;
			break;
		}
		path[depth++] = node;
	}
	while (depth-- > 0 && !ret) {
		ret = image_frames_place_of(f, i, path[depth], &p);
		for (uint32_t k = 0; k < p.frames && !ret; k++)
			ret = put_in_tree(f, t, &f->list[p.at - 1 + k]);
		/* a caller that is not defined yet may be, later */
		if (!ret && (nodes || !node))
			put[path[depth] - 1] = (struct put){*t->at, ++nodes};
	}
	return ret;
}

int grt_image_frames_put(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, bool places,
			 struct grt_stacks *tree, uint32_t *at)
{
	struct tree t = {tree, at};

	if (f->tree != grt_stacks_id(tree) || f->places != places) {
		if (f->in_tree)
			memset(f->in_tree, 0, f->in_trees * sizeof(*f->in_tree));
		f->puts++;
	}
	f->tree = grt_stacks_id(tree);
	f->places = places;
	return *at == GRT_STACKS_ROOT ? put_from_root(f, i, node, &t)
				      : each_frame(f, i, node, put_in_tree, &t);
}

/**
 * struct folded - a text that is being composed
 * @left: how many more bytes it may have
 */
struct folded {
	FILE *out;
	size_t left;
	bool places;
};

/* Return: 0, -ENOMEM, or -E2BIG: there is no room */
static int put_in_text(struct grt_image_frames *f, void *arg, const struct listed *l)
{
	struct folded *t = arg;
	size_t len;
	const char *text = grt_stacks_text(f->names, t->places ? l->placed : l->function, &len);

	if (t->left < len + 1)
		return fputs("[cut];", t->out) == EOF ? -ENOMEM : -E2BIG;
	t->left -= len + 1;
	return fwrite(text, 1, len, t->out) != len || fputc(';', t->out) == EOF ? -ENOMEM : 0;
}

int grt_image_frames_folded(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, bool places,
			    size_t max, char **out)
{
	struct grt_memfile m;
	size_t len;
	struct folded t = {grt_memfile_open(&m), max, places};
	int ret = t.out ? each_frame(f, i, node, put_in_text, &t) : -ENOMEM;

	if (ret == -E2BIG)
		ret = 0;
	*out = grt_memfile_close(&m, t.out, &len);
	if (!*out && !ret)
		ret = -ENOMEM;
	if (!ret && len)
		(*out)[len - 1] = '\0';
	return ret;
}

/* The @k-th frame of a node from the outermost, GRT_SYMBOLS_FRAMES_MAX: the innermost; NULL: there is none.
 * Return: 0 or -ENOMEM */
static int image_frames_at(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, uint32_t k,
			   const struct listed **out)
{
	struct place p;
	int ret = image_frames_place_of(f, i, node, &p);

	if (k == GRT_SYMBOLS_FRAMES_MAX && p.frames)
		k = p.frames - 1;
	*out = !ret && k < p.frames ? &f->list[p.at - 1 + k] : NULL;
	return ret;
}

static const char *image_frames_get(const struct grt_image_frames *f, const struct listed *l, bool places,
				    size_t *len)
{
	*len = 0;
	return l ? grt_stacks_text(f->names, places ? l->placed : l->function, len) : "";
}

int grt_image_frames_function(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			      const char **text, size_t *len)
{
	const struct listed *l;
	int ret = image_frames_at(f, i, node, GRT_SYMBOLS_FRAMES_MAX, &l);

	*text = image_frames_get(f, l, false, len);
	return ret;
}

int grt_image_frames_text(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			  const char **text, size_t *len)
{
	const struct listed *l;
	int ret = image_frames_at(f, i, node, GRT_SYMBOLS_FRAMES_MAX, &l);

	*text = image_frames_get(f, l, true, len);
	return ret;
}

int grt_image_frames_inlined(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, uint32_t k,
			     const char **text, size_t *len)
{
	const struct listed *l;
	int ret = image_frames_at(f, i, node, k, &l);

	*text = image_frames_get(f, l, false, len);
	return ret;
}

int grt_image_frames_end(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			 enum grt_stack_end *end)
{
	const struct grt_image_node *n = grt_image_node(i, node), *caller;
	const char *text;
	size_t len;
	int ret;

	*end = GRT_STACK_END_UNKNOWN;
	for (; n && n->caller; n = caller) {
		caller = grt_image_node(i, n->caller);
		if (!caller || !caller->defined)
			return 0;
		/* the outermost node may be the reason why the stack ends, and not a frame */
		if (caller->ip)
			node = n->caller;
	}
	if (!n || !n->ip)
		*end = n && !n->file ? grt_stack_end_of_root(grt_image_string(i, n->function)) : *end;
	n = grt_image_node(i, node);
	if (!n || !n->ip || *end == GRT_STACK_END_ENTRY)
		return 0;
	ret = grt_image_frames_function(f, i, node, &text, &len);
	if (!ret && grt_frames_is_entry(text, len))
		*end = GRT_STACK_END_ENTRY;
	return ret;
}

bool grt_image_is_cuda(const struct grt_image *image, const struct grt_image_node *n)
{
	const struct grt_image_mapping *m = grt_image_mapping(image, n->module);
	const char *path = m ? grt_image_string(image, m->path) : NULL,
		   *base = path ? strrchr(path, '/') : NULL;

	return base && (!strncmp(base, "/libcuda", 8) || !strncmp(base, "/libcupti", 9));
}

/* Adds a frame to a text. */
static int image_frames_add_frame(char **text, struct grt_image_frames *frames, const struct grt_image *image,
				  uint32_t node, const char *before)
{
	const char *frame;
	char *more;
	size_t len;
	int ret = grt_image_frames_text(frames, image, node, &frame, &len);

	if (ret ||
	    asprintf(&more, "%s%s%.*s%s", *text, **text ? before : "",
		     (int)(len > BRIEF_MAX ? BRIEF_MAX : len), frame, len > BRIEF_MAX ? "..." : "") < 0)
		return -ENOMEM;
	free(*text);
	*text = more;
	return 0;
}

int grt_image_frames_brief(struct grt_image_frames *frames, const struct grt_image *image, uint32_t node,
			   char **out)
{
	const struct grt_image_node *n = grt_image_node(image, node);
	unsigned int shown = 0;
	int ret = 0;

	*out = strdup("");
	for (; n && n->caller && grt_image_is_cuda(image, n); n = grt_image_node(image, node))
		node = n->caller;
	for (; n && shown < FRAMES_SHOWN && *out && !ret; n = grt_image_node(image, node), shown++) {
		ret = image_frames_add_frame(out, frames, image, node, " < ");
		node = n->caller;
		if (n->file)
			return ret;
	}
	for (; n && !n->file; n = grt_image_node(image, node))
		node = n->caller;
	if (n && *out && !ret)
		ret = image_frames_add_frame(out, frames, image, node, " < ... < ");
	return *out ? ret : -ENOMEM;
}

/* The innermost line of an interpreter. @own: only in the user's own code; 0: there is none */
static uint32_t image_frames_interpreted_line(const struct grt_image *i, uint32_t node, bool own)
{
	const struct grt_image_node *n = grt_image_node(i, node);
	const char *file;

	for (; n; node = n->caller, n = grt_image_node(i, node)) {
		file = grt_image_string(i, n->file);
		if (file && (!own || grt_code_of(&(struct grt_code_frame){.source = file}) == GRT_CODE_OWN))
			return node;
	}
	return 0;
}

/* Whether a function is one of CUDA's runtime or driver that is linked into the program, by its name. */
static bool image_frames_is_api(const char *name, size_t len)
{
	return (len > 4 && !strncmp(name, "cuda", 4) && isupper((unsigned char)name[4])) ||
	       (len > 2 && !strncmp(name, "cu", 2) && isupper((unsigned char)name[2])) ||
	       (len > 16 && !strncmp(name, "libcudart_static", 16));
}

static int image_frames_put_function(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
				     char out[GRT_IMAGE_FRAMES_LINE])
{
	const struct grt_image_node *n = grt_image_node(i, node);
	const char *text;
	size_t len;
	int ret = 0;

	for (; n && !ret; node = n->caller, n = grt_image_node(i, node)) {
		if (grt_image_is_cuda(i, n))
			continue;
		ret = grt_image_frames_text(f, i, node, &text, &len);
		if (ret || image_frames_is_api(text, len))
			continue;
		snprintf(out, GRT_IMAGE_FRAMES_LINE, "%.*s", (int)(len > BRIEF_MAX ? BRIEF_MAX : len), text);
		break;
	}
	return ret;
}

int grt_image_frames_line(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			  char out[GRT_IMAGE_FRAMES_LINE])
{
	uint32_t at =
		image_frames_interpreted_line(i, node, true) ?: image_frames_interpreted_line(i, node, false);
	const struct grt_image_node *n = grt_image_node(i, at);
	const char *file = n ? grt_image_string(i, n->file) : NULL;

	out[0] = '\0';
	if (!file)
		return image_frames_put_function(f, i, node, out);
	snprintf(out, GRT_IMAGE_FRAMES_LINE, n->line ? "%s:%u" : "%s", grt_frame_base(file), n->line);
	return 0;
}

/* -------------------------------------------------------------- kernels */

static int kernel_number(struct grt_image_frames *f, const struct grt_image *i, uint32_t number,
			 uint32_t *name)
{
	const char *linked = grt_image_string(i, number) ?: "";
	char *clean = grt_demangle(linked);
	const char *text = clean ? clean : linked;
	int ret = grt_stacks_name(f->names, text, strlen(text), name);

	free(clean);
	return ret;
}

int grt_image_kernel_name(struct grt_image_frames *f, const struct grt_image *i, uint32_t number,
			  const char **text, size_t *len)
{
	struct image *m = image_of(f, i);
	bool known = m && number && number <= m->strings;
	uint32_t name = 0;
	int ret = m ? 0 : -ENOMEM;

	if (known && m->kernel[number - 1])
		name = m->kernel[number - 1] - 1;
	else if (!ret)
		ret = kernel_number(f, i, number, &name);
	if (ret)
		return ret;
	if (known)
		m->kernel[number - 1] = name + 1;
	*text = grt_stacks_text(f->names, name, len);
	return 0;
}

/* "pid N", for each row of some tables, where printf() would take most of the time. */
static const char *image_frames_pid_text(uint32_t pid, char room[24])
{
	char *p = room + 23;

	*p = '\0';
	do
		*--p = (char)('0' + pid % 10);
	while (pid /= 10);
	p -= 4;
	memcpy(p, "pid ", 4);
	return p;
}

const char *grt_image_process_name(const struct grt_image *i, char room[24])
{
	const char *exe = grt_image_string(i, i->exe), *base = exe ? strrchr(exe, '/') : NULL;

	if (exe && *exe)
		return base && base[1] ? base + 1 : exe;
	return image_frames_pid_text(i->pid, room);
}

const struct grt_symbols_count *grt_image_frames_count(const struct grt_image_frames *f)
{
	static const struct grt_symbols_count none;

	return f->symbols ? grt_symbols_count(f->symbols) : &none;
}

void grt_image_frames_free(struct grt_image_frames *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->images; i++) {
		free(f->image[i].place);
		free(f->image[i].put);
		free(f->image[i].object);
		free(f->image[i].kernel);
	}
	grt_symbols_free(f->symbols);
	grt_stacks_free(f->names);
	grt_texts_free(&f->files);
	free(f->known);
	free(f->image);
	free(f->list);
	free(f->in_tree);
	free(f);
}
