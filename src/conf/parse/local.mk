# SPDX-License-Identifier: MIT
libtcconf_a_SOURCES += \
	src/conf/parse/conf_merge.c \
	src/conf/parse/conf_merge.h \
	src/conf/parse/conf_node.c \
	src/conf/parse/conf_node.h \
	src/conf/parse/conf_path.c \
	src/conf/parse/conf_path.h \
	src/conf/parse/conf_row.c \
	src/conf/parse/conf_row.h \
	src/conf/parse/conf_text.c \
	src/conf/parse/conf_text.h \
	src/conf/parse/option_list.c \
	src/conf/parse/option_list.h \
	src/conf/parse/secret.c \
	src/conf/parse/secret.h
