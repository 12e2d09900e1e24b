#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast status, reload and dead retry beside a running host.
. "$(dirname "$0")/cli.sh"

dir=$XDG_STATE_HOME/turncast
talker=$TURNCAST_BUILDDIR/tests/fault/talker.so
state=$TURNCAST_BUILDDIR/tests/fake/state
file=$scratch/turncast.conf
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
hi='text={\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},\"session_id\":\"s-1\"}'
mark=mark=control-$$
host=

trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; pgrep -f "$mark" | xargs -r kill -9; rm -rf "$scratch"' EXIT

# conf: writes the configuration with these additional instances.
conf() {
    cat >"$file" <<CONF
http : { listen = "127.0.0.1:0"; keys : { me : { secret = "$key"; grants = ["watch"]; }; }; };
agents : { slow : { command = ["$fake_agent", "$mark", "$init", "$hi", "print_on=10", "sleep"]; exit_grace_s = 0.2; }; };
plugins : { instances : {
    talk : { plugin = "$talker"; paths = ["$scratch"]; in = "$scratch/in"; out = "$scratch/told";
        grants = ["submit"]; allow = (1); };
    $*
}; };
conversations : { debounce_ms = 0; drain_s = 0.1; };
CONF
}

# get KEY...: prints a member of the status in JSON.
get() {
    "$turncast" status --json -c "$file" |
        python3 -c 'import functools, json, sys
at = functools.reduce(lambda o, k: o[int(k) if k.isdigit() else k], sys.argv[1:], json.load(sys.stdin))
print(len(at) if isinstance(at, list) else at)' "$@"
}

# ask KEY: prints the status of a request with this key.
ask() {
    python3 -c 'import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(urllib.request.Request(sys.argv[1],
        headers={"Authorization": "Bearer " + sys.argv[2]})).status)
except urllib.error.HTTPError as e:
    print(e.code)' "http://127.0.0.1:$port/turns" "$1"
}

key=the-first-key-of-all
conf
: >"$scratch/in"
try status -c "$file"
is "$status $out" "1 " "without a host the status fails"
is "$err" "turncast: turncast serve is not running (state directory $dir)" "the error names the state directory"
try reload -c "$file"
is "$status" 1 "without a host the reload fails"
"$state" lay "$dir" talk t1 "400: Bad Request" "{}" 2>/dev/null
for id in 4 5 6; do "$state" allow "$dir" $id slow "" Bash "id $id" Ann 2>/dev/null; done
"$state" allow "$dir" 7 other "" Bash "id 7" Ann 2>/dev/null

"$turncast" serve -c "$file" 2>"$scratch/err.host" </dev/null &
host=$!
wait_for test -S "$dir/control"
is "$(stat -c %a "$dir/control")" 600 "only the user may access the socket"

# --- status --------------------------------------------------------------------------------------
is "$(get pid) $(get config) $(get state_directory)" "$host $file $dir" "the status has the process, the configuration and the state directory"
is "$(get instances 0 name) $(get instances 0 plugin) $(get instances 0 hung)" "talk talker False" \
    "the status has the instance"
is "$(get turns) $(get outbox queued) $(get outbox dead)" "0 0 1" "the status has no turns and one dead letter"
try status -c "$file"
is "$status$err" 0 "the status as text"
has "$out" "No turns running or waiting." "the text says that there is no turn"
has "$out" "dead letters: 1 (run: turncast dead list)" "the text has the number of dead letters"
echo "m1 1 A work" >>"$scratch/in"
wait_for grep -q ^says "$scratch/told"
echo "m2 1 A later" >>"$scratch/in"
wait_for grep -q '^m2 queued' "$scratch/told"
is "$(get turns)" 2 "the status has two turns"
is "$(get turns 1 state) $(get turns 1 conversation) $(get turns 1 agent)" "running talk:A slow" \
    "one turn is running"
is "$(get turns 0 state)" waiting "one turn is waiting"
try status -c "$file"
has "$out" "$(get turns 1 id)  running  " "each turn has a row"

# --- reload --------------------------------------------------------------------------------------
conf "more : { plugin = \"null\"; };"
try reload -c "$file"
is "$status$err" 0 "reload succeeds"
is "$out" "Reloaded $file.
started: more" "reload reports its effect"
is "$(get instances)" 2 "both instances are running"
conf "more : { plugin = \"null\"; }; log : { plugin = \"jsonl\"; patth = \"x\"; };"
try reload -c "$file"
is "$status$out" 1 "an invalid configuration is refused"
is "$err" "turncast: reload rejected, previous configuration still active: $file:6: plugins.instances.log.patth: unknown option (did you mean \"path\"?)" \
    "the error has the position"
echo 'plugin : { };' >"$scratch/broken.conf"
cat "$scratch/broken.conf" >>"$file"
try reload -c "$file"
is "$status" 1 "an unreadable configuration is refused"
has "$err" "$file:9: plugin: unknown key" "the error has the position"
is "$(sed -n 's/.*error host: //p' "$scratch/err.host" | wc -l)" 1 "the host logs the refused configuration"
conf

# --- keys ----------------------------------------------------------------------------------------
port=$(get port)
is "$(ask the-first-key-of-all) $(ask another-key-of-all)" "200 401" "the configured key is accepted, another one is not"
key=another-key-of-all
conf
try reload -c "$file"
is "$status $(ask the-first-key-of-all) $(ask another-key-of-all)" "0 401 200" "a reload replaces the key"

# --- dead letters --------------------------------------------------------------------------------
try dead retry 1 -c "$file"
is "$status$err" 0 "a dead letter is sent again beside the host"
wait_for sh -c "'$turncast' dead list -c '$file' | grep '2  '"
try dead list -c "$file"
has "$out" "2  " "the dead letter was accepted, and cannot be sent"
lacks "$out" "400: Bad Request" "the dead letter has a new reason"
try dead retry 7 -c "$file"
is "$status $err" "1 turncast: no dead letter 7" "an unknown dead letter is an error"

# --- approvals -----------------------------------------------------------------------------------
try approvals list -c "$file"
is "$status $(cut -d' ' -f1 "$scratch/out" | tr '\n' ' ')" "0 4 5 6 7 " "approvals are listed beside the host"
try approvals forget 5 9 -c "$file"
is "$status $err" "1 turncast: no stored approval 9" "an approval is deleted, and an unknown one is an error"
try approvals forget 5 -c "$file"
is "$status $err" "1 turncast: no stored approval 5" "the host no longer has the deleted approval"
try approvals forget --all --agent slow -c "$file"
is "$status$err" 0 "the approvals of an agent are deleted"
try approvals forget 6 -c "$file"
is "$status" 1 "the host no longer has the approvals of the agent"
wait_for sh -c "! '$turncast' approvals list -c '$file' | grep slow"
try approvals list -c "$file"
is "$(cut -d' ' -f1 "$scratch/out" | tr '\n' ' ')" "7 " "the approvals of the agent are deleted on disk"
try approvals forget --all -c "$file"
is "$status$err" 0 "all approvals are deleted"
wait_for sh -c "[ -z \"\$('$turncast' approvals list -c '$file')\" ]"

kill "$host"
wait "$host"
is $? 0 "the host ends"
host=
[ ! -e "$dir/control" ]
result $? "the socket is removed"
finish
