#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No message says "1 jobs": a count before a noun has both forms of the noun (lib/base/say.h), and a function that
# knows them prints it.

command -v python3 >/dev/null || { echo "1..0 # SKIP no python3: apt-get install python3" && exit; }
cat >plurals.py <<'END'
import re, subprocess, sys

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
FORMAT = re.compile(rf'{LITERAL}(?:\s+(?:{LITERAL}|PRI\w+))*')
NOUN = re.compile(r'%(?:\{PRI[ud](?:64|32)\}|llu|lu|zu|[ud]) ((?:[a-zA-Z]+ )?[a-z]{3,}s)\b')
NO_NOUN = {"has", "was", "this", "less", "across", "always", "its", "jobs'"}
# counts that are limits or of many parts, and never 1
LIMIT = re.compile(r'(limits? of|%u (processes|requests|groups) (or|and)|first|above|than|needs|knows|knows %u of|all|all its|at most'
                   r'|none of the|each one of|process|after|rank) ?$')
# what takes a format or a count with both forms
SPEAKERS = {"grt_note", "grt_say", "grt_say_text", "grt_say_count", "grt_err_set", "grt_fault", "cmd_fail", "cmd_usage_error",
            "rocm_answers_say", "probe_set", "flamegraph_printf", "print_if", "station", "grt_tally_write"}
FORMS = re.compile(r'\{[a-zA-Z][^{}"\n|]*\|[a-zA-Z][^{}"\n|]*\}')

def spoken(code):
    """(offset, text) of each format; its numbers of 64 bits are {PRIu64}"""
    for m in FORMAT.finditer(code):
        parts = re.findall(rf'{LITERAL}|PRI\w+', m[0])
        yield m.start(), ''.join(p[1:-1] if p[0] == '"' else '{' + p + '}' for p in parts)

def caller(code, at):
    """the function whose arguments have the literal at this place"""
    depth = 0
    before = re.sub(LITERAL, lambda m: '"' + ' ' * (len(m[0]) - 2) + '"', code[:at])
    for i in range(at - 1, -1, -1):
        depth += {')': 1, '(': -1, '}': 1, '{': -1}.get(before[i], 0)
        if depth < 0:
            name = re.search(r'(\w*)\s*$', before[:i])[1]
            if name or before[i] == '{':
                return name
            depth = 0
    return ''

def check(name, code):
    for at, text in spoken(code):
        line = code.count('\n', 0, at) + 1
        for m in NOUN.finditer(text):
            said = m[1].split()[-1] not in NO_NOUN and not m[1].startswith(("has ", "at ", "of "))
            if said and text[m.start() - 1:m.start()] != '=' and not LIMIT.search(text[:m.start()]):
                yield f'{name}:{line}: one form of a noun: {m[0]}'
        if FORMS.search(text) and caller(code, at) not in SPEAKERS:
            yield f'{name}:{line}: {caller(code, at) or "a table"} prints both forms of {FORMS.search(text)[0]}'

def says(code):
    return [w.split(': ', 1)[1] for w in check('x', code)]

# the check finds what it is for
assert says('f("%u jobs", n);') == ['one form of a noun: %u jobs']
assert says('grt_note(n, "%" PRIu64 " late jobs\\n", n);') == ['one form of a noun: %{PRIu64} late jobs']
assert says('grt_note(n, "%u {job|jobs} (limit of %u rows)", n);') == []
assert says('grt_note(n, g(a) ? "%u {job|jobs}" : "", n);') == []
assert says('printf("%u {job|jobs}", n);') == ['printf prints both forms of {job|jobs}']
wrong = []
for name in sys.argv[1:]:
    wrong += check(name, open(name, encoding="utf-8").read())
print('\n'.join(wrong))
sys.exit(bool(wrong))
END

here=$PWD
cd "$GRTRACE_SRC" || exit 1
n=0
result() { # NAME WRONG
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' <<<"$2"
	fi
}
files=()
while read -r file; do files+=("$file"); done < <(find cmds host kmod lib sources -name '*.c' ! -name '*.bpf.c' ! -path lib/base/say.c | sort)
wrong=$(python3 "$here/plurals.py" "${files[@]}" 2>&1) || wrong=${wrong:-it failed}
result "counts have both forms of their nouns, in ${#files[@]} files" "$wrong"
nouns='jobs|events|kernels|copies|launches|frames|slices|records|stacks|threads|waits|lines|calls|values|ranges|marks|groups|ioctls|packets|processes|snapshots|rows|requests|flips|objects|migrations|allocations|frees|channels|faults|collectives|steps|moves|places|kinds|windows'
result "no expected output has '1 jobs'" "$(grep -rIE "(^|[[:space:]\"(])1 ($nouns)\b" tests/golden --include='*.txt' --include='*.json' \
	--include='*.err' --include='*.out' --include='*.report' --include='*.want' | grep -vE ' [0-9.]+ +[0-9.]+ |_ns|seqno|"type"')"
echo "1..$n"
