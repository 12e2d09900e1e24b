# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/connector/connector_instance.c \
	src/core/connector/connector_instance.h \
	src/core/connector/connector_internal.h \
	src/core/connector/connector_route.c \
	src/core/connector/connector_socket.c \
	src/core/connector/early_turns.c \
	src/core/connector/redelivery.c
