#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turns of turncast run in the journal: turns of a killed run are ended by the next run or
# host, and a run ends turns of a killed host. Beside a running host a run uses no journal.
. "$(dirname "$0")/cli.sh"

in=$scratch/in
told=$scratch/told
log=$scratch/log.jsonl
talker=$TURNCAST_BUILDDIR/tests/fault/talker.so
mark=mark=kept-$$
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
host=
: >"$in"
: >"$told"

# conf AGENT [KEYS]: writes a configuration with a connector that delivers, and a log.
conf() {
    cat >"$scratch/turncast.conf" <<CONF
agents : {
    main : { command = ["$fake_agent", "play=$fixtures/turn.jsonl"]; };
    hang : { command = ["$fake_agent", "$mark", "$init", "children=2", "sleep"];
             exit_grace_s = 0.2; term_grace_s = 0.2; };
};
default_agent = "$1";
plugins : { instances : {
    talk : { plugin = "$talker"; paths = ["$scratch"]; in = "$in"; out = "$told"; allow = (1); grants = ["submit"]; turns = "all"; ${2:-} };
    log : { plugin = "jsonl"; path = "$log"; };
}; };
conversations : { debounce_ms = 0; };
log : { level = "info"; };
CONF
}

trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; pgrep -f "$mark" | xargs -r kill -9; rm -rf "$scratch"' EXIT
TURNCAST_CONFIG=$scratch/turncast.conf
export TURNCAST_CONFIG

serve() {
    rm -f "$scratch/err"
    "$turncast" serve 2>"$scratch/err" </dev/null &
    host=$!
    wait_for grep -q 'serving' "$scratch/err" || sed 's/^/# /' "$scratch/err"
}

die() {
    kill -9 "$host"
    wait "$host" 2>/dev/null
    host=
}

end() {
    kill "$host"
    wait "$host"
    host=
}

# killed: starts a run and kills it. Its turn is in $turn.
killed() {
    rm -f "$log"
    "$turncast" run -a hang work >/dev/null 2>&1 &
    host=$!
    wait_for grep -q '"type":"start"' "$log"
    die
    turn=$(kept "select id from turn where state='running'")
}

# last N: prints the last N lines of the log: kind and properties.
last() {
    tail -n "$1" "$log" | sed 's/^{"type":"\([a-z_]*\)".*"resumed":true.*/\1 resumed/
        s/^{"type":"\([a-z_]*\)".*"code":"\([a-z_]*\)".*/\1 \2/
        s/^{"type":"\([a-z_]*\)".*"reason":"\([a-z_]*\)".*/\1 \2/'
}

conf main
try run hello
is "$status" 0 "a run succeeds"
is "$(kept 'select state, source, agent, conv, seen is null from turn')" "final run main  1" \
    "the turn is in the journal with its outcome"
is "$(kept 'select count(*) from outbox')" 0 "no outcome is left to be delivered"
try run -C chat-1 hello
is "$(kept 'select conv from turn order by rowid desc limit 1')" chat-1 "the turn has its conversation"
try run -a hang -s no/session hello
is "$(kept 'select state, code from turn order by rowid desc limit 1')" "error agent_spawn" \
    "one whose agent does not start"

# --- a run is killed -----------------------------------------------------------------------------
killed
try run hello
is "$status" 0 "the next run succeeds"
has "$out" '{"result":"The disk is at 89 %."' "the next run prints its answer"
nobody() { ! pgrep -f "$mark"; }
wait_for nobody
result $? "the agent of the killed run has ended"
is "$(grep -c host_restart "$log")" 1 "the log connector received the outcome"
is "$(grep "\"correlation_id\":\"$turn\"" "$log" | sed 's/^{"type":"\([a-z_]*\)".*/\1/' | tr '\n' ' ')" \
    "start start error done " "under the turn's id, once"
is "$(grep -c 'host_restart' "$told")" 1 "the delivering connector received the outcome"
is "$(kept "select state, code from turn where id='$turn'")" "error host_restart" "the turn of the killed run has ended"
is "$(kept 'select count(*) from outbox')" 0 "no outcome is left to be delivered"
killed
serve
wait_for grep -q host_restart "$log"
wait_for sh -c "[ \$(grep -c '^error.*host_restart' '$told') -eq 2 ]"
is "$(last 3)" 'start resumed
error host_restart
done error' "or by the next host"
wait_for nobody
result $? "the agent of another killed run has ended, too"

# --- beside a host -------------------------------------------------------------------------------
turns=$(kept 'select count(*) from turn')
try run hello
is "$status" 0 "a run beside a host succeeds"
is "$(grep -c "is in use by another turncast (process $host" "$scratch/err")" 1 "the error names the process that has the journal, once"
is "$(kept 'select count(*) from turn')" "$turns" "the run does not change the journal of the host"
end

# --- a host is killed ----------------------------------------------------------------------------
conf hang
: >"$told"
serve
echo "m1 1 A work" >>"$in"
echo "m2 1 A later" >>"$in"
wait_for grep -q '^m2 queued' "$told"
wait_for grep -q '^start' "$told"
die
"$turncast" run -a main -p null hello >/dev/null 2>&1
is "$? $(grep -c '^error' "$told")" "0 0" "a run without the connector does not deliver the outcome"
is "$(kept "select state, code from turn where source='talk' order by rowid" | tr '\n' ';')" \
    "error host_restart;waiting None;" "recovery ends the running turn, and leaves the waiting message alone"
"$turncast" run -a main hello >/dev/null 2>&1
is "$? $(grep -c '^error talk:A host_restart' "$told")" "0 1" "a run with the connector delivers the outcome"
conf main
serve
wait_for grep -q '^final talk:A' "$told"
result $? "a waiting turn runs in the next host"
end
is "$(grep -c '^error' "$told")" 1 "the outcome is delivered once"
conf main 'die = true; isolation = "thread";'
serve
echo "m3 1 A work" >>"$in"
wait "$host" 2>/dev/null
host=
conf main
before=$(grep -c '^final talk:A' "$told")
"$turncast" run -p null hello >/dev/null 2>&1
"$turncast" run hello >/dev/null 2>&1
is "$(grep -c '^final talk:A' "$told")" $((before + 1)) "a stored outcome is delivered by a run"

# --- no journal ----------------------------------------------------------------------------------
echo 'state_directory = "/dev/null/state";' >>"$scratch/turncast.conf"
try run -p null hello
is "$status $(grep -c 'running this turn without a journal' "$scratch/err")" "0 1" \
    "without a state directory the run succeeds with a warning"
finish
