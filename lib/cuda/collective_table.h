/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * report --by collective: a part of the analysis of steps, see step_table.c.
 */
#ifndef GRT_CUDA_COLLECTIVE_TABLE_H
#define GRT_CUDA_COLLECTIVE_TABLE_H

#include "table/analysis.h"
#include "steps.h"

extern const struct grt_table grt_collective_sum_table;

/** grt_collective_table_write - writes the table, after grt_steps_find(). Return: 0 or -ENOMEM */
int grt_collective_table_write(struct grt_steps *s, const struct grt_part *part, struct grt_pass *pass);

/** grt_collective_table_note_waits - adds the sentences about waiting ranks. Return: 0 or -ENOMEM */
int grt_collective_table_note_waits(struct grt_steps *s, struct grt_notes *notes);

#endif /* GRT_CUDA_COLLECTIVE_TABLE_H */
