#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make: O= leaves the tree alone, nothing is built twice, install and uninstall; the library as programs outside of the
# tree meet it: what it exports, its headers in C and C++, pkg-config, the examples.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
build=$GRTRACE_PLAIN
here=$PWD

# MAKE=...: the test's make is not a part of the one that runs the tests.
make() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory -C "$GRTRACE_SRC" O="$build" PREFIX=/usr "$@" >"$here/make.log" 2>&1
	status=$?
	output=$(tail -20 "$here/make.log")
}

list() {
	(cd "$GRTRACE_SRC" && find . -path ./.git -prune -o -path ./build -prune -o -path ./demo -prune -o -print | sort)
}

list >before
make "$build/grtrace" "$build/libgrtrace.a"
check "make O=DIR" exits 0
list >after
check "the tree is as it was" cmp before after
make "$build/grtrace" "$build/libgrtrace.a"
check "nothing is built twice" test "$(grep -cE '^  (CC|LINK|AR) ' make.log)" = 0

make install DESTDIR="$here/root"
check "make install DESTDIR= PREFIX=" exits 0
for file in bin/grtrace bin/softgpu-run lib/libgrtrace.a lib/libgrtrace.so lib/pkgconfig/grtrace.pc include/grtrace/grtrace.h \
	include/grtrace/events.def include/grtrace/events/custom.def include/grtrace/softgpu.h share/man/man1/grtrace-record.1 share/man/man5/grtrace-stream.5 \
	share/bash-completion/completions/grtrace share/zsh/site-functions/_grtrace \
	share/fish/vendor_completions.d/grtrace.fish share/grtrace/event.schema.json share/grtrace/report.schema.json share/grtrace/monitor.schema.json share/man/man3/libgrtrace.3 \
	share/doc/grtrace/examples/longest_jobs.c share/doc/grtrace/examples/transformer.cu share/doc/grtrace/docs/install.md \
	share/doc/grtrace/CHANGELOG.md lib/grtrace/libgrtrace-cuda.so; do
	check "$file is installed" test -e "root/usr/$file"
done
check "the installed program runs" root/usr/bin/grtrace --version
# `FILE LINK` of all links to files
links() {
	(cd root/usr/share/doc/grtrace && grep -oE '\]\([^)#]+' -r --include='*.md' | grep -v '](https*:' | sed 's/:](/ /')
}
links_lead_to_files() {
	local file link
	while read -r file link; do
		[ -e "root/usr/share/doc/grtrace/$(dirname "$file")/$link" ] || { echo "# $file: $link"; return 1; }
	done < <(links)
}
check "the documents have links" test "$(links | wc -l)" -gt 3
check "each leads to a file" links_lead_to_files
aliases() { sed -n 's/^GRT_ALIAS("\([^"]*\)", \([a-z]*\).*/\1 \2/p' "$GRTRACE_SRC/cmds/commands.def"; }
aliases_are_installed() {
	local alias command
	while read -r alias command; do
		[ "$(root/usr/bin/"$alias" --help)" = "$(root/usr/bin/grtrace "$command" --help)" ] &&
			grep -q "^\.Dt GRTRACE-${command^^} 1" "root/usr/share/man/man1/$alias.1" || { echo "# $alias"; return 1; }
	done < <(aliases)
	[ "$(aliases | wc -l)" -gt 3 ]
}
check "other names of commands are programs with a page of the manual" aliases_are_installed

cat >prog.c <<'EOF'
#include <grtrace/grtrace.h>
int main(int argc, char **argv)
{
	struct grt_session *s = 0;
	struct grt_err err = {0};
	int ret = grt_session_open(&s, argv[argc - 1], &err);

	puts(err.what);
	grt_session_close(s);
	return !ret;
}
EOF
flags="-I$here/root/usr/include -L$here/root/usr/lib -lgrtrace"
if command -v pkg-config >/dev/null; then
	flags=$(PKG_CONFIG_PATH=$here/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$here/root \
		PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 pkg-config --cflags --libs grtrace)
fi
# shellcheck disable=SC2086 # words
check "a program builds with pkg-config's flags" cc -Wall -Werror -o prog prog.c $flags
output=$(LD_LIBRARY_PATH=root/usr/lib ./prog /no/such/trace)
status=$?
check "and runs with the shared library" says '/no/such/trace'
cat >prog.cc <<'EOF'
#include <grtrace/grtrace.h>
int main() { return grt_session_open != nullptr ? 0 : 1; }
EOF
if command -v c++ >/dev/null; then
	# shellcheck disable=SC2086 # words
	check "the header is C++ too" c++ -x c++ -fsyntax-only prog.cc ${flags%% -L*}
fi

make uninstall DESTDIR="$here/root"
check "make uninstall leaves nothing, not in directories of its own either" test -z "$(find root -type f -o -type l -o -name '*grtrace*')"
make install DESTDIR="$here/multiarch" LIBDIR=/usr/lib/triplet
check "the injected library is where the program looks, wherever other libraries go" \
	test -e multiarch/usr/bin/../lib/grtrace/libgrtrace-cuda.so -a -e multiarch/usr/lib/triplet/libgrtrace.so

# ---- the library, where nothing but pkg-config says where it is
command -v pkg-config >/dev/null || { not_ok "pkg-config is there" "tools/setup check" && plan && exit; }
make install-strip PREFIX="$here/prefix"
check "make install-strip PREFIX=" exits 0
installed=(prefix/bin/{grtrace,softgpu-run} prefix/lib/{libgrtrace.so,libgrtrace.a,grtrace/libgrtrace-cuda.so})
check "no file has debug information" test "$(readelf -SW "${installed[@]}" | grep -cE '\.z?debug_|File:')" = $((${#installed[@]}))
check "a uprobe finds its place in the injected library" grep -q ' T grtrace_cuda_launch$' <(nm -D prefix/lib/grtrace/libgrtrace-cuda.so)
check "the program runs" prefix/bin/grtrace --version
export PKG_CONFIG_PATH=$here/prefix/lib/pkgconfig LD_LIBRARY_PATH=$here/prefix/lib
version=$(sed -n 's/^#define GRT_VERSION "\(.*\)"/\1/p' "$GRTRACE_SRC/include/grtrace/version.h")
check "pkg-config has the version" test "$(pkg-config --modversion grtrace)" = "$version"
check "so has grtrace" test "$("$GRTRACE" --version | cut -d' ' -f2)" = "$version"
check "and CHANGELOG.md, as its first one" test "$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$GRTRACE_SRC/CHANGELOG.md" | head -1)" = "$version"
check "and nothing else writes it" test -z "$(cd "$GRTRACE_SRC" && grep -rnF "\"$version\"" include lib cmds sources inject kernel | grep -v '^include/grtrace/version.h:')"

in_map() { sed -n 's/^\t\(grt_[a-z0-9_]*\);$/\1/p' "$GRTRACE_SRC/lib/libgrtrace.map" | sort; }
in_library() { nm -D --defined-only prefix/lib/libgrtrace.so | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort; }
in_archive() { nm -g --defined-only prefix/lib/libgrtrace.a | awk 'NF == 3 { print $3 }' | sort; }
# The compiler says of each function where it is declared; not where ccache remembers what it said.
for header in prefix/include/grtrace/*.h; do echo "#include \"$header\""; done >all.c
CCACHE_DISABLE=1 cc -fsyntax-only -Iprefix/include -aux-info declared all.c
in_headers() {
	grep -F '/* prefix/include/grtrace/' declared | grep -v 'static ' | grep -oE '\bgrt_[a-z0-9_]+ \(' | tr -d ' (' | sort -u
}
in_comments() { # of functions that are declared
	cat prefix/include/grtrace/*.h | awk '/^\/\*\*/ { on = 1 } on { print } / - / || /\*\// { on = 0 }' | grep -oE '\bgrt_[a-z0-9_]+' | sort -u | comm -12 - <(in_headers)
}
in_manual() { grep -oE 'Fn grt_[a-z0-9_]+' prefix/share/man/man3/libgrtrace.3 | cut -c4- | sort -u; }
same() { # COMMAND COMMAND; sizes, since two empty lists are the same, too
	output=$(diff <("$1") <("$2")) && [ "$("$1" | wc -l)" -gt 50 ]
}
check "the library exports what its map has" same in_map in_library
check "each with its version" test "$(nm -D --defined-only prefix/lib/libgrtrace.so | grep -c ' [TD] grt_.*@@GRTRACE_0\.2$')" = "$(in_map | wc -l)"
check "the static one has these names and no others" same in_map in_archive
check "the headers declare these functions" same in_map in_headers
check "and describe each" same in_map in_comments
declared_at_all() { grep -F '/* prefix/include/grtrace/' declared | grep -oE '\bgrt_[a-z0-9_]+ \(' | tr -d ' (' | sort -u; }
check "the manual has every function, by the name that programs call" test -z "$(in_map | sed 's/_sized$//' | sort -u | comm -23 - <(in_manual))"
check "and none that is not there" test -z "$(in_manual | comm -23 - <(declared_at_all))"

strict=(-Wall -Wextra -Wpedantic -Werror)
read -ra compile < <(pkg-config --cflags grtrace)
read -ra flags < <(pkg-config --cflags --libs grtrace)
read -ra static_flags < <(pkg-config --static --cflags --libs grtrace)
alone() { # COMPILER...: each header by itself, where only those that are installed are found
	local header
	for header in prefix/include/grtrace/*.h; do
		echo "#include \"$header\"" >alone.c
		echo "int alone;" >>alone.c
		"$@" "${strict[@]}" -fsyntax-only "${compile[@]}" alone.c || return
	done
}
check "every header is C" alone cc -std=c11
check "and C++" alone c++ -std=c++11 -x c++

from=$GRTRACE_SRC/tests/cli/library
python3 "$from/packets.py" .
what_it_should_print() {
	sed 's/^/process /' processes
	echo "version $version $version"
	awk -F, '{ n += $2; sum += $3 } END { printf "jobs %d launches 0 slices %d drawn %d sizes 0\n", n, n, sum }' processes
}
client() { # PROGRAM: its lines before the table, and the table by another reader
	output=$("./$1" raw 2>&1)
	diff <(what_it_should_print | sort) <(sed '/^{/,$d' <<<"$output" | sort) &&
		[ "$(sed -n '/^{/,$p' <<<"$output" | jq -c '.rings[] | [.ring, .jobs]')" = '[7,60]' ]
}
check "a program in C" cc -std=c11 "${strict[@]}" -o client_c "$from/client.c" "${flags[@]}"
check "finds what is in a recording" client client_c
check "the same in C++" c++ -std=c++11 "${strict[@]}" -x c++ -o client_cc "$from/client.c" -x none "${flags[@]}"
check "finds it" client client_cc
check "and with the static library" cc -std=c11 "${strict[@]}" -static -o client_static "$from/client.c" "${static_flags[@]}"
check "finds it, too" client client_static

cat >fields.c <<'EOF'
#include <stdio.h>
#define GRT_EVENT_TABLE_ROWS
#include <grtrace/event_table.h>
int main(void)
{
	for (const struct grt_field *f = grt_event_table[GRT_EV_COMMIT].fields(); f->name; f++)
		printf("%s %d\n", f->name, f->offset);
	return 0;
}
EOF
check "a program with tables of events of its own" cc -std=c11 "${strict[@]}" -static -o fields fields.c "${static_flags[@]}"
check "has their fields" test "$(./fields)" = $'sw_depth 48\nhw_depth 52'

for example in longest_jobs follow; do
	check "the example $example builds as its first lines say" cc -std=c11 "${strict[@]}" -o $example "prefix/share/doc/grtrace/examples/$example.c" "${flags[@]}"
done
check "longest_jobs prints the ten longest" diff longest <(./longest_jobs raw)
output=$(./longest_jobs /no/such/trace 2>&1)
check "or what is wrong" says '^longest_jobs: /no/such/trace: .*No such file'
mkdir live
output=$(timeout 120 python3 "$from/packets.py" --follow live followed ./follow live live/kmod_0 live/kmod_1)
status=$?
check "follow ends when the recorder has" exits 0
check "and has printed before" says 'while the recording is made: yes'
check "every event" diff events <(sort followed)
plan
