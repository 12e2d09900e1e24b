# SPDX-License-Identifier: MIT
# Layer 2: the configuration file and the option tables.

noinst_LTLIBRARIES += libtcconf.la
libtcconf_la_SOURCES =
