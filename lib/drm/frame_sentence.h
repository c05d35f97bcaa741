/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The frames of each client of a display in words: how many were late, and why the longest was. */
#ifndef GRT_DRM_FRAME_SENTENCE_H
#define GRT_DRM_FRAME_SENTENCE_H

#include "display_frames.h"
#include "table/notes.h"

/** grt_frame_cause_name - how tables name a cause of a late frame; NULL: it is unknown */
const char *grt_frame_cause_name(unsigned int cause);

/** grt_frame_sentences - a sentence for each of the first clients with late frames. Return: 0 or -ENOMEM */
int grt_frame_sentences(const struct grt_display_frames *d, struct grt_notes *notes);

#endif /* GRT_DRM_FRAME_SENTENCE_H */
