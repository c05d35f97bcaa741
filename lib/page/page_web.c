// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The code of pages for the browser: the files of web/page in one, made by the Makefile. */
#include "page.h"
#include "page_paths.h"

#define EMBED(name, file)                       \
	__asm__(".pushsection .rodata\n"        \
		".global " #name "\n" #name ":" \
		".incbin \"" file "\"\n"        \
		".byte 0\n"                     \
		".popsection\n")

EMBED(grt_page_js, PAGE_JS_PATH);
EMBED(grt_page_css, PAGE_CSS_PATH);
