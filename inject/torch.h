/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * PyTorch's modules as ranges of the domain torch.nn: torch.c is called by PyTorch when a module begins and
 * ends, and torch_names.c finds the qualified name of a module.
 */
#ifndef GRT_INJECT_TORCH_H
#define GRT_INJECT_TORCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nvtx.h"
#include "python.h"
#include "python_api.h"

/**
 * struct torch_call - a module that runs
 * @call: the call of Module's method that called the hook; @outer: the frame around it
 * @name: number of its name, with which the names of the modules in it begin; 0: these begin with nothing,
 * because this is the outermost module or has no qualified name
 */
struct torch_call {
	struct py_object *module;
	struct grt_pycall call;
	const char *outer;
	uint32_t name;
};

/**
 * struct torch_thread - the modules that run on a thread
 * @window: the process's recording in which they began
 * @credit: how many modules the searches for names may visit: more with each call
 */
struct torch_thread {
	uint32_t window;
	uint32_t depth;
	int64_t credit;
	struct torch_call running[NVTX_OPEN_MAX];
};

/* ----------------------------------------------------------- torch_names.c */

/** torch_names_init - Return: whether there is memory. With the GIL */
bool torch_names_init(void);

/**
 * torch_name - the number of the name of a module that begins within those that run on the thread
 * @prefix: gets the number of @name in struct torch_call
 * @cut: set if the module is in none of their trees; its name is that of its class
 */
uint32_t torch_name(struct torch_thread *t, struct py_object *module, uint32_t *prefix, bool *cut);

/* ----------------------------------------------------------------- torch.c */

extern _Atomic bool torch_sees_launches;

/**
 * torch_launch - the calling thread launches something, while torch_sees_launches: modules that ended by an
 * exception are forgotten before. Not between nvtx_thread_enter() and nvtx_thread_leave()
 */
void torch_launch(void);

/** torch_init - reads the environment */
void torch_init(void);

/** torch_want - whether the recording is to have modules */
void torch_want(bool wanted);

/**
 * torch_tick - until it has happened: asks the program's first thread to register the hooks, or to remove
 * them. Looks up symbols: not for callbacks
 */
void torch_tick(void);

/** torch_write_notes - what is missing in the recording; for the writer */
void torch_write_notes(void);

#endif /* GRT_INJECT_TORCH_H */
