# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/inbound/access_control.c \
	src/core/inbound/access_control.h \
	src/core/inbound/answered_messages.c \
	src/core/inbound/answered_messages.h \
	src/core/inbound/chat_command.c \
	src/core/inbound/chat_command.h \
	src/core/inbound/chat_choice.c \
	src/core/inbound/chat_choice.h \
	src/core/inbound/chat_history.c \
	src/core/inbound/chat_history.h \
	src/core/inbound/inbound.c \
	src/core/inbound/inbound.h \
	src/core/inbound/inbound_instances.c \
	src/core/inbound/inbound_instances.h \
	src/core/inbound/inbound_internal.h \
	src/core/inbound/inbound_remote.c \
	src/core/inbound/inbound_remote.h \
	src/core/inbound/inbound_request.c \
	src/core/inbound/inbound_request.h \
	src/core/inbound/inbound_resend.c \
	src/core/inbound/pairing.c \
	src/core/inbound/pairing.h \
	src/core/inbound/user_command.c \
	src/core/inbound/user_command.h
