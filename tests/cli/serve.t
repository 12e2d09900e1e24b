#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast serve: a complete host with a connector whose service is two files; also after a
# kill of the host.
. "$(dirname "$0")/cli.sh"

in=$scratch/in
out=$scratch/told
agents=$scratch/agents
state=$XDG_STATE_HOME/turncast
talker=$TURNCAST_BUILDDIR/tests/fault/talker.so
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
hi='text={\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},\"session_id\":\"s-1\"}'
result='text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",\"session_id\":\"s-1\",\"num_turns\":1}'
mark=mark=serve-$$
host=

# conf AGENT [MORE]: writes a configuration with this agent, and further keys of the instance.
conf() {
    cat >"$scratch/turncast.conf" <<CONF
agents : {
    quick : { command = ["$fake_agent", "$mark", "dump=$scratch/dump", "$init", "$hi", "$result"];
              resume = ["mark=resumed", "{session_id}"]; };
    slow : { command = ["$fake_agent", "$mark", "$init", "children=2", "$hi", "print_on=10", "sleep"];
             exit_grace_s = 0.2; term_grace_s = 0.2; };
};
default_agent = "$1";
plugins : { instances : { talk : { plugin = "$talker"; paths = ["$scratch"]; in = "$in"; out = "$out";
    grants = ["submit", "cancel"]; allow = (1, "2"); ${2:-} }; }; };
conversations : { debounce_ms = ${debounce:-0}; drain_s = ${drain:-20}; };
log : { level = "info"; };
CONF
}

serve() {
    rm -f "$scratch/err"
    "$turncast" serve -c "$scratch/turncast.conf" 2>"$scratch/err" </dev/null &
    host=$!
    wait_for grep -q 'serving' "$scratch/err" || sed 's/^/# /' "$scratch/err"
}

# fresh: deletes all messages.
fresh() {
    rm -rf "$state" "$in" "$out"
    : >"$in"
    : >"$out"
}

# say ID USER CHAT TEXT...
say() {
    echo "$*" >>"$in"
}

# told PATTERN [TIMES]: waits for this number of matching lines.
told() {
    wait_for sh -c "[ \$(grep -c -- '$1' '$out') -ge ${2:-1} ]"
}

# ended: prints the exit status of the host.
ended() {
    wait "$host"
    status=$?
    host=
}

alive() {
    pgrep -f "$mark" >"$agents"
}

nobody() {
    ! alive
}

trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; pgrep -f "$mark" | xargs -r kill -9; rm -rf "$scratch"' EXIT

# --- a message, a session ----------------------------------------------------------------------
conf quick
fresh
serve
say m1 1 A hello
told '^done' && told '^m1'
is "$(cut -d' ' -f1,2 <"$out" | head -n 1)" "m1 accepted" "R18: a message is accepted"
is "$(sed 1d "$out")" 'start talk:A new {"to":"A"} -
says talk:A hi
final talk:A done
done talk:A completed' "R24: the answer goes to the conversation of the message"
lacks "$(cat "$scratch/dump")" resumed "R27: in a new session"
say m1 1 A hello
told '^m1 known'
result $? "R18: the same message again is a duplicate"
say m2 2 A again
told '^done' 2
has "$(cat "$scratch/dump")" '"mark=resumed","s-1"' "R27: the next message resumes the session"
say m3 1 A /new
told '^m3 command'
say m4 1 A afresh
told '^done' 3
lacks "$(cat "$scratch/dump")" resumed "R27: /new resets it"
say m5 3 A hello
told '^m5 denied'
result $? "R21: a user who is not allowed is denied"
"$turncast" serve -c "$scratch/turncast.conf" 2>"$scratch/err2"
is $? 2 "a second host does not start"
has "$(cat "$scratch/err2")" "$host" "the error names the process of the first host"
kill "$host"
ended
is "$status" 0 "SIGTERM ends the host"
serve
say m1 1 A hello
told '^m1 known' 2
result $? "R18: after a restart the message is a duplicate"
say m6 1 A hello
told '^done' 4
has "$(tail -n 3 "$out")" "final talk:A done" "R27: after a restart the session is resumed"
kill "$host"
ended

# --- stop, queue -------------------------------------------------------------------------------
conf slow
fresh
serve
say m1 1 A work
told '^says'
say m2 1 A more
say m3 1 A /queue
told '^m3 command'
has "$(cat "$out")" 'm3 command - 1 message in the queue:' "R26: a message is queued"
say m4 1 A stop
told '^done talk:A cancelled'
has "$(grep '^m4' "$out")" 'Stopping the running turn. Dropped 1 queued message.' "R19: a stop command stops the turn"
wait_for nobody
result $? "R19: the queued message does not run"
say m5 1 A work
told '^says' 2
turn=$(sed -n 's/^m5 accepted \([^ ]*\) .*/\1/p' "$out")
say cancel 2 "$turn"
told '^done talk:A cancelled' 2
result $? "R19: the stop button stops the turn"
kill "$host"
ended

# --- the host is terminated ----------------------------------------------------------------------
drain=0.1
conf slow
fresh
serve
say m1 1 A work
told '^says'
say m2 1 A later
told '^m2 queued'
kill "$host"
ended
is "$status" 0 "R26: SIGTERM while a turn is running"
is "$(grep -c '^error talk:A host_shutdown' "$out")" 1 "the turn ends with host_shutdown"
wait_for nobody
result $? "no agent is left"
conf quick
serve
told '^done talk:A completed'
result $? "R26: a waiting turn runs in the next host"
is "$(grep -c '^start' "$out")" 2 "the waiting turn runs once"
kill "$host"
ended
drain=20

# --- texts that a connector has stored -----------------------------------------------------------
conf quick
fresh
serve
say store cursor 41
say store cursor 42
say m1 1 A hello
told '^m1 accepted'
kill -9 "$host"
wait "$host" 2>/dev/null
host=
: >"$in"
serve
say load cursor -
told '^loaded cursor'
is "$(grep '^loaded' "$out")" 'loaded cursor 42' "a stored text is loaded after a kill of the host"
say store cursor 43
say load cursor -
told '^loaded cursor 43'
: >"$in"
"$turncast" restart talk -c "$scratch/turncast.conf" >/dev/null 2>"$scratch/err2"
result $? "a stored text is loaded after a restart of the connector"
say load cursor -
told '^loaded cursor 43' 2
result $? "the newest stored text is loaded"
kill "$host"
ended

# --- the host is killed --------------------------------------------------------------------------
conf slow
fresh
serve
say m1 1 A work
say m2 2 B work
told '^says' 2
say m3 1 A later
told '^m3 queued'
alive
kill -9 "$host"
wait "$host" 2>/dev/null
host=
conf quick
serve
told '^done talk:A completed'
told '^error' 2
is "$(grep -c '^error talk:[AB] host_restart' "$out")" 2 "R26: both turns end with host_restart"
is "$(sed -n '/resumed/p' "$out" | sort)" 'start talk:A resumed {"to":"A"} hi
start talk:B resumed {"to":"B"} hi' "R24: with their routes, and what was remembered"
is "$(grep -c '^final talk:A done' "$out")" 1 "R26: a waiting turn has run"
orphans=$(pgrep -f "$mark" | sort | comm -12 - "$(sort -o "$agents" "$agents"; echo "$agents")")
is "$orphans" "" "R26: the agents of the killed host have ended"
kill "$host"
ended
serve
kill "$host"
ended
is "$(grep -c '^error' "$out")" 2 "R26: each outcome is delivered once"

# --- an outcome that was stored, but not delivered -----------------------------------------------
conf quick 'die = true; isolation = "thread";'
fresh
serve
say m1 1 A work
wait "$host" 2>/dev/null
host=
lacks "$(cat "$out")" final "a connector that kills its host"
conf quick
serve
told '^done'
is "$(grep -c '^final talk:A done' "$out")" 1 "R18: the stored outcome is delivered"
has "$(cat "$out")" 'start talk:A resumed {"to":"A"}' "R24: the turn of the stored outcome is resumed"
kill "$host"
ended

# --- hosts that do not start ---------------------------------------------------------------------
sed 's/^default_agent.*//' "$scratch/turncast.conf" >"$scratch/whose.conf"
"$turncast" serve -c "$scratch/whose.conf" 2>"$scratch/err"
is $? 2 "a host with an instance without an agent does not start"
has "$(cat "$scratch/err")" "plugins.instances.talk: no agent; set agent or default_agent" "the error names the instance"
sed 's/plugin = "[^"]*"/plugin = "missing"/' "$scratch/turncast.conf" >"$scratch/none.conf"
"$turncast" serve -c "$scratch/none.conf" 2>"$scratch/err"
is $? 2 "a host without a working instance does not start"
has "$(cat "$scratch/err")" "no connector instance could be started" "the error says that no instance could be started"
echo 'plugins : { instances : { }; };' >"$scratch/empty.conf"
"$turncast" serve -c "$scratch/empty.conf" 2>"$scratch/err"
is $? 2 "a configuration without instances has status 2"
has "$(cat "$scratch/err")" "nothing to serve: plugins.instances is empty" "the error says that there is nothing to serve"
finish
