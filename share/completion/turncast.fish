# SPDX-License-Identifier: MIT
# Completion for fish: the program prints what fits its version.
turncast completion fish 2>/dev/null | source
