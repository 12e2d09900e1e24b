#!/bin/sh
# SPDX-License-Identifier: MIT
# Every recording, written as the UI message stream of the AI SDK, passes the published package `ai`,
# and its transport of chats talks to a host. tools/check installs it.
. "$(dirname "$0")/../cli/cli.sh"

modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
here=$(dirname "$0")
if ! [ -d "$modules/ai" ] || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    echo "1..0 # SKIP no package ai in tests/npm/node_modules, or no node 20: tools/check npm"
    exit 0
fi
cat >"$scratch/lines.conf" <<'C'
plugins = { instances = { out = { plugin = "jsonl"; format = "ai-sdk"; }; }; };
C
mkdir "$scratch/written"
for file in "$TURNCAST_SRCDIR"/tests/dialects/*/*.jsonl; do
    dialect=$(basename "$(dirname "$file")")
    "$turncast" replay -c "$scratch/lines.conf" -d "$dialect" --turn 1 "$file" \
        >"$scratch/written/$dialect-$(basename "$file")" 2>>"$scratch/err" </dev/null
done
node "$here/ai_sdk.mjs" "$modules" "$TURNCAST_SRCDIR/tests/dialects/claude" "$scratch/written"
