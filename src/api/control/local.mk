# SPDX-License-Identifier: MIT
libtcapi_a_SOURCES += \
	src/api/control/control.c \
	src/api/control/control.h \
	src/api/control/control_approvals.c \
	src/api/control/control_drain.c \
	src/api/control/control_move.c \
	src/api/control/control_hosts.c \
	src/api/control/control_internal.h \
	src/api/control/control_pairing.c \
	src/api/control/control_requests.c \
	src/api/control/control_status.c
