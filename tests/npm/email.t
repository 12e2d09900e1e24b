#!/bin/sh
# SPDX-License-Identifier: MIT
# Nodemailer's SMTP server and parser take what email sends. tools/check installs them.
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
here=$(dirname "$0")
if ! [ -d "$modules/mailparser" ] || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "1..0 # SKIP no clients in tests/npm/node_modules, or no node 20: tools/check npm"
    exit 0
fi
exec node "$here/email.mjs" "$modules" "$here/../fake"
