# SPDX-License-Identifier: MIT
# How tests run: every one prints TAP; C programs, shell scripts (*.t) and Python (*.py) alike.

TESTS = $(LENGTHY) $(EARLY) $(check_PROGRAMS) $(dist_check_SCRIPTS) $(SOURCE_LINT) $(CLIENT_TESTS)
# What repeats or waits for long begins first, so that nothing waits for it in the end:
# `make check LENGTHY=` leaves the first of it out, `make dist` does not.
LENGTHY =
EARLY =
TEST_EXTENSIONS = .t .py .script
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
T_LOG_DRIVER = $(LOG_DRIVER)
T_LOG_COMPILER = sh
PY_LOG_DRIVER = $(LOG_DRIVER)
PY_LOG_COMPILER = python3
AM_PY_LOG_FLAGS = -B
SCRIPT_LOG_DRIVER = $(LOG_DRIVER)
SCRIPT_LOG_COMPILER = sh $(srcdir)/tests/plugins/run_script.sh

# Freed memory is overwritten, so that its use shows. Tests find sources, what was built, and the
# modules through the environment only: they run the same in and out of the source tree.
AM_TESTS_ENVIRONMENT = \
	PATH='$(PYTHON_DIR)':"$$PATH"; export PATH; \
	LC_ALL=C.UTF-8; export LC_ALL; \
	MALLOC_PERTURB_=173; export MALLOC_PERTURB_; \
	TURNCAST_SRCDIR='$(abs_top_srcdir)'; export TURNCAST_SRCDIR; \
	TURNCAST_BUILDDIR='$(abs_top_builddir)'; export TURNCAST_BUILDDIR; \
	TURNCAST_PLUGIN_PATH='$(abs_top_builddir)/plugins/.libs'; export TURNCAST_PLUGIN_PATH; \
	TURNCAST_SHIM='$(abs_top_builddir)/turncast-shim$(EXEEXT)'; export TURNCAST_SHIM; \
	TURNCAST_CONNECTOR='$(abs_top_builddir)/turncast-connector$(EXEEXT)'; \
	export TURNCAST_CONNECTOR; \
	TURNCAST_REMOTE='$(abs_top_builddir)/turncast-remote$(EXEEXT)'; export TURNCAST_REMOTE; \
	TURNCAST_SCRIPT='$(abs_top_builddir)/turncast-script$(EXEEXT)'; export TURNCAST_SCRIPT; \
	TURNCAST_DATA='$(abs_top_srcdir)/share'; export TURNCAST_DATA; \
	TURNCAST_CC='$(CC)'; export TURNCAST_CC;

# What a test of each layer links.
TEST_BASE = libtap.a $(LINK_BASE)
TEST_EVENT = libtap.a $(LINK_EVENT) $(JANSSON_LIBS)
TEST_DIALECT = libtap.a $(LINK_DIALECT) $(JANSSON_LIBS)
TEST_CONF = libtap.a $(LINK_CONF) $(JANSSON_LIBS)
TEST_TEXT = libtap.a $(LINK_TEXT)
TEST_TURN = libtap.a $(LINK_TURN) $(JANSSON_LIBS)
TEST_IO = libtap.a $(LINK_IO)
TEST_PLUGIN = libtap.a $(LINK_PLUGIN)
TEST_CORE = libtap.a $(LINK_CORE)
TEST_API = libtap.a $(LINK_API)
TEST_CLI = libtap.a $(LINK_CLI)

include $(srcdir)/tests/tap/local.mk
include $(srcdir)/tests/fake/local.mk
include $(srcdir)/tests/lint/local.mk
include $(srcdir)/tests/bench/local.mk
include $(srcdir)/tests/base/local.mk
include $(srcdir)/tests/event/local.mk
include $(srcdir)/tests/dialect/local.mk
include $(srcdir)/tests/conf/local.mk
include $(srcdir)/tests/text/local.mk
include $(srcdir)/tests/turn/local.mk
include $(srcdir)/tests/io/local.mk
include $(srcdir)/tests/fault/local.mk
include $(srcdir)/tests/chat/local.mk
include $(srcdir)/tests/plugin/local.mk
include $(srcdir)/tests/core/local.mk
include $(srcdir)/tests/api/local.mk
include $(srcdir)/tests/plugins/local.mk
include $(srcdir)/tests/docs/local.mk
include $(srcdir)/tests/cli/local.mk
include $(srcdir)/tests/terminal/local.mk
include $(srcdir)/tests/exec/local.mk
include $(srcdir)/tests/talk/local.mk
include $(srcdir)/tests/fuzz/local.mk
include $(srcdir)/tests/npm/local.mk
include $(srcdir)/tests/page/local.mk
include $(srcdir)/tests/agents/local.mk
include $(srcdir)/tests/install/local.mk

# Run by the stage deb of tools/check.
EXTRA_DIST += tests/deb/packages.t tests/deb/t_first_answer.py tests/deb/t_upgrade.py

# For whoever runs some of them: make check TESTS='...'
list-tests:
	@echo $(TESTS)
.PHONY: list-tests

# Whether a build from the release tarball works: every dialect, every recording, and the commands
# that run, serve and replay turns. `make distcheck` with these and no other test programs is quick.
SMOKE_BINARIES = tests/dialect/t_golden tests/cli/t_recordings
SMOKE_TESTS = $(SMOKE_BINARIES) tests/cli/run.t tests/cli/serve.t tests/cli/replay.t
distcheck-smoke:
	$(MAKE) $(AM_MAKEFLAGS) distcheck TESTS='$(SMOKE_TESTS)' check_PROGRAMS='$(SMOKE_BINARIES)'
.PHONY: distcheck-smoke

# Files of the repository that the release tarball lacks; only those that serve development may be missing.
list-undistributed: distdir
	@cd $(srcdir) && git ls-files | LC_ALL=C sort >$(abs_builddir)/tracked.list
	@(cd $(distdir) && find . -type f) | sed 's,^\./,,' | LC_ALL=C sort >distributed.list
	@LC_ALL=C comm -23 tracked.list distributed.list | grep -vxE '\.ci/run|\.gitignore' || :; \
	rm -rf $(distdir) tracked.list distributed.list
.PHONY: list-undistributed

EXTRA_DIST += $(EARLY)
