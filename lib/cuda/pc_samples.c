// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Sums of PC samples, see pc_samples.h: while the trace is read by instruction and reason, and at its end,
 * when all names are known, by kernel and reason, and by line.
 */
#include "pc_samples.h"
#include "base/compare.h"
#include "stack/estimates.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 1048576U
#define REASONS_MAX 65536U
#define PREFIX "smsp__pcsamp_warps_issue_stalled_"
#define IDLE "_not_issued"

/*
 * Values by key: image, function and offset in a cubin, for pairs also the reason
 * @number: from 1 on
 * @frames, @name: key of the leaf with these, without image and function, set at the end; 0: none
 */
struct pair {
	uint64_t samples;
	uint32_t number;
	uint32_t frames;
	uint32_t name;
};

/** struct source - of an instruction: strings of the image */
struct source {
	uint32_t file;
	uint32_t line;
};

/** struct inlined - a function, and where it was called: strings of the image */
struct inlined {
	uint32_t function;
	uint32_t file;
	uint32_t line;
};

/**
 * struct kernel
 * @samples: with and without an issued instruction
 */
struct kernel {
	char *name;
	uint64_t samples;
};

/**
 * struct reason
 * @name: its text
 * @idle: it counts cycles in which no instruction was issued
 */
struct reason {
	char *name;
	const char *meaning;
	bool idle;
};

/** struct name - of a reason in an image: a string */
struct name {
	uint32_t string;
};

/**
 * struct window - of an image
 * @lossy: samples were lost in it
 */
struct window {
	bool lossy;
};

int grt_pc_samples_init(struct grt_pc_samples *p)
{
	memset(p, 0, sizeof(*p));
	grt_images_init(&p->images);
	p->from = &p->images;
	p->within = (struct grt_interval){0, UINT64_MAX};
	grt_keyed_init(&p->pairs, sizeof(struct pair), PAIRS_MAX);
	grt_keyed_init(&p->names, sizeof(struct name), REASONS_MAX);
	grt_keyed_init(&p->reasons, sizeof(struct reason), REASONS_MAX);
	grt_keyed_init(&p->sources, sizeof(struct source), PAIRS_MAX);
	grt_keyed_init(&p->kernels, sizeof(struct kernel), PAIRS_MAX);
	grt_keyed_init(&p->stalls, sizeof(struct grt_pc_stall), PAIRS_MAX);
	grt_keyed_init(&p->lines, sizeof(struct grt_pc_line), PAIRS_MAX);
	grt_keyed_init(&p->line_reasons, sizeof(uint64_t), PAIRS_MAX);
	grt_keyed_init(&p->leaves, sizeof(struct grt_pc_leaf), PAIRS_MAX);
	grt_keyed_init(&p->inlined, sizeof(struct inlined), PAIRS_MAX);
	grt_keyed_init(&p->line_frames, sizeof(uint64_t), PAIRS_MAX);
	grt_keyed_init(&p->windows, sizeof(struct window), PAIRS_MAX);
	grt_keyed_init(&p->instructions, sizeof(struct grt_pc_instruction), PAIRS_MAX);
	grt_keyed_init(&p->instruction_reasons, sizeof(uint64_t), PAIRS_MAX);
	grt_keyed_init(&p->launched, sizeof(struct grt_pc_launched), PAIRS_MAX);
	grt_keyed_init(&p->cubins, sizeof(uint32_t), REASONS_MAX);
	grt_keyed_init(&p->times, sizeof(struct grt_windows), REASONS_MAX);
	grt_texts_init(&p->frames_text, PAIRS_MAX);
	return grt_image_frames_new(&p->frames);
}

void grt_pc_samples_free(struct grt_pc_samples *p)
{
	for (struct kernel *k = grt_keyed_oldest(&p->kernels); k; k = grt_keyed_next(&p->kernels, k))
		free(k->name);
	for (struct reason *r = grt_keyed_oldest(&p->reasons); r; r = grt_keyed_next(&p->reasons, r))
		free(r->name);
	for (struct grt_pc_line *l = grt_keyed_oldest(&p->lines); l; l = grt_keyed_next(&p->lines, l))
		free(l->place), free(l->inlined);
	for (struct grt_windows *t = grt_keyed_oldest(&p->times); t; t = grt_keyed_next(&p->times, t))
		grt_windows_free(t);
	grt_keyed_free(&p->windows);
	grt_keyed_free(&p->times);
	grt_keyed_free(&p->cubins);
	grt_keyed_free(&p->launched);
	for (struct grt_pc_instruction *x = grt_keyed_oldest(&p->instructions); x;
	     x = grt_keyed_next(&p->instructions, x))
		free(x->place), free(x->sass);
	grt_keyed_free(&p->instructions);
	grt_keyed_free(&p->instruction_reasons);
	free(p->instruction);
	grt_keyed_free(&p->pairs);
	grt_keyed_free(&p->names);
	grt_keyed_free(&p->reasons);
	grt_keyed_free(&p->sources);
	grt_keyed_free(&p->kernels);
	grt_keyed_free(&p->stalls);
	grt_keyed_free(&p->lines);
	grt_keyed_free(&p->line_reasons);
	grt_keyed_free(&p->leaves);
	grt_keyed_free(&p->inlined);
	grt_keyed_free(&p->line_frames);
	grt_texts_free(&p->frames_text);
	grt_images_free(&p->images);
	grt_image_frames_free(p->frames);
	free(p->stall);
	free(p->line);
	free(p->leaf);
}

void grt_pc_samples_use(struct grt_pc_samples *p, const struct grt_images *images)
{
	p->from = images;
}

/* ------------------------------------------------------------------ events */

/*
 * Two cubins may have functions of the same name, whose string is the same in the image, so the CRC is part
 * of the key.
 */
static struct grt_key pc_place(uint32_t image, uint64_t cubin, uint32_t function, uint64_t offset)
{
	return (struct grt_key){{(uint64_t)image << 32 | function, cubin, offset, 0}};
}

/* Return: 0, with *out NULL: there is no room; or -ENOMEM */
static int pc_get(struct grt_pc_samples *p, struct grt_keyed *of, struct grt_key key, void *out)
{
	return grt_keyed_get_or_count(of, &key, &p->sums.over, (void **)out);
}

static int pc_take_launched(struct grt_pc_samples *p, const struct grt_ev_pc_sample *e,
			    const struct grt_key *pair, uint32_t number)
{
	struct grt_pc_launched *l;
	int ret = pc_get(p, &p->launched, (struct grt_key){{pair->w[0], e->correlation, number}}, &l);

	if (!l)
		return ret;
	l->pair = *pair;
	l->samples += e->samples;
	return 0;
}

static int pc_take_sample(struct grt_pc_samples *p, const struct grt_image *i,
			  const struct grt_ev_pc_sample *e)
{
	struct grt_key key = pc_place(i->number, e->cubin, e->function, e->offset);
	struct pair *pair;
	int ret;

	key.w[3] = 1 + (uint64_t)e->reason;
	ret = pc_get(p, &p->pairs, key, &pair);
	if (!pair)
		return ret;
	pair->samples += e->samples;
	if (!pair->number)
		pair->number = p->pairs.used;
	return p->by_launch && e->correlation ? pc_take_launched(p, e, &key, pair->number) : 0;
}

static int pc_take_line(struct grt_pc_samples *p, const struct grt_image *i, const struct grt_ev_pc_line *e)
{
	struct source *s;
	int ret = pc_get(p, &p->sources, pc_place(i->number, e->cubin, e->function, e->offset), &s);

	if (s)
		*s = (struct source){e->file, e->line};
	return ret;
}

static int pc_take_inlined(struct grt_pc_samples *p, const struct grt_image *i,
			   const struct grt_ev_pc_inlined *e)
{
	struct grt_key key = pc_place(i->number, e->cubin, e->function, e->offset);
	struct inlined *x;
	int ret;

	key.w[3] = 1 + (uint64_t)e->index;
	ret = pc_get(p, &p->inlined, key, &x);
	if (x)
		*x = (struct inlined){e->inlined, e->file, e->line};
	return ret;
}

static int pc_take_cubin(struct grt_pc_samples *p, const struct grt_image *i, const struct grt_ev_cubin *e)
{
	uint32_t *seen;
	int ret = pc_get(p, &p->cubins, (struct grt_key){{i->number, e->crc}}, &seen);

	if (seen)
		*seen = 1;
	return ret;
}

static int pc_take_reason(struct grt_pc_samples *p, const struct grt_image *i,
			  const struct grt_ev_stall_reason *e)
{
	struct name *n;
	int ret = pc_get(p, &p->names, (struct grt_key){{i->number, e->number}}, &n);

	if (n)
		n->string = e->name;
	return ret;
}

static int pc_take_window(struct grt_pc_samples *p, const struct grt_image *i,
			  const struct grt_ev_pc_count *e)
{
	const struct grt_ev_capture time = {.begin = e->begin, .end = e->end};
	struct grt_windows *times;
	struct window *w;
	int ret;

	if (!e->window)
		return 0;
	ret = pc_get(p, &p->windows, (struct grt_key){{i->number, e->window}}, &w);
	if (w)
		w->lossy |= e->dropped || e->full;
	ret = ret ?: pc_get(p, &p->times, (struct grt_key){{i->number}}, &times);
	return ret || !w || !times ? ret : grt_windows_take(times, &time);
}

static int pc_take_count(struct grt_pc_samples *p, const struct grt_image *i, const struct grt_ev_pc_count *e)
{
	p->sums.total += e->total;
	p->sums.dropped += e->dropped;
	p->sums.other += e->other;
	p->sums.left += e->left;
	p->sums.full += e->full;
	return pc_take_window(p, i, e);
}

bool grt_pc_samples_is(const struct grt_event *e)
{
	return e->type >= GRT_EV_PC_SAMPLE && e->type <= GRT_EV_PC_INLINED;
}

/* Samples are taken from @begin to @end, and written later. */
static bool pc_counts(const struct grt_pc_samples *p, uint64_t begin, uint64_t end)
{
	return begin <= p->within.to && end >= p->within.from;
}

int grt_pc_samples_take(struct grt_pc_samples *p, const struct grt_image *i, const struct grt_event *e)
{
	const struct grt_ev_pc_sample *sample = (const void *)e;
	const struct grt_ev_pc_count *count = (const void *)e;

	switch (e->type) {
	case GRT_EV_PC_SAMPLE:
		return pc_counts(p, sample->begin, sample->end) ? pc_take_sample(p, i, sample) : 0;
	case GRT_EV_PC_COUNT:
		return pc_counts(p, count->begin, count->end) ? pc_take_count(p, i, count) : 0;
	case GRT_EV_STALL_REASON:
		return pc_take_reason(p, i, (const void *)e);
	case GRT_EV_CUBIN:
		return pc_take_cubin(p, i, (const void *)e);
	case GRT_EV_PC_LINE:
		return pc_take_line(p, i, (const void *)e);
	case GRT_EV_PC_INLINED:
		return pc_take_inlined(p, i, (const void *)e);
	}
	return 0;
}

int grt_pc_samples_event(struct grt_pc_samples *p, const struct grt_event *e)
{
	const struct grt_image *i;

	/* of an image, only the names are used here */
	if (e->type == GRT_EV_NODE || e->type == GRT_EV_LAUNCH)
		return 0;
	if (!grt_pc_samples_is(e))
		return grt_images_event(&p->images, e);
	i = grt_images_of(&p->images, e);
	return i ? grt_pc_samples_take(p, i, e) : -ENOMEM;
}

/* -------------------------------------------------------------------- rows */

static const char *pc_meaning(const char *name, size_t length)
{
	static const struct {
		const char *name;
		const char *meaning;
	} stalls[] = {
#define GRT_STALL(name, meaning) {#name, meaning},
#include "stalls.def"
	};

	for (size_t i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++)
		if (strlen(stalls[i].name) == length && !strncmp(stalls[i].name, name, length))
			return stalls[i].meaning;
	return NULL;
}

/* Reasons of the same name, and their counts of idle cycles, are one row. @number: of the reason in its image
 */
static int pc_reason(struct grt_pc_samples *p, const struct grt_image *i, uint32_t number,
		     struct reason **out)
{
	struct grt_key key = {{i->number, number}};
	const struct name *n = grt_keyed_find(&p->names, &key);
	const char *text = n ? grt_image_string(i, n->string) : NULL;
	size_t length;
	int ret = pc_get(p, &p->reasons, key, out);

	if (ret || !*out || (*out)->name)
		return ret;
	if (text && !strncmp(text, PREFIX, strlen(PREFIX)))
		text += strlen(PREFIX);
	length = text ? strlen(text) : 0;
	if (length > strlen(IDLE) && !strcmp(text + length - strlen(IDLE), IDLE)) {
		length -= strlen(IDLE);
		(*out)->idle = true;
	}
	if (!text || asprintf(&(*out)->name, "%.*s", (int)length, text) < 0)
		(*out)->name = NULL;
	if (!text && asprintf(&(*out)->name, "reason %u", number) < 0)
		(*out)->name = NULL;
	if (!(*out)->name)
		return -ENOMEM;
	(*out)->meaning = pc_meaning((*out)->name, length);
	return 0;
}

static int pc_kernel(struct grt_pc_samples *p, const struct grt_image *i, uint32_t function,
		     struct kernel **out)
{
	const char *text;
	size_t length;
	int ret = pc_get(p, &p->kernels, (struct grt_key){{i->number, function}}, out);

	if (ret || !*out || (*out)->name)
		return ret;
	ret = grt_image_kernel_name(p->frames, i, function, &text, &length);
	(*out)->name = ret ? NULL : strndup(text, length);
	return ret ?: (*out)->name ? 0 : -ENOMEM;
}

static const char *pc_base(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* The row of a name: the first equal name of the image. */
static uint32_t pc_name_number(const struct grt_pc_samples *p, const struct grt_image *i,
			       const struct reason *r)
{
	struct grt_key key;

	for (const struct reason *o = grt_keyed_oldest(&p->reasons); o; o = grt_keyed_next(&p->reasons, o)) {
		key = *grt_keyed_key(o);
		if (key.w[0] == i->number && !strcmp(o->name, r->name))
			return (uint32_t)key.w[1];
	}
	return UINT32_MAX;
}

static int pc_add_stall(struct grt_pc_samples *p, const struct grt_image *i, uint32_t function,
			struct kernel *k, const struct reason *r, uint64_t samples)
{
	struct grt_pc_stall *s;
	uint32_t name = pc_name_number(p, i, r);
	int ret = pc_get(p, &p->stalls, (struct grt_key){{i->number, function, name}}, &s);

	if (!s)
		return ret;
	s->pid = i->pid;
	s->image = i->number;
	s->function = function;
	s->kernel = k->name;
	s->reason = r->name;
	s->meaning = r->meaning;
	s->process = grt_image_process_name(i, s->pid_text);
	*(r->idle ? &s->idle : &s->samples) += samples;
	return 0;
}

/* The row of an instruction. */
static struct grt_key pc_line_key(const struct grt_key *place, const struct source *source)
{
	if (source)
		return (struct grt_key){{place->w[0], 0, (uint64_t)source->file << 32 | source->line, 0}};
	return (struct grt_key){{place->w[0], place->w[1], place->w[2], 1}};
}

/* ------------------------------------------------------------- inlined code */

/* Most nested functions that are examined, as many as the recorder writes. */
#define INLINED_MAX 31U

static unsigned int pc_find_inlined(const struct grt_pc_samples *p, const struct grt_key *place,
				    const struct inlined **out)
{
	struct grt_key key = *place;
	unsigned int n = 0;

	for (; n < INLINED_MAX; n++) {
		key.w[3] = 1 + n;
		out[n] = grt_keyed_find(&p->inlined, &key);
		if (!out[n])
			break;
	}
	return n;
}

/*
 * Writes the places at which each function was called, from the kernel inwards, each after the function that
 * contains it.
 */
static int pc_write_frames(struct grt_pc_samples *p, const struct grt_image *i,
			   const struct inlined *const *inlined, unsigned int n, const char *place, FILE *f)
{
	struct kernel *within = NULL;
	const char *file;
	int ret = 0;

	for (unsigned int k = n; k-- > 0 && !ret;) {
		file = grt_image_string(i, inlined[k]->file) ?: "?";
		fprintf(f, "%s%s%s:%u\n", within ? within->name : "", within ? " " : "", pc_base(file),
			inlined[k]->line);
		ret = pc_kernel(p, i, inlined[k]->function, &within);
	}
	fprintf(f, "%s%s%s", within ? within->name : "", within ? " " : "", place);
	return ret;
}

/* The number of the text of an instruction's place. */
static int pc_frames(struct grt_pc_samples *p, const struct grt_image *i, const struct grt_key *place,
		     const char *text, uint32_t *number)
{
	const struct inlined *inlined[INLINED_MAX];
	unsigned int n = pc_find_inlined(p, place, inlined);
	char *lines = NULL;
	size_t size;
	FILE *f;
	int ret;

	if (!n)
		return grt_texts_add(&p->frames_text, text, SIZE_MAX, number);
	f = open_memstream(&lines, &size);
	if (!f)
		return -ENOMEM;
	ret = pc_write_frames(p, i, inlined, n, text, f);
	if (fclose(f) || !lines)
		ret = -ENOMEM;
	ret = ret ?: grt_texts_add(&p->frames_text, lines, SIZE_MAX, number);
	free(lines);
	return ret;
}

/* Most of a line's samples may belong to one of the ways in which it was inlined into the kernel. */
static int pc_count_way(struct grt_pc_samples *p, struct grt_pc_line *l, struct grt_key key, uint32_t frames,
			uint64_t samples)
{
	uint64_t *sum;
	int ret;

	key.w[3] |= (1 + (uint64_t)frames) << 1;
	ret = pc_get(p, &p->line_frames, key, &sum);
	if (!sum)
		return ret;
	l->ways += !*sum;
	*sum += samples;
	if (*sum > l->frames_samples) {
		l->frames_samples = *sum;
		l->frames = frames;
	}
	return 0;
}

/* "k.cu:30 > outer k.cu:20 > inner" of a text of frames */
static int pc_set_inlined(const struct grt_pc_samples *p, struct grt_pc_line *l)
{
	const char *text = grt_texts_get(&p->frames_text, l->frames), *at;
	const char *end = text + strlen(text) - strlen(l->place);
	size_t size;
	FILE *f;

	if (!strchr(text, '\n'))
		return 0;
	f = open_memstream(&l->inlined, &size);
	if (!f)
		return -ENOMEM;
	for (at = text; at + 1 < end; at++)
		*at == '\n' ? fputs(" > ", f) : fputc(*at, f);
	if (l->ways > 1)
		fprintf(f, ", and %u more", l->ways - 1);
	return fclose(f) || !l->inlined ? -ENOMEM : 0;
}

const char *grt_pc_samples_frames(const struct grt_pc_samples *p, uint32_t number)
{
	return grt_texts_get(&p->frames_text, number);
}

static int pc_name_line(struct grt_pc_line *l, const struct grt_image *i, const struct grt_key *place,
			const struct source *source)
{
	int n;

	l->pid = i->pid;
	l->image = i->number;
	l->process = grt_image_process_name(i, l->pid_text);
	if (!source) {
		n = asprintf(&l->place, "+0x%" PRIx64, place->w[2]);
	} else {
		l->file = grt_image_string(i, source->file) ?: "?";
		l->line = source->line;
		n = asprintf(&l->place, "%s:%u", pc_base(l->file), l->line);
	}
	if (n < 0)
		l->place = NULL;
	return l->place ? 0 : -ENOMEM;
}

static int pc_add_line(struct grt_pc_samples *p, const struct grt_image *i, const struct grt_key *pair,
		       const struct kernel *k, const struct reason *r, uint64_t samples, uint32_t *frames)
{
	struct grt_key place = {{pair->w[0], pair->w[1], pair->w[2], 0}}, key;
	const struct source *source = grt_keyed_find(&p->sources, &place);
	struct grt_pc_line *l;
	uint64_t *sum;
	int ret;

	p->sums.unlined += source ? 0 : samples;
	if (!source && !grt_keyed_find(&p->cubins, &(struct grt_key){{i->number, pair->w[1]}}))
		p->sums.unseen += samples;
	key = pc_line_key(&place, source);
	ret = pc_get(p, &p->lines, key, &l);
	if (!l)
		return ret;
	key.w[3] |= (1 + (uint64_t)pc_name_number(p, i, r)) << 1;
	ret = pc_get(p, &p->line_reasons, key, &sum);
	if (!sum)
		return ret;
	*sum += samples;
	l->samples += samples;
	if (*sum > l->reason_samples) {
		l->reason_samples = *sum;
		l->reason = r->name;
		l->meaning = r->meaning;
	}
	if (!l->kernel)
		ret = pc_name_line(l, i, &place, source);
	l->kernel = k->name;
	ret = ret ?: pc_frames(p, i, &place, l->place, frames);
	return ret ?: pc_count_way(p, l, pc_line_key(&place, source), *frames, samples);
}

static int pc_name_instruction(struct grt_pc_samples *p, struct grt_pc_instruction *x,
			       const struct grt_image *i, const struct grt_key *place)
{
	const struct source *source = grt_keyed_find(&p->sources, place);

	x->pid = i->pid;
	x->image = i->number;
	x->process = grt_image_process_name(i, x->pid_text);
	x->function = (uint32_t)place->w[0];
	x->cubin = place->w[1];
	x->offset = place->w[2];
	snprintf(x->at, sizeof(x->at), "+0x%" PRIx64, x->offset);
	if (source &&
	    asprintf(&x->place, "%s:%u", pc_base(grt_image_string(i, source->file) ?: "?"), source->line) < 0)
		x->place = NULL;
	return !source || x->place ? 0 : -ENOMEM;
}

static int pc_add_instruction(struct grt_pc_samples *p, const struct grt_image *i, const struct grt_key *pair,
			      const struct kernel *k, const struct reason *r, uint64_t samples)
{
	struct grt_key place = {{pair->w[0], pair->w[1], pair->w[2], 0}}, key = place;
	struct grt_pc_instruction *x;
	uint64_t *sum;
	int ret;

	key.w[3] = 1 + (uint64_t)pc_name_number(p, i, r);
	ret = p->by_instruction ? pc_get(p, &p->instruction_reasons, key, &sum) : 0;
	if (ret || !p->by_instruction || !sum)
		return ret;
	*sum += samples;
	ret = pc_get(p, &p->instructions, place, &x);
	if (!x)
		return ret;
	if (!x->kernel)
		ret = pc_name_instruction(p, x, i, &place);
	x->kernel = k->name;
	x->samples += samples;
	if (*sum > x->reason_samples) {
		x->reason_samples = *sum;
		x->reason = r->name;
		x->meaning = r->meaning;
	}
	return ret;
}

/* "selected" issues an instruction, and "not_selected" could have. */
static bool pc_is_stall(const char *reason)
{
	return strcmp(reason, "selected") && strcmp(reason, "not_selected");
}

static int pc_add_leaf(struct grt_pc_samples *p, const struct grt_image *i, const struct grt_key *pair,
		       const struct reason *r, uint64_t samples, uint32_t frames)
{
	struct grt_key key = {{pair->w[0], frames, pc_name_number(p, i, r)}};
	struct grt_pc_leaf *leaf;
	int ret = frames ? pc_get(p, &p->leaves, key, &leaf) : 0;

	if (ret || !frames || !leaf)
		return ret;
	leaf->image = i->number;
	leaf->function = (uint32_t)pair->w[0];
	leaf->frames = frames;
	leaf->reason = r->name;
	leaf->stall = pc_is_stall(r->name);
	leaf->samples += samples;
	return 0;
}

struct grt_pc_leaf *grt_pc_samples_leaf(const struct grt_pc_samples *p, const struct grt_pc_launched *l)
{
	const struct pair *pair = grt_keyed_find(&p->pairs, &l->pair);
	struct grt_key key = {{l->pair.w[0]}};

	if (!pair || !pair->frames)
		return NULL;
	key.w[1] = pair->frames;
	key.w[2] = pair->name;
	return grt_keyed_find(&p->leaves, &key);
}

static int pc_add(struct grt_pc_samples *p, struct pair *pair)
{
	const struct grt_key *key = grt_keyed_key(pair);
	const struct grt_image *i = p->from->image[key->w[0] >> 32];
	uint32_t function = (uint32_t)key->w[0], frames = 0;
	struct kernel *k;
	struct reason *r;
	int ret = pc_kernel(p, i, function, &k) ?: pc_reason(p, i, (uint32_t)(key->w[3] - 1), &r);

	if (ret || !k || !r)
		return ret;
	ret = pc_add_stall(p, i, function, k, r, pair->samples);
	if (ret || r->idle)
		return ret;
	k->samples += pair->samples;
	p->sums.samples += pair->samples;
	ret = pc_add_line(p, i, key, k, r, pair->samples, &frames)
		      ?: pc_add_leaf(p, i, key, r, pair->samples, frames)
		      ?: pc_add_instruction(p, i, key, k, r, pair->samples);
	pair->frames = frames;
	pair->name = pc_name_number(p, i, r);
	return ret;
}

static int pc_stall_order(const void *a, const void *b)
{
	const struct grt_pc_stall *x = *(const struct grt_pc_stall *const *)a,
				  *y = *(const struct grt_pc_stall *const *)b;

	return grt_compare(y->samples, x->samples)
		       ?: memcmp(grt_keyed_key(x), grt_keyed_key(y), sizeof(struct grt_key));
}

static int pc_line_order(const void *a, const void *b)
{
	const struct grt_pc_line *x = *(const struct grt_pc_line *const *)a,
				 *y = *(const struct grt_pc_line *const *)b;

	return grt_compare(y->samples, x->samples)
		       ?: memcmp(grt_keyed_key(x), grt_keyed_key(y), sizeof(struct grt_key));
}

static int pc_instruction_order(const void *a, const void *b)
{
	const struct grt_pc_instruction *x = *(const struct grt_pc_instruction *const *)a,
					*y = *(const struct grt_pc_instruction *const *)b;
	const struct grt_key *k = grt_keyed_key(x), *l = grt_keyed_key(y);

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	for (unsigned int i = 0; i < 3; i++)
		if (k->w[i] != l->w[i])
			return k->w[i] < l->w[i] ? -1 : 1;
	return 0;
}

static int pc_leaf_order(const void *a, const void *b)
{
	const struct grt_pc_leaf *x = *(const struct grt_pc_leaf *const *)a,
				 *y = *(const struct grt_pc_leaf *const *)b;

	return grt_compare(x->image, y->image)
	       ?: grt_compare(x->function, y->function)
	       ?: memcmp(grt_keyed_key(x), grt_keyed_key(y), sizeof(struct grt_key));
}

static void pc_count_windows(struct grt_pc_samples *p)
{
	struct grt_pc_windows *sum = &p->sums.windows;

	for (const struct window *w = grt_keyed_oldest(&p->windows); w; w = grt_keyed_next(&p->windows, w)) {
		sum->sampled++;
		sum->lossy += w->lossy;
	}
	for (const struct grt_windows *t = grt_keyed_oldest(&p->times); t; t = grt_keyed_next(&p->times, t)) {
		const struct grt_image *i = p->from->image[grt_keyed_key(t)->w[0]];
		uint64_t of;
		uint32_t windows;

		grt_estimate_watched(&i->watch, p->within.from, p->within.to, &of, &windows);
		sum->of += of;
		sum->ns += grt_windows_sum(t, p->within.from, p->within.to);
	}
}

void grt_pc_samples_note_windows(const struct grt_pc_windows *w, struct grt_notes *notes)
{
	if (!w->sampled)
		return;
	grt_note(
		notes,
		"the GPU was sampled before %" PRIu64
		" random {window|windows}, in %.3f s of %.1f s (%.2f %%): shares are shares of these samples, no number is scaled up",
		w->sampled, (double)w->ns / 1e9, (double)w->of / 1e9,
		w->of ? 100.0 * (double)w->ns / (double)w->of : 0);
	if (w->lossy)
		grt_note(notes, "  samples were lost before %" PRIu64 " of these windows", w->lossy);
}

int grt_pc_samples_finish(struct grt_pc_samples *p)
{
	struct kernel *k;
	int ret = 0;

	pc_count_windows(p);

	for (struct pair *x = grt_keyed_oldest(&p->pairs); x && !ret; x = grt_keyed_next(&p->pairs, x))
		ret = pc_add(p, x);
	for (struct grt_pc_stall *s = grt_keyed_oldest(&p->stalls); s && !ret;
	     s = grt_keyed_next(&p->stalls, s)) {
		k = grt_keyed_find(&p->kernels, &(struct grt_key){{s->image, s->function}});
		s->of_kernel = k ? k->samples : 0;
	}
	for (struct grt_pc_line *l = grt_keyed_oldest(&p->lines); l && !ret; l = grt_keyed_next(&p->lines, l))
		ret = pc_set_inlined(p, l);
	ret = ret ?: grt_keyed_list(&p->instructions, pc_instruction_order, (void ***)&p->instruction);
	return ret ?: grt_keyed_list(&p->stalls, pc_stall_order, (void ***)&p->stall)
		      ?: grt_keyed_list(&p->lines, pc_line_order, (void ***)&p->line)
			      ?: grt_keyed_list(&p->leaves, pc_leaf_order, (void ***)&p->leaf);
}
