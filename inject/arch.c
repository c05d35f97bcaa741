// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The table of architectures. */
#include "arch.h"

static const struct grt_arch *const archs[] = {
#define GRT_ARCH(name) &grt_arch_##name,
#include "archs.def"
#undef GRT_ARCH
};

const struct grt_arch *grt_arch_of(uint16_t elf)
{
	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++)
		if (archs[i]->elf == elf)
			return archs[i];
	return NULL;
}
