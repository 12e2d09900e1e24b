# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/websocket/libwebsockets_dl.c \
	src/io/websocket/libwebsockets_dl.h \
	src/io/websocket/websocket.c \
	src/io/websocket/websocket.h \
	src/io/websocket/websocket_internal.h \
	src/io/websocket/websocket_thread.c \
	src/io/websocket/websocket_url.c \
	src/io/websocket/websocket_url.h
