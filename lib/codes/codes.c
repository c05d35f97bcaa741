// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The tables of codes.h. amdgpu's numbers are those of Linux 6.1 to 6.17
 * (ttm_placement.h, amdgpu_ttm.h, soc15_ih_clientid.h).
 */
#include "codes.h"

#include <string.h>

#include <stddef.h>

static const struct grt_xid_info xids[] = {
#define GRT_XID(first, last, name, meaning, todo) {first, last, name, meaning, todo},
#include "xids.def"
#undef GRT_XID
};

struct number_name {
	uint32_t number;
	const char *name;
};

static const struct number_name virtio_gpu[] = {
#define GRT_VIRTIO_GPU(number, name) {number, #name},
#include "virtio_gpu.def"
#undef GRT_VIRTIO_GPU
	{0, NULL},
};

static const struct number_name amdgpu_memories[] = {
	{0, "system"},	{1, "GTT"},	 {2, "VRAM"},	    {3, "GDS"},		  {4, "GWS"}, {5, "OA"},
	{6, "PREEMPT"}, {7, "DOORBELL"}, {8, "MMIO_REMAP"}, {UINT32_MAX, "none"}, {0, NULL},
};

static const struct number_name amdgpu_clients[] = {
	{0x00, "IH"},	 {0x04, "DCE"}, {0x07, "RLC"},	{0x08, "SDMA0"}, {0x09, "SDMA1"},
	{0x0f, "THM"},	 {0x10, "UVD"}, {0x11, "VCE0"}, {0x12, "VMC"},	 {0x14, "GRBM_CP"},
	{0x1b, "UTCL2"}, {0x1e, "MP0"}, {0x1f, "MP1"},	{0, NULL},
};

const struct grt_xid_info *grt_xid_info(uint32_t code)
{
	for (size_t i = 0; i < sizeof(xids) / sizeof(xids[0]); i++)
		if (code >= xids[i].first && code <= xids[i].last)
			return &xids[i];
	return NULL;
}

static size_t codes_append(struct grt_ev_xid *ev, size_t used, const char *text, size_t len)
{
	size_t room = sizeof(ev->text) - 1 - used, taken = len < room ? len : room;

	memcpy(ev->text + used, text, taken);
	if (taken < len)
		memcpy(ev->text + sizeof(ev->text) - 4, "...", 3);
	return used + taken;
}

void grt_xid_set_text(struct grt_ev_xid *ev, const char *part, size_t part_len, const char *text, size_t len)
{
	size_t used;

	memset(ev->text, 0, sizeof(ev->text));
	used = codes_append(ev, 0, part, part_len);
	if (part_len && len)
		used = codes_append(ev, used, ": ", 2);
	codes_append(ev, used, text, len);
}

static const char *codes_name_of(const struct number_name *table, uint32_t number)
{
	for (; table->name; table++)
		if (table->number == number)
			return table->name;
	return NULL;
}

const char *grt_virtio_gpu_name(uint32_t number)
{
	return codes_name_of(virtio_gpu, number);
}

const char *grt_amdgpu_memory_name(uint32_t type)
{
	return codes_name_of(amdgpu_memories, type);
}

const char *grt_amdgpu_client_name(uint32_t client)
{
	return codes_name_of(amdgpu_clients, client);
}
