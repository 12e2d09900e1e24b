# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/reader/dialect_emit.c \
	src/dialect/reader/dialect_emit.h \
	src/dialect/reader/prestart.c \
	src/dialect/reader/prestart.h \
	src/dialect/reader/step_counter.c \
	src/dialect/reader/step_counter.h \
	src/dialect/reader/tool_args.c \
	src/dialect/reader/tool_args.h \
	src/dialect/reader/usage_totals.c \
	src/dialect/reader/usage_totals.h \
	src/dialect/reader/value.c \
	src/dialect/reader/value.h
