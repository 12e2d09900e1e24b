# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/texts/texts.c \
	src/core/texts/texts.def \
	src/core/texts/texts.h
