/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The tables of sums of steps by name: parts of the analysis of steps, see step_table.c.
 */
#ifndef GRT_CUDA_ROLLUP_TABLE_H
#define GRT_CUDA_ROLLUP_TABLE_H

#include "table/analysis.h"
#include "steps.h"

extern const struct grt_table grt_rollup_work_table;
extern const struct grt_table grt_rollup_collective_table;

/** grt_rollup_work_write, grt_rollup_collective_write - write the tables; @s has found its steps. Return: 0
 * or a negative errno */
int grt_rollup_work_write(struct grt_steps *s, struct grt_pass *pass);
int grt_rollup_collective_write(struct grt_steps *s, struct grt_pass *pass);

#endif /* GRT_CUDA_ROLLUP_TABLE_H */
