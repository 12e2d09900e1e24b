# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/remote/remote_input.c \
	src/dialect/remote/remote_line.c \
	src/dialect/remote/remote_line.h \
	src/dialect/remote/remote_read.c
