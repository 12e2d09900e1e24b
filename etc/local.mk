# SPDX-License-Identifier: MIT
# Configuration that is installed: sysconf_DATA and examples.
