#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast visibility and run with Redis: changes by others are read, changes while Redis
# is unreachable are stored locally, and the password is not printed.
. "$(dirname "$0")/cli.sh"

if ! command -v redis-cli >/dev/null || ! command -v redis-check-rdb >/dev/null; then
    echo "1..0 # SKIP redis-tools is not installed"
    exit 0
fi
socket=$scratch/redis.sock
key=bots:stream_config:main
password=correct-horse-battery
shown='"show_text":true,"show_narration":true,"show_final":true}'

# Starts the server under its own name, whatever the name of its file.
start() {
    python3 -c 'import os, sys; os.execvp("redis-check-rdb", ["redis-server"] + sys.argv[1:])' \
        --port 0 --unixsocket "$socket" --dir "$scratch" --save '' --requirepass "$password" \
        >/dev/null &
    server=$!
    wait_for answers
}
answers() {
    [ "$(redis ping)" = PONG ]
}
redis() {
    REDISCLI_AUTH=$password redis-cli -s "$socket" "$@"
}
trap 'kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT

printf '%s\n' "$password" >"$scratch/key"
chmod 600 "$scratch/key"
cat >"$scratch/turncast.conf" <<CONF
agents : { main : { command = ["$fake_agent", "play=$fixtures/turn.jsonl"]; }; };
store : { kind = "redis"; redis : { address = "$socket"; prefix = "bots"; password_file = "key"; }; };
plugins : { instances : { log : { plugin = "jsonl"; path = "$scratch/log"; visibility = "agent"; }; }; };
CONF
TURNCAST_CONFIG=$scratch/turncast.conf
export TURNCAST_CONFIG

start
try visibility
is "$status $out$err" "0 {\"show_thinking\":false,\"show_tools\":false,$shown" "without stored settings the defaults are printed"
try visibility /show-tools
is "$status $err" "0 " "a change succeeds"
is "$(redis hget "$key" show_tools)" 1 "the change is in Redis"
redis hset "$key" show_thinking 1 >/dev/null
try visibility
is "$out" "{\"show_thinking\":true,\"show_tools\":true,$shown" "a change by others is printed"
try run "go /hide-thinking on"
is "$status $err" "0 " "a turn with a token succeeds"
is "$(redis hget "$key" show_thinking)" 0 "the token changes the setting in Redis"

kill "$server"
wait "$server" 2>/dev/null
try visibility
is "$status $out" "0 {\"show_thinking\":false,\"show_tools\":true,$shown" "without Redis the last known settings are printed"
has "$err" "$socket: cannot connect" "without Redis a warning is printed"
try visibility /show-thinking
is "$status $out" "0 {\"show_thinking\":true,\"show_tools\":true,$shown" "without Redis a change applies locally"
has "$err" "Redis unavailable; visibility stored locally until it is back" "the local change is reported"
try run again
is "$status" 0 "a turn without Redis succeeds"
has "$(cat "$scratch/log")" '"type":"thinking"' "the turn uses the local settings"

start
is "$(redis exists "$key")" 0 "(Redis has lost its data)"
try visibility
is "$status $err" "0 " "Redis is reachable again"
is "$(redis hget "$key" show_thinking)" 1 "Redis gets the local change"

printf 'another-password\n' >"$scratch/key"
try visibility /hide-all
is "$status" 0 "a wrong password is treated like an unreachable server"
has "$err" "WRONGPASS" "the wrong password is reported"
case $err in *another-password* | *"$password"*) false ;; esac
result $? "the password is not printed"
redis set "$key" text >/dev/null
printf '%s\n' "$password" >"$scratch/key"
try visibility /show-all
is "$status" 2 "a key of another program is not changed"
has "$err" "Redis key $key has an unexpected format; ignoring it" "the key of another program is reported"
is "$(redis get "$key")" text "the key of another program is unchanged"
finish
