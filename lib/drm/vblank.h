/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Vertical blanks and the events that clients requested, by CRTC. A client's
 * event is joined by file, CRTC and frame number. A delivered event without a request
 * belongs to a page flip, and an event of frame 0 comes from a driver without vertical
 * blanks.
 */
#ifndef GRT_DRM_VBLANK_H
#define GRT_DRM_VBLANK_H

#include <grtrace/grtrace.h>

#include "base/hist.h"

/* Most CRTCs with a row. */
#define GRT_VBLANK_CRTCS_MAX 256U
/* Most pending events; beyond that, the oldest is dropped and counted. */
#define GRT_VBLANK_ASKED_MAX 16384U
/* Most deliveries of a frame that are held until its VBLANK comes. */
#define GRT_VBLANK_EARLY_MAX 32U
/* Longer times count as late, ns. */
#define GRT_VBLANK_LATE_NS 1000000U

/**
 * struct grt_crtc - one CRTC
 * @crtc, @device: its identity
 * @frames: VBLANK events
 * @precise: VBLANK events with a precise time stamp
 * @missed: frame numbers without a VBLANK, between two that have one
 * @back: how often the frame number did not grow
 * @span_ns, @span_frames: time and frames between consecutive VBLANKs:
 *	the refresh rate is @span_frames / @span_ns
 * @asked: requested events
 * @delivered: delivered events, except @no_frame
 * @joined: delivered events whose request is in the trace
 * @no_frame: events delivered with frame number 0
 * @ahead: events delivered before the time stamp of their frame's VBLANK; @since_vblank does not include them
 * @late_asked, @late_vblank: values of the histograms above GRT_VBLANK_LATE_NS
 * @since_asked: from request to delivery, ns
 * @since_vblank: from the time stamp of the VBLANK of the same number to delivery, ns. The kernel reports the
 *	VBLANK after it has delivered the events, so deliveries are held until then
 *
 * The rest is private.
 */
struct grt_crtc {
	uint32_t crtc;
	uint32_t device;
	uint64_t frames;
	uint64_t precise;
	uint64_t missed;
	uint64_t back;
	uint64_t span_ns;
	uint64_t span_frames;
	uint64_t asked;
	uint64_t delivered;
	uint64_t joined;
	uint64_t no_frame;
	uint64_t ahead;
	uint64_t late_asked;
	uint64_t late_vblank;
	struct grt_hist since_asked;
	struct grt_hist since_vblank;
	uint64_t last_stamp;
	uint32_t last_vseq;
	uint32_t early_vseq;
	uint32_t earlies;
	uint64_t early[GRT_VBLANK_EARLY_MAX];
};

/**
 * struct grt_vblank_count - sums of all CRTCs
 * @open: requested and not delivered
 * @forgotten: dropped because more than GRT_VBLANK_ASKED_MAX were pending
 * @repeated: requested again by the same file for the same frame; the first request is timed
 * @over: events of CRTCs beyond GRT_VBLANK_CRTCS_MAX
 */
struct grt_vblank_count {
	uint64_t open;
	uint64_t forgotten;
	uint64_t repeated;
	uint64_t over;
};

struct grt_vblank;

/** grt_vblank_new - begins; @asked: most pending events, 0: GRT_VBLANK_ASKED_MAX. Return: 0 or -ENOMEM */
int grt_vblank_new(struct grt_vblank **out, uint32_t asked);

/** grt_vblank_event - processes an event; uses VBLANK, VBLANK_QUEUED, VBLANK_DELIVERED. Return: 0 or
 * -ENOMEM */
int grt_vblank_event(struct grt_vblank *v, const struct grt_event *e);

/** grt_vblank_count - the sums so far */
struct grt_vblank_count grt_vblank_count(const struct grt_vblank *v);

/**
 * grt_vblank_each - the CRTCs in order of appearance: the one after @last, the first for NULL; NULL at the
 * end
 */
const struct grt_crtc *grt_vblank_each(const struct grt_vblank *v, const struct grt_crtc *last);

/** grt_vblank_rate - frames per 1000 s (mHz). Return: whether it is known */
bool grt_vblank_rate(const struct grt_crtc *c, uint64_t *mhz);

/** grt_vblank_free - frees it; NULL is allowed */
void grt_vblank_free(struct grt_vblank *v);

#endif /* GRT_DRM_VBLANK_H */
