#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the profiles of share/agents/: each is read as installed, and runs a program with the
# name of its agent. The program stores its input and plays a recording, or a dialog if the profile
# is interactive.
. "$(dirname "$0")/cli.sh"

mkdir "$scratch/bin"
PATH=$scratch/bin:$PATH
GREETING="-hello, --yolo"

# program NAME COMMAND...: creates the program NAME, which stores its arguments, environment and
# stdin, then runs COMMAND.
program() {
    cat >"$scratch/bin/$1" <<PROGRAM
#!/bin/sh
printf '%s\n' "\$@" >"$scratch/args"
env >"$scratch/env"
$2
PROGRAM
    chmod +x "$scratch/bin/$1"
}

# Reads a line or the end of file, because an agent whose stdin stays open must not wait for its
# end.
plays="IFS= read -r line; printf '%s\\n' \"\$line\" >\"$scratch/stdin\""

# agent NAME RECORDING ARGUMENTS RESUMED SET PASSED STDIN FINAL: tests all properties of a profile.
agent() {
    name=$1
    recording=$TURNCAST_SRCDIR/tests/dialects/$2.jsonl
    conf=$scratch/$name.conf
    cp "$TURNCAST_SRCDIR/share/agents/$name.conf" "$conf"
    chmod 600 "$conf"
    program "$name" "$plays; cat '$recording'"
    try check "$conf"
    is "$status$err" 0 "$name: turncast check reports nothing"
    export SECRET_OF_THE_HOST=1 "$6=passed"
    try run -c "$conf" -- "$GREETING"
    unset "$6"
    is "$status" 0 "$name: a turn succeeds"
    is "$(tr '\n' ' ' <"$scratch/args")" "$3 " "$name: arguments"
    lacks "$(cat "$scratch/args")" "hello" "rule 4: $name: the message is not an argument"
    is "$(cat "$scratch/stdin")" "$7" "rule 4: $name: the message is on stdin"
    has "$(cat "$scratch/env")" "$5" "$name: variables are set"
    has "$(cat "$scratch/env")" "$6=passed" "$name: variables are passed on"
    lacks "$(cat "$scratch/env")" SECRET_OF_THE_HOST "$name: and nothing else"
    has "$out" "{\"result\":\"$8\"" "$name: the answer"
    lacks "$err" "error agent" "$name: a good turn logs no error"

    try run -c "$conf" -s 0a1b2c3d-0000-4000-8000-000000000001 -- "$GREETING"
    is "$(tr '\n' ' ' <"$scratch/args")" "$3 $4 " "$name: the arguments of a resumed session"
}

# fails NAME STATUS: tests an agent that prints nothing on stdout and a reason on stderr.
fails() {
    sed -i 's/dialect = /attempts = 1; dialect = /' "$scratch/$1.conf"
    program "$1" "$plays; echo 'the reason' >&2; exit $2"
    try run -c "$scratch/$1.conf" hello
    is "$status" 1 "$1: status $2 without output is an error"
    has "$out" "the reason" "$1: the error has the reason from stderr"
}

# stops NAME RECORDING WANTED: interrupts the agent within its turn.
stops() {
    rm -f "$scratch/began" "$scratch/stopped"
    program "$1" "trap 'echo signal >\"$scratch/stopped\"; exit 1' INT
$plays
head -n 2 '$TURNCAST_SRCDIR/tests/dialects/$2.jsonl'
: >\"$scratch/began\"
IFS= read -r line && echo \"\$line\" >\"$scratch/stopped\"
while :; do sleep 0.05; done"
    "$turncast" run -c "$scratch/$1.conf" -p "jsonl,path=$scratch/log" hello >"$scratch/out" 2>&1 &
    pid=$!
    wait_for test -e "$scratch/began"
    wait_for grep -q '"type":"start"' "$scratch/log"
    kill -s INT "$pid"
    wait_for test -s "$scratch/stopped"
    has "$(cat "$scratch/stopped")" "$3" "$1: the agent is interrupted as configured"
    kill -s INT "$pid" 2>/dev/null
    wait "$pid"
    is "$?" 130 "$1: the turn is stopped"
    has "$(sed -n '$p' "$scratch/log")" '"reason":"cancelled"' "$1: the turn is reported as cancelled"
    rm -f "$scratch/log"
}

# asks RECORDING WORD FINAL NAME: runs the profile in a dialog, which the program verifies.
asks() {
    program claude "exec python3 '$TURNCAST_SRCDIR/tests/fake/dialog.py' \
'$TURNCAST_SRCDIR/tests/dialogs/claude/$1.dialog' ignore=client_composed 'report=$scratch/report' '$2'"
    try run -c "$scratch/claude.conf" Go
    is "$status" 0 "$4: a turn succeeds"
    has "$out" "{\"result\":\"$3\"" "$4: the answer"
    lacks "$(cat "$scratch/report")" "not ok" "$4"
    has "$(cat "$scratch/report")" "1..4" "$4: the dialog is complete"
}

line='{"type":"user","message":{"role":"user","content":"-hello, --yolo"},"parent_tool_use_id":null,"session_id":"","client_composed":true}'
agent claude claude/2.1-narr-tool-final \
    "-p --output-format stream-json --input-format stream-json --verbose --include-partial-messages --permission-prompt-tool stdio" \
    "--resume=0a1b2c3d-0000-4000-8000-000000000001" \
    DISABLE_AUTOUPDATER=1 ANTHROPIC_API_KEY "$line" \
    "The command printed hello-from-tool. All done."
agent codex codex/narration-tool-final \
    "exec --json --skip-git-repo-check -s read-only" \
    "resume 0a1b2c3d-0000-4000-8000-000000000001 -" \
    NO_COLOR=1 OPENAI_API_KEY "$GREETING" "hello.txt holds two lines and 6 words."
agent gemini gemini/narration-tool-final \
    "-o stream-json --skip-trust --approval-mode default" \
    "--resume 0a1b2c3d-0000-4000-8000-000000000001" \
    GEMINI_CLI_NO_RELAUNCH=true GOOGLE_CLOUD_PROJECT "$GREETING" \
    "hello.txt holds two lines and 6 words."
agent opencode opencode/narration-tool-final \
    "run --format json" \
    "--session 0a1b2c3d-0000-4000-8000-000000000001" \
    OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_CONFIG "$GREETING" \
    "hello.txt holds two lines and 6 words."
agent qwen qwen/narration-tool-final \
    "-o stream-json --include-partial-messages --approval-mode default" \
    "--resume 0a1b2c3d-0000-4000-8000-000000000001" \
    NO_COLOR=1 OPENAI_BASE_URL "$GREETING" "hello.txt holds two lines and 6 words."
agent copilot copilot/narration-tool-final \
    "--output-format json --no-ask-user" \
    "--resume=0a1b2c3d-0000-4000-8000-000000000001" \
    COPILOT_AUTO_UPDATE=false COPILOT_MODEL "$GREETING" "hello.txt holds two lines and 6 words."

finished="Finished after the permission step."
reply='{"type":"control_response","response":{"subtype":"success","request_id":'
asks 2.1-ctl-error-response "swap=2,$reply\"ec2a7141-d7f0-4236-8461-c33bf621f434\",\"response\":\
{\"behavior\":\"deny\",\"message\":\"Denied: no connector is available to ask a person.\"}}}" \
    "$finished" "claude: a request that nobody can answer is denied"
sed -i 's/^        # mode = .*/        approvals = ({ action = "allow"; tool = "Bash"; });/' \
    "$scratch/claude.conf"
asks 2.1-ctl-answer-unknown-id skip=2 "$finished" "claude: a rule allows the request"

# talks NAME PROGRAM RECORDING ARGUMENTS SET PASSED MODE RESUMED FINAL: tests a profile of an agent
# that speaks JSON-RPC. Its arguments are constant: the session and the mode are set by messages.
talks() {
    conf=$scratch/$1.conf
    cp "$TURNCAST_SRCDIR/share/agents/$1.conf" "$conf"
    chmod 600 "$conf"
    program "$2" "exec python3 '$TURNCAST_SRCDIR/tests/fake/rpc.py' \
    '$TURNCAST_SRCDIR/tests/dialects/$3.jsonl' '$scratch/stdin'"
    try check "$conf"
    is "$status$err" 0 "$1: turncast check reports nothing"
    export SECRET_OF_THE_HOST=1 "$6=passed"
    try run -c "$conf" -- "$GREETING"
    unset "$6"
    is "$status" 0 "$1: a turn succeeds"
    is "$(tr '\n' ' ' <"$scratch/args")" "$4 " "$1: arguments"
    has "$(cat "$scratch/stdin")" '[{"type":"text","text":"-hello, --yolo"}]' \
        "rule 4: $1: the message is on stdin"
    has "$(cat "$scratch/stdin")" "$7" "$1: the mode of the agent"
    has "$(cat "$scratch/env")" "$5" "$1: variables are set"
    has "$(cat "$scratch/env")" "$6=passed" "$1: variables are passed on"
    lacks "$(cat "$scratch/env")" SECRET_OF_THE_HOST "$1: and nothing else"
    has "$out" "{\"result\":\"$9\"" "$1: the answer"

    resumed=0a1b2c3d-0000-4000-8000-000000000001
    try run -c "$conf" -s "$resumed" -- "$GREETING"
    is "$(tr '\n' ' ' <"$scratch/args")" "$4 " "$1: a resumed session has the same arguments"
    has "$(cat "$scratch/stdin")" "$8\",\"params\":{\"${10}\":\"$resumed\"" \
        "$1: but another request"
    has "$out" "{\"result\":\"$9\"" "$1: the answer of the resumed session"
}

talks gemini-acp gemini acp/gemini-narration-tool-final "--acp" GEMINI_CLI_NO_RELAUNCH=true \
    GOOGLE_CLOUD_PROJECT '"modeId":"default"' session/load "Two lines." sessionId
talks opencode-acp opencode acp/opencode-todos "acp" OPENCODE_DISABLE_AUTOUPDATE=1 \
    OPENCODE_CONFIG '"modeId":"build"' session/resume "Planned." sessionId
talks qwen-acp qwen acp/gemini-tool-fail "--acp" NO_COLOR=1 OPENAI_BASE_URL \
    '"modeId":"default"' session/load "Missing." sessionId
talks copilot-acp copilot acp/copilot-narration-tool-final "--acp" COPILOT_AUTO_UPDATE=false \
    COPILOT_MODEL '"clientCapabilities":{"fs":{"readTextFile":false' session/load "Two lines." sessionId
talks codex-app codex codex-app/drop-recover "app-server" NO_COLOR=1 OPENAI_API_KEY \
    '"approvalPolicy":"on-request"' thread/resume "Second attempt complete." threadId

fails claude 1
fails codex 2
fails gemini 41
fails opencode 1
fails qwen 53
fails copilot 1

stops claude claude/2.1-narr-tool-final '"subtype":"interrupt"'
stops codex codex/sigint-tool signal
stops gemini gemini/sigterm-tool-group signal
stops opencode opencode/sigint-tool signal
stops qwen qwen/sigint-stream-group signal
stops copilot copilot/sigint-tool signal

# The rules for running an agent. quick NAME KEYS: prints its profile with shorter times.
quick() {
    sed "/_timeout_s/d; /_grace_s/d; s/dialect = /attempts = 1; $2 dialect = /" \
        "$TURNCAST_SRCDIR/share/agents/$1.conf" >"$scratch/$1.conf"
    chmod 600 "$scratch/$1.conf"
}
quick codex ""
program codex "cat >'$scratch/stdin'; cat '$TURNCAST_SRCDIR/tests/dialects/codex/narration-tool-final.jsonl'"
try run -c "$scratch/codex.conf" hello
is "$status $(cat "$scratch/stdin")" "0 hello" "rule 3: the end of stdin is reached"

quick gemini "exit_grace_s = 0.2; term_grace_s = 5;"
program gemini "trap '' INT
trap 'until [ -s \"$scratch/child\" ]; do sleep 0.05; done; exit 0' TERM
(trap 'echo stopped >\"$scratch/child\"; exit' TERM
: >\"$scratch/ready\"
while :; do sleep 0.05; done) &
until [ -e '$scratch/ready' ]; do sleep 0.05; done
head -n 1 '$TURNCAST_SRCDIR/tests/dialects/gemini/sigterm-tool-group.jsonl'
wait"
"$turncast" run -c "$scratch/gemini.conf" -p "jsonl,path=$scratch/log" hello >"$scratch/out" 2>&1 &
pid=$!
wait_for grep -q '"type":"start"' "$scratch/log"
kill -s INT "$pid"
wait "$pid"
is "$? $(cat "$scratch/child")" "130 stopped" "rule 2: a signal reaches the child of a wrapper"

quick qwen "idle_timeout_s = 0.3; exit_grace_s = 0.2; term_grace_s = 0.2;"
program qwen "head -n 2 '$TURNCAST_SRCDIR/tests/dialects/qwen/narration-tool-final.jsonl'; exec sleep 60"
try run -c "$scratch/qwen.conf" hello
is "$status" 1 "rule 5: a silent agent is stopped"
has "$out" '"error":' "rule 5: the silent agent ends with an error"
quick codex "turn_timeout_s = 0.5; exit_grace_s = 0.2; term_grace_s = 0.2;"
program codex "cat '$TURNCAST_SRCDIR/tests/dialects/codex/connection-refused.jsonl'
while :; do tail -n 1 '$TURNCAST_SRCDIR/tests/dialects/codex/connection-refused.jsonl'; sleep 0.05; done"
try run -c "$scratch/codex.conf" hello
is "$status" 1 "rule 5: an agent that prints without end is stopped, too"
has "$out" '"error":' "rule 5: it ends with an error, too"

quick opencode ""
program opencode "echo 'Error: all is lost' >&2; cat '$TURNCAST_SRCDIR/tests/dialects/opencode/narration-tool-final.jsonl'"
try run -c "$scratch/opencode.conf" hello
is "$status" 0 "rule 14: output on stderr is not an error"
lacks "$out" "all is lost" "rule 14: output on stderr is not reported"
finish
