/* SPDX-License-Identifier: GPL-2.0 */
/* Whether programs of a user, or of a service, run with the CUDA library. */
#ifndef GRTRACE_CUDA_DEFAULT_H
#define GRTRACE_CUDA_DEFAULT_H

/** cuda_default_set - they do from now on. @service: NULL: those of this user. Return: an exit status */
int cuda_default_set(const char *service);

/** cuda_default_unset - they do not any more */
int cuda_default_unset(const char *service);

#endif /* GRTRACE_CUDA_DEFAULT_H */
