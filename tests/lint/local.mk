# SPDX-License-Identifier: MIT
# Tests of the sources themselves.

dist_check_SCRIPTS +=
