// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of older drivers have less: the words PCI, pid and name may be missing, and the process may be
 * '<unknown>'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"
#include "bpf_xid.h"
#include "codes/codes.h"

#define MARK "NVRM: Xid ("
/* "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 24007, ...": an error of an NVSwitch */
#define SWITCH "nvidia-nvswitch"
#define SWITCH_MARK ": SXid ("

/** struct part - an instance of a GPU (MIG), as the message names it: " GPU-I:05 GPU-CI:00" */
struct part {
	const char *at;
	size_t len;
};

/*
 * "0000:01:00" or "0000:01:00.0", perhaps an instance, then "): " and the number. Return: the rest; NULL:
 * the text is different
 */
static const char *grt_bpf_xid_read_head(const char *p, struct grt_ev_xid *ev, struct part *part)
{
	unsigned int domain, bus, device, function = 0;
	int n = 0;

	if (!strncmp(p, "PCI:", 4))
		p += 4;
	if (sscanf(p, "%8x:%2x:%2x%n", &domain, &bus, &device, &n) != 3)
		return NULL;
	p += n;
	if (sscanf(p, ".%1x%n", &function, &n) == 1)
		p += n;
	part->at = p + strspn(p, " ");
	p += strcspn(p, ")");
	part->len = part->at < p ? (size_t)(p - part->at) : 0;
	n = 0;
	if (sscanf(p, "): %9u%n", &ev->code, &n) != 1)
		return NULL;
	ev->bus = domain << 16 | bus << 8 | (device & 0x1f) << 3 | (function & 7);
	return p + n;
}

/* "KEY=VALUE, ": Return: the rest, or @p if this is not the key */
static const char *grt_bpf_xid_take_key(const char *p, const char *key, char *value, size_t room)
{
	const char *end;

	value[0] = '\0';
	if (strncmp(p, key, strlen(key)))
		return p;
	p += strlen(key);
	end = strstr(p, ", ");
	if (!end)
		end = p + strlen(p);
	snprintf(value, room, "%.*s", (int)(end - p), p);
	return *end ? end + 2 : end;
}

static const char *grt_bpf_xid_read_process(const char *p, struct grt_ev_xid *ev, char *comm, size_t room)
{
	char pid[16], name[64];

	p = grt_bpf_xid_take_key(p, "pid=", pid, sizeof(pid));
	p = grt_bpf_xid_take_key(p, "name=", name, sizeof(name));
	ev->e.pid = ev->e.tid = (uint32_t)strtoul(pid, NULL, 10);
	if (ev->e.pid && strcmp(name, "<unknown>"))
		snprintf(comm, room, "%.15s", name);
	return p;
}

/* Return: whether it is an error of a switch */
static bool grt_bpf_xid_read_switch(struct grt_ev_xid *ev, const char *message)
{
	const char *mark = strncmp(message, SWITCH, strlen(SWITCH)) ? NULL : strstr(message, SWITCH_MARK);
	const char *rest = NULL;
	struct part part;

	if (!mark)
		return false;
	rest = grt_bpf_xid_read_head(mark + strlen(SWITCH_MARK), ev, &part);
	if (rest)
		rest += strncmp(rest, ", ", 2) ? 0 : 2;
	else
		rest = mark + strlen(SWITCH_MARK);
	grt_xid_set_text(ev, "SXid", 4, rest, strcspn(rest, "\n"));
	return true;
}

void grt_bpf_xid_read(struct grt_ev_xid *ev, const char *message, char *comm, size_t room)
{
	const char *p = message, *rest = NULL;
	struct part part = {message, 0};

	comm[0] = '\0';
	if (grt_bpf_xid_read_switch(ev, message))
		return;
	if (!strncmp(p, MARK, strlen(MARK)))
		rest = grt_bpf_xid_read_head(p + strlen(MARK), ev, &part);
	if (rest) {
		p = rest + (strncmp(rest, ", ", 2) ? 0 : 2);
		p = grt_bpf_xid_read_process(p, ev, comm, room);
	}
	grt_xid_set_text(ev, part.at, rest ? part.len : 0, p, strcspn(p, "\n"));
}

/* "0000:c6:00.0"; 0: it is not an address. */
static uint32_t read_address(const char *text)
{
	unsigned int domain, bus, device, function;

	if (sscanf(text, "%8x:%2x:%2x.%1x", &domain, &bus, &device, &function) != 4)
		return 0;
	return domain << 16 | bus << 8 | (device & 0x1f) << 3 | (function & 7);
}

/* The line in the log lacks the function of the device, and may be truncated. */
static bool grt_bpf_xid_is_same(const struct grt_ev_xid *ev, const struct grt_ev_xid *logged,
				const char *text, const char *line)
{
	char begin[65];

	snprintf(begin, sizeof(begin), "%.64s", text);
	return logged->code == ev->code && (logged->bus & ~7U) == (ev->bus & ~7U) && begin[0] &&
	       strstr(line, begin);
}

void grt_bpf_xid_join(struct grt_ev_xid *ev, const struct grt_bpf_xid *xid, const char *message, char *comm,
		      size_t room)
{
	struct grt_ev_xid logged = {.code = 0};
	char text[BPF_TEXT + 1] = "", device[33] = "";
	const char *p = text;

	memcpy(text, xid->message, BPF_TEXT);
	memcpy(device, xid->device, sizeof(xid->device));
	comm[0] = '\0';
	ev->bus = read_address(device);
	/* some messages name the process themselves */
	p = grt_bpf_xid_read_process(p, ev, comm, room);
	grt_xid_set_text(ev, p, 0, p, strcspn(p, "\n"));
	if (ev->e.pid || !message[0])
		return;
	grt_bpf_xid_read(&logged, message, device, sizeof(device));
	if (!grt_bpf_xid_is_same(ev, &logged, p, message))
		return;
	ev->e.pid = ev->e.tid = logged.e.pid;
	snprintf(comm, room, "%s", device);
}
