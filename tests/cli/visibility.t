#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast visibility: the stored settings of each agent, which override the configured
# ones.
. "$(dirname "$0")/cli.sh"

off='{"show_thinking":false,"show_tools":false,"show_text":true,"show_narration":true,"show_final":true}'
tools='{"show_thinking":false,"show_tools":true,"show_text":true,"show_narration":true,"show_final":true}'
stored=$XDG_STATE_HOME/turncast/visibility.db

try visibility
is "$status $out" "0 $off" "the defaults are printed"
[ ! -e "$stored" ]
result $? "printing stores nothing"
try visibility /stream-status
is "$status $out" "0 $off" "/stream-status prints the settings"
try visibility /hide-tools
[ ! -e "$stored" ]
result $? "a token that changes nothing stores nothing"

try visibility /show-tools
is "$status $out" "0 $tools" "a token changes a setting"
[ -s "$stored" ]
result $? "the setting is stored"
try visibility -a default
is "$out" "$tools" "the setting applies to the agent called default"
try visibility --agent other
is "$out" "$off" "the setting applies to its agent only"
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
is "$status" 2 "an unknown token is an error"
has "$err" 'unknown token "/show-text"; use /show-X or /hide-X' "the error names the token"
cmp -s "$stored" "$scratch/before"
result $? "an unknown token stores nothing"
try visibility --agent ../x /show-all
is "$status" 2 "an agent whose name is not a file name is an error"
has "$err" "invalid agent name" "the error says that the name is invalid"

echo 'this is no database' >"$stored"
try visibility
is "$status $out" "0 $off" "a damaged file: the defaults apply"
has "$err" "$stored: damaged: cannot read" "the damaged file is reported"
try visibility /show-tools
is "$(cat "$stored.damaged")" 'this is no database' "the next change keeps a copy of the damaged file"
try visibility
is "$out" "$tools" "the next change replaces the damaged file"

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
result $? "the settings are stored in the configured folder"
try visibility -c "$scratch/some.conf" -a seconds
is "$status" 2 "an unknown agent is an error"
has "$err" "$scratch/some.conf: unknown agent \"seconds\" (did you mean \"second\"?)" "the error suggests the nearest agent"

: >"$scratch/file"
cat >"$scratch/bad.conf" <<CONF
state_directory = "file/below";
CONF
try visibility -c "$scratch/bad.conf" /show-tools
is "$status" 2 "a state directory that cannot be created is an error"
has "$err" "$scratch/file/below: cannot create the directory: Not a directory" "the error names the directory"
finish
