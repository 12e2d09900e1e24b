# SPDX-License-Identifier: MIT
# Layer 2: the configuration file and the option tables.

noinst_LTLIBRARIES += libtcconf.la
libtcconf_la_SOURCES = \
	src/conf/conf.h \
	src/conf/options.c \
	src/conf/options.h \
	src/conf/secret.c \
	src/conf/secret.h
