# SPDX-License-Identifier: MIT
# Tests of services and agents without a host.
libtccli_a_SOURCES += \
	src/cli/inspect/probe/agent_flags.c \
	src/cli/inspect/probe/agent_flags.h \
	src/cli/inspect/probe/agent_login.c \
	src/cli/inspect/probe/agent_login.h \
	src/cli/inspect/probe/service_probe.c \
	src/cli/inspect/probe/service_probe.h
