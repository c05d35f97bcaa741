#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How long it takes until a process with many large libraries has unwind tables, and how much memory
# they need, all of it: a program maps the code of each file as the loader does, and sleeps.
#
#	bench/unwind_tables.sh [BUILD DIRECTORY [FILE...]]
#
# Without FILE: the largest libraries of this machine, MIB=600 of files together. Needs root and a compiler.

set -eu
build=$(realpath -- "${1:-build}")
[ $# = 0 ] || shift
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT

cat >"$dir/maps.c" <<'END'
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Bytes of code. */
static size_t map_code(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr p;
	Elf64_Ehdr e;
	size_t n = 0;

	if (fd < 0 || pread(fd, &e, sizeof(e), 0) != sizeof(e))
		return 0;
	for (int i = 0; i < e.e_phnum; i++) {
		off_t page;

		if (pread(fd, &p, sizeof(p), (off_t)(e.e_phoff + (size_t)i * sizeof(p))) != sizeof(p))
			break;
		page = p.p_offset & 4095;
		if (p.p_type == PT_LOAD && p.p_flags & PF_X &&
		    mmap(NULL, p.p_filesz + (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			 (off_t)p.p_offset - page) != MAP_FAILED)
			n += p.p_filesz;
	}
	close(fd);
	return n;
}

int main(int argc, char **argv)
{
	size_t n = 0;
	int files = 0;

	for (int i = 1; i < argc; i++) {
		size_t mapped = map_code(argv[i]);

		files += mapped != 0;
		n += mapped;
	}
	printf("%d files, %zu MiB of code\n", files, n >> 20);
	fflush(stdout);
	for (int i = 0; i < 2000; i++)
		nanosleep(&(struct timespec){0, 5000000}, NULL);
	return 0;
}
END
gcc -O2 -o "$dir/maps" "$dir/maps.c"

# Each file once, whatever names it has; the largest first, until there are so many MiB.
if [ $# = 0 ]; then
	mapfile -t files < <(find /usr /opt /root -xdev -type f \( -name '*.so' -o -name '*.so.*' -o -name chromium \) -size +1M \
		-printf '%s %p\n' 2>/dev/null | sort -rn | awk -v room=$((${MIB:-600} << 20)) '!seen[$1]++ && total + $1 <= room { total += $1; print $2 }')
	set -- "${files[@]}"
fi
bytes=$(stat -c %s -- "$@" | paste -sd+ | bc)
"$build/grtrace" record -e sched -F 0 -o "$dir/t.grt" -- "$dir/maps" "$@" >"$dir/out" 2>&1
echo "$((bytes >> 20)) MiB in $# files, of which $(head -n 1 "$dir/out")"
sed -n 's/.*sched_tables = "\(.*\)".*/\1/p' "$dir/t.grt/metadata" |
	awk '{ for (i = 1; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] }
		printf "%d files have tables, of %d rows, in %d ms; all that the tables need: %.1f MiB\n", v["files"], v["rows"], v["ms"], v["bytes"] / 1048576 }'
