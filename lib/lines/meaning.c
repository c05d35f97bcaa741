// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The table of meaning.h. */
#include "meaning.h"

#include <stdio.h>
#include <string.h>

#include "base/bus.h"
#include "codes/cuda_codes.h"
#include "codes/nv_codes.h"
#include "codes/syscalls.h"
#include "codes/words.h"

/* How the values of a row are shown. */
enum {
	NUMBER = GRT_SHOW_NUMBER,
	SIGNED = GRT_SHOW_SIGNED,
	TRUTH = GRT_SHOW_TRUTH,
	WORD = GRT_SHOW_WORD,
	STRING = GRT_SHOW_STRING,
	NEVER = GRT_SHOW_NEVER,
	ZERO = GRT_ABSENT_ZERO,
	ONES = GRT_ABSENT_ONES,
};

/* Defines a function that returns the words of numbers from 0 on. */
#define WORDS(fn, ...)                                                         \
	static const char *fn(char *room, uint64_t n)                          \
	{                                                                      \
		static const char *const words[] = {__VA_ARGS__};              \
                                                                               \
		return n < sizeof(words) / sizeof(words[0]) ? words[n] : NULL; \
	}

WORDS(word_name_kind, NULL, "thread", "ring", "device", "counter", "ring_gpu")
WORDS(word_process, NULL, "began", "counts", "ended", "not_traced", "note", "tracer")
WORDS(word_thread, NULL, "made", "named", "seen_on", "seen_off", "ended", "left_on")
WORDS(word_call_step, NULL, "entered", "returned")
WORDS(word_func_step, NULL, "called", "entered", "returned", "event")
WORDS(word_kernel_kind, "regular", "cooperative", "cooperative_devices", "command_list", "whole_graph")
WORDS(word_sync_kind, NULL, "event", "stream_event", "stream", "context")
WORDS(word_collective, NULL, "collective", "send_receive", "by_copy")
WORDS(word_stack, "none", "node", "bpf")
WORDS(word_place, [GRT_NV_MEMORY_OF_GPU] = "gpu", [GRT_NV_MEMORY_OF_HOST] = "host")
WORDS(word_cause, NULL, "freed", "owner", "close", "exit")
/* As above, for words that are rows of a file. */
#define ROWS(fn, LIST)                                \
	static const char *fn(char *room, uint64_t n) \
	{                                             \
		return grt_word(GRT_WORDS_##LIST, n); \
	}

ROWS(word_uvm_cause, UVM_CAUSE)
ROWS(word_uvm_access, UVM_ACCESS)
ROWS(word_uvm_fault, UVM_FAULT)
ROWS(word_uvm_fatal, UVM_FATAL)
ROWS(word_uvm_remote, UVM_REMOTE)
ROWS(word_uvm_pages, UVM_PAGES)
ROWS(word_edge, SLICE_EDGE)
ROWS(word_nv_memory, NV_MEMORY)
ROWS(word_note, LOG_NOTE)
ROWS(word_reason, THREAD_STATE)
ROWS(word_waker, WAKER)
ROWS(word_wake_cause, WAKE_CAUSE)

static const char *word_overhead(char *room, uint64_t n)
{
	static const char *const words[] = {NULL,      "flush",	  "instrumentation",	 "resource",
					    "loading", "loading", "full_command_buffer", "buffer_request"};

	if (n == 1)
		return "compiler";
	return n % 0x10000 || n / 0x10000 >= sizeof(words) / sizeof(words[0]) ? NULL : words[n / 0x10000];
}

static const char *word_copy(char *room, uint64_t n)
{
	const char *name = n == GRT_CUDA_SET ? "set" : grt_cuda_copy_name((uint32_t)n);

	return strcmp(name, "?") ? name : NULL;
}

static const char *word_cuda_call(char *room, uint64_t n)
{
	const struct grt_cuda_call *call = grt_cuda_call((uint32_t)n);

	return call ? call->name : NULL;
}

static const char *word_syscall(char *room, uint64_t n)
{
	return grt_syscall_name(n);
}

/* The letter of ps: that of the lowest bit, as the kernel chooses it. */
static const char *word_state(char *room, uint64_t n)
{
	static const char letters[] = "SDTtXZPI";
	unsigned int bit = (unsigned int)__builtin_ctzll(n | 1ULL << 63);

	if (n && bit >= sizeof(letters) - 1)
		return NULL;
	room[0] = n ? letters[bit] : 'R';
	room[1] = '\0';
	return room;
}

static const char *word_bus(char *room, uint64_t n)
{
	return grt_bus_text(room, (uint32_t)n);
}

static const char *word_interleave(char *room, uint64_t n)
{
	return grt_nv_interleave_name((uint32_t)n);
}

static const char *word_nv_engine(char *room, uint64_t n)
{
	return grt_nv_engine_name(room, (uint32_t)n);
}

/* If there is a context, 0 is a valid number. */
static bool has_seqno(const struct grt_event *e)
{
	return e->ctx || e->seqno;
}

static bool has_value(const struct grt_event *e)
{
	return !(e->flags & GRT_FLAG_ENDED);
}

static bool is_set_memory(const struct grt_event *e)
{
	return ((const struct grt_ev_gpu_copy *)e)->kind == GRT_CUDA_SET;
}

static bool is_between_gpus(const struct grt_event *e)
{
	return ((const struct grt_ev_gpu_copy *)e)->kind == 10;
}

/* Return: whether the token is valid: the driver also writes a value when it refuses. */
static bool has_token(const struct grt_event *e)
{
	const struct grt_ev_tsg_token *t = (const struct grt_ev_tsg_token *)e;

	return !t->status || t->chid != UINT32_MAX;
}

/* The first row that matches belongs to the field. A field without a row is a number that is always known. */
static const struct grt_meaning meanings[] = {
	{.field = "reserved", .show = NEVER},
	{.field = "bus", .show = WORD, .word = word_bus},
	{.type = GRT_EV_ERROR, .field = "status", .show = SIGNED, .absent = ZERO},
	{.type = GRT_EV_NAME, .field = "kind", .show = WORD, .word = word_name_kind},
	{.type = GRT_EV_OWNER, .field = "uid", .show = NUMBER, .absent = ONES},
	{.type = GRT_EV_OWNER, .field = "cgroup", .show = STRING},
	{.type = GRT_EV_OWNER_RANK, .field = "local_rank", .show = NUMBER, .absent = ONES},
	{.type = GRT_EV_OWNER_RANK, .field = "world", .show = NUMBER, .absent = ONES},
	{.type = GRT_EV_OWNER_RANK, .field = "job", .show = STRING},
	{.type = GRT_EV_IOCTL_ENTER, .field = "fd", .show = SIGNED, .absent = ONES},
	{.type = GRT_EV_IOCTL_EXIT, .field = "about", .show = NUMBER, .absent = ZERO},
	/* for drivers that answer, the name of the event says that it succeeded */
	{.type = GRT_EV_IOCTL_EXIT, .field = "status", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_CLOSE, .field = "at_exit", .show = TRUTH},
	{.type = GRT_EV_VBLANK, .field = "high_prec", .show = TRUTH},
	{.type = GRT_EV_VBLANK_QUEUED, .field = "file", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_VBLANK_DELIVERED, .field = "file", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_MEM_FAULT, .field = "gtt", .show = TRUTH},
	{.type = GRT_EV_MEM_FAULT, .field = "writing", .show = TRUTH},
	{.type = GRT_EV_COUNTER, .field = "value", .show = SIGNED, .is_set = has_value},
	{.type = GRT_EV_STACK, .field = "user", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_STACK, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_CALL_STACK, .field = "user", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_CALL_STACK, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_SAMPLE, .field = "user", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_SAMPLE, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.field = "nv_engine", .show = WORD, .word = word_nv_engine},
	{.field = "interleave", .show = WORD, .word = word_interleave},
	{.field = "channel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_TSG_SCHEDULE, .field = "on", .show = TRUTH},
	{.type = GRT_EV_TSG_CHANNEL, .field = "bound", .show = TRUTH},
	{.type = GRT_EV_TSG_CHANNEL, .field = "context", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_TSG_TOKEN, .field = "token", .show = NUMBER, .is_set = has_token},
	{.type = GRT_EV_TSG_DESTROY, .field = "cause", .show = WORD, .word = word_cause},
	{.type = GRT_EV_PROCESS, .field = "what", .show = WORD, .word = word_process},
	{.type = GRT_EV_PROCESS, .field = "text", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "caller", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "ip", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "module", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "function", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_NODE, .field = "file", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_MAPPING, .field = "path", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_CODE, .field = "function", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_CODE, .field = "file", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_PC_SAMPLE, .field = "function", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_STALL_REASON, .field = "name", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_PC_LINE, .field = "function", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_PC_LINE, .field = "file", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_PC_INLINED, .field = "function", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_PC_INLINED, .field = "inlined", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_PC_INLINED, .field = "file", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_RANK, .field = "job", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_COMMUNICATOR, .field = "name", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_COLLECTIVE, .field = "function", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_COLLECTIVE, .field = "datatype", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_COLLECTIVE, .field = "algorithm", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_COLLECTIVE, .field = "protocol", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_COLLECTIVE, .field = "kind", .show = WORD, .word = word_collective},
	{.type = GRT_EV_LAUNCH, .field = "node", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LAUNCH, .field = "call", .show = WORD, .absent = ZERO, .word = word_cuda_call},
	{.type = GRT_EV_LAUNCH, .field = "stack", .show = WORD, .word = word_stack},
	{.field = "correlation", .show = NUMBER, .absent = ZERO},
	{.field = "graph_node", .show = NUMBER, .absent = ZERO},
	{.field = "graph", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_GPU_KERNEL, .field = "name", .show = STRING, .absent = ZERO},
	{.type = GRT_EV_GPU_KERNEL, .field = "kind", .show = WORD, .word = word_kernel_kind},
	{.type = GRT_EV_GPU_KERNEL, .field = "by_gpu", .show = TRUTH},
	{.type = GRT_EV_GPU_COPY, .field = "kind", .show = WORD, .word = word_copy},
	{.type = GRT_EV_GPU_COPY, .field = "value", .show = NUMBER, .is_set = is_set_memory},
	{.type = GRT_EV_GPU_COPY, .field = "from_gpu", .show = NUMBER, .is_set = is_between_gpus},
	{.type = GRT_EV_GPU_COPY, .field = "to_gpu", .show = NUMBER, .is_set = is_between_gpus},
	{.type = GRT_EV_GPU_SYNC, .field = "kind", .show = WORD, .word = word_sync_kind},
	{.type = GRT_EV_GPU_OVERHEAD, .field = "kind", .show = WORD, .word = word_overhead},
	{.field = "thread", .show = NUMBER, .absent = ZERO},
	{.field = "queue", .show = NUMBER, .absent = ZERO},
	{.field = "soft_queue", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LOG_CALL, .field = "step", .show = WORD, .word = word_call_step},
	{.type = GRT_EV_LOG_CALL, .field = "torn", .show = TRUTH},
	{.type = GRT_EV_LOG_CALL, .field = "took", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LOG_NOTE, .field = "what", .show = WORD, .word = word_note},
	{.type = GRT_EV_LOG_NOTE, .field = "object", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LOG_DISPATCH, .field = "signal", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_LOG_DISPATCH, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_FUNC, .field = "step", .show = WORD, .word = word_func_step},
	{.type = GRT_EV_FUNC, .field = "known", .show = NEVER},
	{.type = GRT_EV_THREAD, .field = "what", .show = WORD, .word = word_thread},
	{.type = GRT_EV_THREAD, .field = "parent", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_OFF_CPU, .field = "user", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_OFF_CPU, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_OFF_CPU, .field = "state", .show = WORD, .word = word_state},
	{.type = GRT_EV_GPU_SLICE, .field = "begin", .show = WORD, .word = word_edge},
	{.type = GRT_EV_GPU_SLICE, .field = "over", .show = WORD, .word = word_edge},
	{.type = GRT_EV_NV_MEMORY, .field = "what", .show = WORD, .word = word_nv_memory},
	{.type = GRT_EV_NV_MEMORY, .field = "place", .show = WORD, .word = word_place},
	{.type = GRT_EV_UVM_MIGRATION,
	 .field = "cause",
	 .show = WORD,
	 .absent = ZERO,
	 .word = word_uvm_cause},
	{.type = GRT_EV_UVM_MIGRATION, .field = "reserved", .show = NEVER},
	{.type = GRT_EV_UVM_FAULT, .field = "access", .show = WORD, .absent = ZERO, .word = word_uvm_access},
	{.type = GRT_EV_UVM_FAULT, .field = "fault", .show = WORD, .absent = ZERO, .word = word_uvm_fault},
	{.type = GRT_EV_UVM_FAULT, .field = "replayed", .show = TRUTH},
	{.type = GRT_EV_UVM_FAULT, .field = "reserved", .show = NEVER},
	{.type = GRT_EV_UVM_FATAL, .field = "access", .show = WORD, .absent = ZERO, .word = word_uvm_access},
	{.type = GRT_EV_UVM_FATAL, .field = "fault", .show = WORD, .absent = ZERO, .word = word_uvm_fault},
	{.type = GRT_EV_UVM_FATAL, .field = "reason", .show = WORD, .absent = ZERO, .word = word_uvm_fatal},
	{.type = GRT_EV_UVM_FATAL, .field = "reserved", .show = NEVER},
	{.type = GRT_EV_UVM_REPLAY, .field = "replayed", .show = TRUTH},
	{.type = GRT_EV_UVM_REMOTE, .field = "cause", .show = WORD, .absent = ZERO, .word = word_uvm_remote},
	{.type = GRT_EV_UVM_PAGES, .field = "what", .show = WORD, .word = word_uvm_pages},
	{.type = GRT_EV_UVM_PAGES, .field = "other", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_UVM_PAGES, .field = "gpus", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_UVM_PAGES, .field = "with_cpu", .show = TRUTH},
	{.type = GRT_EV_OFF_CPU, .field = "reason", .show = WORD, .word = word_reason},
	{.type = GRT_EV_OFF_CPU, .field = "over", .show = TRUTH},
	{.type = GRT_EV_OFF_CPU, .field = "call", .show = WORD, .absent = ONES, .word = word_syscall},
	{.type = GRT_EV_ASLEEP, .field = "user", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_ASLEEP, .field = "kernel", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_ASLEEP, .field = "state", .show = WORD, .word = word_state},
	{.type = GRT_EV_ASLEEP, .field = "reason", .show = WORD, .word = word_reason},
	{.type = GRT_EV_ASLEEP, .field = "over", .show = TRUTH},
	{.type = GRT_EV_ASLEEP, .field = "call", .show = WORD, .absent = ONES, .word = word_syscall},
	{.type = GRT_EV_ASLEEP, .field = "waker", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_ASLEEP, .field = "waker_pid", .show = NUMBER, .absent = ZERO},
	{.type = GRT_EV_ASLEEP, .field = "by", .show = WORD, .absent = ZERO, .word = word_waker},
	{.type = GRT_EV_ASLEEP, .field = "cause", .show = WORD, .absent = ZERO, .word = word_wake_cause},
	{.type = GRT_EV_ASLEEP, .field = "waker_comm", .show = STRING, .absent = ZERO},
	/* fields of the common part */
	{.field = "flags", .show = NEVER},
	{.field = "engine", .show = NEVER},
	{.field = "sample", .show = NUMBER, .absent = ZERO},
	{.field = "pid", .show = NUMBER, .absent = ZERO},
	{.field = "tid", .show = NUMBER, .absent = ZERO},
	{.field = "ctx", .show = NUMBER, .absent = ZERO},
	{.field = "seqno", .show = NUMBER, .is_set = has_seqno},
	{.field = "ring", .show = NUMBER, .absent = ONES},
	{.field = "device", .show = NUMBER, .absent = ZERO},
};
#define MEANINGS (sizeof(meanings) / sizeof(meanings[0]))

const struct grt_meaning *grt_meaning_of(unsigned int type, const struct grt_field *f)
{
	for (size_t i = 0; i < MEANINGS; i++)
		if ((!meanings[i].type || meanings[i].type == type) && !strcmp(meanings[i].field, f->name))
			return &meanings[i];
	return NULL;
}

enum grt_show grt_show_of(const struct grt_meaning *m, const struct grt_field *f)
{
	/* a text may have the name of a number in another event */
	if (f->kind == GRT_FIELD_STR)
		return GRT_SHOW_TEXT;
	if (m)
		return m->show;
	return f->kind == GRT_FIELD_SIGNED ? GRT_SHOW_SIGNED : GRT_SHOW_NUMBER;
}
