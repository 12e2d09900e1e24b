# SPDX-License-Identifier: MIT
# The command doctor.
libtccli_a_SOURCES += \
	src/cli/inspect/doctor/cmd_doctor.c \
	src/cli/inspect/doctor/doctor.h \
	src/cli/inspect/doctor/doctor_ask.c \
	src/cli/inspect/doctor/doctor_bus.c \
	src/cli/inspect/doctor/doctor_conf.c \
	src/cli/inspect/doctor/doctor_host.c
