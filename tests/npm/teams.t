#!/bin/sh
# SPDX-License-Identifier: MIT
# The connector client of the Bot Framework takes the fake for Microsoft Teams. tools/check installs it.
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
here=$(dirname "$0")
if ! [ -d "$modules/botframework-connector" ] || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "1..0 # SKIP no clients in tests/npm/node_modules, or no node 20: tools/check npm"
    exit 0
fi
exec node "$here/teams.mjs" "$modules" "$here/../fake"
