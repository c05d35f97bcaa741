// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of the module in a file, a line `key=value` each. Empty lines and lines that begin with # are
 * ignored. Reading a file only fills a list.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "config.h"
#include "base/memfile.h"
#include "cmds/outfile.h"

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

int config_save(struct kmod *k, const char *path, struct grt_err *err)
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

int config_load(struct kmod_settings *s, const char *path, struct grt_err *err)
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
