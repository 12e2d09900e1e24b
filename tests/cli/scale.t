#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests turncast serve with many concurrent turns beside many idle clients. The measurements are
# printed, and not judged here.
. "$(dirname "$0")/cli.sh"

TMPDIR=$scratch "$TURNCAST_BUILDDIR/bench/serve" --turns 50 --seconds 3 --clients 200 \
    >"$scratch/out" 2>"$scratch/err"
result $? "50 turns and 200 clients succeed"
sed 's/^/# /' "$scratch/out" "$scratch/err"
finish
