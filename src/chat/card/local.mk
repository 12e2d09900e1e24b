# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/chat/card/chat_card.c \
	src/chat/card/chat_card.h \
	src/chat/card/chat_card_about.c \
	src/chat/card/chat_card_text.c \
	src/chat/card/chat_draft.c \
	src/chat/card/chat_form.c \
	src/chat/card/chat_inputs.c \
	src/chat/card/chat_place_state.c \
	src/chat/card/chat_place_state.h
