/* SPDX-License-Identifier: GPL-2.0 */
/* Files with the debug info of object files that have none themselves, by build id. */
#ifndef GRTRACE_DEBUG_INFO_H
#define GRTRACE_DEBUG_INFO_H

/**
 * debug_info_open - that of an object file: the distribution's, which only root puts there; where there is
 * none, and GRTRACE_DEBUGINFOD in the environment is 1, that of a server of DEBUGINFOD_URLS, which learns
 * what is asked for Return: a descriptor, or -ENOENT
 */
int debug_info_open(int object);

#endif /* GRTRACE_DEBUG_INFO_H */
