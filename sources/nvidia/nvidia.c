// SPDX-License-Identifier: GPL-2.0
/*
 * System calls on NVIDIA's device files, and Xid errors, with any driver; with
 * --probes functions of its kernel modules, where the kernel allows it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bus.h"
#include "host/probe.h"
#include "host/read_all.h"
#include "sources/bpf/bpf.h"
#include "base/say.h"
#include "sources/bpf/nvidia_probes.h"
#include "sources/bpf/shared.h"
#include "host/nvidia_devices.h"
#include "host/tracefs.h"

/* ---------------------------------------------------------------- probes */

/*
 * Functions are found by their names in /proc/kallsyms, and only those of NVIDIA's modules. A function with
 * such a name may still be impossible to probe: one that the kernel refuses is left out; if it refuses all,
 * that is an error.
 */

/** nvidia_probes - for struct grt_bpf_kind */

#ifdef GRT_HAVE_BPF
#include <bpf/libbpf.h>
#endif

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

/**
 * nvidia_probes_here - whether this kernel allows probes of functions, and which functions of the table it
 * has
 * @found: gets their number
 * Return: 0, or -errno with what, why and fix
 */
static int nvidia_probes_here(unsigned int *found, struct grt_err *err)
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

static const struct grt_bpf_probes nvidia_probes = {
	.object = "nvidia_probes", .attach = nvidia_probes_attach, .tell = nvidia_probes_describe};

/* ---------------------------------------------------------------- source */

static bool nvidia_wants_probes;

static const struct cmd_opt options[] = {
	{"probes", 0, OPT_FLAG, NULL, &nvidia_wants_probes,
	 "nvidia: also functions of its kernel modules: interrupts, faults, P2P, power"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static const char *const objects[] = {"nvidia", NULL};
static const char *const with_probes[] = {"nvidia", "nvidia_probes", NULL};

static bool stands_at(const char *format, const char *name, unsigned int offset)
{
	struct tracefs_field field;

	return tracefs_field(format, name, &field) && field.offset == offset;
}

/* The driver's tracepoint, with the record that the program reads. */
static bool has_xid_event(void)
{
	int tracefs = tracefs_open(NULL);
	char *format = tracefs < 0 ? NULL : tracefs_format(tracefs, "nvidia", "nvidia_dev_xid");
	bool has = format && stands_at(format, "dev", 8) && stands_at(format, "error_code", 12) &&
		   stands_at(format, "msg", 16);

	free(format);
	if (tracefs >= 0)
		close(tracefs);
	return has;
}

static void nvidia_configure(struct grt_bpf_config *config)
{
	nvidia_majors(config->majors, BPF_MAJORS);
	config->xid_event = has_xid_event();
}

static const struct grt_bpf_kind kind = {.name = "nvidia", .objects = objects, .configure = nvidia_configure};

static const struct grt_bpf_kind probing = {
	.name = "nvidia", .objects = with_probes, .configure = nvidia_configure, .probes = &nvidia_probes};

/* System calls exist everywhere, but without the driver there is nothing to see. */
static int nvidia_probe(struct grt_err *err)
{
	int ret = nvidia_loaded(err);

	return ret ? ret : grt_bpf_probe(objects, err);
}

static int open_probing(void **state, const struct source_setup *setup, struct grt_err *err)
{
	unsigned int found;
	char text[64];
	int ret = nvidia_probes_here(&found, err);

	if (ret)
		return ret;
	grt_say_text(text, sizeof(text), "nvidia: --probes: %u {function|functions}", found);
	if (setup->note)
		setup->note(text);
	return grt_bpf_open(state, setup, &probing, err);
}

/* A user who names the source may load the driver during the recording. */
static int nvidia_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	if (nvidia_loaded(NULL) && setup->note)
		setup->note(
			"nvidia: NVIDIA's driver is not loaded (no line of /proc/devices is of NVIDIA): if it is "
			"loaded now, calls on nvidia-uvm will not be recorded");
	*state = NULL;
	return nvidia_wants_probes ? open_probing(state, setup, err) : grt_bpf_open(state, setup, &kind, err);
}

BPF_OPS(nvidia, false, nvidia_probe, nvidia_open, .options = options);
