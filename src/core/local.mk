# SPDX-License-Identifier: MIT
# Layer 5: a turn from the agent to the instances.

noinst_LIBRARIES += libtccore.a
libtccore_a_SOURCES =
include $(srcdir)/src/core/agent/local.mk
include $(srcdir)/src/core/budget/local.mk
include $(srcdir)/src/core/bus/local.mk
include $(srcdir)/src/core/connector/local.mk
include $(srcdir)/src/core/conversation/local.mk
include $(srcdir)/src/core/dispatch/local.mk
include $(srcdir)/src/core/fleet/local.mk
include $(srcdir)/src/core/host/local.mk
include $(srcdir)/src/core/inbound/local.mk
include $(srcdir)/src/core/lock/local.mk
include $(srcdir)/src/core/request/local.mk
include $(srcdir)/src/core/runner/local.mk
include $(srcdir)/src/core/settings/local.mk
include $(srcdir)/src/core/shared/local.mk
include $(srcdir)/src/core/turn/local.mk
include $(srcdir)/src/core/turnlog/local.mk
include $(srcdir)/src/core/work/local.mk
