#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast approvals: permanent approvals are listed and deleted.
. "$(dirname "$0")/cli.sh"

state=$TURNCAST_BUILDDIR/tests/fake/state
dir=$XDG_STATE_HOME/turncast

allow() { "$state" allow "$dir" "$@" 2>/dev/null || exit 99; }

try approvals list
is "$status $out$err" "0 " "without a state the list is empty"
try approvals list --json
is "$status $out" '0 {"approvals":[]}' "without a state the JSON list is empty"
try approvals forget 1
is "$status $err" "1 turncast: no stored approval 1" "an unknown approval cannot be deleted"
try approvals forget --all
is "$status $out$err" "0 " "deleting all approvals of an empty list succeeds"
[ ! -e "$dir" ]
result $? "no state is created"

allow 1 claude "" Bash "$(printf 'git push\033[2J\nrm')" "Ann (telegram)"
allow 2 claude telegram:12:3 Write /srv/x "Bob"
allow 3 codex "" shell '{"command":["ls"]}' ""

try approvals list
is "$status $(wc -l <"$scratch/out")" "0 3" "each approval is one line"
is "$(sed -n 's/  [0-9T:-]*Z  /  TIME  /; 1p' "$scratch/out")" \
    '1  TIME  claude  Bash  always  by Ann (telegram): git push\nrm' "on one line, without terminal sequences"
is "$(sed -n 's/  [0-9T:-]*Z  /  TIME  /; 2p' "$scratch/out")" \
    "2  TIME  claude  Write  session telegram:12:3  by Bob: /srv/x" "that of a session"
is "$(sed -n 's/  [0-9T:-]*Z  /  TIME  /; 3p' "$scratch/out")" \
    '3  TIME  codex  shell  always: {"command":["ls"]}' "that of nobody known"
try approvals list --agent codex
is "$status $(wc -l <"$scratch/out")" "0 1" "the approvals of one agent are listed"
try approvals list --json
is "$(python3 -c 'import json, sys
for a in json.load(open(sys.argv[1]))["approvals"]:
    assert a.pop("at_ms") > 1e12
    print(*a.values(), sep="|")' "$scratch/out" | sed -n '/^[23]|/p')" \
    '2|claude|Write|session|telegram:12:3|Bob|/srv/x
3|codex|shell|always||{"command":["ls"]}' "in JSON"

try approvals forget 2 7
is "$status $err" "1 turncast: no stored approval 7" "an unknown number is reported"
try approvals list
is "$(cut -d' ' -f1 "$scratch/out" | tr '\n' ' ')" "1 3 " "the known number is deleted"
try approvals forget --all --agent claude
is "$status $out$err" "0 " "the approvals of an agent are deleted"
try approvals list
is "$(cut -d' ' -f1 "$scratch/out" | tr '\n' ' ')" "3 " "other approvals are kept"
try approvals forget --all
try approvals list
is "$status $out" "0 " "all approvals are deleted"

try approvals forget
is "$status $err" "2 turncast approvals: forget requires approval numbers or --all; see turncast approvals --help" "forget without a selection is refused"
try approvals forget 1 --all
is "$status" 2 "forget with two selections is refused"
try approvals forget 1x
has "$err" 'invalid approval number "1x"' "forget with an invalid number is refused"
try approvals forget 1 --agent claude
is "$status" 2 "forget with a number and an agent is refused"
try approvals list --agent 'a&b'
has "$err" 'invalid agent name "a&b"' "forget with an invalid agent is refused"
try approvals list 1
is "$status" 2 "list with a number is refused"
try approvals remember
has "$err" 'unknown subcommand "remember"; use list, forget or history' "an unknown subcommand is refused"
finish
