/work/wt/page/obj/lib/analyses.o: lib/analyses.c lib/analyses.h \
 lib/table/analysis.h lib/trace/names.h include/grtrace/names.h \
 include/grtrace/grtrace.h include/grtrace/event.h \
 include/grtrace/events.def include/grtrace/events/core.def \
 include/grtrace/events/nvidia.def include/grtrace/events/cuda.def \
 include/grtrace/events/rocm.def include/grtrace/events/cpu.def \
 include/grtrace/events/display.def include/grtrace/events/memory.def \
 include/grtrace/events/custom.def include/grtrace/engines.def \
 include/grtrace/flags.def include/grtrace/log_notes.def \
 include/grtrace/thread_states.def include/grtrace/wakers.def \
 include/grtrace/wake_causes.def include/grtrace/slice_edges.def \
 include/grtrace/stream.h include/grtrace/event.h \
 include/grtrace/fates.def include/grtrace/type_set.h \
 include/grtrace/version.h include/grtrace/classes.def lib/base/index.h \
 lib/table/notes.h lib/table/table.h include/grtrace/tables.h \
 lib/table/writers.def lib/analyses.def lib/jobs/jobs.h \
 include/grtrace/jobs.h lib/trace/packet.h
lib/analyses.h:
lib/table/analysis.h:
lib/trace/names.h:
include/grtrace/names.h:
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
lib/base/index.h:
lib/table/notes.h:
lib/table/table.h:
include/grtrace/tables.h:
lib/table/writers.def:
lib/analyses.def:
lib/jobs/jobs.h:
include/grtrace/jobs.h:
lib/trace/packet.h:
