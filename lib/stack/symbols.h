/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Names of addresses: functions, files and lines of object files, code made at
 * run time, the kernel. Done after the recording, too, and on another machine:
 * what is needed is an object's path and build id, and an address in it.
 *
 *	grt_symbols_object(s, "/usr/lib/libfoo.so.1", "5ab0...", &object);
 *	grt_symbols_at(s, object, address, &found);
 *
 * or by process, after grt_symbols_map() told what lies where. A return address is
 * behind its call, and so perhaps in another function: ask for the byte before it.
 *
 *	grt_symbols_in_process(s, pid, ip, &found);
 *
 * Object files are parsed by elfutils, where the program was built with it; else
 * an address is named by its file and place in it, and grt_symbols_can() says
 * so. What is found is kept. Texts are untrusted: they come from files of others.
 */
#ifndef GRT_STACK_SYMBOLS_H
#define GRT_STACK_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most objects, and most mappings of all processes; later ones have no names. */
#define GRT_SYMBOLS_OBJECTS_MAX 16384U
#define GRT_SYMBOLS_MAPPINGS_MAX 1048576U
/* Functions at one address: itself and those it is inlined into. */
#define GRT_SYMBOLS_FRAMES_MAX 32U
/* Bytes of an object file or a map; larger ones are not read. */
#define GRT_SYMBOLS_FILE_MAX (8ULL << 30)
/* The object of no file. */
#define GRT_SYMBOLS_NO_OBJECT 0U

/** enum grt_symbols_how - the source of a name */
enum grt_symbols_how {
	GRT_SYMBOLS_NOWHERE, /* it was not: the text is file+0xADDRESS or 0xADDRESS */
	GRT_SYMBOLS_TABLE,   /* a symbol table of the file */
	GRT_SYMBOLS_DEBUG,   /* DWARF: file, line and inlined functions too */
	GRT_SYMBOLS_MAP,     /* a perf-PID.map */
	GRT_SYMBOLS_KERNEL,  /* kallsyms */
};

/**
 * struct grt_symbol - a function
 * @function: demangled, unless the linkage name was requested
 * @file, @line: its place in the source; "" and 0: unknown
 * @inlined: it is inlined into the next function
 */
struct grt_symbol {
	const char *function;
	const char *file;
	uint32_t line;
	bool inlined;
};

/**
 * struct grt_symbols_found - the functions at an address; valid until the next call of any kind
 * @frames: at least 1, innermost first
 * @object: base name of the file, "[kernel]", "" where there is none
 */
struct grt_symbols_found {
	enum grt_symbols_how how;
	unsigned int frames;
	struct grt_symbol frame[GRT_SYMBOLS_FRAMES_MAX];
	const char *object;
};

/**
 * struct grt_symbols_options - all zero: what is best after a recording
 * @directory: where copies of object files are, as build-id tree (.build-id/ab/cdef...)
 *	or under their whole paths; NULL: that of GRTRACE_SYMBOLS in the environment, if any
 * @debug_max: DWARF of more bytes is not read; 0: any. While one records, parsing must not take long
 * @no_separate: separate debug files are not looked for
 * @debug_fd: that of all objects, open already; 0: none. It is taken over by the first that has no DWARF
 *itself
 * @servers: they are requested on debuginfod servers, which DEBUGINFOD_URLS names, where they are not here;
 *	also where GRTRACE_DEBUGINFOD in the environment is 1
 * @linkage: functions have their linkage names; nothing is demangled
 *
 * Otherwise these are found by .gnu_debuglink and build id in /usr/lib/debug.
 */
struct grt_symbols_options {
	const char *directory;
	uint64_t debug_max;
	bool no_separate;
	int debug_fd;
	bool servers;
	bool linkage;
};

/**
 * struct grt_symbols_count - counts of addresses and files
 * @asked: addresses, each counted once
 * @unnamed: addresses without a function
 * @objects: files requested
 * @missing: files that were not found or could not be read
 * @other: files of this name, but with another build id
 * @broken: files that elfutils could not parse
 * @over: objects and mappings beyond the bounds
 * @map_errors: lines of perf-PID.map and kallsyms that were not understood
 */
struct grt_symbols_count {
	uint64_t asked;
	uint64_t unnamed;
	uint64_t objects;
	uint64_t missing;
	uint64_t other;
	uint64_t broken;
	uint64_t over;
	uint64_t map_errors;
};

struct grt_symbols;

/** grt_symbols_new - begins; @options may be NULL. Return: 0 or -ENOMEM */
int grt_symbols_new(struct grt_symbols **out, const struct grt_symbols_options *options);

/**
 * grt_symbols_object - an object file; nothing is read yet
 * @path: on this system, or where it was recorded
 * @build_id: hexadecimal; NULL or "": unknown, and a file of this path is taken as it is
 * @object: its number; GRT_SYMBOLS_NO_OBJECT beyond the bound
 * Return: 0 or -ENOMEM
 */
int grt_symbols_object(struct grt_symbols *s, const char *path, const char *build_id, uint32_t *object);

/**
 * grt_symbols_object_as - the same for a file that is read elsewhere than where it is said to be
 * @open: read from here (/proc/PID/root/...)
 */
int grt_symbols_object_as(struct grt_symbols *s, const char *path, const char *build_id, const char *open,
			  uint32_t *object);

/**
 * grt_symbols_object_fd - the same for one that is open already: no other file is looked for
 * @path: whose last part is its name
 * @fd: of a regular file; it is taken over, also when this fails
 */
int grt_symbols_object_fd(struct grt_symbols *s, const char *path, int fd, uint32_t *object);

/** grt_symbols_reopen - another place to read the file from, for when it has not been, or could not be */
void grt_symbols_reopen(struct grt_symbols *s, uint32_t object, const char *open);

/** grt_symbols_at - what is at an address of an object: one as the file itself counts them. Return: 0 or
 * -ENOMEM */
int grt_symbols_at(struct grt_symbols *s, uint32_t object, uint64_t address, struct grt_symbols_found *found);

/** grt_symbols_at_offset - the same by place in the file. Return: 0 or -ENOMEM */
int grt_symbols_at_offset(struct grt_symbols *s, uint32_t object, uint64_t offset,
			  struct grt_symbols_found *found);

/**
 * struct grt_symbols_mapping - a part of a process's address space
 * @offset: of @start in the file, unless @has_bias
 * @bias: an address less this is the file's own
 * @object: GRT_SYMBOLS_NO_OBJECT: of no file
 */
struct grt_symbols_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t bias;
	uint32_t object;
	bool has_bias;
};

/** grt_symbols_map - adds a mapping; removes earlier mappings of the same addresses. Return: 0 or -ENOMEM */
int grt_symbols_map(struct grt_symbols *s, uint32_t pid, const struct grt_symbols_mapping *m);

/** grt_symbols_unmap - forgets all mappings of a process (it called exec, or its number is used again) */
void grt_symbols_unmap(struct grt_symbols *s, uint32_t pid);

/** grt_symbols_mapped - whether an address of a process is mapped */
bool grt_symbols_mapped(const struct grt_symbols *s, uint32_t pid, uint64_t ip);

/** grt_symbols_mapping_at - what lies at an address of a process, without a look at any file; NULL: nothing.
 * Valid until the next call that maps or unmaps */
const struct grt_symbols_mapping *grt_symbols_mapping_at(const struct grt_symbols *s, uint32_t pid,
							 uint64_t ip);

/**
 * grt_symbols_in_process - what is at an address of a process: in what lies
 * there, else in its perf-PID.map
 * Return: 0 or -ENOMEM
 */
int grt_symbols_in_process(struct grt_symbols *s, uint32_t pid, uint64_t ip, struct grt_symbols_found *found);

/**
 * grt_symbols_perf_map - the functions that a process made at run time; may come again when it has made more
 * @path: the file; NULL: /tmp/perf-PID.map, and again whenever it has grown and an address is not in it
 * Return: 0, -ENOENT, -EPERM: it belongs to another user, -ESTALE: it was written before the process's
 * beginning or after its end, -EINVAL: no regular file, -EFBIG, or another negative errno
 */
int grt_symbols_perf_map(struct grt_symbols *s, uint32_t pid, const char *path);

/**
 * grt_symbols_perf_map_fd - the same of a map that is open already, and never again of another file
 * @fd: of a regular file that a process wrote; it is taken over, also when this fails
 * Return: 0, -EFBIG, or another negative errno
 */
int grt_symbols_perf_map_fd(struct grt_symbols *s, uint32_t pid, int fd);

/**
 * grt_symbols_began - since when a process is: a /tmp/perf-PID.map that was last written earlier is that of
 * another one, which had its number
 * @realtime: when, CLOCK_REALTIME ns; 0: unknown
 * Return: 0 or -ENOMEM
 */
int grt_symbols_began(struct grt_symbols *s, uint32_t pid, uint64_t realtime);

/**
 * grt_symbols_ended - a process is no more: a /tmp/perf-PID.map that was written later is that of another
 * one, which got its number
 * @realtime: when, CLOCK_REALTIME ns; 0: unknown, or not yet
 * Return: 0 or -ENOMEM
 */
int grt_symbols_ended(struct grt_symbols *s, uint32_t pid, uint64_t realtime);

/**
 * grt_symbols_kallsyms - the kernel's functions
 * @path: NULL: /proc/kallsyms, which shows addresses only to root; read at the first use anyway
 * Return: 0, -EACCES where it has no addresses, or another negative errno
 */
int grt_symbols_kallsyms(struct grt_symbols *s, const char *path);

/** grt_symbols_kernel - the functions at an address of the kernel. Return: 0 or -ENOMEM */
int grt_symbols_kernel(struct grt_symbols *s, uint64_t ip, struct grt_symbols_found *found);

/** grt_symbols_count - the counts so far */
const struct grt_symbols_count *grt_symbols_count(const struct grt_symbols *s);

/** grt_symbols_can - whether this program can read object files (elfutils) */
bool grt_symbols_can(void);

/** grt_symbols_free - frees it; NULL is allowed */
void grt_symbols_free(struct grt_symbols *s);

#endif /* GRT_STACK_SYMBOLS_H */
