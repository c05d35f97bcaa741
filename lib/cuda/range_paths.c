// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A chain's path is looked up once: if a chain is known, its outer chains are known, too.
 */
#include "range_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"

/* Most ranges of a path; an invalid trace may have more, of which the outer ones are left out. */
#define DEPTH_MAX 1024U

/** struct grt_range_places - of an image: its paths by chain; element 0 is that of the image; 0: unknown */
struct grt_range_places {
	uint32_t *path;
	uint32_t paths;
};

int grt_range_paths_init(struct grt_range_paths *p, bool full)
{
	*p = (struct grt_range_paths){.full = full};
	return grt_stacks_new(&p->tree);
}

static bool range_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Return: whether the number at @at is a word of its own, and not a part of a name. */
static bool range_is_gap(const char *text, size_t at)
{
	return !at || strchr(" #=:_-([,", text[at - 1]);
}

static bool range_is_end(char c)
{
	return strchr(" ,;:)]", c);
}

/*
 * Writes the text with each number that is a word replaced by a #, unless a # precedes it. @to: room for the
 * text and one byte more
 */
static size_t range_fold(char *to, const char *text)
{
	size_t n = 0, at = 0, digits;

	while (text[at]) {
		digits = 0;
		while (range_is_digit(text[at + digits]))
			digits++;
		if (digits && range_is_gap(text, at) && range_is_end(text[at + digits])) {
			if (!n || to[n - 1] != '#')
				to[n++] = '#';
			at += digits;
			continue;
		}
		do
			to[n++] = text[at++];
		while (digits && --digits);
	}
	return n;
}

char *grt_range_fold(const char *name)
{
	char *to = malloc(strlen(name) + 2);

	if (to)
		to[range_fold(to, name)] = '\0';
	return to;
}

int grt_range_paths_name(struct grt_range_paths *p, const struct grt_image *i, uint32_t domain, uint32_t name,
			 uint32_t *number)
{
	const char *text = grt_image_string(i, name), *of = grt_image_string(i, domain);
	size_t room = (text ? strlen(text) : 0) + (of ? strlen(of) : 0) + 32, n;
	char *to = malloc(room);
	int ret;

	if (!to)
		return -ENOMEM;
	if (!text)
		n = (size_t)snprintf(to, room, "%s", name ? "[undefined]" : "[unnamed]");
	else if (p->full)
		n = (size_t)snprintf(to, room, "%s", text);
	else
		n = range_fold(to, text);
	if (of)
		n += (size_t)snprintf(to + n, room - n, " [%s]", of);
	ret = grt_stacks_name(p->tree, to, n, number);
	free(to);
	return ret;
}

static uint32_t *range_place(struct grt_range_paths *p, const struct grt_image *i, uint32_t chain)
{
	struct grt_range_places *of;

	if (grt_grow_zeroed(&p->place, &p->places, i->number + 1, 1))
		return NULL;
	of = &p->place[i->number];
	if (grt_grow_zeroed(&of->path, &of->paths, chain + 1, 16))
		return NULL;
	return &of->path[chain];
}

static int range_path_of_image(struct grt_range_paths *p, const struct grt_image *i, uint32_t *path)
{
	char text[16];
	uint32_t *at = range_place(p, i, 0);
	int ret = at ? 0 : -ENOMEM;

	*path = GRT_STACKS_ROOT;
	if (!ret && !*at) {
		snprintf(text, sizeof(text), "%u", i->number);
		ret = grt_stacks_word(p->tree, text, path);
		*at = *path;
	}
	*path = at ? *at : 0;
	return ret;
}

/* The text is not terminated: digits of the next text may follow it. */
uint32_t grt_range_paths_image(const struct grt_range_paths *p, uint32_t path)
{
	size_t len;
	const char *text = grt_stacks_text(p->tree, grt_stacks_node(p->tree, path)->name, &len);
	uint32_t number = 0;

	for (size_t i = 0; i < len; i++)
		number = 10 * number + (uint32_t)(text[i] - '0');
	return number;
}

int grt_range_paths_get(struct grt_range_paths *p, const struct grt_image *i, uint32_t chain, uint32_t *path)
{
	uint32_t inner[DEPTH_MAX], depth = 0, name, *at = NULL;
	const struct grt_image_range *r;
	int ret = range_path_of_image(p, i, path);

	/* numbers of outer chains decrease, so the loop ends */
	for (r = grt_image_range(i, chain); r && depth < DEPTH_MAX && !ret;
	     chain = r->outer, r = grt_image_range(i, chain)) {
		at = range_place(p, i, chain);
		if (!at)
			return -ENOMEM;
		if (*at) {
			*path = *at;
			break;
		}
		inner[depth++] = chain;
	}
	while (depth-- > 0 && !ret) {
		r = grt_image_range(i, inner[depth]);
		ret = grt_range_paths_name(p, i, r->domain, r->name, &name)
			      ?: grt_stacks_child(p->tree, *path, name, path);
		at = ret ? NULL : range_place(p, i, inner[depth]);
		if (at)
			*at = *path;
	}
	return ret;
}

int grt_range_paths_put(const struct grt_range_paths *p, uint32_t path, struct grt_stacks *tree, uint32_t *at)
{
	const struct grt_stacks_node *node = grt_stacks_node(p->tree, path);
	const char *name;
	char *text;
	size_t len;
	int ret;

	if (path == GRT_STACKS_ROOT || node->parent == GRT_STACKS_ROOT)
		return 0;
	ret = grt_range_paths_put(p, node->parent, tree, at);
	name = grt_stacks_text(p->tree, node->name, &len);
	if (ret || asprintf(&text, "[nvtx] %.*s", (int)len, name) < 0)
		return -ENOMEM;
	ret = grt_stacks_word(tree, text, at);
	free(text);
	return ret;
}

void grt_range_paths_text(const struct grt_range_paths *p, uint32_t path, char *out, size_t room)
{
	const struct grt_stacks_node *node = grt_stacks_node(p->tree, path);
	const char *name;
	size_t len, used;

	*out = '\0';
	if (path == GRT_STACKS_ROOT || node->parent == GRT_STACKS_ROOT)
		return;
	grt_range_paths_text(p, node->parent, out, room);
	name = grt_stacks_text(p->tree, node->name, &len);
	used = strlen(out);
	snprintf(out + used, room - used, "%s%.*s", used ? "/" : "", (int)len, name);
}

void grt_range_paths_free(struct grt_range_paths *p)
{
	for (uint32_t i = 0; i < p->places; i++)
		free(p->place[i].path);
	free(p->place);
	grt_stacks_free(p->tree);
	*p = (struct grt_range_paths){.tree = NULL};
}
