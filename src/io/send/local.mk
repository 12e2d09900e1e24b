# SPDX-License-Identifier: MIT
libtcio_a_SOURCES += \
	src/io/send/request_queue.c \
	src/io/send/request_queue.h \
	src/io/send/retry_policy.c \
	src/io/send/retry_policy.h \
	src/io/send/send_scheduler.c \
	src/io/send/send_scheduler.h \
	src/io/send/sender.c \
	src/io/send/sender.h \
	src/io/send/token_bucket.c \
	src/io/send/token_bucket.h
