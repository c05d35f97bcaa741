/* SPDX-License-Identifier: GPL-2.0 */
/* Whether programs of a user, or of a service, run with the CUDA library. */
#ifndef GRTRACE_CUDA_DEFAULT_H
#define GRTRACE_CUDA_DEFAULT_H

/**
 * cuda_default_set - lets programs load the library from now on. @service: NULL: programs of this user.
 * Return: an exit status
 */
int cuda_default_set(const char *service);

/** cuda_default_unset - reverts cuda_default_set() */
int cuda_default_unset(const char *service);

#endif /* GRTRACE_CUDA_DEFAULT_H */
