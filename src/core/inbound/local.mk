# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/inbound/access_control.c \
	src/core/inbound/access_control.h \
	src/core/inbound/inbound.c \
	src/core/inbound/inbound.h \
	src/core/inbound/inbound_request.c \
	src/core/inbound/inbound_request.h \
	src/core/inbound/user_command.c \
	src/core/inbound/user_command.h
