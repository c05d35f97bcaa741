/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The tables of ranks, and of collectives for which a rank was late: a part of the
 * analysis of steps, see step_table.c.
 */
#ifndef GRT_CUDA_RANK_TABLE_H
#define GRT_CUDA_RANK_TABLE_H

#include "table/analysis.h"
#include "steps.h"

extern const struct grt_table grt_rank_table;
extern const struct grt_table grt_collective_table;

/** grt_rank_table_write - writes the tables; @s has found its steps. Return: 0 or -ENOMEM */
int grt_rank_table_write(struct grt_steps *s, const struct grt_part *part, struct grt_pass *pass);

/** grt_rank_table_note - adds the sentence about the rank for which the others waited longest. Return: 0 or
 * -ENOMEM */
int grt_rank_table_note(struct grt_steps *s, struct grt_notes *notes);

/** grt_step_numbers - appends a number to a list that may become too long: "1, 2, ..." */
void grt_step_numbers(char *list, size_t room, uint32_t number);

#endif /* GRT_CUDA_RANK_TABLE_H */
