/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The definitions of traced processes: strings, nodes of stacks, and the object files of these nodes. The
 * numbers of definitions belong to a process image. A pid may have several images, one after the other, and
 * several processes may have the same pid, each in a namespace of its own: the ctx of a record names its
 * image. Records of the recorder have no ctx; they belong to the image that began last.
 *
 * Memory is bounded by the definitions in the trace, plus some for lost definitions. A definition whose
 * number is far beyond all earlier numbers is dropped and counted.
 */
#ifndef GRT_STACK_IMAGES_H
#define GRT_STACK_IMAGES_H

#include <grtrace/event.h>
#include <grtrace/launches.h>

#include "base/index.h"
#include "base/containers.h"
#include "estimates.h"

/*
 * CUDA's devices. Each process numbers the devices that it sees, so one GPU may have several numbers, and
 * several GPUs the same number: DEVICE records identify them by UUID. A device without such a record, as in
 * recordings of older programs, belongs to its process alone.
 */

/* Maximum number of devices in a trace; work of further devices is counted for the last of these. */
#define GRT_DEVICES_MAX 16384U

/**
 * struct grt_device - a device
 * @number: number in the trace, from 0
 * @users: number of processes whose work the device did
 * @image, @gpu: the first of these processes, and the device's number there; without such a process, those of
 *	the process that described the device
 * @known: @is describes the device
 * @several: another process has another number for the device
 * @name: name of the device, untrusted; NULL: it has none
 */
struct grt_device {
	uint32_t number;
	uint32_t gpu;
	uint32_t users;
	uint32_t image;
	bool known;
	bool several;
	struct grt_ev_device is;
	char *name;
};

/** struct grt_devices - the devices of a trace
 * @device: all devices; @by_place: index by image and number there; @by_uuid: index by UUID
 * @recent: the device that was requested last, with its @image and number @gpu there; NULL: none */
struct grt_devices {
	struct grt_device **device;
	uint32_t devices, room;
	struct grt_keyed by_place;
	struct grt_keyed by_uuid;
	const struct grt_device *recent;
	uint32_t image, gpu;
};

/** grt_devices_of - the device with number @gpu in a process; NULL: no memory */
const struct grt_device *grt_devices_of(struct grt_devices *d, uint32_t image, uint32_t gpu);

/* Room for a label; usual length of a label from a UUID: "GPU-" and its first 8 digits. */
#define GRT_DEVICE_LABEL 48
#define GRT_DEVICE_LABEL_LENGTH 12

/**
 * grt_device_label - "GPU 0"; if several devices of the trace have this number, or the device has several
 * numbers, the beginning of its UUID, which nvidia-smi accepts as well: "GPU-8f3a04c2"; more of it if other
 * devices begin alike
 */
const char *grt_device_label(const struct grt_devices *d, const struct grt_device *x,
			     char label[GRT_DEVICE_LABEL]);

/**
 * struct grt_image_node - a frame, see NODE in events.def
 * @caller: number of the calling frame, smaller than the frame's own; 0: the frame is outermost
 * @guessed: the frame was not found by unwind tables
 * @reach: enum grt_stack_reach of the stack whose innermost frame this is; set at the first request
 * @defined: false: the record of this number is lost
 * @launched: a launch has this stack; used by the thread that counts stacks
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
 * Every stack of the injected library ends in a node that is not a frame. The node has no text if the stack
 * is complete, and the reason otherwise. A stack without frames consists of this node alone.
 */
enum grt_stack_reach {
	GRT_STACK_UNASKED,
	GRT_STACK_NONE, /* no frame */
	GRT_STACK_CUT,	/* frames; the outermost of them did not begin the thread */
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

/** struct grt_image_range - NVTX ranges that are open together, see RANGE_NODE; @outer: number of the
 * enclosing ranges, smaller than their own */
struct grt_image_range {
	uint32_t outer;
	uint32_t domain;
	uint32_t name;
	bool defined;
};

/**
 * struct grt_image - a process image
 * @number: number of the image, from 0
 * @id: number in the records of the image, different for each image of a pid; 0: its records have none, and
 *	the images of the pid follow one another
 * @process: the last PROCESS record of the image; zeroed: none was read
 * @began: start of the process in the time of the trace, ns; 0: unknown. May be before the system's start
 * @ahead: CLOCK_REALTIME less CLOCK_MONOTONIC, ns; 0: unknown
 * @watch: the windows in which the process was watched, if windows were chosen at random
 * @rank: rank of the process in its job; UINT32_MAX: unknown
 * @job: number of the string with the id of the job; 0: unknown
 * @why: number of the string that says why the process is not traced, or of the last note; 0: none
 * @hip: set by whoever draws its calls: they are those of HIP, not of CUDA
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
	bool hip;
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

/* Strings from this number on are defined by the recorder, which does not know the program's numbers. */
#define GRT_IMAGE_RECORDER 0x80000000U

/**
 * struct grt_images - set up by grt_images_init()
 * @image: all images, in the order in which they began
 * @by_pid: the image of a pid that began last; @by_id: images by pid and id
 * @recent: the image of the last requested event; NULL: none, or a later image may have replaced it
 * @dropped: number of dropped definitions
 * @room, @defined: bytes of all tables of numbers, and the bytes that the definitions in the trace allow
 * @devices: CUDA's devices; @windows: the recorded times, see estimates.h
 * @stack: nodes of stacks that BPF programs recorded for launches, until a launch requests its node;
 *	@stacks_apart: there were some
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
	bool stacks_apart;
};

/** grt_images_init - sets up a set without images */
void grt_images_init(struct grt_images *m);

/** grt_images_event - processes an event; uses events of class image. Return: 0 or -ENOMEM */
int grt_images_event(struct grt_images *m, const struct grt_event *e);

/** grt_images_of - the image of an event; a new one if no earlier event belongs to it. NULL: no memory */
struct grt_image *grt_images_of(struct grt_images *m, const struct grt_event *e);

/** grt_image_node - a frame; NULL: @number is 0 or not defined. The chain of callers ends: numbers decrease
 */
const struct grt_image_node *grt_image_node(const struct grt_image *i, uint32_t number);

/** grt_image_range - ranges that are open together; NULL: @number is 0 or not defined */
const struct grt_image_range *grt_image_range(const struct grt_image *i, uint32_t number);

/** grt_image_reach - how much is known of the stack whose innermost frame is node @number, which may be 0 */
enum grt_stack_reach grt_image_reach(struct grt_image *i, uint32_t number);

/** grt_image_mapping - an object file; NULL: @number is 0 or not defined */
const struct grt_image_mapping *grt_image_mapping(const struct grt_image *i, uint32_t number);

/**
 * grt_image_code - the functions at an address, if the recording has them
 * @n: gets their number; the innermost is the last
 * Return: the first of them; NULL: the recording does not have them
 */
const struct grt_image_code *grt_image_code(struct grt_image *i, uint64_t ip, uint32_t module, uint32_t *n);

/** grt_images_stack - the node of a launch whose stack a BPF program recorded, once; 0: there is none (yet)
 */
uint32_t grt_images_stack(struct grt_images *m, uint32_t image, uint64_t correlation);

/** grt_images_free - frees all memory of @m and empties it */
void grt_images_free(struct grt_images *m);

#endif /* GRT_STACK_IMAGES_H */
