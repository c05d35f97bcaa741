// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Prints the ten jobs of a recording that ran longest on the GPU.
 *	cc -o longest_jobs longest_jobs.c $(pkg-config --cflags --libs grtrace)
 *	./longest_jobs run.grt
 */
#include <inttypes.h>
#include <stdio.h>

#include <grtrace/jobs.h>

struct longest {
	struct grt_consumer c; /* first: callbacks get its address */
	struct grt_jobs *jobs;
	unsigned int n;
	struct {
		uint64_t ns, ctx, seqno;
		uint32_t pid;
	} row[11];
};

static int on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	(void)cpu;
	return grt_jobs_event(((struct longest *)c)->jobs, e);
}

static int on_job(void *arg, const struct grt_job *job)
{
	struct longest *l = arg;
	unsigned int i = l->n;
	bool inferred;
	uint64_t ns;

	if (!grt_job_phase(job, GRT_PHASE_EXEC, &ns, &inferred))
		return 0; /* START or END is not in the recording */
	for (; i && l->row[i - 1].ns < ns; i--)
		l->row[i] = l->row[i - 1];
	l->row[i].ns = ns, l->row[i].ctx = job->ctx, l->row[i].seqno = job->seqno, l->row[i].pid = job->pid;
	l->n += l->n < 10;
	return 0;
}

int main(int argc, char **argv)
{
	struct longest l = {.c = {.event = on_event}};
	struct grt_jobs_sink sink = {.job = on_job, .arg = &l};
	struct grt_err err = {.what = "no memory"};
	struct grt_session *session = NULL;
	int ret = grt_session_open(&session, argc > 1 ? argv[1] : "grtrace.out.grt", &err);

	ret = ret ? ret : grt_jobs_new(&l.jobs, &sink, NULL);
	ret = ret ? ret : grt_session_run(session, &l.c, 0, UINT64_MAX, &err);
	ret = ret ? ret : grt_jobs_flush(l.jobs);
	for (unsigned int i = 0; i < l.n && !ret; i++)
		printf("%" PRIu64 " ns: job %" PRIu64 ":%" PRIu64 " of process %" PRIu32 "\n", l.row[i].ns,
		       l.row[i].ctx, l.row[i].seqno, l.row[i].pid);
	if (ret)
		fprintf(stderr, "longest_jobs: %s: %s\n", err.what, err.why);
	grt_jobs_free(l.jobs);
	grt_session_close(session);
	return ret != 0;
}
