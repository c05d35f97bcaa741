# SPDX-License-Identifier: GPL-2.0
#
# make            everything that this machine can build, into $(O)
# make check      every test (installs what that needs)      make help: the rest
#
#   O=DIR           build directory (default: build)
#   V=1             show commands            WERROR=1   warnings are errors
#   SANITIZE=a,b    as -fsanitize=a,b        STATIC=1   a program without shared libraries
#   SHARED=1        elfutils, libbpf, SQLite and compressors as shared libraries, as packages want them
#   KDIR=DIR        kernel to build the modules for
#   PREFIX= DESTDIR= for install
#
# Sources are found by wildcard: a new file needs no line here.

O	?= build
override O := $(abspath $(O))
PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
LIBDIR	?= $(PREFIX)/lib
INCDIR	?= $(PREFIX)/include
# Where the program looks for the injected library: here, or in ../lib64/grtrace from its own directory.
INJECTDIR ?= $(PREFIX)/lib/grtrace
MANDIR	?= $(PREFIX)/share/man
DOCDIR	?= $(PREFIX)/share/doc/grtrace
COMPDIR	?= $(PREFIX)/share/bash-completion/completions
ZSHDIR	?= $(PREFIX)/share/zsh/site-functions
FISHDIR	?= $(PREFIX)/share/fish/vendor_completions.d
SCHEMADIR ?= $(PREFIX)/share/grtrace
UNITDIR	?= $(PREFIX)/lib/systemd/system

CC	?= cc
AR	?= ar
CFLAGS	?= -O2 -g
JOBS	?= $(shell nproc 2>/dev/null || echo 1)
CLANG	?= clang
STRIP	?= strip
OBJCOPY	?= objcopy

# What the compiler builds for.
MACHINE	:= $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
# Other targets need no compiler, or install one.
ifeq ($(MACHINE),)
ifneq ($(filter all modules fuzz install install-strip unit-tests,$(or $(MAKECMDGOALS),all)),)
$(error cannot build: there is no compiler '$(CC)'. Try: tools/setup build, which installs the Debian packages that the build needs; `make check-deps` lists them by part)
endif
endif
BPF_ARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(MACHINE)))

VERSION	:= $(shell sed -n 's/^\#define GRT_VERSION "\(.*\)"/\1/p' include/grtrace/version.h)
SOVER	:= $(firstword $(subst ., ,$(VERSION)))

# The running kernel's headers, else the newest there are.
KDIR	?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build/Makefile) \
	   $(shell ls -d /lib/modules/*/build/Makefile /usr/src/linux-headers-*-amd64/Makefile 2>/dev/null | sort -V -r))
override KDIR := $(patsubst %/Makefile,%,$(KDIR))

# Tables of pointers take a sixteenth of their relocations' room in this form, which the C library must know.
RELR	:= $(if $(STATIC),,$(shell printf \
	   '\043include <features.h>\n\043if !__GLIBC_PREREQ(2, 36)\n\043error\n\043endif\nint main(void) { return 0; }' | \
	   $(CC) -x c -pie -fPIC -Wl,--fatal-warnings,-z,pack-relative-relocs -o /dev/null - 2>/dev/null && \
	   echo -Wl,-z,pack-relative-relocs))
# Libraries go into programs whole, so that they run where none of them is installed, unless SHARED says otherwise.
lib	= $(if $(SHARED),-l$(1),-l:lib$(1).a)

# BPF programs need clang and bpftool, their loader libbpf.
BPFTOOL	 ?= $(firstword $(shell command -v bpftool 2>/dev/null) $(wildcard /usr/sbin/bpftool))
BPF_LIBS := $(foreach l,bpf elf z,$(call lib,$(l)))
has_bpf	 := $(and $(BPFTOOL),$(shell command -v $(CLANG) 2>/dev/null),$(shell printf \
	   '\043include <bpf/libbpf.h>\nint main(void) { return libbpf_major_version() < 1; }' | \
	   $(CC) -x c -o /dev/null - $(BPF_LIBS) 2>/dev/null && echo yes))
# Names of addresses need elfutils, those of C++ and Rust libiberty.
DW_LIBS	 := $(foreach l,dw elf lzma bz2 z,$(call lib,$(l)))
has_dw	 := $(shell printf \
	   '\043include <elfutils/libdwfl.h>\nint main(void) { return !dwfl_version(0); }' | \
	   $(CC) -x c -o /dev/null - $(DW_LIBS) 2>/dev/null && echo yes)
has_iberty := $(shell printf \
	   '\043include <libiberty/demangle.h>\nint main(void) { return !cplus_demangle("_Z1fv", 0); }' | \
	   $(CC) -x c -o /dev/null - $(call lib,iberty) 2>/dev/null && echo yes)
# Traces that are packed by gzip need zlib.
has_z	 := $(shell printf \
	   '\043include <zlib.h>\nint main(void) { return !zlibVersion(); }' | \
	   $(CC) -x c -o /dev/null - $(call lib,z) 2>/dev/null && echo yes)
# The same by zstd.
has_zstd := $(shell printf \
	   '\043include <zstd.h>\nint main(void) { return !ZSTD_versionNumber(); }' | \
	   $(CC) -x c -o /dev/null - $(call lib,zstd) 2>/dev/null && echo yes)
# The screen of `top` needs ncurses.
CURSES_LIBS := $(foreach l,ncursesw tinfo,$(call lib,$(l)))
has_curses := $(shell printf \
	   '\043include <curses.h>\nint main(void) { return !initscr(); }' | \
	   $(CC) -x c -o /dev/null - $(CURSES_LIBS) 2>/dev/null && echo yes)
# The service needs libmicrohttpd: its header here, the library where it runs. That one needs so many others that a
# program without a service has none of them.
has_mhd	 := $(if $(STATIC),,$(shell printf \
	   '\043include <microhttpd.h>\nint main(void) { return MHD_VERSION < 0x00097100; }' | \
	   $(CC) -x c -c -o /dev/null - 2>/dev/null && echo yes))
# Databases of SQLite are read and written by its library.
has_sqlite := $(shell printf \
	   '\043include <sqlite3.h>\nint main(void) { return !sqlite3_libversion_number(); }' | \
	   $(CC) -x c -o /dev/null - $(call lib,sqlite3) -lm 2>/dev/null && echo yes)
# Recordings of trace-cmd are read by its library: a header here, the library where it runs.
has_tracecmd := $(if $(STATIC),,$(shell printf \
	   '\043include <traceevent/event-parse.h>\nint main(void) { return TEP_PRINT_PID; }' | \
	   $(CC) -x c -c -o /dev/null - 2>/dev/null && echo yes))
LIB_LIBS := $(if $(has_iberty),$(call lib,iberty)) $(if $(has_dw),$(DW_LIBS)) $(if $(has_z),$(call lib,z)) $(if $(has_zstd),$(call lib,zstd)) $(if $(has_sqlite),$(call lib,sqlite3)) -lm
# Program names that stand for a command, each with the command.
ALIASES	 := $(shell sed -n 's/^GRT_ALIAS("\([^"]*\)", \([a-z]*\))/\1 \2/p' cmds/commands.def)
HEADERS	 := $(wildcard include/grtrace/*.h include/grtrace/*.def)
EVENT_ROWS := $(wildcard include/grtrace/events/*.def)
BPF_SRC	 := $(wildcard sources/bpf/*.bpf.c)
BPF_PACKED := $(if $(has_bpf),$(patsubst sources/bpf/%.bpf.c,$(O)/bpf/%.bpf.o.gz,$(filter-out sources/bpf/threads.bpf.c,$(BPF_SRC))))

WARN	:= -Wall -Wextra -Wno-unused-parameter -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(WERROR),-Werror)
# What root runs on files of others, and what runs in their programs. _FORTIFY_SOURCE needs an optimizer, and
# sanitizers check more than it does; jumps and returns are protected as the machine can.
HARDEN	:= -fstack-protector-strong -fstack-clash-protection $(if $(findstring x86_64,$(MACHINE)),-fcf-protection,$(if $(findstring aarch64,$(MACHINE)),-mbranch-protection=standard)) \
	$(if $(SANITIZE),,$(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3))
# Files are named as they lie below the tree: builds in two directories are equal.
PREFIX_MAP := -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(O)=build
HARDEN_LD := -Wl,-z,relro,-z,now,-z,noexecstack
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE=1 $(WARN) -iquote . -Iinclude -Ilib -fPIC -fvisibility=default $(HARDEN) $(PREFIX_MAP) $(CFLAGS) \
	$(if $(has_bpf),-DGRT_HAVE_BPF -I$(O)/bpf) $(if $(has_dw),-DGRT_HAVE_DW) $(if $(has_iberty),-DGRT_HAVE_IBERTY) $(if $(has_z),-DGRT_HAVE_ZLIB) $(if $(has_zstd),-DGRT_HAVE_ZSTD) $(if $(has_sqlite),-DGRT_HAVE_SQLITE) $(if $(has_tracecmd),-DGRT_HAVE_TRACECMD) $(if $(has_mhd),-DGRT_HAVE_MHD) $(if $(has_curses),-DGRT_HAVE_CURSES) \
	$(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# At a fixed place, the 400,000 pointers that the sanitizers keep need not be moved at each start, a quarter of its time.
ALL_LDFLAGS := $(HARDEN_LD) $(LDFLAGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -no-pie) $(if $(STATIC),-static)

Q	:= $(if $(V),,@)
say	= $(if $(V),,@printf '  %-7s %s\n' $(1) $(patsubst $(O)/%,%,$(2));)

LIB_SRC	 := $(wildcard lib/*.c lib/*/*.c)
# What is loaded into programs: with what it needs of the library, and no sanitizer.
INJECT_SRC := $(wildcard inject/*.c) $(addprefix lib/,codes/cuda_codes.c base/cgroup.c base/error.c base/escape.c base/memfile.c base/say.c trace/event_table.c trace/metadata.c)
# What this machine is and has, the module's control files, the inputs of record, the commands.
CMD_SRC	 := $(filter-out %.bpf.c,$(wildcard $(foreach d,host kmod sources cmds,$(d)/*.c $(d)/*/*.c))) $(wildcard inject/arch*.c) inject/cfi.c inject/python_format.c
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_AUX := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
# Programs of one file that scripts call: writers of traces, stand-ins, benchmarks, the printer of tables.
TOOL_SRC := $(wildcard tests/cli/*.c tests/inject/*.c tests/golden/*.c tests/vm/*.c bench/*.c tools/*.c)

obj	= $(patsubst %.c,$(O)/obj/%.o,$(1))
LIB_OBJ	:= $(call obj,$(LIB_SRC))
CMD_OBJ	:= $(call obj,$(CMD_SRC))
AUX_OBJ	:= $(call obj,$(UNIT_AUX))
UNIT	:= $(patsubst %.c,$(O)/%,$(UNIT_SRC))
TOOLS	:= $(patsubst %.c,$(O)/%,$(TOOL_SRC))
FUZZ	:= $(patsubst %.c,$(O)/%,$(FUZZ_SRC))
LIBA	:= $(O)/libgrtrace.a
LIBSO	:= $(O)/libgrtrace.so.$(SOVER)
BIN	:= $(O)/grtrace
INJECT	:= $(O)/libgrtrace-cuda.so
# Plays workloads on kernel/softgpu: of use to others, so it is installed, too.
SOFTGPU_RUN := $(O)/tools/softgpu-run
MANUALS	:= $(wildcard docs/*.1 docs/*.3 docs/*.5)

has_kernel := $(if $(KDIR),$(wildcard $(KDIR)/Makefile))
modules_of = $(wildcard $(1)/*.ko)

.PHONY: all help features check-deps modules modules_install modules_uninstall dkms kernel-tree bench-modules test-modules install install-doc install-service install-strip uninstall check check-built soak demo readme tutorials fuzz fuzz-coverage \
	fuzzers warnings unit-tests inject-tests test-tools vm-tools bench tests clean
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

all: $(BIN) $(INJECT) $(SOFTGPU_RUN) $(LIBA) $(if $(SANITIZE)$(STATIC),,$(LIBSO)) $(O)/grtrace.pc $(if $(has_kernel),modules)
	@tools/features "$(O)" "$(KDIR)" "$(CC)" "$(CLANG)"

help:
	@sed -n '3,12s/^# \{0,1\}//p' Makefile
	@echo
	@echo 'Targets: all modules check check-deps demo readme tutorials soak fuzz fuzz-coverage bench install install-service install-strip uninstall modules_install modules_uninstall dkms kernel-tree clean'

features:
	@tools/features "$(O)" "$(KDIR)" "$(CC)" "$(CLANG)"

# What is missing here to build and test all of it; fails when anything is.
check-deps:
	@tools/features --deps "$(KDIR)" "$(CC)" "$(CLANG)"

# ------------------------------------------------------------------ programs

# Written when compiler or flags change, so that everything is built again.
FLAGS	= $(CC) $(ALL_CFLAGS) / $(ALL_LDFLAGS) / $(INJECT_CFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(O)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@
.PHONY: FORCE
FORCE:

$(O)/obj/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The system calls of this architecture, by the C library's headers.
$(O)/gen/syscalls.def: $(O)/flags
	@mkdir -p $(@D)
	$(call say,GEN,$@)echo '#include <sys/syscall.h>' | $(CC) -E -dM -x c - | \
		sed -n 's/^#define SYS_\([a-z0-9_]*\) .*/GRT_SYSCALL(\1)/p' | LC_ALL=C sort >$@
$(O)/obj/lib/codes/syscalls.o $(O)/fuzz/lib/codes/syscalls.o: $(O)/gen/syscalls.def
$(O)/obj/lib/codes/syscalls.o: ALL_CFLAGS += -I$(O)/gen

# Scripts and styles are embedded as they are: those of pictures a file each, those of pages as one script and
# one style, whose checksums the page names, so that a browser runs nothing else that gets into it.
$(O)/obj/lib/flamegraph/flamegraph_web.o: web/flame.js web/flame.css

PAGE_JS	 := $(sort $(wildcard web/page/*.js))
PAGE_CSS := $(sort $(wildcard web/page/*.css))
$(O)/gen/page.js: $(PAGE_JS) Makefile
	@mkdir -p $(@D)
	$(call say,GEN,$@){ echo '(function () {'; echo '"use strict";'; cat $(PAGE_JS); echo '})();'; } >$@
$(O)/gen/page.css: $(PAGE_CSS) Makefile
	@mkdir -p $(@D)
	$(call say,GEN,$@)cat $(PAGE_CSS) >$@
$(O)/gen/page_hashes.h: $(O)/gen/page.js $(O)/gen/page.css
	$(Q){ for kind in js css; do \
		sum=$$(sha256sum <$(O)/gen/page.$$kind | tr -d ' -' | tr a-f A-F | basenc --base16 -d -i | base64 -w 0) && \
		echo "#define PAGE_$$(echo $$kind | tr a-z A-Z)_HASH \"sha256-$$sum\"" || exit 1; done; } >$@
$(O)/gen/page_paths.h: Makefile
	@mkdir -p $(@D)
	@printf '#define PAGE_JS_PATH "%s"\n#define PAGE_CSS_PATH "%s"\n' $(O)/gen/page.js $(O)/gen/page.css >$@
page_gen := $(O)/gen/page_hashes.h $(O)/gen/page_paths.h
$(O)/obj/lib/page/page.o $(O)/fuzz/lib/page/page.o $(O)/obj/lib/page/page_web.o $(O)/fuzz/lib/page/page_web.o: $(page_gen)
$(O)/obj/lib/page/page.o $(O)/obj/lib/page/page_web.o: ALL_CFLAGS += -I$(O)/gen
$(O)/fuzz/lib/page/page.o $(O)/fuzz/lib/page/page_web.o: FUZZ_CFLAGS += -I$(O)/gen
$(O)/obj/lib/page/page_web.o $(O)/fuzz/lib/page/page_web.o: $(O)/gen/page.js $(O)/gen/page.css

$(LIBA): $(LIB_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcsD $@ $(LIB_OBJ)

$(BIN): $(CMD_OBJ) $(LIBA)
	$(call say,LINK,$@)$(CC) $(if $(STATIC)$(SANITIZE),,-pie) $(RELR) $(ALL_LDFLAGS) -o $@ $(CMD_OBJ) $(LIBA) $(if $(has_bpf),$(BPF_LIBS)) $(if $(has_curses),$(CURSES_LIBS)) $(LIB_LIBS)

# ------------------------------------------------------- the injected library

INJECT_CFLAGS := -std=gnu11 -D_GNU_SOURCE=1 $(WARN) -Iinclude -Ilib -Iinject -fPIC -fvisibility=hidden \
	-fno-omit-frame-pointer $(HARDEN) $(PREFIX_MAP) $(CFLAGS)
INJECT_OBJ := $(patsubst %.c,$(O)/inject/%.o,$(INJECT_SRC))
# In an older glibc they have what a newer one has in libc.so.6. Their names are all that is left there.
OLD_LIBS := $(shell for l in dl.so.2 pthread.so.0; do \
	   [ "$$($(CC) -print-file-name=lib$$l 2>/dev/null)" = lib$$l ] || echo -l:lib$$l; done)

$(O)/inject/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(INJECT_CFLAGS) -include inject/old_libc.h -MMD -MP -c -o $@ $<

# It is never unloaded: the program's threads may be in it.
$(INJECT): $(INJECT_OBJ)
	$(call say,LINK,$@)$(CC) $(HARDEN_LD) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,nodelete,-z,defs -o $@ $^ -Wl,--no-as-needed $(or $(OLD_LIBS),-lpthread -ldl)

# ------------------------------------------------------------- BPF programs

# bpftool leaves out what is for debuggers, half of an object, and keeps BTF.
# What bpf_helpers.h and the kernel's uapi headers need of the machine, which a cross compiler has in its own folder.
BPF_CFLAGS := -O2 -g -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Werror -Wno-unused-function -Iinclude -Ilib $(PREFIX_MAP) \
	$(foreach d,/usr/include/$(MACHINE)-linux-gnu /usr/$(MACHINE)-linux-gnu/include,-idirafter $(d))

$(O)/bpf/%.bpf.o: sources/bpf/%.bpf.c $(filter-out sources/bpf/bpf%,$(wildcard sources/bpf/*.h)) $(wildcard lib/nvidia/*.h lib/codes/*.h) lib/trace/duty.h $(HEADERS) $(EVENT_ROWS)
	@mkdir -p $(@D)
	$(call say,BPF,$@)$(CLANG) $(BPF_CFLAGS) -c -o $@.debug $< && $(BPFTOOL) gen object $@ $@.debug && rm $@.debug

$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@

$(O)/bpf/%.bpf.o.gz: $(O)/bpf/%.bpf.o
	$(Q)gzip -9n <$< >$@

# The packed objects by name, for the loader; `threads` has a skeleton instead.
$(O)/bpf/bpf_objects.h: $(BPF_PACKED) Makefile
	@printf 'BPF_OBJECT(%s, "%s")\n' $(foreach o,$(BPF_PACKED),$(notdir $(o:.bpf.o.gz=)) $(o)) >$@

$(O)/obj/sources/bpf/bpf_embedded.o: $(if $(has_bpf),$(O)/bpf/bpf_objects.h)
$(O)/obj/sources/bpf/bpf_threads.o: $(if $(has_bpf),$(O)/bpf/threads.skel.h)

# The queries of sql/ as rows for cmds/fleet.c: FLEET_SQL("name", "line\n" ...)
$(O)/sql/fleet_sql.h: $(wildcard sql/*.sql) Makefile
	@mkdir -p $(@D)
	@for f in $(sort $(wildcard sql/*.sql)); do \
		printf 'FLEET_SQL("%s",\n' "$$(basename "$$f" .sql)"; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' "$$f"; echo ')'; \
	done >$@

$(O)/obj/cmds/fleet.o $(O)/fuzz/cmds/fleet.o: $(O)/sql/fleet_sql.h
# of it alone: build/flags is what all are built by
$(O)/obj/cmds/fleet.o: private ALL_CFLAGS += -I$(O)/sql
$(O)/fuzz/cmds/fleet.o: private FUZZ_CFLAGS += -I$(O)/sql

# What others may use is in the map; the rest has no name outside, in the static library neither.
EXPORTS := lib/libgrtrace.map
$(LIBSO): $(LIB_OBJ) $(EXPORTS)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libgrtrace.so.$(SOVER) \
		-Wl,--version-script=$(EXPORTS) -Wl,-z,defs -o $@ $(LIB_OBJ) \
		$(if $(has_iberty),-liberty) $(if $(has_dw),-ldw -lelf) $(if $(has_z),-lz) $(if $(has_zstd),-lzstd) $(if $(has_sqlite),-lsqlite3) -lm

$(O)/install/libgrtrace.a: $(LIB_OBJ) $(EXPORTS)
	@mkdir -p $(@D)
	$(call say,AR,$@)$(CC) -nostdlib -r -o $(@D)/libgrtrace.o $(LIB_OBJ) && \
		sed -n 's/^\t\(grt_[a-z0-9_]*\);$$/\1/p' $(EXPORTS) >$(@D)/exports && \
		$(OBJCOPY) --keep-global-symbols=$(@D)/exports $(@D)/libgrtrace.o && \
		rm -f $@ && $(AR) rcsD $@ $(@D)/libgrtrace.o

$(O)/grtrace.pc: $(O)/flags include/grtrace/version.h Makefile FORCE
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))' \
		'includedir=$(patsubst $(PREFIX)/%,$${prefix}/%,$(INCDIR))' '' 'Name: grtrace' \
		'Description: reads traces of GPU jobs, and joins, sums up and draws what is in them' 'Version: $(VERSION)' \
		'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lgrtrace' \
		'Libs.private: $(strip $(LIB_LIBS))' >$@

# ------------------------------------------------------------------ modules

# Kbuild builds in place, so the sources are mirrored by links: the tree stays clean.
define mirror
	@mkdir -p $(O)/$(1)
	@find $(O)/$(1) -ignore_readdir_race -xtype l -delete
	@cd $(1) && find . -type d -exec mkdir -p $(O)/$(1)/{} \; && \
		find . -type f ! -name '*.o' ! -name '*.ko' ! -name '*.mod*' ! -name '.*' \
			-exec ln -sfn $(CURDIR)/$(1)/{} $(O)/$(1)/{} \;
	@ln -sfn $(CURDIR)/include $(O)/include
endef
# Our flags and O= are not the kernel's.
kbuild	= +$(if $(V),,@)env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES $(MAKE) --no-print-directory -C $(KDIR) \
	  M=$(O)/$(1) -j$(JOBS) $(if $(V),V=1,-s) $(if $(WERROR),KCFLAGS=-Werror)

modules:
	$(if $(has_kernel),,$(error no kernel headers: apt-get install linux-headers-amd64, or give KDIR=))
	$(call mirror,kernel)
	@ln -sfn ../include $(O)/kernel/include
	$(call say,MODULES,$(KDIR)):
	$(call kbuild,kernel) modules

modules_install: modules
	$(Q)tools/install-modules "$(O)" "$(KDIR)" "$(DESTDIR)" "$(SIGN_KEY)" "$(SIGN_CERT)"

modules_uninstall:
	$(if $(has_kernel),,$(error no kernel headers: apt-get install linux-headers-amd64, or give KDIR=))
	$(Q)tools/install-modules --remove "$(KDIR)" "$(DESTDIR)"

# The modules' source, complete in itself, where dkms looks for it; and built for every kernel by dkms.
dkms:
	@command -v dkms >/dev/null || [ -n "$(DESTDIR)" ] || { \
		echo 'dkms: not found on this system: apt-get install dkms' >&2; exit 3; }
	tools/kernel-tree $(DESTDIR)/usr/src/grtrace-$(VERSION)
	$(if $(DESTDIR),,dkms install grtrace/$(VERSION))

# The same in the source tree of a kernel: make kernel-tree LINUX=DIR
kernel-tree:
	$(if $(LINUX),,$(error kernel-tree: no kernel is named: make kernel-tree LINUX=DIR))
	tools/kernel-tree --into $(LINUX)

bench-modules: modules
	$(call mirror,bench/kernel)
	$(call kbuild,bench/kernel) KBUILD_EXTRA_SYMBOLS=$(O)/kernel/Module.symvers modules

# Stand-ins for drivers and the like: each file of tests/kernel/modules is a module. A directory there is
# built by itself, so that modules of one name may be in several.
define test_modules
	$(call kbuild,$(1)) KBUILD_EXTRA_SYMBOLS=$(O)/kernel/Module.symvers modules

endef
test-modules: modules
	$(call mirror,tests/kernel/modules)
	$(foreach d,$(patsubst %/Kbuild,%,$(wildcard tests/kernel/modules/Kbuild tests/kernel/modules/*/Kbuild)),\
		$(call test_modules,$(d)))

# -------------------------------------------------------------------- tests

$(O)/tests/unit/test_%: $(O)/obj/tests/unit/test_%.o $(AUX_OBJ) $(LIBA)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBA) -lcmocka $(LIB_LIBS)

$(O)/tests/unit/test_triggers: $(addprefix $(O)/obj/cmds/record/,triggers.o trigger_collectives.o)

$(TOOLS): $(O)/%: $(O)/obj/%.o $(AUX_OBJ) $(LIBA)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $< $(TOOL_OBJ) $(AUX_OBJ) $(LIBA) $(LIB_LIBS)

# The unwinder, of the injected library: what is in it without the rest.
UNWIND_OBJ := $(call obj,$(wildcard inject/arch*.c) $(addprefix inject/,cfi.c python.c python_format.c rules.c stack.c tree.c unwind.c))
$(O)/bench/bench_unwind: TOOL_OBJ := $(UNWIND_OBJ)
$(O)/bench/bench_unwind: $(UNWIND_OBJ)
ROWS_OBJ := $(call obj,sources/bpf/unwind_build.c inject/cfi.c inject/python_format.c $(wildcard inject/arch*.c))
$(O)/tests/cli/unwind_rows: TOOL_OBJ := $(ROWS_OBJ)
$(O)/tests/cli/unwind_rows: $(ROWS_OBJ)

# A CUDA without a GPU for the injected library, see tests/inject/mock/mock.h.
MOCK	:= $(O)/tests/inject/mock
MOCK_CFLAGS = $(filter-out $(PREFIX_MAP),$(INJECT_CFLAGS)) -fvisibility=default -Itests/inject/mock -Wl,-rpath,'$$ORIGIN'
$(MOCK)/libcuda.so.1: tests/inject/mock/cuda.c tests/inject/mock/sampling.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -shared -Wl,-soname,$(@F) -o $@ $(filter %.c,$^) -lpthread -ldl
$(MOCK)/libcudart.so.13: tests/inject/mock/cudart.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -shared -Wl,-soname,$(@F) -o $@ $<
$(MOCK)/libcupti.so.13: tests/inject/mock/cupti.c tests/inject/mock/pcsampling.c tests/inject/mock/pmsampling.c $(MOCK)/libcuda.so.1
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -Isources/nvidia -shared -Wl,-soname,$(@F) -o $@ $(filter %.c %.1,$^)
# One without PC sampling.
$(MOCK)/libcupti-old.so: tests/inject/mock/cupti.c $(MOCK)/libcuda.so.1
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -shared -Wl,-soname,$(@F) -o $@ $(filter %.c %.1,$^)
$(MOCK)/sampled: tests/inject/mock/sampled.c $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -lpthread
$(MOCK)/app: tests/inject/mock/app.c $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13 include/grtrace/cuda_calls.def
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -lpthread -lrt
$(MOCK)/ranges: tests/inject/mock/ranges.c tests/inject/mock/nvtx.h $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -lpthread -ldl
$(MOCK)/extended: tests/inject/mock/extended.c tests/inject/mock/nvtx_payload.h tests/inject/mock/nvtx.h $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -lpthread -ldl
$(MOCK)/client: tests/inject/mock/client.c $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -ldl
$(MOCK)/steps: tests/inject/mock/steps.c $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -lpthread
$(MOCK)/timed: tests/inject/mock/timed.c $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -lpthread
$(MOCK)/ends: tests/inject/mock/ends.c $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -ldl
$(MOCK)/unruly: tests/inject/mock/unruly.c $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -lpthread -ldl
$(MOCK)/nccl: tests/inject/mock/nccl.c tests/inject/mock/nccl.h $(MOCK)/libcuda.so.1 $(MOCK)/libcudart.so.13
	$(call say,LINK,$@)$(CC) $(MOCK_CFLAGS) -o $@ $(filter %.c %.1 %.13,$^) -lpthread -ldl
MOCKS	:= $(addprefix $(MOCK)/,app ranges extended client nccl steps timed sampled ends unruly \
	libcuda.so.1 libcudart.so.13 libcupti.so.13 libcupti-old.so)
# behind the rules, whose first prerequisite is a source
$(MOCKS): tests/inject/mock/mock.h inject/cupti_abi.h sources/nvidia/pm_abi.h $(O)/flags
inject-tests: $(INJECT) $(MOCKS) $(BIN) $(O)/tests/inject/records $(O)/tests/inject/joined $(O)/tests/inject/cubin_lines

unit-tests: $(UNIT)
test-tools: $(TOOLS) $(BIN) $(INJECT)
# Objects of which the fuzz targets' library has none, or one without some of its parts.
warnings: $(INJECT_OBJ) $(CMD_OBJ) $(call obj,$(TOOL_SRC)) \
	$(call obj,$(shell grep -lE 'GRT_HAVE_(BPF|CURSES|MHD|TRACECMD)' $(LIB_SRC)))
vm-tools: test-tools $(if $(has_kernel),test-modules)

# Fuzz targets have a library of their own, in which the fuzzer sees the branches: all that reads files, whole
# commands with it, and what they are linked with (elfutils, the demangler, zlib). Sources of live data stay out.
# A line of text may be 4 MiB long; here 64 KiB are, which inputs reach.
FUZZ_SANITIZE ?= -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FUZZ_CFLAGS := -std=gnu11 -D_GNU_SOURCE=1 $(WARN) -O1 -gline-tables-only -iquote . -Iinclude -Ilib -Itests/unit -DGRT_LINE_MAX='(64U << 10)' \
	$(if $(has_dw),-DGRT_HAVE_DW) $(if $(has_iberty),-DGRT_HAVE_IBERTY) $(if $(has_z),-DGRT_HAVE_ZLIB) $(if $(has_zstd),-DGRT_HAVE_ZSTD) $(if $(has_sqlite),-DGRT_HAVE_SQLITE) $(FUZZ_SANITIZE)
FUZZ_OBJ := $(patsubst %.c,$(O)/fuzz/%.o,$(LIB_SRC) $(UNIT_AUX) $(CMD_SRC))
FUZZ_LIB := $(O)/fuzz/libfuzz.a
# The fuzzer has the main function.
$(O)/fuzz/cmds/main.o: FUZZ_CFLAGS += -Dmain=grtrace_main -Wno-missing-prototypes
$(O)/fuzz/tests/%.o: FUZZ_CFLAGS += -Wno-missing-prototypes
$(O)/fuzz/lib/codes/syscalls.o: FUZZ_CFLAGS += -I$(O)/gen

$(O)/fuzz/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CLANG) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

$(FUZZ_LIB): $(FUZZ_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcsD $@ $(FUZZ_OBJ)

$(FUZZ): $(O)/%: $(O)/fuzz/%.o $(FUZZ_LIB)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)$(CLANG) $(subst fuzzer-no-link,fuzzer,$(FUZZ_SANITIZE)) -o $@ $< $(FUZZ_LIB) $(LIB_LIBS)
fuzzers: $(FUZZ)

check:
	tools/setup check
	$(MAKE) check-built

# A second make, because what setup installed changes what there is to build.
check-built:
	tests/run -o $(O)

soak:
	tools/setup check
	tools/debug-kernel
	tests/run -o $(O) --soak

fuzz:
	tools/setup check
	$(MAKE) fuzzers
	tests/run -o $(O) --soak fuzz

# Which lines of lib the fuzz targets reach; SECONDS=N: in so long each, else with the inputs of make check.
fuzz-coverage:
	tools/setup check
	$(MAKE) O=$(O)/coverage FUZZ_SANITIZE='-fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping' fuzzers
	tools/fuzz-coverage $(if $(SECONDS),-s $(SECONDS)) $(O)/coverage

bench: all test-tools bench-modules
	bench/record.sh $(O)
	$(O)/bench/bench_read -s 1024 -c 2
	bench/report.sh $(O)
	bench/top.sh $(O)
	bench/text.sh $(O)
	bench/merge.sh $(O)
	bench/inject.sh $(O)
	bench/launches.sh $(O)
	bench/path.sh $(O)
	bench/flame.sh $(O)
	bench/export.sh $(O)
	bench/tables.sh $(O)
	bench/threads.sh $(O)
	bench/rocm.sh $(O)
	bench/ioctl.sh $(O)
	bench/nvsched.sh $(O)
	bench/sched.sh $(O)
	bench/stacks.sh $(O)
	$(O)/bench/bench_unwind
	bench/instructions.sh $(O)
	bench/vm/emit.sh $(O)
	bench/vm/idle.sh $(O)
	bench/vm/glmark2.sh $(O)
	bench/vm/toggle.sh $(O)
	bench/vm/top.sh $(O)

demo:
	tools/setup demo
	$(MAKE) all
	tools/demo $(O)

# What README.md shows of the recording of `make demo`.
readme: $(BIN)
	@[ -d $(O)/demo/run.grt ] || { echo "there is no $(O)/demo/run.grt: make demo" >&2; exit 1; }
	tools/readme $(BIN) $(O)/demo/run.grt README.md docs/demo.svg

# What the tutorials print and draw of their recordings.
tutorials: $(BIN)
	tools/tutorials --write $(BIN) examples/tutorials docs/tutorials/*.md
	tools/pictures $(BIN) examples/tutorials docs/tutorials

# ------------------------------------------------------------------ install

# Documents name each other, so they lie as they do here.
DOCUMENTS := $(wildcard *.md $(foreach d,docs docs/*,$(d)/*.md $(d)/*.png $(d)/*.svg)) $(sort $(shell find examples -type f))

install: $(BIN) $(INJECT) $(SOFTGPU_RUN) $(O)/install/libgrtrace.a $(LIBSO) $(O)/grtrace.pc install-doc
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig $(INJECTDIR) $(INCDIR)/grtrace/events \
		$(foreach n,1 3 5,$(MANDIR)/man$(n)) $(COMPDIR) $(ZSHDIR) $(FISHDIR) $(addprefix $(SCHEMADIR)/,sql prometheus grafana))
	install -m 755 $(BIN) $(SOFTGPU_RUN) $(DESTDIR)$(BINDIR)/
	install -m 644 $(O)/install/libgrtrace.a $(DESTDIR)$(LIBDIR)/libgrtrace.a
	install -m 755 $(INJECT) $(DESTDIR)$(INJECTDIR)/
	install -m 755 $(LIBSO) $(DESTDIR)$(LIBDIR)/libgrtrace.so.$(VERSION)
	ln -sfn libgrtrace.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libgrtrace.so.$(SOVER)
	ln -sfn libgrtrace.so.$(SOVER) $(DESTDIR)$(LIBDIR)/libgrtrace.so
	install -m 644 $(O)/grtrace.pc $(DESTDIR)$(LIBDIR)/pkgconfig/grtrace.pc
	install -m 644 $(HEADERS) $(DESTDIR)$(INCDIR)/grtrace/
	install -m 644 $(EVENT_ROWS) $(DESTDIR)$(INCDIR)/grtrace/events/
	install -m 644 $(filter %.1,$(MANUALS)) $(DESTDIR)$(MANDIR)/man1/
	install -m 644 $(filter %.3,$(MANUALS)) $(DESTDIR)$(MANDIR)/man3/
	install -m 644 $(filter %.5,$(MANUALS)) $(DESTDIR)$(MANDIR)/man5/
	set -- $(ALIASES); while [ $$# -gt 0 ]; do ln -sfn grtrace $(DESTDIR)$(BINDIR)/$$1 && \
		ln -sfn grtrace-$$2.1 $(DESTDIR)$(MANDIR)/man1/$$1.1 && shift 2 || exit 1; done
	install -m 644 completion/grtrace $(DESTDIR)$(COMPDIR)/grtrace
	install -m 644 completion/grtrace.zsh $(DESTDIR)$(ZSHDIR)/_grtrace
	install -m 644 completion/grtrace.fish $(DESTDIR)$(FISHDIR)/grtrace.fish
	install -m 644 $(wildcard schema/*.json) $(DESTDIR)$(SCHEMADIR)/
	install -m 644 $(wildcard sql/*.sql) $(DESTDIR)$(SCHEMADIR)/sql/
	install -m 644 packaging/prometheus/grtrace.rules.yml $(DESTDIR)$(SCHEMADIR)/prometheus/
	install -m 644 packaging/grafana/grtrace.json $(DESTDIR)$(SCHEMADIR)/grafana/

install-doc:
	install -d $(addprefix $(DESTDIR)$(DOCDIR)/,$(sort $(dir $(DOCUMENTS))))
	for file in $(DOCUMENTS); do install -m 644 $$file $(DESTDIR)$(DOCDIR)/$$file || exit 1; done

# The unit of `grtrace serve`: nothing enables it.
install-service:
	install -d $(DESTDIR)$(UNITDIR)
	sed 's,@BINDIR@,$(BINDIR),' packaging/grtrace.service >$(DESTDIR)$(UNITDIR)/grtrace.service
	chmod 644 $(DESTDIR)$(UNITDIR)/grtrace.service

# Names of functions that others look up stay: dynamic ones, and those of the static library.
install-strip: install
	$(STRIP) $(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(BIN) $(SOFTGPU_RUN)))
	$(STRIP) --strip-unneeded $(DESTDIR)$(LIBDIR)/libgrtrace.so.$(VERSION) $(DESTDIR)$(INJECTDIR)/$(notdir $(INJECT))
	$(STRIP) --strip-debug --enable-deterministic-archives $(DESTDIR)$(LIBDIR)/libgrtrace.a

uninstall:
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,$(notdir $(BIN) $(SOFTGPU_RUN))) \
		$(DESTDIR)$(LIBDIR)/libgrtrace.a $(DESTDIR)$(LIBDIR)/libgrtrace.so* $(DESTDIR)$(INJECTDIR)/$(notdir $(INJECT)) \
		$(DESTDIR)$(LIBDIR)/pkgconfig/grtrace.pc $(DESTDIR)$(COMPDIR)/grtrace \
		$(DESTDIR)$(ZSHDIR)/_grtrace $(DESTDIR)$(FISHDIR)/grtrace.fish \
		$(foreach n,1 3 5,$(addprefix $(DESTDIR)$(MANDIR)/man$(n)/,$(notdir $(filter %.$(n),$(MANUALS)))))
	set -- $(ALIASES); while [ $$# -gt 0 ]; do \
		rm -f $(DESTDIR)$(BINDIR)/$$1 $(DESTDIR)$(MANDIR)/man1/$$1.1 && shift 2 || exit 1; done
	rm -f $(DESTDIR)$(UNITDIR)/grtrace.service
	rm -rf $(addprefix $(DESTDIR),$(DOCDIR) $(INCDIR)/grtrace $(SCHEMADIR))
	rmdir $(DESTDIR)$(INJECTDIR) 2>/dev/null || true

# Only what this file made: O= may be any directory.
clean:
	rm -rf $(O)/obj $(O)/install $(O)/gen $(O)/fuzz $(O)/inject $(O)/bpf $(O)/tests $(O)/bench $(O)/tools $(O)/kernel $(O)/include $(O)/san $(O)/warn $(O)/on-* $(O)/vendor $(O)/coverage
	rm -f $(BIN) $(INJECT) $(LIBA) $(LIBSO) $(O)/grtrace.pc $(O)/flags

-include $(patsubst %.o,%.d,$(FUZZ_OBJ) $(INJECT_OBJ) $(LIB_OBJ) $(CMD_OBJ) $(AUX_OBJ) $(UNWIND_OBJ) $(call obj,$(UNIT_SRC) $(TOOL_SRC)))
