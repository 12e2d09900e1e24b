# SPDX-License-Identifier: MIT
libtcapi_a_SOURCES += \
	src/api/bus_runs/bus_run.c \
	src/api/bus_runs/bus_run.h \
	src/api/bus_runs/bus_run_message.c \
	src/api/bus_runs/bus_run_message.h \
	src/api/bus_runs/bus_runs.c \
	src/api/bus_runs/bus_runs.h
