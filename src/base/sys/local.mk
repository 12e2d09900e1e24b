# SPDX-License-Identifier: MIT
libtcbase_a_SOURCES += \
	src/base/sys/clock.c \
	src/base/sys/clock.h \
	src/base/sys/crash_point.c \
	src/base/sys/crash_point.h \
	src/base/sys/dir.c \
	src/base/sys/dir.h \
	src/base/sys/err.c \
	src/base/sys/err.h \
	src/base/sys/executable.c \
	src/base/sys/executable.h \
	src/base/sys/file_trust.c \
	src/base/sys/file_trust.h \
	src/base/sys/finding.c \
	src/base/sys/finding.h \
	src/base/sys/log.c \
	src/base/sys/log.h \
	src/base/sys/log_redact.c \
	src/base/sys/uuid.c \
	src/base/sys/uuid.h
