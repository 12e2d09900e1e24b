# SPDX-License-Identifier: MIT
# The connector redis. All modules of the build tree share one folder: plugins/.libs/

plugin_LTLIBRARIES += plugins/redis.la
plugins_redis_la_SOURCES = \
	plugins/redis/redis_connector.c \
	plugins/redis/redis_connector.h \
	plugins/redis/redis_server.c
plugins_redis_la_CPPFLAGS = $(PLUGIN_CPP) $(HIREDIS_CFLAGS)
plugins_redis_la_LDFLAGS = $(PLUGIN_LINK)
plugins_redis_la_LIBADD = $(HIREDIS_LIBS)

dist_man_MANS += plugins/redis/turncast-redis.7
