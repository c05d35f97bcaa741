// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Demangling, see demangle.h. A mangled name is a graph: a part that is referred to twice is written twice,
 * so a few hundred bytes can stand for more text than there is memory. How much text a C++ name stands for
 * is counted before any of it is written, and the output is limited.
 */
#include "demangle.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef GRT_HAVE_IBERTY
#include <libiberty/demangle.h>
#include <setjmp.h>

/*
 * Longer names stay as they are, because time and stack grow with them. libiberty has the same limit for
 * C++.
 */
#define NAME_MAX 4096U
#define CPLUS_MAX 1024U
/* Most parts of a name, each counted as often as it is written, and most levels of nesting. */
#define PARTS_MAX 16384U
#define DEPTH_MAX 512U
/* Most conversion operators to templates, whose end the parser finds by trying. */
#define TRIES_MAX 4U
/* Most bytes of a demangled name. */
#define TEXT_MAX 16384U
/* parameters are left out, as in perf: a frame of a flame graph is a function */
#define STYLE DMGL_ANSI

/**
 * struct out - the text that is being written
 * @full: there is no more room or memory
 */
struct out {
	char *text;
	size_t used, room;
	jmp_buf full;
};

/* The demangler cannot be stopped. It holds only its stack here, and rarely one word of Rust's. */
static void demangle_take(const char *part, size_t length, void *opaque)
{
	struct out *o = opaque;
	size_t room = o->room;
	char *more;

	while (room < o->used + length + 1)
		room = room ? 2 * room : 256;
	if (room > o->room) {
		more = room <= TEXT_MAX ? realloc(o->text, room) : NULL;
		if (!more)
			longjmp(o->full, 1);
		o->text = more;
		o->room = room;
	}
	memcpy(o->text + o->used, part, length);
	o->used += length;
	o->text[o->used] = '\0';
}

/* Return: the text of @o if it is complete; otherwise it is freed */
static char *demangle_text_of(struct out *o, int complete)
{
	if (complete && o->used)
		return o->text;
	free(o->text);
	return NULL;
}

static char *of_rust(const char *name)
{
	struct out o = {.text = NULL};

	if (setjmp(o.full))
		return demangle_text_of(&o, false);
	return demangle_text_of(&o, rust_demangle_callback(name, STYLE, demangle_take, &o));
}

/*
 * Whether a part is within the limits, counted as often as it is written; @left: number of parts that are
 * still allowed.
 */
static bool demangle_is_within(const struct demangle_component *c, unsigned int *left, unsigned int depth)
{
	if (!c)
		return true;
	if (!*left || depth == DEPTH_MAX)
		return false;
	--*left;
	switch (c->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return true;
	case DEMANGLE_COMPONENT_CTOR:
		return demangle_is_within(c->u.s_ctor.name, left, depth + 1);
	case DEMANGLE_COMPONENT_DTOR:
		return demangle_is_within(c->u.s_dtor.name, left, depth + 1);
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		return demangle_is_within(c->u.s_extended_operator.name, left, depth + 1);
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		return demangle_is_within(c->u.s_fixed.length, left, depth + 1);
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		return demangle_is_within(c->u.s_unary_num.sub, left, depth + 1);
	default:
		return demangle_is_within(c->u.s_binary.left, left, depth + 1) &&
		       demangle_is_within(c->u.s_binary.right, left, depth + 1);
	}
}

static char *write_tree(struct demangle_component *tree)
{
	unsigned int left = PARTS_MAX;
	struct out o = {.text = NULL};

	if (!demangle_is_within(tree, &left, 0) || setjmp(o.full))
		return demangle_text_of(&o, false);
	return demangle_text_of(&o, cplus_demangle_print_callback(STYLE, tree, demangle_take, &o));
}

/* Return: whether a name has more conversions (cvT) than real names; each doubles the time of the parser. */
static bool has_many_tries(const char *name)
{
	unsigned int n = 0;

	while ((name = strstr(name, "cvT")) && n < TRIES_MAX) {
		name++;
		n++;
	}
	return n == TRIES_MAX;
}

static char *of_cplus(const char *name)
{
	struct demangle_component *tree;
	void *memory = NULL;
	char *text;

	if (strncmp(name, "_Z", 2) || strnlen(name, CPLUS_MAX) == CPLUS_MAX || has_many_tries(name))
		return NULL;
	tree = cplus_demangle_v3_components(name, STYLE, &memory);
	text = tree ? write_tree(tree) : NULL;
	free(memory);
	return text;
}

char *grt_demangle(const char *name)
{
	char *text;

	if (name[0] != '_' || strnlen(name, NAME_MAX) == NAME_MAX)
		return NULL;
	text = of_rust(name);
	return text ? text : of_cplus(name);
}

bool grt_can_demangle(void)
{
	return true;
}

#else

char *grt_demangle(const char *name)
{
	return NULL;
}

bool grt_can_demangle(void)
{
	return false;
}

#endif /* GRT_HAVE_IBERTY */
