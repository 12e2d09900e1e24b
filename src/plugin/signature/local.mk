# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/signature/webhook_keys.c \
	src/plugin/signature/webhook_keys.h
