/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Shared code of the files that draw tracks. Each provider of events has a file and a row in tracks.def, with
 * the functions that draw its events and the size of its state.
 */
#ifndef GRT_EXPORT_TRACKS_PARTS_H
#define GRT_EXPORT_TRACKS_PARTS_H

#include "tracks.h"

#include "base/containers.h"
#include "jobs/jobs.h"
#include "trace/field.h"

/* The most nested slices of a thread: an ioctl, a wait in it, calls, and functions of the kernel. */
#define TRACKS_DEPTH_MAX 8U
#define TRACKS_TEXT_MAX 160U
/* Places for the threads that were used last, by a simple hash. */
#define TRACKS_RECENT 64U
/* First lanes that were looked for last, the same way. */
#define TRACKS_LANES_NEAR 64U

/** enum tracks_inside - what an open slice of a thread is */
enum tracks_inside {
	INSIDE_IOCTL = 1,
	INSIDE_WAIT,
	INSIDE_CALL, /* open_slice.ctx is the number of the call's name */
};

/** struct open_slice - a slice on a thread's track that has begun and not ended */
struct open_slice {
	enum tracks_inside inside;
	uint64_t ctx;
	uint64_t seqno;
};

/**
 * struct track - the state of a track
 * @name: number in grt_names of the name with which the track was announced
 * @named: number of names in grt_names when @name was looked up
 * @last: end of the last item that was drawn, ns
 * @depth: number of slices in @open
 * @busy: an item has begun on this lane and has not ended
 * @queue, @gpu, @context, @hip: as in struct grt_track; TRACKS_FIRST_LANE as the @queue of a new track: its
 * own id
 * @open: of a thread: the open slices, outermost first
 */
struct track {
	uint32_t id;
	uint32_t parent;
	uint32_t pid;
	uint32_t tid;
	uint32_t name;
	uint32_t named;
	uint64_t last;
	uint8_t kind;
	uint8_t lane;
	uint8_t depth;
	bool busy;
	uint32_t queue;
	uint32_t gpu;
	uint32_t context;
	bool hip;
	struct open_slice open[TRACKS_DEPTH_MAX];
};

#define TRACKS_FIRST_LANE UINT32_MAX

/**
 * struct tracks_gpu - a GPU whose queues are drawn
 * @number: its number in the export, from 1
 * @device: its device of CUDA, NULL: unknown
 */
struct tracks_gpu {
	uint32_t number;
	uint32_t bus;
	const struct grt_device *device;
	char name[GRT_TRACKS_GPU_NAME];
};

/** struct tracks_args - the values of an item while they are collected; @n: number of them */
struct tracks_args {
	struct grt_track_arg a[GRT_TRACK_ARGS_MAX];
	unsigned int n;
};

/**
 * struct tracks_field - a field of an event that becomes a value of items
 * @at: where the field is in the event
 * @unknown: describes the value that means unknown, NULL: there is none
 * @id: number of the field's name; @kind: enum grt_track_value
 */
struct tracks_field {
	struct grt_field_word at;
	const struct grt_unknown *unknown;
	uint16_t id;
	uint8_t kind;
};

/** struct tracks_draw - the function that draws an event; it returns 0, -ENOMEM or the result of the sink */
struct tracks_draw {
	unsigned int type;
	int (*draw)(struct grt_tracks *t, const struct grt_event *e);
};

/**
 * struct tracks_provider - a provider of events, a row of tracks.def
 * @draws: its events, ended by {0}; an event without a row is drawn as an instant
 * @state: size in bytes of its state, t->state[IN_##name], which is zeroed
 * @begin: initialises the state. Return: 0 or -ENOMEM
 * @flush: ends the trace: draws what has not ended. Return: 0, -ENOMEM or the result of the sink
 * @free: frees all that the state owns
 */
struct tracks_provider {
	const struct tracks_draw *draws;
	size_t state;
	int (*begin)(struct grt_tracks *t, void *state);
	int (*flush)(void *state);
	void (*free)(void *state);
};

#define GRT_TRACKS(name) extern const struct tracks_provider name;
#include "tracks.def"
#undef GRT_TRACKS

enum tracks_providers {
	TRACKS_SHARED,
#define GRT_TRACKS(name) IN_##name,
#include "tracks.def"
#undef GRT_TRACKS
	TRACKS_PROVIDERS,
};

/* The first word of a track's key says what the track is. Each provider has a range of such numbers. */
#define TRACKS_KEYS(name) (IN_##name << 8)

/**
 * struct grt_tracks - the state of an export as tracks
 * @names: the names, which tracks_core owns
 * @tracks: struct track by key; @gpus: struct tracks_gpu, by PCI address if it is known
 * @recent: tracks of threads, by tid; invalid once @tracks has more memory than @recent_room
 * @title, @lost_name: numbers of texts: names of types of events, and of lost events
 * @numbered: the last number that was given to a slice without an identity of its own
 * @arg_name, @arg_names: names of values by id
 * @field, @fields: by type of event, its fields
 * @filter: only what it selects is drawn, and other events of jobs are used to join these; NULL: all events
 * @beyond: the event is outside of the time that is drawn, and only changes the state
 * @from, @to: the time that is drawn; what is partly in it is drawn as a whole
 * @args: values of the item that is being drawn; here, because zeroing it for each item costs too much
 * @draw: by type of event
 * @state: states of the providers
 */
struct grt_tracks {
	struct grt_tracks_sink sink;
	const struct grt_names *names;
	struct grt_keyed tracks;
	struct grt_keyed gpus;
	struct grt_texts texts;
	struct track *recent[TRACKS_RECENT];
	uint32_t recent_room;
	uint32_t lane_near[TRACKS_LANES_NEAR]; /* for grt_keyed_near() */
	uint32_t title[GRT_EV_MAX];
	uint32_t lost_name;
	uint64_t numbered;
	const char *arg_name[GRT_TRACK_ARG_IDS_MAX];
	uint32_t arg_names;
	struct tracks_field *field[GRT_EV_MAX];
	uint8_t fields[GRT_EV_MAX];
	const struct grt_filter *filter;
	bool beyond;
	uint64_t from, to;
	struct tracks_args args;
	struct grt_tracks_count count;
	int (*draw[GRT_EV_MAX])(struct grt_tracks *t, const struct grt_event *e);
	void *state[TRACKS_PROVIDERS];
};

/* Whether nothing of it is in the time that is drawn. Its record may be in this time: those of the GPU's work
 * are written later. */
static inline bool tracks_is_outside(const struct grt_tracks *t, uint64_t first, uint64_t last)
{
	return last < t->from || first > t->to;
}

/* Processes an event that is not drawn, for the jobs of drawn events. Return: 0 or -ENOMEM */
int tracks_join(struct grt_tracks *t, const struct grt_event *e);

/* Updates the state for an event outside of the time that is drawn. Return: 0 or -ENOMEM */
int tracks_remember(struct grt_tracks *t, const struct grt_event *e);

/* Returns memory for the values of an item. It is that of the previous item, which has been drawn. */
static inline struct tracks_args *tracks_no_args(struct grt_tracks *t)
{
	t->args.n = 0;
	return &t->args;
}

/* Adds a value to an item; a value beyond GRT_TRACK_ARGS_MAX is left out. */
static inline void tracks_add_arg(struct tracks_args *a, unsigned int id, enum grt_track_value kind,
				  uint64_t number)
{
	if (a->n < GRT_TRACK_ARGS_MAX)
		a->a[a->n++] =
			(struct grt_track_arg){.id = (uint16_t)id, .kind = (uint16_t)kind, .number = number};
}

static inline void tracks_add_number(struct tracks_args *a, unsigned int id, uint64_t number)
{
	tracks_add_arg(a, id, GRT_TRACK_U64, number);
}

/*
 * Returns a new number for a slice on a queue. Numbers of jobs and launches have other values in the high
 * bits.
 */
static inline uint64_t tracks_next_number(struct grt_tracks *t)
{
	return 3ULL << 62 | ++t->numbered;
}

void tracks_add_text(struct tracks_args *a, unsigned int id, const char *text, size_t length);

static inline void tracks_add_field(struct tracks_args *a, const struct tracks_field *f,
				    const struct grt_event *e)
{
	uint64_t number;

	if (f->kind == GRT_TRACK_TEXT) {
		tracks_add_text(a, f->id, (const char *)e + f->at.offset, f->at.size);
		return;
	}
	number = grt_field_read(&f->at, e);
	if (!grt_is_unknown(f->unknown, e, number))
		tracks_add_arg(a, f->id, f->kind, number);
}

/* Adds all fields of the event's type. */
void tracks_add_fields(const struct grt_tracks *t, struct tracks_args *a, const struct grt_event *e);

/*
 * Draws an item on a track. It is only counted if @k is NULL, because there are too many tracks, or if it
 * begins before the end of the previous item. Return: 0 or the result of the sink
 */
int tracks_draw(struct grt_tracks *t, struct track *k, struct grt_track_item *i, const struct tracks_args *a);

/* Announces a track to the sink: with its name and the unit of its values. Return: the result of the sink */
int tracks_announce(struct grt_tracks *t, const struct track *k, const char *name, const char *unit);

/* Returns the key of a track; @what: a number of TRACKS_KEYS(). */
struct grt_key tracks_key_of(unsigned int what, uint64_t a, uint64_t b, uint64_t c);

/*
 * Finds the track with a key, or makes it. @like: the state of a new one, without its id
 * Return: 1: the track is new, and the caller must announce it; 0: it existed, or *out is NULL because there
 * are too many tracks; -ENOMEM
 */
int tracks_get(struct grt_tracks *t, const struct grt_key *key, const struct track *like, struct track **out);

/* Does the same and announces a new track, whose name never changes. Return: 0 or a negative errno */
int tracks_get_fixed(struct grt_tracks *t, const struct grt_key *key, const struct track *like,
		     const char *name, struct track **out);

/*
 * Adds the event's process (unless the track is its thread's), the identity of its job, and whether it is
 * inferred.
 */
void tracks_add_common(struct tracks_args *a, const struct grt_event *e, bool on_thread);

/* Draws an event as an instant with all its fields. */
int tracks_draw_instant(struct grt_tracks *t, struct track *k, const struct grt_event *e, uint32_t name,
			enum grt_track_category category);

/* Ends the innermost slices of a thread until @depth are left; they have ended, and no event reported it. */
int tracks_cut(struct grt_tracks *t, struct track *k, unsigned int depth, uint64_t time);

/* Begins a slice on a thread's track. */
int tracks_begin(struct grt_tracks *t, struct track *k, const struct open_slice *what,
		 struct grt_track_item *i, const struct tracks_args *a);

/* Ends the slice @depth and those within it. */
int tracks_end(struct grt_tracks *t, struct track *k, unsigned int depth, struct grt_track_item *i,
	       const struct tracks_args *a);

/* The function for events that are not drawn. Return: 0 */
int tracks_nothing(struct grt_tracks *t, const struct grt_event *e);

#endif /* GRT_EXPORT_TRACKS_PARTS_H */
