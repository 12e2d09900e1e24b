# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/chat/show/chat_live_state.c \
	src/chat/show/chat_live_state.h \
	src/chat/show/chat_text.c \
	src/chat/show/chat_text.h \
	src/chat/show/chat_view.c \
	src/chat/show/chat_view.h \
	src/chat/show/chat_view_write.c
