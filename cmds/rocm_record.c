// SPDX-License-Identifier: GPL-2.0
#include "rocm.h"
int rocm_record(const struct rocm_options *opt, int argc, char **argv)
{
	(void)opt;
	(void)argc;
	(void)argv;
	return EXIT_FAILED;
}
