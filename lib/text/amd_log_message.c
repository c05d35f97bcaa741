// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Converts messages of the log of AMD's runtime to events, with a table of how messages begin. Messages that
 * report no call, queue, command or kernel are counted by their source file. Writers: ROCclr, its parts
 * device/rocm and platform, and hipamd, releases 3.x to 7.x.
 */
#include "amd_log_message.h"

#include <stdio.h>
#include <string.h>

#include "base/fnv.h"

/* Packet types of HSA queues (HSA runtime specification 1.2, 2.9). */
#define PACKET_VENDOR 0
#define PACKET_DISPATCH 2
#define PACKET_BARRIER_AND 3
#define PACKET_BARRIER_OR 5
/* Addresses of stacks: a signal's address there is another value, printed in its place. */
#define STACK_ADDRESS UINT64_C(0x7ff000000000)

/**
 * struct fields - the keys of a message
 * @at: where to look for the next one first
 */
struct fields {
	const char *begin;
	const char *at;
	const char *end;
};

/* Numbers and names */

static bool is_name_char(char c)
{
	return grt_is_digit(c) || (unsigned int)((c | 0x20) - 'a') < 26 || c == '_';
}

static struct grt_span scan_name(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && is_name_char(*q))
		q++;
	return (struct grt_span){p, (size_t)(q - p)};
}

/* Reads "0x12", "12", "(nil)", or "0x0x12" of some releases. Return: 0 if there is none */
static uint64_t scan_address(const char **p, const char *end)
{
	uint64_t v = 0;

	grt_scan_blanks(p, end);
	grt_scan_char(p, end, '(');
	if (end - *p > 4 && !memcmp(*p, "0x0x", 4))
		*p += 2;
	grt_scan_hex(p, end, &v);
	return v;
}

/* Finds a key; looks after the previous one first, so that keys in the order of the line cost no search. */
static inline bool seek(struct fields *f, const char *key, size_t len)
{
	const char *p = f->at;

	while (p < f->end && (*p == ' ' || *p == ',' || *p == '(' || *p == ')' || *p == ']'))
		p++;
	if ((size_t)(f->end - p) >= len && !memcmp(p, key, len))
		p += len;
	else
		p = grt_find_key(f->begin, f->end, key, len);
	if (!p)
		return false;
	f->at = p;
	return true;
}

static inline uint64_t number_or(struct fields *f, const char *key, size_t len, uint64_t otherwise)
{
	uint64_t v;

	return seek(f, key, len) && grt_scan_number(&f->at, f->end, &v) ? v : otherwise;
}

static inline uint64_t amd_log_message_address_of(struct fields *f, const char *key, size_t len)
{
	return seek(f, key, len) ? scan_address(&f->at, f->end) : 0;
}

#define NUMBER_OR(f, key, otherwise) number_or((f), (key), sizeof(key) - 1, (otherwise))
#define NUMBER(f, key) NUMBER_OR(f, key, 0)
#define ADDRESS(f, key) amd_log_message_address_of((f), (key), sizeof(key) - 1)

/* Reads "[8192, 1, 1]"; missing numbers become 0 */
static void triple(struct fields *f, const char *key, size_t len, __u32 out[3])
{
	uint64_t v;

	if (!seek(f, key, len))
		return;
	for (unsigned int i = 0; i < 3 && grt_scan_u64(&f->at, f->end, &v); i++) {
		out[i] = grt_u32(v);
		grt_scan_char(&f->at, f->end, ',');
		grt_scan_blanks(&f->at, f->end);
	}
}

static void set_text(char *to, size_t room, struct grt_span text)
{
	if (text.len)
		memcpy(to, text.at, text.len < room ? text.len : room);
}

static struct grt_span rest_of(const char *p, const char *end)
{
	return grt_span_trim((struct grt_span){p, (size_t)(end - p)});
}

/* Events */

static struct grt_event event_of(const struct amd_log *a, uint16_t type)
{
	return (struct grt_event){
		.time = a->h.time,
		.type = type,
		.flags = a->flags,
		.pid = a->h.pid,
		.ring = GRT_RING_NONE,
	};
}

struct grt_ev_log_call amd_log_call(const struct amd_log *a, uint16_t step, struct grt_span name,
				    struct grt_span text)
{
	struct grt_ev_log_call c = {
		.e = event_of(a, GRT_EV_LOG_CALL),
		.step = step,
		.level = (uint16_t)a->h.level,
		.thread = a->h.thread,
	};

	set_text(c.function, sizeof(c.function), name);
	set_text(c.text, sizeof(c.text), text);
	return c;
}

void amd_log_note(struct amd_log *a, struct grt_ev_log_note *n, uint16_t what, struct grt_span text)
{
	static const char cut[3] = {'.', '.', '.'};

	n->e = event_of(a, GRT_EV_LOG_NOTE);
	n->what = what;
	n->level = (uint16_t)a->h.level;
	n->thread = a->h.thread;
	set_text(n->text, sizeof(n->text), text);
	if (text.len > sizeof(n->text))
		memcpy(n->text + sizeof(n->text) - sizeof(cut), cut, sizeof(cut));
	grt_text_put(a->t, &n->e, 0);
}

/* Names of kernels: of any length, so a long one is reported once, in parts, and then known by its hash. */

static uint64_t amd_log_message_hash_of(struct grt_span name)
{
	return grt_fnv(GRT_FNV_START, name.at, name.len) ?: 1;
}

static void put_long_name(struct amd_log *a, uint64_t hash, struct grt_span name)
{
	uint64_t *told = &a->told[hash % AMD_LOG_TOLD];

	if (*told == hash)
		return;
	*told = hash;
	for (size_t at = 0; at < name.len; at += sizeof(((struct grt_ev_log_text *)0)->text)) {
		struct grt_ev_log_text x = {
			.e = event_of(a, GRT_EV_LOG_TEXT),
			.hash = hash,
			.length = grt_u32(name.len),
			.offset = grt_u32(at),
		};

		set_text(x.text, sizeof(x.text), (struct grt_span){name.at + at, name.len - at});
		grt_text_put(a->t, &x.e, 0);
	}
}

static struct amd_log_name *name_of_thread(struct amd_log *a)
{
	return &a->name[(a->h.thread * 0x9e3779b97f4a7c15) >> 58];
}

/* Calls */

static bool is_api(struct grt_span name)
{
	const char *p = name.at, *end = name.at + name.len;

	GRT_SCAN_WORD(&p, end, "__");
	grt_scan_char(&p, end, 'i');
	return GRT_SCAN_WORD(&p, end, "hip") || GRT_SCAN_WORD(&p, end, "roctx");
}

/* " hipMalloc ( 0x7ffe, 4096 ) " */
static bool amd_log_message_take_entry(struct amd_log *a, struct grt_span name, const char *p,
				       const char *end)
{
	struct grt_span args = rest_of(p + 1, end);
	bool torn = !args.len || args.at[args.len - 1] != ')';
	struct grt_ev_log_call c;

	if (!torn)
		args.len--;
	c = amd_log_call(a, GRT_CALL_ENTERED, name, torn ? (struct grt_span){NULL, 0} : grt_span_trim(args));
	c.torn = torn;
	a->torn = torn;
	grt_text_put(a->t, &c.e, 0);
	return true;
}

/* "hipSuccess : VALUES: duration: 12d us" */
static bool take_return(struct amd_log *a, struct grt_span name, const char *p, const char *end)
{
	struct grt_ev_log_call c = amd_log_call(a, GRT_CALL_RETURNED, name, rest_of(p, end));
	const char *at = c.text[11] ? grt_find_text(p, end, "duration: ", 10) : NULL;
	uint64_t us;

	if (at) {
		at += 10;
		if (grt_scan_u64(&at, end, &us))
			c.took = us > UINT64_MAX / 1000 ? UINT64_MAX : us * 1000;
	}
	grt_text_put(a->t, &c.e, 0);
	return true;
}

/* Parses a function's name and the call or return after it. Return: whether it is one */
static bool amd_log_message_take_call(struct amd_log *a, const char *p, const char *end)
{
	struct grt_span name = scan_name(p, end);

	p += name.len;
	if (!name.len || p == end)
		return false;
	if (*p == ':' && GRT_SCAN_WORD(&p, end, ": Returned "))
		return take_return(a, name, p, end);
	grt_scan_blanks(&p, end);
	return p < end && *p == '(' && is_api(name) && amd_log_message_take_entry(a, name, p, end);
}

/* Commands */

/* "Command (KernelExecution) enqueued: 0x55[ to queue: 0x66]" */
static bool enqueue(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.number = 0};
	const char *close = memchr(p, ')', (size_t)(end - p)), *q;
	struct grt_span kind;

	if (!close)
		return false;
	kind = rest_of(p, close);
	q = close + 1;
	if (!GRT_SCAN_WORD(&q, end, " enqueued:"))
		return false;
	n.object = scan_address(&q, end);
	if (GRT_SCAN_WORD(&q, end, " to queue:"))
		n.queue = scan_address(&q, end);
	amd_log_note(a, &n, GRT_LOG_ENQUEUE, kind);
	return true;
}

static bool old_enqueue(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.number = 0};

	n.object = scan_address(&p, end);
	amd_log_note(a, &n, GRT_LOG_ENQUEUE, (struct grt_span){NULL, 0});
	return true;
}

/* "Command 0x55 complete (Wall: 1, CPU: 2, GPU: 3 us)"; Wall is the log's own clock again */
static bool complete(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.object = scan_address(&p, end)};
	struct fields f = {p, p, end};

	grt_scan_blanks(&f.at, end);
	if (!GRT_SCAN_WORD(&f.at, end, "complete"))
		return false;
	if (f.at < end) {
		n.first = NUMBER(&f, "CPU:") * AMD_LOG_NS_PER_US;
		n.second = NUMBER(&f, "GPU:") * AMD_LOG_NS_PER_US;
	}
	amd_log_note(a, &n, GRT_LOG_COMPLETE, (struct grt_span){NULL, 0});
	return true;
}

/* Puts a message with one address: of the command, signal or queue. */
static bool object_only(struct amd_log *a, uint16_t what, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.object = scan_address(&p, end)};
	struct fields f = {p, p, end};
	const char *status = GRT_FIND_KEY(p, end, "status ");
	uint64_t v = 0;

	if (status && grt_scan_u64(&status, end, &v))
		n.number = grt_u32(v);
	if (what == GRT_LOG_HOST_WAIT && seek(&f, "for ", 4))
		n.first = *f.at != '-' && grt_scan_u64(&f.at, end, &v) ? v : UINT64_MAX;
	amd_log_note(a, &n, what, (struct grt_span){NULL, 0});
	return true;
}

static bool marker(struct amd_log *a, const char *p, const char *end)
{
	return object_only(a, GRT_LOG_MARKER, p, end);
}

static bool wait(struct amd_log *a, const char *p, const char *end)
{
	return object_only(a, GRT_LOG_WAIT, p, end);
}

static bool wait_end(struct amd_log *a, const char *p, const char *end)
{
	const char *q = p;

	scan_address(&q, end);
	return GRT_SCAN_WORD(&q, end, " wait completed") && object_only(a, GRT_LOG_WAIT_END, p, end);
}

static bool host_wait(struct amd_log *a, const char *p, const char *end)
{
	return object_only(a, GRT_LOG_HOST_WAIT, p, end);
}

/* Queues */

/* " with size 16384 with priority 1, cooperative: 0" */
static bool created(struct amd_log *a, struct grt_ev_log_note *n, const char *p, const char *end)
{
	struct fields f = {p, p, end};

	if (!a->whole && !GRT_FIND_KEY(p, end, "cooperative: "))
		return false;
	n->first = NUMBER(&f, "size ");
	n->number = grt_u32(NUMBER_OR(&f, "priority ", UINT32_MAX));
	n->second = NUMBER(&f, "cooperative: ");
	amd_log_note(a, n, GRT_LOG_QUEUE_CREATE, (struct grt_span){NULL, 0});
	return true;
}

static bool old_queue(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.queue = scan_address(&p, end)};

	return created(a, &n, p, end);
}

/* "Created SWq=0x1 to map on HWq=0x2" */
static bool queue(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.object = scan_address(&p, end)};
	struct fields f = {p, p, end};

	n.queue = ADDRESS(&f, "HWq=");
	if (!n.queue)
		return false;
	return created(a, &n, f.at, end);
}

/* "0x7f00 (1)" */
static bool users(struct amd_log *a, uint16_t what, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.queue = scan_address(&p, end)};
	uint64_t v = 0;

	grt_scan_blanks(&p, end);
	if (grt_scan_char(&p, end, '('))
		grt_scan_u64(&p, end, &v);
	else if (p == end && !a->whole)
		return false;
	n.number = grt_u32(v);
	amd_log_note(a, &n, what, (struct grt_span){NULL, 0});
	return true;
}

static bool queue_acquire(struct amd_log *a, const char *p, const char *end)
{
	return users(a, GRT_LOG_QUEUE_ACQUIRE, p, end);
}

static bool queue_release(struct amd_log *a, const char *p, const char *end)
{
	return users(a, GRT_LOG_QUEUE_RELEASE, p, end);
}

static bool queue_select(struct amd_log *a, const char *p, const char *end)
{
	return users(a, GRT_LOG_QUEUE_SELECT, p, end);
}

static bool queue_delete(struct amd_log *a, const char *p, const char *end)
{
	return users(a, GRT_LOG_QUEUE_DELETE, p, end);
}

static bool queue_counts(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.number = 0};
	struct fields f = {p, p, end};

	n.first = NUMBER(&f, "low priority: ");
	n.second = NUMBER(&f, "normal priority: ");
	n.object = NUMBER(&f, "high priority: ");
	n.number = grt_u32(NUMBER(&f, "per priority is: "));
	amd_log_note(a, &n, GRT_LOG_QUEUE_COUNTS, (struct grt_span){NULL, 0});
	return true;
}

/* Packets */

/* Return: whether the message ends unlike any complete one: the rest is in the next line. */
static bool is_cut(const char *p, const char *end)
{
	while (end > p && grt_is_blank(end[-1]))
		end--;
	return end > p && memchr(":=,([", end[-1], 5);
}

static void amd_log_message_dispatch(struct amd_log *a, struct fields *f, uint64_t soft, uint64_t hard)
{
	struct grt_ev_log_dispatch d = {.e = event_of(a, GRT_EV_LOG_DISPATCH)};
	struct amd_log_name *name = name_of_thread(a);
	__u32 size[3] = {0}, group[3] = {0};

	d.thread = a->h.thread;
	d.queue = hard;
	d.soft_queue = soft;
	triple(f, "grid=[", 6, size);
	triple(f, "workgroup=[", 11, group);
	d.scratch = grt_u32(NUMBER(f, "private_seg_size="));
	d.shared = grt_u32(NUMBER(f, "group_seg_size="));
	d.object = ADDRESS(f, "kernel_obj=");
	d.signal = ADDRESS(f, "completion_signal=");
	d.rptr = NUMBER_OR(f, "rptr=", UINT64_MAX);
	d.wptr = NUMBER(f, "wptr=");
	d.grid_x = size[0], d.grid_y = size[1], d.grid_z = size[2];
	d.group_x = group[0], d.group_y = group[1], d.group_z = group[2];
	if (name->hash && name->thread == a->h.thread) {
		d.kernel = name->hash;
		memcpy(d.name, name->text, sizeof(d.name));
		name->hash = 0;
	}
	grt_text_put(a->t, &d.e, 0);
}

static uint64_t type_of(const struct fields *f)
{
	struct fields g = *f;

	return NUMBER_OR(&g, "type=", UINT64_MAX);
}

static void other_packet(struct amd_log *a, struct fields *f, uint64_t soft, uint64_t hard, uint64_t type)
{
	struct grt_ev_log_note n = {.queue = hard, .number = grt_u32(type), .first = soft};
	bool barrier = type == PACKET_BARRIER_AND || type == PACKET_BARRIER_OR;
	struct grt_span name = grt_span_trim(scan_name(f->at, f->end));

	n.object = ADDRESS(f, "completion_signal=");
	if (!n.object)
		n.object = ADDRESS(f, "signal=");
	amd_log_note(a, &n, barrier ? GRT_LOG_BARRIER : GRT_LOG_PACKET, name);
}

/* Every packet has one, mostly near its end. */
static bool has_signal(const char *p, const char *end)
{
	const char *near = end - p > 100 ? end - 100 : p;

	return grt_find_text(near, end, "signal=", 7) || (near > p && grt_find_text(p, end, "signal=", 7));
}

/* ", id=N, " which some releases have */
static const char *skip_id(const char *p, const char *end)
{
	uint64_t id;

	while (p < end && (*p == ',' || *p == ' '))
		p++;
	if (GRT_SCAN_WORD(&p, end, "id="))
		grt_scan_u64(&p, end, &id);
	while (p < end && (*p == ',' || *p == ' '))
		p++;
	return p;
}

/* "[SWq=0x1, ]HWq=0x2[, id=N], Dispatch Header = 0x1402 (type=2, ...". Return: false: its end is missing */
static bool amd_log_message_packet(struct amd_log *a, const char *p, const char *end, bool whole)
{
	struct fields f = {p, p, end};
	uint64_t soft = 0, hard, type;
	const char *what;

	if (end - p > 4 && *p == 'S')
		soft = ADDRESS(&f, "SWq=");
	hard = ADDRESS(&f, "HWq=");
	what = skip_id(f.at, end);
	if (!whole && (!has_signal(what, end) || is_cut(what, end)))
		return false;
	type = type_of(&f);
	f.at = what;
	if (type == PACKET_DISPATCH || (type == UINT64_MAX && grt_scan_text(&what, end, "Dispatch", 8)))
		amd_log_message_dispatch(a, &f, soft, hard);
	else
		other_packet(a, &f, soft, hard, type);
	return true;
}

/* "_Z4gemmPf" or "void gemm<float, 16>(float*)" */
static bool shader(struct amd_log *a, const char *p, const char *end)
{
	struct amd_log_name *name = name_of_thread(a);
	struct grt_ev_log_note n = {.number = 0};
	struct grt_span text = rest_of(p, end);

	if (!text.len)
		return false;
	name->thread = a->h.thread;
	name->hash = amd_log_message_hash_of(text);
	memset(name->text, 0, sizeof(name->text));
	set_text(name->text, sizeof(name->text), text);
	if (text.len > sizeof(name->text))
		put_long_name(a, name->hash, text);
	n.queue = name->hash;
	amd_log_note(a, &n, GRT_LOG_SHADER, text);
	return true;
}

/* "HSA Copy", "HSA Async Copy", "HSA Asycn Copy" */
static bool copy(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.number = 0};
	struct fields f = {p, p, end};
	const char *at = grt_find_text(p, end, "Copy", 4);

	if (!at || at - p > 6)
		return false;
	f.at = at + 4;
	n.first = NUMBER(&f, "size=");
	n.object = ADDRESS(&f, "completion_signal=");
	/* one release printed each value after the next key */
	n.number = (GRT_FIND_KEY(p, end, "size=") && !n.first) || n.object >= STACK_ADDRESS;
	amd_log_note(a, &n, GRT_LOG_COPY, rest_of(at + 4, end));
	return true;
}

/* "Signal = (0x1), Translated start/end = A / B, Elapsed = ..." */
static bool gpu_time(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.object = scan_address(&p, end)};
	struct fields f = {p, p, end};
	uint64_t second;

	n.first = NUMBER_OR(&f, "Translated start/end = ", UINT64_MAX);
	grt_scan_blanks(&f.at, end);
	if (n.first == UINT64_MAX || !grt_scan_char(&f.at, end, '/'))
		return false;
	grt_scan_blanks(&f.at, end);
	if (!grt_scan_u64(&f.at, end, &second))
		return false;
	n.second = second;
	amd_log_note(a, &n, GRT_LOG_GPU_TIME, (struct grt_span){NULL, 0});
	return true;
}

/* "0x7f aborting with error : HSA_STATUS_X: sentence code: 0x29" */
static bool aborted(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.queue = scan_address(&p, end)};
	const char *status = grt_find_text(p, end, "HSA_STATUS_", 11);

	amd_log_note(a, &n, GRT_LOG_FAULT, rest_of(status ? status : p, end));
	return true;
}

/* "Device::callbackQueue aborting with error : HSA_STATUS_X", of the releases before */
static bool callback(struct amd_log *a, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.number = 0};
	const char *status = grt_find_text(p, end, "HSA_STATUS_", 11);

	amd_log_note(a, &n, GRT_LOG_FAULT, rest_of(status ? status : p, end));
	return true;
}

/* Lines of the GPU's faults, which have no header */

/*
 * "Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f5000. Reason: Page not present ...",
 * "HW Exception by GPU node-1 (Agent handle: 0x56) reason :GPU Hang". Kept are node, address, and the words
 * around the handle.
 */
static void put_fault(struct amd_log *a, const char *p, const char *end)
{
	const char *open = grt_find_text(p, end, " (Agent", 7),
		   *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL,
		   *why = grt_find_text(p, end, ". Reason", 8),
		   *at = grt_find_text(p, end, "on address ", 11),
		   *node = grt_find_text(p, end, "node-", 5) + 5;
	struct grt_ev_log_note n = {.number = UINT32_MAX};
	/* longer than the text of a note, so that the note is marked as cut */
	char text[sizeof(n.text) + 2];
	uint64_t v;

	if (grt_scan_u64(&node, end, &v))
		n.number = grt_u32(v);
	if (at) {
		at += 11;
		n.first = scan_address(&at, end);
	}
	if (why)
		end = why;
	if (close && close < end)
		snprintf(text, sizeof(text), "%.*s%.*s", (int)(open - p), p, (int)(end - close - 1),
			 close + 1);
	else
		snprintf(text, sizeof(text), "%.*s", (int)(end - p), p);
	amd_log_note(a, &n, GRT_LOG_FAULT, rest_of(text, text + strlen(text)));
}

bool amd_log_fault(struct amd_log *a, const char *p, const char *end)
{
	static const char memory[] = "Memory access fault by GPU node-",
			  hardware[] = "HW Exception by GPU node-";
	const char *at = grt_find_text(p, end, memory, sizeof(memory) - 1)
				 ?: grt_find_text(p, end, hardware, sizeof(hardware) - 1);

	if (at)
		put_fault(a, at, end);
	return at != NULL;
}

/*
 * "VGPU=0x1 SWq=0x2, HWq=0x3, id=4", "Dispatch Header =0xb02 (type=2, ...), setup=1", "kernel_obj=0x5, ...".
 * A packet that is no kernel: "VGPU(0x1) Queue(0x2) rptr=3, wptr=4. A barrier packet in the queue!"
 */
bool amd_log_hang(struct amd_log *a)
{
	const char *p = a->hang, *end = a->hang + a->hang_len;
	struct fields f = {p, p, end};
	struct grt_span name = {a->hang_name, a->hang_name_len};
	struct grt_ev_log_note n = {.number = UINT32_MAX};

	if (grt_find_text(p, end, "A barrier packet", 16)) {
		n.number = PACKET_BARRIER_AND;
		amd_log_note(a, &n, GRT_LOG_HANG, (struct grt_span){"a barrier", 9});
		return true;
	}
	n.queue = ADDRESS(&f, "HWq=");
	n.number = grt_u32(NUMBER_OR(&f, "type=", UINT32_MAX));
	n.object = ADDRESS(&f, "kernel_obj=");
	if (!n.queue && !n.object)
		return false;
	if (name.len)
		n.first = amd_log_message_hash_of(name);
	if (name.len > sizeof(n.text))
		put_long_name(a, n.first, name);
	amd_log_note(a, &n, GRT_LOG_HANG, name);
	return true;
}

/* The table */

static const struct kind {
	const char *text;
	size_t len;
	bool (*take)(struct amd_log *a, const char *p, const char *end);
	bool (*take_packet)(struct amd_log *a, const char *p, const char *end, bool whole);
	const char *skip;
} kinds[] = {
#define KIND(text, take)                                 \
	{                                                \
		text, sizeof(text) - 1, take, NULL, NULL \
	}
#define PACKET(text)                                                       \
	{                                                                  \
		text, sizeof(text) - 1, NULL, amd_log_message_packet, NULL \
	}
#define SKIP(text, why)                                 \
	{                                               \
		text, sizeof(text) - 1, NULL, NULL, why \
	}
	/* rows with the same first character are adjacent */
	KIND("acquireQueue refCount:", queue_acquire),
	SKIP("Arg", "arguments of kernels"),
	KIND("command is enqueued:", old_enqueue),
	KIND("created hardware queue ", old_queue),
	KIND("Command (", enqueue),
	KIND("Command ", complete),
	KIND("Created SWq=", queue),
	KIND("Callback: Queue ", aborted),
	KIND("Deleting hardware queue ", queue_delete),
	KIND("Device::callbackQueue aborting", callback),
	KIND("event ", wait_end),
	KIND("Event ", wait_end),
	KIND("Graph shader name : ", shader),
	PACKET("HWq="),
	KIND("HSA ", copy),
	KIND("Host active wait for Signal = ", host_wait),
	KIND("Host wait on completion_signal=", host_wait),
	SKIP("Handler: ", "handlers of signals"),
	SKIP("KernargSegmentByteSize", "arguments of kernels"),
	KIND("Kernel Name: ", shader),
	KIND("number of allocated hardware queues ", queue_counts),
	KIND("Number of allocated hardware queues ", queue_counts),
	KIND("queue marker to command queue:", marker),
	KIND("Queue marker to command queue:", marker),
	KIND("releaseQueue refCount:", queue_release),
	PACKET("SWq="),
	KIND("ShaderName : ", shader),
	KIND("Selected queue refCount:", queue_select),
	KIND("Signal = ", gpu_time),
	KIND("Signal =", gpu_time),
	SKIP("Set Handler: ", "handlers of signals"),
	KIND("waiting for event ", wait),
	KIND("Waiting for event ", wait),
#undef SKIP
#undef PACKET
#undef KIND
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

_Static_assert(KINDS < 256, "amd_log.kinds counts them in a byte");

static unsigned int first_char(const char *p)
{
	return ((unsigned char)*p | 0x20) & 127;
}

static void index_kinds(struct amd_log *a)
{
	for (size_t i = KINDS; i-- > 0;)
		a->kinds[first_char(kinds[i].text)] = (uint8_t)(i + 1);
	a->indexed = true;
}

static const struct kind *amd_log_message_kind_of(const struct amd_log *a, const char *p, const char *end)
{
	unsigned int first = first_char(p);

	for (size_t i = a->kinds[first]; i && i <= KINDS && first_char(kinds[i - 1].text) == first; i++)
		if ((size_t)(end - p) >= kinds[i - 1].len && !memcmp(p, kinds[i - 1].text, kinds[i - 1].len))
			return &kinds[i - 1];
	return NULL;
}

/* Records without relevant content are counted by their origin. */
static void amd_log_message_pass_over(struct amd_log *a, const struct kind *k, const char *p, const char *end)
{
	struct grt_ev_log_note n = {.number = 0};

	if (k && k->skip)
		grt_text_unknown(a->t, k->skip, strlen(k->skip));
	else if (a->h.level <= AMD_LOG_ERROR && p < end)
		amd_log_note(a, &n, GRT_LOG_ERROR, rest_of(p, end));
	else if (a->h.file.len)
		grt_text_unknown(a->t, a->h.file.at, a->h.file.len);
	else
		grt_text_unknown(a->t, "(no file)", 9);
}

static const char *skip_mark(const char *p, const char *end)
{
	while (p < end && (grt_is_blank(*p) || *p == '!'))
		p++;
	return p;
}

/* "Command", "acquireQueue": the line ends before it is known which kind it is. */
static bool begins_kind(const struct amd_log *a, const char *p, const char *end)
{
	struct grt_span text = rest_of(p, end);
	unsigned int first = first_char(p);

	for (size_t i = a->kinds[first]; i && i <= KINDS && first_char(kinds[i - 1].text) == first; i++)
		if (text.len > 3 && text.len < kinds[i - 1].len && !memcmp(p, kinds[i - 1].text, text.len))
			return true;
	return false;
}

bool amd_log_is_message(struct amd_log *a, const char *p, const char *end, bool *packet)
{
	const struct kind *k;
	struct grt_span name;

	if (!a->indexed)
		index_kinds(a);
	p = skip_mark(p, end);
	k = p < end ? amd_log_message_kind_of(a, p, end) : NULL;
	*packet = k && k->take_packet;
	if (k || (p < end && begins_kind(a, p, end)))
		return true;
	name = scan_name(p, end);
	p += name.len;
	return name.len && (GRT_SCAN_WORD(&p, end, ": Returned ") || is_api(name));
}

bool amd_log_message(struct amd_log *a, const char *p, const char *end, bool whole)
{
	const struct kind *k;

	if (!a->indexed)
		index_kinds(a);
	p = skip_mark(p, end);
	if (p == end && !whole)
		return false;
	if (p == end) {
		amd_log_message_pass_over(a, NULL, p, end);
		return true;
	}
	a->whole = whole;
	k = amd_log_message_kind_of(a, p, end);
	if (k && k->take_packet)
		return k->take_packet(a, p, end, whole);
	if (!k && !whole && begins_kind(a, p, end))
		return false;
	if (k && k->take && !whole && is_cut(p, end))
		return false;
	if (k && k->take && k->take(a, p + k->len, end))
		return true;
	if (k && k->take && !whole)
		return false;
	if (!amd_log_message_take_call(a, p, end))
		amd_log_message_pass_over(a, k, p, end);
	return true;
}
