# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/http/server/httpd.c \
	src/io/http/server/httpd.h \
	src/io/http/server/httpd_accept.c \
	src/io/http/server/httpd_conn.c \
	src/io/http/server/httpd_dispatch.c \
	src/io/http/server/httpd_drain.c \
	src/io/http/server/httpd_error.c \
	src/io/http/server/httpd_error.h \
	src/io/http/server/httpd_internal.h \
	src/io/http/server/httpd_listen.c \
	src/io/http/server/httpd_local.c \
	src/io/http/server/httpd_local.h \
	src/io/http/server/httpd_parse.c \
	src/io/http/server/httpd_parse.h \
	src/io/http/server/httpd_response_head.c \
	src/io/http/server/httpd_stream.c
