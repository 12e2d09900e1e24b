# SPDX-License-Identifier: MIT
# Templates of `turncast new`, one folder per language. NEXT is printed; in the other files @NAME@ and
# similar variables are replaced, and connector.* is named after the connector.

newcdir = $(pkgdatadir)/new/c
dist_newc_DATA = share/new/c/Makefile share/new/c/NEXT share/new/c/README.md share/new/c/connector.c \
	share/new/c/connector.script share/new/c/turncast.conf
newshdir = $(pkgdatadir)/new/sh
dist_newsh_DATA = share/new/sh/Makefile share/new/sh/NEXT share/new/sh/README.md \
	share/new/sh/connector.script share/new/sh/connector.sh share/new/sh/turncast.conf
newpythondir = $(pkgdatadir)/new/python
dist_newpython_DATA = share/new/python/Makefile share/new/python/NEXT share/new/python/README.md \
	share/new/python/connector.py share/new/python/connector.script share/new/python/turncast.conf
newnodedir = $(pkgdatadir)/new/node
dist_newnode_DATA = share/new/node/Makefile share/new/node/NEXT share/new/node/README.md \
	share/new/node/connector.mjs share/new/node/connector.script share/new/node/turncast.conf
