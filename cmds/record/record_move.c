// SPDX-License-Identifier: GPL-2.0
/* Moves packets from the streams of the sources into the recording, while it runs and at its end. */
#include <errno.h>
#include <string.h>

#include "trace/cut.h"
#include "record.h"
#include "record_options.h"

/* Number of reads until a stream counts as empty, because a busy stream never is. */
#define READS_MAX 16U

/* How long to wait for the end of a stopped stream. */
#define DRAIN_NS (5 * NS_PER_S)

static struct input *move_input(struct run *run, unsigned int stream)
{
	unsigned int i = 0;

	while (stream >= run->inputs[i].first + run->inputs[i].streams)
		i++;
	return &run->inputs[i];
}

/** struct moving - bytes that are moved into the file @place of the recording */
struct moving {
	struct run *run;
	struct input *in;
	unsigned int place;
	struct grt_err *err;
};

static void move_took(void *arg, const struct grt_packet *p)
{
	struct input *in = ((struct moving *)arg)->in;

	if (in->source->took)
		in->source->took(in->state, p);
}

static int move_put(void *arg, const char *data, size_t len)
{
	struct moving *m = arg;

	if (m->run->box.on)
		return box_take(&m->run->box, m->place, (unsigned int)(m->in - m->run->inputs), data, len,
				m->err);
	return recording_write(&m->run->rec, record_opt.raw ? 0 : m->place, data, len, m->err);
}

static void move_end_stream(struct run *run, unsigned int stream)
{
	struct input *in = move_input(run, stream);

	run->fds[stream].fd = -1;
	run->left--;
	if (!--in->left && !run->end)
		in->ended = grt_now();
}

/*
 * Moves the result of one read. Return: number of bytes, 0: there is nothing (more), or -errno with *err set
 */
static ssize_t move_read(struct run *run, unsigned int stream, struct grt_err *err)
{
	struct input *in = move_input(run, stream);
	struct moving m = {run, in, 0, err};
	const struct grt_cut_ops ops = {move_took, move_put, &m};
	int index = (int)(stream - in->first), ret;
	ssize_t n = in->source->read(in->state, (unsigned int)index, run->buffer, RECORD_CHUNK);

	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n < 0)
		return grt_err_set(err, (int)n, strerror((int)-n), NULL, "cannot read stream %d of %s", index,
				   in->source->name);
	if (!n) {
		move_end_stream(run, stream);
		return 0;
	}
	m.place = in->first_place + (in->source->place ? in->source->place(in->state, (unsigned int)index)
						       : (unsigned int)index);
	ret = grt_cut_feed(&in->cut, &run->cut[m.place], run->buffer, (size_t)n, &ops);
	if (ret == -ENOMEM)
		grt_err_set(err, ret, NULL, NULL, "no memory for a packet of %s", in->source->name);
	return ret ? ret : n;
}

int record_move_ready(struct run *run, struct grt_err *err)
{
	unsigned int i;
	ssize_t n;

	for (i = 0; i < run->streams; i++) {
		if (run->fds[i].fd < 0 || !run->fds[i].revents)
			continue;
		n = move_read(run, i, err);
		if (n < 0)
			return (int)n;
	}
	return 0;
}

uint64_t record_move_all(struct run *run, int *code, struct grt_err *err)
{
	uint64_t until = grt_now();
	struct input *in;
	ssize_t n;

	*code = 0;
	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		if (in->source->flush)
			in->source->flush(in->state, NULL);
		for (unsigned int i = in->first; i < in->first + in->streams; i++)
			for (unsigned int k = 0; k < READS_MAX && run->fds[i].fd >= 0; k++) {
				n = move_read(run, i, err);
				*code = n < 0 ? (int)n : *code;
				if (n <= 0)
					break;
			}
	}
	return *code ? 0 : until;
}

/* Takes everything up to the end of the streams. */
static int move_to_end(struct run *run, struct grt_err *err)
{
	uint64_t limit = grt_now() + DRAIN_NS;
	int ret = 0, ready;

	while (!ret && run->left) {
		ready = poll(run->fds, run->streams, RECORD_TICK_MS);
		if (ready > 0)
			ret = record_move_ready(run, err);
		if (ready > 0)
			limit = grt_now() + DRAIN_NS;
		else if (grt_now() > limit)
			return grt_err_set(err, -ETIMEDOUT, "tracing stopped, but the streams did not end",
					   "sudo dmesg | tail", "cannot read the rest");
	}
	return ret;
}

/*
 * Reads what is available from streams that continue: at most one buffer from each, because a busy GPU could
 * otherwise prevent the end.
 */
static int move_present(struct run *run, const struct input *in, struct grt_err *err)
{
	uint64_t most = 16 * (uint64_t)RECORD_CHUNK, got;
	unsigned int i;
	ssize_t n;

	for (i = in->first; i < in->first + in->streams; i++) {
		for (got = 0; got < most && run->fds[i].fd >= 0; got += (uint64_t)n) {
			n = move_read(run, i, err);
			if (n < 0)
				return (int)n;
			if (!n)
				break;
		}
		if (run->fds[i].fd >= 0)
			move_end_stream(run, i);
	}
	return 0;
}

int record_move_rest(struct run *run, int ret, struct grt_err *err)
{
	struct grt_err other = {0};
	unsigned int i;
	int stopped;

	if (ret >= 0)
		record_inputs_end(run);
	for (i = 0; i < run->n_inputs; i++) {
		stopped = run->inputs[i].source->stop(run->inputs[i].state, ret < 0 ? &other : err);
		if (ret < 0)
			continue;
		ret = stopped ?: move_present(run, &run->inputs[i], err);
	}
	return ret < 0 ? ret : move_to_end(run, err);
}
