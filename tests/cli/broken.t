#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of invalid configurations: turncast check and a running host report each with its position,
# and the host keeps its configuration.
. "$(dirname "$0")/cli.sh"

file=$scratch/turncast.conf
out_file=$scratch/told
fault=$TURNCAST_BUILDDIR/tests/fault
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
hi='text={\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},\"session_id\":\"s-1\"}'
mark=mark=broken-$$
host=
trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; pgrep -f "$mark" | xargs -r kill -9; rm -rf "$scratch"' EXIT

# Prints the valid configuration; told: the file of the instance.
conf() {
    cat >"$file" <<CONF
agents : {
    slow : {
        command = ["$fake_agent", "$mark", "$init", "$hi", "print_on=10", "sleep"];
        term_grace_s = 0.2;
        max_line_bytes = 65536;
    };
};
default_agent = "slow";
plugins : {
    directory = "$TURNCAST_PLUGIN_PATH";
    instances : {
        talk : {
            plugin = "$fault/talker.so"; paths = ["$scratch"];
            in = "$scratch/in"; out = "$1";
            grants = ["submit"];
            allow = (1);
        };
    };
};
visibility : { show_tools = true; };
conversations : { debounce_ms = 0; drain_s = 0.1; };
http : {
    visibility = "agent";
};
log : { level = "info"; };
CONF
}

: >"$scratch/in"
: >"$out_file"
conf "$out_file"
try check "$file"
is "$status" 0 "the valid configuration is accepted"
"$turncast" serve -c "$file" 2>"$scratch/err.host" </dev/null &
host=$!
wait_for test -S "$XDG_STATE_HOME/turncast/control"
echo "m1 1 A work" >>"$scratch/in"
wait_for grep -q ^says "$out_file"

# broken LINE TEXT POSITION MESSAGE: replaces LINE of the valid configuration by TEXT, and changes
# the file of its instance.
cases=0
broken() {
    conf "$scratch/never"
    awk -v n="$1" -v text="$2" 'NR == n { print text; next } { print }' "$file" >"$scratch/next"
    cat "$scratch/next" >"$file"
    cases=$((cases + 1))
    "$turncast" check "$file" >"$scratch/check" 2>&1
    checked=$?
    try reload -c "$file"
    if [ "$checked" -ne 0 ] && grep -qF "$file:$3: $4" "$scratch/check"; then
        has "$status $err" "1 turncast: " "$cases: $4"
        has "$err" "$file:$3: $4" "$cases: the host reports the same"
    else
        result 1 "$cases: $4"
        sed 's/^/# /' "$scratch/check"
    fi
}

broken 1 'agents : [' 2 'syntax error'
broken 1 'agent : {' 1 'agent: unknown key (did you mean "agents"?)'
broken 2 '    1 : {' 2 'syntax error'
broken 3 '' 2 'agents.slow: required key "command" is missing'
broken 3 '        command = "x";' 3 'agents.slow.command: expected a list of strings, found a string'
broken 3 '        command = [];' 3 'agents.slow.command: must not be empty'
broken 3 '        command = ["x", "{nobody}"];' 3 'agents.slow.command[1]: unknown placeholder'
broken 3 '        comand = ["x"];' 3 'agents.slow.comand: unknown key (did you mean "command"?)'
broken 4 '        term_grace_s = 3601;' 4 'agents.slow.term_grace_s: 3601 s is out of range; use 0 to 3600 s'
broken 4 '        term_grace_s = "1 s";' 4 'agents.slow.term_grace_s: expected a number of seconds, found a string'
broken 4 '        attempts = 0;' 4 'agents.slow.attempts: 0 is out of range; use 1 to 10'
broken 4 '        env_set = ["A"];' 4 'agents.slow.env_set[0]: "A" is not valid; expected NAME=value'
broken 4 '        env_pass = ["A=b"];' 4 'agents.slow.env_pass[0]: "A=b" is not valid; expected the name'
broken 4 '        cwd = "";' 4 'agents.slow.cwd: must not be empty'
broken 5 '        max_line_bytes = 1;' 5 'agents.slow.max_line_bytes: 1 is out of range'
broken 5 '        max_line_bytes = 1; max_line_bytes = 2;' 5 'duplicate setting name'
broken 8 'default_agent = "fast";' 8 'default_agent: unknown agent "fast" (configured: slow'
broken 8 'default_agent = 1;' 8 'default_agent: expected a string, found an integer'
broken 10 '    directory = 1;' 10 'plugins.directory: expected a list of strings, found an integer'
broken 10 '    autoload = "yes";' 10 'plugins.autoload: expected true or false, found a string'
broken 11 '    instances = [' 12 'syntax error'
broken 12 '        talk* : {' 12 'plugins.instances.talk*: invalid name'
broken 13 "            plugin = \"$fault/none.so\";" 12 "plugins.instances.talk: $fault/none.so: "
broken 13 "            plugin = \"$fault/nosymbol.so\";" 12 'plugins.instances.talk: '
broken 13 "            plugin = \"$fault/badoption.so\";" 12 'plugins.instances.talk: '
broken 13 "            plugin = \"$fault/newminor.so\";" 12 'plugins.instances.talk: '
broken 13 '            plugin = "nowhere";' 12 'plugins.instances.talk: nowhere: plugin not found'
broken 14 "            in = \"$scratch/in\";" 12 'plugins.instances.talk.out: missing required option'
broken 14 "            in = \"x\"; out = \"$scratch/never\"; on = 1;" 14 'plugins.instances.talk.on: unknown option (did you mean "in"?)'
broken 14 "            in = \"x\"; out = \"$scratch/never\"; die = \"so\";" 14 'plugins.instances.talk.die: invalid value "so"; expected true or false'
broken 14 "            in = \"x\"; out = [1];" 14 'plugins.instances.talk.out[0]: expected a string, found an integer'
broken 15 '            grants = ["sumbit"];' 15 'plugins.instances.talk.grants[0]: invalid value "sumbit"; valid values: '
broken 15 '            grants = "submit";' 15 'plugins.instances.talk.grants: expected a list of strings, found a string'
broken 15 '            agent = "fast";' 12 'plugins.instances.talk.agent: unknown agent "fast" (configured: slow'
broken 15 '            queue_events = 1;' 15 'plugins.instances.talk.queue_events: 1 is out of range'
broken 15 '            wants = ["all"];' 15 'plugins.instances.talk.wants[0]: invalid value "all"; valid values: '
broken 15 '            visibility = "none";' 15 'plugins.instances.talk.visibility: invalid value "none"; valid values: '
broken 15 '            audience = "me";' 15 'plugins.instances.talk.audience: invalid value "me"; valid values: '
broken 16 '            allow = 1;' 16 'plugins.instances.talk.allow: expected a list of IDs, found an integer'
broken 16 '            allow = (1.5);' 16 'plugins.instances.talk.allow[0]: expected an ID'
broken 20 'visibility : { show_tool = true; };' 20 'visibility.show_tool: unknown key'
broken 21 'conversations : { debounce_ms = 60001; };' 21 'conversations.debounce_ms: 60001 is out of range; use 0 to 60000'
broken 21 'conversations : { per_user = 0; };' 21 'conversations.per_user: 0 is out of range'
broken 23 '    listen = "localhost:80";' 23 'http.listen: invalid address "localhost:80"; use ADDRESS:PORT'
broken 23 '    listen = "0.0.0.0:80";' 22 'http: 0.0.0.0:80 is reachable from other machines; set http.allow_remote = true'
broken 23 '    listen = "0.0.0.0:80"; allow_remote = true;' 22 'http: 0.0.0.0:80 is reachable from other machines; define at least one key'
broken 23 '    hosts = ["a:80"];' 23 'http.hosts[0]: invalid host name "a:80"'
broken 23 '    origins = ["https://a/"];' 23 'http.origins[0]: invalid origin "https://a/"'
broken 23 '    keys : { a : { secret = "short"; grants = ["watch"]; }; };' 23 'http.keys.a: the secret is too short; use at least 16'
broken 23 '    keys : { a : { secret_file = "none"; grants = ["watch"]; }; };' 23 'http.keys.a: cannot open secret'
broken 23 '    keys : { a : { secret = "0123456789abcdef"; }; };' 23 'http.keys.a: required key "grants" is missing'
broken 23 '    keys : { a : { secret = "0123456789abcdef"; grants = ["all"]; }; };' 23 'http.keys.a.grants[0]: invalid value "all"'
broken 23 '    on_disconnect = "stop";' 23 'http.on_disconnect: invalid value "stop"; valid values: '
broken 24 '}; store : { kind = "mongodb"; };' 24 'store.'
broken 25 'log : { level = 7; };' 25 'log.level: expected a string, found an integer'
broken 25 'log : { format = "xml"; };' 25 'log.format: invalid value "xml"; valid values: '
[ "$cases" -ge 50 ]
result $? "$cases invalid configurations"

[ ! -e "$scratch/never" ]
result $? "no part of an invalid configuration was applied"
conf "$out_file"
try reload -c "$file"
has "$status $out" "0 Reloaded $file." "the valid configuration is reloaded"
lacks "$out" "started" "the reload changes nothing"
pkill -USR1 -f "$mark"
wait_for grep -q '^done talk:A completed' "$out_file"
result $? "the running turn ends"
is "$(grep -c '^start' "$out_file")" 1 "the running turn was not restarted"
kill "$host"
wait "$host"
is $? 0 "the host ends"
host=
finish
