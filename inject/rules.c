// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Rules are computed under dl_iterate_phdr(), whose lock keeps an object from being unloaded while its
 * tables are read. They are kept until an object is closed: dlclose() begins a new generation, in which each
 * rule is computed again when it is needed. After dlopen(), only rules that no table had given are computed
 * again.
 */
#include "rules.h"

#include "reserve.h"
#include "stack.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define LONG_MAX_RULES 4096
/* Bytes for the paths of all modules. */
#define PATHS_SIZE ((size_t)16 << 20)
#define HIDES 8
#define KEY_BUSY 1ULL /* generation 0: never looked up */

static const _Atomic uint64_t no_adds;
static const _Atomic uint32_t no_loads;
static _Atomic uint64_t own_adds;

struct grt_rules grt_rules = {.adds = &no_adds, .loaded = &no_loads, .generation = 1};

struct long_rule {
	struct grt_cfi_rule rule;
	_Atomic uint32_t ready;
};

static struct {
	struct long_rule *long_rule;
	_Atomic uint32_t long_used;
	struct grt_umodule *module;
	_Atomic uint64_t *module_key; /* identity of module[i], 0 while it is being written */
	_Atomic uint32_t module_used;
	char *path; /* number of all modules */
	_Atomic size_t path_used;
	uintptr_t hide[HIDES];
	_Atomic unsigned int hides;
	_Atomic uint64_t adds;
	_Atomic uint64_t subs;
	_Atomic uint64_t worked_out;
	_Atomic uint64_t no_memory;
	_Atomic bool exact;
} state;

static void rules_count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ----------------------------------------- what the dynamic linker counts */

struct counts {
	uint64_t adds;
	uint64_t subs;
};

static int rules_take_counts(struct dl_phdr_info *info, size_t size, void *data)
{
	struct counts *c = data;

	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		*c = (struct counts){info->dlpi_adds, info->dlpi_subs};
	return 1;
}

static struct counts rules_linker_counts(void)
{
	struct counts c = {0, 0};

	dl_iterate_phdr(rules_take_counts, &c);
	return c;
}

/* The mutexes before _dl_load_adds in struct rtld_global (glibc 2.17 to 2.41, sysdeps/generic/ldsodefs.h). */
static bool rules_follows_locks(const char *word, const char *start)
{
	static const int recursive = 1;
	const size_t mutex = 40, kind = 16;

	return word - start > (ptrdiff_t)(2 * mutex) &&
	       !memcmp(word - mutex + kind, &recursive, sizeof(recursive)) &&
	       !memcmp(word - 2 * mutex + kind, &recursive, sizeof(recursive));
}

/*
 * glibc stores the two numbers that dl_iterate_phdr() reports where they can be read without its lock. The
 * place is private, so it is recognised by its contents, of which there must be exactly one match, and
 * compared again at each refresh.
 */
static void rules_find_linker_words(void)
{
	const char *global = dlvsym(RTLD_DEFAULT, "_rtld_global", "GLIBC_PRIVATE");
	const uint64_t *word, *found = NULL;
	struct counts c = rules_linker_counts();
	ElfW(Sym) *symbol = NULL;
	uint32_t loaded;
	Dl_info info;

	if (!global || !dladdr1(global, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
	    info.dli_saddr != global)
		return;
	memcpy(&loaded, global + 8, sizeof(loaded)); /* _dl_ns[0]._ns_nloaded */
	if (loaded != c.adds - c.subs)
		return;
	for (size_t at = 16; at + 8 <= symbol->st_size; at += 8) {
		word = (const uint64_t *)(global + at);
		if (*word != c.adds || !rules_follows_locks(global + at, global))
			continue;
		if (found)
			return;
		found = word;
	}
	if (!found)
		return;
	grt_rules.adds = (const _Atomic uint64_t *)found;
	grt_rules.loaded = (const _Atomic uint32_t *)(global + 8);
	atomic_store(&state.exact, true);
}

/* A counter of few bits wraps around: rules of its first round must not become valid again. */
static void rules_wrap(void)
{
	for (uint32_t i = 0; i < GRT_RULE_SLOTS; i++)
		atomic_store_explicit(&grt_rules.slot[i].key, 0, memory_order_relaxed);
}

/* The caller holds the linker's lock. */
static void rules_next_generation(void)
{
	uint64_t g = atomic_load(&grt_rules.generation);

	if (g == 0xffff)
		rules_wrap();
	atomic_store(&grt_rules.generation, g == 0xffff ? 1 : g + 1);
}

static void rules_next_round(void)
{
	uint64_t round = (atomic_load(&grt_rules.round) + 1) & 0x3fff;

	if (!round)
		rules_next_generation();
	atomic_store(&grt_rules.round, round);
}

/*
 * The linker's lock is held, so threads do this one after the other, and the linker's words and counts
 * agree. The change is marked as seen at the very end: a thread that finds the mark walks with the new
 * generation.
 */
static int rules_see_change(struct dl_phdr_info *info, size_t size, void *data)
{
	struct counts c = {0, 0};

	rules_take_counts(info, size, &c);
	if (atomic_load(&state.subs) != c.subs)
		rules_next_generation();
	if (atomic_load(&state.adds) != c.adds)
		rules_next_round();
	atomic_store(&state.subs, c.subs);
	atomic_store(&state.adds, c.adds);
	atomic_store(&grt_rules.adds_seen, atomic_load_explicit(grt_rules.adds, memory_order_relaxed));
	atomic_store(&grt_rules.loaded_seen, atomic_load_explicit(grt_rules.loaded, memory_order_relaxed));
	return 1;
}

void grt_rules_changed(void)
{
	int error = errno;

	dl_iterate_phdr(rules_see_change, NULL);
	errno = error;
}

void grt_rules_refresh(void)
{
	struct counts before = rules_linker_counts(), after;
	uint64_t adds = atomic_load_explicit(grt_rules.adds, memory_order_relaxed);

	after = rules_linker_counts();
	if (atomic_load(&state.exact) && before.adds == after.adds && before.adds != adds) {
		grt_rules.adds = &own_adds;
		grt_rules.loaded = &no_loads;
		atomic_store(&state.exact, false);
	}
	grt_rules_changed();
}

/* --------------------------------------------------------------- modules */

static uint64_t rules_mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ p[i]) * 0x100000001b3ULL;
	return hash;
}

/* The build id among the notes of a segment (linux/elf.h: NT_GNU_BUILD_ID). */
static void rules_build_id_in(struct grt_umodule *m, const char *at, const char *end)
{
	ElfW(Nhdr) n;
	size_t name, desc;

	while ((size_t)(end - at) >= sizeof(n)) {
		memcpy(&n, at, sizeof(n));
		at += sizeof(n);
		name = ((size_t)n.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)n.n_descsz + 3) & ~(size_t)3;
		if (name > (size_t)(end - at) || desc > (size_t)(end - at) - name)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(at, "GNU", 4) &&
		    n.n_descsz <= GRT_BUILD_ID_MAX) {
			m->build_id_len = (uint8_t)n.n_descsz;
			memcpy(m->build_id, at + name, n.n_descsz);
			return;
		}
		at += name + desc;
	}
}

static bool rules_in_spans(const struct grt_cfi_object *o, uintptr_t start, size_t size)
{
	for (unsigned int i = 0; i < o->spans; i++)
		if (start >= (uintptr_t)o->span[i].start && start <= (uintptr_t)o->span[i].end &&
		    size <= (uintptr_t)o->span[i].end - start)
			return true;
	return false;
}

static void rules_describe(struct grt_umodule *m, const struct dl_phdr_info *info,
			   const struct grt_cfi_object *o)
{
	m->bias = info->dlpi_addr;
	m->path = info->dlpi_name ? info->dlpi_name : "";
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_NOTE && !m->build_id_len && rules_in_spans(o, at, p->p_memsz))
			rules_build_id_in(m, (const char *)at, (const char *)at + p->p_memsz);
		if (p->p_type != PT_LOAD)
			continue;
		if (!m->end || at < m->start)
			m->start = at;
		if (at + p->p_memsz > m->end)
			m->end = at + p->p_memsz;
	}
}

/*
 * The properties that distinguish modules. Paths are compared by their text, because the linker may have its
 * copy at another address next time.
 */
static uint64_t rules_module_key(const struct grt_umodule *module)
{
	uint64_t key = rules_mix(0xcbf29ce484222325ULL, module->path, strlen(module->path));
	struct grt_umodule m = *module;

	m.path = NULL;
	return rules_mix(key, &m, sizeof(m)) | 1;
}

/* NULL: no room. */
static const char *rules_keep_path(const char *path)
{
	size_t size = strlen(path) + 1, at = atomic_load(&state.path_used);

	do {
		if (size > PATHS_SIZE - at)
			return NULL;
	} while (!atomic_compare_exchange_weak(&state.path_used, &at, at + size));
	return memcpy(state.path + at, path, size);
}

/* The number of a new module; 0: no room. */
static uint32_t rules_add_module(struct grt_umodule *m, uint64_t key)
{
	uint32_t i;

	if (atomic_load(&state.module_used) >= GRT_RULE_MODULE_MAX)
		return 0;
	m->path = rules_keep_path(m->path);
	i = m->path ? atomic_fetch_add(&state.module_used, 1) + 1 : GRT_RULE_MODULE_MAX + 1;
	if (i <= GRT_RULE_MODULE_MAX) {
		state.module[i] = *m;
		atomic_store_explicit(&state.module_key[i], key, memory_order_release);
		return i;
	}
	if (m->path)
		atomic_fetch_sub(&state.module_used, 1);
	return 0;
}

/* The module's number, or a new number for a new object; 0: no room. */
static uint64_t rules_module_number(const struct dl_phdr_info *info, const struct grt_cfi_object *o,
				    bool *hidden)
{
	struct grt_umodule m;
	uint32_t used = atomic_load_explicit(&state.module_used, memory_order_acquire), i;
	uint32_t hides = atomic_load_explicit(&state.hides, memory_order_acquire); /* see grt_rules_hide() */
	uint64_t key;

	memset(&m, 0, sizeof(m)); /* the padding is part of the key */
	rules_describe(&m, info, o);
	for (i = 0; i < hides; i++)
		*hidden |= state.hide[i] - m.start < m.end - m.start;
	key = rules_module_key(&m);
	for (i = 1; i <= used; i++)
		if (atomic_load_explicit(&state.module_key[i], memory_order_relaxed) == key)
			return i;
	i = rules_add_module(&m, key);
	if (!i)
		rules_count(&state.no_memory);
	return i;
}

bool grt_rules_module(unsigned int number, struct grt_umodule *module)
{
	if (!number || number > GRT_RULE_MODULE_MAX || !state.module_key ||
	    !atomic_load_explicit(&state.module_key[number], memory_order_acquire))
		return false;
	*module = state.module[number];
	return true;
}

/* -------------------------------------------------------- words of rules */

static bool rules_same_rule(const struct grt_cfi_rule *a, const struct grt_cfi_rule *b)
{
	return !memcmp(&a->cfa, &b->cfa, sizeof(a->cfa)) && !memcmp(&a->ra, &b->ra, sizeof(a->ra)) &&
	       !memcmp(&a->fp, &b->fp, sizeof(a->fp)) && !memcmp(&a->link, &b->link, sizeof(a->link)) &&
	       a->end == b->end && a->signal == b->signal;
}

/* The index of a rule in the table of long rules; ~0: no room. */
static uint32_t rules_long_index(const struct grt_cfi_rule *rule)
{
	uint32_t used = atomic_load(&state.long_used), i;

	for (i = 0; i < used && i < LONG_MAX_RULES; i++)
		if (atomic_load_explicit(&state.long_rule[i].ready, memory_order_acquire) &&
		    rules_same_rule(&state.long_rule[i].rule, rule))
			return i;
	if (used >= LONG_MAX_RULES)
		return ~0U;
	i = atomic_fetch_add(&state.long_used, 1);
	if (i >= LONG_MAX_RULES)
		return ~0U;
	state.long_rule[i].rule = *rule;
	atomic_store_explicit(&state.long_rule[i].ready, 1, memory_order_release);
	return i;
}

const struct grt_cfi_rule *grt_rules_long(uint64_t index)
{
	return &state.long_rule[index].rule;
}

/* Return: whether the place is in words below the CFA, or nowhere. */
static bool rules_is_below(const struct grt_cfi_place *p)
{
	return p->base == GRT_CFI_NONE || (p->base == GRT_CFI_CFA && !p->deref && p->offset < 0 &&
					   p->offset >= -GRT_RULE_SAVED_MAX * 8 && !(p->offset & 7));
}

/* If calls push the return address, it is in the word below the CFA, and rules need not store that. */
static bool rules_is_short_ra(const struct grt_cfi_place *ra)
{
	return rules_is_below(ra) && (GRT_ARCH_LINKS || ra->offset == -8);
}

static bool rules_is_short(const struct grt_cfi_rule *r)
{
	return !r->signal && !r->cfa.deref && r->cfa.offset >= 0 && r->cfa.offset <= GRT_RULE_WORDS_MAX * 8 &&
	       !(r->cfa.offset & 7) && (r->cfa.base == GRT_CFI_SP || r->cfa.base == GRT_CFI_FP) &&
	       rules_is_short_ra(&r->ra) && rules_is_below(&r->fp);
}

static uint64_t rules_words_below(const struct grt_cfi_place *p)
{
	return p->base ? (uint64_t)(-p->offset / 8) : 0;
}

static uint64_t rules_guess(enum grt_rule_kind kind)
{
	return kind | GRT_RULE_GUESSED | atomic_load(&grt_rules.round) << 34;
}

static uint64_t rules_pack(const struct grt_cfi_rule *r)
{
	uint64_t kind = r->cfa.base == GRT_CFI_SP ? GRT_RULE_SP : GRT_RULE_FP, index;

	if (r->end)
		return GRT_RULE_END;
	if (rules_is_short(r))
		return kind | rules_words_below(&r->fp) << GRT_RULE_FP_SHIFT |
		       rules_words_below(&r->ra) << GRT_RULE_RA_SHIFT |
		       (uint64_t)r->cfa.offset / 8 << GRT_RULE_WORDS_SHIFT;
	index = rules_long_index(r);
	if (index == ~0U) {
		rules_count(&state.no_memory);
		return rules_guess(GRT_RULE_NONE);
	}
	return GRT_RULE_LONG | index << GRT_RULE_WORDS_SHIFT;
}

/* ------------------------------------------------- code without tables */

/*
 * Used if the kernel refuses to read for us: memory that can be read now stays readable while a stack
 * returns into it.
 */
static size_t rules_copy_code(uint8_t *to, uint64_t at, size_t size)
{
	uint64_t page = 4096, end = at + size;

	if (!grt_stack_readable(at))
		return 0;
	if (at / page != (end - 1) / page && !grt_stack_readable(end - 1))
		size = page - at % page;
	memcpy(to, (const void *)(uintptr_t)at, size);
	return size;
}

/* @at may be any address: the kernel reads the code, and refuses unmapped addresses. */
static size_t rules_read_code(uint8_t *to, uint64_t at, size_t size)
{
	struct iovec into = {to, size}, from = {(void *)(uintptr_t)at, size};
	ssize_t got = process_vm_readv(getpid(), &into, 1, &from, 1, 0);

	if (got < 0 && (errno == ENOSYS || errno == EPERM))
		return rules_copy_code(to, at, size);
	return got > 0 ? (size_t)got : 0;
}

static uint64_t rules_look_at_code(uint64_t pc)
{
	/* Bytes before the address may be unmapped if they are on another page. */
	size_t before = (pc + 1) % 4096 < GRT_ARCH_BEFORE ? (pc + 1) % 4096 : GRT_ARCH_BEFORE, got;
	uint8_t code[GRT_ARCH_BEFORE + GRT_ARCH_AFTER] = {0};
	const uint8_t *at = code + GRT_ARCH_BEFORE;
	struct grt_cfi_rule rule;

	got = rules_read_code(code + GRT_ARCH_BEFORE - before, pc + 1 - before, before + GRT_ARCH_AFTER);
	if (got <= before)
		return rules_guess(GRT_RULE_NONE);
	switch (GRT_ARCH_HERE->look(pc + 1, at, at + got - before, &rule)) {
	case GRT_ARCH_SURE:
		return rules_pack(&rule);
	case GRT_ARCH_GUESS:
		return rules_pack(&rule) | rules_guess(0);
	case GRT_ARCH_CALLED:
		return rules_guess(GRT_RULE_POINTER);
	default:
		return rules_guess(GRT_RULE_NONE);
	}
}

/* ---------------------------------------------------------------- lookup */

struct search {
	uint64_t pc;
	uint64_t rule; /* 0: no table has the address */
	uint64_t module;
	bool hidden;
};

static bool rules_object_has(const struct dl_phdr_info *info, uint64_t pc)
{
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && pc - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

static void rules_load_object(struct grt_cfi_object *o, const struct dl_phdr_info *info)
{
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *start = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);
		struct grt_cfi_span span = {start, start + p->p_memsz};

		if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && o->spans < GRT_CFI_SPANS)
			o->span[o->spans++] = span;
		if (p->p_type == PT_GNU_EH_FRAME)
			o->header = span;
	}
}

static int rules_search_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct grt_cfi_object o = {.arch = GRT_ARCH_HERE};
	struct grt_cfi_rule rule;
	struct search *s = data;

	if (!rules_object_has(info, s->pc))
		return 0;
	rules_load_object(&o, info);
	s->module = rules_module_number(info, &o, &s->hidden);
	if (!o.header.start ||
	    !rules_in_spans(&o, (uintptr_t)o.header.start, (size_t)(o.header.end - o.header.start)))
		return 1;
	if (!grt_cfi_find(&o, s->pc, &rule))
		s->rule = rules_pack(&rule);
	/*
	 * makecontext() makes a function return to the start of another one, before which there is no call.
	 */
	else if (!grt_cfi_find(&o, s->pc + 1, &rule))
		s->rule = GRT_RULE_BEYOND;
	return 1;
}

/* Takes a slot that is free or has an older generation. Two threads may enter the same rule twice. */
static void rules_enter(uint64_t pc, uint64_t generation, uint64_t rule)
{
	uint32_t at = grt_rules_hash(pc);
	uint64_t key;

	for (unsigned int i = 0; i < GRT_RULE_PROBES; i++) {
		struct grt_rule_slot *s = &grt_rules.slot[(at + i) & (GRT_RULE_SLOTS - 1)];

		key = atomic_load_explicit(&s->key, memory_order_relaxed);
		if (key == KEY_BUSY || (key >> 48 == generation && key != (pc | generation << 48)))
			continue;
		if (!atomic_compare_exchange_strong(&s->key, &key, KEY_BUSY))
			continue;
		atomic_store_explicit(&s->rule, rule, memory_order_release);
		atomic_store_explicit(&s->key, pc | generation << 48, memory_order_release);
		return;
	}
	rules_count(&state.no_memory);
}

uint64_t grt_rules_work_out(uint64_t pc, uint64_t generation)
{
	struct search s = {.pc = pc};
	int error = errno;

	dl_iterate_phdr(rules_search_object, &s);
	if (!s.rule)
		s.rule = rules_look_at_code(pc);
	s.rule |= s.module << 48;
	if (s.hidden)
		s.rule |= GRT_RULE_HIDDEN;
	rules_enter(pc, generation, s.rule);
	rules_count(&state.worked_out);
	errno = error;
	return s.rule;
}

/* ----------------------------------------------------------------- start */

static int rules_has_address(struct dl_phdr_info *info, size_t size, void *data)
{
	return rules_object_has(info, (uintptr_t)data);
}

int grt_rules_hide(const void *address)
{
	if (!dl_iterate_phdr(rules_has_address, (void *)(uintptr_t)address))
		return -ENOENT;
	if (atomic_load(&state.hides) == HIDES)
		return -ENOSPC;
	/* the program's threads may be looking for rules */
	state.hide[atomic_load(&state.hides)] = (uintptr_t)address;
	atomic_fetch_add(&state.hides, 1);
	return 0;
}

int grt_rules_init(void)
{
	struct counts c;

	grt_rules.slot = reserve_memory(GRT_RULE_SLOTS * sizeof(*grt_rules.slot));
	state.long_rule = reserve_memory(LONG_MAX_RULES * sizeof(*state.long_rule));
	state.module = reserve_memory((GRT_RULE_MODULE_MAX + 1) * sizeof(*state.module));
	state.module_key = reserve_memory((GRT_RULE_MODULE_MAX + 1) * sizeof(*state.module_key));
	state.path = reserve_memory(PATHS_SIZE);
	if (!grt_rules.slot || !state.long_rule || !state.module || !state.module_key || !state.path)
		return -ENOMEM;
	c = rules_linker_counts();
	atomic_store(&state.adds, c.adds);
	atomic_store(&state.subs, c.subs);
	rules_find_linker_words();
	grt_rules_changed();
	return 0;
}

void grt_rules_stats(struct grt_unwind_stats *stats)
{
	stats->rules = atomic_load(&state.worked_out);
	stats->no_memory = atomic_load(&state.no_memory);
	stats->modules = atomic_load(&state.module_used);
	stats->exact_dlopen = atomic_load(&state.exact);
}
