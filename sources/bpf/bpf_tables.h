/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unwind tables for the programs' walks (walk.h): one set of tables for all sources of a recording. The
 * programs request a process. The tables of its files are built in a separate process while events continue,
 * and until then the kernel takes its stacks.
 */
#ifndef GRTRACE_BPF_TABLES_H
#define GRTRACE_BPF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_map;
struct bpf_object;

/**
 * grt_bpf_tables_share - makes an object use the maps of tables that all sources share; @wanted: it walks
 * with them. Return: 0 or -errno
 */
int grt_bpf_tables_share(struct bpf_object *o, bool wanted);

/**
 * grt_bpf_tables_adopt - the object is loaded: all sources use its maps, if there are none yet. Return: 0 or
 * -errno
 */
int grt_bpf_tables_adopt(struct bpf_object *o);

/** grt_bpf_tables_fd - a descriptor that becomes ready when there is work; -1: there are no tables */
int grt_bpf_tables_fd(void);

/**
 * grt_bpf_tables_begin - builds the tables of a process that will be walked soon; 0: tables that all
 * processes need
 */
void grt_bpf_tables_begin(int pid);

/** grt_bpf_tables_wait - waits until these tables are built, at most five seconds */
void grt_bpf_tables_wait(void);

/** grt_bpf_tables_look - does pending work without waiting */
void grt_bpf_tables_look(void);

/** grt_bpf_tables_text - counts, as text; "": there are no tables */
void grt_bpf_tables_text(char *text, size_t room);

/**
 * grt_bpf_tables_unnamed - number of frames of Python whose code object found no room in the table of names
 * so far
 */
uint64_t grt_bpf_tables_unnamed(void);

/**
 * grt_bpf_tables_leave - a source that called grt_bpf_tables_adopt() is closed; the last one frees
 * everything
 */
void grt_bpf_tables_leave(void);

#endif /* GRTRACE_BPF_TABLES_H */
