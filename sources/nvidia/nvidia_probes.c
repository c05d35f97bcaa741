// SPDX-License-Identifier: GPL-2.0
/*
 * Functions are found by their names in /proc/kallsyms, and only those of NVIDIA's modules. A function with
 * such a name may still be impossible to probe: one that the kernel refuses is left out; if it refuses all,
 * that is an error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef GRT_HAVE_BPF
#include <bpf/libbpf.h>
#endif

#include "sources/bpf/nvidia_probes.h"
#include "base/bus.h"
#include "nvidia_probes.h"
#include "host/probe.h"
#include "host/read_all.h"

#define FIX_WITHOUT "the same command without --probes"

static const struct row {
	const char *function;
	enum nv_kind kind;
	enum nv_shape shape;
	unsigned int returns;
} rows[] = {
#define NV_PROBE(function, KIND, SHAPE, returns) {#function, NV_KIND_##KIND, NV_SHAPE_##SHAPE, returns},
#include "nvidia_probes.def"
#undef NV_PROBE
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ------------------------------------------------------------ functions of the driver */

static bool is_of_nvidia(const char *module)
{
	return !strcmp(module, "[nvidia]") || !strcmp(module, "[nvidia_uvm]");
}

/* Return: the number of rows whose function exists here; @here gets which */
static unsigned int find_functions(bool here[ROWS])
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[256], module[128];
	unsigned int n = 0;

	memset(here, 0, ROWS * sizeof(*here));
	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "[nvidia") || sscanf(line, "%*s %*c %255s %127s", name, module) != 2 ||
		    !is_of_nvidia(module))
			continue;
		for (unsigned int i = 0; i < ROWS; i++)
			if (!here[i] && !strcmp(rows[i].function, name)) {
				here[i] = true;
				n++;
			}
	}
	if (f)
		fclose(f);
	return n;
}

/* lockdown=confidentiality takes kprobes away; integrity does not (security/lockdown, LOCKDOWN_KPROBES) */
static bool is_confidential(void)
{
	char line[128];

	read_line("/sys/kernel/security/lockdown", line, sizeof(line));
	return strstr(line, "[confidentiality]");
}

#ifdef GRT_HAVE_BPF

/* A program learns its function from a cookie. If the kernel cannot be asked, cookies are assumed to work. */
static bool has_cookies(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL);
}

#else

static bool has_cookies(void)
{
	return true;
}

#endif /* GRT_HAVE_BPF */

int nvidia_probes_here(unsigned int *found, struct grt_err *err)
{
	bool here[ROWS];

	if (access("/sys/bus/event_source/devices/kprobe/type", F_OK))
		return grt_err_set(err, -ENOSYS,
				   "the kernel has no kprobes (CONFIG_KPROBES, CONFIG_KPROBE_EVENTS)",
				   FIX_WITHOUT, "cannot probe functions of NVIDIA's driver");
	if (!has_cookies())
		return grt_err_set(err, -ENOSYS,
				   "the kernel has no bpf_get_attach_cookie(), which came with Linux 5.15",
				   FIX_WITHOUT, "cannot probe functions of NVIDIA's driver");
	if (is_confidential())
		return grt_err_set(err, -EPERM, "the kernel is locked down for confidentiality", FIX_WITHOUT,
				   "cannot probe functions of NVIDIA's driver");
	*found = find_functions(here);
	if (*found)
		return 0;
	return grt_err_set(
		err, -ENODEV,
		"none of these functions is in /proc/kallsyms: the modules of the driver are not loaded",
		probe_load_fix("sudo modprobe nvidia"), "cannot probe functions of NVIDIA's driver");
}

/* ------------------------------------------------------------ texts of calls */

static void nvidia_probes_describe(struct grt_ev_func *ev, const struct nv_hit *hit)
{
	uint32_t i = NV_COOKIE_ROW(hit->cookie);
	unsigned long long first = hit->first, second = hit->second;
	char gpu[GRT_BUS_MAX];

	snprintf(ev->function, sizeof(ev->function), "%s", i < ROWS ? rows[i].function : "?");
	switch (NV_COOKIE_SHAPE(hit->cookie)) {
	case NV_SHAPE_IRQ_NV:
		snprintf(ev->text, sizeof(ev->text), "irq=%llu gpu=%s", first, grt_bus_text(gpu, hit->bus));
		break;
	case NV_SHAPE_NV:
		snprintf(ev->text, sizeof(ev->text), "gpu=%s", grt_bus_text(gpu, hit->bus));
		break;
	case NV_SHAPE_VMA:
	case NV_SHAPE_FIRST_LENGTH:
	case NV_SHAPE_THIRD_LENGTH:
		snprintf(ev->text, sizeof(ev->text), "addr=0x%llx length=%llu", first, second);
		break;
	case NV_SHAPE_VM_FAULT:
	case NV_SHAPE_FIRST:
	case NV_SHAPE_THIRD:
		snprintf(ev->text, sizeof(ev->text), "addr=0x%llx", first);
		break;
	case NV_SHAPE_DEVICE:
		snprintf(ev->text, sizeof(ev->text), "gpu=%.*s", NV_ADDRESS, hit->address);
		break;
	case NV_SHAPE_STATE:
		snprintf(ev->text, sizeof(ev->text), "state=%llu", first);
		break;
	}
}

/* ---------------------------------------------------------------- attaching */

#ifdef GRT_HAVE_BPF

/* Attaches both programs or none. Return: 0 or -errno */
static int attach_one(struct bpf_object *o, unsigned int i, struct bpf_link **link)
{
	struct bpf_program *enter = bpf_object__find_program_by_name(o, "function_enter");
	struct bpf_program *leave = bpf_object__find_program_by_name(o, "function_leave");
	LIBBPF_OPTS(bpf_kprobe_opts, opts,
		    .bpf_cookie = NV_COOKIE(i, rows[i].kind, rows[i].shape, rows[i].returns));

	link[0] = bpf_program__attach_kprobe_opts(enter, rows[i].function, &opts);
	if (!link[0])
		return -errno;
	opts.retprobe = true;
	link[1] = bpf_program__attach_kprobe_opts(leave, rows[i].function, &opts);
	if (link[1])
		return 0;
	bpf_link__destroy(link[0]);
	return -errno;
}

static int nvidia_probes_attach(struct bpf_object *o, struct bpf_link **link, unsigned int room,
				struct grt_err *err)
{
	unsigned int n = 0;
	int ret, failed = -ENODEV;
	bool here[ROWS];

	find_functions(here);
	for (unsigned int i = 0; i < ROWS && n + 2 <= room; i++) {
		if (!here[i])
			continue;
		ret = attach_one(o, i, link + n);
		if (ret)
			failed = ret;
		else
			n += 2;
	}
	if (n)
		return (int)n;
	return grt_err_set(err, failed, strerror(-failed), FIX_WITHOUT,
			   "cannot probe functions of NVIDIA's driver");
}

#else

static int nvidia_probes_attach(struct bpf_object *o, struct bpf_link **link, unsigned int room,
				struct grt_err *err)
{
	return -ENOSYS;
}

#endif /* GRT_HAVE_BPF */

const struct grt_bpf_probes nvidia_probes = {
	.object = "nvidia_probes", .attach = nvidia_probes_attach, .tell = nvidia_probes_describe};
