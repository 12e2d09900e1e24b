# SPDX-License-Identifier: MIT
libtcturn_a_SOURCES += \
	src/turn/visibility/slash_tokens.c \
	src/turn/visibility/slash_tokens.h \
	src/turn/visibility/view_pairing.c \
	src/turn/visibility/view_pairing.h \
	src/turn/visibility/visibility.c \
	src/turn/visibility/visibility.h
