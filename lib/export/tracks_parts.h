/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What the files that draw tracks share. A provider of events has a file and a
 * row in tracks.def: how each of its events is drawn, and what it remembers.
 */
#ifndef GRT_EXPORT_TRACKS_PARTS_H
#define GRT_EXPORT_TRACKS_PARTS_H

#include "tracks.h"

#include "base/keyed.h"
#include "jobs/jobs.h"
#include "trace/field.h"

/* What a thread can be inside of: an ioctl, and in it a wait; calls and functions of the kernel. */
#define TRACKS_DEPTH_MAX 8U
#define TRACKS_TEXT_MAX 160U
/* Threads that were looked for last, by a simple hash. */
#define TRACKS_RECENT 64U

/** enum tracks_inside - what a thread is inside of */
enum tracks_inside {
	INSIDE_IOCTL = 1,
	INSIDE_WAIT,
	INSIDE_CALL, /* ctx is the number of its name */
};

/** struct open_slice - a slice that has begun on a thread's track */
struct open_slice {
	enum tracks_inside inside;
	uint64_t ctx;
	uint64_t seqno;
};

/**
 * struct track - the state of a track
 * @name: number of the name that it was told by, of grt_names
 * @named: how many names there were when that was looked up
 * @last: the end of what was drawn last, ns
 * @busy: something has begun on this lane
 * @queue, @gpu, @context: as in struct grt_track; a new one with TRACKS_FIRST_LANE is its own @queue
 * @open: what has begun on a thread's track, outermost first
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
	struct open_slice open[TRACKS_DEPTH_MAX];
};

#define TRACKS_FIRST_LANE UINT32_MAX

/**
 * struct tracks_gpu - a GPU whose queues are drawn
 * @number: from 1
 * @device: of CUDA, NULL: none
 */
struct tracks_gpu {
	uint32_t number;
	uint32_t bus;
	const struct grt_device *device;
	char name[GRT_TRACKS_GPU_NAME];
};

/** struct tracks_args - values while they are collected */
struct tracks_args {
	struct grt_track_arg a[GRT_TRACK_ARGS_MAX];
	unsigned int n;
};

/**
 * struct tracks_field - a field of an event as a value of items
 * @at: where it is
 * @unknown: which of its values stand for none, NULL: all of them are known
 * @id: number of its name; @kind: enum grt_track_value
 */
struct tracks_field {
	struct grt_field_word at;
	const struct grt_unknown *unknown;
	uint16_t id;
	uint8_t kind;
};

/** struct tracks_draw - how an event is drawn; draw() returns 0, -ENOMEM or what the sink returned */
struct tracks_draw {
	unsigned int type;
	int (*draw)(struct grt_tracks *t, const struct grt_event *e);
};

/**
 * struct tracks_provider - a row of tracks.def
 * @draws: ended by {0}; an event that no provider has is an instant where it happened
 * @state: bytes of what it remembers, t->state[IN_##name], zeroed at first
 * @begin: prepares that. Return: 0 or -ENOMEM
 * @flush: the trace is over
 * @free: what the state holds
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

/* Keys of tracks begin with a number that says what the track stands for. A provider's begin here. */
#define TRACKS_KEYS(name) (IN_##name << 8)

struct grt_tracks {
	struct grt_tracks_sink sink;
	const struct grt_names *names; /* of tracks_core */
	struct grt_keyed tracks;
	struct grt_keyed gpus; /* struct tracks_gpu; by place on a bus where that is known */
	struct grt_texts texts;
	struct track *recent[TRACKS_RECENT]; /* threads by tid; good as long as there is room for @recent_room
						tracks */
	uint32_t recent_room;
	uint32_t title[GRT_EV_MAX];
	uint32_t lost_name;
	uint64_t numbered; /* slices on queues that have no identity of their own */
	const char *arg_name[GRT_TRACK_ARG_IDS_MAX];
	uint32_t arg_names;
	struct tracks_field *field[GRT_EV_MAX];
	uint8_t fields[GRT_EV_MAX];
	bool beyond;		 /* the event is outside of the time that is drawn: it is remembered only */
	struct tracks_args args; /* of the item that is being drawn: too large to be zeroed for each */
	struct grt_tracks_count count;
	int (*draw[GRT_EV_MAX])(struct grt_tracks *t, const struct grt_event *e);
	void *state[TRACKS_PROVIDERS];
};

/* Takes in an event outside of the time that is drawn, what it did lasts. Return: 0 or -ENOMEM */
int tracks_remember(struct grt_tracks *t, const struct grt_event *e);

/* Begins the values of an item: those of the one before are drawn. */
static inline struct tracks_args *tracks_no_args(struct grt_tracks *t)
{
	t->args.n = 0;
	return &t->args;
}

/* Adds a value. */
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

/* A number for a slice on a queue that no other has: those of jobs and launches have other high bits. */
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

/* The values of all fields. */
void tracks_add_fields(const struct grt_tracks *t, struct tracks_args *a, const struct grt_event *e);

/* Draws on a track; NULL: there was no place for it. Return: 0 or what the sink returned */
int tracks_draw(struct grt_tracks *t, struct track *k, struct grt_track_item *i, const struct tracks_args *a);

/* Tells the sink of a track. */
int tracks_announce(struct grt_tracks *t, const struct track *k, const char *name, const char *unit);

/* The key of a track. */
struct grt_key tracks_key_of(unsigned int what, uint64_t a, uint64_t b, uint64_t c);

/*
 * The track of a key. @like: what a new one is; its id is given here
 * Return: 1: it is new and must be announced, 0: it is known, or *out is NULL: no place; or -ENOMEM
 */
int tracks_get(struct grt_tracks *t, const struct grt_key *key, const struct track *like, struct track **out);

/* The same for a track whose name never changes. Return: 0 or an error */
int tracks_get_fixed(struct grt_tracks *t, const struct grt_key *key, const struct track *like,
		     const char *name, struct track **out);

/* Who did it and for which job. */
void tracks_add_common(struct tracks_args *a, const struct grt_event *e, bool on_thread);

/* An event with all its fields. */
int tracks_draw_instant(struct grt_tracks *t, struct track *k, const struct grt_event *e, uint32_t name,
			enum grt_track_category category);

/* Closes the innermost slices of a thread until @depth are left; their ends were not seen. */
int tracks_cut(struct grt_tracks *t, struct track *k, unsigned int depth, uint64_t time);

/* Begins a slice on a thread's track. */
int tracks_begin(struct grt_tracks *t, struct track *k, const struct open_slice *what,
		 struct grt_track_item *i, const struct tracks_args *a);

/* Ends the slice @depth and those within it. */
int tracks_end(struct grt_tracks *t, struct track *k, unsigned int depth, struct grt_track_item *i,
	       const struct tracks_args *a);

/* Draws nothing. */
int tracks_nothing(struct grt_tracks *t, const struct grt_event *e);

#endif /* GRT_EXPORT_TRACKS_PARTS_H */
