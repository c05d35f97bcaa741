// SPDX-License-Identifier: GPL-2.0
/*
 * The relay channel: each sub-buffer is one packet. No-overwrite: when a CPU's
 * buffer is full, its events are counted as lost until a reader has made room.
 *
 * A CPU's open packet may be changed by code on that CPU with interrupts off, or,
 * while tracing is off, by any code that holds grtrace_lock. relay's own flush is not
 * used, because it switches other CPUs' sub-buffers while they write.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/oom.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "../compat/relay.h"
#include "core.h"

static struct rchan *chan;
static u64 chan_bytes;

DECLARE_WAIT_QUEUE_HEAD(grtrace_wait);

static void buffer_fresh_fn(struct irq_work *work);
static void buffer_flush_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(timely_flush, buffer_flush_work_fn);

static bool buffer_full(const struct rchan_buf *buf)
{
	return buf->offset == buf->chan->subbuf_size + 1; /* relay's mark: no open sub-buffer */
}

static bool buffer_has_records(const struct rchan_buf *buf)
{
	return !buffer_full(buf) && buf->offset > sizeof(struct grt_packet);
}

/* Writes the header of the open packet. relay_switch_subbuf() must follow. */
static void buffer_packet_close(struct grtrace_cpu *c, struct rchan_buf *buf)
{
	struct grt_packet *p = buf->data;
	const struct grt_event *first = (const void *)(p + 1);
	u64 now = max(ktime_get_mono_fast_ns(), c->stamp);
	bool empty = !buffer_has_records(buf);

	*p = (struct grt_packet){
		.magic = GRT_PACKET_MAGIC,
		.stream_id = GRT_STREAM_CPU,
		.format = GRT_FORMAT,
		.header_size = sizeof(*p),
		.cpu_id = buf->cpu,
		.timestamp_begin = empty ? now : first->time,
		.timestamp_end = empty ? now : c->record_stamp,
		.content_size = buf->offset * 8ULL,
		.packet_size = buf->offset * 8ULL,
		.packet_seq_num = c->seq++,
		.events_discarded = c->balance.fate[GRT_FATE_LOST],
		.begin = c->ended,
		.end = c->balance,
	};
	if (empty)
		c->stamp = now;
	c->ended = c->balance;
	smp_wmb(); /* the packet before relay's count; pairs with grtrace_packet_peek() */
}

/* relay calls this for every new sub-buffer, including the first one (@prev is NULL). */
static int buffer_packet_open(struct rchan_buf *buf, void *prev)
{
	struct grtrace_cpu *c = per_cpu_ptr(&grtrace_cpus, buf->cpu);

	if (!prev)
		smp_store_release(&c->buf, buf); /* its members first; readers depend on the address */
	else if (relay_buf_full(buf))
		return 0;
	subbuf_start_reserve(buf, sizeof(struct grt_packet));
	memset(c->named_rings, 0, sizeof(c->named_rings));
	memset(c->named_tids, 0, sizeof(c->named_tids));
	return 1;
}

static int buffer_subbuf_start_padding(struct rchan_buf *buf, void *subbuf, void *prev, size_t padding)
{
	return buffer_packet_open(buf, prev);
}

static int buffer_subbuf_start(struct rchan_buf *buf, void *subbuf, void *prev)
{
	return buffer_packet_open(buf, prev);
}

/**
 * grtrace_buffer_files - makes events0..N, and the links trace0..N to them
 *
 * Of every CPU that may ever be there: relay makes a buffer when its CPU comes,
 * and who began to read before that, and may open nothing any more, has it too.
 */
void grtrace_buffer_files(void)
{
	char events[32], trace[32];
	unsigned long cpu;

	for_each_possible_cpu(cpu) {
		snprintf(events, sizeof(events), "events%lu", cpu);
		snprintf(trace, sizeof(trace), "trace%lu", cpu);
		debugfs_create_file(events, 0400, grtrace_dir, (void *)(cpu + 1), &grtrace_stream_fops);
		debugfs_create_symlink(trace, grtrace_dir, events);
	}
}

/* relay wants a file for each buffer: it already exists. */
static struct dentry *buffer_create_buf_file(const char *filename, struct dentry *parent, umode_t mode,
					     struct rchan_buf *buf, int *is_global)
{
	return debugfs_lookup(filename, parent);
}

/* Keeps the file, because the next buffer of the CPU uses the same one. */
static int buffer_remove_buf_file(struct dentry *dentry)
{
	dput(dentry);
	return 0;
}

static const struct rchan_callbacks callbacks = {
	.subbuf_start = grtrace_relay_subbuf_start(buffer_subbuf_start_padding, buffer_subbuf_start),
	.create_buf_file = buffer_create_buf_file,
	.remove_buf_file = buffer_remove_buf_file,
};

static void buffer_wake_fn(struct irq_work *work)
{
	wake_up_interruptible_all(&grtrace_wait);
}

/** grtrace_cpus_init - allocates the memory per CPU, except the buffers. Return: 0 or -ENOMEM */
int grtrace_cpus_init(void)
{
	struct grtrace_cpu *c;
	int cpu;

	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(&grtrace_cpus, cpu);
		init_irq_work(&c->wake, buffer_wake_fn);
		init_irq_work(&c->fresh, buffer_fresh_fn);
		c->rings = kvcalloc(GRTRACE_RINGS + 1, sizeof(*c->rings), GFP_KERNEL);
		if (!c->rings) {
			grtrace_cpus_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

void grtrace_cpus_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(&grtrace_cpus, cpu)->rings);
}

static void forget_buffers(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(&grtrace_cpus, cpu)->buf, NULL);
}

static size_t buffer_subbuf_size(u64 bytes)
{
	return PAGE_ALIGN(DIV_ROUND_UP_ULL(bytes, GRTRACE_SUBBUFS));
}

/*
 * Whether there is memory for a buffer of this size if one of @instead_of bytes is freed. relay
 * would take page after page, until the system kills processes to get another one.
 */
static bool buffer_have_memory(u64 bytes, u64 instead_of)
{
	u64 wanted = (u64)buffer_subbuf_size(bytes) * GRTRACE_SUBBUFS * num_online_cpus();
	u64 freed = instead_of * num_online_cpus();

	return wanted <= freed || (wanted - freed) >> PAGE_SHIFT < max(si_mem_available(), 0L);
}

/**
 * grtrace_buffer_open - makes the channel and its files, grtrace_lock held
 * @bytes: per CPU
 * Return: 0 or -ENOMEM
 */
int grtrace_buffer_open(u64 bytes)
{
	size_t subbuf = buffer_subbuf_size(bytes);

	if (!buffer_have_memory(bytes, 0))
		return -ENOMEM;
	set_current_oom_origin(); /* kill this process before others */
	chan = relay_open("events", grtrace_dir, subbuf, GRTRACE_SUBBUFS, &callbacks, NULL);
	clear_current_oom_origin();
	if (!chan) {
		forget_buffers(); /* buffers of the CPUs before the one that got none */
		return -ENOMEM;
	}
	chan_bytes = (u64)subbuf * GRTRACE_SUBBUFS;
	WRITE_ONCE(grtrace_config[GRT_CONFIG_buffer_size], chan_bytes);
	pr_debug("buffer: %llu bytes per CPU\n", chan_bytes);
	return 0;
}

/** grtrace_buffer_close - frees the channel, grtrace_lock held, tracing off */
void grtrace_buffer_close(void)
{
	int cpu;

	if (!chan)
		return;
	for_each_possible_cpu(cpu) {
		struct grtrace_cpu *c = per_cpu_ptr(&grtrace_cpus, cpu);

		irq_work_sync(&c->wake);
		irq_work_sync(&c->fresh);
	}
	forget_buffers();
	cancel_delayed_work_sync(&timely_flush);
	relay_close(chan);
	forget_buffers(); /* the buffer of a CPU that appeared meanwhile */
	chan = NULL;
}

/** grtrace_buffer_size - bytes per CPU */
u64 grtrace_buffer_size(void)
{
	return chan_bytes;
}

/** grtrace_buffer_used - bytes of a CPU's buffer that no reader has taken yet */
size_t grtrace_buffer_used(unsigned int cpu)
{
	const struct rchan_buf *buf = READ_ONCE(per_cpu_ptr(&grtrace_cpus, cpu)->buf);
	size_t used;

	if (!buf)
		return 0;
	used = (READ_ONCE(buf->subbufs_produced) - READ_ONCE(buf->subbufs_consumed)) * buf->chan->subbuf_size;
	return used + (buffer_has_records(buf) ? buf->offset : 0);
}

static void buffer_switch_packet(struct grtrace_cpu *c, struct rchan_buf *buf, size_t need)
{
	if (!buffer_full(buf))
		buffer_packet_close(c, buf);
	relay_switch_subbuf(buf, need);
	if (waitqueue_active(&grtrace_wait)) /* relay_switch_subbuf() has the barrier */
		irq_work_queue(&c->wake);
}

/**
 * grtrace_packet_next - finishes the CPU's packet and opens another one
 * @c: this CPU, interrupts off
 * @need: bytes the new packet must have room for
 * Return: false when the buffer is full
 */
bool grtrace_packet_next(struct grtrace_cpu *c, size_t need)
{
	struct rchan_buf *buf = c->buf;
	bool was_full = buffer_full(buf);

	buffer_switch_packet(c, buf, need);
	if (!buffer_full(buf))
		return true;
	c->overruns += !was_full;
	return false;
}

/* Called on the CPU itself with interrupts off, or for any CPU while none emits. */
static void buffer_flush_cpu(struct grtrace_cpu *c)
{
	struct rchan_buf *buf = c->buf;

	if (buf && buffer_has_records(buf))
		buffer_switch_packet(c, buf, 0);
}

/*
 * A flush that comes after the stop finds nothing to do: the packets no longer belong to this CPU.
 */
static void buffer_flush_this_cpu(void *unused)
{
	struct grtrace_cpu *c = this_cpu_ptr(&grtrace_cpus);

	if (grtrace_cpu_running(c))
		buffer_flush_cpu(c);
}

/*
 * For a CPU that is offline, where no events are emitted. The requested and the periodic flush may
 * run at the same time.
 */
static void buffer_flush_away_cpu(struct grtrace_cpu *c)
{
	static DEFINE_MUTEX(away_lock);

	mutex_lock(&away_lock);
	if (grtrace_cpu_running(c))
		buffer_flush_cpu(c);
	mutex_unlock(&away_lock);
}

/* The caller holds the lock of the CPUs, so that no CPU appears or disappears. */
static void buffer_flush_any_cpu(int cpu)
{
	if (cpu_online(cpu))
		smp_call_function_single(cpu, buffer_flush_this_cpu, NULL, 1);
	else
		buffer_flush_away_cpu(per_cpu_ptr(&grtrace_cpus, cpu));
}

/** grtrace_flush - makes everything that was emitted before this call readable; may sleep */
void grtrace_flush(void)
{
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(&grtrace_cpus, cpu)->buf))
			buffer_flush_any_cpu(cpu);
	cpus_read_unlock();
}

/*
 * The timed flush, so that a reader need not wait until a sub-buffer is full. The first record of
 * a packet schedules it: nothing runs while nothing happens, and only CPUs with records are
 * interrupted.
 */
static void buffer_flush_work_fn(struct work_struct *work)
{
	struct rchan_buf *buf;
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		buf = READ_ONCE(per_cpu_ptr(&grtrace_cpus, cpu)->buf);
		if (buf && buffer_has_records(buf))
			buffer_flush_any_cpu(cpu);
	}
	cpus_read_unlock();
}

/* Return: the delay of the flush, 0: there is no reader. */
static unsigned long buffer_flush_delay(void)
{
	if (!grtrace_running() || !grtrace_streams_open())
		return 0;
	return msecs_to_jiffies(READ_ONCE(grtrace_config[GRT_CONFIG_flush_ms]));
}

static void buffer_fresh_fn(struct irq_work *work)
{
	unsigned long delay = buffer_flush_delay();

	if (delay)
		schedule_delayed_work(&timely_flush, delay);
}

/**
 * grtrace_flush_schedule - schedules the flush; to be called when a reader appears, or `flush_ms`
 * changes
 */
void grtrace_flush_schedule(void)
{
	unsigned long delay = buffer_flush_delay();

	if (delay)
		mod_delayed_work(system_wq, &timely_flush, delay);
}

static bool buffer_counters_pending(const struct grtrace_cpu *c)
{
	return c->balance.emitted != c->ended.emitted;
}

/**
 * grtrace_flush_final - closes every CPU's packet after tracing has stopped
 *
 * What was lost or limited after the last record is in a last packet without
 * records, as soon as there is room for it. grtrace_lock held, tracing off.
 */
void grtrace_flush_final(void)
{
	struct grtrace_cpu *c;
	int cpu;

	lockdep_assert_held(&grtrace_lock);
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(&grtrace_cpus, cpu);
		if (!c->buf)
			continue;
		buffer_flush_cpu(c);
		if (!buffer_counters_pending(c))
			continue;
		if (buffer_full(c->buf))
			relay_switch_subbuf(c->buf, 0);
		if (!buffer_full(c->buf))
			buffer_switch_packet(c, c->buf, 0);
	}
}

/**
 * grtrace_packet_peek - a CPU's oldest finished packet
 * Return: NULL: there is none. Valid until grtrace_packet_consume(); only for the reader that holds
 * the CPU's stream
 */
const struct grt_packet *grtrace_packet_peek(unsigned int cpu)
{
	const struct rchan_buf *buf = READ_ONCE(per_cpu_ptr(&grtrace_cpus, cpu)->buf);

	if (!buf || READ_ONCE(buf->subbufs_produced) == buf->subbufs_consumed)
		return NULL;
	smp_rmb(); /* produced before the packet; pairs with packet_close() */
	return buf->start + (buf->subbufs_consumed % buf->chan->n_subbufs) * buf->chan->subbuf_size;
}

/** grtrace_packet_consume - the reader is done with the packet */
void grtrace_packet_consume(unsigned int cpu)
{
	smp_mb(); /* all reads of the packet before its room is given back */
	relay_subbufs_consumed(chan, cpu, 1);
	per_cpu_ptr(&grtrace_cpus, cpu)->consumed++;
}

/** grtrace_running - whether tracing is on */
bool grtrace_running(void)
{
	return READ_ONCE(grtrace_config[GRT_CONFIG_enable]);
}

static void buffer_set_running(bool running)
{
	int cpu;

	for_each_possible_cpu(cpu) /* with what stop and clear wrote; pairs with grtrace_cpu_running() */
		smp_store_release(&per_cpu_ptr(&grtrace_cpus, cpu)->running, running);
	WRITE_ONCE(grtrace_config[GRT_CONFIG_enable], running);
}

/** grtrace_start_tracing - grtrace_lock held. Return: 0, also when it runs already, or -ENOMEM without a buffer */
int grtrace_start_tracing(void)
{
	lockdep_assert_held(&grtrace_lock);
	if (grtrace_running())
		return 0;
	if (!chan)
		return -ENOMEM;
	buffer_set_running(true);
	static_branch_deferred_inc(&grtrace_key);
	grtrace_stages_running(true);
	grtrace_hold_schedule();
	pr_debug("started\n");
	return 0;
}

static void buffer_nothing(void *unused)
{
}

/** grtrace_stop_tracing - stops all emitting and makes everything readable; grtrace_lock held */
void grtrace_stop_tracing(void)
{
	lockdep_assert_held(&grtrace_lock);
	if (!grtrace_running())
		return;
	buffer_set_running(false);
	static_branch_slow_dec_deferred(&grtrace_key);
	on_each_cpu(buffer_nothing, NULL, 1); /* emitters have interrupts off: all are out now */
	grtrace_hold_release(U64_MAX); /* before stages emit their last records: these wait, too */
	grtrace_stopping = true;
	grtrace_stages_running(false);
	grtrace_stopping = false;
	cancel_delayed_work_sync(&timely_flush);
	grtrace_flush_final();
	wake_up_interruptible_all(&grtrace_wait);
	pr_debug("stopped\n");
}

static void buffer_zero_counters(struct grtrace_cpu *c)
{
	memset(&c->balance, 0, sizeof(c->balance));
	memset(&c->ended, 0, sizeof(c->ended));
	memset(c->by_type, 0, sizeof(c->by_type));
	memset(c->rings, 0, (GRTRACE_RINGS + 1) * sizeof(*c->rings));
	c->seq = 0;
	c->overruns = 0;
	c->consumed = 0;
}

static void clear_buffers(void)
{
	int cpu;

	if (chan)
		relay_reset(chan);
	for_each_possible_cpu(cpu)
		buffer_zero_counters(per_cpu_ptr(&grtrace_cpus, cpu));
	grtrace_jobs_forget_fates();
	grtrace_rate_clear();
	grtrace_stages_clear();
	pr_debug("cleared\n");
}

/**
 * grtrace_clear - drops all buffered packets and zeroes the counters, grtrace_lock held
 * Return: 0, or -EBUSY while a stream is open
 */
int grtrace_clear(void)
{
	bool running = grtrace_running();

	if (!grtrace_streams_shut())
		return -EBUSY;
	grtrace_stop_tracing();
	clear_buffers();
	grtrace_streams_unshut();
	return running ? grtrace_start_tracing() : 0;
}

/**
 * grtrace_buffer_resize - another buffer size, grtrace_lock held
 * @bytes: per CPU
 * Return: 0, -EBUSY while tracing is on or a stream is open, or -ENOMEM. Then the
 * old buffer is kept; only where memory was short all the same it is a new one of
 * the old size, and empty: two at a time may be more than there is memory for.
 */
int grtrace_buffer_resize(u64 bytes)
{
	u64 old = chan_bytes;
	int err;

	if (grtrace_running() || !grtrace_streams_shut())
		return -EBUSY;
	if (!buffer_have_memory(bytes, old)) {
		grtrace_streams_unshut();
		return -ENOMEM;
	}
	clear_buffers();
	grtrace_buffer_close();
	err = grtrace_buffer_open(bytes);
	if (err && grtrace_buffer_open(old))
		pr_err("no memory for a buffer of %llu bytes per CPU: tracing is off\n", old);
	grtrace_streams_unshut();
	return err;
}
