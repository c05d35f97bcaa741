// SPDX-License-Identifier: GPL-2.0
/*
 * The stand-in for i915 as it is with CONFIG_DRM_I915_LOW_LEVEL_TRACEPOINTS.
 */
#define LOW_LEVEL
#include "../i915/i915.c"
