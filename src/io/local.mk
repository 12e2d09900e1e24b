# SPDX-License-Identifier: MIT
# Layer 3: the loop and processes, each behind one file.

noinst_LTLIBRARIES += libtcio.la
libtcio_la_SOURCES = \
	src/io/lines.c \
	src/io/lines.h \
	src/io/loop.c \
	src/io/loop.h \
	src/io/process.c \
	src/io/process.h \
	src/io/process_exec.c \
	src/io/process_exec.h \
	src/io/process_tree.c \
	src/io/process_tree.h
