#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast answer beside a running host: open requests are answered once, by their ID or
# its beginning.
. "$(dirname "$0")/cli.sh"

talker=$TURNCAST_BUILDDIR/tests/fault/talker.so
file=$scratch/turncast.conf
said=$scratch/said
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
# asks ID COMMAND: prints a request for permission to run the command, in the form of Claude Code.
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

# Forty lines, escaped in a JSON string within JSON.
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

# open: prints the IDs of the open requests.
open() {
    "$turncast" answer --json | python3 -c 'import json, sys
print(*[r["id"] for r in json.load(sys.stdin)["requests"]])'
}
is_open() {
    [ "$(open)" = "$*" ]
}

try answer
is "$status" 1 "without a host the command fails"
has "$err" "turncast serve is not running" "the error says that no host is running"

: >"$scratch/in"
"$turncast" serve -v 2>"$scratch/err.host" </dev/null &
host=$!
wait_for test -S "$XDG_STATE_HOME/turncast/control"
try answer
is "$status $out" "0 No open requests." "no request is open"
try answer allow
is "$status $err" "1 turncast: no open requests" "without an open request answering fails"

echo "m1 1 A work" >>"$scratch/in"
wait_for is_open req-1 req-12
is "$(open)" "req-1 req-12" "two requests are open"
try answer
has "$out" '
  Bash:
  | rm -rf build<U+001B>[2J' "what would be done, all of it visible"
has "$out" " of main, for " "the list names the turn"
has "$out" "expires in " "the list has the expiry"
has "$("$turncast" status)" "Open requests: 2 (run: turncast answer --list)" "the status has the number of requests"
is "$("$turncast" status --json | sed 's/.*"open_requests":\([0-9]*\).*/\1/')" 2 "the JSON of the status has the number of requests"

lacks "$out" "last one" "of a long one the beginning"
has "$out" "
  | line 11
  [29 more lines; see turncast answer --show req-12]" "the list says how much text is missing"
try answer --show req-12
is "$status" 0 "a request is shown"
has "$out" "
  | [40 lines]
  | make
  | line 2
" "from its first line"
has "$out" "
  | the last one" "to its last"
try answer --show req-1 deny
is "$status" 2 "--show excludes a decision"

try answer allow
is "$status $err" "1 turncast: several requests are open; select one by its ID (2); see turncast answer --list" \
    "with several requests an ID is required"
try answer req allow
is "$status $err" "1 turncast: several requests match this ID (2); see turncast answer --list" \
    "an ambiguous beginning of an ID is refused"
try answer req-3 allow
is "$status $err" '1 turncast: no open request "req-3"; see turncast answer --list' "an unknown ID is refused"
try answer req-1 answer --answer no
is "$status $err" "1 turncast: This choice is not available for this request." "a choice that the request does not have is refused"
is "$(open)" "req-1 req-12" "refused answers change nothing"

try answer req-1 deny --reason "not that
 one, \"please\""
is "$status $out" "0 Denied." "a complete ID that is the beginning of another one selects its request"
try answer req-1 allow
is "$status $err" '0 ' "the beginning of an ID selects its request"
is "$out" "Allowed." "the request is allowed"
wait_for is_open ask-1
has "$(cat "$said")" 'not that\n one, \"please\"' "the agent gets the reason"

try answer
has "$out" '    0: "Which colour?" ["Red" | "Blue"]
    1: "Which parts?" ["Door" | "Roof"]' "questions, with what can be answered"
try answer --answer Paint=Blue
is "$status $err" "1 turncast: Please answer every question." "an incomplete answer is refused"
try answer --answer Paint=Blue --answer 0=Red
is "$status" 2 "two answers to a question with one choice are refused"
try answer --answer Where=Here
is "$status" 2 "an answer to an unknown question is refused"
try answer ask --answer Paint=Blue --answer 1=Roof --answer "1=the a=b"
is "$status $out" "0 Answered." "questions are answered by header and id, with options and a text"
wait_for grep -q '^done talk:A completed' "$scratch/told"
has "$(cat "$said")" '"Which colour?":"Blue"' "the agent gets the answers"
is "$(open)" "" "no request is open"
try answer ask-1 deny
is "$status $err" '1 turncast: no open request "ask-1"; see turncast answer --list' "a request that was answered cannot be answered again"
has "$(cat "$scratch/err.host")" "operator ($(id -un))" "the log names the user"
kill "$host"
wait "$host"
host=
finish
