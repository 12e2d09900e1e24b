#!/bin/sh
# SPDX-License-Identifier: MIT
# Every recording and example, written as AG-UI, passes the published client of 0.x and of 1.0
# without one violation. tools/check installs the clients.
. "$(dirname "$0")/../cli/cli.sh"

modules=${TURNCAST_NPM:-$TURNCAST_BUILDDIR/tests/npm/node_modules}
if ! [ -d "$modules" ] || ! node -e 0 2>/dev/null; then
    echo "1..0 # SKIP no clients in tests/npm/node_modules: tools/check npm installs them"
    exit 0
fi

# write NAME OPTIONS: a connector that writes everything there is.
write() {
    cat >"$scratch/$1.conf" <<C
plugins = { instances = { out = { plugin = "jsonl"; format = "ag-ui"; wants = ["state", "raw"]; $2 }; }; };
C
}
write lines ''
write frames 'sse = true;'
write new 'protocol = "1.0";'
mkdir -p "$scratch/written/0.x" "$scratch/written/1.0"

# cast CONFIG FILE RESULT: that there is a result is checked with it. A client reads one run.
cast() {
    "$turncast" replay -c "$scratch/$1.conf" -d "$dialect" --turn "$turn" "$2" \
        >"$scratch/written/$3" 2>>"$scratch/err" </dev/null
}

# cast_all TURN FILE...
cast_all() {
    turn=$1
    shift
    for file; do
        dialect=$(basename "$(dirname "$file")")
        case=$dialect-$turn-$(basename "$file" | tr . -)
        cast lines "$file" "0.x/$case.jsonl"
        cast frames "$file" "0.x/$case.sse"
        cast new "$file" "1.0/$case.jsonl"
    done
}
cast_all 1 "$TURNCAST_SRCDIR"/tests/dialects/*/*.jsonl "$TURNCAST_SRCDIR"/tests/dialects/*/*.sse
cast_all last "$TURNCAST_SRCDIR"/tests/turns/*/*.jsonl
node "$(dirname "$0")/ag_ui.mjs" "$modules" "$scratch/written"
