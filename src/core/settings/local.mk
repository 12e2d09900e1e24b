# SPDX-License-Identifier: MIT
libtccore_a_SOURCES += \
	src/core/settings/bindings.c \
	src/core/settings/bindings.h \
	src/core/settings/retention.c \
	src/core/settings/retention.h \
	src/core/settings/session_history.c \
	src/core/settings/session_history.h \
	src/core/settings/session_redis.c \
	src/core/settings/session_redis.h \
	src/core/settings/session_store.c \
	src/core/settings/session_store.h \
	src/core/settings/settings_worker.c \
	src/core/settings/settings_worker.h \
	src/core/settings/usage_log.c \
	src/core/settings/usage_log.h \
	src/core/settings/visibility_cache.c \
	src/core/settings/visibility_cache.h \
	src/core/settings/visibility_command.c \
	src/core/settings/visibility_command.h \
	src/core/settings/visibility_file.c \
	src/core/settings/visibility_file.h \
	src/core/settings/visibility_redis.c \
	src/core/settings/visibility_redis.h \
	src/core/settings/visibility_share.c \
	src/core/settings/visibility_share.h \
	src/core/settings/visibility_sqlite.c \
	src/core/settings/visibility_sqlite.h \
	src/core/settings/visibility_store.c \
	src/core/settings/visibility_store.h
