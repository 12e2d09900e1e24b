#!/bin/sh
# SPDX-License-Identifier: MIT
# OpenAI's own client and Vercel's AI SDK talk to a host. tools/check installs them.
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
here=$(dirname "$0")
if ! [ -d "$modules/openai" ] || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "1..0 # SKIP no clients in tests/npm/node_modules, or no node 20: tools/check npm"
    exit 0
fi
exec node "$here/openai.mjs" "$modules" "$TURNCAST_SRCDIR/tests/dialects/claude"
