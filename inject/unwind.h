/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The calling thread's stack as one number, without frame pointers; cheap
 * if the stack is similar to the previous one.
 *
 * A stack is a node of the process's only tree: (parent, frame); the parent of the
 * outermost frame is a root. grt_unwind() returns the node of the
 * innermost frame; equal stacks have equal nodes. Nodes are never changed or
 * removed, and a parent has a smaller id than its children, so that a writer
 * stores each node once, in the order of the ids, before records that refer to it.
 *
 * Which function may be called where:
 *	grt_unwind		in any thread, on any stack, in a callback or a signal
 *				handler: no lock, no allocation, no system call, except
 *				for a new code address (dl_iterate_phdr's lock for some
 *				microseconds) and for a stack that is not the thread's
 *				own (a system call without effects for each page)
 *	init, hide		once, by the thread that loads the library
 *	refresh, node, module	by the writing thread
 *
 * For Linux on the architectures of archs.def, with glibc or musl. Elsewhere all functions exist, and
 * grt_unwind_init() returns -ENOSYS.
 */
#ifndef GRT_INJECT_UNWIND_H
#define GRT_INJECT_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most frames of a stack, native and Python. Frames further out are replaced by GRT_ROOT_TRUNCATED. */
#define GRT_UNWIND_MAX 1024

/* The first nodes: how a stack ends. */
enum grt_root {
	GRT_ROOT_NONE,
#define GRT_STACK_ROOT(NAME, text, END, meaning) GRT_ROOT_##NAME,
#include <grtrace/stack_roots.def>
#undef GRT_STACK_ROOT
	GRT_ROOT_COUNT,
};

/** grt_root_name - "[stack truncated]" and so on; NULL for GRT_ROOT_START, which needs no frame */
const char *grt_root_name(uint32_t id);

/* The kind of a node's frame. */
enum grt_unode_kind {
	GRT_UNODE_ROOT,	  /* id is an enum grt_root */
	GRT_UNODE_NATIVE, /* address, module */
	GRT_UNODE_PYTHON, /* python */
};

/**
 * struct grt_unode - a node for the writer
 * @id, @parent: @parent < @id; 0 for a root
 * @kind: enum grt_unode_kind
 * @guessed: found with a frame pointer or by analysing the code, without unwind tables
 * @module: for grt_unwind_module(), 0 if the address is in no object (JIT code)
 * @address: @address - 1 is in the instruction that runs or calls: use it to look up names and lines
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
 * struct grt_umodule - an object file with frames
 * @bias: address - @bias is the address in the file
 * @start, @end: its loaded part
 * @build_id, @build_id_len: 0 bytes if it has none
 * @path: as the dynamic linker knows it, "" for the program itself; never freed
 *
 * If an object was closed and another one loaded at its address, they are two modules.
 */
struct grt_umodule {
	uint64_t bias;
	uint64_t start;
	uint64_t end;
	uint8_t build_id_len;
	uint8_t build_id[GRT_BUILD_ID_MAX];
	const char *path;
};

/** struct grt_unwind_stats - counts since grt_unwind_init(), for all threads */
struct grt_unwind_stats {
	uint64_t roots[GRT_ROOT_COUNT]; /* stacks with this end; START is not counted */
	uint64_t rules;			/* code addresses whose rule was computed */
	uint64_t no_memory;		/* rules, modules, texts without room: slower or unnamed, not wrong */
	uint32_t nodes;			/* in the tree, the roots included */
	uint32_t modules;
	uint32_t python_texts;
	bool exact_dlopen; /* a changed list of objects is noticed at once, else by grt_unwind_refresh() */
};

/* A thread's memory of its last walk. */
struct grt_unwind_thread;

/**
 * grt_unwind_init - allocates the tables; once per process
 * @max_nodes: size of the tree, 0 for 1048576 (32 bytes each, memory is used as needed)
 * @python: replace the frames of CPython's interpreter by Python frames, if python.h supports it
 * Return: 0, -ENOMEM, -ENOSYS on other systems
 */
int grt_unwind_init(uint32_t max_nodes, bool python);

/**
 * grt_unwind_hide - leaves out the innermost frames of a stack if they are in this object
 * @address: any address in the object, such as the injected library or CUPTI
 * Return: 0, -ENOENT if no object has the address, -ENOSPC after 8 objects
 *
 * Call this before the first grt_unwind().
 */
int grt_unwind_hide(const void *address);

/**
 * grt_unwind_thread_new - allocates the data of one thread with mmap, without touching it; NULL if there is
 * no memory
 */
struct grt_unwind_thread *grt_unwind_thread_new(void);

/** grt_unwind_thread_free - frees it; NULL is allowed */
void grt_unwind_thread_free(struct grt_unwind_thread *t);

/** grt_unwind_thread_empty - gives its memory back to the system; afterwards it is like new */
void grt_unwind_thread_empty(struct grt_unwind_thread *t);

/**
 * grt_unwind_thread_reset - prepares the data of an ended thread for another thread, which has another stack
 */
void grt_unwind_thread_reset(struct grt_unwind_thread *t);

/**
 * grt_unwind - the calling thread's stack
 * @t: the data of the calling thread
 * Return: the node of the innermost frame that is not hidden; an enum grt_root if there is none
 */
uint32_t grt_unwind(struct grt_unwind_thread *t);

/**
 * grt_unwind_refresh - does work that callbacks cannot do: finds a new interpreter and, if
 * stats.exact_dlopen is false, objects that were loaded or closed
 *
 * For the writing thread, in each of its rounds.
 */
void grt_unwind_refresh(void);

/**
 * grt_unwind_forked - call this in the child, before all other functions
 *
 * Nodes keep their ids; the child's writer stores all nodes again, from 1 on.
 */
void grt_unwind_forked(void);

/** grt_unwind_nodes - the highest id of a node; the parents of all nodes up to it exist */
uint32_t grt_unwind_nodes(void);

/**
 * grt_unwind_node - a node by id
 * Return: false if it does not exist (yet): a thread may be adding it while later nodes already exist
 *
 * Ids are used in order, from 1 on. A node that grt_unwind() has returned exists, and so do its parents.
 */
bool grt_unwind_node(uint32_t id, struct grt_unode *node);

/**
 * grt_unwind_module - a module by its number in a node, from 1 on
 * Return: false if it does not exist (yet). If a node exists, its module does, too.
 */
bool grt_unwind_module(unsigned int number, struct grt_umodule *module);

/** grt_unwind_stats - the counts so far */
void grt_unwind_stats(struct grt_unwind_stats *stats);

#endif /* GRT_INJECT_UNWIND_H */
