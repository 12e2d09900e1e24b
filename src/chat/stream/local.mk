# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/chat/stream/chat_batch.c \
	src/chat/stream/chat_batch.h \
	src/chat/stream/chat_lines.c \
	src/chat/stream/chat_lines.h \
	src/chat/stream/chat_said.c \
	src/chat/stream/chat_said.h \
	src/chat/stream/chat_native_state.c \
	src/chat/stream/chat_native_state.h
