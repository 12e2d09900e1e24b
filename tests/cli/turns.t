#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast replay of a stream with several turns: each has its own start and done, --turn
# selects one, and on a live stream a turn ends when it is complete.
. "$(dirname "$0")/cli.sh"

turns=${TURNCAST_SRCDIR:?}/tests/turns
claude=$turns/claude/compact.jsonl

# answers: prints the final texts on stdin
answers() {
    sed -n 's/^{"type":"final","payload":{"text":"\([^"]*\)".*/\1/p' | tr '\n' '|'
}

# count PIECE: prints the number of lines of the output that contain it
count() {
    grep -c -- "$1" "$scratch/out"
}

try replay -p jsonl "$claude"
is "$status $err" "0 " "a stream of four turns succeeds"
is "$(answers <"$scratch/out")" "First answer.|Second answer.||After compaction.|" "all turns are replayed"
is "$(count '"type":"start"') $(count '"type":"done"')" "4 4" "each turn has its start and done"
is "$(sed 's/.*"correlation_id":"\([^"]*\)".*/\1/' "$scratch/out" | uniq | wc -l)" 4 \
    "and an id of its own"
is "$(grep -c '"seq":1,' "$scratch/out")" 4 "each turn is numbered from 1"
cp "$scratch/out" "$scratch/all"
try replay -p jsonl --turn all "$claude"
is "$(answers <"$scratch/out")" "$(answers <"$scratch/all")" "--turn all is the default"
try replay -p jsonl --turn 2 "$claude"
is "$status $(answers <"$scratch/out")" "0 Second answer.|" "--turn 2 replays the second turn"
is "$(kinds <"$scratch/out" | tr ' ' '\n' | grep -c start)" 1 "--turn 2 replays no other turn"
try replay -p jsonl -t last "$claude"
is "$status $(answers <"$scratch/out")" "0 After compaction.|" "-t last replays the last turn"
# shellcheck disable=SC2002 # a pipe is what is tested
cat "$claude" | "$turncast" replay -p jsonl --turn last - >"$scratch/out"
is "$? $(answers <"$scratch/out")" "0 After compaction.|" "-t last of a pipe"
{
    read -r _
    "$turncast" replay -p jsonl --turn last - >"$scratch/out"
} <"$claude"
is "$(answers <"$scratch/out")" "After compaction.|" "-t last of the rest of a file"
try replay -p jsonl --turn 5 "$claude"
is "$status $out" "2 " "an unknown turn has status 2"
is "$err" "turncast: $claude: no turn 5 in the recording (turns: 4)" "the error has the number of turns"
for bad in 0 -1 two "" 1x 99999999999999999999; do
    try replay -p jsonl --turn "$bad" "$claude"
    is "$status" 2 "--turn \"$bad\""
    has "$err" "--turn: \"$bad\" is not a number from 1, \"all\" or \"last\"" "--turn with an invalid value is an error"
done

try replay -p jsonl "$turns/ag-ui/thread.jsonl"
is "$status" 1 "a thread with a failed run has status 1"
is "$(count '"type":"done"')" 2 "a resumed run is one turn"
try replay -p jsonl --turn 1 "$turns/ag-ui/thread.jsonl"
is "$status $(answers <"$scratch/out")" "0 done|" "the turn has the end of the resumed run"
has "$out" '"type":"done","payload":{"reason":"completed"' "the turn has the state of the resumed run"
try replay -p jsonl -t 2 "$turns/ag-ui/answered.jsonl"
has "$out" '"type":"done","payload":{"reason":"suspended"' "a run that is not resumed stays suspended"

# A truncated line begins no turn.
{
    sed 12q "$claude" | head -c -200
} >"$scratch/cut.jsonl"
try replay -p jsonl "$scratch/cut.jsonl"
is "$status $(count '"type":"done"')" "0 1" "a stream that is truncated in the first line of the second turn"
(sed 11q "$claude" && echo "rubbish" && sed -n 12,22p "$claude") |
    "$turncast" replay -p jsonl - >"$scratch/out"
is "$(answers <"$scratch/out")" "First answer.|Second answer.|" "an invalid line between two turns is ignored"

# live STREAM LINES: replays a stream that stays open after this number of lines; wait for
# $scratch/live.
live() {
    rm -f "$scratch/fifo" "$scratch/live"
    mkfifo "$scratch/fifo"
    "$turncast" replay -p "jsonl,path=$scratch/live" - <"$scratch/fifo" &
    pid=$!
    exec 7>"$scratch/fifo"
    sed "$2q" "$1" >&7
}
live "$claude" 11
wait_for grep -q '"type":"done"' "$scratch/live"
result $? "on an open stream a turn ends before the stream does"
sed 1,11d "$claude" >&7
exec 7>&-
wait "$pid"
is "$? $(answers <"$scratch/live")" "0 $(answers <"$scratch/all")" "the next turns follow"

# The answer of a turn whose background task has ended waits for a report; silence ends the wait.
stream=${TURNCAST_SRCDIR:?}/tests/dialects/claude/2.1-bg-agent.jsonl
live "$stream" "$(grep -n '"type":"result"' "$stream" | sed -n '2s/:.*//p')"
wait_for grep -q '"type":"done"' "$scratch/live"
result $? "a turn with a background task ends before the stream does"
exec 7>&-
wait "$pid"

# A session file has no end of a turn, so silence ends it.
stream=$turns/claude-session/two-at-once.jsonl
live "$stream" "$(grep -n 'ANSWER ONE' "$stream" | sed -n '1s/:.*//p')"
wait_for grep -q '"type":"done"' "$scratch/live"
result $? "a turn of a growing session file ends"
exec 7>&-
wait "$pid"

stream=$turns/ag-ui/answered.jsonl
live "$stream" 4
wait_for grep -q '"request_id":"int_2"' "$scratch/live"
sed 1,4d "$stream" >&7
exec 7>&-
wait "$pid"
is "$(answers <"$scratch/live")" "It is gone.|Shall I?|" "a suspended run waits for the run that resumes it"
cp "$stream" "$scratch/paced.jsonl"
echo '{"line_ms": [0, 1, 2, 3, 403, 404, 405, 406, 407, 408, 409]}' >"$scratch/paced.meta.json"
try replay -p jsonl --speed 1 "$scratch/paced.jsonl"
is "$(answers <"$scratch/out")" "It is gone.|Shall I?|" "a suspended run also waits over a pause in the pace of a recording"
finish
