/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is asked of object files while one records: where a function is, which
 * build it is, and at which address a place of the file stands.
 */
#ifndef GRTRACE_ELF_FILE_H
#define GRTRACE_ELF_FILE_H

#include <grtrace/grtrace.h>

#define ELF_BUILD_ID_MAX 20

/**
 * elf_open - opens an object file, or what else has its name, without waiting for it
 * Return: a descriptor, or -errno with *err
 */
int elf_open(const char *path, struct grt_err *err);

/**
 * elf_function - where to put a uprobe for a function
 * @fd: of the file; the uprobe goes there, too, so that nobody can put another one between
 * @path: for messages
 * @symbol: as the linker knows it, without a version
 * @offset: gets the place in the file: of its first instruction, or of the second one
 *	where the first is endbr64, for that one would be single-stepped at ten times the cost
 * Return: 0, -ENOENT: it has no such function, or -errno, with *err
 */
int elf_function(int fd, const char *path, const char *symbol, uint64_t *offset, struct grt_err *err);

/**
 * elf_describe - of a mapped file
 * @offset: of the mapping in it
 * @address: gets the file's own address of that place, @offset where it does not say
 * @build_id: gets it in hexadecimal, "" where it has none; 2 * ELF_BUILD_ID_MAX + 1 bytes
 */
void elf_describe(const char *path, uint64_t offset, uint64_t *address, char *build_id);

#endif /* GRTRACE_ELF_FILE_H */
