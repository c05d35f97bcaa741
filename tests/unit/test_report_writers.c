// SPDX-License-Identifier: GPL-2.0
/*
 * Writers: text, JSON and CSV of the same table, absent, inferred and
 * estimated values, hostile names. Whole reports are golden cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "table/table.h"
#include "base/units.h"

struct row {
	const char *name;
	uint64_t ns;
	bool absent;
	bool inferred;
	bool estimated;
	int64_t status;
};

static void get_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)view;
	(void)arg;
	cell->text = ((const struct row *)row)->name;
	cell->absent = !cell->text;
}

static void get_ns(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	(void)view;
	cell->number = r->ns * (uint64_t)arg;
	cell->absent = r->absent;
	cell->inferred = r->inferred;
	cell->estimated = r->estimated;
}

static void get_status(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)view;
	(void)arg;
	cell->number = (uint64_t)((const struct row *)row)->status;
}

/* The view is a name, so that it is seen to arrive. */
static void get_named(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)arg;
	cell->number = ((const struct row *)row)->ns;
	cell->text = cell->number == 7 ? view : NULL;
}

static const struct grt_column columns[] = {
	{"name", get_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, ""},
	{"t", get_ns, 1, GRT_CELL_NS, GRT_COLUMN_ALL, ""},
	{"at", get_ns, 1000, GRT_CELL_TIME, GRT_COLUMN_VERBOSE, ""},
	{"busy", get_ns, 1, GRT_CELL_PERCENT, GRT_COLUMN_ALL, ""},
	{"ring", get_named, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, ""},
	{"status", get_status, 0, GRT_CELL_SIGNED, GRT_COLUMN_MACHINE, ""},
	{.name = NULL},
};

static const struct grt_table table = {"things", "some things", columns,
				       GRT_MARK_INFERRED | GRT_MARK_ESTIMATED};

static const struct row rows[] = {
	{"plain", 1, false, false, false, 0},
	{"a,\"b\"", 12345, false, true, false, -5},
	{NULL, 7, true, true, true, 0},
	{"x\x1b[31m\n\xff", 1250000, false, true, true, -125},
};

/* All of a form's output; the text is the caller's. */
static char *write_all(const struct grt_writer_ops *ops, bool verbose, bool colour, const struct row *row,
		       size_t n)
{
	struct grt_field_value f[] = {
		{"path", GRT_CELL_TEXT, {.text = "a\"b\x1b"}, NULL},
		{"n", GRT_CELL_NUMBER, {.number = 5}, "events"},
		{"many", GRT_CELL_NUMBER, {.number = 50000}, NULL},
		{"span", GRT_CELL_NS, {.number = 1500}, NULL},
		{"gone", GRT_CELL_NS, {.absent = true}, NULL},
		{"ok", GRT_CELL_BOOL, {.number = 1}, NULL},
		{.name = NULL},
	};
	const char *notes[] = {"first \x07 note", "second"};
	struct grt_writer_options o = {.verbose = verbose, .colour = colour};
	struct grt_writer *w;
	char *text = NULL;
	size_t size;

	o.out = open_memstream(&text, &size);
	assert_non_null(o.out);
	assert_int_equal(grt_writer_new(&w, ops, &o), 0);
	grt_writer_begin(w);
	grt_writer_fields(w, "head", "the head", f);
	grt_writer_fields(w, NULL, NULL, f + 1);
	grt_writer_table(w, &table, "gfx");
	for (size_t i = 0; i < n; i++)
		assert_int_equal(grt_writer_row(w, &row[i]), 0);
	grt_writer_table_end(w);
	grt_writer_notes(w, notes, 2);
	grt_writer_end(w);
	grt_writer_free(w);
	fclose(o.out);
	return text;
}

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void expect_text(const struct grt_writer_ops *ops, bool verbose, const char *want)
{
	char *got = write_all(ops, verbose, false, rows, ROWS);

	assert_string_equal(got, want);
	free(got);
}

static void text_is_aligned_and_safe(void **state)
{
	(void)state;
	expect_text(&writer_text, false,
		    "the head\n"
		    "  path  a\"b\\x1b\n"
		    "  n         5  events\n"
		    "  many  50000\n"
		    "  span  1.50 us\n"
		    "  gone  -\n"
		    "  ok    yes\n"
		    "\n"
		    "some things\n"
		    "name                       t        busy  ring\n"
		    "plain                   1 ns       0.0 %  1\n"
		    "a,\"b\"               12.3 us*     12.3 %*  12345\n"
		    "-                          -           -  gfx\n"
		    "x\\x1b[31m\\x0a\\xff  ~1.25 ms*  ~1250.0 %*  1250000\n"
		    "\n"
		    "* inferred, not observed\n"
		    "~ estimated from a sample, or at least this much\n"
		    "first \\x07 note\n"
		    "second\n");
}

static void json_has_numbers_nulls_and_marks(void **state)
{
	(void)state;
	expect_text(
		&writer_json, false,
		"{\n\"head\": {\"path\": \"a\\\"b\\u001b\", \"n\": 5, \"many\": 50000, \"span\": 1500, \"gone\": "
		"null, \"ok\": true},\n"
		"\"n\": 5,\n\"many\": 50000,\n\"span\": 1500,\n\"gone\": null,\n\"ok\": true,\n"
		"\"things\": [\n"
		"  {\"name\": \"plain\", \"t\": 1, \"busy\": 0.001, \"ring\": 1, \"status\": 0, \"inferred\": [], "
		"\"estimated\": []},\n"
		"  {\"name\": \"a,\\\"b\\\"\", \"t\": 12345, \"busy\": 12.345, \"ring\": 12345, \"status\": -5, "
		"\"inferred\": [\"t\", \"busy\"], \"estimated\": []},\n"
		"  {\"name\": null, \"t\": null, \"busy\": null, \"ring\": 7, \"status\": 0, \"inferred\": [], "
		"\"estimated\": []},\n"
		"  {\"name\": \"x\\u001b[31m\\u000a\\ufffd\", \"t\": 1250000, \"busy\": 1250.000, \"ring\": "
		"1250000, \"status\": -125, \"inferred\": [\"t\", \"busy\"], \"estimated\": [\"t\", \"busy\"]}\n"
		"],\n"
		"\"notes\": [\n  \"first \\u0007 note\",\n  \"second\"\n]\n}\n");
}

static void csv_is_quoted(void **state)
{
	(void)state;
	expect_text(&writer_csv, false,
		    "name,t,busy,ring,status,inferred,estimated\r\n"
		    "plain,1,0.001,1,0,,\r\n"
		    "\"a,\"\"b\"\"\",12345,12.345,12345,-5,t busy,\r\n"
		    ",,,7,0,,\r\n"
		    "x\\x1b[31m\\x0a\\xff,1250000,1250.000,1250000,-125,t busy,t busy\r\n");
}

static void verbose_text_has_more_columns(void **state)
{
	char *got = write_all(&writer_text, true, false, rows, 1);

	(void)state;
	assert_non_null(strstr(got, "name      t           at   busy  ring\n"
				    "plain  1 ns  0.000001000  0.0 %  1\n"));
	free(got);
}

static void colour_is_only_for_titles(void **state)
{
	char *plain = write_all(&writer_text, false, false, rows, ROWS);
	char *got = write_all(&writer_text, false, true, rows, ROWS), *to = got;

	(void)state;
	assert_non_null(strstr(got, "\033[1msome things\033[0m\n"));
	for (const char *p = got; *p;) {
		if (!strncmp(p, "\033[1m", 4) || !strncmp(p, "\033[0m", 4))
			p += 4;
		else
			*to++ = *p++;
	}
	*to = '\0';
	assert_string_equal(got, plain);
	free(got);
	free(plain);
}

static void an_empty_table(void **state)
{
	char *text = write_all(&writer_text, false, false, rows, 0);
	char *json = write_all(&writer_json, false, false, rows, 0);
	char *csv = write_all(&writer_csv, false, false, rows, 0);

	(void)state;
	assert_non_null(strstr(text, "some things\n  none\n"));
	assert_non_null(strstr(json, "\"things\": [],\n"));
	assert_string_equal(csv, "name,t,busy,ring,status,inferred,estimated\r\n");
	free(text);
	free(json);
	free(csv);
}

/* Rows after those that decided the widths stream, and keep them. */
static void a_long_table_streams(void **state)
{
	static struct row many[1000];
	char *got, *line;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		many[i] = (struct row){.name = "same", .ns = 999};
	got = write_all(&writer_text, false, false, many, 1000);
	for (line = strstr(got, "same"); line && !strncmp(line, "same  999 ns  1.0 %  999\n", 25); line += 25)
		n++;
	assert_int_equal(n, 1000);
	free(got);
}

/* Enough of RFC 8259 to refuse what is no JSON. Return: behind the value, NULL for none */
static const char *json_value(const char *p);

static const char *json_space(const char *p)
{
	return p ? p + strspn(p, " \n\t\r") : NULL;
}

static const char *json_string(const char *p)
{
	if (*p++ != '"')
		return NULL;
	for (; *p != '"'; p++) {
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p != '\\')
			continue;
		p++;
		if (*p == 'u' && isxdigit(p[1]) && isxdigit(p[2]) && isxdigit(p[3]) && isxdigit(p[4]))
			p += 4;
		else if (!*p || !strchr("\"\\/bfnrt", *p))
			return NULL;
	}
	return p + 1;
}

static const char *json_list(const char *p, char end, bool keys)
{
	p = json_space(p + 1);
	if (*p == end)
		return p + 1;
	for (;;) {
		if (keys) {
			p = json_space(json_string(p));
			if (!p || *p++ != ':')
				return NULL;
		}
		p = json_space(json_value(json_space(p)));
		if (!p || (*p != ',' && *p != end))
			return NULL;
		if (*p++ == end)
			return p;
		p = json_space(p);
	}
}

static const char *json_value(const char *p)
{
	static const char *const words[] = {"null", "true", "false"};

	if (*p == '{' || *p == '[')
		return json_list(p, *p == '{' ? '}' : ']', *p == '{');
	if (*p == '"')
		return json_string(p);
	for (unsigned int i = 0; i < 3; i++)
		if (!strncmp(p, words[i], strlen(words[i])))
			return p + strlen(words[i]);
	if (!isdigit((unsigned char)*p) && *p != '-')
		return NULL;
	return p + strspn(p, "-0123456789.");
}

static void json_survives_any_name(void **state)
{
	struct row hostile[2] = {{.ns = 1}, {.ns = 2}};
	char name[33], *got;
	const char *end;

	(void)state;
	srand(7);
	for (unsigned int round = 0; round < 3000; round++) {
		for (unsigned int i = 0; i < 32; i++)
			name[i] = (char)(1 + rand() % 255);
		name[rand() % 33] = '\0';
		name[32] = '\0';
		hostile[0].name = hostile[1].name = name;
		got = write_all(&writer_json, false, false, hostile, 2);
		end = json_space(json_value(got));
		if (!end || *end)
			fail_msg("no JSON: %s", got);
		free(got);
	}
}

static void durations_have_three_digits(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} cases[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{1234, "1.23 us"},
		{9994, "9.99 us"},
		{9995, "10.0 us"},
		{12345, "12.3 us"},
		{99949, "99.9 us"},
		{99950, "100 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{1250000, "1.25 ms"},
		{999499999, "999 ms"},
		{999500000, "1.00 s"},
		{61000000000, "61.0 s"},
		{3600000000000, "3600 s"},
		{UINT64_MAX, "18446744074 s"},
	};
	char text[GRT_UNITS_MAX];

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		grt_units_ns(text, cases[i].ns);
		assert_string_equal(text, cases[i].want);
	}
}

static void times_and_percents(void **state)
{
	char text[GRT_UNITS_MAX];

	(void)state;
	grt_units_time(text, 12345678901);
	assert_string_equal(text, "12.345678901");
	grt_units_time(text, UINT64_MAX);
	assert_string_equal(text, "18446744073.709551615");
	grt_units_count(text, 0);
	assert_string_equal(text, "0");
	grt_units_count(text, 999);
	assert_string_equal(text, "999");
	grt_units_count(text, 1000);
	assert_string_equal(text, "1,000");
	grt_units_count(text, 123456);
	assert_string_equal(text, "123,456");
	grt_units_count(text, UINT64_MAX);
	assert_string_equal(text, "18,446,744,073,709,551,615");
	grt_units_percent(text, 12345);
	assert_string_equal(text, "12.3 %");
	grt_units_percent(text, 99950);
	assert_string_equal(text, "100.0 %");
	assert_string_equal(grt_engine_name(1), "graphics");
	assert_string_equal(grt_engine_name(200), "unknown");
	assert_string_equal(grt_event_title(GRT_EV_SYNC_WAIT_ENTER), "SYNC_WAIT_ENTER");
	assert_string_equal(grt_event_title(0), "unknown");
}

static void cells_have_an_order(void **state)
{
	const struct grt_column *t = grt_column_find(&table, "t"), *name = grt_column_find(&table, "name");
	const struct grt_column *status = grt_column_find(&table, "status");
	struct grt_cell small = {.number = 1}, large = {.number = 2}, none = {.absent = true};
	struct grt_cell a = {.text = "a"}, b = {.text = "b"}, minus = {.number = (uint64_t)-1};

	(void)state;
	assert_null(grt_column_find(&table, "nothing"));
	assert_true(grt_cell_order(t, &large, &small) < 0);
	assert_true(grt_cell_order(t, &small, &none) < 0);
	assert_true(grt_cell_order(t, &none, &small) > 0);
	assert_int_equal(grt_cell_order(t, &none, &none), 0);
	assert_true(grt_cell_order(name, &a, &b) < 0);
	assert_true(grt_cell_order(status, &small, &minus) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_aligned_and_safe),
		cmocka_unit_test(json_has_numbers_nulls_and_marks),
		cmocka_unit_test(csv_is_quoted),
		cmocka_unit_test(verbose_text_has_more_columns),
		cmocka_unit_test(colour_is_only_for_titles),
		cmocka_unit_test(an_empty_table),
		cmocka_unit_test(a_long_table_streams),
		cmocka_unit_test(json_survives_any_name),
		cmocka_unit_test(durations_have_three_digits),
		cmocka_unit_test(times_and_percents),
		cmocka_unit_test(cells_have_an_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
