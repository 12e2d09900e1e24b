# SPDX-License-Identifier: MIT
libtcbase_a_SOURCES += \
	src/base/bytes/buf.c \
	src/base/bytes/buf.h \
	src/base/bytes/decimal.c \
	src/base/bytes/decimal.h \
	src/base/bytes/pack.c \
	src/base/bytes/pack.h \
	src/base/bytes/utf8.c \
	src/base/bytes/utf8.h \
	src/base/bytes/utf8_grapheme.c
