#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast restart, and what status says of an instance whose process has died.
. "$(dirname "$0")/cli.sh"

dir=$XDG_STATE_HOME/turncast
talker=$TURNCAST_BUILDDIR/tests/fault/talker.so
recorder=$TURNCAST_BUILDDIR/tests/fault/recorder.so
file=$scratch/turncast.conf
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
hi='text={\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},\"session_id\":\"s-1\"}'
mark=mark=anew-$$
host=
trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; pgrep -f "$mark" | xargs -r kill -9; rm -rf "$scratch"' EXIT

crash='chaos = ({ what = "crash"; callback = "init"; trigger = "'$scratch/no'"; });'
cat >"$file" <<CONF
agents : { slow : { command = ["$fake_agent", "$mark", "$init", "$hi", "print_on=10", "sleep"]; exit_grace_s = 0.2; }; };
plugins : { instances : {
    talk : { plugin = "$talker"; paths = ["$scratch"]; in = "$scratch/in"; out = "$scratch/told";
        grants = ["submit"]; allow = (1); $crash };
    inside : { plugin = "$recorder"; isolation = "thread"; path = "$scratch/inside.jsonl"; };
    late : { plugin = "$recorder"; paths = ["$scratch"]; path = "$scratch/late.jsonl";
        chaos = ({ what = "crash"; callback = "init"; trigger = "$scratch/late"; }); };
}; };
conversations : { debounce_ms = 0; drain_s = 0.1; };
CONF

# get KEY...: of the instance talk, at one moment.
get() {
    "$turncast" status --json -c "$file" | python3 -c 'import json, sys
talk = next(i for i in json.load(sys.stdin)["instances"] if i["name"] == "talk")
print(*(talk.get(key) for key in sys.argv[1:]))' "$@"
}

# is_down: it is tried again soon, so what is to be known of it is asked for in one go.
is_down() {
    dead=$(get down breaker_open pid deaths next_ms down_ms)
    [ "${dead%% *}" = True ]
}

: >"$scratch/in"
touch "$scratch/late"
try restart talk -c "$file"
is "$status $err" "1 turncast: turncast serve is not running (state directory $dir)" "no host"
try restart -c "$file"
is "$status" 2 "no name"
"$turncast" serve -c "$file" 2>"$scratch/err.host" </dev/null &
host=$!
wait_for test -S "$dir/control"
# all_started: HTTP and the control socket answer while connectors still start.
all_started() {
    "$turncast" status -c "$file" >"$scratch/status"
    grep -q ' runs  ' "$scratch/status" && ! grep -q ' starts  ' "$scratch/status"
}
wait_for all_started
is "$(grep -c ' runs  ' "$scratch/status")" 2 "two run, one did not start"

# --- one that runs -------------------------------------------------------------------------------
echo "m1 1 A work" >>"$scratch/in"
wait_for grep -q ^says "$scratch/told"
pid=$(get pid)
is "$(get isolation deaths down) $([ "$(get rss)" -gt 100000 ] && echo some)" \
    "process 0 False some" "it has a process, and memory"
has "$(cat "$scratch/status")" "  process $pid, " "which people are told"
try restart talk -c "$file"
is "$status $out$err" "0 Restarted instance talk." "it is restarted"
[ "$(get pid)" != "$pid" ]
result $? "which is another process"
! kill -0 "$pid" 2>/dev/null
result $? "in the place of the first"
wait_for grep -q resumed "$scratch/told"
is "$(grep -c resumed "$scratch/told")" 1 "its turn is told again"
is "$(get deaths)" 0 "that was no death"
try restart inside -c "$file"
is "$status $out$err" "0 Restarted instance inside." "one in the host, too"
wait_for sh -c "grep -q '\"resumed\":true' '$scratch/inside.jsonl'"
is "$(grep -c '"resumed":true' "$scratch/inside.jsonl")" 1 "is told of the turn again"
try restart tlk -c "$file"
is "$status $err" "1 turncast: unknown instance \"tlk\" (did you mean \"talk\"?)" "no such instance"
try restart "a/../% é" -c "$file"
is "$status $err" "1 turncast: unknown instance \"a/../% é\"" "any name comes through"

# --- one that did not start ----------------------------------------------------------------------
try restart late -c "$file"
is "$status" 1 "one that does not start"
has "$err" "cannot restart instance late: $file:6: instance late: disabled: process exited during" "why"
rm "$scratch/late"
try restart late -c "$file"
is "$status $out$err" "0 Restarted instance late." "and then does"

# --- one that is down ----------------------------------------------------------------------------
touch "$scratch/no"
kill -9 "$(get pid)"
wait_for is_down
read -r is_dead is_open dead_pid deaths next_ms down_ms <<DEAD
$dead
DEAD
is "$is_dead $is_open $dead_pid" "True False 0" "one that has died"
[ "$deaths" -ge 1 ] && [ "$next_ms" -le 8000 ] && [ "$down_ms" -lt 60000 ]
result $? "how often, since when, and when it is tried again"
for _ in 1 2 3 4; do try restart talk -c "$file"; done
is "$status $err" "1 turncast: cannot restart instance talk: process exited during start-up; see the log" "in vain"
is "$(get down breaker_open)" "True True" "too often"
[ "$(get next_ms)" -gt 200000 ]
result $? "it is left alone for long"
try status -c "$file"
has "$out" " (crashing repeatedly: one attempt every 5 min" "people are told"
has "$out" "  down for " "since when"
has "$out" "next start in 4 min " "and until when"
rm "$scratch/no"
try restart talk -c "$file"
is "$status $out$err" "0 Restarted instance talk." "it is started at once when asked for"
is "$(get down breaker_open)" "False None" "it is back"
wait_for sh -c "[ \$(grep -c resumed '$scratch/told') = 2 ]"
result 0 "with its turn"
try status -c "$file"
has "$out" "process restarted " "what it had is kept in mind"

kill "$host"
wait "$host"
is $? 0 "the end"
served=$host host=
is "$(pgrep -f -- "turncast-connector [a-z]* $served" | wc -l)" 0 "none of its processes is left"
finish
