// SPDX-License-Identifier: GPL-2.0
/*
 * What the running kernel has, see bpf_kernel.h. There is an index of the functions and structs by name:
 * libbpf's own search compares each of some 100,000 names, once per program.
 */
#include "bpf_kernel.h"

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf_embedded.h"
#include "base/fnv.h"
#include "base/index.h"

#define MODULES_MAX 8U

/**
 * struct part - the BTF of the kernel, or of a module
 * @name: of the module; "": the kernel
 * @fd: of the module; 0: the kernel
 * @btf: NULL if there is none
 */
struct part {
	char name[64];
	int fd;
	struct btf *btf;
	struct grt_index index;
};

static struct part part[1 + MODULES_MAX];
static unsigned int parts;

/** struct wanted - the key of the index */
struct wanted {
	const char *name;
	uint32_t kind;
};

static bool is_wanted(const void *owner, uint32_t id, const void *key)
{
	const struct btf *btf = owner;
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct wanted *w = key;

	return btf_kind(t) == w->kind && !strcmp(btf__name_by_offset(btf, t->name_off), w->name);
}

static uint32_t tag_of(const char *name, uint32_t kind)
{
	return (uint32_t)grt_fnv_text(name) ^ kind;
}

static void fill_index(struct part *p, uint32_t first)
{
	const char *name;
	uint32_t kind;

	for (uint32_t id = first; id < btf__type_cnt(p->btf); id++) {
		const struct btf_type *t = btf__type_by_id(p->btf, id);

		kind = btf_kind(t);
		name = kind == BTF_KIND_FUNC || kind == BTF_KIND_STRUCT
			       ? btf__name_by_offset(p->btf, t->name_off)
			       : NULL;
		if (name && *name && grt_index_add(&p->index, tag_of(name, kind), id))
			return;
	}
}

static uint32_t find_in(const struct part *p, const struct wanted *w)
{
	uint32_t id = p->btf ? grt_index_find(&p->index, tag_of(w->name, w->kind), is_wanted, p->btf, w)
			     : GRT_NOWHERE;

	return id == GRT_NOWHERE ? 0 : id;
}

/* Return: a descriptor of the BTF of a module, or of the kernel, "vmlinux"; 0: there is none */
static int fd_of(const char *module, uint32_t *id)
{
	char name[64];
	int fd;

	for (*id = 0; !bpf_btf_get_next_id(*id, id);) {
		struct bpf_btf_info info = {.name = (uintptr_t)name, .name_len = sizeof(name)};
		uint32_t size = sizeof(info);

		fd = bpf_btf_get_fd_by_id(*id);
		if (fd < 0)
			continue;
		name[0] = '\0';
		if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.kernel_btf && !strcmp(name, module))
			return fd;
		close(fd);
	}
	return 0;
}

/* As btf__load_vmlinux_btf(), which reads 4 MB by pages. */
static struct btf *load_kernel(void)
{
	uint32_t id;
	int fd = fd_of("vmlinux", &id);
	struct btf *btf = fd ? btf__load_from_kernel_by_id(id) : NULL;

	if (fd)
		close(fd);
	return libbpf_get_error(btf) || !btf ? btf__load_vmlinux_btf() : btf;
}

static const struct part *kernel_part(void)
{
	if (!parts) {
		part[0].btf = load_kernel();
		if (libbpf_get_error(part[0].btf))
			part[0].btf = NULL;
		else
			fill_index(&part[0], 1);
		parts = 1;
	}
	return &part[0];
}

static const struct part *module_part(const char *module)
{
	struct btf *kernel = kernel_part()->btf;
	struct part *p = &part[1];
	uint32_t id;

	while (p < part + parts && strcmp(p->name, module))
		p++;
	if (p < part + parts || parts > MODULES_MAX)
		return p < part + parts ? p : NULL;
	parts++;
	snprintf(p->name, sizeof(p->name), "%s", module);
	p->fd = kernel ? fd_of(module, &id) : 0;
	p->btf = p->fd ? btf__load_from_kernel_by_id_split(id, kernel) : NULL;
	if (libbpf_get_error(p->btf))
		p->btf = NULL;
	if (p->btf)
		fill_index(p, btf__type_cnt(kernel));
	return p;
}

static bool find_type(struct wanted w, const char *module, struct grt_kernel_type *found)
{
	const struct part *p = kernel_part();

	found->id = find_in(p, &w);
	found->fd = 0;
	if (found->id || !module)
		return found->id;
	p = module_part(module);
	found->id = p ? find_in(p, &w) : 0;
	found->fd = found->id ? p->fd : 0;
	return found->id;
}

bool grt_kernel_function(const char *name, const char *module, struct grt_kernel_type *found)
{
	return find_type((struct wanted){name, BTF_KIND_FUNC}, module, found);
}

bool grt_kernel_struct(const char *name, const char *module)
{
	struct grt_kernel_type found;

	return find_type((struct wanted){name, BTF_KIND_STRUCT}, module, &found);
}

void grt_kernel_btf_forget(void)
{
	while (parts) {
		struct part *p = &part[--parts];

		btf__free(p->btf);
		grt_index_free(&p->index);
		if (p->fd)
			close(p->fd);
		*p = (struct part){.fd = 0};
	}
}

/* ------------------------------------------------------------- addresses */

static const char *const symbol_names[] = {
#define X(name) #name,
	GRT_BPF_SYMBOLS(X)
#undef X
};

#define SYMBOLS (sizeof(symbol_names) / sizeof(symbol_names[0]))

_Static_assert(sizeof(struct grt_bpf_symbols) == SYMBOLS * sizeof(uint64_t), "an address for each name");

/* Return: 0; -errno: this kernel cannot be asked */
static int ask_symbols(uint64_t *address)
{
	struct bpf_object *o = grt_bpf_embedded_open("symbol");
	struct bpf_program *prog = o ? bpf_object__find_program_by_name(o, "find_symbol") : NULL;
	struct grt_bpf_symbol s;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &s, .ctx_size_in = sizeof(s));
	int ret = !prog ? -ENOENT : bpf_object__load(o);

	for (size_t i = 0; !ret && i < SYMBOLS; i++) {
		s = (struct grt_bpf_symbol){.address = 0};
		snprintf((char *)s.name, sizeof(s.name), "%s", symbol_names[i]);
		ret = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
		address[i] = s.address;
	}
	bpf_object__close(o);
	return ret;
}

/* Lines of ADDRESS TYPE NAME [MODULE]. */
static void read_symbols(uint64_t *address)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long at;
	char line[512], name[128];

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; sscanf(line, "%llx %*c %127s", &at, name) == 2 && i < SYMBOLS; i++)
			if (!strcmp(symbol_names[i], name))
				address[i] = at;
	if (f)
		fclose(f);
}

void grt_kernel_symbols(struct grt_bpf_symbols *found)
{
	*found = (struct grt_bpf_symbols){0};
	if (ask_symbols((uint64_t *)found))
		read_symbols((uint64_t *)found);
}

#endif /* GRT_HAVE_BPF */
