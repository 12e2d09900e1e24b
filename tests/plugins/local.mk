# SPDX-License-Identifier: MIT
# Tests of plugins/ and examples/: the modules as the host runs them, and their own parts alone.
