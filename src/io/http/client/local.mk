# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/http/client/download.c \
	src/io/http/client/download.h \
	src/io/http/client/httpc.c \
	src/io/http/client/httpc.h \
	src/io/http/client/httpc_mail.c \
	src/io/http/client/httpc_mail.h \
	src/io/http/client/httpc_mailer.c \
	src/io/http/client/httpc_mailer.h \
	src/io/http/client/httpc_outcome.c \
	src/io/http/client/httpc_transfer.c \
	src/io/http/client/httpc_transfer.h \
	src/io/http/client/libcurl_dl.c \
	src/io/http/client/libcurl_dl.h \
	src/io/http/client/response_headers.c \
	src/io/http/client/response_headers.h
