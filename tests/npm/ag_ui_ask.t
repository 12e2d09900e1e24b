#!/bin/sh
# SPDX-License-Identifier: MIT
# HttpAgent of AG-UI's clients of 0.x and 1.0 answers interrupts. tools/check installs them.
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
here=$(dirname "$0")
if ! [ -d "$modules/ag-ui-client-1" ] || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "1..0 # SKIP no clients in tests/npm/node_modules, or no node 20: tools/check npm"
    exit 0
fi
exec node "$here/ag_ui_ask.mjs" "$modules"
