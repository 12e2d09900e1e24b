# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/child/child.c \
	src/plugin/child/child.h \
	src/plugin/child/child_host.c \
	src/plugin/child/child_internal.h \
	src/plugin/child/child_load.c \
	src/plugin/child/child_load.h
