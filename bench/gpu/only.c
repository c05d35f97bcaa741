// SPDX-License-Identifier: GPL-2.0
/* CUPTI alone, the peer of turns.sh: records of the kinds in ONLY_KINDS, by number, and nothing is done with
 * them. */
#include <cupti.h>
#include <stdint.h>
#include <stdlib.h>

#define BUFFER ((size_t)1 << 20)

static void only_request(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = *buffer ? BUFFER : 0;
	*records = 0;
}

static void only_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	free(buffer);
}

int InitializeInjection(void);

int InitializeInjection(void)
{
	const char *kinds = getenv("ONLY_KINDS");

	cuptiActivityRegisterCallbacks(only_request, only_complete);
	while (kinds && *kinds) {
		cuptiActivityEnable((CUpti_ActivityKind)strtoul(kinds, (char **)&kinds, 10));
		kinds += *kinds == ',';
	}
	return 1;
}
