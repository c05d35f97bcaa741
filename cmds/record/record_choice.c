// SPDX-License-Identifier: GPL-2.0
/* Which sources take part: the words of -e, and the options that belong to one source. */
#include <stdlib.h>
#include <string.h>

#include "sources/source.h"
#include "cmds/cmd.h"
#include "record_choice.h"
#include "record_options.h"

#define GRT_SOURCE(name, help) #name ", "
static const char choice_names[] =
#include "sources/sources.def"
	"auto";
#undef GRT_SOURCE

const struct cmd_opt *record_option_given(const struct source *source)
{
	for (const struct cmd_opt *o = source->options; o && o->name; o++)
		if (cmd_opt_given(o))
			return o;
	return NULL;
}

/* If no source is named, an option that only one source has, or --duty, may select that source. */
static enum choice choice_by_auto(const struct source *source)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (all_sources[i]->alone && (record_opt.duty_text || record_option_given(all_sources[i])))
			return source == all_sources[i] ? CHOICE_NAMED : CHOICE_NO;
	return source->by_name ? CHOICE_NO : CHOICE_AUTO;
}

/* A word of -e; the text after a name and a colon is for the source. */
static bool choice_is_source(const struct source *source, const char *word, size_t length)
{
	size_t name = strlen(source->name);

	if (source->word && length > name && word[name] == ':')
		length = name;
	return name == length && !strncmp(word, source->name, length);
}

static enum choice choice_parse(const struct source *source, bool *unknown)
{
	const char *p = record_opt.sources ?: "auto";
	enum choice choice = CHOICE_NO;
	size_t length, i;

	for (; *p; p += length + (p[length] == ',')) {
		length = strcspn(p, ",");
		if (length == 4 && !strncmp(p, "auto", 4)) {
			if (choice == CHOICE_NO)
				choice = choice_by_auto(source);
			continue;
		}
		for (i = 0; i < SOURCES; i++)
			if (choice_is_source(all_sources[i], p, length))
				break;
		*unknown |= i == SOURCES;
		if (i < SOURCES && all_sources[i] == source)
			choice = CHOICE_NAMED;
	}
	return choice;
}

enum choice record_choice(const struct source *source)
{
	bool unknown = false;

	return choice_parse(source, &unknown);
}

/* Takes the text after the names of sources; the texts live until the end of the program. */
static int choice_take_words(void)
{
	static char *list;
	char *next, *word, *colon;
	const char *why;

	free(list);
	next = list = record_opt.sources ? strdup(record_opt.sources) : NULL;
	while ((word = strsep(&next, ",")))
		for (size_t i = 0; (colon = strchr(word, ':')) && i < SOURCES; i++) {
			if (!all_sources[i]->word || !choice_is_source(all_sources[i], word, strlen(word)))
				continue;
			why = all_sources[i]->word(colon + 1);
			if (why)
				return cmd_usage_error("-e %s: %s", all_sources[i]->name, why);
			break;
		}
	return EXIT_DONE;
}

static int choice_check_names(void)
{
	bool unknown = false, any = false;
	size_t i;

	for (i = 0; i < SOURCES; i++)
		any |= choice_parse(all_sources[i], &unknown) != CHOICE_NO;
	if (unknown || !any)
		return cmd_usage_error("-e %s: not a list of sources (there are: %s)", record_opt.sources,
				       choice_names);
	return EXIT_DONE;
}

/* Notes sources that were named and record all GPUs. */
static void choice_note_all_gpus(void)
{
	const struct source *const *s;
	char text[256];

	for (s = all_sources; s < all_sources + SOURCES; s++) {
		if (!(*s)->all_gpus || record_choice(*s) != CHOICE_NAMED)
			continue;
		snprintf(text, sizeof(text), "--device has no effect on the source %s, which records %s",
			 (*s)->name, (*s)->all_gpus);
		cmd_tell("record", text);
	}
}

/* Notes sources that were named and do not obey --duty. */
static void choice_note_uncut(void)
{
	const struct source *const *s;
	char text[128];

	for (s = all_sources; s < all_sources + SOURCES; s++) {
		if ((*s)->duty || record_choice(*s) != CHOICE_NAMED)
			continue;
		snprintf(text, sizeof(text),
			 "--duty has no effect on the source %s, which is recorded all the time", (*s)->name);
		cmd_tell("record", text);
	}
}

/* Refuses options of sources that do not take part, and options that exclude each other. */
static int choice_check_options(void)
{
	const struct source_setup setup = {.pid = record_opt.pid == OPT_GPU_USERS ? 0 : (pid_t)record_opt.pid,
					   .gpu_users = record_opt.pid == OPT_GPU_USERS,
					   .taken = record_opt.last > 0 || record_in_segments(),
					   .duty = record_opt.duty_text ? &record_opt.duty : NULL,
					   .types = record_opt.types};
	const struct source *const *s;
	const struct cmd_opt *o;
	bool duty = false, obeys;
	const char *why;

	for (s = all_sources; s < all_sources + SOURCES; s++) {
		o = record_option_given(*s);
		if (o && record_choice(*s) != CHOICE_NAMED)
			return cmd_usage_error(
				"--%s needs the source %s: add it to -e, or leave out the option", o->name,
				(*s)->name);
		obeys = record_opt.duty_text && (*s)->duty && record_choice(*s) == CHOICE_NAMED;
		duty |= obeys;
		why = (o || obeys) && (*s)->refuse ? (*s)->refuse(&setup) : NULL;
		if (why)
			return cmd_usage_error("%s", why);
	}
	if (record_opt.duty_text && !duty)
		return cmd_usage_error(
			"--duty needs one of the sources cuda, drm and ioctl: add one to -e, or leave out the option");
	if (record_opt.duty_text)
		choice_note_uncut();
	if (record_opt.device)
		choice_note_all_gpus();
	return EXIT_DONE;
}

int record_choice_check(void)
{
	int status = choice_take_words();

	if (status == EXIT_DONE)
		status = choice_check_names();
	return status == EXIT_DONE ? choice_check_options() : status;
}
