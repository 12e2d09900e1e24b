#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of reloading the configuration of a running host: a configuration is applied as a whole, or
# refused with a reason.
. "$(dirname "$0")/cli.sh"

in=$scratch/in
plugins=$scratch/plugins
fault=$TURNCAST_BUILDDIR/tests/fault
init='text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'
hi='text={\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},\"session_id\":\"s-1\"}'
result='text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",\"session_id\":\"s-1\",\"num_turns\":1}'
mark=mark=reload-$$
host=

trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; pgrep -f "$mark" | xargs -r kill -9; rm -rf "$scratch"' EXIT

# conf: writes a configuration with these variables.
agent=slow allow='(1, "2")' out=$scratch/told talker=$plugins/talker.so more='' top=''
conf() {
    cat >"$scratch/next.conf" <<CONF
agents : {
    quick : { command = ["$fake_agent", "$mark", "$init", "$hi", "$result"]; };
    slow : { command = ["$fake_agent", "$mark", "$init", "$hi", "print_on=10", "sleep"];
             exit_grace_s = 0.2; term_grace_s = 0.2; };
};
default_agent = "$agent";
plugins : { directory = "$plugins/auto"; autoload = true; instances : {
    talk : { plugin = "$talker"; isolation = "thread"; in = "$in"; out = "$out";
        grants = ["submit", "cancel"]; allow = $allow; };
    $more
}; };
conversations : { debounce_ms = 0; drain_s = 0.1; };
log : { level = "info"; };
$top
CONF
    mv "$scratch/next.conf" "$scratch/turncast.conf"
}

# reload: sends SIGHUP, and prints the line of the log with the result.
reload() {
    lines=$(grep -c 'configuration reloaded\|reload rejected' "$scratch/err")
    kill -HUP "$host"
    wait_for sh -c "[ \$(grep -c 'configuration reloaded\|reload rejected' '$scratch/err') -gt $lines ]"
    told=$(grep 'configuration reloaded\|reload rejected' "$scratch/err" | tail -n 1)
}

say() {
    echo "$*" >>"$in"
}

# told PATTERN [TIMES]: waits for this number of matching lines.
told() {
    wait_for sh -c "[ \$(grep -c -- '$1' '$out') -ge ${2:-1} ]"
}

finish_turn() {
    pkill -USR1 -f "$mark"
}

mkdir -p "$plugins/auto"
install -m 755 "$fault/talker.so" "$plugins/talker.so"
: >"$in"
: >"$out"
conf
"$turncast" serve -c "$scratch/turncast.conf" 2>"$scratch/err" </dev/null &
host=$!
wait_for grep -q 'serving' "$scratch/err" || sed 's/^/# /' "$scratch/err"

# --- no change -----------------------------------------------------------------------------------
reload
has "$told" 'turncast.conf; unchanged: 1' "an unchanged configuration changes nothing"
say m1 1 A work
told '^says'

# --- changes that restart no instance ------------------------------------------------------------
allow='(1, 2, 3)'
top='http : { listen = "127.0.0.1:0"; };'
conf
reload
has "$told" 'turncast.conf; unchanged: 1; requires a restart: http.listen' \
    "permissions change without a restart, and keys that require one are reported"
say m2 3 B hello
told '^m2 accepted'
result $? "a new user is permitted"
told '^says' 2
finish_turn
told '^done talk:[AB] completed' 2
result $? "the running turn continues"
is "$(grep -c resumed "$out")" 0 "the running turn was not delivered again"

# --- visibility ----------------------------------------------------------------------------------
say c1 1 A /stream-status
told '^c1 command'
has "$(grep '^c1 ' "$out")" 'Shown: answers, narration. Hidden: tools, thinking.' "the visibility before the reload"
before=$top
top="$top visibility : { show_tools = true; };"
conf
reload
has "$told" 'turncast.conf; unchanged: 1' "a change of the visibility restarts no instance"
say c2 1 A /stream-status
told '^c2 command'
has "$(grep '^c2 ' "$out")" 'Shown: answers, narration, tools. Hidden: thinking.' "the next command uses the new visibility"
top=$before
conf
reload

# --- a changed instance, with a turn -------------------------------------------------------------
say m3 1 A work
told '^says talk:A' 2
before=$out
out=$scratch/told2
conf
reload
has "$told" 'turncast.conf; restarted: talk; unchanged: 0' "an instance with another option is restarted"
told '^start talk:A resumed {"to":"A"} hi'
result $? "its turn is opened again, with route and memory"
say m4 1 A later
told '^m4 queued'
result $? "messages of the new instance are accepted"
finish_turn
told '^final talk:A'
result $? "the new instance gets the outcome"
told '^done talk:A completed'
is "$(grep -c '^final talk:A' "$out")" 1 "the outcome is delivered once"
is "$(grep -c '^final talk:A' "$before")" 1 "the old instance does not get the outcome"
told '^says talk:A'
finish_turn
told '^done talk:A completed' 2
result $? "a waiting turn has run"

# --- new and removed instances; a new file -------------------------------------------------------
install -m 755 "$fault/old10.so" "$plugins/auto/old10.so"
more="log : { plugin = \"$TURNCAST_BUILDDIR/plugins/.libs/jsonl.so\"; path = \"$scratch/events\"; };"
conf
reload
has "$told" 'turncast.conf; started: log, old10; unchanged: 1' \
    "a new instance, and a new file in the directory"
agent=quick
conf
reload
say m5 1 A work
told '^done talk:A' 3
wait_for grep -q '"type":"done"' "$scratch/events"
result $? "R26: a new instance gets the next turn of another agent"
rm "$plugins/auto/old10.so"
more=
conf
reload
has "$told" 'turncast.conf; stopped: log, old10; unchanged: 1' "removed instances are stopped"
install -m 755 "$fault/talker.so" "$plugins/new.so"
mv "$plugins/new.so" "$plugins/talker.so"
reload
has "$told" '; restarted: talk; ' "a new file of a plugin restarts its instances"

# --- an instance that cannot start ---------------------------------------------------------------
agent=slow
conf
reload
say m6 1 A work
told '^says talk:A' 3
kept=$out
out=$scratch/never
more="fails : { plugin = \"$fault/initfails.so\"; };"
conf
reload
has "$told" 'previous configuration still active: ' "a configuration with an instance that cannot start is refused"
has "$told" 'fails: disabled: init failed' "the log names the instance"
out=$kept
told '^start talk:A resumed' 2
result $? "the other instances are unchanged"
finish_turn
told '^done talk:A completed' 4
result $? "their turns continue"
rm "$scratch/never" # it had begun
more=

# --- invalid configurations ----------------------------------------------------------------------
# Each also changes the file of the instance, to detect a partly applied configuration.
pid=$host
say m7 1 A work
told '^says talk:A' 4
refused() {
    reload
    has "$told" "$1" "refused: $2"
}
broken() { # SED WANTED WHAT
    out=$scratch/never
    conf
    out=$kept
    sed -i "$1" "$scratch/turncast.conf"
    refused "$scratch/turncast.conf:$2" "$3"
}
file=$scratch/turncast.conf
broken '2s/.*/quick : {/' '15: syntax error' "a group that does not end"
broken 's/default_agent/defualt_agent/' '6: defualt_agent: unknown key' "a key nobody knows"
broken 's/default_agent = "slow"/default_agent = "fast"/' '6: default_agent: unknown agent "fast" (configured: quick, slow)' \
    "a missing agent"
broken 's/exit_grace_s = 0.2/exit_grace_s = -1/' '4: agents.slow.exit_grace_s: -1 s is out of range' "a negative time"
broken 's/exit_grace_s = 0.2/dialect = "klingon"/' '8: plugins.instances.talk: its agent has an unknown' \
    "a dialect nobody speaks"
broken 's/command = \[.*"sleep"\];//' '3: agents.slow: required key "command" is missing' "an agent without a command"
broken 's/"submit", "cancel"/"sumbit"/' '9: plugins.instances.talk.grants[0]: invalid value "sumbit"' "a grant"
broken 's/allow = .*;/allow = 1; };/' '9: plugins.instances.talk.allow: expected a list of IDs' "people as a number"
broken 's/ in = / inn = /' '8: plugins.instances.talk.inn: unknown option (did you mean "in"?)' "an option"
broken 's/ in = "[^"]*";//' '8: plugins.instances.talk.in: missing required option' "a missing option"
broken 's/talker.so/none.so/' "8: plugins.instances.talk: $plugins/none.so" "a missing plugin"
broken "s,$plugins/talker.so,$fault/nosymbol.so," '8: plugins.instances.talk: ' "a module that is not a plugin"
broken "s,$plugins/talker.so,$fault/oldmajor.so," '8: plugins.instances.talk: ' "a plugin of another age"
broken "s,$plugins/talker.so,$fault/loads_aborts.so," '8: plugins.instances.talk: ' "one that ends the process"
has "$told" 'loading crashes with signal 6' "another process has probed the plugin"
broken 's/debounce_ms = 0/debounce_ms = 0.5/' '12: conversations.debounce_ms: expected an integer, found a real number' "half a millisecond"
broken 's/max_turns/x/; s/drain_s = 0.1/max_turns = 0/' '12: conversations.max_turns: 0 is out of range' "max_turns = 0"
broken 's/level = "info"/level = "loud"/' '13: log.level: invalid value "loud"' "a level"
broken '14s/.*/http : { listen = "0.0.0.0:1"; allow_remote = true; };/' '14: http: 0.0.0.0:1 is reachable from other machines; define' \
    "others without a key"
broken '14s/.*/http : { keys : { a : { secret = "short"; grants = ["watch"]; }; }; };/' \
    '14: http.keys.a: the secret is too short' "a key that is too short"
broken '14s/.*/http : { keys : { a : { secret_file = "none.key"; grants = ["watch"]; }; }; };/' \
    '14: http.keys.a: cannot open secret file' "a missing key file"
broken 's/talk : {/talk : { }; talk : {/' '8: duplicate setting name' "two of one name"
broken 's/agents : {/agents : { 1 = 2;/' '1: syntax error' "no name"
broken '14s/.*/@include "none.conf"/' "14: @include: $scratch/none.conf: cannot open" "no included file"
out=$scratch/never
mkdir -m 700 "$scratch/conf.d"
echo 'log : { format = "xml"; };' >"$scratch/conf.d/log.conf"
conf
refused "$scratch/conf.d/log.conf:1: log.format: invalid value" "a wrong file in conf.d"
rm -r "$scratch/conf.d"
top='state_directory = "elsewhere";'
conf
refused 'cannot change state_directory by a reload' "another state directory"
top='bus : { url = ["nats://127.0.0.1:1"]; };'
conf
refused ': cannot change bus by a reload; restart turncast' "a bus"
top='host : { name = "h1"; };'
conf
refused ': cannot change host.name by a reload; restart turncast' "another name of the host"
"$turncast" reload -c "$file" >"$scratch/reload.out" 2>&1
is "$?" 1 "turncast reload fails, too"
has "$(cat "$scratch/reload.out")" \
    "turncast: reload rejected, previous configuration still active: $file: cannot change host.name by a reload; restart turncast" \
    "and names the key"
chmod 666 "$file"
refused 'is writable by other users' "a file that others may write to"
rm "$file"
refused 'No such file' "no file"
mkdir "$file"
refused "$file" "a folder"
rmdir "$file"
out=$kept
top=
conf
touch -d @1 "$plugins/talker.so"
refused 'was overwritten in place while loaded' "a plugin written over in its place"
install -m 755 "$fault/talker.so" "$plugins/new.so"
mv "$plugins/new.so" "$plugins/talker.so"
result "$([ ! -e "$scratch/never" ]; echo $?)" "no invalid configuration was applied"
is "$host" "$pid" "the process of the host is the same"
finish_turn
told '^done talk:A completed' 5
result $? "its turn ends"
is "$(grep -c resumed "$out")" 2 "its turn was not delivered again"
kill "$host"
wait "$host"
is $? 0 "the host ends"
host=
finish
