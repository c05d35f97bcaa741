// SPDX-License-Identifier: GPL-2.0
/* Seccomp filters, see seccomp.h. */
#include "seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif
#define THIS_ARCH AUDIT_ARCH_X86_64
/* A filter that branches at unknown values so often is not followed to its end. */
#define STEPS_MAX 200000U
#define ARGS 6
#define FILTERS_MAX 1024UL

/** struct argument - one that is known, but for the upper half of a negative @value */
struct argument {
	unsigned int number;
	uint32_t value;
};

/** struct call - @may_fail: 0, 1, or the only errno with which it may fail */
struct call {
	const char *name;
	uint32_t number;
	int may_fail;
	struct argument known[ARGS + 1];
	unsigned int n;
};

static const struct call calls[] = {
#define X(name, may_fail, known) \
	{#name, SYS_##name, may_fail, known, sizeof((struct argument[])known) / sizeof(struct argument)},
#include "seccomp_calls.def"
};

/** struct value - a word of the filter's machine; unknown: it comes from an argument that is not known */
struct value {
	uint32_t word;
	bool known;
};

/** struct machine - @at: the next instruction */
struct machine {
	struct value a, x, memory[BPF_MEMWORDS];
	size_t at;
};

/**
 * struct trial - a filter for a call
 * @steps: instructions so far, of all ways through the filter
 * @worst: the action that is least welcome
 */
struct trial {
	const struct sock_filter *code;
	size_t n;
	const struct call *call;
	unsigned int steps;
	uint32_t worst;
	bool bad;
};

static struct value trial_argument(const struct call *c, unsigned int number, bool high)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (c->known[i].number == number)
			return (struct value){high ? 0 : c->known[i].value,
					      !high || (int32_t)c->known[i].value >= 0};
	return (struct value){0, false};
}

/* A word of struct seccomp_data. */
static struct value trial_load(const struct call *c, uint32_t offset)
{
	if (offset == offsetof(struct seccomp_data, nr))
		return (struct value){c->number, true};
	if (offset == offsetof(struct seccomp_data, arch))
		return (struct value){THIS_ARCH, true};
	if (offset < offsetof(struct seccomp_data, args))
		return (struct value){0, false};
	offset -= offsetof(struct seccomp_data, args);
	return trial_argument(c, offset / 8, offset % 8);
}

static bool trial_compute(uint16_t how, struct value *a, struct value b)
{
	a->known = a->known && b.known;
	switch (how) {
	case BPF_ADD:
		a->word += b.word;
		return true;
	case BPF_SUB:
		a->word -= b.word;
		return true;
	case BPF_MUL:
		a->word *= b.word;
		return true;
	case BPF_DIV:
		a->word = b.word ? a->word / b.word : 0;
		return true;
	case BPF_AND:
		a->word &= b.word;
		return true;
	case BPF_OR:
		a->word |= b.word;
		return true;
	case BPF_XOR:
		a->word ^= b.word;
		return true;
	case BPF_LSH:
		a->word = b.word < 32 ? a->word << b.word : 0;
		return true;
	case BPF_RSH:
		a->word = b.word < 32 ? a->word >> b.word : 0;
		return true;
	case BPF_NEG:
		a->word = -a->word;
		return true;
	default:
		return false;
	}
}

static bool trial_holds(uint16_t how, uint32_t a, uint32_t b)
{
	switch (how) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b;
	}
}

/* Loads and stores. Return: whether the instruction is one */
static bool trial_move(const struct trial *t, struct machine *m, const struct sock_filter *i)
{
	struct value *to = BPF_CLASS(i->code) == BPF_LDX || BPF_CLASS(i->code) == BPF_STX ? &m->x : &m->a;

	if (i->k >= BPF_MEMWORDS && (BPF_CLASS(i->code) >= BPF_ST || BPF_MODE(i->code) == BPF_MEM))
		return false;
	if (BPF_CLASS(i->code) >= BPF_ST)
		m->memory[i->k] = *to;
	else if (BPF_MODE(i->code) == BPF_ABS)
		*to = trial_load(t->call, i->k);
	else if (BPF_MODE(i->code) == BPF_IMM)
		*to = (struct value){i->k, true};
	else if (BPF_MODE(i->code) == BPF_MEM)
		*to = m->memory[i->k];
	else if (BPF_MODE(i->code) == BPF_LEN)
		*to = (struct value){sizeof(struct seccomp_data), true};
	else
		return false;
	return true;
}

static bool action_is_welcome(const struct call *c, uint32_t action)
{
	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:
		return c->may_fail == 1 ||
		       (c->may_fail && (action & SECCOMP_RET_DATA) == (uint32_t)c->may_fail);
	default:
		return false;
	}
}

/* An action that is not welcome is kept; the kernel takes the least one, too, with the sign. */
static void trial_return(struct trial *t, struct value action)
{
	uint32_t word = action.known ? action.word : SECCOMP_RET_KILL_PROCESS;

	if (action_is_welcome(t->call, word) || (t->bad && (int32_t)word > (int32_t)t->worst))
		return;
	t->worst = word;
	t->bad = true;
}

static bool trial_run(struct trial *t, struct machine m);

/* Return: false: it is not understood; else the machine is where it goes on */
static bool trial_jump(struct trial *t, struct machine *m, const struct sock_filter *i)
{
	struct value b = BPF_SRC(i->code) == BPF_X ? m->x : (struct value){i->k, true};
	struct machine other;

	if (BPF_OP(i->code) == BPF_JA) {
		m->at += i->k;
		return true;
	}
	if (m->a.known && b.known) {
		m->at += trial_holds(BPF_OP(i->code), m->a.word, b.word) ? i->jt : i->jf;
		return true;
	}
	other = *m;
	other.at += i->jf;
	m->at += i->jt;
	return trial_run(t, other);
}

/* All ways from here to the end of the filter. Return: false: it is not understood, or too long */
static bool trial_run(struct trial *t, struct machine m)
{
	while (m.at < t->n && t->steps++ < STEPS_MAX) {
		const struct sock_filter *i = &t->code[m.at++];
		struct value b = BPF_SRC(i->code) == BPF_X ? m.x : (struct value){i->k, true};
		bool understood = true;

		switch (BPF_CLASS(i->code)) {
		case BPF_RET:
			trial_return(t, BPF_RVAL(i->code) == BPF_A ? m.a : (struct value){i->k, true});
			return true;
		case BPF_JMP:
			understood = trial_jump(t, &m, i);
			break;
		case BPF_ALU:
			understood = trial_compute(BPF_OP(i->code), &m.a, b);
			break;
		case BPF_MISC:
			*(BPF_MISCOP(i->code) == BPF_TAX ? &m.x : &m.a) =
				BPF_MISCOP(i->code) == BPF_TAX ? m.a : m.x;
			break;
		default:
			understood = trial_move(t, &m, i);
		}
		if (!understood)
			return false;
	}
	return false;
}

static const char *action_text(uint32_t action)
{
	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ERRNO:
		return "makes %s fail";
	case SECCOMP_RET_TRAP:
		return "sends it SIGSYS for %s";
	case SECCOMP_RET_USER_NOTIF:
	case SECCOMP_RET_TRACE:
		return "leaves %s to another process";
	default:
		return "kills it for %s";
	}
}

/*
 * seccomp_judge - runs one filter for each of the calls
 * @why: what it does for which call
 * Return: 0, or -EPERM with @why
 */
static int seccomp_judge(const struct sock_filter *code, size_t n, char why[SECCOMP_WHY])
{
	char what[64];

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trial t = {.code = code, .n = n, .call = &calls[i]};
		struct machine m = {.a = {0, true}, .x = {0, true}};

		if (!trial_run(&t, m))
			trial_return(&t, (struct value){0, false});
		if (!t.bad)
			continue;
		snprintf(what, sizeof(what), action_text(t.worst), calls[i].name);
		snprintf(why, SECCOMP_WHY, "its seccomp filter %s, which recording needs", what);
		return -EPERM;
	}
	return 0;
}

/* Return: instructions at *@code, to be freed; 0: there is no filter of this number; or -errno */
static long filter_read(pid_t tid, unsigned long number, struct sock_filter **code)
{
	long n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, number, NULL), ret;

	if (n <= 0)
		return !n || errno == ENOENT ? 0 : -errno;
	*code = calloc((size_t)n, sizeof(**code));
	if (!*code)
		return -ENOMEM;
	ret = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, number, *code);
	if (ret == n)
		return n;
	ret = ret < 0 ? -errno : -EAGAIN;
	free(*code);
	return ret;
}

int seccomp_check(pid_t tid, char why[SECCOMP_WHY])
{
	for (unsigned long number = 0; number < FILTERS_MAX; number++) {
		struct sock_filter *code = NULL;
		long n = filter_read(tid, number, &code);
		int ret;

		if (n <= 0)
			return (int)n;
		ret = seccomp_judge(code, (size_t)n, why);
		free(code);
		if (ret)
			return ret;
	}
	return -E2BIG;
}

#endif
