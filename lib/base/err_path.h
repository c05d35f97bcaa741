/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What to type about an input, with the input's own path. */
#ifndef GRT_BASE_ERR_PATH_H
#define GRT_BASE_ERR_PATH_H

struct grt_err;

/**
 * grt_err_path - puts a path in place of the word PATH in what to type; the word stays if the path does not
 * fit, is standard input, or cannot be typed as it is
 * @err: may be NULL
 */
void grt_err_path(struct grt_err *err, const char *path);

#endif /* GRT_BASE_ERR_PATH_H */
