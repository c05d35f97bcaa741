// SPDX-License-Identifier: GPL-2.0
/*
 * A CUDA runtime that is only there to be found: CUPTI is looked for beside it.
 */
int cudaRuntimeGetVersion(int *version);

int cudaRuntimeGetVersion(int *version)
{
	*version = 13000;
	return 0;
}
