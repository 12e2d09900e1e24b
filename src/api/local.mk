# SPDX-License-Identifier: MIT
# Layer 6: what the host serves over HTTP.

noinst_LIBRARIES += libtcapi.a
libtcapi_a_SOURCES = \
	src/api/abandoned.c \
	src/api/abandoned.h \
	src/api/ag_ui.c \
	src/api/ag_ui_input.c \
	src/api/ag_ui_input.h \
	src/api/ag_ui_legs.c \
	src/api/ag_ui_legs.h \
	src/api/ag_ui_resume.c \
	src/api/ag_ui_resume.h \
	src/api/api.c \
	src/api/api.h \
	src/api/api_impl.h \
	src/api/asked.c \
	src/api/asked.h \
	src/api/auth.c \
	src/api/auth.h \
	src/api/chat.c \
	src/api/chat.h \
	src/api/chat_ask.c \
	src/api/chat_ask.h \
	src/api/chat_seen.c \
	src/api/chat_seen.h \
	src/api/chat_stream.c \
	src/api/chat_whole.c \
	src/api/control.c \
	src/api/control.h \
	src/api/control_impl.h \
	src/api/control_approvals.c \
	src/api/control_requests.c \
	src/api/control_status.c \
	src/api/events.c \
	src/api/feed.c \
	src/api/feed.h \
	src/api/health.c \
	src/api/health.h \
	src/api/messages.c \
	src/api/messages.h \
	src/api/metrics.c \
	src/api/metrics.h \
	src/api/models.c \
	src/api/page.c \
	src/api/past.c \
	src/api/past.h \
	src/api/process_usage.c \
	src/api/process_usage.h \
	src/api/prometheus.c \
	src/api/prometheus.h \
	src/api/reply.c \
	src/api/reply.h \
	src/api/turn_count.c \
	src/api/turn_count.h \
	src/api/turns.c \
	src/api/turns.h
libtcapi_a_CPPFLAGS = $(AM_CPPFLAGS) -DTURNCAST_PAGE_DIR='"$(pkgdatadir)/page"'
