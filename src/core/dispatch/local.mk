# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/dispatch/configured_instances.c \
	src/core/dispatch/configured_instances.h \
	src/core/dispatch/dispatch.c \
	src/core/dispatch/dispatch.h \
	src/core/dispatch/dispatch_guest.c \
	src/core/dispatch/dispatch_internal.h \
	src/core/dispatch/dispatch_lead.c \
	src/core/dispatch/dispatch_end.c \
	src/core/dispatch/dispatch_plan.c \
	src/core/dispatch/dispatch_reconfig.c \
	src/core/dispatch/dispatch_reconfig.h \
	src/core/dispatch/dispatch_scope.c \
	src/core/dispatch/dispatch_slot.c \
	src/core/dispatch/named_instance.c \
	src/core/dispatch/named_instance.h
