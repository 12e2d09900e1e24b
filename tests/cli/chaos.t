#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the group chaos of an instance: the configured faults occur in real instances.
. "$(dirname "$0")/cli.sh"

file=$scratch/turncast.conf
healthy=$scratch/healthy.jsonl
sick=$scratch/sick.jsonl

# with RULES [ISOLATION]: replays a turn with an instance that has these rules, beside a healthy
# one.
with() {
    rm -f "$healthy" "$sick"
    cat >"$file" <<CONF
plugins : { instances : {
    healthy : { plugin = "jsonl"; path = "$healthy"; visibility = "all"; };
    sick : { plugin = "jsonl"; path = "$sick"; visibility = "all"; isolation = "${2-thread}"; callback_ms = 500;
        paths = ["$scratch"];
        chaos = $1; };
}; };
CONF
    try replay -c "$file" "$fixtures/turn.jsonl"
}

# lines_of FILE
lines_of() {
    wc -l <"$1" 2>/dev/null || echo 0
}

with '{ what = "delay"; delay_ms = 1; every = 1000; }'
is "$status" 0 "a rule that does not apply succeeds"
all=$(lines_of "$healthy")
[ "$all" -gt 5 ]
result $? "the turn has events"
is "$(lines_of "$sick")" "$all" "all events arrive"

with '{ what = "error"; every = 2; callback = "on_event"; }'
is "$status" 1 "an instance with errors fails"
is "$(lines_of "$sick")" "$(((all + 1) / 2))" "the instance loses every second event"
is "$(lines_of "$healthy")" "$all" "the healthy instance gets all events"
has "$err" "instance sick: callback on_event returned an error in turn" "the error is logged"

with '( { what = "error"; text = "\"type\":\"final\""; }, { what = "error"; callback = "on_idle"; } )'
is "$(lines_of "$sick")" "$((all - 1))" "a rule with a text loses one event"
lacks "$(cat "$sick")" '"type":"final"' "the lost event contains the text"

with "{ what = \"error\"; trigger = \"$scratch/trigger\"; }"
is "$(lines_of "$sick")" "$all" "without the trigger file all events arrive"
touch "$scratch/trigger"
with "{ what = \"error\"; trigger = \"$scratch/trigger\"; }"
is "$(lines_of "$sick")" 0 "with the trigger file no event arrives"

with '{ what = "error"; rate = 0.5; seed = 3; callback = "on_event"; }'
cp "$sick" "$scratch/before"
with '{ what = "error"; rate = 0.5; seed = 3; callback = "on_event"; }'
sed 's/"[a-z_]*id":"[^"]*"//g; s/"ts":[0-9.]*//g' "$scratch/before" >"$scratch/a"
sed 's/"[a-z_]*id":"[^"]*"//g; s/"ts":[0-9.]*//g' "$sick" >"$scratch/b"
cmp -s "$scratch/a" "$scratch/b"
result $? "a rate with the same seed affects the same events"
[ "$(lines_of "$sick")" -gt 0 ] && [ "$(lines_of "$sick")" -lt "$all" ]
result $? "a rate affects some events"

with '{ what = "error"; callback = "init"; }'
is "$status" 0 "an instance whose start fails"
is "$(lines_of "$healthy")" "$all" "the healthy instance gets all events"
has "$err" "sick" "the log names the failed instance"

# A fault in a thread ends the host.
with '{ what = "crash"; every = 3; }'
is "$status" 139 "a crash in a thread ends the host"
with '{ what = "abort"; every = 3; }'
is "$status" 134 "an abort in a thread ends the host"

# A fault in a process ends that process only.
for what in crash garbage; do
    with "{ what = \"$what\"; callback = \"on_event\"; text = \"tool_result\"; }" process
    is "$(lines_of "$healthy")" "$all" "in a process: $what: the healthy instance gets all events"
    has "$err" "instance sick" "in a process: $what: the fault is logged"
done

with '{ what = "crsh"; }'
is "$status" 2 "an unknown fault is refused"
has "$err" "chaos.what: invalid value \"crsh\"; valid values: error, delay, hang, crash" "the error lists the valid faults"
finish
