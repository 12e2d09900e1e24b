#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast turns, send, tail and cancel beside a running host.
. "$(dirname "$0")/cli.sh"

host=
trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; rm -rf "$scratch"' EXIT
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
call='text={\"type\":\"assistant\",\"session_id\":\"s-1\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"command\":\"df\"}}]}}'
result='text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"It **is** done.\",\"num_turns\":1,\"total_cost_usd\":0.0125}'

cat >"$scratch/turncast.conf" <<CONF
agents : {
    main : { command = ["$fake_agent", "$init", "$call", "$result"]; };
    bad : { command = ["$fake_agent", "play=$fixtures/failed.jsonl"]; };
    evil : { command = ["$fake_agent", "$init",
        "text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"a\\\\u001b]0;title\\\\u0007b **c**\",\"num_turns\":1}"]; };
    hang : { command = ["$fake_agent", "$init", "sleep"]; exit_grace_s = 0.2; term_grace_s = 0.2; };
};
default_agent = "main";
plugins : { instances : { n : { plugin = "null"; }; }; };
conversations : { debounce_ms = 0; drain_s = 0.1; };
CONF
TURNCAST_CONFIG=$scratch/turncast.conf
export TURNCAST_CONFIG

for command in turns "send hello" tail "cancel x"; do
    # shellcheck disable=SC2086
    try $command
    is "$status" 1 "$command without a host"
    has "$err" "turncast serve is not running" "the error says that no host is running"
done

"$turncast" serve 2>"$scratch/log" &
host=$!
wait_for "$turncast" turns
try turns
is "$out" "No turns." "no turns are listed"
try tail nope
is "$status:$err" '1:turncast: unknown turn "nope"; see turncast turns' "an unknown turn is an error"

try send hello
is "$status" 0 "send waits for the turn"
has "$out" '"state":"final"' "send prints the turn"
has "$out" '"answer":"It **is** done."' "the turn has its answer"
has "$out" '"cost_usd":0.0125,' "the turn has the cost as the agent has printed it"
try send -o text hello
is "$out" 'It **is** done.' "-o text prints the answer"
script -qec "'$turncast' send -o text -a evil hello" "$scratch/script" >/dev/null </dev/null
lacks "$(cat "$scratch/script")" ']0;title' "an answer cannot act on the terminal"
has "$(cat "$scratch/script")" 'ab ' "the answer is rendered on a terminal"
echo "of standard input" | "$turncast" send - >"$scratch/out"
has "$(cat "$scratch/out")" '"task":"of standard input\n"' "the message is read from standard input"
try send -o stream-json hello
is "$(kinds <"$scratch/out")" "start step tool_call message step progress tool_result final usage done" \
    "or all events, hidden ones included"
try send -a bad hello
is "$status" 1 "send of a turn that fails has status 1"
has "$out" '"error":"' "the turn has its error"
try send -o text -a bad hello
is "$out" "" "-o text prints no answer of a failed turn"
has "$err" "turncast: turn " "the error is printed on stderr"
try send -a nope hello
is "$status" 1 "an unknown agent is an error"
has "$err" 'Unknown agent "nope"' "the host refuses the agent"
try send -o html hello
is "$status" 2 "an unknown output format is an error"
try send ""
is "$status" 2 "an empty message is an error"
try send /show-tools
has "$out" "Changed the visibility settings" "a message of tokens only changes the settings"
try send -C talk hello
has "$out" ':main:talk"' "the turn has its conversation"

try send -d -a hang wait
hang=$out
is "${#hang}" 36 "--detach prints the ID"
short=${hang%%-*}
wait_for sh -c "'$turncast' turns | grep -q '^$short  running'"
result $? "turns lists it as running"
try turns
has "$out" "TURN      STATE      AGENT       TIME         COST      MESSAGE" "turns prints a heading"
has "$out" "hang" "turns prints the agent"
try turns --json
has "$out" "\"id\":\"$hang\"" "turns --json prints the turn"

"$turncast" tail >"$scratch/tail" 2>&1 &
tail=$!
wait_for grep -q "Starting: wait" "$scratch/tail"
result $? "tail shows the running turn"
"$turncast" tail --json "$short" >"$scratch/tail.json" &
json=$!
wait_for grep -q '"type":"start"' "$scratch/tail.json"
result $? "tail --json prints the events"
try cancel "$short"
is "$status:$out" "0:Cancelled turn $hang." "cancel accepts the beginning of an ID"
wait "$tail"
has "$(cat "$scratch/tail")" "Complete: cancelled" "tail shows the end of the turn, and exits"
wait "$json"
is "$(sed -n '$p' "$scratch/tail.json" | kinds)" "done" "tail --json prints the end of the turn, and exits"
try cancel "$hang"
is "$status" 1 "cancel of a turn that has ended fails"
has "$err" "The turn has already ended." "the error says that the turn has ended"
try cancel
is "$status" 2 "cancel without a turn is refused"
try cancel --all
is "$out" "No turns are waiting or running." "cancel --all without turns"
try send -d -a hang one
try send -d -a hang two
try cancel --all
is "$status:$(echo "$out" | grep -c '^Cancelled turn ')" 0:2 "cancel --all cancels all turns"
try cancel ""
has "$err" "several turns match" "an ambiguous ID is refused"
try tail "$("$turncast" send -d hello)" -p jsonl /show-tools
has "$out" '"name":"Bash"' "tail accepts connectors and tokens"

# Ctrl-C while send waits. A shell starts background commands with SIGINT ignored.
for form in json text stream-json; do
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$turncast" send -a hang -o "$form" "wait $form" >"$scratch/out" 2>"$scratch/err" &
    sent=$!
    wait_for sh -c "'$turncast' turns | grep -q '  running .* wait $form'"
    # send knows the turn when it has a child process.
    wait_for grep -q . "/proc/$sent/task/$sent/children"
    kill -INT "$sent"
    wait "$sent"
    is "$?" 130 "send -o $form: Ctrl-C ends the command"
    id=$(sed -n 's/^turncast: turn \([0-9a-f-]*\) continues in turncast serve; to cancel it, run: .*/\1/p' "$scratch/err")
    has "$("$turncast" turns)" "${id%%-*}  running" "send -o $form: Ctrl-C does not end the turn"
    command=$(sed -n 's/.* run: turncast \(.*\)/\1/p' "$scratch/err")
    # shellcheck disable=SC2086 # a command and its argument
    try $command
    is "$status:$out" "0:Cancelled turn $id." "send -o $form: the printed command cancels the turn"
done

"$turncast" tail -f -p jsonl >"$scratch/tail" 2>/dev/null &
tail=$!
"$turncast" send -d -a hang first >/dev/null
wait_for grep -q '"task":"first"' "$scratch/tail"
"$turncast" cancel --all >/dev/null
wait_for grep -q '"type":"done"' "$scratch/tail"
"$turncast" send -d -a hang second >/dev/null
wait_for grep -q '"task":"second"' "$scratch/tail"
result $? "tail -f shows later turns"
kill "$tail"
wait "$tail"
kill "$host"
wait "$host"
is "$?" 0 "the host ends while streams are open"
host=
finish
