// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Work is summed up by stack and kernel. At the end of the trace, each node of the stacks gets the innermost
 * operator around it. A caller has a smaller number than its callees, so one pass over the numbers is enough.
 */
#include "operators.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"

#define WORKS_MAX (1U << 20)
/* Most bytes of a name; longer names are truncated. */
#define NAME_ROOM 512U

/** struct operator_row - a row of operators.def; @star, @source as there */
struct operator_row {
	uint8_t view;
	uint8_t phase;
	const char *kind;
	const char *source;
	const char *function;
	const char *name;
	const char *kernels;
};

static const struct operator_row operator_rows[] = {
#define GRT_OPERATOR(VIEW, kind, source, function, name, PHASE, kernels) \
	{GRT_OPERATOR_##VIEW, GRT_OPERATOR_##PHASE, kind, source, function, name, kernels},
#define GRT_OVERLOAD(end)
#include "operators.def"
};

static const char *const overloads[] = {
#define GRT_OPERATOR(VIEW, kind, source, function, name, PHASE, kernels)
#define GRT_OVERLOAD(end) end,
#include "operators.def"
};

/**
 * struct place - a node of a stack
 * @link: the innermost operator around it, plus 1; 0: none
 * @kernels: the row, plus 1, that makes an operator of each kernel that is launched here
 */
struct place {
	uint32_t link;
	uint8_t phase;
	uint8_t kernels;
};

/** struct link - an operator in a stack; @outer: the one around it, as in struct place */
struct link {
	uint32_t outer;
	uint32_t row;
};

struct places {
	struct place *place; /* by number of the node */
	uint32_t room;
	uint32_t known;
};

/**
 * struct work - what one stack launched of one kernel
 * @kernel: its string, plus 1; 0: copies
 */
struct work {
	uint32_t image;
	uint32_t node;
	uint32_t kernel;
	struct grt_operator_sums sums;
};

struct grt_operators {
	enum grt_operator_view view;
	struct grt_launches *launches;
	struct grt_image_frames *frames;
	struct grt_stacks *names;
	struct grt_keyed works;
	struct grt_keyed rows; /* numbers of @row */
	struct grt_operator **row;
	uint32_t used;
	struct link *link;
	uint32_t links;
	struct places *places; /* by image */
	uint32_t images;
	uint64_t over;
	uint64_t stack_cut;
};

/* ----------------------------------------------------------------- work */

int grt_operators_work(struct grt_operators *o, const struct grt_event *e, const struct grt_image *image,
		       const struct grt_launch *launch, enum grt_launched_how how)
{
	const struct grt_ev_gpu_kernel *k = (const void *)e;
	bool kernel = e->type == GRT_EV_GPU_KERNEL;
	uint32_t node = launch ? launch->origin ?: launch->node : 0, name = kernel ? k->name + 1 : 0;
	struct grt_key key = {{image->number, node, name}};
	struct work *w;
	void *found;
	int ret;

	if (e->type == GRT_EV_GPU_SYNC)
		return 0;
	if (launch)
		o->stack_cut += grt_image_reach(grt_launches_images(o->launches)->image[image->number],
						launch->node) == GRT_STACK_CUT;
	ret = grt_keyed_get_or_count(&o->works, &key, &o->over, &found);
	w = found;
	if (ret || !w)
		return ret;
	w->image = image->number;
	w->node = node;
	w->kernel = name;
	w->sums.launches += launch && launch->first && !launch->origin;
	w->sums.kernels += kernel;
	w->sums.copies += !kernel;
	/* stamps of copies are at the same place */
	w->sums.gpu += k->start && k->end > k->start ? k->end - k->start : 0;
	return 0;
}

/* -------------------------------------------------------------- functions */

/**
 * struct function
 * @text: not terminated
 * @file: of an interpreter's function; NULL: none
 */
struct function {
	const char *text;
	size_t len;
	const char *file;
};

/* Return: the text that matches the * of the pattern; NULL: the name does not match. */
static const char *operator_matches(const struct operator_row *r, const struct function *f, size_t *len)
{
	const char *star = strchr(r->function, '*');
	size_t before = star ? (size_t)(star - r->function) : strlen(r->function);
	size_t behind = star ? strlen(star + 1) : 0;

	if (f->len < before + behind || memcmp(f->text, r->function, before) || (!star && f->len != before) ||
	    (star && memcmp(f->text + f->len - behind, star + 1, behind)))
		return NULL;
	if (r->source ? !f->file || !strstr(f->file, r->source) : f->file != NULL)
		return NULL;
	*len = f->len - before - behind;
	/* a library's own functions continue with a small letter or an underscore */
	if (r->view == GRT_OPERATOR_LIBRARY && (!*len || !isupper((unsigned char)f->text[before])))
		return NULL;
	return f->text + before;
}

static const struct operator_row *operator_find(enum grt_operator_view view, const struct function *f,
						struct function *star)
{
	for (size_t i = 0; i < sizeof(operator_rows) / sizeof(operator_rows[0]); i++) {
		const char first = *operator_rows[i].function;

		if (operator_rows[i].view != view || (first != *f->text && first != '*'))
			continue;
		star->text = operator_matches(&operator_rows[i], f, &star->len);
		if (star->text)
			return &operator_rows[i];
	}
	return NULL;
}

/* Bytes of the name before an overload: `add` of `add_Tensor`. */
static size_t operator_without_overload(const char *text, size_t len)
{
	bool more = true;

	for (size_t i = 1; i + 1 < len; i++)
		if (text[i] == '_' && isupper((unsigned char)text[i + 1]))
			len = i;
	while (more) {
		more = false;
		for (size_t i = 0; i < sizeof(overloads) / sizeof(overloads[0]) && !more; i++) {
			size_t end = strlen(overloads[i]);

			more = len > end && !memcmp(text + len - end, overloads[i], end);
			len -= more ? end : 0;
		}
	}
	return len;
}

static const char *operators_base(const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL;

	return base && base[1] ? base + 1 : path ?: "";
}

/* Writes the program's line that called a module; the frames between them are PyTorch's. */
static void operators_called_at(const struct grt_image *i, uint32_t node, char *out, size_t room)
{
	const struct grt_image_node *n = grt_image_node(i, node);
	const char *file = NULL;

	for (n = n ? grt_image_node(i, n->caller) : NULL; n; n = grt_image_node(i, n->caller)) {
		file = n->ip ? NULL : grt_image_string(i, n->file);
		if (file && !strstr(file, "/torch/nn/modules/module.py"))
			break;
	}
	if (n)
		snprintf(out, room, "%s:%u", operators_base(file), n->line);
	else
		snprintf(out, room, "?");
}

/* Writes the name of an operator as its row says. Return: its length */
static size_t operators_put_name(const struct operator_row *r, const struct function *f,
				 const struct function *star, const char *at, char out[NAME_ROOM])
{
	size_t used = 0;
	struct function part;

	for (const char *c = r->name; *c; c++) {
		part = *c == '*'   ? *star
		       : *c == '%' ? (struct function){.text = operators_base(f->file),
						       .len = strlen(operators_base(f->file))}
		       : *c == '@' ? (struct function){.text = at, .len = strlen(at)}
				   : (struct function){.text = c, .len = 1};
		if (part.len > NAME_ROOM - used)
			part.len = NAME_ROOM - used;
		memcpy(out + used, part.text, part.len);
		used += part.len;
	}
	return used;
}

/* ----------------------------------------------------------------- rows */

static int operators_new_row(struct grt_operators *o, const struct grt_image *i, const char *kind,
			     uint32_t phase, uint32_t name, bool named)
{
	struct grt_operator *row = calloc(1, sizeof(*row));
	const char *text;
	size_t len;

	if (!row || grt_grow_one(&o->row, o->used)) {
		free(row);
		return -ENOMEM;
	}
	o->row[o->used] = row;
	row->image = i->number;
	row->pid = i->pid;
	row->kind = kind;
	row->phase = (uint8_t)phase;
	if (!named)
		return 0;
	text = grt_stacks_text(o->names, name, &len);
	row->name = strndup(text, len);
	return row->name ? 0 : -ENOMEM;
}

/* @len: 0: the row of work outside of all operators */
static int operators_row_of(struct grt_operators *o, const struct grt_image *i, const char *kind,
			    uint32_t phase, const char *text, size_t len, uint32_t *row)
{
	struct grt_key key = {{i->number, 0, phase}};
	uint32_t name = 0, *found;
	void *at;
	int ret = len ? grt_stacks_name(o->names, text, len, &name) : 0;

	key.w[1] = len ? name + 1ULL : 0;
	ret = ret ?: grt_keyed_get(&o->rows, &key, &at);
	if (ret)
		return -ENOMEM;
	found = at;
	if (!*found) {
		ret = operators_new_row(o, i, kind, phase, name, len);
		if (ret)
			return ret;
		*found = ++o->used;
	}
	*row = *found - 1;
	return 0;
}

/* ---------------------------------------------------------------- places */

static int operators_enter(struct grt_operators *o, const struct grt_image *i, uint32_t node,
			   const struct function *f, struct place *p)
{
	struct function star;
	const struct operator_row *r = operator_find(GRT_OPERATOR_OPERATOR, f, &star);
	char name[NAME_ROOM], at[128] = "";
	size_t len;

	if (r && !p->phase)
		p->phase = r->phase;
	if (o->view != GRT_OPERATOR_OPERATOR)
		r = operator_find(o->view, f, &star);
	if (!r)
		return 0;
	if (!r->name) {
		if (r->kernels && !p->kernels)
			p->kernels = (uint8_t)(r - operator_rows + 1);
		return 0;
	}
	/* profilers name operators without this prefix */
	if (!strncmp(r->function, "at::_ops::", 10))
		star.len = operator_without_overload(star.text, star.len);
	if (strchr(r->name, '@'))
		operators_called_at(i, node, at, sizeof(at));
	len = operators_put_name(r, f, &star, at, name);
	if (grt_grow_one(&o->link, o->links))
		return -ENOMEM;
	o->link[o->links].outer = p->link;
	p->link = o->links + 1;
	p->kernels = r->kernels ? (uint8_t)(r - operator_rows + 1) : 0;
	return operators_row_of(o, i, r->kind, p->phase, name, len, &o->link[o->links++].row);
}

static int operators_place(struct grt_operators *o, const struct grt_image *i, uint32_t node,
			   const struct place *outer, struct place *p)
{
	const struct grt_image_node *n = grt_image_node(i, node);
	struct function f = {.text = NULL};
	int ret = 0;

	*p = *outer;
	if (!n)
		return 0;
	if (!n->ip) {
		f.text = grt_image_string(i, n->function);
		f.len = f.text ? strlen(f.text) : 0;
		f.file = grt_image_string(i, n->file);
		return f.len ? operators_enter(o, i, node, &f, p) : 0;
	}
	for (uint32_t k = 0; !ret; k++) {
		ret = grt_image_frames_inlined(o->frames, i, node, k, &f.text, &f.len);
		if (ret || !f.len)
			break;
		ret = operators_enter(o, i, node, &f, p);
	}
	return ret;
}

/* Finds the operators of all nodes of an image that are defined by now. */
static int operators_places(struct grt_operators *o, const struct grt_image *i)
{
	static const struct place none;
	const struct grt_image_node *n;
	struct places *m;
	int ret = grt_grow_zeroed(&o->places, &o->images, i->number + 1, 1);

	m = &o->places[i->number];
	ret = ret ?: grt_grow_zeroed(&m->place, &m->room, i->nodes + 1, 64);
	for (uint32_t node = m->known + 1; node <= i->nodes && !ret; node++) {
		n = grt_image_node(i, node);
		ret = operators_place(o, i, node, n ? &m->place[n->caller] : &none, &m->place[node]);
		m->known = node;
	}
	return ret;
}

/* ---------------------------------------------------------------- the end */

static void operators_add(struct grt_operator_sums *to, const struct grt_operator_sums *s)
{
	to->launches += s->launches;
	to->kernels += s->kernels;
	to->copies += s->copies;
	to->gpu += s->gpu;
}

/* The row of the kernel itself, where it is an operator. */
static int operators_kernel_row(struct grt_operators *o, const struct grt_image *i, const struct work *w,
				const struct place *p, uint32_t *row, bool *is)
{
	const char *text;
	size_t len;
	int ret = 0;

	*is = w->kernel && p->kernels;
	if (*is)
		ret = grt_image_kernel_name(o->frames, i, w->kernel - 1, &text, &len)
			      ?: operators_row_of(o, i, operator_rows[p->kernels - 1].kernels, p->phase, text,
						  len, row);
	return ret;
}

/* Adds the time to the innermost operator as its own, and once to each operator around it. */
static int operators_add_work(struct grt_operators *o, const struct work *w, uint32_t number)
{
	const struct grt_image *i = grt_launches_images(o->launches)->image[w->image];
	const struct places *m = &o->places[w->image];
	struct place p = m->place[w->node <= m->known ? w->node : 0];
	uint32_t at = p.link, row;
	bool is;
	int ret = operators_kernel_row(o, i, w, &p, &row, &is);

	if (!ret && !is && !at)
		ret = operators_row_of(o, i, NULL, p.phase, NULL, 0, &row);
	else if (!ret && !is) {
		row = o->link[at - 1].row;
		at = o->link[at - 1].outer;
	}
	if (ret)
		return ret;
	operators_add(&o->row[row]->own, &w->sums);
	for (;; row = o->link[at - 1].row, at = o->link[at - 1].outer) {
		if (o->row[row]->seen != number + 1)
			operators_add(&o->row[row]->all, &w->sums);
		o->row[row]->seen = number + 1;
		if (!at)
			return 0;
	}
}

int grt_operators_finish(struct grt_operators *o)
{
	const struct grt_images *images = grt_launches_images(o->launches);
	uint32_t number = 0;
	int ret = 0;

	for (uint32_t i = 0; i < images->images && !ret; i++)
		ret = operators_places(o, images->image[i]);
	for (uint32_t i = 0; i < o->used; i++) {
		o->row[i]->own = o->row[i]->all = (struct grt_operator_sums){0};
		o->row[i]->seen = 0;
	}
	for (struct work *w = grt_keyed_oldest(&o->works); w && !ret; w = grt_keyed_next(&o->works, w))
		ret = operators_add_work(o, w, number++);
	for (uint32_t i = 0; i < o->used; i++)
		o->row[i]->process =
			grt_image_process_name(images->image[o->row[i]->image], o->row[i]->pid_text);
	return ret;
}

/*
 * Finds the image of another pass. Both passes read the same records, but one may have used some that the
 * other ignored.
 */
static const struct grt_image *operators_image(const struct grt_operators *o, const struct grt_image *image)
{
	const struct grt_images *m = grt_launches_images(o->launches);

	for (uint32_t i = 0; i < m->images; i++) {
		const struct grt_image *other = m->image[(image->number + i) % m->images];

		if (other->pid == image->pid && other->id == image->id)
			return other;
	}
	return NULL;
}

int grt_operators_of(struct grt_operators *o, const struct grt_image *image, uint32_t node, uint32_t kernel,
		     const char **name)
{
	const struct grt_image *i = operators_image(o, image);
	const struct places *m = i && i->number < o->images ? &o->places[i->number] : NULL;
	struct place p = {.link = 0};
	struct work w = {.kernel = kernel + 1};
	uint32_t row = 0;
	bool is = false;
	int ret;

	*name = NULL;
	if (!m || !node || node > m->known)
		return 0;
	p = m->place[node];
	ret = operators_kernel_row(o, i, &w, &p, &row, &is);
	if (!ret && (is || p.link))
		*name = o->row[is ? row : o->link[p.link - 1].row]->name;
	return ret;
}

static int operators_compare(const void *a, const void *b)
{
	const struct grt_operator *x = *(const struct grt_operator *const *)a,
				  *y = *(const struct grt_operator *const *)b;

	if (x->own.gpu != y->own.gpu)
		return x->own.gpu > y->own.gpu ? -1 : 1;
	if (x->all.gpu != y->all.gpu)
		return x->all.gpu > y->all.gpu ? -1 : 1;
	return strcmp(x->name ?: "", y->name ?: "") ?: x->phase - y->phase
		?: (x->image > y->image) - (x->image < y->image);
}

int64_t grt_operators_list(const struct grt_operators *o, const struct grt_operator ***out)
{
	uint32_t n = 0;

	*out = calloc(o->used + 1U, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	/* an operator whose launches did nothing is skipped */
	for (uint32_t i = 0; i < o->used; i++)
		if (o->row[i]->all.kernels || o->row[i]->all.copies)
			(*out)[n++] = o->row[i];
	qsort(*out, n, sizeof(**out), operators_compare);
	return n;
}

struct grt_launches_count grt_operators_count(const struct grt_operators *o)
{
	struct grt_launches_count n = grt_launches_count(o->launches);

	n.stack_cut = o->stack_cut;
	return n;
}

const struct grt_symbols_count *grt_operators_symbols(const struct grt_operators *o)
{
	return grt_image_frames_count(o->frames);
}

uint64_t grt_operators_over(const struct grt_operators *o)
{
	return o->over;
}

/* --------------------------------------------------------------- in, out */

int grt_operators_new(struct grt_operators **out, struct grt_launches *launches, enum grt_operator_view view)
{
	struct grt_operators *o = calloc(1, sizeof(*o));

	*out = o;
	if (!o)
		return -ENOMEM;
	o->launches = launches;
	o->view = view;
	grt_keyed_init(&o->works, sizeof(struct work), WORKS_MAX);
	grt_keyed_init(&o->rows, sizeof(uint32_t), UINT32_MAX);
	if (!grt_image_frames_new(&o->frames) && !grt_stacks_new(&o->names))
		return 0;
	grt_operators_free(o);
	*out = NULL;
	return -ENOMEM;
}

void grt_operators_free(struct grt_operators *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->used; i++) {
		free(o->row[i]->name);
		free(o->row[i]);
	}
	for (uint32_t i = 0; i < o->images; i++)
		free(o->places[i].place);
	grt_keyed_free(&o->works);
	grt_keyed_free(&o->rows);
	grt_image_frames_free(o->frames);
	grt_stacks_free(o->names);
	free(o->row);
	free(o->link);
	free(o->places);
	free(o);
}
