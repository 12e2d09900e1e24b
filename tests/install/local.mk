# SPDX-License-Identifier: MIT
# What `make install` left behind, tried out: `make installcheck`, also part of distcheck.

EXTRA_DIST += tests/install/install.t
MOSTLYCLEANFILES += tests/install/install.log tests/install/install.trs
installcheck-local:
	TURNCAST_BINDIR='$(bindir)' TURNCAST_INCLUDEDIR='$(includedir)' \
	TURNCAST_PLUGINDIR='$(plugindir)' TURNCAST_MANDIR='$(mandir)' \
	TURNCAST_PKGCONFIGDIR='$(pkgconfigdir)' \
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS=tests/install/install.t
