# SPDX-License-Identifier: MIT
# The connector matrix. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/matrix.la
plugins_matrix_la_SOURCES = \
	plugins/matrix/matrix.c \
	plugins/matrix/matrix.h \
	plugins/matrix/matrix_event.c \
	plugins/matrix/matrix_request.c \
	plugins/matrix/matrix_room.c \
	plugins/matrix/matrix_sync.c
plugins_matrix_la_CPPFLAGS = $(PLUGIN_CPP) $(JANSSON_CFLAGS)
plugins_matrix_la_LDFLAGS = $(PLUGIN_LINK)
plugins_matrix_la_LIBADD = $(JANSSON_LIBS)

dist_man_MANS += plugins/matrix/turncast-matrix.7
