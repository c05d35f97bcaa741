// SPDX-License-Identifier: GPL-2.0
/* Programs at functions of the kernel, see bpf_functions.h. */
#include "bpf_functions.h"

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf_kernel.h"

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

static const struct function *function_row(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

/*
 * Some kernels have the function and refuse programs there. To find out, a program that does nothing is
 * attached and detached again.
 */
static bool can_be_at(const char *function)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					   {.code = BPF_JMP | BPF_EXIT}};
	struct grt_kernel_type at;
	int prog, link;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FEXIT);

	if (!grt_kernel_function(function, NULL, &at))
		return false;
	opts.attach_btf_id = at.id;
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
static bool call_is_here(const char *function)
{
	static char last[64];
	static bool here;

	if (strcmp(last, function)) {
		snprintf(last, sizeof(last), "%s", function);
		here = can_be_at(function);
	}
	return here;
}

bool grt_bpf_function_here(const char *name)
{
	const struct function *f = function_row(name);
	struct grt_kernel_type at;
	char call[32];
	bool here;

	if (names_call(name, call))
		return call_is_here(name);
	here = grt_kernel_function(name, f ? f->module : NULL, &at);
	for (unsigned int i = 0; f && i < 2 && f->with[i]; i++)
		here = here && grt_kernel_function(f->with[i], NULL, &at);
	return here;
}

/* Called by libbpf for each program before it is loaded. */
static int set_function(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	const char *name = grt_bpf_function_of(bpf_program__section_name(prog));
	const struct function *f = name ? function_row(name) : NULL;
	struct grt_kernel_type at;

	(void)cookie;
	if (!name || !grt_kernel_function(name, f ? f->module : NULL, &at))
		return -ESRCH;
	opts->attach_btf_id = at.id;
	opts->attach_btf_obj_fd = (uint32_t)at.fd;
	return 0;
}

int grt_bpf_functions_register(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = set_function);
	static int done;
	int ret = done
			  ?: libbpf_register_prog_handler("fentry/", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY,
							  &opts);

	if (!done && ret >= 0)
		ret = libbpf_register_prog_handler("fexit/", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, &opts);
	done |= ret >= 0;
	return ret < 0 ? ret : 0;
}

#endif /* GRT_HAVE_BPF */
