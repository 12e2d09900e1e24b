#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast serve: many turns at once beside many idle clients, all of which end well. What that
# takes is told, and not judged here.
. "$(dirname "$0")/cli.sh"

TMPDIR=$scratch "$TURNCAST_BUILDDIR/bench/serve" --turns 50 --seconds 3 --clients 200 \
    >"$scratch/out" 2>"$scratch/err"
result $? "50 turns and 200 clients end well"
sed 's/^/# /' "$scratch/out" "$scratch/err"
finish
