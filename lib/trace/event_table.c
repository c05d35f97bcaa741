// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of events, made from events.def. */
/* However a number is written: two rows that have it do not compile. */
#pragma GCC diagnostic error "-Woverride-init"
#define GRT_EVENT_TABLE_ROWS
#include <grtrace/event_table.h>

#include "packet.h"

const uint16_t grt_record_size[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = sizeof(struct grt_ev_##name),
#include <grtrace/events.def>
#undef GRT_EVENT
};

/* A row's own size stands in for that of any record, and the size before it grew for its own. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const uint16_t grt_record_least_of[GRT_EV_MAX] = {
	[0 ... GRT_EV_MAX - 1] = sizeof(struct grt_event),
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = sizeof(struct grt_ev_##name),
#define GRT_GREW(NAME, bytes) [GRT_EV_##NAME] = (bytes),
#include <grtrace/events.def>
#undef GRT_EVENT
};
#pragma GCC diagnostic pop

const uint8_t grt_class_of[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = GRT_CLASS_##CLASS,
#include <grtrace/events.def>
#undef GRT_EVENT
};

const uint8_t grt_traits_of[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help)
#define GRT_TRAITS(NAME, traits) [GRT_EV_##NAME] = (traits),
#include <grtrace/events.def>
#undef GRT_EVENT
};
