/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Xid message of NVIDIA's driver becomes an event.
 */
#ifndef GRTRACE_BPF_XID_H
#define GRTRACE_BPF_XID_H

#include <grtrace/grtrace.h>

/**
 * grt_bpf_xid_read - sets the fields from the message; fields that it does not have are 0, and the text is
 * the whole message
 * @message: "NVRM: Xid (PCI:0000:01:00): 79, pid=N, name=COMM, TEXT", or a part of that
 * @comm: gets the name; empty: there is none
 */
void grt_bpf_xid_read(struct grt_ev_xid *ev, const char *message, char *comm, size_t room);

struct grt_bpf_xid;

/**
 * grt_bpf_xid_join - sets the fields from the driver's tracepoint, whose number is set already
 * @message: what the same thread has written to the log before, or "". If it reports the same error (number,
 *	address and text), the process is taken from it
 * @comm: as above
 */
void grt_bpf_xid_join(struct grt_ev_xid *ev, const struct grt_bpf_xid *xid, const char *message, char *comm,
		      size_t room);

#endif /* GRTRACE_BPF_XID_H */
