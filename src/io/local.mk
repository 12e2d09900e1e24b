# SPDX-License-Identifier: MIT
# Layer 3: the loop, processes, the durable store, HTTP; named files wrap each library.

noinst_LIBRARIES += libtcio.a
libtcio_a_SOURCES =
include $(srcdir)/src/io/http/local.mk
include $(srcdir)/src/io/http/client/local.mk
include $(srcdir)/src/io/http/server/local.mk
include $(srcdir)/src/io/journal/local.mk
include $(srcdir)/src/io/loop/local.mk
include $(srcdir)/src/io/nats/local.mk
include $(srcdir)/src/io/process/local.mk
include $(srcdir)/src/io/redis/local.mk
include $(srcdir)/src/io/sandbox/local.mk
include $(srcdir)/src/io/send/local.mk
include $(srcdir)/src/io/store/local.mk
include $(srcdir)/src/io/websocket/local.mk

# The shim between the host and every agent is small and statically linked, so that LD_PRELOAD in an
# agent's environment has no effect. A sanitizer cannot be linked statically.
pkglibexec_PROGRAMS += turncast-shim
turncast_shim_SOURCES = \
	src/io/process/shim_exec.c \
	src/io/process/shim_exec.h \
	src/io/process/shim_main.c
turncast_shim_LDADD = libtcio.a $(LINK_BASE)
if !SANITIZE
turncast_shim_LDFLAGS = $(TC_HARDEN_LDFLAGS) -XCClinker -static-pie
endif
