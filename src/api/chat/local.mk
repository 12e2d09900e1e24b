# SPDX-License-Identifier: MIT
libtcapi_a_SOURCES += \
	src/api/chat/chat_completion.c \
	src/api/chat/chat_completion.h \
	src/api/chat/chat_request.c \
	src/api/chat/chat_request.h \
	src/api/chat/chat_response.c \
	src/api/chat/chat_stream.c \
	src/api/chat/models.c
