// SPDX-License-Identifier: GPL-2.0
/*
 * Names of frames, see record_names.h: a pass over the recording collects the
 * addresses, then each different one is named once for each process image.
 */
#include "record_names.h"

#ifdef GRT_HAVE_BPF

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/containers.h"
#include "host/image_addresses.h"
#include "stack/functions.h"
#include "stack/images.h"
#include "trace/cuda_recording.h"
#include "trace/packer.h"

/* Most instructions of kernels. */
#define SAMPLED_MAX 1048576U
#define PATIENCE_MS 20
/* Number of addresses whose records are written at once. */
#define AT_A_TIME 4096U
#define PART ((size_t)256 << 10)

/**
 * struct place - an address of an image
 * @number: its number in the addresses. For a kernel, @ip is the offset in its @function, a string
 */
struct place {
	uint32_t image;
	uint32_t module;
	uint64_t ip;
	uint64_t cubin;
	uint32_t function;
	uint32_t number;
};

/**
 * struct names - the state
 * @last: time of the last event
 * @sampled: instructions with PC samples, by image, code, function and offset
 * @texts: texts of the current image, after the @before texts that it had
 */
struct names {
	struct grt_consumer c;
	struct grt_images images;
	struct grt_keyed sampled;
	uint64_t last;
	struct image_addresses a;
	struct place *place;
	uint32_t places, room;
	struct grt_texts texts;
	uint32_t before;
	struct grt_packer *packer;
	struct recording *r;
	int file;
	char *part;
	uint64_t written;
};

static int names_on_sample(struct names *n, const struct grt_ev_pc_sample *s)
{
	const struct grt_image *i = grt_images_of(&n->images, &s->e);
	struct grt_key key;
	uint64_t over = 0;
	void *found;

	if (!i)
		return -ENOMEM;
	key = (struct grt_key){{i->number, s->cubin, s->function, s->offset}};
	return grt_keyed_get_or_count(&n->sampled, &key, &over, &found);
}

static int names_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct names *n = (struct names *)c;

	n->last = e->time > n->last ? e->time : n->last;
	if (e->type == GRT_EV_PC_SAMPLE)
		return names_on_sample(n, (const struct grt_ev_pc_sample *)e);
	return grt_images_event(&n->images, e);
}

/* ------------------------------------------------------------- addresses */

/* A file of the recording, which a traced program may have put there itself. */
static void names_open_cubin(struct names *n, uint32_t object, uint64_t crc)
{
	char name[40];
	struct stat st;
	int fd;

	snprintf(name, sizeof(name), GRT_CUDA_CUBIN "%" PRIu64, crc);
	fd = openat(n->r->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return;
	}
	recording_give(n->r, name);
	addresses_open(n->a.addresses, object, fd);
}

/* A function of a cubin is an object of its own. */
static int names_kernel(struct names *n, const struct place *p, uint32_t *object)
{
	const char *function = grt_image_string(n->images.image[p->image], p->function);
	char key[4500];
	bool is_new;
	int ret;

	*object = GRT_SYMBOLS_NO_OBJECT;
	if (!function || !*function || strchr(function, '/'))
		return 0;
	snprintf(key, sizeof(key), GRT_CUDA_CUBIN "%" PRIu64 "/%s", p->cubin, function);
	ret = image_addresses_object(&n->a, key, key, object, &is_new);
	if (is_new)
		names_open_cubin(n, *object, p->cubin);
	return ret;
}

static int names_add_place(struct names *n, const struct place *p, uint32_t number)
{
	if (grt_grow(&n->place, &n->room, n->places + 1, 1024))
		return -ENOMEM;
	n->place[n->places] = *p;
	n->place[n->places++].number = number;
	return 0;
}

static int names_take_kernel(struct names *n, const struct grt_key *key)
{
	struct place p = {.image = (uint32_t)key->w[0],
			  .cubin = key->w[1],
			  .function = (uint32_t)key->w[2],
			  .ip = key->w[3]};
	uint32_t object, number = ADDRESS_NONE;
	int ret = names_kernel(n, &p, &object);

	if (!ret && object)
		ret = addresses_get(n->a.addresses, object, p.ip, &number);
	return ret || !number ? ret : names_add_place(n, &p, number);
}

static int names_take_node(struct names *n, const struct grt_image *i, const struct grt_image_node *node)
{
	const struct place p = {.image = i->number, .module = node->module, .ip = node->ip};
	uint32_t number = ADDRESS_NONE;
	int ret = node->defined ? image_addresses_frame(&n->a, i, node, &number) : 0;

	return ret || !number ? ret : names_add_place(n, &p, number);
}

static int names_by_image(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return grt_compare(x->image, y->image)
	       ?: grt_compare(x->cubin, y->cubin)
	       ?: grt_compare(x->function, y->function)
	       ?: grt_compare(x->ip, y->ip)
	       ?: grt_compare(x->module, y->module);
}

static int names_collect(struct names *n)
{
	int ret = 0;

	for (uint32_t k = 0; k < n->images.images && !ret; k++) {
		const struct grt_image *i = n->images.image[k];

		for (uint32_t j = 0; j < i->nodes && !ret; j++)
			ret = names_take_node(n, i, &i->node[j]);
	}
	for (void *s = grt_keyed_oldest(&n->sampled); s && !ret; s = grt_keyed_next(&n->sampled, s))
		ret = names_take_kernel(n, grt_keyed_key(s));
	if (n->places)
		qsort(n->place, n->places, sizeof(*n->place), names_by_image);
	return ret;
}

/* --------------------------------------------------------------- writing */

static struct grt_event names_head(const struct names *n, const struct grt_image *i, uint16_t type,
				   size_t size)
{
	return (struct grt_event){.time = n->last,
				  .type = type,
				  .size = (uint16_t)size,
				  .pid = i->pid,
				  .ctx = i->id,
				  .ring = GRT_RING_NONE};
}

static int names_put_string(struct names *n, const struct grt_image *i, uint32_t number, const char *text)
{
	struct grt_ev_string s = {.e = names_head(n, i, GRT_EV_STRING, sizeof(s)), .number = number};
	size_t length = strlen(text), offset = 0;
	int ret;

	s.length = (uint32_t)length;
	do {
		s.offset = (uint32_t)offset;
		s.part = (uint32_t)(length - offset < sizeof(s.text) ? length - offset : sizeof(s.text));
		memset(s.text, 0, sizeof(s.text));
		memcpy(s.text, text + offset, s.part);
		ret = grt_packer_add(n->packer, 0, &s.e);
		offset += s.part;
	} while (!ret && offset < length);
	return ret;
}

/* The number of a text in an image; a text without a number gets one. */
static int names_text(struct names *n, const struct grt_image *i, const char *text, uint32_t *number)
{
	uint32_t before = n->texts.used;

	*number = 0;
	if (!*text)
		return 0;
	if (grt_texts_add(&n->texts, text, GRT_FUNCTION_NAME_MAX, number))
		return -ENOMEM;
	*number += GRT_IMAGE_RECORDER + n->before;
	return n->texts.used > before ? names_put_string(n, i, *number, text) : 0;
}

/* @f: the function, and after it the place where it was called */
static int names_put_inlined(struct names *n, const struct grt_image *i, const struct place *p,
			     const struct grt_symbol *f, uint32_t index)
{
	struct grt_ev_pc_inlined e = {.e = names_head(n, i, GRT_EV_PC_INLINED, sizeof(e)),
				      .cubin = p->cubin,
				      .offset = p->ip,
				      .function = p->function,
				      .line = f[1].line,
				      .index = index};
	int ret = names_text(n, i, f->function, &e.inlined) ?: names_text(n, i, f[1].file, &e.file);

	return ret ?: grt_packer_add(n->packer, 0, &e.e);
}

static int names_put_line(struct names *n, const struct grt_image *i, const struct place *p)
{
	struct grt_ev_pc_line e = {.e = names_head(n, i, GRT_EV_PC_LINE, sizeof(e)),
				   .cubin = p->cubin,
				   .offset = p->ip,
				   .function = p->function};
	struct grt_symbols_found found;
	int ret;

	addresses_found(n->a.addresses, p->number, p->ip, &found);
	if (!found.frames || !*found.frame[0].file)
		return 0;
	e.line = found.frame[0].line;
	ret = names_text(n, i, found.frame[0].file, &e.file);
	ret = ret ?: grt_packer_add(n->packer, 0, &e.e);
	for (unsigned int k = 0; k + 1 < found.frames && !ret; k++)
		ret = names_put_inlined(n, i, p, &found.frame[k], k);
	return ret;
}

static int names_put_place(struct names *n, const struct grt_image *i, const struct place *p)
{
	struct grt_ev_code e = {
		.e = names_head(n, i, GRT_EV_CODE, sizeof(e)), .ip = p->ip, .module = p->module};
	struct grt_symbols_found found;
	int ret = 0;

	addresses_found(n->a.addresses, p->number, p->ip, &found);
	e.frames = found.frames;
	for (unsigned int k = found.frames; k-- > 0 && !ret; e.index++) {
		ret = names_text(n, i, found.frame[k].function, &e.function)
			      ?: names_text(n, i, found.frame[k].file, &e.file);
		e.line = found.frame[k].line;
		ret = ret ?: grt_packer_add(n->packer, 0, &e.e);
	}
	return ret;
}

static int names_flush(struct names *n, enum grt_pack pack, struct grt_err *err)
{
	const struct grt_packer_counts none = {0};
	int ret = 0;
	size_t got;

	while (!ret && (got = grt_packer_read(n->packer, 0, n->part, PART, UINT64_MAX, pack, &none)) > 0)
		ret = recording_write(n->r, (unsigned int)n->file, n->part, got, err);
	return ret;
}

static void names_begin_image(struct names *n, const struct grt_image *i)
{
	grt_texts_free(&n->texts);
	grt_texts_init(&n->texts, UINT32_MAX / 4);
	n->before = i->recorder_strings;
}

static int names_put_all(struct names *n, struct grt_err *err)
{
	const struct place *last = NULL;
	int ret = 0;

	for (const struct place *p = n->place; p < n->place + n->places && !ret; p++) {
		if ((last && !names_by_image(last, p)) || !addresses_has_name(n->a.addresses, p->number))
			continue;
		if (!last || last->image != p->image)
			names_begin_image(n, n->images.image[p->image]);
		ret = (p->cubin ? names_put_line : names_put_place)(n, n->images.image[p->image], p);
		last = p;
		if (!ret && ++n->written % AT_A_TIME == 0)
			ret = names_flush(n, GRT_PACK_NOW, err);
	}
	return ret ?: names_flush(n, GRT_PACK_ALL, err);
}

/* The file is only made if the recording has something to name. */
static int names_write(struct names *n, struct grt_err *err)
{
	n->part = malloc(PART);
	if (!n->part || grt_packer_new(&n->packer, 1))
		return -ENOMEM;
	while (!addresses_name(n->a.addresses, PATIENCE_MS))
		;
	n->file = recording_add_file(n->r, "names", 0, err);
	return n->file < 0 ? n->file : names_put_all(n, err);
}

static int names_read(struct names *n, struct grt_err *err)
{
	struct grt_session *s;
	int ret = grt_session_open(&s, n->r->path, err);

	if (ret)
		return ret;
	ret = grt_session_run(s, &n->c, 0, UINT64_MAX, err);
	grt_session_close(s);
	return ret < 0 ? ret : 0;
}

int record_names_write(struct recording *r, struct grt_err *err)
{
	struct names n = {.c.event = names_on_event, .r = r};
	int ret;

	grt_images_init(&n.images);
	grt_keyed_init(&n.sampled, sizeof(uint32_t), SAMPLED_MAX);
	grt_texts_init(&n.texts, 1);
	ret = image_addresses_init(&n.a) ?: names_read(&n, err);
	if (!ret)
		ret = names_collect(&n);
	if (!ret && n.places)
		ret = names_write(&n, err);
	grt_packer_free(n.packer);
	image_addresses_free(&n.a);
	grt_images_free(&n.images);
	grt_keyed_free(&n.sampled);
	grt_texts_free(&n.texts);
	free(n.place);
	free(n.part);
	return ret && !err->what[0]
		       ? grt_err_set(err, ret, strerror(-ret), NULL, "cannot name frames in %s", r->path)
		       : ret;
}

#else

int record_names_write(struct recording *r, struct grt_err *err)
{
	return 0;
}

#endif /* GRT_HAVE_BPF */
