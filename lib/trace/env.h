/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The environment in a recording's metadata, which is the only part of the
 * metadata that our own reader needs.
 */
#ifndef GRT_TRACE_ENV_H
#define GRT_TRACE_ENV_H

#include <grtrace/grtrace.h>

/** struct grt_env_list - entries as text, numbers as they were written */
struct grt_env_list {
	struct {
		char *key;
		char *value;
	} * entry;
	unsigned int used;
};

/**
 * grt_env_parse - finds the env block in a metadata text
 * @text: NUL terminated at @len
 * @offset: gets the offset of an error, bytes
 * Return: 0, -EINVAL if the text is not TSDL, -ENOMEM
 */
int grt_env_parse(struct grt_env_list *env, const char *text, size_t len, size_t *offset);

/** grt_env_get - the value of a key, NULL if there is none */
const char *grt_env_get(const struct grt_env_list *env, const char *key);

/** grt_env_number - the number of the word "@name=NUMBER" among the words of a value, 0 if there is none */
uint64_t grt_env_number(const char *value, const char *name);

/** grt_env_free - frees the entries */
void grt_env_free(struct grt_env_list *env);

#endif /* GRT_TRACE_ENV_H */
