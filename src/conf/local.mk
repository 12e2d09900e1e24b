# SPDX-License-Identifier: MIT
# Layer 2: the configuration file and the option tables.

noinst_LIBRARIES += libtcconf.a
libtcconf_a_SOURCES = \
	src/conf/agent.c \
	src/conf/chaos.c \
	src/conf/conf.c \
	src/conf/conf.h \
	src/conf/instance.c \
	src/conf/key.c \
	src/conf/node.c \
	src/conf/node.h \
	src/conf/options.c \
	src/conf/options.h \
	src/conf/parts.h \
	src/conf/paths.c \
	src/conf/proxy.c \
	src/conf/paths.h \
	src/conf/read.c \
	src/conf/read.h \
	src/conf/rule.c \
	src/conf/secret.c \
	src/conf/secret.h \
	src/conf/serve.c \
	src/conf/store.c \
	src/conf/user.c
