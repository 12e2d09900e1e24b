#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast visibility: the stored switches of each agent, over the configured ones.
. "$(dirname "$0")/cli.sh"

off='{"show_thinking":false,"show_tools":false,"show_text":true,"show_narration":true,"show_final":true}'
tools='{"show_thinking":false,"show_tools":true,"show_text":true,"show_narration":true,"show_final":true}'
stored=$XDG_STATE_HOME/turncast/visibility.db

try visibility
is "$status $out" "0 $off" "the defaults"
[ ! -e "$stored" ]
result $? "asking stores nothing"
try visibility /stream-status
is "$status $out" "0 $off" "/stream-status asks, too"
try visibility /hide-tools
[ ! -e "$stored" ]
result $? "a token that changes nothing stores nothing"

try visibility /show-tools
is "$status $out" "0 $tools" "a token"
[ -s "$stored" ]
result $? "is stored"
try visibility -a default
is "$out" "$tools" "for the agent called default"
try visibility --agent other
is "$out" "$off" "for that agent only"
try visibility -a other /show-all /hide-thinking
is "$out" \
    '{"show_thinking":false,"show_tools":true,"show_text":true,"show_narration":true,"show_final":true}' \
    "several, in their order"
try visibility "/hide-all  /show-thinking"
is "$out" \
    '{"show_thinking":true,"show_tools":false,"show_text":true,"show_narration":false,"show_final":true}' \
    "several in one word"

cp "$stored" "$scratch/before"
try visibility /show-all /show-text
is "$status" 2 "a word that is no token"
has "$err" 'unknown token "/show-text"; use /show-X or /hide-X' "is named"
cmp -s "$stored" "$scratch/before"
result $? "and nothing is stored"
try visibility --agent ../x /show-all
is "$status" 2 "a name that is no file name"
has "$err" "invalid agent name" "says so"

echo 'this is no database' >"$stored"
try visibility
is "$status $out" "0 $off" "a damaged file: the defaults"
has "$err" "$stored: damaged: cannot read" "and it is told"
try visibility /show-tools
is "$(cat "$stored.damaged")" 'this is no database' "the next change keeps it"
try visibility
is "$out" "$tools" "and replaces it"

cat >"$scratch/some.conf" <<CONF
agents : { main : { command = ["true"]; }; second : { command = ["true"]; }; };
default_agent = "main";
visibility : { show_text = false; show_tools = true; };
state_directory = "here";
CONF
try visibility -c "$scratch/some.conf"
is "$out" \
    '{"show_thinking":false,"show_tools":true,"show_text":false,"show_narration":false,"show_final":false}' \
    "configured switches; narration and final follow text"
try visibility -c "$scratch/some.conf" /show-final
try visibility -c "$scratch/some.conf" -a main
is "$out" \
    '{"show_thinking":false,"show_tools":true,"show_text":false,"show_narration":false,"show_final":true}' \
    "stored for the default agent"
[ -s "$scratch/here/visibility.db" ]
result $? "in the configured folder"
try visibility -c "$scratch/some.conf" -a seconds
is "$status" 2 "an agent that is not there"
has "$err" "$scratch/some.conf: unknown agent \"seconds\" (did you mean \"second\"?)" "says so"

: >"$scratch/file"
cat >"$scratch/bad.conf" <<CONF
state_directory = "file/below";
CONF
try visibility -c "$scratch/bad.conf" /show-tools
is "$status" 2 "a state directory that cannot be made"
has "$err" "$scratch/file/below: cannot create the directory: Not a directory" "says so"
finish
