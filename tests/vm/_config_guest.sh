#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tests/vm/config.sh runs in the guest: every key set and read through every spelling, files of settings,
# profiles, and what record puts back.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
cd /tmp || exit 1
D=/sys/kernel/debug/grtrace
def=$GRTRACE_SRC/include/grtrace/control.def

config_now() { grep -v '^enable=' $D/config; }
is_as_before() { config_now | cmp -s - before.txt; }
has() { grep -qx "$1" $D/config; }

# A value that is not the default: KIND MIN MAX DEFAULT WORDS.
other_value() {
	case $1 in
	WORD) cut -d '|' -f 2 <<<"$5" ;;
	IDS) echo 1,7 ;;
	BOOL) echo $((1 - $4)) ;;
	LEVEL) echo verbose ;;
	MASK) echo 0x6 ;;
	TYPES) echo submit,complete ;;
	S64) echo 3 ;;
	LIST) echo '0 !ctx:0x7' ;;
	*) if (($4 > 0 && 2 * $4 <= $3)); then echo $((2 * $4)); else echo $(($2 + 1)); fi ;;
	esac
}

keys() { # -> NAME KIND MIN MAX DEFAULT UNIT, of what can be set and whose module there is
	sed -n 's/^GRT_KEY(\([a-z_]*\), \([A-Z0-9]*\), \([^,]*\), \([^,]*\), \([^,]*\), "\([^"]*\)".*/\1 \2 \3 \4 \5 \6/p' "$def" |
		grep -v '^enable ' | awk '$4 != "0"'
}
names() { # KEY -> its other spellings
	sed -n "s/^GRT_ALIAS(\([a-z_]*\), $1)/\1/p" "$def"
}

"$GRTRACE" start >/dev/null && "$GRTRACE" stop >/dev/null
check "the module is loaded" test -e $D/config
for stage in $(sed -n 's/^GRT_STAGE([A-Z_]*, \([a-z_]*\),.*/\1/p' "$GRTRACE_SRC/include/grtrace/stages.def"); do
	[ ! -e "$GRTRACE_MODULES/grtrace_$stage.ko" ] || check "start has loaded $stage" test -d "/sys/module/grtrace_$stage"
done
config_now >before.txt
run config --save defaults.conf
check "the defaults are saved" exits 0

# Every key is set through every spelling and read back through every other.
while read -r name kind min max default unit; do
	grep -q "^$name=" before.txt || continue
	value=$(other_value "$kind" "$min" "$max" "$default" "$unit")
	for spelling in $name $(names "$name"); do
		run config "$spelling=$value"
		check "$spelling=$value" silent
		check "is not the default any more" sh -c "! grep -qx '$(grep "^$name=" before.txt)' $D/config"
		now=$(sed -n "s/^$name=//p" $D/config)
		for reading in $name $(names "$name"); do
			run config "$reading"
			check "$reading reads it" test "$output" = "$now"
			[ ! -e "$D/$reading" ] || check "so does its file" test "$(head -n 1 "$D/$reading")" = "$now"
		done
		grep "^$name=" before.txt >$D/config
		check "the default is back" is_as_before
	done
done < <(keys)

# All of them at once: set, saved, back to the defaults, restored.
settings=()
while read -r name kind min max default unit; do
	grep -q "^$name=" before.txt || continue
	settings+=("$name=$(other_value "$kind" "$min" "$max" "$default" "$unit")")
done < <(keys)
run config "${settings[@]}"
check "all keys in one command" silent
config_now >all.txt
run config --save all.conf
run config --restore defaults.conf
check "a file brings the defaults back" is_as_before
run config --restore all.conf
check "another one everything else" sh -c "grep -v '^enable=' $D/config | cmp -s - all.txt"
run config --restore defaults.conf

# All or nothing, where the module and not the tool refuses.
run config flush_ms=100 'watchlist=bogus:1'
check "what the module refuses undoes what came before it" is_as_before
check "with status 1" exits 1
printf 'flush_ms=100\nsample=50\nwatchlist=ring:2147483648\n' >bad.conf
run config --restore bad.conf
expect "in a file it is named" 1 "^grtrace config: bad.conf: line 3: cannot set watchlist to 'ring:2147483648'"
check "and nothing has changed" is_as_before
"$GRTRACE" start >/dev/null
run config flush_ms=100 buffer_size=8388608
expect "what only changes while tracing is off" 3 'cannot change while tracing is on'
check "has changed nothing" is_as_before
run config --restore defaults.conf
check "what is so already may stand in the file" silent
"$GRTRACE" stop >/dev/null

for profile in $(sed -n 's/^GRT_PROFILE(\([a-z]*\),.*/\1/p' "$GRTRACE_SRC/cmds/config/profiles.def"); do
	run config --profile "$profile"
	check "profile $profile" silent
	sed -n "/^GRT_PROFILE($profile,/,/\")/p" "$GRTRACE_SRC/cmds/config/profiles.def" | grep -o 'GRT_SET([^)]*)' |
		sed 's/GRT_SET(\(.*\), \(.*\))/\1=\2/' >wanted
	while read -r line; do check "sets $line" has "$line"; done <wanted
done
run config --profile debug
config_now >debug.txt
run config --profile production
run config --profile debug
check "a profile replaces the one before it" sh -c "grep -v '^enable=' $D/config | cmp -s - debug.txt"
run config --restore defaults.conf
run config --profile production sample=33
check "a key after a profile goes on top" has sample=33
run config --restore defaults.conf

# What record changes is put back, however it ends.
all=(--sample 10 --rate 1000 --watch '0 !ctx:7' --filter-pid 1 --filter-uid 3 --filter-ring 0
	--filter-engine graphics --filter-events "submit,complete" --filter-latency 5 --buffer 8M)
run record -o a.grt "${all[@]}" sh -c "grep -v ^enable= $D/config >meanwhile.txt"
check "record with every setting" exits 0
for setting in sample=10 max_events_per_sec=1000 filter_pid=1 filter_uid=3 filter_ring_id=0 filter_latency=5 \
	buffer_size=8388608; do
	check "$setting meanwhile" grep -qx $setting meanwhile.txt
done
check "all are put back" is_as_before
for signal in INT TERM HUP; do
	rm -rf s.grt
	"$GRTRACE" record -o s.grt "${all[@]}" 2>err &
	pid=$!
	window_begun s.grt
	check "set until SIG$signal" has max_events_per_sec=1000
	kill -$signal $pid
	wait $pid
	status=$?
	output=$(cat err)
	check "the recording ends well" exits 0
	check "all are put back after it" is_as_before
done
run record -o none/such/dir "${all[@]}" true
check "a recording that cannot be made" exits 1
check "changes nothing" is_as_before
run record -o n.grt "${all[@]}" no-such-program
check "nor does a program that is not there" is_as_before
run record -o n.grt --sample 10 --watch bogus:1 true
check "nor a value that the module refuses" is_as_before
run record -o one.grt --filter-events complete bash -c "
	for ((i = 0; i < 20; i++)); do echo \"submit ring=0 ctx=77 seqno=\$i engine=graphics\" >$D/emit; done
	for ((i = 0; i < 7; i++)); do echo \"complete ring=0 ctx=77 seqno=\$i engine=graphics\" >$D/emit; done"
check "the filter worked" test "$("$GRTRACE" dump one.grt | grep -c ctx=77)" = 7
"$GRTRACE" start >/dev/null
run record -o r.grt --sample 10 sh -c "grep -qx sample=10 $D/config"
check "also of a running module" exits 0
check "which runs on with its own settings" is_as_before
check "and still runs" grep -q running $D/control
"$GRTRACE" stop >/dev/null

"$GRTRACE" record -o m.grt --sample 10 --rate 1000 2>err &
pid=$!
window_begun m.grt
echo sample=77 >$D/config
kill -INT $pid
wait $pid
output=$(cat err)
check "what another user changes meanwhile is told" says "sample was changed by another program during the recording, from '10' to '77'"
check "and stays" has sample=77
check "the rest is put back" has max_events_per_sec=0

check "no complaint of the kernel" test -z "$(dmesg | grep -E 'BUG|WARNING|Oops|Call Trace')"
plan
