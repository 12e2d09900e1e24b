# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/ipc/ipc_frame.c \
	src/plugin/ipc/ipc_frame.h \
	src/plugin/ipc/ipc_frame_inbound.c \
	src/plugin/ipc/ipc_frame_outbound.c \
	src/plugin/ipc/shm_ring.c \
	src/plugin/ipc/shm_ring.h
