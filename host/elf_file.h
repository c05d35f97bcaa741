/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queries about object files during a recording: the offset of a function, the
 * build id, and the virtual address of an offset.
 */
#ifndef GRTRACE_ELF_FILE_H
#define GRTRACE_ELF_FILE_H

#include <grtrace/grtrace.h>

#define ELF_BUILD_ID_MAX 20

/**
 * elf_open - opens an object file, or another file with its name (such as a FIFO), without waiting for it
 * Return: a descriptor, or -errno with *err
 */
int elf_open(const char *path, struct grt_err *err);

/**
 * elf_function - where to put a uprobe for a function
 * @fd: descriptor of the file; use it for the uprobe, too, so that the file cannot be replaced in between
 * @path: for messages
 * @symbol: its linker symbol, without a version
 * @offset: gets the file offset of its first instruction, or of the second one
 *	if the first is endbr64, because single-stepping endbr64 costs ten times as much
 * Return: 0, -ENOENT: the file has no such function, or -errno, with *err
 */
int elf_function(int fd, const char *path, const char *symbol, uint64_t *offset, struct grt_err *err);

/**
 * elf_describe - describes a mapped file
 * @offset: the file offset of the mapping
 * @address: gets the virtual address of this offset, or @offset if the file does not define it
 * @build_id: gets the build id in hexadecimal, "" if there is none; 2 * ELF_BUILD_ID_MAX + 1 bytes
 */
void elf_describe(const char *path, uint64_t offset, uint64_t *address, char *build_id);

#endif /* GRTRACE_ELF_FILE_H */
