#!/bin/sh
# SPDX-License-Identifier: MIT
# The live page in Debian's Chromium; screenshots go to tests/page/screens of the build. tools/check
# installs both the browser and what drives it.
here=$(dirname "$0")
modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
if ! [ -d "$modules/playwright-core" ] || ! [ -x "${TURNCAST_CHROMIUM:-/usr/bin/chromium}" ]; then
    echo "1..0 # SKIP no Chromium, or nothing to drive it in tests/npm/node_modules: tools/check npm"
    exit 0
fi
exec node "$here/page.mjs" "$modules" "$TURNCAST_SRCDIR/share/page" "$TURNCAST_BUILDDIR/tests/page/screens"
