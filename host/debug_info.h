/* SPDX-License-Identifier: GPL-2.0 */
/* Files with the debug info of object files that have none, found by build id. */
#ifndef GRTRACE_DEBUG_INFO_H
#define GRTRACE_DEBUG_INFO_H

/**
 * debug_info_open - opens the debug info of an object file: the file that the distribution installed (only
 * root can create it); if there is none and the environment variable GRTRACE_DEBUGINFOD is 1, the file from a
 * server of DEBUGINFOD_URLS, which then learns the build id
 * Return: a descriptor, or -ENOENT
 */
int debug_info_open(int object);

#endif /* GRTRACE_DEBUG_INFO_H */
