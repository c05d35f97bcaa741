// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Profiles for pprof: GPU time by CPU stack. */
#include "flame_export.h"

GRT_FLAME_EXPORT(pprof, PPROF);
