# SPDX-License-Identifier: MIT
# Layer 3: the chat engine, linked into the process of a connector.

libtcplugin_a_SOURCES += \
	src/chat/chat_attachments.c \
	src/chat/chat_card_answer.c \
	src/chat/chat_cards.c \
	src/chat/chat_engine.c \
	src/chat/chat_engine.h \
	src/chat/chat_feed.c \
	src/chat/chat_files.c \
	src/chat/chat_gap.c \
	src/chat/chat_inbound.c \
	src/chat/chat_internal.h \
	src/chat/chat_live.c \
	src/chat/chat_memory.c \
	src/chat/chat_mentions.c \
	src/chat/chat_menu.c \
	src/chat/chat_native.c \
	src/chat/chat_native_result.c \
	src/chat/chat_native_show.c \
	src/chat/chat_native_whole.c \
	src/chat/chat_options.c \
	src/chat/chat_options.h \
	src/chat/chat_outcome.c \
	src/chat/chat_receive.c \
	src/chat/chat_refusals.c \
	src/chat/chat_send.c \
	src/chat/chat_whole.c
include $(srcdir)/src/chat/card/local.mk
include $(srcdir)/src/chat/operation/local.mk
include $(srcdir)/src/chat/show/local.mk
include $(srcdir)/src/chat/stream/local.mk
