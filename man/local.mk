# SPDX-License-Identifier: MIT
# Manual pages, in mdoc: one line each.

dist_man_MANS +=
