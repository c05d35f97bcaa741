#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# config, and record's settings of the module: files of settings, profiles, JSON, what is put back.
# alone
# Several settings at once need a module that obeys at once: tests/vm/config.sh.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
umask 022
def=$GRTRACE_SRC/include/grtrace/control.def

# A directory that never obeys: whatever is written to it shows.
mkdir still
"$GRTRACE" --version | sed 's/[()]//g' >still/version
echo stopped >still/control
: >still/events0
printf 'adapters\n' >still/adapters
printf 'reader_pid 0\ntotal emitted=0\n' >still/stats
sed -n 's/^GRT_KEY(\([a-z_]*\), \([A-Z0-9]*\), [^,]*, [^,]*, \([^,]*\),.*/\1 \2 \3/p' "$def" |
	while read -r name kind value; do
		[ "$kind" != LIST ] || value=
		echo "$name=$value"
	done >still/config
cp still/config config.before
untouched() { cmp -s still/config config.before; }
export GRTRACE_DEBUGFS=$PWD/still

run config --json
json=$output
if command -v python3 >/dev/null; then
	check "--json has every key, with what its row says" python3 -c 'import json, re, sys
d = json.loads(sys.argv[1])
rows = re.findall(r"^GRT_KEY\((\w+), (\w+),", open(sys.argv[2]).read(), re.M)
assert list(d) == [name for name, kind in rows]
assert d["sample"]["value"] == "100" and d["sample"]["unit"] == "percent"
assert d["sample"]["aliases"] == ["sampling", "sampling_rate"]
assert d["buffer_size"]["when_stopped"] is True and d["watchlist"]["default"] == ""
' "$json" "$def"
fi
run config --json rate_limit
expect "--json of one key, by another spelling" 0 '^\{"max_events_per_sec":\{"value":"0",.*\}\}$'
run config level flush_ms
expect "values of several keys" 0 '^200$'
while IFS='(, )' read -r _ other key _; do
	run config "$other"
	check "$other reads $key" test "$output" = "$(sed -n "s/^$key=//p" still/config)"
done < <(grep '^GRT_ALIAS(' "$def")
check "reading changes nothing" untouched

for bad in sample=101 sample=-1 sample= sample=1x enable=2 buffer_size=1 filter_ring_id=-2 filter_pid=abc \
	flush_ms=60001 level=4 trace_ctx=0x1ffffffffffffffff; do
	run config "$bad"
	expect "$bad is refused" 1 "cannot set ${bad%%=*} to '${bad#*=}': it takes "
done
for bad in filter_events=0x3 filter_type_mask=0xffffffff filter_type_mask=1; do
	run config "$bad"
	expect "$bad is refused" 1 "cannot set filter_events to '${bad#*=}': bit 0 has no event, bit 1 is submit"
	check "and says what to type" says '.*filter_events=submit,complete'
done
run config flush_ms=100 sample=101
check "a bad value after a good one is refused" exits 1
run config flush_ms=100 smaple=50
expect "so is a bad name" 2 "unknown key 'smaple' \(did you mean sample\?\)"
check "all of these changed nothing" untouched

# ------------------------------------------------------------- files

run config --save kept.conf
expect "--save" 0 '^$'
check "--save: only the owner can read the file" test "$(stat -c %a kept.conf)" = 600
check "--save: the file has every setting" test "$(grep -c '^[a-z_]*=' kept.conf)" = \
	"$(grep '^GRT_KEY(' "$def" | grep -cvE '^GRT_KEY\((enable,|[a-z_]*, [A-Z0-9]*, 0, 0,)')"
check "--save: the file leaves out the switch and counts" test "$(grep -cE '^(enable|watch_count|watch_ring_count)=' kept.conf)" = 0
run config --save -
check "--save - writes to standard output" test "$output" = "$(cat kept.conf)"
run config --save kept.conf
check "--save replaces an older file of --save" exits 0
echo thesis >thesis.txt
run config --save thesis.txt
expect "another file is not" 1 'cannot write thesis.txt: the file exists, and config --save did not write it'
check "--save does not change another file" test "$(cat thesis.txt)" = thesis
run config --save no/such/kept.conf
expect "a directory that is not there" 1 'cannot create no/such/kept.conf: No such file'
run config --save /dev/full
expect "a full disk" 1 'cannot write to /dev/full: No space left'
check "--save leaves no temporary file" test -z "$(find . -name 'kept.conf.*' -o -name 'thesis.txt.*')"

run config --restore kept.conf
expect "what was saved is restored" 0 '^$'
run config --restore nowhere.conf
expect "a file that is not there" 1 '^  try: sudo grtrace config --save FILE'
run config --restore - <<<'sample=100'
check "--restore - reads standard input" exits 1
check "a setting that already has the value is not written" untouched

# A bad file: NAME, REGEX, then its text as for printf.
bad_file() {
	local name=$1 regex=$2
	shift 2
	# shellcheck disable=SC2059 # the text is a format
	printf "$@" >bad.conf
	run config --restore bad.conf
	expect "a file with $name" 1 "$regex"
	check "changes nothing" untouched
}
bad_file "an unknown key" "bad.conf: line 2: unknown key 'smaple' \(did you mean sample\?\)" 'flush_ms=100\nsmaple=3\n'
bad_file "a bad value" "bad.conf: line 3: cannot set sample to '101': it takes 0..100 percent" 'flush_ms=100\n\nsample=101\n'
bad_file "no value" "bad.conf: line 1: 'sample': a line must be key=value" 'sample\n'
bad_file "a key twice" 'bad.conf: line 4: sample is set by line 1 already' 'sample=10\n# no\nflush_ms=100\nsampling=20\n'
bad_file "the switch" 'bad.conf: line 1: enable: the key is not a setting' 'enabled=1\n'
bad_file "a count" 'bad.conf: line 1: watch_count: the key is not a setting' 'watch_count=0\n'
bad_file "a NUL byte" 'bad.conf: line 2: the file is not text: it has a NUL byte' 'flush_ms=100\nsam\0ple=10\n'
bad_file "an endless line" 'bad.conf: line 1: it is longer than' '%09000d' 1
bad_file "nothing in it" 'bad.conf: it has no settings' '# nothing\n\n'
bad_file "no line at all" 'bad.conf: it has no settings' ''
bad_file "control characters" "bad.conf: line 1: unknown key 'a.x1b.31m" 'a\033[31m=1\n'
run config --restore none.conf
expect "a file that is not there" 1 'cannot open none.conf: No such file'
run config --restore .
expect "a directory" 1 'cannot read \.: Is a directory'

run config --save x --restore y
expect "--save takes no settings" 2 '^grtrace config: --save takes no settings'
run config --restore kept.conf sample=3
expect "so does --restore" 2 '^grtrace config: --restore takes no settings'
run config --profile fast
expect "a profile that is not there" 2 'there are: production\|'
check "nothing was changed" untouched

# -------------------------------------------- a stage that is not loaded

stage_keys=$(sed -n 's/^GRT_KEY(\([a-z_]*\),.*OF(SAMPLING).*/\1/p' "$def")
for key in $stage_keys; do sed -i "/^$key=/d" still/config; done
cp still/config config.before
run config sample
expect "a key of a stage that is not loaded" 3 'the setting sample does not exist now: it belongs to the module grtrace_sampling, which is not loaded'
check "says what to type" says 'try: sudo modprobe grtrace_sampling'
run config flush_ms=100 sampling_rate=10
expect "setting it" 3 'belongs to the module grtrace_sampling'
run config --profile production
expect "a profile that needs it" 3 'belongs to the module grtrace_sampling'
printf 'flush_ms=200\nsampling=10\n' >stage.conf
run config --restore stage.conf
expect "a file that needs it" 3 "stage.conf: line 2: the setting sample does not exist now: .* which is not loaded"
run config sample=100
check "a missing setting that already has its default is accepted" exits 0
check "nothing was changed" untouched
run config
expect "config names what is missing" 0 '^without its module: sample '
check "and its module" says '^    sudo modprobe grtrace_sampling$'
run record -e kmod --sample 10 true
expect "record says it, too" 3 '--sample needs the source kmod: the setting sample does not exist now'

# ------------------------------------------------- one setting at a time

fake_start 2 40 100
for name in sample sampling sampling_rate; do
	run config $name=50
	check "$name=50 sets sample" settled config '^sample=50$'
	run config $name=100
	settled config '^sample=100$'
done
echo '  sampling_rate = 25 ' >one.conf
run config --restore one.conf
expect "a file with blanks and another spelling" 0 '^$'
check "sets it" settled config '^sample=25$'
run config --restore one.conf
run config sample=100
settled config '^sample=100$'

# ------------------------------------------------------------- record

run record -e kmod -o s.grt --sample 10 sleep 0.3
check "record --sample sets the rate during the recording" grep -q 'kmod_settings = "sample=10"' s.grt/metadata
check "record --sample: the rate is restored" settled config '^sample=100$'
run record -o r.grt --rate 500 sleep 0.3
check "--rate is set with the sources of auto" grep -q 'kmod_settings = "max_events_per_sec=500"' r.grt/metadata
check "with --rate, auto is the module only" test -z "$(find r.grt -type f ! -name 'kmod_*' ! -name metadata)"
settled config '^max_events_per_sec=0$'
run record -e kmod -o w.grt --watch '0,1 !ctx:7' sleep 0.3
check "--watch" grep -q 'kmod_settings = "watchlist=0,1 !ctx:7"' w.grt/metadata
settled config '^watchlist=$'
events=$(grep '^filter_events=' fake/config)
run record -e kmod -o f.grt --filter-events submit,complete sleep 0.3
check "--filter-events by name" grep -q 'kmod_settings = "filter_events=submit,complete"' f.grt/metadata
check "--filter-events: the filter is restored" settled config "^$events\$"

for signal in INT TERM HUP; do
	idle
	"$GRTRACE" record -e kmod -o sig.grt --sample 10 2>err &
	pid=$!
	settled config '^sample=10$'
	kill -$signal $pid
	wait $pid
	check "after SIG$signal the rate is restored" settled config '^sample=100$'
done
idle
(ulimit -f 64; exec "$GRTRACE" record -e kmod -o full.grt --sample 10 sleep 0.4) >err 2>&1
check "after an error the rate is restored" settled config '^sample=100$'
run record -e kmod -o no/such/dir --sample 10 true
check "the rate is restored if the recording does not begin" settled config '^sample=100$'
run record -e kmod -o n.grt --sample 10 no-such-program-here
check "the rate is restored if the program does not exist" settled config '^sample=100$'

idle
"$GRTRACE" record -e kmod -o mean.grt --sample 10 sh -c 'until [ -e changed ]; do sleep 0.05; done' 2>err &
pid=$!
settled config '^sample=10$'
echo sample=77 >fake/config
settled config '^enable=' # taken, and all settings stand there again
touch changed
wait $pid
output=$(cat err)
check "a message reports a setting that another user has changed meanwhile" \
	says "sample was changed by another program during the recording, from '10' to '77': record does not restore it \(value before: '100'\)"
idle
check "the other user's value is kept" grep -qx sample=77 fake/config
echo sample=100 >fake/config
settled config '^sample=100$'

run record --sample 101 true
expect "a bad value" 2 "\-\-sample: '101' is out of range \(wanted: 0\.\.100"
run record --filter-pid me true
expect "no number" 2 "\-\-filter-pid: 'me' is not understood"
run record --filter-pid '' true
expect "the empty value of a variable lifts no filter" 2 "\-\-filter-pid: '' is not understood \(wanted: up to 32"
run record -e drm --sample 10 true
expect "a source that does not know it" 2 '--sample needs the source kmod: add it to -e'
run record -p $$ --filter-pid 1
expect "-p and --filter-pid" 2 'pid and --filter-pid: use only one of them'
run record -t submit --filter-events end true
expect "-t and --filter-events" 2 'type and --filter-events: use only one of them'
check "every filter of the module has an option" test -z "$(sed -n 's/^GRT_KEY(\(filter_[a-z_]*\), [^B].*/\1/p' "$def" |
	while read -r key; do grep -q "^GRT_OPTION(\"filter-[a-z]*\", $key," "$def" || echo "$key"; done)"
fake_stop
GRTRACE_DEBUGFS=$PWD/none run record --sample 10 true
expect "without the module" 3 '--sample needs the source kmod: .*the kernel module grtrace is not loaded'
plan
