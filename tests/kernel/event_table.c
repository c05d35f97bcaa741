// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of events, for all files of a program.
 */
#define GRT_EVENT_TABLE_ROWS
#include <grtrace/event_table.h>
