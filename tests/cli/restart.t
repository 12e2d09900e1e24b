#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turns that a killed host has left: the next host ends them, once, in each connector that
# has received the turn: those that deliver, logs, the audit log, and those that start later.
. "$(dirname "$0")/cli.sh"

in=$scratch/in
heard=$scratch/heard
talker=$TURNCAST_BUILDDIR/tests/fault/talker.so
recorder=$TURNCAST_BUILDDIR/tests/fault/recorder.so
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
hi='text={\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},\"session_id\":\"s-1\"}'
mark=mark=restart-$$
host=
: >"$in"
: >"$heard"

# conf [INSTANCE...]: writes a configuration with the connector and these instances. The instance
# late joins during the turn.
conf() {
    cat >"$scratch/turncast.conf" <<CONF
agents : { slow : { command = ["$fake_agent", "$mark", "$init", "children=2", "$hi", "print_on=10", "sleep"];
                    exit_grace_s = 0.2; term_grace_s = 0.2; }; };
default_agent = "slow";
plugins : { instances : {
    talk : { plugin = "$talker"; paths = ["$scratch"]; in = "$in"; out = "$heard"; allow = (1); grants = ["submit"]; };
    log : { plugin = "jsonl"; path = "$scratch/log.jsonl"; };
    audit : { plugin = "audit"; path = "$scratch/audit.jsonl"; };
    mine : { plugin = "$recorder"; paths = ["$scratch"]; path = "$scratch/mine.jsonl"; };
    $*
}; };
conversations : { debounce_ms = 0; };
log : { level = "info"; };
CONF
}

serve() {
    rm -f "$scratch/err"
    "$turncast" serve -c "$scratch/turncast.conf" 2>"$scratch/err" </dev/null &
    host=$!
    wait_for grep -q 'serving' "$scratch/err" || sed 's/^/# /' "$scratch/err"
}

holds_rows() {
    [ "$(kept 'select count(*) from outbox')" = "$rows" ]
}

# settled [ROWS]: whether this number of outcomes (default 0) is left.
settled() {
    rows=${1:-0}
    wait_for holds_rows
}

end() {
    kill "$host"
    wait "$host"
    host=
}

trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; pgrep -f "$mark" | xargs -r kill -9; rm -rf "$scratch"' EXIT

# lines FILE: prints kind, code or reason, and resumed, for each line of the turn.
lines() {
    sed -n 's/^\({"timestamp".*"event":\)\?{"type":"\([a-z_]*\)".*/\2 &/p' "$1" |
        sed 's/^\([a-z_]*\) .*"code":"\([a-z_]*\)".*/\1 \2/
             s/^\(done\) .*"reason":"\([a-z_]*\)".*/\1 \2/
             s/^\(start\) .*"resumed":true.*/\1 resumed/
             s/^\([a-z_]*\) .*{.*/\1/'
}

told='start resumed
error host_restart
done error'

conf
serve
echo "m1 1 A work" >>"$in"
wait_for grep -q '^says' "$heard"
turn=$(sed -n 's/^m1 accepted \([^ ]*\) .*/\1/p' "$heard")
wait_for grep -q narration "$scratch/log.jsonl"
wait_for grep -q narration "$scratch/audit.jsonl"
kill -9 "$host"
wait "$host" 2>/dev/null
conf "new : { plugin = \"jsonl\"; path = \"$scratch/new.jsonl\"; };"
serve
wait_for grep -q '^done' "$heard"
settled
result $? "all connectors get the outcome"
[ "$(pgrep -f "$mark" | wc -l)" -eq 0 ]
result $? "R26: the agent has ended before"
# The connector also submits the messages in its file again whenever it reads the file.
is "$(sed -n '/resumed/,$p' "$heard" | grep -v '^m1 known ')" 'start talk:A resumed {"to":"A"} hi
error talk:A host_restart
done talk:A error' "the delivering connector shows the outcome once"
is "$(lines "$scratch/log.jsonl" | sed -n '/resumed/,$p')" "$told" "the log has the outcome once"
is "$(lines "$scratch/mine.jsonl")" "$told" "the log of another instance has the outcome once"
is "$(lines "$scratch/audit.jsonl" | sed -n '/resumed/,$p')" "$told" "the audit log has the outcome once"
try audit verify "$scratch/audit.jsonl"
is "$status" 0 "the audit log is valid"
is "$(grep -c "\"correlation_id\":\"$turn\"" "$scratch/mine.jsonl")" 3 "the log has the id of the turn"
[ ! -s "$scratch/new.jsonl" ]
result $? "a connector that did not get the turn does not get the outcome"
end
serve
end
is "$(lines "$scratch/log.jsonl" | grep -c host_restart)" 1 "the log has the outcome once after another start"
is "$(lines "$scratch/audit.jsonl" | grep -c host_restart)" 1 "the audit log has the outcome once after another start"

# --- a connector is missing when the next host starts --------------------------------------------
conf "late : { plugin = \"jsonl\"; path = \"$scratch/late.jsonl\"; };"
serve
echo "m2 1 A work" >>"$in"
wait_for sh -c "[ \$(grep -c '^says' '$heard') -ge 2 ]"
wait_for grep -q narration "$scratch/late.jsonl"
kill -9 "$host"
wait "$host" 2>/dev/null
conf
serve
wait_for sh -c "[ \$(grep -c '^done' '$heard') -ge 2 ]"
settled 1
result $? "the outcome waits for the missing connector"
end
conf "late : { plugin = \"jsonl\"; path = \"$scratch/late.jsonl\"; };"
serve
settled
is "$(lines "$scratch/late.jsonl" | sed -n '/resumed/,$p')" "$told" "the missing connector gets the outcome when it starts"
end
finish
