// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Texts in memory that are complete or do not exist, see memfile.h. */
#include "memfile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096

static ssize_t memfile_put(void *cookie, const char *data, size_t size)
{
	struct grt_memfile *m = cookie;
	size_t room = m->room ?: FIRST_ROOM;
	char *text;

	while (room - m->length <= size)
		room *= 2;
	if (room != m->room) {
		text = realloc(m->text, room);
		if (!text)
			return 0;
		m->text = text;
		m->room = room;
	}
	memcpy(m->text + m->length, data, size);
	m->length += size;
	m->text[m->length] = '\0';
	return (ssize_t)size;
}

FILE *grt_memfile_open(struct grt_memfile *m)
{
	const cookie_io_functions_t functions = {.write = memfile_put};

	*m = (struct grt_memfile){NULL, 0, 0};
	return fopencookie(m, "w", functions);
}

char *grt_memfile_close(struct grt_memfile *m, FILE *f, size_t *length)
{
	bool bad = !f || ferror(f);

	if (f && fclose(f))
		bad = true;
	if (!bad && !m->text)
		m->text = calloc(1, 1);
	if (bad) {
		free(m->text);
		m->text = NULL;
	}
	if (length)
		*length = m->length;
	return m->text;
}
