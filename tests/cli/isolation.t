#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of an instance in its own process: it gets the same events as one in the host; it crashes,
# hangs and violates the protocol, and gets the remaining events after a restart, while the host and
# the other instances continue.
. "$(dirname "$0")/cli.sh"

turn=$fixtures/turn.jsonl
recorder=$TURNCAST_BUILDDIR/tests/fault/recorder.so

# replay INSTANCE...: replays a turn with the instance and a healthy one in the host.
replay() {
    rm -f "$scratch"/*.jsonl
    cat >"$scratch/turncast.conf" <<CONF
plugins : { instances : {
    well : { plugin = "$recorder"; isolation = "thread"; path = "$scratch/well.jsonl"; };
    $*
}; };
log : { level = "info"; };
CONF
    try replay -c "$scratch/turncast.conf" "$turn"
}

# other [KEY...]: prints the instance under test.
other() {
    echo "other : { plugin = \"$recorder\"; isolation = \"process\"; paths = [\"$scratch\"];
                    path = \"$scratch/other.jsonl\"; $* };"
}

# Prints the events without the parts that differ between replays.
told() {
    sed 's/"correlation_id":"[^"]*"//; s/"ts":[0-9.]*//' "$scratch/$1.jsonl"
}

replay "$(other)"
is "$status" 0 "a replay succeeds"
is "$(told other)" "$(told well)" "both instances get the same events"
all=$(told well | wc -l)
lacks "$err" "instance other" "and nothing to say of it"

# The process crashes once, and gets the remaining events, including the one that crashed it, after
# a restart.
replay "$(other 'chaos = ({ what = "crash"; callback = "on_tool_call"; every = 1; trigger = "'"$scratch"'/trigger"; });')"
is "$(told other)" "$(told well)" "without the trigger file nothing crashes"
ends_badly() {
    replay "$(other "chaos = ({ what = \"$1\"; text = \"tool_call\\\"\"; });")"
    is "$(told well | wc -l)" "$all" "$1: the healthy instance gets all events"
    has "$err" "instance other: process" "$1: the end of the process is logged"
    has "$err" "restarting in 1000 ms" "$1: the restart is logged"
}
for how in crash abort exit; do
    ends_badly $how
    is "$status" 1 "$how: an event is lost"
    has "$err" "turncast: instance other: lost 1 event" "$how: the lost event is reported"
    is "$(told other | grep -c '"resumed":true')" 1 "$how: the turn is delivered again as resumed"
    has "$(told other | kinds)" "final" "$how: the outcome is delivered"
    has "$err" "moved to dead letters" "$how: the event that crashes each time is skipped"
done
# These faults do not end the process, which continues.
ends_badly close
ends_badly garbage
has "$err" "killed: protocol violation (malformed frame)" "garbage: the process is killed"

replay "$(other 'callback_ms = 200; chaos = ({ what = "hang"; text = "tool_call\""; });')"
is "$(told well | wc -l)" "$all" "hang: the healthy instance gets all events"
has "$err" "instance other: on_" "hang: the callback is logged"
has "$err" "killed after a hang" "hang: the process is killed"
has "$(told other | kinds)" "final" "hang: the outcome is delivered"

replay "$(other 'chaos = ({ what = "crash"; callback = "init"; });')"
is "$status $(told well | wc -l)" "0 $all" "a process that crashes at its start"
has "$err" "instance other: disabled: process exited during start-up" "the crash at the start is reported"

denied=$TURNCAST_BUILDDIR/tests/fault/denied.so
try replay -p "$denied" "$turn"
has "$err" "callback on_start returned an error in turn" "a file that the sandbox refuses is an error"
has "$err" "(EACCES); the sandbox permits files below paths" "the error names the key for files"
try replay -p "$denied,what=socket" "$turn"
has "$err" "(EPERM); the sandbox permits sockets only if the instance has ports" "the error names the key for sockets"
try replay -p "$denied,isolation=thread" "$turn"
lacks "$err" "sandbox" "without a sandbox the error does not mention it"
is "$(pgrep -f -- "turncast-connector other" | wc -l)" 0 "no process of the instance is left"

# The helper program that loads plugins: a missing one is reported by its name, and one of another
# version is refused.
connector=$TURNCAST_CONNECTOR
TURNCAST_CONNECTOR=$scratch/older
replay "$(other)"
has "$err" "helper program turncast-connector is not installed" "a missing helper program is reported"
# older WORD: calls the helper like a host of another version when its argument begins with this
# word.
older() {
    cat >"$TURNCAST_CONNECTOR" <<OLDER
#!/bin/sh
name=\$1 host=\$2 version=\$3
shift 3
case \$name in $1*) version=0.0.1 ;; esac
exec "$connector" "\$name" "\$host" "\$version" "\$@"
OLDER
    chmod +x "$TURNCAST_CONNECTOR"
    replay "$(other)"
}
older --probe
has "$err" "does not match the running turncast; restart turncast" "a helper program of another version refuses to probe"
is "$(ls "$scratch"/*.jsonl 2>/dev/null)" "" "no plugin is loaded"
older other
has "$err" "error instance other: version" "a helper program of another version starts no instance"
is "$(told well | wc -l)" "$all" "the healthy instance gets all events"
TURNCAST_CONNECTOR=$connector

# No init waits for the end of another one: these would block each other.
mkdir "$scratch/meeting"
{
    echo 'plugins : { instances : {'
    for i in 1 2 3 4 5 6; do
        [ $((i % 2)) = 0 ] && where=process || where=thread
        echo "m$i : { plugin = \"$TURNCAST_BUILDDIR/tests/fault/meets.so\"; isolation = \"$where\";
                      paths = [\"$scratch/meeting\"]; folder = \"$scratch/meeting\"; count = 6; };"
    done
    echo '}; };'
} >"$scratch/turncast.conf"
try replay -c "$scratch/turncast.conf" "$turn"
is "$status $err" "0 " "six instances start in parallel, in threads and in processes"

# The path of a configuration is relative to the working directory, and its folders are relative to
# it; the process of a plugin has another working directory.
mkdir "$scratch/modules" "$scratch/written"
cp "$recorder" "$scratch/modules/recorder.so"
cat >"$scratch/beside.conf" <<CONF
plugins : { directory = "modules"; instances : { other : {
    plugin = "recorder"; isolation = "process"; paths = ["written"];
    path = "$scratch/written/other.jsonl";
}; }; };
CONF
stood=$PWD
cd "$scratch" || exit 1
try replay -c beside.conf "$turn"
cd "$stood" || exit 1
is "$status $err" "0 " "a configuration named without its folder"
is "$(told written/other | wc -l)" "$all" "the instance gets all events"

# With a journal, an event that crashes each time becomes a dead letter.
cat >"$scratch/turncast.conf" <<CONF
agents : { main : { command = ["$fake_agent", "play=$turn"]; }; };
default_agent = "main";
plugins : { instances : { $(other 'chaos = ({ what = "crash"; text = "tool_call\""; });') }; };
CONF
try run -c "$scratch/turncast.conf" hello
is "$status" 0 "a run with an instance that crashes on an event succeeds"
has "$err" "tool_call of turn" "the event is skipped"
try dead list -c "$scratch/turncast.conf"
has "$out" "other  event of turn" "the event is a dead letter"
has "$out" "attempts: 3: the connector crashed while handling the event" "the dead letter has its reason"
try dead show -c "$scratch/turncast.conf" 1
has "$out" '{"type":"tool_call"' "the dead letter has its JSON"

# --- the directory of an instance ----------------------------------------------------------------
cat >"$scratch/writes.sh" <<'P'
#!/bin/sh
echo '{"tc":"hello","protocol":1,"name":"writes","wants":["final"],"delivers":true}'
while read -r line; do
    case $line in
    *'"tc":"event"'*)
        pwd >place && echo "I! writes in $(pwd)" >&2
        n=${line#*\"n\":}
        echo "{\"tc\":\"ack\",\"n\":${n%%[!0-9]*}}"
        ;;
    *'"tc":"stop"'*) exit ;;
    esac
done
P
chmod +x "$scratch/writes.sh"
mkdir "$scratch/tmp"
TMPDIR=$scratch/tmp try replay -v -p "exec,command=$scratch/writes.sh" "$turn"
has "$err" "writes in $scratch/tmp/turncast." "replay: a connector writes in its own directory"
is "$(ls "$scratch/tmp")" "" "replay: the directory is temporary"
cat >"$scratch/writes.conf" <<C
agents : { played : { command = ["cat", "$turn"]; }; };
plugins : { instances : { writes : { plugin = "exec"; command = ["./writes.sh"]; }; }; };
state_directory = "$scratch/state";
C
try run -c "$scratch/writes.conf" hello </dev/null
is "$status" 0 "run: a connector writes in its own directory"
is "$(cat "$scratch/state/instances/writes/place")" "$scratch/state/instances/writes" \
    "where it writes under serve"
mkdir "$scratch/here"
(cd "$scratch/here" && exec "$turncast" replay -p jsonl,isolation=process,paths=.,path=near.jsonl "$turn")
is "$?$(sed q "$scratch/here/near.jsonl" | cut -c1-15)" '0{"type":"start"' \
    "-p: a relative path is relative to the working directory of the user"

echo "1..$results"
exit $((failures > 0))
