# SPDX-License-Identifier: MIT
libtcapi_a_SOURCES += \
	src/api/shared/abandoned_turns.c \
	src/api/shared/abandoned_turns.h \
	src/api/shared/api_http.c \
	src/api/shared/api_http.h \
	src/api/shared/api_internal.h \
	src/api/shared/auth.c \
	src/api/shared/auth.h \
	src/api/shared/chat_dedup.c \
	src/api/shared/chat_dedup.h \
	src/api/shared/chat_messages.c \
	src/api/shared/chat_messages.h \
	src/api/shared/event_stream.c \
	src/api/shared/event_stream.h \
	src/api/shared/past_turns.c \
	src/api/shared/past_turns.h \
	src/api/shared/remote_waits.c \
	src/api/shared/remote_waits.h
