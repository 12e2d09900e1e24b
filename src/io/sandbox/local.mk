# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/sandbox/sandbox.c \
	src/io/sandbox/sandbox.h \
	src/io/sandbox/sandbox_internal.h \
	src/io/sandbox/sandbox_landlock.c \
	src/io/sandbox/sandbox_seccomp.c
