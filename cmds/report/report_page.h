/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page of `grtrace report -o FILE.html`: the tables of the report, and from two more passes over the
 * recording the lanes of its time axis and its flame graphs.
 */
#ifndef GRTRACE_REPORT_PAGE_H
#define GRTRACE_REPORT_PAGE_H

#include "report.h"

/** report_page_usage - prints an error if no page can be written there. Return: EXIT_DONE or EXIT_USAGE */
int report_page_usage(const char *output, const char *input);

/**
 * report_page_write - writes the page
 * @tables: what writer_columns wrote
 * @gpu: --device, or NULL
 * Return: exit status
 */
int report_page_write(const struct report *r, const char *output, const char *tables, size_t length,
		      const char *gpu);

#endif /* GRTRACE_REPORT_PAGE_H */
