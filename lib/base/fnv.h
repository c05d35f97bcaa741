/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * FNV-1a: a hash that is the same in all processes and on all machines. It has no secret, so it is not for
 * tables that the text of a trace can fill: index.h has one for these.
 */
#ifndef GRT_BASE_FNV_H
#define GRT_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GRT_FNV_START 0xcbf29ce484222325ULL

/** grt_fnv - continues a hash, which begins with GRT_FNV_START, with @n bytes */
static inline uint64_t grt_fnv(uint64_t hash, const void *data, size_t n)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ULL;
	return hash;
}

/** grt_fnv_text - the hash of a text */
static inline uint64_t grt_fnv_text(const char *text)
{
	return grt_fnv(GRT_FNV_START, text, strlen(text));
}

#endif /* GRT_BASE_FNV_H */
