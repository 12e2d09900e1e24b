# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/nats/libnats_dl.c \
	src/io/nats/libnats_dl.h \
	src/io/nats/nats_client.c \
	src/io/nats/nats_client.h \
	src/io/nats/nats_connection.c \
	src/io/nats/nats_connection.h \
	src/io/nats/nats_reason.c \
	src/io/nats/nats_reason.h
