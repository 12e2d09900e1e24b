#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast check and turncast plugins.
. "$(dirname "$0")/cli.sh"

plugins=${TURNCAST_PLUGIN_PATH:?}

try check
is "$status $out" "0 (built in): OK (0 agents, 1 instance)" "without a configuration"
cat >"$scratch/good.conf" <<CONF
agents : { a : { command = ["sh", "-c", "true"]; }; };
plugins : { instances : {
    cli : { };
    out : { plugin = "jsonl"; path = "x"; };
}; };
CONF
try check "$scratch/good.conf"
is "$status $out" "0 $scratch/good.conf: OK (1 agent, 2 instances)" "a valid configuration"
TURNCAST_CONFIG=$scratch/good.conf try check
is "$status" 0 "a configuration named by the environment"
mkdir "$XDG_CONFIG_HOME/turncast"
cp "$scratch/good.conf" "$XDG_CONFIG_HOME/turncast/turncast.conf"
try check
has "$out" "$XDG_CONFIG_HOME/turncast/turncast.conf: OK" "the configuration of the user"
rm -r "$XDG_CONFIG_HOME/turncast"

# The installed configuration is valid unchanged, and with all examples enabled.
sed -e 's/"claude", "-p"/"sh", "-c"/' -e 's/^#\(  .*\)/\1/; s/^#\([a-z_]* [=:] \)/\1/; s/^#};/};/' \
    -e "s,directory = \[\"plugins\"\],directory = [\"$plugins\"]," \
    -e "s,/var/log/turncast,$scratch," "${TURNCAST_SRCDIR:?}/etc/turncast.conf" >"$scratch/all.conf"
cp "$TURNCAST_SRCDIR/etc/turncast.conf" "$scratch/shipped.conf"
for file in phone.key bus.password bus-ca.pem lab-ca.pem lab.key nats.password; do
    echo "user:a key of this test" >"$scratch/$file"
    chmod 600 "$scratch/$file"
done
try check "$scratch/shipped.conf"
is "$status $out" "0 $scratch/shipped.conf: OK (0 agents, 1 instance)" "the installed configuration"
[ "$(id -u)" = 0 ] || sed -i '/^ *user = /d' "$scratch/all.conf" # which only root may say
grep -o 'env:[A-Z_]*' "$scratch/all.conf" | cut -d : -f 2 >"$scratch/variables"
while read -r variable; do
    export "$variable=1:a-secret-of-the-example"
done <"$scratch/variables"
export SLACK_BOT_TOKEN=xoxb-a-token SLACK_APP_TOKEN=xapp-a-token
try check "$scratch/all.conf"
has "$status $out" "0 $scratch/all.conf: OK (3 agents, " "the installed configuration with all examples"
is "$(grep -c '^ *#' "$scratch/all.conf")" "$(grep -c '^ *# \|^#$' "$scratch/all.conf")" \
    "only prose is left as comments"

cat >"$scratch/bad.conf" <<CONF
agents : {
    a : { command = ["no-such-program-here"]; };
    b : { command = ["sh"]; dialect = "klingon"; };
};
plugins : { instances : {
    one : { plugin = "missing"; };
    two : { plugin = "jsonl";
            pathe = "x"; };
}; };
CONF
try check "$scratch/bad.conf"
is "$status" 2 "an invalid configuration"
has "$out" "$scratch/bad.conf:2: agents.a.command: program \"no-such-program-here\" not found or not executable; install it, or write its full path" \
    "a missing program is reported"
has "$out" "$scratch/bad.conf:3: agents.b.dialect: unknown dialect \"klingon\"; see turncast.conf(5), DIALECTS" "an unknown dialect is reported"
has "$out" "$scratch/bad.conf:6: plugins.instances.one: " "an unknown plugin is reported"
has "$out" "$scratch/bad.conf:8: plugins.instances.two.pathe: unknown option (did you mean \"path\"?)" "an unknown option is reported"
is "$(wc -l <"$scratch/out")" 4 "all four errors are reported"
echo 'plugins : { instances : { jsonl : { visibilty = "all"; }; }; };' >"$scratch/host.conf"
try check "$scratch/host.conf"
is "$status $out" \
    "2 $scratch/host.conf:1: plugins.instances.jsonl.visibilty: unknown option (did you mean \"visibility\"?)" \
    "a misspelt key of the host"
cat >"$scratch/people.conf" <<CONF
agents : { a : { command = ["sh"]; }; };
plugins : { instances : {
    one : { plugin = "null"; grants = ["submit"]; };
    two : { plugin = "null"; allow = [1]; };
    three : { plugin = "null"; grants = ["submit"]; allow = [1]; allow_chats = []; };
    four : { plugin = "null"; grants = ["submit", "cancel"]; allow = (1, "U2"); };
}; };
CONF
try check "$scratch/people.conf"
is "$status $out" "0 $scratch/people.conf:3: warning: plugins.instances.one: grants \"submit\", but allow is empty: nobody can send messages; add allow = (ID, ...)
$scratch/people.conf:4: warning: plugins.instances.two: allow has no effect without grants: messages are ignored; add grants = [\"submit\"]
$scratch/people.conf:5: warning: plugins.instances.three: allow_chats is empty: messages from every chat are rejected; remove it or list chats
$scratch/people.conf: OK (1 agent, 4 instances)" "R21: settings that permit nobody are reported"
cat >"$scratch/asks.conf" <<CONF
agents : { a : { command = ["sh", "--permission-prompt-tool", "stdio"]; };
    b : { command = ["sh"]; };
    c : { command = ["sh"]; dialect = "acp"; approvals = (
        { action = "ask"; tool = "*"; to = ["talk", "http"]; } ); };
};
default_agent = "a";
plugins : { instances : {
    talk : { plugin = "null"; grants = ["submit", "cancel"]; allow = [1]; };
}; };
CONF
try check "$scratch/asks.conf"
is "$status $out" "0 $scratch/asks.conf:1: warning: agents.a: can ask for approval, but no instance or HTTP key is allowed to answer; add \"answer\" to the grants of one
$scratch/asks.conf:3: warning: agents.c: can ask for approval, but no instance or HTTP key is allowed to answer; add \"answer\" to the grants of one
$scratch/asks.conf:4: warning: agents.c.approvals: to: nobody in instance \"talk\" is allowed to answer; add \"answer\" to its grants
$scratch/asks.conf: OK (3 agents, 1 instance)" "requests that nobody can answer are reported"
# --- arguments with which turns hang or lose their answer ----------------------------------------
mkdir -p "$scratch/agents"
for name in claude codex gemini opencode qwen copilot; do
    printf '#!/bin/sh\n' >"$scratch/agents/$name"
    chmod 755 "$scratch/agents/$name"
done
# warns COMMAND DIALECT WARNING: checks the warning for an agent with this command; - for none.
warns() {
    echo "agents : { a : { command = [$1]; dialect = \"$2\"; env_set = [\"IS_SANDBOX=${sandbox:-1}\"]; }; };" \
        >"$scratch/flags.conf"
    chmod 600 "$scratch/flags.conf"
    PATH=$scratch/agents:$PATH try check -c "$scratch/flags.conf"
    if [ "$3" = - ]; then
        is "$out" "$scratch/flags.conf: OK (1 agent, 1 instance)" "$2: $1: no warning"
    else
        has "$status $out" "0 $scratch/flags.conf:1: warning: agents.a.command: $3
$scratch/flags.conf: OK" "$2: $1"
    fi
}
stream='"claude", "-p", "--verbose", "--output-format", "stream-json"'
warns "$stream" claude -
warns '"claude", "--print", "--verbose", "--output-format=stream-json"' claude -
warns '"claude", "--verbose", "--output-format", "stream-json"' claude "claude starts the interactive interface, which waits for a terminal; add -p"
warns '"claude", "-p", "--verbose", "--output-format", "json"' claude "claude prints no event stream; add --output-format stream-json"
warns '"claude", "-p", "--verbose"' claude "claude prints no event stream; add --output-format stream-json"
warns '"claude", "-p", "--output-format", "stream-json"' claude "claude prints nothing but an error with --output-format stream-json; add --verbose"
warns "$stream, \"--max-turns=5\"" claude "claude with --max-turns ends without an answer when the limit is reached; remove it, and use turn_timeout_s"
warns "$stream, \"-c\"" claude "claude with --continue mixes conversations: it resumes the last session of the directory; use resume"
warns "$stream, \"--dangerously-skip-permissions\"" claude -
if [ "$(id -u)" -eq 0 ]; then
    sandbox=0
    warns "$stream, \"--dangerously-skip-permissions\"" claude "claude refuses --dangerously-skip-permissions for root; set user, or IS_SANDBOX=1 in env_set"
    sandbox=
fi
warns '"codex", "--json"' codex "codex starts the interactive interface, which waits for a terminal; add exec"
warns '"codex", "exec"' codex "codex prints no event stream; add --json"
warns '"codex"' codex-app "codex starts the interactive interface, which waits for a terminal; add app-server"
warns '"gemini", "--output-format", "text"' gemini "gemini prints no event stream; add -o stream-json"
warns '"gemini"' acp "gemini starts the interactive interface, which waits for a terminal; add --acp"
warns '"opencode", "--format", "json"' opencode "opencode starts the interactive interface, which waits for a terminal; add run"
warns '"opencode", "run"' opencode "opencode prints no event stream; add --format json"
warns '"opencode"' acp "opencode starts the interactive interface, which waits for a terminal; add acp"
warns '"qwen", "-o", "stream-json", "--max-session-turns", "3"' qwen "qwen with --max-session-turns ends without an answer when the limit is reached; remove it, and use turn_timeout_s"
warns '"qwen", "-o", "stream-json", "--max-tool-calls", "3"' qwen "qwen with --max-tool-calls ends without an answer when the limit is reached; remove it, and use turn_timeout_s"
warns '"qwen"' qwen "qwen prints no event stream; add -o stream-json"
warns '"qwen"' acp "qwen starts the interactive interface, which waits for a terminal; add --acp"
warns '"copilot"' copilot "copilot prints no event stream; add --output-format json"
warns '"copilot"' acp "copilot starts the interactive interface, which waits for a terminal; add --acp"
try check -c "$scratch/flags.conf" "$scratch/asks.conf"
has "$status $err" "2 turncast check: name one file" "more than one file is refused"

sed 's/"cancel"/"answer"/' "$scratch/asks.conf" >"$scratch/answers.conf"
try check "$scratch/answers.conf"
is "$status $out" "0 $scratch/answers.conf: OK (3 agents, 1 instance)" "requests that somebody can answer are not reported"
sed 's/^agents.*/agents : { a : { command = ["sh"]; }; b : { command = ["sh"]; }; };/' \
    "$scratch/people.conf" >"$scratch/whose.conf"
try check "$scratch/whose.conf"
is "$status" 2 "an instance without an agent is an error"
has "$out" "$scratch/whose.conf:6: plugins.instances.four: no agent; set agent here or default_agent" "the missing agent is reported"
echo 'logs = 1;' >"$scratch/broken.conf"
try check "$scratch/broken.conf"
is "$status $out" "2 $scratch/broken.conf:1: logs: unknown key (did you mean \"log\"?)" "an unknown key"
cp "$scratch/good.conf" "$scratch/open.conf"
chmod g+w "$scratch/open.conf"
try check "$scratch/open.conf"
is "$status $out" \
    "2 $scratch/open.conf: is writable by other users; run: chmod go-w $scratch/open.conf" \
    "one that others may write to"

# --- as JSON -------------------------------------------------------------------------------------
# pick EXPRESSION: prints it for the JSON in $scratch/out.
pick() {
    python3 -c 'import json, sys
d = json.load(sys.stdin)
print('"$1"')' <"$scratch/out"
}
cat >"$scratch/json.conf" <<CONF
agents : { a : { command = ["sh"]; dialect = "cluade"; }; };
plugins : { instances : {
    talk : { plugin = "telegram"; token = "1:a-token-of-this-test"; webhook = "nourl"; };
    shy : { plugin = "null"; grants = ["submit"]; };
}; };
CONF
try check --json "$scratch/json.conf"
is "$status$err" 2 "JSON of an invalid configuration"
is "$(wc -l <"$scratch/out")" 1 "the JSON is one line"
is "$(pick '*sorted(d)')" "errors file findings ok warnings" "the keys of the JSON"
is "$(pick 'd["file"], d["ok"], d["warnings"], d["errors"]')" "$scratch/json.conf 0 1 4" "the sums of the JSON"
is "$(pick '{tuple(sorted(f)) for f in d["findings"]}')" \
    "{('file', 'key', 'level', 'line', 'remedy', 'text')}" "the keys of a finding"
is "$(pick '"\n".join(" ".join(str(f[k]) for k in ("level", "line", "key")) for f in d["findings"])')" \
    "error 1 agents.a.dialect
error 3 plugins.instances.talk.webhook
error 3 plugins.instances.talk.webhook
error 3 plugins.instances.talk.webhook
warning 4 plugins.instances.shy" "in the order of the lines"
is "$(pick '[f["text"] for f in d["findings"]][0], [f["remedy"] for f in d["findings"]][0]')" \
    'unknown dialect "cluade" did you mean "claude"?' "what, and what to do"
try check --json "$scratch/good.conf"
is "$status $(pick 'd["errors"], d["findings"]')" "0 0 []" "the JSON of a valid configuration"
try check --json "$scratch/none.conf"
is "$status $(pick 'd["file"], d["findings"][0]["line"]')" "2 $scratch/none.conf None" "the JSON of a missing configuration"
try check --json "$plugins/jsonl.so"
is "$status $(pick 'd["findings"]')" "0 []" "the JSON of a plugin"

try check "$plugins/jsonl.so"
is "$status" 0 "a plugin file is valid"
has "$out" "jsonl " "the name of the plugin"
has "$out" "ABI: 1.6" "the ABI of the plugin"
has "$out" "sees: all events" "the events that the plugin gets"
has "$out" "callbacks: on_" "the callbacks of the plugin"
has "$out" "path (text)" "the options of the plugin"
has "$out" "one of: turncast, ag-ui, " "the valid values of options"
echo 'no ELF' >"$scratch/text.so"
try check "$scratch/text.so"
is "$status" 2 "a file that is not a plugin is an error"
has "$out" "$scratch/text.so: " "the error names the file"

try plugins
is "$status" 0 "plugins succeeds"
for name in audit cli jsonl null; do
    is "$(awk -v n="$name" '$1 == n' "$scratch/out" | wc -l)" 1 "plugins lists $name"
done
has "$(grep '^cli ' "$scratch/out")" "(enabled as cli: all turns)" "plugins shows the instances of a plugin"
lacks "$(grep '^null ' "$scratch/out")" "enabled" "and where not"
try plugins -c "$scratch/good.conf" jsonl
is "$status" 0 "plugins NAME succeeds"
has "$out" "enabled as out: all turns" "plugins NAME shows the instance and its events"
mkdir "$scratch/elsewhere"
cp "$plugins/null.so" "$scratch/elsewhere/mine.so"
cat >"$scratch/elsewhere.conf" <<'C'
plugins : { instances : {
    mine : { plugin = "./elsewhere/mine.so"; turns = "own"; };
    more : { plugin = "./elsewhere/mine.so"; };
    room : { plugin = "null"; };
}; };
C
try plugins -c "$scratch/elsewhere.conf"
is "$(grep -c '(enabled as mine: own turns; more: all turns)' "$scratch/out")" 1 \
    "a file that several instances name is listed once"
try plugins -c "$scratch/elsewhere.conf" mine
has "$out" "enabled as mine: own turns; more: all turns" "plugins INSTANCE shows the instance"
try plugins -c "$scratch/elsewhere.conf" "$plugins/../.libs/null.so"
has "$out" "enabled as room: all turns" "paths are compared as files"
try plugins nothing
is "$status $out" "2 " "an unknown plugin is an error"
has "$err" "nothing" "the error names the plugin"
mkdir "$scratch/empty"
TURNCAST_PLUGIN_PATH=$scratch/empty try plugins
is "$status $out" "2 " "an empty folder is an error"
has "$err" "no plugins found in $scratch/empty" "the error says that the folder has no plugins"
mkdir "$scratch/mixed"
cp "$plugins/null.so" "$scratch/mixed/"
cp "$scratch/text.so" "$scratch/mixed/"
TURNCAST_PLUGIN_PATH=$scratch/mixed try plugins
is "$status" 2 "a folder with an invalid file is an error"
has "$out" "text.so      error: " "the invalid file is reported"
has "$out" "null " "the other plugins are listed"
finish
