#!/bin/sh
# SPDX-License-Identifier: MIT
# chaos in an instance's group: what the configuration wants to go wrong does, in real instances.
. "$(dirname "$0")/cli.sh"

file=$scratch/turncast.conf
healthy=$scratch/healthy.jsonl
sick=$scratch/sick.jsonl

# with RULES [ISOLATION]: replays a turn with an instance that has them, beside a healthy one.
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
is "$status" 0 "a rule whose time does not come"
all=$(lines_of "$healthy")
[ "$all" -gt 5 ]
result $? "the turn has events"
is "$(lines_of "$sick")" "$all" "all of them come"

with '{ what = "error"; every = 2; callback = "on_event"; }'
is "$status" 1 "an instance that fails"
is "$(lines_of "$sick")" "$(((all + 1) / 2))" "misses each second event"
is "$(lines_of "$healthy")" "$all" "the other has them all"
has "$err" "instance sick: callback on_event returned an error in turn" "and it is said"

with '( { what = "error"; text = "\"type\":\"final\""; }, { what = "error"; callback = "on_idle"; } )'
is "$(lines_of "$sick")" "$((all - 1))" "by a text of the event"
lacks "$(cat "$sick")" '"type":"final"' "it is the one with the text"

with "{ what = \"error\"; trigger = \"$scratch/trigger\"; }"
is "$(lines_of "$sick")" "$all" "no trigger file"
touch "$scratch/trigger"
with "{ what = \"error\"; trigger = \"$scratch/trigger\"; }"
is "$(lines_of "$sick")" 0 "with it"

with '{ what = "error"; rate = 0.5; seed = 3; callback = "on_event"; }'
cp "$sick" "$scratch/before"
with '{ what = "error"; rate = 0.5; seed = 3; callback = "on_event"; }'
sed 's/"[a-z_]*id":"[^"]*"//g; s/"ts":[0-9.]*//g' "$scratch/before" >"$scratch/a"
sed 's/"[a-z_]*id":"[^"]*"//g; s/"ts":[0-9.]*//g' "$sick" >"$scratch/b"
cmp -s "$scratch/a" "$scratch/b"
result $? "by rate: the same seed, the same events"
[ "$(lines_of "$sick")" -gt 0 ] && [ "$(lines_of "$sick")" -lt "$all" ]
result $? "some of them"

with '{ what = "error"; callback = "init"; }'
is "$status" 0 "one that cannot begin"
is "$(lines_of "$healthy")" "$all" "is missed by nobody"
has "$err" "sick" "and named"

# In a thread it is the host's own end.
with '{ what = "crash"; every = 3; }'
is "$status" 139 "a crash in a thread ends the host"
with '{ what = "abort"; every = 3; }'
is "$status" 134 "so does abort"

# In a process it is its own.
for what in crash garbage; do
    with "{ what = \"$what\"; callback = \"on_event\"; text = \"tool_result\"; }" process
    is "$(lines_of "$healthy")" "$all" "in a process: $what: the other has all events"
    has "$err" "instance sick" "and it is said"
done

with '{ what = "crsh"; }'
is "$status" 2 "a typing error"
has "$err" "chaos.what: invalid value \"crsh\"; valid values: error, delay, hang, crash" "is answered with what there is"
finish
