// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of words.h. A number without a row has no word. */
#include "words.h"

#include <stddef.h>

#define ROW(number, NAME, name, help) [number] = #name,

static const char *const log_notes[] = {
#define GRT_LOG_NOTE ROW
#include <grtrace/log_notes.def>
};
static const char *const thread_states[] = {
#define GRT_THREAD_STATE ROW
#include <grtrace/thread_states.def>
};
static const char *const wakers[] = {
#define GRT_WAKER ROW
#include <grtrace/wakers.def>
};
static const char *const wake_causes[] = {
#define GRT_WAKE_CAUSE ROW
#include <grtrace/wake_causes.def>
};
static const char *const slice_edges[] = {
#define GRT_SLICE_EDGE ROW
#include <grtrace/slice_edges.def>
};
static const char *const nv_memories[] = {
#define GRT_NV_MEMORY ROW
#include <grtrace/nv_memory.def>
};
static const char *const uvm_causes[] = {
#define GRT_UVM_CAUSE ROW
#include <grtrace/uvm.def>
};
static const char *const uvm_accesses[] = {
#define GRT_UVM_ACCESS ROW
#include <grtrace/uvm.def>
};
static const char *const uvm_faults[] = {
#define GRT_UVM_FAULT ROW
#include <grtrace/uvm.def>
};
static const char *const uvm_fatals[] = {
#define GRT_UVM_FATAL ROW
#include <grtrace/uvm.def>
};
static const char *const uvm_remotes[] = {
#define GRT_UVM_REMOTE ROW
#include <grtrace/uvm.def>
};
static const char *const uvm_pages[] = {
#define GRT_UVM_PAGES ROW
#include <grtrace/uvm.def>
};

static const struct list {
	const char *const *word;
	size_t words;
} lists[] = {
#define LIST(array)                                       \
	{                                                 \
		array, sizeof(array) / sizeof((array)[0]) \
	}
	[GRT_WORDS_LOG_NOTE] = LIST(log_notes),	    [GRT_WORDS_THREAD_STATE] = LIST(thread_states),
	[GRT_WORDS_WAKER] = LIST(wakers),	    [GRT_WORDS_WAKE_CAUSE] = LIST(wake_causes),
	[GRT_WORDS_SLICE_EDGE] = LIST(slice_edges), [GRT_WORDS_NV_MEMORY] = LIST(nv_memories),
	[GRT_WORDS_UVM_CAUSE] = LIST(uvm_causes),   [GRT_WORDS_UVM_ACCESS] = LIST(uvm_accesses),
	[GRT_WORDS_UVM_FAULT] = LIST(uvm_faults),   [GRT_WORDS_UVM_FATAL] = LIST(uvm_fatals),
	[GRT_WORDS_UVM_REMOTE] = LIST(uvm_remotes), [GRT_WORDS_UVM_PAGES] = LIST(uvm_pages),
};

const char *grt_word(enum grt_words list, uint64_t number)
{
	return number < lists[list].words ? lists[list].word[number] : NULL;
}
