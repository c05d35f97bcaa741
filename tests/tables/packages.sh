#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What packages say of the source is so: the version, the licence of each file, the versions of the library's symbols.
cd "$GRTRACE_SRC" || exit 1
n=0
result() { # NAME WHY
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' <<<"$2"
	fi
}

version=$(sed -n 's/^#define GRT_VERSION "\(.*\)"/\1/p' include/grtrace/version.h)
same() { # NAME VERSION
	result "$1 has the version $version" "$([ "$2" = "$version" ] || echo "it has $2")"
}
same debian/changelog "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)"
same packaging/grtrace.spec "$(sed -n 's/^Version: *//p' packaging/grtrace.spec)"
result "packaging/grtrace.spec describes it" "$(grep -q "^\* .* - ${version//./\\.}-1$" packaging/grtrace.spec || echo "%changelog has no entry of it")"

in_map() { sed -n 's/^\(GRTRACE_[0-9.]*\) {$/\1/p' lib/libgrtrace.map; }
in_symbols() { sed -n 's/^ (symver)\(GRTRACE_[0-9.]*\) .*/\1/p' debian/libgrtrace0.symbols; }
result "each version of symbols is in debian/libgrtrace0.symbols" "$(diff <(in_map) <(in_symbols))"
result "there is one at least" "$([ -n "$(in_map)" ] || echo "lib/libgrtrace.map has none")"

# `FILE: SPDX but COPYRIGHT` for each file whose first lines say another licence than debian/copyright: the last
# paragraph whose pattern a file's name matches is the one for it.
licences_differ() {
	python3 - <<-'END'
		import fnmatch, os, re
		names = {"GPL-2": "GPL-2.0", "LGPL-2.1 or BSD-2-clause": "LGPL-2.1 OR BSD-2-Clause"}
		rules = []
		for paragraph in open("debian/copyright").read().split("\n\n"):
		    found = re.search(r"^Files:((?:.|\n )*)\n", paragraph + "\n", re.M)
		    if found:
		        licence = re.search(r"^License: *(.*)", paragraph, re.M).group(1)
		        rules += [(pattern, names[licence]) for pattern in found.group(1).split()]
		seen = 0
		for top, dirs, files in os.walk("."):
		    dirs[:] = [d for d in dirs if top != "." or d not in (".git", "build", "LICENSES", "demo")]
		    dirs[:] = [d for d in dirs if top != "./debian" or d == "source"]
		    for file in files:
		        path = os.path.join(top, file)[2:]
		        if os.path.islink(path) or not os.path.isfile(path):
		            continue
		        text = open(path, errors="replace").read(2000)
		        spdx = re.search(r"SPDX-License-Identifier: ((?:\S+ OR )?\S+)", text)
		        given = [licence for pattern, licence in rules if fnmatch.fnmatchcase(path, pattern)]
		        if not given:
		            print(path + ": no paragraph of debian/copyright is for it")
		        elif spdx and spdx.group(1) != given[-1]:
		            print(path + ": " + spdx.group(1) + ", but debian/copyright has " + given[-1])
		        seen += bool(spdx)
		if seen < 500:
		    print("only", seen, "files were compared")
	END
}
if command -v python3 >/dev/null; then
	result "the licence in each file is that of debian/copyright" "$(licences_differ 2>&1)"
else
	n=$((n + 1))
	echo "ok $n - licences # SKIP no python3: apt-get install python3"
fi

spec() { # TITLE PROGRAM COMMAND...: which prints what is wrong
	if command -v "$2" >/dev/null; then
		result "$1" "$("${@:3}" 2>&1)"
	else
		n=$((n + 1))
		echo "ok $n - $1 # SKIP no $2: apt-get install $2"
	fi
}
parse_spec() {
	rpmspec --parse packaging/grtrace.spec >/dev/null
}
# Mandriva's names, a tag that is of no use since 2009, an address of the archive, which has none.
lint_spec() {
	rpmlint packaging/grtrace.spec >"$told" 2>&1 || :
	grep -q 'and 1 specfiles checked' "$told" || cat "$told"
	grep -E '\.spec:([0-9]+:)? [EW]: ' "$told" | grep -vE 'mklibname|no-buildroot-tag|invalid-url Source0'
}
told=$(mktemp)
trap 'rm -f "$told"' EXIT
spec "rpmspec reads packaging/grtrace.spec" rpmspec parse_spec
spec "rpmlint finds nothing in it" rpmlint lint_spec

# The package is built in the container as anywhere.
needs() { sed -n '/^Build-Depends:/,/^[^ ]/s/^ \([a-z0-9-]*\).*/\1/p' debian/control | sed 's/dh-sequence-dkms/dh-dkms/; s/debhelper-compat/debhelper/' | sort; }
installs() { sed -n '/AS build/,/rm -rf/p' Containerfile | grep -oE '^ {8}[a-z].*' | grep -oE '[a-z0-9-]+' | grep -v build-essential | sort; }
result "Containerfile installs what debian/control needs" "$(diff <(needs) <(installs))"

# Two that are not ours read it: a parser of its language, and one that knows what is unwise in it.
faults_of() { # CONTAINERFILE
	NODE_PATH=$readers/node_modules node -e '
		const text = require("fs").readFileSync(process.argv[1], "utf8");
		for (const d of require("dockerfile-utils").validate(text))
			console.log(`line ${d.range.start.line + 1}: ${d.message}`);' "$1"
	node "$readers/node_modules/dockerfilelint/bin/dockerfilelint" --output json "$1" | node -e '
		for (const file of JSON.parse(require("fs").readFileSync(0, "utf8")).files)
			for (const issue of file.issues)
				console.log(`line ${issue.line}: ${issue.title}`);'
}
if readers=$(tools/table-readers containerfile 2>"$told"); then
	readers=${readers##*$'\n'}
	result "Containerfile is one, and nothing in it is unwise" "$(faults_of Containerfile 2>&1)"
	sed 's/^WORKDIR/WORKDIRR/; s/ install -y / install /' Containerfile >"$told"
	result "faults would be seen" "$([ "$(faults_of "$told" 2>&1 | grep -cE 'WORKDIRR|apt-get')" -ge 2 ] || faults_of "$told")"
else
	n=$((n + 1))
	echo "ok $n - Containerfile is one # SKIP $(tail -n 1 "$told")"
fi
echo "1..$n"
