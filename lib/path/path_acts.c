// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Lanes, activities and fences of a path by number, and their names for users.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/memfile.h"
#include "codes/cuda_codes.h"
#include "path_run.h"
#include "threads/threads.h"

#define ACTS_MAX (1U << 20)

/* Most frames of a stack that are shown, innermost first. */
#define FRAMES_SHOWN 3U

static const struct {
	const char *name;
	bool change;
} kinds[] = {
#define GRT_PATH_KIND(NAME, name, change, help) {#name, change},
#include "path_kinds.def"
#undef GRT_PATH_KIND
};

/* ----------------------------------------------------------------- lanes */

static uint32_t path_new_lane(struct grt_path *s, const struct path_lane *key)
{
	if (s->lanes == GRT_PATH_LANES_MAX) {
		s->count.over++;
		return PATH_NOBODY;
	}
	if (grt_grow(&s->lane, &s->lane_room, s->lanes + 1, 64)) {
		s->error = -ENOMEM;
		return PATH_NOBODY;
	}
	s->lane[s->lanes] = *key;
	s->lane[s->lanes].last = s->lane[s->lanes].call = s->lane[s->lanes].launched = GRT_PATH_NONE;
	return s->lanes++;
}

/* @number: of the lane, plus 1 */
static uint32_t lane_by(struct grt_path *s, const struct grt_key *key, uint32_t **number)
{
	int ret = grt_keyed_get_or_count(&s->lanes_by, key, &s->count.over, (void **)number);

	if (ret)
		s->error = ret;
	return ret || !*number ? PATH_NOBODY : **number;
}

uint32_t path_lane_of(struct grt_path *s, const struct path_lane *key)
{
	uint32_t *number = NULL,
		 found = lane_by(s,
				 &(struct grt_key){{key->kind, (uint64_t)key->image << 32 | key->id,
						    (uint64_t)key->device << 32 | key->context,
						    key->kind == PATH_PROCESS ? key->pid : 0}},
				 &number);

	if (found || !number)
		return found ? found - 1 : PATH_NOBODY;
	found = path_new_lane(s, key);
	*number = found + 1;
	return found;
}

uint32_t path_lane_thread(struct grt_path *s, uint32_t pid, uint32_t tid)
{
	uint32_t *number = NULL, found = lane_by(s, &(struct grt_key){{PATH_THREAD, tid}}, &number), in;

	if (!tid || !number)
		return PATH_NOBODY;
	if (found && (!pid || s->lane[found - 1].pid == pid))
		return found - 1;
	in = path_lane_of(s, &(struct path_lane){.kind = PATH_PROCESS, .pid = pid});
	found = path_new_lane(s, &(struct path_lane){.kind = PATH_THREAD, .pid = pid, .id = tid, .in = in});
	/* the element may have moved */
	lane_by(s, &(struct grt_key){{PATH_THREAD, tid}}, &number);
	*number = found + 1;
	return found;
}

/* ------------------------------------------------------------ activities */

static bool path_same_act(const void *owner, uint32_t id, const void *key)
{
	const struct path_act *a = &((const struct grt_path *)owner)->act[id], *k = key;

	return a->kind == k->kind && a->state == k->state && a->lane == k->lane && a->name == k->name &&
	       a->stack == k->stack && a->image == k->image && a->waker == k->waker;
}

/*
 * Code of a process is one activity, whichever of its threads runs it: a change of the code changes it for
 * all.
 */
static uint32_t lane_of_code(const struct grt_path *s, const struct path_act *a)
{
	bool code = a->stack || a->name, thread = s->lanes && s->lane[a->lane].kind == PATH_THREAD;

	return code && thread ? s->lane[a->lane].in : a->lane;
}

uint32_t path_act_of(struct grt_path *s, const struct path_act *act)
{
	struct path_act at = *act, *key = &at;
	uint32_t tag, found;

	at.lane = lane_of_code(s, act);
	tag = grt_hash(&s->key,
		       (uint64_t)key->lane << 32 | (uint64_t)key->kind << 24 | key->image << 8 | key->state,
		       (uint64_t)key->name << 32 | (key->stack ^ key->waker * 0x9e3779b9U));
	found = grt_index_find(&s->act_index, tag, path_same_act, s, key);
	if (found != GRT_NOWHERE)
		return found;
	if (s->acts == ACTS_MAX) {
		s->count.over++;
		return 0;
	}
	if (grt_grow(&s->act, &s->act_room, s->acts + 1, 256) || grt_index_add(&s->act_index, tag, s->acts)) {
		s->error = -ENOMEM;
		return 0;
	}
	s->act[s->acts] = *key;
	return s->acts++;
}

const char *path_act_kind(const struct path_act *a)
{
	return kinds[a->kind].name;
}

bool path_act_changes(const struct path_act *a)
{
	return kinds[a->kind].change;
}

/* ---------------------------------------------------------------- fences */

static bool path_same_fence(const void *owner, uint32_t id, const void *key)
{
	const struct path_fence *f = &((const struct grt_path *)owner)->fence[id], *k = key;

	return f->ctx == k->ctx && f->seqno == k->seqno;
}

uint32_t path_fence_of(struct grt_path *s, uint64_t ctx, uint64_t seqno)
{
	struct path_fence key = {ctx, seqno, GRT_PATH_NONE};
	uint32_t tag = grt_hash(&s->key, ctx, seqno),
		 found = grt_index_find(&s->fence_index, tag, path_same_fence, s, &key);

	if (found != GRT_NOWHERE)
		return found;
	if (grt_grow(&s->fence, &s->fence_room, s->fences + 1, 256) ||
	    grt_index_add(&s->fence_index, tag, s->fences)) {
		s->error = -ENOMEM;
		return GRT_PATH_NONE;
	}
	s->fence[s->fences] = key;
	return s->fences++;
}

/* ----------------------------------------------------------------- texts */

/* The innermost frames of a stack of FRAME records, innermost first. Return: 0 or -ENOMEM */
static int path_frames_text(struct grt_path *s, uint32_t stack, char **out)
{
	uint32_t depth = grt_frames_depth(&s->frames, stack);
	struct grt_memfile m;
	FILE *f = grt_memfile_open(&m);
	char *frame;
	int ret = f ? 0 : -ENOMEM;

	for (uint32_t i = 0; !ret && i < FRAMES_SHOWN && i < depth; i++) {
		frame = grt_frames_text(&s->frames, stack, i);
		ret = frame ? 0 : -ENOMEM;
		fprintf(f, "%s%s", i ? " < " : "", frame ?: "");
		free(frame);
	}
	*out = grt_memfile_close(&m, f, NULL);
	return *out ? ret : -ENOMEM;
}

static int act_stack_text(struct grt_path *s, const struct path_act *a, char **out)
{
	const struct grt_images *images = grt_launches_images(s->launches);

	if (a->kind == PATH_IS_RUNNING && a->name)
		return grt_image_frames_brief(s->image_frames, images->image[a->image], a->stack, out);
	return path_frames_text(s, a->stack, out);
}

static int kernel_text(struct grt_path *s, const struct path_act *a, char **out)
{
	const struct grt_images *images = grt_launches_images(s->launches);
	const char *text;
	size_t len;
	int ret = grt_image_kernel_name(s->image_frames, images->image[a->image], a->name, &text, &len);

	*out = ret ? NULL : strndup(text, len);
	return *out ? 0 : -ENOMEM;
}

static const char *process_text(const struct grt_names *names, uint32_t pid, char room[32])
{
	const char *name = grt_names_name(names, grt_names_find(names, GRT_NAME_THREAD, pid));

	snprintf(room, 32, "pid %" PRIu32, pid);
	return name ?: room;
}

static int asleep_text(const struct path_act *a, const struct grt_names *names, const char *stack, char **out)
{
	char waker[32], by[64] = "";

	if (a->waker)
		snprintf(by, sizeof(by), ", woken by %s (%" PRIu32 ")", process_text(names, a->waker, waker),
			 a->waker);
	return asprintf(out, "%s%s%s%s", grt_thread_state_name(a->state), *stack ? " in " : "", stack, by);
}

static int running_text(const struct path_act *a, const char *stack, char **out)
{
	const struct grt_cuda_call *call = a->name ? grt_cuda_call(a->name) : NULL;

	if (call)
		return asprintf(out, "before %s%s%s", call->name, *stack ? " in " : "", stack);
	return asprintf(out, "%s%s", *stack ? "up to " : "code", stack);
}

static int path_text(const struct path_act *a, const struct grt_names *names, const char *stack, char **out)
{
	const struct grt_cuda_call *call = grt_cuda_call(a->name);
	char process[32];

	switch (a->kind) {
	case PATH_IS_COPY:
		return asprintf(out, "%s", grt_cuda_copy_name(a->name));
	case PATH_IS_JOB:
		return asprintf(out, "job of %s (%" PRIu32 ")", process_text(names, a->name, process),
				a->name);
	case PATH_IS_CALL:
		return asprintf(out, "%s", call ? call->name : "wait for a job");
	case PATH_IS_RUNNING:
		return running_text(a, stack, out);
	case PATH_IS_ASLEEP:
		return asleep_text(a, names, stack, out);
	}
	return asprintf(out, "%s", kinds[a->kind].name);
}

int path_act_text(struct grt_path *s, const struct path_act *a, const struct grt_names *names, char **out)
{
	char *stack = NULL;
	int ret;

	if (a->kind == PATH_IS_KERNEL)
		return kernel_text(s, a, out);
	ret = act_stack_text(s, a, &stack);
	if (!ret && path_text(a, names, stack, out) < 0) {
		*out = NULL;
		ret = -ENOMEM;
	}
	free(stack);
	return ret;
}

int path_lane_text(struct grt_path *s, uint32_t lane, const struct grt_names *names, char **out)
{
	const struct path_lane *l = &s->lane[lane];
	const char *ring = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, l->id));
	char room[32];
	int n = -1;

	switch (l->kind) {
	case PATH_PROCESS:
		n = asprintf(out, "%s", process_text(names, l->pid, room));
		break;
	case PATH_THREAD:
		n = asprintf(out, "%s (%" PRIu32 ")", process_text(names, l->id, room), l->id);
		break;
	case PATH_CONTEXT:
	case PATH_STREAM:
		n = asprintf(out, "GPU %" PRIu32 " stream %" PRIu32, l->gpu, l->id);
		break;
	case PATH_RING:
		n = ring ? asprintf(out, "%s", ring) : asprintf(out, "ring %" PRIu32, l->id);
		break;
	default:
		n = asprintf(out, "-");
	}
	return n < 0 ? -ENOMEM : 0;
}
