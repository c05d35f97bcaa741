// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of the GPUs: frequency, power, temperature, memory and use, read ten times a second. The parts
 * know where the values come from, see power.h.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "power.h"
#include "host/probe.h"

#define PERIOD_NS 100000000ULL
#define REPEAT_NS 1000000000ULL

/*
 * If a sample takes longer than a tenth of the period, the period becomes longer, because other sources wait
 * for it.
 */
#define LOAD_LIMIT 10

static const struct power_part *const parts[] = {&power_sysfs, &power_nvml, &power_fdinfo};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

/**
 * struct capture - the state of this source
 * @part: states of the parts, in the order of parts[]
 * @here: whether they have counters, or may get some
 * @begun: when the last sample began
 * @next: the next sample is not taken before this time
 * @horizon: all values up to this time have been read
 * @force: packets must be written now
 * @ended: there will be no more packets
 */
struct capture {
	struct power p;
	void *part[PARTS];
	bool here[PARTS];
	int timer;
	uint64_t begun;
	uint64_t next;
	uint64_t horizon;
	bool force;
	bool ended;
	char parts_text[64];
	char counters_text[512];
	char counts_text[256];
};

const char *power_number(const char *text, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	return end == text || errno ? NULL : end;
}

/* ------------------------------------------------------------ counters */

uint32_t power_counter(struct power *p, const char *name, const char *unit)
{
	struct power_name n = {.name = ""};
	unsigned int i;

	snprintf(n.name, sizeof(n.name), "%s", name);
	snprintf(n.unit, sizeof(n.unit), "%s", unit);
	for (i = 0; i < p->names; i++)
		if (!memcmp(&p->name[i], &n, sizeof(n)))
			return i + 1;
	if (i == POWER_COUNTERS) {
		p->count.dropped++;
		return 0;
	}
	p->name[p->names++] = n;
	return i + 1;
}

struct power_card *power_card_at(struct power *p, uint32_t device)
{
	unsigned int i;

	for (i = 0; i < p->cards; i++)
		if (p->card[i].device == device)
			return &p->card[i];
	return NULL;
}

void power_add_device(struct power *p, uint32_t device, const char *driver, const char *name)
{
	struct power_card *card = &p->card[p->cards];

	if (p->cards == POWER_CARDS) {
		p->count.dropped++;
		return;
	}
	*card = (struct power_card){.device = device};
	snprintf(card->node, sizeof(card->node), "%s", name);
	snprintf(card->driver, sizeof(card->driver), "%s", driver);
	p->cards++;
}

/* Packets contain the names that they use, once these are known. */
static int name_all(struct power *p, const struct power_series *s, uint64_t time)
{
	const struct power_name *n = &p->name[s->counter - 1];
	const struct power_card *card = power_card_at(p, s->device);
	int ret = grt_packer_name(p->packer, 0, time, GRT_NAME_COUNTER, s->counter, n->name, n->unit);

	if (!ret && card)
		ret = grt_packer_name(p->packer, 0, time, GRT_NAME_DEVICE, s->device, card->node,
				      card->driver);
	return ret;
}

static void write_value(struct power *p, struct power_series *s, uint64_t time, int64_t value,
			unsigned int flags)
{
	struct grt_ev_counter ev = {
		.e =
			{
				.time = time,
				.type = GRT_EV_COUNTER,
				.size = sizeof(ev),
				.flags = (uint16_t)(flags | (s->inferred ? GRT_FLAG_INFERRED : 0)),
				.engine = s->engine,
				.pid = s->pid,
				.tid = s->pid,
				.ring = GRT_RING_NONE,
				.device = s->device,
			},
		.counter = s->counter,
		.instance = s->pid,
		.value = value,
	};
	int ret = name_all(p, s, time);

	if (!ret)
		ret = grt_packer_add(p->packer, 0, &ev.e);
	s->written = time;
	p->count.values += !ret;
	p->count.late += ret == -ERANGE;
	if (ret && ret != -ERANGE)
		p->failed = ret;
}

/* Return: the time up to which its value was read; earlier values have been written already. */
static uint64_t power_seen(const struct power *p, const struct power_series *s)
{
	return s->seen > p->oldest ? s->seen : p->oldest;
}

void power_end(struct power *p, struct power_series *s)
{
	if (s->begun && s->written)
		write_value(p, s, power_seen(p, s), s->value, GRT_FLAG_ENDED);
	s->begun = false;
	s->written = 0;
}

/* Whether a value can be omitted because the previous one is still valid. */
static bool still_holds(const struct power *p, const struct power_series *s, uint64_t time, int64_t value)
{
	if (s->lazy && !s->written && !value)
		return true;
	return s->begun && s->value == value && !p->settle && !s->eager && time - s->written < REPEAT_NS;
}

void power_put(struct power *p, struct power_series *s, uint64_t time, int64_t value)
{
	if (!s->counter || p->looking)
		return;
	if (!still_holds(p, s, time, value)) {
		if (s->begun && s->seen > s->written && s->value != value)
			write_value(p, s, power_seen(p, s), s->value, 0);
		write_value(p, s, time, value, 0);
	}
	s->begun = true;
	s->value = value;
	s->seen = time;
}

/* ------------------------------------------------------------- set-up */

static void power_set_options(struct capture *c, const struct source_setup *setup)
{
	struct power *p = &c->p;

	p->pid = setup->pid;
	if (setup->comm)
		snprintf(p->comm, sizeof(p->comm), "%s", setup->comm);
	p->only = setup->gpu;
}

static void look_who_sleeps(struct power *p)
{
	char text[32];
	unsigned int i;

	for (i = 0; i < p->cards; i++)
		p->card[i].asleep =
			probe_read(text, sizeof(text), "/sys/class/%s/%s/device/power/runtime_status",
				   power_class(p->card[i].node), p->card[i].node) > 0 &&
			!strncmp(text, "suspend", 7);
}

/* Return: number of counters that can be read now, or -errno */
static int open_parts(struct capture *c, struct grt_err *err)
{
	struct grt_err first = {.what = ""}, why;
	int ret, n = 0;
	size_t i;

	look_who_sleeps(&c->p);
	for (i = 0; i < PARTS; i++) {
		why = (struct grt_err){.what = ""};
		ret = parts[i]->open(&c->part[i], &c->p, &why);
		c->here[i] = ret >= 0;
		n += ret > 0 ? ret : 0;
		if (ret == -ENOMEM)
			return grt_err_set(err, ret, NULL, NULL, "no memory for counters");
		if (why.what[0] && !first.what[0])
			first = why;
	}
	*err = first;
	return n;
}

static void close_parts(struct capture *c)
{
	size_t i;

	for (i = 0; i < PARTS; i++)
		parts[i]->close(c->part[i]);
	power_free_cards(&c->p);
}

static const char *cards_text(const struct power *p, char *text, size_t room)
{
	size_t used = 0;
	unsigned int i;

	text[0] = '\0';
	for (i = 0; i < p->cards && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, "%s%s (%s)", i ? ", " : "",
					 p->card[i].node,
					 p->card[i].driver[0] ? p->card[i].driver : "unknown driver");
	return text;
}

static int no_counters(const struct power *p, struct grt_err *err)
{
	char cards[128];

	if (err->what[0])
		return -ENODEV;
	if (p->denied)
		return grt_err_set(err, -EACCES, "only root may read the existing counters",
				   "the same command with sudo", "no counters of %s",
				   cards_text(p, cards, sizeof(cards)));
	if (p->cards)
		return grt_err_set(err, -ENODEV,
				   "its driver has no counters in sysfs, and no process uses it now",
				   "grtrace record -e power, once a program uses the GPU",
				   "no counters of %s", cards_text(p, cards, sizeof(cards)));
	return grt_err_set(err, -ENODEV, "there is no DRM device, and NVIDIA's driver is not loaded",
			   "load the GPU's driver (lspci -k names it), then the same command",
			   "no counters of a GPU");
}

static int power_probe(struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	struct grt_err why = {.what = ""};
	int ret;

	if (!c)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for counters");
	c->p.looking = true;
	power_find_cards(&c->p);
	ret = open_parts(c, &why);
	if (!ret)
		ret = no_counters(&c->p, &why);
	close_parts(c);
	free(c);
	if (ret < 0 && err)
		*err = why;
	return ret < 0 ? ret : 0;
}

static int make_timer(struct capture *c, struct grt_err *err)
{
	if (grt_packer_new(&c->p.packer, 1))
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for counters");
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (c->timer < 0)
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot make a timer for counters");
	return 0;
}

/* A card whose driver has nothing in sysfs may still report a process that is about to start. */
static int power_open(void **state, const struct source_setup *setup, struct grt_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	struct grt_err why = {.what = ""};
	int ret;

	*state = c;
	if (!c)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for counters");
	c->timer = -1;
	if (!grt_types_empty(&setup->types) && !grt_types_has(&setup->types, GRT_EV_COUNTER))
		return grt_err_set(err, -EINVAL, "--type excludes counters", "--type counter,...",
				   "no counters to record");
	power_find_cards(&c->p);
	power_set_options(c, setup);
	ret = open_parts(c, &why);
	if (!ret && !c->p.cards)
		ret = no_counters(&c->p, &why);
	if (ret < 0) {
		*err = why;
		return ret;
	}
	if (!ret && setup->note)
		setup->note("power: no counters yet; there may be some once processes use the GPU");
	return make_timer(c, err);
}

/* -------------------------------------------------------------- samples */

static void sample(struct capture *c, bool settle)
{
	uint64_t cpu = grt_clock_ns(CLOCK_THREAD_CPUTIME_ID), now = grt_now();
	size_t i;

	/*
	 * A value that is written late gets the time of the sample before this one, or of its end if all
	 * earlier packets have been written.
	 */
	c->p.oldest = c->horizon > c->begun ? c->horizon : c->begun;
	c->horizon = c->begun ? c->begun - 1 : 0;
	c->begun = now;
	c->p.settle = settle;
	look_who_sleeps(&c->p);
	for (i = 0; i < PARTS; i++)
		if (c->here[i])
			parts[i]->sample(c->part[i], &c->p);
	c->p.count.samples++;
	c->p.count.cpu += grt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	c->next = grt_now() + (grt_now() - now) * LOAD_LIMIT;
	if (settle)
		c->horizon = grt_now();
}

static void power_tick(struct capture *c, uint64_t ticks)
{
	if (grt_now() < c->next && c->next > c->begun + PERIOD_NS) {
		c->p.count.missed += ticks;
		return;
	}
	c->p.count.missed += ticks - 1;
	sample(c, false);
}

static int power_set_timer(struct capture *c, uint64_t first, struct grt_err *err)
{
	struct itimerspec t = {
		.it_value.tv_nsec = (long)first,
		.it_interval.tv_nsec = (long)PERIOD_NS,
	};

	if (timerfd_settime(c->timer, 0, &t, NULL))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot set the timer for counters");
	return 0;
}

static int power_start(void *state, struct grt_err *err)
{
	return power_set_timer(state, PERIOD_NS, err);
}

static void power_begins(void *state, uint64_t from)
{
	sample(state, false);
}

/* Other users' processes, and what hwmon shows only to root. */
static int power_confine(void *state, uint64_t *keep, struct grt_err *err)
{
	*keep |= 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH;
	return 0;
}

static unsigned int power_streams(void *state, struct pollfd *fds)
{
	struct capture *c = state;

	fds[0] = (struct pollfd){.fd = c->timer, .events = POLLIN};
	return 1;
}

static ssize_t power_read(void *state, unsigned int i, void *buf, size_t len)
{
	struct capture *c = state;
	struct grt_packer_counts counts = {.lost = c->p.count.late};
	enum grt_pack pack = c->ended ? GRT_PACK_ALL : c->force ? GRT_PACK_NOW : GRT_PACK_ENOUGH;
	uint64_t ticks;
	size_t n;

	if (!c->ended && read(c->timer, &ticks, sizeof(ticks)) == sizeof(ticks))
		power_tick(c, ticks);
	if (c->p.failed)
		return c->p.failed;
	n = grt_packer_read(c->p.packer, 0, buf, len, c->horizon, pack, &counts);
	if (!n)
		c->force = false;
	return n ? (ssize_t)n : c->ended ? 0 : -EAGAIN;
}

static int power_flush(void *state, struct grt_err *err)
{
	struct capture *c = state;

	if (c->ended)
		return 0;
	sample(c, true);
	c->force = true;
	return 0;
}

/* The timer makes the stream ready, also at the end. */
static int power_stop(void *state, struct grt_err *err)
{
	struct capture *c = state;
	int ret;

	if (c->ended)
		return 1;
	sample(c, true);
	c->ended = true;
	ret = power_set_timer(c, 1, err);
	return ret ? ret : 1;
}

/* ------------------------------------------------------------ recording */

static void parts_text(struct capture *c)
{
	size_t i, used = 0;

	c->parts_text[0] = '\0';
	for (i = 0; i < PARTS; i++)
		if (c->here[i])
			used += (size_t)snprintf(c->parts_text + used, sizeof(c->parts_text) - used, "%s%s",
						 used ? " " : "", parts[i]->name);
}

static void counters_text(struct capture *c)
{
	const struct power *p = &c->p;
	size_t used = 0;
	unsigned int i;

	c->counters_text[0] = '\0';
	for (i = 0; i < p->names && used < sizeof(c->counters_text); i++)
		used += (size_t)snprintf(c->counters_text + used, sizeof(c->counters_text) - used,
					 "%s%s [%s]", i ? ", " : "", p->name[i].name, p->name[i].unit);
}

static int power_describe(void *state, struct grt_env *env, int room)
{
	struct capture *c = state;
	const struct power_counts *n = &c->p.count;
	const struct grt_env all[] = {
		{"power_parts", c->parts_text},
		{"power_counters", c->counters_text},
		{"power_samples", c->counts_text},
	};
	int i;

	parts_text(c);
	counters_text(c);
	snprintf(
		c->counts_text, sizeof(c->counts_text),
		"period_ms=%llu samples=%llu missed=%llu values=%llu stopped=%llu dropped=%llu late=%llu cpu_us=%llu",
		PERIOD_NS / 1000000, (unsigned long long)n->samples, (unsigned long long)n->missed,
		(unsigned long long)n->values, (unsigned long long)n->stopped, (unsigned long long)n->dropped,
		(unsigned long long)n->late, (unsigned long long)n->cpu / 1000);
	for (i = 0; i < room && i < 3; i++)
		env[i] = all[i];
	return i;
}

static int power_close(void *state, struct grt_err *err)
{
	struct capture *c = state;

	if (!c)
		return 0;
	close_parts(c);
	grt_packer_free(c->p.packer);
	if (c->timer >= 0)
		close(c->timer);
	free(c);
	return 0;
}

const struct source source_power = {
	.name = "power",
	.background = true,
	.probe = power_probe,
	.open = power_open,
	.start = power_start,
	.begins = power_begins,
	.confine = power_confine,
	.streams = power_streams,
	.flush = power_flush,
	.read = power_read,
	.stop = power_stop,
	.describe = power_describe,
	.close = power_close,
};
