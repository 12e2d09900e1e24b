# SPDX-License-Identifier: MIT
turncast_remote_SOURCES += \
	src/remote/nats/nats_requests.c \
	src/remote/nats/nats_requests.h \
	src/remote/nats/nats_run.c
