# SPDX-License-Identifier: MIT
# Layer 6: HTTP interfaces of the host.

noinst_LIBRARIES += libtcapi.a
libtcapi_a_SOURCES = \
	src/api/api.c \
	src/api/api.h \
	src/api/health.c \
	src/api/health.h \
	src/api/page.c \
	src/api/readiness.c \
	src/api/readiness.h
include $(srcdir)/src/api/ag_ui/local.mk
include $(srcdir)/src/api/bus_runs/local.mk
include $(srcdir)/src/api/chat/local.mk
include $(srcdir)/src/api/control/local.mk
include $(srcdir)/src/api/metrics/local.mk
include $(srcdir)/src/api/shared/local.mk
include $(srcdir)/src/api/turns/local.mk
libtcapi_a_CPPFLAGS = $(AM_CPPFLAGS) -DTURNCAST_PAGE_DIR='"$(pkgdatadir)/page"'
