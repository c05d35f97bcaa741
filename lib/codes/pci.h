/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * PCI addresses as drivers print them.
 */
#ifndef GRT_CODES_PCI_H
#define GRT_CODES_PCI_H

#include "base/scan.h"

/**
 * grt_scan_pci - an address like 0000:01:00.0; the function and the word "PCI:" before it may be missing
 * @bus: gets domain << 16 | bus << 8 | device << 3 | function; 0, unknown, if the domain does not fit,
 *	because the truncated number belongs to another address
 */
static inline bool grt_scan_pci(const char **p, const char *end, uint32_t *bus)
{
	const char *q = *p;
	uint64_t part[3], function = 0;

	GRT_SCAN_WORD(&q, end, "PCI:");
	for (int i = 0; i < 3; i++)
		if ((i && !grt_scan_char(&q, end, ':')) || !grt_scan_hex(&q, end, &part[i]))
			return false;
	if (part[0] > UINT32_MAX || part[1] > 0xff || part[2] > 0x1f)
		return false;
	if (grt_scan_char(&q, end, '.') && (!grt_scan_u64(&q, end, &function) || function > 7))
		return false;
	*bus = part[0] > 0xffff ? 0 : (uint32_t)(part[0] << 16 | part[1] << 8 | part[2] << 3 | function);
	*p = q;
	return true;
}

#endif /* GRT_CODES_PCI_H */
