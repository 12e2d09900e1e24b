# SPDX-License-Identifier: MIT
# Layer 5: a turn from the agent to the instances.

noinst_LTLIBRARIES += libtccore.la
libtccore_la_SOURCES = \
	src/core/audit.c \
	src/core/audit.h \
	src/core/dispatch.c \
	src/core/dispatch.h \
	src/core/sticky.c \
	src/core/sticky.h
