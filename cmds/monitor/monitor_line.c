// SPDX-License-Identifier: GPL-2.0
/*
 * The line of an event in `grtrace monitor`, in columns. A row of the tables below determines what is shown
 * of an event; the layout determines the columns before that. lines/event_json.c writes JSON.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/bus.h"
#include "codes/codes.h"
#include "base/escape.h"
#include "codes/words.h"
#include "trace/field.h"
#include "codes/ioctl_names.h"
#include "codes/nv_codes.h"
#include "trace/packet.h"
#include "drm/counters.h"
#include "monitor.h"
#include "base/units.h"

/* A line is composed here: texts of a record have at most 97 bytes, each of which can become six. */
struct line {
	char text[2048];
	size_t len;
};

static void __attribute__((format(printf, 2, 3))) monitor_line_put(struct line *l, const char *fmt, ...)
{
	size_t room = sizeof(l->text) - l->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, room, fmt, ap);
	va_end(ap);
	l->len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

/* The parts that every line has are written without a format. */

static void monitor_line_put_text(struct line *l, const char *text)
{
	size_t len = strlen(text), room = sizeof(l->text) - 1 - l->len;

	if (len > room)
		len = room;
	memcpy(l->text + l->len, text, len);
	l->len += len;
}

static void monitor_line_put_u64(struct line *l, uint64_t number)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	monitor_line_put_text(l, digits + at);
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

static void monitor_line_put_key(struct line *l, const char *name)
{
	monitor_line_put_text(l, " ");
	monitor_line_put_text(l, name);
	monitor_line_put_text(l, "=");
}

static void monitor_line_put_name(struct line *l, const char *key, const char *name)
{
	if (!name)
		return;
	monitor_line_put_key(l, key);
	put_escaped(l, name, strlen(name));
}

static const char *monitor_line_comm_of(const struct monitor *m, const struct grt_event *e)
{
	return e->tid ? grt_names_name(&m->names, grt_names_find(&m->names, GRT_NAME_THREAD, e->tid)) : NULL;
}

static const char *monitor_line_ring_of(const struct monitor *m, const struct grt_event *e)
{
	if (e->ring == GRT_RING_NONE)
		return NULL;
	return grt_names_name(&m->names, grt_names_find(&m->names, GRT_NAME_RING, e->ring));
}

static const char *monitor_line_device_of(const struct monitor *m, const struct grt_event *e)
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

	for (unsigned int i = 9; i; i--, ns /= 10)
		digits[i] = (char)('0' + ns % 10);
	monitor_line_put_u64(l, e->time / NS_PER_S);
	monitor_line_put_text(l, digits);
}

/* An ioctl is shown as a whole when it ends. */
static const char *monitor_line_title_of(const struct grt_event *e)
{
	return e->type == GRT_EV_IOCTL_EXIT || e->type == GRT_EV_IOCTL_ENTER ? "IOCTL"
									     : grt_event_title(e->type);
}

static void column_event(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	monitor_line_put_text(l, monitor_line_title_of(e));
}

static void put_fence(struct line *l, const struct grt_event *e)
{
	monitor_line_put_u64(l, e->ctx);
	monitor_line_put_text(l, ":");
	monitor_line_put_u64(l, e->seqno);
}

static void column_job(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	if (grt_has_job(e) && e->type != GRT_EV_FENCE)
		put_fence(l, e);
}

static void column_ring(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	const char *name = monitor_line_ring_of(m, e);

	if (name)
		put_escaped(l, name, strlen(name));
	else if (e->ring != GRT_RING_NONE)
		monitor_line_put(l, "%u", e->ring);
}

static void column_queued(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	if (e->type == GRT_EV_COMMIT)
		monitor_line_put_u64(l, ((const struct grt_ev_commit *)e)->sw_depth);
}

static void column_comm(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	const char *name = monitor_line_comm_of(m, e);

	if (name)
		put_escaped(l, name, strlen(name));
}

static void column_pid(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	if (e->pid)
		monitor_line_put_u64(l, e->pid);
}

/* The names of NVIDIA's device files contain a blank and the address of their GPU, if it is known. */
static void put_device(struct line *l, const char *name, const char *driver)
{
	const char *address = driver && !strcmp(driver, "nvidia") ? strchr(name, ' ') : NULL;

	name = address ? address + 1 : name;
	put_escaped(l, name, strlen(name));
}

static void put_bus(struct line *l, uint32_t bus)
{
	char text[GRT_BUS_MAX];

	monitor_line_put(l, "%s", grt_bus_text(text, bus));
}

static void column_gpu(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	const char *name = monitor_line_device_of(m, e);

	if (e->type == GRT_EV_XID)
		put_bus(l, ((const struct grt_ev_xid *)e)->bus);
	else if (name)
		put_device(l, name, driver_of(m, e));
	else if (e->device)
		monitor_line_put(l, "%u:%u", e->device >> 20, e->device & 0xfffff);
}

static void column_crtc(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	if (e->type == GRT_EV_VBLANK)
		monitor_line_put_u64(l, ((const struct grt_ev_vblank *)e)->crtc);
	else
		monitor_line_put_u64(l, ((const struct grt_ev_vblank_queued *)e)->crtc);
}

static void column_vseq(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	if (e->type == GRT_EV_VBLANK)
		monitor_line_put_u64(l, ((const struct grt_ev_vblank *)e)->vseq);
	else
		monitor_line_put_u64(l, ((const struct grt_ev_vblank_queued *)e)->vseq);
}

/* VBLANK_QUEUED and VBLANK_DELIVERED have the same layout, so one struct reads both. */
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

/* Details that are shown after the columns of an event. */
static const struct grt_text_row details[] = {
	GRT_TEXT_ROW(COMMIT, hw_depth, .name = "hw"),
	GRT_TEXT_ROW(END, reply, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(COMPLETE, status, .name = "error", .hide = GRT_TEXT_HIDE_ZERO | GRT_TEXT_HIDE_UNKNOWN),
	GRT_TEXT_ROW(CTX_SWITCH, prev_ctx, .name = "from_ctx"),
	GRT_TEXT_ROW(IRQ, hw_ring, .name = "ring"),
	GRT_TEXT_ROW(IRQ, vmid),
	GRT_TEXT_ROW(IRQ, pasid),
	GRT_TEXT_ROW(ERROR, status, .name = "error"),
	GRT_TEXT_ROW(ERROR, code),
	GRT_TEXT_ROW(IOCTL_EXIT, cmd),
	GRT_TEXT_ROW(IOCTL_EXIT, ret),
	GRT_TEXT_ROW(IOCTL_ENTER, cmd),
	GRT_TEXT_ROW(IOCTL_ENTER, fd),
	GRT_TEXT_ROW(IOCTL_ENTER, arg),
	GRT_TEXT_ROW(OPEN, fd),
	GRT_TEXT_ROW(OPEN, oflags, .name = "flags"),
	GRT_TEXT_ROW(CLOSE, fd),
	GRT_TEXT_ROW(CLOSE, at_exit),
	GRT_TEXT_ROW(MMAP, addr),
	GRT_TEXT_ROW(MMAP, length),
	GRT_TEXT_ROW(POLL, fd),
	GRT_TEXT_ROW(POLL, events),
	GRT_TEXT_ROW(WAIT_DEP, dep_ctx, .name = "ctx"),
	GRT_TEXT_ROW(WAIT_DEP, dep_seqno, .name = "seq"),
	GRT_TEXT_ROW(FENCE, status, .name = "error", .hide = GRT_TEXT_HIDE_ZERO | GRT_TEXT_HIDE_UNKNOWN),
	GRT_TEXT_ROW(FENCE, waiters, .name = "jobs"),
	GRT_TEXT_ROW(VBLANK, high_prec),
	GRT_TEXT_ROW(VBLANK_QUEUED, file),
	GRT_TEXT_ROW(VBLANK_DELIVERED, file),
	GRT_TEXT_ROW(MEM_CREATE, object),
	GRT_TEXT_ROW(MEM_CREATE, bytes),
	GRT_TEXT_ROW(MEM_CREATE, wanted, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(MEM_CREATE, allowed, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(MEM_CREATE, mflags, .name = "flags", .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(MEM_DESTROY, object),
	GRT_TEXT_ROW(MEM_MOVE, object),
	GRT_TEXT_ROW(MEM_MOVE, bytes),
	GRT_TEXT_ROW(MEM_BIND, object),
	GRT_TEXT_ROW(MEM_BIND, vm),
	GRT_TEXT_ROW(MEM_BIND, offset),
	GRT_TEXT_ROW(MEM_BIND, bytes),
	GRT_TEXT_ROW(MEM_BIND, mflags, .name = "flags", .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(MEM_UNBIND, object),
	GRT_TEXT_ROW(MEM_UNBIND, vm),
	GRT_TEXT_ROW(MEM_UNBIND, offset),
	GRT_TEXT_ROW(MEM_UNBIND, bytes),
	GRT_TEXT_ROW(MEM_FAULT, object),
	GRT_TEXT_ROW(MEM_FAULT, page),
	GRT_TEXT_ROW(MEM_SHRINK, target, .name = "pages"),
	GRT_TEXT_ROW(MEM_SHRINK, mflags, .name = "flags"),
	GRT_TEXT_ROW(JOB, status, .name = "error", .hide = GRT_TEXT_HIDE_ZERO | GRT_TEXT_HIDE_UNKNOWN),
	GRT_TEXT_ROW(JOB, reply, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(JOB, waits, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(JOB, errors, .hide = GRT_TEXT_HIDE_ZERO),
	GRT_TEXT_ROW(XID, code, .name = "xid"),
	GRT_TEXT_ROW(GPU_SLICE, context),
	{.field = NULL},
};

/* Texts in addition to the fields, each for one type of event. */

static void monitor_line_put_ns(struct line *l, const char *name, uint64_t ns)
{
	char text[GRT_UNITS_MAX];

	grt_units_ns(text, ns);
	monitor_line_put_key(l, name);
	for (const char *p = text; *p; p++)
		if (*p != ' ')
			monitor_line_put(l, "%c", *p);
}

static void more_released(struct line *l, const struct monitor *m, const struct grt_event *e,
			  const struct monitor_did *did)
{
	monitor_line_put_key(l, "fence");
	put_fence(l, e);
	if (did->ended > 0) {
		monitor_line_put_key(l, "released");
		monitor_line_put(l, "%d", did->ended);
	}
}

static void put_since(struct line *l, const char *name, uint64_t from, uint64_t to)
{
	if (from && to >= from)
		monitor_line_put_ns(l, name, to - from);
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
	if (e->flags & GRT_FLAG_SIGNALLED)
		monitor_line_put_text(l, " signalled");
}

/* The meaning of a driver's command code, by the driver of the ring. */
static void more_command(struct line *l, const struct monitor *m, const struct grt_event *e,
			 const struct monitor_did *did)
{
	const char *driver = grt_names_owner(&m->names, grt_names_find(&m->names, GRT_NAME_RING, e->ring));
	/* SUBMIT and COMMAND have it at the same offset. */
	uint32_t cmd = ((const struct grt_ev_command *)e)->cmd;
	const char *name = driver && !strcmp(driver, "virtio_gpu") ? grt_virtio_gpu_name(cmd) : NULL;

	if (!cmd)
		return;
	if (driver && !strcmp(driver, "amdgpu"))
		monitor_line_put(l, " ibs=%u", cmd);
	else if (name)
		monitor_line_put(l, " cmd=0x%x(%s)", cmd, name);
	else
		monitor_line_put(l, " cmd=0x%x", cmd);
}

_Static_assert(offsetof(struct grt_ev_submit, cmd) == offsetof(struct grt_ev_command, cmd), "the same place");

static void more_submit(struct line *l, const struct monitor *m, const struct grt_event *e,
			const struct monitor_did *did)
{
	more_command(l, m, e, did);
	if (e->flags & GRT_FLAG_COMMIT)
		monitor_line_put_text(l, " commit");
}

static void more_irq(struct line *l, const struct monitor *m, const struct grt_event *e,
		     const struct monitor_did *did)
{
	uint32_t source = ((const struct grt_ev_irq *)e)->source, client = source >> 16;
	const char *name = grt_amdgpu_client_name(client);

	monitor_line_put_text(l, " client=");
	client == GRT_IRQ_CLIENT_UNKNOWN ? monitor_line_put_text(l, "-") : monitor_line_put_u64(l, client);
	if (name)
		monitor_line_put(l, "(%s)", name);
	monitor_line_put_text(l, " src=");
	source == UINT32_MAX ? monitor_line_put_text(l, "-") : monitor_line_put_u64(l, source & 0xffff);
}

static void monitor_line_put_hex(struct line *l, const char *key, uint32_t number)
{
	monitor_line_put_key(l, key);
	monitor_line_put(l, "0x%x", number);
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
		monitor_line_put_name(l, key, "-");
	else if (name) {
		monitor_line_put_key(l, key);
		monitor_line_put(l, "%s(0x%x)", name, about);
	} else {
		monitor_line_put_hex(l, key, about);
	}
}

/* The driver's own answer, if it refused the call. */
static void put_answer(struct line *l, uint32_t status)
{
	const char *name = grt_nv_status_name(status);

	if (status && name)
		monitor_line_put_name(l, "status", name);
	else if (status && status != UINT32_MAX)
		monitor_line_put_hex(l, "status", status);
}

static void more_ioctl(struct line *l, const struct monitor *m, const struct grt_event *e,
		       const struct monitor_did *did)
{
	const struct grt_ev_ioctl_exit *ev = (const struct grt_ev_ioctl_exit *)e;
	const char *driver = driver_of(m, e);
	bool nvidia = driver && !strcmp(driver, "nvidia");
	const char *name = nvidia ? grt_nv_ioctl_name(monitor_line_device_of(m, e), ev->cmd)
				  : grt_ioctl_name(driver, ev->cmd);

	monitor_line_put_name(l, "name", name);
	if (nvidia) {
		put_about(l, ev->cmd, ev->about);
		put_answer(l, ev->status);
	}
	if (did->call.known) {
		monitor_line_put(l, " fd=%d", did->call.fd);
		monitor_line_put_ns(l, "took", did->call.ns);
	} else {
		monitor_line_put_text(l, " fd=- took=-");
	}
}

static void monitor_line_put_memory(struct line *l, const char *name, uint32_t type)
{
	const char *text = grt_amdgpu_memory_name(type);

	if (text)
		monitor_line_put(l, " %s=%s", name, text);
	else
		monitor_line_put(l, " %s=%u", name, type);
}

static void more_create(struct line *l, const struct monitor *m, const struct grt_event *e,
			const struct monitor_did *did)
{
	const struct grt_ev_mem_create *ev = (const struct grt_ev_mem_create *)e;

	if ((ev->wanted || ev->placed != UINT32_MAX))
		monitor_line_put_memory(l, "placed", ev->placed);
}

static void more_move(struct line *l, const struct monitor *m, const struct grt_event *e,
		      const struct monitor_did *did)
{
	const struct grt_ev_mem_move *ev = (const struct grt_ev_mem_move *)e;

	monitor_line_put_memory(l, "from", ev->from);
	monitor_line_put_memory(l, "to", ev->to);
}

static void more_fault(struct line *l, const struct monitor *m, const struct grt_event *e,
		       const struct monitor_did *did)
{
	const struct grt_ev_mem_fault *ev = (const struct grt_ev_mem_fault *)e;

	monitor_line_put(l, " %s %s", ev->gtt ? "GTT" : "CPU", ev->writing ? "write" : "read");
}

static void more_vblank(struct line *l, const struct monitor *m, const struct grt_event *e,
			const struct monitor_did *did)
{
	const struct grt_ev_vblank *ev = (const struct grt_ev_vblank *)e;

	if (e->time >= ev->stamp)
		monitor_line_put_ns(l, "late", e->time - ev->stamp);
}

static void more_function(struct line *l, const struct monitor *m, const struct grt_event *e,
			  const struct monitor_did *did)
{
	const struct grt_ev_func *ev = (const struct grt_ev_func *)e;

	monitor_line_put_text(l, " ");
	put_escaped(l, ev->function, sizeof(ev->function));
	monitor_line_put_text(l, ev->text[0] ? " " : "");
	put_escaped(l, ev->text, sizeof(ev->text));
	if (ev->known & GRT_FUNC_RET) {
		monitor_line_put_key(l, "ret");
		monitor_line_put(l, "%lld", (long long)ev->ret);
	}
	if (ev->known & GRT_FUNC_TOOK)
		monitor_line_put_ns(l, "took", ev->took);
}

/* "counter=power value=21.0 W"; a total as it is, and no value for a counter that ended, as in JSON. */
static void more_counter(struct line *l, const struct monitor *m, const struct grt_event *e,
			 const struct monitor_did *did)
{
	const struct grt_ev_counter *ev = (const struct grt_ev_counter *)e;
	uint32_t id = grt_names_find(&m->names, GRT_NAME_COUNTER, ev->counter);
	const char *name = grt_names_name(&m->names, id), *unit = grt_names_owner(&m->names, id);
	bool fits = ev->value >= -GRT_COUNTER_VALUE_MAX && ev->value <= GRT_COUNTER_VALUE_MAX;
	char amount[64];

	monitor_line_put_name(l, "counter", name ? name : "-");
	if (e->flags & GRT_FLAG_ENDED) {
		monitor_line_put_text(l, " ended");
		return;
	}
	if (fits && unit)
		grt_units_amount(amount, sizeof(amount), ev->value * 1000, unit);
	else
		snprintf(amount, sizeof(amount), "%lld", (long long)ev->value);
	monitor_line_put_name(l, "value", amount);
}

static void more_xid(struct line *l, const struct monitor *m, const struct grt_event *e,
		     const struct monitor_did *did)
{
	const struct grt_ev_xid *ev = (const struct grt_ev_xid *)e;
	const struct grt_xid_info *info = grt_xid_info(ev->code);

	monitor_line_put(l, " %s", info ? info->name : "unknown");
	if (ev->text[0]) {
		monitor_line_put_text(l, " \"");
		put_escaped(l, ev->text, sizeof(ev->text));
		monitor_line_put_text(l, "\"");
	}
	if (info)
		monitor_line_put(l, ": %s; %s", info->meaning, info->todo);
}

/* "context=0x34 lasted=2.00ms"; unusual ends, too: "over=cut" */
static void more_slice(struct line *l, const struct monitor *m, const struct grt_event *e,
		       const struct monitor_did *did)
{
	const struct grt_ev_gpu_slice *ev = (const struct grt_ev_gpu_slice *)e;
	const char *begin = grt_word(GRT_WORDS_SLICE_EDGE, ev->begin),
		   *over = grt_word(GRT_WORDS_SLICE_EDGE, ev->over);

	monitor_line_put_ns(l, "lasted", e->time > ev->start ? e->time - ev->start : 0);
	if (ev->begin != GRT_SLICE_SWITCH && begin)
		monitor_line_put(l, " begin=%s", begin);
	if (ev->over != GRT_SLICE_SWITCH && over)
		monitor_line_put(l, " over=%s", over);
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
	[GRT_EV_COUNTER] = more_counter,   [GRT_EV_GPU_SLICE] = more_slice,
};

static void put_details(struct line *l, const struct monitor *m, const struct grt_event *e,
			const struct monitor_did *did)
{
	char fields[GRT_EVENT_TEXT_MAX];

	*grt_event_text_put(m->details, fields, e) = '\0';
	monitor_line_put_text(l, fields);
	if (e->type < GRT_EV_MAX && more[e->type])
		more[e->type](l, m, e, did);
}

/* Lines */

static void text_column(struct line *l, const struct monitor *m, const struct column *c,
			const struct grt_event *e)
{
	size_t begin = l->len, len;
	unsigned int width, pad;

	if (e)
		c->put(l, m, e);
	else
		monitor_line_put_text(l, c->title);
	if (l->len == begin)
		monitor_line_put_text(l, "-");
	len = l->len - begin;
	width = grt_text_width(l->text + begin, len);
	pad = width < c->width ? c->width - width : 0;
	put_blanks(l, pad + 1);
	if (c->right && l->len == begin + len + pad + 1) {
		memmove(l->text + begin + pad, l->text + begin, len);
		memset(l->text + begin, ' ', pad);
	}
}

/* Writes process and thread if the layout has no columns for them. */
static void monitor_line_put_who(struct line *l, const struct monitor *m, const struct grt_event *e)
{
	const char *comm = monitor_line_comm_of(m, e);

	if (!e->pid || m->row->layout == MONITOR_LAYOUT_CALLS)
		return;
	monitor_line_put_key(l, "pid");
	monitor_line_put_u64(l, e->pid);
	if (!comm)
		return;
	monitor_line_put_key(l, "comm");
	put_escaped(l, comm, strlen(comm));
}

static void monitor_line_text_line(struct line *l, const struct monitor *m, const struct grt_event *e,
				   const struct monitor_did *did)
{
	for (const struct column *c = layouts[m->row->layout]; c->title; c++)
		text_column(l, m, c, e);
	/* Details begin with a blank. */
	l->len--;
	put_details(l, m, e, did);
	monitor_line_put_who(l, m, e);
	if (e->flags & GRT_FLAG_INFERRED)
		monitor_line_put_text(l, " inferred");
}

static int write_line(struct monitor *m, struct line *l)
{
	monitor_line_put_text(l, "\n");
	/* A line that was too long still ends in a newline. */
	l->text[l->len - 1] = '\n';
	errno = 0;
	if (fwrite_unlocked(l->text, 1, l->len, stdout) == l->len)
		return 0;
	m->write_error = errno ? errno : EIO;
	return MONITOR_STOP;
}

static int monitor_line_write_header(struct monitor *m)
{
	struct line l = {.len = 0};

	m->header = true;
	for (const struct column *c = layouts[m->row->layout]; c->title; c++)
		text_column(&l, m, c, NULL);
	monitor_line_put_text(&l, "DETAILS");
	return write_line(m, &l);
}

/* The waits that a fence ended are known only to this command. */
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

int monitor_line_new(struct monitor *m)
{
	return m->json ? grt_event_json_new(&m->lines)
		       : grt_event_text_new(&m->details, &(struct grt_text_style){.rows = details});
}

void monitor_line_free(struct monitor *m)
{
	grt_event_json_free(m->lines);
	grt_event_text_free(m->details);
}

int monitor_line(struct monitor *m, const struct grt_event *e, uint32_t cpu, const struct monitor_did *did)
{
	struct line l;

	l.len = 0;
	if (m->json)
		return json_line(m, e, cpu, did);
	if (!m->header && monitor_line_write_header(m))
		return MONITOR_STOP;
	monitor_line_text_line(&l, m, e, did);
	return write_line(m, &l);
}
