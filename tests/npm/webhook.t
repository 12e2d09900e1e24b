#!/bin/sh
# SPDX-License-Identifier: MIT
# The published libraries of Standard Webhooks and CloudEvents accept what a host posts, and sign what
# it receives. tools/check installs them.
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
here=$(dirname "$0")
if ! [ -d "$modules/standardwebhooks" ] || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "1..0 # SKIP no clients in tests/npm/node_modules, or no node 20: tools/check npm"
    exit 0
fi
exec node "$here/webhook.mjs" "$modules" "$here/../fake"
