/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Offsets of members in drivers' private structs, for the module's adapters.
 */
#ifndef GRTRACE_KMOD_OFFSETS_H
#define GRTRACE_KMOD_OFFSETS_H

/**
 * kmod_set_offsets - gives the adapters the offsets that they do not have yet
 * @note: called with a line for each driver
 *
 * An offset that is not found stays unknown, and so do the event fields that need it; this is not an error.
 */
void kmod_set_offsets(void (*note)(const char *text));

#endif /* GRTRACE_KMOD_OFFSETS_H */
