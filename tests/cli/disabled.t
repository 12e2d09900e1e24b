#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of instances that are not running: the log of the start and the status name them with file,
# line and reason. Autoload leaves out connectors that write to files or the terminal.
. "$(dirname "$0")/cli.sh"

file=$scratch/turncast.conf
mkdir "$scratch/auto"
for plugin in audit cli jsonl null slack; do
    ln "$TURNCAST_PLUGIN_PATH/$plugin.so" "$scratch/auto/$plugin.so" 2>/dev/null ||
        cp "$TURNCAST_PLUGIN_PATH/$plugin.so" "$scratch/auto/$plugin.so"
done
cat >"$file" <<CONF
plugins : { directory = "$scratch/auto"; autoload = true; instances : {
    good : { plugin = "null"; };
    off : { plugin = "jsonl";
        path = "$scratch/off.jsonl"; enabled = false; };
    wrong : { plugin = "jsonl";
        pathh = "$scratch/wrong.jsonl"; };
    gone : { plugin = "nowhere"; };
}; };
log : { level = "info"; };
CONF

"$turncast" serve -c "$file" 2>"$scratch/log" </dev/null &
host=$!
trap 'kill -9 "$host" 2>/dev/null; rm -rf "$scratch"' EXIT
wait_for grep -q serving "$scratch/log"
log=$(cat "$scratch/log")
has "$log" "$file:3: instance off: disabled (enabled = false)" "the log names an instance that is disabled"
has "$log" "$file:6: instance wrong: disabled: plugins.instances.wrong.pathh: unknown option" "the log names an instance with an unknown option"
has "$log" "$file:7: instance gone: disabled: nowhere: plugin not found" "the log names an instance without a plugin"
has "$log" "$file: instance slack: disabled: slack.bot_token: missing required option" "the log names an instance of autoload"

try status -c "$file"
is "$(echo "$out" | sed -n '/^INSTANCE/,/^$/s/^\([a-z]*\) .*/\1/p')" good \
    "autoload leaves out what writes to files and the terminal"
is "$(echo "$out" | sed -n '/^DISABLED/,/^$/s/  *\(.*\)/ \1/p' | sed 's/\(plugin not found\):.*/\1/')" \
    "DISABLED WHERE AND WHY
off $file:3: enabled = false
wrong $file:6: plugins.instances.wrong.pathh: unknown option (did you mean \"path\"?)
gone $file:7: nowhere: plugin not found" "status has the position and the reason"
try status --json -c "$file"
is "$(echo "$out" | python3 -c 'import json, sys
for i in json.load(sys.stdin)["disabled"]: print(i["name"], i["place"].rsplit(":", 1)[1])')" \
    "off 3
wrong 6
gone 7" "in JSON, too"

kill "$host"
wait "$host"
is "$?" 0 "the host ends"
try replay -p slack "$fixtures/turn.jsonl"
has "$err" "instance slack: disabled: slack.bot_token: missing required option" "an error of --plugin names the instance"
finish
