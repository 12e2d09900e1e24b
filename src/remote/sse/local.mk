# SPDX-License-Identifier: MIT
turncast_remote_SOURCES += \
	src/remote/sse/event_source.c \
	src/remote/sse/event_source.h \
	src/remote/sse/sse_awaken.c \
	src/remote/sse/sse_call.c \
	src/remote/sse/sse_call.h \
	src/remote/sse/sse_ethos.c \
	src/remote/sse/sse_reasonix.c \
	src/remote/sse/sse_run.c \
	src/remote/sse/sse_run.h \
	src/remote/sse/sse_turncast.c
