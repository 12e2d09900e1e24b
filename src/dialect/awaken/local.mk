# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/awaken/awaken.c \
	src/dialect/awaken/awaken.h \
	src/dialect/awaken/awaken_activity.c \
	src/dialect/awaken/awaken_tool.c \
	src/dialect/awaken/awaken_write.c \
	src/dialect/awaken/awaken_write.h \
	src/dialect/awaken/awaken_write_tool.c
