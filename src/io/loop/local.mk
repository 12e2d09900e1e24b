# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/loop/line_splitter.c \
	src/io/loop/line_splitter.h \
	src/io/loop/loop.c \
	src/io/loop/loop.h \
	src/io/loop/service_notify.c \
	src/io/loop/service_notify.h \
	src/io/loop/wakeup_coalescer.c \
	src/io/loop/wakeup_coalescer.h \
	src/io/loop/worker.c \
	src/io/loop/worker.h
