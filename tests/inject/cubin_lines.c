// SPDX-License-Identifier: GPL-2.0
/*
 * cubin_lines CUBIN: of each instruction of each function what lib/stack/cubin.h says of it: FUNCTION OFFSET
 * and FILE:LINE, and for each function that was inlined @FUNCTION FILE:LINE of its call; "-" where nothing is
 * known.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stack/cubin.h"

#define FRAMES 32
#define INSTRUCTION 16
#define TEXT ".text."

static void put(struct grt_cubin *c, const char *function, uint64_t offset)
{
	struct grt_object_frame f[FRAMES];
	unsigned int n = grt_cubin_frames(c, function, offset, f, FRAMES);

	printf("%s %#lx", function, (unsigned long)offset);
	for (unsigned int i = 0; i < n; i++)
		printf(" %s:%u%s%s", f[i].file, f[i].line, f[i].inlined ? " @" : "",
		       f[i].inlined ? f[i].linkage : "");
	puts(n ? "" : " -");
}

static int put_functions(struct grt_cubin *c, Elf *elf)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return 1;
	while ((scn = elf_nextscn(elf, scn))) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (!name || strncmp(name, TEXT, strlen(TEXT)))
			continue;
		for (uint64_t at = 0; at < sh.sh_size; at += INSTRUCTION)
			put(c, name + strlen(TEXT), at);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, ret;
	struct grt_cubin *c;
	Elf *elf;

	if (fd < 0 || grt_cubin_open(&c, fd))
		return 2;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ret = put_functions(c, elf);
	elf_end(elf);
	grt_cubin_close(c);
	close(fd);
	return ret;
}
