/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where members of drivers' private structs lie, for the module's adapters.
 */
#ifndef GRTRACE_KMOD_OFFSETS_H
#define GRTRACE_KMOD_OFFSETS_H

/**
 * kmod_set_offsets - lets the adapters know what they do not know yet
 * @note: called with a line for each driver
 *
 * What cannot be found stays unknown, and its fields with it: that is no error.
 */
void kmod_set_offsets(void (*note)(const char *text));

#endif /* GRTRACE_KMOD_OFFSETS_H */
