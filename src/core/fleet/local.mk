# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/fleet/fleet_member.c \
	src/core/fleet/fleet_member.h
