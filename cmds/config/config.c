// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace config: shows the module's settings and sets them: all that were requested, or none. control.def
 * has the values that a key accepts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <grtrace/control.h>

#include "base/memfile.h"
#include "cmds/cmd.h"
#include "cmds/outfile.h"
#include "kmod/kmod_settings.h"
#include "table/json_cells.h"
#include "table/table.h"

/* The row of a key as typed. Return: NULL with "unknown key" and the most similar key in *@err */
static const struct kmod_key *config_key(const char *name, struct grt_err *err)
{
	const struct kmod_key *row = kmod_key_find(name), *key;
	struct cmd_guess best = {0};
	const char *other;
	unsigned int i;

	if (row)
		return row;
	for (key = kmod_keys; key->name; key++) {
		cmd_nearest(&best, name, key->name);
		for (i = 0; (other = kmod_key_alias(key, i)); i++)
			cmd_nearest(&best, name, other);
	}
	grt_err_set(err, -EINVAL, NULL, "grtrace config, which shows every key",
		    best.name ? "unknown key '%.100s' (did you mean %s?)" : "unknown key '%.100s'", name,
		    best.name);
	return NULL;
}

/* ----------------------------------------------------------- config file */

/*
 * Settings of the module in a file, a line `key=value` each. Empty lines and lines that begin with # are
 * ignored. Reading a file only fills a list.
 */

/* The first line of a file that grtrace wrote. */
#define HEAD "# settings of the kernel module grtrace"

/* Longest line; the longest value is a watch list. */
#define LINE_ROOM 4096

/* ------------------------------------------------------------- writing */

/* A file of the user with other contents is not replaced. Return: 0 or -errno */
static int config_file_check_target(const char *path, struct grt_err *err)
{
	char head[sizeof(HEAD)] = "";
	struct stat st;
	FILE *f;

	if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	f = fopen(path, "re");
	if (f && !fgets(head, sizeof(head), f))
		head[0] = '\0';
	if (f)
		fclose(f);
	if (!strcmp(head, HEAD))
		return 0;
	return grt_err_set(err, -EEXIST, "the file exists, and config --save did not write it",
			   "another name", "cannot write %s", path);
}

static char *config_file_settings_text(struct kmod *k, struct grt_err *err)
{
	char *config = kmod_read(k, "config", err), *text = NULL, value[LINE_ROOM];
	const struct kmod_key *key;
	struct grt_memfile m;
	FILE *f = config ? grt_memfile_open(&m) : NULL;

	if (f)
		fprintf(f, HEAD " %s: grtrace config --restore\n", k->version);
	for (key = kmod_keys; f && key->name; key++)
		if (kmod_key_is_setting(key) && kmod_line(config, key->name, value, sizeof(value)))
			fprintf(f, "%s=%s\n", key->name, value);
	if (f)
		text = grt_memfile_close(&m, f, NULL);
	if (config && !text)
		grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for the module's settings");
	free(config);
	return text;
}

static int write_text(struct outfile *o, const char *text, struct grt_err *err)
{
	size_t left = strlen(text);
	ssize_t n;

	for (; left; text += n, left -= (size_t)n) {
		n = write(o->fd, text, left);
		if (n < 0)
			return outfile_failed(o, -errno, err);
	}
	/* If it were renamed before its contents are on the disk, it could be empty after a crash. */
	if (o->temp[0] && fsync(o->fd))
		return outfile_failed(o, -errno, err);
	return 0;
}

/*
 * Writes all settings that the module has, mode 0600, completely or not at all
 * @path: "-" is standard output; a file with other contents is not replaced
 * Return: 0 or -errno
 */
static int config_save(struct kmod *k, const char *path, struct grt_err *err)
{
	struct outfile o = {.fd = -1};
	char *text;
	int ret = config_file_check_target(path, err);

	if (ret)
		return ret;
	text = config_file_settings_text(k, err);
	if (!text)
		return -EIO;
	ret = outfile_open(&o, path, err);
	if (!ret)
		ret = write_text(&o, text, err);
	if (!ret)
		ret = outfile_keep(&o, err);
	outfile_drop(&o);
	free(text);
	return ret;
}

/* ------------------------------------------------------------- reading */

/**
 * struct source_file - a file that is being read
 * @name: for messages
 * @line: number of the current line
 */
struct source_file {
	FILE *f;
	const char *name;
	unsigned int line;
	unsigned int first_line[KMOD_SETTINGS_MAX];
};

/* Adds file and line to the error. Return: @code */
static int config_file_bad_line(const struct source_file *in, int code, const struct grt_err *why,
				struct grt_err *err)
{
	return grt_err_set(err, code, why->why, why->fix, "%.200s: line %u: %.200s", in->name, in->line,
			   why->what);
}

static char *config_file_trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	for (length = strlen(text); length && strchr(" \t\r\n", text[length - 1]); length--)
		;
	text[length] = '\0';
	return text;
}

/* The key of a line, if it can be set from a file and was not set before. */
static int check_key(struct kmod_settings *s, const struct source_file *in, const struct kmod_key *key,
		     struct grt_err *err)
{
	const struct kmod_setting *first = kmod_settings_find(s, key);

	if (!kmod_key_is_setting(key))
		return grt_err_set(err, -EINVAL, "the key is not a setting and cannot be restored",
				   "delete the line", "%s", key->name);
	if (first)
		return grt_err_set(err, -EINVAL, NULL, "delete one of the lines",
				   "%s is set by line %u already", key->name, in->first_line[first - s->of]);
	return 0;
}

static int config_file_take_line(struct kmod_settings *s, struct source_file *in, char *line,
				 struct grt_err *err)
{
	char *text = config_file_trim(line), *value = strchr(text, '='), origin[256];
	struct grt_err why = {0};
	const struct kmod_key *key;
	int ret;

	if (!*text || *text == '#')
		return 0;
	if (!value) {
		grt_err_set(&why, 0, "a line must be key=value", NULL, "'%.100s'", text);
		return config_file_bad_line(in, -EINVAL, &why, err);
	}
	*value++ = '\0';
	key = config_key(config_file_trim(text), &why);
	ret = key ? check_key(s, in, key, &why) : -EINVAL;
	if (ret)
		return config_file_bad_line(in, ret, &why, err);
	snprintf(origin, sizeof(origin), "%.200s: line %u", in->name, in->line);
	ret = kmod_settings_add(s, key, config_file_trim(value), origin, err);
	if (!ret)
		in->first_line[s->n - 1] = in->line;
	return ret;
}

static int whole_line(const struct source_file *in, const char *line, size_t length, struct grt_err *err)
{
	struct grt_err why = {0};

	if (strlen(line) != length)
		grt_err_set(&why, 0, "it has a NUL byte", NULL, "the file is not text");
	else if (length == LINE_ROOM - 1 && line[length - 1] != '\n')
		grt_err_set(&why, 0, NULL, NULL, "it is longer than %d bytes", LINE_ROOM - 2);
	else
		return 0;
	return config_file_bad_line(in, -EINVAL, &why, err);
}

/* Reads one line, including NUL bytes, of at most LINE_ROOM - 1 bytes. Return: bytes, 0 at the end */
static size_t config_file_read_line(FILE *f, char *line)
{
	size_t n = 0;
	int c = 0;

	while (n < LINE_ROOM - 1 && c != '\n' && (c = getc(f)) != EOF)
		line[n++] = (char)c;
	line[n] = '\0';
	return n;
}

static int config_file_load(struct kmod_settings *s, struct source_file *in, struct grt_err *err)
{
	char line[LINE_ROOM];
	size_t length;
	int ret = 0;

	while (!ret && (length = config_file_read_line(in->f, line))) {
		in->line++;
		ret = whole_line(in, line, length, err);
		if (!ret)
			ret = config_file_take_line(s, in, line, err);
	}
	if (!ret && ferror(in->f))
		ret = grt_err_set(err, -errno, strerror(errno), NULL, "cannot read %s", in->name);
	if (!ret && !s->n)
		ret = grt_err_set(err, -ENODATA, NULL, "grtrace config --save FILE writes such a file",
				  "%s: it has no settings", in->name);
	return ret;
}

/*
 * Adds the settings of a file to a list
 * @path: "-" is standard input
 * Return: 0, or -errno with file and line in *@err
 */
static int config_load(struct kmod_settings *s, const char *path, struct grt_err *err)
{
	bool standard = !strcmp(path, "-");
	struct source_file in = {.name = standard ? "standard input" : path};
	int ret;

	in.f = standard ? stdin : fopen(path, "re");
	if (!in.f)
		return grt_err_set(err, -errno, strerror(errno),
				   "sudo grtrace config --save FILE, which writes one", "cannot open %s",
				   path);
	ret = config_file_load(s, &in, err);
	if (!standard)
		fclose(in.f);
	return ret;
}

/* -------------------------------------------------------- config profile */

/*
 * The profiles of profiles.def as settings.
 */

/* A setting of a profile; a list of them ends with one without value. */
struct profile_value {
	enum grt_key key;
	const char *value;
};

#define GRT_SET(key, value) {GRT_CONFIG_##key, #value},
#define GRT_PROFILE(name, settings, help) \
	static const struct profile_value profile_##name[] = {settings{GRT_CONFIG_KEYS, NULL}};
#include "profiles.def"
#undef GRT_PROFILE
#undef GRT_SET

static const struct profile {
	const char *name;
	const struct profile_value *values;
} profiles[] = {
#define GRT_PROFILE(name, settings, help) {#name, profile_##name},
#include "profiles.def"
#undef GRT_PROFILE
};
#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

static const struct profile *config_profile_find(const char *name)
{
	size_t i;

	for (i = 0; i < PROFILES; i++)
		if (!strcmp(name, profiles[i].name))
			return &profiles[i];
	return NULL;
}

/* Whether profiles.def has a row with this name. */
static bool config_is_profile(const char *name)
{
	return config_profile_find(name) != NULL;
}

/* Adds the defaults of all keys that any profile sets, if the module has them. */
static int add_defaults(struct kmod_settings *s, const char *config, struct grt_err *err)
{
	const struct profile_value *v;
	const struct kmod_key *key;
	char value[4096], usual[64];
	int ret = 0;
	size_t i;

	for (i = 0; i < PROFILES; i++)
		for (v = profiles[i].values; v->value && !ret; v++) {
			key = &kmod_keys[v->key];
			kmod_key_default(key, usual, sizeof(usual));
			if (kmod_line(config, key->name, value, sizeof(value)))
				ret = kmod_settings_add(s, key, usual, NULL, err);
		}
	return ret;
}

/*
 * Adds the settings of a profile to a list
 *
 * Settings that other profiles have and this one lacks get their defaults, so a profile replaces all others.
 * @name: of an existing profile
 * @config: the text of the module's `config`: a key that is not in it needs no default
 * Return: 0 or -ENOMEM
 */
static int config_profile(struct kmod_settings *s, const char *name, const char *config, struct grt_err *err)
{
	const struct profile_value *v;
	int ret = add_defaults(s, config, err);

	for (v = config_profile_find(name)->values; v->value && !ret; v++)
		ret = kmod_settings_add(s, &kmod_keys[v->key], v->value, NULL, err);
	return ret;
}

/* ---------------------------------------------------------------- config */

/* Enough for a value as the module prints it. */
#define VALUE_ROOM 4096

static struct {
	const char *profile;
	const char *save;
	const char *restore;
	bool json;
} opt;

static const char profile_words[] = ""
#define GRT_PROFILE(name, settings, help) "|" #name
#include "profiles.def"
#undef GRT_PROFILE
	;

static const struct cmd_opt options[] = {
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "settings as one JSON object"},
	{"profile", 0, OPT_STR, profile_words + 1, &opt.profile, "set all settings of a profile"},
	{"save", 0, OPT_STR, "FILE", &opt.save, "write every setting to a file; - is standard output"},
	{"restore", 0, OPT_STR, "FILE", &opt.restore, "set the settings in a file; - is standard input"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/* ------------------------------------------------------------- showing */

static void show_text(const struct kmod_key *key, const char *value)
{
	char range[96], usual[64];
	const char *other;
	unsigned int i;

	kmod_key_range(key, range, sizeof(range));
	kmod_key_default(key, usual, sizeof(usual));
	printf("%s=", key->name);
	cmd_put_text(stdout, value);
	/* A key that cannot be set has no range and no default. */
	if (strcmp(key->max, "0"))
		printf("\n    default %s, takes %s%s%s", *usual ? usual : "empty", range,
		       *kmod_key_unit(key) ? " " : "", kmod_key_unit(key));
	if (kmod_key_when_stopped(key))
		printf(", only while tracing is off");
	printf("\n    %s", key->help);
	for (i = 0; (other = kmod_key_alias(key, i)); i++)
		printf("%s%s", i ? ", " : "\n    also called: ", other);
	putchar('\n');
}

static void json_member(const char *name, const char *text)
{
	printf(",\"%s\":", name);
	grt_json_put_string(stdout, text);
}

static void show_json(const struct kmod_key *key, const char *value, bool first)
{
	const char *other;
	char usual[64];
	unsigned int i;

	kmod_key_default(key, usual, sizeof(usual));
	printf("%s\"%s\":{\"value\":", first ? "" : ",", key->name);
	grt_json_put_string(stdout, value);
	json_member("default", usual);
	json_member("min", key->min);
	json_member("max", key->max);
	json_member("unit", kmod_key_unit(key));
	json_member("module", kmod_key_module(key));
	printf(",\"when_stopped\":%s", kmod_key_when_stopped(key) ? "true" : "false");
	json_member("help", key->help);
	fputs(",\"aliases\":[", stdout);
	for (i = 0; (other = kmod_key_alias(key, i)); i++)
		printf("%s\"%s\"", i ? "," : "", other);
	fputs("]}", stdout);
}

/* Shows all settings that the module has. */
static void show_all(const char *config)
{
	const struct kmod_key *key;
	char value[VALUE_ROOM];
	bool first = true;

	for (key = kmod_keys; key->name; key++) {
		if (!kmod_line(config, key->name, value, sizeof(value)))
			continue;
		if (opt.json)
			show_json(key, value, first);
		else
			show_text(key, value);
		first = false;
	}
}

/* Lists the keys that are missing because the module of their stage is not loaded. */
static void config_show_missing(const char *config)
{
	const struct kmod_key *key;
	const char *module;
	char value[VALUE_ROOM];
	unsigned int i;
	int n;

	for (i = 0; (module = kmod_stage(i)); i++) {
		n = 0;
		for (key = kmod_keys; key->name; key++)
			if (!strcmp(kmod_key_module(key), module) &&
			    !kmod_line(config, key->name, value, sizeof(value)))
				printf("%s%s", n++ ? " " : "without its module: ", key->name);
		if (n)
			printf("\n    sudo modprobe %s\n", module);
	}
}

static int check_there(struct kmod *kmod, const char *config, char **names, struct grt_err *err)
{
	char value[VALUE_ROOM];

	for (; *names; names++)
		if (!strchr(*names, '=') &&
		    !kmod_line(config, kmod_key_find(*names)->name, value, sizeof(value)))
			return kmod_no_key(kmod, kmod_key_find(*names), err);
	return 0;
}

static void show_some(const char *config, char **names)
{
	const struct kmod_key *key;
	char value[VALUE_ROOM];
	bool first = true;

	for (; *names; names++) {
		if (strchr(*names, '='))
			continue;
		key = kmod_key_find(*names);
		kmod_line(config, key->name, value, sizeof(value));
		if (opt.json) {
			show_json(key, value, first);
		} else {
			cmd_put_text(stdout, value);
			putchar('\n');
		}
		first = false;
	}
}

static int cmd_config_show(struct kmod *kmod, char **names)
{
	struct grt_err err = {0};
	char *config = kmod_read(kmod, "config", &err);
	int ret = config ? check_there(kmod, config, names, &err) : -EIO;

	if (ret) {
		free(config);
		return cmd_error(kmod_exit_status(ret), &err);
	}
	if (opt.json)
		putchar('{');
	if (names[0])
		show_some(config, names);
	else
		show_all(config);
	if (!names[0] && !opt.json)
		config_show_missing(config);
	if (opt.json)
		puts("}");
	free(config);
	return EXIT_DONE;
}

/* ------------------------------------------------------------- setting */

static int add_profile(struct kmod *kmod, struct kmod_settings *s, struct grt_err *err)
{
	char *config = kmod_read(kmod, "config", err);
	int ret = config ? config_profile(s, opt.profile, config, err) : -EIO;

	free(config);
	return ret;
}

/* KEY=VALUE, whose names have been checked. */
static int add_argument(struct kmod_settings *s, const char *arg, struct grt_err *err)
{
	const char *value = strchr(arg, '=');
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)(value - arg), arg);
	return kmod_settings_add(s, kmod_key_find(name), value + 1, NULL, err);
}

static int add_all(struct kmod *kmod, struct kmod_settings *s, char **argv, struct grt_err *err)
{
	int ret = opt.profile ? add_profile(kmod, s, err) : 0;

	for (; !ret && *argv; argv++)
		if (strchr(*argv, '='))
			ret = add_argument(s, *argv, err);
	return ret;
}

/* Sets everything that was requested, or nothing. */
static int config_set(struct kmod *kmod, struct kmod_settings *s, char **argv)
{
	struct grt_err err = {0};
	int ret = add_all(kmod, s, argv, &err);

	if (!ret && s->n)
		ret = kmod_settings_apply(kmod, s, &err);
	return ret ? cmd_error(kmod_exit_status(ret), &err) : EXIT_DONE;
}

static int save(struct kmod *kmod)
{
	struct grt_err err = {0};

	return config_save(kmod, opt.save, &err) ? cmd_error(EXIT_FAILED, &err) : EXIT_DONE;
}

/* Return: whether to show settings: nothing is to be set or saved, or only names of keys were given. */
static bool is_to_show(char **argv)
{
	if (!argv[0])
		return !opt.save && !opt.restore && !opt.profile;
	while (*argv && strchr(*argv, '='))
		argv++;
	return *argv;
}

static int with_module(struct kmod_settings *s, char **argv)
{
	struct grt_err err = {0};
	struct kmod kmod;
	int ret = kmod_open(&kmod, &err), status;

	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	status = config_set(&kmod, s, argv);
	if (status == EXIT_DONE && opt.save)
		status = save(&kmod);
	if (status == EXIT_DONE && is_to_show(argv))
		status = cmd_config_show(&kmod, argv);
	kmod_close(&kmod);
	return status == EXIT_DONE ? cmd_close_stdout() : status;
}

/* Checks all names first, so that nothing is set if one is wrong. */
static int config_check_names(char **argv)
{
	struct grt_err err = {0};
	char name[64];

	for (; *argv; argv++) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*argv, "="), *argv);
		if (!config_key(name, &err))
			return cmd_error(EXIT_USAGE, &err);
	}
	return EXIT_DONE;
}

static int config_check_options(char **argv)
{
	if (opt.save && (opt.restore || opt.profile || argv[0]))
		return cmd_usage_error("--save takes no settings: save first, then set");
	if (opt.restore && (opt.profile || argv[0]))
		return cmd_usage_error("--restore takes no settings: restore first, then set");
	if (opt.profile && !config_is_profile(opt.profile))
		return cmd_usage_error("--profile %s: unknown profile (there are: %s)", opt.profile,
				       profile_words + 1);
	return config_check_names(argv);
}

static int config_run(int argc, char **argv)
{
	struct kmod_settings s = {0};
	struct grt_err err = {0};
	int status = config_check_options(argv);

	if (status == EXIT_DONE && opt.restore && config_load(&s, opt.restore, &err))
		status = cmd_error(EXIT_FAILED, &err);
	if (status == EXIT_DONE)
		status = with_module(&s, argv);
	kmod_settings_free(&s);
	return status;
}

#define IS(name, kind, help)                                                          \
	{                                                                             \
		name, NULL, GRT_LIST_TEXTS, GRT_CELL_##kind, GRT_COLUMN_MACHINE, help \
	}

static const struct grt_column setting_columns[] = {
	IS("value", TEXT, "now"),
	IS("default", TEXT, "value after loading"),
	IS("min", TEXT, "least value"),
	IS("max", TEXT, "largest value"),
	IS("unit", TEXT, "of the value"),
	IS("module", TEXT, "that obeys it"),
	IS("when_stopped", BOOL, "it can be changed only while tracing is stopped"),
	IS("help", TEXT, "one line"),
	IS("aliases", LIST, "other names"),
	{.name = NULL},
};

#define GRT_KEY(name, ...) &(const struct grt_table){#name, NULL, setting_columns, GRT_TABLE_PAIRS},
static const struct cmd_json config_json = {
	.title = "what grtrace config --json prints: the settings of modules that are loaded",
	.tables =
		(const struct grt_table *const[]){
#include <grtrace/control.def>
			NULL,
		},
};
#undef GRT_KEY

const struct cmd cmd_config = {
	.json = &config_json,
	.usage = "[--json] [--profile NAME | --save FILE | --restore FILE] [KEY[=VALUE]...]",
	.opts = options,
	.run = config_run,
};
