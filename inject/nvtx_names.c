// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The names of ranges: each text and each chain of open ranges is stored once and has a number, without
 * locks. A text is complete before its number is entered, and neither changes again. Programs that count in
 * their names make a new name each time; when there is no room for more, digits are left out of new names.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject.h"
#include "nvtx.h"
#include "reserve.h"
#include "tree.h"

#define NAMES_MAX (1U << 19)
#define NAMES_SLOTS (NAMES_MAX * 2)
#define ARENA_BYTES (64U << 20)
/*
 * Parts of the numbers and bytes that are reserved: NAMES_KEPT, ARENA_KEPT for names without their digits;
 * NAMES_RANGES, ARENA_RANGES for names of ranges, so that other texts cannot use them up.
 */
#define NAMES_KEPT 4096U
#define ARENA_KEPT (1U << 20)
#define NAMES_RANGES (NAMES_MAX / 4 * 3)
#define ARENA_RANGES (ARENA_BYTES / 4 * 3)
/* Longer texts are truncated to this length. */
#define TEXT_MAX 4096U
#define CHAINS_MAX (1U << 20)
#define CATEGORIES 1024U
/* Bit of a frame of a chain, which has the numbers of its domain and of its name; the root lacks it. */
#define CHAIN_FRAME (1ULL << 63)

struct name {
	uint32_t hash;
	uint32_t length;
	uint32_t at;
	_Atomic uint32_t ready;
};

static struct {
	struct name *name;
	_Atomic uint32_t *slot;
	char *arena;
	uint32_t *string;
	_Atomic uint32_t used;
	_Atomic uint32_t bytes;
} names;

/* The root of the tree is not a range, so the number of a chain is that of its node less 1. */
static struct grt_tree chains;

static struct {
	_Atomic uint64_t key;
	_Atomic uint32_t name;
} category_of[CATEGORIES];

int nvtx_names_init(void)
{
	names.name = reserve_memory((NAMES_MAX + 1) * sizeof(*names.name));
	names.slot = reserve_memory(NAMES_SLOTS * sizeof(*names.slot));
	names.string = reserve_memory((NAMES_MAX + 1) * sizeof(*names.string));
	names.arena = reserve_memory(ARENA_BYTES);
	if (!names.name || !names.slot || !names.string || !names.arena)
		return -ENOMEM;
	return grt_tree_init(&chains, CHAINS_MAX, 1);
}

/* ----------------------------------------------------------------- names */

static uint32_t names_hash(const char *text, size_t length)
{
	uint64_t h = length * 0x9e3779b97f4a7c15ULL, word;

	for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, text, length);
	h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(h >> 32);
}

/* Reserves @more after those in use, in @at. Return: false: that would be more than @most */
static bool names_take(_Atomic uint32_t *used, uint32_t more, uint32_t most, uint32_t *at)
{
	*at = atomic_load_explicit(used, memory_order_relaxed);
	do {
		if (*at > most || more > most - *at)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(used, at, *at + more, memory_order_release,
							memory_order_relaxed));
	return true;
}

/** struct left - numbers and bytes that must stay free after a new text */
struct left {
	uint32_t names;
	uint32_t bytes;
};

static const struct left left_nothing, left_for_kept = {NAMES_KEPT, ARENA_KEPT},
				       left_for_ranges = {NAMES_RANGES, ARENA_RANGES};

static uint32_t names_new(const char *text, size_t length, uint32_t hash, const struct left *left)
{
	uint32_t at, number;

	if (!names_take(&names.bytes, (uint32_t)length + 1, ARENA_BYTES - left->bytes, &at) ||
	    !names_take(&names.used, 1, NAMES_MAX - left->names, &number))
		return 0;
	memcpy(names.arena + at, text, length);
	names.name[++number].hash = hash;
	names.name[number].length = (uint32_t)length;
	names.name[number].at = at;
	atomic_store_explicit(&names.name[number].ready, 1, memory_order_release);
	return number;
}

static bool names_is(uint32_t number, const char *text, size_t length, uint32_t hash)
{
	const struct name *n = &names.name[number];

	return n->hash == hash && n->length == length && !memcmp(names.arena + n->at, text, length);
}

/*
 * Enters a text. If another thread has entered the same text meanwhile, its number is returned, and the new
 * number stays unused.
 */
static uint32_t names_enter(const char *text, size_t length, const struct left *left)
{
	uint32_t hash = names_hash(text, length), at = hash, mine = 0, there;
	_Atomic uint32_t *slot;

	for (;;) {
		slot = &names.slot[at++ % NAMES_SLOTS];
		there = atomic_load_explicit(slot, memory_order_acquire);
		if (!there) {
			mine = mine ?: names_new(text, length, hash, left);
			if (!mine || atomic_compare_exchange_strong_explicit(
					     slot, &there, mine, memory_order_acq_rel, memory_order_acquire))
				return mine;
		}
		if (names_is(there, text, length, hash))
			return there;
	}
}

/* Replaces each sequence of digits by one #. */
static size_t names_leave_digits(char *to, const char *text, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++)
		if (text[i] < '0' || text[i] > '9')
			to[n++] = text[i];
		else if (!n || to[n - 1] != '#')
			to[n++] = '#';
	return n;
}

uint32_t nvtx_name(const char *text, size_t length, bool *cut)
{
	char less[TEXT_MAX];
	uint32_t number;

	if (length > TEXT_MAX) {
		length = TEXT_MAX;
		*cut = true;
	}
	number = names_enter(text, length, &left_for_kept);
	if (number)
		return number;
	*cut = true;
	return names_enter(less, names_leave_digits(less, text, length), &left_nothing);
}

uint32_t nvtx_text(const char *text, size_t length)
{
	return length <= TEXT_MAX ? names_enter(text, length, &left_for_ranges) : 0;
}

const char *nvtx_text_of(uint32_t number)
{
	return names.arena + names.name[number].at;
}

bool nvtx_name_known(uint64_t number)
{
	return number && number <= atomic_load_explicit(&names.used, memory_order_relaxed);
}

bool nvtx_name_is(uint32_t name, const char *text)
{
	return !strcmp(names.arena + names.name[name].at, text);
}

/* ---------------------------------------------------------------- chains */

uint32_t nvtx_chain_of(uint32_t outer, uint32_t domain, uint32_t name, bool *cut)
{
	uint32_t node = grt_tree_child(&chains, outer + 1, CHAIN_FRAME | (uint64_t)domain << 32 | name);

	if (node)
		return node - 1;
	*cut = true;
	return outer;
}

/* ------------------------------------------------------------ categories */

static unsigned int category_slot(uint64_t key)
{
	return (unsigned int)((key * 0x9e3779b97f4a7c15ULL) >> 54) % CATEGORIES;
}

void nvtx_name_category(uint32_t domain, uint32_t category, uint32_t name)
{
	uint64_t key = (uint64_t)domain << 32 | category, there;
	unsigned int at = category_slot(key);

	for (unsigned int i = 0; category && i < CATEGORIES; i++, at = (at + 1) % CATEGORIES) {
		there = 0;
		if (atomic_compare_exchange_strong(&category_of[at].key, &there, key) || there == key) {
			atomic_store(&category_of[at].name, name);
			return;
		}
	}
}

uint32_t nvtx_category_name(uint32_t domain, uint32_t category)
{
	uint64_t key = (uint64_t)domain << 32 | category, there;
	unsigned int at = category_slot(key);

	for (unsigned int i = 0; category && i < CATEGORIES; i++, at = (at + 1) % CATEGORIES) {
		there = atomic_load(&category_of[at].key);
		if (there == key)
			return atomic_load(&category_of[at].name);
		if (!there)
			break;
	}
	return 0;
}

/* ------------------------------------------------------------ the writer */

static bool names_define(uint32_t number)
{
	const struct name *n = &names.name[number];

	if (!atomic_load_explicit(&n->ready, memory_order_acquire))
		return false;
	names.string[number] = define_string(names.arena + n->at);
	return true;
}

uint32_t nvtx_string(uint32_t name)
{
	/* a name that was entered after the last nvtx_define() */
	if (name && !names.string[name])
		names_define(name);
	return names.string[name];
}

static bool chains_define(uint32_t number)
{
	uint64_t frame;
	uint32_t node;

	if (!grt_tree_get(&chains, number + 1, &frame, &node))
		return false;
	define_range_node(number, node ? node - 1 : 0, nvtx_string((uint32_t)(frame >> 32 & INT32_MAX)),
			  nvtx_string((uint32_t)frame));
	return true;
}

static struct define_row of_names, of_chains;

void nvtx_names_reset(void)
{
	memset(names.string, 0, (atomic_load(&names.used) + 1) * sizeof(*names.string));
	of_names = of_chains = (struct define_row){0};
}

void nvtx_define(void)
{
	uint32_t used;

	if (!names.name)
		return;
	/* chains first: the names of a chain are older than the chain */
	used = atomic_load_explicit(&chains.used, memory_order_acquire);
	define_row(&of_names, atomic_load_explicit(&names.used, memory_order_acquire), names_define);
	define_row(&of_chains, used - 1, chains_define);
}
