# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/turncast/turncast_read.c \
	src/dialect/turncast/turncast_run.c \
	src/dialect/turncast/turncast_run.h \
	src/dialect/turncast/turncast_write.c
