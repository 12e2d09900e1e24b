#!/bin/sh
# SPDX-License-Identifier: MIT
# The pure parts of the live page: Markdown, server-sent events, how values read.
if ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null; then
    echo "1..0 # SKIP no node 20"
    exit 0
fi
exec node "$(dirname "$0")/units.mjs" "$TURNCAST_SRCDIR/share/page"
