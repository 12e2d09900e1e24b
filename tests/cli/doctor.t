#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast doctor: what works, what is missing, and the advice.
. "$(dirname "$0")/cli.sh"

file=$scratch/turncast.conf
dir=$XDG_STATE_HOME/turncast
state=$TURNCAST_BUILDDIR/tests/fake/state
host=
ears=
trap '[ -z "$host" ] || kill -9 "$host"; [ -z "$ears" ] || kill -9 "$ears"; rm -rf "$scratch"' EXIT

# line NAME: prints the result for this name, and the advice after it.
line() {
    awk -v name="$1: " 'index($0, name) == 7 { print; getline; if (/->/) print }' "$scratch/out"
}

# --- a valid configuration -----------------------------------------------------------------------
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "an agent 1.2.3"; echo more; exec sleep 60\n' >"$scratch/bin/agent"
chmod 755 "$scratch/bin/agent"
cat >"$file" <<CONF
agents : { a : { command = ["agent", "-p"]; }; };
plugins : { instances : { null : { }; telegram : { token = "env:T_TOKEN"; grants = ["submit"];
    api_base = "http://127.0.0.1:9";
    allow = (1); }; }; };
http : { listen = "127.0.0.1:0"; keys : { me : { secret = "env:T_KEY"; grants = ["watch"]; }; }; };
CONF
export T_TOKEN=1:a-token-of-this-test T_KEY=a-key-of-this-test
PATH=$scratch/bin:$PATH try doctor -c "$file"
is "$status$err" 0 "doctor without errors succeeds"
is "$(line configuration)" "ok    configuration: $file" "the configuration file"
is "$(line 'agent a')" "ok    agent a: $scratch/bin/agent, an agent 1.2.3" \
    "the agent, its version, and not waiting for it"
has "$(line 'instance telegram')" "ok    instance telegram: $TURNCAST_PLUGIN_PATH/telegram.so" "the plugin of an instance"
is "$(line host)" "ok    host: turncast serve is not running" "no host is running"
is "$(line state)" "ok    state: $dir does not exist yet; it will be created" "the state directory is missing"
[ ! -e "$dir" ]
result $? "doctor does not create the state directory"
has "$(line disk)" "ok    disk: " "the free space"
is "$(line http)" "ok    http: 127.0.0.1:0 is available" "the port is available"
is "$(line libcurl | cut -c1-4)$(line libwebsockets | cut -c1-4)" "ok  ok  " "the libraries"
has "$(line isolation)" "isolation: " "the isolation of connectors"
for lack in landlock seccomp; do
    PATH=$scratch/bin:$PATH "$TURNCAST_BUILDDIR/tests/fake/oldkernel" $lack \
        "$turncast" doctor -c "$file" >"$scratch/out.$lack" 2>&1
done
has "$(cat "$scratch/out.landlock")" "isolation: this kernel has no Landlock: connectors can open every\
 file of this user, and connect to every port" "a kernel without Landlock: the consequences"
has "$(cat "$scratch/out.seccomp")" "isolation: this kernel has no seccomp" \
    "the same without seccomp"
has "$(tail -n 1 "$scratch/out")" " 0 errors" "the sum of the results"

lacks "$out" "can ask for approval" "of an agent that does not ask"
sed 's/"-p"/"--permission-prompt-tool", "stdio"/' "$file" >"$scratch/asks.conf"
chmod 600 "$scratch/asks.conf"
PATH=$scratch/bin:$PATH try doctor -c "$scratch/asks.conf"
has "$out" "warn  agent a: can ask for approval, but no instance or HTTP key is allowed to answer
      -> add \"answer\" to the grants of an instance in $scratch/asks.conf" \
    "an agent that can ask, and nobody can answer"

# --- agents and services are probed in parallel --------------------------------------------------
# Each program prints its version only while the other one is probed, too.
for name in claude codex; do
    printf '#!/bin/sh\n: >"%s/asked.%s"\nuntil [ -e "%s/asked.claude" ] && [ -e "%s/asked.codex" ]; do :; done\necho "%s 1.0"\n' \
        "$scratch" "$name" "$scratch" "$scratch" "$name" >"$scratch/bin/$name"
    chmod 755 "$scratch/bin/$name"
done
cat >"$scratch/two.conf" <<CONF
agents : { claude : { command = ["claude"]; env_pass = ["ANTHROPIC_API_KEY"]; };
           codex : { command = ["codex"]; dialect = "codex"; }; };
default_agent = "codex";
proxy : { url = "http://127.0.0.1:9"; };
store : { kind = "redis"; redis : { address = "127.0.0.1:9"; }; };
CONF
chmod 600 "$scratch/two.conf"
PATH=$scratch/bin:$PATH ANTHROPIC_API_KEY=sk-of-this-test try doctor -c "$scratch/two.conf"
has "$out" "ok    agent claude: $scratch/bin/claude, claude 1.0
ok    agent claude: login: ANTHROPIC_API_KEY" "both agents are probed in parallel, and a login is found in a variable"
has "$out" "ok    agent codex: $scratch/bin/codex, codex 1.0
warn  agent codex: no login found
      -> run: codex login, or set OPENAI_API_KEY and name it in env_pass" "an agent without a login"
lacks "$out" "sk-of-this-test" "the login is not printed"
has "$(line proxy)" "FAIL  proxy: cannot connect to 127.0.0.1:9: Connection refused" "an unreachable proxy"
has "$(line redis)" "FAIL  redis: " "an unreachable Redis server"
mkdir "$HOME/.codex"
echo '{}' >"$HOME/.codex/auth.json"
PATH=$scratch/bin:$PATH try doctor -c "$scratch/two.conf"
has "$out" "ok    agent codex: login: $HOME/.codex/auth.json" "a login is found in a file"
has "$out" "warn  agent claude: no login found" "a variable for a login that is not set"

# --- beside a host -------------------------------------------------------------------------------
PATH=$scratch/bin:$PATH "$turncast" serve -c "$file" 2>"$scratch/err.host" </dev/null &
host=$!
wait_for test -S "$dir/control"
PATH=$scratch/bin:$PATH try doctor -c "$file"
is "$status" 0 "doctor beside a running host"
is "$(line host)" "ok    host: turncast serve is running (process $host)" "the running host is named"
is "$(line state)" "ok    state: $dir is in use by the running turncast serve" "the running host uses the state"
has "$(line http)" "ok    http: turncast serve is listening on port " "the running host uses the port"
kill "$host"
wait "$host"
host=

# --- an invalid configuration --------------------------------------------------------------------
"$state" lay "$dir" telegram t1 "400" "{}" 2>/dev/null
python3 -c 'import socket, sys, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(60)' >"$scratch/port" &
ears=$!
wait_for test -s "$scratch/port"
port=$(cat "$scratch/port")
cat >"$file" <<CONF
agents : { a : { command = ["no-such-program"]; };
           b : { command = ["sh"]; cwd = "$scratch/none"; }; };
plugins : { instances : { talk : { plugin = "nowhere"; };
    jsonl : { path = "x"; pathh = "y"; };
    ends : { plugin = "$TURNCAST_BUILDDIR/tests/fault/loads_aborts.so"; };
    telegram : { token = "1:a-token-of-this-test"; grants = ["submit"]; agent = "a";
        api_base = "http://127.0.0.1:9";
        isolation = "thread"; }; null : { isolation = "thread"; turns = "own"; }; }; };
http : { listen = "127.0.0.1:$port"; };
CONF
chmod 644 "$file"
try doctor -c "$file"
is "$status" 1 "doctor with errors fails"
is "$(line 'agent a')" "FAIL  agent a: program \"no-such-program\" not found or not executable
      -> install it, or set its full path in command at $file:1" "a missing program of an agent"
is "$(line 'agent b')" "FAIL  agent b: cwd \"$scratch/none\" is not a directory
      -> run: mkdir -p $scratch/none, or change cwd" "a missing folder"
has "$(line 'instance talk')" "FAIL  instance talk: nowhere: plugin not found" "a missing plugin"
has "$(line 'instance jsonl')" "FAIL  instance jsonl: $file:4: plugins.instances.jsonl.pathh: unknown option" "an unknown option"
has "$(line 'instance ends')" "loading crashes with signal 6" "a damaged plugin"
has "$out" "warn  instance telegram: secret \"token\" is stored in a file that other users can read
      -> run: chmod 600 $file" "a secret in a file that others can read"
has "$out" "warn  instance telegram: grants \"submit\", but allow is empty: nobody can send messages" "an instance that permits nobody"
has "$out" "warn  instance telegram: not isolated: it talks to a network service with full access to this process (isolation = \"thread\")
      -> remove isolation = \"thread\" at $file:6" "what could harm the host"
lacks "$out" "null: speaks" "and what does not"
has "$out" "warn  instance null: receives no turn: its scope is \"own turns\", and there are none
      -> set turns = \"all\", or change agents or conversations, at $file:8" "an instance that gets no turn"
lacks "$out" "telegram: receives no turn" "an instance that gets turns is not reported"
has "$(line store)" "warn  store: 1 dead letter" "dead letters"
has "$out" "FAIL  http: 127.0.0.1:$port: Address already in use" "a port that is in use"
has "$out" "warn  http: no keys: every local user has full access" "an HTTP server without keys"
lacks "$out" "a-token-of-this-test" "no secret is printed"
sed 's/agent = "a";/agent = "c";/' "$file" >"$scratch/both.conf"
try doctor -c "$scratch/both.conf"
is "$status" 1 "a configuration with an unknown agent"
has "$out" "plugins.instances.telegram.agent: unknown agent \"c\"" "the unknown agent is reported"
has "$out" "plugins.instances.jsonl.pathh: unknown option" "errors of plugins are reported, too"
echo 'x' >>"$file"
try doctor -c "$file"
is "$status" 1 "a configuration that cannot be parsed"
has "$(line configuration)" "FAIL  configuration: $file:11: syntax error" "the syntax error has its position"
has "$(line libcurl)" "ok    libcurl" "other checks are made"
# --- sessions that all hosts share ---------------------------------------------------------------
# sessions DIRECTORY [HOST]: prints the result for this directory
sessions() {
    printf 'agents : { a : { command = ["%s/bin/agent"]; hosts = ["%s"]; }; };\n%s\n%s\n' "$scratch" \
        "${2:-h1}" 'host : { name = "h1"; }; bus : { url = ["nats://127.0.0.1:9"]; };' \
        "sessions : { shared = \"$1\"; };" >"$scratch/sessions.conf"
    try doctor -c "$scratch/sessions.conf"
    line sessions
}
is "$(sessions "$scratch/none")" "FAIL  sessions: agents cannot keep sessions in $scratch/none: No such file or directory
      -> mount it and let this user write there, or remove sessions.shared" "sessions.shared with a missing directory"
is "$(sessions "$scratch/bin/agent" | head -n 1)" \
    "FAIL  sessions: agents cannot keep sessions in $scratch/bin/agent: Not a directory" "sessions.shared with a file"
mkdir -p "$scratch/sessions" "$XDG_STATE_HOME"
is "$(sessions "$scratch/sessions")" "warn  sessions: $scratch/sessions is on the disk of the state directory, where other machines cannot see it
      -> mount a network file system there, unless all hosts are on this machine" "sessions.shared on a local disk"
other=$(mktemp -d /dev/shm/turncast-doctor.XXXXXX)
if [ "$(stat -c %d "$other")" != "$(stat -c %d "$scratch")" ]; then
    is "$(sessions "$other")" "ok    sessions: $other is writable; not checked: whether the other hosts have the same directory, and whether the agents keep their sessions there" \
        "sessions.shared on another file system"
    chmod 500 "$other"
    [ "$(id -u)" = 0 ] || has "$(sessions "$other")" "FAIL  sessions: agents cannot keep sessions in $other: Permission denied" \
        "that this user may not write to"
fi
rmdir "$other"
is "$(sessions "$scratch/none" h2)" "ok    sessions: $scratch/none is not needed here: no agent runs on this host" \
    "sessions.shared on a host that runs no agents"
finish
