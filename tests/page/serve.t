#!/bin/sh
# SPDX-License-Identifier: MIT
# The live page as turncast serve serves it, in Chromium. tools/check installs both the browser and
# what drives it.
here=$(dirname "$0")
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
if ! [ -d "$modules/playwright-core" ] || ! [ -x "${TURNCAST_CHROMIUM:-/usr/bin/chromium}" ]; then
    echo "1..0 # SKIP no Chromium, or nothing to drive it in tests/npm/node_modules: tools/check npm"
    exit 0
fi
exec node "$here/serve.mjs" "$modules" "$TURNCAST_BUILDDIR" "$TURNCAST_SRCDIR/share/page"
