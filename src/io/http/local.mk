# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/http/proxy.c \
	src/io/http/proxy.h
