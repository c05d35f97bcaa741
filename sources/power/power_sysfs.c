// SPDX-License-Identifier: GPL-2.0
/*
 * Counters in sysfs: hwmon of any driver, the files that amdgpu, i915 and xe have in addition, and devfreq
 * of GPUs that are part of a chip. A row of a table in this file is a file of sysfs, which is opened for
 * each reading, so that its disappearance is noticed.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "power.h"
#include "host/probe.h"

#define FILES_MAX 512

/** enum form - the contents of a file */
enum form {
	FORM_NUMBER,
	FORM_PERCENT, /* 0 to 100, perhaps followed by something else ("45@800000000Hz") */
	FORM_CHOSEN,  /* lines "1: 1350Mhz *": the one with a star is the present value */
	FORM_ENERGY,  /* an energy that grows; power is its growth per time */
	FORM_RARE,    /* a number whose reading delays threads that submit, so it is read once a second */
};

/**
 * struct file - a counter in sysfs
 * @scale: from the file's unit to the counter's
 * @failures: number of failures in a row
 * @energy, @read: the last reading and its time, 0: none
 */
struct file {
	char *path;
	struct power_series series;
	enum form form;
	int64_t scale;
	unsigned int failures;
	bool stopped;
	int64_t energy;
	uint64_t read;
};

struct sysfs {
	struct file file[FILES_MAX];
	unsigned int files;
	int here;
};

/* ---------------------------------------------------------------- cards */

static uint32_t device_number(const char *node)
{
	unsigned int major, minor;
	char text[32];

	if (probe_read(text, sizeof(text), "/sys/class/%s/%s/dev", power_class(node), node) <= 0 ||
	    sscanf(text, "%u:%u", &major, &minor) != 2 || major > 0xfff || minor > 0xfffff)
		return 0;
	return major << 20 | minor;
}

static char *device_path(const char *node)
{
	char path[PROBE_PATH];

	return realpath(probe_path(path, "/sys/class/%s/%s/device", power_class(node), node), NULL);
}

const struct power_card *power_card_of(const struct power *p, const char *node)
{
	char *path = device_path(node);
	unsigned int i = 0;

	while (path && i < p->cards && (!p->card[i].path || strcmp(p->card[i].path, path) != 0))
		i++;
	free(path);
	return path && i < p->cards ? &p->card[i] : NULL;
}

static bool power_sysfs_is_node(const char *name, const char *kind)
{
	size_t n = strlen(kind);

	/* card0-HDMI-A-1 is a connector */
	return !strncmp(name, kind, n) && name[n] && strspn(name + n, "0123456789") == strlen(name + n) &&
	       strlen(name) < sizeof(((struct power_card *)0)->node);
}

static int power_sysfs_is_card(const struct dirent *e)
{
	return power_sysfs_is_node(e->d_name, "card");
}

static int power_sysfs_is_accel(const struct dirent *e)
{
	return power_sysfs_is_node(e->d_name, "accel");
}

static void add_card(struct power *p, const char *node)
{
	struct power_card *card = &p->card[p->cards];

	if (p->cards == POWER_CARDS) {
		p->count.dropped++;
		return;
	}
	memset(card, 0, sizeof(*card));
	snprintf(card->node, sizeof(card->node), "%s", node);
	probe_link(card->driver, sizeof(card->driver), "/sys/class/%s/%s/device/driver", power_class(node),
		   node);
	card->device = device_number(node);
	card->path = device_path(node);
	p->cards++;
}

static void each_node(struct power *p, const char *dir, int (*chosen)(const struct dirent *e),
		      void (*add)(struct power *p, const char *node))
{
	char path[PROBE_PATH];
	struct dirent **found;
	int n = scandir(probe_path(path, "/sys/class/%s", dir), &found, chosen, versionsort), i;

	for (i = 0; i < n; i++) {
		add(p, found[i]->d_name);
		free(found[i]);
	}
	if (n >= 0)
		free(found);
}

void power_find_cards(struct power *p)
{
	each_node(p, "drm", power_sysfs_is_card, add_card);
	each_node(p, "accel", power_sysfs_is_accel, add_card);
}

void power_free_cards(struct power *p)
{
	unsigned int i;

	for (i = 0; i < p->cards; i++)
		free(p->card[i].path);
	p->cards = 0;
}

/* -------------------------------------------------------------- reading */

/* Return: bytes in @text, -errno */
static ssize_t read_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : read(fd, text, room - 1);

	if (fd >= 0) {
		n = n < 0 ? -errno : n;
		close(fd);
	}
	if (n >= 0)
		text[n] = '\0';
	return n;
}

static const char *chosen_line(const char *text)
{
	const char *star = strstr(text, " *"), *line = star;

	while (line && line > text && line[-1] != '\n')
		line--;
	line = line ? strchr(line, ':') : NULL;
	return line && line < star ? line + 1 : NULL;
}

static bool is_end(const char *text)
{
	return text && (!*text || isspace((unsigned char)*text));
}

static bool power_sysfs_parse(enum form form, const char *text, int64_t *value)
{
	const char *end;

	if (form == FORM_CHOSEN)
		text = chosen_line(text);
	end = text ? power_number(text, value) : NULL;
	if (form == FORM_CHOSEN)
		return end && !strncasecmp(end, "mhz", 3) && *value >= 0;
	if (form == FORM_PERCENT)
		return end && (is_end(end) || *end == '@' || *end == '%') && *value >= 0 && *value <= 100;
	return is_end(end) && (form != FORM_ENERGY || *value >= 0);
}

/* Return: 0, -EINVAL if the text is not a value, or another -errno */
static int read_value(const struct file *f, int64_t *value)
{
	char text[1024];
	ssize_t n = read_file(f->path, text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (!power_sysfs_parse(f->form, text, value) || __builtin_mul_overflow(*value, f->scale, value))
		return -EINVAL;
	return 0;
}

static void put_energy(struct power *p, struct file *f, uint64_t now, int64_t energy)
{
	uint64_t ns = now - f->read;
	bool base = f->read && ns && energy >= f->energy;
	__int128 power = base ? (__int128)(energy - f->energy) * 1000000000 / ns : 0;

	if (base && power <= INT64_MAX)
		power_put(p, &f->series, now, (int64_t)power);
	else
		power_end(p, &f->series);
	f->energy = energy;
	f->read = now;
}

/* A file that has disappeared is not read again; other errors may pass. */
static void power_sysfs_fail(struct power *p, struct file *f, int code)
{
	power_end(p, &f->series);
	f->stopped = code == -ENOENT || code == -ENODEV || code == -EACCES || ++f->failures == POWER_FAILURES;
	p->count.stopped += f->stopped;
}

static void sample_file(struct power *p, struct file *f)
{
	int64_t value;
	int ret;

	if (f->form == FORM_RARE && grt_now() - f->read < GRT_NS_PER_S)
		return;
	ret = read_value(f, &value);
	if (ret) {
		power_sysfs_fail(p, f, ret);
		return;
	}
	f->failures = 0;
	if (f->form == FORM_ENERGY)
		put_energy(p, f, grt_now(), value);
	else
		power_put(p, &f->series, grt_now(), value);
	if (f->form == FORM_RARE)
		f->read = grt_now();
}

static void sysfs_sample(void *state, struct power *p)
{
	const struct power_card *card;
	struct sysfs *s = state;
	struct file *f;

	for (f = s->file; f < s->file + s->files; f++) {
		if (f->stopped)
			continue;
		card = f->series.device ? power_card_at(p, f->series.device) : NULL;
		if (card && card->asleep)
			power_end(p, &f->series);
		else
			sample_file(p, f);
	}
}

/* -------------------------------------------------------------- finding */

static bool is_taken(const struct sysfs *s, uint32_t device, uint32_t counter)
{
	unsigned int i = 0;

	while (i < s->files && (s->file[i].series.counter != counter || s->file[i].series.device != device))
		i++;
	return counter && i < s->files;
}

/* If two files of a device have the same name, a number distinguishes them. */
static uint32_t free_counter(const struct sysfs *s, struct power *p, uint32_t device, const char *name,
			     const char *unit)
{
	uint32_t counter = power_counter(p, name, unit);
	unsigned int n = 1;
	char other[32];

	while (is_taken(s, device, counter)) {
		snprintf(other, sizeof(other), "%.26s #%u", name, ++n);
		counter = power_counter(p, other, unit);
	}
	return counter;
}

/* Adds a file if it can be read. A suspended GPU is not woken for this. */
static int power_sysfs_add_file(struct sysfs *s, struct power *p, const struct power_card *card,
				const struct file *like, const char *path, const char *name, const char *unit)
{
	struct file f = *like;
	int64_t value;
	int ret;

	f.path = (char *)path;
	f.series.device = card ? card->device : 0;
	if (!power_wanted(p, f.series.device))
		return 0;
	ret = card && card->asleep ? access(path, R_OK) ? -errno : 0 : read_value(&f, &value);
	p->denied |= ret == -EACCES;
	/* a busy device may be read later; without any value it is not a counter */
	if (ret && ret != -EINVAL && ret != -EAGAIN && ret != -EBUSY)
		return 0;
	if (s->files == FILES_MAX) {
		p->count.dropped++;
		return 0;
	}
	f.path = strdup(path);
	if (!f.path)
		return -ENOMEM;
	f.series.counter = free_counter(s, p, f.series.device, name, unit);
	s->file[s->files++] = f;
	s->here += !ret;
	return 0;
}

/**
 * struct file_row - similar files
 * @pattern: below the card's directory; a part with a * becomes part of the counter's name
 */
struct file_row {
	const char *pattern;
	const char *name;
	const char *unit;
	enum form form;
	int64_t scale;
};

static const struct file_row file_rows[] = {
	/* amdgpu */
	{"device/gpu_busy_percent", "busy gpu", "%", FORM_PERCENT, 1},
	{"device/mem_busy_percent", "busy memory", "%", FORM_PERCENT, 1},
	{"device/mem_info_vram_used", "memory vram", "B", FORM_NUMBER, 1},
	{"device/mem_info_vis_vram_used", "memory visible vram", "B", FORM_NUMBER, 1},
	{"device/mem_info_gtt_used", "memory gtt", "B", FORM_NUMBER, 1},
	{"device/pp_dpm_sclk", "dpm sclk", "Hz", FORM_CHOSEN, 1000000},
	{"device/pp_dpm_mclk", "dpm mclk", "Hz", FORM_CHOSEN, 1000000},
	{"device/pp_dpm_fclk", "dpm fclk", "Hz", FORM_CHOSEN, 1000000},
	{"device/pp_dpm_socclk", "dpm socclk", "Hz", FORM_CHOSEN, 1000000},
	{"device/pp_dpm_vclk", "dpm vclk", "Hz", FORM_CHOSEN, 1000000},
	{"device/pp_dpm_dclk", "dpm dclk", "Hz", FORM_CHOSEN, 1000000},
	/* i915: by GT since Linux 5.18 */
	{"gt/gt*/rps_act_freq_mhz", "clock", "Hz", FORM_NUMBER, 1000000},
	{"gt/gt*/rps_cur_freq_mhz", "clock asked", "Hz", FORM_NUMBER, 1000000},
	{"gt/gt*/rc6_residency_ms", "idle", "total ns", FORM_NUMBER, 1000000},
	{"gt/gt*/throttle_reason_pl1", "throttle pl1", "on", FORM_NUMBER, 1},
	{"gt/gt*/throttle_reason_pl2", "throttle pl2", "on", FORM_NUMBER, 1},
	{"gt/gt*/throttle_reason_pl4", "throttle pl4", "on", FORM_NUMBER, 1},
	{"gt/gt*/throttle_reason_thermal", "throttle thermal", "on", FORM_NUMBER, 1},
	{"gt/gt*/throttle_reason_prochot", "throttle prochot", "on", FORM_NUMBER, 1},
	{"gt/gt*/throttle_reason_ratl", "throttle ratl", "on", FORM_NUMBER, 1},
	{"gt/gt*/throttle_reason_vr_thermalert", "throttle vr thermal", "on", FORM_NUMBER, 1},
	{"gt/gt*/throttle_reason_vr_tdc", "throttle vr tdc", "on", FORM_NUMBER, 1},
	/* xe */
	{"device/tile*/gt*/freq0/act_freq", "clock", "Hz", FORM_NUMBER, 1000000},
	{"device/tile*/gt*/freq0/cur_freq", "clock asked", "Hz", FORM_NUMBER, 1000000},
	{"device/tile*/gt*/gtidle/idle_residency_ms", "idle", "total ns", FORM_NUMBER, 1000000},
	/* ivpu */
	{"device/npu_busy_time_us", "busy npu", "total ns", FORM_RARE, 1000},
	{"device/npu_memory_utilization", "memory npu", "B", FORM_NUMBER, 1},
	{"device/npu_current_frequency_mhz", "clock", "Hz", FORM_NUMBER, 1000000},
	{"device/tile*/gt*/freq0/throttle/reason_pl1", "throttle pl1", "on", FORM_NUMBER, 1},
	{"device/tile*/gt*/freq0/throttle/reason_pl2", "throttle pl2", "on", FORM_NUMBER, 1},
	{"device/tile*/gt*/freq0/throttle/reason_pl4", "throttle pl4", "on", FORM_NUMBER, 1},
	{"device/tile*/gt*/freq0/throttle/reason_thermal", "throttle thermal", "on", FORM_NUMBER, 1},
	{"device/tile*/gt*/freq0/throttle/reason_prochot", "throttle prochot", "on", FORM_NUMBER, 1},
	{"device/tile*/gt*/freq0/throttle/reason_ratl", "throttle ratl", "on", FORM_NUMBER, 1},
	{"device/tile*/gt*/freq0/throttle/reason_vr_thermalert", "throttle vr thermal", "on", FORM_NUMBER, 1},
	{"device/tile*/gt*/freq0/throttle/reason_vr_tdc", "throttle vr tdc", "on", FORM_NUMBER, 1},
};

/* i915 before 5.18; later it has these in addition to those by GT. */
static const struct file_row old_i915_rows[] = {
	{"gt_act_freq_mhz", "clock", "Hz", FORM_NUMBER, 1000000},
	{"gt_cur_freq_mhz", "clock asked", "Hz", FORM_NUMBER, 1000000},
	{"power/rc6_residency_ms", "idle", "total ns", FORM_NUMBER, 1000000},
};

#define ROWS(table) (table), sizeof(table) / sizeof((table)[0])

/* Adds the parts of the path that match a * of the pattern. */
static void add_parts(char *name, size_t room, const char *pattern, const char *path)
{
	size_t used = strlen(name), n, m;

	for (; *pattern; pattern += n + (pattern[n] == '/'), path += m + (path[m] == '/')) {
		n = strcspn(pattern, "/");
		m = strcspn(path, "/");
		if (memchr(pattern, '*', n) && used < room)
			used += (size_t)snprintf(name + used, room - used, " %.*s", (int)m, path);
	}
}

static int power_sysfs_add_row(struct sysfs *s, struct power *p, const struct power_card *card,
			       const struct file_row *row)
{
	const struct file like = {.form = row->form, .scale = row->scale};
	char base[PROBE_PATH], pattern[PROBE_PATH], name[64];
	glob_t found;
	size_t i;
	int ret = 0;

	probe_path(base, "/sys/class/%s/%s/", power_class(card->node), card->node);
	probe_path(pattern, "/sys/class/%s/%s/%s", power_class(card->node), card->node, row->pattern);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (i = 0; !ret && i < found.gl_pathc; i++) {
		snprintf(name, sizeof(name), "%s", row->name);
		add_parts(name, sizeof(name), row->pattern, found.gl_pathv[i] + strlen(base));
		ret = power_sysfs_add_file(s, p, card, &like, found.gl_pathv[i], name, row->unit);
	}
	globfree(&found);
	return ret;
}

static int add_rows(struct sysfs *s, struct power *p, const struct power_card *card,
		    const struct file_row *row, size_t rows)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < rows; i++)
		ret = power_sysfs_add_row(s, p, card, &row[i]);
	return ret;
}

/* ---------------------------------------------------------------- hwmon */

/** struct sensor - a kind of hwmon's files: @kind, a number, and _input or _average */
static const struct sensor {
	const char *kind;
	const char *name;
	const char *unit;
	enum form form;
} sensors[] = {
	{"power", "power", "uW", FORM_NUMBER}, {"energy", "power from energy", "uW", FORM_ENERGY},
	{"temp", "temp", "mC", FORM_NUMBER},   {"freq", "clock", "Hz", FORM_NUMBER},
	{"in", "voltage", "mV", FORM_NUMBER},  {"curr", "current", "mA", FORM_NUMBER},
	{"fan", "fan", "rpm", FORM_NUMBER},
};

/**
 * struct reading - a file of hwmon
 * @number: of the sensor
 * @average: the file is _average, not _input
 */
struct reading {
	const struct sensor *sensor;
	unsigned int number;
	bool average;
};

static bool parse_sensor(const char *file, struct reading *r)
{
	size_t i, n = strcspn(file, "0123456789");
	char *end;

	for (i = 0; i < sizeof(sensors) / sizeof(sensors[0]); i++)
		if (strlen(sensors[i].kind) == n && !strncmp(file, sensors[i].kind, n))
			break;
	if (i == sizeof(sensors) / sizeof(sensors[0]) || !isdigit((unsigned char)file[n]))
		return false;
	r->sensor = &sensors[i];
	r->number = (unsigned int)strtoul(file + n, &end, 10);
	r->average = !strcmp(end, "_average");
	return r->average || !strcmp(end, "_input");
}

/* "temp edge", or with a number if there is no label and it is not the first sensor. */
static void sensor_name(char *name, size_t room, const char *dir, const struct reading *r)
{
	char path[PROBE_PATH + 64], label[24] = "";
	const char *now = "";

	snprintf(path, sizeof(path), "%s/%s%u_label", dir, r->sensor->kind, r->number);
	if (read_file(path, label, sizeof(label)) > 0)
		label[strcspn(label, "\n")] = '\0';
	else if (r->number > 1)
		snprintf(label, sizeof(label), "%u", r->number);
	snprintf(path, sizeof(path), "%s/%s%u_average", dir, r->sensor->kind, r->number);
	if (!r->average && !access(path, F_OK))
		now = " now";
	snprintf(name, room, "%s%s%s%s", r->sensor->name, label[0] ? " " : "", label, now);
}

static int add_sensor(struct sysfs *s, struct power *p, const struct power_card *card, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PROBE_PATH], name[64];
	struct reading r;
	struct file like = {.scale = 1};

	if (!parse_sensor(slash + 1, &r))
		return 0;
	like.form = r.sensor->form;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	sensor_name(name, sizeof(name), dir, &r);
	return power_sysfs_add_file(s, p, card, &like, path, name, r.sensor->unit);
}

static int add_hwmon(struct sysfs *s, struct power *p, const struct power_card *card)
{
	static const char *const files[] = {"*_average", "*_input"};
	char pattern[PROBE_PATH];
	glob_t found;
	size_t i, k;
	int ret = 0;

	for (k = 0; !ret && k < 2; k++) {
		probe_path(pattern, "/sys/class/%s/%s/device/hwmon/hwmon*/%s", power_class(card->node),
			   card->node, files[k]);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (i = 0; !ret && i < found.gl_pathc; i++)
			ret = add_sensor(s, p, card, found.gl_pathv[i]);
		globfree(&found);
	}
	return ret;
}

static int add_card_files(struct sysfs *s, struct power *p, const struct power_card *card)
{
	int ret = add_hwmon(s, p, card);

	if (!ret)
		ret = add_rows(s, p, card, ROWS(file_rows));
	if (!ret && !probe_exists("/sys/class/drm/%s/gt/gt0", card->node))
		ret = add_rows(s, p, card, ROWS(old_i915_rows));
	return ret;
}

/* -------------------------------------------------------------- devfreq */

/*
 * Memory controllers and buses have devfreq, too. A device is a GPU if it has a card, or the word in its
 * name.
 */
static const struct power_card *devfreq_card(const struct power *p, const char *name)
{
	char path[PROBE_PATH], *device;
	unsigned int i;

	device = realpath(probe_path(path, "/sys/class/devfreq/%s/device", name), NULL);
	for (i = 0; device && i < p->cards; i++)
		if (p->card[i].path && !strcmp(p->card[i].path, device))
			break;
	free(device);
	return device && i < p->cards ? &p->card[i] : NULL;
}

static int add_devfreq(struct sysfs *s, struct power *p, const char *name)
{
	static const struct file clock = {.form = FORM_NUMBER, .scale = 1};
	static const struct file load = {.form = FORM_PERCENT, .scale = 1};
	const struct power_card *card = devfreq_card(p, name);
	char path[PROBE_PATH], text[64];
	int ret;

	if (!card && !strcasestr(name, "gpu") && !strcasestr(name, "mali"))
		return 0;
	snprintf(text, sizeof(text), "clock %.31s", card ? "gpu" : name);
	ret = power_sysfs_add_file(s, p, card, &clock,
				   probe_path(path, "/sys/class/devfreq/%s/cur_freq", name), text, "Hz");
	snprintf(text, sizeof(text), "busy %.31s", card ? "gpu" : name);
	if (!ret)
		ret = power_sysfs_add_file(s, p, card, &load,
					   probe_path(path, "/sys/class/devfreq/%s/load", name), text, "%");
	return ret;
}

static int add_devfreqs(struct sysfs *s, struct power *p)
{
	char path[PROBE_PATH];
	struct dirent **found;
	int n = scandir(probe_path(path, "/sys/class/devfreq"), &found, NULL, versionsort), i, ret = 0;

	for (i = 0; i < n; i++) {
		if (!ret && found[i]->d_name[0] != '.')
			ret = add_devfreq(s, p, found[i]->d_name);
		free(found[i]);
	}
	if (n >= 0)
		free(found);
	return ret;
}

/* ----------------------------------------------------------------- part */

static int sysfs_open(void **state, struct power *p, struct grt_err *err)
{
	struct sysfs *s = calloc(1, sizeof(*s));
	unsigned int i;
	int ret = 0;

	*state = s;
	if (!s)
		return -ENOMEM;
	for (i = 0; !ret && i < p->cards; i++)
		ret = add_card_files(s, p, &p->card[i]);
	if (!ret)
		ret = add_devfreqs(s, p);
	return ret ? ret : s->here;
}

static void sysfs_close(void *state)
{
	struct sysfs *s = state;
	unsigned int i;

	for (i = 0; s && i < s->files; i++)
		free(s->file[i].path);
	free(s);
}

const struct power_part power_sysfs = {
	.name = "sysfs",
	.open = sysfs_open,
	.sample = sysfs_sample,
	.close = sysfs_close,
};
