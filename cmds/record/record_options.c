// SPDX-License-Identifier: GPL-2.0
/* The command line of record: its options, and whether their values fit together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "cmds/cmd.h"
#include "cmds/outfile.h"
#include "cuda/launch_flame.h"
#include "export/export.h"
#include "flamegraph/gpu_time.h"
#include "flamegraph/flamegraph.h"
#include "record_choice.h"
#include "record_options.h"

/* ----------------------------------------------------------------- files */

/*
 * Files that are made from a finished recording. Each takes a pass through the
 * recording.
 */

#define NS_PER_US 1000U

static int record_files_read_failed(const char *path, int code, const struct grt_err *err)
{
	if (err->what[0])
		return cmd_error(EXIT_FAILED, err);
	return cmd_fail(EXIT_FAILED, strerror(-code), NULL, "cannot read %s", path);
}

/* ---------------------------------------------------------------- exports */

static int export_to(struct grt_session *s, const struct grt_export_row *row, struct outfile *out,
		     struct grt_err *err)
{
	struct grt_export x;
	int ret = grt_export_init(&x, row, s, out->fd);

	if (!ret)
		ret = grt_session_run(s, &x.c, 0, UINT64_MAX, err);
	ret = ret < 0 ? ret : grt_export_end(&x);
	grt_export_fini(&x);
	if (ret && !err->what[0])
		outfile_failed(out, ret, err);
	return ret ? ret : outfile_keep(out, err);
}

static int write_export(const char *path, const char *format, const char *file)
{
	struct grt_err err = {0};
	struct grt_session *s;
	struct outfile out;
	int ret;

	if (!file)
		return EXIT_DONE;
	if (grt_session_open(&s, path, &err))
		return cmd_error(EXIT_FAILED, &err);
	ret = outfile_open(&out, file, &err);
	if (!ret) {
		ret = export_to(s, grt_export_find(format), &out, &err);
		outfile_drop(&out);
	}
	grt_session_close(s);
	return ret ? record_files_read_failed(path, ret, &err) : EXIT_DONE;
}

/* ---------------------------------------------------------------- stacks */

/** struct merged - the consumer */
struct merged {
	struct grt_consumer c;
	struct grt_gpu_time *flame;
	struct grt_stacks *tree;
};

static int record_files_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return grt_gpu_time_event(((struct merged *)c)->flame, e);
}

static void record_files_print(const struct merged *m)
{
	struct grt_launches_count n = grt_launch_flame_count(grt_gpu_time_launches(m->flame));

	grt_say(stderr,
		"grtrace record: %llu {launch|launches}, %llu {kernel|kernels}, %llu {copy|copies}; %llu {stack|stacks}, %.3f ms on the GPU\n",
		(unsigned long long)n.launches, (unsigned long long)n.kernels, (unsigned long long)n.copies,
		(unsigned long long)n.stacks, (double)(n.kernel_ns + n.copy_ns) / 1e6);
	fprintf(stderr,
		"  kernels and copies got their launch: %llu by correlation id, %llu were launched by the GPU, "
		"%llu have no launch in the trace; %llu have a stack\n",
		(unsigned long long)n.matched, (unsigned long long)n.by_gpu, (unsigned long long)n.unknown,
		(unsigned long long)n.with_stack);
	if (n.stack_cut || n.stack_none)
		fprintf(stderr,
			"  stacks that do not reach their thread's beginning: of %llu; without any frame: of %llu\n",
			(unsigned long long)n.stack_cut, (unsigned long long)n.stack_none);
	if (n.nothing)
		grt_say(stderr, "  %llu {launch has|launches have} no kernel: [GPU_Launch_Pending]\n",
			(unsigned long long)n.nothing);
	if (n.launches_lost || n.gpu_lost)
		grt_say(stderr, "  lost: %llu {launch|launches}, %llu {record|records} of the GPU\n",
			(unsigned long long)n.launches_lost, (unsigned long long)n.gpu_lost);
	if (n.undefined)
		grt_say(stderr,
			"  %llu {definition of stacks and names was|definitions of stacks and names were} invalid or lost\n",
			(unsigned long long)n.undefined);
}

static int build(struct merged *m, const char *path, struct grt_err *err)
{
	const struct grt_flame_shape shape = {0};
	struct grt_session *s;
	int ret = grt_session_open(&s, path, err);

	if (ret)
		return ret;
	ret = grt_session_run(s, &m->c, 0, UINT64_MAX, err);
	grt_session_close(s);
	if (ret >= 0)
		ret = grt_gpu_time_tree(m->flame, &shape, m->tree, GRT_STACKS_NOW);
	if (!ret)
		grt_stacks_seal(m->tree);
	return ret < 0 ? ret : 0;
}

static int record_files_write_folded(const struct merged *m, const char *file, struct grt_err *err)
{
	const struct grt_flamegraph_look look = {.divide = NS_PER_US};
	struct grt_flamegraph_count count;
	struct outfile out;
	int ret = outfile_open(&out, file, err);

	if (ret)
		return ret;
	ret = grt_flamegraph_write(m->tree, GRT_FLAMEGRAPH_FOLDED, &look, out.fd, &count);
	ret = ret ? outfile_failed(&out, ret, err) : outfile_keep(&out, err);
	outfile_drop(&out);
	return ret;
}

/* The summary covers all stacks, whether they are requested or not. */
static int write_merged(const char *path, const char *file)
{
	struct merged m = {.c.event = record_files_on_event};
	struct grt_err err = {0};
	int ret = grt_gpu_time_new(&m.flame);

	if (!ret)
		ret = grt_stacks_new(&m.tree);
	if (!ret)
		ret = build(&m, path, &err);
	if (!ret)
		record_files_print(&m);
	if (!ret && file)
		ret = record_files_write_folded(&m, file, &err);
	grt_stacks_free(m.tree);
	grt_gpu_time_free(m.flame);
	return ret ? record_files_read_failed(path, ret, &err) : EXIT_DONE;
}

int record_files_write(const struct record_files *f, const char *path)
{
	int status = write_export(path, "chrome", f->chrome);

	if (status == EXIT_DONE)
		status = write_export(path, "extended_folded", f->cpu_folded);
	if (status == EXIT_DONE)
		status = write_export(path, "cupti_text", f->cupti_text);
	return status == EXIT_DONE ? write_merged(path, f->folded) : status;
}

/* --------------------------------------------------------------- options */

/* The least number of segments within a limit of bytes on disk. */
#define SIZE_MIN (4 * RECORD_SEGMENT_MIN)

struct record_options record_opt;

const struct cmd_opt record_options[] = {
	{"output", 'o', OPT_STR, "DIR", &record_opt.output,
	 "write the recording here (default: " RECORD_OUTPUT ")"},
	{"event", 'e', OPT_STR, "SRC,...", &record_opt.sources,
	 "record from these sources (default: auto, all that work here); list prints them"},
	{"driver", 0, OPT_STR, "NAME", &record_opt.driver,
	 "BPF sources: only jobs of this driver; required for fence"},
	{"duration", 'd', OPT_SECONDS, "SECONDS", &record_opt.seconds, "end after this time"},
	{"pid", 'p', OPT_PID_GPU, "PID", &record_opt.pid,
	 "only events of this process; end when it ends. gpu: with -e cuda, all processes that use CUDA"},
	{"comm", 0, OPT_STR, "NAME", &record_opt.comm, "only events of threads of this name"},
	{"ring", 'r', OPT_STR, "RING", &record_opt.ring, "only jobs of rings of this name"},
	{"device", 0, OPT_STR, "GPU", &record_opt.device,
	 "only events of this GPU: card0, nvidia0, a PCI address, a UUID, or 0"},
	{"type", 't', OPT_STR, "T,...", &record_opt.type_names, "only events of these types"},
	{"buffer", 0, OPT_SIZE, "SIZE", &record_opt.buffer, "kernel buffer per CPU, like 16M"},
	{"duty", 0, OPT_STR, "PERCENT[,WINDOW]", &record_opt.duty_text,
	 "cuda, drm, ioctl: record only random windows, this share of the time; reports estimate the rest"},
	{"stack", 0, OPT_STR, "HOW", &record_opt.stack,
	 "CPU stack of each submit or launch: inproc (CUDA only), bpf, auto or none"},
	{"kernel-stack", 0, OPT_FLAG, NULL, &record_opt.kernel_stack, "with --stack: also kernel frames"},
	{"max-size", 0, OPT_SIZE, "SIZE", &record_opt.max_size,
	 "limit of bytes on disk: delete the oldest segments before it is exceeded"},
	{"max-time", 0, OPT_SECONDS, "TIME", &record_opt.max_time,
	 "delete segments that are older than this"},
	{"segment", 0, OPT_SIZE, "SIZE", &record_opt.segment,
	 "record in segments of this many bytes (default: a 16th of --max-size, 256M)"},
	{"compress", 0, OPT_FLAG, NULL, &record_opt.compress,
	 "record in segments whose packets are compressed by zstd"},
	{"last", 0, OPT_SECONDS, "TIME", &record_opt.last,
	 "black box: keep the last TIME in memory; incidents and grtrace snapshot write it to DIR/snapshot_N"},
	{"last-size", 0, OPT_SIZE, "SIZE", &record_opt.last_size,
	 "with --last: limit of the memory for it (default: 64M)"},
	{"on", 0, OPT_STR, "TRIGGER,...", &record_opt.on,
	 "with --last: the incidents: job>TIME, frame>TIME, frame>3x, step>TIME, step>3x, collective>TIME, fence-error, xid, exit-by-signal, devcoredump, signal (default: signal)"},
	{"after", 0, OPT_SECONDS, "TIME", &record_opt.after,
	 "with --last: how long to go on after an incident (default: 5)"},
	{"pause", 0, OPT_SECONDS, "TIME", &record_opt.pause,
	 "with --last: how long to only count further incidents (default: 60)"},
	{"no-symbols", 0, OPT_FLAG, NULL, &record_opt.no_symbols,
	 "do not store the functions and lines of frames in the recording"},
	{"user", 0, OPT_STR, "NAME", &record_opt.user,
	 "run PROG as this user, who owns the recording and all files (root only)"},
	{"no-command-line", 0, OPT_FLAG, NULL, &record_opt.no_command,
	 "do not store the command line, which may hold secrets"},
	{"json", 0, OPT_FLAG, NULL, &record_opt.json, "with -e list: one JSON object"},
	{"verbose", 'v', OPT_FLAG, NULL, &record_opt.verbose, "print which sources are left out, and why"},
	{"chrome", 0, OPT_STR, "FILE", &record_opt.files.chrome,
	 "at the end, the timeline in Trace Event Format"},
	{"cpu-folded", 0, OPT_STR, "FILE", &record_opt.files.cpu_folded,
	 "at the end, CPU stacks of CUDA's launches: ts_ns comm pid tid cpu f1;f2;..."},
	{"cupti-text", 0, OPT_STR, "FILE", &record_opt.files.cupti_text,
	 "at the end, CUDA's launches and the GPU's work as text of CUPTI's records"},
	{"folded", 0, OPT_STR, "FILE", &record_opt.files.folded, "at the end, GPU time by CPU stack, in us"},
	{"raw", 0, OPT_STR, "FILE", &record_opt.raw,
	 "write plain packets instead of a directory; - is standard output"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

bool record_wants_stack(void)
{
	return record_opt.stack && strcmp(record_opt.stack, "none") && strcmp(record_opt.stack, "inproc");
}

const char *record_output_path(void)
{
	return record_opt.output ? record_opt.output : RECORD_OUTPUT;
}

bool record_in_segments(void)
{
	return record_opt.max_size || record_opt.max_time > 0 || record_opt.segment || record_opt.compress;
}

static int options_find_device(void)
{
	struct grt_err err;
	int ret = known_gpu_find(record_opt.device, &record_opt.gpu, &err);

	if (!ret)
		return EXIT_DONE;
	cmd_error(EXIT_FAILED, &err);
	if (ret == -ENODEV)
		cmd_tell_gpus();
	return EXIT_FAILED;
}

static int options_check_filters(void)
{
	int status = cmd_buffer_usage(record_opt.buffer);

	if (record_opt.comm && (!*record_opt.comm || strlen(record_opt.comm) > 15))
		return cmd_usage_error("--comm='%s': a thread's name has 1 to 15 bytes", record_opt.comm);
	if (record_opt.ring && strspn(record_opt.ring, "0123456789") &&
	    !strcmp(record_opt.ring + strspn(record_opt.ring, "0123456789"), "s"))
		return cmd_usage_error(
			"--ring takes the name of a GPU's ring; use --last=%s to keep the last seconds",
			record_opt.ring);
	if (record_opt.ring && (!*record_opt.ring || strlen(record_opt.ring) > 31))
		return cmd_usage_error("--ring='%s': a ring's name has 1 to 31 bytes", record_opt.ring);
	if (status == EXIT_DONE && record_opt.type_names)
		status = cmd_event_types(record_opt.type_names, &record_opt.types);
	if (status == EXIT_DONE && record_opt.device)
		status = options_find_device();
	return status;
}

static int options_check_bounds(void)
{
	if ((record_opt.last_size || record_opt.after > 0 || record_opt.pause > 0 || record_opt.on) &&
	    !(record_opt.last > 0))
		return cmd_usage_error("--last-size, --on, --after and --pause need --last");
	if (record_opt.last > 0 &&
	    (record_opt.raw || record_in_segments() || record_files_any(&record_opt.files)))
		return cmd_usage_error(
			"--last keeps packets in memory and does not work with --raw, --max-size, --max-time, --segment, --compress, --chrome and the like");
	if (record_opt.last_size && record_opt.last_size < RECORD_SEGMENT_MIN)
		return cmd_usage_error("--last-size: at least %lluM", RECORD_SEGMENT_MIN >> 20);
	if (record_in_segments() && record_opt.raw)
		return cmd_usage_error("--raw: segments need a directory (--output)");
	if (record_opt.max_size && record_opt.max_size < SIZE_MIN)
		return cmd_usage_error("--max-size: at least %lluM", SIZE_MIN >> 20);
	if (record_opt.segment && record_opt.segment < RECORD_SEGMENT_MIN / 4)
		return cmd_usage_error("--segment: at least %lluK", RECORD_SEGMENT_MIN >> 12);
	if (record_opt.max_size && record_opt.segment > record_opt.max_size / 4)
		return cmd_usage_error("--segment: at most a quarter of --max-size");
	return EXIT_DONE;
}

int record_options_check(char **argv)
{
	int status = options_check_filters();

	if (status != EXIT_DONE)
		return status;
	if (record_opt.raw && record_files_any(&record_opt.files))
		return cmd_usage_error(
			"--raw: --chrome, --folded and the other files need a directory (--output)");
	if (record_opt.raw && record_opt.output)
		return cmd_usage_error("--raw and --output: use only one of them");
	status = options_check_bounds();
	if (status != EXIT_DONE)
		return status;
	if (record_opt.pid && argv[0])
		return cmd_usage_error("--pid and a program to run: use only one of them");
	if (record_opt.raw && !strcmp(record_opt.raw, "-") && argv[0])
		return cmd_usage_error("--raw -: the program writes to standard output; give a file");
	if (record_opt.raw && !strcmp(record_opt.raw, "-") && isatty(STDOUT_FILENO))
		return cmd_usage_error(
			"--raw -: packets are binary; send them to a pipe or file, not a terminal");
	if (record_wants_stack() && strcmp(record_opt.stack, "bpf") && strcmp(record_opt.stack, "auto"))
		return cmd_usage_error(
			"--stack=%s: not a way to take stacks (there are: auto, inproc, bpf, none)",
			record_opt.stack);
	if (record_opt.pid == OPT_GPU_USERS && (!record_opt.sources || strcmp(record_opt.sources, "cuda")))
		return cmd_usage_error("-p gpu works only with -e cuda alone");
	return record_choice_check();
}

static unsigned int options_window_ms(void)
{
	unsigned int ms = DUTY_WINDOW_MS, wanted;

	for (unsigned int i = 0; i < SOURCES; i++) {
		if (!all_sources[i]->window_ms || record_choice(all_sources[i]) != CHOICE_NAMED)
			continue;
		wanted = all_sources[i]->window_ms();
		ms = wanted > ms ? wanted : ms;
	}
	return ms;
}

int record_options_check_duty(void)
{
	const char *why = record_opt.duty_text
				  ? duty_read(record_opt.duty_text, options_window_ms(), &record_opt.duty)
				  : NULL;

	if (why)
		return cmd_usage_error("%s", why);
	return record_opt.duty_text && duty_begin(&record_opt.duty)
		       ? cmd_fail(EXIT_FAILED, strerror(errno), NULL, "cannot get a random number")
		       : EXIT_DONE;
}
