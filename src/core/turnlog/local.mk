# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/turnlog/turnlog.c \
	src/core/turnlog/turnlog.h \
	src/core/turnlog/turnlog_follower.c \
	src/core/turnlog/turnlog_internal.h \
	src/core/turnlog/turnlog_remote.c
