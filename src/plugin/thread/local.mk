# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/thread/call_queue.c \
	src/plugin/thread/call_queue.h \
	src/plugin/thread/channel_thread.c \
	src/plugin/thread/channel_thread_internal.h \
	src/plugin/thread/channel_thread_main.c
