# SPDX-License-Identifier: MIT
# Layer 4: code that runs beside a connector.

noinst_LIBRARIES += libtcplugin.a
libtcplugin_a_SOURCES = \
	src/plugin/channel.h \
	src/plugin/connector_limits.c \
	src/plugin/connector_limits.h \
	src/plugin/host_call.c \
	src/plugin/host_call.h \
	src/plugin/outbound.c \
	src/plugin/outbound.h \
	src/plugin/outbound_pack.c \
	src/plugin/outbound_parts.c \
	src/plugin/outbound_result.c \
	src/plugin/runtime_secrets.c \
	src/plugin/runtime_secrets.h \
	src/plugin/shipped_plugin.c \
	src/plugin/shipped_plugin.h \
	src/plugin/status_page.c \
	src/plugin/status_page.h \
	src/plugin/stored_texts.c \
	src/plugin/stored_texts.h \
	src/plugin/validate.c \
	src/plugin/validate.h
include $(srcdir)/src/chat/local.mk
include $(srcdir)/src/plugin/abi/local.mk
include $(srcdir)/src/plugin/chaos/local.mk
include $(srcdir)/src/plugin/child/local.mk
include $(srcdir)/src/plugin/instance/local.mk
include $(srcdir)/src/plugin/ipc/local.mk
include $(srcdir)/src/plugin/outbox/local.mk
include $(srcdir)/src/plugin/process/local.mk
include $(srcdir)/src/plugin/queue/local.mk
include $(srcdir)/src/plugin/signature/local.mk
include $(srcdir)/src/plugin/thread/local.mk

# The process of a connector contains as little other code as possible: no database, no Redis client, no
# loop. It also starts faster.
pkglibexec_PROGRAMS += turncast-connector
turncast_connector_SOURCES = src/plugin/child/connector_main.c
turncast_connector_LDADD = $(LINK_PLUGIN)
turncast_connector_LDFLAGS = $(AM_LDFLAGS) -Wl,--as-needed
