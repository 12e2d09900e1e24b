#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast approvals: what was allowed for longer is listed and forgotten.
. "$(dirname "$0")/cli.sh"

state=$TURNCAST_BUILDDIR/tests/fake/state
dir=$XDG_STATE_HOME/turncast

allow() { "$state" allow "$dir" "$@" 2>/dev/null || exit 99; }

try approvals list
is "$status $out$err" "0 " "without a state there is nothing"
try approvals list --json
is "$status $out" '0 {"approvals":[]}' "in JSON, too"
try approvals forget 1
is "$status $err" "1 turncast: no stored approval 1" "nothing can be forgotten"
try approvals forget --all
is "$status $out$err" "0 " "all of nothing can"
[ ! -e "$dir" ]
result $? "and nothing is made"

allow 1 claude "" Bash "$(printf 'git push\033[2J\nrm')" "Ann (telegram)"
allow 2 claude telegram:12:3 Write /srv/x "Bob"
allow 3 codex "" shell '{"command":["ls"]}' ""

try approvals list
is "$status $(wc -l <"$scratch/out")" "0 3" "a line for each"
is "$(sed -n 's/  [0-9T:-]*Z  /  TIME  /; 1p' "$scratch/out")" \
    '1  TIME  claude  Bash  always  by Ann (telegram): git push\nrm' "on one line, without terminal sequences"
is "$(sed -n 's/  [0-9T:-]*Z  /  TIME  /; 2p' "$scratch/out")" \
    "2  TIME  claude  Write  session telegram:12:3  by Bob: /srv/x" "that of a session"
is "$(sed -n 's/  [0-9T:-]*Z  /  TIME  /; 3p' "$scratch/out")" \
    '3  TIME  codex  shell  always: {"command":["ls"]}' "that of nobody known"
try approvals list --agent codex
is "$status $(wc -l <"$scratch/out")" "0 1" "those of one agent"
try approvals list --json
is "$(python3 -c 'import json, sys
for a in json.load(open(sys.argv[1]))["approvals"]:
    assert a.pop("at_ms") > 1e12
    print(*a.values(), sep="|")' "$scratch/out" | sed -n '/^[23]|/p')" \
    '2|claude|Write|session|telegram:12:3|Bob|/srv/x
3|codex|shell|always||{"command":["ls"]}' "in JSON"

try approvals forget 2 7
is "$status $err" "1 turncast: no stored approval 7" "one that is not there is named"
try approvals list
is "$(cut -d' ' -f1 "$scratch/out" | tr '\n' ' ')" "1 3 " "and the other forgotten"
try approvals forget --all --agent claude
is "$status $out$err" "0 " "those of an agent"
try approvals list
is "$(cut -d' ' -f1 "$scratch/out" | tr '\n' ' ')" "3 " "are forgotten"
try approvals forget --all
try approvals list
is "$status $out" "0 " "and all"

try approvals forget
is "$status $err" "2 turncast approvals: forget requires approval numbers or --all; see turncast approvals --help" "not without saying which"
try approvals forget 1 --all
is "$status" 2 "nor in two ways"
try approvals forget 1x
has "$err" 'invalid approval number "1x"' "nor what is no number"
try approvals forget 1 --agent claude
is "$status" 2 "nor of an agent besides"
try approvals list --agent 'a&b'
has "$err" 'invalid agent name "a&b"' "nor what is no name"
try approvals list 1
is "$status" 2 "list takes no number"
try approvals remember
has "$err" 'unknown subcommand "remember"; use list, forget or history' "nor is there anything else"
finish
