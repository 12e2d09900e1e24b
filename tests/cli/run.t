#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast run with a test agent: the result object, exit statuses, slash tokens, signals.
. "$(dirname "$0")/cli.sh"

turn=$fixtures/turn.jsonl
off='{"show_thinking":false,"show_tools":false,"show_text":true,"show_narration":true,"show_final":true}'
tools='{"show_thinking":false,"show_tools":true,"show_text":true,"show_narration":true,"show_final":true}'

cat >"$scratch/turncast.conf" <<CONF
agents : {
    main : { command = ["$fake_agent", "play=$turn", "save=$scratch/input"]; };
    limited : { command = ["$fake_agent", "play=$TURNCAST_SRCDIR/tests/dialects/claude/2.1-max-turns-nopartial.jsonl"]; };
    refused : { command = ["$fake_agent", "play=$TURNCAST_SRCDIR/tests/dialects/claude/2.1-stop-refusal.jsonl"]; };
    bad : { command = ["$fake_agent", "play=$fixtures/failed.jsonl"]; };
    none : { command = ["$scratch/no-such-program"]; };
    crash : { command = ["$fake_agent", "errtext=out of luck", "exit=7"]; attempts = 1; };
    hang : { command = ["$fake_agent", "text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}", "sleep"];
             exit_grace_s = 0.2; term_grace_s = 0.2; };
    stubborn : { command = ["$fake_agent", "ignore=2", "ignore=15", "text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}", "sleep"];
             exit_grace_s = 600; term_grace_s = 600; };
    named : { command = ["$fake_agent", "dump=$scratch/dump", "play=$turn"];
              resume = ["mark=resumed", "{session_id}"]; };
    secret : { command = ["$fake_agent", "text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\",\"x\":\"Bearer abcdefghijklmnop\"}",
                          "text=Authorization: Bearer abcdefghijklmnop", "errtext=a word to the wise",
                          "ms=80", "text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"It **is** done.\",\"num_turns\":1}"]; };
    foreign : { command = ["true"]; dialect = "klingon"; };
};
default_agent = "main";
plugins : { instances : { log : { plugin = "jsonl"; path = "$scratch/log"; visibility = "agent"; }; }; };
CONF
TURNCAST_CONFIG=$scratch/turncast.conf
export TURNCAST_CONFIG

try run "How full is the disk?"
is "$status" 0 "a successful turn has status 0"
is "$err" "" "a successful turn prints nothing on stderr"
is "$(wc -l <"$scratch/out")" 1 "one line is printed on stdout"
is "$(sed 's/"duration_ms":[0-9]*/"duration_ms":0/; s/\("output_tokens":17\)[^}]*/\1/' "$scratch/out")" \
    '{"result":"The disk is at 89 %.","session_id":"5e551011-0000-4000-8000-000000000001","cost_usd":0.0125,"duration_ms":0,"num_turns":2,"is_error":false,"usage":{"input_tokens":25,"output_tokens":17},"tool_uses":[{"name":"Bash","input":{"command":"df /srv"}}]}' \
    "the result object"
has "$(cat "$scratch/input")" "How full is the disk?" "the message is written to stdin"
is "$(kinds <"$scratch/log" | tr ' ' '\n' | sort | uniq -c | awk '/(tool|thinking)/')" "" \
    "the connector got what people see"
is "$(sed -n '$p' "$scratch/log" | kinds)" 'done' "the log has the complete turn"

rm "$scratch/log"
echo "from stdin
second line" | "$turncast" run - >"$scratch/out"
is $? 0 "a message is read from standard input"
has "$(cat "$scratch/input")" 'from stdin\nsecond line' "the message is complete"

try run --agent bad hello
is "$status" 1 "a turn that ends in an error has status 1"
has "$out" '"is_error":true' "the result is marked as an error"
has "$out" '"error":"' "the result has the error"
for stopped in limited refused; do
    try run -a $stopped hello
    is "$status" 1 "$stopped: a turn without an answer fails"
    has "$out" '"is_error":true' "$stopped: the result is marked as an error"
    has "$out" '"error":"' "$stopped: the result has the reason"
done
try run -a crash hello
is "$status" 1 "an agent that exits with status 7 fails"
has "$out" "out of luck" "the error has the output on stderr"
try run -a none hello
is "$status" 3 "an agent that cannot be started has status 3"
has "$out" '"is_error":true' "its result is marked as an error"
has "$(tail -n 3 "$scratch/log")" '"code":"agent_spawn"' "connectors get the error"
why="cannot start agent \\\"none\\\": $scratch/no-such-program: No such file or directory"
has "$out" "$why" "the result names the agent and the program"
has "$(tail -n 3 "$scratch/log")" "$why" "the event names the agent and the program"
has "$err" "cannot start agent \"none\": $scratch/no-such-program: No such file or directory" "the log names the agent and the program"
try run -a nobody hello
is "$status $out" "2 " "an unknown agent has status 2"
has "$err" 'unknown agent "nobody" (configured: main, limited, refused, bad, none, ' "the error lists the agents"
try run -a foreign hello
is "$status" 2 "an unknown dialect has status 2"
has "$err" "$scratch/turncast.conf:17: agents.foreign.dialect: unknown dialect \"klingon\"" "the error has its position"
TURNCAST_CONFIG='' try run hello
is "$status" 2 "without a configuration the status is 2"
has "$err" "(built in): no agent is configured" "the error says that no agent is configured"
try run ""
is "$status" 2 "an empty message has status 2"
try run "$(printf 'caf\351')"
is "$status" 2 "a message that is not UTF-8 has status 2"
try run -c "$scratch/none.conf" hello
is "$status $err" "2 turncast: $scratch/none.conf: cannot open: No such file or directory" \
    "a missing configuration has status 2"
try run -p missing hello
is "$status" 2 "an unknown plugin has status 2"

session=5e551011-0000-4000-8000-000000000001
try run -a named -C chat-2 hello
lacks "$(cat "$scratch/dump")" resumed "the first turn of a conversation has no session"
try run -a named -C chat-2 hello
has "$(cat "$scratch/dump")" "\"mark=resumed\",\"$session\"" "the next turn resumes the session"
try run -a named -C chat-3 hello
lacks "$(cat "$scratch/dump")" resumed "another conversation does not"
try run -a named hello
lacks "$(cat "$scratch/dump")" resumed "a turn without one neither"
try run -a named -C chat-2 -s 5e55 hello
has "$(cat "$scratch/dump")" '"mark=resumed","5e55"' "--session overrides the conversation"
try run -a named -C chat-1 -s 5e55 hello
has "$(cat "$scratch/dump")" '"mark=resumed","5e55"' "--session resumes a session"

# Codex counts the usage of a session from its beginning.
cat >"$scratch/codex" <<'E'
cat >/dev/null
total=200
[ $# -eq 0 ] || total=300
echo '{"type":"thread.started","thread_id":"s-1"}'
echo '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"hi"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":'$total',"output_tokens":10}}'
E
cat >"$scratch/codex.conf" <<E
state_directory = "$scratch/codex.state";
agents : { codex : { command = ["sh", "$scratch/codex"]; resume = ["{session_id}"]; dialect = "codex"; }; };
E
try run -c "$scratch/codex.conf" -C talk hello
has "$out" '"input_tokens":200' "the usage of the first turn is reported unchanged"
try run -c "$scratch/codex.conf" -C talk hello
has "$out" '"input_tokens":100' "the input of the next turn is the difference"
has "$out" '"output_tokens":0' "the output of the next turn is the difference"

try run -p jsonl hello
is "$(sed '$d' "$scratch/out" | sed -n '1p;$p' | kinds)" "start done" "events on stdout come before the result"
has "$(sed -n '$p' "$scratch/out")" '{"result":"The disk is at 89 %."' "the result is the last line"
rm -f "$scratch/log"
trap '' HUP
"$turncast" run -a hang wait >"$scratch/out" 2>"$scratch/err" &
pid=$!
trap 'exit 1' HUP
wait_for test -s "$scratch/log"
kill -s HUP "$pid"
kill -s INT "$pid"
wait "$pid"
is "$? $(grep -c host_shutdown "$scratch/log")" "130 0" "under nohup SIGHUP is ignored, and SIGINT is not"

# Tokens.
rm -f "$scratch/log" "$scratch/input"
try run /stream-status
is "$status $out" "0 $off" "/stream-status prints the settings"
[ ! -e "$scratch/input" ] && [ ! -e "$scratch/log" ]
result $? "/stream-status starts neither the agent nor the connectors"
try run "go  /show-tools   on"
is "$status" 0 "a message with a token succeeds"
has "$(cat "$scratch/input")" '"go on"' "the token is not passed to the agent"
has "$(kinds <"$scratch/log")" "tool_call" "the token applies to this turn"
try visibility -a main
is "$out" "$tools" "the token is stored"
rm "$scratch/log"
try run "again"
has "$(kinds <"$scratch/log")" "tool_call" "the stored setting applies to the next turn"
try run "   /hide-tools "
is "$status $out" "0 $off" "a message of tokens only prints the settings"
try visibility -a main
is "$out" "$off" "the settings are stored"
try run "/show-tools, and  /SHOW-ALL"
has "$(cat "$scratch/input")" '"/show-tools, and  /SHOW-ALL"' "text that is not a token is unchanged"
try visibility -a main
is "$out" "$off" "text that is not a token changes no setting"

# Output formats.
try run -o text "How full is the disk?"
is "$out" 'The disk is at 89 %.' "--output text prints the answer"
try run -o text -a bad hello
is "$status:$out" "1:" "--output text prints nothing for a failed turn"
for option in --json '-o json'; do
    # shellcheck disable=SC2086
    try run $option hello
    has "$out" '{"result":"The disk is at 89 %."' "$option prints the result object"
done
try run -o stream-json -p null hello
is "$(kinds <"$scratch/out" | cut -d ' ' -f 1)" start "--output stream-json prints the events"
is "$(sed -n '$p' "$scratch/out" | kinds)" 'done' "--output stream-json prints the complete turn"
has "$out" '"text":"The disk is at 89 %."' "--output stream-json prints the answer"
is "$(grep -c '"tool_uses":' "$scratch/out")" 0 "--output stream-json prints no result object"
try run -o stream-json -p jsonl hello
is "$(grep -c '"type":"final"' "$scratch/out")" 1 "--output stream-json uses a configured instance of jsonl"
try run -o stream-json -p jsonl,path="$scratch/events" hello
is "$(grep -c '"type":"final"' "$scratch/out")$(grep -c '"type":"final"' "$scratch/events")" 11 \
    "an instance of jsonl that writes to a file is not used"
try run -o html hello
is "$status" 2 "an unknown output format is an error"
has "$err" 'invalid value "html"; valid values: text, json, stream-json' "the error lists the formats"
try run --json -o text hello
has "$err" 'exclude each other' "--json and --output exclude each other"

# Recordings.
record=$scratch/record.jsonl
try run -a secret --record "$record" hello
is "$status" 0 "--record succeeds"
is "$(sed -n 1p "$record")" '{"type":"system","subtype":"init","session_id":"s-1","x":"Bearer ***"}' \
    "secrets are masked, in JSON"
is "$(sed -n 2p "$record")" 'Authorization: ***' "secrets in other lines are masked"
is "$(wc -l <"$record")" 3 "the recording has every line"
is "$(stat -c %a "$record" "$scratch/record.meta.json" | tr '\n' ' ')" "600 600 " "only the user can read the recording"
has "$(cat "$scratch/record.meta.json")" '{"agent":"secret","dialect":"claude","line_ms":[0,' \
    "with the times of the lines"
[ "$(jq '.line_ms[2] > 0' "$scratch/record.meta.json")" = true ]
result $? "measured"
try replay -p jsonl "$record"
has "$out" 'It **is** done.' "replay plays the recording"
try run --record "$scratch/no/such" hello
is "$status" 2 "a recording that cannot be created is an error"
has "$err" "$scratch/no/such: cannot create" "the error is reported before the agent starts"
ln -s /dev/full "$scratch/full.jsonl"
try run --record "$scratch/full.jsonl" hello
has "$err" "the recording is incomplete" "a recording that cannot be written is reported"
is "$status" 0 "a recording that cannot be written does not fail the turn"

# -v logs the process of the agent.
try run -v -a secret hello
has "$err" "debug agent secret: starting in .: $fake_agent" "-v logs the command"
has "$err" "Bearer ***" "-v masks secrets"
has "$err" "debug agent secret: first output after " "-v logs the first output"
has "$err" "debug agent secret: stderr: a word to the wise" "-v logs standard error"
has "$err" "ended with status 0 after " "-v logs the end"
has "$err" "(stdout: " "-v logs the size of the output"

# Signals. interrupt NAME SIGNAL...: runs the agent in the background until it has begun, then sends
# the signals.
interrupt() {
    agent=$1
    shift
    rm -f "$scratch/log"
    "$turncast" run -a "$agent" wait >"$scratch/out" 2>"$scratch/err" &
    pid=$!
    wait_for grep -q start "$scratch/log"
    for signal; do
        kill -s "$signal" "$pid"
        sleep 0.3
    done
    wait "$pid"
    status=$?
}
interrupt hang INT
is "$status" 130 "SIGINT ends the turn"
has "$(sed -n '$p' "$scratch/log")" '"reason":"cancelled"' "SIGINT cancels the turn"
has "$(cat "$scratch/out")" '"session_id":"s-1"' "the result of a cancelled turn has the session"
has "$(cat "$scratch/out")" '"is_error":false' "the result of a cancelled turn is not an error"
has "$(cat "$scratch/out")" '"cancelled":true' "the result of a cancelled turn is marked as cancelled"
interrupt hang TERM
is "$status" 1 "SIGTERM ends the turn"
has "$(cat "$scratch/log")" 'host_shutdown' "SIGTERM ends the turn as a shutdown of the host"
interrupt stubborn INT INT
is "$status" 130 "the second SIGINT kills an agent that ignores the first"
finish
