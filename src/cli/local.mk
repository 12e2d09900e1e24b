# SPDX-License-Identifier: MIT
# Layer 7: main and one file per command.

noinst_LIBRARIES += libtccli.a
libtccli_a_SOURCES = \
	src/cli/args.c \
	src/cli/args.h \
	src/cli/command_table.c \
	src/cli/command_table.h \
	src/cli/control_client.c \
	src/cli/control_client.h \
	src/cli/data_path.c \
	src/cli/data_path.h \
	src/cli/oneshot_host.c \
	src/cli/oneshot_host.h
libtccli_a_CPPFLAGS = $(AM_CPPFLAGS) -DTURNCAST_DATADIR='"$(pkgdatadir)"' \
	-DTURNCAST_PKGCONFIGDIR='"$(pkgconfigdir)"'
include $(srcdir)/src/cli/control/local.mk
include $(srcdir)/src/cli/completion/local.mk
include $(srcdir)/src/cli/create/local.mk
include $(srcdir)/src/cli/init/local.mk
include $(srcdir)/src/cli/inspect/local.mk
include $(srcdir)/src/cli/run/local.mk
include $(srcdir)/src/cli/state/local.mk
include $(srcdir)/src/cli/testing/local.mk

bin_PROGRAMS += turncast
turncast_SOURCES = src/cli/main.c
turncast_LDADD = $(LINK_CLI)
