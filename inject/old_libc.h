/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The library runs in programs and containers with an older glibc than the one it was built with, down
 * to 2.17. glibc gave new versions to functions that it moved from libdl and libpthread, or changed in ways
 * that do not matter here; this requests the versions that all of them have. The compiler includes it before
 * each file of the library.
 *
 * OLD_LIBC(function, version on x86-64)
 */
#ifndef GRTRACE_INJECT_OLD_LIBC_H
#define GRTRACE_INJECT_OLD_LIBC_H

#include <features.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/**
 * old_fstatat - fstatat() for glibc before 2.33, which does not export it; the kernel uses the same struct
 */
static inline int old_fstatat(int dir, const char *path, struct stat *st, int flags)
{
	return (int)syscall(SYS_newfstatat, dir, path, st, flags);
}

#ifdef __GLIBC__
#ifdef __x86_64__
#define OLD_LIBC(function, version) __asm__(".symver " #function "," #function "@GLIBC_" version);
#elif defined(__aarch64__)
/* the first version of glibc for this architecture */
#define OLD_LIBC(function, version) __asm__(".symver " #function "," #function "@GLIBC_2.17");
#else
#define OLD_LIBC(function, version)
#endif

OLD_LIBC(dladdr1, "2.3.3")
OLD_LIBC(dlclose, "2.2.5")
OLD_LIBC(dlerror, "2.2.5")
OLD_LIBC(dlopen, "2.2.5")
OLD_LIBC(dlsym, "2.2.5")
OLD_LIBC(dlvsym, "2.2.5")
OLD_LIBC(glob, "2.2.5")
OLD_LIBC(pthread_attr_getstack, "2.2.5")
OLD_LIBC(pthread_create, "2.2.5")
OLD_LIBC(pthread_getattr_np, "2.2.5")
OLD_LIBC(pthread_key_create, "2.2.5")
OLD_LIBC(pthread_mutex_trylock, "2.2.5")
OLD_LIBC(pthread_setspecific, "2.2.5")
OLD_LIBC(pthread_sigmask, "2.2.5")
OLD_LIBC(pthread_tryjoin_np, "2.3.3")
#undef OLD_LIBC
#endif

#endif /* GRTRACE_INJECT_OLD_LIBC_H */
