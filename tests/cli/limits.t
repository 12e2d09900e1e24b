#!/bin/sh
# SPDX-License-Identifier: MIT
# Connectors that take more of the machine than they may (tests/fault/greedy.c): the log and
# `turncast status` name them and the limit, the host and the healthy ones go on.
. "$(dirname "$0")/cli.sh"

greedy=$TURNCAST_BUILDDIR/tests/fault/greedy.so
state=$XDG_STATE_HOME/turncast
host=

# serve KEYS: with one greedy instance of those keys.
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

# says TEXT DESCRIPTION: the log, sooner or later; for as long as a window of cpu_percent lasts, too.
says() {
    wait_for grep -qF -- "$1" "$scratch/err" || wait_for grep -qF -- "$1" "$scratch/err"
    result $? "$2"
    grep -qF -- "$1" "$scratch/err" || sed 's/^/# /' "$scratch/err"
}

# status_has TEXT: in what status prints of it.
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
    is $? 0 "$1: the host ends well"
    rm -rf "$state"
}

serve 'cpu_percent = 5; spinning = 2;'
is "$(ps -o ni= -p "$(pid_of_greedy)" | tr -d ' ' | grep -c '^[1-9]')" 1 \
    "a connector comes after the host from the beginning"
says 'instance greedy: CPU usage ' "processor time: the log names the connector"
says '% exceeds cpu_percent = 5; lowest priority' "and the limit, and what follows"
wait_for status_has 'exceeds cpu_percent: '
result $? "so does status"
pid=$(pid_of_greedy)
is "$(ps -L -o ni= -p "$pid" | tr -d ' ' | sort -u)" 19 "all its threads have the lowest priority"
status_has ' 0 % CPU'
is $? 1 "status says what it takes"
finished "processor time"

serve 'threads = 10; sleeping = 20;'
says 'exceeds threads = 10; killing the process' "threads: the log names the limit"
says 'killed: too many threads' "an obituary, too"
says 'restarting in' "it starts again"
finished threads

serve 'threads = 40; sleeping = 20;'
sleep 2
is "$(grep -c killed "$scratch/err")" 0 "fewer threads than that are no fault"
finished "fewer threads"

serve 'disk_mb = 4; files = 8;'
says "$state/instances/greedy is full: 4 MiB (disk_mb = 4); killing the process" \
    "room: the log names the connector, its folder and the limit"
says 'instance greedy: file 0: Permission denied' "its next life cannot write there"
wait_for status_has 'exceeds disk_mb: '
result $? "status says so"
rm -f "$state"/instances/greedy/[0-9]
: >"$scratch/err"
says 'disk usage is below disk_mb again' "until there is room again"
says 'instance greedy: file 0: written' "then it writes again"
finished room

serve 'disk_mb = 4; files = 1; size = 6;'
says 'instance greedy: file 0: File too large' "one file alone cannot be larger than the limit"
finished "a large file"

finish
