/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What traced processes have defined: strings, nodes of stacks, and the object
 * files that these are in. Numbers are those of a process image; a pid may have
 * several, one after the other, and several processes may have one pid, each in a
 * namespace of its own: records say by ctx which image they are of. The recorder's
 * do not, they are of the one that began last.
 *
 * Memory is bounded by what the trace defines, and some for what it has lost; a
 * number that is far beyond all before it is not taken, and counted.
 */
#ifndef GRT_STACK_IMAGES_H
#define GRT_STACK_IMAGES_H

#include <grtrace/launches.h>

#include "base/index.h"
#include "base/keyed.h"
#include "devices.h"
#include "windows.h"

/**
 * struct grt_image_node - a frame, see NODE in events.def
 * @caller: a smaller number, 0: it is outermost
 * @guessed: it was not found by unwind tables
 * @reach: enum grt_stack_reach of the stack whose innermost frame it is, once it was requested
 * @defined: false in a hole of the numbers, whose record is lost
 * @launched: a launch has this stack; of the thread that counts them
 */
struct grt_image_node {
	uint64_t ip;
	uint32_t caller;
	uint32_t function;
	uint32_t file;
	uint32_t line;
	uint32_t module : 31;
	uint32_t guessed : 1;
	uint8_t reach;
	bool defined;
	bool launched;
};

/**
 * enum grt_stack_reach - how much of a stack is known
 *
 * Every stack of the library ends in a node that is no frame: it says nothing where the
 * stack is whole, else why not. Where no frame was found it is the whole stack.
 */
enum grt_stack_reach {
	GRT_STACK_UNASKED,
	GRT_STACK_NONE, /* no frame */
	GRT_STACK_CUT,	/* frames, and the outermost of them did not begin the thread */
	GRT_STACK_WHOLE,
};

/** struct grt_image_mapping - an object file, see MAPPING; @build_id in hexadecimal, "": none */
struct grt_image_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	uint32_t path;
	char build_id[73];
};

/** struct grt_image_code - a function at an address, see CODE */
struct grt_image_code {
	uint64_t ip;
	uint32_t module;
	uint32_t function;
	uint32_t file;
	uint32_t line;
	uint32_t index;
	uint32_t frames;
};

/** struct grt_image_range - ranges that are open together, see RANGE_NODE; @outer: a smaller number */
struct grt_image_range {
	uint32_t outer;
	uint32_t domain;
	uint32_t name;
	bool defined;
};

/**
 * struct grt_image - a process image
 * @number: of it, from 0
 * @id: a number that its records carry, another one for each image of a pid; 0: they carry none, and the
 *	images of a pid come one after the other
 * @process: its last PROCESS record; what is 0 where none was seen
 * @began: when its process began, in the trace's time; 0: unknown. May be before the system's start
 * @ahead: CLOCK_REALTIME less CLOCK_MONOTONIC, ns; 0: unknown
 * @watch: in which windows it was watched, where these were chosen at random
 * @rank: in its job; UINT32_MAX: unknown
 * @job: string: the id of that; 0: unknown
 * @why: string: why it is not traced, or the last note; 0: none
 */
struct grt_image {
	uint32_t pid;
	uint32_t number;
	uint64_t id;
	uint32_t exe;
	uint32_t why;
	uint32_t rank;
	uint32_t job;
	bool refused;
	int64_t began;
	uint64_t ahead;
	struct grt_ev_process process;
	struct grt_watch watch;
	char **string;
	uint32_t strings;
	char **recorder_string;
	uint32_t recorder_strings;
	struct grt_image_node *node;
	uint32_t nodes;
	struct grt_image_mapping *mapping;
	uint32_t mappings;
	struct grt_image_range *range;
	uint32_t ranges;
	struct grt_image_code *code; /* sorted where @codes_sorted */
	uint32_t codes, code_room;
	bool codes_sorted;
};

/* Strings from this number on are the recorder's, which does not know those of the program. */
#define GRT_IMAGE_RECORDER 0x80000000U

/**
 * struct grt_images - set up by grt_images_init()
 * @image: all, in the order in which they began
 * @by_pid: the one that began last; @by_id: by pid and id
 * @recent: of the last event that was asked for; NULL: none, or another one may have taken its place
 * @dropped: definitions that were not taken
 * @room, @defined: bytes of all tables of numbers, and those that definitions have paid for
 * @devices: of CUDA's, see devices.h; @windows: the times that were recorded, see windows.h
 * @stack: nodes that BPF took, of launches that have not requested them
 */
struct grt_images {
	struct grt_image **image;
	uint32_t images;
	uint64_t dropped;
	uint64_t room;
	uint64_t defined;
	struct grt_hash_key key;
	struct grt_index by_pid;
	struct grt_index by_id;
	struct grt_image *recent;
	struct grt_devices devices;
	struct grt_windows windows;
	struct grt_keyed stack;
};

/** grt_images_init - none */
void grt_images_init(struct grt_images *m);

/** grt_images_event - processes an event; uses those of class image. Return: 0 or -ENOMEM */
int grt_images_event(struct grt_images *m, const struct grt_event *e);

/** grt_images_of - the image that an event is of; made where nothing has reported it. NULL: no memory */
struct grt_image *grt_images_of(struct grt_images *m, const struct grt_event *e);

/** grt_image_node - a frame; NULL where it is not defined, and for 0. Its callers end: their numbers fall */
const struct grt_image_node *grt_image_node(const struct grt_image *i, uint32_t number);

/** grt_image_range - ranges that are open together; NULL where it is not defined, and for 0 */
const struct grt_image_range *grt_image_range(const struct grt_image *i, uint32_t number);

/** grt_image_reach - how much of the stack is known whose innermost frame is a node; also for 0 */
enum grt_stack_reach grt_image_reach(struct grt_image *i, uint32_t number);

/** grt_image_mapping - an object file; NULL where it is not defined, and for 0 */
const struct grt_image_mapping *grt_image_mapping(const struct grt_image *i, uint32_t number);

/**
 * grt_image_code - the functions at an address, as far as the recording has them
 * @n: how many; the innermost is the last
 * Return: the first of them; NULL: the recording does not say
 */
const struct grt_image_code *grt_image_code(struct grt_image *i, uint64_t ip, uint32_t module, uint32_t *n);

/** grt_images_stack - the node of a launch that BPF took the stack of, once; 0: there is none (yet) */
uint32_t grt_images_stack(struct grt_images *m, uint32_t image, uint64_t correlation);

/** grt_images_free - frees all and empties it */
void grt_images_free(struct grt_images *m);

#endif /* GRT_STACK_IMAGES_H */
