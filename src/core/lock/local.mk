# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/lock/turn_lock.c \
	src/core/lock/turn_lock.h \
	src/core/lock/turn_lock_bus.c \
	src/core/lock/turn_lock_bus.h \
	src/core/lock/turn_lock_redis.c \
	src/core/lock/turn_lock_redis.h \
	src/core/lock/turn_lock_request.h
