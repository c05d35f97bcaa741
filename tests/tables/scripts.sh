#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Shell scripts have no warnings.
# long
if ! command -v shellcheck >/dev/null; then
	echo "1..0 # SKIP no shellcheck: apt-get install shellcheck"
	exit
fi
cd "$GRTRACE_SRC" || exit 1
n=0
while IFS= read -r file; do
	head -1 "$file" | grep -qE '^#!.*\b(ba|da)?sh\b' || continue
	n=$((n + 1))
	if messages=$(shellcheck -x -S warning -e SC1007 "$file" 2>&1); then
		echo "ok $n - $file"
	else
		echo "not ok $n - $file"
		echo "$messages"
	fi
done < <(find . -path ./.git -prune -o -path ./build -prune -o -type f -size -200k \
	\( -name '*.sh' -o -path './tools/*' -o -name run -o -name init \) -print | sort)
echo "1..$n"
