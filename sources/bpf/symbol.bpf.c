// SPDX-License-Identifier: GPL-2.0
/*
 * The address of a name in the kernel or its modules, for a program that runs this one: /proc/kallsyms makes
 * the kernel write some 100,000 lines. bpf_kallsyms_lookup_name() exists from Linux 5.16 on
 * (kernel/bpf/syscall.c), and its answer depends on kernel.kptr_restrict as that file does.
 */
#include "kernel.h"
#include "shared.h"

#include <bpf/bpf_helpers.h>

SEC("syscall")
int find_symbol(struct grt_bpf_symbol *wanted)
{
	struct grt_bpf_symbol s = {};

	/* the kernel gives helpers the memory of a context only from Linux 6.1 on */
	for (unsigned int i = 0; i < sizeof(s.name) / sizeof(s.name[0]); i++)
		s.name[i] = wanted->name[i];
	bpf_kallsyms_lookup_name((const char *)s.name, sizeof(s.name), 0, &s.address);
	wanted->address = s.address;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
