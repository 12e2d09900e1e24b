# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Completion for bash: the program prints what fits its version.
eval "$(turncast completion bash 2>/dev/null)"
