// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: databases of Nsight Systems. An input is bytes that replace those
 * of a good database, each with its place, and where the file ends; or, where it begins
 * with a bit of 1, values that replace those of its rows, of any type. Whatever is read
 * is read twice alike, in the order of time.
 *
 * Readers: nsys
 *
 * Runs without --soak: 800
 */
#define _GNU_SOURCE 1
#include "base/database.h"
#include "words.h"

#define PAGE 512
#define FILE_MAX (64U << 10)

static uint8_t good[FILE_MAX];
static size_t good_size;

#ifdef GRT_HAVE_SQLITE
/* The pages are small, so that there are many, also inner ones. */
static const char sql[] =
	"PRAGMA page_size = 512;"
	"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
	"CREATE TABLE PROCESSES (globalPid INTEGER, name TEXT);"
	"CREATE TABLE MPI_RANKS (globalPid INTEGER, rank INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId "
	"INTEGER, nameId INTEGER, returnValue INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, "
	"streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, gridX INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, globalPid INTEGER, bytes INTEGER, "
	"copyKind INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, globalPid INTEGER, graphId INTEGER);"
	"CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, "
	"endGlobalTid INTEGER, textId INTEGER);"
	"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
	"INSERT INTO PROCESSES VALUES (7 << 24, 'one'), (8 << 24, 'two');"
	"INSERT INTO MPI_RANKS VALUES (7 << 24, 0);"
	"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
	"INSERT INTO StringIds SELECT i, CASE i WHEN 1 THEN 'cudaLaunchKernel_v7000' ELSE printf('k%.*c', i * i, 'x') "
	"END FROM n;"
	"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 100, i * 100 + 7, (7 + i % 2) << 24 | 9, i, 1, 0 FROM n;"
	"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100 + 9, i * 100 + 70, 0, 1, 7, i, (7 + i % 2) << 24, i, i "
	"FROM n;"
	"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5, 9, 7 << 24, 4096, 1);"
	"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (15, 19, 7 << 24, 3);"
	"INSERT INTO NVTX_EVENTS VALUES (1, 5000, 59, 'step', 7 << 24 | 9, NULL, NULL), (2, NULL, 60, NULL, 9, 8, 3);";

/* Values of an input replace those of a column. */
static const char *const change[] = {
	"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = ?1 WHERE rowid % 3 = 0",
	"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = ?1 WHERE rowid = 3",
	"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = ?1 WHERE rowid > 20",
	"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = ?1",
	"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = ?1 WHERE rowid < 5",
	"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = ?1 WHERE rowid < 5",
	"UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = ?1",
	"UPDATE NVTX_EVENTS SET end = ?1",
	"UPDATE NVTX_EVENTS SET text = ?1",
	"UPDATE NVTX_EVENTS SET eventType = ?1",
	"UPDATE NVTX_EVENTS SET endGlobalTid = ?1",
	"UPDATE StringIds SET value = ?1 WHERE id < 3",
	"UPDATE MPI_RANKS SET rank = ?1",
	"UPDATE PROCESSES SET globalPid = ?1",
	"UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = ?1",
	"ALTER TABLE NVTX_EVENTS RENAME COLUMN start TO other",
	"DROP TABLE StringIds",
	"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME",
};
#define CHANGES (sizeof(change) / sizeof(change[0]))

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	sqlite3_int64 size;
	unsigned char *bytes;
	sqlite3 *db;

	CHECK(!sqlite3_open(":memory:", &db) && !sqlite3_exec(db, sql, NULL, NULL, NULL));
	bytes = sqlite3_serialize(db, "main", &size, 0);
	CHECK(bytes && size <= (sqlite3_int64)sizeof(good));
	good_size = (size_t)size;
	memcpy(good, bytes, good_size);
	sqlite3_free(bytes);
	sqlite3_close(db);
	return 0;
}

static void change_rows(int fd, const uint8_t *data, size_t size)
{
	sqlite3_stmt *q;
	sqlite3 *db;

	CHECK(!grt_database_write(&db, fd));
	for (; size >= 4; data += 4, size -= 4) {
		uint64_t value = (uint64_t)data[2] << (data[3] & 63);

		if (sqlite3_prepare_v2(db, change[data[0] % CHANGES], -1, &q, NULL))
			continue;
		if (data[1] & 1)
			sqlite3_bind_int64(q, 1, (sqlite3_int64)(data[1] & 2 ? -value : value));
		else if (data[1] & 2)
			sqlite3_bind_text(q, 1, (const char *)data, 4, SQLITE_TRANSIENT);
		else if (data[1] & 4)
			sqlite3_bind_blob(q, 1, data, 4, SQLITE_TRANSIENT);
		else if (data[1] & 8)
			sqlite3_bind_double(q, 1, (double)value / 3);
		sqlite3_step(q);
		sqlite3_finalize(q);
	}
	sqlite3_close(db);
}
#else
static void change_rows(int fd, const uint8_t *data, size_t size)
{
}
#endif

static void change_bytes(int fd, const uint8_t *data, size_t size)
{
	for (; size >= 3; data += 3, size -= 3) {
		size_t at = ((size_t)data[0] << 8 | data[1]) % (good_size + 1);

		/* the first page says what the others are */
		if (data[0] >= 0xf0)
			at = data[1];
		if (data[0] == 0xef)
			CHECK(!ftruncate(fd, (off_t)data[1] * PAGE));
		else
			CHECK(pwrite(fd, &data[2], 1, (off_t)at) == 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct seen seen = {.c = {.event = see_event}};
	struct grt_session *s;
	struct grt_err err;
	char path[64];
	uint64_t events;

	CHECK(fd >= 0 && write(fd, good, good_size) == (ssize_t)good_size);
	if (size && data[0] & 1)
		change_rows(fd, data + 1, size - 1);
	else if (size)
		change_bytes(fd, data + 1, size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!grt_session_open(&s, path, &err)) {
		if (!grt_session_run(s, &seen.c, 0, UINT64_MAX, &err)) {
			events = grt_session_health(s)->events;
			seen.last = 0;
			CHECK(!grt_session_run(s, &seen.c, 0, UINT64_MAX, &err));
			CHECK(grt_session_health(s)->events == events);
			CHECK(!grt_session_health(s)->fault[GRT_FAULT_TIME]);
			CHECK(!grt_session_health(s)->fault[GRT_FAULT_RECORD]);
		}
		grt_session_close(s);
	} else {
		CHECK(*err.what && *err.why);
	}
	close(fd);
	return 0;
}
