/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * PC samples by instruction and reason, with the source of each instruction where the recording has it.
 *
 * CUPTI has two counts of a reason: all its samples, and those of cycles in which no warp of the scheduler
 * issued an instruction, which are some of the former. So sums are those of the former.
 *
 * Memory is bounded: 1048576 pairs of an instruction and a reason, and as many places in functions that were
 * inlined.
 */
#ifndef GRT_CUDA_PC_SAMPLES_H
#define GRT_CUDA_PC_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/busy.h"
#include "base/containers.h"
#include "stack/image_frames.h"
#include "stack/images.h"
#include "stack/estimates.h"
#include "base/say.h"

/**
 * struct grt_pc_stall - a kernel's samples of a reason
 * @kernel: demangled; @reason: without what all names begin with; @meaning: a sentence; NULL: unknown
 * @idle: of these, those of cycles without an instruction
 * @of_kernel: samples of the kernel in all
 */
struct grt_pc_stall {
	uint32_t pid;
	const char *process;
	const char *kernel;
	const char *reason;
	const char *meaning;
	uint64_t samples;
	uint64_t idle;
	uint64_t of_kernel;
	uint32_t image, function;
	char pid_text[24];
};

/**
 * struct grt_pc_line - a kernel's samples of a line of its source, or of an instruction without one
 * @place: k.cu:12, or +0x40; @file: with directories, NULL: unknown
 * @inlined: how its function came into the kernel, from the kernel's line on; NULL: it is the kernel
 * @stall: its first reason
 * @reason_samples: of this reason
 * @frames, @frames_samples, @ways: where most of its samples are, as in a leaf; how many; in how many ways
 */
struct grt_pc_line {
	uint32_t pid;
	const char *process;
	const char *kernel;
	char *place;
	char *inlined;
	const char *file;
	uint32_t image;
	uint32_t line;
	const char *reason;
	const char *meaning;
	uint64_t samples;
	uint64_t reason_samples;
	uint32_t frames;
	uint64_t frames_samples;
	uint32_t ways;
	char pid_text[24];
};

/**
 * struct grt_pc_instruction - samples of an instruction
 * @place: its line, k.cu:12, NULL: unknown
 * @sass: its text, NULL: unknown
 * @at: +0x40, its offset
 * @function: its string in @image
 */
struct grt_pc_instruction {
	uint32_t pid;
	const char *process;
	const char *kernel;
	char *place;
	char *sass;
	uint64_t cubin;
	uint64_t offset;
	uint32_t image, function;
	const char *reason;
	const char *meaning;
	uint64_t samples;
	uint64_t reason_samples;
	char at[24];
	char pid_text[24];
};

/**
 * struct grt_pc_leaf - samples of a function at a line of its source, or an instruction without one, for a
 * reason
 * @function: its string in @image
 * @frames: number of the text of its place, see grt_pc_samples_frames()
 * @stall: the warps did not issue an instruction, and were not ready to
 * @exact: of @samples, for its owner: those whose launch is known
 */
struct grt_pc_leaf {
	uint32_t image, function;
	uint32_t frames;
	const char *reason;
	bool stall;
	uint64_t samples;
	uint64_t exact;
};

/**
 * struct grt_pc_launched - samples of a launch at an instruction, for a reason; its key begins with image and
 * function, and the correlation
 * @pair: key of the instruction and the reason
 */
struct grt_pc_launched {
	struct grt_key pair;
	uint64_t samples;
};

/**
 * struct grt_pc_windows - random windows of all processes, if samples were taken before such windows
 * @sampled: number of windows before which the GPU was sampled
 * @lossy: of these, those before which samples were dropped, or the hardware's buffer was full
 * @ns: time in which the GPU was sampled; @of: time that the windows represent, ns
 */
struct grt_pc_windows {
	uint64_t sampled;
	uint64_t lossy;
	uint64_t ns;
	uint64_t of;
};

/**
 * struct grt_pc_sums - as CUPTI counts them
 * @samples: in instructions; @dropped: by the hardware; @other: in kernels that are not the program's
 * @full: times without samples, since the hardware's buffer was full
 * @over: pairs that found no place; @unlined: samples without a line; @unseen: of these, those
 *	in code that was loaded while CUPTI was not attached
 */
struct grt_pc_sums {
	uint64_t total;
	uint64_t samples;
	uint64_t dropped;
	uint64_t other;
	uint64_t full;
	uint64_t left;
	uint64_t over;
	uint64_t unlined;
	uint64_t unseen;
	struct grt_pc_windows windows;
};

/** struct grt_pc_samples - @stall, @line: by samples, @leaf: by image and function, once it is finished;
 * @cubins: that were seen, by image and CRC
 * @windows: by image and number, @times: sampled times by image
 * @launched: samples whose launch is known, if the owner sets @by_launch
 * @instruction: by samples, once it is finished, if the owner sets @by_instruction
 * @from: images of the samples, @images or the owner's; @within: others do not count */
struct grt_pc_samples {
	struct grt_images images;
	const struct grt_images *from;
	struct grt_interval within;
	struct grt_image_frames *frames;
	struct grt_keyed pairs;
	struct grt_keyed reasons;
	struct grt_keyed sources;
	struct grt_keyed kernels;
	struct grt_keyed names;
	struct grt_keyed stalls;
	struct grt_keyed lines;
	struct grt_keyed line_reasons;
	struct grt_keyed inlined;
	struct grt_keyed line_frames;
	struct grt_texts frames_text;
	struct grt_keyed leaves;
	struct grt_keyed windows;
	struct grt_keyed times;
	struct grt_keyed cubins;
	struct grt_keyed launched;
	bool by_launch;
	struct grt_keyed instructions;
	struct grt_keyed instruction_reasons;
	struct grt_pc_instruction **instruction;
	bool by_instruction;
	struct grt_pc_stall **stall;
	struct grt_pc_line **line;
	struct grt_pc_leaf **leaf;
	struct grt_pc_sums sums;
};

/** grt_pc_samples_init - none. Return: 0 or -ENOMEM */
int grt_pc_samples_init(struct grt_pc_samples *p);

/** grt_pc_samples_use - images that the owner follows, instead of its own */
void grt_pc_samples_use(struct grt_pc_samples *p, const struct grt_images *images);

/** grt_pc_samples_is - whether an event is for grt_pc_samples_take() */
bool grt_pc_samples_is(const struct grt_event *e);

/** grt_pc_samples_take - processes an event of an image. Return: 0 or -ENOMEM */
int grt_pc_samples_take(struct grt_pc_samples *p, const struct grt_image *i, const struct grt_event *e);

/** grt_pc_samples_event - processes an event of the classes image and launch. Return: 0 or -ENOMEM */
int grt_pc_samples_event(struct grt_pc_samples *p, const struct grt_event *e);

/** grt_pc_samples_finish - makes the rows. Return: 0 or -ENOMEM */
int grt_pc_samples_finish(struct grt_pc_samples *p);

/**
 * grt_pc_samples_frames - a place, once it is finished: "k.cu:12", or lines of it where functions were
 * inlined, the outermost first: "k.cu:30", "outer k.cu:20", "inner k.cu:12"
 */
const char *grt_pc_samples_frames(const struct grt_pc_samples *p, uint32_t number);

/** grt_pc_samples_leaf - the leaf of the samples of a launch, once it is finished; NULL: there is none */
struct grt_pc_leaf *grt_pc_samples_leaf(const struct grt_pc_samples *p, const struct grt_pc_launched *l);

/** grt_pc_samples_note_windows - notes how much of the time was sampled, if it was sampled in windows */
void grt_pc_samples_note_windows(const struct grt_pc_windows *w, struct grt_notes *notes);

/** grt_pc_samples_free - frees all */
void grt_pc_samples_free(struct grt_pc_samples *p);

#endif /* GRT_CUDA_PC_SAMPLES_H */
