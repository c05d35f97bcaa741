// SPDX-License-Identifier: GPL-2.0
/*
 * What the self-tests have in common, see suite.h.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/event_table.h>

#include "suite.h"

bool capture_all(struct capture *c)
{
	int err = kmod_write("control", "stop");

	if (!err)
		err = capture_file(c, "trace_pipe");
	if (err)
		TAP_FAIL("reading trace_pipe: %s", strerror(-err));
	return !err && capture_valid(c);
}

bool balance_is(uint64_t delivered, enum grt_fate fate, uint64_t n)
{
	struct grt_balance b = kmod_balance("total");
	uint64_t names = kmod_delivered("name"), want, sum = 0;
	int i;

	for (i = 0; i < GRT_FATES; i++) {
		want = i == (int)fate ? n : 0;
		if (i == GRT_FATE_DELIVERED)
			want = delivered + names;
		sum += b.fate[i];
		if (b.fate[i] == want)
			continue;
		TAP_FAIL("%s is %llu, not %llu", grt_fate_names[i], (unsigned long long)b.fate[i],
			 (unsigned long long)want);
		return false;
	}
	if (b.emitted != sum)
		TAP_FAIL("the balance does not close: %llu emitted, %llu accounted for",
			 (unsigned long long)b.emitted, (unsigned long long)sum);
	return b.emitted == sum;
}

/* The last packet of each CPU says how it stood at the end. */
static void sum_packets(const struct capture *c, struct grt_balance *sum)
{
	const struct grt_packet *p = NULL;
	int i;

	memset(sum, 0, sizeof(*sum));
	while ((p = capture_packet(c, p))) {
		sum->emitted += p->end.emitted - p->begin.emitted;
		for (i = 0; i < GRT_FATES; i++)
			sum->fate[i] += p->end.fate[i] - p->begin.fate[i];
	}
}

static bool fates_are(const char *where, const struct grt_balance *is, const struct grt_balance *want,
		      uint64_t names)
{
	uint64_t sum = 0, n;
	int i;

	for (i = 0; i < GRT_FATES; i++) {
		n = want->fate[i] + (i == GRT_FATE_DELIVERED ? names : 0);
		sum += n;
		if (is->fate[i] == n)
			continue;
		TAP_FAIL("%s: %s is %llu, not %llu", where, grt_fate_names[i],
			 (unsigned long long)is->fate[i], (unsigned long long)n);
		return false;
	}
	if (is->emitted != sum)
		TAP_FAIL("%s: %llu emitted, %llu accounted for", where, (unsigned long long)is->emitted,
			 (unsigned long long)sum);
	return is->emitted == sum;
}

bool counts_are(const struct capture *c, const struct grt_balance *want)
{
	struct grt_balance stats = kmod_balance("total"), packets;
	uint64_t names = capture_count(c, GRT_EV_NAME);

	sum_packets(c, &packets);
	if (!fates_are("stats", &stats, want, names) || !fates_are("packets", &packets, want, names))
		return false;
	if (capture_count(c, 0) == want->fate[GRT_FATE_DELIVERED] + names)
		return true;
	TAP_FAIL("not as many records as delivered");
	return false;
}

const struct grt_event *capture_next(const struct capture *c, const struct grt_packet **p,
				     const struct grt_event *e)
{
	if (!e)
		*p = capture_packet(c, NULL);
	while (*p) {
		e = capture_record(*p, e);
		if (e && e->type != GRT_EV_NAME)
			return e;
		if (!e)
			*p = capture_packet(c, *p);
	}
	return NULL;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	while (nanosleep(&ts, &ts))
		;
}

/* A case that failed has left its files open, and its streams with them. */
static void before_case(void)
{
	int fd;

	for (fd = STDERR_FILENO + 1; fd < 64; fd++)
		close(fd);
	kmod_reset();
}

bool set(const char *setting)
{
	int err = kmod_config("%s", setting);

	if (err)
		TAP_FAIL("%s gives %d", setting, err);
	return !err;
}

bool short_job(unsigned int ctx)
{
	uint64_t begin = kmod_now();
	int err = kmod_emit("submit ring=3 ctx=%u\nend ctx=%u\ncomplete ctx=%u", ctx, ctx, ctx);

	if (err)
		TAP_FAIL("emitting a job gives %d", err);
	else if (kmod_now() - begin > 900000000)
		tap_skip("this machine is too slow: a short job took a second");
	else
		return true;
	return false;
}

int suite_main(const char *name, const char *stage, const struct tap_case *cases, unsigned int count,
	       int argc, char **argv)
{
	const char *missing = kmod_missing();
	char value[2048];
	int status;

	if (argc > 2) {
		fprintf(stderr, "Usage: %s [PART OF A TITLE]\n", name);
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	if (stage && !kmod_config_get(stage, value, sizeof(value)))
		return tap_skip_all("the stage of key %s is not loaded: modprobe grtrace", stage);
	if (kmod_stat("reader_pid", NULL))
		return tap_skip_all("process %llu reads the trace: stop it first",
				    (unsigned long long)kmod_stat("reader_pid", NULL));
	status = tap_run(cases, count, before_case, argv[1]);
	before_case();
	return status;
}
