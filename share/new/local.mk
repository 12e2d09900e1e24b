# SPDX-License-Identifier: MIT
# What `turncast new` makes projects of, one folder per language. NEXT is printed; in the others
# @NAME@ and the like are replaced, and connector.* is named after the connector.

newcdir = $(pkgdatadir)/new/c
dist_newc_DATA = share/new/c/Makefile share/new/c/NEXT share/new/c/README.md share/new/c/connector.c \
	share/new/c/connector.script share/new/c/turncast.conf
