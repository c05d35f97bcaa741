/* SPDX-License-Identifier: GPL-2.0 */
/* Leaks of a process that ends with _exit(): a sanitizer looks for leaks only where exit() is called. */
#ifndef GRT_HOST_LEAKS_H
#define GRT_HOST_LEAKS_H

/* Only in a build with the sanitizer. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

/** leaks_check - before _exit(), when all is freed: a leak is reported, and ends the process with a status */
static inline void leaks_check(void)
{
	if (__lsan_do_leak_check)
		__lsan_do_leak_check();
}

#endif /* GRT_HOST_LEAKS_H */
