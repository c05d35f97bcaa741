/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * SQLite databases in a file that is already open. SQLite opens no other file: it neither
 * creates nor reads files for locks, a journal or temporary data, even if a writer of the
 * database was interrupted.
 */
#ifndef GRT_BASE_DATABASE_H
#define GRT_BASE_DATABASE_H

#ifdef GRT_HAVE_SQLITE
#include <sqlite3.h>

/**
 * grt_database_read - opens an untrusted database in a regular file
 * @fd: the caller closes it after sqlite3_close()
 * @db: pass it to sqlite3_close() in any case
 * Return: an SQLite result code
 */
int grt_database_read(sqlite3 **db, int fd);

/** grt_database_write - opens a new database in an empty file; as grt_database_read() */
int grt_database_write(sqlite3 **db, int fd);
#endif

#endif /* GRT_BASE_DATABASE_H */
