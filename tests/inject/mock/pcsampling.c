// SPDX-License-Identifier: GPL-2.0
/*
 * CUPTI's PC sampling over mock/sampling.c. MOCK_PC in the environment: refused, busy, unsupported, full (the
 * hardware's buffer is, in the second answer), lossy (7 samples of each answer are dropped, 3 are other
 * kernels'), slow (mock_samples.slow, and 10 ms to end, as PyTorch's 300 and 75 ms with CUDA 13.0). Where it
 * is full, cuptiPCSamplingDisable() does not return, nor where it meets a launch.
 */
#include "mock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INVALID 1

int cuptiPCSamplingEnable(struct cupti_pc_context *what);
int cuptiPCSamplingSetConfigurationAttribute(struct cupti_pc_settings *what);
int cuptiPCSamplingGetNumStallReasons(struct cupti_pc_count_reasons *what);
int cuptiPCSamplingGetStallReasons(struct cupti_pc_name_reasons *what);
int cuptiPCSamplingGetData(struct cupti_pc_get *what);
int cuptiPCSamplingDisable(struct cupti_pc_context *what);
int cuptiGetCubinCrc(struct cupti_crc *what);

static const struct {
	const char *how;
	int result;
} refusals[] = {{"refused", CUPTI_INSUFFICIENT_PRIVILEGES},
		{"busy", CUPTI_HARDWARE_BUSY},
		{"unsupported", CUPTI_NOT_SUPPORTED}};

static const char *const reasons[MOCK_REASONS] = {
	"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
	"smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
	"smsp__pcsamp_warps_issue_stalled_barrier",
	"smsp__pcsamp_warps_issue_stalled_barrier_not_issued",
};

static struct cupti_pc_data *last;
static unsigned int answers;
static bool full;
static bool serialized;

static bool is(const char *how)
{
	const char *wanted = getenv("MOCK_PC");

	return wanted && !strcmp(wanted, how);
}

static void pc_switch(bool on)
{
	pthread_mutex_lock(&mock_samples.lock);
	mock_samples.on = on;
	mock_samples.turn += on;
	pthread_mutex_unlock(&mock_samples.lock);
}

int cuptiPCSamplingEnable(struct cupti_pc_context *what)
{
	if (mock_samples.on || what->size != 24 || what->context != &mock)
		return INVALID;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (is(refusals[i].how))
			return refusals[i].result;
	mock_samples.slow = is("slow");
	mock_samples.late |= mock_samples.loaded && !mock_samples.looked;
	pc_switch(true);
	return 0;
}

int cuptiPCSamplingSetConfigurationAttribute(struct cupti_pc_settings *what)
{
	if (!mock_samples.on || what->size != 40)
		return INVALID;
	for (size_t i = 0; i < what->n; i++)
		if (what->setting[i].attribute == CUPTI_PC_BUFFER)
			last = what->setting[i].buffer;
		else if (what->setting[i].attribute == CUPTI_PC_MODE)
			serialized = what->setting[i].number == CUPTI_PC_SERIALIZED;
	return 0;
}

int cuptiPCSamplingGetNumStallReasons(struct cupti_pc_count_reasons *what)
{
	*what->n = MOCK_REASONS;
	return what->size == 32 ? 0 : INVALID;
}

int cuptiPCSamplingGetStallReasons(struct cupti_pc_name_reasons *what)
{
	if (what->size != 48 || what->n != MOCK_REASONS)
		return INVALID;
	for (size_t i = 0; i < MOCK_REASONS; i++) {
		what->number[i] = MOCK_REASON(i);
		strcpy(what->name[i], reasons[i]);
	}
	return 0;
}

/* Each sample is an instruction of its own; older CUPTI have a shorter one. */
static void fill(struct cupti_pc_data *d)
{
	size_t stride = mock.version >= 22 ? 64 : 56;
	struct mock_sample *s = mock_samples.sample;
	struct cupti_pc *pc;

	d->total = d->pcs = 0;
	pthread_mutex_lock(&mock_samples.lock);
	for (; mock_samples.n && d->pcs < d->room; d->pcs++, mock_samples.n--, s++) {
		pc = (struct cupti_pc *)((char *)d->pc + d->pcs * stride);
		if (pc->size != stride)
			abort();
		pc->cubin = s->cubin;
		pc->offset = s->offset;
		pc->function = (char *)s->function;
		pc->reasons = 1;
		if (stride == 64)
			pc->correlation = serialized ? s->correlation : 0;
		pc->reason[0] = (struct cupti_pc_reason){s->reason, s->samples};
		/* those of idle cycles are some of the others */
		d->total += s->reason % 2 == MOCK_REASON(0) % 2 ? s->samples : 0;
	}
	memmove(mock_samples.sample, s, mock_samples.n * sizeof(*s));
	d->left = mock_samples.n;
	pthread_mutex_unlock(&mock_samples.lock);
	d->dropped = d->pcs && is("lossy") ? 7 : 0;
	d->other = d->pcs && is("lossy") ? 3 : 0;
	if (mock_samples.blind) {
		d->other += (uint32_t)d->total;
		d->pcs = d->total = 0;
	}
	d->total += d->dropped + d->other;
	mock_samples.dropped += d->dropped;
	mock_samples.other += d->other;
}

int cuptiPCSamplingGetData(struct cupti_pc_get *what)
{
	if (!mock_samples.on || what->size != 32 || what->data->size != 80)
		return INVALID;
	if (mock_samples.slow) {
		pthread_mutex_lock(&mock_samples.cupti);
		pthread_mutex_unlock(&mock_samples.cupti);
	}
	full = full || (is("full") && answers > 1);
	if (full) {
		what->data->full = 1;
		return CUPTI_OUT_OF_MEMORY;
	}
	fill(what->data);
	answers += what->data->pcs > 0;
	return 0;
}

/* Once it waits for the context no launch may begin in it any more, as where it is to be written. */
static void wait_for_context(void)
{
	struct timespec moment = {.tv_nsec = 200000};

	pthread_mutex_lock(&mock_samples.cupti);
	nanosleep(&moment, NULL);
	pthread_rwlock_wrlock(&mock_samples.context);
	pthread_rwlock_unlock(&mock_samples.context);
	pthread_mutex_unlock(&mock_samples.cupti);
}

int cuptiPCSamplingDisable(struct cupti_pc_context *what)
{
	while (full)
		sleep(1);
	if (!mock_samples.on || what->size != 24)
		return INVALID;
	if (mock_samples.slow)
		usleep(10000);
	mock_samples.blind |= !mock_samples.looked;
	wait_for_context();
	pc_switch(false);
	if (last)
		fill(last);
	return 0;
}

int cuptiGetCubinCrc(struct cupti_crc *what)
{
	what->crc = mock_crc(what->cubin, what->bytes);
	return what->size == 32 ? 0 : INVALID;
}
