// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * What events.def says of each type.
 */
#include "packet.h"

const uint16_t grt_record_size[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = sizeof(struct grt_ev_##name),
#include <grtrace/events.def>
#undef GRT_EVENT
};

const uint8_t grt_class_of[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = GRT_CLASS_##CLASS,
#include <grtrace/events.def>
#undef GRT_EVENT
};

const uint8_t grt_type_traits[GRT_EV_MAX] = {
	[GRT_EV_NAME] = GRT_TRAIT_DEFINING,
	[GRT_EV_FRAME] = GRT_TRAIT_DEFINING,
	[GRT_EV_PROCESS] = GRT_TRAIT_DEFINING | GRT_TRAIT_COUNTED,
	[GRT_EV_STRING] = GRT_TRAIT_DEFINING,
	[GRT_EV_NODE] = GRT_TRAIT_DEFINING,
	[GRT_EV_MAPPING] = GRT_TRAIT_DEFINING,
	[GRT_EV_CLOCK] = GRT_TRAIT_DEFINING,
	[GRT_EV_LOG_TEXT] = GRT_TRAIT_DEFINING,
	[GRT_EV_LAUNCH] = GRT_TRAIT_LATE | GRT_TRAIT_COUNTED,
	[GRT_EV_GPU_KERNEL] = GRT_TRAIT_LATE | GRT_TRAIT_COUNTED,
	[GRT_EV_GPU_COPY] = GRT_TRAIT_LATE | GRT_TRAIT_COUNTED,
	[GRT_EV_GPU_SYNC] = GRT_TRAIT_LATE | GRT_TRAIT_COUNTED,
	[GRT_EV_GPU_OVERHEAD] = GRT_TRAIT_LATE | GRT_TRAIT_COUNTED,
};
