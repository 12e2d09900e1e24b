#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast replay: what comes out, what is shown, its pace, and being interrupted.
. "$(dirname "$0")/cli.sh"

turn=$fixtures/turn.jsonl

try replay --plugin jsonl "$turn"
is "$status" 0 "a turn that went well"
is "$err" "" "says nothing else"
is "$(sed 1q "$scratch/out" | kinds)" start "starts with start"
is "$(sed -n '$p' "$scratch/out" | kinds)" 'done' "ends with done"
is "$(grep -c '"type":"tool_call"' "$scratch/out")" 1 "jsonl sees all: the tool call"
is "$(grep -c '"type":"tool_result"' "$scratch/out")" 1 "its result"
has "$(grep '"type":"final"' "$scratch/out")" '"text":"The disk is at 89 %."' "the final"
has "$out" '"src":"claude"' "the dialect"
try replay --plugin jsonl "${TURNCAST_SRCDIR:?}/tests/dialects/awaken/resumable.sse"
has "$out" '"src":"awaken"' "another one is found, and its framing"
try replay --plugin jsonl "$turn"
cp "$scratch/out" "$scratch/all"

# --- languages
try replay -p cli,mode=rich,language=de "$turn"
has "$err" ": fertig" "a terminal in German"
try replay -p cli,mode=lines,language=de "$turn"
has "$err" "  [progress] Complete: " "lines for programs are in English"
try replay -p cli,language=fr "$turn"
is "$status" 2 "an unknown language"
has "$err" 'language: invalid value "fr"; valid values: en, de' "and which are known"

# what of a line does not depend on the run
stable() {
    sed 's/"ts":[0-9.]*/"ts":0/; s/"correlation_id":"[^"]*"/"correlation_id":""/'
}
stable <"$scratch/all" >"$scratch/all.stable"

"$turncast" replay -p jsonl - <"$turn" | stable | cmp -s - "$scratch/all.stable"
result $? "standard input gives the same"
(while IFS= read -r line; do printf '%s\n' "$line"; done) <"$turn" |
    "$turncast" replay -p jsonl - | stable | cmp -s - "$scratch/all.stable"
result $? "a pipe that is written line by line gives the same"
"$turncast" replay -p "jsonl,path=$scratch/a" -p "jsonl,path=$scratch/b" "$turn"
result $? "two instances of one plugin"
stable <"$scratch/a" | cmp -s - "$scratch/all.stable" && cmp -s "$scratch/a" "$scratch/b"
result $? "get the same, both"
"$turncast" replay -p "${TURNCAST_PLUGIN_PATH:?}/jsonl.so" "$turn" | stable |
    cmp -s - "$scratch/all.stable"
result $? "a plugin by its file"

# shown TOKENS...: the kinds that people see
shown() {
    "$turncast" replay -p jsonl,visibility=agent "$turn" "$@" | kinds | tr ' ' '\n' |
        grep -E '^(narration|thinking|final|tool_call|tool_result)$' | sort -u | tr '\n' ' '
}
is "$(shown)" "final narration " "by default text only"
is "$(shown /show-tools)" "final narration tool_call tool_result " "/show-tools"
is "$(shown /show-thinking)" "final narration thinking " "/show-thinking"
is "$(shown /show-all /hide-narration)" "final thinking tool_call tool_result " "in their order"
is "$(shown /hide-all /hide-final)" "" "nothing"
try visibility --agent stored /show-tools
is "$(shown --agent stored)" "final narration tool_call tool_result " "an agent's stored switches"
is "$(shown --agent stored /hide-tools)" "final narration " "under the tokens"
is "$(shown --agent other)" "final narration " "of that agent only"
try replay "$turn" /show-everything
is "$status" 2 "a word that is no token"
try visibility --agent stored
has "$out" '"show_tools":true' "a replay stores nothing"

try replay "$turn"
is "$status $out" "0 " "without a configuration and --plugin: nothing on stdout"
has "$err" "[progress]" "but the cli connector on stderr"

try replay -p jsonl "$fixtures/failed.jsonl"
is "$status" 1 "a turn that ended in an error"
has "$out" '"type":"error"' "which is told"
sed 3q "$turn" >"$scratch/cut.jsonl"
try replay -p jsonl "$scratch/cut.jsonl"
is "$status" 1 "a recording that ends in the middle"
has "$(grep '"type":"error"' "$scratch/out")" '"code":"agent_no_result"' "is an error"
is "$(sed -n '$p' "$scratch/out" | kinds)" 'done' "and done"
: >"$scratch/empty"
try replay -p jsonl "$scratch/empty"
is "$status" 1 "nothing at all"
is "$(kinds <"$scratch/out")" "start error done" "is a turn, too"
printf 'rubbish\n\377\376\n{"type"\n' >"$scratch/rubbish"
try replay -p jsonl "$scratch/rubbish"
is "$status" 1 "rubbish"
has "$out" '"code":"unparsable_line"' "is told"

try replay -p jsonl "$scratch/none"
is "$status" 2 "a file that is not there"
is "$err" "turncast: $scratch/none: cannot open: No such file or directory" "says so"
try replay -p jsonl "$scratch"
is "$status $err" "2 turncast: $scratch: is a directory" "a folder"
try replay -d claud "$turn"
is "$status" 2 "an unknown dialect"
has "$err" 'unknown dialect "claud"; available: ' "says so"
has "$err" claude "and which there are"
try replay -p nothing "$turn"
is "$status $out" "2 " "a plugin that is not there"
has "$err" "nothing" "is named"
try replay -p jsonl,pathe=x "$turn"
is "$status" 2 "an option that it does not have"
has "$err" 'jsonl.pathe: unknown option (did you mean "path"?)' "is named"
try replay -p jsonl -p jsonl,queue_events=1 "$turn"
is "$status" 2 "a bad option of the host"
has "$err" "queue_events: 1 is out of range; use 16 to 1000000" "is named"
echo 'log = 1;' >"$scratch/bad.conf"
try replay -c "$scratch/bad.conf" "$turn"
is "$status" 2 "a broken configuration"
is "$err" "turncast: $scratch/bad.conf:1: log: expected a group, found an integer" "is told"
cat >"$scratch/good.conf" <<CONF
plugins : { instances : {
    one : { plugin = "jsonl"; path = "$scratch/one"; };
    two : { plugin = "missing"; };
    three : { plugin = "jsonl"; path = "$scratch/three"; enabled = false; };
    four : { plugin = "jsonl"; path = "$scratch/four"; visibility = "agent"; };
}; };
CONF
try replay -c "$scratch/good.conf" "$turn"
is "$status" 0 "a configuration one instance of which cannot start"
has "$err" "missing" "tells so"
stable <"$scratch/one" | cmp -s - "$scratch/all.stable"
result $? "the others get everything"
[ ! -e "$scratch/three" ]
result $? "but the one that is not enabled"
lacks "$(cat "$scratch/four")" tool_call "and visibility is each instance's own"

# elapsed COMMAND...: milliseconds
elapsed() {
    from=$(date +%s%N)
    "$@" >/dev/null 2>&1
    echo $((($(date +%s%N) - from) / 1000000))
}
# between LOW VALUE HIGH DESCRIPTION
between() {
    [ "$1" -le "$2" ] && [ "$2" -le "$3" ]
    result $? "$4 ($2 ms)"
}
cp "$turn" "$scratch/paced.jsonl"
ms=$(elapsed "$turncast" replay -p null --speed 1 "$scratch/paced.jsonl")
between 300 "$ms" 20000 "20 lines a second: 7 lines last 300 ms"
echo '{"line_ms": [5000, 5100, 5200, 5200, 5300, 5400, 6000]}' >"$scratch/paced.meta.json"
ms=$(elapsed "$turncast" replay -p null --speed 1 "$scratch/paced.jsonl")
between 1000 "$ms" 20000 "by the .meta.json: a second"
# At any other speed these five minutes last longer than the upper limit, or less than the lower.
echo '{"line_ms": [0, 1, 2, 3, 4, 5, 300000]}' >"$scratch/paced.meta.json"
ms=$(elapsed timeout 100 "$turncast" replay -p null --speed 300 "$scratch/paced.jsonl")
between 1000 "$ms" 60000 "300 times as fast"
"$turncast" replay -p jsonl --speed 1000 "$scratch/paced.jsonl" | stable |
    cmp -s - "$scratch/all.stable"
result $? "the pace changes nothing but the time"
sed -e '1s/^{/{"ts":1784884501.5,/' -e '4s/^{/{"timestamp":"2026-07-24T09:15:01.900Z",/' \
    -e '$s/^{/{"timestamp":1784884502700,/' "$turn" >"$scratch/dated.jsonl"
ms=$(elapsed "$turncast" replay -p null --speed 1 "$scratch/dated.jsonl")
between 1200 "$ms" 20000 "by the lines' own times: 1.2 s"

echo '{"line_ms": [0, 1, 2, 60000]}' >"$scratch/paced.meta.json"
for signal in INT TERM HUP; do
    # Whoever runs this may ignore SIGHUP (nohup), which the program rightly keeps.
    env --default-signal="$signal" \
        "$turncast" replay -p "jsonl,path=$scratch/$signal" --speed 1 "$scratch/paced.jsonl" &
    pid=$!
    wait_for grep -q narration "$scratch/$signal"
    kill -s "$signal" "$pid"
    wait "$pid"
    is $? 1 "SIG$signal ends it"
    has "$(sed -n '$p' "$scratch/$signal")" '"reason":"cancelled"' "the turn is told as cancelled"
done

"$turncast" replay -p jsonl "$turn" >/dev/full 2>"$scratch/err.full"
is $? 1 "what is written to a full disk is not written"
has "$(cat "$scratch/err.full")" "cannot write to stdout: No space left on device" "the plugin says so"
has "$(cat "$scratch/err.full")" "turncast: instance jsonl: " "and the program says whose events are lost"
try replay -p "$TURNCAST_BUILDDIR/tests/fault/sleeps.so,seconds=600,callback_ms=600000" "$turn"
is "$status" 1 "a connector that does not get its events in time has lost them"
has "$err" "turncast: instance sleeps: events are undelivered after 10 s" "and the program says so"
"$turncast" replay -p jsonl "$turn" 2>"$scratch/err.head" | head -n 1 >/dev/null
is "$(cat "$scratch/err.head")" "" "a reader that stops early is no failure"

echo "some text, not of an agent" >"$scratch/y.txt"
for recording in "$scratch/y.txt" /bin/ls; do
    try replay -p jsonl "$recording"
    is "$status" 1 "$recording is not a recording"
    has "$out" '"no dialect matches the recording; name one with --dialect' "which is said"
done
try replay -d claude -p jsonl "$scratch/y.txt"
has "$out" "the recording ends before the turn's result" "with a dialect that is named there is no guess"
finish
