// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A file system for SQLite with a single file: the name of a database is the number of its descriptor.
 */
#include "database.h"

#ifdef GRT_HAVE_SQLITE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VFS_NAME "grtrace"
/* Limit for the bytes of a row, a text, or a statement. */
#define LENGTH_MAX (16 << 20)

struct database_file {
	sqlite3_file base;
	int fd;
	bool is_read;
};

static int database_fd(const sqlite3_file *f)
{
	return ((const struct database_file *)f)->fd;
}

static int database_close(sqlite3_file *f)
{
	return SQLITE_OK;
}

/* Bytes beyond the end of the file read as zeros. */
static int database_pread(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	char *p = to;
	ssize_t got = 1;

	while (n > 0 && got) {
		do
			got = pread(database_fd(f), p, (size_t)n, at);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			return SQLITE_IOERR_READ;
		p += got;
		n -= (int)got;
		at += got;
	}
	memset(p, 0, (size_t)n);
	return n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int database_pwrite(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	const char *p = from;
	ssize_t put;

	while (n > 0) {
		put = pwrite(database_fd(f), p, (size_t)n, at);
		if (put < 0 && errno != EINTR)
			return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
		put = put < 0 ? 0 : put;
		p += put;
		n -= (int)put;
		at += put;
	}
	return SQLITE_OK;
}

static int database_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return ftruncate(database_fd(f), size) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int database_size(sqlite3_file *f, sqlite3_int64 *size)
{
	struct stat st;

	if (fstat(database_fd(f), &st))
		return SQLITE_IOERR_FSTAT;
	*size = st.st_size;
	return SQLITE_OK;
}

static int database_flags(sqlite3_file *f, int flags)
{
	return SQLITE_OK;
}

static int database_is_reserved(sqlite3_file *f, int *out)
{
	*out = 0;
	return SQLITE_OK;
}

static int database_control(sqlite3_file *f, int op, void *arg)
{
	return SQLITE_NOTFOUND;
}

static int database_sector(sqlite3_file *f)
{
	return 4096;
}

static int database_character(sqlite3_file *f)
{
	return ((const struct database_file *)f)->is_read ? SQLITE_IOCAP_IMMUTABLE : 0;
}

static const sqlite3_io_methods database_methods = {
	.iVersion = 1,
	.xClose = database_close,
	.xRead = database_pread,
	.xWrite = database_pwrite,
	.xTruncate = database_truncate,
	.xSync = database_flags,
	.xFileSize = database_size,
	.xLock = database_flags,
	.xUnlock = database_flags,
	.xCheckReservedLock = database_is_reserved,
	.xFileControl = database_control,
	.xSectorSize = database_sector,
	.xDeviceCharacteristics = database_character,
};

/* There is no other file than the database. */
static int database_vfs_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
	struct database_file *file = (struct database_file *)f;

	*file = (struct database_file){.is_read = flags & SQLITE_OPEN_READONLY};
	if (!name || !(flags & SQLITE_OPEN_MAIN_DB) || sscanf(name, "%d", &file->fd) != 1)
		return SQLITE_CANTOPEN;
	file->base.pMethods = &database_methods;
	if (out)
		*out = flags;
	return SQLITE_OK;
}

static int database_vfs_delete(sqlite3_vfs *v, const char *name, int sync)
{
	return SQLITE_OK;
}

static int database_vfs_access(sqlite3_vfs *v, const char *name, int flags, int *out)
{
	*out = 0;
	return SQLITE_OK;
}

static int database_vfs_path(sqlite3_vfs *v, const char *name, int n, char *out)
{
	return snprintf(out, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static sqlite3_vfs database_vfs;

/* Clocks and random numbers come from the default file system. */
static void database_register(void)
{
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	if (!usual)
		return;
	database_vfs = *usual;
	database_vfs.pNext = NULL;
	database_vfs.zName = VFS_NAME;
	database_vfs.szOsFile = sizeof(struct database_file);
	database_vfs.xOpen = database_vfs_open;
	database_vfs.xDelete = database_vfs_delete;
	database_vfs.xAccess = database_vfs_access;
	database_vfs.xFullPathname = database_vfs_path;
	database_vfs.xDlOpen = NULL;
	sqlite3_vfs_register(&database_vfs, 0);
}

static int database_open(sqlite3 **db, int fd, int flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char name[16];
	int ret;

	*db = NULL;
	pthread_once(&once, database_register);
	snprintf(name, sizeof(name), "%d", fd);
	ret = sqlite3_open_v2(name, db, flags | SQLITE_OPEN_NOMUTEX, VFS_NAME);
	if (!ret)
		ret = sqlite3_exec(*db, "PRAGMA temp_store = memory", NULL, NULL, NULL);
	return ret;
}

int grt_database_read(sqlite3 **db, int fd)
{
	static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_DQS_DDL,
				  SQLITE_DBCONFIG_DQS_DML,	  SQLITE_DBCONFIG_ENABLE_TRIGGER,
				  SQLITE_DBCONFIG_ENABLE_VIEW,	  SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION};
	int ret = database_open(db, fd, SQLITE_OPEN_READONLY);

	if (!*db)
		return ret;
	sqlite3_extended_result_codes(*db, 1);
	sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		sqlite3_db_config(*db, off[i], 0, NULL);
	sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return ret;
}

int grt_database_write(sqlite3 **db, int fd)
{
	int ret = database_open(db, fd, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);

	return ret ? ret
		   : sqlite3_exec(*db,
				  "PRAGMA page_size = 65536; PRAGMA journal_mode = off; "
				  "PRAGMA locking_mode = exclusive; PRAGMA synchronous = off",
				  NULL, NULL, NULL);
}
#endif
