/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The calling thread's stack as one number, without frame pointers and cheap
 * where it is like the one before.
 *
 * A stack is a node of a tree that the process has once: (parent, frame), the
 * root being the outermost frame's parent. grt_unwind() returns the node of the
 * innermost frame; equal stacks have equal nodes. Nodes are never changed or
 * removed, and a parent has a smaller id than its children, so that a writer
 * stores each once, in the order of the ids, before what refers to it.
 *
 * What may be called where:
 *	grt_unwind		in any thread, on any stack, in a callback or a signal
 *				handler: no lock, no allocation, no system call, except
 *				where a code address is met for the first time
 *				(dl_iterate_phdr's lock for some microseconds) or a stack
 *				that is not the thread's own (one that changes nothing
 *				for each page of it)
 *	init, hide		once, by the thread that loads the library
 *	refresh, node, module	by the one thread that writes
 *
 * Linux on the machines of archs.def, glibc or musl. Elsewhere everything is there, and
 * grt_unwind_init() returns -ENOSYS.
 */
#ifndef GRT_INJECT_UNWIND_H
#define GRT_INJECT_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames of a stack, native and Python, the innermost. What is further out is GRT_ROOT_TRUNCATED. */
#define GRT_UNWIND_MAX 1024

/* The first nodes: how far out a stack is known. */
enum grt_root {
	GRT_ROOT_NONE,
#define GRT_STACK_ROOT(NAME, text, END, meaning) GRT_ROOT_##NAME,
#include <grtrace/stack_roots.def>
#undef GRT_STACK_ROOT
	GRT_ROOT_COUNT,
};

/** grt_root_name - "[stack truncated]" and so on; NULL for GRT_ROOT_START, which needs no frame */
const char *grt_root_name(uint32_t id);

/* What a node's frame is. */
enum grt_unode_kind {
	GRT_UNODE_ROOT,	  /* id is an enum grt_root */
	GRT_UNODE_NATIVE, /* address, module */
	GRT_UNODE_PYTHON, /* python */
};

/**
 * struct grt_unode - a node for the writer
 * @id, @parent: @parent < @id; 0 for a root
 * @kind: enum grt_unode_kind
 * @guessed: found by a frame pointer or by the look of the code, not by unwind tables
 * @module: for grt_unwind_module(), 0 where the address is in no object (JIT code)
 * @address: @address - 1 lies in the instruction that runs or calls: look names and lines up there
 * @python: for grt_python_text()
 */
struct grt_unode {
	uint32_t id;
	uint32_t parent;
	uint8_t kind;
	bool guessed;
	uint16_t module;
	uint32_t python;
	uint64_t address;
};

#define GRT_BUILD_ID_MAX 20

/**
 * struct grt_umodule - an object file that frames are in
 * @bias: address - @bias is the address in the file
 * @start, @end: its loaded part
 * @build_id, @build_id_len: 0 bytes where it has none
 * @path: as the dynamic linker knows it, "" for the program itself; never freed
 *
 * An object that was closed and another one loaded in its place are two modules.
 */
struct grt_umodule {
	uint64_t bias;
	uint64_t start;
	uint64_t end;
	uint8_t build_id_len;
	uint8_t build_id[GRT_BUILD_ID_MAX];
	const char *path;
};

/** struct grt_unwind_stats - since grt_unwind_init(), all threads */
struct grt_unwind_stats {
	uint64_t roots[GRT_ROOT_COUNT]; /* stacks that ended so; START is not counted */
	uint64_t rules;			/* code addresses whose rule was worked out */
	uint64_t no_memory; /* rules, modules, texts that found no room: slower or unnamed, not wrong */
	uint32_t nodes;	    /* in the tree, the roots included */
	uint32_t modules;
	uint32_t python_texts;
	bool exact_dlopen; /* a changed list of objects is seen at once, else by grt_unwind_refresh() */
};

/* A thread's memory of its last walk. */
struct grt_unwind_thread;

/**
 * grt_unwind_init - makes the tables; once per process
 * @max_nodes: of the tree, 0 for 1048576 (32 bytes each, touched as used)
 * @python: replace the frames of CPython's interpreter by those of Python, where python.h can
 * Return: 0, -ENOMEM, -ENOSYS on other machines
 */
int grt_unwind_init(uint32_t max_nodes, bool python);

/**
 * grt_unwind_hide - leaves the frames of one object out where they are the innermost ones
 * @address: of anything in the object: the injection library, CUPTI
 * Return: 0, -ENOENT where no object has the address, -ENOSPC after 8 objects
 *
 * To be called before the first grt_unwind().
 */
int grt_unwind_hide(const void *address);

/** grt_unwind_thread_new - for one thread, from mmap (nothing is touched that is not used); NULL without
 * memory */
struct grt_unwind_thread *grt_unwind_thread_new(void);

/** grt_unwind_thread_free - NULL is fine */
void grt_unwind_thread_free(struct grt_unwind_thread *t);

/** grt_unwind_thread_empty - its memory goes back until it is used again; as new */
void grt_unwind_thread_empty(struct grt_unwind_thread *t);

/** grt_unwind_thread_reset - of a thread that has ended, for another one, which has another stack */
void grt_unwind_thread_reset(struct grt_unwind_thread *t);

/**
 * grt_unwind - the calling thread's stack
 * @t: the calling thread's own
 * Return: the node of the innermost frame that is not hidden; an enum grt_root where there is none
 */
uint32_t grt_unwind(struct grt_unwind_thread *t);

/**
 * grt_unwind_refresh - what cannot be done in a callback: finds an interpreter that came since, and, where
 * stats.exact_dlopen is false, objects that were loaded and closed
 *
 * For the writing thread, at each of its rounds.
 */
void grt_unwind_refresh(void);

/**
 * grt_unwind_forked - in the child, before anything else is called
 *
 * Nodes keep their ids; the child's writer stores all of them again, from 1.
 */
void grt_unwind_forked(void);

/** grt_unwind_nodes - the highest id that was taken for a node; the parents of all up to it are there */
uint32_t grt_unwind_nodes(void);

/**
 * grt_unwind_node - a node by id
 * Return: false where there is none (yet): a thread may be making it while those behind it are there
 *
 * All ids from 1 on are used in turn. What grt_unwind() has returned is there, and so are its parents.
 */
bool grt_unwind_node(uint32_t id, struct grt_unode *node);

/**
 * grt_unwind_module - a module by its number in a node, from 1 on
 * Return: false where there is none (yet). A node's module is there when the node is.
 */
bool grt_unwind_module(unsigned int number, struct grt_umodule *module);

/** grt_unwind_stats - what was counted */
void grt_unwind_stats(struct grt_unwind_stats *stats);

#endif /* GRT_INJECT_UNWIND_H */
