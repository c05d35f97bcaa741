/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The engine of a ring, from the ring's name.
 */
#ifndef GRT_CODES_ENGINE_H
#define GRT_CODES_ENGINE_H

#include <grtrace/event.h>

#include <stddef.h>

/**
 * grt_engine_of_ring - the engine that a ring of this name feeds
 * @len: bytes of @name, which needs no NUL
 * Return: enum grt_engine, GRT_ENGINE_UNKNOWN for other names
 */
unsigned int grt_engine_of_ring(const char *name, size_t len);

#endif /* GRT_CODES_ENGINE_H */
