#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Unwind tables of libraries of x86-64 and 64-bit Arm, as BPF programs get them: their rows are those that
# readelf has.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
rows=$GRTRACE_BUILD/tests/cli/unwind_rows

compare() { # MACHINE READELF FILE
	"$rows" "$3" >table
	"$2" --debug-dump=frames-interp "$3" 2>/dev/null |
		python3 "$GRTRACE_SRC/tests/cli/unwound/rows.py" table >output 2>&1
	check "$1, ${3##*/}: $(tail -n 1 output)" test $? = 0
}
command -v readelf >/dev/null || skip_all "no readelf: apt-get install binutils"
for library in libc.so.6 libstdc++.so.6; do
	compare "$(uname -m)" readelf "$(cc -print-file-name=$library)"
done
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	for library in libc.so.6 libstdc++.so.6; do
		compare aarch64 aarch64-linux-gnu-readelf "$(aarch64-linux-gnu-gcc -print-file-name=$library)"
	done
	aarch64-linux-gnu-gcc -O2 -shared -nostdlib -fPIC -Wl,-z,lazy -o plt.so -x c - <<-'EOF'
		int other(int);
		int one(int x) { return other(x) + 1; }
	EOF
	# the first entry is entered with the stack as it was, and has saved two registers then
	plt=$(aarch64-linux-gnu-readelf -SW plt.so | sed -n 's/.* \.plt *PROGBITS *0*\([0-9a-f]*\) .*/\1/p')
	printf '%x sp 0 0 0\n%x sp 16 0 8\n%x sp 0 0 0\n' "0x$plt" $((0x$plt + 4)) $((0x$plt + 32)) >expected
	"$rows" plt.so | grep -Fxf expected >output
	check "a PLT, for which the linker makes no table" cmp output expected
	# as the kernel has it in its vdso: without a table, an instruction in front of it
	aarch64-linux-gnu-gcc -shared -nostdlib -o sigreturn.so -x assembler - <<-'EOF'
		.text
		nop
		.globl sigreturn
		sigreturn: mov x8, #139
		svc #0
		nop
	EOF
	at=$(aarch64-linux-gnu-nm sigreturn.so | sed -n 's/^0*\([0-9a-f]*\) T sigreturn$/\1/p')
	printf '%x long\n%x -\n' $((0x$at - 4)) $((0x$at + 8)) >expected
	"$rows" sigreturn.so >output
	check "what handlers of signals return to" cmp output expected
else
	skip "libraries of 64-bit Arm" "no aarch64-linux-gnu-gcc: tools/setup check"
fi
echo junk >junk
"$rows" junk >output
check "no object file has no rows" test $? = 1 -a ! -s output
plan
