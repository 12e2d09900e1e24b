# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/agenticore/agenticore_redis.c \
	src/dialect/agenticore/agenticore_write.c \
	src/dialect/agenticore/json_pretty.c \
	src/dialect/agenticore/json_pretty.h
