/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Functions of CPython's stable ABI, which has the same ones from 3.10 on, in the interpreter of this
 * process. Call them only with the GIL, except Py_AddPendingCall().
 */
#ifndef GRT_INJECT_PYTHON_API_H
#define GRT_INJECT_PYTHON_API_H

#include <stdbool.h>
#include <sys/types.h>

struct py_object;

/** struct py_method - PyMethodDef */
struct py_method {
	const char *name;
	struct py_object *(*function)(struct py_object *self, struct py_object *argument);
	int flags;
	const char *doc;
};

/* Flags of a method with one argument; what Py_CompileString() is given. */
enum { PY_METH_O = 8, PY_FILE_INPUT = 257 };

#define PYTHON_API(X)                                                                                     \
	X(int, Py_AddPendingCall, (int (*function)(void *), void *arg))                                   \
	X(void, Py_IncRef, (struct py_object * o))                                                        \
	X(void, Py_DecRef, (struct py_object * o))                                                        \
	X(void, PyErr_Clear, (void))                                                                      \
	X(struct py_object *, PySys_GetObject, (const char *name))                                        \
	X(struct py_object *, PyEval_GetBuiltins, (void))                                                 \
	X(struct py_object *, PyEval_EvalCode,                                                            \
	  (struct py_object * code, struct py_object * globals, struct py_object * locals))               \
	X(struct py_object *, Py_CompileString, (const char *text, const char *file, int how))            \
	X(struct py_object *, PyCFunction_NewEx,                                                          \
	  (struct py_method * method, struct py_object * self, struct py_object * module))                \
	X(struct py_object *, PyDict_New, (void))                                                         \
	X(struct py_object *, PyDict_GetItemString, (struct py_object * dict, const char *key))           \
	X(int, PyDict_SetItemString, (struct py_object * dict, const char *key, struct py_object *value)) \
	X(struct py_object *, PyObject_GetAttrString, (struct py_object * o, const char *name))           \
	X(struct py_object *, PyObject_GetAttr, (struct py_object * o, struct py_object * name))          \
	X(struct py_object *, PyObject_GetItem, (struct py_object * o, struct py_object * key))           \
	X(struct py_object *, PyObject_Type, (struct py_object * o))                                      \
	X(struct py_object *, PyObject_CallObject, (struct py_object * o, struct py_object * arguments))  \
	X(int, PyObject_IsTrue, (struct py_object * o))                                                   \
	X(struct py_object *, PyMapping_Items, (struct py_object * o))                                    \
	X(ssize_t, PyList_Size, (struct py_object * list))                                                \
	X(struct py_object *, PyList_GetItem, (struct py_object * list, ssize_t at))                      \
	X(struct py_object *, PyTuple_GetItem, (struct py_object * tuple, ssize_t at))                    \
	X(struct py_object *, PyUnicode_InternFromString, (const char *text))                             \
	X(const char *, PyUnicode_AsUTF8AndSize, (struct py_object * text, ssize_t * size))

struct python_api {
#define PYTHON_API_MEMBER(result, name, arguments) result(*name) arguments;
	PYTHON_API(PYTHON_API_MEMBER)
#undef PYTHON_API_MEMBER
	struct py_object *none;
};

extern struct python_api python;

/** python_api_load - finds the functions, after grt_python_init(). Return: whether all are there */
bool python_api_load(void);

#endif /* GRT_INJECT_PYTHON_API_H */
