#!/bin/sh
# SPDX-License-Identifier: MIT
# matrix-js-sdk takes the fake for a homeserver. tools/check installs it.
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
here=$(dirname "$0")
if ! [ -d "$modules/matrix-js-sdk" ] || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "1..0 # SKIP no clients in tests/npm/node_modules, or no node 20: tools/check npm"
    exit 0
fi
exec node "$here/matrix.mjs" "$modules" "$here/../fake"
