// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Ring names and their engines. A row is the beginning of a name; the first
 * row that fits decides, so longer beginnings stand before shorter ones.
 *
 * Sources (Linux 6.1 to 6.12): amdgpu_ring names of drivers/gpu/drm/amd/amdgpu,
 * v3d_sched.c, etnaviv, xe_hw_engine_class_to_str(), i915 engine names.
 */
#include "engine.h"

#include <string.h>

struct ring_name {
	const char *begin;
	unsigned char engine;
};

static const struct ring_name ring_names[] = {
	/* amdgpu */
	{"gfx", GRT_ENGINE_GRAPHICS},
	{"comp", GRT_ENGINE_COMPUTE},
	{"sdma", GRT_ENGINE_COPY},
	{"page", GRT_ENGINE_COPY},
	{"kiq", GRT_ENGINE_FIRMWARE},
	{"mes", GRT_ENGINE_FIRMWARE},
	{"uvd_enc", GRT_ENGINE_VIDEO_ENCODE},
	{"uvd", GRT_ENGINE_VIDEO_DECODE},
	{"vce", GRT_ENGINE_VIDEO_ENCODE},
	{"vcn_enc", GRT_ENGINE_VIDEO_ENCODE},
	{"vcn_dec", GRT_ENGINE_VIDEO_DECODE},
	{"vcn_unified", GRT_ENGINE_VIDEO_DECODE}, /* both ways; most of its work is decoding */
	{"jpeg", GRT_ENGINE_VIDEO_DECODE},
	{"vpe", GRT_ENGINE_VIDEO_ENHANCE},
	/* v3d */
	{"v3d_csd", GRT_ENGINE_COMPUTE},
	{"v3d_tfu", GRT_ENGINE_COPY},
	{"v3d_bin", GRT_ENGINE_GRAPHICS},
	{"v3d_render", GRT_ENGINE_GRAPHICS},
	/* i915 and xe */
	{"rcs", GRT_ENGINE_GRAPHICS},
	{"bcs", GRT_ENGINE_COPY},
	{"vcs", GRT_ENGINE_VIDEO_DECODE},
	{"vecs", GRT_ENGINE_VIDEO_ENHANCE},
	{"ccs", GRT_ENGINE_COMPUTE},
	/* others */
	{"control", GRT_ENGINE_GRAPHICS}, /* virtio-gpu */
	{"cursor", GRT_ENGINE_DISPLAY},
	{"lima_gp", GRT_ENGINE_GRAPHICS},
	{"lima_pp", GRT_ENGINE_GRAPHICS},
	{"pan_js", GRT_ENGINE_GRAPHICS},
};

unsigned int grt_engine_of_ring(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(ring_names) / sizeof(ring_names[0]); i++) {
		size_t n = strlen(ring_names[i].begin);

		if (n <= len && !memcmp(name, ring_names[i].begin, n))
			return ring_names[i].engine;
	}
	return GRT_ENGINE_UNKNOWN;
}
