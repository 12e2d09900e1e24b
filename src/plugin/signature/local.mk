# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/signature/jwt.c \
	src/plugin/signature/jwt.h \
	src/plugin/signature/webhook_keys.c \
	src/plugin/signature/webhook_keys.h
