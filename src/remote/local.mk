# SPDX-License-Identifier: MIT
# The helper program that passes the events of a remote agent to the host.

pkglibexec_PROGRAMS += turncast-remote
turncast_remote_SOURCES = \
	src/remote/remote.h \
	src/remote/remote_commands.c \
	src/remote/remote_commands.h \
	src/remote/remote_main.c \
	src/remote/remote_redis.c \
	src/remote/wrapped_command.c \
	src/remote/wrapped_command.h
include $(srcdir)/src/remote/nats/local.mk
include $(srcdir)/src/remote/sse/local.mk
turncast_remote_LDADD = $(LINK_IO) $(LINK_DIALECT)
turncast_remote_LDFLAGS = $(AM_LDFLAGS) -Wl,--as-needed
