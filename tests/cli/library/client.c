// SPDX-License-Identifier: GPL-2.0
/*
 * A program outside of the tree, in C and in C++, that takes something of every header: prints the processes
 * of a recording, the sum of the jobs that are drawn, and a table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <grtrace/groups.h>
#include <grtrace/launches.h>
#include <grtrace/tables.h>
#include <grtrace/tracks.h>

struct client {
	struct grt_consumer c;
	struct grt_jobs *jobs;
	struct grt_groups *groups;
	struct grt_launches *launches;
	struct grt_tracks *tracks;
	uint64_t drawn;
	unsigned int sizes;
};

static int on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct client *p = (struct client *)c;
	int ret = grt_jobs_event(p->jobs, e);

	(void)cpu;
	ret = ret ? ret : grt_launches_event(p->launches, e);
	return ret ? ret : grt_tracks_event(p->tracks, e);
}

static int on_packet(struct grt_consumer *c, const struct grt_packet *packet)
{
	return grt_tracks_packet(((struct client *)c)->tracks, packet);
}

static int on_job(void *arg, const struct grt_job *job)
{
	((struct client *)arg)->sizes += job->size != sizeof(*job);
	return grt_groups_job(((struct client *)arg)->groups, job);
}

static int on_track(void *arg, const struct grt_track *track)
{
	((struct client *)arg)->sizes += track->size != sizeof(*track);
	return 0;
}

static int on_item(void *arg, const struct grt_track_item *item)
{
	struct client *p = (struct client *)arg;

	p->sizes += item->size != sizeof(*item);
	if (item->category == GRT_CATEGORY_JOB && item->kind == GRT_ITEM_SLICE)
		p->drawn += item->end - item->time;
	return 0;
}

static uint64_t value(enum grt_group_by by, const char *column, const void *view, const void *group)
{
	struct grt_cell cell = grt_column_get(grt_column_find(grt_groups_table(by), column), view, group);

	return cell.absent ? 0 : cell.number;
}

static int print_table(const struct grt_groups *groups, const struct grt_group_view *view, const char *form)
{
	struct grt_writer_options options;
	struct grt_writer *w = NULL;
	const struct grt_group *g;
	int ret;

	memset(&options, 0, sizeof(options));
	options.out = stdout;
	ret = grt_writer_new(&w, grt_writer_find(form), &options);
	if (ret)
		return ret;
	grt_writer_begin(w);
	grt_writer_table(w, grt_groups_table(GRT_BY_RING), view);
	for (uint32_t i = 0; !ret && (g = grt_groups_get(groups, GRT_BY_RING, i)) != NULL; i++)
		ret = grt_writer_row(w, g);
	grt_writer_table_end(w);
	grt_writer_end(w);
	grt_writer_free(w);
	return ret;
}

static int run(struct client *p, struct grt_session *s, struct grt_err *err)
{
	struct grt_jobs_sink jobs;
	struct grt_tracks_sink tracks;
	int ret;

	memset(&jobs, 0, sizeof(jobs));
	memset(&tracks, 0, sizeof(tracks));
	jobs.job = on_job;
	tracks.track = on_track;
	tracks.item = on_item;
	jobs.arg = tracks.arg = p;
	p->c.event = on_event;
	p->c.packet = on_packet;
	ret = grt_jobs_new(&p->jobs, &jobs, NULL);
	ret = ret ? ret : grt_groups_new(&p->groups, 1U << GRT_BY_PROCESS | 1U << GRT_BY_RING);
	ret = ret ? ret : grt_launches_new(&p->launches, NULL);
	ret = ret ? ret : grt_tracks_new(&p->tracks, &tracks);
	ret = ret ? ret : grt_session_run(s, &p->c, 0, UINT64_MAX, err);
	ret = ret ? ret : grt_jobs_flush(p->jobs);
	ret = ret ? ret : grt_launches_flush(p->launches);
	return ret ? ret : grt_tracks_end(p->tracks);
}

int main(int argc, char **argv)
{
	const struct grt_group *g;
	struct grt_group_view view;
	struct grt_session *s = NULL;
	struct grt_err err;
	struct client p;
	int ret;

	memset(&p, 0, sizeof(p));
	memset(&err, 0, sizeof(err));
	ret = grt_session_open(&s, argv[argc - 1], &err);
	ret = ret ? ret : run(&p, s, &err);
	if (ret) {
		fprintf(stderr, "%s: %s\n", err.what, err.why);
		return 1;
	}
	view.names = grt_jobs_names(p.jobs);
	view.span = 0;
	for (uint32_t i = 0; (g = grt_groups_get(p.groups, GRT_BY_PROCESS, i)) != NULL; i++)
		printf("process %" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		       value(GRT_BY_PROCESS, "pid", &view, g), value(GRT_BY_PROCESS, "jobs", &view, g),
		       value(GRT_BY_PROCESS, "exec_sum", &view, g),
		       value(GRT_BY_PROCESS, "exec_max", &view, g));
	printf("version %s %s\n", GRT_VERSION, grt_version());
	printf("jobs %" PRIu64 " launches %" PRIu64 " slices %" PRIu64 " drawn %" PRIu64 " sizes %u\n",
	       grt_jobs_count(p.jobs).jobs, grt_launches_count(p.launches).launches,
	       grt_tracks_count(p.tracks)->jobs, p.drawn, p.sizes);
	ret = print_table(p.groups, &view, "json");
	grt_groups_free(p.groups);
	grt_tracks_free(p.tracks);
	grt_launches_free(p.launches);
	grt_jobs_free(p.jobs);
	grt_session_close(s);
	return ret != 0;
}
