#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of a plugin that attempts everything that is forbidden to connectors (tests/fault/breach.c), for each way to name it and each command that starts it. It lies where it would hurt most: in a folder with
# the configuration, a key, and files of the same user.
. "$(dirname "$0")/cli.sh"

turn=$fixtures/turn.jsonl
oldkernel=$TURNCAST_BUILDDIR/tests/fake/oldkernel
place=$scratch/place
conf=$place/turncast.conf
TURNCAST_CANARY=canary
export TURNCAST_CANARY

if ! "$turncast" doctor 2>/dev/null | grep -q 'isolation: Landlock (version [4-9].*seccomp'; then
    echo "1..0 # SKIP this kernel has no Landlock version 4, or no seccomp"
    exit 0
fi

# Two listening ports and a Unix socket, until the end of the test.
mkdir "$place"
python3 - "$place/service" "$scratch/ports" $$ <<'PYTHON' &
import os, socket, sys, time
service = socket.socket(socket.AF_UNIX)
service.bind(sys.argv[1])
ports = [socket.create_server(("127.0.0.1", 0), backlog=1000) for _ in range(2)]
service.listen(1000)
with open(sys.argv[2] + ".new", "w") as f:
    f.write(" ".join(str(s.getsockname()[1]) for s in ports))
os.rename(sys.argv[2] + ".new", sys.argv[2])
while os.path.exists(f"/proc/{sys.argv[3]}"):
    time.sleep(0.5)
PYTHON
listener=$!
trap 'kill $listener 2>/dev/null; rm -rf "$scratch"' EXIT
wait_for test -f "$scratch/ports"
read -r open_port closed_port <"$scratch/ports"

cp "$TURNCAST_BUILDDIR/tests/fault/breach.so" "$place/breach.so"
cp "$TURNCAST_BUILDDIR/tests/fault/recorder.so" "$place/libbeside.so"
cp "$TURNCAST_BUILDDIR/tests/fault/recorder.so" "$place/libbeside.so.1"
echo 'a key' >"$place/key"
echo 'a key that has the name of a library' >"$place/notes.so"
echo 'a file of the same user' >"$place/victim"
ln -s turncast.conf "$place/link.so"
mkdir "$place/below" "$scratch/elsewhere"
echo text >"$place/below/text"
chmod 600 "$place/key" "$place/victim" "$place/notes.so"
chmod 700 "$place/below"
touch -d '2001-01-01' "$place/victim" "$place/key"

# configure [KEYS-OF-PLUGINS]: the configuration beside the plugin.
configure() {
    cat >"$conf" <<CONF
agents : { main : { command = ["$fake_agent", "play=$turn"]; }; };
default_agent = "main";
plugins : { $1 };
log : { level = "info"; };
CONF
    chmod 600 "$conf"
    before=$(seen)
}

# seen: prints all properties of the files that a connector could change.
seen() {
    (cd "$place" && find . -exec stat -c '%n %F %a %u:%g %Y %s' {} + | sort && cat victim key)
}

# held DESCRIPTION: checks that the plugin has made its attempts, and that none had an unexpected
# outcome.
held() {
    has "$err" "breach: tried all, 0 unexpected outcomes" "$1: every forbidden attempt fails"
    printf '%s\n' "$err" | grep 'breach: breach: [a-z]' | grep -v 'tried all' | sed 's/^/# /'
    is "$(seen)" "$before" "$1: the files are unchanged"
    lacks "$out" forged "$1: the output of the host contains nothing of the plugin"
}

# named FOLDER PLUGIN: runs the commands in this folder with the plugin on the command line.
named() {
    stood=$PWD
    cd "$1" || exit 1
    try run -v -c "$conf" -p "$2" hello
    held "run -p $2"
    has "$out" '"result"' "run -p $2: the result is printed"
    has "$err" 'output: {"result":"forged"}' "run -p $2: output of the plugin is logged"
    try replay -p "$2" "$turn"
    has "$out" forged "replay -p $2: output of the plugin is forwarded"
    out=
    held "replay -p $2"
    cd "$stood" || exit 1
}

configure ''
named "$place" ./breach.so
named "$place" breach.so
named "$scratch" place/breach.so
named "$scratch/elsewhere" ../place/breach.so
named / "$place/breach.so"
modules=$TURNCAST_PLUGIN_PATH
TURNCAST_PLUGIN_PATH=$place
named "$scratch" breach
TURNCAST_PLUGIN_PATH=.
named "$place" breach
TURNCAST_PLUGIN_PATH=$modules

# A plugin with the name of one from this package, which would run in the host.
for name in cli jsonl null audit; do
    mv "$place/breach.so" "$place/$name.so"
    before=$(seen)
    try replay -p "$place/$name.so" "$turn"
    out=
    held "replay -p $name.so"
    TURNCAST_PLUGIN_PATH=$place try replay -p "$name" "$turn"
    out=
    held "replay -p $name"
    mv "$place/$name.so" "$place/breach.so"
done

# configured DESCRIPTION KEYS-OF-PLUGINS: runs all commands with the plugin in the configuration.
configured() {
    configure "$2"
    try run -c "$conf" hello
    held "$1, run"
    try replay -c "$conf" "$turn"
    out=
    held "$1, replay"
    "$turncast" serve -c "$conf" >"$scratch/out" 2>"$scratch/err" </dev/null &
    host=$!
    wait_for grep -q 'breach: tried' "$scratch/err"
    wait_for grep -q serving "$scratch/err"
    kill -TERM $host
    wait $host
    err=$(cat "$scratch/err")
    out=$(cat "$scratch/out")
    held "$1, serve"
}
configured "a relative path" 'instances : { it : { plugin = "./breach.so"; }; };'
configured "a file name" 'instances : { it : { plugin = "breach.so"; }; };'
configured "an absolute path" "instances : { it : { plugin = \"$place/breach.so\"; }; };"
configured "plugins.directory" 'directory = "."; instances : { breach : { }; };'
configured "autoload" 'directory = "."; autoload = true; instances : { };'
configured "ports" "instances : { it : { plugin = \"./breach.so\"; ports = [$open_port];
    open_port = \"$open_port\"; closed_port = \"$closed_port\"; }; };"

# On a kernel without a part of the sandbox the same attempts succeed, while the plugin is probed
# and while it runs.
has "$("$oldkernel" landlock "$turncast" replay -p "$place/breach.so" "$turn" 2>&1)" \
    "loading crashes with signal" "without Landlock an attempt succeeds while the plugin is loaded"
has "$("$oldkernel" seccomp "$turncast" replay -p "$place/breach.so" "$turn" 2>&1)" \
    "loading crashes with signal" "without seccomp, too"

kill $listener
finish
