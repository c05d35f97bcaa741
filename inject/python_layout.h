/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Offsets in CPython's structures, in a header that BPF programs can include, too. */
#ifndef GRT_INJECT_PYTHON_LAYOUT_H
#define GRT_INJECT_PYTHON_LAYOUT_H

#include <linux/types.h>

/* The value of a grt_python_layout member that this version does not have. */
#define GRT_PYTHON_NONE 0xffff

/** struct grt_python_layout - offsets in the interpreter's structures */
struct grt_python_layout {
	__u16 runtime_interpreter; /* the first one */
	__u16 interpreter_next;
	__u16 interpreter_thread; /* its first thread state */
	__u16 tstate_next;
	__u16 tstate_thread;  /* pthread_self() of the thread */
	__u16 tstate_cframe;  /* 3.11, 3.12: to a _PyCFrame, which has */
	__u16 cframe_current; /* the frame */
	__u16 cframe_previous;
	__u16 tstate_frame; /* 3.10, 3.13 on: to the frame */
	__u16 frame_code;
	__u16 frame_previous;
	__u16 frame_instr;    /* address of the instruction */
	__u16 frame_index;    /* 3.10: its number in the code */
	__u16 frame_is_entry; /* 3.11 */
	__u16 frame_owner;    /* 3.11 on */
	__u16 object_type;
	__u16 object_size; /* of a variable-sized object, items */
	__u16 code_filename;
	__u16 code_qualname; /* 3.10: the name */
	__u16 code_linetable;
	__u16 code_firstline;
	__u16 code_version; /* a number of its own for each code object */
	__u16 code_first;   /* the first instruction that is shown, in code units */
	__u16 code_bytes;
	__u16 bytes_data;
	__u16 text_length;
	__u16 text_hash;
	__u16 text_state;
	__u16 text_ascii;   /* where the characters are, all ASCII */
	__u16 text_compact; /* and others */
	__u16 frame_copy;   /* 3.14, free-threaded: which of the code's copies the thread runs */
	__u16 code_copies;  /* these, after their number */
	__u16 text_shift;   /* bits by which text_state is further up than elsewhere */
};

/* frame_owner of the frame that an entry of the interpreter has on the C stack, from 3.12 on; larger numbers,
 * too. */
#define GRT_PYTHON_ENTRY 3

#endif /* GRT_INJECT_PYTHON_LAYOUT_H */
