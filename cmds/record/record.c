// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace record: moves packets from sources into a recording, while a program
 * runs, for a time, or until Ctrl-C, and restores all settings that it changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "host/tempdir.h"
#include "base/say.h"
#include "kmod/kmod.h"
#include "sources/duty.h"
#include "sources/source.h"
#include "trace/cut.h"
#include "child.h"
#include "cmds/cmd.h"
#include "cmds/privileges.h"
#include "cmds/source_list.h"
#include "machine.h"
#include "record_files.h"
#include "record_names.h"
#include "record_threads.h"
#include "record_box.h"
#include "recording.h"

#define DEFAULT_OUTPUT "grtrace.out.grt"
#define ENV_ROOM 128
#define PATH_ROOM 4096

/*
 * Moved at once. Larger ones gain nothing and fall out of the second-level
 * cache; a packet may be larger: it is then moved in parts.
 */
#define CHUNK ((size_t)1 << 20)

/* Number of segments in the bound, and limits for the size of a segment. */
#define SEGMENTS 16U
#define SEGMENT_MIN (1ULL << 20)
#define SEGMENT_MAX (256ULL << 20)
#define SIZE_MIN (4 * SEGMENT_MIN)

/* The same while frames are being named. */
#define NAMING_MS 5

/* Default limits of a black box: bytes, and seconds. */
#define LAST_SIZE (64ULL << 20)
#define LAST_AFTER 5
#define LAST_PAUSE 60

/* How often the loop looks at the clock and at signals, ms. */
#define TICK_MS 200

/* How long PROG may take to end after Ctrl-C before it gets SIGTERM, and after that before it is left alone.
 */
#define GRACE_NS (2 * NS_PER_S)

/* Reads of a stream until it is taken as empty: a busy one never is. */
#define READS_MAX 16U

/* How long a part that is closed waits for the names of its frames. */
#define NAMING_NS NS_PER_S

/* All sources get the end before it arrives. */
#define END_AHEAD_NS 1000000ULL

/* The beginning is in the metadata after this, when what begins has had its time. */
#define TELL_BEGIN_NS (NS_PER_S / 2)

/* A stopped stream whose end does not come is given up after this. */
#define DRAIN_NS (5 * NS_PER_S)

#define GRT_SOURCE(name, help) #name ", "
static const char source_names[] =
#include "sources/sources.def"
	"auto";
#undef GRT_SOURCE

static struct {
	const char *output;
	const char *raw;
	const char *user;
	bool no_command;
	const char *sources;
	const char *driver;
	double seconds;
	uint64_t pid;
	uint64_t buffer;
	bool verbose;
	bool json;
	const char *comm;
	const char *ring;
	const char *device;
	const char *type_names;
	struct grt_type_set types;
	struct known_gpu gpu;
	const char *duty_text;
	struct grt_duty duty;
	const char *stack;
	bool kernel_stack;
	bool no_symbols;
	uint64_t max_size;
	double max_time;
	uint64_t segment;
	bool compress;
	double last;
	uint64_t last_size;
	double after;
	double pause;
	const char *on;
	struct record_files files;
} opt;

static const struct cmd_opt options[] = {
	{"output", 'o', OPT_STR, "DIR", &opt.output,
	 "write the recording here (default: " DEFAULT_OUTPUT ")"},
	{"event", 'e', OPT_STR, "SRC,...", &opt.sources,
	 "record from these sources (default: auto, all that work here); list prints them"},
	{"driver", 0, OPT_STR, "NAME", &opt.driver,
	 "BPF sources: only jobs of this driver; required for fence"},
	{"duration", 'd', OPT_SECONDS, "SECONDS", &opt.seconds, "end after this time"},
	{"pid", 'p', OPT_PID_GPU, "PID", &opt.pid,
	 "only events of this process; end when it ends. gpu: with -e cuda, all processes that use CUDA"},
	{"comm", 0, OPT_STR, "NAME", &opt.comm, "only events of threads of this name"},
	{"ring", 'r', OPT_STR, "RING", &opt.ring, "only jobs of rings of this name"},
	{"device", 0, OPT_STR, "GPU", &opt.device,
	 "only events of this GPU: card0, nvidia0, a PCI address, a UUID, or 0"},
	{"type", 't', OPT_STR, "T,...", &opt.type_names, "only events of these types"},
	{"buffer", 0, OPT_SIZE, "SIZE", &opt.buffer, "kernel buffer per CPU, like 16M"},
	{"duty", 0, OPT_STR, "PERCENT[,WINDOW]", &opt.duty_text,
	 "cuda, drm, ioctl: record only random windows, this share of the time; reports estimate the rest"},
	{"stack", 0, OPT_STR, "HOW", &opt.stack,
	 "CPU stack of each submit or launch: inproc (CUDA only), bpf, auto or none"},
	{"kernel-stack", 0, OPT_FLAG, NULL, &opt.kernel_stack, "with --stack: also kernel frames"},
	{"max-size", 0, OPT_SIZE, "SIZE", &opt.max_size,
	 "limit of bytes on disk: delete the oldest segments before it is exceeded"},
	{"max-time", 0, OPT_SECONDS, "TIME", &opt.max_time, "delete segments that are older than this"},
	{"segment", 0, OPT_SIZE, "SIZE", &opt.segment,
	 "record in segments of this many bytes (default: a 16th of --max-size, 256M)"},
	{"compress", 0, OPT_FLAG, NULL, &opt.compress,
	 "record in segments whose packets are compressed by zstd"},
	{"last", 0, OPT_SECONDS, "TIME", &opt.last,
	 "black box: keep the last TIME in memory; incidents and grtrace snapshot write it to DIR/snapshot_N"},
	{"last-size", 0, OPT_SIZE, "SIZE", &opt.last_size,
	 "with --last: limit of the memory for it (default: 64M)"},
	{"on", 0, OPT_STR, "TRIGGER,...", &opt.on,
	 "with --last: the incidents: job>TIME, frame>TIME, frame>3x, step>TIME, step>3x, collective>TIME, fence-error, xid, exit-by-signal, devcoredump, signal (default: signal)"},
	{"after", 0, OPT_SECONDS, "TIME", &opt.after,
	 "with --last: how long to go on after an incident (default: 5)"},
	{"pause", 0, OPT_SECONDS, "TIME", &opt.pause,
	 "with --last: how long to only count further incidents (default: 60)"},
	{"no-symbols", 0, OPT_FLAG, NULL, &opt.no_symbols,
	 "do not store the functions and lines of frames in the recording"},
	{"user", 0, OPT_STR, "NAME", &opt.user,
	 "run PROG as this user, who owns the recording and all files (root only)"},
	{"no-command-line", 0, OPT_FLAG, NULL, &opt.no_command,
	 "do not store the command line, which may hold secrets"},
	{"json", 0, OPT_FLAG, NULL, &opt.json, "with -e list: one JSON object"},
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose, "print which sources are left out, and why"},
	{"chrome", 0, OPT_STR, "FILE", &opt.files.chrome, "at the end, the timeline in Trace Event Format"},
	{"cpu-folded", 0, OPT_STR, "FILE", &opt.files.cpu_folded,
	 "at the end, CPU stacks of CUDA's launches: ts_ns comm pid tid cpu f1;f2;..."},
	{"cupti-text", 0, OPT_STR, "FILE", &opt.files.cupti_text,
	 "at the end, CUDA's launches and the GPU's work as text of CUPTI's records"},
	{"folded", 0, OPT_STR, "FILE", &opt.files.folded, "at the end, GPU time by CPU stack, in us"},
	{"raw", 0, OPT_STR, "FILE", &opt.raw,
	 "write plain packets instead of a directory; - is standard output"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/**
 * struct input - a source that takes part
 * @first, @streams: its streams; of these, @left are not at their end
 * @first_place, @places: the files of its packets
 * @cut: cuts its packets to the recording's window
 * @ended: when its last stream was at its end before the recording was, 0: it was not
 * @key, @window: of the metadata
 */
struct input {
	const struct source *source;
	void *state;
	unsigned int first;
	unsigned int streams;
	unsigned int left;
	unsigned int first_place;
	unsigned int places;
	struct grt_cut cut;
	uint64_t ended;
	char key[32];
	char window[GRT_WINDOW_TEXT];
};

/**
 * struct run - one recording while it is made
 * @inputs: of which there are @n_inputs
 * @fds: descriptors of all streams, then pidfds of the child and of -p
 * @streams: how many streams
 * @left: of these, not at their end
 * @cut: of each of @places, the files of packets
 * @buffer: CHUNK bytes
 * @segments: those of @rec, where it is bounded
 * @box: the black box, where there is one; @threads: those of the process of an incident
 * @target: pidfd of the process of --pid
 * @asked: when PROG was last asked to end
 * @gave_up: it was asked twice
 * @begun, @shown: when capture began, when the progress line was last printed
 * @end: the moment at which all sources end, 0: it is not known yet
 * @duty: text of --duty
 * @told_begin: the metadata says when capture began
 * @naming: since when a part of it waits for the names of its frames, ns; 0: none does
 * @program: PROG is given
 * @status: exit status so far; once PROG runs it no longer stops anything
 */
struct run {
	struct input inputs[SOURCES];
	unsigned int n_inputs;
	struct pollfd *fds;
	unsigned int streams;
	unsigned int left;
	unsigned int places;
	struct grt_cut_stream *cut;
	char *buffer;
	struct recording rec;
	struct segments segments;
	struct box box;
	struct record_threads threads;
	struct child child;
	int target;
	uint64_t asked;
	bool gave_up;
	uint64_t begun;
	uint64_t shown;
	uint64_t end;
	char duty[256];
	bool told_begin;
	uint64_t naming;
	bool program;
	int status;
	char *command;
	struct machine machine;
};

static void record_note(const char *text)
{
	cmd_tell("record", text);
}

/* ------------------------------------------------------------ sources */

/* The first of a source's options that was given, NULL: none was. */
static const struct cmd_opt *record_given(const struct source *source)
{
	for (const struct cmd_opt *o = source->options; o && o->name; o++)
		if (cmd_opt_given(o))
			return o;
	return NULL;
}

/** enum choice - whether a source is wanted */
enum choice {
	CHOICE_NO,
	CHOICE_AUTO, /* if it works here */
	CHOICE_NAMED,
};

/* An option that one source alone obeys, or --duty where no source is named, may make it the only one. */
static enum choice source_choice_by_auto(const struct source *source)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (all_sources[i]->alone && (opt.duty_text || record_given(all_sources[i])))
			return source == all_sources[i] ? CHOICE_NAMED : CHOICE_NO;
	return source->by_name ? CHOICE_NO : CHOICE_AUTO;
}

/* A word of -e; text after the name and a colon is for the source. */
static bool record_is_source(const struct source *source, const char *word, size_t length)
{
	size_t name = strlen(source->name);

	if (source->word && length > name && word[name] == ':')
		length = name;
	return name == length && !strncmp(word, source->name, length);
}

static enum choice source_choice(const struct source *source, bool *unknown)
{
	const char *p = opt.sources ?: "auto";
	enum choice choice = CHOICE_NO;
	size_t length, i;

	for (; *p; p += length + (p[length] == ',')) {
		length = strcspn(p, ",");
		if (length == 4 && !strncmp(p, "auto", 4)) {
			if (choice == CHOICE_NO)
				choice = source_choice_by_auto(source);
			continue;
		}
		for (i = 0; i < SOURCES; i++)
			if (record_is_source(all_sources[i], p, length))
				break;
		*unknown |= i == SOURCES;
		if (i < SOURCES && all_sources[i] == source)
			choice = CHOICE_NAMED;
	}
	return choice;
}

/* Takes the text after the names of sources; the texts live until the end of the program. */
static int record_take_words(void)
{
	static char *list;
	char *next, *word, *colon;
	const char *why;

	free(list);
	next = list = opt.sources ? strdup(opt.sources) : NULL;
	while ((word = strsep(&next, ",")))
		for (size_t i = 0; (colon = strchr(word, ':')) && i < SOURCES; i++) {
			if (!all_sources[i]->word || !record_is_source(all_sources[i], word, strlen(word)))
				continue;
			why = all_sources[i]->word(colon + 1);
			if (why)
				return cmd_usage_error("-e %s: %s", all_sources[i]->name, why);
			break;
		}
	return EXIT_DONE;
}

static int check_sources(void)
{
	bool unknown = false, any = false;
	size_t i;

	for (i = 0; i < SOURCES; i++)
		any |= source_choice(all_sources[i], &unknown) != CHOICE_NO;
	if (unknown || !any)
		return cmd_usage_error("-e %s: not a list of sources (there are: %s)", opt.sources,
				       source_names);
	return EXIT_DONE;
}

static bool wants_stack(void)
{
	return opt.stack && strcmp(opt.stack, "none") && strcmp(opt.stack, "inproc");
}

/* Whether a source that is open already reports the jobs of a driver. */
static bool record_is_covered(void *arg, const char *driver)
{
	const struct run *run = arg;
	const struct input *in;

	for (in = run->inputs; in < run->inputs + run->n_inputs; in++)
		if (in->source->covers && in->source->covers(in->state, driver))
			return true;
	return false;
}

static const char *output_path(void)
{
	return opt.output ? opt.output : DEFAULT_OUTPUT;
}

/* Opens a source; one that was not named and does not work here is left out. Return: 0 or -errno */
static int record_open_source(struct run *run, const struct source *source, enum choice choice,
			      struct grt_err *err)
{
	struct source_setup setup = {
		.pid = opt.pid == OPT_GPU_USERS ? 0 : (pid_t)opt.pid,
		.gpu_users = opt.pid == OPT_GPU_USERS,
		.comm = opt.comm,
		.ring = opt.ring,
		.driver = opt.driver,
		.gpu = opt.device ? &opt.gpu : NULL,
		.types = opt.types,
		.duty = source->duty && opt.duty_text ? &opt.duty : NULL,
		.buffer_size = opt.buffer,
		.merged = opt.raw,
		.ring_base = run->n_inputs * SOURCE_RINGS,
		.user_stack = wants_stack(),
		.kernel_stack = opt.kernel_stack,
		.stack = opt.stack,
		.no_names = opt.no_symbols,
		.program = run->program,
		.named = choice == CHOICE_NAMED,
		.taken = run->rec.segments || run->box.on,
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
		.covered = wants_stack() || opt.kernel_stack ? NULL : record_is_covered,
		.arg = run,
		.note = record_note,
	};
	struct input *in = &run->inputs[run->n_inputs];
	int ret = choice == CHOICE_AUTO && source->probe ? source->probe(err) : 0;

	if (ret)
		return ret;
	if (opt.raw)
		privileges_user(&setup.uid, &setup.gid);
	else
		recording_owner(output_path(), &setup.uid, &setup.gid);
	in->source = source;
	ret = source->open(&in->state, &setup, err);
	if (ret && choice == CHOICE_AUTO)
		source->close(in->state, NULL);
	else
		run->n_inputs++;
	return ret;
}

/** struct left_out - why `auto` goes on without a source; @code 0: it does not */
struct left_out {
	int code;
	struct grt_err why;
};

static void record_note_error(const struct grt_err *err)
{
	char text[sizeof(err->what) + sizeof(err->why) + 8];

	snprintf(text, sizeof(text), "%s%s%s", err->what, err->why[0] ? ": " : "", err->why);
	record_note(text);
}

/* Details; a privilege that is missing and can be had is always reported. */
static void note_left_out(const struct left_out *left)
{
	char text[sizeof(left->why.what) + sizeof(left->why.why) + 64];
	size_t i;

	for (i = 0; i < SOURCES; i++) {
		if (!left[i].code || (!opt.verbose && left[i].code != -EACCES))
			continue;
		snprintf(text, sizeof(text), "without %s: %s%s%s", all_sources[i]->name, left[i].why.what,
			 left[i].why.why[0] ? ": " : "", left[i].why.why);
		record_note(text);
	}
}

/* A privilege is what most likely is missing, whatever else is. */
static int none_works(const struct left_out *left)
{
	size_t i = 0;

	while (i < SOURCES && left[i].code != -EACCES)
		i++;
	for (i %= SOURCES; !left[i].code; i++)
		;
	return cmd_error(kmod_exit_status(left[i].code), &left[i].why);
}

/* An option whose source is not open has no effect: that is an error. */
static void record_blame_option(const struct source *source, struct grt_err *why)
{
	const struct cmd_opt *o = record_given(source);
	char what[sizeof(why->what)];

	if (!o)
		return;
	snprintf(what, sizeof(what), "%s", why->what);
	snprintf(why->what, sizeof(why->what), "--%s needs the source %s: %.300s", o->name, source->name,
		 what);
}

/* Opens every source requested. Return: an exit status */
static int open_inputs(struct run *run)
{
	struct left_out left[SOURCES] = {0};
	bool unknown = false;
	enum choice choice;
	size_t i;
	int ret;

	for (i = 0; i < SOURCES; i++) {
		choice = source_choice(all_sources[i], &unknown);
		/* packets of two sources are distinguished by their files only */
		if (opt.raw && run->n_inputs && choice == CHOICE_NAMED)
			return cmd_usage_error("--raw: one source at a time, with -e");
		if (choice == CHOICE_NO || (opt.raw && run->n_inputs))
			continue;
		if (choice == CHOICE_AUTO && all_sources[i]->background && !run->n_inputs)
			continue;
		ret = record_open_source(run, all_sources[i], choice, &left[i].why);
		if (ret)
			record_blame_option(all_sources[i], &left[i].why);
		/* a source that is here and in use, or of another version, is not skipped silently */
		if (ret && (choice == CHOICE_NAMED || ret == -EBUSY || ret == -EPROTO))
			return cmd_error(kmod_exit_status(ret), &left[i].why);
		left[i].code = ret;
	}
	if (!run->n_inputs)
		return none_works(left);
	note_left_out(left);
	return EXIT_DONE;
}

static int record_make_tables(struct run *run)
{
	struct input *in;
	unsigned int i;

	/* Two more: the child and the process of -p. */
	run->fds = calloc(run->n_inputs * SOURCE_STREAMS_MAX + 2, sizeof(*run->fds));
	for (i = 0; run->fds && i < run->n_inputs; i++) {
		in = &run->inputs[i];
		in->first = run->streams;
		in->left = in->streams = in->source->streams(in->state, run->fds + run->streams);
		in->cut.window.to = UINT64_MAX;
		run->streams += in->streams;
		in->first_place = run->places;
		in->places = in->source->places ? in->source->places(in->state) : in->streams;
		run->places += in->places;
	}
	run->left = run->streams;
	run->cut = run->fds ? calloc(run->places + 1, sizeof(*run->cut)) : NULL;
	run->buffer = run->cut ? malloc(CHUNK) : NULL;
	if (!run->buffer)
		return cmd_fail(EXIT_FAILED, NULL, "a smaller --buffer",
				"no memory for a buffer of %zu {byte|bytes}", CHUNK);
	run->fds[run->streams] = (struct pollfd){.fd = -1, .events = POLLIN};
	run->fds[run->streams + 1] = (struct pollfd){.fd = run->target, .events = POLLIN};
	return EXIT_DONE;
}

static void free_tables(struct run *run)
{
	for (unsigned int i = 0; run->cut && i < run->places; i++)
		grt_cut_stream_free(&run->cut[i]);
	for (unsigned int i = 0; i < run->n_inputs; i++)
		grt_cut_free(&run->inputs[i].cut);
	free(run->cut);
	free(run->fds);
	free(run->buffer);
}

static int close_inputs(struct run *run)
{
	struct grt_err err = {0};
	unsigned int i;
	int ret, status = EXIT_DONE;

	for (i = 0; i < run->n_inputs; i++) {
		ret = run->inputs[i].source->close(run->inputs[i].state, &err);
		if (ret)
			status = cmd_error(EXIT_FAILED, &err);
	}
	return status;
}

/* ----------------------------------------------------------- metadata */

/* Return: an exit status */
static int be_for_user(const char *name, const char *prog)
{
	struct passwd *user;

	if (!prog)
		return cmd_usage_error("--user %s needs a program to run: grtrace record --user %s -- PROG",
				       name, name);
	user = getpwnam(name);
	if (!user)
		return cmd_usage_error("--user %s: there is no such user", name);
	if (geteuid())
		return cmd_fail(EXIT_MISSING, "only root may", "sudo grtrace record ...",
				"cannot run a program as the user %s", name);
	privileges_for_user(user->pw_uid, user->pw_gid);
	return EXIT_DONE;
}

/**
 * struct about - the subject of metadata
 * @dir: directory of the metadata
 * @part: a part of the recording, to which the counts of the sources do not apply
 * @from, @to: it is complete between these times
 * @gone: events that were deleted from it, by source; NULL: none
 * @before: events of a part's programs that are before it, by source; NULL: none
 * @incident: why it was written; NULL: it is not a snapshot
 */
struct about {
	int dir;
	const char *state;
	bool part;
	uint64_t from;
	uint64_t to;
	const struct segment_events *gone;
	const uint64_t *before;
	const struct input *inputs;
	const struct incident *incident;
};

/* Until then, a source has seen everything, and what came from it is in the recording. Return: entries
 * written */
static int record_window(struct input *in, const struct about *about, struct grt_env *env)
{
	struct grt_window w = in->cut.window;

	if (in->source->uncut)
		return 0;
	w.to = in->ended ? in->ended : w.to;
	w.from = about->from > w.from ? about->from : w.from;
	w.to = about->to < w.to ? about->to : w.to;
	w.from = w.from < w.to ? w.from : w.to;
	w.deleted = about->gone ? about->gone[in - about->inputs].emitted : 0;
	w.counted += about->gone ? about->gone[in - about->inputs].counted : 0;
	if (about->part)
		w.before = w.after = 0;
	w.counted += about->before ? about->before[in - about->inputs] : 0;
	snprintf(in->key, sizeof(in->key), "%s_window", in->source->name);
	grt_window_text(&w, in->window);
	*env = (struct grt_env){in->key, in->window};
	return 1;
}

static int record_describe_segments(struct segments *s, struct grt_env *env)
{
	env[0] = (struct grt_env){"segments", segments_text(s)};
	env[1] = (struct grt_env){"deleted_fates", segments_fates(s)};
	return 2;
}

/* Writes which sources were recorded in windows, and how much of the time. Return: entries written */
static int record_describe_duty(struct run *run, struct grt_env *env)
{
	size_t used = 0;

	for (unsigned int i = 0; opt.duty_text && i < run->n_inputs; i++)
		if (run->inputs[i].source->duty && used < sizeof(run->duty) / 2)
			used += (size_t)snprintf(run->duty + used, sizeof(run->duty) - used, "%s%s",
						 used ? ", " : "", run->inputs[i].source->name);
	if (!used)
		return 0;
	snprintf(run->duty + used, sizeof(run->duty) - used,
		 " in windows of %g ms, each one of %" PRIu64
		 " parts: numbers without ~ cover only these windows",
		 (double)opt.duty.window / 1e6, opt.duty.parts);
	env[0] = (struct grt_env){"duty", run->duty};
	return 1;
}

static int record_describe(struct run *run, const struct about *about, struct grt_err *err)
{
	struct record_box_texts box;
	struct grt_env env[ENV_ROOM + 1];
	unsigned int i;
	int n = machine_describe(&run->machine, about->state, run->command, env), from;

	n += record_describe_duty(run, env + n);
	if (about->incident)
		n += record_box_describe(&box, &run->box, about->incident, env + n);
	else if (run->box.on)
		n += record_box_describe_box(&box, env + n);
	if (run->rec.segments && !about->part)
		n += record_describe_segments(&run->segments, env + n);
	for (i = 0; run->begun && i < run->n_inputs; i++)
		n += record_window(&run->inputs[i], about, env + n);
	for (i = 0; i < run->n_inputs; i++) {
		from = n;
		n += run->inputs[i].source->describe(run->inputs[i].state, env + n, ENV_ROOM - n);
		if (about->part)
			n = from + machine_leave_out_counts(env + from, n - from);
	}
	env[n] = (struct grt_env){NULL, NULL};
	return grt_metadata_write(about->dir, env, run->machine.realtime_offset, err);
}

static int record_write_metadata(struct run *run, const char *state, struct grt_err *err)
{
	struct about about = {.dir = run->rec.dir, .state = state, .to = UINT64_MAX, .inputs = run->inputs};
	int ret;

	if (run->rec.dir < 0)
		return 0;
	if (run->rec.segments && run->segments.n) {
		about.from = segments_from(&run->segments);
		about.gone = run->segments.gone;
	}
	ret = record_describe(run, &about, err);
	if (!ret)
		recording_give(&run->rec, "metadata");
	return ret;
}

/* Of a part; what is open has no end. @before: events of each source that its programs count, and that are
 * before it; @incident: of a snapshot */
static int record_part_metadata(struct run *run, int dir, uint64_t from, uint64_t to,
				const uint64_t before[SOURCES], const struct incident *incident,
				struct grt_err *err)
{
	const struct about about = {.dir = dir,
				    .state = to == UINT64_MAX ? "recording" : "complete",
				    .part = true,
				    .from = from,
				    .to = to,
				    .before = before,
				    .inputs = run->inputs,
				    .incident = incident};

	return record_describe(run, &about, err);
}

static int record_segment_metadata(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err)
{
	struct run *run = arg;
	uint64_t before[SOURCES];

	segments_count_before(&run->segments, before);
	return record_part_metadata(run, dir, from, to, before, NULL, err);
}

static int record_snapshot_metadata(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err)
{
	struct run *run = arg;

	return record_part_metadata(run, dir, from, to, run->box.before, &run->box.incident, err);
}

static int record_segments_changed(void *arg, struct grt_err *err)
{
	return record_write_metadata(arg, "recording", err);
}

/* ------------------------------------------------------------- output */

/* A file for each stream. Return: 0 or -errno */
static int record_add_files(void *arg, struct recording *r, struct grt_err *err)
{
	struct run *run = arg;
	int ret = 0;

	for (unsigned int i = 0; ret >= 0 && i < run->n_inputs; i++)
		for (unsigned int k = 0; ret >= 0 && k < run->inputs[i].places; k++) {
			/* which processes there will be is not known */
			ret = (run->inputs[i].places > run->inputs[i].streams
				       ? recording_name_file
				       : recording_add_file)(r, run->inputs[i].source->name, k, err);
			if (ret >= 0)
				r->files[ret].source = i;
		}
	return ret < 0 ? ret : 0;
}

/*
 * The metadata comes first: killed at any time, the recorder leaves a recording, or a directory that the next
 * one takes. Return: 0 or -errno
 */
static int begin_directory(struct run *run, const char *path, struct grt_err *err)
{
	unsigned int i;
	int ret;

	machine_begin(&run->machine);
	ret = record_write_metadata(run, "recording", err);
	if (!ret && run->box.on)
		run->box.number = recording_snapshots(&run->rec);
	else if (!ret)
		ret = record_add_files(run, &run->rec, err);
	if (ret >= 0 && run->rec.segments)
		ret = segments_begin(&run->rec, err);
	if (ret < 0)
		return ret;
	for (i = 0; i < run->n_inputs; i++) {
		const struct input *in = &run->inputs[i];

		ret = in->source->attach ? in->source->attach(in->state, run->rec.dir, path, err) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

static bool record_in_segments(void)
{
	return opt.max_size || opt.max_time > 0 || opt.segment || opt.compress;
}

/* A segment is a part of the bound, so that a small part is deleted at a time. */
static void record_set_bounds(struct run *run)
{
	uint64_t segment =
		opt.max_size / SEGMENTS < SEGMENT_MAX && opt.max_size ? opt.max_size / SEGMENTS : SEGMENT_MAX;

	if (!record_in_segments())
		return;
	segment = segment > SEGMENT_MIN ? segment : SEGMENT_MIN;
	run->segments.bounds = (struct segment_bounds){
		.bytes = opt.max_size,
		.ns = (uint64_t)(opt.max_time * NS_PER_S),
		.segment_bytes = opt.segment ?: segment,
		.segment_ns = (uint64_t)(opt.max_time * NS_PER_S / SEGMENTS),
		.pack = opt.compress,
	};
	run->segments.metadata = record_segment_metadata;
	run->segments.changed = record_segments_changed;
	run->segments.arg = run;
	run->rec.segments = &run->segments;
}

/* An incident that no source shows would be waited for in vain. Return: an exit status */
static int record_check_triggers(const struct triggers *t)
{
	bool unknown = false, shown;

	for (int trigger = 0; trigger < TRIGGERS; trigger++) {
		shown = !t->limit[trigger].on;
		for (size_t i = 0; i < SOURCES && !shown; i++)
			shown = source_choice(all_sources[i], &unknown) != CHOICE_NO &&
				trigger_is_of(trigger, all_sources[i]->name);
		if (!shown)
			return cmd_usage_error("--on %s: no source of -e %s shows it; these do: %s",
					       trigger_name(trigger), opt.sources ?: "auto",
					       trigger_sources(trigger));
	}
	return EXIT_DONE;
}

/* Return: an exit status */
static int record_set_box(struct run *run)
{
	const struct box_bounds bounds = {
		.bytes = opt.last_size ?: LAST_SIZE,
		.ns = (uint64_t)(opt.last * NS_PER_S) + NAMING_NS / 4,
		.last = (uint64_t)(opt.last * NS_PER_S),
		.after = (uint64_t)((opt.after > 0 ? opt.after : LAST_AFTER) * NS_PER_S),
		.pause = (uint64_t)((opt.pause > 0 ? opt.pause : LAST_PAUSE) * NS_PER_S),
	};
	const struct box_ops ops = {record_add_files, record_snapshot_metadata, run};
	char word[64];

	if (!(opt.last > 0))
		return EXIT_DONE;
	triggers_init(&run->box.triggers);
	if (triggers_parse(&run->box.triggers, opt.on ?: TRIGGERS_DEFAULT, word))
		return cmd_usage_error("--on %s: not an incident; there are %s", word,
				       triggers_names + strlen(", "));
	box_init(&run->box, &bounds, &ops);
	run->rec.box = true;
	record_box_catch();
	return record_check_triggers(&run->box.triggers);
}

/* A directory without metadata would be no recording that the next one may replace. Return: 0 or -errno */
static int open_output(struct run *run, struct grt_err *err)
{
	const char *path = output_path();
	int ret;

	if (opt.raw)
		return recording_open_raw(&run->rec, opt.raw, err);
	ret = recording_open_dir(&run->rec, path, err);
	if (ret < 0)
		return ret;
	ret = begin_directory(run, path, err);
	if (ret)
		recording_discard(&run->rec);
	return ret;
}

static void record_counts_text(const struct run *run, char *text, size_t room)
{
	char counts[80] = "events not counted";

	if (recording_counted(&run->rec))
		grt_say_text(counts, sizeof(counts), "%llu {event|events}, %llu lost",
			     (unsigned long long)run->rec.events, (unsigned long long)run->rec.lost);
	snprintf(text, room, "%.1f MB, %s", (double)recording_bytes(&run->rec) / 1e6, counts);
	if (run->rec.segments && run->segments.deleted)
		snprintf(text + strlen(text), room - strlen(text), "; %.1f MB kept",
			 (double)segments_bytes(&run->segments) / 1e6);
}

static void show_progress(struct run *run, uint64_t now)
{
	char text[128];

	if (run->box.on || !isatty(STDERR_FILENO) || now - run->shown < NS_PER_S)
		return;
	run->shown = now;
	record_counts_text(run, text, sizeof(text));
	fprintf(stderr, "\r%s, %llu s \033[K", text, (unsigned long long)((now - run->begun) / NS_PER_S));
}

/* A path as a shell takes it. */
static void put_path(const char *path)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=+@%-";
	bool quoted = path[strspn(path, plain)] || *path == '-';

	char part[PATH_ROOM];

	fputs(quoted ? "'" : "", stderr);
	while (*path) {
		size_t length = strcspn(path, "'");

		snprintf(part, sizeof(part), "%.*s", (int)length, path);
		cmd_put_text(stderr, part);
		path += length;
		if (*path && *path++)
			fputs("'\\''", stderr);
	}
	fputs(quoted ? "'" : "", stderr);
}

/* What to type next: report reads the default recording without its name. */
static void show_next(const char *path)
{
	if (!strcmp(path, "-") || tempdir_has(path))
		return;
	fputs("  next: grtrace report", stderr);
	if (strcmp(path, DEFAULT_OUTPUT) != 0) {
		fputs(" -i ", stderr);
		put_path(path);
	}
	fputc('\n', stderr);
}

static void show_end(const struct run *run)
{
	char text[128];

	if (run->box.on) {
		record_box_print_all(&run->box, run->rec.path);
		return;
	}

	record_counts_text(run, text, sizeof(text));
	fprintf(stderr, "%sgrtrace record: %s in ", run->shown ? "\r\033[K" : "", text);
	cmd_put_text(stderr, strcmp(run->rec.path, "-") ? run->rec.path : "standard output");
	fputc('\n', stderr);
	if (run->rec.lost)
		fprintf(stderr, "  try: %s, so that nothing is lost\n",
			run->n_inputs == 1 && run->inputs->source->less ? run->inputs->source->less
									: "a larger --buffer");
	if (!run->rec.events && recording_counted(&run->rec))
		fputs("  try: grtrace doctor, which shows what was recorded and what can be recorded\n",
		      stderr);
	else
		show_next(run->rec.path);
}

/* --------------------------------------------------------------- loop */

static struct input *input_of(struct run *run, unsigned int stream)
{
	unsigned int i = 0;

	while (stream >= run->inputs[i].first + run->inputs[i].streams)
		i++;
	return &run->inputs[i];
}

/** struct moving - bytes on their way into the file @place of the recording */
struct moving {
	struct run *run;
	struct input *in;
	unsigned int place;
	struct grt_err *err;
};

static void record_took(void *arg, const struct grt_packet *p)
{
	struct input *in = ((struct moving *)arg)->in;

	if (in->source->took)
		in->source->took(in->state, p);
}

static int record_put(void *arg, const char *data, size_t len)
{
	struct moving *m = arg;

	if (m->run->box.on)
		return box_take(&m->run->box, m->place, (unsigned int)(m->in - m->run->inputs), data, len,
				m->err);
	return recording_write(&m->run->rec, opt.raw ? 0 : m->place, data, len, m->err);
}

static void record_stream_ended(struct run *run, unsigned int stream)
{
	struct input *in = input_of(run, stream);

	run->fds[stream].fd = -1;
	run->left--;
	if (!--in->left && !run->end)
		in->ended = grt_now();
}

/* Moves what one read gives. Return: bytes, 0 when there is nothing (more), or -errno with *err set */
static ssize_t move(struct run *run, unsigned int stream, struct grt_err *err)
{
	struct input *in = input_of(run, stream);
	struct moving m = {run, in, 0, err};
	const struct grt_cut_ops ops = {record_took, record_put, &m};
	int index = (int)(stream - in->first), ret;
	ssize_t n = in->source->read(in->state, (unsigned int)index, run->buffer, CHUNK);

	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n < 0)
		return grt_err_set(err, (int)n, strerror((int)-n), NULL, "cannot read stream %d of %s", index,
				   in->source->name);
	if (!n) {
		record_stream_ended(run, stream);
		return 0;
	}
	m.place = in->first_place + (in->source->place ? in->source->place(in->state, (unsigned int)index)
						       : (unsigned int)index);
	ret = grt_cut_feed(&in->cut, &run->cut[m.place], run->buffer, (size_t)n, &ops);
	if (ret == -ENOMEM)
		grt_err_set(err, ret, NULL, NULL, "no memory for a packet of %s", in->source->name);
	return ret ? ret : n;
}

/* Return: 0 or -errno */
static int move_ready(struct run *run, struct grt_err *err)
{
	unsigned int i;
	ssize_t n;

	for (i = 0; i < run->streams; i++) {
		if (run->fds[i].fd < 0 || !run->fds[i].revents)
			continue;
		n = move(run, i, err);
		if (n < 0)
			return (int)n;
	}
	return 0;
}

/*
 * PROG after a stop signal: it is asked to end, then killed, then left alone. Return: whether to wait for it
 */
static bool child_may_end(struct run *run, uint64_t now)
{
	if (run->gave_up)
		return false;
	if (!run->asked) {
		run->asked = now;
		/* A key at the terminal has sent the signal to PROG, too. */
		return !cmd_signal_sent || !kill(run->child.pid, cmd_signal);
	}
	if (now - run->asked < GRACE_NS)
		return true;
	if (now - run->asked < 2 * GRACE_NS)
		return !kill(run->child.pid, SIGTERM);
	run->gave_up = true;
	return false;
}

/* Why capture ends now. */
static bool record_should_end(struct run *run, uint64_t now)
{
	if (child_poll(&run->child) || !run->left)
		return true;
	if (opt.seconds > 0 && (double)(now - run->begun) >= opt.seconds * NS_PER_S)
		return true;
	if (run->fds[run->streams + 1].revents)
		return true;
	if (!cmd_signal)
		return false;
	return !run->child.pid || !child_may_end(run, now);
}

/* ms until there is something to do without an event, -1: never. */
static int poll_timeout(const struct run *run, uint64_t now)
{
	double left = opt.seconds * 1e3 - (double)(now - run->begun) / 1e6;
	bool ticks = !run->told_begin || run->asked || (run->child.pid && run->child.pidfd < 0);

	if (opt.seconds > 0 && left < TICK_MS)
		return left > 0 ? (int)left + 1 : 0;
	ticks |= run->rec.segments && run->segments.bounds.segment_ns;
	if (run->naming)
		return NAMING_MS;
	ticks |= run->box.on;
	if (ticks || isatty(STDERR_FILENO))
		return TICK_MS;
	return opt.seconds > 0 ? (int)(left < INT_MAX ? left : INT_MAX) : -1;
}

/* Writes metadata that says from when on the recording is complete, in case the recorder is killed later. */
static void record_write_begin(struct run *run, uint64_t now)
{
	if (run->told_begin || now - run->begun < TELL_BEGIN_NS)
		return;
	run->told_begin = true;
	record_write_metadata(run, "recording", NULL);
}

/* Everything that was captured so far comes into the files. Return: until when, ns; or 0 with *code set */
static uint64_t record_take_all(struct run *run, int *code, struct grt_err *err)
{
	uint64_t until = grt_now();
	struct input *in;
	ssize_t n;

	*code = 0;
	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		if (in->source->flush)
			in->source->flush(in->state, NULL);
		for (unsigned int i = in->first; i < in->first + in->streams; i++)
			for (unsigned int k = 0; k < READS_MAX && run->fds[i].fd >= 0; k++) {
				n = move(run, i, err);
				*code = n < 0 ? (int)n : *code;
				if (n <= 0)
					break;
			}
	}
	return *code ? 0 : until;
}

/*
 * Names the frames of a part that can be read by itself; frames that are not named in time have their names
 * in the next part.
 */
static bool record_is_named(struct run *run, uint64_t now)
{
	bool all = true;

	run->naming = run->naming ?: now;
	for (struct input *in = run->inputs; in < run->inputs + run->n_inputs; in++)
		all &= !in->source->name_frames || in->source->name_frames(in->state);
	if (!all && now - run->naming < NAMING_NS && !(run->rec.segments && segments_over(&run->segments)))
		return false;
	run->naming = 0;
	return true;
}

/* The same with the names of all frames in it. */
static uint64_t record_take_named(struct run *run, int *code, struct grt_err *err)
{
	record_take_all(run, code, err);
	while (!*code && !record_is_named(run, grt_now())) {
		poll(NULL, 0, NAMING_MS);
		record_take_all(run, code, err);
	}
	return *code ? 0 : record_take_all(run, code, err);
}

/* Full segments are closed with all that belongs to them; old ones go. */
static int record_look_at_segments(struct run *run, uint64_t now, struct grt_err *err)
{
	uint64_t until;
	int ret = 0;

	if (!run->rec.segments)
		return 0;
	if (segments_due(&run->segments, now) && record_is_named(run, now)) {
		until = record_take_named(run, &ret, err);
		ret = ret ?: segments_next(&run->rec, until, err);
	}
	return ret ?: segments_age(&run->rec, now, err);
}

/* Writes the packets that are kept, with all that was captured up to now, and the names of its frames. */
static int record_begin_snapshot(struct run *run, const struct incident *i, struct grt_err *err)
{
	uint64_t now = grt_now();
	int ret = 0;

	box_hold(&run->box, i->time);
	/* at once, before they go on */
	record_threads_look(&run->threads, i->pid	      ? (pid_t)i->pid
					   : run->child.pid   ? run->child.pid
					   : run->target >= 0 ? (pid_t)opt.pid
							      : 0);
	record_take_named(run, &ret, err);
	ret = ret ?: box_begin(&run->box, run->rec.path, i, now, err);
	if (!ret) {
		record_box_print(&run->box);
		record_box_keep_dump(&run->box);
		record_threads_write(&run->threads, run->box.path);
	}
	return ret;
}

static int record_end_snapshot(struct run *run, uint64_t to, struct grt_err *err)
{
	struct box *b = &run->box;
	uint64_t events = b->snapshot.events;
	int ret = box_end(b, to, err);

	if (!ret)
		record_box_print_end(b, events);
	return ret;
}

/* A job or a step counts as late once everything up to now was taken, and its end was not among it. */
static bool record_is_late(struct run *run,
			   bool (*look)(struct triggers *, uint64_t, bool, struct incident *),
			   struct incident *i, int *code, struct grt_err *err)
{
	struct box *b = &run->box;
	uint64_t until;
	bool late;

	if (!look(&b->triggers, grt_now(), false, i))
		return false;
	box_hold(b, i->time);
	until = record_take_all(run, code, err);
	late = !*code && look(&b->triggers, until, true, i);
	box_hold(b, late ? i->time : 0);
	return late;
}

/* Return: whether there is an incident; with an error *code is set */
static bool record_meets_incident(struct run *run, uint64_t now, struct incident *i, int *code,
				  struct grt_err *err)
{
	struct triggers *t = &run->box.triggers;

	if (triggers_take(t, i) || record_box_signalled(now, i) || triggers_dump(t, now, i))
		return true;
	return record_is_late(run, triggers_late_job, i, code, err) ||
	       (!*code && record_is_late(run, triggers_hung_step, i, code, err)) ||
	       (!*code && record_is_late(run, triggers_missing_rank, i, code, err));
}

static int record_look_at_box(struct run *run, uint64_t now, struct grt_err *err)
{
	struct box *b = &run->box;
	struct incident incident;
	uint64_t until;
	int ret = 0;

	if (!b->on)
		return 0;
	if (b->writing && now >= b->until && record_is_named(run, now)) {
		until = record_take_named(run, &ret, err);
		ret = ret ?: record_end_snapshot(run, until, err);
	}
	if (!ret && record_meets_incident(run, now, &incident, &ret, err) && box_may_begin(b, now))
		ret = record_begin_snapshot(run, &incident, err);
	box_hold(b, 0);
	return ret;
}

/* The sources have ended: an incident may be the program's own end. */
static int record_end_box(struct run *run, struct grt_err *err)
{
	struct box *b = &run->box;
	struct incident incident;
	uint64_t end = run->end ?: grt_now();
	int ret = 0;

	if (!b->on)
		return 0;
	if ((record_box_died(&run->child, &b->triggers, &incident) ||
	     triggers_take(&b->triggers, &incident)) &&
	    box_may_begin(b, end)) {
		ret = box_begin(b, run->rec.path, &incident, end, err);
		if (!ret)
			record_box_print(b);
	}
	return ret ?: b->writing ? record_end_snapshot(run, end, err) : 0;
}

static int record_capture(struct run *run, struct grt_err *err)
{
	uint64_t now = run->begun;
	int ret = 0;

	while (!ret && !record_should_end(run, now)) {
		show_progress(run, now);
		record_write_begin(run, now);
		if (cmd_poll(run->fds, run->streams + 2, poll_timeout(run, now)) > 0)
			ret = move_ready(run, err);
		now = grt_now();
		ret = ret ?: record_look_at_segments(run, now, err);
		ret = ret ?: record_look_at_box(run, now, err);
	}
	return ret;
}

/* Takes everything up to the end of the streams. */
static int drain_to_end(struct run *run, struct grt_err *err)
{
	uint64_t limit = grt_now() + DRAIN_NS;
	int ret = 0, ready;

	while (!ret && run->left) {
		ready = poll(run->fds, run->streams, TICK_MS);
		if (ready > 0)
			ret = move_ready(run, err);
		if (ready > 0)
			limit = grt_now() + DRAIN_NS;
		else if (grt_now() > limit)
			return grt_err_set(err, -ETIMEDOUT, "tracing stopped, but the streams did not end",
					   "sudo dmesg | tail", "cannot read the rest");
	}
	return ret;
}

/*
 * Reads what is available from streams that continue: at most a buffer from each, or a busy GPU would prevent
 * the end.
 */
static int drain_present(struct run *run, const struct input *in, struct grt_err *err)
{
	uint64_t most = 16 * (uint64_t)CHUNK, got;
	unsigned int i;
	ssize_t n;

	for (i = in->first; i < in->first + in->streams; i++) {
		for (got = 0; got < most && run->fds[i].fd >= 0; got += (uint64_t)n) {
			n = move(run, i, err);
			if (n < 0)
				return (int)n;
			if (!n)
				break;
		}
		if (run->fds[i].fd >= 0)
			record_stream_ended(run, i);
	}
	return 0;
}

/* Sources that take samples take one more; then all get the moment at which they end. */
static void end_inputs(struct run *run)
{
	struct timespec left = {0};
	struct input *in;
	uint64_t now;

	for (in = run->inputs; in < run->inputs + run->n_inputs; in++)
		if (in->source->flush)
			in->source->flush(in->state, NULL);
	run->end = grt_now() + END_AHEAD_NS;
	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		in->cut.window.to = opt.raw || in->source->uncut ? UINT64_MAX : run->end;
		if (in->source->ends)
			in->source->ends(in->state, run->end);
	}
	/* no sleep, whose functions somebody may trace */
	while ((now = grt_now()) < run->end) {
		left.tv_nsec = (long)(run->end - now);
		ppoll(NULL, 0, &left, NULL);
	}
}

/*
 * After an error, too, or they would go on for as long as PROG does: then nothing is taken any more.
 * @ret: of the capture
 */
static int stop_inputs(struct run *run, int ret, struct grt_err *err)
{
	struct grt_err other = {0};
	unsigned int i;
	int stopped;

	if (ret >= 0)
		end_inputs(run);
	for (i = 0; i < run->n_inputs; i++) {
		stopped = run->inputs[i].source->stop(run->inputs[i].state, ret < 0 ? &other : err);
		if (ret < 0)
			continue;
		ret = stopped ?: drain_present(run, &run->inputs[i], err);
	}
	return ret < 0 ? ret : drain_to_end(run, err);
}

/* -------------------------------------------------------------- flow */

static int start_inputs(struct run *run, struct grt_err *err)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < run->n_inputs; i++)
		ret = run->inputs[i].source->start(run->inputs[i].state, err);
	return ret;
}

/* The last source has begun: from now on all see everything. Raw packets are of one, and stay as they are. */
static void begin_window(struct run *run)
{
	struct input *in;

	run->begun = grt_now();
	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		in->cut.window.from = opt.raw || in->source->uncut ? 0 : run->begun;
		if (in->source->begins)
			in->source->begins(in->state, run->begun);
	}
}

/* Files that a program has written into the directory itself. */
static void adopt_files(struct run *run)
{
	struct input *in;
	struct grt_err err = {0};

	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		if (!in->source->adopted)
			continue;
		if (recording_adopt(&run->rec, in->source->name, &in->cut, &err))
			run->status = cmd_error(EXIT_FAILED, &err);
		in->source->adopted(in->state);
	}
}

/*
 * Running sources need fewer privileges than starting them. The recording must still be writable afterwards,
 * so that it can be ended; a user who must end PROG may be neither this user nor root.
 */
static void record_confine(struct run *run)
{
	uint64_t keep = run->child.pid ? 1ULL << CAP_KILL : 0;
	/* dumps of devices are root's */
	uint64_t dumps = run->box.on && run->box.triggers.limit[TRIGGER_devcoredump].on
				 ? 1ULL << CAP_DAC_READ_SEARCH
				 : 0;
	struct grt_err err = {0};
	struct input *in;
	int ret = 0;

	if (run->box.on)
		record_threads_begin(&run->threads);
	for (in = run->inputs; !ret && in < run->inputs + run->n_inputs; in++)
		ret = in->source->confine ? in->source->confine(in->state, &keep, &err) : 0;
	if (!ret)
		ret = privileges_drop(keep | dumps, run->rec.uid, run->rec.gid, &err);
	for (in = run->inputs; in < run->inputs + run->n_inputs; in++)
		if (in->source->confined)
			ret = in->source->confined(in->state, ret ? NULL : &err) ?: ret;
	if (ret)
		record_note_error(&err);
}

/*
 * Compares the events in the recording with the counts of its sources. @tell: no other error has been
 * reported
 */
static void record_check_missed(struct run *run, bool tell)
{
	struct grt_balance missed;
	struct grt_err err = {0};
	const struct input *in;
	int ret;

	for (in = run->inputs; in < run->inputs + run->n_inputs; in++) {
		ret = in->source->missed ? in->source->missed(in->state, &missed, &err) : 0;
		if (tell && (ret || (in->source->missed && missed.fate[GRT_FATE_DELIVERED])))
			run->status = cmd_error(EXIT_FAILED, &err);
	}
}

/* Return: whether stacks are addresses in the recording: those of CUDA's library, and of uprobes. */
static bool record_has_addresses(const struct run *run)
{
	bool any = false;

	for (const struct input *in = run->inputs; in < run->inputs + run->n_inputs; in++)
		any |= in->source->addresses;
	return any && !opt.raw && !opt.no_symbols && !run->rec.segments && !run->box.on;
}

/* A write error leaves a readable recording of what came before it. */
static void record_finish(struct run *run, int captured, struct grt_err *err)
{
	struct grt_err other = {0};
	int ret = stop_inputs(run, captured, err);

	if (ret < 0)
		run->status = cmd_error(EXIT_FAILED, err);
	adopt_files(run);
	if (record_end_box(run, &other) && !ret)
		run->status = cmd_error(EXIT_FAILED, &other);
	if (run->rec.segments && segments_end(&run->rec, run->end, &other) && !ret)
		run->status = cmd_error(EXIT_FAILED, &other);
	if (recording_finish(&run->rec, &other) && !ret)
		run->status = cmd_error(EXIT_FAILED, &other);
	record_check_missed(run, ret >= 0);
	machine_end(&run->machine);
	if (record_write_metadata(run, ret < 0 ? "failed" : "complete", &other) && ret >= 0)
		run->status = cmd_error(EXIT_FAILED, &other);
	if (ret >= 0 && record_has_addresses(run) && record_names_write(&run->rec, &other))
		record_note_error(&other);
	show_end(run);
}

static void wait_for_prog(struct run *run)
{
	struct pollfd end = {.fd = run->child.pidfd, .events = POLLIN};

	while (!child_poll(&run->child) && !(cmd_signal && !child_may_end(run, grt_now())))
		poll(&end, 1, TICK_MS);
}

static int prog_status(struct run *run, char **argv)
{
	if (!run->child.pid)
		return run->status;
	if (!child_poll(&run->child) && !cmd_signal)
		record_note("recording has ended, waiting for the program to end");
	wait_for_prog(run);
	if (run->child.ended)
		return run->child.status ? run->child.status : run->status;
	cmd_fail(EXIT_FAILED, "it did not end", NULL, "%s (process %d) is left running", argv[0],
		 (int)run->child.pid);
	return 128 + cmd_signal;
}

/* A signal that came during set-up is meant for PROG as well. Return: as child_run() */
static int run_prog(struct run *run, char **argv)
{
	if (!run->child.pid || !cmd_signal)
		return run->child.pid ? child_run(&run->child, argv) : 0;
	child_close(&run->child);
	return cmd_fail(128 + cmd_signal, strsignal(cmd_signal), NULL, "%s was not started", argv[0]);
}

/* Everything is set up. Return: an exit status */
static int record_record(struct run *run, char **argv, struct grt_err *err)
{
	int ret, failed;

	ret = start_inputs(run, err);
	if (ret)
		return cmd_error(kmod_exit_status(ret), err);
	record_confine(run);
	begin_window(run);
	if (!run->child.pid && opt.seconds == 0 && (!opt.pid || opt.pid == OPT_GPU_USERS))
		record_note("recording; Ctrl-C ends it");
	failed = run_prog(run, argv);
	run->fds[run->streams].fd = run->child.pidfd;
	ret = failed ? 0 : record_capture(run, err);
	record_finish(run, ret, err);
	if (!ret && !failed && record_files_any(&opt.files) &&
	    record_files_write(&opt.files, run->rec.path) != EXIT_DONE)
		run->status = EXIT_FAILED;
	return failed ? failed : prog_status(run, argv);
}

/* The first source that wants it has it; -1: none does. */
static int record_program_stderr(const struct run *run)
{
	int fd = -1;

	for (const struct input *in = run->inputs; in < run->inputs + run->n_inputs && fd < 0; in++)
		fd = in->source->program_stderr ? in->source->program_stderr(in->state) : -1;
	return fd;
}

static int setup(struct run *run, char **argv)
{
	struct grt_err err = {0};
	int ret, status = open_inputs(run);

	if (status == EXIT_DONE)
		status = record_make_tables(run);
	if (status != EXIT_DONE)
		return status;
	ret = open_output(run, &err);
	if (!ret && argv[0])
		ret = child_fork(&run->child, argv, record_program_stderr(run), opt.user, &err);
	for (struct input *in = run->inputs; in < run->inputs + run->n_inputs; in++)
		if (in->source->program_started)
			in->source->program_started(in->state);
	if (ret)
		return cmd_error(EXIT_FAILED, &err);
	return record_record(run, argv, &err);
}

static int record_open_target(struct run *run)
{
	run->target = -1;
	if (!opt.pid || opt.pid == OPT_GPU_USERS)
		return EXIT_DONE;
	run->target = (int)syscall(SYS_pidfd_open, (pid_t)opt.pid, 0);
	if (run->target >= 0)
		return EXIT_DONE;
	return cmd_fail(EXIT_FAILED, strerror(errno), "ps -e", "cannot follow process %llu",
			(unsigned long long)opt.pid);
}

static int record_find_device(void)
{
	struct grt_err err;
	int ret = known_gpu_find(opt.device, &opt.gpu, &err);

	if (!ret)
		return EXIT_DONE;
	cmd_error(EXIT_FAILED, &err);
	if (ret == -ENODEV)
		cmd_tell_gpus();
	return EXIT_FAILED;
}

/* Sources that were named and record all GPUs. */
static void record_note_all_gpus(void)
{
	const struct source *const *s;
	bool unknown = false;
	char text[256];

	for (s = all_sources; s < all_sources + SOURCES; s++) {
		if (!(*s)->all_gpus || source_choice(*s, &unknown) != CHOICE_NAMED)
			continue;
		snprintf(text, sizeof(text), "--device has no effect on the source %s, which records %s",
			 (*s)->name, (*s)->all_gpus);
		cmd_tell("record", text);
	}
}

/* Sources that were named and do not obey --duty. */
static void record_note_uncut(void)
{
	const struct source *const *s;
	bool unknown = false;
	char text[128];

	for (s = all_sources; s < all_sources + SOURCES; s++) {
		if ((*s)->duty || source_choice(*s, &unknown) != CHOICE_NAMED)
			continue;
		snprintf(text, sizeof(text),
			 "--duty has no effect on the source %s, which is recorded all the time", (*s)->name);
		cmd_tell("record", text);
	}
}

/* Options of sources that do not take part, or do not go with the others. */
static int record_check_source_options(void)
{
	const struct source_setup setup = {.pid = opt.pid == OPT_GPU_USERS ? 0 : (pid_t)opt.pid,
					   .gpu_users = opt.pid == OPT_GPU_USERS,
					   .taken = opt.last > 0 || record_in_segments(),
					   .duty = opt.duty_text ? &opt.duty : NULL,
					   .types = opt.types};
	const struct source *const *s;
	const struct cmd_opt *o;
	bool unknown = false, duty = false, obeys;
	const char *why;

	for (s = all_sources; s < all_sources + SOURCES; s++) {
		o = record_given(*s);
		if (o && source_choice(*s, &unknown) != CHOICE_NAMED)
			return cmd_usage_error(
				"--%s needs the source %s: add it to -e, or leave out the option", o->name,
				(*s)->name);
		obeys = opt.duty_text && (*s)->duty && source_choice(*s, &unknown) == CHOICE_NAMED;
		duty |= obeys;
		why = (o || obeys) && (*s)->refuse ? (*s)->refuse(&setup) : NULL;
		if (why)
			return cmd_usage_error("%s", why);
	}
	if (opt.duty_text && !duty)
		return cmd_usage_error(
			"--duty needs one of the sources cuda, drm and ioctl: add one to -e, or leave out the option");
	if (opt.duty_text)
		record_note_uncut();
	if (opt.device)
		record_note_all_gpus();
	return EXIT_DONE;
}

static unsigned int record_window_ms(void)
{
	unsigned int ms = DUTY_WINDOW_MS, wanted;
	bool unknown = false;

	for (unsigned int i = 0; i < SOURCES; i++) {
		if (!all_sources[i]->window_ms || source_choice(all_sources[i], &unknown) != CHOICE_NAMED)
			continue;
		wanted = all_sources[i]->window_ms();
		ms = wanted > ms ? wanted : ms;
	}
	return ms;
}

/* The windows of all sources. */
static int record_check_duty(void)
{
	const char *why = opt.duty_text ? duty_read(opt.duty_text, record_window_ms(), &opt.duty) : NULL;

	if (why)
		return cmd_usage_error("%s", why);
	return opt.duty_text && duty_begin(&opt.duty)
		       ? cmd_fail(EXIT_FAILED, strerror(errno), NULL, "cannot get a random number")
		       : EXIT_DONE;
}

static int check_filters(void)
{
	int status = cmd_buffer_usage(opt.buffer);

	if (opt.comm && (!*opt.comm || strlen(opt.comm) > 15))
		return cmd_usage_error("--comm='%s': a thread's name has 1 to 15 bytes", opt.comm);
	if (opt.ring && strspn(opt.ring, "0123456789") &&
	    !strcmp(opt.ring + strspn(opt.ring, "0123456789"), "s"))
		return cmd_usage_error(
			"--ring takes the name of a GPU's ring; use --last=%s to keep the last seconds",
			opt.ring);
	if (opt.ring && (!*opt.ring || strlen(opt.ring) > 31))
		return cmd_usage_error("--ring='%s': a ring's name has 1 to 31 bytes", opt.ring);
	if (status == EXIT_DONE && opt.type_names)
		status = cmd_event_types(opt.type_names, &opt.types);
	if (status == EXIT_DONE && opt.device)
		status = record_find_device();
	return status;
}

static int record_check_bounds(void)
{
	if ((opt.last_size || opt.after > 0 || opt.pause > 0 || opt.on) && !(opt.last > 0))
		return cmd_usage_error("--last-size, --on, --after and --pause need --last");
	if (opt.last > 0 && (opt.raw || record_in_segments() || record_files_any(&opt.files)))
		return cmd_usage_error(
			"--last keeps packets in memory and does not work with --raw, --max-size, --max-time, --segment, --compress, --chrome and the like");
	if (opt.last_size && opt.last_size < SEGMENT_MIN)
		return cmd_usage_error("--last-size: at least %lluM", SEGMENT_MIN >> 20);
	if (record_in_segments() && opt.raw)
		return cmd_usage_error("--raw: segments need a directory (--output)");
	if (opt.max_size && opt.max_size < SIZE_MIN)
		return cmd_usage_error("--max-size: at least %lluM", SIZE_MIN >> 20);
	if (opt.segment && opt.segment < SEGMENT_MIN / 4)
		return cmd_usage_error("--segment: at least %lluK", SEGMENT_MIN >> 12);
	if (opt.max_size && opt.segment > opt.max_size / 4)
		return cmd_usage_error("--segment: at most a quarter of --max-size");
	return EXIT_DONE;
}

static int record_check_options(char **argv)
{
	int status = check_filters();

	if (status != EXIT_DONE)
		return status;
	if (opt.raw && record_files_any(&opt.files))
		return cmd_usage_error(
			"--raw: --chrome, --folded and the other files need a directory (--output)");
	if (opt.raw && opt.output)
		return cmd_usage_error("--raw and --output: use only one of them");
	status = record_check_bounds();
	if (status != EXIT_DONE)
		return status;
	if (opt.pid && argv[0])
		return cmd_usage_error("--pid and a program to run: use only one of them");
	if (opt.raw && !strcmp(opt.raw, "-") && argv[0])
		return cmd_usage_error("--raw -: the program writes to standard output; give a file");
	if (opt.raw && !strcmp(opt.raw, "-") && isatty(STDOUT_FILENO))
		return cmd_usage_error(
			"--raw -: packets are binary; send them to a pipe or file, not a terminal");
	if (wants_stack() && strcmp(opt.stack, "bpf") && strcmp(opt.stack, "auto"))
		return cmd_usage_error(
			"--stack=%s: not a way to take stacks (there are: auto, inproc, bpf, none)",
			opt.stack);
	if (opt.pid == OPT_GPU_USERS && (!opt.sources || strcmp(opt.sources, "cuda")))
		return cmd_usage_error("-p gpu works only with -e cuda alone");
	status = record_take_words();
	if (status == EXIT_DONE)
		status = check_sources();
	return status == EXIT_DONE ? record_check_source_options() : status;
}

static int record_run(int argc, char **argv)
{
	struct run run = {.rec = {.dir = -1, .at = -1},
			  .threads.fd = -1,
			  .child = {.go = -1, .failed = -1, .pidfd = -1}};
	bool list = opt.sources && !strcmp(opt.sources, "list");
	int status, closed;

	if (list && argc)
		return cmd_usage_error("-e list only prints the sources, and runs no program");
	if (list)
		return source_list(opt.json);
	if (opt.json)
		return cmd_usage_error("--json works only with -e list; report --json reads a recording");
	status = record_check_options(argv);
	if (status == EXIT_DONE)
		status = record_check_duty();
	if (status == EXIT_DONE)
		status = record_open_target(&run);
	if (status == EXIT_DONE && opt.user)
		status = be_for_user(opt.user, argv[0]);
	if (status == EXIT_DONE && argv[0])
		status = child_find(argv);
	record_set_bounds(&run);
	if (status == EXIT_DONE)
		status = record_set_box(&run);
	if (status != EXIT_DONE)
		return status;
	cmd_catch_signals();
	/* A full file or a closed pipe is an error of write(), so that settings can be put back. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	run.command = opt.no_command ? NULL : machine_command();
	run.program = argv[0];
	status = setup(&run, argv);
	closed = close_inputs(&run);
	child_close(&run.child);
	recording_close(&run.rec);
	segments_free(&run.segments);
	record_threads_end(&run.threads);
	box_free(&run.box);
	if (run.target >= 0)
		close(run.target);
	free_tables(&run);
	free(run.command);
	return status == EXIT_DONE ? closed : status;
}

const struct cmd cmd_record = {
	.usage = "[-o DIR] [-e SRC,...] [-d SECONDS] [-p PID] [OPTIONS] [[--] PROG [ARGS]]",
	.opts = options,
	.run = record_run,
	.sources = true,
	.stop_at_operand = true,
	.json = &source_list_json,
};
