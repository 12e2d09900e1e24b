# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/ethos/ethos.c \
	src/dialect/ethos/ethos.h \
	src/dialect/ethos/ethos_end.c \
	src/dialect/ethos/ethos_event.c \
	src/dialect/ethos/ethos_notice.c \
	src/dialect/ethos/ethos_tool.c \
	src/dialect/ethos/ethos_write.c
