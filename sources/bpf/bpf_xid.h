/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Xid message of NVIDIA's driver as an event.
 */
#ifndef GRTRACE_BPF_XID_H
#define GRTRACE_BPF_XID_H

#include <grtrace/grtrace.h>

/**
 * grt_bpf_xid_read - fills in what the message says; what is not understood is 0, and the text is all of it
 * @message: "NVRM: Xid (PCI:0000:01:00): 79, pid=N, name=COMM, TEXT", as far as it is there
 * @comm: gets the name, empty where there is none
 */
void grt_bpf_xid_read(struct grt_ev_xid *ev, const char *message, char *comm, size_t room);

struct grt_bpf_xid;

/**
 * grt_bpf_xid_join - fills in what the driver's tracepoint says; its number is there already
 * @message: what the same thread had written to the log before, or "": where it reports the same error
 *(number, address and text), the process is taken from it
 * @comm: as above
 */
void grt_bpf_xid_join(struct grt_ev_xid *ev, const struct grt_bpf_xid *xid, const char *message, char *comm,
		      size_t room);

#endif /* GRTRACE_BPF_XID_H */
