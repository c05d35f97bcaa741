/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that use NVIDIA's unified memory: open files /dev/nvidia-uvm of processes, found in /proc, and a
 * watch that reports when a process opens the file.
 */
#ifndef GRTRACE_UVM_PROGRAMS_H
#define GRTRACE_UVM_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#define UVM_FILE "/dev/nvidia-uvm"

/** uvm_major - the major of the driver's files. Return: 0: it is not loaded */
uint32_t uvm_major(void);

/**
 * uvm_files - the files of a process that are the driver's
 * @meet: called with a descriptor's number for each; what is not 0 ends it
 * Return: 0 or what @meet returned
 */
int uvm_files(uint32_t major, uint32_t pid, int (*meet)(void *arg, uint32_t pid, int fd), void *arg);

/** uvm_all_files - the same of all processes but ours */
int uvm_all_files(uint32_t major, int (*meet)(void *arg, uint32_t pid, int fd), void *arg);

/** uvm_take_file - a duplicate of a process's file. @pidfd: of the process. Return: ours or -errno */
int uvm_take_file(int pidfd, int fd);

/** uvm_same_file - whether our file is a process's @fd, opened once. Where the kernel does not tell it is not
 */
bool uvm_same_file(int ours, uint32_t pid, int fd);

/** uvm_watch - a descriptor that is readable when the driver's file was opened; -1: there is no such */
int uvm_watch(void);

/** uvm_watched - makes it not readable again. Return: whether it was */
bool uvm_watched(int watch);

#endif /* GRTRACE_UVM_PROGRAMS_H */
