# SPDX-License-Identifier: MIT
# Options of plugins: text into members of a struct, and the rules of their values.
libtcconf_a_SOURCES += \
	src/conf/options/option_rules.c \
	src/conf/options/option_rules.h \
	src/conf/options/plugin_options.c \
	src/conf/options/plugin_options.h
