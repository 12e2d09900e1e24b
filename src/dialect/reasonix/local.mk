# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/reasonix/reasonix.c \
	src/dialect/reasonix/reasonix.h \
	src/dialect/reasonix/reasonix_end.c \
	src/dialect/reasonix/reasonix_log.c \
	src/dialect/reasonix/reasonix_notice.c \
	src/dialect/reasonix/reasonix_text.c \
	src/dialect/reasonix/reasonix_tool.c \
	src/dialect/reasonix/reasonix_write.c \
	src/dialect/reasonix/reasonix_write_internal.h \
	src/dialect/reasonix/reasonix_write_usage.c
