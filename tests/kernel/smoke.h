/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cases of grtrace_smoke.
 */
#ifndef SMOKE_H
#define SMOKE_H

#include "suite.h"

#define SMOKE(name, title) void smoke_##name(void);
#include "smoke.def"
#undef SMOKE

#endif /* SMOKE_H */
