// SPDX-License-Identifier: GPL-2.0
/*
 * Calls with which programs show a frame: uprobes at the functions of presents.def, if this system, or the
 * process, has their libraries.
 */
#include "uprobe.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "codes/cuda_codes.h"
#include "sources/bpf/shared.h"

#ifdef GRT_HAVE_BPF

static struct uprobes uprobes;

static const struct present {
	uint32_t number;
	const char *library;
	const char *name;
} presents[] = {
#define GRT_PRESENT(number, library, name) {GRT_PRESENT_CALL | (number), library, #name},
#include <grtrace/presents.def>
#undef GRT_PRESENT
};

_Static_assert(BPF_PRESENT_COMMIT == GRT_PRESENT_COMMIT, "the programs identify it by its number");

/* All requests to a Wayland compositor go through this function (libwayland 1.20). */
static const char *present_symbol(const struct present *p)
{
	return p->number == GRT_PRESENT_COMMIT ? "wl_proxy_marshal_array_flags" : p->name;
}

/* Functions of a library that does not exist here are left out, and so are two names of one function. */
static void present_add(pid_t pid, const struct present *p)
{
	char path[PATH_MAX];
	int fd = uprobes_find(pid, p->library, path, NULL);

	if (fd < 0)
		return;
	uprobes_add(&uprobes, fd, path, present_symbol(p), p->number, NULL);
	close(fd);
}

static int present_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	*state = NULL;
	for (unsigned int i = 0; i < sizeof(presents) / sizeof(presents[0]); i++)
		present_add(setup->pid, &presents[i]);
	if (!uprobes.n)
		return grt_err_set(
			err, -ENOENT,
			"libEGL.so.1, libvulkan.so.1, libGLX.so.0 and libwayland-client.so.0 are not installed",
			"grtrace record -e uprobe:/PATH/TO/LIB:FUNCTION -- PROG",
			"no function that shows frames can be probed");
	return uprobes_open(&uprobes, "present", state, setup, err);
}

static int present_close(void *state, struct grt_err *err)
{
	int ret = grt_bpf_close(state, err);

	uprobes_free(&uprobes);
	return ret;
}

#else /* !GRT_HAVE_BPF */

static int present_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	return grt_bpf_open(state, setup, NULL, err);
}

#define present_close grt_bpf_close

#endif /* GRT_HAVE_BPF */

BPF_OPS_CLOSE(present, true, NULL, present_open, present_close);
