#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast dead: dead letters are listed, shown, sent again and deleted.
. "$(dirname "$0")/cli.sh"

state=$TURNCAST_BUILDDIR/tests/fake/state
dir=$XDG_STATE_HOME/turncast
token=1234567890:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA

lay() { "$state" lay "$dir" "$@" 2>/dev/null || exit 99; }

try dead list
is "$status $out$err" "0 No dead letters." "without a state the list is empty"
[ ! -e "$dir" ]
result $? "no state is created"
try dead show 1
is "$status $err" "1 turncast: no dead letter 1" "an unknown dead letter cannot be shown"

lay telegram t1 "400: Bad Request $(printf '\033[2J') bot$token" \
    "{\"url\":\"https://api.example.com/bot$token/x\"}
{\"text\":\"hello \\u0062ot$token\"}"
lay slack t2 "expired" "no JSON $(printf '\033[31m') bot$token"

try dead list
is "$status" 0 "dead letters are listed"
is "$(wc -l <"$scratch/out")" 2 "each dead letter is one line"
is "$(sed -n 's/  [0-9T:-]*Z  /  TIME  /; 2p' "$scratch/out")" \
    "2  TIME  slack  request of turn t2 for c1, attempts: 1: expired" "the line describes the dead letter"
has "$out" "telegram  request of turn t1" "the oldest dead letter is first"
try dead list slack
is "$status $(wc -l <"$scratch/out")" "0 1" "the dead letters of one instance"
try dead list none
is "$status $out" "0 No dead letters." "an instance without dead letters"
has "$err" 'unknown instance "none"' "an unknown instance is reported"
echo 'plugins : { instances : { telegram : { token = "1:x"; }; }; };' >"$scratch/telegram.conf"
try dead list -c "$scratch/telegram.conf" telegran
is "$status $err" '0 turncast: unknown instance "telegran" (did you mean "telegram"?)' "the nearest name of an instance is suggested"

try dead show 1 2
is "$status" 0 "dead letters are shown"
has "$out" '{"url":"https://api.example.com/' "the request is shown"
has "$out" '{"text":"hello ' "the body is shown"
has "$out" "no JSON" "a body that is not JSON is shown"
lacks "$out" "AAAAAAAA" "without secrets"
lacks "$out" "$(printf '\033')" "without terminal sequences"

try dead retry 1
is "$status $out$err" "0 " "a dead letter is sent again"
try dead list
is "$(wc -l <"$scratch/out")" 1 "the dead letter is removed from the list"
has "$("$state" rows "$dir" telegram)" '{"text":' "the request waits to be sent"
has "$("$state" rows "$dir" telegram)" '?' "the request is in doubt"
try dead drop 1 2
is "$status $err" "1 turncast: no dead letter 1" "an unknown number is reported"
try dead list
is "$status $out" "0 No dead letters." "the other dead letter is deleted"

"$state" bury "$dir" slack t3 "dies of it" '{"type":"step","payload":{"name":"bot'$token'"}}' 2>/dev/null
try dead list
has "$out" "slack  event of turn t3, attempts: 3: dies of it" "an event that crashes a connector is a dead letter"
try dead show 3
has "$out" '{"type":"step"' "the event is shown with its JSON"
lacks "$out" "AAAAAAAA" "without secrets"
try dead retry 3
is "$status $err" "1 turncast: dead letter 3 is an event of a finished turn and cannot be retried; use show or drop" \
    "it cannot be sent again"
try dead drop 3
is "$status" 0 "the event is deleted"

"$state" lay "$dir" slack turn-3 "gone" "{}"
mkfifo "$scratch/hold" "$scratch/held"
"$state" hold "$dir" <"$scratch/hold" >"$scratch/held" 2>/dev/null &
exec 3>"$scratch/hold"
read -r held <"$scratch/held"
try dead list
is "$held $status" "held 0" "while a host uses the state"
has "$out" "of turn turn-3" "dead letters are listed"
try dead retry 4
is "$status" 2 "a dead letter cannot be sent again"
is "$(wc -l <"$scratch/err")" 1 "the error is one line"
has "$err" "is in use by another turncast (process $!); stop it, or use another state_directory" "the error names the process and the remedy"
exec 3>&-
wait $!
try dead drop 4
is "$status" 0 "after the end of that process the state is free"

try dead
is "$status" 2 "a missing subcommand is refused"
try dead lst
is "$status" 2 "an unknown subcommand is refused"
has "$err" 'unknown subcommand "lst"; use list, show, retry or drop' "the error lists the subcommands"
for words in "show" "show x" "drop 1x" "retry -1" "list a b" "drop 12345678901234567890"; do
    # shellcheck disable=SC2086
    try dead $words
    is "$status" 2 "dead $words"
done

cat >"$scratch/some.conf" <<CONF
state_directory = "here";
CONF
"$state" lay "$scratch/here" telegram t1 "400" "{}" 2>/dev/null
try dead list -c "$scratch/some.conf"
has "$out" "telegram  request of turn t1" "the state of a configuration is used"

# Secrets of the configuration that look like ordinary words, in each place of a request.
cat >"$scratch/secrets.conf" <<CONF
state_directory = "there";
plugins : { instances : {
    tg : { plugin = "telegram"; token = "literal-canary-one"; };
    second : { plugin = "telegram"; token = "env:CANARY_TWO"; };
    third : { plugin = "telegram"; token = "canary-three"; max_parts = "many"; };
    gone : { plugin = "$scratch/gone.so"; key = "canary-four"; env = "A=1 B=env:CANARY_FIVE"; };
}; };
CONF
chmod 600 "$scratch/secrets.conf"
"$state" lay "$scratch/there" tg t1 "refused for literal-canary-one" \
    '{"url":"https://example.com/","tag":"literal-canary-one canary-two"}
{"token":"literal-canary-one","others":["canary-two-by-env","canary-three","canary-four","canary-five-by-env"]}' 2>/dev/null
CANARY_TWO=canary-two-by-env CANARY_FIVE=canary-five-by-env
export CANARY_TWO CANARY_FIVE
try dead show 1 -c "$scratch/secrets.conf"
is "$status" 0 "a dead letter with secrets is shown"
has "$out" '"token":"***"' "a literal secret is masked in the body"
has "$out" 'refused for ***' "a literal secret is masked in the reason"
has "$out" '"others":["***","***","***","***"]' \
    "secrets of the environment, beside an invalid option, and of a missing plugin are masked"
try dead list -c "$scratch/secrets.conf"
has "$out" 'refused for ***' "secrets are masked in the list"
finish
