/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * NVTX: ranges and marks of the program. nvtx.c has the functions that the program
 * calls, nvtx_names.c what ranges are called, and launch.c their place in the rings.
 */
#ifndef GRT_INJECT_NVTX_H
#define GRT_INJECT_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranges that are open on a thread; what is pushed deeper is counted. */
#define NVTX_OPEN_MAX 128U
/* Where a thread has pushed deeper than the limit, its domains share this many counters. */
#define NVTX_DOMAINS 16U
/* Places of texts that a thread has just used. */
#define NVTX_RECENT 64U

/** enum nvtx_kind - what an entry of a ring is; such numbers no call has */
enum nvtx_kind {
	NVTX_PUSHED = 0xff00,
	NVTX_STARTED,
	NVTX_MARKED,
	NVTX_UNENDED, /* pushed, and open when its thread ended */
};

/**
 * struct nvtx_range - a range, or a mark
 * @name, @domain: numbers of nvtx_names.c
 * @node: its chain; of one that was started: the thread that ended it
 * @depth: ranges around it, in its domain
 * @cut: name or chain are not whole
 */
struct nvtx_range {
	uint64_t begin;
	uint64_t payload;
	uint32_t name;
	uint32_t domain;
	uint32_t node;
	uint32_t category;
	uint32_t colour;
	uint16_t depth;
	uint8_t payload_type;
	bool cut;
};

/**
 * struct nvtx_thread - of each thread
 * @depth: of @open that are in use
 * @over: pushes that found none, by domain
 * @recent: numbers of names by the place of their text, which may have changed
 */
struct nvtx_thread {
	uint32_t depth;
	uint32_t over[NVTX_DOMAINS];
	struct {
		const char *at;
		uint32_t name;
	} recent[NVTX_RECENT];
	struct nvtx_range open[NVTX_OPEN_MAX];
};

/** nvtx_chain - the ranges that are open on a thread, 0: none */
static inline uint32_t nvtx_chain(const struct nvtx_thread *t)
{
	return t->depth ? t->open[t->depth - 1].node : 0;
}

/** nvtx_ranges - how many these are */
static inline uint16_t nvtx_ranges(const struct nvtx_thread *t)
{
	uint32_t n = t->depth;

	if (n == NVTX_OPEN_MAX)
		for (unsigned int i = 0; i < NVTX_DOMAINS; i++)
			n += t->over[i];
	return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

struct packets;

/* ---------------------------------------------------------- nvtx_names.c */

/** nvtx_names_init - Return: 0 or -ENOMEM */
int nvtx_names_init(void);

/** nvtx_names_reset - none is written, for another recording of the process */
void nvtx_names_reset(void);

/** nvtx_name - the number of a text; @cut: set where it is not the whole text, or 0 for there is no room */
uint32_t nvtx_name(const char *text, size_t length, bool *cut);

/** nvtx_name_known - whether a number is one of a name */
bool nvtx_name_known(uint64_t number);

/** nvtx_name_is - whether the text of a name is this one */
bool nvtx_name_is(uint32_t name, const char *text);

/** nvtx_chain_of - the chain of a range within another chain; @cut: set where there is no room: then it is
 * @outer */
uint32_t nvtx_chain_of(uint32_t outer, uint32_t domain, uint32_t name, bool *cut);

/** nvtx_name_category - what a category is called */
void nvtx_name_category(uint32_t domain, uint32_t category, uint32_t name);

/** nvtx_define - writes the names and chains that are new; the writer */
void nvtx_define(void);

/** nvtx_string - the number of a name's STRING, 0: none; the writer */
uint32_t nvtx_string(uint32_t name);

/** nvtx_category_name - the name of a category, 0: it has none */
uint32_t nvtx_category_name(uint32_t domain, uint32_t category);

/* ---------------------------------------------------------------- nvtx.c */

/** nvtx_write - a record of an entry; the writer */
void nvtx_write(struct packets *p, uint16_t kind, const struct nvtx_range *r, uint64_t end, uint32_t tid);

/** nvtx_write_started - records of the ranges that nobody has ended; @to: the stream of a time */
void nvtx_write_started(struct packets *(*to)(uint64_t time));

/** nvtx_lose - a range or mark that is not recorded */
void nvtx_lose(void);

/** nvtx_lost - how many since the last time; the writer */
uint64_t nvtx_lost(void);

/** nvtx_cut, nvtx_stray - as ranges_cut and ranges_stray in PROCESS */
uint64_t nvtx_cut(void);
uint64_t nvtx_stray(void);

/* -------------------------------------------------------------- launch.c */

/**
 * nvtx_thread_enter - the calling thread's, which is not to be in two functions at once
 * Return: NULL where nothing is recorded
 */
struct nvtx_thread *nvtx_thread_enter(void);

/** nvtx_thread_leave - behind each nvtx_thread_enter() that had one */
void nvtx_thread_leave(void);

/** nvtx_thread_put - an entry, which is over now; in between of the two before. @tid: 0: the calling thread
 */
void nvtx_thread_put(uint16_t kind, const struct nvtx_range *r, uint32_t tid);

/** nvtx_thread_id - tid of the calling thread, in between of the same */
uint32_t nvtx_thread_id(void);

#endif /* GRT_INJECT_NVTX_H */
