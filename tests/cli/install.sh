#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make: O= leaves the tree alone, nothing is built twice, install and uninstall, a program built with what was installed.

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
for file in bin/grtrace bin/softgpu-run lib/libgrtrace.a lib/libgrtrace.so lib/pkgconfig/libgrtrace.pc include/grtrace/grtrace.h \
	include/grtrace/events.def include/grtrace/events/custom.def include/grtrace/softgpu.h share/man/man1/grtrace-record.1 share/man/man5/grtrace-stream.5 \
	share/bash-completion/completions/grtrace share/grtrace/event.schema.json share/grtrace/report.schema.json \
	share/grtrace/monitor.schema.json; do
	check "$file is installed" test -e "root/usr/$file"
done
check "the installed program runs" root/usr/bin/grtrace --version

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
		PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 pkg-config --cflags --libs libgrtrace)
fi
# shellcheck disable=SC2086 # words
check "a program builds with pkg-config's flags" cc -Wall -Werror -o prog prog.c $flags
output=$(LD_LIBRARY_PATH=root/usr/lib ./prog /no/such/trace)
status=$?
check "and runs with the shared library" says '/no/such/trace'
check "which exports the public functions only" test -z "$(nm -D --defined-only root/usr/lib/libgrtrace.so |
	awk '{ print $3 }' | sed 's/@.*//' | grep -v '^GRTRACE_' | while read -r name; do
	grep -qw "$name" "$GRTRACE_SRC/include/grtrace/grtrace.h" || echo "$name"; done)"
cat >prog.cc <<'EOF'
#include <grtrace/grtrace.h>
int main() { return grt_session_open != nullptr ? 0 : 1; }
EOF
if command -v c++ >/dev/null; then
	# shellcheck disable=SC2086 # words
	check "the header is C++ too" c++ -x c++ -fsyntax-only prog.cc ${flags%% -L*}
fi

make uninstall DESTDIR="$here/root"
check "make uninstall leaves nothing" test -z "$(find root -type f -o -type l)"
plan
