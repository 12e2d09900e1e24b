#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast restart, and of the status of an instance whose process has crashed.
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

# get KEY...: prints members of the instance talk from one status.
get() {
    "$turncast" status --json -c "$file" | python3 -c 'import json, sys
talk = next(i for i in json.load(sys.stdin)["instances"] if i["name"] == "talk")
print(*(talk.get(key) for key in sys.argv[1:]))' "$@"
}

# is_down: reads all members at once, because the instance is restarted soon.
is_down() {
    dead=$(get down breaker_open pid deaths next_ms down_ms)
    [ "${dead%% *}" = True ]
}

: >"$scratch/in"
touch "$scratch/late"
try restart talk -c "$file"
is "$status $err" "1 turncast: turncast serve is not running (state directory $dir)" "restart without a host"
try restart -c "$file"
is "$status" 2 "restart without a name"
"$turncast" serve -c "$file" 2>"$scratch/err.host" </dev/null &
host=$!
wait_for test -S "$dir/control"
# all_started: HTTP and the control socket answer while connectors are starting.
all_started() {
    "$turncast" status -c "$file" >"$scratch/status"
    grep -q ' runs  ' "$scratch/status" && ! grep -q ' starts  ' "$scratch/status"
}
wait_for all_started
is "$(grep -c ' runs  ' "$scratch/status")" 2 "two instances are running, one has not started"

# --- an instance that is running -----------------------------------------------------------------
echo "m1 1 A work" >>"$scratch/in"
wait_for grep -q ^says "$scratch/told"
pid=$(get pid)
is "$(get isolation deaths down) $([ "$(get rss)" -gt 100000 ] && echo some)" \
    "process 0 False some" "the instance has a process and uses memory"
has "$(cat "$scratch/status")" "  process $pid, " "the status shows the process"
try restart talk -c "$file"
is "$status $out$err" "0 Restarted instance talk." "the instance is restarted"
[ "$(get pid)" != "$pid" ]
result $? "the instance has another process"
! kill -0 "$pid" 2>/dev/null
result $? "the new process replaces the first"
wait_for grep -q resumed "$scratch/told"
is "$(grep -c resumed "$scratch/told")" 1 "the turn is delivered again as resumed"
is "$(get deaths)" 0 "the restart does not count as a crash"
try restart inside -c "$file"
is "$status $out$err" "0 Restarted instance inside." "an instance in the host is restarted, too"
wait_for sh -c "grep -q '\"resumed\":true' '$scratch/inside.jsonl'"
is "$(grep -c '"resumed":true' "$scratch/inside.jsonl")" 1 "an instance in the host gets the turn again"
try restart tlk -c "$file"
is "$status $err" "1 turncast: unknown instance \"tlk\" (did you mean \"talk\"?)" "an unknown instance"
try restart "a/../% é" -c "$file"
is "$status $err" "1 turncast: unknown instance \"a/../% é\"" "the name of an instance may have any characters"

# --- an instance that has not started ------------------------------------------------------------
try restart late -c "$file"
is "$status" 1 "a restart of an instance that cannot start fails"
has "$err" "cannot restart instance late: $file:6: instance late: disabled: process exited during" "the error names the reason"
rm "$scratch/late"
try restart late -c "$file"
is "$status $out$err" "0 Restarted instance late." "a restart of an instance that can start succeeds"

# --- an instance whose process has crashed -------------------------------------------------------
touch "$scratch/no"
kill -9 "$(get pid)"
wait_for is_down
read -r is_dead is_open dead_pid deaths next_ms down_ms <<DEAD
$dead
DEAD
is "$is_dead $is_open $dead_pid" "True False 0" "the status shows the crash"
[ "$deaths" -ge 1 ] && [ "$next_ms" -le 8000 ] && [ "$down_ms" -lt 60000 ]
result $? "the status has the number of crashes, their time, and the time of the next start"
for _ in 1 2 3 4; do try restart talk -c "$file"; done
is "$status $err" "1 turncast: cannot restart instance talk: process exited during start-up; see the log" "a restart that fails"
is "$(get down breaker_open)" "True True" "the breaker opens after too many crashes"
[ "$(get next_ms)" -gt 200000 ]
result $? "the next start is delayed"
try status -c "$file"
has "$out" " (crashing repeatedly: one attempt every 5 min" "the status shows the open breaker"
has "$out" "  down for " "the status has the time of the crash"
has "$out" "next start in 4 min " "the status has the time of the next start"
rm "$scratch/no"
try restart talk -c "$file"
is "$status $out$err" "0 Restarted instance talk." "a restart on request starts the process at once"
is "$(get down breaker_open)" "False None" "the instance is running again"
wait_for sh -c "[ \$(grep -c resumed '$scratch/told') = 2 ]"
result 0 "its turn continues"
try status -c "$file"
has "$out" "process restarted " "the event log has the restart"

kill "$host"
wait "$host"
is $? 0 "the host ends"
served=$host host=
is "$(pgrep -f -- "turncast-connector [a-z]* $served" | wc -l)" 0 "no process of the host is left"
finish
