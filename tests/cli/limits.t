#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of connectors that exceed their limits (tests/fault/greedy.c): the log and `turncast status`
# name them and the limit, and the host and the other instances continue.
. "$(dirname "$0")/cli.sh"

greedy=$TURNCAST_BUILDDIR/tests/fault/greedy.so
state=$XDG_STATE_HOME/turncast
host=

# serve KEYS: starts a host with one greedy instance with these keys.
serve() {
    cat >"$scratch/turncast.conf" <<CONF
agents : { main : { command = ["$fake_agent", "play=$fixtures/turn.jsonl"]; }; };
default_agent = "main";
plugins : { instances : {
    greedy : { plugin = "$greedy"; $1 };
    well : { plugin = "jsonl"; path = "$scratch/well.jsonl"; };
}; };
log : { level = "info"; };
CONF
    rm -f "$scratch/err"
    "$turncast" serve -c "$scratch/turncast.conf" 2>>"$scratch/err" </dev/null &
    host=$!
    wait_for grep -q serving "$scratch/err" || sed 's/^/# /' "$scratch/err"
}

# says TEXT DESCRIPTION: waits until the log contains the text; longer than a window of cpu_percent.
says() {
    wait_for grep -qF -- "$1" "$scratch/err" || wait_for grep -qF -- "$1" "$scratch/err"
    result $? "$2"
    grep -qF -- "$1" "$scratch/err" || sed 's/^/# /' "$scratch/err"
}

# status_has TEXT: whether the status contains the text.
status_has() {
    "$turncast" status -c "$scratch/turncast.conf" | grep -A 2 '^greedy' | grep -q -- "$1"
}

pid_of_greedy() {
    "$turncast" status -c "$scratch/turncast.conf" --json |
        python3 -c 'import json, sys
print([i.get("pid", 0) for i in json.load(sys.stdin)["instances"] if i["name"] == "greedy"][0])'
}

finished() {
    kill -TERM "$host"
    wait "$host"
    is $? 0 "$1: the host ends"
    rm -rf "$state"
}

serve 'cpu_percent = 5; spinning = 2;'
is "$(ps -o ni= -p "$(pid_of_greedy)" | tr -d ' ' | grep -c '^[1-9]')" 1 \
    "a connector comes after the host from the beginning"
says 'instance greedy: CPU usage ' "CPU time: the log names the connector"
says '% exceeds cpu_percent = 5; lowest priority' "CPU time: the log has the limit and its effect"
wait_for status_has 'exceeds cpu_percent: '
result $? "CPU time: the status shows it"
pid=$(pid_of_greedy)
is "$(ps -L -o ni= -p "$pid" | tr -d ' ' | sort -u)" 19 "CPU time: all threads have the lowest priority"
status_has ' 0 % CPU'
is $? 1 "the status shows the usage"
finished "processor time"

serve 'threads = 10; sleeping = 20;'
says 'exceeds threads = 10; killing the process' "threads: the log has the limit"
says 'killed: too many threads' "threads: the process is killed"
says 'restarting in' "threads: the process is restarted"
finished threads

serve 'threads = 40; sleeping = 20;'
sleep 2
is "$(grep -c killed "$scratch/err")" 0 "threads: a process below the limit is not killed"
finished "fewer threads"

serve 'disk_mb = 4; files = 8;'
says "$state/instances/greedy is full: 4 MiB (disk_mb = 4); killing the process" \
    "room: the log names the connector, its folder and the limit"
says 'instance greedy: file 0: Permission denied' "disk: the restarted process cannot write"
wait_for status_has 'exceeds disk_mb: '
result $? "disk: the status shows it"
rm -f "$state"/instances/greedy/[0-9]
: >"$scratch/err"
says 'disk usage is below disk_mb again' "disk: the limit is no longer exceeded"
says 'instance greedy: file 0: written' "disk: the process can write again"
finished room

serve 'disk_mb = 4; files = 1; size = 6;'
says 'instance greedy: file 0: File too large' "disk: a single file cannot exceed the limit"
finished "a large file"

finish
