// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU stacks that launched the kernels and copies whose records came in an update of `grtrace top`. The
 * stack of a launch is remembered by its process image and correlation id, because a launch may have several
 * kernels and its records come later. Correlation ids increase by one with every call, so launches are stored
 * in pages of neighbouring ids. If there are more than PAGES, the oldest is forgotten, and the work of its
 * launches counts as work without a stack.
 *
 * Isolated processes read the object files of the frames (host/image_addresses.h), some with each update:
 * until then, a frame is shown as an address in its file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "host/image_addresses.h"
#include "stack/frames.h"
#include "stack/image_frames.h"
#include "top.h"

#define PAGE_IDS 64U
/* Maximum number of pages. */
#define PAGES 16384U
/* Of LAUNCH records: a BPF program recorded the stack, which comes in a record of its own. */
#define STACK_APART 2
#define NODE_LATER UINT32_MAX
/* Longest wait for names in a recording, ms, and the number of waits. */
#define NAMES_MS 20
#define NAMES_WAITS 500

/**
 * struct top_launch_page - launches with neighbouring ids
 * @here: a bit for each id that is a launch
 * @node: the stacks of these; NODE_LATER: it is not there yet
 */
struct top_launch_page {
	uint64_t here;
	uint32_t node[PAGE_IDS];
};

/**
 * struct top_launches - see top.h
 * @pages: by image and number of the page
 * @launched, @worked: for grt_keyed_near(), the pages of the last launch and of the last work
 * @highest: the highest number of an address so far; @named: up to which they have names; @until: up to which
 *	they are being named, 0: none is
 */
struct top_launches {
	struct grt_images *images;
	struct grt_keyed pages;
	uint32_t launched;
	uint32_t worked;
	struct image_addresses a;
	uint32_t highest;
	uint32_t named;
	uint32_t until;
};

int top_launches_new(struct top_launches **out, struct grt_images *images)
{
	struct top_launches *l = calloc(1, sizeof(*l));

	*out = l;
	if (!l)
		return -ENOMEM;
	l->images = images;
	grt_keyed_init(&l->pages, sizeof(struct top_launch_page), PAGES);
	return 0;
}

static struct grt_key top_launches_key(const struct grt_image *image, uint64_t correlation)
{
	return (struct grt_key){{image->number, correlation / PAGE_IDS}};
}

int top_launches_launch(struct top_launches *l, const struct grt_image *image, const struct grt_event *e)
{
	const struct grt_ev_launch *x = (const void *)e;
	const struct grt_key key = top_launches_key(image, x->correlation);
	struct top_launch_page *page = grt_keyed_near(&l->pages, l->launched, &key);
	void *found;

	if (!x->correlation)
		return 0;
	if (!page) {
		if (grt_keyed_get_or_replace(&l->pages, &key, NULL, &found))
			return -ENOMEM;
		l->launched = grt_keyed_number(found);
		page = found;
	}
	page->here |= 1ULL << x->correlation % PAGE_IDS;
	page->node[x->correlation % PAGE_IDS] = x->stack == STACK_APART && !x->node ? NODE_LATER : x->node;
	return 0;
}

/* Return: NULL: the launch is not there yet, or was forgotten */
static uint32_t *top_launches_find(struct top_launches *l, const struct grt_image *image,
				   uint64_t correlation)
{
	const struct grt_key key = top_launches_key(image, correlation);
	struct top_launch_page *page = grt_keyed_near(&l->pages, l->worked, &key);

	if (!page) {
		page = grt_keyed_find(&l->pages, &key);
		if (!page)
			return NULL;
		l->worked = grt_keyed_number(page);
	}
	return page->here >> correlation % PAGE_IDS & 1 ? &page->node[correlation % PAGE_IDS] : NULL;
}

bool top_launches_node(struct top_launches *l, const struct grt_image *image, uint64_t correlation,
		       uint32_t *node)
{
	uint32_t *found = correlation ? top_launches_find(l, image, correlation) : NULL, later;

	*node = 0;
	if (!found)
		return !correlation;
	if (*found == NODE_LATER) {
		later = grt_images_stack(l->images, image->number, correlation);
		if (!later)
			return false;
		*found = later;
	}
	*node = *found;
	return true;
}

/* ---------------------------------------------------------------------- names */

#ifdef GRT_HAVE_BPF

static int top_launches_number(struct top_launches *l, const struct grt_image *image,
			       const struct grt_image_node *n, uint32_t *number)
{
	int ret = l->a.addresses ? 0 : image_addresses_init(&l->a);

	ret = ret ?: image_addresses_frame(&l->a, image, n, number);
	l->highest = !ret && *number > l->highest ? *number : l->highest;
	return ret;
}

int top_launches_want(struct top_launches *l, struct grt_image *image, uint32_t node)
{
	uint32_t number, codes;
	int ret = 0;

	for (const struct grt_image_node *n = grt_image_node(image, node); n && !ret;
	     n = grt_image_node(image, n->caller))
		if (n->ip && !grt_image_is_cuda(image, n) && !grt_image_code(image, n->ip, n->module, &codes))
			ret = top_launches_number(l, image, n, &number);
	return ret;
}

void top_launches_name(struct top_launches *l, bool wait)
{
	unsigned int waits = wait ? NAMES_WAITS : 0;
	bool done;

	if (l->until <= l->named) {
		if (l->highest == l->named)
			return;
		addresses_again(l->a.addresses);
		l->until = l->highest;
	}
	do
		done = addresses_name(l->a.addresses, wait ? NAMES_MS : 0);
	while (!done && waits-- > 0);
	if (done)
		l->named = l->until;
}

/* Return: the functions at an address, the innermost first */
static bool top_launches_found(struct top_launches *l, const struct grt_image *image,
			       const struct grt_image_node *n, struct grt_symbols_found *found)
{
	uint32_t number;

	if (top_launches_number(l, image, n, &number) || !number ||
	    !addresses_has_name(l->a.addresses, number))
		return false;
	addresses_found(l->a.addresses, number, image_addresses_at(grt_image_mapping(image, n->module), n),
			found);
	return true;
}

static void top_launches_drop(struct top_launches *l)
{
	image_addresses_free(&l->a);
}

#else

int top_launches_want(struct top_launches *l, struct grt_image *image, uint32_t node)
{
	return 0;
}

void top_launches_name(struct top_launches *l, bool wait)
{
}

static bool top_launches_found(struct top_launches *l, const struct grt_image *image,
			       const struct grt_image_node *n, struct grt_symbols_found *found)
{
	return false;
}

static void top_launches_drop(struct top_launches *l)
{
}

#endif

/**
 * struct top_text - a text that is being written, up to @room bytes; the rest is cut
 * @used: its length, with the rest
 */
struct top_text {
	char *at;
	size_t used;
	size_t room;
};

static void top_text_put(struct top_text *t, const char *text)
{
	size_t len = strlen(text), left = t->used < t->room ? t->room - t->used - 1 : 0;
	size_t fits = len < left ? len : left;

	if (t->used < t->room) {
		memcpy(t->at + t->used, text, fits);
		t->at[t->used + fits] = '\0';
	}
	t->used += len;
}

static void top_text_add(struct top_text *t, const char *function, const char *file, uint32_t line)
{
	char *text = grt_frame_text(function, strlen(function), line ? file : NULL, line);

	if (text && t->used)
		top_text_put(t, " < ");
	if (text)
		top_text_put(t, text);
	free(text);
}

static void top_text_add_linked(struct top_text *t, const char *linked)
{
	char *clean = grt_demangle(linked);

	top_text_add(t, clean ? clean : linked, NULL, 0);
	free(clean);
}

/* The address in its file, as long as nothing is known about it. */
static void top_text_add_address(struct top_text *t, const struct grt_image *image,
				 const struct grt_image_node *n)
{
	const struct grt_image_mapping *m = grt_image_mapping(image, n->module);
	const char *path = m ? grt_image_string(image, m->path) : NULL;
	char text[300];

	snprintf(text, sizeof(text), "%.255s%s0x%" PRIx64, path ? grt_frame_base(path) : "", path ? "+" : "",
		 path ? image_addresses_at(m, n) : n->ip);
	top_text_add(t, text, NULL, 0);
}

static void top_text_add_frame(struct top_text *t, struct top_launches *l, struct grt_image *image,
			       const struct grt_image_node *n)
{
	const char *function = grt_image_string(image, n->function);
	uint32_t codes = 0;
	const struct grt_image_code *code = n->ip ? grt_image_code(image, n->ip, n->module, &codes) : NULL;
	struct grt_symbols_found found;

	if (!n->ip) {
		top_text_add(t, function ?: "?", grt_image_string(image, n->file), n->line);
	} else if (code) {
		while (codes-- > 0)
			top_text_add_linked(t, grt_image_string(image, code[codes].function) ?: "?");
	} else if (top_launches_found(l, image, n, &found)) {
		for (unsigned int i = 0; i < found.frames; i++)
			top_text_add_linked(t, found.frame[i].function);
	} else {
		top_text_add_address(t, image, n);
	}
}

const char *top_launches_text(struct top_launches *l, struct grt_image *image, uint32_t node, char *text,
			      size_t room)
{
	const struct grt_image_node *n = grt_image_node(image, node);
	struct top_text t = {.at = text, .room = room};

	text[0] = '\0';
	/* the innermost frames of each launch */
	while (n && n->caller && grt_image_is_cuda(image, n))
		n = grt_image_node(image, n->caller);
	/* an outermost node without a place says why the stack ends */
	for (; n && (n->caller || n->ip || n->file) && t.used < room; n = grt_image_node(image, n->caller))
		top_text_add_frame(&t, l, image, n);
	return t.used ? text : NULL;
}

void top_launches_free(struct top_launches *l)
{
	if (!l)
		return;
	top_launches_drop(l);
	grt_keyed_free(&l->pages);
	free(l);
}
