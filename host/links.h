/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Targets of symbolic links in /proc and /sys.
 */
#ifndef GRTRACE_LINKS_H
#define GRTRACE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

/** link_end - the last part of a link's target. Return: false if there is no such link; @name is then
 * unchanged */
bool link_end(const char *path, char *name, size_t room);

/** link_program_dir - the directory of this program's file, without a / at its end; PATH_MAX bytes. Return:
 * whether it is known */
bool link_program_dir(char *dir);

#endif /* GRTRACE_LINKS_H */
