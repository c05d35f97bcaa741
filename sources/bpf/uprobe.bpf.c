// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of functions of programs and libraries, with their stacks. The number with which a uprobe was
 * attached identifies the function (Linux 5.15). A Wayland client's request only counts if it is a commit of
 * a surface.
 */
#include "hits.h"

/* The value in Wayland's protocol, the same in all versions. */
#define WL_SURFACE_COMMIT 6

/* The first members of libwayland's struct wl_proxy and wl_interface: the interface, and its name. */
struct wl_named {
	const void *first;
};

/* Return: whether the request is a commit; -1: its object cannot be read */
static __always_inline int is_commit(struct pt_regs *regs)
{
	struct wl_named proxy, interface;
	char name[sizeof("wl_surface")];

	if ((__u32)ARG_2(regs) != WL_SURFACE_COMMIT)
		return 0;
	if (bpf_probe_read_user(&proxy, sizeof(proxy), (void *)ARG_1(regs)) ||
	    bpf_probe_read_user(&interface, sizeof(interface), proxy.first) ||
	    bpf_probe_read_user(name, sizeof(name), interface.first))
		return -1;
	return same_text(name, "wl_surface", sizeof(name));
}

/* A hit that may have been a commit is lost. */
static __always_inline int lose_hit(void)
{
	__u32 cpu;
	struct grt_bpf_counts *c = my_counts(&cpu);

	if (!c || !hit_wanted(my_numbers()))
		return 0;
	COUNT(c->wanted);
	COUNT(c->lost);
	return 0;
}

SEC("uprobe")
int function_entered(struct pt_regs *regs)
{
	__u64 number = bpf_get_attach_cookie(regs);
	int commit = number == BPF_PRESENT_COMMIT ? is_commit(regs) : 1;

	if (commit < 0)
		return lose_hit();
	return commit ? hit(regs, 0, number) : 0;
}

char LICENSE[] SEC("license") = "GPL";
