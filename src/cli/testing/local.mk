# SPDX-License-Identifier: MIT
# Tests of connectors: a fake host of one instance, and scripts that control it.

libtccli_a_SOURCES += \
	src/cli/testing/cmd_test.c \
	src/cli/testing/script.c \
	src/cli/testing/script.h \
	src/cli/testing/script_expect.c \
	src/cli/testing/script_internal.h \
	src/cli/testing/script_people.c \
	src/cli/testing/script_program.h \
	src/cli/testing/script_steps.c \
	src/cli/testing/smoke_test.c \
	src/cli/testing/smoke_test.h \
	src/cli/testing/test_process.c \
	src/cli/testing/test_process.h \
	src/cli/testing/test_report.c \
	src/cli/testing/test_report.h
include $(srcdir)/src/cli/testing/fake/local.mk

# The connector must use the program's clock functions, so their symbols are exported.
pkglibexec_PROGRAMS += turncast-script
FIXED_CLOCK = src/cli/testing/fake/fixed_clock.c
turncast_script_SOURCES = src/cli/testing/script_main.c $(FIXED_CLOCK) \
	src/cli/testing/fake/fixed_random.c src/cli/testing/fake/fixed_random.h
turncast_script_LDADD = $(LINK_CLI)
turncast_script_LDFLAGS = $(AM_LDFLAGS) -export-dynamic -Wl,--as-needed
