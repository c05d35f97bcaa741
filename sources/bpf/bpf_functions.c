// SPDX-License-Identifier: GPL-2.0
/*
 * The BTF of the kernel is read once for all functions that are requested in a row; the BTF of a module is
 * read for each of its functions.
 */
#include "bpf_functions.h"

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/**
 * struct function - a function that is not in the kernel itself, or that is only useful together with others
 */
struct function {
	const char *name;
	const char *module;
	const char *with[2];
};

static const struct function functions[] = {
	{"drm_syncobj_wait_ioctl", "drm", {NULL}},
	{"drm_syncobj_timeline_wait_ioctl", "drm", {NULL}},
	/* calls that begin in the function above end in these */
	{"sync_file_poll", NULL, {"do_sys_poll", "do_select"}},
};

const char *grt_bpf_function_of(const char *section)
{
	if (!strncmp(section, "fentry/", 7))
		return section + 7;
	return strncmp(section, "fexit/", 6) ? NULL : section + 6;
}

/*
 * Gets the name of a system call from the name of its function, such as __x64_sys_ioctl; the kernel's compat
 * functions have other names.
 */
static bool names_call(const char *function, char name[32])
{
	return sscanf(function, "__%*[a-z0-9]_sys_%31s", name) == 1;
}

bool grt_bpf_function_replaces(const char *section, const char *other)
{
	const char *function = grt_bpf_function_of(section);
	char name[32], tracepoint[64];

	if (!function || !names_call(function, name))
		return false;
	snprintf(tracepoint, sizeof(tracepoint), "tp/syscalls/sys_%s_%s",
		 strncmp(section, "fentry/", 7) ? "exit" : "enter", name);
	return !other || !strcmp(tracepoint, other);
}

/*
 * Some kernels have the function and refuse programs there. To find out, a program that does nothing is
 * attached and detached again.
 */
static bool can_be_at(const struct btf *kernel, const char *function)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					   {.code = BPF_JMP | BPF_EXIT}};
	int id = btf__find_by_name_kind(kernel, function, BTF_KIND_FUNC), prog, link;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FEXIT,
		    .attach_btf_id = (uint32_t)id);

	if (id <= 0)
		return false;
	prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "nothing", "GPL", nothing, 2, &opts);
	if (prog < 0)
		return false;
	link = bpf_raw_tracepoint_open(NULL, prog);
	close(prog);
	if (link < 0)
		return false;
	close(link);
	return true;
}

/* The result is cached, because it is requested again and again. */
static bool call_is_here(const struct btf *kernel, const char *function)
{
	static char last[64];
	static bool here;

	if (strcmp(last, function)) {
		snprintf(last, sizeof(last), "%s", function);
		here = kernel && can_be_at(kernel, function);
	}
	return here;
}

static bool grt_bpf_functions_has(const struct btf *btf, const char *name)
{
	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

static bool module_has(struct btf *kernel, const char *module, const char *name)
{
	struct btf *btf = kernel ? btf__load_module_btf(module, kernel) : NULL;
	bool found = !libbpf_get_error(btf) && grt_bpf_functions_has(btf, name);

	if (!libbpf_get_error(btf))
		btf__free(btf);
	return found;
}

bool grt_bpf_function_here(const char *name)
{
	static struct btf *kernel;
	const struct function *f = functions, *end = f + sizeof(functions) / sizeof(functions[0]);
	char call[32];
	bool here;

	if (!kernel)
		kernel = btf__load_vmlinux_btf();
	if (names_call(name, call))
		return call_is_here(kernel, name);
	while (f < end && strcmp(f->name, name))
		f++;
	here = grt_bpf_functions_has(kernel, name);
	if (f == end)
		return here;
	if (!here && f->module)
		here = module_has(kernel, f->module, name);
	for (unsigned int i = 0; i < 2 && f->with[i]; i++)
		here = here && grt_bpf_functions_has(kernel, f->with[i]);
	return here;
}

#endif /* GRT_HAVE_BPF */
