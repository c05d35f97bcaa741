// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * PyTorch calls two functions of ours before and after each module's forward(): hooks for all modules,
 * registered by its public interface (torch.nn.modules.module). Each hook is a Python function that calls a
 * C function. torch.compile reads the Python function and finds that it does nothing; a C function would
 * split each graph in front of it. Their file name makes the hooks functions of torch.nn, so torch.compile
 * reads them with the code that calls them and does not compile them on their own.
 *
 * The second hook may not be called for a module that ends by an exception: older releases never call it
 * then, newer ones do except for KeyboardInterrupt and similar. A module that has ended must never be taken
 * for a running one. So each module is identified by the frame of the method that called the hook, and a
 * module begins within another one only if the other one's frame is running now.
 *
 * The hooks are registered by the program's first thread: CPython lets it call a function of ours between
 * two instructions, as soon as PyTorch is imported, or at the first use of CUDA if it was imported before.
 */
#include "torch.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "inject.h"
#include "trace/cuda_recording.h"

/* How many modules a thread's searches may visit at first and at most, and how many more with each call. */
#define CREDIT (1 << 20)
#define CREDIT_OF_A_CALL 16

/* Code that CPython compiles: the hooks, and functions that return whether they did what their name says. */
static const char source[] =
	"import sys\n"
	"handles = []\n"
	"def begins(module, args):\n"
	"    compiling() or enter(module)\n"
	"def ends(module, args, output):\n"
	"    compiling() or leave(module)\n"
	"def register():\n"
	"    global compiling\n"
	"    torch = sys.modules.get('torch')\n"
	"    if torch is None or getattr(torch.__spec__, '_initializing', False):\n"
	"        return False\n"
	"    try:\n"
	"        compiling = torch.compiler.is_compiling\n"
	"    except AttributeError:\n"
	"        compiling = bool\n"
	"    for f in begins, ends:\n"
	"        f.__code__ = f.__code__.replace(co_filename=torch.nn.__file__)\n"
	"    hooks = torch.nn.modules.module\n"
	"    handles.append(hooks.register_module_forward_pre_hook(begins))\n"
	"    try:\n"
	"        handles.append(hooks.register_module_forward_hook(ends, always_call=True))\n"
	"    except TypeError:\n"
	"        handles.append(hooks.register_module_forward_hook(ends))\n"
	"    return True\n"
	"def remove():\n"
	"    while handles:\n"
	"        handles.pop().remove()\n"
	"    return True\n";

enum registered { NOT_REGISTERED, REGISTERED, REFUSED };

/**
 * @wanted: modules are recorded
 * @registered: enum registered; @asked: the program's first thread will change it
 * @why: the reason why the hooks are not registered
 * @names: the dictionary of the names in @source
 * @domain: number of the domain's name in nvtx_names.c
 * @unended, @unnamed: calls whose end was not seen, and calls whose range has the name of a class
 */
static struct {
	_Atomic bool wanted;
	_Atomic int registered;
	_Atomic bool asked;
	const char *_Atomic why;
	struct py_object *names;
	uint32_t domain;
	bool keyed;
	pthread_key_t key;
	_Atomic uint64_t unended;
	_Atomic uint64_t unnamed;
} torch;

_Atomic bool torch_sees_launches;

static __thread struct torch_thread *mine __attribute__((tls_model("initial-exec")));

/* ----------------------------------------------------- modules of a thread */

static struct torch_thread *torch_thread(void)
{
	struct torch_thread *t = mine;

	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return NULL;
		t->credit = CREDIT;
		if (pthread_setspecific(torch.key, t)) {
			free(t);
			return NULL;
		}
		mine = t;
	}
	if (t->window != inject.window) {
		t->window = inject.window;
		t->depth = 0;
	}
	return t;
}

static void torch_thread_ends(void *arg)
{
	mine = NULL;
	free(arg);
}

static void torch_count(_Atomic uint64_t *n)
{
	atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

static void torch_forget(struct torch_thread *t)
{
	t->depth--;
	torch_count(&torch.unended);
	nvtx_close(torch.domain, false);
}

static bool torch_runs(const struct torch_call *m, struct grt_pycall around)
{
	do
		if (around.frame == m->call.frame)
			return around.code == m->call.code;
	while (grt_python_call_outer(&around));
	return false;
}

/* Finds the method of Module that called the hook, and the call around it. */
static bool torch_caller(struct grt_pycall *call, struct grt_pycall *outer)
{
	if (!grt_python_call_first(call) || !grt_python_call_outer(call))
		return false;
	*outer = *call;
	return grt_python_call_outer(outer);
}

/* Forgets modules that do not run any more; @around: the innermost call that may belong to a module. */
static void torch_forget_ended(struct torch_thread *t, const struct grt_pycall *around)
{
	while (t->depth && !torch_runs(&t->running[t->depth - 1], *around))
		torch_forget(t);
}

void torch_launch(void)
{
	struct torch_thread *t = mine;
	struct grt_pycall call;

	if (t && t->depth && t->window == inject.window && grt_python_call_first(&call))
		torch_forget_ended(t, &call);
}

static void torch_begin(struct torch_thread *t, struct py_object *module)
{
	struct torch_call m = {.module = module};
	struct grt_pycall outer;
	bool cut = false;
	uint32_t name;

	if (!torch_caller(&m.call, &outer))
		return;
	torch_forget_ended(t, &outer);
	if (t->depth == NVTX_OPEN_MAX) {
		nvtx_lose();
		return;
	}
	t->credit += t->credit < CREDIT ? CREDIT_OF_A_CALL : 0;
	m.outer = outer.frame;
	name = torch_name(t, module, &m.name, &cut);
	if (!nvtx_open(torch.domain, name, cut))
		return;
	t->running[t->depth++] = m;
	if (cut)
		torch_count(&torch.unnamed);
}

/* PyTorch calls this hook in the frame that called the first one or, after an exception, in the frame around
 * it. A module that began before the recording is not in the list. */
static void torch_end(struct torch_thread *t, const struct py_object *module)
{
	struct grt_pycall call, outer;
	const struct torch_call *m;
	uint32_t at = t->depth;

	if (!at || !torch_caller(&call, &outer))
		return;
	for (; at; at--) {
		m = &t->running[at - 1];
		if (m->module == module && (m->call.frame == call.frame || m->outer == call.frame))
			break;
	}
	while (at && t->depth > at)
		torch_forget(t);
	if (!at)
		return;
	t->depth--;
	nvtx_close(torch.domain, true);
}

static struct py_object *torch_enter(struct py_object *self, struct py_object *module)
{
	struct torch_thread *t = inject_is_on() ? torch_thread() : NULL;

	if (t)
		torch_begin(t, module);
	python.Py_IncRef(python.none);
	return python.none;
}

static struct py_object *torch_leave(struct py_object *self, struct py_object *module)
{
	struct torch_thread *t = inject_is_on() ? torch_thread() : NULL;

	if (t)
		torch_end(t, module);
	python.Py_IncRef(python.none);
	return python.none;
}

/* ------------------------------------------- in the first thread, with the GIL */

static struct py_method method_enter = {"enter", torch_enter, PY_METH_O, NULL};
static struct py_method method_leave = {"leave", torch_leave, PY_METH_O, NULL};

static void torch_put(struct py_object *names, const char *name, struct py_object *value)
{
	if (value && python.PyDict_SetItemString(names, name, value))
		python.PyErr_Clear();
	if (value)
		python.Py_DecRef(value);
}

static struct py_object *torch_make_names(void)
{
	struct py_object *names = python.PyDict_New(), *code, *done;

	if (!names)
		return NULL;
	torch_put(names, "enter", python.PyCFunction_NewEx(&method_enter, NULL, NULL));
	torch_put(names, "leave", python.PyCFunction_NewEx(&method_leave, NULL, NULL));
	python.Py_IncRef(python.PyEval_GetBuiltins());
	torch_put(names, "__builtins__", python.PyEval_GetBuiltins());
	code = python.Py_CompileString(source, "<grtrace>", PY_FILE_INPUT);
	done = code ? python.PyEval_EvalCode(code, names, names) : NULL;
	if (code)
		python.Py_DecRef(code);
	if (done) {
		python.Py_DecRef(done);
		return names;
	}
	python.Py_DecRef(names);
	return NULL;
}

static void torch_refuse(const char *why)
{
	atomic_store(&torch.why, why);
	atomic_store(&torch.registered, REFUSED);
}

/* Calls a function of @source. Return: whether it did what its name says, or could not yet; < 0: it failed */
static int torch_call(const char *function)
{
	struct py_object *f = python.PyDict_GetItemString(torch.names, function);
	struct py_object *result = f ? python.PyObject_CallObject(f, NULL) : NULL;
	int done = result ? python.PyObject_IsTrue(result) : -1;

	if (result)
		python.Py_DecRef(result);
	return done;
}

static int torch_change(void *arg)
{
	bool wanted = atomic_load(&torch.wanted);
	int done = -1;

	if (wanted == (atomic_load(&torch.registered) == NOT_REGISTERED)) {
		torch.names = torch.names ?: torch_names_init() ? torch_make_names() : NULL;
		if (torch.names)
			done = torch_call(wanted ? "register" : "remove");
		if (done > 0)
			atomic_store(&torch.registered, wanted ? REGISTERED : NOT_REGISTERED);
		atomic_store(&torch_sees_launches, atomic_load(&torch.registered) == REGISTERED);
		if (done == 0)
			atomic_store(&torch.why, "the program has not imported PyTorch");
		if (done < 0)
			torch_refuse("this PyTorch has no hooks for all modules");
		python.PyErr_Clear();
	}
	atomic_store(&torch.asked, false);
	return 0;
}

/* ----------------------------------------------------------------- the writer */

void torch_init(void)
{
	const char *value = secure_getenv(GRT_CUDA_TORCH_ENV);

	torch_want(value && *value);
}

void torch_want(bool wanted)
{
	atomic_store(&torch.unended, 0);
	atomic_store(&torch.unnamed, 0);
	atomic_store(&torch.wanted, wanted);
}

/* Return: whether the first thread can be asked */
static bool torch_find_python(void)
{
	bool cut = false;
	int ret;

	if (torch.domain)
		return true;
	ret = grt_python_init();
	if (ret == -EAGAIN) {
		torch.why = "it has no Python";
		return false;
	}
	if (ret || !python_api_load() ||
	    (!torch.keyed && pthread_key_create(&torch.key, torch_thread_ends))) {
		torch_refuse(grt_python_why_not() ?: "its Python lacks functions of the stable ABI");
		return false;
	}
	torch.keyed = true;
	torch.why = "the program's first thread ran no Python since";
	torch.domain = nvtx_name(GRT_CUDA_TORCH_DOMAIN, strlen(GRT_CUDA_TORCH_DOMAIN), &cut);
	return torch.domain;
}

void torch_tick(void)
{
	int registered = atomic_load(&torch.registered);

	if (registered == REFUSED || atomic_load(&torch.wanted) == (registered == REGISTERED) ||
	    !torch_find_python() || atomic_load(&torch.asked) || grt_python_ends())
		return;
	atomic_store(&torch.asked, true);
	/* CPython has a limit of waiting calls; the next tick tries again */
	if (python.Py_AddPendingCall(torch_change, NULL))
		atomic_store(&torch.asked, false);
}

void torch_write_notes(void)
{
	uint64_t unended = atomic_load(&torch.unended), unnamed = atomic_load(&torch.unnamed);
	char text[192];

	if (!atomic_load(&torch.wanted))
		return;
	if (atomic_load(&torch.registered) != REGISTERED) {
		snprintf(text, sizeof(text), "no modules of PyTorch: %s", atomic_load(&torch.why) ?: "");
		define_process(5, text);
	}
	if (unnamed) {
		grt_say_text(text, sizeof(text),
			     "%" PRIu64 " {call of a module has|calls of modules have} the name of "
			     "{its class: it|their class: they} ran in no module that contains {it|them}",
			     unnamed);
		define_process(5, text);
	}
	if (unended) {
		grt_say_text(text, sizeof(text),
			     "%" PRIu64
			     " {call of a module|calls of modules} ended at an unknown time, by an exception",
			     unended);
		define_process(5, text);
	}
}
