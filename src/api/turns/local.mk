# SPDX-License-Identifier: MIT
libtcapi_a_SOURCES += \
	src/api/turns/remote_outcome.c \
	src/api/turns/remote_turns.c \
	src/api/turns/remote_turns.h \
	src/api/turns/request_api.c \
	src/api/turns/request_api.h \
	src/api/turns/turn_api.c \
	src/api/turns/turn_api.h \
	src/api/turns/turn_events.c \
	src/api/turns/turn_instances.c \
	src/api/turns/turn_instances.h
