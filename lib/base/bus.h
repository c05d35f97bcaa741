/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * PCI addresses as numbers in events: domain << 16 | bus << 8 | device << 3 | function.
 */
#ifndef GRT_BASE_BUS_H
#define GRT_BASE_BUS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the longest text, with its NUL. */
#define GRT_BUS_MAX 16

/** grt_bus_text - the address in the form of the kernel: 0000:01:00.0 */
static inline const char *grt_bus_text(char text[GRT_BUS_MAX], uint32_t bus)
{
	snprintf(text, GRT_BUS_MAX, "%04x:%02x:%02x.%u", bus >> 16, bus >> 8 & 0xff, bus >> 3 & 0x1f,
		 bus & 7);
	return text;
}

/** grt_bus_number - parses a text in upper or lower case; UINT32_MAX: it is not an address */
static inline uint32_t grt_bus_number(const char *text)
{
	unsigned int domain, bus, device, function;

	if (sscanf(text, "%8x:%2x:%2x.%1u", &domain, &bus, &device, &function) != 4 || domain > 0xffff ||
	    device > 31 || function > 7)
		return UINT32_MAX;
	return domain << 16 | bus << 8 | device << 3 | function;
}

/**
 * grt_bus_parse - parses an address as users type it and tools print it: 0000:01:00.0, 01:00.0 (lspci),
 * 00000000:01:00.0 (nvidia-smi); UINT32_MAX: the text is not one address and nothing else
 */
static inline uint32_t grt_bus_parse(const char *text)
{
	char whole[32];
	int end = 0;

	/* a text of two fields is of the first domain; without a function it is the first one */
	snprintf(whole, sizeof(whole), "%s%.20s%s", strchr(text, ':') == strrchr(text, ':') ? "0:" : "", text,
		 strchr(text, '.') ? "" : ".0");
	if (strlen(text) > 20 ||
	    sscanf(whole, "%*8[0-9a-fA-F]:%*2[0-9a-fA-F]:%*2[0-9a-fA-F].%*1[0-7]%n", &end) || !end ||
	    whole[end])
		return UINT32_MAX;
	return grt_bus_number(whole);
}

#endif /* GRT_BASE_BUS_H */
