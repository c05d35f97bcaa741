/work/wt/page/obj/tests/unit/trace_maker.o: tests/unit/trace_maker.c \
 tests/unit/trace_maker.h include/grtrace/grtrace.h \
 include/grtrace/event.h include/grtrace/events.def \
 include/grtrace/events/core.def include/grtrace/events/nvidia.def \
 include/grtrace/events/cuda.def include/grtrace/events/rocm.def \
 include/grtrace/events/cpu.def include/grtrace/events/display.def \
 include/grtrace/events/memory.def include/grtrace/events/custom.def \
 include/grtrace/engines.def include/grtrace/flags.def \
 include/grtrace/log_notes.def include/grtrace/thread_states.def \
 include/grtrace/wakers.def include/grtrace/wake_causes.def \
 include/grtrace/slice_edges.def include/grtrace/stream.h \
 include/grtrace/event.h include/grtrace/fates.def \
 include/grtrace/type_set.h include/grtrace/version.h \
 include/grtrace/classes.def include/grtrace/events.def
tests/unit/trace_maker.h:
include/grtrace/grtrace.h:
include/grtrace/event.h:
include/grtrace/events.def:
include/grtrace/events/core.def:
include/grtrace/events/nvidia.def:
include/grtrace/events/cuda.def:
include/grtrace/events/rocm.def:
include/grtrace/events/cpu.def:
include/grtrace/events/display.def:
include/grtrace/events/memory.def:
include/grtrace/events/custom.def:
include/grtrace/engines.def:
include/grtrace/flags.def:
include/grtrace/log_notes.def:
include/grtrace/thread_states.def:
include/grtrace/wakers.def:
include/grtrace/wake_causes.def:
include/grtrace/slice_edges.def:
include/grtrace/stream.h:
include/grtrace/event.h:
include/grtrace/fates.def:
include/grtrace/type_set.h:
include/grtrace/version.h:
include/grtrace/classes.def:
include/grtrace/events.def:
