// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Vertical blanks on a track for each CRTC of a device.
 */
#include "tracks_places.h"

#include <stdio.h>

enum {
	OF_CRTC = TRACKS_KEYS(tracks_display),
};

static int tracks_on_vblank(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_vblank *v = (const struct grt_ev_vblank *)e;
	struct grt_key key = tracks_key_of(OF_CRTC, e->device, v->crtc, 0);
	struct track like = {.kind = GRT_TRACK_SLICES}, *k = grt_keyed_find(&t->tracks, &key);
	char text[32];
	int ret = 0;

	if (!k) {
		snprintf(text, sizeof(text), "CRTC %u", v->crtc);
		ret = tracks_device(t, e->device, &like.parent);
		ret = ret ?: tracks_get_fixed(t, &key, &like, text, &k);
	}
	return ret ?: tracks_draw_instant(t, k, e, t->title[e->type], GRT_CATEGORY_EVENT);
}

static const struct tracks_draw display_draws[] = {
	{GRT_EV_VBLANK, tracks_on_vblank},
	{0},
};

const struct tracks_provider tracks_display = {
	.draws = display_draws,
};
