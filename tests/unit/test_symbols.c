// SPDX-License-Identifier: GPL-2.0
/*
 * Names of addresses: programs that are compiled here, with inlined functions,
 * templates, names of Rust, stripped and with their debug files elsewhere;
 * perf-PID.map, kallsyms; what lies where; files that are no object files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/demangle.h"
#include "stack/symbols.h"
#include "stack/text_map.h"
#include "trace_maker.h"

static char *dir;

static int make_dir(void **state)
{
	(void)state;
	dir = tm_tmpdir();
	return dir ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	tm_remove(dir);
	free(dir);
	return 0;
}

static void write_file(const char *name, const char *text, size_t length)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, length, f), length);
	assert_int_equal(fclose(f), 0);
}

static const char *in_dir(const char *name)
{
	static char path[4][512];
	static unsigned int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

/* Runs a command of the toolchain in the directory. */
static void sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void sh(const char *fmt, ...)
{
	char text[2048];
	va_list ap;
	int n = snprintf(text, sizeof(text), "cd '%s' && exec 2>log && ", dir);

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	if (system(text))
		fail_msg("%s", text);
}

/* A word that a command prints. */
static const char *word(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static const char *word(const char *fmt, ...)
{
	static char out[256];
	char text[1024];
	va_list ap;
	FILE *f;
	int n = snprintf(text, sizeof(text), "cd '%s' && ", dir);

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	f = popen(text, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%255s", out), 1);
	pclose(f);
	return out;
}

static uint64_t address_of(const char *file, const char *symbol)
{
	return strtoull(word("nm %s | awk '$3 == \"%s\" { print $1 }'", file, symbol), NULL, 16);
}

static const char *build_id_of(const char *file)
{
	return word("readelf -n %s | awk '/Build ID/ { print $3 }'", file);
}

static struct grt_symbols *begin(const char *directory)
{
	const struct grt_symbols_options options = {.directory = directory};
	struct grt_symbols *s;

	assert_int_equal(grt_symbols_new(&s, &options), 0);
	return s;
}

/* What stands at an address of a file. */
static struct grt_symbols_found at(struct grt_symbols *s, const char *path, const char *build_id,
				   uint64_t address)
{
	struct grt_symbols_found found;
	uint32_t object;

	assert_int_equal(grt_symbols_object(s, path, build_id, &object), 0);
	assert_int_not_equal(object, GRT_SYMBOLS_NO_OBJECT);
	assert_int_equal(grt_symbols_at(s, object, address, &found), 0);
	return found;
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

/* ---------------------------------------------------------- object files */

static const char inline_c[] = "volatile int sink;\n"
			       "static inline __attribute__((always_inline)) void deepest(int x)\n"
			       "{\n"
			       "	sink = x;\n"
			       "	asm volatile(\".globl mark\\nmark: nop\");\n"
			       "}\n"
			       "static inline __attribute__((always_inline)) void middle(int x)\n"
			       "{\n"
			       "	deepest(x * 2);\n"
			       "}\n"
			       "__attribute__((noinline)) void outer(int x)\n"
			       "{\n"
			       "	middle(x + sink);\n"
			       "}\n"
			       "static __attribute__((noinline)) void hidden(void)\n"
			       "{\n"
			       "	sink++;\n"
			       "}\n"
			       "int main(void)\n"
			       "{\n"
			       "	outer(3);\n"
			       "	hidden();\n"
			       "	return 0;\n"
			       "}\n";

static void check_inlined(const struct grt_symbols_found *f)
{
	assert_int_equal(f->how, GRT_SYMBOLS_DEBUG);
	assert_int_equal(f->frames, 3);
	assert_string_equal(f->frame[0].function, "deepest");
	assert_true(ends_with(f->frame[0].file, "/inline.c"));
	assert_int_equal(f->frame[0].line, 5);
	assert_true(f->frame[0].inlined);
	assert_string_equal(f->frame[1].function, "middle");
	assert_int_equal(f->frame[1].line, 9);
	assert_true(f->frame[1].inlined);
	assert_string_equal(f->frame[2].function, "outer");
	assert_true(ends_with(f->frame[2].file, "/inline.c"));
	assert_int_equal(f->frame[2].line, 13);
	assert_false(f->frame[2].inlined);
}

/* Skips where the program was built without elfutils: then it says so itself. */
static void need_objects(void)
{
	if (!grt_symbols_can()) {
		print_message("no elfutils: apt-get install libdw-dev\n");
		skip();
	}
}

static struct grt_symbols *begin_objects(void)
{
	need_objects();
	return begin(NULL);
}

/* An inlined function of another file: what it is stands in another unit than where it is. */
static void inlined_across_files(void **state)
{
	static const char caller[] = "extern void callee(int x);\n"
				     "volatile int sink;\n"
				     "__attribute__((noinline)) void outer(int x)\n"
				     "{\n"
				     "	callee(x);\n"
				     "	sink += 3;\n"
				     "}\n"
				     "int main(int argc, char **argv)\n"
				     "{\n"
				     "	outer(argc + !argv);\n"
				     "	return 0;\n"
				     "}\n";
	static const char callee[] = "extern volatile int sink;\n"
				     "void callee(int x)\n"
				     "{\n"
				     "	sink += x;\n"
				     "	__asm__ volatile(\".globl mark\\nmark:\");\n"
				     "	sink *= 5;\n"
				     "}\n";
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;

	(void)state;
	write_file("caller.c", caller, sizeof(caller) - 1);
	write_file("callee.c", callee, sizeof(callee) - 1);
	sh("cc -O2 -g -flto -o across caller.c callee.c");
	f = at(s, in_dir("across"), NULL, address_of("across", "mark"));
	assert_int_equal(f.frames, 2);
	assert_string_equal(f.frame[0].function, "callee");
	assert_true(ends_with(f.frame[0].file, "/callee.c"));
	assert_true(f.frame[0].inlined);
	assert_string_equal(f.frame[1].function, "outer");
	assert_true(ends_with(f.frame[1].file, "/caller.c"));
	assert_int_equal(f.frame[1].line, 5);
	grt_symbols_free(s);
}

static void inlined(void **state)
{
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;
	uint64_t mark;

	(void)state;
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	/* with and without a table of what unit an address is in, old and new DWARF, compressed */
	for (const char *const *flags =
		     (const char *const[]){"-gdwarf-5", "-gdwarf-4", "-gdwarf-5 -gz", NULL};
	     *flags; flags++) {
		sh("cc -O2 %s -o inline inline.c", *flags);
		mark = address_of("inline", "mark");
		f = at(s, in_dir("inline"), build_id_of("inline"), mark);
		check_inlined(&f);
		assert_string_equal(f.object, "inline");
		grt_symbols_free(s);
		s = begin(NULL);
	}
	/* kept */
	f = at(s, in_dir("inline"), NULL, mark);
	f = at(s, in_dir("inline"), NULL, mark);
	check_inlined(&f);
	assert_int_equal(grt_symbols_count(s)->asked, 1);
	grt_symbols_free(s);
}

static void no_units_table(void **state)
{
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;

	(void)state;
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	sh("cc -O2 -g -o full inline.c && objcopy -R .debug_aranges full bare");
	f = at(s, in_dir("bare"), NULL, address_of("full", "mark"));
	check_inlined(&f);
	grt_symbols_free(s);
}

/* For who may open nothing: the file with the DWARF is open already, and is not mistaken for another one's.
 */
static void given_debug_file(void **state)
{
	struct grt_symbols_options options = {.no_separate = true};
	struct grt_symbols_found f;
	struct grt_symbols *s;
	uint64_t mark;

	(void)state;
	need_objects();
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	sh("cc -O2 -g -o inline inline.c && objcopy --only-keep-debug inline away && strip -o bare inline");
	mark = address_of("inline", "mark");
	for (int given = 0; given < 2; given++) {
		options.debug_fd = given ? open(in_dir("away"), O_RDONLY | O_CLOEXEC) : 0;
		assert_int_equal(grt_symbols_new(&s, &options), 0);
		f = at(s, in_dir("bare"), NULL, mark);
		if (given)
			check_inlined(&f);
		else
			assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);
		grt_symbols_free(s);
	}
}

static void symbols_only(void **state)
{
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;
	uint64_t hidden;

	(void)state;
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	sh("cc -O2 -o plain inline.c && cp plain stripped && strip stripped");
	hidden = address_of("plain", "hidden");
	f = at(s, in_dir("plain"), NULL, hidden + 1);
	assert_int_equal(f.how, GRT_SYMBOLS_TABLE);
	assert_int_equal(f.frames, 1);
	assert_string_equal(f.frame[0].function, "hidden");
	assert_string_equal(f.frame[0].file, "");
	f = at(s, in_dir("stripped"), NULL, hidden + 1);
	assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);
	assert_true(!strncmp(f.frame[0].function, "stripped+0x", 11));
	assert_int_equal(grt_symbols_count(s)->unnamed, 1);
	grt_symbols_free(s);
}

/* As assembler and crti.o leave them. */
static void without_sizes(void **state)
{
	static const char code[] = "\t.section .init, \"ax\"\n\t.globl first\n\t.type first, %function\n"
				   "first:\t.zero 16\n"
				   "\t.text\n\t.zero 64\n\t.globl sized\n\t.type sized, %function\n"
				   "sized:\t.zero 16\n\t.size sized, 16\n\t.zero 16\n"
				   "\t.globl loose\n\t.type loose, %function\n"
				   "loose:\t.zero 16\n\t.globl behind\n\t.type behind, %function\n"
				   "behind:\t.zero 16\n\t.size behind, 16\n\t.zero 16\n"
				   "\t.globl last\n\t.type last, %function\nlast:\t.zero 16\n";
	static const struct {
		const char *symbol;
		int64_t away;
		const char *function;
	} expected[] = {
		{"first", 0, "first"},	 {"first", 15, "first"},   {"first", 16, NULL},
		{"sized", -64, NULL},	 {"sized", -1, NULL},	   {"sized", 15, "sized"},
		{"sized", 16, NULL},	 {"loose", -1, NULL},	   {"loose", 15, "loose"},
		{"behind", 0, "behind"}, {"behind", 15, "behind"}, {"behind", 16, NULL},
		{"last", 15, "last"},	 {"last", 16, NULL},
	};
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;

	(void)state;
	write_file("sizes.s", code, sizeof(code) - 1);
	sh("cc -shared -nostdlib -o sizes.so sizes.s");
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		f = at(s, in_dir("sizes.so"), NULL,
		       address_of("sizes.so", expected[i].symbol) + (uint64_t)expected[i].away);
		if (expected[i].function)
			assert_string_equal(f.frame[0].function, expected[i].function);
		else
			assert_memory_equal(f.frame[0].function, "sizes.so+0x", 11);
	}
	grt_symbols_free(s);
}

/* The name that perf would show: one that is not weak, then global, with few underscores, then the longest.
 */
static void aliases(void **state)
{
	static const char code[] = "\t.macro alias bind, name\n\t.\\bind \\name\n\t.type \\name, %function\n"
				   "\t.size \\name, 16\n\\name:\n\t.endm\n"
				   "\t.text\n\talias globl malloc\n\talias local __GI___libc_malloc\n"
				   "\talias globl __libc_malloc\n\t.zero 16\n"
				   "\talias weak ioctl\n\talias globl __ioctl\n\t.zero 16\n"
				   "\talias local longer_local\n\talias weak longest_and_weak\n\t.zero 16\n"
				   "\talias globl abcd\n\talias globl ab\n\t.zero 16\n"
				   "\t.symver named, write@@@GRT_1.0\n\talias globl named\n\t.zero 16\n";
	static const char *const expected[] = {"malloc", "__ioctl", "longer_local", "abcd", "write"};
	struct grt_symbols *s = begin_objects();
	uint64_t first;

	(void)state;
	write_file("aliases.s", code, sizeof(code) - 1);
	write_file("aliases.map", "GRT_1.0 { };\n", 13);
	sh("cc -shared -nostdlib -Wl,--version-script=aliases.map -o aliases.so aliases.s");
	first = address_of("aliases.so", "malloc");
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_string_equal(at(s, in_dir("aliases.so"), NULL, first + 16 * i + 3).frame[0].function,
				    expected[i]);
	grt_symbols_free(s);
}

/* As glibc: DWARF has the name of an alias that only the library itself sees. */
static void alias_of_dwarf(void **state)
{
	static const char text[] =
		"extern int work(int x) __asm__(\"__GI_work\");\n"
		"int work(int x) { return 3 * x; }\n"
		"extern int shown(int x) __asm__(\"work\") __attribute__((alias(\"__GI_work\")));\n"
		"__asm__(\".local __GI_work\");\n";
	struct grt_symbols *s = begin_objects();

	(void)state;
	write_file("alias.c", text, sizeof(text) - 1);
	sh("cc -O2 -g -fPIC -S alias.c && sed -i '/globl.*__GI_work/d' alias.s && cc -g -shared -o alias.so alias.s");
	assert_string_equal(
		at(s, in_dir("alias.so"), NULL, address_of("alias.so", "__GI_work")).frame[0].function,
		"work");
	grt_symbols_free(s);
}

static void templates(void **state)
{
	static const char text[] = "namespace shop {\n"
				   "template <typename T> struct Box {\n"
				   "	T value;\n"
				   "	__attribute__((noinline)) T get(int n) { return value * n; }\n"
				   "};\n"
				   "template struct Box<long>;\n"
				   "}\n"
				   "int main() { return 0; }\n";
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;
	uint64_t address;

	(void)state;
	if (!grt_can_demangle()) {
		print_message("no libiberty: apt-get install libiberty-dev\n");
		skip();
	}
	write_file("box.cc", text, sizeof(text) - 1);
	sh("c++ -O2 -g -o box box.cc && cp box box.plain && strip -g box.plain");
	address = address_of("box", "_ZN4shop3BoxIlE3getEi");
	f = at(s, in_dir("box"), NULL, address);
	assert_int_equal(f.how, GRT_SYMBOLS_DEBUG);
	assert_string_equal(f.frame[0].function, "shop::Box<long>::get");
	assert_int_equal(f.frame[0].line, 4);
	f = at(s, in_dir("box.plain"), NULL, address);
	assert_int_equal(f.how, GRT_SYMBOLS_TABLE);
	assert_string_equal(f.frame[0].function, "shop::Box<long>::get");
	grt_symbols_free(s);
}

static void mangled(void **state)
{
	static const char *const names[][2] = {
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"},
		{"main", NULL},
		{"_Zgarbage", NULL},
		{"", NULL},
	};
	char *text;

	(void)state;
	if (!grt_can_demangle()) {
		print_message("no libiberty: apt-get install libiberty-dev\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		text = grt_demangle(names[i][0]);
		if (names[i][1])
			assert_string_equal(text, names[i][1]);
		else
			assert_null(text);
		free(text);
	}
	/* a name made to need much stack or time stays as it is */
	text = malloc(100001);
	memset(text, 'P', 100000);
	memcpy(text, "_Z1f", 4);
	text[100000] = '\0';
	assert_null(grt_demangle(text));
	free(text);
}

/* A reference of a name to what is in it already. */
static char *put_number(char *to, unsigned int number, unsigned int base)
{
	static const char digit[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char text[8];
	size_t n = sizeof(text);

	do {
		n--;
		text[n] = base == 36 ? (char)toupper(digit[number % base]) : digit[number % base];
		number /= base;
	} while (number);
	memcpy(to, text + n, sizeof(text) - n);
	return to + sizeof(text) - n;
}

/* C++: @n times B<the last, the last>. */
static char *put_doubled(char *to, unsigned int n)
{
	to += sprintf(to, "_Z1fI1A1BIS0_S0_E");
	for (unsigned int i = 2; i < 2 + n; i++) {
		to = put_number(to + sprintf(to, "S1_IS"), i, 36);
		to = put_number(to + sprintf(to, "_S"), i, 36);
		to += sprintf(to, "_E");
	}
	return to;
}

/* Rust: @n times a tuple of the last and the last, which are named by their place. */
static void put_tuples(char *name, unsigned int n)
{
	char *to = name + sprintf(name, "_RINvC1a1bTllE"), *last = to - 4, *begin;

	for (; n--; last = begin) {
		begin = to;
		to = put_number(to + sprintf(to, "TB"), (unsigned int)(last - name) - 3, 62);
		to = put_number(to + sprintf(to, "_B"), (unsigned int)(last - name) - 3, 62);
		to += sprintf(to, "_E");
	}
	sprintf(to, "E");
}

/* Names that stand for more than there is memory or time for: they stay as they are. */
static void bombs(void **state)
{
	/* what is written twice, and what is looked through twice, at each step */
	static const char *const end[] = {"Evv", "DpS15_Evv", "DpT_Evv"};
	char name[1024], *to;

	(void)state;
	if (!grt_can_demangle())
		skip();
	/* one that does not end ends the test */
	alarm(60);
	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++) {
		strcpy(put_doubled(name, 40), end[i]);
		assert_null(grt_demangle(name));
	}
	to = name + sprintf(name, "_Z");
	for (unsigned int i = 0; i < 60; i++)
		to += sprintf(to, "1fIXcvT_I");
	assert_null(grt_demangle(name));
	put_tuples(name, 40);
	assert_null(grt_demangle(name));
	/* the same within bounds */
	strcpy(put_doubled(name, 2), "Evv");
	to = grt_demangle(name);
	assert_string_equal(to, "f<A, B<A, A>, B<B<A, A>, B<A, A> >, B<B<B<A, A>, B<A, A> >, B<B<A, A>, "
				"B<A, A> > > >");
	free(to);
	put_tuples(name, 2);
	to = grt_demangle(name);
	assert_string_equal(to, "a::b::<(i32, i32), ((i32, i32), (i32, i32)), (((i32, i32), (i32, i32)), "
				"((i32, i32), (i32, i32)))>");
	free(to);
	alarm(0);
}

/* As distributions have it: the program stripped, what was taken off elsewhere. */
static void separate(void **state)
{
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;
	uint64_t mark;
	char id[256];

	(void)state;
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	sh("cc -O2 -g -o app inline.c && objcopy --only-keep-debug app app.debug");
	mark = address_of("app", "mark");
	snprintf(id, sizeof(id), "%s", build_id_of("app"));
	sh("strip app && cp app alone && objcopy --add-gnu-debuglink=app.debug app");
	f = at(s, in_dir("alone"), id, mark);
	assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);
	f = at(s, in_dir("app"), id, mark);
	check_inlined(&f);
	grt_symbols_free(s);

	/* by build id, on a machine that does not have the file at all */
	sh("mkdir -p tree/.build-id/%.2s && mv app.debug tree/.build-id/%.2s/%s.debug && rm app", id, id,
	   id + 2);
	s = begin(in_dir("tree"));
	f = at(s, in_dir("app"), id, mark);
	check_inlined(&f);
	/* beside a file that has only its code */
	f = at(s, in_dir("alone"), id, mark);
	check_inlined(&f);
	/* another path is looked for below the directory, too */
	sh("mkdir -p tree/opt/x && cc -O2 -g -o tree/opt/x/prog inline.c");
	f = at(s, "/opt/x/prog", NULL, address_of("tree/opt/x/prog", "mark"));
	check_inlined(&f);
	assert_int_equal(grt_symbols_count(s)->missing, 0);
	grt_symbols_free(s);

	s = begin(NULL);
	f = at(s, in_dir("app"), id, mark);
	assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);
	assert_int_equal(grt_symbols_count(s)->missing, 1);
	assert_int_equal(grt_symbols_count(s)->other, 0);
	grt_symbols_free(s);
}

/* A file that was built anew since must not give its names. */
static void another_build(void **state)
{
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;

	(void)state;
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	sh("cc -O2 -g -o new inline.c");
	f = at(s, in_dir("new"), "0123456789abcdef0123456789abcdef01234567", address_of("new", "mark"));
	assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);
	assert_int_equal(grt_symbols_count(s)->other, 1);
	grt_symbols_free(s);
}

static void by_offset(void **state)
{
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;
	uint64_t mark, offset;
	uint32_t object;

	(void)state;
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	/* the code is not at the same place in the file as in memory */
	sh("cc -O2 -g -no-pie -Wl,-Ttext-segment=0x800000 -o fixed inline.c");
	mark = address_of("fixed", "mark");
	offset = strtoull(word("readelf -lW fixed | awk '$1 == \"LOAD\" && $8 == \"E\" { print $2 }'"), NULL,
			  16);
	offset +=
		mark - strtoull(word("readelf -lW fixed | awk '$1 == \"LOAD\" && $8 == \"E\" { print $3 }'"),
				NULL, 16);
	assert_int_not_equal(offset, mark);
	assert_int_equal(grt_symbols_object(s, in_dir("fixed"), NULL, &object), 0);
	assert_int_equal(grt_symbols_at_offset(s, object, offset, &f), 0);
	check_inlined(&f);
	assert_int_equal(grt_symbols_map(s, 5,
					 &(struct grt_symbols_mapping){.start = 0x10000000,
								       .end = 0x10001000,
								       .offset = offset & ~0xfffULL,
								       .object = object}),
			 0);
	assert_int_equal(grt_symbols_in_process(s, 5, 0x10000000 + (offset & 0xfff), &f), 0);
	check_inlined(&f);
	assert_int_equal(grt_symbols_map(s, 6,
					 &(struct grt_symbols_mapping){.start = 0x7000000000,
								       .end = 0x7001000000,
								       .bias = 0x7000000000 - 0x800000,
								       .has_bias = true,
								       .object = object}),
			 0);
	assert_int_equal(grt_symbols_in_process(s, 6, 0x7000000000 - 0x800000 + mark, &f), 0);
	check_inlined(&f);
	grt_symbols_free(s);
}

static void no_time(void **state)
{
	const struct grt_symbols_options options = {.debug_max = 100, .no_separate = true};
	struct grt_symbols *s;
	struct grt_symbols_found f;

	(void)state;
	need_objects();
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	sh("cc -O2 -g -o big inline.c");
	assert_int_equal(grt_symbols_new(&s, &options), 0);
	f = at(s, in_dir("big"), NULL, address_of("big", "mark"));
	assert_int_equal(f.how, GRT_SYMBOLS_TABLE);
	assert_string_equal(f.frame[0].function, "outer");
	grt_symbols_free(s);
}

/* A file that its owner cuts off while names are looked up, in a unit that was not read before. */
static void cut_off(void **state)
{
	static const char first[] =
		"volatile int sink;\n__attribute__((noinline)) void one(void)\n{\n"
		"	sink++;\n}\nvoid two(void);\nint main(void)\n{\n	one();\n	two();\n}\n";
	static const char second[] =
		"extern volatile int sink;\n__attribute__((noinline)) void two(void)\n{\n"
		"	sink--;\n}\n";
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;
	uint64_t one, two;

	(void)state;
	write_file("first.c", first, sizeof(first) - 1);
	write_file("second.c", second, sizeof(second) - 1);
	sh("cc -O2 -g -o cut first.c second.c");
	if (!geteuid())
		sh("chown 65534 cut");
	one = address_of("cut", "one");
	two = address_of("cut", "two");
	f = at(s, in_dir("cut"), NULL, one);
	assert_string_equal(f.frame[0].function, "one");
	assert_int_equal(f.frame[0].line, 4);
	assert_int_equal(truncate(in_dir("cut"), 4096), 0);
	f = at(s, in_dir("cut"), NULL, two);
	assert_string_equal(f.frame[0].function, "two");
	grt_symbols_free(s);
}

/* Pipes where debug files are looked for: nobody waits for them. */
static void pipes(void **state)
{
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;

	(void)state;
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	alarm(60);
	sh("cc -O2 -g -o piped inline.c && objcopy --only-keep-debug piped piped.debug && "
	   "objcopy -g --add-gnu-debuglink=piped.debug piped && rm piped.debug && mkdir -p .debug && "
	   "mkfifo piped.debug .debug/piped.debug && "
	   "cc -O2 -g -gsplit-dwarf -o split inline.c && rm -f *.dwo && mkfifo split-inline.dwo inline.dwo");
	f = at(s, in_dir("piped"), NULL, address_of("piped", "outer"));
	assert_int_equal(f.how, GRT_SYMBOLS_TABLE);
	assert_string_equal(f.frame[0].function, "outer");
	f = at(s, in_dir("split"), NULL, address_of("split", "outer"));
	assert_string_equal(f.frame[0].function, "outer");
	alarm(0);
	grt_symbols_free(s);
}

/* No object files, and damaged ones: no names, and nothing else happens. */
static void hostile(void **state)
{
	struct grt_symbols *s = begin_objects();
	struct grt_symbols_found f;
	char *whole, name[32];
	struct stat st;
	uint64_t mark;
	FILE *in;

	(void)state;
	write_file("inline.c", inline_c, sizeof(inline_c) - 1);
	sh("cc -O2 -g -o victim inline.c && mkfifo fifo && mkdir -p folder && : >empty && echo text >text && "
	   "ar rc archive.a victim && gzip -k victim");
	for (const char *const *file = (const char *const[]){"fifo", "folder", "empty", "text", "archive.a",
							     "victim.gz", "inline.c", NULL};
	     *file; file++) {
		f = at(s, in_dir(*file), NULL, 0x1139);
		assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);
	}
	f = at(s, "/dev/zero", NULL, 0x1139);
	assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);
	assert_int_equal(grt_symbols_count(s)->missing, 8);

	mark = address_of("victim", "mark");
	assert_int_equal(stat(in_dir("victim"), &st), 0);
	whole = malloc((size_t)st.st_size);
	in = fopen(in_dir("victim"), "r");
	assert_int_equal(fread(whole, 1, (size_t)st.st_size, in), st.st_size);
	fclose(in);
	srandom(11);
	for (unsigned int i = 0; i < 60; i++) {
		size_t length = i < 20 ? (size_t)st.st_size * i / 20 : (size_t)st.st_size;
		char *copy = malloc((size_t)st.st_size);

		memcpy(copy, whole, (size_t)st.st_size);
		/* behind the header, so that it is not refused at once */
		for (unsigned int n = 0; i >= 20 && n < 40; n++)
			copy[64 + (size_t)random() % (length - 64)] = (char)random();
		snprintf(name, sizeof(name), "damaged%u", i);
		write_file(name, copy, length);
		free(copy);
		f = at(s, in_dir(name), NULL, mark);
		assert_true(f.frames > 0);
	}
	free(whole);
	grt_symbols_free(s);
}

/* ---------------------------------------------------------- maps, kernel */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void perf_map(void **state)
{
	static const char text[] = "7f0000001000 20 py::model.forward:/home/me/model.py\n"
				   "0x7f0000001020 0x10 two words\n"
				   "7f0000001030 0 nothing\n"
				   "7f0000001000 10 made anew\n"
				   "garbage\n"
				   "7f 10\n"
				   "ffffffffffffffff 2 around\n"
				   "\n"
				   "7f0000002000 40 last without newline";
	uint32_t pid = 0x7fff0000U | ((unsigned int)getpid() & 0xffff);
	struct grt_symbols *s = begin(NULL);
	struct grt_symbols_found f;
	char path[64];

	(void)state;
	write_file("map", text, sizeof(text) - 1);
	assert_int_equal(grt_symbols_perf_map(s, 7, in_dir("map")), 0);
	assert_int_equal(grt_symbols_count(s)->map_errors, 3);
	assert_int_equal(grt_symbols_in_process(s, 7, 0x7f0000001005, &f), 0);
	assert_int_equal(f.how, GRT_SYMBOLS_MAP);
	assert_string_equal(f.frame[0].function, "made anew");
	assert_int_equal(grt_symbols_in_process(s, 7, 0x7f0000001018, &f), 0);
	assert_string_equal(f.frame[0].function, "py::model.forward:/home/me/model.py");
	assert_int_equal(grt_symbols_in_process(s, 7, 0x7f000000102f, &f), 0);
	assert_string_equal(f.frame[0].function, "two words");
	assert_int_equal(grt_symbols_in_process(s, 7, 0x7f0000001030, &f), 0);
	assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);
	assert_string_equal(f.frame[0].function, "0x7f0000001030");
	assert_int_equal(grt_symbols_in_process(s, 7, 0x7f000000203f, &f), 0);
	assert_string_equal(f.frame[0].function, "last without newline");
	assert_int_equal(grt_symbols_in_process(s, 8, 0x7f000000203f, &f), 0);
	assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);

	assert_int_equal(mkfifo(in_dir("pipe"), 0600), 0);
	assert_int_equal(grt_symbols_perf_map(s, 7, in_dir("pipe")), -EINVAL);
	assert_int_equal(grt_symbols_perf_map(s, 7, in_dir("none")), -ENOENT);
	write_file("none", "", 0);
	assert_int_equal(grt_symbols_perf_map(s, 7, in_dir("none")), 0);

	/* the process's own, which grows; its number is beyond those that the kernel gives */
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	sh("echo '1000 10 early' >%s", path);
	assert_int_equal(grt_symbols_in_process(s, pid, 0x1001, &f), 0);
	assert_string_equal(f.frame[0].function, "early");
	sh("echo '2000 10 late' >>%s", path);
	assert_int_equal(grt_symbols_in_process(s, pid, 0x2001, &f), 0);
	assert_string_equal(f.frame[0].function, "late");
	/* a process that got the number later */
	assert_int_equal(grt_symbols_ended(s, pid, now_ns() - 5000000000ULL), 0);
	sh("echo '3000 10 ending' >>%s", path);
	assert_int_equal(grt_symbols_in_process(s, pid, 0x3001, &f), 0);
	assert_string_equal(f.frame[0].function, "ending");
	assert_int_equal(grt_symbols_ended(s, pid, now_ns() - 60000000000ULL), 0);
	sh("echo '4000 10 other' >>%s", path);
	assert_int_equal(grt_symbols_in_process(s, pid, 0x4001, &f), 0);
	assert_string_equal(f.frame[0].function, "0x4001");
	assert_int_equal(grt_symbols_perf_map(s, pid, NULL), -ESTALE);
	/* and one that had it before */
	assert_int_equal(grt_symbols_ended(s, pid, 0), 0);
	assert_int_equal(grt_symbols_began(s, pid, now_ns()), 0);
	assert_int_equal(grt_symbols_perf_map(s, pid, NULL), 0);
	sh("echo '5000 10 before' >>%s && touch -d '-60 seconds' %s", path, path);
	assert_int_equal(grt_symbols_perf_map(s, pid, NULL), -ESTALE);
	assert_int_equal(grt_symbols_in_process(s, pid, 0x5001, &f), 0);
	assert_string_equal(f.frame[0].function, "0x5001");
	/* its own comes into its place */
	sh("echo '5000 10 itself' >%s", path);
	assert_int_equal(grt_symbols_in_process(s, pid, 0x5001, &f), 0);
	assert_string_equal(f.frame[0].function, "itself");
	assert_int_equal(grt_symbols_began(s, pid, 0), 0);
	sh("touch -d '-60 seconds' %s", path);
	assert_int_equal(grt_symbols_perf_map(s, pid, NULL), 0);
	unlink(path);
	/* any user can put a link there, to a file that the reader may read and the user may not */
	write_file("secret", "6000 10 secret\n", 15);
	assert_int_equal(symlink(in_dir("secret"), path), 0);
	assert_int_equal(grt_symbols_perf_map(s, pid, NULL), -ELOOP);
	assert_int_equal(grt_symbols_in_process(s, pid, 0x6001, &f), 0);
	assert_string_equal(f.frame[0].function, "0x6001");
	unlink(path);
	grt_symbols_free(s);
}

static void kernel(void **state)
{
	static const char text[] = "0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000100 t do_one_initcall\n"
				   "ffffffff82000000 D some_data\n"
				   "ffffffffc0000000 t drm_ioctl\t[drm]\n"
				   "broken\n";
	struct grt_symbols *s = begin(NULL);
	struct grt_symbols_found f;

	(void)state;
	write_file("kallsyms", text, sizeof(text) - 1);
	assert_int_equal(grt_symbols_kallsyms(s, in_dir("kallsyms")), 0);
	assert_int_equal(grt_symbols_count(s)->map_errors, 1);
	assert_int_equal(grt_symbols_kernel(s, 0xffffffff81000104, &f), 0);
	assert_int_equal(f.how, GRT_SYMBOLS_KERNEL);
	assert_string_equal(f.frame[0].function, "do_one_initcall");
	assert_int_equal(grt_symbols_kernel(s, 0xffffffffc0000010, &f), 0);
	assert_string_equal(f.frame[0].function, "drm_ioctl");
	assert_int_equal(grt_symbols_kernel(s, 0x1000, &f), 0);
	assert_int_equal(f.how, GRT_SYMBOLS_NOWHERE);
	grt_symbols_free(s);

	/* without privilege all addresses are 0 */
	s = begin(NULL);
	sh("echo '0000000000000000 T _stext' >hidden");
	assert_int_equal(grt_symbols_kallsyms(s, in_dir("hidden")), -EACCES);
	grt_symbols_free(s);
}

/* ------------------------------------------------------------- processes */

static void put(struct grt_symbols *s, uint64_t start, uint64_t end, uint64_t offset, uint32_t object)
{
	const struct grt_symbols_mapping m = {.start = start, .end = end, .offset = offset, .object = object};

	assert_int_equal(grt_symbols_map(s, 3, &m), 0);
}

static const char *there(struct grt_symbols *s, uint64_t ip)
{
	static struct grt_symbols_found f;

	assert_int_equal(grt_symbols_in_process(s, 3, ip, &f), 0);
	return f.frame[0].function;
}

/* Later mappings take the place of earlier ones; of these the rest stays. */
static void mappings(void **state)
{
	struct grt_symbols *s = begin(NULL);
	uint32_t a, b;

	(void)state;
	assert_int_equal(grt_symbols_object(s, "/none/a", NULL, &a), 0);
	assert_int_equal(grt_symbols_object(s, "/none/b", NULL, &b), 0);
	assert_int_not_equal(a, b);
	put(s, 0x1000, 0x9000, 0, a);
	put(s, 0x3000, 0x4000, 0x70000, b);
	assert_string_equal(there(s, 0x2fff), "a+0x1fff");
	assert_string_equal(there(s, 0x3000), "b+0x70000");
	assert_string_equal(there(s, 0x4000), "a+0x3000");
	assert_string_equal(there(s, 0x8fff), "a+0x7fff");
	assert_string_equal(there(s, 0x9000), "0x9000");
	put(s, 0x3800, 0x5000, 0, b);
	assert_string_equal(there(s, 0x37ff), "b+0x707ff");
	assert_string_equal(there(s, 0x3800), "b+0x0");
	assert_string_equal(there(s, 0x5000), "a+0x4000");
	put(s, 0x500, 0xa000, 0, GRT_SYMBOLS_NO_OBJECT);
	assert_string_equal(there(s, 0x3800), "0x3800");
	assert_true(grt_symbols_mapping_at(s, 3, 0x3800));
	assert_false(grt_symbols_mapping_at(s, 3, 0xa000));
	put(s, 0x2000, 0x2000, 0, b);
	assert_string_equal(there(s, 0x2000), "0x2000");
	grt_symbols_unmap(s, 3);
	assert_false(grt_symbols_mapping_at(s, 3, 0x3800));
	assert_false(grt_symbols_mapping_at(s, 4, 0x3800));
	grt_symbols_free(s);
}

/* The same, at random, against an array of pages. */
static void mappings_as_an_array(void **state)
{
	uint32_t page[64] = {0}, object[8];
	struct grt_symbols *s = begin(NULL);
	char name[16], wanted[32];

	(void)state;
	srandom(5);
	for (unsigned int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "/none/%u", i);
		assert_int_equal(grt_symbols_object(s, name, NULL, &object[i]), 0);
	}
	for (unsigned int step = 0; step < 2000; step++) {
		unsigned int from = (unsigned int)random() % 64,
			     to = from + 1 + (unsigned int)random() % (64 - from);
		unsigned int which = (unsigned int)random() % 8;

		/* the place in the file is the address, so that every page tells where it is from */
		put(s, 0x1000ULL * from, 0x1000ULL * to, 0x1000ULL * from, object[which]);
		for (unsigned int i = from; i < to; i++)
			page[i] = which + 1;
		for (unsigned int i = 0; i < 64; i++) {
			snprintf(wanted, sizeof(wanted), "%u+0x%x", page[i] - 1, i * 0x1000 + 7);
			if (page[i])
				assert_string_equal(there(s, i * 0x1000ULL + 7), wanted);
			else
				assert_false(grt_symbols_mapping_at(s, 3, i * 0x1000ULL + 7));
		}
	}
	grt_symbols_free(s);
}

/* A map of several parts in memory, with a name of more than one; one that a process wrote has a bound. */
static void large_map(void **state)
{
	struct grt_symbols *s = begin(NULL);
	struct grt_symbols_found f;
	uint32_t pid = (uint32_t)getpid();
	char path[64], *name = malloc(1500001);
	FILE *out;

	(void)state;
	memset(name, 'n', 1500000);
	name[1500000] = '\0';
	out = fopen(in_dir("large"), "w");
	assert_non_null(out);
	for (unsigned int i = 0; i < 100000; i++)
		fprintf(out, "%x 10 function_%u\n", 0x100000 + 16 * i, i);
	fprintf(out, "10 10 %s\n", name);
	fprintf(out, "20 10 last");
	fclose(out);
	free(name);
	assert_int_equal(grt_symbols_perf_map(s, 7, in_dir("large")), 0);
	for (unsigned int i = 0; i < 100000; i++) {
		assert_int_equal(grt_symbols_in_process(s, 7, 0x100005 + 16 * i, &f), 0);
		assert_true(!strncmp(f.frame[0].function, "function_", 9));
		assert_int_equal(strtoul(f.frame[0].function + 9, NULL, 10), i);
	}
	assert_int_equal(grt_symbols_in_process(s, 7, 0x25, &f), 0);
	assert_string_equal(f.frame[0].function, "last");
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(ftruncate(fileno(out), 65 << 20), 0);
	fclose(out);
	assert_int_equal(grt_symbols_perf_map(s, pid, NULL), -EFBIG);
	unlink(path);
	grt_symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(inlined, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(inlined_across_files, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(no_units_table, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(given_debug_file, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(symbols_only, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(without_sizes, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(aliases, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(alias_of_dwarf, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(templates, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(mangled, make_dir, remove_dir),
		cmocka_unit_test(bombs),
		cmocka_unit_test_setup_teardown(cut_off, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(pipes, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(large_map, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(separate, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(another_build, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(by_offset, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(no_time, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(hostile, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(perf_map, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(kernel, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(mappings, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(mappings_as_an_array, make_dir, remove_dir),
	};

	/* no look-ups on other machines */
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("GRTRACE_SYMBOLS");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
