#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast audit verify: what the audit connector wrote holds, and no longer when it was touched.
. "$(dirname "$0")/cli.sh"

log=$scratch/audit.jsonl
try replay -p "audit,path=$log" "$fixtures/turn.jsonl"
is "$status" 0 "a turn is written"
try audit verify "$log"
is "$status" 0 "and verified"
has "$out" "OK: $(wc -l <"$log") records in 1 file" "counts the records"
has "$out" "head: " "names the head"
sed '3s/claude/clouds/; 3s/Bash/Bush/; 3s/disk/dusk/; 3s/ts"/tz"/' "$log" >"$scratch/changed"
try audit verify "$scratch/changed"
is "$status" 1 "a changed record"
has "$out" "BROKEN at seq " "is found"
sed 2d "$log" >"$scratch/cut"
try audit verify "$scratch/cut"
is "$status" 1 "a record taken out"
try audit verify "$log" "$scratch/none"
is "$status" 2 "a file that is not there"
has "$err" "$scratch/none" "is named"
sed 1d "$log" >"$scratch/beheaded"
try audit verify "$scratch/beheaded"
is "$status" 1 "the first record is cut off"
has "$out" "incomplete: $(($(wc -l <"$log") - 1)) records in 1 file, seq 2 to " "which is no good log"
has "$out" "The chain begins at seq 2, not at 1: " "the gap is named"
try audit verify --from 2 "$scratch/beheaded"
is "$status" 0 "it is expected to begin there"
has "$out" "OK: " "so it is good"
try audit verify --from 1 "$log"
is "$status" 0 "the beginning can be named"
try audit verify --from 2 "$log"
is "$status" 1 "and has to be the one that is there"
for wrong in 0 x 2x -1 ''; do
    try audit verify --from "$wrong" "$log"
    is "$status" 2 "--from \"$wrong\""
    has "$err" "--from: \"$wrong\" is not a sequence number" "is refused"
done
finish
