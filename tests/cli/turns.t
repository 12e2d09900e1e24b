#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast replay of a stream with several turns: each has its own start and done, --turn selects,
# and on a live stream a turn ends when it is over.
. "$(dirname "$0")/cli.sh"

turns=${TURNCAST_SRCDIR:?}/tests/turns
claude=$turns/claude/compact.jsonl

# answers: the final texts on stdin, in a row
answers() {
    sed -n 's/^{"type":"final","payload":{"text":"\([^"]*\)".*/\1/p' | tr '\n' '|'
}

# count PIECE: the lines of the newest output that have it
count() {
    grep -c -- "$1" "$scratch/out"
}

try replay -p jsonl "$claude"
is "$status $err" "0 " "a stream of four turns"
is "$(answers <"$scratch/out")" "First answer.|Second answer.||After compaction.|" "all are cast"
is "$(count '"type":"start"') $(count '"type":"done"')" "4 4" "each has its start and its done"
is "$(sed 's/.*"correlation_id":"\([^"]*\)".*/\1/' "$scratch/out" | uniq | wc -l)" 4 \
    "and an id of its own"
is "$(grep -c '"seq":1,' "$scratch/out")" 4 "and is numbered from 1"
cp "$scratch/out" "$scratch/all"
try replay -p jsonl --turn all "$claude"
is "$(answers <"$scratch/out")" "$(answers <"$scratch/all")" "--turn all is the default"
try replay -p jsonl --turn 2 "$claude"
is "$status $(answers <"$scratch/out")" "0 Second answer.|" "--turn 2"
is "$(kinds <"$scratch/out" | tr ' ' '\n' | grep -c start)" 1 "and nothing else"
try replay -p jsonl -t last "$claude"
is "$status $(answers <"$scratch/out")" "0 After compaction.|" "-t last"
# shellcheck disable=SC2002 # a pipe is what is tested
cat "$claude" | "$turncast" replay -p jsonl --turn last - >"$scratch/out"
is "$? $(answers <"$scratch/out")" "0 After compaction.|" "of a pipe, too"
{
    read -r _
    "$turncast" replay -p jsonl --turn last - >"$scratch/out"
} <"$claude"
is "$(answers <"$scratch/out")" "After compaction.|" "and of the rest of a file"
try replay -p jsonl --turn 5 "$claude"
is "$status $out" "2 " "a turn that is not there"
is "$err" "turncast: $claude: no turn 5 in the recording (turns: 4)" "is an error"
for bad in 0 -1 two "" 1x 99999999999999999999; do
    try replay -p jsonl --turn "$bad" "$claude"
    is "$status" 2 "--turn \"$bad\""
    has "$err" "--turn: \"$bad\" is not a number from 1, \"all\" or \"last\"" "is told"
done

try replay -p jsonl "$turns/ag-ui/thread.jsonl"
is "$status" 1 "a thread of which a run failed"
is "$(count '"type":"done"')" 2 "a run that was resumed is one turn"
try replay -p jsonl --turn 1 "$turns/ag-ui/thread.jsonl"
is "$status $(answers <"$scratch/out")" "0 done|" "with the end of the resumed run"
has "$out" '"type":"done","payload":{"reason":"completed"' "and its state"
try replay -p jsonl -t 2 "$turns/ag-ui/answered.jsonl"
has "$out" '"type":"done","payload":{"reason":"suspended"' "a run that nobody resumed stays suspended"

# A line that is cut off begins nothing.
{
    sed 12q "$claude" | head -c -200
} >"$scratch/cut.jsonl"
try replay -p jsonl "$scratch/cut.jsonl"
is "$status $(count '"type":"done"')" "0 1" "cut in the line that begins the second turn"
(sed 11q "$claude" && echo "rubbish" && sed -n 12,22p "$claude") |
    "$turncast" replay -p jsonl - >"$scratch/out"
is "$(answers <"$scratch/out")" "First answer.|Second answer.|" "rubbish between two turns"

# live STREAM LINES: casts a stream that stays open behind so many lines; wait for $scratch/live.
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
is "$? $(answers <"$scratch/live")" "0 $(answers <"$scratch/all")" "and the next ones follow"

# The answer of a turn whose background work has ended is held for a report; silence ends that.
stream=${TURNCAST_SRCDIR:?}/tests/dialects/claude/2.1-bg-agent.jsonl
live "$stream" "$(grep -n '"type":"result"' "$stream" | sed -n '2s/:.*//p')"
wait_for grep -q '"type":"done"' "$scratch/live"
result $? "behind background work, too"
exec 7>&-
wait "$pid"

# A session file has no end of a turn: silence is one.
stream=$turns/claude-session/two-at-once.jsonl
live "$stream" "$(grep -n 'ANSWER ONE' "$stream" | sed -n '1s/:.*//p')"
wait_for grep -q '"type":"done"' "$scratch/live"
result $? "of a session file that grows, too"
exec 7>&-
wait "$pid"

stream=$turns/ag-ui/answered.jsonl
live "$stream" 4
wait_for grep -q '"request_id":"int_2"' "$scratch/live"
sed 1,4d "$stream" >&7
exec 7>&-
wait "$pid"
is "$(answers <"$scratch/live")" "It is gone.|Shall I?|" "a suspended run waits for the one that resumes it"
cp "$stream" "$scratch/paced.jsonl"
echo '{"line_ms": [0, 1, 2, 3, 403, 404, 405, 406, 407, 408, 409]}' >"$scratch/paced.meta.json"
try replay -p jsonl --speed 1 "$scratch/paced.jsonl"
is "$(answers <"$scratch/out")" "It is gone.|Shall I?|" "also behind a pause in a recording's pace"
finish
