# SPDX-License-Identifier: MIT
# Layer 7: main and one file per command.

noinst_LTLIBRARIES += libtccli.la
libtccli_la_SOURCES =

# With src/cli/main.c:
#bin_PROGRAMS += turncast
#turncast_SOURCES = src/cli/main.c
#turncast_LDADD = $(LINK_CLI)
