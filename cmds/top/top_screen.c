// SPDX-License-Identifier: GPL-2.0
/*
 * The screen of `grtrace top`, by ncurses. The tables are the same as in the text form: the writer formats
 * their lines, cuts them to the width and escapes texts. This file places the lines and handles the keys.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/compare.h"
#include "base/escape.h"
#include "base/memfile.h"
#include "base/units.h"
#include "cmds/cmd.h"
#include "table/analysis.h"
#include "top.h"

int top_screen_usage(void)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return cmd_usage_error("standard output is no terminal: use -b");
	if (!term || !*term || !strcmp(term, "dumb"))
		return cmd_usage_error("this terminal has no screen ($TERM): use -b");
#ifndef GRT_HAVE_CURSES
	return cmd_fail(EXIT_MISSING, "this program was built without ncurses",
			"grtrace top -b; or install libncurses-dev and build again", "no screen");
#endif
	return EXIT_DONE;
}

#ifdef GRT_HAVE_CURSES

#include <curses.h>

#define ESCAPE_KEY 27
#define LINES_LEAST 6
/* ncurses may report a click as press, as click, or as both. Handling a click twice does no harm. */
#define SCREEN_CLICK (BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON1_CLICKED)
/* Width of a GPU's name before its bars; the bars fill the rest of 80 columns. */
#define SCREEN_BAR_NAME 11
/* Size of the text of a table, with its terminating NUL. */
#define COLUMNS 32

/** enum screen_view - the large table */
enum screen_view {
	SCREEN_PROCESSES,
	SCREEN_GPUS,
	SCREEN_RINGS,
	SCREEN_VIEWS,
	SCREEN_ONE = SCREEN_VIEWS, /* rings and engines of one process */
	SCREEN_TABLES,
};

static const struct screen_kind {
	const char *name;
	const struct grt_table *table;
	const char *sort;
} kinds[SCREEN_TABLES] = {
	[SCREEN_PROCESSES] = {"processes", &top_process_table, "share"},
	[SCREEN_GPUS] = {"GPUs", &top_gpu_table, NULL},
	[SCREEN_RINGS] = {"rings", &top_engine_table, "busy"},
	[SCREEN_ONE] = {"process", &top_share_table, "share"},
};

/** struct screen_header - the place of a table's column names; @line: -1: not on the screen */
struct screen_header {
	int line;
	const struct grt_table *table;
	char text[512];
};

/**
 * struct screen - the state of the screen
 * @view: the large table; @sort: its order, by view
 * @pid: the process of SCREEN_ONE
 * @chosen: the marked row, among those shown; @first: the first row that has a line
 * @rows: rows that are shown; @pids: their processes, if they have one
 * @filter: only rows with this text are shown; @typing: the user is typing it
 * @line: line of the first row; @on_screen: number of rows with a line; @header: the header of their table
 * @said: message of a source, shown until the next key
 */
static struct screen {
	SCREEN *terminal;
	enum screen_view view;
	const struct grt_column *sort[SCREEN_TABLES];
	uint32_t pid;
	uint32_t chosen;
	uint32_t first;
	uint32_t rows;
	uint32_t *pids;
	int line;
	uint32_t on_screen;
	struct screen_header header;
	char filter[40];
	bool typing;
	bool utf8;
	bool shown;
	char said[GRT_ESCAPED_MAX(TOP_LAST_TEXT)];
} screen;

/* ---------------------------------------------------------------------- lines */

/* Writes a text, cut to the width of the screen. */
static void screen_put(int y, int attributes, const char *text)
{
	mbstate_t state = {0};
	const char *p = text;
	int width = 0;
	wchar_t c;

	for (size_t n; *p; p += n) {
		n = mbrtowc(&c, p, MB_CUR_MAX, &state);
		if (n == (size_t)-1 || n == (size_t)-2 || width + (wcwidth(c) > 0 ? wcwidth(c) : 0) > COLS)
			break;
		width += wcwidth(c) > 0 ? wcwidth(c) : 0;
	}
	attrset(attributes);
	mvaddnstr(y, 0, text, (int)(p - text));
	if (attributes)
		mvchgat(y, 0, -1, (attr_t)attributes, 0, NULL);
	attrset(A_NORMAL);
}

/** struct screen_lines - the lines of a table's @text: @title, @header, and pointers to the rows */
struct screen_lines {
	char *text;
	char *header;
	char **row;
	uint32_t rows;
};

static void screen_free_lines(struct screen_lines *l)
{
	free(l->text);
	free(l->row);
}

/* The title is what precedes the header. */
static int screen_split(struct screen_lines *l, uint64_t n)
{
	char *rest = l->text, *line;
	bool titled = false;

	l->row = calloc(n + 1, sizeof(*l->row));
	if (!l->row)
		return -ENOMEM;
	while (l->rows < n && (line = strsep(&rest, "\n")))
		if (!*line)
			continue;
		else if (!titled)
			titled = true;
		else if (!l->header)
			l->header = line;
		else
			l->row[l->rows++] = line;
	return 0;
}

static bool screen_has_value(const struct grt_column *c, const struct top *t, void **rows, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (!grt_column_get(c, t, rows[i]).absent)
			return true;
	return false;
}

/* The title of the process has these for all rows. */
static bool screen_is_titled(const struct grt_column *c)
{
	return screen.view == SCREEN_ONE && (!strcmp(c->name, "pid") || !strcmp(c->name, "process"));
}

/* Columns that say nothing are left out, to make room for the others. */
static void screen_cut_columns(struct grt_column cut[COLUMNS], const struct grt_table *table,
			       const struct top *t, void **rows, uint64_t n)
{
	unsigned int used = 0;

	for (const struct grt_column *c = table->columns; c->name && used < COLUMNS - 1; c++)
		if (c == table->columns || (!screen_is_titled(c) && (!n || screen_has_value(c, t, rows, n))))
			cut[used++] = *c;
	cut[used] = (struct grt_column){.name = NULL};
}

static int screen_lines(struct screen_lines *l, const struct top *t, const struct grt_table *whole,
			void **rows, uint64_t n)
{
	struct grt_writer_options o = {.width = (uint64_t)COLS, .utf8 = screen.utf8};
	struct grt_column columns[COLUMNS];
	const struct grt_table part = {whole->name, whole->title, columns, whole->marks}, *table = &part;
	struct grt_memfile memory;
	struct grt_writer *w = NULL;
	int ret = 0;

	*l = (struct screen_lines){.text = NULL};
	screen_cut_columns(columns, whole, t, rows, n);
	o.out = grt_memfile_open(&memory);
	if (!o.out)
		return -ENOMEM;
	ret = grt_writer_new(&w, &writer_text, &o);
	if (!ret) {
		grt_writer_begin(w);
		ret = grt_writer_list(w, table, t, rows, n);
		grt_writer_end(w);
	}
	grt_writer_free(w);
	l->text = grt_memfile_close(&memory, o.out, NULL);
	if (!l->text)
		return -ENOMEM;
	return ret ?: screen_split(l, n);
}

/* ----------------------------------------------------------------------- rows */

static int screen_by_pid(const void *a, const void *b)
{
	uint32_t x = ((const struct top_process *)a)->pid, y = ((const struct top_process *)b)->pid;

	return grt_compare(x, y);
}

/* Lists pointers to the rows of a view. Return: their number, or -ENOMEM */
static int64_t screen_rows(const struct top *t, enum screen_view view, void ***out)
{
	const struct grt_keyed *k = view == SCREEN_PROCESSES ? &t->processes : &t->gpus;
	uint64_t n = view == SCREEN_RINGS ? t->engines : view == SCREEN_ONE ? t->on_engines : k->used;
	void **rows = calloc(n + 1, sizeof(*rows));
	uint64_t used = 0;

	*out = rows;
	if (!rows)
		return -ENOMEM;
	if (view == SCREEN_PROCESSES || view == SCREEN_GPUS)
		for (void *at = grt_keyed_oldest(k); at; at = grt_keyed_next(k, at))
			rows[used++] = at;
	else if (view == SCREEN_RINGS)
		for (; used < n; used++)
			rows[used] = &t->engine[used];
	else
		for (uint64_t i = 0; i < n; i++)
			if (t->share[i].pid == screen.pid)
				rows[used++] = &t->share[i];
	grt_rows_sort(rows, used, screen.sort[view], t,
		      view == SCREEN_GPUS	 ? top_by_device
		      : view == SCREEN_PROCESSES ? screen_by_pid
						 : NULL);
	return (int64_t)used;
}

/* Lists the stacks of the process, the longest time first. Return: their number, or -ENOMEM */
static int64_t screen_stacks(const struct top *t, void ***out)
{
	void **rows = calloc(t->stacks.shown.used + 1, sizeof(*rows));
	uint64_t used = 0;

	*out = rows;
	if (!rows)
		return -ENOMEM;
	for (struct top_stack *s = grt_keyed_oldest(&t->stacks.shown); s;
	     s = grt_keyed_next(&t->stacks.shown, s))
		if (s->pid == screen.pid)
			rows[used++] = s;
	grt_rows_sort(rows, used, grt_column_find(&top_stack_table, "time"), t, NULL);
	return (int64_t)used;
}

static uint32_t screen_pid_of(enum screen_view view, const void *row)
{
	return view == SCREEN_PROCESSES ? ((const struct top_process *)row)->pid
	       : view == SCREEN_ONE	? ((const struct top_share *)row)->pid
					: 0;
}

/* Keeps only the rows that contain the filter's text. Return: 0 or -ENOMEM */
static int screen_filter(struct screen_lines *l, void **rows)
{
	uint32_t left = 0;

	free(screen.pids);
	screen.pids = calloc(l->rows + 1, sizeof(*screen.pids));
	if (!screen.pids)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->rows; i++)
		if (!screen.filter[0] || strcasestr(l->row[i], screen.filter)) {
			screen.pids[left] = screen_pid_of(screen.view, rows[i]);
			l->row[left++] = l->row[i];
		}
	l->rows = screen.rows = left;
	return 0;
}

/* -------------------------------------------------------------------- drawing */

/* Draws the last updates of a GPU, the newest one to the right; a blank: unknown. */
static void screen_put_history(int y, const struct top *t, const struct top_gpu *gpu)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char plain[] = "_.:-=+*#";
	char name[GRT_ESCAPED_MAX(64)], text[512];
	uint64_t n = gpu->updates < TOP_HISTORY ? gpu->updates : TOP_HISTORY;
	const char *called = top_gpu_name(t, gpu);
	int used;

	grt_escape(GRT_ESCAPE_TERM, name, sizeof(name), called ? called : "-", 64);
	/* of a long name, the part after the last blank is the address on the bus */
	if (strlen(name) > SCREEN_BAR_NAME)
		name[strcspn(name, " ")] = '\0';
	used = snprintf(text, sizeof(text), "%-*.*s busy ", SCREEN_BAR_NAME, SCREEN_BAR_NAME, name);
	for (uint64_t i = gpu->updates - n; i < gpu->updates; i++) {
		uint8_t percent = gpu->history[i % TOP_HISTORY];
		unsigned int bar = percent * 8U / 101;

		if (percent > 100)
			used += snprintf(text + used, sizeof(text) - (size_t)used, " ");
		else if (screen.utf8)
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%s", bars[bar]);
		else
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%c", plain[bar]);
	}
	screen_put(y, A_NORMAL, text);
}

static void screen_put_head(const struct top *t)
{
	char text[512], span[GRT_UNITS_MAX], rate[40] = "";
	uint64_t ns = t->to - t->from, jobs = t->now.jobs - t->before.jobs;

	/* 0 may mean that no source records them */
	if (t->now.jobs)
		snprintf(rate, sizeof(rate), "%" PRIu64 " %s/s | ",
			 ns ? (uint64_t)((unsigned __int128)jobs * GRT_NS_PER_S / ns) : 0,
			 strstr(t->sources, "cuda") ? "jobs and kernels" : "jobs");
	grt_units_ns(span, ns);
	snprintf(text, sizeof(text), "grtrace top | last %s | %slost %" PRIu64 ", in all %" PRIu64 " | %s",
		 span, rate, t->now.lost - t->before.lost, t->now.lost, t->sources);
	screen_put(0, A_BOLD, text);
}

/*
 * Draws each GPU with its last minute, and with its numbers unless the large table has them. Return: the next
 * free line, or -ENOMEM
 */
static int screen_put_gpus(const struct top *t, int y)
{
	bool named = screen.view != SCREEN_GPUS;
	struct screen_lines l;
	void **rows;
	int64_t n = screen_rows(t, SCREEN_GPUS, &rows);
	int ret = n < 0 ? (int)n : screen_lines(&l, t, &top_gpu_table, rows, (uint64_t)n);

	if (!ret && named && l.header)
		screen_put(y++, A_UNDERLINE, l.header);
	for (uint32_t i = 0; !ret && named && i < l.rows && y + 1 < LINES / 2; i++)
		screen_put(y++, A_NORMAL, l.row[i]);
	for (int64_t i = 0; !ret && i < n && y < LINES / 2; i++)
		screen_put_history(y++, t, rows[i]);
	if (!ret)
		screen_free_lines(&l);
	free(rows);
	return ret ?: y;
}

/* Writes the process of SCREEN_ONE. Its name is unknown once it is on no GPU. */
static void screen_name_one(const struct top *t, char *text, size_t room)
{
	const struct top_process *p = grt_keyed_oldest(&t->processes);
	struct grt_cell cell = {.absent = true};
	char name[GRT_ESCAPED_MAX(64)];

	while (p && p->pid != screen.pid)
		p = grt_keyed_next(&t->processes, p);
	if (p)
		cell = grt_column_get(grt_column_find(&top_process_table, "process"), t, p);
	grt_escape(GRT_ESCAPE_TERM, name, sizeof(name), cell.absent ? "" : cell.text, 64);
	snprintf(text, room, " %" PRIu32 "%s%s", screen.pid, name[0] ? " " : "", name);
}

static void screen_put_title(const struct top *t, int y)
{
	char text[512], one[GRT_ESCAPED_MAX(64) + 16] = "";

	if (screen.view == SCREEN_ONE)
		screen_name_one(t, one, sizeof(one));
	snprintf(text, sizeof(text), "%s%s by %s%s%s", kinds[screen.view].name, one,
		 screen.sort[screen.view] ? screen.sort[screen.view]->name : "number",
		 screen.filter[0] ? ", with " : "", screen.filter);
	screen_put(y, A_BOLD, text);
}

static void screen_put_rows(int y, const struct screen_lines *l, int end)
{
	uint32_t room = end > y ? (uint32_t)(end - y) : 0;

	if (screen.chosen >= l->rows)
		screen.chosen = l->rows ? l->rows - 1 : 0;
	if (screen.chosen < screen.first)
		screen.first = screen.chosen;
	if (room && screen.chosen >= screen.first + room)
		screen.first = screen.chosen - room + 1;
	screen.line = y;
	screen.on_screen = l->rows - screen.first < room ? l->rows - screen.first : room;
	for (uint32_t i = screen.first; i < l->rows && i < screen.first + room; i++)
		screen_put(y++, i == screen.chosen ? A_REVERSE : A_NORMAL, l->row[i]);
}

static const char *screen_stacks_title(const struct top *t, int64_t n)
{
	if (t->stacks.any)
		return n ? "hottest submit stacks" : "hottest submit stacks: no work ended";
	return "hottest submit stacks: unknown; top --stack records them";
}

/* Draws the stacks that submitted the work of the process, as many as fit. Return: 0 or -ENOMEM */
static int screen_put_stacks(const struct top *t, int y)
{
	struct screen_lines l;
	void **rows;
	int64_t n = screen_stacks(t, &rows), lines = n < LINES ? n : LINES;
	int ret = n < 0 ? (int)n : screen_lines(&l, t, &top_stack_table, rows, (uint64_t)lines);

	free(rows);
	if (ret)
		return ret;
	screen_put(y++, A_BOLD, screen_stacks_title(t, n));
	if (l.header && n && y < LINES - 1)
		screen_put(y++, A_UNDERLINE, l.header);
	for (uint32_t i = 0; i < l.rows && y < LINES - 1; i++)
		screen_put(y++, A_NORMAL, l.row[i]);
	screen_free_lines(&l);
	return 0;
}

/* Return: the line after the last row of the view; stacks get the lower half of the remaining lines */
static int screen_end_of_rows(int y, uint32_t rows)
{
	int room = LINES - 1 - y, half = room / 2;

	if (screen.view != SCREEN_ONE || room < 4)
		return LINES - 1;
	return y + ((int64_t)rows < half ? (int)rows : half);
}

static void screen_remember_header(int y, const struct grt_table *table, const char *text)
{
	screen.header.line = y;
	screen.header.table = table;
	snprintf(screen.header.text, sizeof(screen.header.text), "%s", text);
}

static int screen_put_table(const struct top *t, int y)
{
	struct screen_lines l;
	void **rows;
	int64_t n = screen_rows(t, screen.view, &rows);
	int ret = n < 0 ? (int)n : screen_lines(&l, t, kinds[screen.view].table, rows, (uint64_t)n), end;

	if (ret) {
		free(rows);
		return ret;
	}
	ret = screen_filter(&l, rows);
	screen_put_title(t, y++);
	if (l.header && l.rows) {
		screen_remember_header(y, kinds[screen.view].table, l.header);
		screen_put(y++, A_UNDERLINE, l.header);
	}
	end = screen_end_of_rows(y, l.rows);
	if (!ret)
		screen_put_rows(y, &l, end);
	if (!ret && end < LINES - 2)
		ret = screen_put_stacks(t, end);
	screen_free_lines(&l);
	free(rows);
	return ret;
}

/* Writes how much time a recording would have now. */
static void screen_kept(const struct top *t, char *text, size_t room)
{
	char span[GRT_UNITS_MAX], size[GRT_UNITS_MAX];
	uint64_t ns, bytes;

	text[0] = '\0';
	if (!t || !t->last)
		return;
	top_last_held(t->last, &ns, &bytes);
	grt_units_ns(span, ns);
	grt_units_amount(size, sizeof(size), (int64_t)bytes * 1000, "B");
	snprintf(text, room, "  r record %s (%s)", span, size);
}

static void screen_put_foot(const struct top *t)
{
	char text[240], kept[2 * GRT_UNITS_MAX + 16];

	screen_kept(t, kept, sizeof(kept));
	if (screen.typing)
		snprintf(text, sizeof(text), "/%s", screen.filter);
	else if (screen.view == SCREEN_ONE)
		snprintf(text, sizeof(text), "Esc back  s sort  / filter  q quit%s", kept);
	else
		snprintf(text, sizeof(text), "Tab view  s sort  / filter  Enter details  q quit%s", kept);
	screen_put(LINES - 1, A_REVERSE, screen.said[0] && !screen.typing ? screen.said : text);
}

int top_screen_show(struct top *t)
{
	int y = 1, ret = 0;

	screen.shown = true;
	screen.header.line = -1;
	screen.on_screen = 0;
	erase();
	screen_put_head(t);
	if (LINES >= LINES_LEAST)
		y = screen_put_gpus(t, y);
	if (y >= 0)
		ret = screen_put_table(t, y);
	if (LINES > 1)
		screen_put_foot(t);
	refresh();
	return y < 0 ? y : ret;
}

/* ----------------------------------------------------------------------- keys */

/* After a sequence of the mouse, ncurses returns the next key as the terminal sent it. */
static bool screen_is_enter(int key)
{
	return key == '\n' || key == '\r' || key == KEY_ENTER;
}

/* The header lacks columns without a value or without room. Without rows, there is no header. */
static bool screen_is_sortable(const struct grt_column *c)
{
	const struct screen_header *h = &screen.header;
	size_t length = strlen(c->name);

	if (!(c->where & GRT_COLUMN_BRIEF))
		return false;
	for (const char *at = h->line < 0 ? NULL : strstr(h->text, c->name); at; at = strstr(at + 1, c->name))
		if ((at == h->text || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return h->line < 0;
}

/* Sorts by the next column that is on the screen. */
static void screen_sort_next(void)
{
	const struct grt_table *table = kinds[screen.view].table;
	const struct grt_column *c = screen.sort[screen.view];

	do
		c = c && c[1].name ? c + 1 : table->columns;
	while (!screen_is_sortable(c));
	screen.sort[screen.view] = c;
}

static void screen_turn_to(enum screen_view view)
{
	screen.view = view;
	screen.chosen = screen.first = 0;
}

static void screen_type(int key)
{
	size_t length = strlen(screen.filter);

	if (screen_is_enter(key) || key == ESCAPE_KEY) {
		screen.typing = false;
		if (key == ESCAPE_KEY)
			screen.filter[0] = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length) {
		screen.filter[length - 1] = '\0';
	} else if (key >= ' ' && key < 127 && length + 1 < sizeof(screen.filter)) {
		screen.filter[length] = (char)key;
		screen.filter[length + 1] = '\0';
	}
}

static void screen_move(int key)
{
	int64_t by = key == KEY_UP ? -1 : key == KEY_DOWN ? 1 : key == KEY_PPAGE ? -(LINES / 2) : LINES / 2;
	int64_t to = key == KEY_HOME ? 0 : key == KEY_END ? (int64_t)screen.rows - 1 : screen.chosen + by;

	if (to >= (int64_t)screen.rows)
		to = (int64_t)screen.rows - 1;
	screen.chosen = to < 0 ? 0 : (uint32_t)to;
}

static void screen_enter(void)
{
	if (screen.view != SCREEN_PROCESSES || screen.chosen >= screen.rows)
		return;
	screen.pid = screen.pids[screen.chosen];
	screen.filter[0] = '\0';
	screen_turn_to(SCREEN_ONE);
}

/* A filter is for the rows that it was typed for: another table may have none with its text. */
static void screen_leave(void)
{
	screen.filter[0] = '\0';
	if (screen.view == SCREEN_ONE)
		screen_turn_to(SCREEN_PROCESSES);
}

/* Finds the column whose name is at a position in the header, or next to it; NULL: none */
static const struct grt_column *screen_column_at(const struct screen_header *h, int x)
{
	const char *best = NULL, *word = h->text + strspn(h->text, " ");
	size_t length, best_length = 0;
	int off, least = INT_MAX;
	char name[64];

	for (; *word; word += length, word += strspn(word, " ")) {
		length = strcspn(word, " ");
		off = x < (int)(word - h->text) ? (int)(word - h->text) - x
						: x - (int)(word - h->text + length) + 1;
		off = off < 0 ? 0 : off;
		if (off >= least)
			continue;
		least = off;
		best = word;
		best_length = length;
	}
	snprintf(name, sizeof(name), "%.*s", (int)best_length, best ? best : "");
	return grt_column_find(h->table, name);
}

static void screen_click(int x, int y)
{
	if (screen.header.line >= 0 && y == screen.header.line)
		screen.sort[screen.view] = screen_column_at(&screen.header, x) ?: screen.sort[screen.view];
	else if (y >= screen.line && y < screen.line + (int)screen.on_screen)
		screen.chosen = screen.first + (uint32_t)(y - screen.line);
}

static void screen_mouse(void)
{
	MEVENT e;

	if (getmouse(&e) != OK)
		return;
	if (e.bstate & BUTTON4_PRESSED)
		screen_move(KEY_UP);
	else if (e.bstate & BUTTON5_PRESSED)
		screen_move(KEY_DOWN);
	else if (e.bstate & SCREEN_CLICK)
		screen_click(e.x, e.y);
}

static void screen_save(struct top *t)
{
	char text[TOP_LAST_TEXT];

	top_save(t, text);
	top_screen_say(text);
}

/* Return: 0 or TOP_STOP */
static int screen_key(struct top *t, int key)
{
	screen.said[0] = '\0';
	if (key == KEY_MOUSE)
		screen_mouse();
	else if (screen.typing)
		screen_type(key);
	else if (key == 'q')
		return TOP_STOP;
	else if (key == '\t')
		screen_turn_to(screen.view + 1 < SCREEN_VIEWS ? screen.view + 1 : SCREEN_PROCESSES);
	else if (key == 's')
		screen_sort_next();
	else if (key == 'r' && t->last)
		screen_save(t);
	else if (key == '/')
		screen.typing = true;
	else if (screen_is_enter(key))
		screen_enter();
	else if (key == ESCAPE_KEY)
		screen_leave();
	else if (key == KEY_UP || key == KEY_DOWN || key == KEY_PPAGE || key == KEY_NPAGE ||
		 key == KEY_HOME || key == KEY_END)
		screen_move(key);
	return 0;
}

/* Keys may come together: each refers to the rows as the key before it left them, so each one is shown. */
int top_screen_keys(struct top *t)
{
	int key, ret = 0;

	while (!ret && (key = getch()) != ERR)
		ret = screen_key(t, key) ?: screen.shown ? top_screen_show(t) : 0;
	return ret;
}

/* ------------------------------------------------------------------- terminal */

void top_screen_open(struct top *t)
{
	setlocale(LC_CTYPE, "");
	screen = (struct screen){.utf8 = terminal_utf8()};
	for (unsigned int i = 0; i < SCREEN_TABLES; i++)
		screen.sort[i] = kinds[i].sort ? grt_column_find(kinds[i].table, kinds[i].sort) : NULL;
	initscr();
	set_escdelay(25);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	mousemask(SCREEN_CLICK | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	screen_put(0, A_BOLD, "grtrace top: the first update comes in a moment");
	screen_put_foot(NULL);
	refresh();
}

void top_screen_say(const char *text)
{
	grt_escape(GRT_ESCAPE_TERM, screen.said, sizeof(screen.said), text, strlen(text));
}

void top_screen_close(void)
{
	endwin();
	setlocale(LC_CTYPE, "C");
	free(screen.pids);
	screen.pids = NULL;
}

#else

void top_screen_open(struct top *t)
{
}

int top_screen_keys(struct top *t)
{
	return TOP_STOP;
}

int top_screen_show(struct top *t)
{
	return 0;
}

void top_screen_say(const char *text)
{
}

void top_screen_close(void)
{
}

#endif
