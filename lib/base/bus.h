/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * PCI addresses as numbers in events: domain << 16 | bus << 8 | device << 3 | function.
 */
#ifndef GRT_BASE_BUS_H
#define GRT_BASE_BUS_H

#include <stdint.h>
#include <stdio.h>

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

#endif /* GRT_BASE_BUS_H */
