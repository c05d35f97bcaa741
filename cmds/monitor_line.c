// SPDX-License-Identifier: GPL-2.0
/*
 * The line of an event in `grtrace monitor`, as columns for people. What is shown
 * of an event is a row of the tables below; the columns before it are the
 * layout's. JSON is lines/event_json.c's.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/bus.h"
#include "codes/codes.h"
#include "base/escape.h"
#include "trace/field.h"
#include "codes/ioctl_names.h"
#include "codes/nv_codes.h"
#include "trace/packet.h"
#include "drm/counters.h"
#include "monitor.h"
#include "base/units.h"

/* A line is put together here: texts of a record are at most 97 bytes, each of which can become six. */
struct line {
	char text[2048];
	size_t len;
};

static void __attribute__((format(printf, 2, 3))) put(struct line *l, const char *fmt, ...)
{
	size_t room = sizeof(l->text) - l->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, room, fmt, ap);
	va_end(ap);
	l->len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

/* What stands in every line is put without a format. */

static void put_text(struct line *l, const char *text)
{
	size_t len = strlen(text), room = sizeof(l->text) - 1 - l->len;

	if (len > room)
		len = room;
	memcpy(l->text + l->len, text, len);
	l->len += len;
}

static void put_u64(struct line *l, uint64_t number)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	put_text(l, digits + at);
}

static void put_blanks(struct line *l, unsigned int n)
{
	size_t room = sizeof(l->text) - 1 - l->len;

	if (n > room)
		n = (unsigned int)room;
	memset(l->text + l->len, ' ', n);
	l->len += n;
}

static void put_escaped(struct line *l, const char *text, size_t size)
{
	l->len += grt_escape(GRT_ESCAPE_TERM, l->text + l->len, sizeof(l->text) - l->len, text, size);
}

static void put_key(struct line *l, const char *name)
{
	put_text(l, " ");
	put_text(l, name);
	put_text(l, "=");
}

static void put_name(struct line *l, const char *key, const char *name)
{
	if (!name)
		return;
	put_key(l, key);
	put_escaped(l, name, strlen(name));
}

static const char *comm_of(const struct monitor *m, const struct grt_event *e)
{
	return e->tid ? grt_names_name(&m->names, grt_names_find(&m->names, GRT_NAME_THREAD, e->tid)) : NULL;
}

static const char *ring_of(const struct monitor *m, const struct grt_event *e)
{
	if (e->ring == GRT_RING_NONE)
		return NULL;
	return grt_names_name(&m->names, grt_names_find(&m->names, GRT_NAME_RING, e->ring));
}

static const char *device_of(const struct monitor *m, const struct grt_event *e)
{
	return grt_names_name(&m->names, grt_names_find(&m->names, GRT_NAME_DEVICE, e->device));
}

static const char *driver_of(const struct monitor *m, const struct grt_event *e)
{
	return grt_names_owner(&m->names, grt_names_find(&m->names, GRT_NAME_DEVICE, e->device));
}

/* Columns */

static void column_time(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	char digits[11] = ".000000000";
	uint64_t ns = e->time % NS_PER_S;

	(void)m;
	for (unsigned int i = 9; i; i--, ns /= 10)
		digits[i] = (char)('0' + ns % 10);
	put_u64(l, e->time / NS_PER_S);
	put_text(l, digits);
}

/* An ioctl is shown when it ends, as one. */
static const char *title_of(const struct grt_event *e)
{
	return e->type == GRT_EV_IOCTL_EXIT || e->type == GRT_EV_IOCTL_ENTER ? "IOCTL"
									     : grt_event_title(e->type);
}

static void column_event(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	(void)m;
	put_text(l, title_of(e));
}

static void put_fence(struct line *l, const struct grt_event *e)
{
	put_u64(l, e->ctx);
	put_text(l, ":");
	put_u64(l, e->seqno);
}

static void column_job(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	(void)m;
	if (grt_has_job(e) && e->type != GRT_EV_FENCE)
		put_fence(l, e);
}

static void column_ring(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	const char *name = ring_of(m, e);

	if (name)
		put_escaped(l, name, strlen(name));
	else if (e->ring != GRT_RING_NONE)
		put(l, "%u", e->ring);
}

static void column_queued(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	(void)m;
	if (e->type == GRT_EV_COMMIT)
		put_u64(l, ((const struct grt_ev_commit *)e)->sw_depth);
}

static void column_comm(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	const char *name = comm_of(m, e);

	if (name)
		put_escaped(l, name, strlen(name));
}

static void column_pid(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	(void)m;
	if (e->pid)
		put_u64(l, e->pid);
}

/* NVIDIA's device files are named with the address of their GPU behind the name, where that is known. */
static void put_device(struct line *l, const char *name, const char *driver)
{
	const char *address = driver && !strcmp(driver, "nvidia") ? strchr(name, ' ') : NULL;

	name = address ? address + 1 : name;
	put_escaped(l, name, strlen(name));
}

static void put_bus(struct line *l, uint32_t bus)
{
	char text[GRT_BUS_MAX];

	put(l, "%s", grt_bus_text(text, bus));
}

static void column_gpu(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	const char *name = device_of(m, e);

	if (e->type == GRT_EV_XID)
		put_bus(l, ((const struct grt_ev_xid *)e)->bus);
	else if (name)
		put_device(l, name, driver_of(m, e));
	else if (e->device)
		put(l, "%u:%u", e->device >> 20, e->device & 0xfffff);
}

static void column_crtc(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	(void)m;
	if (e->type == GRT_EV_VBLANK)
		put_u64(l, ((const struct grt_ev_vblank *)e)->crtc);
	else
		put_u64(l, ((const struct grt_ev_vblank_queued *)e)->crtc);
}

static void column_vseq(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	(void)m;
	if (e->type == GRT_EV_VBLANK)
		put_u64(l, ((const struct grt_ev_vblank *)e)->vseq);
	else
		put_u64(l, ((const struct grt_ev_vblank_queued *)e)->vseq);
}

/* VBLANK_QUEUED and VBLANK_DELIVERED are read through one of them. */
_Static_assert(offsetof(struct grt_ev_vblank_queued, crtc) ==
			       offsetof(struct grt_ev_vblank_delivered, crtc) &&
		       offsetof(struct grt_ev_vblank_queued, vseq) ==
			       offsetof(struct grt_ev_vblank_delivered, vseq),
	       "the same places");

struct column {
	const char *title;
	unsigned int width;
	bool right;
	void (*put)(struct line *l, const struct monitor *m, const struct grt_event *e);
};

#define COLUMN_TIME                           \
	{                                     \
		"TIME", 17, true, column_time \
	}
#define COLUMN_END                   \
	{                            \
		NULL, 0, false, NULL \
	}

static const struct column layouts[MONITOR_LAYOUTS][8] = {
	[MONITOR_LAYOUT_JOBS] = {COLUMN_TIME,
				 {"EVENT", 15, false, column_event},
				 {"JOB", 14, false, column_job},
				 {"RING", 12, false, column_ring},
				 {"QUEUED", 6, true, column_queued},
				 COLUMN_END},
	[MONITOR_LAYOUT_CALLS] = {COLUMN_TIME,
				  {"EVENT", 8, false, column_event},
				  {"COMM", 15, false, column_comm},
				  {"PID", 7, true, column_pid},
				  {"GPU", 14, false, column_gpu},
				  COLUMN_END},
	[MONITOR_LAYOUT_FRAMES] = {COLUMN_TIME,
				   {"EVENT", 16, false, column_event},
				   {"CRTC", 4, true, column_crtc},
				   {"FRAME", 10, true, column_vseq},
				   COLUMN_END},
};

/* Details */

enum detail_kind {
	DETAIL_DEC,
	DETAIL_HEX,
	DETAIL_SIGNED,
	DETAIL_ERROR,	/* signed, nothing where it is 0 or unknown */
	DETAIL_BITS,	/* hexadecimal, nothing where it is 0 */
	DETAIL_KNOWN,	/* decimal, unknown where all bits are set */
	DETAIL_ADDRESS, /* the same, hexadecimal */
	DETAIL_FD,	/* signed, unknown where it is GRT_FD_UNKNOWN */
};

/**
 * struct detail - a field of an event's payload
 * @text: its name
 */
struct detail {
	const char *text;
	uint8_t kind;
	uint8_t size;
	uint16_t offset;
};

#define D(evt, member, name, KIND)                                                 \
	{                                                                          \
		(name), DETAIL_##KIND, sizeof(((struct grt_ev_##evt *)0)->member), \
			offsetof(struct grt_ev_##evt, member)                      \
	}
#define DETAILS(evt, ...)                        \
	[GRT_EV_##evt] = (const struct detail[]) \
	{                                        \
		__VA_ARGS__ __VA_OPT__(, )       \
		{                                \
			.text = NULL             \
		}                                \
	}

/* clang-format off */
static const struct detail *const details[GRT_EV_MAX] = {
	DETAILS(COMMIT, D(commit, hw_depth, "hw", DEC)),
	DETAILS(END, D(end, reply, "reply", BITS)),
	DETAILS(COMPLETE, D(complete, status, "error", ERROR)),
	DETAILS(CTX_SWITCH, D(ctx_switch, prev_ctx, "from_ctx", DEC)),
	DETAILS(IRQ, D(irq, hw_ring, "ring", KNOWN),
		D(irq, vmid, "vmid", KNOWN), D(irq, pasid, "pasid", KNOWN)),
	DETAILS(ERROR, D(error, status, "error", SIGNED), D(error, code, "code", HEX)),
	DETAILS(IOCTL_EXIT, D(ioctl_exit, cmd, "cmd", HEX), D(ioctl_exit, ret, "ret", SIGNED)),
	DETAILS(IOCTL_ENTER, D(ioctl_enter, cmd, "cmd", HEX), D(ioctl_enter, fd, "fd", FD),
		D(ioctl_enter, arg, "arg", ADDRESS)),
	DETAILS(OPEN, D(open, fd, "fd", FD), D(open, oflags, "flags", ADDRESS)),
	DETAILS(CLOSE, D(close, fd, "fd", FD), D(close, at_exit, "at_exit", KNOWN)),
	DETAILS(MMAP, D(mmap, addr, "addr", ADDRESS), D(mmap, length, "length", KNOWN)),
	DETAILS(POLL, D(poll, fd, "fd", FD), D(poll, events, "events", ADDRESS)),
	DETAILS(WAIT_DEP, D(wait_dep, dep_ctx, "ctx", DEC), D(wait_dep, dep_seqno, "seq", DEC)),
	DETAILS(FENCE, D(fence, status, "error", ERROR), D(fence, waiters, "jobs", DEC)),
	DETAILS(VBLANK,
		D(vblank, high_prec, "high_prec", DEC)),
	DETAILS(VBLANK_QUEUED,
		D(vblank_queued, file, "file", HEX)),
	DETAILS(VBLANK_DELIVERED,
		D(vblank_delivered, file, "file", HEX)),
	DETAILS(MEM_CREATE, D(mem_create, object, "object", HEX), D(mem_create, bytes, "bytes", DEC),
		D(mem_create, wanted, "wanted", BITS), D(mem_create, allowed, "allowed", BITS), D(mem_create, mflags, "flags", BITS)),
	DETAILS(MEM_DESTROY, D(mem_destroy, object, "object", HEX)),
	DETAILS(MEM_MOVE, D(mem_move, object, "object", HEX), D(mem_move, bytes, "bytes", DEC)),
	DETAILS(MEM_BIND, D(mem_bind, object, "object", HEX), D(mem_bind, vm, "vm", HEX),
		D(mem_bind, offset, "offset", HEX), D(mem_bind, bytes, "bytes", DEC), D(mem_bind, mflags, "flags", BITS)),
	DETAILS(MEM_UNBIND, D(mem_unbind, object, "object", HEX), D(mem_unbind, vm, "vm", HEX),
		D(mem_unbind, offset, "offset", HEX), D(mem_unbind, bytes, "bytes", DEC)),
	DETAILS(MEM_FAULT, D(mem_fault, object, "object", HEX), D(mem_fault, page, "page", DEC)),
	DETAILS(MEM_SHRINK, D(mem_shrink, target, "pages", DEC), D(mem_shrink, mflags, "flags", HEX)),
	DETAILS(JOB, D(job, status, "error", ERROR),
		D(job, reply, "reply", BITS), D(job, waits, "waits", BITS), D(job, errors, "errors", BITS)),
	DETAILS(XID, D(xid, code, "xid", DEC)),
};
/* clang-format on */

static uint64_t field_of(const struct detail *d, const struct grt_event *e)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)e + d->offset, d->size);
	return v;
}

static int64_t signed_of(const struct detail *d, const struct grt_event *e)
{
	unsigned int unused = 64 - 8 * d->size;

	return (int64_t)(field_of(d, e) << unused) >> unused;
}

/* A signed field of an event by its type in events.def would be a table again; these are all. */
static bool is_signed(const struct detail *d)
{
	return d->kind == DETAIL_SIGNED || d->kind == DETAIL_ERROR || d->kind == DETAIL_FD;
}

static bool is_unknown(const struct detail *d, const struct grt_event *e)
{
	return grt_is_unknown(grt_unknown_of(e->type, d->offset), e, field_of(d, e));
}

static void text_detail(struct line *l, const struct detail *d, const struct grt_event *e)
{
	if (((d->kind == DETAIL_ERROR || d->kind == DETAIL_BITS) && !field_of(d, e)) ||
	    (d->kind == DETAIL_ERROR && is_unknown(d, e)))
		return;
	put_key(l, d->text);
	if (is_unknown(d, e))
		put_text(l, "-");
	else if (is_signed(d))
		put(l, "%lld", (long long)signed_of(d, e));
	else if (d->kind == DETAIL_DEC || d->kind == DETAIL_KNOWN)
		put_u64(l, field_of(d, e));
	else
		put(l, "0x%llx", (unsigned long long)field_of(d, e));
}

/* What is said beside the fields; each is for one type of event. */

static void put_ns(struct line *l, const char *name, uint64_t ns)
{
	char text[GRT_UNITS_MAX];

	grt_units_ns(text, ns);
	put_key(l, name);
	for (const char *p = text; *p; p++)
		if (*p != ' ')
			put(l, "%c", *p);
}

static void more_released(struct line *l, const struct monitor *m, const struct grt_event *e,
			  const struct monitor_did *did)
{
	(void)m;
	put_key(l, "fence");
	put_fence(l, e);
	if (did->ended > 0) {
		put_key(l, "released");
		put(l, "%d", did->ended);
	}
}

static void put_since(struct line *l, const char *name, uint64_t from, uint64_t to)
{
	if (from && to >= from)
		put_ns(l, name, to - from);
}

static void more_whole(struct line *l, const struct monitor *m, const struct grt_event *e,
		       const struct monitor_did *did)
{
	const struct grt_ev_job *r = (const struct grt_ev_job *)e;

	put_since(l, "exec", r->start, r->end);
	put_since(l, "total", r->submit, r->complete);
	more_released(l, m, e, did);
}

static void more_dep(struct line *l, const struct monitor *m, const struct grt_event *e,
		     const struct monitor_did *did)
{
	(void)m;
	(void)did;
	if (e->flags & GRT_FLAG_SIGNALLED)
		put_text(l, " signalled");
}

/* What a driver's command code is, by the driver that the ring names. */
static void more_command(struct line *l, const struct monitor *m, const struct grt_event *e,
			 const struct monitor_did *did)
{
	const char *driver = grt_names_owner(&m->names, grt_names_find(&m->names, GRT_NAME_RING, e->ring));
	/* SUBMIT and COMMAND have it in the same place. */
	uint32_t cmd = ((const struct grt_ev_command *)e)->cmd;
	const char *name = driver && !strcmp(driver, "virtio_gpu") ? grt_virtio_gpu_name(cmd) : NULL;

	(void)did;
	if (!cmd)
		return;
	if (driver && !strcmp(driver, "amdgpu"))
		put(l, " ibs=%u", cmd);
	else if (name)
		put(l, " cmd=0x%x(%s)", cmd, name);
	else
		put(l, " cmd=0x%x", cmd);
}

_Static_assert(offsetof(struct grt_ev_submit, cmd) == offsetof(struct grt_ev_command, cmd), "the same place");

static void more_submit(struct line *l, const struct monitor *m, const struct grt_event *e,
			const struct monitor_did *did)
{
	more_command(l, m, e, did);
	if (e->flags & GRT_FLAG_COMMIT)
		put_text(l, " commit");
}

static void more_irq(struct line *l, const struct monitor *m, const struct grt_event *e,
		     const struct monitor_did *did)
{
	uint32_t source = ((const struct grt_ev_irq *)e)->source, client = source >> 16;
	const char *name = grt_amdgpu_client_name(client);

	(void)m;
	(void)did;
	put_text(l, " client=");
	client == GRT_IRQ_CLIENT_UNKNOWN ? put_text(l, "-") : put_u64(l, client);
	if (name)
		put(l, "(%s)", name);
	put_text(l, " src=");
	source == UINT32_MAX ? put_text(l, "-") : put_u64(l, source & 0xffff);
}

static void put_hex(struct line *l, const char *key, uint32_t number)
{
	put_key(l, key);
	put(l, "0x%x", number);
}

/* "class=KEPLER_CHANNEL_GROUP_A(0xa06c)" */
static void put_about(struct line *l, uint32_t cmd, uint32_t about)
{
	enum grt_nv_about kind = grt_nv_about(cmd);
	const char *key = kind == GRT_NV_ABOUT_CLASS	 ? "class"
			  : kind == GRT_NV_ABOUT_CONTROL ? "control"
							 : "about";
	const char *name = monitor_nv_name(kind, about);

	if (kind == GRT_NV_ABOUT_NOTHING)
		return;
	if (about == UINT32_MAX)
		put_name(l, key, "-");
	else if (name) {
		put_key(l, key);
		put(l, "%s(0x%x)", name, about);
	} else {
		put_hex(l, key, about);
	}
}

/* The driver's own answer, where it refused. */
static void put_answer(struct line *l, uint32_t status)
{
	const char *name = grt_nv_status_name(status);

	if (status && name)
		put_name(l, "status", name);
	else if (status && status != UINT32_MAX)
		put_hex(l, "status", status);
}

static void more_ioctl(struct line *l, const struct monitor *m, const struct grt_event *e,
		       const struct monitor_did *did)
{
	const struct grt_ev_ioctl_exit *ev = (const struct grt_ev_ioctl_exit *)e;
	const char *driver = driver_of(m, e);
	bool nvidia = driver && !strcmp(driver, "nvidia");
	const char *name =
		nvidia ? grt_nv_ioctl_name(device_of(m, e), ev->cmd) : grt_ioctl_name(driver, ev->cmd);

	put_name(l, "name", name);
	if (nvidia) {
		put_about(l, ev->cmd, ev->about);
		put_answer(l, ev->status);
	}
	if (did->call.known) {
		put(l, " fd=%d", did->call.fd);
		put_ns(l, "took", did->call.ns);
	} else {
		put_text(l, " fd=- took=-");
	}
}

static void put_memory(struct line *l, const char *name, uint32_t type)
{
	const char *text = grt_amdgpu_memory_name(type);

	if (text)
		put(l, " %s=%s", name, text);
	else
		put(l, " %s=%u", name, type);
}

static void more_create(struct line *l, const struct monitor *m, const struct grt_event *e,
			const struct monitor_did *did)
{
	const struct grt_ev_mem_create *ev = (const struct grt_ev_mem_create *)e;

	(void)m;
	(void)did;
	if ((ev->wanted || ev->placed != UINT32_MAX))
		put_memory(l, "placed", ev->placed);
}

static void more_move(struct line *l, const struct monitor *m, const struct grt_event *e,
		      const struct monitor_did *did)
{
	const struct grt_ev_mem_move *ev = (const struct grt_ev_mem_move *)e;

	(void)m;
	(void)did;
	put_memory(l, "from", ev->from);
	put_memory(l, "to", ev->to);
}

static void more_fault(struct line *l, const struct monitor *m, const struct grt_event *e,
		       const struct monitor_did *did)
{
	const struct grt_ev_mem_fault *ev = (const struct grt_ev_mem_fault *)e;

	(void)m;
	(void)did;
	put(l, " %s %s", ev->gtt ? "GTT" : "CPU", ev->writing ? "write" : "read");
}

static void more_vblank(struct line *l, const struct monitor *m, const struct grt_event *e,
			const struct monitor_did *did)
{
	const struct grt_ev_vblank *ev = (const struct grt_ev_vblank *)e;

	(void)m;
	(void)did;
	if (e->time >= ev->stamp)
		put_ns(l, "late", e->time - ev->stamp);
}

static void more_function(struct line *l, const struct monitor *m, const struct grt_event *e,
			  const struct monitor_did *did)
{
	const struct grt_ev_func *ev = (const struct grt_ev_func *)e;

	(void)m;
	(void)did;
	put_text(l, " ");
	put_escaped(l, ev->function, sizeof(ev->function));
	put_text(l, ev->text[0] ? " " : "");
	put_escaped(l, ev->text, sizeof(ev->text));
	if (ev->known & GRT_FUNC_RET) {
		put_key(l, "ret");
		put(l, "%lld", (long long)ev->ret);
	}
	if (ev->known & GRT_FUNC_TOOK)
		put_ns(l, "took", ev->took);
}

/* "counter=power value=21.0 W"; of a total as it stands, and of one that ended none, as in JSON. */
static void more_counter(struct line *l, const struct monitor *m, const struct grt_event *e,
			 const struct monitor_did *did)
{
	const struct grt_ev_counter *ev = (const struct grt_ev_counter *)e;
	uint32_t id = grt_names_find(&m->names, GRT_NAME_COUNTER, ev->counter);
	const char *name = grt_names_name(&m->names, id), *unit = grt_names_owner(&m->names, id);
	bool fits = ev->value >= -GRT_COUNTER_VALUE_MAX && ev->value <= GRT_COUNTER_VALUE_MAX;
	char amount[64];

	(void)did;
	put_name(l, "counter", name ? name : "-");
	if (e->flags & GRT_FLAG_ENDED) {
		put_text(l, " ended");
		return;
	}
	if (fits && unit)
		grt_units_amount(amount, sizeof(amount), ev->value * 1000, unit);
	else
		snprintf(amount, sizeof(amount), "%lld", (long long)ev->value);
	put_name(l, "value", amount);
}

static void more_xid(struct line *l, const struct monitor *m, const struct grt_event *e,
		     const struct monitor_did *did)
{
	const struct grt_ev_xid *ev = (const struct grt_ev_xid *)e;
	const struct grt_xid_info *info = grt_xid_info(ev->code);

	(void)m;
	(void)did;
	put(l, " %s", info ? info->name : "unknown");
	if (ev->text[0]) {
		put_text(l, " \"");
		put_escaped(l, ev->text, sizeof(ev->text));
		put_text(l, "\"");
	}
	if (info)
		put(l, ": %s; %s", info->meaning, info->todo);
}

static void (*const more[GRT_EV_MAX])(struct line *l, const struct monitor *m, const struct grt_event *e,
				      const struct monitor_did *did) = {
	[GRT_EV_SUBMIT] = more_submit,	   [GRT_EV_COMMAND] = more_command,
	[GRT_EV_COMPLETE] = more_released, [GRT_EV_FENCE] = more_released,
	[GRT_EV_WAIT_DEP] = more_dep,	   [GRT_EV_IRQ] = more_irq,
	[GRT_EV_IOCTL_EXIT] = more_ioctl,  [GRT_EV_MEM_CREATE] = more_create,
	[GRT_EV_MEM_MOVE] = more_move,	   [GRT_EV_MEM_FAULT] = more_fault,
	[GRT_EV_VBLANK] = more_vblank,	   [GRT_EV_XID] = more_xid,
	[GRT_EV_JOB] = more_whole,	   [GRT_EV_FUNC] = more_function,
	[GRT_EV_COUNTER] = more_counter,
};

static void put_details(struct line *l, const struct monitor *m, const struct grt_event *e,
			const struct monitor_did *did)
{
	const struct detail *d = e->type < GRT_EV_MAX ? details[e->type] : NULL;

	for (; d && d->text; d++)
		text_detail(l, d, e);
	if (e->type < GRT_EV_MAX && more[e->type])
		more[e->type](l, m, e, did);
}

/* Lines */

static unsigned int width_of(const char *text, size_t len)
{
	unsigned int n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static void text_column(struct line *l, const struct monitor *m, const struct column *c,
			const struct grt_event *e)
{
	size_t begin = l->len, len;
	unsigned int width, pad;

	if (e)
		c->put(l, m, e);
	else
		put_text(l, c->title);
	if (l->len == begin)
		put_text(l, "-");
	len = l->len - begin;
	width = width_of(l->text + begin, len);
	pad = width < c->width ? c->width - width : 0;
	put_blanks(l, pad + 1);
	if (c->right && l->len == begin + len + pad + 1) {
		memmove(l->text + begin + pad, l->text + begin, len);
		memset(l->text + begin, ' ', pad);
	}
}

/* Who did it, where the layout has no columns for that. */
static void put_who(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	const char *comm = comm_of(m, e);

	if (!e->pid || m->row->layout == MONITOR_LAYOUT_CALLS)
		return;
	put_key(l, "pid");
	put_u64(l, e->pid);
	if (!comm)
		return;
	put_key(l, "comm");
	put_escaped(l, comm, strlen(comm));
}

static void text_line(struct line *l, const struct monitor *m, const struct grt_event *e,
		      const struct monitor_did *did)
{
	for (const struct column *c = layouts[m->row->layout]; c->title; c++)
		text_column(l, m, c, e);
	/* Details begin with a blank. */
	l->len--;
	put_details(l, m, e, did);
	put_who(l, m, e);
	if (e->flags & GRT_FLAG_INFERRED)
		put_text(l, " inferred");
}

static int write_line(struct monitor *m, struct line *l)
{
	put_text(l, "\n");
	/* A line that was too long keeps its end. */
	l->text[l->len - 1] = '\n';
	errno = 0;
	if (fwrite_unlocked(l->text, 1, l->len, stdout) == l->len)
		return 0;
	m->write_error = errno ? errno : EIO;
	return MONITOR_STOP;
}

static int write_header(struct monitor *m)
{
	struct line l = {.len = 0};

	m->header = true;
	for (const struct column *c = layouts[m->row->layout]; c->title; c++)
		text_column(&l, m, c, NULL);
	put_text(&l, "DETAILS");
	return write_line(m, &l);
}

/* Which waits a fence ended is of this command alone. */
static int json_line(struct monitor *m, const struct grt_event *e, uint32_t cpu,
		     const struct monitor_did *did)
{
	char more[32] = "";

	if (did->ended > 0)
		snprintf(more, sizeof(more), ",\"released\":%d", did->ended);
	errno = 0;
	grt_event_json_print(m->lines, stdout, e, cpu, more);
	if (!ferror(stdout))
		return 0;
	m->write_error = errno ? errno : EIO;
	return MONITOR_STOP;
}

int monitor_line(struct monitor *m, const struct grt_event *e, uint32_t cpu, const struct monitor_did *did)
{
	struct line l;

	l.len = 0;
	if (m->json)
		return json_line(m, e, cpu, did);
	if (!m->header && write_header(m))
		return MONITOR_STOP;
	text_line(&l, m, e, did);
	return write_line(m, &l);
}
