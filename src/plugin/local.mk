# SPDX-License-Identifier: MIT
# Layer 4: what runs beside a connector.

noinst_LTLIBRARIES += libtcplugin.la
libtcplugin_la_SOURCES =
