# SPDX-License-Identifier: MIT
libtcevent_a_SOURCES += \
	src/event/json/json_reader.c \
	src/event/json/json_reader.h \
	src/event/json/json_redact.c \
	src/event/json/json_redact.h \
	src/event/json/json_repair.c \
	src/event/json/json_scan.c \
	src/event/json/json_scan.h \
	src/event/json/json_simd.c \
	src/event/json/json_simd.h \
	src/event/json/json_simd_avx2.c \
	src/event/json/json_simd_avx512.c \
	src/event/json/json_simd_internal.h \
	src/event/json/json_string.c \
	src/event/json/json_value.c \
	src/event/json/json_value.h \
	src/event/json/json_writer.c \
	src/event/json/json_writer.h
