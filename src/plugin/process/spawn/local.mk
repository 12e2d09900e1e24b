# SPDX-License-Identifier: MIT
# Start, end and state of a connector process.
libtcplugin_a_SOURCES += \
	src/plugin/process/spawn/connector_spawn.c \
	src/plugin/process/spawn/connector_spawn.h \
	src/plugin/process/spawn/connector_state.c \
	src/plugin/process/spawn/connector_state.h \
	src/plugin/process/spawn/restart_backoff.c \
	src/plugin/process/spawn/restart_backoff.h \
	src/plugin/process/spawn/stdout_forwarder.c \
	src/plugin/process/spawn/stdout_forwarder.h
