# SPDX-License-Identifier: MIT
libtctext_a_SOURCES += \
	src/text/sentence/commands.def \
	src/text/sentence/texts.c \
	src/text/sentence/texts.def \
	src/text/sentence/texts.h \
	src/text/sentence/texts_de.def
