# SPDX-License-Identifier: MIT
# Layer 2: the configuration file and the option tables.

noinst_LIBRARIES += libtcconf.a
libtcconf_a_SOURCES = \
	src/conf/conf.c \
	src/conf/conf.h \
	src/conf/conf_agent.c \
	src/conf/conf_budget.c \
	src/conf/conf_bus.c \
	src/conf/conf_bus_runs.c \
	src/conf/conf_chaos.c \
	src/conf/conf_chat.c \
	src/conf/conf_http_key.c \
	src/conf/conf_instance.c \
	src/conf/conf_internal.h \
	src/conf/conf_names.c \
	src/conf/conf_proxy.c \
	src/conf/conf_retention.c \
	src/conf/conf_rule.c \
	src/conf/conf_scope.c \
	src/conf/conf_scope.h \
	src/conf/conf_serve.c \
	src/conf/conf_store.c \
	src/conf/conf_store.h \
	src/conf/conf_tls.c \
	src/conf/conf_transport.c \
	src/conf/conf_transport_nats.c \
	src/conf/conf_user.c \
	src/conf/conf_variant.c \
	src/conf/default_paths.c \
	src/conf/default_paths.h
include $(srcdir)/src/conf/options/local.mk
include $(srcdir)/src/conf/parse/local.mk
