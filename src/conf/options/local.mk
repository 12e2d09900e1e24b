# SPDX-License-Identifier: MIT
# Options of plugins: conversion of text to members of a struct, and rules of values.
libtcconf_a_SOURCES += \
	src/conf/options/option_rules.c \
	src/conf/options/option_rules.h \
	src/conf/options/plugin_options.c \
	src/conf/options/plugin_options.h
