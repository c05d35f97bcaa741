// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The qualified name of a module: the keys that lead to it from the outermost module that runs, as
 * named_modules() has them. A module is looked for in the tree of the module that calls it, then in those
 * around that one. The way to it is kept for good, with the addresses of both ends, and followed again at
 * each call: if it leads to this module now, the name is right now, whatever was at these addresses before.
 * So the library keeps no module alive, and a module that was moved or freed gives its name to no other one.
 */
#include "torch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Most keys of a way. */
#define KEYS_MAX 32U
#define WAYS_MAX (1U << 18)
#define WAY_SLOTS (WAYS_MAX * 2)
#define PROBES 16U
/* Most modules that one search visits. */
#define SEARCH_MAX (1U << 18)
#define NAME_ROOM 4096U

/** struct way - the keys that lead from one module to another; it never changes, and is never freed */
struct way {
	const struct py_object *from;
	const struct py_object *to;
	uint32_t prefix;
	uint32_t name;
	unsigned int keys;
	struct py_object *key[];
};

static struct {
	_Atomic(struct way *) *slot;
	_Atomic uint32_t used;
	struct py_object *modules;  /* "_modules" */
	struct py_object *own_name; /* "__name__" */
} names;

bool torch_names_init(void)
{
	void *at;

	if (names.slot)
		return true;
	at = mmap(NULL, WAY_SLOTS * sizeof(*names.slot), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	names.modules = python.PyUnicode_InternFromString("_modules");
	names.own_name = python.PyUnicode_InternFromString("__name__");
	if (at == MAP_FAILED || !names.modules || !names.own_name)
		return false;
	names.slot = at;
	return true;
}

/* -------------------------------------------------------------- known ways */

static bool way_leads(const struct way *w, struct py_object *from)
{
	struct py_object *at = from, *children;

	python.Py_IncRef(at);
	for (unsigned int i = 0; i < w->keys && at; i++) {
		children = python.PyObject_GetAttr(at, names.modules);
		python.Py_DecRef(at);
		at = children ? python.PyObject_GetItem(children, w->key[i]) : NULL;
		if (children)
			python.Py_DecRef(children);
	}
	if (!at)
		python.PyErr_Clear();
	else
		python.Py_DecRef(at);
	/* the caller has a reference to @to */
	return at == w->to;
}

static uint32_t way_slot(const void *from, const void *to, uint32_t prefix)
{
	uint64_t h = (uintptr_t)from * 0x9e3779b97f4a7c15ULL ^ (uintptr_t)to * 0xc2b2ae3d27d4eb4fULL ^ prefix;

	return (uint32_t)((h * 0x9e3779b97f4a7c15ULL) >> 40);
}

static const struct way *way_known(const struct torch_call *c, const struct py_object *to)
{
	uint32_t at = way_slot(c->module, to, c->name);
	struct way *w;

	for (uint32_t i = 0; i < PROBES; i++) {
		w = atomic_load_explicit(&names.slot[(at + i) % WAY_SLOTS], memory_order_acquire);
		if (!w)
			break;
		if (w->from == c->module && w->to == to && w->prefix == c->name && way_leads(w, c->module))
			return w;
	}
	return NULL;
}

/* If other ways have all places, the way in the last place is dropped. */
static void way_keep(struct way *w)
{
	uint32_t at = way_slot(w->from, w->to, w->prefix);
	struct way *none = NULL;

	for (uint32_t i = 0; i < PROBES - 1; i++, none = NULL)
		if (atomic_compare_exchange_strong(&names.slot[(at + i) % WAY_SLOTS], &none, w))
			return;
	atomic_store(&names.slot[(at + PROBES - 1) % WAY_SLOTS], w);
}

/* ------------------------------------------------------------------ search */

/**
 * struct visit - a module that was found, with references
 * @by: the number of the visit in which it was found
 */
struct visit {
	struct py_object *module;
	struct py_object *key;
	uint32_t by;
	uint32_t depth;
};

struct search {
	struct visit *visit;
	uint32_t used;
	uint32_t room;
};

static bool search_add(struct search *s, struct py_object *module, struct py_object *key, uint32_t by)
{
	uint32_t room = s->room ? 2 * s->room : 64;
	struct visit *more;

	if (s->used == SEARCH_MAX)
		return false;
	if (s->used == s->room) {
		more = realloc(s->visit, room * sizeof(*more));
		if (!more)
			return false;
		s->visit = more;
		s->room = room;
	}
	python.Py_IncRef(module);
	if (key)
		python.Py_IncRef(key);
	s->visit[s->used].module = module;
	s->visit[s->used].key = key;
	s->visit[s->used].by = by;
	s->visit[s->used].depth = key ? s->visit[by].depth + 1 : 0;
	s->used++;
	return true;
}

/* Adds the children of a visited module. Return: whether @to was found; it is the last visit then */
static bool search_children(struct search *s, uint32_t by, const struct py_object *to)
{
	struct py_object *children = python.PyObject_GetAttr(s->visit[by].module, names.modules), *items,
			 *item;
	bool found = false;

	items = children ? python.PyMapping_Items(children) : NULL;
	for (ssize_t i = 0; items && !found && i < python.PyList_Size(items); i++) {
		item = python.PyList_GetItem(items, i);
		struct py_object *key = item ? python.PyTuple_GetItem(item, 0) : NULL;
		struct py_object *child = key ? python.PyTuple_GetItem(item, 1) : NULL;

		if (child && child != python.none && python.PyUnicode_AsUTF8AndSize(key, NULL))
			found = search_add(s, child, key, by) && child == to;
	}
	python.PyErr_Clear();
	if (items)
		python.Py_DecRef(items);
	if (children)
		python.Py_DecRef(children);
	return found;
}

static void search_end(struct search *s)
{
	for (uint32_t i = 0; i < s->used; i++) {
		python.Py_DecRef(s->visit[i].module);
		if (s->visit[i].key)
			python.Py_DecRef(s->visit[i].key);
	}
	free(s->visit);
}

/* Makes the name, such as "layers.0.attn", from its end. Return: its number, 0: no room */
static uint32_t search_name(const struct search *s, uint32_t prefix, bool *cut)
{
	char text[NAME_ROOM], *at = text + sizeof(text);
	const char *part;
	ssize_t n;

	for (uint32_t i = s->used - 1; i; i = s->visit[i].by) {
		part = python.PyUnicode_AsUTF8AndSize(s->visit[i].key, &n);
		if (!part || n + 1 > at - text)
			return 0;
		at -= n;
		memcpy(at, part, (size_t)n);
		*--at = '.';
	}
	part = prefix ? nvtx_text_of(prefix) : "";
	n = (ssize_t)strlen(part);
	at += prefix ? 0 : 1;
	if (n > at - text)
		return 0;
	at -= n;
	memcpy(at, part, (size_t)n);
	return nvtx_name(at, (size_t)(text + sizeof(text) - at), cut);
}

/* Makes a way, which keeps references to its keys. Return: NULL: no room */
static const struct way *search_way(const struct search *s, const struct torch_call *c)
{
	unsigned int keys = s->visit[s->used - 1].depth;
	bool cut = false;
	uint32_t name = search_name(s, c->name, &cut);
	struct way *w;

	if (!name || cut || atomic_fetch_add(&names.used, 1) >= WAYS_MAX)
		return NULL;
	w = malloc(sizeof(*w) + keys * sizeof(w->key[0]));
	if (!w)
		return NULL;
	w->from = c->module;
	w->to = s->visit[s->used - 1].module;
	w->prefix = c->name;
	w->name = name;
	w->keys = keys;
	for (uint32_t i = s->used - 1; i; i = s->visit[i].by) {
		w->key[--keys] = s->visit[i].key;
		python.Py_IncRef(s->visit[i].key);
	}
	way_keep(w);
	return w;
}

/* Visits near modules first, as many as the thread has credit for. */
static const struct way *search(struct torch_thread *t, const struct torch_call *c,
				const struct py_object *to)
{
	struct search s = {.used = 0};
	const struct way *w = NULL;
	bool found = false;

	if (!search_add(&s, c->module, NULL, 0))
		return NULL;
	for (uint32_t i = 0; i < s.used && t->credit > 0 && !found; i++, t->credit--)
		found = s.visit[i].depth < KEYS_MAX && search_children(&s, i, to);
	if (found)
		w = search_way(&s, c);
	search_end(&s);
	return w;
}

/* ------------------------------------------------------------------- names */

static uint32_t torch_class_name(struct py_object *module, bool *cut)
{
	struct py_object *type = python.PyObject_Type(module);
	struct py_object *name = type ? python.PyObject_GetAttr(type, names.own_name) : NULL;
	ssize_t size = 0;
	const char *text = name ? python.PyUnicode_AsUTF8AndSize(name, &size) : NULL;
	uint32_t number = nvtx_name(text ?: "?", text ? (size_t)size : 1, cut);

	if (!text)
		python.PyErr_Clear();
	if (name)
		python.Py_DecRef(name);
	if (type)
		python.Py_DecRef(type);
	return number;
}

uint32_t torch_name(struct torch_thread *t, struct py_object *module, uint32_t *prefix, bool *cut)
{
	const struct way *w = NULL;
	uint32_t i;

	for (i = t->depth; i > 0 && !w; i--)
		w = way_known(&t->running[i - 1], module) ?: search(t, &t->running[i - 1], module);
	*prefix = w ? w->name : 0;
	if (w)
		return w->name;
	*cut = t->depth > 0;
	return torch_class_name(module, cut);
}
