/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unwind tables for the programs' walks (walk.h): one set for all sources of a
 * recording. The programs ask for a process; its files' tables are built in a
 * process apart, while events go on, and until then its stacks are the kernel's.
 */
#ifndef GRTRACE_BPF_TABLES_H
#define GRTRACE_BPF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_map;
struct bpf_object;

/** grt_bpf_tables_share - an object's maps of tables are those of all sources; @wanted: it walks by them.
 * Return: 0 or -errno */
int grt_bpf_tables_share(struct bpf_object *o, bool wanted);

/** grt_bpf_tables_adopt - the object is loaded: its maps serve all, where there are none yet. Return: 0 or
 * -errno */
int grt_bpf_tables_adopt(struct bpf_object *o);

/** grt_bpf_tables_fd - becomes ready when there is something to do; -1: there are no tables */
int grt_bpf_tables_fd(void);

/** grt_bpf_tables_begin - builds those of a process that will be walked soon; 0: what all have */
void grt_bpf_tables_begin(int pid);

/** grt_bpf_tables_wait - until those that were begun are built, for five seconds at most */
void grt_bpf_tables_wait(void);

/** grt_bpf_tables_look - does what there is to do, and waits for nothing */
void grt_bpf_tables_look(void);

/** grt_bpf_tables_text - counts, as text; "" where there are no tables */
void grt_bpf_tables_text(char *text, size_t room);

/** grt_bpf_tables_unnamed - frames of Python whose code object had no place in the table of names, so far */
uint64_t grt_bpf_tables_unnamed(void);

/** grt_bpf_tables_leave - a source that had grt_bpf_tables_adopt() is closed; the last one frees all */
void grt_bpf_tables_leave(void);

#endif /* GRTRACE_BPF_TABLES_H */
