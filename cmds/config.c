// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace config: shows the module's settings and sets them. What a key takes
 * stands in control.def; the module checks it.
 */
#include <stdlib.h>
#include <string.h>

#include "../sources/kmod.h"
#include "cmd.h"

static void show_key(const struct kmod_key *key, const char *value)
{
	char range[96];
	const char *other;
	unsigned int i;

	kmod_key_range(key, range, sizeof(range));
	printf("%s=", key->name);
	cmd_put_text(stdout, value);
	/* What cannot be set has no range and no default. */
	if (strcmp(key->max, "0"))
		printf("\n    default %s, takes %s%s%s", key->kind == KMOD_LIST ? "empty" : key->def, range,
		       *key->unit ? " " : "", key->unit);
	if (strstr(key->flags, "STOPPED"))
		printf(", only while tracing is off");
	printf("\n    %s", key->help);
	for (i = 0; (other = kmod_key_alias(key, i)); i++)
		printf("%s%s", i ? ", " : "\n    also called: ", other);
	putchar('\n');
}

static int show_all(struct kmod *kmod, struct grt_err *err)
{
	const struct kmod_key *key;
	char value[4096];
	char *text = kmod_read(kmod, "config", err);

	if (!text)
		return cmd_error(EXIT_FAILED, err);
	for (key = kmod_keys; key->name; key++)
		if (kmod_line(text, key->name, value, sizeof(value)))
			show_key(key, value);
	free(text);
	return EXIT_DONE;
}

static int show_one(struct kmod *kmod, const struct kmod_key *key, struct grt_err *err)
{
	char value[4096];
	int ret = kmod_get(kmod, key->name, value, sizeof(value), err);

	if (ret)
		return cmd_error(kmod_exit_status(ret), err);
	cmd_put_text(stdout, value);
	putchar('\n');
	return EXIT_DONE;
}

/* KEY or KEY=VALUE, whose names are known to be right. */
static int one_argument(struct kmod *kmod, char *arg, struct grt_err *err)
{
	char *value = strchr(arg, '=');
	int ret;

	if (!value)
		return show_one(kmod, kmod_key_find(arg), err);
	*value++ = '\0';
	/* The spelling that was typed is what the module is asked for: it knows them all. */
	ret = kmod_set(kmod, arg, value, err);
	return ret ? cmd_error(kmod_exit_status(ret), err) : EXIT_DONE;
}

static int check_name(const char *arg)
{
	struct cmd_guess best = {0};
	const struct kmod_key *key;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(arg, "="), arg);
	if (kmod_key_find(name))
		return EXIT_DONE;
	for (key = kmod_keys; key->name; key++)
		cmd_nearest(&best, name, key->name);
	if (best.name)
		return cmd_usage_error("unknown key '%s' (did you mean %s?)", name, best.name);
	return cmd_usage_error("unknown key '%s'", name);
}

/* Nothing is set unless every name is right. */
static int config_run(int argc, char **argv)
{
	struct grt_err err = {0};
	struct kmod kmod;
	int ret, i, status = EXIT_DONE;

	for (i = 0; i < argc && status == EXIT_DONE; i++)
		status = check_name(argv[i]);
	if (status != EXIT_DONE)
		return status;
	ret = kmod_open(&kmod, &err);
	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	if (!argc)
		status = show_all(&kmod, &err);
	for (i = 0; i < argc && status == EXIT_DONE; i++)
		status = one_argument(&kmod, argv[i], &err);
	kmod_close(&kmod);
	return status == EXIT_DONE ? cmd_close_stdout() : status;
}

const struct cmd cmd_config = {.usage = "[KEY[=VALUE]...]", .run = config_run};
