# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/chaos/chaos.c \
	src/plugin/chaos/chaos.h \
	src/plugin/chaos/chaos_inject.c
