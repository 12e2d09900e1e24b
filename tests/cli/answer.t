#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast answer beside a host that serves: what is open, answered once, by id or its begin.
. "$(dirname "$0")/cli.sh"

talker=$TURNCAST_BUILDDIR/tests/fault/talker.so
file=$scratch/turncast.conf
said=$scratch/said
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
# asks ID COMMAND: the agent asks leave for it, in Claude Code's words.
asks() {
    printf 'text={\\"type\\":\\"control_request\\",\\"request_id\\":\\"%s\\",\\"request\\":{\\"subtype\\":\\"can_use_tool\\",\\"tool_name\\":\\"Bash\\",\\"input\\":{\\"command\\":\\"%s\\"}}}' \
        "$1" "$2"
}
colour='{\"question\":\"Which colour?\",\"header\":\"Paint\",\"options\":[{\"label\":\"Red\"},{\"label\":\"Blue\"}],\"multiSelect\":false}'
parts='{\"question\":\"Which parts?\",\"header\":\"Parts\",\"options\":[{\"label\":\"Door\"},{\"label\":\"Roof\"}],\"multiSelect\":true}'
questions="text={\\\"type\\\":\\\"control_request\\\",\\\"request_id\\\":\\\"ask-1\\\",\\\"request\\\":{\\\"subtype\\\":\\\"can_use_tool\\\",\\\"tool_name\\\":\\\"AskUserQuestion\\\",\\\"input\\\":{\\\"questions\\\":[$colour,$parts]}}}"
result='text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",\"session_id\":\"s-1\",\"num_turns\":1}'
mark=mark=answer-$$
host=

trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; pgrep -f "$mark" | xargs -r kill -9; rm -rf "$scratch"' EXIT

# Forty lines, as JSON in JSON.
long='make'
i=1
while [ $((i += 1)) -lt 40 ]; do long="$long\\\\nline $i"; done
long="$long\\\\nthe last one"

cat >"$file" <<CONF
agents : {
    main : { command = ["$fake_agent", "$mark", "$init", "$(asks req-1 'rm -rf build\\u001b[2J')",
             "$(asks req-12 "$long")", "tee=$said", "await=req-1", "await=req-12", "$questions",
             "await=ask-1", "$result", "eof"]; };
};
default_agent = "main";
plugins : { instances : {
    talk : { plugin = "$talker"; paths = ["$scratch"]; in = "$scratch/in"; out = "$scratch/told";
        grants = ["submit", "answer"]; allow = (1); };
}; };
conversations : { debounce_ms = 0; drain_s = 0.1; };
CONF
TURNCAST_CONFIG=$file
export TURNCAST_CONFIG

# open: the ids of what is open, in a row.
open() {
    "$turncast" answer --json | python3 -c 'import json, sys
print(*[r["id"] for r in json.load(sys.stdin)["requests"]])'
}
is_open() {
    [ "$(open)" = "$*" ]
}

try answer
is "$status" 1 "no host"
has "$err" "turncast serve is not running" "is said"

: >"$scratch/in"
"$turncast" serve -v 2>"$scratch/err.host" </dev/null &
host=$!
wait_for test -S "$XDG_STATE_HOME/turncast/control"
try answer
is "$status $out" "0 No open requests." "nothing is open"
try answer allow
is "$status $err" "1 turncast: no open requests" "nor can it be answered"

echo "m1 1 A work" >>"$scratch/in"
wait_for is_open req-1 req-12
is "$(open)" "req-1 req-12" "two are open"
try answer
has "$out" '
  Bash:
  | rm -rf build<U+001B>[2J' "what would be done, all of it visible"
has "$out" " of main, for " "whose it is"
has "$out" "expires in " "and until when"
has "$("$turncast" status)" "Open requests: 2 (run: turncast answer --list)" "status tells how many"
is "$("$turncast" status --json | sed 's/.*"open_requests":\([0-9]*\).*/\1/')" 2 "to programs, too"

lacks "$out" "last one" "of a long one the beginning"
has "$out" "
  | line 11
  [29 more lines; see turncast answer --show req-12]" "and how much is missing"
try answer --show req-12
is "$status" 0 "one is shown"
has "$out" "
  | [40 lines]
  | make
  | line 2
" "from its first line"
has "$out" "
  | the last one" "to its last"
try answer --show req-1 deny
is "$status" 2 "without deciding it"

try answer allow
is "$status $err" "1 turncast: several requests are open; select one by its ID (2); see turncast answer --list" \
    "which one has to be said"
try answer req allow
is "$status $err" "1 turncast: several requests match this ID (2); see turncast answer --list" \
    "so that it is clear"
try answer req-3 allow
is "$status $err" '1 turncast: no open request "req-3"; see turncast answer --list' "of those that are open"
try answer req-1 answer --answer no
is "$status $err" "1 turncast: This choice is not available for this request." "with a choice that it has"
is "$(open)" "req-1 req-12" "or nothing is changed"

try answer req-1 deny --reason "not that
 one, \"please\""
is "$status $out" "0 Denied." "the whole id of the one that another begins with"
try answer req-1 allow
is "$status $err" '0 ' "the begin of an id"
is "$out" "Allowed." "allows"
wait_for is_open ask-1
has "$(cat "$said")" 'not that\n one, \"please\"' "the reason is told to the agent"

try answer
has "$out" '    0: "Which colour?" ["Red" | "Blue"]
    1: "Which parts?" ["Door" | "Roof"]' "questions, with what can be answered"
try answer --answer Paint=Blue
is "$status $err" "1 turncast: Please answer every question." "half an answer"
try answer --answer Paint=Blue --answer 0=Red
is "$status" 2 "two answers where there is one"
try answer --answer Where=Here
is "$status" 2 "a question that is not asked"
try answer ask --answer Paint=Blue --answer 1=Roof --answer "1=the a=b"
is "$status $out" "0 Answered." "by header and id, with options and other words"
wait_for grep -q '^done talk:A completed' "$scratch/told"
has "$(cat "$said")" '"Which colour?":"Blue"' "arrives"
is "$(open)" "" "and nothing is open"
try answer ask-1 deny
is "$status $err" '1 turncast: no open request "ask-1"; see turncast answer --list' "too late"
has "$(cat "$scratch/err.host")" "operator ($(id -un))" "the log says who"
kill "$host"
wait "$host"
host=
finish
