#!/bin/sh
# SPDX-License-Identifier: MIT
# An instance in a process of its own: it gets what one in the host gets; it dies, hangs, lies, and
# is told the rest in its next life, while the host and the others go on.
. "$(dirname "$0")/cli.sh"

turn=$fixtures/turn.jsonl
recorder=$TURNCAST_BUILDDIR/tests/fault/recorder.so

# replay INSTANCE...: beside a healthy one in the host.
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

# other [KEY...]: the instance under test.
other() {
    echo "other : { plugin = \"$recorder\"; isolation = \"process\"; paths = [\"$scratch\"];
                    path = \"$scratch/other.jsonl\"; $* };"
}

# What it was told, but for what every replay makes anew.
told() {
    sed 's/"correlation_id":"[^"]*"//; s/"ts":[0-9.]*//' "$scratch/$1.jsonl"
}

replay "$(other)"
is "$status" 0 "a turn"
is "$(told other)" "$(told well)" "told alike on both sides"
all=$(told well | wc -l)
lacks "$err" "instance other" "and nothing to say of it"

# Dies once: the rest comes in the next life, the event that it died of among it.
replay "$(other 'chaos = ({ what = "crash"; callback = "on_tool_call"; every = 1; trigger = "'"$scratch"'/trigger"; });')"
is "$(told other)" "$(told well)" "no trigger, no crash"
ends_badly() {
    replay "$(other "chaos = ({ what = \"$1\"; text = \"tool_call\\\"\"; });")"
    is "$(told well | wc -l)" "$all" "$1: the healthy one"
    has "$err" "instance other: process" "$1: an obituary"
    has "$err" "restarting in 1000 ms" "$1: what follows"
}
for how in crash abort exit; do
    ends_badly $how
    is "$status" 1 "$how: an event is lost"
    has "$err" "turncast: instance other: lost 1 event" "$how: which the program says"
    is "$(told other | grep -c '"resumed":true')" 1 "$how: the turn is told again, as one that goes on"
    has "$(told other | kinds)" "final" "$how: the outcome comes all the same"
    has "$err" "moved to dead letters" "$how: what it dies of each time is given up"
done
# These notice nothing, and say that they did what they were asked to.
ends_badly close
ends_badly garbage
has "$err" "killed: protocol violation (malformed frame)" "garbage: no more is read of it"

replay "$(other 'callback_ms = 200; chaos = ({ what = "hang"; text = "tool_call\""; });')"
is "$(told well | wc -l)" "$all" "hang: the healthy one"
has "$err" "instance other: on_" "hang: in what"
has "$err" "killed after a hang" "hang: an obituary"
has "$(told other | kinds)" "final" "hang: the outcome comes all the same"

replay "$(other 'chaos = ({ what = "crash"; callback = "init"; });')"
is "$status $(told well | wc -l)" "0 $all" "one that dies at its start"
has "$err" "instance other: disabled: process exited during start-up" "is told"

denied=$TURNCAST_BUILDDIR/tests/fault/denied.so
try replay -p "$denied" "$turn"
has "$err" "callback on_start returned an error in turn" "a file that the sandbox refuses"
has "$err" "(EACCES); the sandbox permits files below paths" "names the key"
try replay -p "$denied,what=socket" "$turn"
has "$err" "(EPERM); the sandbox permits sockets only if the instance has ports" "and that of a socket"
try replay -p "$denied,isolation=thread" "$turn"
lacks "$err" "sandbox" "without a sandbox nothing is said of it"
is "$(pgrep -f -- "turncast-connector other" | wc -l)" 0 "none of its processes is left"

# The program that plugins are loaded by: it is missed by name, and none but the host's is taken.
connector=$TURNCAST_CONNECTOR
TURNCAST_CONNECTOR=$scratch/older
replay "$(other)"
has "$err" "helper program turncast-connector is not installed" "it is missed"
# older WORD: what begins with that word is called as by a host of another version.
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
has "$err" "does not match the running turncast; restart turncast" "that of another version tries nothing"
is "$(ls "$scratch"/*.jsonl 2>/dev/null)" "" "so nothing is loaded"
older other
has "$err" "error instance other: version" "nor is it an instance, which the log says"
is "$(told well | wc -l)" "$all" "the healthy one goes on"
TURNCAST_CONNECTOR=$connector

# Nobody's init waits for another's to return: these would wait for each other in vain.
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
is "$status $err" "0 " "six start at once, in threads and in processes"

# A configuration is named from where one stands, and its folders from where it is; the process of a
# plugin works elsewhere.
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
is "$(told written/other | wc -l)" "$all" "it is told all"

# Where there is a journal, what it dies of each time is a dead letter.
cat >"$scratch/turncast.conf" <<CONF
agents : { main : { command = ["$fake_agent", "play=$turn"]; }; };
default_agent = "main";
plugins : { instances : { $(other 'chaos = ({ what = "crash"; text = "tool_call\""; });') }; };
CONF
try run -c "$scratch/turncast.conf" hello
is "$status" 0 "a run beside one that dies of an event"
has "$err" "tool_call of turn" "which is given up"
try dead list -c "$scratch/turncast.conf"
has "$out" "other  event of turn" "it is a dead letter"
has "$out" "attempts: 3: the connector crashed while handling the event" "with its reason"
try dead show -c "$scratch/turncast.conf" 1
has "$out" '{"type":"tool_call"' "and its line"

# --- its own directory ---------------------------------------------------------------------------
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
has "$err" "writes in $scratch/tmp/turncast." "replay: a connector writes in a directory of its own"
is "$(ls "$scratch/tmp")" "" "which is temporary"
cat >"$scratch/writes.conf" <<C
agents : { played : { command = ["cat", "$turn"]; }; };
plugins : { instances : { writes : { plugin = "exec"; command = ["./writes.sh"]; }; }; };
state_directory = "$scratch/state";
C
try run -c "$scratch/writes.conf" hello </dev/null
is "$status" 0 "run: it writes, too"
is "$(cat "$scratch/state/instances/writes/place")" "$scratch/state/instances/writes" \
    "where it writes under serve"
mkdir "$scratch/here"
(cd "$scratch/here" && exec "$turncast" replay -p jsonl,isolation=process,paths=.,path=near.jsonl "$turn")
is "$?$(sed q "$scratch/here/near.jsonl" | cut -c1-15)" '0{"type":"start"' \
    "-p: a relative path begins where the user is, also of a plugin with a process"

echo "1..$results"
exit $((failures > 0))
