/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes synthetic recordings for tests and benchmarks: packets as the kernel
 * module makes them, with the events that the test asks for. Whatever goes
 * wrong here (no space, a record too long) ends the test program.
 *
 *	struct trace_maker *tm = tm_dir("/tmp/x.grt", 2);
 *
 *	tm_name_ring(tm, 0, "control", "virtio_gpu");
 *	tm_name_thread(tm, 13, "kmscube", "kmscube");
 *	tm_emit(tm, 0, submit, .e.time = 1000, .e.ctx = 5, .e.seqno = 1, .e.tid = 13, .cmd = 0x207);
 *	tm_emit(tm, 1, complete, .e.time = 3000, .e.ctx = 5, .e.seqno = 1);
 *	tm_fate(tm, 1, GRT_FATE_LOST, 7);
 *	tm_close(tm);
 *
 * The caller keeps time ascending on each CPU. Packets are closed when they
 * are full and by tm_flush(); every one carries its CPU's running balance.
 */
#ifndef TRACE_MAKER_H
#define TRACE_MAKER_H

#include <grtrace/grtrace.h>

struct trace_maker;

/** tm_dir - begins a recording directory (made anew, files kmod_0..kmod_N-1) of @cpus CPUs */
struct trace_maker *tm_dir(const char *path, unsigned int cpus);

/** tm_raw - begins a raw file: the packets of all CPUs in the order in which they are closed */
struct trace_maker *tm_raw(const char *path, unsigned int cpus);

/** tm_packet_bytes - room of the packets begun from now on, header included (default 65536) */
void tm_packet_bytes(struct trace_maker *tm, size_t bytes);

/** tm_padding - this many bytes (a multiple of 8) follow the content of every packet closed from now on */
void tm_padding(struct trace_maker *tm, size_t bytes);

/** tm_state - "state" in the metadata that tm_close() writes; "complete" unless told otherwise */
void tm_state(struct trace_maker *tm, const char *state);

/** tm_event - appends a record, e->size bytes, as delivered; e->time must not go back on @cpu */
void tm_event(struct trace_maker *tm, unsigned int cpu, const struct grt_event *e);

/**
 * tm_emit - the same from field values: tm_emit(tm, cpu, submit, .e.time = 5, .cmd = 0x207);
 * @evt: the event's lower case name in events.def; type and size are filled in
 */
#define tm_emit(tm, cpu, evt, ...)                                                                       \
	tm_event(tm, cpu,                                                                                \
		 &((struct grt_ev_##evt){                                                                \
			   .e.type = tm_type_##evt, .e.size = sizeof(struct grt_ev_##evt), __VA_ARGS__}) \
			  .e)

/**
 * tm_name_thread, tm_name_ring - from now on every packet that uses this tid
 * (ring) has a NAME record before the first use; it counts as delivered
 */
void tm_name_thread(struct trace_maker *tm, uint32_t tid, const char *comm, const char *process);
void tm_name_ring(struct trace_maker *tm, uint32_t ring, const char *name, const char *driver);

/** tm_fate - @n events of @cpu met this fate instead of being delivered */
void tm_fate(struct trace_maker *tm, unsigned int cpu, enum grt_fate fate, uint64_t n);

/** tm_flush - closes the packet of @cpu; writes an empty packet stamped @time where none is open */
void tm_flush(struct trace_maker *tm, unsigned int cpu, uint64_t time);

/** tm_drop - closes the packet of @cpu but does not write it: a gap in the recording */
void tm_drop(struct trace_maker *tm, unsigned int cpu);

/** tm_clear - what `clear` does: packet numbers and balance of @cpu start again from 0 */
void tm_clear(struct trace_maker *tm, unsigned int cpu);

/** tm_events - records written so far (dropped packets' not counted), NAME records included */
uint64_t tm_events(const struct trace_maker *tm);

/** tm_close - closes all packets, writes the metadata (directories) and frees @tm */
void tm_close(struct trace_maker *tm);

/** tm_tmpdir - a new empty directory below TMPDIR or /tmp, mode 0700; the text is the caller's to free */
char *tm_tmpdir(void);

/** tm_remove - removes a file or a directory tree; what is not there is no error */
void tm_remove(const char *path);

enum {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) tm_type_##name = (id),
#include <grtrace/events.def>
#undef GRT_EVENT
};

#endif /* TRACE_MAKER_H */
