#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NVTX's payload extension: ranges that are pushed, popped, started and ended with structs are ranges like others, and
# the fields of the structs are what the program put into them. By a client of our own, and by NVIDIA's headers.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
export RANGES_LOG=$PWD/ranges.log

# Runs the program with the library alone; `want` are the lines that it wrote, and those of the mock CUDA.
extended() { # SCENE
	rm -rf out.grt log ranges.log
	output=$(MOCK_LOG=$PWD/log NVTX_INJECTION64_PATH=$LIBRARY CUDA_INJECTION64_PATH=$LIBRARY \
		GRTRACE_OUTPUT=$PWD/out.grt timeout 120 "$program" "$1" 2>&1)
	status=$?
	touch log ranges.log
	cat log ranges.log >both && mv both log
	records out.grt
}
told() { # NAME, of the last PROCESS record
	grep -a 'what=3' facts | sed -n "s/.*\b$1=\([0-9]*\).*/\1/p" | tail -n 1
}

client() { # NAME
	extended collectives
	exact "$1: ranges with structs nest with others, and are popped with structs"
	check "$1: the program was told the right depths and ids" test "$output" = $'schema 1\ndepth 0\ndepth 0\ndepth 0'
	extended functions
	exact "$1: push, pop, start, end and mark by the extension, names by its messages"
	check "$1: the right depths there, too" test "$output" = \
		$'schema 1\nenabled 1\ndepth 0\ndepth 1\ndepth 1\ndepth 0\ndepth -1'
	check "$1: the pop of nothing is counted" test "$(told stray)" = 1
	extended types
	exact "$1: packed structs, and values without a schema"
	extended hostile
	exact "$1: what cannot be read is not guessed"
	check "$1: it is counted" test "$(told unread)" = "$(sed -n 's/^unread //p' <<<"$output")"
	check "$1: no schema without attributes" test "$(grep -cx 'none 0' <<<"$output")" = 2
}
program=$MOCK/extended
client "our client"

extended hostile
run report --by range out.grt
check "report says what could not be read" says '[0-9]+ fields of attached structs could not be read \(arrays, nested'
extended collectives
run dump --type payload out.grt
check "dump has the fields" test "$(grep -c 'text="1048576"' <<<"$output")" = 4
run report --by range --json out.grt
check "report --by range has the GPU time in them" test \
	"$(jq -r '.ranges[] | select(.range == "AllReduce [library]") | "\(.count) \(.launches) \(.gpu)"' <<<"$output")" = "3 3 3000"
run report --by range out.grt
check "and says where the fields are" says '28 fields of structs that the program attached: dump --type payload'
run flame out.grt --weight launches -o f.folded
check "flame has frames of them" test "$(awk '/\[nvtx\] step;\[nvtx\] AllReduce \[library\]/ { n += $NF } END { print n }' f.folded)" = 3
run export -f chrome -o x.json out.grt
check "exports have slices of them" test \
	"$(jq '[.traceEvents[] | select(.cat == "user_annotation" and .name == "AllReduce")] | length' x.json)" = 3
check "babeltrace2 opens it" babeltrace2 out.grt -o dummy

extended full
check "more schemas than there is room for: they get no id" test "$output" = "schemas 4096"
texts=$(grep -ac '^P' got)
check "200,000 texts: a quarter of the room for names, and the others are counted" test \
	$((texts + $(told unread) + $(told fields_lost))) = 200000 -a "$texts" -le 131072 -a "$(told unread)" -gt 0
check "ranges still have names" grep -qa '^R .* a%20name%20of%20its%20own%201 ' got
check "the recording adds up" fact '^# faults=0 missing=0 .* balance=ok'

# An older client, or one of another extension, is not served.
cat >other.c <<'END'
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	struct { size_t id, slots; intptr_t *slot; } s = {0, 4, NULL};
	struct { uint16_t version, size, module, compatible; size_t n; void *s, *get, *info; } m = {3, 40, 2, 0x104, 1, &s};
	intptr_t slot[63] = {0};
	int (*init)(void *) = (int (*)(void *))dlsym(dlopen(argv[1], RTLD_NOW), "InitializeInjectionNvtxExtension");
	printf("%d", init(NULL)), printf("%d", init(&m)), s.slot = slot;
	m.size = 39, printf("%d", init(&m)), m.size = 40;
	m.module = 1, printf("%d", init(&m)), m.module = 2;
	m.compatible = 0x200, printf("%d", init(&m)), m.compatible = 0x104;
	m.n = 0, printf("%d", init(&m)), m.n = 1;
	printf("%d", init(&m)), printf(" %d\n", slot[3] && !slot[4] && !slot[62]);
	return 0;
}
END
cc -w -o other other.c -ldl
output=$(GRTRACE_OUTPUT=$PWD/other.grt ./other "$LIBRARY" 2>&1)
check "modules that are none are refused; of a short table its slots are filled" test "$output" = "0000001 1"

export RANGES_LOG=
echo "# $(NVTX_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/cost.grt timeout 120 "$MOCK/extended" cost)"

include=$(for d in "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda-*; do
	[ ! -f "$d/include/nvtx3/nvToolsExtPayload.h" ] || { echo "$d/include" && break; }
done)
if [ -n "$include" ]; then
	export RANGES_LOG=$PWD/ranges.log
	echo "# NVIDIA's headers in $include"
	cc -std=gnu11 -w -DNVTX_HEADERS -isystem "$include" -I"$GRTRACE_SRC/inject" -I"$GRTRACE_SRC/tests/inject/mock" -o headers \
		"$GRTRACE_SRC/tests/inject/mock/extended.c" "$MOCK/libcuda.so.1" "$MOCK/libcudart.so.13" -ldl -lpthread -Wl,-rpath,"$MOCK"
	program=./headers
	client "NVIDIA's headers"
else
	echo "# no nvToolsExtPayload.h: install CUDA's toolkit, or set CUDA_HOME"
fi
plan
