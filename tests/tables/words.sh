#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Phrases that a reader has to read twice stand in nothing that users see: the rows of the tables, every --help,
# messages of the commands and sources, the manual, README.md and docs/*.md.

here=$PWD
cd "$GRTRACE_SRC" || exit 1
LC_ALL=C.UTF-8

# An extended regular expression per line, and what to write instead.
phrases() {
	cat <<-'END'
		that of which	name the thing
		who wonders	name the reader, or leave it out
		(^|[^a-z])[Pp]lease	say what to type
		(are|is|was|were|be) told of	name who reports what to whom
		are told by	name who reports what to whom
		[Tt]ells? of	reports, records
		(which|this|that) is told	prints
		(is|are) told on standard	prints
		known of	unknown, or name the information
		see the same jobs for less	cost less per job
		launched already	queued behind earlier work
		no_frame([^"]|$)	page flips (a member of JSON keeps its name)
		(^|[^a-z])closes +(yes|no)($|[^a-z])	every event is accounted for
		BALANCE DOES NOT CLOSE	not every event is accounted for
		[Bb]alance closes	every event is accounted for
		(at least|at most|with|each|than|in|of|for|is|took|ago) so (many|much|long)	how long, how many, or the number
		[Nn]ot known	unknown
		(job|file|line|command|event|lines|events|commands)s? (is|are) no [a-z]+( |$|"|,)	is not a
		was it asked for	requested
		as far as they work	that work
		concluded	inferred
		not believed	invalid
		on one time line	timeline
		(is|are|was|were|be) told([ .,;:]|$)	name who reports what, or: prints
		(are|be|were) asked for([ .,;:]|$)	requested
		stands? (behind|before|beside|with|on) the	follows, precedes, is in
		for want of	because there was no room
		whole or not at all	appears only when it is complete
		who asked|who asks|whoever	name the user, the caller, the program
		the same, (of|in|its|median|the)	repeat the noun
		[Oo]f these, (jobs|with|without|of|signalled|wanted|placed|destroyed|failed|live|not)	repeat the noun
		what became of	counts of dropped events, what happened to
		(for|in|of) all of the time	the whole recording
		[Ww]indows? at random|at random places	random windows
		identity, for all processes	UUID
		plugged in	PCI address
		stood still	was stopped, stalled
		(nothing|none|nobody) says	is unknown
		goes? together	works with
		in no sum	no sum includes
		mean by time	mean over time
		[Bb]ehind (it|the row|a row|a bar|the bar|the command)	after
		the most, ns|the most (of it|that was|that there)	the largest, the longest
		[Ww]hat is of	name the thing
		(are|is) said	prints a message
		to blame	the cause, why
		that it (is|was) of	to which it belongs
		weighs? (nothing|no)	has no weight
		has none here	is not on this system
		, as far as (it|they) (is|are) known	where known
		a fault of	a bug of
		cannot be had	does not work
		sees? (all|everything)	records all
		saw everything	recorded everything
		[Ww]ho(se| had| ended| made) (it|that|them)( |$|"|,|[.])	name the process or thread
		takes? in an	processes, adds
		(is|are|was|were) met( |$|"|,|[.])	is seen, occurs
	END
}

# `FILE: LINE` of all that users see. Of C files the string literals; of tables the rows, not their comments.
seen() {
	local command
	sed 's/^/--tables: /' < <("$GRTRACE" --tables)
	for command in '' $("$GRTRACE" --tables | awk -F'\t' '$1 == "command" { print $2 }'); do
		# shellcheck disable=SC2086 # an empty word is no argument
		"$GRTRACE" $command --help 2>&1 | sed "s/^/grtrace $command --help: /"
	done
	grep -H '^GRT_[A-Z_]*(.*"\|^[[:space:]]*"' include/grtrace/{fates,control,flags,stages,engines,classes}.def \
		cmds/*.def cmds/*/*.def sources/sources.def lib/analyses.def lib/export/exports.def
	grep -HnoE '"([^"\\]|\\.)*"' {host,kmod,sources,cmds}/*.c {lib,sources,cmds}/*/*.c
	grep -Hn '' README.md docs/*.md docs/*.[1-8] | grep -v '^docs/glossary.md\|^docs/grtrace-stream.5:[0-9]*:\.It [0-9]'
}
seen >"$here/seen"

n=0
while IFS=$'\t' read -r phrase instead; do
	n=$((n + 1))
	found=$(grep -E ":.*($phrase)" "$here/seen")
	[ -z "$found" ] || echo -n "not "
	echo "ok $n - no \"$phrase\" in what users see; write: $instead"
	[ -z "$found" ] || sed 's/^/# /' <<<"$found"
done < <(phrases)
# What a kernel without modules cannot do goes through probe_load_fix(); the vendors' table and bpf.c give it theirs.
n=$((n + 1))
found=$(grep -nE '"sudo (nvidia-)?modprobe' {host,sources}/*.c {sources,cmds/doctor}/*.c sources/*/*.c |
	grep -vE 'probe_load_fix\("|snprintf\(fix, sizeof\(fix\), "sudo modprobe %s, then|[{]0x[0-9a-f]{4}, |nvidia-modprobe -u')
[ -z "$found" ] || echo -n "not "
echo "ok $n - no modprobe is advised without a look whether this kernel loads modules"
[ -z "$found" ] || sed 's/^/# /' <<<"$found"
echo "1..$n"
