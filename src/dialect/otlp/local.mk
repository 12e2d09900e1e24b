# SPDX-License-Identifier: MIT
libtcdialect_a_SOURCES += \
	src/dialect/otlp/otlp_attribute.c \
	src/dialect/otlp/otlp_attribute.h \
	src/dialect/otlp/otlp_span.c \
	src/dialect/otlp/otlp_span.h \
	src/dialect/otlp/otlp_write.c
