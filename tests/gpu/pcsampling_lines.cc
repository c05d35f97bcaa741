// SPDX-License-Identifier: GPL-2.0
/*
 * lines RECORDING FILE: of the instructions in FILE (CUBIN FUNCTION OFFSET SOURCE LINE) those whose line is
 * not that of cuptiGetSassToSourceCorrelation() in the recording's cubin.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
	std::map<unsigned long long, std::vector<char>> cubins;
	std::ifstream in(argc > 2 ? argv[2] : "");
	std::string cubin, function, offset, file;
	unsigned int line;

	while (in >> cubin >> function >> offset >> file >> line) {
		unsigned long long crc = strtoull(cubin.c_str(), nullptr, 0);
		std::vector<char> &code = cubins[crc];
		if (code.empty()) {
			std::ifstream f(std::string(argv[1]) + "/.cubin_" + std::to_string(crc),
					std::ios::binary);
			code.assign(std::istreambuf_iterator<char>(f), {});
		}
		CUpti_GetSassToSourceCorrelationParams p = {};
		p.size = CUpti_GetSassToSourceCorrelationParamsSize;
		p.cubin = code.data();
		p.cubinSize = code.size();
		p.functionName = function.c_str();
		p.pcOffset = strtoull(offset.c_str(), nullptr, 0);
		int ret = cuptiGetSassToSourceCorrelation(&p);
		std::string theirs =
			ret || !p.fileName ? "-" : std::string(p.dirName ? p.dirName : "") + "/" + p.fileName;
		if (ret || (theirs == "-" ? file != "-"
					  : (p.lineNumber && (p.lineNumber != line || theirs != file))))
			printf("%s %s: %s:%u, not %s:%u (%d)\n", function.c_str(), offset.c_str(),
			       theirs.c_str(), ret ? 0 : p.lineNumber, file.c_str(), line, ret);
	}
	return 0;
}
