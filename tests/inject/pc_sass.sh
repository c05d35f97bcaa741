#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# report --by instruction: the text of each sampled instruction, and its line, are those of `nvdisasm -c -g`, whose output
# for the code of these tests is cubin/lines.sass (of CUDA 12.4); a script stands in for nvdisasm. Where there is a real one, its
# own output is compared, too. What it prints is not trusted, and it has no rights.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH MOCK_LOG
REAL=$(PATH=$PATH:/usr/local/cuda/bin command -v nvdisasm)
CUBIN=$GRTRACE_SRC/tests/inject/cubin
PLACE=$PATH

record() { # CODE
	rm -rf pc.grt
	timeout 60 "$GRTRACE_PLAIN/grtrace" record -e cuda --pc-sampling -o pc.grt "$MOCK/sampled" "$CUBIN/$1.cubin" >happened 2>said
}
# A nvdisasm that is this script, called as the real one is: FILE is the code of the recording.
stand_in() { # TEXT
	mkdir -p bin
	cat >bin/nvdisasm <<END2
#!/bin/bash
[ "\$1" = -c ] || exit 3
code=\${!#}
cmp -s "\$code" "$PWD/code" || exit 4
$1
END2
	chmod +x bin/nvdisasm
	PATH=$PWD/bin:$PLACE
}
by_instruction() { # OPTION...
	"$GRTRACE" report --by instruction "$@" pc.grt >shown 2>&1
	status=$?
	output=$(<shown)
}

cat >compare.py <<'END2'
# compare.py SASS ROWS HAPPENED: rows of the report against nvdisasm's own output, and samples against what happened.
import collections, json, re, sys
code, function, line = {}, None, None
for l in open(sys.argv[1], errors="replace"):
    m = re.match(r"\.text\.(.+):$", l)
    if m: function, line = m[1], None
    m = re.match(r"\s*//## File \"(.*)\", line (\d+)( inlined at .*)?$", l)
    # of several in turn, the first is where the instruction is
    if m: line, fresh = ("%s:%s" % (m[1].rsplit("/", 1)[-1], m[2]), True) if not fresh else (line, True)
    else: fresh = False
    m = re.match(r"\s*\{?\s*/\*([0-9a-f]+)\*/\s*(.*?)\s*;", l)
    if m: code[function, int(m[1], 16)] = (re.sub(r"\s+", " ", m[2]), line)
samples = collections.Counter()
for w in map(str.split, open(sys.argv[3])):
    if len(w) == 4 and "/" not in w[2]: samples[w[0], int(w[1], 16)] += int(w[3])
rows = json.load(open(sys.argv[2]))["instructions"]
got = {(r["kernel"], r["offset"]): r["samples"] for r in rows}
assert got == dict(samples), (got, samples)
texts = bad = lines = 0
for r in rows:
    text, line = code.get((r["kernel"], r["offset"]), (None, None))
    texts += text is not None
    lines += line is not None
    if r["sass"] != text or r["place"] != line or r["at"] != "+%#x" % r["offset"]:
        bad += 1
        print("wrong:", r["kernel"], r["at"], r["sass"], r["place"], "and not", text, line)
print("rows", len(rows), "texts", texts, "lines", lines, "bad", bad)
END2

record lines
cp "$CUBIN/lines.cubin" code
stand_in "cat $CUBIN/lines.sass"
by_instruction --top 0 --json
check "the report ends" test $status = 0
output=$(python3 compare.py "$CUBIN/lines.sass" shown happened 2>&1)
check "each sampled instruction has nvdisasm's text and line" says '^rows [1-9][0-9]{2} texts [1-9][0-9]{2} lines [1-9][0-9]{2} bad 0$'
by_instruction --top 3
check "in text, too" says 'chain +\+0x[0-9a-f]+ +[A-Z0-9.]+ .* lines.cu:[0-9]+ '
by_instruction --top 0 --sort offset
check "--sort offset: in one order" test -n "$output" -a "$status" = 0
if [ -n "$REAL" ]; then
	for code in lines inlined; do
		[ $code = lines ] || record $code
		PATH=$(dirname "$REAL"):$PLACE
		by_instruction --top 0 --json
		"$REAL" -c -g "$CUBIN/$code.cubin" >real.sass 2>/dev/null
		output=$(python3 compare.py real.sass shown happened 2>&1)
		check "nvdisasm of this machine: $code" says '^rows [1-9][0-9]* texts [1-9][0-9]* lines [1-9][0-9]* bad 0$'
	done
	record lines
fi

# Only the functions that are shown are asked for, by their symbols as readelf counts them.
stand_in "[ \"\$2\" = -fun ] && for n in \${3//,/ }; do echo '.text.chain:'; echo \"/*0000*/ symbol \$n ;\"; done"
by_instruction --top 0
symbol=$(readelf -sW "$CUBIN/lines.cubin" | awk '$4 == "FUNC" && $NF == "barrier" { print int($1) }')
chain=$(readelf -sW "$CUBIN/lines.cubin" | awk '$4 == "FUNC" && $NF == "chain" { print int($1) }')
check "functions are asked for by their symbols" says "symbol ($symbol|$chain) "

# What it prints is not trusted.
stand_in "printf '.text.chain:\\n/*0000*/ \\033[31mred\\007 ;\\n/*zz*/ x\\n/*0010*/\\n/*0020*/ %5000d ;\\n/*0030*/ '; head -c 3000000 /dev/zero | tr '\\0' x; printf '\\n/*0040*/ last\\n'"
by_instruction --top 0
check "control characters are not printed" test $status = 0 -a "$(LC_ALL=C grep -c $'[\033\007]' shown)" = 0
check "lines that are too long are no instruction, and the next one is" says ' \+0x40 +last '
stand_in "exit 1"
by_instruction
check "it fails: offsets, and a note" says 'instructions have offsets only: nvdisasm did not print them'
check "the samples are there" says ' chain +\+0x'
stand_in "kill -SEGV \$\$"
by_instruction
check "it dies: the same" says 'nvdisasm did not print them'
stand_in "echo .text.chain:; echo \"/*0000*/ rights \$(grep CapEff /proc/self/status | cut -f2) \$(grep NoNewPrivs /proc/self/status | cut -f2) ;\"; echo x 2>/dev/null >$PWD/made; exit 0"
by_instruction --top 0
check "it has no rights" says 'rights 0+ 1 '
check "and writes no file" test ! -s made

stand_in "cat $CUBIN/lines.sass"
mkdir away && mv pc.grt/.cubin_* away
by_instruction
check "without the code: a note" says 'instructions have offsets only: the recording does not have their code'
mv away/.cubin_* pc.grt
ln -s "$PWD/pc.grt" link.grt && mv pc.grt/.cubin_* away && for f in away/.cubin_*; do ln -s "$PWD/$f" pc.grt/; done
by_instruction
check "a link is not followed" says 'the recording does not have their code'
rm pc.grt/.cubin_* && mv away/.cubin_* pc.grt

PATH=$PLACE
if [ -z "$REAL" ]; then
	by_instruction
	check "no nvdisasm: offsets, and one line that says what to install" test "$(grep -c 'install NVIDIA.s package cuda-nvdisasm' shown)" = 1
	PATH=.:relative:$PLACE
	cp bin/nvdisasm . && by_instruction
	check "one in a relative directory is not run" says 'there is no nvdisasm in PATH'
fi
plan
