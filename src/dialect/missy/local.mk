# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/missy/missy.c \
	src/dialect/missy/missy.h \
	src/dialect/missy/missy_event.c \
	src/dialect/missy/missy_tool.c \
	src/dialect/missy/missy_write.c
