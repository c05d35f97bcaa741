/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The names of numbers that have a row in a file of include/grtrace: one table for each list of rows. */
#ifndef GRT_CODES_WORDS_H
#define GRT_CODES_WORDS_H

#include <stdint.h>

/** enum grt_words - the lists */
enum grt_words {
	GRT_WORDS_LOG_NOTE,
	GRT_WORDS_THREAD_STATE,
	GRT_WORDS_WAKER,
	GRT_WORDS_WAKE_CAUSE,
	GRT_WORDS_SLICE_EDGE,
	GRT_WORDS_NV_MEMORY,
	GRT_WORDS_UVM_CAUSE,
	GRT_WORDS_UVM_ACCESS,
	GRT_WORDS_UVM_FAULT,
	GRT_WORDS_UVM_FATAL,
	GRT_WORDS_UVM_REMOTE,
	GRT_WORDS_UVM_PAGES,
};

/** grt_word - the name of a number; NULL: the list has no such row, as a newer driver may have more */
const char *grt_word(enum grt_words list, uint64_t number);

#endif /* GRT_CODES_WORDS_H */
