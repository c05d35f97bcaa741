// SPDX-License-Identifier: GPL-2.0
/*
 * Gives adapters the offsets of members in the drivers' private structs. The module's file `offsets` lists
 * the members that adapters can use; the offsets come from the BTF of the loaded driver, or of the kernel if
 * the driver is built in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kmod.h"
#include "base/say.h"
#include "kmod_offsets.h"

#ifdef GRT_HAVE_BPF

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define NAME_MAX_LEN 64
#define WHY_MAX 256

/** struct place - where a member is, in bytes from the start of its struct */
struct place {
	uint32_t offset;
	uint32_t size;
};

/**
 * struct source - the BTF of the driver whose members are looked up
 * @driver: its name
 * @kernel: BTF of the kernel, the base of that of modules; NULL before it is needed
 * @module: BTF of the driver; NULL: it is built in, or has none
 */
struct source {
	char driver[NAME_MAX_LEN];
	struct btf *kernel;
	struct btf *module;
};

/** struct tally - counts of one driver: how many of its members were found, for a message */
struct tally {
	unsigned int known;
	unsigned int all;
	char missing[WHY_MAX];
};

static const struct btf_type *plain_type(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool is_composite(const struct btf_type *t)
{
	return t && btf_is_composite(t);
}

/* Finds a member by its name, also inside an unnamed struct or union. */
static const struct btf_type *find_member(const struct btf *btf, const struct btf_type *in, const char *name,
					  size_t length, uint32_t *bits, uint32_t *id)
{
	const struct btf_member *m = btf_members(in);
	const struct btf_type *found;
	const char *known;
	uint32_t i;

	for (i = 0; i < btf_vlen(in); i++, m++) {
		known = btf__name_by_offset(btf, m->name_off);
		if (!known || (*known && (strncmp(known, name, length) || known[length])))
			continue;
		found = plain_type(btf, m->type);
		if (!*known && is_composite(found))
			found = find_member(btf, found, name, length, bits, id);
		else if (!*known || btf_member_bitfield_size(in, i))
			found = NULL;
		else
			*id = m->type;
		if (!found)
			continue;
		*bits += btf_member_bit_offset(in, i);
		return found;
	}
	return NULL;
}

/* @path: "struct.member.member" */
static bool kmod_offsets_find_place(const struct btf *btf, const char *path, struct place *place)
{
	char type[NAME_MAX_LEN];
	size_t length = strcspn(path, ".");
	const struct btf_type *t;
	uint32_t bits = 0, id = 0;
	int64_t size;
	int found;

	snprintf(type, sizeof(type), "%.*s", (int)length, path);
	found = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	t = found > 0 ? btf__type_by_id(btf, (uint32_t)found) : NULL;
	while (t && path[length] == '.') {
		path += length + 1;
		length = strcspn(path, ".");
		t = is_composite(t) ? find_member(btf, t, path, length, &bits, &id) : NULL;
	}
	size = t && id ? btf__resolve_size(btf, id) : -1;
	if (size <= 0 || bits % 8)
		return false;
	place->offset = bits / 8;
	place->size = (uint32_t)size;
	return true;
}

static void source_close(struct source *s)
{
	btf__free(s->module);
	btf__free(s->kernel);
	*s = (struct source){0};
}

/* Makes @s the BTF of @driver. Return: that BTF, or NULL if neither the driver nor the kernel has one */
static const struct btf *source_of(struct source *s, const char *driver)
{
	char path[NAME_MAX_LEN + 32];
	struct stat st;

	if (strcmp(s->driver, driver)) {
		btf__free(s->module);
		s->module = NULL;
		snprintf(s->driver, sizeof(s->driver), "%s", driver);
		if (!s->kernel)
			s->kernel = btf__load_vmlinux_btf();
		if (libbpf_get_error(s->kernel))
			s->kernel = NULL;
		if (s->kernel)
			s->module = btf__load_module_btf(driver, s->kernel);
		if (libbpf_get_error(s->module))
			s->module = NULL;
	}
	if (s->module)
		return s->module;
	/* A module without BTF must not be taken for a driver that is built in. */
	snprintf(path, sizeof(path), "/sys/module/%s/initstate", driver);
	return stat(path, &st) ? s->kernel : NULL;
}

static void set_place(struct kmod *k, struct tally *t, const char *driver, const char *member,
		      const struct btf *btf)
{
	struct place place;
	struct grt_err err = {0};
	char line[256];
	size_t used = strlen(t->missing);

	t->all++;
	if (btf && kmod_offsets_find_place(btf, member, &place)) {
		snprintf(line, sizeof(line), "%s %s %u %u", driver, member, place.offset, place.size);
		if (!kmod_write(k, "offsets", line, &err)) {
			t->known++;
			return;
		}
	}
	snprintf(t->missing + used, sizeof(t->missing) - used, "%s%s", used ? " " : "", member);
}

static void kmod_offsets_say(const struct tally *t, const struct source *s, void (*note)(const char *text))
{
	char text[WHY_MAX + 256];

	if (!t->all)
		return;
	if (t->known == t->all)
		snprintf(text, sizeof(text), "%s: knows all %u members of the driver's structs", s->driver,
			 t->all);
	else if (!s->module && !t->known)
		snprintf(text, sizeof(text),
			 "%s: cannot read the driver's structs: the driver has no BTF in this kernel",
			 s->driver);
	else
		grt_say_text(text, sizeof(text),
			     "%s: knows %u of %u {member|members} of the driver's structs, not %s", s->driver,
			     t->known, t->all, t->missing);
	note(text);
}

static void set_all(struct kmod *k, const char *lines, void (*note)(const char *text))
{
	char driver[NAME_MAX_LEN], member[128], offset[16];
	struct source source = {0};
	struct tally tally = {0};
	const struct btf *btf = NULL;

	for (; lines && *lines; lines = strchr(lines, '\n'), lines += !!lines) {
		if (sscanf(lines, "%63s %127s %15s", driver, member, offset) != 3 || strcmp(offset, "-"))
			continue;
		if (strcmp(source.driver, driver)) {
			kmod_offsets_say(&tally, &source, note);
			tally = (struct tally){0};
			btf = source_of(&source, driver);
		}
		set_place(k, &tally, driver, member, btf);
	}
	kmod_offsets_say(&tally, &source, note);
	source_close(&source);
}

static int be_quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return 0;
}

void kmod_set_offsets(void (*note)(const char *text))
{
	struct grt_err err = {0};
	libbpf_print_fn_t before;
	struct kmod k;
	char *lines;

	if (kmod_open(&k, &err))
		return;
	lines = kmod_read(&k, "offsets", &err);
	if (lines && strstr(lines, " - -")) {
		before = libbpf_set_print(be_quiet);
		set_all(&k, lines, note);
		libbpf_set_print(before);
	}
	free(lines);
	kmod_close(&k);
}

#else

void kmod_set_offsets(void (*note)(const char *text))
{
	struct grt_err err = {0};
	struct kmod k;
	char *lines;

	if (kmod_open(&k, &err))
		return;
	lines = kmod_read(&k, "offsets", &err);
	if (lines && strstr(lines, " - -"))
		note("cannot read the drivers' structs: this grtrace was built without libbpf");
	free(lines);
	kmod_close(&k);
}

#endif
