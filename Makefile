# gpubtree: an ordered index for PostgreSQL, mirrored in GPU memory.
#
#   make                build; the CUDA object too where nvcc is found
#   make CUDA=no        build without it
#   make install
#   make install-test   the test modules, see test/modules
#   make uninstall
#   make installcheck   regression tests against a running server
#   make demo, make test
#   make dist           gpubtree-VERSION.zip, for PGXN
#
#   make WERROR=yes     warnings are errors; tests build so, packages of compilers yet to come do not
#   make QUICK=1        does not optimize the CUDA object well, see QUICK below
#   make V=1            prints whole commands
#   mkdir b; make -C b -f ../Makefile
#                       builds in b, and writes nothing beside the sources; so does VPATH=FOLDER

# What is made without a target: rules that stand before PGXS's are not
all:

EXTENSION = gpubtree
MODULE_big = gpubtree
# The first version's script, and one from each version to the next: PostgreSQL runs them in turn.
DATA = $(call sources,sql/gpubtree--*.sql)

# The folder of the sources; make may run in another one, where objects go.  PGXS finds it likewise,
# too late for what follows.
TOP := $(or $(VPATH),$(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST)))))
# sources PATTERN...: the files there, without that folder
sources = $(patsubst $(TOP)/%,%,$(sort $(wildcard $(addprefix $(TOP)/,$(1)))))

C_SOURCES := $(call sources,$(foreach d,* */* */*/*,src/$(d).c))
ifeq ($(C_SOURCES),)
$(error no sources in $(TOP): make -f FOLDER/Makefile, or with VPATH=FOLDER)
endif
OBJS = $(C_SOURCES:.c=.o) $(GPB_OBJS)

REGRESS = $(patsubst sql/%.sql,%,$(filter-out sql/gpubtree--%,$(call sources,sql/*.sql)))
# The tests print rows alone, unaligned, and no statement before they say so; and include files below
# abs_srcdir.
REGRESS_OPTS = --load-extension=gpubtree --no-locale --encoding=UTF8 \
	--launcher="sh -c 'exec \"\$$@\" -At -v ECHO=none -v abs_srcdir=\"\$$PG_ABS_SRCDIR\"' sh"

# Sources name headers from src on, and objects depend on the headers that they include.  What
# debuggers read is made with GPB_CFLAGS=-g.
PG_CPPFLAGS = -I$(TOP)/src
PG_CFLAGS = -MMD -MP -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers $(if $(filter yes,$(WERROR)),-Werror) -O2 -g0 $(GPB_CFLAGS)
# A build with hold points is one for tests.
WERROR ?= $(if $(findstring GPB_HOLD_POINTS,$(GPB_CFLAGS)),yes)
# Calls go straight to their functions, not by way of a procedure linkage table, whose entries take
# room in the CPU's instruction cache: a statement that looks up one key runs all of its code once.
PG_CFLAGS += -fno-plt -fno-semantic-interposition
SHLIB_LINK = -Wl,-Bsymbolic-functions

EXTRA_CLEAN = gpubtree_cuda.so test/headers.h.gch $(wildcard cuda/*.[do] src/*.d src/*/*.d src/*/*/*.d) test/kernel/kernel_test test/kernel/emulated.so \
	test/kernel/cuda.so $(wildcard test/kernel/emulator/*.o test/kernel/cuda/*.[do]) $(wildcard test/modules/*/*.[do] test/modules/*/*.bc test/modules/*/*.so) \
	test/bench/device_bench test/bench/ranges_bench test/bench/programs_bench test/bench/search_bench \
	test/bench/node_sweep_gpu test/bench/node_sweep_cpu \
	test/unit/keys_test test/unit/balance_test test/unit/choice_test test/unit/map_copies_test \
	test/unit/leaf_test test/unit/leaf_cells_test test/unit/program_test test/unit/piece_images_test \
	test/unit/room_test

PG_CONFIG ?= pg_config

# The CUDA object, a library of its own that only the GPU service loads
NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA ?= $(if $(NVCC),yes,no)
ifeq ($(CUDA),yes)
all: gpubtree_cuda.so
install: install-cuda
endif
# Also what a build of another choice has installed
uninstall: uninstall-cuda

# Who builds with hold points is about to test, and gets the test module with the rest.
ifneq ($(findstring GPB_HOLD_POINTS,$(GPB_CFLAGS)),)
all: test-module
install: install-test
uninstall: uninstall-test
endif

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# Commands are not printed but with V=1: a line says what is made, and "make -s" not even that.
SILENT := $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
Q = $(if $(V),,@)
say = $(if $(V)$(SILENT),@:,@printf '  %-5s %s\n' '$(1)' '$(2)')

ifeq ($(V),)
.SILENT: $(MODULE_big)$(DLSUFFIX)
endif

# PRECOMPILE=yes: the headers that many sources include are compiled once for all of them, which
# saves a fifth of the compiler's time.  It is for builds that are tested: one without it, as users
# make, finds what a source forgets to include.
ifeq ($(PRECOMPILE),yes)
PREPARED := $(patsubst $(TOP)/%.c,%.o,$(shell grep -rl --include='*.c' '^\#include "compat.h"' $(TOP)/src))
$(PREPARED): test/headers.h.gch
$(PREPARED): PRECOMPILED = -include test/headers.h

test/headers.h.gch: test/headers.h
	$(call say,CC,$@)
	$(Q)$(COMPILE.c) -x c-header -o $@ $<
endif

$(OBJS): %.o: %.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE.c) $(PRECOMPILED) -o $@ $<

$(OBJS:.o=.bc): %.bc: %.c
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE.c.bc) -o $@ $<

# Sessions of the tests have the settings that expected/ depends on, not the server's.  PostgreSQL 16
# gave one of them another name, and plans sorts below aggregates, which expected/ does not show.
REGRESS_SETTINGS := $(shell sed -n 's/^\([a-z_.]*\) = /-c \1=/p' $(TOP)/test/installcheck.conf)
ifeq ($(filter 15,$(MAJORVERSION)),)
REGRESS_SETTINGS := $(subst force_parallel_mode,debug_parallel_query,$(REGRESS_SETTINGS)) \
	-c enable_presorted_aggregate=off
endif
installcheck: export PGOPTIONS := $(PGOPTIONS) $(REGRESS_SETTINGS)
# The expected output is that of 15: on later servers what means the same is no difference.
ifeq ($(filter 15,$(MAJORVERSION)),)
installcheck: export PATH := $(abspath $(TOP))/test/normalized:$(PATH)
installcheck: export GPB_SERVER := $(MAJORVERSION)
endif

-include $(OBJS:.o=.d) $(wildcard cuda/*.d test/kernel/cuda/*.d)

# For what is compiled in one step from many sources: tests and benchmarks, which are built beside them
HEADERS_ALL = $(wildcard $(foreach d,* */* */*/*,src/$(d).h) cuda/*.cuh cuda/*.h test/unit/*.h)

# Options and machine codes that this nvcc knows
NVCC_KNOWS := $(if $(NVCC),$(shell $(NVCC) --help | grep -o -e '^--[A-Za-z-]*'; $(NVCC) --list-gpu-code))
# Machine code for Turing, Ampere, Ada (which runs that of Ampere), Hopper, and Blackwell for servers (100)
# and for others (120), where nvcc knows them: from 12.8 on; the least compute capability comes first.
CUDA_ARCHS ?= $(patsubst sm_%,%,$(filter $(NVCC_KNOWS),sm_75 sm_80 sm_90 sm_100 sm_120))
NVCC_FLAGS = -std=c++17 -O3 $(LINEINFO) $(if $(filter yes,$(WERROR)),-Werror all-warnings) $(NVCC_COMPRESS) \
	-Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra -I$(TOP)/src
# PTX, of the first, for all other GPUs: for those that come after, and for those between two of the list
NVCC_PTX = -gencode arch=compute_$(firstword $(CUDA_ARCHS)),code=compute_$(firstword $(CUDA_ARCHS))
# Sources of CUDA_ONCE are read once, for the first architecture, and ptxas makes the machine code of
# each from that PTX; the others are read for each, those from 100 on as for the last one before.
NVCC_ARCHS = $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(firstword $(CUDA_ARCHS)),code=sm_$(a)) \
	$(NVCC_PTX)
CUDA_READ = $(or $(filter-out 1%,$(CUDA_ARCHS)),$(firstword $(CUDA_ARCHS)))
NVCC_ARCHS_EACH = $(foreach a,$(CUDA_ARCHS),-gencode \
	arch=compute_$(if $(filter $(a),$(CUDA_READ)),$(a),$(lastword $(CUDA_READ))),code=sm_$(a)) $(NVCC_PTX)
# Line tables, twice the size of the code: none for users; LINEINFO=-lineinfo makes them for profilers
LINEINFO ?=
# Device code compressed as far as this nvcc can
NVCC_COMPRESS = $(if $(filter --compress-mode,$(NVCC_KNOWS)),-compress-mode=size,-Xfatbin -compress-all)
NVCC_LINK = $(NVCC) $(filter-out -lineinfo,$(NVCC_FLAGS)) $(NVCC_ARCHS) -shared -cudart static \
	-Xcompiler -static-libstdc++,-static-libgcc -Xlinker --exclude-libs=ALL,-z,relro,-z,now
CUDA_SRCS = $(call sources,cuda/*.cu)
# Those without kernels, which nvcc leaves to the host's compiler instead of reading them once more for
# each architecture
CUDA_HOST := $(patsubst $(TOP)/cuda/%.cu,%,$(if $(CUDA_SRCS),\
	$(shell grep -L -e __global__ -e '<cub/' $(addprefix $(TOP)/,$(CUDA_SRCS)))))
# What looks at leaves is compiled once for each form, see cuda/forms.cuh: NAME.o for the first form,
# NAME.wide.o and so on for the others.
CUDA_FORMED = positions $(addprefix ranges_,columns groups judged list locate long program short)
CUDA_FORMS = wide runs wide_runs
# Of these the PTX is the same for compute capabilities 7.5, 8.0 and 9.0.  Of others it is not:
# ranges_short.cu asks about the architecture, as CUB's headers do, and nvcc may unroll differently.
CUDA_ONCE = $(filter-out ranges_short,$(CUDA_FORMED))
wide_FLAGS = -DGPB_CUDA_WIDE
runs_FLAGS = -DGPB_CUDA_RUNS
wide_runs_FLAGS = $(wide_FLAGS) $(runs_FLAGS)
# Make begins with those that take longest: they run beside each other, and then beside short ones.
CUDA_LONGEST = ranges_groups ranges_program ranges_judged ranges_long ranges_short
CUDA_UNORDERED = $(CUDA_SRCS:cuda/%.cu=%) $(filter-out ranges_columns.%runs,\
	$(foreach form,$(CUDA_FORMS),$(CUDA_FORMED:=.$(form))))
CUDA_NAMES = $(foreach long,$(CUDA_LONGEST),$(filter $(long) $(long).%,$(CUDA_UNORDERED))) \
	$(filter-out $(CUDA_LONGEST) $(CUDA_LONGEST:=.%),$(CUDA_UNORDERED))
CUDA_OBJS = $(patsubst %,cuda/%.o,$(filter-out bench,$(CUDA_NAMES)))

# How well device code is optimized.  QUICK=1, for who changes kernels, has ptxas compile the interpreter
# of programs once for each source, and not anew for each kernel that calls it.  That saves most of its
# time, but kernels over groups take up to 1.7 times as long: no figure comes from such an object.
# QUICK=2, for who only asks whether all compiles, optimizes as little as this nvcc can.
QUICK ?=
NVCC_QUICK_1 = -Xptxas -Ofc=min
NVCC_QUICK_2 = --Ofast-compile max
NVCC_QUICK = $(if $(filter --Ofast-compile,$(NVCC_KNOWS)),$(NVCC_QUICK_$(QUICK)))

ifeq ($(CUDA)$(SILENT)$(wildcard gpubtree_cuda.so)$(filter-out all install,$(MAKECMDGOALS)),yes)
$(info gpubtree: $(words $(OBJS)) sources of C, and with nvcc $(words $(CUDA_OBJS)) of CUDA for compute capabilities $(CUDA_ARCHS),)
$(info which take most of the time, the longest first: CUDA=no leaves them out, CUDA_ARCHS=90 builds for one)
$(info kind of GPU.$(if $(QUICK), With QUICK=$(QUICK) kernels are slow.))
endif

# number_of NAME, NAMES: "(3 of 54)", to show how far the long part has come
before = $(if $(filter-out $(1),$(firstword $(2))),x $(call before,$(1),$(wordlist 2,$(words $(2)),$(2))))
number_of = ($(words x $(call before,$(1),$(2))) of $(words $(2)))

# nvcc_of NAME: how nvcc treats that source, beside NVCC_FLAGS
nvcc_of = $(if $(filter $(1),$(CUDA_HOST)),-x c++,\
	$(if $(filter $(1),$(CUDA_ONCE)),$(NVCC_ARCHS),$(NVCC_ARCHS_EACH)) $(NVCC_QUICK))

# cuda_rules SUFFIX, FLAGS: how objects of that form are made: for users; for tests and benchmarks, with
# the functions of cuda/bench.h, which nobody installs; and for the CPU, see test/kernel/emulator.
define cuda_rules
cuda/%$(1).o: cuda/%.cu
	$$(call say,NVCC,$$@ $$(call number_of,$$@,$$(CUDA_OBJS)))
	@mkdir -p $$(@D)
	$$(Q)$$(NVCC) $$(NVCC_FLAGS) $(2) $$(call nvcc_of,$$*) -MMD -MP -c -o $$@ $$<
test/kernel/cuda/%$(1).o: cuda/%.cu
	$$(call say,NVCC,$$@ $$(call number_of,$$@,$$(BENCH_OBJS)))
	@mkdir -p $$(@D)
	$$(Q)$$(NVCC) $$(NVCC_FLAGS) $(2) $$(call nvcc_of,$$*) -DGPB_BENCH -MMD -MP -c -o $$@ $$<
test/kernel/emulator/%$(1).o: cuda/%.cu $$(HEADERS_ALL) $$(wildcard test/kernel/emulator/*.h)
	$$(call say,CXX,$$@)
	$$(Q)$$(CXX) $$(EMULATED_FLAGS) $(2) -x c++ -c -o $$@ $$<
endef
$(eval $(call cuda_rules,,))
$(foreach form,$(CUDA_FORMS),$(eval $(call cuda_rules,.$(form),$($(form)_FLAGS))))

gpubtree_cuda.so: $(CUDA_OBJS)
	$(call say,NVCC,$@)
	$(Q)$(NVCC_LINK) -o $@ $^

BENCH_OBJS = $(patsubst %,test/kernel/cuda/%.o,$(CUDA_NAMES))

test/kernel/cuda.so: $(BENCH_OBJS)
	$(NVCC_LINK) -o $@ $^

# Tests and benchmark of the devices; neither needs PostgreSQL.  TEST_EXTRA=-g0 saves a fifth of the
# compiler's time.
TEST_CFLAGS = -std=gnu99 -O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Werror -Isrc \
	$(TEST_EXTRA)
# Programs on the CPU, which the host device shares with the executor
PROGRAM_SRCS = $(wildcard src/program/program_*.c) src/program/group_table.c \
	src/program/narrow_scatter.c src/cpu_form.c
HOST_DEVICE = $(wildcard src/device/host/*.c) src/program/leaf_sum.c $(PROGRAM_SRCS)
TEST_SRCS = $(filter-out %/main.c,$(wildcard test/kernel/*.c)) $(HOST_DEVICE)

test/kernel/kernel_test: test/kernel/main.c $(TEST_SRCS) $(wildcard test/kernel/*.h) $(HEADERS_ALL)
	$(CC) $(TEST_CFLAGS) -o $@ $(filter %.c,$^) -lm -ldl

test/bench/device_bench test/bench/ranges_bench test/bench/programs_bench: %: %.c \
		test/bench/device_index.h $(HOST_DEVICE) $(HEADERS_ALL)
	$(CC) $(TEST_CFLAGS) -o $@ $(filter %.c,$^) -lm -ldl

# The search engine's kernels beside thrust; needs nvcc and, to run, a GPU
test/bench/search_bench: test/bench/search_bench.cu $(HEADERS_ALL)
	$(NVCC) -std=c++17 -O3 -arch=native -Isrc -o $@ $< -ldl

# The device's tree with nodes of many sizes, on a GPU and on one core
test/bench/node_sweep_gpu: test/bench/node_sweep.cu $(HEADERS_ALL)
	$(NVCC) -std=c++17 -O3 -arch=native -Isrc -o $@ $<

test/bench/node_sweep_cpu: test/bench/node_sweep.cu $(HEADERS_ALL)
	$(CXX) -std=c++17 -O2 -Wall -Wextra -Wno-unknown-pragmas -Wno-attributes -Werror -Isrc \
		-o $@ -x c++ $<

# Plain C functions, see test/unit
test/unit/keys_test: test/unit/keys.c src/key_search.c src/key_sort.c src/cpu_form.c $(HEADERS_ALL)
	$(CC) $(TEST_CFLAGS) -o $@ $(filter %.c,$^)

test/unit/leaf_test: test/unit/leaf.c src/program/visible_entries.c src/program/leaf_sum.c \
		src/cpu_form.c $(HEADERS_ALL)
	$(CC) $(TEST_CFLAGS) -o $@ $(filter %.c,$^) -lm

test/unit/leaf_cells_test: test/unit/leaf_cells.c $(HEADERS_ALL)
	$(CC) $(TEST_CFLAGS) -o $@ $(filter %.c,$^)

test/unit/program_test: $(wildcard test/unit/program*.c) $(PROGRAM_SRCS) $(HEADERS_ALL)
	$(CC) $(TEST_CFLAGS) -o $@ $(filter %.c,$^) -lm

test/unit/balance_test: test/unit/balance.c $(HEADERS_ALL)
	$(CC) $(TEST_CFLAGS) -o $@ $(filter %.c,$^)

test/unit/choice_test: test/unit/choice.c $(HEADERS_ALL)
	$(CC) $(TEST_CFLAGS) -o $@ $(filter %.c,$^)

# These need PostgreSQL's headers, which are of C11 since 19, and no more of it.
test/unit/map_copies_test: src/mirror/service/service_bits.c
test/unit/piece_images_test: src/mirror/service/piece_images.c src/mirror/backend/refresh_transfer.c
test/unit/room_test: $(addprefix src/mirror/map/,eviction.c placement.c registry.c)
test/unit/map_copies_test test/unit/piece_images_test test/unit/room_test: %_test: %.c $(HEADERS_ALL)
	$(CC) $(TEST_CFLAGS) -std=gnu11 -Wno-unused-parameter -Wno-sign-compare -I$(includedir_server) -o $@ \
		$(filter %.c,$^)

# The CUDA sources as an ordinary library, see test/kernel/emulator.  C has PostgreSQL's
# -fno-strict-aliasing, which compilers of device code lack: here too an object that is written as one
# type and read as another may be read before it is written, and tests fail.
EMULATED_FLAGS = -std=c++17 -O1 -fstrict-aliasing -g -fPIC -U_FORTIFY_SOURCE -fvisibility=hidden -Wall -Wextra \
	-Wno-unknown-pragmas -Wno-attributes -Werror -DGPB_BENCH -Itest/kernel/emulator -Isrc \
	$(EMULATED_EXTRA)
EMULATED_OBJS = $(patsubst %,test/kernel/emulator/%.o,$(CUDA_NAMES))

test/kernel/emulated.so: test/kernel/emulator/emulator.cc $(EMULATED_OBJS)
	$(CXX) $(EMULATED_FLAGS) -shared -o $@ $^

# Functions for the TAP tests, in a module and an extension of their own
.PHONY: test-module install-test uninstall-test
test-module:
	$(MAKE) -C test/modules/gpubtree_test GPB_CFLAGS='$(GPB_CFLAGS)'
	$(MAKE) -C test/modules/rows_elsewhere GPB_CFLAGS='$(GPB_CFLAGS)'
install-test: test-module
	$(MAKE) -C test/modules/gpubtree_test GPB_CFLAGS='$(GPB_CFLAGS)' install
	$(MAKE) -C test/modules/rows_elsewhere GPB_CFLAGS='$(GPB_CFLAGS)' install
uninstall-test:
	$(MAKE) -C test/modules/gpubtree_test CFLAGS_SL_MODULE= uninstall
	$(MAKE) -C test/modules/rows_elsewhere uninstall

.PHONY: install-cuda uninstall-cuda dist demo test
install-cuda: gpubtree_cuda.so
	$(MKDIR_P) '$(DESTDIR)$(pkglibdir)'
	$(INSTALL_SHLIB) gpubtree_cuda.so '$(DESTDIR)$(pkglibdir)/'
uninstall-cuda:
	rm -f '$(DESTDIR)$(pkglibdir)/gpubtree_cuda.so'

# What PGXN takes, of the commit that is checked out: DIST/gpubtree-VERSION.zip
DIST ?= .
VERSION = $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(TOP)/gpubtree.control)
dist:
	git -C '$(TOP)' archive --format=zip --prefix=gpubtree-$(VERSION)/ \
		-o '$(abspath $(DIST))/gpubtree-$(VERSION).zip' HEAD

demo:
	sh test/demo
test:
	sh test/all
