/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Names of addresses: functions, files and lines of object files, of code generated at run time, and of the
 * kernel. The lookup also works after the recording and on another machine: it needs the path and the
 * build id of an object, and an address in it.
 *
 *	grt_symbols_object(s, "/usr/lib/libfoo.so.1", "5ab0...", &object);
 *	grt_symbols_at(s, object, address, &found);
 *
 * or by process, after grt_symbols_map() for each of its mappings. A return address follows its call, and so
 * may be in another function: look up the byte before it.
 *
 *	grt_symbols_in_process(s, pid, ip, &found);
 *
 * elfutils parses object files, if the program was built with it; otherwise the name of an address is its
 * file and its offset there, see grt_symbols_can(). Results are stored. Texts are untrusted: they come
 * from files of other users.
 */
#ifndef GRT_STACK_SYMBOLS_H
#define GRT_STACK_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of objects, and of mappings of all processes; later ones have no names. */
#define GRT_SYMBOLS_OBJECTS_MAX 16384U
#define GRT_SYMBOLS_MAPPINGS_MAX 1048576U
/* Functions at one address: itself and those it is inlined into. */
#define GRT_SYMBOLS_FRAMES_MAX 32U
/* Maximum size of an object file or a map, bytes; larger files are not read. */
#define GRT_SYMBOLS_FILE_MAX (8ULL << 30)
/* Number of the object of addresses that belong to no file. */
#define GRT_SYMBOLS_NO_OBJECT 0U

/** enum grt_symbols_how - the source of a name */
enum grt_symbols_how {
	GRT_SYMBOLS_NOWHERE, /* no name was found: the text is file+0xADDRESS or 0xADDRESS */
	GRT_SYMBOLS_TABLE,   /* a symbol table of the file */
	GRT_SYMBOLS_DEBUG,   /* DWARF: file, line and inlined functions too */
	GRT_SYMBOLS_MAP,     /* a perf-PID.map */
	GRT_SYMBOLS_KERNEL,  /* kallsyms */
};

/**
 * struct grt_symbol - a function
 * @function: demangled, unless the linkage name was requested
 * @file, @line: its place in the source; "" and 0: unknown
 * @inlined: the function is inlined into the next one
 */
struct grt_symbol {
	const char *function;
	const char *file;
	uint32_t line;
	bool inlined;
};

/**
 * struct grt_symbols_found - the functions at an address; valid until the next call of a function of this
 * header
 * @frames: number of functions, at least 1, innermost first
 * @object: base name of the file, "[kernel]", or "" if there is none
 */
struct grt_symbols_found {
	enum grt_symbols_how how;
	unsigned int frames;
	struct grt_symbol frame[GRT_SYMBOLS_FRAMES_MAX];
	const char *object;
};

/**
 * struct grt_symbols_options - all zero: best choices after a recording
 * @directory: directory with copies of object files, as a build-id tree (.build-id/ab/cdef...) or under their
 *	whole paths; NULL: the directory in GRTRACE_SYMBOLS of the environment, if any
 * @debug_max: maximum size of DWARF that is read, bytes, since parsing must be short during a recording; 0:
 *	any
 * @no_separate: separate debug files are not searched. Otherwise they are found by .gnu_debuglink, and by
 *	build id in /usr/lib/debug
 * @debug_fd: descriptor of the debug file of all objects; 0: none. The first object without DWARF of its own
 *	owns it
 * @servers: debug files that this machine lacks are requested from the debuginfod servers in DEBUGINFOD_URLS;
 *	also if GRTRACE_DEBUGINFOD in the environment is 1
 * @linkage: functions have their linkage names; no name is demangled
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

/** grt_symbols_new - sets up the lookup of names; @options may be NULL. Return: 0 or -ENOMEM */
int grt_symbols_new(struct grt_symbols **out, const struct grt_symbols_options *options);

/**
 * grt_symbols_object - adds an object file; the file is not read yet
 * @path: path on this system, or on the recorded system
 * @build_id: hexadecimal; NULL or "": unknown, any file of this path is used
 * @object: gets the number of the object; GRT_SYMBOLS_NO_OBJECT: there are too many objects
 * Return: 0 or -ENOMEM
 */
int grt_symbols_object(struct grt_symbols *s, const char *path, const char *build_id, uint32_t *object);

/**
 * grt_symbols_object_as - the same for a file that is read from another path
 * @open: the path from which the file is read (/proc/PID/root/...)
 */
int grt_symbols_object_as(struct grt_symbols *s, const char *path, const char *build_id, const char *open,
			  uint32_t *object);

/**
 * grt_symbols_object_fd - the same for an open file: no other file is searched
 * @path: path whose last part is the object's name
 * @fd: descriptor of a regular file; the function owns it, even if it fails
 */
int grt_symbols_object_fd(struct grt_symbols *s, const char *path, int fd, uint32_t *object);

/** grt_symbols_at - the functions at an address of an object; @address: address in the file. Return: 0 or
 * -ENOMEM */
int grt_symbols_at(struct grt_symbols *s, uint32_t object, uint64_t address, struct grt_symbols_found *found);

/** grt_symbols_at_offset - the same by offset in the file. Return: 0 or -ENOMEM */
int grt_symbols_at_offset(struct grt_symbols *s, uint32_t object, uint64_t offset,
			  struct grt_symbols_found *found);

/**
 * struct grt_symbols_mapping - a part of a process's address space
 * @offset: offset of @start in the file, unless @has_bias
 * @bias: an address less this is the address in the file
 * @object: number of the object; GRT_SYMBOLS_NO_OBJECT: the mapping belongs to no file
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

/** grt_symbols_unmap - removes all mappings of a process, after an exec or before its pid is used again */
void grt_symbols_unmap(struct grt_symbols *s, uint32_t pid);

/** grt_symbols_mapping_at - the mapping at an address of a process; reads no file; NULL: there is none. Valid
 * until the next call that maps or unmaps */
const struct grt_symbols_mapping *grt_symbols_mapping_at(const struct grt_symbols *s, uint32_t pid,
							 uint64_t ip);

/**
 * grt_symbols_in_process - the functions at an address of a process, by the mapping there or by perf-PID.map
 * Return: 0 or -ENOMEM
 */
int grt_symbols_in_process(struct grt_symbols *s, uint32_t pid, uint64_t ip, struct grt_symbols_found *found);

/**
 * grt_symbols_perf_map - reads the functions that a process generated at run time; may be called again later
 * @path: the file; NULL: /tmp/perf-PID.map, which is read again if it has grown and lacks an address
 * Return: 0, -ENOENT, -EPERM: the file belongs to another user, -ESTALE: it was written before the start or
 *	after the end of the process, -EINVAL: it is no regular file, -EFBIG, or another negative errno
 */
int grt_symbols_perf_map(struct grt_symbols *s, uint32_t pid, const char *path);

/**
 * grt_symbols_perf_map_fd - the same for an open file; no other file is read for this process later
 * @fd: descriptor of a regular file; the function owns it, even if it fails
 * Return: 0, -EFBIG, or another negative errno
 */
int grt_symbols_perf_map_fd(struct grt_symbols *s, uint32_t pid, int fd);

/**
 * grt_symbols_began - sets the start of a process: a /tmp/perf-PID.map that was last written earlier belongs
 * to another process with the same pid
 * @realtime: start, CLOCK_REALTIME ns; 0: unknown
 * Return: 0 or -ENOMEM
 */
int grt_symbols_began(struct grt_symbols *s, uint32_t pid, uint64_t realtime);

/**
 * grt_symbols_ended - sets the end of a process: a /tmp/perf-PID.map that was written later belongs to
 * another process with the same pid
 * @realtime: end, CLOCK_REALTIME ns; 0: unknown, or the process has not ended
 * Return: 0 or -ENOMEM
 */
int grt_symbols_ended(struct grt_symbols *s, uint32_t pid, uint64_t realtime);

/**
 * grt_symbols_kallsyms - the kernel's functions
 * @path: the file; NULL: /proc/kallsyms, which shows addresses only to root, and which is otherwise read at
 * its first use Return: 0, -EACCES: the file has no addresses, or another negative errno
 */
int grt_symbols_kallsyms(struct grt_symbols *s, const char *path);

/** grt_symbols_kernel - the functions at an address of the kernel. Return: 0 or -ENOMEM */
int grt_symbols_kernel(struct grt_symbols *s, uint64_t ip, struct grt_symbols_found *found);

/** grt_symbols_count - the counts so far */
const struct grt_symbols_count *grt_symbols_count(const struct grt_symbols *s);

/** grt_symbols_can - whether this program can read object files (elfutils) */
bool grt_symbols_can(void);

/** grt_symbols_free - frees @s, which may be NULL */
void grt_symbols_free(struct grt_symbols *s);

#endif /* GRT_STACK_SYMBOLS_H */
