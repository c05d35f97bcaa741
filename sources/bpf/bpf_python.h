/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code objects of CPython, which BPF programs report when they first occur (python.h): a word of a stack that
 * is not an address becomes a function with its file and line.
 */
#ifndef GRTRACE_BPF_PYTHON_USER_H
#define GRTRACE_BPF_PYTHON_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** grt_bpf_python_is - whether a word of a stack is a frame of Python */
bool grt_bpf_python_is(uint64_t word);

/** struct grt_bpf_python - a frame; its texts are valid until grt_bpf_python_forget() */
struct grt_bpf_python {
	const char *function;
	const char *file;
	uint32_t line;
};

/**
 * grt_bpf_python_find - the frame that such a word stands for; an unknown one has the function "[python]"
 * and no file
 * Return: false: it is an internal frame of the interpreter, not a function of the program
 */
bool grt_bpf_python_find(uint64_t word, struct grt_bpf_python *out);

/** grt_bpf_python_take - takes a record of the programs. Return: 0, or -ENOMEM */
int grt_bpf_python_take(void *arg, void *data, size_t size);

/**
 * grt_bpf_python_unread - the number of code objects whose name or table of lines could not be read, or was
 * too long
 */
uint64_t grt_bpf_python_unread(void);

/** grt_bpf_python_forget - frees all */
void grt_bpf_python_forget(void);

#endif /* GRTRACE_BPF_PYTHON_USER_H */
