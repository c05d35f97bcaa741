// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * See say.h. The format is rewritten with the parts that fit the integers among the arguments; vsnprintf()
 * does the rest.
 */
#include "say.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/**
 * struct count - the last integer
 * @known: there was one
 * @one: it is 1
 */
struct count {
	bool known;
	bool one;
};

/* An integer of the size that the letters before its conversion give it. */
static bool next_is_one(const char *length, va_list *ap)
{
	if (!strncmp(length, "ll", 2))
		return va_arg(*ap, unsigned long long) == 1;
	if (*length == 'l')
		return va_arg(*ap, unsigned long) == 1;
	if (*length == 'z' || *length == 't')
		return va_arg(*ap, size_t) == 1;
	if (*length == 'j')
		return va_arg(*ap, uintmax_t) == 1;
	return va_arg(*ap, unsigned int) == 1;
}

/* Takes the argument of the conversion that begins after a "%". Return: the text after the conversion */
static const char *take_argument(const char *p, struct count *n, va_list *ap)
{
	const char *length;

	for (; *p && strchr("-+ #0.123456789*'", *p); p++)
		if (*p == '*')
			va_arg(*ap, int);
	length = p;
	p += strspn(p, "hljzt");
	if (!*p)
		return p;
	if (strchr("diuxXo", *p)) {
		n->one = next_is_one(length, ap);
		n->known = true;
	} else if (*p == 'c') {
		va_arg(*ap, int);
	} else if (strchr("fFeEgGaA", *p)) {
		va_arg(*ap, double);
	} else if (*p == 's' || *p == 'p') {
		va_arg(*ap, void *);
	}
	return p + 1;
}

static void say_put(char *to, size_t *used, const char *text, size_t length)
{
	if (length > GRT_SAY_FORMAT - 1 - *used)
		length = GRT_SAY_FORMAT - 1 - *used;
	memcpy(to + *used, text, length);
	*used += length;
}

/*
 * Writes the part of "{one|many}" at @p that fits the number. Return: the text after it; NULL: @p is
 * something else
 */
static const char *put_choice(char *to, size_t *used, const char *p, const struct count *n)
{
	const char *end = strchr(p, '}'), *bar = end ? memchr(p, '|', (size_t)(end - p)) : NULL;

	if (!bar || !n->known)
		return NULL;
	if (n->one)
		say_put(to, used, p + 1, (size_t)(bar - p) - 1);
	else
		say_put(to, used, bar + 1, (size_t)(end - bar) - 1);
	return end + 1;
}

/* @ap: NULL: the text has no conversions */
static void choose(char *to, const char *p, struct count n, va_list *ap)
{
	const char *after;
	size_t used = 0;

	for (; *p; p = after) {
		after = *p == '{' ? put_choice(to, &used, p, &n) : NULL;
		if (after)
			continue;
		after = *p == '%' && ap ? take_argument(p + 1, &n, ap) : p + 1;
		say_put(to, &used, p, (size_t)(after - p));
	}
	to[used] = '\0';
}

int grt_say_text_va(char *text, size_t room, const char *fmt, va_list ap)
{
	char chosen[GRT_SAY_FORMAT];
	va_list looked;

	va_copy(looked, ap);
	choose(chosen, fmt, (struct count){.known = false}, &looked);
	va_end(looked);
	return vsnprintf(text, room, chosen, ap);
}

int grt_say_text(char *text, size_t room, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = grt_say_text_va(text, room, fmt, ap);
	va_end(ap);
	return ret;
}

const char *grt_say_count(char *text, size_t room, uint64_t n, const char *of)
{
	char chosen[GRT_SAY_FORMAT];

	choose(chosen, of, (struct count){.known = true, .one = n == 1}, NULL);
	snprintf(text, room, "%" PRIu64 " %s", n, chosen);
	return text;
}

int grt_say(FILE *out, const char *fmt, ...)
{
	char chosen[GRT_SAY_FORMAT];
	va_list ap, looked;
	int ret;

	va_start(ap, fmt);
	va_copy(looked, ap);
	choose(chosen, fmt, (struct count){.known = false}, &looked);
	va_end(looked);
	ret = vfprintf(out, chosen, ap);
	va_end(ap);
	return ret;
}

void grt_note(struct grt_notes *n, const char *fmt, ...)
{
	va_list ap;

	if (n->n == GRT_NOTES_MAX)
		return;
	va_start(ap, fmt);
	grt_say_text_va(n->text[n->n++], sizeof(n->text[0]), fmt, ap);
	va_end(ap);
}
