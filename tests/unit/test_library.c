// SPDX-License-Identifier: GPL-2.0
/*
 * The library as programs meet it that were compiled with an older or a newer header: where members are,
 * sinks and options that are shorter or longer, counts that have more or less room. See old_client.c for
 * sessions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <grtrace/groups.h>
#include <grtrace/launches.h>
#include <grtrace/tables.h>
#include <grtrace/tracks.h>

#define LAYOUT(type, member, at) \
	_Static_assert(offsetof(struct grt_##type, member) == (at), #type ": " #member " has moved");
#define LAYOUT_SIZE(type, bytes) _Static_assert(sizeof(struct grt_##type) == (bytes), #type " never grows");
#include "layouts.def"
#undef LAYOUT_SIZE
#undef LAYOUT

/* What lies behind a struct of a program with an older header, or in one of a newer. */
#define BEHIND 0xa5
#define MORE 64

/* struct seen - what a sink got */
struct seen {
	unsigned int jobs;
	unsigned int works;
	unsigned int tracks;
	unsigned int items;
};

static int on_job(void *arg, const struct grt_job *job)
{
	assert_int_equal(job->size, sizeof(*job));
	((struct seen *)arg)->jobs++;
	return 0;
}

static int on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
		   const struct grt_launch *launch, enum grt_launched_how how)
{
	(void)e;
	(void)image;
	(void)how;
	if (launch)
		assert_int_equal(launch->size, sizeof(*launch));
	((struct seen *)arg)->works++;
	return 0;
}

static int on_track(void *arg, const struct grt_track *track)
{
	assert_int_equal(track->size, sizeof(*track));
	((struct seen *)arg)->tracks++;
	return 0;
}

static int on_item(void *arg, const struct grt_track_item *item)
{
	assert_int_equal(item->size, sizeof(*item));
	((struct seen *)arg)->items++;
	return 0;
}

/* The stamps of a job whose numbers are all 1. */
static const uint16_t life[] = {GRT_EV_SUBMIT, GRT_EV_START, GRT_EV_END, GRT_EV_COMPLETE};

static const struct grt_event *life_event(unsigned int i)
{
	static union {
		struct grt_event e;
		char room[GRT_RECORD_MAX];
	} r;

	memset(&r, 0, sizeof(r));
	r.e = (struct grt_event){
		.time = 1000 + i, .type = life[i], .size = 64, .ctx = 1, .seqno = 1, .ring = 1};
	return &r.e;
}

static void count_of_any_size(const struct grt_jobs *j)
{
	struct {
		struct grt_jobs_count now;
		unsigned char later[MORE];
	} longer;
	struct grt_jobs_count shorter;

	memset(&longer, BEHIND, sizeof(longer));
	grt_jobs_count_sized(j, &longer.now, sizeof(longer));
	assert_int_equal(longer.now.jobs, 1);
	for (unsigned int i = 0; i < MORE; i++)
		assert_int_equal(longer.later[i], 0);
	memset(&shorter, BEHIND, sizeof(shorter));
	grt_jobs_count_sized(j, &shorter, offsetof(struct grt_jobs_count, no_submit));
	assert_int_equal(shorter.incomplete, 0);
	assert_int_equal(shorter.no_submit, 0xa5a5a5a5a5a5a5a5);
}

/* A newer one, with members that this library does not have. */
static void jobs_of_a_sink_of_any_size(void **state)
{
	struct seen seen = {0};
	struct {
		struct grt_jobs_sink now;
		unsigned char later[MORE];
	} longer = {.now = {.job = on_job, .arg = &seen}};
	struct grt_jobs *j;

	(void)state;
	memset(longer.later, BEHIND, MORE);
	assert_int_equal(grt_jobs_new_sized(&j, &longer.now, sizeof(longer), NULL, 0), 0);
	for (unsigned int i = 0; i < sizeof(life) / sizeof(life[0]); i++)
		assert_int_equal(grt_jobs_event(j, life_event(i)), 0);
	assert_int_equal(grt_jobs_flush(j), 0);
	assert_int_equal(seen.jobs, 1);
	count_of_any_size(j);
	grt_jobs_free(j);
}

static void limits_of_any_size(void **state)
{
	struct seen seen = {0};
	const struct grt_jobs_sink sink = {.job = on_job, .arg = &seen};
	struct grt_jobs_limits limits = {.jobs = 1, .window = 1, .waits = 1};
	struct grt_jobs *j;

	(void)state;
	/* Limits that the program does not know are the defaults. */
	for (unsigned int known = 0; known < 2; known++) {
		seen.jobs = 0;
		assert_int_equal(
			grt_jobs_new_sized(&j, &sink, sizeof(sink), &limits,
					   known ? sizeof(limits) : offsetof(struct grt_jobs_limits, jobs)),
			0);
		for (uint64_t seqno = 1; seqno < 4; seqno++) {
			struct grt_ev_submit e = {.e = {.time = seqno,
							.type = GRT_EV_SUBMIT,
							.size = sizeof(e),
							.ctx = 1,
							.seqno = seqno}};

			assert_int_equal(grt_jobs_event(j, &e.e), 0);
		}
		assert_int_equal(seen.jobs, known ? 2 : 0);
		grt_jobs_free(j);
	}
}

static void launches_of_a_sink_of_any_size(void **state)
{
	struct seen seen = {0};
	struct grt_launches_sink sink = {.work = on_work, .arg = &seen, .no_begin = true};
	struct grt_ev_launch launch = {
		.e = {.time = 10, .type = GRT_EV_LAUNCH, .size = sizeof(launch), .pid = 1},
		.correlation = 7,
	};
	struct grt_ev_gpu_kernel kernel = {
		.e = {.time = 20, .type = GRT_EV_GPU_KERNEL, .size = sizeof(kernel), .pid = 1},
		.start = 11,
		.end = 12,
		.correlation = 7,
	};
	struct grt_launches_count count;
	struct grt_launches *l;

	(void)state;
	/* without its last member */
	assert_int_equal(grt_launches_new_sized(&l, &sink, offsetof(struct grt_launches_sink, no_begin)), 0);
	assert_int_equal(grt_launches_event(l, &launch.e), 0);
	assert_int_equal(grt_launches_event(l, &kernel.e), 0);
	assert_int_equal(grt_launches_flush(l), 0);
	assert_int_equal(seen.works, 1);
	memset(&count, BEHIND, sizeof(count));
	grt_launches_count_sized(l, &count, offsetof(struct grt_launches_count, failed));
	assert_int_equal(count.launches, 1);
	assert_int_equal(count.failed, 0xa5a5a5a5a5a5a5a5);
	grt_launches_free(l);
}

static void tracks_of_a_sink_of_any_size(void **state)
{
	struct seen seen = {0};
	struct {
		struct grt_tracks_sink now;
		unsigned char later[MORE];
	} longer = {.now = {.track = on_track, .item = on_item, .arg = &seen}};
	struct grt_tracks *t;

	(void)state;
	memset(longer.later, BEHIND, MORE);
	assert_int_equal(grt_tracks_new_sized(&t, &longer.now, sizeof(longer)), 0);
	for (unsigned int i = 0; i < sizeof(life) / sizeof(life[0]); i++)
		assert_int_equal(grt_tracks_event(t, life_event(i)), 0);
	assert_int_equal(grt_tracks_end(t), 0);
	assert_true(seen.tracks > 0 && seen.items > 0);
	assert_int_equal(grt_tracks_count(t)->size, sizeof(struct grt_tracks_count));
	assert_int_equal(grt_tracks_count(t)->jobs, 1);
	grt_tracks_free(t);
}

static void a_writer_of_shorter_options(void **state)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	/* colours are of a later header */
	struct grt_writer_options options = {.out = out, .colour = true};
	const struct grt_field_value values[] = {
		{.name = "n", .kind = GRT_CELL_NUMBER, .cell = {.number = 3}}, {.name = NULL}};
	struct grt_writer *w;

	(void)state;
	assert_null(grt_writer_find("xml"));
	assert_int_equal(grt_writer_new_sized(&w, grt_writer_find("text"), &options,
					      offsetof(struct grt_writer_options, colour)),
			 0);
	grt_writer_begin(w);
	grt_writer_fields(w, NULL, "numbers", values);
	grt_writer_end(w);
	grt_writer_free(w);
	fclose(out);
	assert_non_null(strstr(text, "3"));
	assert_null(strchr(text, '\033'));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_of_a_sink_of_any_size),
		cmocka_unit_test(limits_of_any_size),
		cmocka_unit_test(launches_of_a_sink_of_any_size),
		cmocka_unit_test(tracks_of_a_sink_of_any_size),
		cmocka_unit_test(a_writer_of_shorter_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
