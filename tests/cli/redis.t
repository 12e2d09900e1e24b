#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast visibility and run with Redis: what others keep there is seen, what cannot be told to it
# is kept here, and nobody learns the password.
. "$(dirname "$0")/cli.sh"

if ! command -v redis-cli >/dev/null || ! command -v redis-check-rdb >/dev/null; then
    echo "1..0 # SKIP redis-tools is not installed"
    exit 0
fi
socket=$scratch/redis.sock
key=bots:stream_config:main
password=correct-horse-battery
shown='"show_text":true,"show_narration":true,"show_final":true}'

# The server by its own name, however its file is called.
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
is "$status $out$err" "0 {\"show_thinking\":false,\"show_tools\":false,$shown" "nothing is stored"
try visibility /show-tools
is "$status $err" "0 " "a change"
is "$(redis hget "$key" show_tools)" 1 "is in Redis"
redis hset "$key" show_thinking 1 >/dev/null
try visibility
is "$out" "{\"show_thinking\":true,\"show_tools\":true,$shown" "what others change is seen"
try run "go /hide-thinking on"
is "$status $err" "0 " "a turn with a word in its message"
is "$(redis hget "$key" show_thinking)" 0 "changes it, too"

kill "$server"
wait "$server" 2>/dev/null
try visibility
is "$status $out" "0 {\"show_thinking\":false,\"show_tools\":true,$shown" "without it: what is known"
has "$err" "$socket: cannot connect" "and a warning"
try visibility /show-thinking
is "$status $out" "0 {\"show_thinking\":true,\"show_tools\":true,$shown" "a change counts here"
has "$err" "Redis unavailable; visibility stored locally until it is back" "which is told"
try run again
is "$status" 0 "a turn runs"
has "$(cat "$scratch/log")" '"type":"thinking"' "as it says"

start
is "$(redis exists "$key")" 0 "(it forgot all)"
try visibility
is "$status $err" "0 " "back"
is "$(redis hget "$key" show_thinking)" 1 "it is told what it missed"

printf 'another-password\n' >"$scratch/key"
try visibility /hide-all
is "$status" 0 "a wrong password: as if it were away"
has "$err" "WRONGPASS" "and told so"
case $err in *another-password* | *"$password"*) false ;; esac
result $? "without the password"
redis set "$key" text >/dev/null
printf '%s\n' "$password" >"$scratch/key"
try visibility /show-all
is "$status" 2 "a key of somebody else: refused"
has "$err" "Redis key $key has an unexpected format; ignoring it" "and told"
is "$(redis get "$key")" text "it is left alone"
finish
