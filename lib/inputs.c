// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The table of all readers, and the calls that open an input with it. It is above all rooms, because no room
 * knows all readers.
 */
#include "inputs.h"

#include "trace/session.h"

#define GRT_READER(name, help) extern const struct grt_reader grt_reader_##name;
#include "readers.def"
#undef GRT_READER

static const struct grt_reader *const readers[] = {
#define GRT_READER(name, help) &grt_reader_##name,
#include "readers.def"
#undef GRT_READER
};

int grt_session_open(struct grt_session **out, const char *path, struct grt_err *err)
{
	return grt_session_open_by(out, path, readers, sizeof(readers) / sizeof(readers[0]), err);
}

int grt_mend(struct grt_mending *out, const char *path, struct grt_err *err)
{
	static const struct grt_reader *const recordings[] = {&grt_reader_ctf};

	return grt_session_mend_by(out, path, recordings, 1, err);
}

int grt_merge_open(struct grt_merge *m, const char *path, enum grt_merge_side side, struct grt_err *err)
{
	struct grt_session *s;
	int ret = grt_session_open(&s, path, err);

	return ret ? ret : grt_merge_add(m, s, side, err);
}
