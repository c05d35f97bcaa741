#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# babeltrace2 and `grtrace dump` see the same events, names, fields and stamps.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

if ! command -v babeltrace2 >/dev/null; then
	echo "1..0 # SKIP no babeltrace2: apt-get install babeltrace2"
	exit
fi

# Both outputs become lines of `time type key=value...` with the keys sorted and strings as bytes.
cat >common.pl <<'PERL'
use strict; use warnings; no warnings 'portable';
my %simple = (n => "\n", t => "\t", r => "\r", a => "\a", b => "\b", f => "\f", v => "\x0b", e => "\e");
sub bytes {
	my $s = shift;
	$s =~ s/\\u([0-9a-f]{4})/my $c = chr(hex $1); utf8::encode($c) if ord($c) > 127; $c/ge;
	$s =~ s/\\x([0-9a-f]{2})/chr(hex $1)/ge;
	$s =~ s/\\(.)/exists $simple{$1} ? $simple{$1} : $1/ge;
	$s =~ s/\xff/\xef\xbf\xbd/g;
	return $s;
}
sub line {
	my ($time, $type, %f) = @_;
	# a value that may stand for none is written by one of them only
	/^(0|-1|65535|4294967295|18446744073709551615|2147483647)$/ and $_ = "none" for values %f;
	$type eq "FUNC" and !($f{known} =~ /^\d+$/ and $f{known} & $_->[0]) and delete $f{$_->[1]} for [1, "took"], [2, "ret"];
	$f{$_} eq "none" and delete $f{$_} for keys %f;
	return join(" ", $time, $type, map { "$_=$f{$_}" } sort keys %f) . "\n";
}
1;
PERL
cat >ours.pl <<'PERL'
require "./common.pl";
# Numbers as they are in CSV; a column that an event does not have is empty, as is a text that is.
my @keys;
while (<STDIN>) {
	s/\r?\n$//;
	my (@v, %f);
	push @v, defined $1 ? $1 =~ s/""/"/gr : $2 while /(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g;
	@keys or @keys = @v, next;
	@f{@keys} = @v;
	delete @f{qw(ring_name driver comm process)};
	$f{$_} eq "" ? delete $f{$_} : ($f{$_} = $f{$_} =~ /^-?\d+$/ ? $f{$_} : bytes($f{$_})) for keys %f;
	print line(delete $f{time}, delete $f{type}, %f);
}
PERL
cat >theirs.pl <<'PERL'
require "./common.pl";
while (<STDIN>) {
	/^\[0*(\d+)\] (\w+): \{ (.*?) \}, (.*)$/s or die "not understood: $_";
	my ($time, $type, $packet, $rest) = ($1, $2, $3, $4);
	my ($cpu) = $packet =~ /\bcpu_id = (\d+)/;
	my %f = (cpu => $cpu);
	$rest =~ s/engine = \( "(\w+)" : container = \d+ \)/engine = "$1"/;
	while ($rest =~ /(\w+) = (?:"((?:[^"\\]|\\.)*)"|0x([0-9A-F]+)|(-?\d+))/g) {
		$f{$1} = defined $2 ? bytes($2) : defined $3 ? hex $3 : $4;
	}
	delete $f{size};
	$f{$_} eq "" and delete $f{$_} for keys %f;
	print line($time, $type, %f);
}
PERL

# Same stamps may come in any order from two merges: the lines are sorted.
read_both() { # TRACE
	"$GRTRACE" export -f csv "$1" 2>/dev/null | perl ours.pl | LC_ALL=C sort >ours
	babeltrace2 --clock-cycles --no-delta "$1" 2>complaints | perl theirs.pl | LC_ALL=C sort >theirs
}

compare() { # KIND EVENTS
	"$GRTRACE_BUILD/tests/cli/traces" "$1" "$1.grt"
	read_both "$1.grt"
	output=$(diff -u ours theirs | head -n 20)
	check "$1: both see the same" silent
	check "$1: all $2 events" test "$(wc -l <theirs)" = "$2"
	# that events were discarded is in the traces and not a complaint
	output=$(grep -v discarded complaints)
	check "$1: babeltrace2 does not complain" silent
}

types=$(cat "$GRTRACE_SRC"/include/grtrace/events/*.def | grep -c '^GRT_EVENT(')
compare every $((types * 4 * 3))
check "every event type is compared" test "$(cut -d' ' -f2 theirs | sort -u | wc -l)" = "$types"
fields=$(sed -E 's/[^ ]+ [^ ]+ //; s/=[^ ]* ?/\n/g' theirs | sort -u | grep -c '^[a-z_]*$')
check "every field is compared" test "$fields" -ge 20
compare job 9
compare many 50000

# What a crash left is no CTF until it is cut back.
size=$(stat -c %s many.grt/kmod_1)
truncate -s $((size - 1000)) many.grt/kmod_1
run mend many.grt
expect "a cut recording is cut back" 0 'many.grt: 1 file cut back to whole packets'
read_both many.grt
output=$(diff -u ours theirs | head -n 20)
check "and then both see the same of it" silent
check "which is most of it" test "$(wc -l <theirs)" -gt 49000
plan
