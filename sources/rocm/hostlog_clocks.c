// SPDX-License-Identifier: GPL-2.0
/*
 * Snapshots of two clocks, see hostlog_clocks.h.
 */
#include "hostlog_clocks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "text/amd_log_clocks.h"

/* Takes the best of this many attempts, because an interrupt between two readings makes one worse. */
#define ATTEMPTS 5
#define CHUNK 65536

static const char rocr[] = "[***rocr***]";

static struct hostlog_snapshot snapshot(void)
{
	struct hostlog_snapshot best = {.error = UINT64_MAX};

	for (unsigned int i = 0; i < ATTEMPTS; i++) {
		uint64_t before = grt_clock_ns(CLOCK_MONOTONIC), raw = grt_clock_ns(CLOCK_MONOTONIC_RAW),
			 after = grt_clock_ns(CLOCK_MONOTONIC), error = (after - before + 1) / 2;

		if (error < best.error)
			best = (struct hostlog_snapshot){before + error, raw, error};
	}
	return best;
}

void hostlog_clocks_take(struct hostlog_clocks *c, int now)
{
	if (!c->every)
		c->every = GRT_NS_PER_S;
	if (!now && c->n && grt_clock_ns(CLOCK_MONOTONIC) - c->of[c->n - 1].monotonic < c->every)
		return;
	if (c->n == HOSTLOG_SNAPSHOTS) {
		for (unsigned int i = 0; 2 * i < HOSTLOG_SNAPSHOTS; i++)
			c->of[i] = c->of[2 * i];
		c->n /= 2;
		c->every *= 2;
	}
	c->of[c->n++] = snapshot();
}

static bool has_rocr(int file)
{
	const size_t behind = sizeof(rocr) - 2;
	static _Thread_local char buf[CHUNK];
	size_t kept = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(file, buf + kept, sizeof(buf) - kept, at)) > 0) {
		size_t len = kept + (size_t)n;

		if (memmem(buf, len, rocr, sizeof(rocr) - 1))
			return true;
		at += n;
		kept = len < behind ? len : behind;
		memmove(buf, buf + len - kept, kept);
	}
	return false;
}

int hostlog_clocks_write(const struct hostlog_clocks *c, int file)
{
	char line[160];
	struct stat st;
	int len;

	if (!has_rocr(file) || fstat(file, &st))
		return 0;
	for (unsigned int i = 0; i < c->n; i++) {
		/* the log's last line may have no newline */
		len = snprintf(line, sizeof(line),
			       "%s" AMD_LOG_CLOCKS_MARK "monotonic=%" PRIu64 " monotonic_raw=%" PRIu64
			       " error=%" PRIu64 "\n",
			       i ? "" : "\n", c->of[i].monotonic, c->of[i].raw, c->of[i].error);
		if (pwrite(file, line, (size_t)len, st.st_size) != len)
			return -EIO;
		st.st_size += len;
	}
	return 0;
}
