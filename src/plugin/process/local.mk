# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/process/channel_process.c \
	src/plugin/process/connector_calls.c \
	src/plugin/process/connector_calls.h \
	src/plugin/process/connector_dead_letter.c \
	src/plugin/process/connector_exit_report.c \
	src/plugin/process/connector_log_pipe.c \
	src/plugin/process/connector_log_pipe.h \
	src/plugin/process/connector_process.h \
	src/plugin/process/connector_reader.c \
	src/plugin/process/connector_reader.h \
	src/plugin/process/connector_requeue.c \
	src/plugin/process/connector_supervisor.c \
	src/plugin/process/connector_supervisor.h \
	src/plugin/process/connector_task.c \
	src/plugin/process/connector_task.h \
	src/plugin/process/connector_turns.c \
	src/plugin/process/connector_turns.h \
	src/plugin/process/connector_writer.c \
	src/plugin/process/connector_writer.h
include $(srcdir)/src/plugin/process/spawn/local.mk
