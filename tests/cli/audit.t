#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast audit verify: the log of the audit connector is valid, and a modified one is
# not.
. "$(dirname "$0")/cli.sh"

log=$scratch/audit.jsonl
try replay -p "audit,path=$log" "$fixtures/turn.jsonl"
is "$status" 0 "a turn is logged"
try audit verify "$log"
is "$status" 0 "the log is valid"
has "$out" "OK: $(wc -l <"$log") records in 1 file" "the number of records is reported"
has "$out" "head: " "the head is reported"
sed '3s/claude/clouds/; 3s/Bash/Bush/; 3s/disk/dusk/; 3s/ts"/tz"/' "$log" >"$scratch/changed"
try audit verify "$scratch/changed"
is "$status" 1 "a changed record is invalid"
has "$out" "BROKEN at seq " "the changed record is reported"
sed 2d "$log" >"$scratch/cut"
try audit verify "$scratch/cut"
is "$status" 1 "a removed record is detected"
try audit verify "$log" "$scratch/none"
is "$status" 2 "a missing file is an error"
has "$err" "$scratch/none" "the error names the file"
sed 1d "$log" >"$scratch/beheaded"
try audit verify "$scratch/beheaded"
is "$status" 1 "a log without its first record is incomplete"
has "$out" "incomplete: $(($(wc -l <"$log") - 1)) records in 1 file, seq 2 to " "the incomplete log is reported"
has "$out" "The chain begins at seq 2, not at 1: " "the missing records are reported"
try audit verify --from 2 "$scratch/beheaded"
is "$status" 0 "--from accepts a log that begins later"
has "$out" "OK: " "the log with --from is valid"
try audit verify --from 1 "$log"
is "$status" 0 "--from accepts the first record"
try audit verify --from 2 "$log"
is "$status" 1 "--from refuses another beginning"
for wrong in 0 x 2x -1 ''; do
    try audit verify --from "$wrong" "$log"
    is "$status" 2 "--from \"$wrong\""
    has "$err" "--from: \"$wrong\" is not a sequence number" "the error names the invalid number"
done
finish
