// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The files of web/ for flame graphs in a browser, unchanged. Their paths begin at the root of the source
 * tree, where make runs.
 */
#include "flamegraph_parts.h"

#define EMBED(name, file)                       \
	__asm__(".pushsection .rodata\n"        \
		".global " #name "\n" #name ":" \
		".incbin \"" file "\"\n"        \
		".byte 0\n"                     \
		".popsection\n")

EMBED(flamegraph_js, "web/flame.js");
EMBED(flamegraph_css, "web/flame.css");
