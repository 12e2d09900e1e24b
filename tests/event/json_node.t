#!/bin/sh
# SPDX-License-Identifier: MIT
# The JSON cursor and JSON.parse agree.
set -u
here=${TURNCAST_SRCDIR:-.}/tests/event
oracle=${TURNCAST_BUILDDIR:-.}/tests/event/json/t_json_reader_oracle
if ! node -e 0 2>/dev/null; then
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
exec node "$here/json_node.js" "$oracle"
