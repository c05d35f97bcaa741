// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of the module and those in its packets are the same: they rise from the last `clear` on, for
 * each CPU by itself. The counts of a CPU when capture begins must be those at which its first packet begins,
 * or less; the counts at the end must be those at which its last packet ends, or more. Packets that are
 * missing in between are found by the reader from their numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "trace/packet.h"
#include "kmod.h"
#include "kmod_tally.h"

/* Number of counts of a balance: all fates, and emitted. */
#define COUNTS (sizeof(struct grt_balance) / sizeof(uint64_t))

/**
 * struct tally_cpu - a CPU's counts
 * @skipped: from when capture began to the first packet
 * @to: after the last packet; before one, when capture began
 * @any: there was a packet
 */
struct tally_cpu {
	uint64_t skipped[COUNTS];
	uint64_t to[COUNTS];
	bool any;
};

struct kmod_tally {
	struct tally_cpu *cpu;
	unsigned int cpus;
	bool no_memory;
};

static struct tally_cpu *kmod_tally_find(struct kmod_tally *t, unsigned int number)
{
	struct tally_cpu *grown;
	unsigned int cpus = t->cpus;

	if (number < cpus)
		return &t->cpu[number];
	grown = number < GRT_CPU_MAX ? realloc(t->cpu, (number + 1) * sizeof(*grown)) : NULL;
	if (!grown) {
		t->no_memory = true;
		return NULL;
	}
	memset(grown + cpus, 0, (number + 1 - cpus) * sizeof(*grown));
	t->cpu = grown;
	t->cpus = number + 1;
	return &grown[number];
}

/* Finds the next line `cpuN ...` from @text on. Return: the text after it, NULL: there is none */
static const char *kmod_tally_next_cpu(const char *text, unsigned int *cpu, uint64_t counts[COUNTS])
{
	struct grt_balance b;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (sscanf(text, "cpu%u ", cpu) != 1)
			continue;
		kmod_balance_line(text, &b);
		memcpy(counts, &b, sizeof(b));
		text += strcspn(text, "\n");
		return text + (*text == '\n');
	}
	return NULL;
}

struct kmod_tally *kmod_tally_new(const char *stats)
{
	struct kmod_tally *t = calloc(1, sizeof(*t));
	uint64_t counts[COUNTS];
	struct tally_cpu *c;
	unsigned int cpu;

	while (t && (stats = kmod_tally_next_cpu(stats, &cpu, counts))) {
		c = kmod_tally_find(t, cpu);
		if (!c)
			break;
		memcpy(c->to, counts, sizeof(counts));
	}
	return t;
}

void kmod_tally_take(struct kmod_tally *t, const struct grt_packet *p)
{
	struct tally_cpu *c = kmod_tally_find(t, p->cpu_id);
	uint64_t begin[COUNTS];

	if (!c)
		return;
	memcpy(begin, &p->begin, sizeof(begin));
	for (size_t i = 0; !c->any && i < COUNTS; i++)
		c->skipped[i] = begin[i] > c->to[i] ? begin[i] - c->to[i] : 0;
	memcpy(c->to, &p->end, sizeof(c->to));
	c->any = true;
}

/* Computes the missing events of one CPU. Return: events that were delivered */
static uint64_t missed_of(const struct kmod_tally *t, unsigned int cpu, const uint64_t now[COUNTS],
			  uint64_t missed[COUNTS])
{
	static const struct tally_cpu none;
	const struct tally_cpu *c = cpu < t->cpus ? &t->cpu[cpu] : &none;
	struct grt_balance b;

	for (size_t i = 0; i < COUNTS; i++)
		missed[i] = c->skipped[i] + (now[i] > c->to[i] ? now[i] - c->to[i] : 0);
	memcpy(&b, missed, sizeof(b));
	return b.fate[GRT_FATE_DELIVERED];
}

void kmod_tally_missed(const struct kmod_tally *t, const char *stats, struct grt_balance *missed)
{
	uint64_t now[COUNTS], more[COUNTS], sum[COUNTS] = {0};
	unsigned int cpu;

	*missed = (struct grt_balance){0};
	if (t->no_memory)
		return;
	while ((stats = kmod_tally_next_cpu(stats, &cpu, now))) {
		missed_of(t, cpu, now, more);
		for (size_t i = 0; i < COUNTS; i++)
			sum[i] += more[i];
	}
	memcpy(missed, sum, sizeof(sum));
}

void kmod_tally_cpus(const struct kmod_tally *t, const char *stats, char *text, size_t room)
{
	uint64_t now[COUNTS], more[COUNTS], n;
	unsigned int cpu;
	size_t used = 0;

	text[0] = '\0';
	while (used < room && (stats = kmod_tally_next_cpu(stats, &cpu, now))) {
		n = missed_of(t, cpu, now, more);
		if (n)
			used += (size_t)snprintf(text + used, room - used, "%s%llu of CPU %u",
						 used ? ", " : "", (unsigned long long)n, cpu);
	}
}

void kmod_tally_free(struct kmod_tally *t)
{
	if (t)
		free(t->cpu);
	free(t);
}
