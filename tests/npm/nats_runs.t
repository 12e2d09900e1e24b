#!/bin/sh
# SPDX-License-Identifier: MIT
# AG-UI's clients of 0.x and 1.0 run agents of a host through a NATS server, with the npm client of
# NATS. tools/check installs them.
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
here=$(dirname "$0")
if ! [ -d "$modules/nats" ] || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "1..0 # SKIP no clients in tests/npm/node_modules, or no node 20: tools/check npm"
    exit 0
fi
if ! command -v nats-server >/dev/null; then
    echo "1..0 # SKIP no nats-server"
    exit 0
fi
exec node "$here/nats_runs.mjs" "$modules" "$TURNCAST_SRCDIR/tests/dialects/claude"
