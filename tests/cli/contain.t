#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the isolation of agents: they cannot outlive the host with their children, and cannot
# read secrets.
. "$(dirname "$0")/cli.sh"

in=$scratch/in
out=$scratch/told
talker=$TURNCAST_BUILDDIR/tests/fault/talker.so
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
hi='text={\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},\"session_id\":\"s-1\"}'
mark=mark=contain-$$
host=
second=20000 # a second is meant; a machine that does much else needs more
trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; pgrep -f "$mark" | xargs -r kill -9; rm -rf "$scratch"' EXIT

# conf BEFORE AFTER: writes a configuration; the words are actions of the agent before and after its
# output, each in quotes and after a comma.
conf() {
    cat >"$scratch/turncast.conf" <<CONF
agents : { wild : { command = ["$fake_agent", "$mark", "$init" $1, "$hi" $2]; exit_grace_s = 0.2;
                    term_grace_s = 0.2; }; };
plugins : { instances : { talk : { plugin = "$talker"; paths = ["$scratch"]; in = "$in"; out = "$out";
    grants = ["submit", "cancel"]; allow = (1, "2"); }; }; };
conversations : { debounce_ms = 0; };
CONF
    rm -rf "$XDG_STATE_HOME/turncast" "$out"
    : >"$in"
    : >"$out"
}

serve() {
    "$turncast" serve -c "$scratch/turncast.conf" 2>"$scratch/err" </dev/null &
    host=$!
}

told() {
    wait_for sh -c "[ \$(grep -c -- '$1' '$out') -ge ${2:-1} ]"
}

# two_turns BEFORE AFTER: starts two turns with such agents.
two_turns() {
    conf "$@"
    serve
    echo "m1 1 A work" >>"$in"
    echo "m2 2 B work" >>"$in"
    told '^says' 2
}

nobody() {
    ! pgrep -f "$mark"
}

count() {
    pgrep -c -f "$mark"
}

bury() {
    kill -9 "$host"
    wait "$host" 2>/dev/null
    host=
}

# dies NAME: kills the host, and checks that no process is left after a second.
dies() {
    before=$(count)
    began=$(date +%s%N)
    bury
    wait_for nobody && [ "$before" -ge 4 ]
    result $? "$1: the host is killed, and all of $before processes end"
    took=$((($(date +%s%N) - began) / 1000000))
    [ $took -lt $second ]
    result $? "$1: the processes end within seconds ($took ms)"
}

# --- a host that is killed -----------------------------------------------------------------------
two_turns ', "child=plain"' ', "sleep"'
dies "two agents"
two_turns ', "ignore=15", "child=setsid", "child=double", "child=orphan", "children=20"' ', "sleep"'
dies "two that ignore SIGTERM, with children in sessions of their own"
two_turns ', "bomb=200"' ', "sleep"'
dies "two fork bombs"
two_turns ', "child=double"' ', "kill=19"'
dies "two that are stopped"

# Only the next host can kill these processes.
two_turns ', "child=double", "child=setsid"' ', "sleep"'
kill -STOP "$host"
pgrep -f "turncast-shim.*$mark" | xargs -r kill -9
bury
[ "$(count)" -ge 4 ]
result $? "if the shims are killed, too, children in other sessions are left"
serve
told '^error talk:[AB] host_restart' 2
wait_for nobody
result $? "the next host kills them"
kill "$host"
wait "$host"
host=

# The same with agents that have answered, and wait for another message.
end='text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"hi\",\"session_id\":\"s-1\"}'
conf ', "child=double", "child=setsid"' ", \"$end\", \"sleep\""
sed -i 's/exit_grace_s/dialect = "claude"; keep_alive_s = 600; exit_grace_s/' "$scratch/turncast.conf"
serve
echo "m1 1 A work" >>"$in"
told '^done'
wait_for sh -c "'$turncast' status -c '$scratch/turncast.conf' | grep -q 'without a turn: 1 '"
result $? "an agent waits for a message"
kill -STOP "$host"
pgrep -f "turncast-shim.*$mark" | xargs -r kill -9
bury
[ "$(count)" -ge 2 ]
result $? "its children outlive its shim and its host"
serve
wait_for nobody
result $? "the next host kills them"
has "$(cat "$scratch/err")" "left by its agent" "the next host logs it"
kill "$host"
wait "$host"
host=

# --- an agent that attacks its shim --------------------------------------------------------------
conf ', "child=double"' ', "parent=9", "sleep"'
serve
echo "m1 1 A work" >>"$in"
told '^error talk:A agent_signal'
result $? "an agent that kills its shim is killed, and the turn reports it"
told '^done'
nobody
result $? "no process is left when the turn is done"
bury

# --- secrets -------------------------------------------------------------------------------------
# The agent reads the files of its own process and of all its ancestors up to the host.
open=$scratch/open
chmod 711 "$scratch"
mkdir -m 777 "$open"
cat >"$open/spy" <<'SPY'
#!/bin/sh
look() {
    for file in cmdline environ maps; do
        cat "/proc/$1/$file"
    done
    for fd in "/proc/$1/fd"/*; do
        readlink "$fd"
        [ ! -f "$fd" ] || cat "$fd"
    done
    true
}
{
    tr '\0' '\n' <"/proc/$$/environ"
    pid=$$
    until look "$pid" && [ "$(tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n 1p)" = "$HOST_PROGRAM" ]; do
        pid=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status")
        [ "$pid" -gt 1 ] || break
    done
} >"$SPY_OUT" 2>&1
SPY
chmod 755 "$open/spy"
printf 'canary-of-a-descriptor' >"$scratch/canary-of-a-name"
user=
[ "$(id -u)" != 0 ] || user='user = "nobody";'
cat >"$scratch/spy.conf" <<CONF
agents : { spy : { command = ["$open/spy"]; cwd = "/"; $user attempts = 1;
    env_set = ["SPY_OUT=$open/seen", "HOST_PROGRAM=$turncast"]; }; };
plugins : { instances : { kept : { plugin = "jsonl"; path = "$scratch/canary-of-the-config"; }; }; };
CONF
export CANARY=canary-of-the-environment ANTHROPIC_API_KEY=canary-of-a-key
"$turncast" run -c "$scratch/spy.conf" -p "jsonl,path=$scratch/canary-of-the-command-line" hello \
    7<"$scratch/canary-of-a-name" >"$scratch/out" 2>&1 </dev/null
unset CANARY ANTHROPIC_API_KEY
has "$(cat "$open/seen")" TERM=dumb "the agent can read its own environment"
has "$(tr '\0' ' ' <"$open/seen")" "turncast-shim" "the agent can read the command line of its shim"
has "$(tr '\0' ' ' <"$open/seen")" "$turncast run -c $scratch/spy.conf" "the agent can read the command line of the host"
lacks "$(tr -d '\0' <"$open/seen")" canary "but no secret of environment, configuration, \
command line or descriptors"
[ -s "$scratch/canary-of-the-command-line" ]
result $? "the host has had the secret"
if [ "$user" ]; then
    has "$(cat "$open/seen")" USER=nobody "the agent has run as another user"
    is "$(stat -c %U "$open/seen")" nobody "its file belongs to that user"
fi
finish
