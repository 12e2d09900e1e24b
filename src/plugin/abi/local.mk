# SPDX-License-Identifier: MIT
libtcplugin_a_SOURCES += \
	src/plugin/abi/adjacent_libraries.c \
	src/plugin/abi/adjacent_libraries.h \
	src/plugin/abi/connector_program.h \
	src/plugin/abi/descriptor.c \
	src/plugin/abi/descriptor.h \
	src/plugin/abi/loader.c \
	src/plugin/abi/loader.h \
	src/plugin/abi/loader_file.c \
	src/plugin/abi/loader_file.h \
	src/plugin/abi/loader_internal.h \
	src/plugin/abi/loader_module.c \
	src/plugin/abi/loader_module.h \
	src/plugin/abi/probe_process.c \
	src/plugin/abi/probe_process.h \
	src/plugin/abi/probe_run.c
