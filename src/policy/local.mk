# SPDX-License-Identifier: MIT
libtcturn_a_SOURCES += \
	src/policy/glob.c \
	src/policy/glob.h \
	src/policy/match_loose.c \
	src/policy/match_loose.h \
	src/policy/match_strict.c \
	src/policy/match_strict.h \
	src/policy/policy.c \
	src/policy/policy.h \
	src/policy/tool_argument.c \
	src/policy/tool_argument.h
