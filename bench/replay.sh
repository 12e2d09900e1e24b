#!/bin/sh
# SPDX-License-Identifier: MIT
# replay.sh [FILE [MB]]: the whole of `turncast replay` with 1, 4 and 16 null sinks. Run it in
# the build tree after `make bench`; without a file it makes a stream of MB (100) megabytes.
set -eu

build=${TURNCAST_BUILDDIR:-.}
file=${1:-}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/turncast-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
if [ -z "$file" ]; then
    file=$scratch/stream.jsonl
    "$build/bench/corpus" mix "${2:-100}" >"$file"
fi
lines=$(wc -l <"$file")
bytes=$(wc -c <"$file")
TURNCAST_PLUGIN_PATH=${TURNCAST_PLUGIN_PATH:-$build/plugins/.libs}
TURNCAST_CONFIG=$scratch/turncast.conf
export TURNCAST_PLUGIN_PATH TURNCAST_CONFIG
echo 'plugins: { instances: { }; };' >"$TURNCAST_CONFIG"

# used FILE: the CPU seconds of all children in what `times` wrote.
used() {
    tail -n 1 "$1" | awk '{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += t[1] * 60 + t[2] }
                            print s }'
}

# run SINKS
run() {
    arguments=
    for _ in $(seq "$1"); do arguments="$arguments --plugin null"; done
    wall=$(date +%s%N)
    # shellcheck disable=SC2086
    ("$build/turncast" replay --dialect claude $arguments "$file" >/dev/null && times >"$scratch/times")
    wall=$(($(date +%s%N) - wall))
    awk -v n="$1" -v lines="$lines" -v bytes="$bytes" -v wall="$wall" -v cpu="$(used "$scratch/times")" 'BEGIN {
        wall /= 1e9
        printf "%2d sinks %10.0f lines/s %8.1f MB/s %8.2f s wall %8.2f s CPU\n",
            n, lines / wall, bytes / 1e6 / wall, wall, cpu }'
}

printf '%s lines, %s bytes\n' "$lines" "$bytes"
for sinks in 1 4 16; do run "$sinks"; done
