// SPDX-License-Identifier: GPL-2.0
/* cupti_lines CUBIN: of each FUNCTION OFFSET on standard input the file and line by CUPTI's own reader. No
 * GPU. */
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static char code[16 << 20], line[8192], function[4096];
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	size_t size = f ? fread(code, 1, sizeof(code), f) : 0;
	unsigned long offset;

	while (size && fgets(line, sizeof(line), stdin) &&
	       sscanf(line, "%4095s %lx", function, &offset) == 2) {
		CUpti_GetSassToSourceCorrelationParams p = {
			.size = CUpti_GetSassToSourceCorrelationParamsSize,
			.cubin = code,
			.cubinSize = size,
			.functionName = function,
			.pcOffset = offset,
		};

		if (cuptiGetSassToSourceCorrelation(&p) || !p.fileName)
			printf("%s %#lx -\n", function, offset);
		else
			printf("%s %#lx %s/%s:%u\n", function, offset, p.dirName, p.fileName, p.lineNumber);
	}
	return !size;
}
