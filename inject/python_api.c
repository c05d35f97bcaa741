// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "python_api.h"

#include <stdint.h>

#include "python.h"

struct python_api python;

bool python_api_load(void)
{
	bool all = true;

#define PYTHON_API_FIND(result, function, arguments)                                    \
	python.function = (result(*) arguments)(uintptr_t)grt_python_symbol(#function); \
	all &= python.function != NULL;
	PYTHON_API(PYTHON_API_FIND)
#undef PYTHON_API_FIND
	python.none = grt_python_symbol("_Py_NoneStruct");
	return all && python.none;
}
