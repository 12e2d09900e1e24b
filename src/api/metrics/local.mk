# SPDX-License-Identifier: MIT
libtcapi_a_SOURCES += \
	src/api/metrics/bus_metrics.c \
	src/api/metrics/bus_metrics.h \
	src/api/metrics/metrics.c \
	src/api/metrics/metrics.h \
	src/api/metrics/process_usage.c \
	src/api/metrics/process_usage.h \
	src/api/metrics/prometheus.c \
	src/api/metrics/prometheus.h \
	src/api/metrics/turn_metrics.c \
	src/api/metrics/turn_metrics.h \
	src/api/metrics/turn_counters.c \
	src/api/metrics/turn_counters.h
