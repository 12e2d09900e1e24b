# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/chat/operation/chat_delivery.c \
	src/chat/operation/chat_delivery.h \
	src/chat/operation/chat_key.c \
	src/chat/operation/chat_key.h \
	src/chat/operation/chat_recent.c \
	src/chat/operation/chat_recent.h \
	src/chat/operation/chat_record.c \
	src/chat/operation/chat_record.h \
	src/chat/operation/chat_result.c \
	src/chat/operation/chat_result.h \
	src/chat/operation/chat_target.c \
	src/chat/operation/chat_target.h
