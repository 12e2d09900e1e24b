#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast replay: its output, visibility, pace, and interruption.
. "$(dirname "$0")/cli.sh"

turn=$fixtures/turn.jsonl

try replay --plugin jsonl "$turn"
is "$status" 0 "a replay of a successful turn succeeds"
is "$err" "" "a replay prints nothing on stderr"
is "$(sed 1q "$scratch/out" | kinds)" start "the first line is start"
is "$(sed -n '$p' "$scratch/out" | kinds)" 'done' "the last line is done"
is "$(grep -c '"type":"tool_call"' "$scratch/out")" 1 "jsonl gets the tool call"
is "$(grep -c '"type":"tool_result"' "$scratch/out")" 1 "jsonl gets the tool result"
has "$(grep '"type":"final"' "$scratch/out")" '"text":"The disk is at 89 %."' "jsonl gets the final answer"
has "$out" '"src":"claude"' "the dialect is recognised"
try replay --plugin jsonl "${TURNCAST_SRCDIR:?}/tests/dialects/awaken/resumable.sse"
has "$out" '"src":"awaken"' "another dialect and its framing are recognised"
try replay --plugin jsonl "$turn"
cp "$scratch/out" "$scratch/all"

# --- languages
try replay -p cli,mode=rich,language=de "$turn"
has "$err" ": fertig" "the rich view in German"
try replay -p cli,mode=lines,language=de "$turn"
has "$err" "  [progress] Complete: " "the lines view is always English"
try replay -p cli,language=fr "$turn"
is "$status" 2 "an unknown language is an error"
has "$err" 'language: invalid value "fr"; valid values: en, de' "the error lists the languages"

# Removes the parts of a line that differ between runs.
stable() {
    sed 's/"ts":[0-9.]*/"ts":0/; s/"correlation_id":"[^"]*"/"correlation_id":""/'
}
stable <"$scratch/all" >"$scratch/all.stable"

"$turncast" replay -p jsonl - <"$turn" | stable | cmp -s - "$scratch/all.stable"
result $? "standard input gives the same events"
(while IFS= read -r line; do printf '%s\n' "$line"; done) <"$turn" |
    "$turncast" replay -p jsonl - | stable | cmp -s - "$scratch/all.stable"
result $? "a pipe that is written line by line gives the same events"
"$turncast" replay -p "jsonl,path=$scratch/a" -p "jsonl,path=$scratch/b" "$turn"
result $? "two instances of one plugin"
stable <"$scratch/a" | cmp -s - "$scratch/all.stable" && cmp -s "$scratch/a" "$scratch/b"
result $? "both instances get the same events"
"$turncast" replay -p "${TURNCAST_PLUGIN_PATH:?}/jsonl.so" "$turn" | stable |
    cmp -s - "$scratch/all.stable"
result $? "a plugin named by its file"

# shown TOKENS...: prints the kinds of events that are shown
shown() {
    "$turncast" replay -p jsonl,visibility=agent "$turn" "$@" | kinds | tr ' ' '\n' |
        grep -E '^(narration|thinking|final|tool_call|tool_result)$' | sort -u | tr '\n' ' '
}
is "$(shown)" "final narration " "by default only text is shown"
is "$(shown /show-tools)" "final narration tool_call tool_result " "/show-tools shows tools"
is "$(shown /show-thinking)" "final narration thinking " "/show-thinking shows thinking"
is "$(shown /show-all /hide-narration)" "final thinking tool_call tool_result " "tokens are applied in order"
is "$(shown /hide-all /hide-final)" "" "nothing is shown"
try visibility --agent stored /show-tools
is "$(shown --agent stored)" "final narration tool_call tool_result " "the stored settings of an agent apply"
is "$(shown --agent stored /hide-tools)" "final narration " "tokens override stored settings"
is "$(shown --agent other)" "final narration " "stored settings apply to their agent only"
try replay "$turn" /show-everything
is "$status" 2 "an unknown token is an error"
try visibility --agent stored
has "$out" '"show_tools":true' "a replay does not change stored settings"

try replay "$turn"
is "$status $out" "0 " "without a configuration and --plugin stdout is empty"
has "$err" "[progress]" "without a configuration the connector cli prints on stderr"

try replay -p jsonl "$fixtures/failed.jsonl"
is "$status" 1 "a turn that ends in an error has status 1"
has "$out" '"type":"error"' "the error is printed"
sed 3q "$turn" >"$scratch/cut.jsonl"
try replay -p jsonl "$scratch/cut.jsonl"
is "$status" 1 "an incomplete recording has status 1"
has "$(grep '"type":"error"' "$scratch/out")" '"code":"agent_no_result"' "an incomplete recording ends in an error"
is "$(sed -n '$p' "$scratch/out" | kinds)" 'done' "an incomplete recording ends in done"
: >"$scratch/empty"
try replay -p jsonl "$scratch/empty"
is "$status" 1 "an empty recording has status 1"
is "$(kinds <"$scratch/out")" "start error done" "an empty recording is a turn with an error"
printf 'rubbish\n\377\376\n{"type"\n' >"$scratch/rubbish"
try replay -p jsonl "$scratch/rubbish"
is "$status" 1 "an invalid line has status 1"
has "$out" '"code":"unparsable_line"' "the invalid line is reported"

try replay -p jsonl "$scratch/none"
is "$status" 2 "a missing file has status 2"
is "$err" "turncast: $scratch/none: cannot open: No such file or directory" "the error names the missing file"
try replay -p jsonl "$scratch"
is "$status $err" "2 turncast: $scratch: is a directory" "a folder is an error"
try replay -d claud "$turn"
is "$status" 2 "an unknown dialect is an error"
has "$err" 'unknown dialect "claud"; available: ' "the error says that the dialect is unknown"
has "$err" claude "the error lists the dialects"
try replay -p nothing "$turn"
is "$status $out" "2 " "an unknown plugin is an error"
has "$err" "nothing" "the error names the plugin"
try replay -p jsonl,pathe=x "$turn"
is "$status" 2 "an unknown option is an error"
has "$err" 'jsonl.pathe: unknown option (did you mean "path"?)' "the error names the option"
try replay -p jsonl -p jsonl,queue_events=1 "$turn"
is "$status" 2 "an invalid option of the host is an error"
has "$err" "queue_events: 1 is out of range; use 16 to 1000000" "the error has the valid range"
echo 'log = 1;' >"$scratch/bad.conf"
try replay -c "$scratch/bad.conf" "$turn"
is "$status" 2 "an invalid configuration is an error"
is "$err" "turncast: $scratch/bad.conf:1: log: expected a group, found an integer" "the error has its position"
cat >"$scratch/good.conf" <<CONF
plugins : { instances : {
    one : { plugin = "jsonl"; path = "$scratch/one"; };
    two : { plugin = "missing"; };
    three : { plugin = "jsonl"; path = "$scratch/three"; enabled = false; };
    four : { plugin = "jsonl"; path = "$scratch/four"; visibility = "agent"; };
}; };
CONF
try replay -c "$scratch/good.conf" "$turn"
is "$status" 0 "a configuration with an instance that cannot start succeeds"
has "$err" "missing" "the failed instance is reported"
stable <"$scratch/one" | cmp -s - "$scratch/all.stable"
result $? "the other instances get all events"
[ ! -e "$scratch/three" ]
result $? "a disabled instance gets no events"
lacks "$(cat "$scratch/four")" tool_call "each instance has its own visibility"

# elapsed COMMAND...: prints the duration in milliseconds
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
result $? "the speed changes only the times"
sed -e '1s/^{/{"ts":1784884501.5,/' -e '4s/^{/{"timestamp":"2026-07-24T09:15:01.900Z",/' \
    -e '$s/^{/{"timestamp":1784884502700,/' "$turn" >"$scratch/dated.jsonl"
ms=$(elapsed "$turncast" replay -p null --speed 1 "$scratch/dated.jsonl")
between 1200 "$ms" 20000 "by the lines' own times: 1.2 s"

echo '{"line_ms": [0, 1, 2, 60000]}' >"$scratch/paced.meta.json"
for signal in INT TERM HUP; do
    # SIGHUP may be ignored by the caller (nohup), and the program keeps that.
    env --default-signal="$signal" \
        "$turncast" replay -p "jsonl,path=$scratch/$signal" --speed 1 "$scratch/paced.jsonl" &
    pid=$!
    wait_for grep -q narration "$scratch/$signal"
    kill -s "$signal" "$pid"
    wait "$pid"
    is $? 1 "SIG$signal ends the replay"
    has "$(sed -n '$p' "$scratch/$signal")" '"reason":"cancelled"' "SIG$signal: the turn is cancelled"
done

"$turncast" replay -p jsonl "$turn" >/dev/full 2>"$scratch/err.full"
is $? 1 "output to a full disk fails"
has "$(cat "$scratch/err.full")" "cannot write to stdout: No space left on device" "the plugin reports the full disk"
has "$(cat "$scratch/err.full")" "turncast: instance jsonl: " "the program reports lost events"
try replay -p "$TURNCAST_BUILDDIR/tests/fault/sleeps.so,seconds=600,callback_ms=600000" "$turn"
is "$status" 1 "a connector that does not get its events in time"
has "$err" "turncast: instance sleeps: events are undelivered after 10 s" "the program reports undelivered events"
"$turncast" replay -p jsonl "$turn" 2>"$scratch/err.head" | head -n 1 >/dev/null
is "$(cat "$scratch/err.head")" "" "a reader that closes its pipe early is not an error"

echo "some text, not of an agent" >"$scratch/y.txt"
for recording in "$scratch/y.txt" /bin/ls; do
    try replay -p jsonl "$recording"
    is "$status" 1 "$recording is not a recording"
    has "$out" '"no dialect matches the recording; name one with --dialect' "the error says that no dialect matches"
done
try replay -d claude -p jsonl "$scratch/y.txt"
has "$out" "the recording ends before the turn's result" "--dialect disables the recognition"
finish
