// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Writes a recording's metadata: the description, in TSDL, of what stream.h
 * and event.h say in C, so that every CTF reader understands our packets as
 * they are. All integers are declared with an alignment of 8 bits: the C
 * structs have no padding, and so has the description.
 *
 * A CTF header holds only what the format itself knows, and readers complain
 * of more; so the packet's header ends after stream_id and the event's after
 * id, and what follows in the C structs is described as their contexts.
 */
#include <grtrace/event_table.h>
#include <grtrace/grtrace.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/memfile.h"
#include "metadata.h"

#define NS_PER_S 1000000000LL
/*
 * Followed by _PID_N, the writer's pid and a number, because several processes may write at the same time.
 * Older versions append nothing.
 */
#define METADATA_NEW ".metadata.new"
#define METADATA_TRIES 1000U

_Static_assert(offsetof(struct grt_packet, format) == 8, "the packet's context begins at format");
_Static_assert(offsetof(struct grt_event, size) == 10, "the event's context begins at size");

/* Keys that the writer sets itself, so that the environment cannot set them. */
static const char *const own_keys[] = {"tracer_name", "tracer_major", "tracer_minor", "grtrace_format"};

/* Words of the language: other readers would not understand an entry with such a name. */
static const char *const reserved[] = {
	"align",   "callsite", "char",	  "clock",	    "const",  "double",	  "enum",
	"env",	   "event",    "float",	  "floating_point", "int",    "integer",  "long",
	"short",   "signed",   "stream",  "string",	    "struct", "trace",	  "typealias",
	"typedef", "unsigned", "variant", "void",	    "_Bool",  "_Complex", "_Imaginary",
};

static bool in_list(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(word, list[i]))
			return true;
	return false;
}

static bool key_allowed(const char *key)
{
	if (!isalpha((unsigned char)key[0]) && key[0] != '_')
		return false;
	for (const char *p = key; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return !in_list(key, own_keys, sizeof(own_keys) / sizeof(own_keys[0])) &&
	       !in_list(key, reserved, sizeof(reserved) / sizeof(reserved[0]));
}

static void write_trace(FILE *f)
{
	fprintf(f,
		GRT_METADATA_HEAD " */\n\n"
				  "trace {\n"
				  "\tmajor = 1;\n"
				  "\tminor = 8;\n"
				  "\tbyte_order = le;\n"
				  "\tpacket.header := struct {\n"
				  "\t\tinteger { size = 32; align = 8; signed = false; base = 16; } magic;\n"
				  "\t\tinteger { size = 32; align = 8; signed = false; } stream_id;\n"
				  "\t};\n"
				  "};\n\n");
}

static void write_env(FILE *f, const struct grt_env *env)
{
	int major = 0;
	int minor = 0;

	sscanf(GRT_VERSION, "%d.%d", &major, &minor);
	fprintf(f, "env {\n\ttracer_name = \"grtrace\";\n\ttracer_major = %d;\n\ttracer_minor = %d;\n", major,
		minor);
	fprintf(f, "\tgrtrace_format = %d;\n", GRT_FORMAT);
	for (; env && env->key; env++) {
		fprintf(f, "\t%s = \"", env->key);
		grt_escape_print(GRT_ESCAPE_TSDL, f, env->value, strlen(env->value));
		fputs("\";\n", f);
	}
	fputs("};\n\n", f);
}

/* The offset is split so that its cycles are never negative. */
static void write_clock(FILE *f, int64_t realtime_offset)
{
	int64_t s = realtime_offset / NS_PER_S;
	int64_t ns = realtime_offset % NS_PER_S;

	if (ns < 0) {
		ns += NS_PER_S;
		s--;
	}
	fprintf(f,
		"clock {\n"
		"\tname = \"monotonic\";\n"
		"\tdescription = \"CLOCK_MONOTONIC\";\n"
		"\tfreq = %lld;\n"
		"\toffset_s = %lld;\n"
		"\toffset = %lld;\n"
		"};\n\n"
		"typealias integer {\n"
		"\tsize = 64; align = 8; signed = false; map = clock.monotonic.value;\n"
		"} := stamp_t;\n\n",
		NS_PER_S, (long long)s, (long long)ns);
}

static void write_u64(FILE *f, const char *prefix, const char *name)
{
	fprintf(f, "\t\tinteger { size = 64; align = 8; signed = false; } %s%s;\n", prefix, name);
}

static void write_balance(FILE *f, const char *prefix)
{
	write_u64(f, prefix, "emitted");
	for (unsigned int i = 0; i < GRT_FATES; i++)
		write_u64(f, prefix, grt_fate_names[i]);
}

static void write_packet_context(FILE *f)
{
	fputs("\tpacket.context := struct {\n"
	      "\t\tinteger { size = 16; align = 8; signed = false; } format;\n"
	      "\t\tinteger { size = 16; align = 8; signed = false; } header_size;\n"
	      "\t\tinteger { size = 32; align = 8; signed = false; } cpu_id;\n"
	      "\t\tstamp_t timestamp_begin;\n"
	      "\t\tstamp_t timestamp_end;\n",
	      f);
	write_u64(f, "", "content_size");
	write_u64(f, "", "packet_size");
	write_u64(f, "", "packet_seq_num");
	write_u64(f, "", "events_discarded");
	write_balance(f, "begin_");
	write_balance(f, "end_");
	fputs("\t};\n", f);
}

static void write_integer(FILE *f, const struct grt_field *field)
{
	fprintf(f, "\t\tinteger { size = %u; align = 8; signed = %s; base = %d; } %s;\n", field->size * 8,
		field->kind == GRT_FIELD_SIGNED ? "true" : "false", field->kind == GRT_FIELD_HEX ? 16 : 10,
		field->name);
}

static void write_engine(FILE *f, const struct grt_field *field)
{
	fprintf(f, "\t\tenum : integer { size = %u; align = 8; signed = false; } {", field->size * 8);
	for (unsigned int i = 0; i < GRT_ENGINE_MAX; i++)
		if (grt_engine_names[i])
			fprintf(f, "%s \"%s\" = %u", i ? "," : "", grt_engine_names[i], i);
	fprintf(f, " } %s;\n", field->name);
}

static void metadata_write_string(FILE *f, const struct grt_field *field)
{
	fprintf(f, "\t\tinteger { size = 8; align = 8; signed = false; encoding = UTF8; } %s[%u];\n",
		field->name, field->size);
}

static void (*const write_field[])(FILE *f, const struct grt_field *field) = {
	[GRT_FIELD_DEC] = write_integer,    [GRT_FIELD_HEX] = write_integer,
	[GRT_FIELD_SIGNED] = write_integer, [GRT_FIELD_STR] = metadata_write_string,
	[GRT_FIELD_ENGINE] = write_engine,  [GRT_FIELD_TIME] = write_integer,
};

static void write_fields(FILE *f, const struct grt_field *field)
{
	for (; field->name; field++)
		write_field[field->kind](f, field);
}

static void write_stream(FILE *f)
{
	fprintf(f, "stream {\n\tid = %d;\n", GRT_STREAM_CPU);
	write_packet_context(f);
	fputs("\tevent.header := struct {\n"
	      "\t\tstamp_t timestamp;\n"
	      "\t\tinteger { size = 16; align = 8; signed = false; } id;\n"
	      "\t};\n"
	      "\tevent.context := struct {\n"
	      "\t\tinteger { size = 16; align = 8; signed = false; } size;\n",
	      f);
	write_fields(f, grt_common_fields);
	fputs("\t};\n};\n\n", f);
}

static void write_events(FILE *f)
{
	for (unsigned int i = 0; i < GRT_EV_MAX; i++) {
		const struct grt_event_desc *d = &grt_event_table[i];

		if (!d->name)
			continue;
		fprintf(f, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = %d;\n\tfields := struct {\n",
			d->title, i, GRT_STREAM_CPU);
		write_fields(f, d->fields());
		fputs("\t};\n};\n\n", f);
	}
}

/* The whole text, which the caller frees; NULL: no memory. */
static char *metadata_text(const struct grt_env *env, int64_t realtime_offset, size_t *len)
{
	struct grt_memfile m;
	FILE *f = grt_memfile_open(&m);

	if (!f)
		return NULL;
	write_trace(f);
	write_env(f, env);
	write_clock(f, realtime_offset);
	write_stream(f);
	write_events(f);
	return grt_memfile_close(&m, f, len);
}

static int metadata_write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	/* without this a crash can leave the new name with nothing in it */
	return fdatasync(fd) ? -errno : 0;
}

/* Return: the text after '_' and a number; NULL: the text does not begin like this */
static const char *after_number(const char *text)
{
	size_t digits = *text == '_' ? strspn(text + 1, "0123456789") : 0;

	return digits ? text + 1 + digits : NULL;
}

bool grt_metadata_is_new(const char *name)
{
	const char *rest = name + strlen(METADATA_NEW);

	if (strncmp(name, METADATA_NEW, strlen(METADATA_NEW)))
		return false;
	for (int i = 0; i < 2 && rest && *rest; i++)
		rest = after_number(rest);
	return rest && !*rest;
}

/* Another process image may have left one, or have the same pid in its namespace. */
static int open_new(int dirfd, char name[48])
{
	int fd = -1;

	for (unsigned int i = 0; fd < 0 && i < METADATA_TRIES; i++) {
		snprintf(name, 48, METADATA_NEW "_%d_%u", (int)getpid(), i);
		fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

static int replace_file(int dirfd, const char *text, size_t len)
{
	char name[48];
	int fd = open_new(dirfd, name), ret;

	if (fd < 0)
		return fd;
	ret = metadata_write_all(fd, text, len);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && renameat(dirfd, name, dirfd, "metadata"))
		ret = -errno;
	if (ret)
		unlinkat(dirfd, name, 0);
	return ret;
}

int grt_metadata_write(int dirfd, const struct grt_env *env, int64_t realtime_offset, struct grt_err *err)
{
	size_t len;
	char *text;
	int ret;

	for (const struct grt_env *e = env; e && e->key; e++)
		if (!key_allowed(e->key))
			return grt_err_set(
				err, -EINVAL, "it is not an identifier, or it is a keyword of the metadata",
				NULL, "metadata: environment key '%.64s' cannot be written", e->key);
	text = metadata_text(env, realtime_offset, &len);
	if (!text)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "metadata: cannot be made");
	ret = replace_file(dirfd, text, len);
	free(text);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret),
				   ret == -ENOSPC  ? "free space on its disk"
				   : ret == -EFBIG ? "ulimit -f unlimited"
						   : NULL,
				   "metadata: cannot be written");
	return 0;
}
