// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel module as an input of `record`: starts a stopped module and stops
 * it again, leaves a running module running, and restores the settings that it changed.
 */
#include <errno.h>
#include <grtrace/event_table.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grtrace/control.h>

#include "kmod/kmod_settings.h"
#include "kmod/kmod_tally.h"
#include "kmod/kmod_find.h"
#include "source.h"

/* Settings that have an option, see control.def; other settings have no key here. */
static struct opt_key capture_keys[GRT_CONFIG_KEYS] = {
#define GRT_OPTION(name, setting, value) [GRT_CONFIG_##setting] = {.key = &kmod_keys[GRT_CONFIG_##setting]},
#include <grtrace/control.def>
};

static const struct cmd_opt options[] = {
#define GRT_OPTION(name, setting, value) {name, 0, OPT_KEY, value, &capture_keys[GRT_CONFIG_##setting], NULL},
#include <grtrace/control.def>
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/**
 * struct capture - the state of this source
 * @kmod: the open module
 * @merged: trace_pipe is read instead of a stream per CPU
 * @was_running: tracing was on before, and stays on
 * @started: this source has started the module and not yet stopped it
 * @pipe: trace_pipe, -1: not used
 * @changed: settings during the recording, to be restored
 * @note: shows a note to the user
 * @buffer_size: bytes per CPU now
 * @stats: the module's own counts at the end; NULL before
 * @adapters, @balance, @settings, @unread: texts of describe()
 */
struct capture {
	struct kmod kmod;
	bool merged;
	bool was_running;
	bool started;
	int pipe;
	struct kmod_settings changed;
	void (*note)(const char *text);
	char buffer_size[32];
	char *stats;
	char *adapters;
	char balance[512];
	char *settings;
	char unread[512];
};

/* A number that an option with another name than the key's gives. */
static int kmod_capture_add_number(struct capture *c, const char *key, unsigned long long value,
				   struct grt_err *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", value);
	return value ? kmod_settings_add(&c->changed, kmod_key_find(key), text, NULL, err) : 0;
}

/* The requested types, by name. */
static int kmod_capture_add_types(struct capture *c, const struct grt_type_set *types, struct grt_err *err)
{
	char text[GRT_EVENTS * KMOD_TYPE_NAME] = "";
	int ret = kmod_types_text(types, text, sizeof(text));

	return ret ? kmod_settings_add(&c->changed, kmod_key_find("filter_events"), text, NULL, err) : 0;
}

static int collect_settings(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
	int ret = 0;

	for (const struct opt_key *o = capture_keys; o < capture_keys + GRT_CONFIG_KEYS && !ret; o++)
		ret = o->value ? kmod_settings_add(&c->changed, o->key, o->value, NULL, err) : 0;
	ret = ret ?: kmod_capture_add_number(c, "buffer_size", setup->buffer_size, err);
	ret = ret ?: kmod_capture_add_number(c, "filter_pid", (unsigned long long)setup->pid, err);
	return ret ?: kmod_capture_add_types(c, &setup->types, err);
}

/* Return: why two options exclude each other. */
static const char *capture_refuse(const struct source_setup *setup)
{
	if (setup->pid && capture_keys[GRT_CONFIG_filter_pid].value)
		return "--pid and --filter-pid: use only one of them";
	if (!grt_types_empty(&setup->types) && capture_keys[GRT_CONFIG_filter_events].value)
		return "--type and --filter-events: use only one of them";
	return NULL;
}

static int apply(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
	int ret;

	if (setup->comm || setup->ring || setup->gpu)
		return grt_err_set(err, -ENOSYS, "it has no filter by thread name, ring name or device file",
				   "-e drm, or the settings of grtrace config",
				   "cannot filter events of the source kmod");
	if (setup->buffer_size && c->was_running)
		return grt_err_set(err, -EBUSY, "tracing is on already", "sudo grtrace stop, and again",
				   "cannot change the buffer size");
	ret = collect_settings(c, setup, err);
	return ret || !c->changed.n ? ret : kmod_settings_apply(&c->kmod, &c->changed, err);
}

static int kmod_capture_open_input(struct capture *c, struct grt_err *err)
{
	if (!c->merged)
		return kmod_open_streams(&c->kmod, err);
	c->pipe = kmod_open_stream(&c->kmod, "trace_pipe", err);
	return c->pipe < 0 ? c->pipe : 0;
}

/* Refuses a second reader before our settings disturb the first one's recording. */
static int check_reader(struct capture *c, struct grt_err *err)
{
	struct kmod_stats stats;
	int ret = kmod_stats(&c->kmod, &stats, err), fd;

	if (ret)
		return ret;
	free(stats.lines);
	if (!stats.reader)
		return 0;
	fd = kmod_open_stream(&c->kmod, c->merged ? "trace_pipe" : "events0", err);
	if (fd < 0)
		return fd;
	close(fd); /* the process has ended in the meantime */
	return 0;
}

/* As check_reader(), but without opening a stream, which would make this process a reader. */
static int probe_reader(struct kmod *k, struct grt_err *err)
{
	struct kmod_stats stats;
	int ret = kmod_stats(k, &stats, err);
	char what[sizeof(k->path) + 32];

	if (ret)
		return ret;
	free(stats.lines);
	if (!stats.reader)
		return 0;
	snprintf(what, sizeof(what), "the streams of %s", k->path);
	return kmod_busy(what, stats.reader, err);
}

static int capture_probe(struct grt_err *err)
{
	const char *given = getenv("GRTRACE_DEBUGFS");
	struct kmod k = {.dir = -1};
	int ret = kmod_open(&k, err);

	if (!ret)
		ret = probe_reader(&k, err);
	kmod_close(&k);
	/*
	 * If the user gave a directory, no module is loaded, unless the directory only has the prefix of all
	 * paths.
	 */
	if (ret != -ENODEV || (given && *given && !*probe_sysroot()))
		return ret;
	return kmod_usable(err);
}

static int kmod_capture_prepare(struct capture *c, const struct source_setup *setup, struct grt_err *err)
{
	int ret = kmod_load(setup->note, err);

	if (!ret)
		ret = kmod_open(&c->kmod, err);
	if (!ret)
		ret = check_reader(c, err);
	if (!ret)
		ret = kmod_running(&c->kmod, err);
	if (ret < 0)
		return ret;
	c->was_running = ret;
	ret = apply(c, setup, err);
	if (!ret && !c->was_running)
		ret = kmod_write(&c->kmod, "control", "clear", err);
	ret = ret ?: kmod_tally_begin(&c->kmod, err);
	return ret ?: kmod_capture_open_input(c, err);
}

static int capture_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));

	*state = c;
	if (!c)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for the source kmod");
	c->kmod.dir = -1;
	c->kmod.recorder = -1;
	c->pipe = -1;
	c->merged = setup->merged;
	c->note = setup->note;
	return kmod_capture_prepare(c, setup, err);
}

/* The adapter that reports the same as the BPF program of this name. */
static const char *adapter_for(const char *program)
{
	return strcmp(program, "drm_sched") ? program : "drm_bridge";
}

/* Whether the adapter is bound to its driver. */
static bool capture_covers(void *state, const char *driver)
{
	struct capture *c = state;
	char *adapters = kmod_read(&c->kmod, "adapters", NULL), line[256];
	uint64_t bound = 0;

	if (adapters && kmod_line(adapters, adapter_for(driver), line, sizeof(line)))
		kmod_number(line, "bound", &bound);
	free(adapters);
	return bound;
}

static int capture_start(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret;

	if (c->was_running)
		return 0;
	ret = kmod_record(&c->kmod, err);
	c->started = ret > 0;
	/* another thread was quicker */
	c->was_running = !ret;
	return ret < 0 ? ret : 0;
}

static int capture_confine(void *state, uint64_t *keep, struct grt_err *err)
{
	return kmod_hold(&((struct capture *)state)->kmod, err);
}

static unsigned int capture_streams(void *state, struct pollfd *fds)
{
	struct capture *c = state;
	unsigned int i, n = c->merged ? 1 : c->kmod.cpus;

	for (i = 0; i < n && i < SOURCE_STREAMS_MAX; i++)
		fds[i] = (struct pollfd){.fd = c->merged ? c->pipe : c->kmod.streams[i], .events = POLLIN};
	return i;
}

static int capture_flush(void *state, struct grt_err *err)
{
	return kmod_write(&((struct capture *)state)->kmod, "control", "flush", err);
}

static ssize_t capture_read(void *state, unsigned int i, void *buf, size_t len)
{
	struct capture *c = state;
	ssize_t n = read(c->merged ? c->pipe : c->kmod.streams[i], buf, len);

	return n < 0 ? -errno : n;
}

static void capture_took(void *state, const struct grt_packet *p)
{
	kmod_tally_take(((struct capture *)state)->kmod.tally, p);
}

/* Counts of before a flush may be read after it; after a stop, nothing more is counted. */
static int capture_stop(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret = 0;

	if (!c->started)
		c->stats = kmod_read(&c->kmod, "stats", err);
	if (!c->started && !c->stats)
		return -errno;
	ret = kmod_write(&c->kmod, "control", c->started ? "stop" : "flush", err);
	if (ret)
		return ret;
	ret = c->started;
	c->started = false;
	return ret;
}

/* Writes only counts that are not 0, as `stats` does. */
static void balance_text(const struct grt_balance *b, char *text, size_t room)
{
	size_t used = 0;

	text[0] = '\0';
	if (b->emitted)
		used = (size_t)snprintf(text, room, "emitted=%llu", (unsigned long long)b->emitted);
	for (unsigned int i = 0; i < GRT_FATES && used < room; i++)
		if (b->fate[i])
			used += (size_t)snprintf(text + used, room - used, " %s=%llu", grt_fate_names[i],
						 (unsigned long long)b->fate[i]);
}

static int capture_missed(void *state, struct grt_balance *missed, struct grt_err *err)
{
	struct capture *c = state;
	uint64_t unread;
	char cpus[200];

	*missed = (struct grt_balance){0};
	if (!c->stats)
		c->stats = kmod_read(&c->kmod, "stats", err);
	if (!c->stats)
		return -errno;
	kmod_tally_missed(c->kmod.tally, c->stats, missed);
	balance_text(missed, c->unread, sizeof(c->unread));
	unread = missed->fate[GRT_FATE_DELIVERED];
	kmod_tally_cpus(c->kmod.tally, c->stats, cpus, sizeof(cpus));
	if (unread)
		grt_err_set(
			err, 0, cpus, "sudo rmmod grtrace, and record again with its present version",
			"%llu {event that the kernel module delivered is|events that the kernel module delivered are} not in the recording",
			(unsigned long long)unread);
	return 0;
}

/* The settings that differ from their defaults, as one line. */
static char *kmod_capture_settings_text(struct capture *c)
{
	char *config = kmod_read(&c->kmod, "config", NULL), *text = NULL, value[256];
	const struct kmod_key *key;
	size_t length;
	FILE *f = config ? open_memstream(&text, &length) : NULL;

	for (key = kmod_keys; f && key->name; key++)
		if (kmod_key_is_setting(key) && kmod_line(config, key->name, value, sizeof(value)) &&
		    !kmod_key_is_default(key, value))
			fprintf(f, "%s%s=%s", ftell(f) > 0 ? " " : "", key->name, value);
	if (f)
		fclose(f);
	free(config);
	return text;
}

static int capture_describe(void *state, struct grt_env *env, int room)
{
	struct capture *c = state;
	struct kmod_stats stats;
	int n = 0;

	free(c->settings);
	free(c->adapters);
	c->settings = kmod_capture_settings_text(c);
	c->adapters = kmod_read(&c->kmod, "adapters", NULL);
	c->balance[0] = '\0';
	kmod_get(&c->kmod, "buffer_size", c->buffer_size, sizeof(c->buffer_size), NULL);
	if (!kmod_stats(&c->kmod, &stats, NULL))
		kmod_line(stats.lines, "total", c->balance, sizeof(c->balance));
	free(stats.lines);

	const struct grt_env all[] = {
		{"kmod_version", c->kmod.version},    {"kmod_buffer_size", c->buffer_size},
		{"kmod_adapters", c->adapters ?: ""}, {"kmod_settings", c->settings ?: ""},
		{"kmod_balance", c->balance},	      {"kmod_unread", c->unread},
	};
	for (; n < room && n < (int)(sizeof(all) / sizeof(all[0])); n++)
		env[n] = all[n];
	return n;
}

/* @stopped: including settings that can only change while no stream is open */
static int kmod_capture_put_back(struct capture *c, bool stopped, struct grt_err *err)
{
	return c->changed.n ? kmod_settings_put_back(&c->kmod, &c->changed, stopped, c->note, err) : 0;
}

static int capture_close(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret = 0, last;

	if (!c)
		return 0;
	if (c->started)
		ret = kmod_write(&c->kmod, "control", "stop", err);
	last = kmod_capture_put_back(c, false, err);
	ret = last ?: ret;
	if (c->pipe >= 0)
		close(c->pipe);
	/* The buffers can only be resized when all streams are closed. */
	kmod_close_streams(&c->kmod);
	last = kmod_capture_put_back(c, true, err);
	ret = last ?: ret;
	kmod_settings_free(&c->changed);
	kmod_close(&c->kmod);
	free(c->stats);
	free(c->settings);
	free(c->adapters);
	free(c);
	return ret;
}

const struct source source_kmod = {
	.name = "kmod",
	.alone = true,
	.options = options,
	.refuse = capture_refuse,
	.probe = capture_probe,
	.open = capture_open,
	.covers = capture_covers,
	.start = capture_start,
	.confine = capture_confine,
	.streams = capture_streams,
	.flush = capture_flush,
	.read = capture_read,
	.took = capture_took,
	.stop = capture_stop,
	.missed = capture_missed,
	.describe = capture_describe,
	.close = capture_close,
};
