# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/protocol/jsonrpc.c \
	src/dialect/protocol/jsonrpc.h \
	src/dialect/protocol/sse.c \
	src/dialect/protocol/sse.h \
	src/dialect/protocol/steered_messages.c \
	src/dialect/protocol/steered_messages.h
