// SPDX-License-Identifier: GPL-2.0
/*
 * The files that give the trace away: events0..N, trace_pipe and events.
 *
 * relay's own file operations never block, hand out half-filled sub-buffers and
 * allow mmap, which lockdown forbids. These give finished packets only: a read
 * blocks until there is one, gives whole packets as long as the caller's buffer
 * has room for the first, and returns 0 once tracing is off and all is read.
 *
 * A CPU's packets go to one reader: opening claims the CPU (trace_pipe and
 * events: all of them), and a second opener gets EBUSY. A reader that goes away
 * in the middle of a packet leaves it to the next one, from its start.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core.h"

#define LINE_MAX_BYTES 512

/**
 * struct stream - an open file
 * @lock: only one read at a time
 * @cpus: the CPUs that it reads
 * @cpu: the CPU of the packet that is being read, while @pos is not 0
 * @pos: bytes of that packet that were returned (text: converted to lines)
 * @text: returns lines instead of packets
 * @line, @line_len, @line_pos: the line that is being returned
 */
struct stream {
	struct mutex lock;
	cpumask_var_t cpus;
	unsigned int cpu;
	size_t pos;
	bool text;
	int line_len;
	int line_pos;
	char line[LINE_MAX_BYTES];
};

/* The reader of each CPU, and whether readers are allowed; under claims_lock. */
static DEFINE_MUTEX(claims_lock);
static pid_t claims[NR_CPUS];
static bool shut = true; /* until the module has begun for good: an open file would outlive it */
static atomic_t streams;

/** grtrace_streams_open - whether anybody reads */
bool grtrace_streams_open(void)
{
	return atomic_read(&streams);
}

/** grtrace_reader_pid - a process that reads, 0: none */
int grtrace_reader_pid(void)
{
	int cpu, pid = 0;

	mutex_lock(&claims_lock);
	for_each_possible_cpu(cpu)
		if (claims[cpu])
			pid = claims[cpu];
	mutex_unlock(&claims_lock);
	return pid;
}

/**
 * grtrace_streams_shut - keeps streams from being opened until grtrace_streams_unshut()
 *
 * An opener gets EBUSY meanwhile.
 * Return: false when a stream is open
 */
bool grtrace_streams_shut(void)
{
	bool idle;

	mutex_lock(&claims_lock);
	idle = !grtrace_streams_open();
	shut |= idle;
	mutex_unlock(&claims_lock);
	return idle;
}

void grtrace_streams_unshut(void)
{
	mutex_lock(&claims_lock);
	shut = false;
	mutex_unlock(&claims_lock);
}

static int streams_claim(const struct cpumask *cpus)
{
	int cpu, err;

	mutex_lock(&claims_lock);
	err = shut ? -EBUSY : 0;
	for_each_cpu(cpu, cpus)
		if (claims[cpu])
			err = -EBUSY;
	for_each_cpu(cpu, cpus)
		if (!err)
			claims[cpu] = current->tgid;
	if (!err)
		atomic_inc(&streams);
	mutex_unlock(&claims_lock);
	return err;
}

static void streams_unclaim(const struct cpumask *cpus)
{
	int cpu;

	mutex_lock(&claims_lock);
	for_each_cpu(cpu, cpus)
		claims[cpu] = 0;
	atomic_dec(&streams);
	mutex_unlock(&claims_lock);
}

static int streams_open_stream(struct inode *inode, struct file *file, unsigned int first, bool all,
			       bool text)
{
	struct stream *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int err = -ENOMEM;

	if (!s || !zalloc_cpumask_var(&s->cpus, GFP_KERNEL))
		goto err_free;
	mutex_init(&s->lock);
	s->text = text;
	if (all)
		cpumask_copy(s->cpus, cpu_possible_mask);
	else
		cpumask_set_cpu(first, s->cpus);

	err = streams_claim(s->cpus);
	if (err)
		goto err_mask;
	file->private_data = s;
	grtrace_flush_schedule();
	return nonseekable_open(inode, file);

err_mask:
	free_cpumask_var(s->cpus);
err_free:
	kfree(s);
	return err;
}

static int streams_events_cpu_open(struct inode *inode, struct file *file)
{
	return streams_open_stream(inode, file, (unsigned long)inode->i_private - 1, false, false);
}

static int streams_trace_pipe_open(struct inode *inode, struct file *file)
{
	return streams_open_stream(inode, file, 0, true, false);
}

static int streams_events_open(struct inode *inode, struct file *file)
{
	return streams_open_stream(inode, file, 0, true, true);
}

static int streams_stream_release(struct inode *inode, struct file *file)
{
	struct stream *s = file->private_data;

	streams_unclaim(s->cpus);
	free_cpumask_var(s->cpus);
	kfree(s);
	return 0;
}

/* The packet that the stream is reading, or else the one that begins first. */
static const struct grt_packet *streams_next_packet(struct stream *s)
{
	const struct grt_packet *p, *first = NULL;
	int cpu;

	if (s->pos)
		return grtrace_packet_peek(s->cpu);
	for_each_cpu(cpu, s->cpus) {
		p = grtrace_packet_peek(cpu);
		if (!p || (first && p->timestamp_begin >= first->timestamp_begin))
			continue;
		first = p;
		s->cpu = cpu;
	}
	return first;
}

static bool streams_packet_ready(struct stream *s)
{
	int cpu;

	for_each_cpu(cpu, s->cpus)
		if (grtrace_packet_peek(cpu))
			return true;
	return false;
}

static void streams_packet_done(struct stream *s)
{
	s->pos = 0;
	grtrace_packet_consume(s->cpu);
}

/* Returns as many complete packets as fit; a part of a packet only if it is the first one. */
static ssize_t streams_read_packets(struct stream *s, char __user *to, size_t count)
{
	const struct grt_packet *p;
	size_t done = 0, rest, n;

	while (done < count && (p = streams_next_packet(s))) {
		rest = p->packet_size / 8 - s->pos;
		n = min(rest, count - done);
		if (n < rest && done)
			break;
		if (copy_to_user(to + done, (const char *)p + s->pos, n))
			return done ?: -EFAULT;
		done += n;
		s->pos += n;
		if (n == rest)
			streams_packet_done(s);
		cond_resched();
	}
	return done;
}

/* Converts the next record to a line. Return: false: there is none. */
static bool streams_next_line(struct stream *s)
{
	const struct grt_packet *p = streams_next_packet(s);
	const struct grt_event *e;

	while (p) {
		if (!s->pos)
			s->pos = sizeof(*p);
		if (s->pos < p->content_size / 8)
			break;
		streams_packet_done(s);
		p = streams_next_packet(s);
	}
	if (!p)
		return false;
	e = (const void *)p + s->pos;
	s->pos += e->size;
	s->line_len = grtrace_event_print(s->line, sizeof(s->line), e, p->cpu_id);
	s->line_pos = 0;
	return true;
}

static ssize_t streams_read_lines(struct stream *s, char __user *to, size_t count)
{
	size_t done = 0, n;

	while (done < count) {
		if (s->line_pos == s->line_len && !streams_next_line(s))
			break;
		n = min_t(size_t, s->line_len - s->line_pos, count - done);
		if (copy_to_user(to + done, s->line + s->line_pos, n))
			return done ?: -EFAULT;
		s->line_pos += n;
		done += n;
		cond_resched();
	}
	return done;
}

/*
 * Called if there was no packet: waits. Return: 0: try again, 1: end of file, or an error. After
 * tracing has stopped and everything was read, losses that had no room for a packet get one.
 */
static int streams_wait_for_packet(struct stream *s, bool nonblock)
{
	bool running;

	mutex_lock(&grtrace_lock);
	running = grtrace_running();
	if (!running)
		grtrace_flush_final();
	grtrace_unlock();
	if (streams_packet_ready(s))
		return 0;
	if (!running)
		return 1;
	if (nonblock)
		return -EAGAIN;
	return wait_event_interruptible(grtrace_wait, streams_packet_ready(s) || !grtrace_running());
}

static ssize_t streams_stream_read(struct file *file, char __user *to, size_t count, loff_t *ppos)
{
	struct stream *s = file->private_data;
	ssize_t n;
	int err;

	if (!count)
		return 0;
	err = mutex_lock_interruptible(&s->lock);
	if (err)
		return err;
	do {
		n = s->text ? streams_read_lines(s, to, count) : streams_read_packets(s, to, count);
		if (n)
			break;
		err = streams_wait_for_packet(s, file->f_flags & O_NONBLOCK);
	} while (!err);
	mutex_unlock(&s->lock);
	if (n)
		return n;
	return err < 0 ? err : 0;
}

static __poll_t streams_stream_poll(struct file *file, struct poll_table_struct *wait)
{
	struct stream *s = file->private_data;

	poll_wait(file, &grtrace_wait, wait);
	if (streams_packet_ready(s) || s->line_pos < s->line_len)
		return EPOLLIN | EPOLLRDNORM;
	return grtrace_running() ? 0 : EPOLLIN | EPOLLRDNORM | EPOLLHUP;
}

#define STREAM_FOPS(name, opener)                  \
	const struct file_operations name = {      \
		.owner = THIS_MODULE,              \
		.open = opener,                    \
		.read = streams_stream_read,       \
		.poll = streams_stream_poll,       \
		.release = streams_stream_release, \
	}

STREAM_FOPS(grtrace_stream_fops, streams_events_cpu_open);
STREAM_FOPS(grtrace_trace_pipe_fops, streams_trace_pipe_open);
STREAM_FOPS(grtrace_events_fops, streams_events_open);
