# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/redis/redis.c \
	src/io/redis/redis.h
