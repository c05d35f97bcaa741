// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The sizes of the records, from events.def.
 */
#include "packet.h"

const uint16_t grt_record_size[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = sizeof(struct grt_ev_##name),
#include <grtrace/events.def>
#undef GRT_EVENT
};
