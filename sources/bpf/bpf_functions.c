// SPDX-License-Identifier: GPL-2.0
/*
 * The BTF of the kernel is read once for all functions that are requested in a
 * row, that of a module for each of its functions.
 */
#include "bpf_functions.h"

#ifdef GRT_HAVE_BPF

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stddef.h>
#include <string.h>

/** struct function - one that is not in the kernel itself, or of use only with others */
struct function {
	const char *name;
	const char *module;
	const char *with[2];
};

static const struct function functions[] = {
	{"drm_syncobj_wait_ioctl", "drm", {NULL}},
	{"drm_syncobj_timeline_wait_ioctl", "drm", {NULL}},
	/* what begins there ends in these */
	{"sync_file_poll", NULL, {"do_sys_poll", "do_select"}},
};

const char *grt_bpf_function_of(const char *section)
{
	if (!strncmp(section, "fentry/", 7))
		return section + 7;
	return strncmp(section, "fexit/", 6) ? NULL : section + 6;
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
	bool here;

	if (!kernel)
		kernel = btf__load_vmlinux_btf();
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
