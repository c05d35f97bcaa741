/* SPDX-License-Identifier: GPL-2.0 */
/*
 * GPUs by their bus address ("0000:c6:00.0", "grtrace_softgpu") and by
 * their DRM device ("card0"), from sysfs.
 */
#ifndef GRTRACE_DRM_CARDS_H
#define GRTRACE_DRM_CARDS_H

#include <stddef.h>
#include <stdint.h>

/** drm_card - the DRM device of the GPU at this address; empty if there is none */
void drm_card(const char *bus, char *card, size_t room);

/**
 * drm_bus - the address of the GPU of a device file with this number (major << 20 | minor); empty: unknown
 */
void drm_bus(uint32_t number, char *bus, size_t room);

/**
 * drm_nodes - adds this machine's GPUs to a text, "card0=ADDRESS renderD128=ADDRESS ..."
 * @text: entries of device files that it already has are unchanged
 */
void drm_nodes(char *text, size_t room);

#endif /* GRTRACE_DRM_CARDS_H */
