/work/wt/page/obj/tools/tables.o: tools/tables.c \
 include/grtrace/event_table.h include/grtrace/event.h \
 include/grtrace/events.def include/grtrace/events/core.def \
 include/grtrace/events/nvidia.def include/grtrace/events/cuda.def \
 include/grtrace/events/rocm.def include/grtrace/events/cpu.def \
 include/grtrace/events/display.def include/grtrace/events/memory.def \
 include/grtrace/events/custom.def include/grtrace/engines.def \
 include/grtrace/flags.def include/grtrace/log_notes.def \
 include/grtrace/thread_states.def include/grtrace/wakers.def \
 include/grtrace/wake_causes.def include/grtrace/slice_edges.def \
 include/grtrace/stream.h include/grtrace/fates.def \
 include/grtrace/engines.def include/grtrace/flags.def \
 include/grtrace/fates.def include/grtrace/control.def \
 tools/../cmds/config/profiles.def tools/../cmds/commands.def \
 include/grtrace/stages.def tools/../lib/flamegraph/frame_kinds.def \
 tools/../lib/export/exports.def
include/grtrace/event_table.h:
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
include/grtrace/fates.def:
include/grtrace/engines.def:
include/grtrace/flags.def:
include/grtrace/fates.def:
include/grtrace/control.def:
tools/../cmds/config/profiles.def:
tools/../cmds/commands.def:
include/grtrace/stages.def:
tools/../lib/flamegraph/frame_kinds.def:
tools/../lib/export/exports.def:
