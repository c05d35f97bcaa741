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

/** uvm_major - the major number of the driver's files. Return: 0: it is not loaded */
uint32_t uvm_major(void);

/**
 * uvm_files - finds the driver's files that a process has open
 * @meet: called with the number of each descriptor; a result other than 0 ends the call
 * Return: 0 or the result of @meet
 */
int uvm_files(uint32_t major, uint32_t pid, int (*meet)(void *arg, uint32_t pid, int fd), void *arg);

/** uvm_all_files - as uvm_files(), for all processes except for this one */
int uvm_all_files(uint32_t major, int (*meet)(void *arg, uint32_t pid, int fd), void *arg);

/** uvm_take_file - duplicates a file of a process. @pidfd: of the process. Return: a descriptor or -errno */
int uvm_take_file(int pidfd, int fd);

/**
 * uvm_same_file - whether our file is the process's @fd, from the same open(). If the kernel does not tell,
 * it is not
 */
bool uvm_same_file(int ours, uint32_t pid, int fd);

/** uvm_watch - a descriptor that becomes readable when the driver's file is opened; -1: there is none */
int uvm_watch(void);

/** uvm_watched - resets it. Return: whether it was readable */
bool uvm_watched(int watch);

#endif /* GRTRACE_UVM_PROGRAMS_H */
