#!/bin/sh
# SPDX-License-Identifier: MIT
# discord.js takes the fake for Discord. tools/check installs it.
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
here=$(dirname "$0")
if ! [ -d "$modules/discord.js" ] || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "1..0 # SKIP no clients in tests/npm/node_modules, or no node 20: tools/check npm"
    exit 0
fi
exec node "$here/discord.mjs" "$modules" "$here/../fake"
