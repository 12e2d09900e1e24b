# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/process/cgroup.c \
	src/io/process/cgroup.h \
	src/io/process/libexec.c \
	src/io/process/libexec.h \
	src/io/process/process.c \
	src/io/process/process.h \
	src/io/process/process_tree.c \
	src/io/process/process_tree.h \
	src/io/process/resource_usage.c \
	src/io/process/resource_usage.h \
	src/io/process/shim_launch.c \
	src/io/process/shim_launch.h \
	src/io/process/shim_protocol.h
