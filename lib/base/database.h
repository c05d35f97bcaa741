/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Databases of SQLite in a file that is open already. SQLite opens no file by
 * itself: none for locks, a journal or temporary data is made beside the database or
 * read, also where the database was left in the middle of something.
 */
#ifndef GRT_BASE_DATABASE_H
#define GRT_BASE_DATABASE_H

#ifdef GRT_HAVE_SQLITE
#include <sqlite3.h>

/**
 * grt_database_read - opens what is in a regular file, and trusts nothing in it
 * @fd: stays the caller's, until after sqlite3_close()
 * @db: to be given to sqlite3_close() in any case
 * Return: a code of SQLite
 */
int grt_database_read(sqlite3 **db, int fd);

/** grt_database_write - the same, to fill an empty file */
int grt_database_write(sqlite3 **db, int fd);
#endif

#endif /* GRT_BASE_DATABASE_H */
