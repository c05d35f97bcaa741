// SPDX-License-Identifier: GPL-2.0
/*
 * The metadata: what is written, that it is written whole or not at all, and
 * the parser of its environment. That other readers understand it is tested
 * with babeltrace2, in tests/cli/babeltrace.sh.
 */
#include "collect.h"
#include "trace_maker.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "trace/env.h"
#include "base/escape.h"

struct fixture {
	char *dir;
	int fd;
	struct grt_err err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = tm_tmpdir();
	f->fd = open(f->dir, O_RDONLY | O_DIRECTORY);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->fd);
	tm_remove(f->dir);
	free(f->dir);
	free(f);
	return 0;
}

static char *text_of(const struct fixture *f)
{
	char *path = path_join(f->dir, "metadata");
	size_t size;
	char *text = file_load(path, &size);

	free(path);
	return text;
}

static unsigned int entries_of(const struct fixture *f)
{
	DIR *d = opendir(f->dir);
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void any_text_comes_back(void **state)
{
	struct fixture *f = *state;
	static const char *const values[] = {
		"",
		"plain",
		"a \"quoted\" one",
		"back\\slash\\",
		"\x01\x02\x37 octal before a digit",
		"line\nline\ttab",
		"\xff\xfe invalid",
		"h\xc3\xa9 \xf0\x9f\x8e\xae",
		"}; env { state = \"no\"; };",
		"/* comment */ // comment",
	};
	struct grt_env_list list = {0};
	size_t offset;
	char *text;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct grt_env env[] = {
			{"_before", "1"}, {"key", values[i]}, {"after", "2"}, {NULL, NULL}};

		assert_int_equal(grt_metadata_write(f->fd, env, 0, &f->err), 0);
		text = text_of(f);
		assert_int_equal(grt_env_parse(&list, text, strlen(text), &offset), 0);
		assert_string_equal(grt_env_get(&list, "key"), values[i]);
		assert_string_equal(grt_env_get(&list, "_before"), "1");
		assert_string_equal(grt_env_get(&list, "after"), "2");
		assert_string_equal(grt_env_get(&list, "tracer_name"), "grtrace");
		assert_null(grt_env_get(&list, "state"));
		grt_env_free(&list);
		free(text);
	}
}

static void keys_that_would_break_the_text_are_refused(void **state)
{
	struct fixture *f = *state;
	static const char *const keys[] = {"",	    "1st",	 "a b",		"a;b",
					   "a\"",   "h\xc3\xa9", "env",		"struct",
					   "event", "string",	 "tracer_name", "grtrace_format"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct grt_env env[] = {{"good", "1"}, {keys[i], "x"}, {NULL, NULL}};

		assert_int_equal(grt_metadata_write(f->fd, env, 0, &f->err), -EINVAL);
		assert_non_null(strstr(f->err.what, "cannot be written"));
		assert_int_equal(entries_of(f), 0);
	}
}

static void it_is_private_and_alone(void **state)
{
	struct fixture *f = *state;
	char *path = path_join(f->dir, "metadata");
	struct stat st;

	umask(0);
	assert_int_equal(grt_metadata_write(f->fd, NULL, 0, &f->err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(entries_of(f), 1);
	free(path);
}

/* The disk is full while the second version is written: the first one stays. */
static void it_is_written_whole_or_not_at_all(void **state)
{
	struct fixture *f = *state;
	const struct grt_env old[] = {{"state", "recording"}, {NULL, NULL}};
	const struct grt_env new[] = {{"state", "complete"}, {NULL, NULL}};
	struct rlimit before, small;
	char *text;

	assert_int_equal(grt_metadata_write(f->fd, old, 0, &f->err), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 1000;
	setrlimit(RLIMIT_FSIZE, &small);
	assert_int_equal(grt_metadata_write(f->fd, new, 0, &f->err), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	text = text_of(f);
	assert_non_null(strstr(text, "state = \"recording\""));
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_int_equal(entries_of(f), 1);
	free(text);
	assert_int_equal(grt_metadata_write(f->fd, new, 0, &f->err), 0);
	text = text_of(f);
	assert_non_null(strstr(text, "state = \"complete\""));
	free(text);
}

static void the_clock_offset_never_has_negative_cycles(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int64_t offset;
		const char *text;
	} rows[] = {
		{1700000000123456789, "\toffset_s = 1700000000;\n\toffset = 123456789;\n"},
		{0, "\toffset_s = 0;\n\toffset = 0;\n"},
		{-1, "\toffset_s = -1;\n\toffset = 999999999;\n"},
		{-2000000000, "\toffset_s = -2;\n\toffset = 0;\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text;

		assert_int_equal(grt_metadata_write(f->fd, NULL, rows[i].offset, &f->err), 0);
		text = text_of(f);
		assert_non_null(strstr(text, rows[i].text));
		free(text);
	}
}

static void every_row_is_described(void **state)
{
	struct fixture *f = *state;
	char *text;

	assert_int_equal(grt_metadata_write(f->fd, NULL, 0, &f->err), 0);
	text = text_of(f);
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) \
	assert_non_null(strstr(text, "name = \"" #NAME "\";\n\tid = " #id ";\n"));
#include <grtrace/events.def>
#undef GRT_EVENT
#define GRT_FATE(NAME, name, help)                          \
	assert_non_null(strstr(text, " begin_" #name ";")); \
	assert_non_null(strstr(text, " end_" #name ";"));
#include <grtrace/fates.def>
#undef GRT_FATE
	free(text);
}

static void parse_of(const char *text, int code)
{
	struct grt_env_list list = {0};
	size_t offset;

	if (grt_env_parse(&list, text, strlen(text), &offset) != code)
		fail_msg("'%s': not %d", text, code);
	assert_true(offset <= strlen(text));
	grt_env_free(&list);
}

static void the_parser_stands_garbage(void **state)
{
	static const char *const bad[] = {
		"env",
		"env {",
		"env { a",
		"env { a = ",
		"env { a = \"",
		"env { a = \"x",
		"env { a = \"x\\",
		"env { a = \"x\"",
		"env { a = 5 }",
		"env { a = -; }",
		"env { = 5; };",
		"env { 5 };",
		"}",
		"{",
		"x \"",
		"env { a = \"x\"; } }",
		"env env",
	};
	static const char *const good[] = {
		"",
		"/*",
		"// x",
		"xenv { a = }",
		"env {};",
		"env { a = 0x1F; b = -3; /* c */ } ;",
		"x { env = y { } } \"env {\" env { a = \"\\400\\0\"; };",
		"environment",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		parse_of(bad[i], strcmp(bad[i], "env") ? -EINVAL : 0);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		parse_of(good[i], 0);
}

/* Any change of any byte, and any end: an error or a list, never more. */
static void the_parser_stands_damage(void **state)
{
	struct fixture *f = *state;
	const struct grt_env env[] = {{"a", "x\"\\\n\x01"}, {"b", "}"}, {NULL, NULL}};
	struct grt_env_list list = {0};
	size_t offset, len;
	char *text;

	assert_int_equal(grt_metadata_write(f->fd, env, 0, &f->err), 0);
	text = text_of(f);
	len = strstr(text, "clock {") - text;
	for (size_t i = 0; i < len; i++) {
		/* a copy of its own size, so that reading beyond it is found */
		char *copy = malloc(i ? i : 1);

		memcpy(copy, text, i);
		grt_env_parse(&list, copy, i, &offset);
		grt_env_free(&list);
		free(copy);
		for (unsigned int bit = 0; bit < 8; bit++) {
			text[i] ^= (char)(1 << bit);
			grt_env_parse(&list, text, len, &offset);
			grt_env_free(&list);
			text[i] ^= (char)(1 << bit);
		}
	}
	free(text);
}

static void escapes_are_complete_and_fit(void **state)
{
	static const struct {
		enum grt_escape kind;
		const char *in;
		const char *out;
	} rows[] = {
		{GRT_ESCAPE_TERM, "Xorg", "Xorg"},
		{GRT_ESCAPE_TERM, "a\x1b[31m\x7f\n", "a\\x1b[31m\\x7f\\x0a"},
		{GRT_ESCAPE_TERM,
		 "\xc2\x9b"
		 "31m",
		 "\\xc2\\x9b"
		 "31m"},
		{GRT_ESCAPE_TERM, "\xe2\x80\xae", "\\xe2\\x80\\xae"},
		{GRT_ESCAPE_TERM, "\xc3\xa9\xff\xc3", "\xc3\xa9\\xff\\xc3"},
		{GRT_ESCAPE_TERM, "a\\x1b", "a\\\\x1b"},
		{GRT_ESCAPE_JSON, "a\"b\\c\n", "a\\\"b\\\\c\\u000a"},
		{GRT_ESCAPE_JSON, "\xff\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
		{GRT_ESCAPE_JSON, "\xc0\x80\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"},
		{GRT_ESCAPE_JSON, "\xf0\x9f\x8e\xae", "\xf0\x9f\x8e\xae"},
		{GRT_ESCAPE_CSV, "plain", "plain"},
		{GRT_ESCAPE_CSV, "a,b", "\"a,b\""},
		{GRT_ESCAPE_CSV, "say \"hi\"", "\"say \"\"hi\"\"\""},
		{GRT_ESCAPE_CSV, "a\nb", "a\\x0ab"},
		{GRT_ESCAPE_CSV, "=1+1", "'=1+1"},
		{GRT_ESCAPE_CSV, "@f(\"a\")", "\"'@f(\"\"a\"\")\""},
		{GRT_ESCAPE_CSV, "a=-1", "a=-1"},
		{GRT_ESCAPE_TSDL,
		 "a\"\\\x01"
		 "7",
		 "a\\\"\\\\\\0017"},
	};
	char out[64];
	char *text;
	size_t len;
	FILE *file;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(grt_escape(rows[i].kind, out, sizeof(out), rows[i].in, 100),
				 strlen(rows[i].out));
		assert_string_equal(out, rows[i].out);
		file = open_memstream(&text, &len);
		grt_escape_print(rows[i].kind, file, rows[i].in, 100);
		fclose(file);
		assert_string_equal(text, rows[i].out);
		free(text);
		/* any room: never over, never half a character, always ended */
		for (size_t room = 0; room < sizeof(out); room++) {
			char *exact = malloc(room ? room : 1);
			size_t n = grt_escape(rows[i].kind, exact, room, rows[i].in, 100);

			assert_true(room ? n < room && exact[n] == '\0' : n == 0);
			if (room > strlen(rows[i].out))
				assert_string_equal(exact, rows[i].out);
			free(exact);
		}
	}
	/* a field that is not ended by a NUL */
	assert_int_equal(grt_escape(GRT_ESCAPE_TERM, out, sizeof(out), "abcdef", 3), 3);
	assert_string_equal(out, "abc");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(any_text_comes_back),
		CASE(keys_that_would_break_the_text_are_refused),
		CASE(it_is_private_and_alone),
		CASE(it_is_written_whole_or_not_at_all),
		CASE(the_clock_offset_never_has_negative_cycles),
		CASE(every_row_is_described),
		CASE(the_parser_stands_garbage),
		CASE(the_parser_stands_damage),
		CASE(escapes_are_complete_and_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
